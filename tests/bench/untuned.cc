#include "untuned.h"

#include "onnx/builder.h"

namespace etch::bench {
namespace {

using Value = GraphBuilder::Value;
using Ints = GraphBuilder::Ints;

constexpr int kOpset = 20, kFormat = 9;

/// A graph whose weights are numbered, and the channels of the value that it is at.
struct Net {
  GraphBuilder g;
  int layers = 0;

  Net(const char* name, const Ints& shape) : g(name, kOpset, kFormat) {
    g.input("x", DType::Float32, std::vector<OnnxDim>(shape.begin(), shape.end()));
  }

  std::string next() { return "l" + std::to_string(layers++); }

  Value conv(const Value& x, std::int64_t channels, std::int64_t outputs, std::int64_t size, std::int64_t stride = 1) {
    const std::int64_t pad = size / 2;
    return g.conv(x, next(), channels, outputs, {size, size}, {stride, stride}, {pad, pad, pad, pad});
  }
  Value conv_norm_relu(const Value& x, std::int64_t channels, std::int64_t outputs, std::int64_t size, std::int64_t stride = 1) {
    return norm_relu(conv(x, channels, outputs, size, stride), outputs);
  }
  Value norm_relu(const Value& x, std::int64_t channels) { return g.relu(g.batch_norm(x, next(), channels)); }
  Value pool(const char* op, const Value& x, const Ints& size, const Ints& strides, std::int64_t pad = 0) {
    return g.node(op, {x}, {{"kernel_shape", size}, {"strides", strides}, {"pads", Ints{pad, pad, pad, pad}}});
  }
  Value concat(const std::vector<Value>& parts) { return g.node("Concat", parts, {{"axis", 1}}); }
  Value reshape(const Value& x, const Ints& shape) { return g.node("Reshape", {x, g.ints(next(), shape)}); }
  Value transpose(const Value& x, const Ints& order) { return g.node("Transpose", {x}, {{"perm", order}}); }
  Value linear(const Value& x, std::int64_t inputs, std::int64_t outputs) {
    const std::string name = next();
    const Value product = g.node("MatMul", {x, g.seeded(name + ".weight", {inputs, outputs}, inputs)});
    return g.node("Add", {product, g.seeded_around(name + ".bias", {outputs}, 0, 0.125)});
  }
  Value classes_of(const Value& x, std::int64_t channels) {
    return g.dense(g.node("Flatten", {g.node("GlobalAveragePool", {x})}), next(), channels, 1000);
  }
  void write(const Value& y, const Ints& shape, const std::filesystem::path& path) {
    g.output(y, DType::Float32, std::vector<OnnxDim>(shape.begin(), shape.end()));
    g.write(path);
  }
};

void write_densenet(const std::filesystem::path& path) {
  constexpr std::int64_t kGrowth = 32;
  const std::vector<int> blocks{6, 12, 24, 16};
  Net n("densenet", {1, 3, 224, 224});
  std::int64_t channels = 2 * kGrowth;
  Value x = n.pool("MaxPool", n.conv_norm_relu("x", 3, channels, 7, 2), {3, 3}, {2, 2}, 1);
  for (std::size_t block = 0; block < blocks.size(); block++) {
    for (int i = 0; i < blocks[block]; i++, channels += kGrowth) {
      const Value narrow = n.conv(n.norm_relu(x, channels), channels, 4 * kGrowth, 1);
      x = n.concat({x, n.conv(n.norm_relu(narrow, 4 * kGrowth), 4 * kGrowth, kGrowth, 3)});
    }
    x = n.norm_relu(x, channels);
    if (block + 1 == blocks.size()) break;
    x = n.pool("AveragePool", n.conv(x, channels, channels / 2, 1), {2, 2}, {2, 2});
    channels /= 2;
  }
  n.write(n.classes_of(x, channels), {1, 1000}, path);
}

/// Channels of an Inception block's branches: 1x1, 3x3, two 3x3, pooled; 0: the branch is not there.
struct Branches {
  std::int64_t one, before_three, three, before_two, two, pooled;
};

Value inception_block(Net& n, const Value& x, std::int64_t& channels, const Branches& b) {
  const bool halves = b.one == 0;
  const std::int64_t stride = halves ? 2 : 1;
  std::vector<Value> parts;
  if (!halves) parts.push_back(n.conv_norm_relu(x, channels, b.one, 1));
  parts.push_back(n.conv_norm_relu(n.conv_norm_relu(x, channels, b.before_three, 1), b.before_three, b.three, 3, stride));
  const Value first = n.conv_norm_relu(n.conv_norm_relu(x, channels, b.before_two, 1), b.before_two, b.two, 3);
  parts.push_back(n.conv_norm_relu(first, b.two, b.two, 3, stride));
  const Value pooled = n.pool(halves ? "MaxPool" : "AveragePool", x, {3, 3}, {stride, stride}, 1);
  parts.push_back(halves ? pooled : n.conv_norm_relu(pooled, channels, b.pooled, 1));
  channels = b.one + b.three + b.two + (halves ? channels : b.pooled);
  return n.concat(parts);
}

void write_inception_v2(const std::filesystem::path& path) {
  Net n("inception_v2", {1, 3, 224, 224});
  Value x = n.pool("MaxPool", n.conv_norm_relu("x", 3, 64, 7, 2), {3, 3}, {2, 2}, 1);
  x = n.pool("MaxPool", n.conv_norm_relu(n.conv_norm_relu(x, 64, 64, 1), 64, 192, 3), {3, 3}, {2, 2}, 1);
  std::int64_t channels = 192;
  const Branches blocks[] = {{64, 64, 64, 64, 96, 32},      {64, 64, 96, 64, 96, 64},     {0, 128, 160, 64, 96, 0},
                             {224, 64, 96, 96, 128, 128},   {192, 96, 128, 96, 128, 128}, {160, 128, 160, 128, 160, 96},
                             {96, 128, 192, 160, 192, 96},  {0, 128, 192, 192, 256, 0},   {352, 192, 320, 160, 224, 128},
                             {352, 192, 320, 192, 224, 128}};
  for (const Branches& b : blocks) x = inception_block(n, x, channels, b);
  n.write(n.classes_of(x, channels), {1, 1000}, path);
}

void write_recogniser(const std::filesystem::path& path) {
  constexpr std::int64_t kHidden = 128, kCharacters = 80, kSteps = 24;
  Net n("recogniser", {1, 1, 32, 100});
  Value x = n.pool("MaxPool", n.g.relu(n.conv("x", 1, 64, 3)), {2, 2}, {2, 2});
  x = n.pool("MaxPool", n.g.relu(n.conv(x, 64, 128, 3)), {2, 2}, {2, 2});
  x = n.pool("MaxPool", n.g.relu(n.conv(n.conv_norm_relu(x, 128, 256, 3), 256, 256, 3)), {2, 1}, {2, 1});
  x = n.pool("MaxPool", n.conv_norm_relu(x, 256, 256, 3), {2, 1}, {2, 1});
  x = n.g.relu(n.g.conv(x, n.next(), 256, 256, {2, 2}, {1, 1}, {0, 0, 0, 0}));
  x = n.transpose(n.reshape(x, {1, 256, kSteps}), {2, 0, 1});
  x = n.g.node("LSTM", {x, n.g.seeded("lstm.w", {2, 4 * kHidden, 256}, 256), n.g.seeded("lstm.r", {2, 4 * kHidden, kHidden}, kHidden)},
               {{"hidden_size", kHidden}, {"direction", "bidirectional"}});
  x = n.reshape(n.transpose(x, {0, 2, 1, 3}), {kSteps, 2 * kHidden});
  n.write(n.g.node("Softmax", {n.linear(x, 2 * kHidden, kCharacters)}, {{"axis", -1}}), {kSteps, kCharacters}, path);
}

void write_encoder(const std::filesystem::path& path) {
  constexpr std::int64_t kTokens = 128, kWidth = 256, kHeads = 4, kLayers = 4;
  Net n("encoder", {1, kTokens, kWidth});
  const auto normalised = [&](const Value& x) {
    const std::string name = n.next();
    return n.g.node("LayerNormalization",
                    {x, n.g.seeded_around(name + ".scale", {kWidth}, 1, 0.25), n.g.seeded_around(name + ".bias", {kWidth}, 0, 0.125)});
  };
  const auto heads = [&](const Value& x, const Ints& order) {
    return n.transpose(n.reshape(n.linear(x, kWidth, kWidth), {1, kTokens, kHeads, kWidth / kHeads}), order);
  };
  Value x = "x";
  for (int layer = 0; layer < kLayers; layer++) {
    const Value q = heads(x, {0, 2, 1, 3}), k = heads(x, {0, 2, 3, 1}), v = heads(x, {0, 2, 1, 3});
    const Value scale = n.g.initializer(n.next(), Array::of_doubles(DType::Float32, {}, std::vector<double>{0.125}));
    const Value share = n.g.node("Softmax", {n.g.node("Mul", {n.g.node("MatMul", {q, k}), scale})}, {{"axis", -1}});
    const Value seen = n.reshape(n.transpose(n.g.node("MatMul", {share, v}), {0, 2, 1, 3}), {1, kTokens, kWidth});
    x = normalised(n.g.node("Add", {x, n.linear(seen, kWidth, kWidth)}));
    const Value wide = n.g.node("Gelu", {n.linear(x, kWidth, 4 * kWidth)});
    x = normalised(n.g.node("Add", {x, n.linear(wide, 4 * kWidth, kWidth)}));
  }
  n.write(x, {1, kTokens, kWidth}, path);
}

void write_upscaler(const std::filesystem::path& path) {
  constexpr std::int64_t kTimes = 3, kRows = 120, kColumns = 160;
  Net n("upscaler", {1, 1, kRows, kColumns});
  const Value x = n.g.relu(n.conv(n.g.relu(n.conv("x", 1, 64, 5)), 64, 32, 3));
  const Value y = n.g.node("DepthToSpace", {n.conv(x, 32, kTimes * kTimes, 3)}, {{"blocksize", kTimes}, {"mode", "CRD"}});
  n.write(y, {1, 1, kTimes * kRows, kTimes * kColumns}, path);
}

void write_generator(const std::filesystem::path& path) {
  Net n("generator", {1, 256, 8, 8});
  const auto doubled = [&](const Value& x, std::int64_t channels, std::int64_t outputs) {
    const Value w = n.g.seeded(n.next() + ".weight", {channels, outputs, 4, 4}, 4 * channels);
    return n.g.node("ConvTranspose", {x, w}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  };
  Value x = "x";
  std::int64_t channels = 256;
  for (; channels > 32; channels /= 2) x = n.norm_relu(doubled(x, channels, channels / 2), channels / 2);
  n.write(n.g.node("Tanh", {doubled(x, channels, 3)}), {1, 3, 128, 128}, path);
}

}  // namespace

const std::vector<UntunedNetwork>& untuned_networks() {
  static const std::vector<UntunedNetwork> networks{{"densenet", write_densenet},     {"inception_v2", write_inception_v2},
                                                    {"recogniser", write_recogniser}, {"encoder", write_encoder},
                                                    {"upscaler", write_upscaler},     {"generator", write_generator}};
  return networks;
}

}  // namespace etch::bench
