// etch tune as a user calls it, from the model to a table that compile takes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/tempdir.h"
#include "quant/convs.h"
#include "support/boards.h"
#include "support/tool.h"

namespace etch {
namespace {

using namespace test::convs;

TEST(Tuning, what_is_found_for_a_model_is_compiled_from_the_table) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string missing = test::missing_tools(target); !missing.empty()) GTEST_SKIP() << missing;
  const TempDir work("etch-tuning");
  const std::string model = (work.path() / "net.onnx").string(), table = (work.path() / "net.opts").string();
  std::mt19937 rng(1);
  write_file(model, net_of(chain({random_conv(rng, 4, 6, 4, 1), random_conv(rng, 6, 4, 4, 1)}), "cortex-m4f").options.import.bytes);
  const auto tuned = [&](std::vector<std::string> more) {
    std::vector<std::string> args{"tune", model, "--target", "cortex-m4f", "--width", "1", "-o", table};
    args.insert(args.end(), more.begin(), more.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_TRUE(result.ok()) << result.err;
    return result.out;
  };
  const std::string one = tuned({"--kernel", "k0_qlinearconv_conv0"}), all = tuned({});
  EXPECT_EQ(one.find("layouts\n"), std::string::npos) << "one kernel alone";
  for (const char* part : {"layouts\n", "k0_qlinearconv_conv0\n", "all kernels\n", " rows in "})
    EXPECT_NE(all.find(part), std::string::npos) << part << " is missing in\n" << all;
  const auto instructions = [&](const std::string& tuning) {
    const ProcessResult result =
        etch_tool({"validate", model, "--target", "cortex-m4f", "--backends", "interp", "--tuning", tuning, "--json"});
    EXPECT_TRUE(result.ok()) << result.err;
    return nlohmann::json::parse(result.out)["target"]["instructions"].get<std::int64_t>();
  };
  EXPECT_LT(instructions(table), instructions("off"));
}

}  // namespace
}  // namespace etch
