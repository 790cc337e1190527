// Reductions in the forms that opset 18 gave them. Expected values are worked out by hand from the definitions.
#include <gtest/gtest.h>

#include <cmath>

#include "support/node_model.h"

namespace etch::ops_reduce_test {
namespace {

using test::Attributes;
using test::floats;
using test::ints;

const Array kX = floats({2, 3}, {1, -2, 3, 4, 0, -6});

struct ReduceCase {
  const char* op;
  std::vector<double> rows, all;  // over axis 1; over all axes
  std::vector<double> none;       // noop_with_empty_axes = 1: the steps around the reduction alone
};

const double kE = std::exp(1.0);

const ReduceCase kCases[] = {
    {"ReduceSum", {2, -2}, {0}, {1, -2, 3, 4, 0, -6}},
    {"ReduceMean", {2.0 / 3, -2.0 / 3}, {0}, {1, -2, 3, 4, 0, -6}},
    {"ReduceMax", {3, 4}, {4}, {1, -2, 3, 4, 0, -6}},
    {"ReduceMin", {-2, -6}, {-6}, {1, -2, 3, 4, 0, -6}},
    {"ReduceProd", {-6, 0}, {0}, {1, -2, 3, 4, 0, -6}},
    {"ReduceL1", {6, 10}, {16}, {1, 2, 3, 4, 0, 6}},
    {"ReduceL2", {std::sqrt(14), std::sqrt(52)}, {std::sqrt(66)}, {1, 2, 3, 4, 0, 6}},
    {"ReduceSumSquare", {14, 52}, {66}, {1, 4, 9, 16, 0, 36}},
    {"ReduceLogSum", {std::log(2), NAN}, {-INFINITY}, {0, NAN, std::log(3), std::log(4), -INFINITY, NAN}},
    {"ReduceLogSumExp",
     {std::log(kE + std::exp(-2) + std::exp(3)), std::log(std::exp(4) + 1 + std::exp(-6))},
     {std::log(kE + std::exp(-2) + std::exp(3) + std::exp(4) + 1 + std::exp(-6))},
     {1, -2, 3, 4, 0, -6}},
};

void expect(const ReduceCase& c, const test::NodeModel& model, const Array& wanted) {
  const std::vector<Array> got = test::run_node(model);
  EXPECT_EQ(test::difference(got.at(0), wanted, 1e-6, 1e-7), "") << c.op << " opset " << model.opset;
}

TEST(OnnxReduce, AxesAsInputAndAsAttribute) {
  for (const ReduceCase& c : kCases) {
    const Array rows = floats({2, 1}, c.rows), flat = floats({2}, c.rows);
    expect(c, {c.op, 18, {kX, ints({1}, {1})}}, rows);
    expect(c, {c.op, 18, {kX, ints({1}, {-1})}, {{"keepdims", std::int64_t{0}}}}, flat);
    const int before = std::string(c.op) == "ReduceSum" ? 12 : 17;
    expect(c, {c.op, before, {kX}, {{"axes", std::vector<std::int64_t>{-1}}}}, rows);
    expect(c, {c.op, before, {kX}, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}}}, flat);
  }
}

TEST(OnnxReduce, NoAxesMeanAllOrNone) {
  for (const ReduceCase& c : kCases) {
    expect(c, {c.op, 18, {kX}}, floats({1, 1}, c.all));
    expect(c, {c.op, 18, {kX, ints({0}, {})}, {{"keepdims", std::int64_t{0}}}}, floats({}, c.all));
    expect(c, {c.op, 18, {kX}, {{"noop_with_empty_axes", std::int64_t{1}}}}, floats({2, 3}, c.none));
    expect(c, {c.op, 18, {kX, ints({0}, {})}, {{"noop_with_empty_axes", std::int64_t{1}}}}, floats({2, 3}, c.none));
  }
}

TEST(OnnxReduce, LogSumExpDoesNotOverflow) {
  const Array x = floats({2, 2}, {1000, 1000, -INFINITY, -INFINITY});
  const Array wanted = floats({2}, {1000 + std::log(2), -INFINITY});
  EXPECT_EQ(test::difference(test::run_node({"ReduceLogSumExp", 18, {x, ints({1}, {1})}, {{"keepdims", std::int64_t{0}}}}).at(0), wanted,
                             1e-6, 1e-7),
            "");
}

struct TypedCase {
  const char* op;
  int opset;
  Array x, y;  // over all axes, keepdims = 0
};

const std::int64_t kBig = std::int64_t{1} << 62;

const TypedCase kTyped[] = {
    {"ReduceSum", 13, ints({3}, {kBig, kBig, 5}), ints({}, {static_cast<std::int64_t>(std::uint64_t{1} << 63) + 5})},  // wraps
    {"ReduceSum", 13, ints({2}, {2147483647, 1}, DType::Int32), ints({}, {-2147483648}, DType::Int32)},
    {"ReduceMean", 18, ints({2}, {2147483647, 2147483645}, DType::Int32), ints({}, {2147483646}, DType::Int32)},  // no overflow on the way
    {"ReduceMean", 18, ints({2}, {-3, -2}, DType::Int32), ints({}, {-2}, DType::Int32)},                          // toward zero
    {"ReduceMax", 20, ints({2}, {0, 1}, DType::Bool), ints({}, {1}, DType::Bool)},
    {"ReduceMin", 20, ints({2}, {0, 1}, DType::Bool), ints({}, {0}, DType::Bool)},
    {"ReduceMax", 18, ints({2}, {-128, -1}, DType::Int8), ints({}, {-1}, DType::Int8)},
    {"ReduceMin", 18, ints({2}, {200, 255}, DType::UInt8), ints({}, {200}, DType::UInt8)},
    {"ReduceL2", 18, ints({2}, {3, -4}), ints({}, {5})},
    {"ReduceL1", 18, ints({2}, {3, -4}, DType::Int32), ints({}, {7}, DType::Int32)},
    {"ReduceProd", 18, ints({3}, {3, -4, 7}), ints({}, {-84})},
    {"ReduceSum", 13, floats({3}, {2048, 1, 1}, DType::Float16), floats({}, {2050}, DType::Float16)},  // summed in float32
    {"ReduceProd", 18, floats({3}, {300, 300, 0.5}, DType::Float16), floats({}, {45000}, DType::Float16)},
};

TEST(OnnxReduce, EveryTypeInItsOwnArithmetic) {
  for (const TypedCase& c : kTyped) {
    const std::vector<Array> got = test::run_node({c.op, c.opset, {c.x}, {{"keepdims", std::int64_t{0}}}});
    EXPECT_EQ(test::difference(got.at(0), c.y, 1e-3, 0), "") << c.op << " of " << name_of(c.x.dtype());
  }
}

struct CumSumCase {
  std::int64_t exclusive, reverse;
  std::vector<double> y;
};

const CumSumCase kCumSum[] = {
    {0, 0, {1, -1, 2, 4, 4, -2}}, {1, 0, {0, 1, -1, 0, 4, 4}}, {0, 1, {2, 1, 3, -2, -6, -6}}, {1, 1, {1, 3, 0, -6, -6, 0}}};

TEST(OnnxReduce, CumSum) {
  for (const CumSumCase& c : kCumSum) {
    const Attributes attributes{{"exclusive", c.exclusive}, {"reverse", c.reverse}};
    EXPECT_EQ(test::difference(test::run_node({"CumSum", 14, {kX, ints({}, {-1})}, attributes}).at(0), floats({2, 3}, c.y), 0, 0), "");
  }
}

struct ArgCase {
  const char* op;
  std::int64_t last;
  std::int64_t index;
};

const ArgCase kArg[] = {{"ArgMax", 0, 1}, {"ArgMax", 1, 3}, {"ArgMin", 0, 0}, {"ArgMin", 1, 4}};

TEST(OnnxReduce, ArgMaxAndArgMinOfEqualElements) {
  for (const ArgCase& c : kArg) {
    const Array x = floats({5}, {-1, 7, 0, 7, -1});
    const std::vector<Array> got = test::run_node({c.op, 13, {x}, {{"keepdims", std::int64_t{0}}, {"select_last_index", c.last}}});
    EXPECT_EQ(test::difference(got.at(0), ints({}, {c.index}), 0, 0), "") << c.op << c.last;
  }
}

TEST(OnnxReduce, RefusalsSayWhatIsWrong) {
  using test::expect_refused;
  expect_refused({"ReduceSum", 13, {kX, ints({1}, {2})}}, "axes is 2, but the tensor has 2 axes");
  expect_refused({"ReduceSum", 13, {kX, ints({2}, {1, -1})}}, "axes [1, -1] names one axis twice");
  expect_refused({"ReduceSum", 13, {kX}, {{"axes", std::vector<std::int64_t>{1}}}}, "attribute axes is not supported at opset 13");
  expect_refused({"ReduceMax", 13, {kX, ints({1}, {1})}}, "it has 2 inputs, ReduceMax has at most 1");
  expect_refused({"ArgMax", 11, {kX}, {{"select_last_index", std::int64_t{1}}}},
                 "attribute select_last_index is not supported at opset 11");
  expect_refused({"ReduceSum", 13, {kX, ints({1}, {1})}, {}, 1, 2}, "must be known while generating");
}

}  // namespace
}  // namespace etch::ops_reduce_test
