// Operators that a function in C computes: in the middle of a network on every device that runs them and in the emitted project, with
// open sizes, in a loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "custom_model.h"
#include "program/lower.h"
#include "support/files.h"
#include "turning_loop.h"

namespace etch {
namespace {

using test::custom_node;
using test::customs;
namespace fs = std::filesystem;

// Two inputs, a float and an integer attribute, a size.
constexpr const char* kBlend = R"(#include "blend.h"

static float scaled(float a, real by) { return a * by; }

void blend(real *y, const real *a, const float b[], int32_t shift, float alpha, int y_count) {
  int i;
  for (i = 0; i < y_count; i++) y[i] = scaled(a[i], alpha) + b[(i + shift) % y_count];
}
)";
constexpr const char* kBlendHeader = "#include <stdint.h>\ntypedef float real;\n";
const std::map<std::string, std::string> kBlendFiles{{"blend.c", kBlend}, {"blend.h", kBlendHeader}};
const std::vector<CustomBinding> kBlendBinding{{"com.example.Blend", "blend"}};

// conv (2 to 3 channels, 3x3) of [1,2,6,6], blended with a weight, 48 to 5 by a dense layer.
std::string network() {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {1, 2, 6, 6});
  const auto conv = g.conv(x, "conv", 2, 3, {3, 3}, {1, 1}, {0, 0, 0, 0});
  const auto offset = g.seeded("offset", {1, 3, 4, 4}, 4);
  const auto blend = custom_node(g, "Blend", {conv, offset}, {{"alpha", -0.75}, {"shift", std::int64_t{5}}}, "blend");
  test::declare(g, blend, {1, 3, 4, 4});
  const auto flat = g.node("Flatten", {g.relu(blend)}, {{"axis", std::int64_t{1}}});
  g.output(g.dense(flat, "fc", 48, 5), DType::Float32, {1, 5});
  return g.bytes();
}

std::map<std::string, std::vector<double>> weights_of(const std::string& bytes) {
  onnx::ModelProto model;
  model.ParseFromString(bytes);
  std::map<std::string, std::vector<double>> weights;
  for (const auto& t : model.graph().initializer()) {
    const auto* floats = reinterpret_cast<const float*>(t.raw_data().data());
    weights[t.name()] = {floats, floats + t.raw_data().size() / sizeof(float)};
  }
  return weights;
}

// Loops over the definitions.
std::vector<double> network_by_loops(const std::vector<double>& x) {
  const auto w = weights_of(network());
  std::vector<double> conv(48), blend(48), y(5);
  for (std::size_t o = 0; o < 3; o++)
    for (std::size_t r = 0; r < 4; r++)
      for (std::size_t c = 0; c < 4; c++) {
        double sum = w.at("conv.bias")[o];
        for (std::size_t i = 0; i < 2; i++)
          for (std::size_t a = 0; a < 3; a++)
            for (std::size_t b = 0; b < 3; b++) sum += w.at("conv.weight")[((o * 2 + i) * 3 + a) * 3 + b] * x[(i * 6 + r + a) * 6 + c + b];
        conv[(o * 4 + r) * 4 + c] = sum;
      }
  for (std::size_t i = 0; i < 48; i++) blend[i] = std::max(0.0, conv[i] * -0.75 + w.at("offset")[(i + 5) % 48]);
  for (std::size_t o = 0; o < 5; o++) {
    y[o] = w.at("fc.bias")[o];
    for (std::size_t i = 0; i < 48; i++) y[o] += w.at("fc.weight")[o * 48 + i] * blend[i];
  }
  return y;
}

std::vector<double> random_values(std::size_t count) {
  std::mt19937 random(7);
  std::vector<double> values(count);
  for (double& v : values) v = static_cast<double>(random() % 2001) / 1000 - 1;
  return values;
}

void expect_near(const Array& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), static_cast<std::int64_t>(want.size()));
  for (std::size_t i = 0; i < want.size(); i++) EXPECT_NEAR(got.double_at(static_cast<std::int64_t>(i)), want[i], 1e-4) << i;
}

TEST(CustomOperator, IsComputedInTheMiddleOfANetwork) {
  const std::vector<double> x = random_values(72);
  const auto outputs = test::run_everywhere(test::options_for(network(), customs(kBlendFiles, kBlendBinding)),
                                            {Array::of_doubles(DType::Float32, {1, 2, 6, 6}, x)});
  EXPECT_GE(outputs.size(), 3u);
  for (const auto& [device, got] : outputs) {
    SCOPED_TRACE(device);
    expect_near(got.at(0), network_by_loops(x));
  }
}

TEST(CustomOperator, IsAKernelOfItsOwnThatSharesNoMemory) {
  const CompileOptions options = test::options_for(network(), customs(kBlendFiles, kBlendBinding));
  const CompiledProject project = compile_project(read_model(options), options);
  const auto kernel = std::ranges::find_if(project.program.kernels, [](const ProgramKernel& k) { return k.external != nullptr; });
  ASSERT_NE(kernel, project.program.kernels.end());
  EXPECT_EQ(kernel->ast, nullptr);
  const int number = static_cast<int>(kernel - project.program.kernels.begin());
  const auto call = std::ranges::find(project.program.calls, number, &ProgramCall::kernel);
  EXPECT_EQ(call->nodes, std::vector<std::string>{"blend"});
  for (const CallArgument& a : call->arguments) EXPECT_EQ(a.may_alias, 0u);
  EXPECT_EQ(project.plan.placements[static_cast<std::size_t>(call->writes().front())].in_place_of, -1);
}

TEST(CustomOperator, IsCalledByTheEmittedProject) {
  const CompileOptions options = test::options_for(network(), customs(kBlendFiles, kBlendBinding));
  const TempDir work;
  const fs::path dir = work.path() / "out";
  const WrittenProject written = write_audited(dir, compile_project(read_model(options), options), options);
  EXPECT_EQ(test::content(dir / "blend.c"), kBlend);
  EXPECT_EQ(test::content(dir / "blend.h"), kBlendHeader);
  const std::string source = test::content(dir / "net.c");
  EXPECT_NE(
      source.find("void blend(float *y, const float *a, const float *b, int32_t shift, float alpha, int y_count); /* of blend.c */\n"),
      std::string::npos)
      << source;
  EXPECT_NE(source.find("  blend((float *)arg[0], (const float *)arg[1], (const float *)arg[2], 5, -0.75f, 48);\n"), std::string::npos);
  EXPECT_NE(source.find("calls blend() of blend.c"), std::string::npos);
  EXPECT_NE(test::content(dir / "CMakeLists.txt").find("add_library(net STATIC net.c blend.c "), std::string::npos);
  ASSERT_TRUE(written.report.audit.has_value());
  EXPECT_EQ(written.report.audit->findings, std::vector<std::string>{});
  for (const char* compiler : {"gcc", "clang-19"})
    if (find_program(compiler)) test::expect_builds_and_passes(dir, compiler);
  fs::remove(dir / "test");
  write_audited(dir, compile_project(read_model(options), options), options);  // the user's files are replaced as etch's own
}

TEST(CustomOperator, WhatTheAuditFindsInItIsReported) {
  const std::string source = R"(#include <stdint.h>
#include <stdlib.h>
void blend(float *y, const float *a, const float *b, int32_t shift, float alpha) {
  static int calls;
  float *copy = malloc(48 * sizeof *copy);
  int i;
  calls++;
  for (i = 0; i < 48; i++) copy[i] = alpha * a[i];
  for (i = 0; i < 48; i++) y[i] = copy[i] + b[(i + shift) % 48];
  free(copy);
}
)";
  const CompileOptions options = test::options_for(network(), customs({{"blend.c", source}}, kBlendBinding));
  const TempDir work;
  const WrittenProject written = write_audited(work.path() / "out", compile_project(read_model(options), options), options);
  const std::vector<std::string>& findings = written.report.audit.value().findings;
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0], "blend.c:4: in blend: calls is a variable of static storage: state has to be the caller's [mutable-static]");
  EXPECT_EQ(findings[1], "blend.c:5: in blend: malloc takes memory while the program runs: all of it has to be the caller's [heap]");
  EXPECT_EQ(findings[2], "blend.c:10: in blend: free takes memory while the program runs: all of it has to be the caller's [heap]");
  EXPECT_NE(test::content(work.path() / "out" / "report.txt").find(findings[0]), std::string::npos);
}

TEST(CustomOperator, NamesOfItsFilesMayNotBeThoseOfTheProject) {
  for (const char* name : {"selftest.c", "net.c", "Etch_Runtime.h", "net_weights.c"}) {
    const CompileOptions options = test::options_for(
        network(), customs({{name, std::string(kBlendHeader)}, {"blend.h", kBlendHeader}, {"b.c", kBlend}}, kBlendBinding));
    const std::string error = test::error_of([&] { compile_project(read_model(options), options); });
    EXPECT_TRUE(error.starts_with(std::string("--custom-file ") + name + ": the project has a file of this name already")) << error;
  }
}

TEST(CustomOperator, ItsFunctionMayNotBeCalledAsSomethingInTheProject) {
  for (const char* name : {"net_run", "calls", "net_constants", "net_state_init", "io_align", "arg", "k0_conv"}) {
    std::string source = kBlend;
    source.replace(source.find("blend("), 5, name);
    const CompileOptions options =
        test::options_for(network(), customs({{"b.c", source}, {"blend.h", kBlendHeader}}, {{"com.example.Blend", name}}));
    const std::string error = test::error_of([&] { compile_project(read_model(options), options); });
    EXPECT_TRUE(
        error.starts_with(std::string("custom function ") + name + "() of b.c: the files of the project have something of this name"))
        << error;
  }
}

// The functions of nodes call others, and a linker sees all that their files define.
TEST(CustomOperator, ItsFilesMayNotDefineWhatTheProjectDefines) {
  for (const char* defined : {"void net_run(void) { }", "int net_constants[3];", "float etch_blob_open(void) { return 0; }"}) {
    const CompileOptions options = test::options_for(
        network(), customs({{"blend.c", kBlend + std::string(defined) + "\n"}, {"blend.h", kBlendHeader}}, kBlendBinding));
    const std::string error = test::error_of([&] { compile_project(read_model(options), options); });
    EXPECT_TRUE(error.starts_with("--custom-file blend.c, line 9: it defines ")) << defined << "\n" << error;
  }
  const CompileOptions fine = test::options_for(
      network(), customs({{"blend.c", kBlend + std::string("static void net_run(void) { }\nint calls;\n")}, {"blend.h", kBlendHeader}},
                         kBlendBinding));
  EXPECT_EQ(test::error_of([&] { compile_project(read_model(fine), fine); }), "");
}

// Every type of C that a tensor can have, and a half as its bits.
TEST(CustomOperator, TakesTensorsOfEveryType) {
  for (int t = 0; t < kDTypeCount; t++) {
    const auto dtype = static_cast<DType>(t);
    SCOPED_TRACE(name_of(dtype));
    GraphBuilder g("net", 17);
    const auto x = g.input("x", dtype, {6});
    g.output(custom_node(g, "Reverse", {x}, {}, "y"), dtype, {6});
    const std::string type(info(dtype).c_type);
    const std::string source = "#include <stdint.h>\n#include <stdbool.h>\nvoid reverse(" + type + " *y, const " + type +
                               " *x) {\n  int i;\n  for (i = 0; i < 6; i++) y[i] = x[5 - i];\n}\n";
    const auto cast = [&](std::vector<double> values) { return Array::of_doubles(dtype, {6}, values); };
    const auto outputs = test::run_everywhere(
        test::options_for(g.bytes(), customs({{"r.c", source}}, {{"com.example.Reverse", "reverse"}})), {cast({1, 0, 1, 1, 0, 0})});
    for (const auto& [device, got] : outputs) EXPECT_EQ(got.at(0), cast({0, 0, 1, 1, 0, 1})) << device;
  }
}

// Numbers that need care as C literals.
TEST(CustomOperator, GetsItsAttributesExactly) {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float64, {1});
  const OnnxAttributes attributes{{"tiny", 1e-45},          {"tenth", 0.1},       {"large", -3e38},
                                  {"most", INT64_MAX},      {"least", INT64_MIN}, {"unsigned_", std::int64_t{4294967295}},
                                  {"flag", std::int64_t{1}}};
  g.output(custom_node(g, "Numbers", {x}, attributes, "y"), DType::Float64, {8});
  const std::string source = R"(#include <stdint.h>
#include <stdbool.h>
void numbers(double *y, const double *x, bool flag, double tenth, float tiny, float large, int64_t most, int64_t least, uint32_t unsigned_) {
  y[0] = x[0]; y[1] = flag; y[2] = tenth; y[3] = tiny; y[4] = large;
  y[5] = most == INT64_MAX; y[6] = least == INT64_MIN; y[7] = unsigned_;
}
)";
  const auto outputs = test::run_everywhere(test::options_for(g.bytes(), customs({{"n.c", source}}, {{"com.example.Numbers", "numbers"}})),
                                            {Array::of_doubles(DType::Float64, {1}, std::vector<double>{2.5})});
  const std::vector<double> want{2.5, 1,         static_cast<double>(0.1f), static_cast<double>(1e-45f), static_cast<double>(-3e38f), 1,
                                 1,   4294967295};
  for (const auto& [device, got] : outputs) EXPECT_EQ(got.at(0), Array::of_doubles(DType::Float64, {8}, want)) << device;
}

// Sums of rows of [n, 3 * m] for every n and m.
TEST(CustomOperator, GetsOpenSizes) {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {"n", "m"});
  const auto doubled = g.node("Concat", {g.node("Relu", {x}), x}, {{"axis", std::int64_t{1}}});
  g.output(custom_node(g, "RowSums", {doubled}, {}, "y"), DType::Float32, {"n"});
  const std::string source = R"(#include <stdint.h>
void row_sums(float *sums, const float *rows, int32_t rows_count, int64_t sums_count, int32_t rows_dim1) {
  int64_t r;
  int32_t c;
  for (r = 0; r < sums_count; r++) {
    sums[r] = rows_count == sums_count * rows_dim1 ? 0.0f : -1000.0f;
    for (c = 0; c < rows_dim1; c++) sums[r] += rows[r * rows_dim1 + c];
  }
}
)";
  CompileOptions options = test::options_for(g.bytes(), customs({{"row_sums.c", source}}, {{"com.example.RowSums", "row_sums"}}));
  options.import.dims = {{"n", 1, 5}, {"m", 2, 4}};
  for (const auto& [n, m] : {std::pair<std::int64_t, std::int64_t>{1, 2}, {3, 4}, {5, 3}}) {
    const std::vector<double> values = random_values(static_cast<std::size_t>(n * m));
    std::vector<double> want(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); i++) want[i / static_cast<std::size_t>(m)] += values[i] + std::max(values[i], 0.0);
    const auto outputs = test::run_everywhere(options, {Array::of_doubles(DType::Float32, {n, m}, values)}, {{"n", n}, {"m", m}});
    for (const auto& [device, got] : outputs) {
      SCOPED_TRACE(device);
      expect_near(got.at(0), want);
    }
  }
  const TempDir work;
  write_audited(work.path() / "out", compile_project(read_model(options), options), options);
  test::expect_builds_and_passes(work.path() / "out", "gcc");
}

TEST(CustomOperator, EqualNodesAreOneKernel) {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {4});
  const auto a = test::declare(g, custom_node(g, "Times", {x}, {{"by", 2.0}}, "a"), {4});
  const auto b = test::declare(g, custom_node(g, "Times", {a}, {{"by", 2.0}}, "b"), {4});
  g.output(custom_node(g, "Times", {b}, {{"by", 3.0}}, "y"), DType::Float32, {4});
  const std::string source = "void times(float *y, const float *x, float by) { int i; for (i = 0; i < 4; i++) y[i] = by * x[i]; }\n";
  const CompileOptions options = test::options_for(g.bytes(), customs({{"t.c", source}}, {{"com.example.Times", "times"}}));
  const CompiledProject project = compile_project(read_model(options), options);
  EXPECT_EQ(project.program.calls.size(), 3u);
  EXPECT_EQ(project.program.kernels.size(), 2u);
  for (const auto& [device, got] : test::run_everywhere(options, {Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 2, 3, 4})}))
    expect_near(got.at(0), {12, 24, 36, 48});
}

// In a loop, as what a carried value becomes, which it may not overwrite while it reads it; and as an element of a list.
TEST(CustomOperator, RunsInALoop) {
  const test::TurningLoop loop = test::turning_loop(0);
  for (const auto& device : test::devices()) {
    SCOPED_TRACE(device->name());
    const auto got = device->load(loop.program(device->language()))->run({loop.input});
    EXPECT_EQ(got.at(0), loop.last);
    EXPECT_EQ(got.at(1), loop.all);
  }
}

}  // namespace
}  // namespace etch
