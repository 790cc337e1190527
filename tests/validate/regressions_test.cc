// Models that were wrong once, each shrunk to its cause: a folder beside the repository, ../shared/regressions, holds them with
// the outputs that were wanted. What each shows is also a row of another test, which needs no folder.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> regressions() {
  const fs::path folder = fs::path(ETCH_SOURCE_DIR) / ".." / "shared" / "regressions";
  return fs::exists(folder) ? std::optional(folder) : std::nullopt;
}

// Its expected output is ONNX Runtime's result for a ScaledTanh without alpha and beta, for which ONNX has no default.
constexpr const char* kDiffers = "misdiagnosis_accumulated_rounding";

TEST(Regressions, GiveTheOutputsThatWereWanted) {
  const auto folder = regressions();
  if (!folder) GTEST_SKIP() << "../shared/regressions is not there";
  const ProcessResult result = etch_tool({"validate", "--suite", folder->string(), "--backends", "interp,c,llvm,cuda", "--json"});
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json.at("passed"), json.at("cases").size() - 1) << result.out;
  EXPECT_GE(json.at("cases").size(), 9u) << result.out;
  EXPECT_EQ(json.at("skipped"), 0) << result.out;
  for (const auto& row : json.at("cases")) EXPECT_EQ(row.at("verdict"), row.at("name") == kDiffers ? "failed" : "passed") << row.dump();
}

TEST(Regressions, AWrongOutputIsCalledOne) {
  const auto folder = regressions();
  if (!folder) GTEST_SKIP() << "../shared/regressions is not there";
  const fs::path model = *folder / kDiffers;
  const ProcessResult result = etch_tool({"validate", (model / "model.onnx").string(), "--backends", "interp,c", "--data", model.string()});
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_EQ(result.out.find("accumulated rounding"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("or an operator's import is wrong"), std::string::npos) << result.out;
}

TEST(Regressions, CommandsEndAsWanted) {
  const auto folder = regressions();
  if (!folder) GTEST_SKIP() << "../shared/regressions is not there";
  const struct {
    const char* model;
    std::vector<std::string> args;
    const char* error;  // null: it works
  } rows[] = {
      {"name_collides_with_macro", {"compile", "--name", "net"}, nullptr},
      {"name_trigraph", {"compile", "--name", "net"}, nullptr},
      {"symbolic_nll_label_mismatch", {"compile", "--dim", "N=4"}, "the scores have the shape [4,2], the target [3]"},
      {"resize_empty_output_segv", {"inspect"}, "every output is empty"},
      {"cast_empty_internal_error", {"inspect"}, "every output is empty"},
  };
  for (const auto& row : rows) {
    const TempDir work("etch-regressions");
    const fs::path out = work.path() / "out";
    std::vector<std::string> args = row.args;
    args.insert(args.begin() + 1, (*folder / row.model / "model.onnx").string());
    if (args[0] == "compile") args.insert(args.end(), {"-o", out.string()});
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.ok(), row.error == nullptr) << row.model << ": " << describe(result) << "\n" << result.err;
    if (row.error != nullptr) {
      EXPECT_NE(result.err.find(row.error), std::string::npos) << row.model << ": " << result.err;
    }
    if (row.error != nullptr || args[0] != "compile") continue;
    const ProcessResult compiled =
        run_process({"cc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", (out / "net.c").string(), (out / "selftest.c").string()});
    EXPECT_TRUE(compiled.ok()) << row.model << ": " << compiled.err;
  }
}

}  // namespace
}  // namespace etch
