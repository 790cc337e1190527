// For tests of quantised convolutions: chains of QLinearConv, and the loops that say what they give.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "target/target.h"

namespace etch::test::convs {

using Ints = std::vector<std::int64_t>;
using Value = GraphBuilder::Value;

inline Ints bytes(std::int64_t n, std::mt19937& rng) {
  Ints values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<std::int64_t>(rng() % 256) - 128);
  return values;
}

/// A QLinearConv of int8, or of uint8 with weights of int8, of size x size elements, padded so that the size stays, or is divided by the
/// stride: weights [outputs, channels / groups, kernel, kernel].
struct Conv {
  std::int64_t channels = 1, outputs = 1, size = 1, kernel = 1, groups = 1;
  Ints weights{};
  std::int64_t x_zero = 0, y_zero = 0, stride = 1;
  DType dtype = DType::Int8;  // of x and y
  bool is_padded = true;
  static constexpr float kScale = 0.004f;

  Value add(GraphBuilder& g, const std::string& name, const Value& x) const {
    const auto point = [&](const std::string& what, std::int64_t v, DType type) {
      return g.initializer(name + what, Array::of_ints(type, {}, Ints{v}));
    };
    const auto scale = [&](const std::string& what, double v) {
      return g.initializer(name + what, Array::of_doubles(DType::Float32, {}, std::vector<double>{v}));
    };
    const Value w = g.initializer(name + "_w", Array::of_ints(DType::Int8, {outputs, channels / groups, kernel, kernel}, weights));
    return g.node("QLinearConv",
                  {x, scale("_sx", 1), point("_zx", x_zero, dtype), w, scale("_sw", kScale), point("_zw", 0, DType::Int8), scale("_sy", 1),
                   point("_zy", y_zero, dtype)},
                  {{"pads", Ints(4, pad())}, {"group", groups}, {"strides", Ints{stride, stride}}}, name);
  }

  std::int64_t pad() const { return is_padded ? kernel / 2 : 0; }
  std::int64_t size_out() const { return (size + 2 * pad() - kernel) / stride + 1; }

  Ints of(const Ints& x) const {
    Ints y;
    const std::int64_t each = channels / groups;
    const auto at = [&](std::int64_t a) { return static_cast<std::size_t>(a); };
    for (std::int64_t o = 0; o < outputs; o++)
      for (std::int64_t r = 0; r < size_out(); r++)
        for (std::int64_t c = 0; c < size_out(); c++) {
          std::int64_t acc = 0;
          for (std::int64_t k = 0; k < each; k++)
            for (std::int64_t i = 0; i < kernel; i++)
              for (std::int64_t j = 0; j < kernel; j++) {
                const std::int64_t yy = r * stride + i - pad(), xx = c * stride + j - pad(), channel = o / (outputs / groups) * each + k;
                if (yy < 0 || yy >= size || xx < 0 || xx >= size) continue;
                acc += (x[at((channel * size + yy) * size + xx)] - x_zero) * weights[at(((o * each + k) * kernel + i) * kernel + j)];
              }
          y.push_back(std::clamp<std::int64_t>(std::lrint(static_cast<float>(acc) * kScale) + y_zero, int_min(dtype), int_max(dtype)));
        }
    return y;
  }
};

struct Net {
  CompileOptions options;
  Frontend frontend;
};

inline Net net_of(const GraphBuilder& g, const char* target, bool wide_weights, bool overlap = false, bool io_in_arena = false) {
  Net net;
  net.options.import.bytes = g.bytes();
  net.options.import.path = "net.onnx";
  net.options.target = find_target(target, std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  net.options.wide_weights = wide_weights;
  net.options.overlap = overlap;
  net.options.io_in_arena = io_in_arena;
  net.frontend = read_model(net.options);
  return net;
}

inline Net net_of(const std::vector<Conv>& convs, const char* target, bool wide_weights = true, bool overlap = false,
                  bool io_in_arena = false) {
  GraphBuilder g("net", 13);
  const auto shape = [](std::int64_t channels, std::int64_t size) { return std::vector<OnnxDim>{1, channels, size, size}; };
  Value x = g.input("x", convs[0].dtype, shape(convs[0].channels, convs[0].size));
  for (std::size_t i = 0; i < convs.size(); i++) x = convs[i].add(g, "conv" + std::to_string(i), x);
  g.output(x, convs[0].dtype, shape(convs.back().outputs, convs.back().size_out()));
  return net_of(g, target, wide_weights, overlap, io_in_arena);
}

/// INTERP, C and LLVM give what the loops give.
inline void expect_right(const Net& net, const std::vector<Conv>& convs, std::mt19937& rng) {
  const Conv& first = convs[0];
  Ints x = bytes(first.channels * first.size * first.size, rng);
  for (std::int64_t& v : x) v += int_min(first.dtype) - int_min(DType::Int8);
  const Array input = Array::of_ints(first.dtype, {1, first.channels, first.size, first.size}, x);
  for (const Conv& c : convs) x = c.of(x);
  const auto interp = make_reference_device();
  EXPECT_EQ(interp->load(lower_model(net.frontend, nullptr, net.options))->run({input}).at(0).ints(), x);
  for (const char* name : {"c", "llvm"}) {
    DeviceOptions guarded;
    guarded.guards = true;
    const auto device = make_device(name, guarded);
    EXPECT_EQ(device->load(lower_model(net.frontend, device->language(), net.options))->run({input}).at(0).ints(), x) << name;
  }
}

inline Conv random_conv(std::mt19937& rng, std::int64_t channels, std::int64_t outputs, std::int64_t size, std::int64_t kernel,
                        std::int64_t groups = 1) {
  Conv c{channels, outputs, size, kernel, groups, bytes(outputs * channels / groups * kernel * kernel, rng)};
  c.x_zero = static_cast<std::int64_t>(rng() % 256) - 128;
  c.y_zero = static_cast<std::int64_t>(rng() % 256) - 128;
  return c;
}

/// The same on bytes of uint8.
inline Conv in_uint8(Conv c) {
  c.dtype = DType::UInt8;
  c.x_zero += 128;
  c.y_zero += 128;
  return c;
}

/// The convolutions in turn, each with the zero point that the one before it gives.
inline std::vector<Conv> chain(std::vector<Conv> convs) {
  for (std::size_t i = 1; i < convs.size(); i++) convs[i].x_zero = convs[i - 1].y_zero;
  return convs;
}

}  // namespace etch::test::convs
