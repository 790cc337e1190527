// Channels that are the same for every input are not computed, and the results keep every bit. Wanted numbers are loops of this file over
// all channels, by the definition of quantised operators; how many channels go is counted by hand in each test.
#include "quant/dead_channels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "lazy/tensor.h"
#include "onnx/builder.h"
#include "quant/integers.h"
#include "support/evaluate.h"
#include "target/target.h"

namespace etch::dead_channels_test {
namespace {

using Ints = std::vector<std::int64_t>;

/// An image [n, c, h, w] of a net, quantised.
struct Image {
  std::size_t id = 0;
  std::int64_t n = 1, c = 1, h = 1, w = 1;
  double scale = 0.1;
  std::int64_t zero = -128;

  std::int64_t size() const { return n * c * h * w; }
  std::size_t at(std::int64_t b, std::int64_t ch, std::int64_t y, std::int64_t x) const {
    return static_cast<std::size_t>(((b * c + ch) * h + y) * w + x);
  }
};

struct Convolution {
  std::int64_t outputs = 16, kernel = 1, pad = 0, stride = 1;
  bool depthwise = false;
  std::function<std::int64_t(std::int64_t o, std::int64_t i)> weight = {};  // base of the weights of output o for input i; 0: none
  std::function<std::int64_t(std::int64_t o)> bias = {};                    // empty: o * 37 - 100
  std::int64_t zero = -128;
};

/// A network of quantised layers, and the loops that say what it gives.
class Net {
 public:
  Image input(std::int64_t c, std::int64_t h, std::int64_t w, std::int64_t n = 1) {
    return made({0, n, c, h, w, 0.05, -3}, g.input("x", type, {n, c, h, w}), nullptr);
  }

  Image conv(const Image& x, const Convolution& how, const std::string& name) {
    const std::int64_t group = how.depthwise ? 1 : x.c, k = how.kernel;
    Ints weights;
    for (std::int64_t o = 0; o < how.outputs; o++)
      for (std::int64_t i = 0; i < group; i++)
        for (std::int64_t t = 0; t < k * k; t++) {
          const std::int64_t base = how.weight(o, i);
          weights.push_back(base == 0 ? 0 : std::clamp<std::int64_t>(base + (t * 7 + o + i) % 5 - 2, -127, 127));
        }
    Ints bias;
    std::vector<double> scales, bias_scales;
    for (std::int64_t o = 0; o < how.outputs; o++) {
      bias.push_back(how.bias ? how.bias(o) : o * 37 - 100);
      scales.push_back(static_cast<double>(static_cast<float>(0.002 + 0.0005 * static_cast<double>(o % 7))));
      bias_scales.push_back(static_cast<double>(static_cast<float>(x.scale) * static_cast<float>(scales.back())));
    }
    const Image y{0, x.n, how.outputs, (x.h + 2 * how.pad - k) / how.stride + 1, (x.w + 2 * how.pad - k) / how.stride + 1, 0.08, how.zero};
    const auto constants = [&](const std::string& what, DType dtype, const Ints& shape, const Ints& values, const std::vector<double>& s) {
      const auto count = static_cast<std::int64_t>(s.size());
      return g.node("DequantizeLinear",
                    {g.initializer(name + what, Array::of_ints(dtype, shape, values)),
                     g.initializer(name + what + "_scale", Array::of_doubles(DType::Float32, {count}, s)),
                     g.initializer(name + what + "_zero", Array::of_ints(dtype, {count}, Ints(s.size(), 0)))},
                    {{"axis", std::int64_t{0}}});
    };
    const auto sum = g.node("Conv",
                            {dequantised(x), constants("_w", DType::Int8, {how.outputs, group, k, k}, weights, scales),
                             constants("_b", DType::Int32, {how.outputs}, bias, bias_scales)},
                            {{"pads", Ints(4, how.pad)},
                             {"strides", Ints(2, how.stride)},
                             {"kernel_shape", Ints(2, k)},
                             {"group", how.depthwise ? x.c : std::int64_t{1}}},
                            name);
    const bool depthwise = how.depthwise;
    const std::int64_t pad = how.pad, stride = how.stride;
    return made(y, quantised(sum, y), [=, this, values = x.id](Image image) {
      return loop(image, [&](std::int64_t b, std::int64_t o, std::int64_t r, std::int64_t q) {
        std::int64_t acc = bias[static_cast<std::size_t>(o)];
        for (std::int64_t i = 0; i < group; i++)
          for (std::int64_t t = 0; t < k * k; t++) {
            const std::int64_t row = r * stride + t / k - pad, column = q * stride + t % k - pad;
            if (row < 0 || row >= x.h || column < 0 || column >= x.w) continue;
            const std::int64_t v = values_[values][x.at(b, depthwise ? o : i, row, column)] - x.zero;
            acc += v * weights[static_cast<std::size_t>((o * group + i) * k * k + t)];
          }
        const float m = static_cast<float>(x.scale) * static_cast<float>(scales[static_cast<std::size_t>(o)]) / static_cast<float>(y.scale);
        return static_cast<double>(static_cast<float>(acc) * m);
      });
    });
  }

  Image add(const Image& a, const Image& b) {
    Image y = a;
    y.scale = 0.13;
    y.zero = -5;
    return made(y, quantised(g.node("Add", {dequantised(a), dequantised(b)}), y), [=, this](Image image) {
      return loop(image, [&](std::int64_t n, std::int64_t c, std::int64_t r, std::int64_t q) {
        const auto real = [&](const Image& i) {
          return static_cast<float>(values_[i.id][i.at(n, c, r, q)] - i.zero) * static_cast<float>(i.scale);
        };
        const float left = real(a), right = real(b), sum = left + right;
        return static_cast<double>(sum / static_cast<float>(y.scale));
      });
    });
  }

  Image concat(const Image& a, const Image& b) {
    Image y = a;
    y.c = a.c + b.c;
    return made(y, quantised(g.node("Concat", {dequantised(a), dequantised(b)}, {{"axis", std::int64_t{1}}}), y), [=, this](Image image) {
      Ints r;
      for (std::int64_t n = 0; n < image.n; n++)
        for (std::int64_t c = 0; c < image.c; c++)
          for (std::int64_t p = 0; p < image.h * image.w; p++)
            r.push_back(c < a.c ? values_[a.id][a.at(n, c, 0, p)] : values_[b.id][b.at(n, c - a.c, 0, p)]);
      return r;
    });
  }

  /// The largest of windows of 2 x 2, padded by one at the end.
  Image max_pool(const Image& x) {
    Image y = x;
    y.h = x.h, y.w = x.w;
    const auto pooled = g.node("MaxPool", {dequantised(x)}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{0, 0, 1, 1}}});
    return made(y, quantised(pooled, y), [=, this](Image image) {
      Ints r;
      for (std::int64_t n = 0; n < image.n; n++)
        for (std::int64_t c = 0; c < image.c; c++)
          for (std::int64_t p = 0; p < image.h * image.w; p++) {
            std::int64_t most = -128;
            for (const std::int64_t i : {p / x.w, std::min(p / x.w + 1, x.h - 1)})
              for (const std::int64_t j : {p % x.w, std::min(p % x.w + 1, x.w - 1)}) most = std::max(most, values_[x.id][x.at(n, c, i, j)]);
            r.push_back(most);
          }
      return r;
    });
  }

  /// A dense layer on all elements in their order, with `pad` columns of zeros in front of each row.
  Image dense(const Image& x, std::int64_t outputs, const std::function<std::int64_t(std::int64_t o, std::int64_t i)>& weight,
              std::int64_t pad = 0) {
    const std::int64_t width = x.w + pad, k = x.c * x.h * width;
    Ints weights;
    for (std::int64_t o = 0; o < outputs; o++)
      for (std::int64_t i = 0; i < k; i++) weights.push_back(weight(o, i));
    const Image y{0, x.n, outputs, 1, 1, 0.3, 4};
    const auto w =
        g.node("DequantizeLinear", {g.initializer("fc_w", Array::of_ints(DType::Int8, {outputs, k}, weights)), number("fc_s", 0.01)});
    const auto padded = g.node("Pad", {dequantised(x), g.ints("fc_pads", {0, 0, 0, pad, 0, 0, 0, 0})});
    const auto sum = g.node("Gemm", {g.node("Flatten", {padded}), w}, {{"transB", std::int64_t{1}}}, "fc");
    const auto shaped = g.node("Reshape", {sum, g.ints("fc_shape", {x.n, outputs, 1, 1})});
    return made(y, quantised(shaped, y), [=, this](Image image) {
      return loop(image, [&](std::int64_t n, std::int64_t o, std::int64_t, std::int64_t) {
        std::int64_t acc = 0;
        for (std::int64_t row = 0; row < x.c * x.h; row++)
          for (std::int64_t i = 0; i < x.w; i++)
            acc += (values_[x.id][static_cast<std::size_t>((n * x.c * x.h + row) * x.w + i)] - x.zero) *
                   weights[static_cast<std::size_t>(o * k + row * width + pad + i)];
        const float m = static_cast<float>(x.scale) * 0.01f / static_cast<float>(y.scale);
        return static_cast<double>(static_cast<float>(acc) * m);
      });
    });
  }

  void output(const Image& image) {
    g.output(names_[image.id], type, {image.n, image.c, image.h, image.w});
    outputs_.push_back(image.id);
  }

  /// INTERP and C give what the loops do, for random and for extreme inputs.
  void check_bits() {
    CompileOptions options;
    options.import.bytes = g.bytes();
    options.import.path = "net.onnx";
    options.target = find_target("c99", std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
    frontend = read_model(options);
    const auto interp = make_reference_device(), device = make_device("c", {});
    const Program asts = lower_model(frontend, nullptr, options), kernels = lower_model(frontend, device->language(), options);
    const auto reference = interp->load(asts);
    const auto compiled = device->load(kernels);
    std::mt19937 random(3);
    for (int turn = 0; turn < 6; turn++) {
      values_[0].assign(static_cast<std::size_t>(images_[0].size()), turn == 0 ? -128 : 127);
      if (turn > 1)
        for (std::int64_t& v : values_[0])
          v = turn == 2 ? (random() % 2 == 0 ? -128 : 127) : static_cast<std::int64_t>(random() % 256) - 128;
      for (std::size_t i = 1; i < images_.size(); i++) values_[i] = rules_[i](images_[i]);
      const Image& x = images_[0];
      const std::vector<Array> inputs{Array::of_ints(type, {x.n, x.c, x.h, x.w}, values_[0])};
      const std::vector<Array> got = reference->run(inputs), by_c = compiled->run(inputs);
      for (std::size_t o = 0; o < outputs_.size(); o++) {
        EXPECT_EQ(got[o].ints(), values_[outputs_[o]]) << "turn " << turn;
        EXPECT_EQ(by_c[o], got[o]) << "turn " << turn;
      }
    }
  }

  /// "conv1 4 of 16, conv2 ..."
  std::string removed() const {
    std::string text;
    for (const DeadChannels& d : frontend.dead)
      text += (text.empty() ? "" : ", ") + d.nodes.at(0) + " " + std::to_string(d.removed) + " of " + std::to_string(d.total);
    return text;
  }

  GraphBuilder g{"net", 13};
  Frontend frontend;

 private:
  GraphBuilder::Value number(const std::string& name, double value) {
    return g.initializer(name, Array::of_doubles(DType::Float32, {}, std::vector<double>{value}));
  }
  GraphBuilder::Value zero_of(const Image& image, const std::string& name) {
    return g.initializer(name, Array::of_ints(type, {}, Ints{image.zero}));
  }
  GraphBuilder::Value quantised(const GraphBuilder::Value& value, const Image& image) {
    const std::string name = "q" + std::to_string(count_++);
    return g.node("QuantizeLinear", {value, number(name + "_s", image.scale), zero_of(image, name + "_z")});
  }
  GraphBuilder::Value dequantised(const Image& image) {
    const std::string name = "d" + std::to_string(count_++);
    return g.node("DequantizeLinear", {names_[image.id], number(name + "_s", image.scale), zero_of(image, name + "_z")});
  }
  Image made(Image image, const GraphBuilder::Value& name, const std::function<Ints(Image)>& rule) {
    image.id = images_.size();
    images_.push_back(image);
    names_.push_back(name);
    rules_.push_back(rule);
    values_.emplace_back();
    return image;
  }
  static Ints loop(const Image& y, const std::function<double(std::int64_t, std::int64_t, std::int64_t, std::int64_t)>& real) {
    Ints r;
    for (std::int64_t n = 0; n < y.n; n++)
      for (std::int64_t c = 0; c < y.c; c++)
        for (std::int64_t p = 0; p < y.h * y.w; p++)
          r.push_back(
              std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(real(n, c, p / y.w, p % y.w))) + y.zero, -128, 127));
    return r;
  }

  static constexpr DType type = DType::Int8;
  int count_ = 0;
  std::vector<Image> images_;
  std::vector<GraphBuilder::Value> names_;
  std::vector<std::function<Ints(Image)>> rules_;
  std::vector<Ints> values_;
  std::vector<std::size_t> outputs_;
};

/// Weights of both signs, none 0.
std::int64_t some(std::int64_t o, std::int64_t i) {
  const std::int64_t w = (o * 7919 + i * 104729 + 31) % 241 - 120;
  return w == 0 ? 1 : w;
}

/// Weights of a convolution of which the outputs `o` with o % 4 < `dead` have none.
std::function<std::int64_t(std::int64_t, std::int64_t)> without(std::int64_t dead) {
  return [dead](std::int64_t o, std::int64_t i) { return o % 4 < dead ? 0 : some(o, i); };
}

/// Far beyond what a requantised sum can be.
constexpr std::int64_t kLow = -100000000, kHigh = 100000000;
std::int64_t small(std::int64_t o) { return o * 37 - 100; }

TEST(DeadChannels, WithoutWeightsAreConstantsOfTheNextSum) {
  for (const std::int64_t zero : {-128, 7}) {  // their value is that of the bias, above or at the zero point
    Net net;
    const Image a = net.conv(net.input(3, 5, 4), {.weight = without(2), .bias = small, .zero = zero}, "one");
    net.output(net.conv(a, {.outputs = 6, .weight = some}, "two"));
    net.check_bits();
    EXPECT_EQ(net.removed(), "one 8 of 16");
  }
}

TEST(DeadChannels, SaturatedOnesAreConstantsOfTheNextSum) {
  Net net;
  const auto bias = [](std::int64_t o) { return o < 4 ? kLow : o < 8 ? kHigh : small(o); };
  const Image a = net.conv(net.input(3, 5, 4), {.weight = some, .bias = bias, .zero = 20}, "one");
  net.output(net.conv(a, {.outputs = 6, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16");
}

// A requantised sum that is at most -127.6 is -128 after rounding, and one of -127.4 is not: ranges go through the very same roundings.
TEST(DeadChannels, ARangeThatJustSaturates) {
  for (const bool is_dead : {true, false}) {
    const auto owner = LazyGraph::create();
    LazyGraph& own = *owner;
    const Tensor x = Tensor::input(own, "x", DType::Int8, {1, 8});
    const Tensor low = Tensor::constant(own, Array::of_ints(DType::Int32, {1, 8}, Ints(8, is_dead ? 1276 : 1274)));
    const Tensor shifted = x.cast(DType::Int32).clip(-5, 0) - low;  // at most -limit
    const Tensor scaled = (shifted.cast(DType::Float32) * 0.1f).unary(Op::Rint).cast(DType::Int32);
    const Tensor narrow = scaled.clip(-128, 127).cast(DType::Int8).cast(DType::Int32);
    const Tensor w = Tensor::constant(own, Array::of_ints(DType::Int32, {1, 8}, Ints{1, 2, 3, 4, 5, 6, 7, 8}));
    const Tensor y = (narrow * w).sum({1});
    const WithoutDeadChannels r = remove_dead_channels(own, {y.buffer()});
    EXPECT_EQ(r.outputs[0]->base->constant, is_dead);
  }
}

TEST(DeadChannels, AtTheZeroPointAreThePaddingOfTheNextWindows) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 < 2 ? kLow : small(o); };
  const Image a = net.conv(net.input(3, 5, 4), {.weight = some, .bias = bias}, "one");
  net.output(net.conv(a, {.outputs = 6, .kernel = 3, .pad = 1, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16");
}

// Beside the border they are another constant than at it.
TEST(DeadChannels, BesideOtherPaddingStay) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 < 2 ? kHigh : small(o); };
  const Image a = net.conv(net.input(3, 5, 4), {.weight = some, .bias = bias}, "one");
  net.output(net.conv(a, {.outputs = 6, .kernel = 3, .pad = 1, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "");
}

TEST(DeadChannels, WithoutPaddingWindowsDoNotMatter) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 < 2 ? kHigh : small(o); };
  const Image a = net.conv(net.input(3, 6, 5), {.weight = some, .bias = bias}, "one");
  net.output(net.conv(a, {.outputs = 6, .kernel = 3, .stride = 2, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16");
}

TEST(DeadChannels, GoThroughDepthwiseConvolutions) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 == 0 ? kLow : small(o); };
  const Image a = net.conv(net.input(3, 6, 5), {.weight = some, .bias = bias}, "one");
  const Image b = net.conv(a, {.kernel = 3, .pad = 1, .stride = 2, .depthwise = true, .weight = without(2)}, "two");
  net.output(net.conv(b, {.outputs = 5, .weight = some}, "three"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16, two 8 of 16") << "those that are dead in either";
}

TEST(DeadChannels, AreDeadInAResidualSumIfBothAre) {
  Net net;
  const Image x = net.input(3, 5, 4);
  const Image a = net.conv(x, {.weight = without(2)}, "one"), b = net.conv(x, {.weight = without(1), .bias = small}, "two");
  net.output(net.conv(net.add(a, b), {.outputs = 6, .weight = some}, "three"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 4 of 16, two 4 of 16");
}

TEST(DeadChannels, AreNeededIfOneOfTwoReadersNeedsThem) {
  const auto ignores = [](std::int64_t o, std::int64_t i) { return i < 8 ? 0 : some(o, i); };
  for (const bool both : {true, false}) {
    Net net;
    const Image a = net.conv(net.input(3, 5, 4), {.weight = some}, "one");
    net.output(net.conv(a, {.outputs = 6, .weight = ignores}, "two"));
    net.output(net.conv(
        a, {.outputs = 4, .weight = [&](std::int64_t o, std::int64_t i) { return both || o > 0 ? ignores(o, i) : some(o, i); }}, "three"));
    net.check_bits();
    EXPECT_EQ(net.removed(), both ? "one 8 of 16" : "");
  }
}

TEST(DeadChannels, AllOfALayerLeaveAConstant) {
  Net net;
  const Image a = net.conv(net.input(3, 5, 4), {.weight = some, .bias = [](std::int64_t o) { return o % 2 ? kHigh : kLow; }}, "one");
  net.output(net.conv(a, {.outputs = 6, .kernel = 3, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 16 of 16");
  EXPECT_LE(net.frontend.schedule.items.size(), 1u) << "a copy of constants at most";
}

// Nothing that only a dead channel needs is computed: layer by layer, up to the input.
TEST(DeadChannels, DieOneAfterTheOther) {
  Net net;
  const auto blocks = [](std::int64_t o, std::int64_t i) { return o / 4 == i / 4 ? some(o, i) : 0; };
  const Image a = net.conv(net.input(3, 5, 4), {.weight = some}, "one");
  const Image b = net.conv(a, {.weight = blocks}, "two");
  const Image c = net.conv(b, {.weight = blocks}, "three");
  net.output(net.conv(c, {.outputs = 6, .weight = [](std::int64_t o, std::int64_t i) { return i < 4 ? some(o, i) : 0; }}, "four"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 12 of 16, two 12 of 16, three 12 of 16");
}

// And forwards: constants make constants.
TEST(DeadChannels, MakeOthersDead) {
  Net net;
  const auto reads_dead = [](std::int64_t o, std::int64_t i) { return o < 8 ? (i % 4 < 2 ? some(o, i) : 0) : some(o, i); };
  const Image a = net.conv(net.input(3, 5, 4), {.weight = without(2)}, "one");
  net.output(net.conv(net.conv(a, {.weight = reads_dead}, "two"), {.outputs = 6, .weight = some}, "three"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16, two 8 of 16");
}

TEST(DeadChannels, LeaveFlattenedImages) {
  Net net;
  const Image a = net.conv(net.input(3, 3, 4, 2), {.weight = without(3)}, "one");
  net.output(net.dense(a, 5, some));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 12 of 16");
}

// Where padding stands between them they are not the same everywhere.
TEST(DeadChannels, FlattenedWithPaddingTheyStay) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 < 2 ? kHigh : small(o); };
  const Image a = net.conv(net.input(3, 3, 4, 2), {.weight = some, .bias = bias}, "one");
  net.output(net.dense(a, 5, some, 1));
  net.check_bits();
  EXPECT_EQ(net.removed(), "");
}

// Sums of which the rows that are needed are one number each everywhere, and another is not.
TEST(DeadChannels, ARowOfOneNumberIsAddedAsOftenAsItStands) {
  for (const bool is_open : {false, true}) {
    const auto graph = LazyGraph::create();
    const Sint n = is_open ? graph->symbols().variable("n", 1, 9) : Sint(3);
    const auto rows = [&](const Ints& values) {
      return Tensor::constant(*graph, Array::of_ints(DType::Int32, {3, 1, 1}, values)).expand({3, 4, n});
    };
    const Tensor x = Tensor::input(*graph, "x", DType::Int8, {1, 1, 1}).cast(DType::Int32).expand({3, 4, n});
    const Tensor y = x.maximum(rows({7, -5, -50})).minimum(rows({7, -5, 50})).sum({1, 2});
    const Tensor first = y.shrink({{0, 2}}).cast(DType::Float32);
    const WithoutDeadChannels r = remove_dead_channels(*graph, {first.buffer()});
    const std::map<std::string, Array> inputs{{"x", Array::of_ints(DType::Int8, {1, 1, 1}, Ints{20})}};
    const VarValues vars = is_open ? VarValues{{"n", 3}} : VarValues{};
    EXPECT_EQ(test::GraphEvaluator(*graph, inputs).evaluate(r.outputs, vars)[0].doubles(), (std::vector<double>{7 * 12, -5 * 12}))
        << is_open;
  }
}

TEST(DeadChannels, LeaveConcatenations) {
  Net net;
  const Image x = net.input(3, 5, 4);
  const Image a = net.conv(x, {.weight = without(2)}, "one"), b = net.conv(x, {.outputs = 8, .weight = without(1)}, "two");
  net.output(net.conv(net.concat(a, b), {.outputs = 6, .weight = some}, "three"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 6 of 16, two 2 of 8") << "10 are dead; 14 left are no tiles of 4, so two more stay";
}

TEST(DeadChannels, LeaveLargestValuesOfWindows) {
  Net net;
  const auto bias = [](std::int64_t o) { return o % 4 < 2 ? kLow : small(o); };
  const Image a = net.conv(net.input(3, 5, 4, 2), {.weight = some, .bias = bias}, "one");
  net.output(net.conv(net.max_pool(a), {.outputs = 6, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 8 of 16");
}

// What is left fills tiles of 4 channels, as kernels compute them.
TEST(DeadChannels, StayWhereATileWouldNotBeFull) {
  Net net;
  const Image a = net.conv(net.input(3, 5, 4), {.weight = [](std::int64_t o, std::int64_t i) { return o < 5 ? 0 : some(o, i); }}, "one");
  net.output(net.conv(a, {.outputs = 6, .weight = some}, "two"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "one 4 of 16");
}

TEST(DeadChannels, OfOutputsStay) {
  Net net;
  net.output(net.conv(net.input(3, 5, 4), {.weight = without(2)}, "one"));
  net.check_bits();
  EXPECT_EQ(net.removed(), "");
}

TEST(DeadChannels, AreNamedInTheReport) {
  Net net;
  const Image a = net.conv(net.input(3, 5, 4), {.weight = without(2)}, "one");
  net.output(net.conv(a, {.outputs = 6, .weight = some}, "two"));
  net.check_bits();
  CompileOptions options;
  options.target = find_target("c99", std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  const Report report = compile_project(net.frontend, options).report;
  EXPECT_NE(to_text(report).find("       8 of     16  one\n"), std::string::npos) << to_text(report);
  EXPECT_NE(to_json(report).find("\"dead_channels\""), std::string::npos);
}

}  // namespace
}  // namespace etch::dead_channels_test
