// Gathers, scatters, top-k and friends: small cases by hand, scatters against loops over the definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "schedule/schedule.h"
#include "support/node_model.h"
#include "support/rounds.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using Ints = std::vector<std::int64_t>;

TEST(OnnxIndex, GatherElementsCountsFromTheEndToo) {
  const Array x = ints({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}, DType::Int8);
  expect_node({"GatherElements", 13, {x, ints({2, 3}, {-1, -2, 0, -2, 0, 0})}, {{"axis", std::int64_t{0}}}},
              {ints({2, 3}, {7, 5, 3, 4, 2, 3}, DType::Int8)});
  expect_node({"GatherElements", 13, {ints({2}, {0, 1}, DType::Bool), ints({3}, {1, 0, 1}, DType::Int32)}},
              {ints({3}, {1, 0, 1}, DType::Bool)});
}

TEST(OnnxIndex, GatherND) {
  const Array x = ints({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}, DType::Int32);
  for (std::size_t constants : {1u, 2u}) {
    expect_node({"GatherND", 13, {x, ints({2, 3}, {0, 1, 1, -1, 0, -2})}, {}, 1, constants}, {ints({2}, {3, 4}, DType::Int32)});
    expect_node({"GatherND", 13, {x, ints({2, 1, 2}, {0, 1, 1, 0})}, {}, 1, constants}, {ints({2, 1, 2}, {2, 3, 4, 5}, DType::Int32)});
    expect_node({"GatherND", 13, {x, ints({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}, 1, constants},
                {ints({2, 2}, {2, 3, 4, 5}, DType::Int32)});
    expect_node({"GatherND", 13, {x, ints({2, 2, 1}, {1, 0, 0, 1})}, {{"batch_dims", std::int64_t{2}}}, 1, constants},
                {ints({2, 2}, {1, 2, 4, 7}, DType::Int32)});
  }
  expect_refused({"GatherND", 13, {x, ints({1, 4}, {0, 0, 0, 0})}}, "indices select 4 axes");
  expect_refused({"GatherND", 11, {x, ints({2, 1}, {1, 0})}, {{"batch_dims", std::int64_t{1}}}}, "batch_dims is not supported at opset 11");
}

double merge(const std::string& how, double old, double update) {
  if (how == "add") return old + update;
  if (how == "mul") return old * update;
  if (how == "max") return std::max(old, update);
  if (how == "min") return std::min(old, update);
  return update;
}

/// The definition: output[index of i with its `axis` replaced] = merge(.., updates[i]), in order.
std::vector<double> scattered(std::vector<double> data, const Ints& shape, const Ints& index, const Ints& extent,
                              const std::vector<double>& updates, std::size_t axis, const std::string& how) {
  for (std::size_t i = 0; i < index.size(); i++) {
    std::int64_t rest = static_cast<std::int64_t>(i), flat = 0, stride = 1;
    for (std::size_t a = shape.size(); a-- > 0;) {
      std::int64_t p = rest % extent[a];
      rest /= extent[a];
      if (a == axis) p = index[i] < 0 ? index[i] + shape[a] : index[i];
      flat += p * stride;
      stride *= shape[a];
    }
    data[static_cast<std::size_t>(flat)] = merge(how, data[static_cast<std::size_t>(flat)], updates[i]);
  }
  return data;
}

TEST(OnnxIndex, ScatterElementsInEveryReduction) {
  std::mt19937 random(7);
  const Ints shape{3, 4, 2}, extent{2, 3, 2};
  for (const char* how : {"none", "add", "mul", "max", "min"}) {
    for (std::size_t axis = 0; axis < 3; axis++) {
      std::vector<double> data(24), updates(12);
      Ints index(12);
      for (double& v : data) v = static_cast<double>(random() % 9) - 4;
      for (double& v : updates) v = static_cast<double>(random() % 9) - 4;
      for (std::size_t i = 0; i < index.size(); i++)
        index[i] = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * shape[axis])) - shape[axis];
      if (std::string(how) == "none") {  // ONNX leaves the result open where an index stands twice: here each line counts up
        for (std::size_t i = 0; i < index.size(); i++)
          index[i] = axis == 0   ? static_cast<std::int64_t>(i / 6)
                     : axis == 1 ? -1 - static_cast<std::int64_t>(i / 2 % 3)
                                 : static_cast<std::int64_t>(1 - i % 2);
      }
      const std::vector<double> wanted = scattered(data, shape, index, extent, updates, axis, how);
      for (DType dtype : {DType::Float32, DType::Int32, DType::Int64}) {
        for (std::size_t constants : {1u, 3u}) {
          expect_node({"ScatterElements",
                       18,
                       {floats(shape, data, dtype), ints(extent, index), floats(extent, updates, dtype)},
                       {{"axis", static_cast<std::int64_t>(axis)}, {"reduction", how}},
                       1,
                       constants},
                      {floats(shape, wanted, dtype)});
        }
      }
    }
  }
  const Array x = floats({3}, {1, 2, 3});
  expect_refused({"ScatterElements", 16, {x, ints({1}, {0}), floats({1}, {1})}, {{"reduction", "max"}}}, "accepted are none, add and mul");
  expect_refused({"ScatterElements", 13, {x, ints({1}, {0}), floats({1}, {1})}, {{"reduction", "add"}}},
                 "reduction is not supported at opset 13");
  expect_refused({"ScatterElements", 18, {x, ints({1}, {3}), floats({1}, {1})}}, "an index is 3, the axis has 3 elements");
}

TEST(OnnxIndex, ScatterNDInEveryReduction) {
  const Array data = floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), updates = floats({3, 2}, {10, -10, 2, 2, 3, 0});
  const struct {
    const char* how;
    Ints rows;
    std::vector<double> y;
  } cases[] = {{"none", {0, 2, -1}, {10, -10, 3, 4, 2, 2, 3, 0}},
               {"add", {1, 1, 3}, {1, 2, 15, -4, 5, 6, 10, 8}},
               {"mul", {1, 1, 3}, {1, 2, 60, -80, 5, 6, 21, 0}},
               {"max", {1, 1, 3}, {1, 2, 10, 4, 5, 6, 7, 8}},
               {"min", {1, 1, 3}, {1, 2, 2, -10, 5, 6, 3, 0}}};
  for (const auto& c : cases) {
    for (std::size_t constants : {1u, 3u}) {
      expect_node({"ScatterND", 18, {data, ints({3, 1}, c.rows), updates}, {{"reduction", c.how}}, 1, constants}, {floats({4, 2}, c.y)});
    }
  }
  for (std::size_t constants : {1u, 3u}) {
    const Array flags = ints({2, 2}, {0, 0, 0, 0}, DType::Bool);
    expect_node({"ScatterND", 16, {flags, ints({2, 2}, {0, 1, -1, 0}), ints({2}, {1, 1}, DType::Bool)}, {}, 1, constants},
                {ints({2, 2}, {0, 1, 1, 0}, DType::Bool)});
  }
  expect_refused({"ScatterND", 18, {data, ints({1, 2}, {0, 2}), floats({1}, {1})}}, "an index is 2, the axis has 2 elements");
}

// The definition: a stable sort, in which NaN is larger than every number.
std::vector<std::int64_t> sorted_places(const Array& row, bool largest) {
  const auto is_larger = [&](std::int64_t a, std::int64_t b) {
    const double x = row.double_at(a), y = row.double_at(b);
    return std::isnan(x) ? !std::isnan(y) : x > y;
  };
  std::vector<std::int64_t> places(static_cast<std::size_t>(row.size()));
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, [&](std::int64_t a, std::int64_t b) { return largest ? is_larger(a, b) : is_larger(b, a); });
  return places;
}

TEST(OnnxIndex, TopKOfManyElements) {
  std::mt19937 rng(5);
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  const DType types[] = {DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int8,  DType::UInt8,
                         DType::Int16,   DType::UInt16,  DType::Int32,   DType::UInt32,   DType::Int64, DType::UInt64};
  for (int i = 0; i < test::rounds(240); i++) {
    const DType dtype = types[i % 12];
    const std::int64_t rows = pick(1, 3), n = i % 5 == 0 ? pick(256, 300) : pick(15, 40);
    const std::int64_t k = pick(0, 3) == 0 && i % 20 > 0 ? n : pick(0, std::min<std::int64_t>(n, 40));
    const bool largest = pick(0, 1) == 0, is_first = pick(0, 1) == 0;  // the axis
    const std::int64_t spread = pick(0, 1) == 0 ? 3 : 100;
    std::vector<double> data, values;
    for (std::int64_t e = 0; e < rows * n; e++) {
      const std::int64_t kind = is_float(dtype) ? pick(0, 12) : 9;
      const double number = static_cast<double>(is_unsigned(dtype) ? pick(0, spread) : pick(-spread, spread));
      const double extremes[] = {NAN, -NAN, INFINITY, -INFINITY, -0.0};
      data.push_back(kind < 5 ? extremes[kind] : number);
      if (!is_float(dtype) && pick(0, 9) == 0) data.back() = static_cast<double>(pick(0, 1) == 0 ? int_min(dtype) : 127);
    }
    const Array x = Array::of_doubles(dtype, {is_first ? n : rows, is_first ? rows : n}, data);
    const auto at = [&](std::int64_t row, std::int64_t e, std::int64_t length) { return is_first ? e * rows + row : row * length + e; };
    std::vector<std::int64_t> places(static_cast<std::size_t>(rows * k));
    values.resize(places.size());
    for (std::int64_t r = 0; r < rows; r++) {
      std::vector<double> row;
      for (std::int64_t e = 0; e < n; e++) row.push_back(x.double_at(at(r, e, n)));
      const std::vector<std::int64_t> order = sorted_places(Array::of_doubles(DType::Float64, {n}, row), largest);
      for (std::int64_t e = 0; e < k; e++) {
        places[static_cast<std::size_t>(at(r, e, k))] = order[static_cast<std::size_t>(e)];
        values[static_cast<std::size_t>(at(r, e, k))] = row[static_cast<std::size_t>(order[static_cast<std::size_t>(e)])];
      }
    }
    const std::vector<std::int64_t> shape{is_first ? k : rows, is_first ? rows : k};
    expect_node({"TopK", 24, {x, ints({1}, {k})}, {{"axis", std::int64_t{is_first ? 0 : 1}}, {"largest", std::int64_t{largest}}}},
                {Array::of_doubles(dtype, shape, values), ints(shape, places)});
  }
}

// A loop of turns where there are many of them; none on grids, nor for constants, which fold.
TEST(OnnxIndex, TopKTakesTurnsWhereTheyPay) {
  const auto loops_and_items = [](std::int64_t n, std::int64_t k, DType dtype = DType::Int32, bool has_grid = false) {
    const Array x = ints({n}, Ints(static_cast<std::size_t>(n), 1), dtype);
    const std::string bytes = test::bytes_of(test::NodeModel{"TopK", 24, {x, ints({1}, {k})}, {}, 2});
    const ImportedModel imported = import_onnx({.bytes = bytes, .target = {.has_grid = has_grid}, .name = "n"});
    const Schedule schedule = create_schedule(*imported.graph, {{"y", imported.outputs.at(1).tensor}});
    return std::pair(schedule.loops.size(), schedule.items.size());
  };
  const auto [loops, items] = loops_and_items(40, 9);
  EXPECT_EQ(loops, 1U);
  EXPECT_EQ(loops_and_items(40, 8).first, 0U) << "written out";
  EXPECT_GT(loops_and_items(40, 8).second, items);
  for (const auto& [dtype, has_grid] : {std::pair(DType::Int32, true), {DType::Int64, false}}) {
    EXPECT_EQ(loops_and_items(40, 9, dtype, has_grid).first, 0U) << "counted";
    EXPECT_LE(loops_and_items(40, 9, dtype, has_grid).second, 3U) << "counted";
  }
  // With blocks a turn has several kernels, and the blocks are made before.
  EXPECT_EQ(loops_and_items(255, 9), loops_and_items(40, 9));
  EXPECT_GT(loops_and_items(256, 9).second, items);
  EXPECT_EQ(loops_and_items(256, 8), loops_and_items(255, 8));
  const std::string constant = test::bytes_of(test::NodeModel{"TopK", 24, {ints({40}, Ints(40, 1)), ints({1}, {9})}, {}, 2, 0});
  EXPECT_TRUE(import_onnx({.bytes = constant, .name = "n"}).outputs.at(1).tensor.evaluate());
}

TEST(OnnxIndex, TopKOrdersEqualElementsByPosition) {
  const Array x = floats({2, 5}, {3, 1, 3, -INFINITY, 2, 0, NAN, 5, 5, 7});
  const Array k = ints({1}, {3});
  expect_node({"TopK", 11, {x, k}}, {floats({2, 3}, {3, 3, 2, NAN, 7, 5}), ints({2, 3}, {0, 2, 4, 1, 4, 2})});
  expect_node({"TopK", 11, {x, k}, {{"largest", std::int64_t{0}}, {"sorted", std::int64_t{0}}}},
              {floats({2, 3}, {-INFINITY, 1, 2, 0, 5, 5}), ints({2, 3}, {3, 1, 4, 0, 2, 3})});
  expect_node({"TopK", 11, {x, ints({1}, {1})}, {{"axis", std::int64_t{0}}}},
              {floats({1, 5}, {3, NAN, 5, 5, 7}), ints({1, 5}, {0, 1, 1, 1, 1})});
  expect_node({"TopK", 11, {ints({4}, {5, -7, 5, 0}, DType::Int8), ints({1}, {4})}},
              {ints({4}, {5, 5, 0, -7}, DType::Int8), ints({4}, {0, 2, 3, 1})});
  expect_refused({"TopK", 11, {x, ints({1}, {6})}}, "k is 6, the axis has 5 elements");
}

TEST(OnnxIndex, OneHotOfAnyNumber) {
  const Array values = floats({2}, {-1, 5});
  const Array wanted = floats({3, 4}, {-1, 5, -1, -1, -1, -1, -1, 5, -1, -1, -1, -1});
  expect_node({"OneHot", 11, {ints({3}, {1, -1, 4}), ints({}, {4}), values}}, {wanted});
  expect_node({"OneHot", 11, {floats({3}, {1, -1, 4}), floats({1}, {4}), values}}, {wanted});
  expect_node({"OneHot", 11, {ints({2}, {1, 0}, DType::UInt8), ints({}, {2}), ints({2}, {7, 9})}, {{"axis", std::int64_t{0}}}},
              {ints({2, 2}, {7, 9, 9, 7})});
}

TEST(OnnxIndex, SizesThatDependOnValuesMustBeConstant) {
  const Array x = ints({2, 2}, {1, 0, 3, 4}), condition = ints({2}, {0, 1}, DType::Bool);
  expect_node({"Compress", 11, {x, condition}, {{"axis", std::int64_t{-1}}}}, {ints({2, 1}, {0, 4})});
  expect_node({"Compress", 11, {x, condition}}, {ints({1}, {0})});
  expect_node({"NonZero", 13, {x}, {}, 1, 0}, {ints({2, 3}, {0, 1, 1, 0, 0, 1})});
  expect_refused({"NonZero", 13, {x}}, "depends on the values of its input");
  expect_refused({"Compress", 11, {x, condition}, {}, 1, 2}, "depends on the values of condition");
}

TEST(OnnxIndex, RangesAndTriangles) {
  expect_node({"Range", 11, {ints({}, {3}), ints({}, {10}), ints({}, {3})}, {}, 1, 0}, {ints({3}, {3, 6, 9})});
  expect_node({"Range", 11, {ints({}, {10}, DType::Int32), ints({}, {4}, DType::Int32), ints({}, {-2}, DType::Int32)}, {}, 1, 0},
              {ints({3}, {10, 8, 6}, DType::Int32)});
  expect_node({"Range", 11, {floats({}, {1}), floats({}, {2.01}), floats({}, {0.5})}, {}, 1, 0}, {floats({3}, {1, 1.5, 2})});
  const Array x = ints({2, 3}, {1, 2, 3, 4, 5, 6}), flags = ints({2, 2}, {1, 1, 1, 1}, DType::Bool);
  expect_node({"Trilu", 14, {x}}, {ints({2, 3}, {1, 2, 3, 0, 5, 6})});
  expect_node({"Trilu", 14, {x, ints({}, {1})}}, {ints({2, 3}, {0, 2, 3, 0, 0, 6})});
  for (const auto& [k, wanted] : {std::pair{std::int64_t{-1}, ints({2, 3}, {1, 2, 3, 4, 5, 6})},
                                  {0, ints({2, 3}, {1, 2, 3, 0, 5, 6})},
                                  {2, ints({2, 3}, {0, 0, 3, 0, 0, 0})},
                                  {std::numeric_limits<std::int64_t>::max(), ints({2, 3}, {0, 0, 0, 0, 0, 0})}})
    expect_node({"Trilu", 14, {x, ints({1}, {k})}, {}, 1, 2}, {wanted});  // known when the model runs
  expect_node({"Trilu", 14, {x, ints({}, {-1})}, {{"upper", std::int64_t{0}}}, 1, 2}, {ints({2, 3}, {0, 0, 0, 4, 0, 0})});
  expect_node({"Trilu", 14, {x, ints({}, {-1})}, {{"upper", std::int64_t{0}}}}, {ints({2, 3}, {0, 0, 0, 4, 0, 0})});
  expect_node({"Trilu", 14, {flags}, {{"upper", std::int64_t{0}}}}, {ints({2, 2}, {1, 0, 1, 1}, DType::Bool)});
  expect_node({"EyeLike", 9, {x}, {{"k", std::int64_t{1}}, {"dtype", std::int64_t{1}}}}, {floats({2, 3}, {0, 1, 0, 0, 0, 1})});
}

TEST(OnnxIndex, ReverseSequence) {
  const Array x = ints({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Attributes by_row{{"batch_axis", std::int64_t{0}}, {"time_axis", std::int64_t{1}}};
  for (std::size_t constants : {1u, 2u}) {
    expect_node({"ReverseSequence", 10, {x, ints({2}, {3, 1})}, by_row, 1, constants}, {ints({2, 4}, {2, 1, 0, 3, 4, 5, 6, 7})});
    expect_node({"ReverseSequence", 10, {x, ints({4}, {2, 1, 2, 2})}, {}, 1, constants}, {ints({2, 4}, {4, 1, 6, 7, 0, 5, 2, 3})});
  }
}

}  // namespace
}  // namespace etch
