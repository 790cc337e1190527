// Whether a * b + c is one operation (contraction) changes the last bits: the backends C and LLVM follow the target's flags, as the
// emitted build file does.
#include <cstring>
#include <regex>

#include "base/files.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/processor.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

// x * x is 1 + 2^-11 + 2^-24, which a float rounds to 1 + 2^-11.
constexpr float kX = 1.0f + 0x1p-12f;
constexpr const char* kModel = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[1] x) => (float[1] y) {
  c = Constant <value = float[1] {-1.00048828125}> ()
  square = Mul (x, x)
  y = Add (square, c)
})";

TEST(Contraction, OfTheTargetsFlagsIsTheBackendsToo) {
  if (!test::has_fma()) GTEST_SKIP() << "this processor has no fused multiply-add";
  const TempDir work("etch-test");
  const std::string model = write_text_model(work.path() / "m.onnx", kModel);
  std::string bytes(sizeof kX, '\0');
  std::memcpy(bytes.data(), &kX, sizeof kX);
  write_file(work.path() / "x.raw", bytes);
  const std::string host = test::content(ETCH_SOURCE_DIR "/targets/host.xml");
  const struct {
    const char *name, *flag, *says;
  } rows[] = {
      {"fused", "-ffp-contract=fast", "y float32 [1]: 5.9604645e-08"},
      {"apart", "-ffp-contract=off", "y float32 [1]: 0"},
  };
  for (const auto& row : rows) {
    std::string xml = std::regex_replace(host, std::regex("name=\"host\""), std::string("name=\"") + row.name + "\"");
    xml = std::regex_replace(xml, std::regex("<flag kind=\"code\">-ffp-contract=fast"), std::string("<flag kind=\"code\">") + row.flag);
    write_file(work.path() / (std::string(row.name) + ".xml"), xml);
    const std::vector<std::string> target{"--target", row.name, "--targets-dir", work.path().string()};
    for (const char* backend : {"c", "llvm"}) {
      std::vector<std::string> run{"run", model, "--backend", backend, "--input", "x=" + (work.path() / "x.raw").string()};
      run.insert(run.end(), target.begin(), target.end());
      const ProcessResult result = etch_tool(run);
      EXPECT_TRUE(result.ok()) << result.err;
      EXPECT_TRUE(result.out.starts_with(row.says)) << row.name << " " << backend << ": " << result.out;
    }
    // The project's own build file says the same.
    const std::filesystem::path out = work.path() / (std::string(row.name) + "_project");
    std::vector<std::string> compile{"compile", model, "--no-measure", "-o", out.string()};
    compile.insert(compile.end(), target.begin(), target.end());
    EXPECT_TRUE(etch_tool(compile).ok());
    EXPECT_NE(test::content(out / "CMakeLists.txt").find(row.flag), std::string::npos);
  }
}

}  // namespace
}  // namespace etch
