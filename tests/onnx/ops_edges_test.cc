// Values at the edges: padding that equals the largest element, -0.0, integers of 64 bits, sizes of damaged files. The expected
// numbers follow from ONNX's definitions, by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "onnx/builder.h"
#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using test::NodeModel;

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min(), kMax = std::numeric_limits<std::int64_t>::max();

/// Like expect_node but compares bits: 0.0 is not -0.0.
void expect_bits(NodeModel m, const std::vector<Array>& wanted) {
  expect_node(m, wanted);
  m.outputs = static_cast<int>(wanted.size());
  for (std::size_t from : {m.constants_from, std::size_t{0}}) {
    m.constants_from = from;
    const std::vector<Array> got = test::run_node(m);
    for (std::size_t i = 0; i < wanted.size(); i++)
      for (std::int64_t k = 0; k < wanted[i].size(); k++)
        EXPECT_EQ(got[i].at(k).to_text(), wanted[i].at(k).to_text()) << m.op << " output " << i << " element " << k;
  }
}

TEST(OnnxEdges, MaxPoolNeverPointsAtPadding) {
  const Attributes two{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  const auto nine = [](std::int64_t v, DType dtype) { return ints({1, 1, 3, 3}, Ints(9, v), dtype); };
  const auto four = [](std::int64_t v, DType dtype) { return ints({1, 1, 2, 2}, Ints(4, v), dtype); };
  const Array places = ints({1, 1, 2, 2}, {0, 1, 3, 4});
  expect_node({"MaxPool", 12, {nine(0, DType::UInt8)}, two}, {four(0, DType::UInt8), places});
  expect_node({"MaxPool", 12, {nine(-128, DType::Int8)}, two}, {four(-128, DType::Int8), places});
  const Array lowest = floats({1, 1, 3}, {-INFINITY, -INFINITY, 1});
  const Attributes line{{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}};
  expect_node({"MaxPool", 12, {lowest}, line}, {floats({1, 1, 4}, {-INFINITY, -INFINITY, 1, 1}), ints({1, 1, 4}, {0, 0, 2, 2})});
  expect_node({"MaxPool", 12, {floats({1, 1, 3}, {2, NAN, 1})}, line},
              {floats({1, 1, 4}, {2, NAN, NAN, 1}), ints({1, 1, 4}, {0, 1, 1, 2})});
  expect_node({"MaxPool", 12, {nine(0, DType::UInt8)}, {two[0], two[1], two[2], {"storage_order", std::int64_t{1}}}},
              {four(0, DType::UInt8), ints({1, 1, 2, 2}, {0, 3, 1, 4})});
}

TEST(OnnxEdges, ZerosHaveSigns) {
  expect_bits({"Abs", 13, {floats({3}, {-0.0, 0.0, -1})}}, {floats({3}, {0.0, 0.0, 1})});
  expect_bits({"Sign", 13, {floats({3}, {-0.0, 0.0, -2})}}, {floats({3}, {0.0, 0.0, -1})});
  expect_bits({"Pad", 13, {floats({1}, {-0.0}), ints({2}, {1, 1}), floats({}, {-0.0})}}, {floats({3}, {-0.0, -0.0, -0.0})});
}

/// Each selected element is unchanged whatever the other elements are, also if the index is known only when the model runs.
TEST(OnnxEdges, WhatAnIndexTakesKeepsItsBits) {
  for (DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    const Array x = floats({5}, {-0.0, NAN, INFINITY, 1, -INFINITY}, dtype), wanted = floats({4}, {INFINITY, -0.0, 1, NAN}, dtype);
    const Array places = ints({4}, {2, 0, -2, -4});
    expect_bits({"Gather", 13, {x, places}, {}, 1, 2}, {wanted});
    expect_bits({"GatherElements", 13, {x, places}, {}, 1, 2}, {wanted});
    expect_bits({"GatherND", 13, {x, ints({2, 1}, {0, 3})}, {}, 1, 2}, {floats({2}, {-0.0, 1}, dtype)});
    const Array line = floats({4}, {-0.0, -1, INFINITY, -INFINITY}, dtype);
    expect_bits({"TopK", 24, {line, ints({1}, {3})}}, {floats({3}, {INFINITY, -0.0, -1}, dtype), ints({3}, {2, 0, 1})});
    expect_bits({"ScatterElements", 18, {floats({2}, {-0.0, 7}, dtype), ints({1}, {1}), floats({1}, {-0.0}, dtype)}, {}, 1, 3},
                {floats({2}, {-0.0, -0.0}, dtype)});
  }
}

/// One element of a padded tensor that is padding and one that is not, as tensors without axes.
TEST(OnnxEdges, OneElementOfAPaddedTensor) {
  GraphBuilder g("n", 13);
  const auto x = g.input("x0", DType::Float32, {2});
  const auto pads = g.ints("pads", {3, 2});
  for (const char* mode : {"constant", "edge"}) {
    const auto padded = g.node("Pad", {x, pads}, {{"mode", mode}});
    for (std::int64_t i : {0, 3, 4, 6}) {
      const std::string name = mode + std::to_string(i);
      const auto index = g.initializer(name, Array::scalar(Scalar::of_int(DType::Int64, i)));
      g.output(g.node("Gather", {padded, index}), DType::Float32, {});
    }
  }
  const auto got = test::evaluate_model(import_onnx({.bytes = g.bytes(), .name = "n"}), {{"x0", floats({2}, {5, 7})}});
  const std::vector<double> wanted{0, 5, 7, 0, 5, 5, 7, 7};
  for (std::size_t k = 0; k < wanted.size(); k++) EXPECT_EQ(got.at(k).double_at(0), wanted[k]) << k;
}

TEST(OnnxEdges, IntegersOf64Bits) {
  const std::int64_t odd = (std::int64_t{1} << 53) + 1;
  expect_node({"Pad", 13, {ints({2}, {1, kMin}), ints({2}, {1, 2}), ints({}, {odd})}}, {ints({5}, {odd, 1, kMin, odd, odd})});
  expect_node({"Pad", 13, {ints({1}, {1}, DType::UInt64), ints({2}, {0, 1}), ints({}, {-1}, DType::UInt64)}},
              {ints({2}, {1, -1}, DType::UInt64)});
  // 2^53 + 2^29 + 1, just above halfway between two floats: 2^53 + 2^30; by way of double it would be 2^53.
  const Array halfway = ints({1}, {9007199791611905});
  expect_node({"Cast", 13, {halfway}, {{"to", std::int64_t{1}}}}, {floats({1}, {9007200328482816.0})}, 0, 0);
  expect_node({"Cast", 13, {ints({1}, {9007199791611905}, DType::UInt64)}, {{"to", std::int64_t{1}}}}, {floats({1}, {9007200328482816.0})},
              0, 0);
  // 2^24 + 2^16 + 1 is 2^24 + 2^16 as float32, which lies halfway between two numbers of bfloat16.
  const std::vector<Array> bfloat = test::run_node({"Cast", 13, {ints({1}, {16842753}, DType::Int32)}, {{"to", std::int64_t{16}}}});
  EXPECT_EQ(bfloat[0].double_at(0), 16777216.0);
}

TEST(OnnxEdges, EmptyTensorsKeepTypeAndShape) {
  const Array none = ints({0, 3}, {}, DType::Int32);
  expect_node({"Cast", 13, {none}, {{"to", std::int64_t{1}}}}, {floats({0, 3}, {})});
  expect_node({"Relu", 14, {none}}, {none});
  expect_node({"Identity", 13, {none}}, {none});
  expect_node({"BitShift", 11, {ints({0}, {}, DType::UInt8), ints({0}, {}, DType::UInt8)}, {{"direction", "LEFT"}}},
              {ints({0}, {}, DType::UInt8)});
  expect_node({"ReduceSum", 13, {none, ints({1}, {0})}, {{"keepdims", std::int64_t{0}}}}, {ints({3}, {0, 0, 0}, DType::Int32)});
}

TEST(OnnxEdges, StepsAndDiagonalsBeyondTheTensor) {
  const Array x = ints({2, 3}, {1, 2, 3, 4, 5, 6}), none = ints({2, 3}, {0, 0, 0, 0, 0, 0});
  const auto slice = [&](std::int64_t start, std::int64_t end, std::int64_t step) {
    return NodeModel{"Slice", 13, {x, ints({1}, {start}), ints({1}, {end}), ints({1}, {1}), ints({1}, {step})}};
  };
  expect_node(slice(0, kMax, kMax), {ints({2, 1}, {1, 4})});
  expect_node(slice(kMax, kMin, kMin), {ints({2, 1}, {3, 6})});
  expect_node(slice(1, kMax, kMax - 1), {ints({2, 1}, {2, 5})});
  expect_node(slice(-1, kMin, -2), {ints({2, 2}, {3, 1, 6, 4})});
  const Attributes lower{{"upper", std::int64_t{0}}};
  for (std::int64_t k : {std::int64_t{4}, std::int64_t{1} << 32, kMax}) {
    expect_node({"Trilu", 14, {x, ints({}, {k})}}, {none});
    expect_node({"Trilu", 14, {x, ints({}, {-k})}}, {x});
    expect_node({"Trilu", 14, {x, ints({}, {k})}, lower}, {x});
    expect_node({"Trilu", 14, {x, ints({}, {-k})}, lower}, {none});
  }
  expect_node({"Trilu", 14, {x, ints({}, {kMin})}}, {x});
  expect_node({"Range", 11, {ints({}, {0}), ints({}, {10}), ints({}, {kMin})}, {}, 1, 0}, {ints({0}, {})});
  expect_node({"Range", 11, {ints({}, {0}), ints({}, {kMin}), ints({}, {kMin})}, {}, 1, 0}, {ints({1}, {0})});
  expect_node({"Range", 11, {ints({}, {kMin}), ints({}, {kMax}), ints({}, {kMax})}, {}, 1, 0}, {ints({3}, {kMin, -1, kMax - 1})});
}

TEST(OnnxEdges, HostileSizesNameTheNode) {
  const Array x = floats({4, 4}, std::vector<double>(16, 1));
  constexpr std::int64_t k40 = std::int64_t{1} << 40, k62 = std::int64_t{1} << 62;
  const struct {
    NodeModel node;
    const char* text;
  } kRows[] = {
      {{"Reshape", 13, {x, ints({3}, {k40, k40, -1})}}, "do not fit into 64 bits"},
      {{"Reshape", 13, {x, ints({2}, {k40, k40})}}, "do not fit into 64 bits"},
      {{"Reshape", 13, {x, ints({2}, {k40, 1})}}, "2^31"},
      {{"Tile", 13, {x, ints({2}, {k62, k62})}}, "repeats is [4611686018427387904"},
      {{"Tile", 13, {x, ints({2}, {1 << 30, 1 << 30})}}, "2^31"},
      {{"Range", 11, {ints({}, {kMin}), ints({}, {kMax}), ints({}, {1})}, {}, 1, 0}, "it makes 18446744073709551615 elements"},
      {{"Col2Im", 18, {floats({1, 4, 9}, std::vector<double>(36, 1)), ints({2}, {k62, k62}), ints({2}, {2, 2})}}, "2^31"},
      {{"Col2Im", 18, {floats({1, 4, 9}, std::vector<double>(36, 1)), ints({2}, {4, 4}), ints({2}, {k62, k62})}}, "2^31"},
      {{"CenterCropPad", 18, {x, ints({2}, {kMax, kMax})}}, "do not fit into 64 bits"},
      {{"Split", 13, {x, ints({3}, {kMax, kMax, 6})}, {}, 3}, "their sum is that of axis 0: 4"},
      {{"Split", 13, {x, ints({2}, {3, 2})}, {}, 2}, "their sum is that of axis 0: 4"},
      {{"Resize", 18, {x, Array(), floats({2}, {2, 2})}, {{"axes", Ints{1, -1}}}}, "names one axis twice"},
      {{"Clip", 7, {ints({2}, {1, 2}, DType::Int32)}, {{"min", 0.5}, {"max", 2.5}}}, "from opset 12 on it takes int32"},
  };
  for (const auto& row : kRows) {
    SCOPED_TRACE(row.node.op);
    expect_refused(row.node, row.text);
    try {
      test::run_node(row.node);
    } catch (const UserError& error) {
      EXPECT_EQ(error.where(), "model: node 'n' (" + row.node.op + ")") << error.what();
    }
  }
  NodeModel nothing{"Split", 13, {x}};
  nothing.outputs = 0;
  expect_refused(nothing, "0 parts");
}

}  // namespace
}  // namespace etch
