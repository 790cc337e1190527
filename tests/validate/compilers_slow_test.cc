// Networks that some compilers compiled wrongly, and library functions that must not be linked.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/tempdir.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/processor.h"
#include "support/tool.h"
#include "target/target.h"

namespace etch {
namespace {

// gcc 12 with -O3 and AVX: several masked loads with stores between them in the body of a loop.
TEST(Compilers, MaskedLoadsBetweenStores) {
  if (const std::string why = test::missing({"gcc"}); !why.empty()) GTEST_SKIP() << why;
  if (!test::has_feature("avx2")) GTEST_SKIP() << "this processor has no AVX2";
  const TempDir work("etch-compilers");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,16,1,3] x) => (float[1,17,2,4] y) {
  pads = Constant <value = int64[8] {0, 1, 1, 0, 0, 0, 0, 1}> ()
  low = Constant <value = float {-0.5}> ()
  high = Constant <value = float {1.5}> ()
  p = Pad (x, pads)
  c = Clip (p, low, high)
  y = Max (c, p)
})");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const std::string path = (work.path() / "net.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const ProcessResult result = etch_tool({"validate", path, "--backends", "c", "--target", "x86-64-v3", "--cc", "gcc"});
  EXPECT_TRUE(result.ok()) << result.err << result.out;
}

// picolibc computes these in double: a core with a single-precision FPU gets etch_math.h's.
TEST(Compilers, NoDoubleOnASinglePrecisionCore) {
  if (const std::string why = test::missing({"arm-none-eabi-gcc", "qemu-system-arm"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir work("etch-compilers");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[8] x) => (float[8] y) {
  a = Softplus (x)
  b = Log (a)
  c = Asinh (b)
  d = Cosh (c)
  e = Acosh (d)
  f = Tanh (e)
  h = Atanh (f)
  i = Mish (h)
  j = Elu (i)
  y = Pow (a, j)
})");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const std::string path = (work.path() / "net.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const ProcessResult result = etch_tool({"validate", path, "--backends", "c", "--target", "cortex-m4f", "--json"});
  ASSERT_TRUE(result.ok()) << result.err << result.out;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json.at("target").at("ok"));
  EXPECT_EQ(json.at("target").at("soft_double_symbols"), nlohmann::json::array());
}

// The detector in a project that sets no flags: it is compiled with the same commands as with the target's own flags.
TEST(Compilers, ADetectorHasTheFlagsOfItsTarget) {
  if (const std::string why = test::missing({"cmake", "gcc"}); !why.empty()) GTEST_SKIP() << why;
  if (!run_process({"gcc", "-march=x86-64-v4", "-E", "-x", "c", "/dev/null"}).ok())
    GTEST_SKIP() << "gcc makes no code for x86-64-v4, whose flags this test looks for";
  const TempDir work("etch-compilers");
  const std::string detector = test::zoo_project("detector", "x86-64-v4", {"--selftest", "checksum"}).string();
  std::ofstream(work.path() / "main.c") << "int main(void) { return 0; }\n";
  std::ofstream(work.path() / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.16)\nproject(user C ASM)\nadd_subdirectory(" +
                                                       detector +
                                                       " detector)\n"
                                                       "add_executable(user main.c)\ntarget_link_libraries(user etch::detector)\n";
  std::string own;
  const Target target = find_target("x86-64-v4", std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  for (const std::string& flag : target.toolchain.flags_of(FlagKind::Code)) own += flag + " ";
  for (const std::string compiler : {"gcc", "clang-19"}) {
    if (!find_program(compiler)) continue;
    SCOPED_TRACE(compiler);
    const auto words = [&](const std::string& build, const std::vector<std::string>& options) {
      std::vector<std::string> command{"cmake",
                                       "-S",
                                       work.path().string(),
                                       "-B",
                                       (work.path() / build).string(),
                                       "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                                       "-DCMAKE_C_COMPILER=" + compiler};
      command.insert(command.end(), options.begin(), options.end());
      const ProcessResult configured = run_process(command);
      EXPECT_TRUE(configured.ok()) << configured.err;
      std::ifstream in(work.path() / build / "compile_commands.json");
      std::set<std::string> result;
      for (const auto& entry : nlohmann::json::parse(in)) {
        if (!entry.at("file").get<std::string>().ends_with("/detector.c")) continue;
        std::istringstream text(entry.at("command").get<std::string>());
        for (std::string word; text >> word;) result.insert(word);
      }
      return result;
    };
    const auto plain = words("plain_" + compiler, {});
    EXPECT_EQ(plain, words("own_" + compiler, {"-DDETECTOR_TARGET_FLAGS=OFF", "-DCMAKE_C_FLAGS=-O2 " + own}));
    for (const std::string& flag : target.toolchain.flags_of(FlagKind::Code)) EXPECT_TRUE(plain.contains(flag)) << flag;
    EXPECT_TRUE(plain.contains("-O2"));
  }
}

// A network with comparisons of floats, in the targets' C: none of the warnings that firmware projects switch on.
TEST(Compilers, NoWarningsOfSwitchesAndFloats) {
  const TempDir work("etch-compilers");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[1,4,8,8] x, float[1,4,8,8] w) => (float[1,4,4,4] y, bool[1,4,8,8] same, float[1,4,8,8] p) {
  m = Max (x, w)
  y = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (m)
  same = Equal (x, w)
  nan = IsNaN (x)
  b = Cast <to = 9> (w)
  either = Or (nan, b)
  z = Where (either, x, w)
  p = Softmax (z)
})");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const std::string path = (work.path() / "net.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  for (const char* target : {"c99", "host", "x86-64-v3"}) {
    const std::filesystem::path dir = work.path() / target;
    const ProcessResult compiled = etch_tool({"compile", path, "--target", target, "-o", dir.string()});
    ASSERT_TRUE(compiled.ok()) << compiled.err;
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!find_program(compiler)) continue;
      for (const char* file : {"net.c", "etch_runtime.c", "selftest.c"}) {
        ASSERT_TRUE(std::filesystem::exists(dir / file)) << file;
        const ProcessResult built =
            run_process({compiler, "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wswitch-default", "-Wfloat-equal", "-Werror",
                         std::string(target) == "x86-64-v3" ? "-march=x86-64-v3" : "-DNDEBUG", "-fsyntax-only", (dir / file).string()});
        EXPECT_TRUE(built.ok()) << compiler << " " << target << ": " << built.err;
      }
    }
  }
}

// If features for which the C was generated are missing, an #error says so, and it builds only if the user accepts that.
TEST(Compilers, MissingFeaturesStopTheBuild) {
  const TempDir work("etch-compilers");
  struct Row {
    const char *target, *compiler;
    std::vector<std::string> flags;
    const char* message;  // empty: it builds
  };
  const Row rows[] = {
      {"x86-64-v3", "gcc", {}, "lenet.c is for target x86-64-v3 (__AVX2__, __FMA__): compile it with -march=x86-64-v3"},
      {"x86-64-v3", "gcc", {"-mavx2"}, "__FMA__"},
      {"x86-64-v3", "gcc", {"-march=x86-64-v3"}, ""},
      {"x86-64-v3", "gcc", {"-DETCH_ANY_CPU=1"}, ""},
      {"x86-64-v4", "clang-19", {"-march=x86-64-v3"}, "(__AVX512F__, __FMA__): compile it with -march=x86-64-v4 -mprefer-vector-width=512"},
      {"cortex-m4f", "arm-none-eabi-gcc", {"-mcpu=cortex-m3", "-mthumb", "--specs=picolibc.specs"}, "__ARM_FEATURE_DSP"},
      {"cortex-m4f", "gcc", {}, "lenet.c is for target cortex-m4f"},
      {"cortex-m4f", "gcc", {"-DETCH_ANY_CPU=1"}, ""},
      {"host", "gcc", {}, ""},
      {"host", "tcc", {}, "generate it with --target c99"},
      {"c99", "tcc", {}, ""},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.target) + " by " + row.compiler);
    if (!find_program(row.compiler)) {
      std::printf("not installed, so not tried: %s\n", row.compiler);
      continue;
    }
    const std::filesystem::path dir = test::zoo_project("lenet", row.target);
    std::vector<std::string> command{row.compiler};
    command.insert(command.end(), row.flags.begin(), row.flags.end());
    command.insert(command.end(), {"-c", (dir / "lenet.c").string(), "-o", (work.path() / "lenet.o").string()});
    const ProcessResult built = run_process(command);
    EXPECT_EQ(built.ok(), *row.message == 0) << built.err;
    EXPECT_NE(built.err.find(row.message), std::string::npos) << built.err;
  }
}

// A real network by compilers with and without a way to align; on wide vectors too, where this processor has them.
TEST(Compilers, NetworksPassTheirSelfTest) {
  const TempDir work("etch-compilers");
  struct Row {
    const char *target, *compiler;
    std::vector<std::string> flags;
  };
  const Row rows[] = {
      {"c99", "tcc", {}},
      {"c99", "tcc", {"-DETCH_ALIGNED(n)="}},
      {"c99", "gcc", {"-std=c99", "-pedantic", "-Werror", "-O1"}},
      {"host", "gcc", {"-std=c99", "-pedantic", "-Werror", "-O1", "-DETCH_ALIGNED(n)="}},
      {"host", "g++", {"-x", "c++", "-O1"}},
      {"host", "clang-19", {"-std=c99", "-pedantic", "-Werror", "-O1", "-DETCH_ALIGNED(n)="}},
      {"x86-64-v3", "gcc", {"-march=x86-64-v3", "-O1", "-DETCH_ALIGNED(n)="}},
      {"x86-64-v3", "clang-19", {"-march=x86-64-v3", "-O1", "-DETCH_ALIGNED(n)="}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.target) + " by " + row.compiler);
    if (!find_program(row.compiler) || (std::string_view(row.target) == "x86-64-v3" && !test::has_feature("avx2"))) {
      std::printf("not tried here: %s by %s\n", row.target, row.compiler);
      continue;
    }
    const std::filesystem::path dir = test::zoo_project("lenet", row.target, {"--weights", "c"});
    std::vector<std::string> command{row.compiler};
    command.insert(command.end(), row.flags.begin(), row.flags.end());
    for (const char* file : {"lenet.c", "lenet_weights.c", "etch_runtime.c", "selftest.c"}) command.push_back((dir / file).string());
    const std::string program = (work.path() / "test").string();
    command.insert(command.end(), {"-lm", "-o", program});
    const ProcessResult built = run_process(command);
    ASSERT_TRUE(built.ok()) << built.err;
    EXPECT_EQ(run_process({program}).out, "PASS\n");
  }
}

}  // namespace
}  // namespace etch
