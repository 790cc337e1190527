// Realized tensors: what a Session computes is compared with numbers worked out here.
#include "jit/session.h"

#include "jit/jit_backends.h"

namespace etch {
namespace {

using test::error_of;
using test::expect_error;

class Realize : public test::JitBackends {};
#ifndef ETCH_FURTHER_BACKENDS
INSTANTIATE_TEST_SUITE_P(Backends, Realize, test::all_backends(), test::name_of_backend);
#else
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Realize);
#endif
// What takes the other devices long runs there in the long tests.
class RealizeOnHost : public Realize {};
INSTANTIATE_TEST_SUITE_P(Backends, RealizeOnHost, test::most_backends(), test::name_of_backend);

TEST_P(Realize, ComputesWhatIsWanted) {
  const Tensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(doubles(x * 2.0 + 1.0), (std::vector<double>{3, 5, 7, 9, 11, 13}));
  EXPECT_EQ(doubles(x.sum({1})), (std::vector<double>{6, 15}));
  EXPECT_EQ(session().values(x.transpose(0, 1)), test::floats({3, 2}, {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(session().values(x.matmul(x.transpose(0, 1))), test::floats({2, 2}, {14, 32, 32, 77}));
}

TEST_P(RealizeOnHost, ARealizedTensorIsReadNotComputedAgain) {
  const Tensor x = floats({4}, {1, 2, 3, 4});
  const Tensor y = x * x;
  EXPECT_EQ(Session::realized(y), nullptr);
  kernels_run();
  const Tensor ready = session().realize(y);
  EXPECT_EQ(kernels_run(), 1);
  EXPECT_EQ(ready.buffer(), y.buffer());  // the tensor itself has its values now
  ASSERT_NE(Session::realized(y), nullptr);
  EXPECT_EQ(doubles(y), (std::vector<double>{1, 4, 9, 16}));
  EXPECT_EQ(kernels_run(), 0);
  EXPECT_EQ(doubles((y + 1.0).sum({0})), (std::vector<double>{34}));
  EXPECT_EQ(kernels_run(), 1);
  session().realize({y, y});
  EXPECT_EQ(kernels_run(), 0);
}

TEST_P(RealizeOnHost, SeveralTensorsShareOneSchedule) {
  const Tensor x = floats({3}, {1, 2, 3});
  const Tensor sum = session().realize(x.sum({0}));
  const std::vector<Tensor> made = session().realize({x + 1.0, x, x + 1.0, sum * x, x.flip({0})});
  ASSERT_EQ(made.size(), 5u);
  EXPECT_EQ(doubles(made[0]), (std::vector<double>{2, 3, 4}));
  EXPECT_EQ(made[1].buffer(), x.buffer());
  EXPECT_EQ(made[2].buffer(), made[0].buffer());
  EXPECT_EQ(doubles(made[3]), (std::vector<double>{6, 12, 18}));
  EXPECT_EQ(doubles(made[4]), (std::vector<double>{3, 2, 1}));
}

TEST_P(RealizeOnHost, ConstantsAndEmptyTensors) {
  LazyGraph& graph = session().graph();
  EXPECT_EQ(doubles(session().realize(Tensor::full(graph, {3}, Scalar::of_double(DType::Float32, 1.5)))),
            (std::vector<double>{1.5, 1.5, 1.5}));
  EXPECT_EQ(doubles(session().realize(Tensor::arange(graph, 4, DType::Float32))), (std::vector<double>{0, 1, 2, 3}));
  const Tensor weight = Tensor::constant(graph, test::floats({2}, {10, 20}));
  EXPECT_EQ(doubles(session().realize(weight)), (std::vector<double>{10, 20}));
  EXPECT_EQ(doubles(floats({2}, {1, 2}) + weight), (std::vector<double>{11, 22}));
  EXPECT_EQ(session().values(session().realize(Tensor::full(graph, {0, 3}, Scalar::of_int(DType::Int32, 0)))).size(), 0);
  EXPECT_EQ(session().values(session().empty(DType::Int16, {2, 2})).shape(), (std::vector<std::int64_t>{2, 2}));
}

TEST_P(Realize, AssignWritesTheSameMemory) {
  const Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const void* memory = Session::realized(x)->buffer->opaque();
  session().assign(x, x + 1.0);  // element by element, so in place
  EXPECT_EQ(doubles(x), (std::vector<double>{2, 3, 4, 5}));
  session().assign(x, x.transpose(0, 1));  // not in place: an element is read after its place is written
  EXPECT_EQ(doubles(x), (std::vector<double>{2, 4, 3, 5}));
  session().assign(x, x.matmul(x));
  EXPECT_EQ(doubles(x), (std::vector<double>{16, 28, 21, 37}));
  session().assign(x, x);
  EXPECT_EQ(doubles(x), (std::vector<double>{16, 28, 21, 37}));
  EXPECT_EQ(Session::realized(x)->buffer->opaque(), memory);
}

TEST_P(RealizeOnHost, AssignmentsAreMadeOfWhatWasBefore) {
  const Tensor a = floats({2}, {1, 2}), b = floats({2}, {10, 20});
  session().assign({{a, b}, {b, a}});
  EXPECT_EQ(doubles(a), (std::vector<double>{10, 20}));
  EXPECT_EQ(doubles(b), (std::vector<double>{1, 2}));
  session().assign({{a, a + b}, {b, a - b}});
  EXPECT_EQ(doubles(a), (std::vector<double>{11, 22}));
  EXPECT_EQ(doubles(b), (std::vector<double>{9, 18}));
  // The second kernel's operands are used once each, and one of them may be overwritten by its first output.
  const Tensor c = floats({2}, {100, 200}), d = floats({2}, {0, 0});
  session().assign({{a, a + c}, {d, a + c + c + b}});
  EXPECT_EQ(doubles(a), (std::vector<double>{111, 222}));
  EXPECT_EQ(doubles(d), (std::vector<double>{220, 440}));
  session().assign({{c, a + b}, {d, a + b + b + c}});
  EXPECT_EQ(doubles(c), (std::vector<double>{120, 240}));
  EXPECT_EQ(doubles(d), (std::vector<double>{229, 458}));
}

TEST_P(RealizeOnHost, AnAssignedTensorHasTheSizesOfItsValues) {
  const Sint n = session().variable("n", 0, 4);
  const Tensor target = session().empty(DType::Float32, {n});
  session().assign(target, session().from(test::floats({3}, {1, 2, 3}), {n}) * 2.0);
  EXPECT_EQ(doubles(target), (std::vector<double>{2, 4, 6}));
  const Tensor none = session().from(test::floats({0}, {}), {n});
  EXPECT_EQ(doubles(none + 1.0), (std::vector<double>{}));
  EXPECT_EQ(doubles(none.sum({0})), (std::vector<double>{0}));
  expect_error(error_of([&] { session().variable("n", 1, 5); }),
               "variable 'n': goes from 1 to 5; where it was made first it goes from 0 to 4");
}

TEST_P(RealizeOnHost, AnEqualExpressionSeesNewValues) {
  const Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(doubles(x * 3.0), (std::vector<double>{3, 6}));
  session().assign(x, x + 1.0);
  EXPECT_EQ(doubles(x * 3.0), (std::vector<double>{6, 9}));
}

TEST_P(Realize, LoopsRunTurnByTurn) {
  const Tensor x = floats({5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor start = floats({2}, {0, 100});
  const LoopResults made = Tensor::loop(session().graph(), 5, {start}, [&](Sint turn, const std::vector<Tensor>& carried) {
    const Tensor next = carried[0] * 2.0 + x.at(0, turn);
    return LoopTurn{{next}, {next}};
  });
  std::vector<double> state{0, 100}, list;
  for (int t = 0; t < 5; t++)
    for (int k = 0; k < 2; k++) list.push_back(state[static_cast<std::size_t>(k)] = state[static_cast<std::size_t>(k)] * 2 + 2 * t + k + 1);
  EXPECT_EQ(doubles(made.carried[0]), state);
  EXPECT_EQ(doubles(made.listed[0]), list);
}

TEST_P(Realize, OpenSizesHaveTheValuesOfTheirArrays) {
  const Sint n = session().variable("n", 1, 8);
  for (const std::int64_t size : {3, 8, 1}) {
    std::vector<double> values, doubled;
    for (std::int64_t i = 0; i < 2 * size; i++) doubled.push_back(2 * (values.emplace_back(static_cast<double>(i))));
    const Tensor x = session().from(test::floats({size, 2}, values), {n, 2});
    EXPECT_EQ(session().values(x * 2.0), test::floats({size, 2}, doubled));
  }
}

TEST_P(RealizeOnHost, BoundVariablesGiveSizes) {
  const Sint n = session().variable("n", 1, 8);
  session().bind(n, 5);
  EXPECT_EQ(doubles(Tensor::arange(session().graph(), n, DType::Float32)), (std::vector<double>{0, 1, 2, 3, 4}));
  session().bind(n, 2);
  EXPECT_EQ(doubles(Tensor::arange(session().graph(), n, DType::Float32) + 1.0), (std::vector<double>{1, 2}));
  session().unbind(n);
  expect_error(error_of([&] { session().realize(Tensor::arange(session().graph(), n, DType::Float32) + 2.0); }),
               "variable 'n': has no value\n  help: give it one from 1 to 8");
}

TEST_P(Realize, MemoryIsGivenBack) {
  const Tensor x = floats({1000}, std::vector<double>(1000, 1.0));
  const std::int64_t before = counters_->values().mem_used;
  const Tensor y = session().realize((x + 1.0).sum({0}) * x);
  EXPECT_EQ(counters_->values().mem_used, before + 4000);  // what lies between is gone
  session().release(y);
  EXPECT_EQ(counters_->values().mem_used, before);
  expect_error(error_of([&] { session().values(y); }), "tensor float32 [1000]: was released");
  expect_error(error_of([&] { session().values(y + 1.0); }), "tensor float32 [1000]: was released");
}

TEST_P(RealizeOnHost, AssignmentsAndSessionsGiveMemoryBack) {
  const std::int64_t before = counters_->values().mem_used;
  {
    Session other(device_);
    const Tensor x = other.from(test::floats({1000}, std::vector<double>(1000, 1.0)));
    const std::int64_t used = counters_->values().mem_used;
    for (int k = 0; k < 4; k++) other.assign(x, x.flip({0}));  // not in place
    EXPECT_EQ(counters_->values().mem_used, used);
    other.realize(x + 1.0);
  }
  EXPECT_EQ(counters_->values().mem_used, before);
}

TEST_P(RealizeOnHost, SizesAndNamesOfVariablesAreChecked) {
  const Sint n = session().variable("n", 0, 8);
  const Tensor three = session().from(test::floats({3}, {1, 2, 3}), {n}), five = session().from(test::floats({5}, {1, 2, 3, 4, 5}), {n});
  expect_error(error_of([&] { session().assign(three, five * 2.0); }), "variable 'n': is 5 and 3 at once");
  expect_error(error_of([&] { session().values(session().empty(DType::Float32, {session().variable("k", 1, 2)})); }),
               "variable 'k': has no value");
  for (const char* name : {"out", "in1", "int", "a b", ""})
    expect_error(error_of([&] { session().variable(name, 1, 4); }), "can't have that name");
  session().bind(n, 2);
  EXPECT_EQ(session().values(session().rand({n})).size(), 2);  // of a size that may be 0
  const Sint step = session().variable("step", 0, 8);
  session().bind(step, 3);
  std::vector<Tensor> inside;
  const LoopResults made = Tensor::loop(session().graph(), step, {floats({1}, {1})}, [&](Sint, const std::vector<Tensor>& now) {
    inside = now;
    return LoopTurn{{now[0] * 2.0}, {}};
  });
  EXPECT_EQ(doubles(made.carried[0]), (std::vector<double>{8}));
  expect_error(error_of([&] { session().values(inside[0] * 2.0); }), "a carried value of a loop: has no value outside of the loop's turns");
}

TEST_P(RealizeOnHost, WrongUsesAreRefused) {
  const Tensor x = floats({2}, {1, 2});
  Session other(device_);
  expect_error(error_of([&] { other.realize(x); }), "tensor float32 [2]: belongs to another session");
  expect_error(error_of([&] { session().realize(Tensor()); }), "tensor: is empty");
  expect_error(error_of([&] { session().assign(x, floats({3}, {1, 2, 3})); }), "assignment to float32 [2]: the value is float32 [3]");
  expect_error(error_of([&] { session().assign(x + 1.0, x); }), "assignment to float32 [2]: its target is not realized");
  expect_error(error_of([&] { session().assign({{x, x + 1.0}, {x, x + 2.0}}); }), "is there twice");
  const Tensor input = Tensor::input(session().graph(), "pixels", DType::Float32, {2});
  expect_error(error_of([&] { session().values(input + x); }), "tensor float32 [2] 'pixels': is an input without values");
  const Sint n = session().variable("n", 2, 4);
  expect_error(error_of([&] { session().from(test::floats({5}, {1, 2, 3, 4, 5}), {n}); }), "axis 0 is n");
  expect_error(error_of([&] { session().from(test::floats({2}, {1, 2}), {n, 1}); }), "has another rank than its values");
  expect_error(error_of([&] { session().bind(n, 7); }), "variable 'n': is 7, accepted is 2 to 4");
  const Tensor two = session().from(test::floats({2}, {1, 2}), {n}), three = session().from(test::floats({3}, {1, 2, 3}), {n});
  expect_error(error_of([&] { session().values(two + three); }), "variable 'n': is 2 and 3 at once");
}

#ifndef ETCH_FURTHER_BACKENDS
TEST(RealizeDefault, IsTheDefaultDevice) {
  EXPECT_EQ(Session().device().name(), "interp");
  COptions none;
  none.cc = "/nowhere/cc";
  DeviceOptions options;
  options.of<COptions>() = none;
  expect_error(error_of([&] { Session(make_device("c", options)); }), "device c: is not available");
}
#endif

// The known answers of the generator's authors (kat_vectors of Random123).
TEST_P(RealizeOnHost, ThreefryGivesItsKnownAnswers) {
  struct Row {
    std::int64_t key0, key1, counter0, counter1, word0, word1;
  };
  const std::vector<Row> rows{{0, 0, 0, 0, 0x6b200159, 0x99ba4efe},
                              {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x1cb996fc, 0xbb002be7},
                              {0x13198a2e, 0x03707344, 0x243f6a88, 0x85a308d3, 0xc4923a9c, 0x483df7a0}};
  const auto column = [&](std::int64_t Row::* member) {
    std::vector<std::int64_t> values;
    for (const Row& row : rows) values.push_back(row.*member);
    return session().from(Array::of_ints(DType::UInt32, {3}, values));
  };
  const auto [x, y] = Tensor::threefry(column(&Row::key0), column(&Row::key1), column(&Row::counter0), column(&Row::counter1));
  for (std::size_t k = 0; k < rows.size(); k++) {
    EXPECT_EQ(session().values(x).int_at(static_cast<std::int64_t>(k)), rows[k].word0);
    EXPECT_EQ(session().values(y).int_at(static_cast<std::int64_t>(k)), rows[k].word1);
  }
}

TEST_P(RealizeOnHost, RandomNumbersAreUniformAndFollowTheSeed) {
  const auto draw = [&] { return doubles(session().rand({1000})); };
  session().manual_seed(42);
  const std::vector<double> a = draw(), b = draw();
  EXPECT_NE(a, b);
  session().manual_seed(42);
  EXPECT_EQ(doubles(session().rand({600})), std::vector<double>(a.begin(), a.begin() + 600));
  std::vector<double> rest(a.begin() + 600, a.end());  // a draw goes on where the last one ended
  rest.insert(rest.end(), b.begin(), b.begin() + 600);
  EXPECT_EQ(draw(), rest);
  session().manual_seed(43);
  EXPECT_NE(draw(), a);
  double sum = 0;
  std::vector<int> tenths(10);
  for (const double v : a) {
    ASSERT_TRUE(v >= 0 && v < 1) << v;
    sum += v;
    tenths[static_cast<std::size_t>(v * 10)]++;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.04);
  for (const int count : tenths) EXPECT_NEAR(count, 100, 45);
}

TEST_P(RealizeOnHost, RandomNumbersOfOtherTypesStayBelowOne) {
  std::vector<Tensor> drawn;
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float64}) drawn.push_back(session().rand({300}, dtype));
  for (const Tensor& t : drawn)
    for (const double v : doubles(t)) ASSERT_TRUE(v >= 0 && v < 1) << v;
  expect_error(error_of([&] {
                 try {
                   session().rand({2}, DType::Int8);
                 } catch (const ShapeError& e) {
                   throw DeviceError("rand", e.what());
                 }
               }),
               "uniform numbers are of a float type, not int8");
}

}  // namespace
}  // namespace etch
