// Models of 20 000 nodes, with a small stack and little memory: nothing may recurse over a graph, or grow faster than it.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "base/tempdir.h"
#include "support/long_models.h"
#include "support/tool.h"

namespace etch {
namespace {

class LongModels : public testing::TestWithParam<test::Chain> {};

TEST_P(LongModels, NeedNoDeepStack) {
  const TempDir work("etch-long");
  const std::string model = (work.path() / "chain.onnx").string();
  test::write_chain(GetParam(), 20'000, model);
  ProcessOptions options;
  options.timeout_s = 600;
  // KiB: an eighth of the usual stack, and 1 GB of address space beside the shared libraries of LLVM.
  const std::string command = "ulimit -s 1024 && ulimit -v 1500000 && exec \"$@\"";
  std::vector<std::string> argv{"sh", "-c", command, "sh", ETCH_BUILD_DIR "/etch", "inspect", model};
  for (const std::string& option : test::options_of(GetParam())) argv.push_back(option);
  const ProcessResult result = run_process(argv, options);
  ASSERT_TRUE(result.ok()) << describe(result) << ": " << result.err.substr(0, 2000);
  std::smatch nodes;
  ASSERT_TRUE(std::regex_search(result.out, nodes, std::regex(R"(: (\d+) nodes)"))) << result.out.substr(0, 2000);
  EXPECT_GE(std::stoi(nodes.str(1)), 20'000);
}

INSTANTIATE_TEST_SUITE_P(Chains, LongModels, testing::ValuesIn(test::kChains), [](const auto& row) {
  std::string name = row.param.name;
  for (char& c : name)
    if (c == ' ') c = '_';
  return name;
});

}  // namespace
}  // namespace etch
