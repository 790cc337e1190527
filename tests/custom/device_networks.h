// Networks whose functions in C stand between kernels of a device, for tests of emitted OpenCL and CUDA projects: what computes them by
// loops, and the parts in C of programs that run them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <vector>

#include "custom_model.h"
#include "emit/device_project.h"
#include "memory/plan.h"
#include "turning_loop.h"

namespace etch::test {

// Values are multiples of 1/8 and small, so that every result below is exact in float.

inline constexpr int kMostRows = 6;

/// For x of [n, 4]: m = blend(relu(x), x, weight); d = 2 m - x; value, place = the largest of each row of d; pair = d times d from
/// behind, which passes one buffer twice.
inline CompileOptions stages_for(const std::string& target) {
  GraphBuilder g("net", 17, 8);
  const auto x = g.input("x", DType::Float32, {"n", 4});
  const auto weight = g.initializer("weight", Array::of_doubles(DType::Float32, {4}, std::vector<double>{0.5, -1, 2, -0.25}));
  const auto two = g.initializer("two", Array::of_doubles(DType::Float32, {1}, std::vector<double>{2}));
  const auto m = declare(g, custom_node(g, "Blend", {g.relu(x), x, weight}, {{"alpha", -0.5}, {"shift", std::int64_t{3}}}, "m"), {"n", 4});
  g.node_with_outputs("Sub", {g.node("Mul", {m, two}), x}, {"d"}, {}, "sub");
  g.node_with_outputs("Largest", {"d"}, {"value", "place"}, {}, "largest", "com.example");
  g.output("value", DType::Float32, {"n"});
  g.output("place", DType::Int64, {"n"});
  g.output(custom_node(g, "Pair", {"d", "d"}, {}, "pair"), DType::Float32, {"n", 4});
  const std::string blend = R"c(#include <stdint.h>
void blend(float *y, const float *r, const float *x, const float *w, float alpha, int32_t shift, int32_t y_count) {
  int32_t i;
  for (i = 0; i < y_count; i++) y[i] = alpha * r[i] + x[(i + shift) % y_count] + w[i % 4];
}
)c";
  const std::string others = R"c(#include "others.h"
void largest(float *value, place_type *place, const float *d, int32_t d_dim0, int32_t d_dim1) {
  int32_t r, c;
  for (r = 0; r < d_dim0; r++) {
    place[r] = 0;
    for (c = 1; c < d_dim1; c++) {
      if (d[r * d_dim1 + c] > d[r * d_dim1 + (int32_t)place[r]]) place[r] = c;
    }
    value[r] = d[r * d_dim1 + (int32_t)place[r]];
  }
}
void pair(float *y, const float *a, const float *b, int64_t a_count) {
  int64_t i;
  for (i = 0; i < a_count; i++) y[i] = a[i] * b[a_count - 1 - i];
}
)c";
  CompileOptions options =
      options_for(g.bytes(),
                  customs({{"blend.c", blend}, {"others.c", others}, {"others.h", "#include <stdint.h>\ntypedef int64_t place_type;\n"}},
                          {{"com.example.Blend", "blend"}, {"com.example.Largest", "largest"}, {"com.example.Pair", "pair"}}),
                  target);
  options.import.dims = {{"n", 1, kMostRows}};
  return options;
}

inline std::vector<EmittedFile> project_of(const CompileOptions& options) { return compile_project(read_model(options), options).files; }

struct Stages {
  std::vector<double> m, value, place, pair;
};

/// What run_stages() gives the network, and loops over the definitions.
inline Stages stages_by_loops(std::size_t n) {
  const std::vector<double> weight{0.5, -1, 2, -0.25};
  std::vector<double> x(n * 4), d(n * 4);
  Stages s{std::vector<double>(n * 4), std::vector<double>(n), std::vector<double>(n), std::vector<double>(n * 4)};
  for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<double>(i * 7 % 19) / 8 - 1;
  for (std::size_t i = 0; i < x.size(); i++) s.m[i] = -0.5 * std::max(x[i], 0.0) + x[(i + 3) % x.size()] + weight[i % 4];
  for (std::size_t i = 0; i < x.size(); i++) d[i] = 2 * s.m[i] - x[i];
  for (std::size_t r = 0; r < n; r++) {
    const auto row = d.begin() + static_cast<std::ptrdiff_t>(4 * r);
    const auto most = std::max_element(row, row + 4);
    s.value[r] = *most;
    s.place[r] = static_cast<double>(most - row);
  }
  for (std::size_t i = 0; i < x.size(); i++) s.pair[i] = d[i] * d[x.size() - 1 - i];
  return s;
}

/// In C: prints the status and the outputs for n rows, each with one element behind it that is not to be written.
inline constexpr const char* kRunStages = R"c(
#include "net.h"
static float x[NET_X_COUNT], value[NET_VALUE_COUNT + 1], pair_of[NET_PAIR_COUNT + 1];
static int64_t place[NET_PLACE_COUNT + 1];
static void prepare(void) {
  size_t i;
  for (i = 0; i < NET_X_COUNT; i++) x[i] = (float)(i * 7 % 19) / 8.0f - 1.0f;
  for (i = 0; i <= NET_VALUE_COUNT; i++) value[i] = -77.0f;
  for (i = 0; i <= NET_PLACE_COUNT; i++) place[i] = -77;
  for (i = 0; i <= NET_PAIR_COUNT; i++) pair_of[i] = -77.0f;
}
static void print_stages(int status, int n) {
  int i;
  printf("%d", status);
  for (i = 0; i <= n; i++) printf(" %.9g", (double)value[i]);
  for (i = 0; i <= n; i++) printf(" %d", (int)place[i]);
  for (i = 0; i <= 4 * n; i++) printf(" %.9g", (double)pair_of[i]);
  printf("\n");
}
static void run_stages(net_session *session, int n) {
  prepare();
  print_stages((int)net_run(session, n, x, value, place, pair_of), n);
}
)c";

/// What a run prints that succeeds.
inline std::string stages_printed(int n) {
  const Stages s = stages_by_loops(static_cast<std::size_t>(n));
  std::ostringstream text;
  text.precision(9);
  text << 0;
  for (const std::vector<double>* values : {&s.value, &s.place, &s.pair}) {
    for (double v : *values) text << " " << v;
    text << " -77";
  }
  return text.str() + "\n";
}

/// What net_profile() for 2 rows prints of calls whose output is float32, "after NODES OUTPUT FIRST SECOND", and then print_stages().
inline void expect_profiled(const ProcessResult& ran) {
  const std::string& printed = ran.out;
  const Stages s = stages_by_loops(2);
  const auto line = [](const std::string& of, const std::vector<double>& values) {
    std::ostringstream text;
    text.precision(9);
    text << "after " << of << " " << values[0] << " " << values[1] << "\n";
    return text.str();
  };
  for (const std::string& want : {line("m blend_m", s.m), line("largest value", s.value), line("pair pair", s.pair)})
    EXPECT_NE(printed.find(want), std::string::npos) << want << "in\n" << printed;
  EXPECT_TRUE(printed.ends_with("\n" + stages_printed(2))) << printed;
  EXPECT_TRUE(ran.ok()) << describe(ran) << ran.err;
}

/// A function in C on a network's input alone: y[i] = -x[i]. No kernel is left for the device.
inline CompileOptions negated_for(const std::string& target) {
  GraphBuilder g("net", 17, 8);
  g.output(custom_node(g, "Negated", {g.input("x", DType::Float32, {3})}, {}, "y"), DType::Float32, {3});
  const std::string text = "void negated(float *y, const float *x) { int i; for (i = 0; i < 3; i++) y[i] = -x[i]; }\n";
  return options_for(g.bytes(), customs({{"negated.c", text}}, {{"com.example.Negated", "negated"}}), target);
}

/// Determinants between two kernels: by a function of the runtime, that has room to work in.
inline CompileOptions determinants_for(const std::string& target) {
  GraphBuilder g("net", 17, 8);
  const auto x = g.node("Relu", {g.input("x", DType::Float32, {3, 5, 5})});
  g.output(g.node("Neg", {g.node("Det", {x})}), DType::Float32, {3});
  return options_for(g.bytes(), {}, target);
}

/// As project_with_state(): mean = 0.75 * mean + 0.25 * x, by a function that reads the state and writes the next one.
inline CompileOptions mean_for(const std::string& target) {
  GraphBuilder g("mean", 17, 8);
  const auto mean = g.input("mean_in", DType::Float32, {1}), x = g.input("x", DType::Float32, {1});
  g.output(custom_node(g, "Mean", {mean, x}, {{"take", 0.25}}, "mean_out"), DType::Float32, {1});
  g.node_with_outputs("Identity", {"mean_out"}, {"y"}, {}, "copy");
  g.output("y", DType::Float32, {1});
  const std::string text =
      "void mean_of(float *y, const float *mean, const float *x, float take) { y[0] = (1.0f - take) * mean[0] + take * x[0]; }\n";
  CompileOptions options = options_for(g.bytes(), customs({{"mean_of.c", text}}, {{"com.example.Mean", "mean_of"}}), target);
  options.import.path = "mean.onnx";
  options.import.states = {{"mean_in", "mean_out"}};
  return options;
}

/// The name "net": turning_loop() with a kernel of the device in each turn.
inline std::vector<EmittedFile> loop_project(const Language& language, std::int64_t align) {
  const TurningLoop loop = turning_loop(1);
  const Program program = loop.program(&language);
  EmitOptions options;
  options.name = "net";
  SelfTest test;
  test.inputs = {loop.input};
  test.expected = {loop.last, loop.all};
  options.selftest = test;
  return emit(program, plan_memory(program, {.align = align, .align_all = true}), options);
}

/// Projects of all kinds of functions, each with its self-test.
inline std::vector<std::vector<EmittedFile>> projects_with_selftest(const Language& language, std::int64_t align) {
  const std::string target(language.name);
  return {project_of(stages_for(target)), project_of(negated_for(target)), project_of(determinants_for(target)),
          loop_project(language, align)};
}

/// Names that files of the project have for themselves on a device.
inline void expect_refused_names(const std::string& target, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    GraphBuilder g("net", 17, 8);
    g.output(custom_node(g, "Negated", {g.input("x", DType::Float32, {3})}, {}, "y"), DType::Float32, {3});
    const std::string text = "void " + name + "(float *y, const float *x) { int i; for (i = 0; i < 3; i++) y[i] = -x[i]; }\n";
    const CompileOptions options = options_for(g.bytes(), customs({{"n.c", text}}, {{"com.example.Negated", name}}), target);
    const std::string error = error_of([&] { project_of(options); });
    EXPECT_TRUE(error.starts_with("custom function " + name + "() of n.c: the files of the project have something of this name")) << error;
  }
}

}  // namespace etch::test
