// How quantised sums read their operands: padding that is written once, weights of 16 bits; and results that lie over parts of what they
// are computed from. Wanted numbers are loops of this file.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "target/target.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using Value = GraphBuilder::Value;

Ints bytes(std::int64_t n, std::mt19937& rng) {
  Ints values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<std::int64_t>(rng() % 256) - 128);
  return values;
}

/// A QLinearConv of int8 of size x size elements, padded so that the size stays: weights [outputs, channels / groups, kernel, kernel].
struct Conv {
  std::int64_t channels = 1, outputs = 1, size = 1, kernel = 1, groups = 1;
  Ints weights;
  std::int64_t x_zero = 0, y_zero = 0;
  static constexpr float kScale = 0.004f;

  Value add(GraphBuilder& g, const std::string& name, const Value& x) const {
    const auto point = [&](const std::string& what, std::int64_t v) {
      return g.initializer(name + what, Array::of_ints(DType::Int8, {}, Ints{v}));
    };
    const auto scale = [&](const std::string& what, double v) {
      return g.initializer(name + what, Array::of_doubles(DType::Float32, {}, std::vector<double>{v}));
    };
    const Value w = g.initializer(name + "_w", Array::of_ints(DType::Int8, {outputs, channels / groups, kernel, kernel}, weights));
    const std::int64_t pad = kernel / 2;
    return g.node(
        "QLinearConv",
        {x, scale("_sx", 1), point("_zx", x_zero), w, scale("_sw", kScale), point("_zw", 0), scale("_sy", 1), point("_zy", y_zero)},
        {{"pads", Ints{pad, pad, pad, pad}}, {"group", groups}}, name);
  }

  Ints of(const Ints& x) const {
    Ints y;
    const std::int64_t each = channels / groups, pad = kernel / 2;
    const auto at = [&](std::int64_t a) { return static_cast<std::size_t>(a); };
    for (std::int64_t o = 0; o < outputs; o++)
      for (std::int64_t r = 0; r < size; r++)
        for (std::int64_t c = 0; c < size; c++) {
          std::int64_t acc = 0;
          for (std::int64_t k = 0; k < each; k++)
            for (std::int64_t i = 0; i < kernel; i++)
              for (std::int64_t j = 0; j < kernel; j++) {
                const std::int64_t yy = r + i - pad, xx = c + j - pad, channel = o / (outputs / groups) * each + k;
                if (yy < 0 || yy >= size || xx < 0 || xx >= size) continue;
                acc += (x[at((channel * size + yy) * size + xx)] - x_zero) * weights[at(((o * each + k) * kernel + i) * kernel + j)];
              }
          y.push_back(std::clamp<std::int64_t>(std::lrint(static_cast<float>(acc) * kScale) + y_zero, -128, 127));
        }
    return y;
  }
};

struct Net {
  CompileOptions options;
  Frontend frontend;
};

Net net_of(const std::vector<Conv>& convs, const char* target, bool wide_weights = true, bool overlap = false, bool io_in_arena = false) {
  GraphBuilder g("net", 13);
  const auto shape = [](std::int64_t channels, std::int64_t size) { return std::vector<OnnxDim>{1, channels, size, size}; };
  Value x = g.input("x", DType::Int8, shape(convs[0].channels, convs[0].size));
  for (std::size_t i = 0; i < convs.size(); i++) x = convs[i].add(g, "conv" + std::to_string(i), x);
  g.output(x, DType::Int8, shape(convs.back().outputs, convs.back().size));
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

/// INTERP, C and LLVM give what the loops give.
void expect_right(const Net& net, const std::vector<Conv>& convs, std::mt19937& rng) {
  const Conv& first = convs[0];
  Ints x = bytes(first.channels * first.size * first.size, rng);
  const Array input = Array::of_ints(DType::Int8, {1, first.channels, first.size, first.size}, x);
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

Conv random_conv(std::mt19937& rng, std::int64_t channels, std::int64_t outputs, std::int64_t size, std::int64_t kernel,
                 std::int64_t groups = 1) {
  Conv c{channels, outputs, size, kernel, groups, bytes(outputs * channels / groups * kernel * kernel, rng)};
  c.x_zero = static_cast<std::int64_t>(rng() % 256) - 128;
  c.y_zero = static_cast<std::int64_t>(rng() % 256) - 128;
  return c;
}

/// The convolutions in turn, each with the zero point that the one before it gives.
std::vector<Conv> chain(std::vector<Conv> convs) {
  for (std::size_t i = 1; i < convs.size(); i++) convs[i].x_zero = convs[i - 1].y_zero;
  return convs;
}

bool reads_through_a_mask(const Schedule& schedule, std::size_t item) {
  for (const LazyOp* op : toposort(schedule.items[item].ast))
    if (op->op == Op::Load && op->st().views()[0].mask) return true;
  return false;
}

// To many channels, what is padded is read often, and the peak is elsewhere: one kernel more, and none of the sums tests anything.
TEST(Padding, IsWrittenOnceForManySums) {
  std::mt19937 rng(1);
  for (const std::int64_t zero : {std::int64_t{-128}, std::int64_t{0}, std::int64_t{83}}) {
    std::vector<Conv> convs = chain({random_conv(rng, 2, 16, 8, 3), random_conv(rng, 16, 16, 8, 1)});
    convs[0].x_zero = zero;
    const Net net = net_of(convs, "c99");
    ASSERT_EQ(net.frontend.schedule.items.size(), 3u) << to_text(net.frontend.schedule);
    EXPECT_EQ(net.frontend.schedule.items[0].out->shape(), (std::vector<Sint>{1, 2, 10, 10}));
    EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 0));
    EXPECT_FALSE(reads_through_a_mask(net.frontend.schedule, 1));
    expect_right(net, convs, rng);
  }
}

TEST(Padding, StaysInTheSumWhereItIsReadSeldomOrMemoryWouldGrow) {
  std::mt19937 rng(2);
  const std::vector<std::vector<Conv>> nets{
      chain({random_conv(rng, 16, 16, 8, 3, 16), random_conv(rng, 16, 16, 8, 1)}),  // nine products an element
      {random_conv(rng, 16, 4, 8, 3)},                                              // the output is smaller than its padded input
  };
  for (const std::vector<Conv>& convs : nets) {
    const Net net = net_of(convs, "c99");
    EXPECT_EQ(net.frontend.schedule.items.size(), convs.size()) << to_text(net.frontend.schedule);
    EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 0));
    expect_right(net, convs, rng);
  }
}

// Twice the memory for what a dot product in steps multiplies, on targets that have one, unless flash counts more. The channels of the
// graph's own input do not lie side by side.
TEST(WideWeights, AreForDotProductsInSteps) {
  std::mt19937 rng(3);
  const std::vector<Conv> convs =
      chain({random_conv(rng, 16, 12, 5, 1), random_conv(rng, 12, 12, 5, 3, 12), random_conv(rng, 12, 6, 5, 1)});
  struct Row {
    const char* target;
    bool wide;
    std::int64_t bytes;
  };
  const Row rows[] = {{"cortex-m4f", true, 12 * 6}, {"cortex-m4f", false, 0}, {"cortex-m3", true, 0}, {"c99", true, 0}};
  for (const Row& row : rows) {
    const Net net = net_of(convs, row.target, row.wide);
    EXPECT_EQ(net.frontend.widened_bytes, row.bytes) << row.target;
    expect_right(net, convs, rng);
  }
}

// Whatever the sizes: tiles that overlap, sums of a length that no instruction divides, one channel.
TEST(WideWeights, AreRightInRandomNetworks) {
  std::mt19937 rng(4);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (int i = 0; i < 12; i++) {
    const std::int64_t size = pick(1, 9), middle = pick(1, 20);
    const std::vector<Conv> convs =
        chain({random_conv(rng, pick(1, 3), middle, size, 2 * pick(0, 1) + 1), random_conv(rng, middle, middle, size, 3, middle),
               random_conv(rng, middle, pick(1, 9), size, 1)});
    const Net net = net_of(convs, "cortex-m4f");
    SCOPED_TRACE(to_text(net.frontend.schedule));
    expect_right(net, convs, rng);
  }
}

Net net_of_graph(const GraphBuilder& g, const char* target) {
  Net net;
  net.options.import.bytes = g.bytes();
  net.options.import.path = "net.onnx";
  net.options.target = find_target(target, std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  net.frontend = read_model(net.options);
  return net;
}

void expect_bytes_in_memory(const Net& net) {
  for (const ScheduleItem& item : net.frontend.schedule.items)
    for (const LazyBuffer* out : item.outs()) EXPECT_EQ(bytes_of(out->dtype), 1) << to_text(net.frontend.schedule);
}

void expect_outputs(const Net& net, const Array& input, const Ints& wanted) {
  EXPECT_EQ(make_reference_device()->load(lower_model(net.frontend, nullptr, net.options))->run({input}).at(0).ints(), wanted);
  const auto device = make_device("c", {});
  EXPECT_EQ(device->load(lower_model(net.frontend, device->language(), net.options))->run({input}).at(0).ints(), wanted);
}

// An image whose channels lie last, as cameras give it, in front of a convolution: what is read is its bytes.
TEST(NarrowValues, OfAnImageInAnotherOrderAreReadAsTheyAre) {
  std::mt19937 rng(7);
  const Conv conv = random_conv(rng, 3, 4, 8, 3);
  GraphBuilder g("net", 13);
  const Value x = g.input("x", DType::Int8, {1, 8, 8, 3});
  g.output(conv.add(g, "conv", g.node("Transpose", {x}, {{"perm", Ints{0, 3, 1, 2}}})), DType::Int8, {1, 4, 8, 8});
  const Net net = net_of_graph(g, "cortex-m4f");
  expect_bytes_in_memory(net);
  const Ints image = bytes(8 * 8 * 3, rng);
  Ints planes;
  for (std::size_t c = 0; c < 3; c++)
    for (std::size_t pixel = 0; pixel < 64; pixel++) planes.push_back(image[pixel * 3 + c]);
  expect_outputs(net, Array::of_ints(DType::Int8, {1, 8, 8, 3}, image), conv.of(planes));
}

// A value that a convolution and a sum read: its bytes are stored, not what they are widened to. A factor and a term for each channel
// behind the convolution, as of a normalisation that was quantised by itself, make it dear to compute twice.
TEST(NarrowValues, OfResidualNetworksAreStored) {
  std::mt19937 rng(8);
  const std::vector<Conv> convs{random_conv(rng, 4, 4, 6, 3), random_conv(rng, 4, 4, 6, 3), random_conv(rng, 4, 4, 6, 1)};
  const std::vector<double> factors{0.5, 0.75, 1, 1.25}, terms{1, -2, 3.25, 0.5};
  GraphBuilder g("net", 13);
  int constants = 0;
  const auto name = [&] { return "constant" + std::to_string(constants++); };
  const auto point = [&](std::int64_t v) { return g.initializer(name(), Array::of_ints(DType::Int8, {}, Ints{v})); };
  const auto floats = [&](const std::vector<double>& v) { return g.initializer(name(), Array::of_doubles(DType::Float32, {4, 1, 1}, v)); };
  const Value one = g.initializer("one", Array::of_doubles(DType::Float32, {}, std::vector<double>{1}));
  const auto wide = [&](const Value& x, std::int64_t zero) { return g.node("DequantizeLinear", {x, one, point(zero)}); };
  const auto narrow = [&](const Value& x, std::int64_t zero) { return g.node("QuantizeLinear", {x, one, point(zero)}); };
  const Value a = convs[0].add(g, "a", g.input("x", DType::Int8, {1, 4, 6, 6}));
  const Value normal = narrow(g.node("Add", {g.node("Mul", {wide(a, convs[0].y_zero), floats(factors)}), floats(terms)}), convs[1].x_zero);
  const Value b = convs[1].add(g, "b", normal);
  const Value sum = narrow(g.node("Add", {wide(normal, convs[1].x_zero), wide(b, convs[1].y_zero)}), convs[2].x_zero);
  g.output(convs[2].add(g, "c", sum), DType::Int8, {1, 4, 6, 6});
  const Net net = net_of_graph(g, "cortex-m4f");
  expect_bytes_in_memory(net);
  const auto saturated = [](std::int64_t v) { return std::clamp<std::int64_t>(v, -128, 127); };
  const Ints x = bytes(4 * 36, rng), of_a = convs[0].of(x);
  Ints normals, sums;
  for (std::size_t i = 0; i < of_a.size(); i++)
    normals.push_back(
        saturated(std::lrint(static_cast<double>(of_a[i] - convs[0].y_zero) * factors[i / 36] + terms[i / 36]) + convs[1].x_zero));
  const Ints of_b = convs[1].of(normals);
  for (std::size_t i = 0; i < of_b.size(); i++)
    sums.push_back(saturated(normals[i] - convs[1].x_zero + of_b[i] - convs[1].y_zero + convs[2].x_zero));
  expect_outputs(net, Array::of_ints(DType::Int8, {1, 4, 6, 6}, x), convs[2].of(sums));
}

MemoryPlan plan_of(const Net& net) { return compile_project(net.frontend, net.options).plan; }

// A layer of each kind as networks for images have them: 12 channels of 10 x 10. A depthwise layer needs the row above and the pixel beside
// it once more, the others a tile of two pixels; every second layer runs backwards, so that all of them share one place.
TEST(LittleRam, LayersOfImagesShareOnePlace) {
  std::mt19937 rng(5);
  const std::vector<Conv> convs =
      chain({random_conv(rng, 12, 12, 10, 3, 12), random_conv(rng, 12, 12, 10, 1), random_conv(rng, 12, 12, 10, 3, 12),
             random_conv(rng, 12, 12, 10, 1), random_conv(rng, 12, 12, 10, 3, 12), random_conv(rng, 12, 12, 10, 1)});
  for (const char* target : {"cortex-m4f", "c99"}) {
    const Net net = net_of(convs, target, true, true);
    const MemoryPlan plan = plan_of(net);
    EXPECT_GE(plan.arena_bytes, 1200);
    EXPECT_LE(plan.arena_bytes, 1200 + 2 * 120 + 32) << target;
    EXPECT_TRUE(plan.is_smallest);
    expect_right(net, convs, rng);
    EXPECT_EQ(plan_of(net_of(convs, target)).arena_bytes, 2400);
  }
}

// Whatever the sizes, with inputs and outputs in the arena as well: layers that widen and narrow, windows, groups, dense sums.
TEST(LittleRam, RandomNetworksAreRight) {
  std::mt19937 rng(6);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  int smaller = 0;
  for (int i = 0; i < 12; i++) {
    const std::int64_t size = pick(1, 9);
    std::vector<Conv> convs;
    std::int64_t channels = pick(1, 12);
    for (int layer = 0; layer < 4; layer++) {
      const bool depthwise = pick(0, 2) == 0;
      const std::int64_t outputs = depthwise ? channels : pick(1, 16);
      convs.push_back(random_conv(rng, channels, outputs, size, 2 * pick(0, 1) + 1, depthwise ? channels : 1));
      channels = outputs;
    }
    convs = chain(convs);
    const char* target = i % 3 == 0 ? "c99" : i % 3 == 1 ? "cortex-m4f" : "x86-64-v4";
    const Net net = net_of(convs, target, true, true, true);
    SCOPED_TRACE(to_text(net.frontend.schedule));
    expect_right(net, convs, rng);
    smaller += plan_of(net).arena_bytes < plan_of(net_of(convs, target, true, false, true)).arena_bytes ? 1 : 0;
  }
  EXPECT_GE(smaller, 6);
}

}  // namespace
}  // namespace etch
