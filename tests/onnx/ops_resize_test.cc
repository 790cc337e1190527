// Resize of opsets 18 and 19. Expected values: the examples in ONNX's own definition of the operator.
#include <gtest/gtest.h>

#include <numeric>

#include "support/node_model.h"

namespace etch::ops_resize_test {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using test::NodeModel;

using Ints = std::vector<std::int64_t>;

const Array kNone;
const Attributes kAxes{{"axes", std::vector<std::int64_t>{2, 3}}};

Array square() {
  std::vector<double> values(16);
  std::iota(values.begin(), values.end(), 1);
  return floats({1, 1, 4, 4}, values);
}

Attributes with(Attributes a, const Attributes& more) {
  a.insert(a.end(), more.begin(), more.end());
  return a;
}

struct ResizeCase {
  int opset;
  Array x, scales, sizes;
  Attributes attributes;
  Array y;
};

TEST(OnnxResize, ExamplesOfTheDefinition) {
  const Array all = floats({4}, {1, 1, 0.6, 0.6});
  const Array pair = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Attributes linear{{"mode", "linear"}}, cubic{{"mode", "cubic"}}, antialias{{"antialias", std::int64_t{1}}};
  const std::vector<std::int64_t> last{2, 3};
  const ResizeCase cases[] = {
      {18, square(), all, kNone, with(linear, antialias), floats({1, 1, 2, 2}, {2.875, 4.5, 9.375, 11})},
      {18, square(), all, kNone, with(cubic, antialias), floats({1, 1, 2, 2}, {2.5180721, 4.2858863, 9.589329, 11.357142})},
      {18, square(), kNone, ints({4}, {1, 1, 3, 3}), with(linear, antialias),
       floats({1, 1, 3, 3}, {2.3636363, 3.590909, 4.818182, 7.2727275, 8.5, 9.727273, 12.181818, 13.409091, 14.636364})},
      {18, square(), kNone, ints({2}, {3, 3}), with(with(cubic, antialias), kAxes),
       floats({1, 1, 3, 3}, {1.7750092, 3.1200073, 4.4650054, 7.1550016, 8.5, 9.844998, 12.534994, 13.8799925, 15.224991})},
      {19, floats({1, 1, 1, 4}, {1, 2, 3, 4}), floats({4}, {1, 1, 1, 0.6}), kNone,
       with(linear, {{"coordinate_transformation_mode", "half_pixel_symmetric"}}), floats({1, 1, 1, 2}, {1.6666667, 3.3333333})},
      {19, pair, floats({4}, {1, 1, 2.3, 2.94}), kNone, with(linear, {{"coordinate_transformation_mode", "half_pixel_symmetric"}}),
       floats({1, 1, 4, 5},
              {1,          1.15986395, 1.5,        1.84013605, 2,          1.56521738, 1.72508133, 2.06521738, 2.40535343, 2.56521738,
               2.43478262, 2.59464657, 2.93478262, 3.27491867, 3.43478262, 3,          3.15986395, 3.5,        3.84013605, 4})},
      // 2x2 to at most 7x8, at least 7x8: one scale for both axes
      {18, pair, kNone, ints({2}, {3, 4}), with(kAxes, {{"keep_aspect_ratio_policy", "not_larger"}}),
       floats({1, 1, 3, 3}, {1, 1, 2, 1, 1, 2, 3, 3, 4})},
      {18, pair, kNone, ints({2}, {3, 4}), with(kAxes, {{"keep_aspect_ratio_policy", "not_smaller"}}),
       floats({1, 1, 4, 4}, {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4})},
      // axes in another order
      {18, pair, floats({2}, {1, 2}), kNone, {{"axes", std::vector<std::int64_t>{3, 2}}}, floats({1, 1, 4, 2}, {1, 2, 1, 2, 3, 4, 3, 4})},
      // integers: nearest takes them as they are
      {13, ints({1, 2}, {-7, 9}, DType::Int8), floats({2}, {2, 2}), kNone, {}, ints({2, 4}, {-7, -7, 9, 9, -7, -7, 9, 9}, DType::Int8)},
  };
  for (const ResizeCase& c : cases) expect_node({"Resize", c.opset, {c.x, kNone, c.scales, c.sizes}, c.attributes}, {c.y}, 1e-5, 1e-6);
}

TEST(OnnxResize, OldForms) {
  const Array x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Array wide = floats({1, 1, 2, 4}, {1, 1, 2, 2, 3, 3, 4, 4}), sloped = floats({1, 1, 2, 4}, {1, 1.5, 2, 2, 3, 3.5, 4, 4});
  const Array scales = floats({4}, {1, 1, 1, 2});
  expect_node({"Resize", 10, {x, scales}}, {wide});
  expect_node({"Resize", 10, {x, scales}, {{"mode", "linear"}}}, {sloped});
  expect_node({"Upsample", 9, {x, scales}, {{"mode", "linear"}}}, {sloped});
  expect_node({"Upsample", 7, {x}, {{"scales", std::vector<double>{1, 1, 1, 2}}}}, {wide});
}

// Before opset 11 nearest takes the element above where an axis shrinks: the example of opset 10's definition.
TEST(OnnxResize, NearestOfOpset10) {
  const Array x = floats({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  expect_node({"Resize", 10, {x, floats({4}, {1, 1, 0.6, 0.6})}}, {floats({1, 1, 1, 2}, {1, 3})});
  expect_node({"Resize", 10, {x, floats({4}, {1, 1, 2, 0.6})}}, {floats({1, 1, 4, 2}, {1, 3, 1, 3, 5, 7, 5, 7})});
  expect_node({"Resize",
               11,
               {x, kNone, floats({4}, {1, 1, 0.6, 0.6})},
               {{"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}},
              {floats({1, 1, 1, 2}, {1, 2})});
}

TEST(OnnxResize, AnAxisCanVanish) {
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    expect_node({"Resize", 18, {ints({1, 1}, {-1}, DType::Int8), kNone, floats({2}, {0.5, 2})}, {{"mode", mode}}},
                {ints({0, 2}, {}, DType::Int8)});
    expect_node({"Resize", 13, {floats({2, 0}, {}), kNone, floats({2}, {2, 2})}, {{"mode", mode}}}, {floats({4, 0}, {})});
  }
  expect_refused({"Resize", 13, {floats({2, 0}, {}), kNone, kNone, ints({2}, {2, 2})}}, "it makes 2 elements of 0");
}

// A weighted mean of equal numbers is that number, and truncation never makes a whole sum one less: for every type and coordinate mode.
TEST(OnnxResize, IntegersAreExact) {
  const DType types[] = {DType::Int8, DType::UInt8, DType::Int16, DType::UInt16, DType::Int32, DType::UInt32, DType::Int64, DType::UInt64};
  for (DType dtype : types) {
    for (const char* mode : {"linear", "cubic"}) {
      for (const char* coordinates : {"half_pixel", "align_corners", "half_pixel_symmetric"}) {
        for (std::int64_t antialias : {0, 1}) {
          for (std::int64_t size : {2, 13}) {
            const NodeModel node{"Resize",
                                 19,
                                 {ints({1, 3, 4}, Ints(12, 100), dtype), kNone, kNone, ints({3}, {1, size, 7})},
                                 {{"mode", mode}, {"coordinate_transformation_mode", coordinates}, {"antialias", antialias}}};
            const std::vector<Array> got = test::run_node(node);
            EXPECT_EQ(test::difference(got[0], ints({1, size, 7}, Ints(static_cast<std::size_t>(7 * size), 100), dtype), 0, 0), "")
                << name_of(dtype) << " " << mode << " " << coordinates << " antialias " << antialias << " size " << size;
          }
        }
      }
    }
  }
  const Attributes linear{{"mode", "linear"}}, pytorch = with(linear, {{"coordinate_transformation_mode", "pytorch_half_pixel"}});
  // At scale 0.6 the second element stands at 1.5 / 0.6 - 0.5 = 2.
  expect_node({"Resize", 13, {ints({1, 1, 4}, {-1, 4, -4, -2}, DType::Int32), kNone, floats({3}, {1, 1, 0.6})}, pytorch},
              {ints({1, 1, 2}, {0, -4}, DType::Int32)});
  // Linear cuts the fraction off (12.25, 17.5, -2.75), as ONNX Runtime does.
  expect_node({"Resize", 13, {ints({1, 2}, {-8, 13}, DType::Int8), kNone, kNone, ints({2}, {1, 4})}, linear},
              {ints({1, 4}, {-8, -2, 7, 13}, DType::Int8)});
  // Cubic rounds half to even and saturates, as ONNX's reference does: 127 beside -128 overshoots.
  expect_node({"Resize", 13, {ints({1, 4}, {-128, -128, 127, 127}, DType::Int8), kNone, kNone, ints({2}, {1, 8})}, {{"mode", "cubic"}}},
              {ints({1, 8}, {-128, -128, -128, -70, 69, 127, 127, 127}, DType::Int8)});
}

TEST(OnnxResize, RefusalsSayWhatIsWrong) {
  const Array x = square(), scales = floats({4}, {1, 1, 2, 2}), sizes = ints({4}, {1, 1, 2, 2});
  expect_refused({"Resize", 13, {x, kNone, scales, sizes}}, "it has both scales and sizes");
  expect_refused({"Resize", 13, {x, kNone, floats({4}, {1, 1, 1, 1e9})}}, "an axis of 4 elements becomes one of 4000000000");
  expect_refused({"Resize", 13, {x}}, "it has neither scales nor sizes");
  expect_refused({"Resize", 13, {x, kNone, scales}, {{"mode", "lanczos"}}}, "accepted are nearest, linear, bilinear, cubic");
  expect_refused({"Resize", 13, {x, kNone, scales}, {{"antialias", std::int64_t{1}}}}, "attribute antialias is not supported at opset 13");
  expect_refused({"Resize", 13, {x, kNone, floats({2}, {1, 1})}}, "its scales has 2 elements, it must have 4");
}

}  // namespace
}  // namespace etch::ops_resize_test
