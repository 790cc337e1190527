// The self-test that compile writes: with a result to compare with, or, where the reference would take long, with a checksum.
#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch::selftest_test {
namespace {

namespace fs = std::filesystem;
using test::content;

// 2200^3 = 10.6 G multiply-accumulates in one kernel without weights: only the amount of work is large.
constexpr const char* kMuchWork = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2200,2200] a, float[2200,2200] b) => (float[2200,2200] y) { y = MatMul (a, b) })";
constexpr const char* kLittleWork = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[n,20] a, float[20,30] b) => (float[n,30] y, float[n,30] z) { y = MatMul (a, b) z = Relu (y) })";

// An output of 20 M numbers that take no multiply-accumulate.
constexpr const char* kManyNumbers = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1] x) => (float[20000000] y) <int64[1] n = {20000000}> { y = Expand (x, n) })";

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(SelfTestForm, MuchWorkHasAChecksum) {
  const TempDir work("etch-selftest");
  const std::string model = write_text_model(work.path() / "much.onnx", kMuchWork), out = (work.path() / "out").string();
  const ProcessResult result = etch_tool({"compile", model, "-o", out});
  ASSERT_TRUE(result.ok()) << result.err;
  const std::string text = content(work.path() / "out" / "selftest.c");
  EXPECT_TRUE(has(text, "CHECKSUM")) << text;
  EXPECT_FALSE(has(text, "expected_") || has(text, "PASS")) << text;
  EXPECT_TRUE(has(result.out, "10 648 000 000 multiply-accumulates") && has(result.out, "--selftest interp")) << result.out;
}

TEST(SelfTestForm, ManyNumbersHaveAChecksum) {
  const TempDir work("etch-selftest");
  const std::string model = write_text_model(work.path() / "many.onnx", kManyNumbers), out = (work.path() / "out").string();
  const ProcessResult result = etch_tool({"compile", model, "-o", out});
  ASSERT_TRUE(result.ok()) << result.err;
  const std::string text = content(work.path() / "out" / "selftest.c");
  EXPECT_TRUE(has(text, "CHECKSUM")) << text.substr(0, 1000);
  EXPECT_FALSE(has(text, "expected_"));
  EXPECT_TRUE(has(result.out, "20 000 000 numbers") && has(result.out, "--selftest interp")) << result.out;
}

TEST(SelfTestForm, ChecksumIsThatOfTheBuildAndNeedsNoReference) {
  const TempDir work("etch-selftest");
  const std::string model = write_text_model(work.path() / "little.onnx", kLittleWork);
  const fs::path out = work.path() / "out", program = work.path() / "selftest";
  const std::vector<std::string> compile{"compile", model, "--dim", "n=1..4", "-o", out.string()};
  ASSERT_TRUE(etch_tool(compile).ok());
  EXPECT_TRUE(has(content(out / "selftest.c"), "expected_y"));
  std::vector<std::string> again = compile;
  again.insert(again.end(), {"--selftest", "checksum"});
  ASSERT_TRUE(etch_tool(again).ok());
  EXPECT_FALSE(has(content(out / "selftest.c"), "expected_y"));
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!find_program(compiler)) continue;
    ProcessOptions options;
    options.cwd = out;
    std::vector<std::string> argv{compiler, "-std=c99", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"};
    for (const auto& entry : fs::directory_iterator(out))
      if (entry.path().extension() == ".c") argv.push_back(entry.path().filename().string());
    argv.insert(argv.end(), {"-lm", "-o", program.string()});
    const ProcessResult built = run_process(argv, options);
    ASSERT_TRUE(built.ok()) << built.err.substr(0, 2000);
    const ProcessResult first = run_process({program.string()}), second = run_process({program.string()});
    EXPECT_TRUE(first.ok()) << first.out;
    EXPECT_TRUE(first.out.starts_with("CHECKSUM y ") && has(first.out, "\nCHECKSUM z ")) << first.out;
    EXPECT_NE(first.out.substr(11, 8), first.out.substr(first.out.find("CHECKSUM z ") + 11, 8)) << "of different outputs";
    EXPECT_EQ(first.out, second.out);
  }
}

// Two layers whose results may lie over parts of what they are computed from, and an input that the first of them overwrites.
constexpr const char* kLayers = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,4,8,8] x, float[1,4,8,8] y) => (float[1,4,8,8] z, float[1,4,8,8] u) {
  a = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (x)
  b = MaxPool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (a)
  z = Add (b, y)
  u = AveragePool <kernel_shape = [3, 3], pads = [1, 1, 1, 1]> (b)
})";

TEST(SelfTestForm, RunsOnInputsInTheArena) {
  const TempDir work("etch-selftest");
  const std::string model = write_text_model(work.path() / "layers.onnx", kLayers);
  const fs::path out = work.path() / "out", program = work.path() / "selftest";
  ASSERT_TRUE(etch_tool({"compile", model, "--target", "c99", "--optimize", "ram", "--io-in-arena", "-o", out.string()}).ok());
  const std::string header = content(out / "layers.h"), report = content(out / "report.txt");
  for (const char* part : {"#define LAYERS_X_OFFSET ", "#define LAYERS_Y_OFFSET ", "#define LAYERS_Z_OFFSET ", "#define LAYERS_U_OFFSET "})
    EXPECT_TRUE(has(header, part)) << header;
  EXPECT_TRUE(has(report, "without overlap")) << report;
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!find_program(compiler)) continue;
    for (const char* level : {"-O0", "-O3"}) {
      ProcessOptions options;
      options.cwd = out;
      std::vector<std::string> argv{compiler, "-std=c99", level, "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"};
      if (std::string(compiler) == "gcc") argv.insert(argv.end(), {"-fsanitize=address,undefined", "-fno-sanitize-recover=all"});
      for (const auto& entry : fs::directory_iterator(out))
        if (entry.path().extension() == ".c") argv.push_back(entry.path().filename().string());
      argv.insert(argv.end(), {"-lm", "-o", program.string()});
      const ProcessResult built = run_process(argv, options);
      ASSERT_TRUE(built.ok()) << built.err.substr(0, 2000);
      const ProcessResult ran = run_process({program.string()});
      EXPECT_TRUE(ran.ok() && has(ran.out, "PASS")) << compiler << level << ran.out << ran.err;
    }
  }
}

TEST(SelfTestForm, UnknownFormIsNamed) {
  const TempDir work("etch-selftest");
  const std::string model = write_text_model(work.path() / "little.onnx", kLittleWork);
  const ProcessResult result = etch_tool({"compile", model, "--dim", "n=1", "--selftest", "intrep", "-o", (work.path() / "out").string()});
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_TRUE(has(result.err, "--selftest intrep: unknown form") && has(result.err, "auto, interp, checksum")) << result.err;
}

// Each step that may take long is named on a terminal, and nothing is said in a pipe.
TEST(Progress, OnATerminalAlone) {
  if (const std::string why = test::missing({"script"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir work("etch-progress");
  const std::string model = write_text_model(work.path() / "little.onnx", kLittleWork), out = (work.path() / "out").string();
  const ProcessResult piped = etch_tool({"compile", model, "--dim", "n=1..4", "-o", out});
  ASSERT_TRUE(piped.ok()) << piped.err;
  EXPECT_EQ(piped.err, "");
  EXPECT_FALSE(has(piped.out, "\r") || has(piped.out, "lowering"));
  const auto on_terminal = [&](const std::string& args) {
    return run_process({"script", "-qec", std::string(ETCH_BUILD_DIR "/etch ") + args, "/dev/null"}).out;
  };
  const std::string compiled = on_terminal("compile '" + model + "' --dim n=1..4 -o '" + out + "'");
  for (const char* step : {"reading little.onnx", "scheduling", "lowering", "planning memory", "self-test by INTERP 1/1", "emitting",
                           "writing", "checking the C that was written"})
    EXPECT_TRUE(has(compiled, (std::string("\r\033[K") + step).c_str())) << step << "\n" << compiled;
  const std::string validated = on_terminal("validate '" + model + "' --dim n=4 --backends interp,c --target host");
  for (const char* step : {"running the reference", "validating on c", "building for host", "running on host"})
    EXPECT_TRUE(has(validated, (std::string("\r\033[K") + step).c_str())) << step << "\n" << validated;
  const std::string audited = on_terminal("audit '" + out + "'");
  EXPECT_TRUE(has(audited, "\r\033[Kchecking ")) << audited;
}

}  // namespace
}  // namespace etch::selftest_test
