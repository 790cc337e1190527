// Convolutions with fewer products: on whole numbers, with weights whose parts are whole too, they give exactly what loops give; on others
// they are off by little more than plain sums. And where they are taken.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "support/instructions.h"
#include "support/rounds.h"

namespace etch::winograd_test {
namespace {

using Ints = GraphBuilder::Ints;
using Value = GraphBuilder::Value;
using Doubles = std::vector<double>;

/// x [batch, before, height, width] -> 1x1 -> [channels] -> relu -> the convolution [outputs] -> relu -> 1x1 -> [2], and a branch whose
/// intermediate result takes as much memory as the convolution may want.
struct Case {
  std::int64_t batch = 1, channels = 16, outputs = 16, height = 8, width = 8, kernel_height = 3, kernel_width = 3;
  std::int64_t top = 1, left = 1, bottom = 1, right = 1;
  bool adds_input = false;  // of the convolution, to its result; both are of one size
  bool has_loops = false;   // one before the convolutions, and one behind them
  static constexpr std::int64_t kBefore = 3;

  std::int64_t out_height() const { return height + top + bottom - kernel_height + 1; }
  std::int64_t out_width() const { return width + left + right - kernel_width + 1; }
};

std::int64_t pick(std::mt19937& rng, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(rng);
}

/// `large`: two axes pay as well.
Case random_case(std::mt19937& rng, bool large) {
  Case c{.batch = pick(rng, 1, 2), .channels = 16 * pick(rng, 1, 2), .outputs = 16 * pick(rng, 1, 3)};
  c.height = pick(rng, 4, 24), c.width = pick(rng, 4, 24);
  if (large) c.channels = 32, c.outputs = 32, c.height = pick(rng, 20, 24), c.width = pick(rng, 20, 24);
  if (pick(rng, 0, large ? 9 : 3) == 0) (pick(rng, 0, 1) == 0 ? c.kernel_height : c.kernel_width) = pick(rng, 1, 7);
  c.height += c.kernel_height, c.width += c.kernel_width;
  for (std::int64_t* pad : {&c.top, &c.left, &c.bottom, &c.right}) *pad = pick(rng, 0, 1);
  c.adds_input = pick(rng, 0, 1) == 0;
  c.has_loops = pick(rng, 0, 1) == 0;
  if (!c.adds_input) return c;
  c.outputs = c.channels;
  c.top = pick(rng, 0, c.kernel_height - 1), c.bottom = c.kernel_height - 1 - c.top;
  c.left = pick(rng, 0, c.kernel_width - 1), c.right = c.kernel_width - 1 - c.left;
  return c;
}

struct Numbers {
  Doubles x, first, weights, bias, last;
};

Doubles multiples(std::mt19937& rng, std::int64_t n, std::int64_t most, double of = 1) {
  Doubles values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(of * static_cast<double>(pick(rng, -most, most)));
  return values;
}

Numbers whole_numbers(const Case& c, std::mt19937& rng, double of, double of_image = 1) {
  return {multiples(rng, c.batch * Case::kBefore * c.height * c.width, 1), multiples(rng, c.channels * Case::kBefore, 1, of_image),
          multiples(rng, c.outputs * c.channels * c.kernel_height * c.kernel_width, 1, of), multiples(rng, c.outputs, 9),
          multiples(rng, 2 * c.outputs, 1)};
}

/// [batch, channels, height, width] by weights [outputs, channels, kernel], in double.
Doubles convolution(const Case& c, const Doubles& x, std::int64_t channels, std::int64_t outputs, const Doubles& weights,
                    bool is_one_by_one) {
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  const std::int64_t kh = is_one_by_one ? 1 : c.kernel_height, kw = is_one_by_one ? 1 : c.kernel_width;
  const std::int64_t size = static_cast<std::int64_t>(x.size()) / (c.batch * channels);
  const std::int64_t width = size == c.height * c.width ? c.width : c.out_width(), height = size / width;
  const std::int64_t rows = is_one_by_one ? height : c.out_height(), columns = is_one_by_one ? width : c.out_width();
  Doubles y;
  for (std::int64_t n = 0; n < c.batch; n++)
    for (std::int64_t o = 0; o < outputs; o++)
      for (std::int64_t r = 0; r < rows; r++)
        for (std::int64_t q = 0; q < columns; q++) {
          double sum = 0;
          for (std::int64_t k = 0; k < channels * kh * kw; k++) {
            const std::int64_t from = k / (kh * kw), yy = r + k / kw % kh - (is_one_by_one ? 0 : c.top);
            const std::int64_t xx = q + k % kw - (is_one_by_one ? 0 : c.left);
            if (yy < 0 || yy >= height || xx < 0 || xx >= width) continue;
            sum += x[at(((n * channels + from) * height + yy) * width + xx)] * weights[at(o * channels * kh * kw + k)];
          }
          y.push_back(sum);
        }
  return y;
}

Doubles expected(const Case& c, const Numbers& numbers) {
  const auto relu = [](Doubles values) {
    for (double& v : values) v = std::max(v, 0.0);
    return values;
  };
  const Doubles image = relu(convolution(c, numbers.x, Case::kBefore, c.channels, numbers.first, true));
  Doubles y = convolution(c, image, c.channels, c.outputs, numbers.weights, false);
  const std::size_t plane = static_cast<std::size_t>(c.out_height() * c.out_width());
  for (std::size_t i = 0; i < y.size(); i++) y[i] += numbers.bias[i / plane % numbers.bias.size()] + (c.adds_input ? image[i] : 0);
  return convolution(c, relu(y), c.outputs, 2, numbers.last, true);
}

Numbers absolute(Numbers numbers) {
  for (Doubles* values : {&numbers.weights, &numbers.bias, &numbers.last})
    for (double& v : *values) v = std::fabs(v);
  return numbers;
}

double worst_error(const Doubles& got, const Doubles& wanted, const Doubles& sums) {
  double worst = got.size() == wanted.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); i++)
    worst = std::max(worst, got[i] == wanted[i] ? 0 : std::fabs(got[i] - wanted[i]) / sums[i]);
  return worst;
}

class WinogradNet {
 public:
  WinogradNet(const Case& c, const Numbers& numbers, const char* target, std::optional<Winograd> winograd, bool has_room = true) {
    GraphBuilder g("net", 13);
    const auto weights = [&](const char* name, const Ints& shape, const Doubles& values) {
      return g.initializer(name, Array::of_doubles(DType::Float32, shape, values));
    };
    const Value x = g.input("x", DType::Float32, {c.batch, Case::kBefore, c.height, c.width});
    const Value image = g.relu(g.node("Conv", {x, weights("first", {c.channels, Case::kBefore, 1, 1}, numbers.first)}));
    Value y = g.node("Conv",
                     {image, weights("weights", {c.outputs, c.channels, c.kernel_height, c.kernel_width}, numbers.weights),
                      weights("bias", {c.outputs}, numbers.bias)},
                     {{"pads", Ints{c.top, c.left, c.bottom, c.right}}}, "conv");
    if (c.adds_input) y = g.node("Add", {y, image});
    const Value out = g.node("Conv", {g.relu(y), weights("last", {2, c.outputs, 1, 1}, numbers.last)});
    g.output(out, DType::Float32, {c.batch, 2, c.out_height(), c.out_width()});
    for (const Value& ranked : c.has_loops ? std::vector<Value>{x, out} : std::vector<Value>()) {
      constexpr std::int64_t kMany = 9;
      const Value flat = g.node("Flatten", {ranked}, {{"axis", std::int64_t{0}}});
      const Value most = g.initializer(ranked + "_most", Array::of_ints(DType::Int64, {1}, Ints{kMany}));
      g.output(g.node("TopK", {flat, most}), DType::Float32, {1, kMany});
    }
    if (has_room) {
      const std::int64_t planes = 6 * (c.channels + c.outputs);
      const Value big = g.input("big", DType::Float32, {c.batch, planes, c.height + 4, c.width + 4});
      const OnnxAttributes three{{"kernel_shape", Ints{3, 3}}};
      big_ = {c.batch, planes, c.height + 4, c.width + 4};
      g.output(g.node("GlobalMaxPool", {g.node("AveragePool", {big}, three)}), DType::Float32, {c.batch, planes, 1, 1});
    }
    options_.import.bytes = g.bytes();
    options_.import.path = "net.onnx";
    options_.target = test::target_named(target);
    options_.winograd = winograd;
    frontend_ = read_model(options_);
  }

  bool is_combined() const { return frontend_.schedule.widened_bytes > 0; }
  /// Of the kernel with most of them.
  std::int64_t most_products() const {
    std::int64_t most = 0;
    for (const ScheduleItem& item : frontend_.schedule.items) most = std::max(most, count_work(item.ast).macs.as_int());
    return most;
  }
  const Frontend& frontend() const { return frontend_; }

  std::vector<double> run(const Case& c, const Numbers& numbers, const std::string& device_name) const {
    std::vector<Array> inputs{Array::of_doubles(DType::Float32, {c.batch, Case::kBefore, c.height, c.width}, numbers.x)};
    if (!big_.empty()) inputs.push_back(Array::filled(DType::Float32, big_, Scalar::of_double(DType::Float32, 1)));
    DeviceOptions guarded;
    guarded.guards = true;
    const auto device = device_name == "interp" ? make_reference_device() : make_device(device_name, guarded);
    const Language* language = device_name == "interp" ? nullptr : device->language();
    return device->load(lower_model(frontend_, language, options_))->run(inputs).at(0).doubles();
  }

 private:
  CompileOptions options_;
  Frontend frontend_;
  Ints big_;
};

/// The largest error of the result of random convolutions beside the sum of its absolute products.
double worst_of_random(Winograd winograd, double of, double of_image, unsigned seed) {
  std::mt19937 rng(seed);
  const int rounds = test::rounds(winograd == Winograd::TwoAxes ? 8 : 16);  // the images of two axes are large
  int combined = 0;
  double worst = 0;
  for (int round = 0; round < rounds; round++) {
    const Case c = random_case(rng, winograd == Winograd::TwoAxes);
    const Numbers numbers = whole_numbers(c, rng, of, of_image);
    const char* target = std::array{"x86-64-v4", "x86-64-v3", "cortex-a53"}[rng() % 3];
    const WinogradNet net(c, numbers, target, winograd);
    const Winograd one_less = winograd == Winograd::TwoAxes ? Winograd::OneAxis : Winograd::Off;
    combined += net.most_products() < WinogradNet(c, numbers, target, one_less).most_products() ? 1 : 0;
    const Doubles wanted = expected(c, numbers), sums = expected(c, absolute(numbers));
    for (const char* device : {"interp", "c", "llvm"}) {
      const double error = worst_error(net.run(c, numbers, device), wanted, sums);
      worst = std::max(worst, error);
      EXPECT_LT(error, 1e-3) << device << " for " << target << ": " << c.batch << " x " << c.channels << " x " << c.height << " x "
                             << c.width << " to " << c.outputs << ", kernel " << c.kernel_height << " x " << c.kernel_width << ", padding "
                             << c.top << c.left << c.bottom << c.right;
    }
  }
  EXPECT_GT(combined, rounds / 4);
  return worst;
}

// Weights that are multiples of 360 have whole parts at the points of all tiles, and so have multiples of 4 in an image.
TEST(WinogradAlongOneAxis, GivesTheSumsOfLoops) { EXPECT_EQ(worst_of_random(Winograd::OneAxis, 360, 4, 1), 0); }
TEST(WinogradAlongTwoAxes, GivesTheSumsOfLoops) { EXPECT_LT(worst_of_random(Winograd::TwoAxes, 1, 1, 2), 0x1p-20); }

TEST(WinogradConvolutions, HaveHalfOrAQuarterOfTheProducts) {
  std::mt19937 rng(3);
  const Case c{.channels = 32, .outputs = 32, .height = 24, .width = 24};
  const Numbers numbers = whole_numbers(c, rng, 1);
  const auto macs = [&](Winograd winograd) { return WinogradNet(c, numbers, "x86-64-v4", winograd).most_products(); };
  const std::int64_t plain = 9 * 32 * 32 * 24 * 24;
  EXPECT_EQ(macs(Winograd::Off), plain);
  EXPECT_EQ(macs(Winograd::OneAxis), plain / 2);
  EXPECT_EQ(macs(Winograd::TwoAxes), plain / 4);
  const std::int64_t bytes = 4 * 9 * 32 * 32;
  EXPECT_EQ(WinogradNet(c, numbers, "x86-64-v4", Winograd::OneAxis).frontend().widened_bytes, bytes);
  EXPECT_EQ(WinogradNet(c, numbers, "x86-64-v4", Winograd::TwoAxes).frontend().widened_bytes, 3 * bytes);
}

// What a target takes by itself: not where memory is scarce, nor where it would take more of it than a twentieth.
TEST(WinogradConvolutions, AreTakenWhereThereIsRoom) {
  std::mt19937 rng(4);
  const Case c{.channels = 32, .outputs = 32, .height = 16, .width = 16};
  const Numbers numbers = whole_numbers(c, rng, 1);
  for (const char* target : {"x86-64-v3", "x86-64-v4", "cortex-a53", "rv64gcv"})
    EXPECT_TRUE(WinogradNet(c, numbers, target, std::nullopt).is_combined()) << target;
  for (const char* target : {"c99", "cortex-m4f", "cortex-m55", "avr", "opencl", "cuda"})
    EXPECT_FALSE(WinogradNet(c, numbers, target, std::nullopt).is_combined()) << target;
  EXPECT_FALSE(WinogradNet(c, numbers, "x86-64-v4", Winograd::Off).is_combined());
  EXPECT_FALSE(WinogradNet(c, numbers, "x86-64-v4", std::nullopt, false).is_combined());
  EXPECT_TRUE(WinogradNet(c, numbers, "cortex-m4f", Winograd::OneAxis).is_combined());
}

TEST(WinogradConvolutions, AreTakenBesideLoops) {
  std::mt19937 rng(8);
  const Case c{.channels = 32, .outputs = 32, .height = 16, .width = 16, .has_loops = true};
  const Numbers numbers = whole_numbers(c, rng, 360, 4);
  const WinogradNet net(c, numbers, "x86-64-v4", std::nullopt);
  EXPECT_TRUE(net.is_combined());
  EXPECT_EQ(net.frontend().schedule.loops.size(), 2U);
  EXPECT_EQ(net.run(c, numbers, "c"), expected(c, numbers));
}

TEST(WinogradConvolutions, AreLeftAloneWhereAWeightIsInfinite) {
  std::mt19937 rng(5);
  const Case c{.channels = 32, .outputs = 32, .height = 16, .width = 16};
  Numbers numbers = whole_numbers(c, rng, 1);
  EXPECT_TRUE(WinogradNet(c, numbers, "x86-64-v4", Winograd::OneAxis).is_combined());
  numbers.weights[17] = INFINITY;
  EXPECT_FALSE(WinogradNet(c, numbers, "x86-64-v4", Winograd::OneAxis).is_combined());
}

// The error of a result beside the sum of its absolute products: plain sums of floats reach some 2^-24.
TEST(WinogradConvolutions, AreOffByAFewRoundingsMore) {
  std::mt19937 rng(6);
  const Case c{.channels = 64, .outputs = 16, .height = 16, .width = 16};
  Numbers numbers = whole_numbers(c, rng, 1);
  std::uniform_real_distribution<float> any(-1, 1);
  for (Doubles* values : {&numbers.x, &numbers.weights, &numbers.last})
    for (double& v : *values) v = static_cast<double>(any(rng));
  numbers.bias.assign(numbers.bias.size(), 1000);  // so that all of the result is seen
  const Doubles wanted = expected(c, numbers), sums = expected(c, absolute(numbers));
  for (const auto& [winograd, most] : {std::pair(Winograd::Off, 0x1p-23), {Winograd::OneAxis, 0x1p-22}, {Winograd::TwoAxes, 0x1p-21}}) {
    const WinogradNet net(c, numbers, "x86-64-v4", winograd);
    EXPECT_EQ(net.is_combined(), winograd != Winograd::Off);
    EXPECT_LT(worst_error(net.run(c, numbers, "c"), wanted, sums), most);
  }
}

}  // namespace
}  // namespace etch::winograd_test
