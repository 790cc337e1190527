// For tests: a perceptron of bytes, 784-128-64-10, that a small core has room for, with data. Its first layer has 100 352 weights: more
// than an int of 16 bits counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/tempdir.h"
#include "onnx/builder.h"
#include "onnx/tensor_proto.h"

namespace etch::test {

/// A layer of the definition: saturate(rint(float32(sum) * M)) with M = float32(float32(sx * sw) / sy), every zero point 0; at least `low`.
inline std::vector<std::int64_t> byte_layer(const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& w,
                                            const std::vector<std::int64_t>& b, float m, std::int64_t low) {
  std::vector<std::int64_t> y;
  for (std::size_t o = 0; o < b.size(); o++) {
    std::int64_t sum = b[o];
    for (std::size_t k = 0; k < x.size(); k++) sum += x[k] * w[o * x.size() + k];
    const float product = static_cast<float>(sum) * m;
    y.push_back(std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(product)), low, 127));
  }
  return y;
}

/// Writes the model and, by loops over the definition, test_data_set_0 to `test_data_set_2`; the model's path.
inline std::string quantised_mlp(const std::filesystem::path& dir) {
  using Ints = std::vector<std::int64_t>;
  constexpr std::int64_t kSizes[] = {784, 128, 64, 10};
  constexpr float kScale = 1.0f / 128;
  std::mt19937 random(5);
  const auto values = [&](std::int64_t count, int most) {
    Ints result(static_cast<std::size_t>(count));
    for (auto& v : result) v = static_cast<std::int64_t>(random() % static_cast<unsigned>(2 * most + 1)) - most;
    return result;
  };
  GraphBuilder g("quantised_mlp", 13);
  const auto scalar = [&](const std::string& name, float value) {
    return g.initializer(name, Array::of_doubles(DType::Float32, {}, std::vector<double>{value}));
  };
  const auto zero = g.initializer("zero", Array::of_ints(DType::Int8, {}, Ints{0}));
  const auto scale = scalar("scale", kScale);
  std::vector<Ints> weights, biases;
  std::vector<float> multipliers;
  auto x = g.input("input", DType::Int8, {1, kSizes[0]});
  for (int layer = 0; layer < 3; layer++) {
    const std::int64_t from = kSizes[layer], to = kSizes[layer + 1];
    const std::string name = "fc" + std::to_string(layer + 1);
    const float weight_scale = 1.0f / (64.0f * std::sqrt(static_cast<float>(from))), bias_scale = kScale * weight_scale;
    weights.push_back(values(from * to, 127));
    biases.push_back(values(to, 9000));
    multipliers.push_back(bias_scale / kScale);
    const auto w = g.node("DequantizeLinear", {g.initializer(name + "_weight", Array::of_ints(DType::Int8, {to, from}, weights.back())),
                                               scalar(name + "_weight_scale", weight_scale), zero});
    const auto b = g.node("DequantizeLinear", {g.initializer(name + "_bias", Array::of_ints(DType::Int32, {to}, biases.back())),
                                               scalar(name + "_bias_scale", bias_scale)});
    auto y = g.node("Gemm", {g.node("DequantizeLinear", {x, scale, zero}), w, b}, {{"transB", std::int64_t{1}}}, name);
    if (layer < 2) y = g.node("Relu", {y});
    x = g.node("QuantizeLinear", {y, scale, zero});
  }
  g.node_with_outputs("Identity", {x}, {"output"}, {}, "output");
  g.output("output", DType::Int8, {1, kSizes[3]});
  for (int set = 0; set < 3; set++) {
    const Ints input = values(kSizes[0], 127);
    Ints y = input;
    for (std::size_t layer = 0; layer < 3; layer++)
      y = byte_layer(y, weights[layer], biases[layer], multipliers[layer], layer < 2 ? 0 : -128);
    const std::filesystem::path folder = dir / ("test_data_set_" + std::to_string(set));
    std::filesystem::create_directories(folder);
    write_tensor_file(folder / "input_0.pb", {"input", Array::of_ints(DType::Int8, {1, kSizes[0]}, input)});
    write_tensor_file(folder / "output_0.pb", {"output", Array::of_ints(DType::Int8, {1, kSizes[3]}, y)});
  }
  const std::filesystem::path file = dir / "quantised_mlp.onnx";
  g.write(file);
  return file.string();
}

}  // namespace etch::test
