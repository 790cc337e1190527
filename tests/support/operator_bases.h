// For tests: a valid node for each operator of operators.def, which tests then modify.
#pragma once

#include <string>
#include <vector>

#include "onnx/operators.h"
#include "support/node_model.h"

namespace etch::test {

using Sizes = std::vector<std::int64_t>;

/// Numbers from -1 to 1.
inline Array ramp(const Sizes& shape, DType dtype = DType::Float32) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(static_cast<double>(i * 7 % 11 - 5) / 5);
  return floats(shape, values, dtype);
}

/// 0, 1, 2 and again, up to `limit`.
inline Array counts(const Sizes& shape, std::int64_t limit = 3, DType dtype = DType::Int64) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(i % limit);
  return ints(shape, values, dtype);
}

inline Array list(std::vector<std::int64_t> values) { return ints({static_cast<std::int64_t>(values.size())}, values); }
inline Array scales(std::vector<double> values) { return floats({static_cast<std::int64_t>(values.size())}, values); }
inline Array integer(std::int64_t value) { return ints({}, {value}); }

inline void add_elementwise(std::vector<NodeModel>& bases) {
  for (const char* op : {"Abs",   "Acos",  "Acosh",    "Asin",          "Asinh",    "Atan",     "Atanh",
                         "Ceil",  "Cos",   "Cosh",     "Erf",           "Exp",      "Floor",    "Log",
                         "Neg",   "Relu",  "Mish",     "HardSwish",     "Sign",     "Sigmoid",  "Reciprocal",
                         "Round", "Sin",   "Sinh",     "Sqrt",          "Softplus", "Softsign", "Tan",
                         "Tanh",  "IsNaN", "Identity", "GlobalMaxPool", "Shape",    "Size",     "GlobalAveragePool"})
    bases.push_back({op, 28, {ramp({2, 3, 4})}});
  for (const char* op : {"Add", "Div", "Mul", "Sub", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "PRelu", "Pow"})
    bases.push_back({op, 28, {ramp({2, 3, 4}), ramp({3, 1})}, {}, 1, 2});
  for (const char* op : {"Max", "Mean", "Min", "Sum"}) bases.push_back({op, 28, {ramp({2, 3}), ramp({3}), ramp({1, 1})}, {}, 1, 3});
  for (const char* op : {"And", "Or", "Xor"})
    bases.push_back({op, 28, {counts({2, 3}, 2, DType::Bool), counts({3}, 2, DType::Bool)}, {}, 1, 2});
  for (const char* op : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"})
    bases.push_back({op, 28, {counts({2, 3}, 9, DType::Int32), counts({3}, 5, DType::Int32)}, {}, 1, 2});
  const std::vector<NodeModel> more = {
      {"NonZero", 28, {ramp({2, 3})}, {}, 1, 0},
      {"Not", 28, {counts({2, 3}, 2, DType::Bool)}},
      {"BitwiseNot", 28, {counts({2, 3}, 9, DType::Int32)}},
      {"BitShift", 28, {counts({2, 3}, 9, DType::UInt8), counts({3}, 5, DType::UInt8)}, {{"direction", "LEFT"}}, 1, 2},
      {"Mod", 28, {counts({2, 3}, 9, DType::Int32), counts({3}, 5, DType::Int32)}, {}, 1, 2},
      {"Mod", 13, {ramp({2, 3}), ramp({3})}, {{"fmod", 1}}, 1, 2},
      {"Where", 28, {counts({2, 1}, 2, DType::Bool), ramp({3}), ramp({2, 3})}, {}, 1, 3},
      {"Cast", 28, {ramp({2, 3})}, {{"to", 7}, {"saturate", 1}, {"round_mode", "up"}}},
      {"CastLike", 28, {ramp({2, 3}), counts({1})}, {{"saturate", 1}, {"round_mode", "up"}}, 1, 2},
      {"Celu", 28, {ramp({2, 3})}, {{"alpha", 2.0}}},
      {"Clip", 28, {ramp({2, 3}), floats({}, {-0.5}), floats({}, {0.5})}},
      {"Clip", 7, {ramp({2, 3})}, {{"min", -0.5}, {"max", 0.5}}},
      {"Elu", 28, {ramp({2, 3})}, {{"alpha", 2.0}}},
      {"Gelu", 28, {ramp({2, 3})}, {{"approximate", "tanh"}}},
      {"HardSigmoid", 28, {ramp({2, 3})}, {{"alpha", 0.3}, {"beta", 0.4}}},
      {"IsInf", 28, {ramp({2, 3})}, {{"detect_negative", 1}, {"detect_positive", 0}}},
      {"LeakyRelu", 28, {ramp({2, 3})}, {{"alpha", 0.1}}},
      {"Selu", 28, {ramp({2, 3})}, {{"alpha", 1.5}, {"gamma", 1.1}}},
      {"Shrink", 28, {ramp({2, 3})}, {{"bias", 0.1}, {"lambd", 0.5}}},
      {"ThresholdedRelu", 28, {ramp({2, 3})}, {{"alpha", 0.5}}},
      {"Dropout", 28, {ramp({2, 3}), floats({}, {0.5}), ints({}, {0}, DType::Bool)}, {{"seed", 1}}, 2},
      {"Dropout", 7, {ramp({2, 3})}, {{"ratio", 0.5}}},
  };
  bases.insert(bases.end(), more.begin(), more.end());
}

inline void add_movements(std::vector<NodeModel>& bases) {
  const std::vector<NodeModel> rows = {
      {"Concat", 28, {ramp({2, 3}), ramp({2, 2})}, {{"axis", 1}}, 1, 2},
      {"Constant", 28, {}, {{"value_floats", std::vector<double>{1, 2}}}},
      {"Constant", 28, {}, {{"value", ramp({2, 3})}}},
      {"ConstantOfShape", 28, {list({2, 3})}, {{"value", floats({1}, {2})}}, 1, 0},
      {"Expand", 28, {ramp({2, 1, 4}), list({3, 1})}},
      {"Flatten", 28, {ramp({2, 3, 4})}, {{"axis", 2}}},
      {"Reshape", 28, {ramp({2, 3, 4}), list({0, -1})}, {{"allowzero", 0}}},
      {"Shape", 28, {ramp({2, 3, 4})}, {{"start", 1}, {"end", -1}}},
      {"Split", 28, {ramp({2, 5}), list({2, 3})}, {{"axis", 1}}, 2},
      {"Split", 28, {ramp({2, 5})}, {{"axis", 1}, {"num_outputs", 3}}, 3},
      {"Split", 11, {ramp({2, 5})}, {{"axis", 1}, {"split", Sizes{2, 3}}}, 2},
      {"Squeeze", 28, {ramp({2, 1, 4}), list({1})}},
      {"Squeeze", 11, {ramp({2, 1, 4})}, {{"axes", Sizes{1}}}},
      {"Tile", 28, {ramp({2, 3}), list({2, 2})}},
      {"Transpose", 28, {ramp({2, 3, 4})}, {{"perm", Sizes{2, 0, 1}}}},
      {"Unsqueeze", 28, {ramp({2, 4}), list({0, -1})}},
      {"Unsqueeze", 11, {ramp({2, 4})}, {{"axes", Sizes{0, 2}}}},
      {"Gather", 28, {ramp({4, 3}), counts({2, 2})}, {{"axis", 0}}, 1, 2},
      {"Gather", 28, {ramp({4, 3}), list({1, -1})}, {{"axis", 1}}},
      {"Pad", 28, {ramp({3, 4}), list({1, 0, 2, 1}), floats({}, {2}), Array()}, {{"mode", "constant"}}},
      {"Pad", 28, {ramp({3, 4}), list({1, 2}), Array(), list({-1})}, {{"mode", "reflect"}}},
      {"Pad", 28, {ramp({3, 4}), list({1, 2}), Array(), list({1})}, {{"mode", "wrap"}}},
      {"Pad", 7, {ramp({3, 4})}, {{"mode", "edge"}, {"pads", Sizes{1, 0, -1, 1}}, {"value", 1.0}}},
      {"Slice", 28, {ramp({4, 5}), list({1, -1}), list({4, -6}), list({0, 1}), list({2, -1})}},
      {"Slice", 7, {ramp({4, 5})}, {{"axes", Sizes{0, 1}}, {"starts", Sizes{1, -3}}, {"ends", Sizes{3, 1000}}}},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_selections(std::vector<NodeModel>& bases) {
  const std::vector<NodeModel> rows = {
      {"CenterCropPad", 28, {ramp({4, 5}), list({6, 3})}, {{"axes", Sizes{0, 1}}}},
      {"DepthToSpace", 28, {ramp({1, 8, 2, 3})}, {{"blocksize", 2}, {"mode", "CRD"}}},
      {"SpaceToDepth", 28, {ramp({1, 2, 4, 6})}, {{"blocksize", 2}, {"mode", "DCR"}}},
      {"Compress", 28, {ramp({3, 2}), ints({3}, {1, 0, 1}, DType::Bool)}, {{"axis", 0}}},
      {"EyeLike", 28, {ramp({3, 4})}, {{"dtype", 1}, {"k", 1}}},
      {"GatherElements", 28, {ramp({3, 4}), counts({3, 4})}, {{"axis", 0}}, 1, 2},
      {"GatherND", 28, {ramp({2, 3, 4}), counts({2, 1}, 2)}, {{"batch_dims", 1}}, 1, 2},
      {"OneHot", 28, {counts({2, 3}), integer(4), floats({2}, {0, 1})}, {{"axis", 1}}},
      {"Range", 28, {integer(1), integer(9), integer(3)}, {{"stash_type", 1}}, 1, 0},
      {"ReverseSequence", 28, {ramp({4, 3, 2}), counts({3}, 4)}, {{"batch_axis", 1}, {"time_axis", 0}}, 1, 2},
      {"TopK", 28, {ramp({3, 5}), list({2})}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2},
      {"TopK", 28, {ramp({3, 40}), list({7})}, {{"axis", 1}, {"largest", 0}, {"sorted", 1}}, 2},
      {"TopK", 7, {ramp({3, 5})}, {{"axis", -1}, {"k", 2}}, 2},
      {"Trilu", 28, {ramp({3, 4}), integer(1)}, {{"upper", 0}}},
      {"MaxUnpool",
       28,
       {ramp({1, 1, 2, 2}), ints({1, 1, 2, 2}, {5, 7, 13, 15})},
       {{"kernel_shape", Sizes{2, 2}}, {"pads", Sizes{0, 0, 0, 0}}, {"strides", Sizes{2, 2}}},
       1,
       2},
      {"Scatter", 9, {ramp({3, 4}), counts({2, 4}), ramp({2, 4})}, {{"axis", 0}}, 1, 3},
      {"ScatterElements", 28, {ramp({3, 4}), counts({2, 4}), ramp({2, 4})}, {{"axis", 0}, {"reduction", "add"}}, 1, 3},
      {"ScatterND", 28, {ramp({4, 3}), counts({2, 1}), ramp({2, 3})}, {{"reduction", "max"}}, 1, 3},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_resizes(std::vector<NodeModel>& bases) {
  const std::vector<NodeModel> rows = {
      {"Resize",
       28,
       {ramp({1, 2, 3, 4}), Array(), scales({1, 1, 2, 1.5})},
       {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel"}, {"antialias", 0}, {"exclude_outside", 0}}},
      {"Resize",
       28,
       {ramp({1, 2, 3, 4}), Array(), Array(), list({5, 2})},
       {{"mode", "cubic"}, {"cubic_coeff_a", -0.5}, {"axes", Sizes{2, 3}}, {"keep_aspect_ratio_policy", "stretch"}}},
      {"Resize",
       28,
       {ramp({1, 1, 4, 4}), floats({8}, {0, 0, 0.1, 0.2, 1, 1, 0.8, 0.7}), Array(), list({1, 1, 3, 3})},
       {{"mode", "nearest"},
        {"nearest_mode", "ceil"},
        {"coordinate_transformation_mode", "tf_crop_and_resize"},
        {"extrapolation_value", 2.0}}},
      {"Resize", 10, {ramp({1, 2, 3, 4}), scales({1, 1, 2, 2})}, {{"mode", "nearest"}}},
      {"Upsample", 9, {ramp({1, 2, 3, 4}), scales({1, 1, 2, 2})}, {{"mode", "linear"}}},
      {"Upsample", 7, {ramp({1, 2, 3, 4})}, {{"mode", "nearest"}, {"scales", std::vector<double>{1, 1, 2, 2}}}},
      {"Col2Im",
       28,
       {ramp({1, 4, 9}), list({4, 4}), list({2, 2})},
       {{"dilations", Sizes{1, 1}}, {"pads", Sizes{0, 0, 0, 0}}, {"strides", Sizes{1, 1}}}},
      {"AffineGrid", 28, {ramp({1, 2, 3}), list({1, 1, 3, 4})}, {{"align_corners", 1}}},
      {"GridSample",
       28,
       {ramp({1, 2, 3, 4}), ramp({1, 2, 2, 2})},
       {{"align_corners", 1}, {"mode", "linear"}, {"padding_mode", "zeros"}},
       1,
       2},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_sums_and_norms(std::vector<NodeModel>& bases) {
  for (const char* op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
                         "ReduceSum", "ReduceSumSquare"}) {
    bases.push_back({op, 28, {ramp({2, 3, 4}), list({0, -1})}, {{"keepdims", 0}, {"noop_with_empty_axes", 1}}});
    bases.push_back({op, 11, {ramp({2, 3, 4})}, {{"keepdims", 1}, {"axes", Sizes{1}}}});
  }
  for (const char* op : {"ArgMax", "ArgMin"})
    bases.push_back({op, 28, {ramp({2, 3, 4})}, {{"axis", 1}, {"keepdims", 0}, {"select_last_index", 1}}});
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
    bases.push_back({op, 28, {ramp({2, 3, 4})}, {{"axis", 1}}});
    bases.push_back({op, 11, {ramp({2, 3, 4})}, {{"axis", 1}}});
  }
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"})
    bases.push_back(
        {op, 28, {ramp({2, 3, 4}), counts({2, 4}), floats({3}, {1, 2, 3})}, {{"reduction", "mean"}, {"ignore_index", 1}}, 1, 3});
  const std::vector<NodeModel> rows = {
      {"CumSum", 28, {ramp({2, 3}), integer(1)}, {{"exclusive", 1}, {"reverse", 1}}},
      {"BatchNormalization",
       28,
       {ramp({2, 3, 4}), scales({1, 2, 3}), scales({0, 1, 2}), scales({0, 0, 1}), scales({1, 2, 3})},
       {{"epsilon", 0.1}, {"momentum", 0.5}, {"training_mode", 0}}},
      {"BatchNormalization",
       7,
       {ramp({2, 3, 4}), scales({1, 2, 3}), scales({0, 1, 2}), scales({0, 0, 1}), scales({1, 2, 3})},
       {{"epsilon", 0.1}, {"momentum", 0.5}, {"spatial", 1}}},
      {"GroupNormalization",
       28,
       {ramp({2, 4, 3}), scales({1, 2, 3, 4}), scales({0, 1, 2, 3})},
       {{"epsilon", 0.1}, {"num_groups", 2}, {"stash_type", 1}}},
      {"GroupNormalization", 18, {ramp({2, 4, 3}), scales({1, 2}), scales({0, 1})}, {{"epsilon", 0.1}, {"num_groups", 2}}},
      {"InstanceNormalization", 28, {ramp({2, 3, 4}), scales({1, 2, 3}), scales({0, 1, 2})}, {{"epsilon", 0.1}}},
      {"LayerNormalization", 28, {ramp({2, 3, 4}), ramp({3, 4}), ramp({3, 4})}, {{"axis", 1}, {"epsilon", 0.1}, {"stash_type", 1}}, 3},
      {"LpNormalization", 28, {ramp({2, 3, 4})}, {{"axis", 1}, {"p", 1}}},
      {"LRN", 28, {ramp({2, 5, 3})}, {{"alpha", 0.1}, {"beta", 0.5}, {"bias", 2.0}, {"size", 3}}},
      {"MeanVarianceNormalization", 28, {ramp({2, 3, 4})}, {{"axes", Sizes{0, 2}}}},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_windows_and_products(std::vector<NodeModel>& bases) {
  const Array image = ramp({1, 2, 5, 6});
  const auto window = [](Attributes attributes, const Sizes& dilations = {1, 1}) {
    attributes.insert(attributes.end(),
                      {{"kernel_shape", Sizes{2, 3}}, {"pads", Sizes{1, 1, 0, 1}}, {"strides", Sizes{2, 1}}, {"dilations", dilations}});
    return attributes;
  };
  const std::vector<NodeModel> rows = {
      {"AveragePool", 28, {image}, window({{"ceil_mode", 1}, {"count_include_pad", 1}})},
      {"MaxPool", 28, {image}, window({{"ceil_mode", 1}, {"storage_order", 1}}, {2, 1}), 2},
      {"MaxPool", 28, {image}, {{"kernel_shape", Sizes{2, 3}}, {"auto_pad", "SAME_UPPER"}, {"strides", Sizes{2, 1}}}},
      {"LpPool", 28, {image}, window({{"ceil_mode", 0}, {"p", 3}})},
      {"GlobalLpPool", 28, {image}, {{"p", 3}}},
      {"Conv", 28, {ramp({1, 4, 5, 6}), ramp({6, 2, 2, 3}), ramp({6})}, window({{"group", 2}})},
      {"Conv", 28, {ramp({1, 2, 5}), ramp({3, 2, 2}), ramp({3})}, {{"auto_pad", "SAME_LOWER"}}, 1, 3},
      {"ConvTranspose",
       28,
       {ramp({1, 4, 3, 4}), ramp({4, 3, 2, 3}), ramp({6})},
       {{"group", 2},
        {"kernel_shape", Sizes{2, 3}},
        {"pads", Sizes{0, 1, 0, 1}},
        {"strides", Sizes{2, 1}},
        {"dilations", Sizes{1, 1}},
        {"output_padding", Sizes{1, 0}}}},
      {"ConvTranspose", 28, {ramp({1, 2, 3, 4}), ramp({2, 3, 2, 3})}, {{"output_shape", Sizes{6, 8}}, {"strides", Sizes{2, 2}}}},
      {"Gemm", 28, {ramp({2, 3}), ramp({4, 3}), ramp({4})}, {{"alpha", 0.5}, {"beta", 2.0}, {"transA", 0}, {"transB", 1}}, 1, 3},
      {"MatMul", 28, {ramp({2, 1, 3, 4}), ramp({5, 4, 2})}, {}, 1, 2},
      {"MatMul", 28, {ramp({4}), ramp({4, 2})}, {}, 1, 2},
      {"Einsum", 28, {ramp({2, 3, 4}), ramp({2, 4, 5})}, {{"equation", "bij,bjk->bik"}}, 1, 2},
      {"Einsum", 28, {ramp({2, 3, 3})}, {{"equation", "...ii"}}},
      {"Det", 28, {ramp({2, 3, 3})}},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_quantised(std::vector<NodeModel>& bases) {
  const Array one = floats({}, {0.5}), zero = ints({}, {3}, DType::UInt8);
  const Array image = counts({1, 2, 4, 5}, 9, DType::UInt8), kernel = counts({3, 2, 2, 2}, 5, DType::UInt8);
  const Array a = counts({2, 3}, 9, DType::UInt8), b = counts({3, 4}, 5, DType::UInt8);
  const std::vector<NodeModel> rows = {
      {"ConvInteger",
       28,
       {image, kernel, zero, zero},
       {{"group", 1}, {"kernel_shape", Sizes{2, 2}}, {"pads", Sizes{1, 0, 0, 1}}, {"strides", Sizes{1, 2}}, {"dilations", Sizes{1, 1}}}},
      {"QLinearConv",
       28,
       {image, one, zero, kernel, one, zero, one, zero, counts({3}, 3, DType::Int32)},
       {{"group", 1}, {"kernel_shape", Sizes{2, 2}}, {"pads", Sizes{1, 0, 0, 1}}, {"strides", Sizes{1, 2}}, {"dilations", Sizes{1, 1}}}},
      {"MatMulInteger", 28, {a, b, zero, zero}, {}, 1, 2},
      {"QLinearMatMul", 28, {a, one, zero, b, one, zero, one, zero}},
      {"DequantizeLinear",
       28,
       {counts({2, 4}, 9, DType::Int8), floats({4}, {1, 2, 3, 4}), counts({4}, 3, DType::Int8)},
       {{"axis", 1}, {"block_size", 0}, {"output_dtype", 1}}},
      {"DequantizeLinear", 28, {counts({2, 4}, 9, DType::Int8), floats({2, 2}, {0.5, 1, 2, 3})}, {{"axis", 1}, {"block_size", 2}}},
      {"DequantizeLinear", 10, {counts({2, 4}, 9, DType::Int8), floats({}, {2}), ints({}, {1}, DType::Int8)}},
      {"QuantizeLinear",
       28,
       {ramp({2, 4}), floats({4}, {1, 2, 3, 4}), counts({4}, 3, DType::Int8)},
       {{"axis", 1}, {"block_size", 0}, {"output_dtype", 3}, {"precision", 1}, {"saturate", 1}}},
      {"DynamicQuantizeLinear", 28, {ramp({2, 4})}, {}, 3},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_sequences(std::vector<NodeModel>& bases) {
  for (const char* op : {"BlackmanWindow", "HammingWindow", "HannWindow"})
    bases.push_back({op, 28, {integer(6)}, {{"output_datatype", 1}, {"periodic", 0}}, 1, 0});
  const std::vector<std::string> tanh{"Tanh"};
  const auto recurrent = [&](const char* op, std::int64_t gates, std::vector<std::string> activations, std::vector<Array> more,
                             Attributes attributes, int outputs) {
    const std::int64_t hidden = 2;
    std::vector<Array> inputs{ramp({3, 2, 4}),
                              ramp({1, gates * hidden, 4}),
                              ramp({1, gates * hidden, hidden}),
                              ramp({1, 2 * gates * hidden}),
                              ints({2}, {2, 3}, DType::Int32),
                              ramp({1, 2, hidden})};
    inputs.insert(inputs.end(), more.begin(), more.end());
    attributes.insert(attributes.end(),
                      {{"hidden_size", hidden}, {"direction", "reverse"}, {"clip", 2.0}, {"layout", 0}, {"activations", activations}});
    bases.push_back({op, 28, inputs, attributes, outputs});
  };
  recurrent("RNN", 1, {"HardSigmoid"}, {}, {{"activation_alpha", std::vector<double>{0.3}}, {"activation_beta", std::vector<double>{0.4}}},
            2);
  recurrent("GRU", 3, {"Sigmoid", "Tanh"}, {}, {{"linear_before_reset", 1}}, 2);
  recurrent("LSTM", 4, {"Sigmoid", "Tanh", "Tanh"}, {ramp({1, 2, 2}), ramp({1, 6})}, {{"input_forget", 0}}, 3);
  const std::vector<NodeModel> rows = {
      {"MelWeightMatrix",
       28,
       {integer(4), integer(16), integer(8000), floats({}, {0}), floats({}, {4000})},
       {{"output_datatype", 1}},
       1,
       0},
      {"DFT", 28, {ramp({1, 6, 2}), integer(8), integer(1)}, {{"inverse", 0}, {"onesided", 0}}},
      {"DFT", 17, {ramp({1, 6, 1}), integer(4)}, {{"axis", 1}, {"inverse", 0}, {"onesided", 1}}},
      {"STFT", 28, {ramp({1, 12, 1}), integer(2), floats({4}, {0, 1, 1, 0}), integer(4)}, {{"onesided", 1}}},
  };
  bases.insert(bases.end(), rows.begin(), rows.end());
}

inline void add_training(std::vector<NodeModel>& bases) {
  const std::string domain(kTrainingDomain);
  const Array rate = floats({}, {0.1}), x = ramp({2, 3}), squares = floats({2, 3}, std::vector<double>(6, 0.5));
  bases.push_back({"Adagrad",
                   28,
                   {rate, integer(2), x, x, squares},
                   {{"decay_factor", 0.1}, {"epsilon", 1e-6}, {"norm_coefficient", 0.1}},
                   2,
                   5,
                   domain});
  bases.push_back({"Adam",
                   28,
                   {rate, integer(2), x, x, x, squares},
                   {{"alpha", 0.9}, {"beta", 0.999}, {"epsilon", 1e-6}, {"norm_coefficient", 0.1}, {"norm_coefficient_post", 0.1}},
                   3,
                   6,
                   domain});
  bases.push_back({"Momentum",
                   28,
                   {rate, integer(2), x, x, x},
                   {{"alpha", 0.9}, {"beta", 1.0}, {"mode", "nesterov"}, {"norm_coefficient", 0.1}},
                   2,
                   5,
                   domain});
  bases.push_back({"Gradient", 28, {x}, {{"xs", std::vector<std::string>{"x0"}}, {"y", "x0"}}, 1, 1, domain});
}

/// One or more nodes for every operator; each of them compiles.
inline std::vector<NodeModel> operator_bases() {
  std::vector<NodeModel> bases;
  add_elementwise(bases);
  add_movements(bases);
  add_selections(bases);
  add_resizes(bases);
  add_sums_and_norms(bases);
  add_windows_and_products(bases);
  add_quantised(bases);
  add_sequences(bases);
  add_training(bases);
  return bases;
}

}  // namespace etch::test
