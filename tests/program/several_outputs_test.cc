// Kernels with several outputs: networks whose kernels are joined, on every backend, scalar and with the vectors of a target, against the
// same networks computed operation by operation.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "memory/plan.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/evaluate.h"
#include "target/target.h"

namespace etch::several_outputs_test {
namespace {

struct Net {
  LazyGraph& graph;
  std::map<std::string, Array> inputs = {};
  int made = 0;

  Array values(const std::vector<std::int64_t>& shape) {
    std::int64_t n = 1;
    for (std::int64_t d : shape) n *= d;
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < n; i++) numbers.push_back(static_cast<double>((i * 37 + 11 * made) % 41) / 16 - 1.25);
    made++;
    return Array::of_doubles(DType::Float32, shape, numbers);
  }
  Tensor input(const std::string& name, const std::vector<std::int64_t>& shape) {
    inputs[name] = values(shape);
    return Tensor::input(graph, name, DType::Float32, Shape(shape.begin(), shape.end()));
  }
  Tensor weight(const std::vector<std::int64_t>& shape) { return Tensor::constant(graph, values(shape)); }
};

/// Each channel divided by what the squares of it and its neighbours sum to.
Tensor local_response(const Tensor& x) {
  const Shape& shape = x.shape();
  Window window;
  window.kernel = {5, 1};
  window.pads = {{2, 2}, {0, 0}};
  const Tensor rows = x.square().reshape({shape[0], 1, shape[1], product({shape.begin() + 2, shape.end()})});
  return x / (rows.windows(window, 0).sum({4, 5}).reshape(shape) + 1.0);
}

struct Row {
  const char* name;
  int kernels, outputs;  // kernels, and the most outputs of one
  std::vector<Tensor> (*build)(Net& net);
};

const Row kRows[] = {
    {"argmax with its value", 1, 2,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {6, 40});
       return {x.max({1}, false), x.argmax(1, false)};
     }},
    {"mean and maximum of the rows", 1, 2,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {6, 40});
       return {x.mean({1}, false), x.max({1}, false)};
     }},
    {"a value and what follows from it", 1, 3,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor a = n.input("x", {33}) * n.input("y", {33}), b = a.tanh();
       return {a, b, a + b};
     }},
    {"a convolution and its sum with a skip", 1, 2,
     [](Net& n) -> std::vector<Tensor> {
       const Window window{.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}};
       const Tensor y = n.input("x", {1, 4, 9, 11}).conv(n.weight({8, 4, 3, 3}), n.weight({8}), window).relu();
       return {y, y + n.input("skip", {1, 8, 9, 11})};
     }},
    {"a product and its tanh", 1, 2,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor y = n.input("x", {5, 24}).matmul(n.weight({24, 48}));
       return {y, y.tanh()};
     }},
    {"a step of an LSTM", 2, 2,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor sum = n.input("h", {1, 16}).matmul(n.weight({16, 64})) + n.input("x", {1, 64}), c = n.input("c", {1, 16});
       const auto gate = [&](int k) { return sum.slice(1, 16 * k, 16 * (k + 1)); };
       const Tensor next = gate(2).sigmoid() * c + gate(0).sigmoid() * gate(3).tanh();
       return {next, gate(1).sigmoid() * next.tanh()};
     }},
    {"two products of one input stay apart", 2, 1,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {5, 24});
       return {x.matmul(n.weight({24, 48})), x.matmul(n.weight({24, 48}))};
     }},
    {"outputs of other shapes stay apart", 2, 1,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {6, 40});
       return {x.max({1}, false), x.max({0}, false)};
     }},
    // The worst call of both has the values and their squares. One kernel that writes both needs its input besides, which takes arena in
    // the second case alone.
    {"a convolution of an input and its squares", 2, 2,
     [](Net& n) -> std::vector<Tensor> {
       return {local_response(n.input("x", {1, 4, 9, 11}).conv(n.weight({8, 4, 3, 3}), n.weight({8}), Window{.kernel = {3, 3}}).relu())};
     }},
    {"a convolution of what lies in the arena and its squares stay apart", 4, 1,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {1, 4, 9, 11}).conv(n.weight({8, 4, 3, 3}), n.weight({8}), Window{.kernel = {3, 3}}).relu();
       return {local_response(x.conv(n.weight({24, 8, 3, 3}), n.weight({24}), Window{.kernel = {3, 3}}).relu())};
     }},
    {"a mean and what is left without it", 2, 1,
     [](Net& n) -> std::vector<Tensor> {
       const Tensor x = n.input("x", {6, 40}), mean = x.mean({1}, true);
       return {mean, x - mean};
     }},
};

/// The device named `name`, with vectors of the target x86-64-v3 or without any.
void expect_agreement(const std::string& name, bool vectors) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  const Target target = find_target("x86-64-v3", ETCH_SOURCE_DIR "/targets");
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.name);
    const auto graph = LazyGraph::create();
    Net net{*graph};
    const std::vector<Tensor> outputs = row.build(net);
    std::vector<OutputSpec> specs;
    for (const Tensor& t : outputs) specs.push_back({"y" + std::to_string(specs.size()), t});
    const Schedule schedule = create_schedule(*graph, specs);
    std::size_t most = 0;
    for (const ScheduleItem& item : schedule.items) most = std::max(most, item.more.size() + 1);
    EXPECT_EQ(schedule.items.size(), static_cast<std::size_t>(row.kernels)) << to_text(schedule);
    EXPECT_EQ(most, static_cast<std::size_t>(row.outputs)) << to_text(schedule);
    LowerOptions options;
    options.language = device->language();
    if (device->language() != nullptr)
      options.codegen = vectors ? codegen_options(target, *device->language()) : test::options_for(*device->language());
    const Program program = reorder(lower(graph, schedule, options));
    std::vector<Array> given;
    for (int b : program.inputs) given.push_back(net.inputs.at(program.buffers[static_cast<std::size_t>(b)].name));
    const std::vector<Array> got = device->load(program)->run(given), want = test::evaluate_tensors(outputs, net.inputs);
    for (std::size_t i = 0; i < want.size(); i++) EXPECT_EQ(test::difference(got[i], want[i], 1e-5, 1e-6), "") << "output " << i;
  }
}

TEST(SeveralOutputs, InterpAgrees) { expect_agreement("interp", false); }
TEST(SeveralOutputs, CAgrees) { expect_agreement("c", false); }
TEST(SeveralOutputs, CWithVectorsAgrees) { expect_agreement("c", true); }
TEST(SeveralOutputs, LlvmAgrees) { expect_agreement("llvm", false); }
TEST(SeveralOutputs, LlvmWithVectorsAgrees) { expect_agreement("llvm", true); }
TEST(SeveralOutputs, OpenClAgrees) { expect_agreement("opencl", false); }
TEST(SeveralOutputs, CudaAgrees) { expect_agreement("cuda", false); }

// A join that would need more memory at the worst call is not made.
TEST(SeveralOutputs, PeakMemoryDoesNotGrow) {
  for (const Row& row : kRows) {
    const auto bytes = [&](int outputs) {
      const auto graph = LazyGraph::create();
      Net net{*graph};
      std::vector<OutputSpec> specs;
      for (const Tensor& t : row.build(net)) specs.push_back({"y" + std::to_string(specs.size()), t});
      return plan_memory(reorder(lower(graph, create_schedule(*graph, specs, {.max_outputs = outputs}), {}))).arena_bytes;
    };
    EXPECT_LE(bytes(4), bytes(1)) << row.name;
  }
}

}  // namespace
}  // namespace etch::several_outputs_test
