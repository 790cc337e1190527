// A core whose int has 16 bits, and whose constants are in an address space of their own: what is written for it, and what is refused.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "boards.h"
#include "onnx/builder.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/quantised_mlp.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ProcessResult compile_for_avr(const std::string& model, const fs::path& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> args{"compile", model, "--target", "avr", "-o", out.string()};
  args.insert(args.end(), more.begin(), more.end());
  return etch_tool(args);
}

/// One layer y = saturate(rint(f32(sum) * m)) of `from` to `to` bytes.
std::string dense(const fs::path& dir, std::int64_t from, std::int64_t to) {
  GraphBuilder g("dense", 13);
  const auto scalar = [&](const std::string& name, double value) {
    return g.initializer(name, Array::of_doubles(DType::Float32, {}, std::vector<double>{value}));
  };
  std::vector<std::int64_t> weights(static_cast<std::size_t>(from * to));
  for (std::size_t i = 0; i < weights.size(); i++) weights[i] = static_cast<std::int64_t>(i * i % 251) - 125;
  const auto scale = scalar("scale", 0.01), zero = g.initializer("zero", Array::of_ints(DType::Int8, {}, std::vector<std::int64_t>{0}));
  const auto x = g.node("DequantizeLinear", {g.input("x", DType::Int8, {1, from}), scale, zero});
  const auto w = g.node("DequantizeLinear", {g.initializer("w", Array::of_ints(DType::Int8, {to, from}, weights)), scale, zero});
  const auto y = g.node("Gemm", {x, w}, {{"transB", std::int64_t{1}}});
  g.output(g.node("QuantizeLinear", {y, scalar("y_scale", 1), zero}), DType::Int8, {1, to});
  g.write(dir / "dense.onnx");
  return (dir / "dense.onnx").string();
}

TEST(Avr, LargeIndicesHave32Bits) {
  const TempDir temp;
  const ProcessResult compiled = compile_for_avr(test::quantised_mlp(temp.path()), temp.path() / "out", {"--name", "net", "--no-measure"});
  ASSERT_TRUE(compiled.ok()) << compiled.err;
  const std::string source = test::content(temp.path() / "out/net.c"), first = source.substr(0, source.find("/* 1: "));
  EXPECT_TRUE(holds(first, "for (int32_t ")) << first;
  EXPECT_TRUE(holds(first, "ETCH_CONST_AT(int8_t, w, ")) << first;
  EXPECT_FALSE(holds(first, "const int n")) << first;
  const std::string last = source.substr(source.find("/* 2: "));  // 640 weights
  EXPECT_TRUE(holds(last, "for (int ")) << last;
  EXPECT_TRUE(holds(last, "const ETCH_CONST_SPACE int8_t *const w = (const ETCH_CONST_SPACE int8_t *)arg[2];")) << last;
  EXPECT_FALSE(holds(last, "ETCH_CONST_AT")) << last;
  EXPECT_TRUE(holds(source, "static const ETCH_CONST_SPACE etch_ref args[")) << source;
  EXPECT_TRUE(holds(test::content(temp.path() / "out/etch_runtime.h"), "#define ETCH_CONST_SPACE __memx\n"));
}

// On both sides of the largest object, and of the largest int.
TEST(Avr, LayersOfEverySizeGiveTheirOutputs) {
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const std::pair<std::int64_t, std::int64_t> sizes[] = {{100, 7}, {217, 151}, {256, 127}, {256, 128}, {257, 129}, {600, 110}, {300, 500}};
  for (const auto& [from, to] : sizes) {  // 700, 32767, 32512, 32768, 33153, 66000, 150000 bytes
    SCOPED_TRACE(std::to_string(from) + " to " + std::to_string(to));
    const TempDir temp;
    test::expect_valid_on(target, dense(temp.path(), from, to), "", {"--rtol", "0", "--atol", "0"});
  }
}

// The kernels of the target, run on this machine: it has one address space for all.
TEST(Avr, ItsKernelsRunOnTheHost) {
  const TempDir temp;
  const std::string model = test::quantised_mlp(temp.path());
  const ProcessResult run =
      etch_tool({"validate", model, "--backends", "interp,c", "--data", temp.path().string(), "--rtol", "0", "--atol", "0"});
  EXPECT_TRUE(run.ok()) << run.err << run.out;
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const ProcessResult both = etch_tool(
      {"validate", model, "--backends", "interp,c", "--target", "avr", "--data", temp.path().string(), "--rtol", "0", "--atol", "0"});
  EXPECT_TRUE(both.ok()) << both.err << both.out;
}

TEST(Avr, WhatItsConstantsForbidIsRefused) {
  const TempDir temp;
  const std::string model = dense(temp.path(), 257, 129);
  struct Row {
    std::vector<std::string> options;
    const char* says;
  };
  const Row rows[] = {
      {{"--weights", "c"}, "its compiler accepts objects of at most 32767"},
      {{"--weights", "blob"}, "constants are in the address space __memx, a blob would be in RAM"},
  };
  for (const Row& row : rows) {
    const ProcessResult refused = compile_for_avr(model, temp.path() / "out", row.options);
    EXPECT_EQ(describe(refused), "exit status 1");
    EXPECT_TRUE(holds(refused.err, row.says)) << refused.err;
    EXPECT_FALSE(fs::exists(temp.path() / "out"));
  }
  GraphBuilder g("erf", 13);
  g.output(g.node("Erf", {g.input("x", DType::Float32, {4})}, {}, "curve"), DType::Float32, {4});
  g.write(temp.path() / "erf.onnx");
  EXPECT_TRUE(compile_for_avr((temp.path() / "erf.onnx").string(), temp.path() / "erf", {"--no-measure"}).ok());
  const std::string avr = test::content(fs::path(ETCH_SOURCE_DIR) / "targets/avr.xml"), library = "library=\"";
  fs::create_directory(temp.path() / "targets");
  const Row left_to_library[] = {
      {{"erff "}, "computed with erff, the C library of target avr has none"},
      {{"erf "}, "<math>: library names 'erf'"},
  };
  for (const Row& row : left_to_library) {
    std::ofstream(temp.path() / "targets/avr.xml") << std::string(avr).insert(avr.find(library) + library.size(), row.options[0]);
    const ProcessResult refused =
        compile_for_avr((temp.path() / "erf.onnx").string(), temp.path() / "out", {"--targets-dir", (temp.path() / "targets").string()});
    EXPECT_EQ(describe(refused), "exit status 1");
    EXPECT_TRUE(holds(refused.err, row.says)) << refused.err;
  }
}

TEST(Avr, WhatDoesNotFitIsSaidInNumbers) {
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  const ProcessResult compiled = compile_for_avr(test::zoo_model("mlp").string(), temp.path() / "out");  // 437 544 bytes of weights
  EXPECT_EQ(describe(compiled), "exit status 1");
  EXPECT_TRUE(holds(compiled.err, "flash")) << compiled.err;
  EXPECT_TRUE(holds(compiled.err, "262 144") || holds(compiled.err, "262144")) << compiled.err;
}

TEST(Avr, RoundingIsThatOfTheDefinition) {
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  GraphBuilder g("round", 13);
  g.output(g.node("Round", {g.input("x", DType::Float32, {64})}), DType::Float32, {64});
  g.write(temp.path() / "round.onnx");
  test::expect_valid_on(target, (temp.path() / "round.onnx").string(), "", {"--rtol", "0", "--atol", "0"});
}

// avr-libc's functions of floats are those of double, which has 32 bits.
TEST(Avr, FunctionsOfFloatsAreFound) {
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  GraphBuilder g("float", 13);
  const auto x = g.node("Tanh", {g.node("Mul", {g.input("x", DType::Float32, {1, 24}), g.seeded("w", {1, 24}, 4)})});
  const auto y =
      g.node("Softmax", {g.node("Add", {g.node("Log", {g.node("Exp", {g.node("Erf", {x})})}), g.node("Sin", {g.node("Elu", {x})})})},
             {{"axis", std::int64_t{1}}});
  g.output(y, DType::Float32, {1, 24});
  g.write(temp.path() / "float.onnx");
  test::expect_valid_on(target, (temp.path() / "float.onnx").string(), "", {"--rtol", "1e-5", "--atol", "1e-5"});
}

TEST(Avr, ToolchainFileBuildsTheProject) {
  const Target target = test::board_target("avr");
  if (const std::string why = test::missing_tools(target) + test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  ASSERT_TRUE(compile_for_avr(test::quantised_mlp(temp.path()), temp.path() / "net", {"--name", "net"}).ok());
  const fs::path toolchain = fs::path(ETCH_SOURCE_DIR) / "toolchains" / target.toolchain.file;
  const std::string build = (temp.path() / "build").string();
  const ProcessResult configured =
      run_process({"cmake", "-S", (temp.path() / "net").string(), "-B", build, "-DCMAKE_TOOLCHAIN_FILE=" + toolchain.string()});
  ASSERT_TRUE(configured.ok()) << configured.err;
  const ProcessResult built = run_process({"cmake", "--build", build});
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  EXPECT_FALSE(holds(built.err, "warning")) << built.err;
  const EmulatorResult run = run_emulated(target, build + "/net_selftest.elf", {});
  EXPECT_EQ(run.console, "PASS\n");
  EXPECT_EQ(run.exit_code, 0);
}

}  // namespace
}  // namespace etch
