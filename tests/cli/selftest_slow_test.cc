// Which self-tests have the reference's result, around the limit of 10 G multiply-accumulates.
#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "support/files.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

// 2150^3 is 9.9 G, 2200^3 is 10.6 G.
TEST(SelfTestLimit, IsTenGigaUnlessInterpIsAskedFor) {
  const struct {
    int size;
    const char* form;
    bool compares;
  } rows[] = {{2150, "auto", true}, {2200, "auto", false}, {2200, "interp", true}, {2150, "checksum", false}};
  for (const auto& row : rows) {
    const TempDir work("etch-selftest");
    const std::string n = std::to_string(row.size);
    const std::string text = "<ir_version: 8, opset_import: [\"\" : 17]>\ng (float[" + n + "," + n + "] a, float[" + n + "," + n +
                             "] b) => (float[" + n + "," + n + "] y) { y = MatMul (a, b) }";
    const std::string model = write_text_model(work.path() / "square.onnx", text.c_str());
    const ProcessResult result = etch_tool({"compile", model, "--selftest", row.form, "-o", (work.path() / "out").string()});
    ASSERT_TRUE(result.ok()) << result.err;
    const std::string c = test::content(work.path() / "out" / "selftest.c");
    EXPECT_EQ(c.find("expected_y") != std::string::npos, row.compares) << row.size << " " << row.form;
  }
}

}  // namespace
}  // namespace etch
