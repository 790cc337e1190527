#include "program/lower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/naming.h"
#include "interp/interp.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "renderer/language.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace etch {
namespace {

Array floats(std::vector<std::int64_t> shape, double seed) {
  std::int64_t n = 1;
  for (std::int64_t d : shape) n *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>((i * 37 + static_cast<std::int64_t>(seed * 11)) % 17) / 8 - 1);
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

class Lower : public testing::Test {
 protected:
  Tensor input(const std::string& name, Shape shape) { return Tensor::input(*graph, name, DType::Float32, std::move(shape)); }
  Tensor constant(const std::string& name, std::vector<std::int64_t> shape, double seed) {
    return Tensor::constant(*graph, floats(std::move(shape), seed), name);
  }
  Program lowered(const Tensor& out, const Language* language = nullptr, std::vector<const LazyBuffer*> inputs = {}) {
    schedule = create_schedule(*graph, {{"out", out}});
    LowerOptions options;
    options.language = language;
    options.inputs = std::move(inputs);
    return lower(graph, schedule, options);
  }
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Schedule schedule;
};

int count(const Program& p, BufferKind kind) {
  int n = 0;
  for (const ProgramBuffer& b : p.buffers) n += b.kind == kind;
  return n;
}

// Two convolutions of equal shapes need different kernels if one has an infinity in its weights: it can't skip the padding, as 0 times
// infinity is NaN.
TEST_F(Lower, WeightsThatAreNotFiniteHaveAKernelOfTheirOwn) {
  Array infinite = floats({2, 1, 3, 3}, 1);
  std::vector<double> values = infinite.doubles();
  values[4] = -INFINITY;
  infinite = Array::of_doubles(DType::Float32, {2, 1, 3, 3}, values);
  const Window window{.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}};
  const Tensor x = input("x", {1, 1, 6, 6});
  const Tensor a = x.conv(constant("w", {2, 1, 3, 3}, 2), {}, window).contiguous();
  const Tensor b = x.conv(constant("v", {2, 1, 3, 3}, 3), {}, window).contiguous();
  const Tensor c = x.conv(Tensor::constant(*graph, infinite, "u"), {}, window).contiguous();
  const Program p = lowered(Tensor::cat({a, b, c}, 1), &kC);
  std::set<int> kernels;
  for (const ProgramCall& call : p.calls) kernels.insert(call.kernel);
  ASSERT_EQ(p.calls.size(), 4u);
  EXPECT_EQ(p.calls[0].kernel, p.calls[1].kernel);
  EXPECT_NE(p.calls[0].kernel, p.calls[2].kernel);
  const auto source = [&](std::size_t call) { return p.kernels[static_cast<std::size_t>(p.calls[call].kernel)].text.source; };
  EXPECT_LT(source(0).size(), source(2).size()) << "with the products of padding\n" << source(2);
}

// Without padding they make no difference: two functions of the same text would be one too many.
TEST_F(Lower, WhatIsKnownOfWeightsMakesNoSecondFunctionOfTheSameText) {
  std::vector<double> values = floats({8, 8}, 1).doubles();
  values[4] = -INFINITY;
  Tensor x = input("x", {1, 8});
  for (const Array& weights : {floats({8, 8}, 2), Array::of_doubles(DType::Float32, {8, 8}, values), floats({8, 8}, 3)})
    x = x.matmul(Tensor::constant(*graph, weights, "w")).relu().contiguous();
  const Program p = lowered(x, &kC);
  EXPECT_EQ(p.calls.size(), 3u);
  EXPECT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(count(p, BufferKind::Constant), 3);
  EXPECT_EQ(lowered(x).kernels.size(), 2u) << "without a language nobody knows what the bounds are for";
}

TEST_F(Lower, EqualLayersAreOneKernel) {
  Tensor x = input("x", {1, 8});
  for (int layer = 0; layer < 3; layer++) {
    const OriginScope origin(*graph, "fc" + std::to_string(layer));
    x = x.linear(constant("w" + std::to_string(layer), {8, 8}, layer), constant("b" + std::to_string(layer), {8}, layer + 5))
            .relu()
            .contiguous();
  }
  const Program p = lowered(x, &kC);
  EXPECT_EQ(p.calls.size(), 3u);
  EXPECT_EQ(p.kernels.size(), 1u);
  EXPECT_EQ(count(p, BufferKind::Constant), 6);
  EXPECT_EQ(count(p, BufferKind::Intermediate), 2);
  for (const ProgramCall& c : p.calls) EXPECT_TRUE(c.macs.is_int(64));
  EXPECT_EQ(p.calls[1].nodes, std::vector<std::string>{"fc1"});
  // x, w, b read and out written: 8 + 64 + 8 + 8 floats
  EXPECT_TRUE(p.calls[1].bytes.is_int(88 * 4));
  EXPECT_TRUE(p.kernels[0].text.source.starts_with("static void " + p.kernels[0].name + "(")) << p.kernels[0].text.source;
  EXPECT_GT(p.kernels[0].indices_proved, 0);
}

TEST_F(Lower, EqualConstantsShareMemory) {
  const Tensor x = input("x", {4, 4});
  const Tensor a = x.matmul(constant("a", {4, 4}, 1)).contiguous();
  const Program p = lowered(a.matmul(constant("b", {4, 4}, 1)).relu());
  EXPECT_EQ(count(p, BufferKind::Constant), 1);
}

TEST_F(Lower, OutputMayBeWrittenOverWhatIsReadAtTheSamePlaceOnly) {
  const Tensor x = input("x", {4, 6});
  const Tensor y = input("y", {4, 6});
  const struct {
    const char* what;
    Tensor out;
    std::vector<bool> expected;  // of the inputs
  } rows[] = {
      {"elementwise", x + y, {true, true}},
      {"flipped", x + y.flip({0}), {true, false}},
      {"twice, once elsewhere", x + x.flip({1}), {false}},
      {"transposed", x.permute({1, 0}) * 2, {false}},
      {"summed", x.sum({1}), {false}},
      {"one row for all", x + y.shrink({{0, 1}, {0, 6}}).expand({4, 6}), {true, false}},
      {"padded", x.shrink({{0, 3}, {0, 6}}).pad({{0, 1}, {0, 0}}) + y, {false, true}},
      {"converted to a type of the same size", x.cast(DType::Int32), {true}},
      {"converted to a smaller type", x.cast(DType::Int8), {false}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Program p = lowered(row.out);
    ASSERT_EQ(p.calls.size(), 1u);
    std::vector<bool> got;
    for (const CallArgument& a : p.calls[0].arguments)
      if (a.access == Access::Read) got.push_back(a.may_alias);
    EXPECT_EQ(got, row.expected);
  }
}

TEST_F(Lower, InputsAreTheModelsEvenIfNothingReadsThem) {
  const Tensor a = input("a", {3});
  const Tensor unused = input("unused", {5});
  const Tensor b = input("b", {3});
  const Program p = lowered(b - a, nullptr, {a.buffer(), unused.buffer(), b.buffer()});
  ASSERT_EQ(p.inputs.size(), 3u);
  const char* const names[] = {"a", "unused", "b"};
  for (std::size_t i = 0; i < 3; i++) EXPECT_EQ(p.buffers[static_cast<std::size_t>(p.inputs[i])].name, names[i]);
}

TEST_F(Lower, NamesAreUniqueIdentifiers) {
  Tensor x = input("out", {1, 3, 8, 8});
  for (const char* node : {"/net/conv/Conv", "int", "a b", "/net/conv/Conv"}) {
    const OriginScope origin(*graph, std::string(node));
    x = x.sum({1}, true).expand({1, 3, 8, 8}).contiguous();
    x = (x * x.flip({2})).contiguous();
  }
  const Program p = lowered(x);
  std::set<std::string> kernels;
  for (const ProgramKernel& k : p.kernels) {
    EXPECT_TRUE((c_identifier(k.name) == k.name)) << k.name;
    EXPECT_TRUE(kernels.insert(k.name).second) << k.name;
  }
  EXPECT_EQ(p.buffers[static_cast<std::size_t>(p.inputs[0])].name, "out");
  EXPECT_NE(p.buffers[static_cast<std::size_t>(p.outputs[0])].name, "out");
}

TEST_F(Lower, KernelsAreNamedAfterTheirMainNode) {
  const Tensor x = input("x", {1, 3, 8, 8});
  Tensor y, z;
  {
    const OriginScope origin(*graph, "/net/op0/Conv", "Conv");
    y = x.conv(constant("w", {4, 3, 3, 3}, 1), {}, {.kernel = {3, 3}});
  }
  {
    const OriginScope origin(*graph, "/net/op0/relu", "Relu");
    y = y.relu();
  }
  {
    const OriginScope origin(*graph, "probabilities", "Softmax");
    z = (y / y.sum({1}, true)).max({2}, true);
  }
  const Program p = lowered(z);
  std::vector<std::string> kernels, values, nodes;
  for (const ProgramCall& call : p.calls) {
    kernels.push_back(p.kernels[static_cast<std::size_t>(call.kernel)].name);
    values.push_back(p.buffers[static_cast<std::size_t>(call.writes().front())].name);
    nodes.push_back(call.short_name);
  }
  EXPECT_EQ(kernels, (std::vector<std::string>{"k0_conv_op0", "k1_softmax_probabilities_sum", "k2_softmax_probabilities_max"}));
  EXPECT_EQ(values, (std::vector<std::string>{"relu_op0", "softmax_probabilities_sum", "out"}));
  EXPECT_EQ(nodes[0], "conv_op0");
}

// Running the program call by call with INTERP gives the same as evaluating the whole graph, so buffers and order are right.
TEST_F(Lower, ReplayGivesWhatTheScheduleSays) {
  const Tensor x = input("x", {2, 6});
  const Tensor h = x.matmul(constant("w", {6, 6}, 2)).relu();
  const Tensor out = (h + x).softmax(1);
  const Program p = lowered(out);
  const Array data = floats({2, 6}, 3);
  std::vector<Array> values(p.buffers.size());
  values[static_cast<std::size_t>(p.inputs[0])] = data;
  for (std::size_t b = 0; b < p.buffers.size(); b++)
    if (p.buffers[b].kind == BufferKind::Constant) values[b] = p.buffers[b].data;
  for (const ProgramCall& c : p.calls) {
    std::vector<const Array*> in;
    for (int b : c.reads()) in.push_back(&values[static_cast<std::size_t>(b)]);
    values[static_cast<std::size_t>(c.writes().front())] = interp_evaluate(p.kernels[static_cast<std::size_t>(c.kernel)].ast, in);
  }
  const Array& got = values[static_cast<std::size_t>(p.outputs[0])];
  const Array w = floats({6, 6}, 2);
  for (std::int64_t r = 0; r < 2; r++) {
    std::vector<double> e;
    double sum = 0;
    for (std::int64_t n = 0; n < 6; n++) {
      double acc = 0;
      for (std::int64_t k = 0; k < 6; k++) acc += data.double_at(r * 6 + k) * w.double_at(k * 6 + n);
      e.push_back(std::exp((acc < 0 ? 0 : acc) + data.double_at(r * 6 + n)));
      sum += e.back();
    }
    for (std::int64_t n = 0; n < 6; n++) EXPECT_NEAR(got.double_at(r * 6 + n), e[static_cast<std::size_t>(n)] / sum, 1e-6);
  }
}

TEST_F(Lower, VariablesAreFoundWithTheirRange) {
  const Sint batch = graph->symbols().variable("batch", 1, 16);
  const Tensor x = input("x", {batch, 10});
  const Program p = lowered(x.linear(constant("w", {10, 4}, 1), constant("b", {4}, 2)), &kC);
  ASSERT_EQ(p.variables.size(), 1u);
  EXPECT_EQ(p.variables[0].name, "batch");
  EXPECT_EQ(p.variables[0].min, 1);
  EXPECT_EQ(p.variables[0].max, 16);
  EXPECT_EQ(p.buffers[static_cast<std::size_t>(p.outputs[0])].max_elements, 64);
  EXPECT_EQ(p.kernels[0].variables, std::vector<std::string>{"batch"});
  EXPECT_EQ(p.calls[0].macs.max(), 640);
}

TEST_F(Lower, TellsItsProgress) {
  const Tensor x = input("x", {4, 4});
  schedule = create_schedule(*graph, {{"out", x.sum({0}).max()}});
  std::vector<std::pair<int, int>> seen;
  lower(graph, schedule, {}, [&](int done, int total, const std::string& kernel) {
    EXPECT_FALSE(kernel.empty());
    seen.emplace_back(done, total);
  });
  EXPECT_EQ(seen, (std::vector<std::pair<int, int>>{{0, 2}, {1, 2}}));
}

TEST(CodegenOptionsOfTargets, FollowTheDescription) {
  const std::filesystem::path dir = std::filesystem::path(ETCH_SOURCE_DIR) / "targets";
  const CodegenOptions m4 = codegen_options(find_target("cortex-m4f", dir), kC);
  EXPECT_EQ(m4.vector_bits, 0);
  EXPECT_FALSE(m4.native_math);
  const CodegenOptions v4 = codegen_options(find_target("x86-64-v4", dir), kC);
  EXPECT_EQ(v4.vector_bits, 512);
  EXPECT_EQ(v4.float_registers, 32);
  EXPECT_FALSE(v4.in_order);
  EXPECT_TRUE(codegen_options(find_target("cortex-a53", dir), kC).in_order);
  Target other = find_target("x86-64-v4", dir);
  other.library_math = {"expf", "erff"};
  other.cache_bytes = 3 << 20;
  other.first_cache_bytes = 48 << 10;
  const CodegenOptions options = codegen_options(other, kC);
  EXPECT_EQ(options.library_math, other.library_math);
  EXPECT_EQ(options.cache_bytes, 3 << 20);
  EXPECT_EQ(options.first_cache_bytes, 48 << 10);
}

// What a target leaves to its C library is called there, and nothing else.
TEST_F(Lower, FunctionsAreLeftToTheLibraryWhereTheTargetSaysSo) {
  Target target = find_target("x86-64-v4", std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  const Tensor x = input("x", {64});
  schedule = create_schedule(*graph, {{"out", x.exp() + x.erf()}});
  const auto text_for = [&](std::vector<std::string> library) {
    target.library_math = std::move(library);
    LowerOptions options;
    options.language = &kC;
    options.codegen = codegen_options(target, kC);
    return lower(graph, schedule, options).kernels.at(0).text.source;
  };
  const auto calls = [](const std::string& text, const char* function) { return text.find(function) != std::string::npos; };
  const std::string own = text_for({}), left = text_for({"expf"});
  EXPECT_FALSE(calls(own, "expf(")) << own;
  EXPECT_TRUE(calls(left, "expf(")) << left;
  EXPECT_FALSE(calls(left, "erff(")) << left;
}

}  // namespace
}  // namespace etch
