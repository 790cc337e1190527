// Memory that outlives a run, on every backend: what each run gives is compared with numbers worked out here.
#include <gtest/gtest.h>

#include <cmath>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "memory/plan.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/device_checks.h"
#include "support/expect_error.h"
#include "support/programs.h"

namespace etch::state_test {
namespace {

Array floats(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

/// A network with states, and what it gives run by run.
struct Streaming {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  std::vector<const LazyBuffer*> inputs;
  std::vector<OutputSpec> outputs;
  std::vector<StateSpec> states;

  Tensor input(const std::string& name, Shape shape) {
    const Tensor made = Tensor::input(*graph, name, DType::Float32, std::move(shape));
    inputs.push_back(made.buffer());
    return made;
  }
  Tensor state(const std::string& name, DType dtype, Shape shape, Array first = {}) {
    return Tensor::state(*graph, name, dtype, std::move(shape), std::move(first));
  }
  Program lowered(const Language* language) const {
    const Schedule schedule = create_schedule(*graph, outputs, {}, states);
    LowerOptions options;
    options.inputs = inputs;
    options.language = language;
    options.codegen.has_local = language != nullptr && language->local_memory;
    return reorder(lower(graph, schedule, options));
  }
};

class State : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!device_) GTEST_SKIP() << device_.why;
  }
  /// Runs the network on `steps` one after the other; from the first state, twice.
  void expect_runs(const Streaming& net, const std::vector<std::vector<Array>>& steps,
                   const std::vector<std::vector<std::vector<double>>>& expected) {
    const Program program = net.lowered(device_->language());
    verify(program);
    const auto loaded = device_->load(program);
    for (int round = 0; round < 2; round++) {
      for (std::size_t s = 0; s < steps.size(); s++) {
        const std::vector<Array> got = loaded->run(steps[s]);
        ASSERT_EQ(got.size(), expected[s].size());
        for (std::size_t k = 0; k < got.size(); k++)
          for (std::size_t i = 0; i < expected[s][k].size(); i++)
            EXPECT_NEAR(got[k].double_at(static_cast<std::int64_t>(i)), expected[s][k][i], 1e-5) << "run " << s << ", output " << k;
      }
      loaded->reset_state();
    }
  }
  const test::UsableDevice device_ = test::backend(GetParam(), true);
};
INSTANTIATE_TEST_SUITE_P(Backends, State, testing::Values("interp", "c", "llvm", "opencl", "cuda"),
                         [](const auto& row) { return row.param; });

TEST_P(State, Counter) {
  Streaming net;
  const Tensor count = net.state("count", DType::Int32, {1});
  const Tensor next = count + 1.0;
  net.outputs = {{"runs", next}};
  net.states = {{count, next}};
  expect_runs(net, {{}, {}, {}, {}}, {{{1}}, {{2}}, {{3}}, {{4}}});
}

// The process that holds them is shared with other programs, and one of these may end it.
TEST(StateOfOpenCL, ThatIsLostIsNotTakenForTheFirst) {
  const auto device = test::backend("opencl");
  if (!device) GTEST_SKIP() << device.why;
  Streaming net;
  const Tensor count = net.state("count", DType::Int32, {1}), next = count + 1.0;
  net.outputs = {{"runs", next}};
  net.states = {{count, next}};
  const Program counter = net.lowered(device->language());
  const auto loaded = device->load(counter);
  for (const int runs : {1, 2, 3}) EXPECT_EQ(loaded->run({})[0].int_at(0), runs);
  test::ProgramBuilder b("opencl");
  const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
  b.call(b.kernel("suspect", "__kernel void suspect(__global float *o, __global float *x) { *(volatile __global float *)16 = *x; }\n", 2,
                  {}, {1}),
         {y, x});
  const Program suspect = b.take();
  const auto bad = device->load(suspect);
  if (test::error_of([&] { bad->run({floats({1}, {1})}); }).empty()) GTEST_SKIP() << "this driver does not mind";
  for (int time = 0; time < 2; time++)
    test::expect_error(test::error_of([&] { loaded->run({}); }), "OPENCL: the states are lost: the process that held them ended");
  loaded->reset_state();
  for (const int runs : {1, 2}) EXPECT_EQ(loaded->run({})[0].int_at(0), runs);
}

// The mean of the last four samples: a window that moves on by one, and starts with values of its own.
TEST_P(State, MovingAverage) {
  Streaming net;
  const Tensor x = net.input("x", {1});
  const Tensor window = net.state("window", DType::Float32, {4}, floats({4}, {4, 4, 8, 8}));
  const Tensor moved = Tensor::cat({window.slice(0, 1, 4), x}, 0);
  net.outputs = {{"mean", moved.mean({0}, true)}};
  net.states = {{window, moved}};
  const std::vector<double> samples{8, 0, -4, 12, 100};
  std::vector<double> kept{4, 4, 8, 8};
  std::vector<std::vector<Array>> steps;
  std::vector<std::vector<std::vector<double>>> expected;
  for (const double sample : samples) {
    kept.erase(kept.begin());
    kept.push_back(sample);
    steps.push_back({floats({1}, {sample})});
    expected.push_back({{(kept[0] + kept[1] + kept[2] + kept[3]) / 4}});
  }
  expect_runs(net, steps, expected);
}

// Two states that become each other, one that is read after it would be written, and one that nothing reads.
TEST_P(State, ReadAfterItsNextValueIsKnown) {
  Streaming net;
  const Tensor x = net.input("x", {3});
  const Tensor a = net.state("a", DType::Float32, {3}, floats({3}, {1, 2, 3}));
  const Tensor b = net.state("b", DType::Float32, {3}), c = net.state("c", DType::Float32, {3}),
               unread = net.state("d", DType::Float32, {3});
  const Tensor sum = (a + x).contiguous();
  const Tensor turned = (sum.flip({0}) * a.flip({0})).contiguous();  // reads what a was, after a's next value
  net.outputs = {{"y", turned + b}, {"c", c}};
  net.states = {{a, sum}, {b, a}, {c, c.flip({0}) + x}, {unread, x}};
  std::vector<double> va{1, 2, 3}, vb{0, 0, 0}, vc{0, 0, 0};
  std::vector<std::vector<Array>> steps;
  std::vector<std::vector<std::vector<double>>> expected;
  for (int run = 0; run < 4; run++) {
    const std::vector<double> in{run + 1.0, -run * 2.0, 0.5 * run};
    std::vector<double> next_a(3), y(3), next_c(3);
    for (std::size_t i = 0; i < 3; i++) next_a[i] = va[i] + in[i];
    for (std::size_t i = 0; i < 3; i++) y[i] = next_a[2 - i] * va[2 - i] + vb[i];
    for (std::size_t i = 0; i < 3; i++) next_c[i] = vc[2 - i] + in[i];
    steps.push_back({floats({3}, in)});
    expected.push_back({y, vc});
    vb = va;
    va = next_a;
    vc = next_c;
  }
  expect_runs(net, steps, expected);
}

// A loop inside of a run goes on where the run before ended.
TEST_P(State, LoopsStartWithIt) {
  Streaming net;
  const Tensor x = net.input("x", {3, 2});
  const Tensor h = net.state("h", DType::Float32, {2});
  const LoopResults made = Tensor::loop(
      *net.graph, 3, {h}, [&](Sint turn, const std::vector<Tensor>& now) { return LoopTurn{{now[0] * 0.5 + x.at(0, turn)}, {}}; });
  net.outputs = {{"y", made.carried[0] * 2.0}};
  net.states = {{h, made.carried[0]}};
  std::vector<double> state{0, 0};
  std::vector<std::vector<Array>> steps;
  std::vector<std::vector<std::vector<double>>> expected;
  for (int run = 0; run < 3; run++) {
    std::vector<double> in;
    for (int t = 0; t < 3; t++)
      for (std::size_t k = 0; k < 2; k++) {
        in.push_back(run - t + 0.25 * static_cast<double>(k));
        state[k] = state[k] * 0.5 + in.back();
      }
    steps.push_back({floats({3, 2}, in)});
    expected.push_back({{2 * state[0], 2 * state[1]}});
  }
  expect_runs(net, steps, expected);
}

TEST(StateSchedule, IsWrittenInPlaceWhereNothingReadsItLater) {
  Streaming net;
  const Tensor count = net.state("count", DType::Int32, {100});
  net.outputs = {{"sum", (count + 1.0).sum({0})}};
  net.states = {{count, count + 1.0}};
  const Program program = net.lowered(nullptr);
  EXPECT_LE(program.calls.size(), 2u);  // no copy
  EXPECT_EQ(plan_memory(program).arena_bytes, 0);
  ASSERT_EQ(program.states.size(), 1u);
  EXPECT_EQ(program.states[0].first, -1);
}

TEST(StateSchedule, WrongStatesAreRefused) {
  const auto keep = LazyGraph::create();
  const Sint n = keep->symbols().variable("n", 1, 4);
  EXPECT_THROW(Tensor::state(*keep, "s", DType::Float32, {n}), ShapeError);
  EXPECT_THROW(Tensor::state(*keep, "s", DType::Float32, {0}), ShapeError);
  EXPECT_THROW(Tensor::state(*keep, "s", DType::Float32, {2}, floats({3}, {1, 2, 3})), ShapeError);
  const Tensor s = Tensor::state(*keep, "s", DType::Float32, {2});
  EXPECT_THROW(create_schedule(*keep, {{"y", s + 1.0}}), InternalError);                                // what it becomes is missing
  EXPECT_THROW(create_schedule(*keep, {{"y", s + 1.0}}, {}, {{s, s.reshape({2, 1})}}), InternalError);  // another shape
}

}  // namespace
}  // namespace etch::state_test
