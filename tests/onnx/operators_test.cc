// Operators in tables: expected values by hand from the operators' definitions, mainly for cases that the ONNX node tests of opset 17
// lack. Each row runs twice: with inputs that are known only when the model runs, and with constants.
#include "onnx/operators.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "onnx/builder.h"
#include "support/evaluate.h"

namespace etch::operators_test {
namespace {

using Ints = GraphBuilder::Ints;

Array f(std::vector<std::int64_t> shape, std::vector<double> values) { return Array::of_doubles(DType::Float32, std::move(shape), values); }
Array i64(Ints values) { return Array::of_ints(DType::Int64, {static_cast<std::int64_t>(values.size())}, values); }
Array i32(std::vector<std::int64_t> shape, Ints values) { return Array::of_ints(DType::Int32, std::move(shape), values); }
Array bools(std::vector<std::int64_t> shape, Ints values) { return Array::of_ints(DType::Bool, std::move(shape), values); }

struct Row {
  std::string op;
  int opset;
  OnnxAttributes attributes;
  std::vector<Array> inputs;
  int runtime;  // the first so many may be known only when the model runs; the rest are always constants
  std::vector<Array> outputs;
};

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

std::vector<Row> shape_rows() {
  return {
      {"Pad", 18, {}, {f({2, 2}, {1, 2, 3, 4}), i64({1, 2}), f({}, {9}), i64({1})}, 1, {f({2, 5}, {9, 1, 2, 9, 9, 9, 3, 4, 9, 9})}},
      {"Pad", 18, {{"mode", "reflect"}}, {f({1, 3}, {1, 2, 3}), i64({2, 1}), f({}, {0}), i64({-1})}, 1, {f({1, 6}, {3, 2, 1, 2, 3, 2})}},
      {"Pad", 18, {{"mode", "reflect"}}, {f({1, 3}, {1, 2, 3}), i64({0, 2, 0, 5})}, 1, {f({1, 10}, {3, 2, 1, 2, 3, 2, 1, 2, 3, 2})}},
      {"Pad", 19, {{"mode", "wrap"}}, {f({1, 3}, {1, 2, 3}), i64({0, 2, 0, 4})}, 1, {f({1, 9}, {2, 3, 1, 2, 3, 1, 2, 3, 1})}},
      {"Pad", 19, {{"mode", "edge"}}, {f({2, 2}, {1, 2, 3, 4}), i64({1, 0, 0, 2})}, 1, {f({3, 4}, {1, 2, 2, 2, 1, 2, 2, 2, 3, 4, 4, 4})}},
      {"Pad", 13, {}, {f({4}, {1, 2, 3, 4}), i64({-1, -2})}, 1, {f({1}, {2})}},
      {"Pad", 21, {}, {f({4}, {1, 2, 3, 4}), i64({-1, 1}), f({}, {7})}, 1, {f({4}, {2, 3, 4, 7})}},
      {"Pad", 7, {{"pads", Ints{1, 0}}, {"value", 5.0}}, {f({2}, {1, 2})}, 1, {f({3}, {5, 1, 2})}},
      {"Pad", 18, {}, {bools({2}, {1, 1}), i64({1, 0}), bools({}, {0})}, 1, {bools({3}, {0, 1, 1})}},
      {"Split", 18, {{"num_outputs", 2}}, {f({5}, {1, 2, 3, 4, 5})}, 1, {f({3}, {1, 2, 3}), f({2}, {4, 5})}},
      {"Split",
       18,
       {{"num_outputs", 4}},
       {f({7}, {1, 2, 3, 4, 5, 6, 7})},
       1,
       {f({2}, {1, 2}), f({2}, {3, 4}), f({2}, {5, 6}), f({1}, {7})}},
      {"Split", 13, {{"axis", -1}}, {f({1, 3}, {1, 2, 3}), i64({1, 2})}, 1, {f({1, 1}, {1}), f({1, 2}, {2, 3})}},
      {"Split", 11, {{"split", Ints{2, 1}}}, {f({3}, {1, 2, 3})}, 1, {f({2}, {1, 2}), f({1}, {3})}},
      {"Reshape", 21, {}, {f({2, 3}, {1, 2, 3, 4, 5, 6}), i64({0, -1, 1})}, 1, {f({2, 3, 1}, {1, 2, 3, 4, 5, 6})}},
      {"Reshape", 14, {{"allowzero", 1}}, {f({2, 3}, {1, 2, 3, 4, 5, 6}), i64({3, 2})}, 1, {f({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {"Shape", 15, {{"start", -2}, {"end", -1}}, {f({2, 3, 1}, {1, 2, 3, 4, 5, 6})}, 1, {i64({3})}},
      {"Shape", 21, {{"start", 1}}, {f({2, 3, 1}, {1, 2, 3, 4, 5, 6})}, 1, {i64({3, 1})}},
      {"Size", 19, {}, {f({2, 2}, {1, 2, 3, 4})}, 1, {Array::of_ints(DType::Int64, {}, Ints{4})}},
      {"Flatten", 21, {{"axis", -1}}, {f({2, 1, 2}, {1, 2, 3, 4})}, 1, {f({2, 2}, {1, 2, 3, 4})}},
      {"Flatten", 9, {{"axis", 0}}, {f({2, 2}, {1, 2, 3, 4})}, 1, {f({1, 4}, {1, 2, 3, 4})}},
      {"Unsqueeze", 13, {}, {f({2}, {1, 2}), i64({-1, 0})}, 1, {f({1, 2, 1}, {1, 2})}},
      {"Squeeze", 11, {{"axes", Ints{-1}}}, {f({1, 2, 1}, {1, 2})}, 1, {f({1, 2}, {1, 2})}},
      {"Squeeze", 21, {}, {f({1, 2, 1}, {1, 2})}, 1, {f({2}, {1, 2})}},
      {"Slice", 13, {}, {f({3}, {1, 2, 3}), i64({-1}), i64({kLowest}), i64({0}), i64({-1})}, 1, {f({3}, {3, 2, 1})}},
      {"Slice", 13, {}, {f({5}, {1, 2, 3, 4, 5}), i64({1}), i64({1000}), i64({-1}), i64({2})}, 1, {f({2}, {2, 4})}},
      {"Slice", 13, {}, {f({0, 3}, {}), i64({-1}), i64({kLowest}), i64({1}), i64({-2})}, 1, {f({0, 2}, {})}},
      {"Slice", 9, {{"starts", Ints{1}}, {"ends", Ints{-1}}}, {f({4}, {1, 2, 3, 4})}, 1, {f({2}, {2, 3})}},
      {"Gather", 13, {}, {f({3}, {1, 2, 3}), i64({-1, 0, 0})}, 2, {f({3}, {3, 1, 1})}},
      {"Gather", 13, {{"axis", 1}}, {f({2, 3}, {1, 2, 3, 4, 5, 6}), i32({2, 1}, {2, 1})}, 2, {f({2, 2, 1}, {3, 2, 6, 5})}},
      {"Tile", 13, {}, {f({1, 2}, {1, 2}), i64({2, 2})}, 1, {f({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})}},
      {"Expand", 13, {}, {f({2, 1}, {1, 2}), i64({1, 1, 2})}, 1, {f({1, 2, 2}, {1, 1, 2, 2})}},
      {"Concat", 13, {{"axis", -1}}, {f({1, 1}, {1}), f({1, 2}, {2, 3})}, 2, {f({1, 3}, {1, 2, 3})}},
      {"Transpose", 21, {{"perm", Ints{1, 0}}}, {i32({1, 2}, {1, 2})}, 1, {i32({2, 1}, {1, 2})}},
      {"Dropout", 13, {{"seed", 1}}, {f({2}, {1, 2})}, 1, {f({2}, {1, 2}), bools({2}, {1, 1})}},
      {"Dropout", 7, {{"ratio", 0.5}}, {f({2}, {1, 2})}, 1, {f({2}, {1, 2}), f({2}, {1, 1})}},
      {"Cast", 19, {{"to", 6}, {"saturate", 1}}, {f({3}, {1.7, -1.7, 0})}, 1, {i32({3}, {1, -1, 0})}},
      {"Cast", 13, {{"to", 9}}, {f({3}, {0.5, 0, -2})}, 1, {bools({3}, {1, 0, 1})}},
  };
}

std::vector<Row> math_rows() {
  return {
      {"Add", 14, {}, {i32({2, 1}, {1, 2}), i32({2}, {10, 20})}, 2, {i32({2, 2}, {11, 21, 12, 22})}},
      {"Div", 14, {}, {i32({4}, {-7, 7, -8, 9}), i32({4}, {2, -2, 4, 4})}, 2, {i32({4}, {-3, -3, -2, 2})}},
      {"Max", 13, {}, {f({2}, {1, 5}), f({1}, {3}), f({2}, {2, 9})}, 3, {f({2}, {3, 9})}},
      {"Min", 8, {}, {f({2}, {1, 5}), f({1}, {3})}, 2, {f({2}, {1, 3})}},
      {"Mean", 13, {}, {f({2}, {1, 5}), f({1}, {3}), f({2}, {2, 1})}, 3, {f({2}, {2, 3})}},
      {"Clip", 13, {}, {i32({3}, {-5, 0, 5}), i32({}, {-2}), i32({}, {3})}, 3, {i32({3}, {-2, 0, 3})}},
      {"Clip", 7, {{"max", 1.0}}, {f({2}, {-5, 5})}, 1, {f({2}, {-5, 1})}},
      {"MatMul", 13, {}, {f({2, 1, 2}, {1, 2, 3, 4}), f({2}, {10, 1})}, 2, {f({2, 1}, {12, 34})}},
      {"Einsum",
       12,
       {{"equation", "ij->i"}},
       {Array::of_ints(DType::Int8, {2, 2}, Ints{100, 27, 100, 28})},  // in the operands' type, so that sums wrap around
       1,
       {Array::of_ints(DType::Int8, {2}, Ints{127, -128})}},
      {"MatMul", 13, {}, {i32({1, 2}, {3, -4}), i32({2, 1}, {100000, 30000})}, 2, {i32({1, 1}, {180000})}},
      {"Gemm",
       13,
       {{"alpha", 2.0}, {"beta", 0.5}, {"transA", 1}},
       {f({2, 1}, {1, 2}), f({2, 2}, {1, 2, 3, 4}), f({1, 1}, {10})},
       3,
       {f({1, 2}, {19, 25})}},
      {"Gemm", 11, {{"transB", 1}}, {f({1, 2}, {1, 2}), f({2, 2}, {1, 2, 3, 4})}, 2, {f({1, 2}, {5, 11})}},
      {"Gemm", 7, {{"beta", 0.0}}, {f({1, 1}, {2}), f({1, 1}, {3}), f({1}, {100})}, 3, {f({1, 1}, {6})}},
      {"Softmax", 11, {}, {f({1, 2, 2}, {0, 0, 0, 0})}, 1, {f({1, 2, 2}, {0.25, 0.25, 0.25, 0.25})}},
      {"Softmax", 13, {{"axis", 1}}, {f({1, 2, 2}, {0, 0, 0, 0})}, 1, {f({1, 2, 2}, {0.5, 0.5, 0.5, 0.5})}},
      {"Softmax", 11, {{"axis", 2}}, {f({1, 2}, {7, 8})}, 1, {f({1, 2}, {1, 1})}},
      {"Softmax", 13, {}, {f({1, 2}, {1000, 1000})}, 1, {f({1, 2}, {0.5, 0.5})}},
      {"LogSoftmax", 13, {}, {f({1, 2}, {-1000, -1000})}, 1, {f({1, 2}, {-0.69314718, -0.69314718})}},
  };
}

std::vector<Row> pool_rows() {
  const Array x4 = f({1, 1, 4}, {1, 2, 3, 4});
  return {
      {"AveragePool", 19, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}, {x4}, 1, {f({1, 1, 2}, {2, 3})}},
      // ceil_mode: the third window has 4, one zero of the padding, and one place beyond it that does not count
      {"AveragePool",
       19,
       {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"ceil_mode", 1}, {"count_include_pad", 1}},
       {x4},
       1,
       {f({1, 1, 3}, {1, 3, 2})}},
      {"AveragePool",
       19,
       {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"ceil_mode", 1}},
       {x4},
       1,
       {f({1, 1, 3}, {1.5, 3, 4})}},
      {"AveragePool", 7, {{"kernel_shape", Ints{2}}, {"auto_pad", "SAME_UPPER"}}, {x4}, 1, {f({1, 1, 4}, {1.5, 2.5, 3.5, 4})}},
      {"MaxPool",
       12,
       {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", 1}},
       {f({1, 1, 5}, {-1, -2, -3, -4, -5})},
       1,
       {f({1, 1, 3}, {-1, -3, -5})}},
      {"MaxPool", 12, {{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}, {"pads", Ints{1, 0}}}, {x4}, 1, {f({1, 1, 2}, {3, 4})}},
      {"MaxPool",
       12,
       {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 0}}},
       {Array::of_ints(DType::Int8, {1, 1, 3}, Ints{-5, -7, -3})},
       1,
       {Array::of_ints(DType::Int8, {1, 1, 3}, Ints{-5, -5, -3})}},
      {"MaxPool",
       12,
       {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 0}}},
       {f({1, 2, 2, 2}, {1, 4, 3, 2, 5, 5, -1, -2})},
       1,
       {f({1, 2, 2, 1}, {4, 4, 5, 5}), Array::of_ints(DType::Int64, {1, 2, 2, 1}, Ints{1, 1, 4, 4})}},
      {"MaxPool",
       12,
       {{"kernel_shape", Ints{2, 2}}, {"storage_order", 1}},
       {f({1, 2, 2, 3}, {1, 2, 9, 3, 4, 8, 7, 0, 0, 0, 0, 6})},
       1,
       {f({1, 2, 1, 2}, {4, 9, 7, 6}), Array::of_ints(DType::Int64, {1, 2, 1, 2}, Ints{3, 4, 6, 11})}},
      {"LpPool", 18, {{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}}, {f({1, 1, 4}, {3, 5, 4, 12})}, 1, {f({1, 1, 2}, {5, 13})}},
      {"LpPool",
       18,
       {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", 1}},
       {f({1, 1, 3}, {3, -4, -6})},
       1,
       {f({1, 1, 2}, {5, 6})}},
      {"LpPool", 11, {{"kernel_shape", Ints{2}}, {"p", 1}}, {f({1, 1, 3}, {3, -4, -6})}, 1, {f({1, 1, 2}, {7, 10})}},
      {"GlobalLpPool", 13, {}, {f({1, 1, 2}, {3, -4})}, 1, {f({1, 1, 1}, {5})}},
      {"GlobalLpPool", 7, {{"p", 1}}, {f({1, 1, 2}, {3, -4})}, 1, {f({1, 1, 1}, {7})}},
      {"GlobalMaxPool", 13, {}, {f({1, 1, 2, 1}, {-3, -4})}, 1, {f({1, 1, 1, 1}, {-3})}},
  };
}

std::vector<Row> conv_rows() {
  const Array x4 = f({1, 1, 4}, {1, 2, 3, 4}), x2 = f({1, 1, 2}, {1, 2});
  return {
      {"Conv", 11, {{"auto_pad", "SAME_LOWER"}}, {x4, f({1, 1, 2}, {1, 1})}, 2, {f({1, 1, 4}, {1, 3, 5, 7})}},
      {"Conv", 11, {{"auto_pad", "SAME_UPPER"}}, {x4, f({1, 1, 2}, {1, 1})}, 2, {f({1, 1, 4}, {3, 5, 7, 4})}},
      {"Conv",
       11,
       {{"auto_pad", "VALID"}, {"dilations", Ints{2}}},
       {x4, f({1, 1, 2}, {1, 10}), f({1}, {100})},
       3,
       {f({1, 1, 2}, {131, 142})}},
      {"Conv",
       11,
       {{"group", 2}, {"pads", Ints{0, 1}}},
       {f({1, 2, 2}, {1, 2, 3, 4}), f({2, 1, 2}, {1, 10, 2, 20})},
       2,
       {f({1, 2, 2}, {21, 2, 86, 8})}},
      {"ConvTranspose",
       11,
       {{"strides", Ints{2}}, {"output_shape", Ints{5}}},
       {x2, f({1, 1, 2}, {1, 1})},
       2,
       {f({1, 1, 5}, {1, 1, 2, 2, 0})}},
      {"ConvTranspose",
       11,
       {{"strides", Ints{2}}, {"auto_pad", "SAME_UPPER"}},
       {x2, f({1, 1, 3}, {1, 1, 1})},
       2,
       {f({1, 1, 4}, {1, 1, 3, 2})}},
      {"ConvTranspose",
       11,
       {{"strides", Ints{2}}, {"auto_pad", "SAME_LOWER"}},
       {x2, f({1, 1, 3}, {1, 1, 1})},
       2,
       {f({1, 1, 4}, {1, 3, 2, 2})}},
      {"ConvTranspose",
       11,
       {{"group", 2}},
       {f({1, 2, 1}, {1, 2}), f({2, 1, 2}, {1, 10, 2, 20}), f({2}, {0, 100})},
       3,
       {f({1, 2, 2}, {1, 10, 104, 140})}},
      {"ConvTranspose",
       11,
       {{"dilations", Ints{2}}, {"output_padding", Ints{1}}, {"strides", Ints{2}}, {"pads", Ints{1, 0}}},
       {x2, f({1, 1, 2}, {1, 10})},
       2,
       {f({1, 1, 5}, {0, 12, 0, 20, 0})}},
  };
}

std::vector<Row> norm_rows() {
  const Array g = f({1, 4, 2}, {1, 3, 1, 3, 0, 4, 0, 4});
  const std::pair<std::string, OnnxAttribute> exact = {"epsilon", 0.0};
  return {
      {"GroupNormalization",
       18,
       {{"num_groups", 2}, exact},
       {g, f({2}, {1, 2}), f({2}, {0, 1})},
       3,
       {f({1, 4, 2}, {-1, 1, -1, 1, -1, 3, -1, 3})}},
      {"GroupNormalization",
       21,
       {{"num_groups", 2}, exact},
       {g, f({4}, {1, 2, 3, 4}), f({4}, {0, 0, 1, 1})},
       3,
       {f({1, 4, 2}, {-1, 1, -2, 2, -2, 4, -3, 5})}},
      {"LayerNormalization",
       17,
       {exact},
       {f({2, 2}, {1, 3, 0, 4}), f({2}, {2, 1}), f({2}, {0, 1})},
       3,
       {f({2, 2}, {-2, 2, -2, 2}), f({2, 1}, {2, 2}), f({2, 1}, {1, 0.5})}},
      {"InstanceNormalization", 7, {exact}, {f({1, 1, 2}, {0, 4}), f({1}, {2}), f({1}, {1})}, 3, {f({1, 1, 2}, {-1, 3})}},
      {"BatchNormalization",
       15,
       {exact},
       {f({1, 2, 1}, {3, 5}), f({2}, {1, 2}), f({2}, {0, 1}), f({2}, {1, 1}), f({2}, {4, 16})},
       5,
       {f({1, 2, 1}, {1, 3})}},
      {"BatchNormalization",
       7,
       {exact, {"momentum", 0.5}, {"spatial", 1}},
       {f({1, 1}, {3}), f({1}, {1}), f({1}, {0}), f({1}, {1}), f({1}, {4})},
       5,
       {f({1, 1}, {1})}},
      {"LpNormalization", 7, {{"p", 1}}, {f({1, 2}, {-1, 3})}, 1, {f({1, 2}, {-0.25, 0.75})}},
      {"LpNormalization", 21, {{"p", 1}}, {f({2, 2}, {0, 0, 1, 3})}, 1, {f({2, 2}, {0, 0, 0.25, 0.75})}},
      {"LpNormalization", 7, {}, {f({2, 2}, {0, 0, 3, 4})}, 1, {f({2, 2}, {0, 0, 0.6, 0.8})}},
      {"LpNormalization", 21, {{"axis", 0}}, {f({2, 1}, {-3, 4})}, 1, {f({2, 1}, {-0.6, 0.8})}},
      {"MeanVarianceNormalization", 13, {}, {f({1, 1, 1, 2}, {1, 3})}, 1, {f({1, 1, 1, 2}, {-1, 1})}},
      {"LRN",
       13,
       {{"size", 3}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}},
       {f({1, 3, 1}, {1, 2, 3})},
       1,
       {f({1, 3, 1}, {1.0 / 6, 2.0 / 15, 3.0 / 14})}},
      // an even window reaches further to the following channels
      {"LRN",
       13,
       {{"size", 2}, {"alpha", 2.0}, {"beta", 1.0}, {"bias", 1.0}},
       {f({1, 3, 1}, {1, 2, 3})},
       1,
       {f({1, 3, 1}, {1.0 / 6, 2.0 / 14, 3.0 / 10})}},
      {"Relu", 14, {}, {i32({2}, {-1, 2})}, 1, {i32({2}, {0, 2})}},
  };
}

std::vector<Array> run(const Row& row, int runtime) {
  GraphBuilder g("row", row.opset);
  std::vector<std::string> inputs, outputs;
  std::map<std::string, Array> values;
  for (std::size_t i = 0; i < row.inputs.size(); i++) {
    inputs.push_back("x" + std::to_string(i));
    const Array& array = row.inputs[i];
    if (static_cast<int>(i) < runtime)
      g.input(inputs.back(), array.dtype(), std::vector<OnnxDim>(array.shape().begin(), array.shape().end()));
    else
      g.initializer(inputs.back(), array);
    values[inputs.back()] = array;
  }
  for (std::size_t i = 0; i < row.outputs.size(); i++) {
    const Array& array = row.outputs[i];
    outputs.push_back("y" + std::to_string(i));
    g.output(outputs.back(), array.dtype(), std::vector<OnnxDim>(array.shape().begin(), array.shape().end()));
  }
  g.node_with_outputs(row.op, inputs, outputs, row.attributes);
  return test::evaluate_model(import_onnx({.bytes = g.bytes()}), values);
}

void check_rows(const std::vector<Row>& rows) {
  for (std::size_t n = 0; n < rows.size(); n++) {
    for (int runtime : {rows[n].runtime, 0}) {
      SCOPED_TRACE(rows[n].op + " at opset " + std::to_string(rows[n].opset) + ", row " + std::to_string(n) +
                   (runtime ? "" : ", constants"));
      try {
        const std::vector<Array> got = run(rows[n], runtime);
        for (std::size_t i = 0; i < got.size(); i++)
          EXPECT_EQ(test::difference(got[i], rows[n].outputs[i], 1e-5, 1e-6), "") << "output " << i;
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
}

TEST(Operators, Shape) { check_rows(shape_rows()); }
TEST(Operators, Math) { check_rows(math_rows()); }
TEST(Operators, Pools) { check_rows(pool_rows()); }
TEST(Operators, Convolutions) { check_rows(conv_rows()); }
TEST(Operators, Normalisation) { check_rows(norm_rows()); }

}  // namespace
}  // namespace etch::operators_test
