// etch validate --suite on ONNX's operator tests, as they are, on every backend.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/needs.h"
#include "support/node_suite.h"
#include "support/node_tests.h"
#include "support/tool.h"

namespace etch {
namespace {

/// `wrong`: a case that has to fail, as its model is not the one that its data were made with.
void expect_suite(const std::filesystem::path& suite, int passed, const std::string& wrong = "") {
  const ProcessResult result = etch_tool({"validate", "--suite", suite.string(), "--backends", "all", "--json"}, 7200);
  const auto json = nlohmann::json::parse(result.out);
  ASSERT_TRUE(json.contains("cases")) << result.out;
  for (const auto& row : json.at("cases")) {
    EXPECT_EQ(row.at("verdict") == "failed", row.at("name") == wrong) << row.dump();
    if (row.at("verdict") == "skipped") {
      EXPECT_NE(row.at("text"), "") << row.dump() << ": what is not supported has a name";
    }
  }
  EXPECT_EQ(json.at("passed"), passed);
  EXPECT_EQ(json.at("failed"), wrong.empty() ? 0 : 1);
}

TEST(NodeTests, OfTheInstalledLibrary) {
  const std::filesystem::path suite = "/usr/share/libonnx-testdata/data/node";
  if (const std::string why = test::missing_package("libonnx-testdata", suite); !why.empty()) GTEST_SKIP() << why;
  expect_suite(suite, 717, test::kWrongModel);
}

TEST(NodeTests, OfTheNewestOpsets) {
  const TempDir work("etch-node-tests");
  const test::NodeTests tests = test::make_node_tests(work.path());
  if (!tests.skipped.empty()) GTEST_SKIP() << tests.skipped;
  ASSERT_EQ(tests.error, "");
  expect_suite(tests.dir, 1096);
}

}  // namespace
}  // namespace etch
