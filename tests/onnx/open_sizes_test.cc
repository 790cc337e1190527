// Operators along axes of open size: for every size the result of the same node with that size fixed, or an error that names axis
// and dimension.
#include <gtest/gtest.h>

#include <cmath>

#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::floats;
using test::ints;
using test::NodeModel;

using Ints = std::vector<std::int64_t>;

struct Case {
  const char* what;
  std::string op;
  int opset = 18;
  std::vector<Array> more = {};  // inputs after the first: constants
  Attributes attributes = {};
  std::int64_t low = 4, high = 9;  // of axis 2 of the input [2, 3, T, 2]
  const char* refused = nullptr;   // part of the error instead
  DType dtype = DType::Float32;
};

Array data(std::int64_t size, DType dtype) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < 2 * 3 * size * 2; i++) values.push_back(std::round(100 * std::sin(static_cast<double>(i * i + 1))));
  return Array::of_doubles(dtype, {2, 3, size, 2}, values);
}

NodeModel node_model(const Case& c, std::int64_t size) {
  NodeModel m{c.op, c.opset, {data(size, c.dtype)}, c.attributes};
  m.inputs.insert(m.inputs.end(), c.more.begin(), c.more.end());
  return m;
}

ImportedModel import_open(const Case& c) {
  onnx::ModelProto model;
  model.ParseFromString(test::bytes_of(node_model(c, c.low)));
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->set_dim_param("T");
  return import_onnx({.bytes = model.SerializeAsString(), .dims = {{"T", c.low, c.high}}, .name = "n"});
}

void check_case(const Case& c) {
  const std::string where = c.op + ", " + c.what;
  try {
    const ImportedModel open = import_open(c);
    if (c.refused != nullptr) {
      ADD_FAILURE() << where << " is accepted, though: " << c.refused;
      return;
    }
    for (std::int64_t size = c.low; size <= c.high; size++) {
      const std::vector<Array> wanted = test::run_node(node_model(c, size));
      const std::vector<Array> got = test::evaluate_model(open, {{"x0", data(size, c.dtype)}}, {{open.dims.at(0).c_name, size}});
      EXPECT_EQ(test::difference(got.at(0), wanted.at(0), 1e-5, 1e-6), "") << where << ", size " << size;
    }
  } catch (const UserError& error) {
    const bool expected = c.refused != nullptr && std::string(error.what()).find(c.refused) != std::string::npos;
    EXPECT_TRUE(expected) << where << ": " << error.what();
    EXPECT_NE(error.help().find("--dim T=VALUE"), std::string::npos) << where << ": " << error.what();
  }
}

std::vector<Array> slice(std::int64_t start, std::int64_t end, std::int64_t step) {
  return {ints({1}, {start}), ints({1}, {end}), ints({1}, {2}), ints({1}, {step})};
}

constexpr std::int64_t kFar = std::int64_t{1} << 40;

TEST(OnnxOpenSizes, Slice) {
  const Case cases[] = {
      {"from the front", "Slice", 13, slice(1, 3, 1)},
      {"to the end", "Slice", 13, slice(2, kFar, 1)},
      {"all but the last", "Slice", 13, slice(0, -1, 1)},
      {"the last two", "Slice", 13, slice(-2, kFar, 1)},
      {"in the middle", "Slice", 13, slice(1, -1, 1)},
      {"from before the first", "Slice", 13, slice(-kFar, 2, 1)},
      {"every second", "Slice", 13, slice(0, kFar, 2)},
      {"every third from 1", "Slice", 13, slice(1, kFar, 3)},
      {"one of many", "Slice", 13, slice(0, kFar, 100)},
      {"nothing", "Slice", 13, slice(3, 1, 1)},
      {"backwards", "Slice", 13, slice(-1, -kFar, -1)},
      {"backwards from the far end", "Slice", 13, slice(kFar, -kFar, -2)},
      {"backwards to 1", "Slice", 13, slice(-1, 1, -1)},
      {"backwards from 3", "Slice", 13, slice(3, 0, -2)},
      {"backwards, the last three", "Slice", 13, slice(-1, -4, -1)},
      {"backwards from before the first", "Slice", 13, slice(-kFar, -kFar, -1)},
      {"backwards, nothing", "Slice", 13, slice(1, 2, -1)},
      {"end beyond some sizes",
       "Slice",
       13,
       slice(0, 6, 1),
       {},
       4,
       9,
       "of axis 2 lies inside for some of its sizes T (4..9) and not for others; it does from 6 on"},
      {"start before some sizes", "Slice", 13, slice(-6, kFar, 1), {}, 4, 9, "it does from 6 on"},
      {"crossing", "Slice", 13, slice(3, -3, 1), {}, 4, 9, "it does from 6 on"},
      {"crossing, narrowed", "Slice", 13, slice(3, -3, 1), {}, 6, 9},
      {"backwards beyond some sizes", "Slice", 13, slice(6, 0, -1), {}, 4, 9, "it does from 7 on"},
  };
  for (const Case& c : cases) check_case(c);
}

TEST(OnnxOpenSizes, GatherAtConstants) {
  const auto axis = [] { return Attributes{{"axis", std::int64_t{2}}}; };
  const Case cases[] = {
      {"the first", "Gather", 13, {ints({}, {0})}, axis()},
      {"the last", "Gather", 13, {ints({}, {-1})}, axis()},
      {"from both ends", "Gather", 13, {ints({2, 2}, {-1, 0, 1, -2})}, axis()},
      {"every element of the smallest", "Gather", 13, {ints({4}, {3, 2, 1, 0})}, axis()},
      {"many", "Gather", 13, {ints({9}, {0, 3, 1, -4, -1, 2, 0, 0, -2})}, axis()},
      {"beyond some sizes", "Gather", 13, {ints({2}, {0, 4})}, axis(), 4, 9, "its index 4 is outside axis 2 where the size T is below 5"},
      {"before some sizes", "Gather", 13, {ints({}, {-6})}, axis(), 4, 9, "its index -6 is outside axis 2 where the size T is below 6"},
      {"beyond all sizes", "Gather", 13, {ints({}, {9})}, axis(), 4, 9, "its index 9 is outside axis 2 of size T, which is at most 9"},
  };
  for (const Case& c : cases) check_case(c);
}

TEST(OnnxOpenSizes, PadModes) {
  const auto pads = [](std::int64_t before, std::int64_t after) {
    return std::vector<Array>{ints({8}, {0, 0, before, 1, 0, 0, after, 1})};
  };
  for (const std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    for (const auto& [before, after] : std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 0}, {0, 2}, {3, 3}, {-1, 1}, {1, -2}})
      check_case({mode.c_str(), "Pad", 19, pads(before, after), {{"mode", mode}}, 6, 9});
  }
  const Case cases[] = {
      {"reflects more than there is",
       "Pad",
       18,
       pads(0, 4),
       {{"mode", std::string("reflect")}},
       4,
       9,
       "in mode reflect need at least 5 elements, axis 2 of size T has from 4 on"},
      {"wraps more than there is", "Pad", 19, pads(5, 0), {{"mode", std::string("wrap")}}, 4, 9, "need at least 5 elements"},
      {"cuts more than there is", "Pad", 18, pads(-2, -3), {}, 4, 9, "sizes are >= 0"},
  };
  for (const Case& c : cases) check_case(c);
}

Case resize(const char* what, double scale, const std::string& mode, const std::string& coordinates, const char* refused = nullptr) {
  return {
      what, "Resize", 18,     {Array(), floats({4}, {1, 1, scale, 2})}, {{"mode", mode}, {"coordinate_transformation_mode", coordinates}},
      4,    11,       refused};
}

TEST(OnnxOpenSizes, ResizeByConstantScales) {
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const double scale : {2.0, 3.0, 0.5, 1.5, 0.25, 0.75})
      for (const char* coordinates : {"half_pixel", "asymmetric", "pytorch_half_pixel"}) {
        if (scale < 0.5 && std::string(coordinates) == "pytorch_half_pixel") continue;
        check_case(resize((mode + (" by " + std::to_string(scale)) + ", " + coordinates).c_str(), scale, mode, coordinates));
      }
  for (const char* rounding : {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"}) {
    Case c = resize(rounding, 2.0, "nearest", "half_pixel");
    c.attributes.emplace_back("nearest_mode", std::string(rounding));
    check_case(c);
    c.dtype = DType::Int8;
    check_case(c);
  }
  Case antialias = resize("antialias", 0.5, "linear", "half_pixel");
  antialias.attributes.emplace_back("antialias", std::int64_t{1});
  check_case(antialias);
  Case integers = resize("integers", 2.0, "linear", "half_pixel", "integers are interpolated along axes of fixed size only");
  integers.dtype = DType::UInt8;
  check_case(integers);
  Case edges =
      resize("edges weighed", 2.0, "cubic", "half_pixel", "axis 2 has the open size T: attribute exclude_outside weighs the edges");
  edges.attributes.emplace_back("exclude_outside", std::int64_t{1});
  check_case(edges);
  check_case(resize("corners", 2.0, "linear", "align_corners", "coordinate_transformation_mode align_corners depends on the size"));
  check_case(resize("one output", 0.25, "linear", "pytorch_half_pixel", "where the output has one element"));
  check_case(resize("no fraction", 0.7312, "linear", "half_pixel", "is no fraction"));
}

Attributes window(Ints kernel, Ints strides, Attributes more = {}) {
  more.emplace_back("kernel_shape", std::move(kernel));
  more.emplace_back("strides", std::move(strides));
  return more;
}

TEST(OnnxOpenSizes, PoolingRoundsUp) {
  for (const std::int64_t kernel : {2, 3, 4})
    for (const std::int64_t stride : {1, 2, 3})
      for (const std::int64_t before : {0, 1})
        for (const std::int64_t after : {0, 1})
          for (const char* op : {"MaxPool", "AveragePool"}) {
            const std::string what = std::to_string(kernel) + " by " + std::to_string(stride) + ", pads " + std::to_string(before) +
                                     " and " + std::to_string(after);
            check_case({what.c_str(),
                        op,
                        18,
                        {},
                        window({kernel, 1}, {stride, 1}, {{"ceil_mode", std::int64_t{1}}, {"pads", Ints{before, 0, after, 0}}})});
          }
}

TEST(OnnxOpenSizes, SamePadding) {
  for (const char* auto_pad : {"SAME_UPPER", "SAME_LOWER"})
    for (const std::int64_t kernel : {1, 2, 3, 4, 5})
      for (const std::int64_t stride : {1, 2, 3}) {
        const bool gaps = kernel > 1 && kernel < stride;  // between windows: padding in front of some sizes only
        const Attributes attributes = window({kernel, 1}, {stride, 1}, {{"auto_pad", std::string(auto_pad)}});
        const std::string what = std::string(auto_pad) + " " + std::to_string(kernel) + " by " + std::to_string(stride);
        for (const char* op : {"MaxPool", "AveragePool"})
          check_case({what.c_str(), op, 18, {}, attributes, 4, 9, gaps ? "of the open size T of axis 2 and some at others" : nullptr});
      }
  Attributes transposed = window({3, 1}, {2, 1}, {{"auto_pad", std::string("SAME_UPPER")}});
  check_case({"outputs of size * stride", "ConvTranspose", 18, {floats({3, 1, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9})}, transposed});
}

TEST(OnnxOpenSizes, CenterCropPad) {
  for (const std::int64_t size : {3, 4, 9, 12}) check_case({"", "CenterCropPad", 18, {ints({1}, {size})}, {{"axes", Ints{2}}}});
}

TEST(OnnxOpenSizes, CumSum) {
  for (const std::int64_t exclusive : {0, 1})
    for (const std::int64_t reverse : {0, 1})
      check_case({"", "CumSum", 14, {ints({}, {2})}, {{"exclusive", exclusive}, {"reverse", reverse}}});
}

TEST(OnnxOpenSizes, RefusalsSayWhatToDo) {
  const Case cases[] = {
      {"odd sizes",
       "SpaceToDepth",
       13,
       {},
       {{"blocksize", std::int64_t{2}}},
       4,
       9,
       "axis 2 of the input has the open size T, which is no multiple of blocksize 2 at every value"},
      {"by sizes", "Resize", 18, {Array(), Array(), ints({4}, {2, 3, 7, 2})}, {}, 4, 9, "axis 2 of the input has the open size T"},
      {"cropping",
       "CenterCropPad",
       18,
       {ints({1}, {5})},
       {{"axes", Ints{2}}},
       4,
       9,
       "axis 2 of the input has the open size T, which is below 5 at some values and above at others"},
  };
  for (const Case& c : cases) check_case(c);
}

TEST(OnnxOpenSizes, AnUnnamedAxisIsNamedAsTheCommandLineTakesIt) {
  onnx::ModelProto model;
  model.ParseFromString(test::bytes_of({"Resize", 18, {data(4, DType::Float32), Array(), Array(), ints({4}, {2, 3, 7, 2})}}));
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->clear_dim_value();
  try {
    import_onnx({.bytes = model.SerializeAsString(), .dims = {{"x0[2]", 4, 9}}});
    ADD_FAILURE() << "accepted";
  } catch (const UserError& error) {
    EXPECT_NE(error.help().find("--dim x0[2]=VALUE, or narrow its range (x0[2] is 4..9)"), std::string::npos) << error.what();
  }
}

TEST(OnnxSlice, BackwardsFromBeforeTheFirstBeginsAtTheFirst) {
  const Array x = ints({3}, {1, 2, 3});
  expect_node({"Slice", 13, {x, ints({1}, {-7}), ints({1}, {-9}), ints({1}, {0}), ints({1}, {-1})}}, {ints({1}, {1})});
}

}  // namespace
}  // namespace etch
