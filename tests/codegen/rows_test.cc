// Lanes along the rows of planes, with borders at both ends of a row, above and below: convolutions of small whole numbers, whose sums are
// exact, against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "codegen/kernel.h"
#include "support/backends.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch {
namespace {

using test::windows::Window;

Window random_rows(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  Window w{.channels = pick(1, 3), .outputs = pick(1, 3), .height = pick(3, 12), .width = pick(16, 50)};
  w.kernel = pick(1, 3);
  w.stride = pick(1, 2);
  w.pad = pick(0, w.kernel - 1);
  w.depthwise = pick(0, 2) > 0;
  return w;
}

Array small_numbers(std::mt19937& rng, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(std::uniform_int_distribution<int>(-4, 4)(rng));
  return Array::of_doubles(DType::Float32, {count}, values);
}

std::vector<double> convolution(const Window& w, const Array& in, const Array& taps) {
  std::vector<double> out;
  const std::int64_t outputs = w.depthwise ? w.channels : w.outputs, summed = w.depthwise ? 1 : w.channels, k = w.kernel;
  for (std::int64_t o = 0; o < outputs; o++)
    for (std::int64_t y = 0; y < w.out(w.height); y++)
      for (std::int64_t x = 0; x < w.out(w.width); x++) {
        double sum = 0;
        for (std::int64_t c = 0; c < summed; c++)
          for (std::int64_t at = 0; at < k * k; at++) {
            const std::int64_t from = w.depthwise ? o : c, iy = y * w.stride - w.pad + at / k, ix = x * w.stride - w.pad + at % k;
            if (iy < 0 || iy >= w.height || ix < 0 || ix >= w.width) continue;
            sum += in.double_at((from * w.height + iy) * w.width + ix) * taps.double_at((o * summed + c) * k * k + at);
          }
        out.push_back(sum);
      }
  return out;
}

void compare(const char* name, const Language& language, int vector_bits, unsigned seed) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  std::mt19937 rng(seed);
  LazyOps ops;
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  const auto rounds = static_cast<std::size_t>(test::rounds(60));
  std::vector<Window> windows;
  std::vector<std::vector<Array>> inputs;
  std::vector<std::vector<double>> expected;
  for (std::size_t i = 0; i < rounds; i++) {
    const Window w = random_rows(rng);
    const auto arguments = test::windows::arguments_of(w, DType::Float32);
    inputs.push_back({small_numbers(rng, arguments[1].elements.as_int()), small_numbers(rng, arguments[2].elements.as_int())});
    expected.push_back(convolution(w, inputs.back()[0], inputs.back()[1]));
    windows.push_back(w);
  }
  std::vector<test::BackendKernel> kernels;
  int with_borders = 0;
  for (std::size_t i = 0; i < rounds; i++) {
    kernels.push_back({test::windows::store_of(ops, windows[i], DType::Float32), &inputs[i], static_cast<std::int64_t>(expected[i].size()),
                       std::nullopt});
    const Kernel chosen = choose_opts(kernels.back().store, test::windows::arguments_of(windows[i], DType::Float32), options);
    with_borders += chosen.lanes() > 1 && chosen.has_interior() ? 1 : 0;
  }
  EXPECT_GT(with_borders, static_cast<int>(rounds / 6));
  const Program program = test::program_of(kernels, language, options);
  const std::vector<Array> got = device->load(program)->run({});
  for (std::size_t i = 0; i < rounds; i++) ASSERT_EQ(got[i].doubles(), expected[i]) << i << "\n" << program.kernels[i].text.source;
}

TEST(LanesAlongRows, OfCGiveTheSumsOfLoops) { compare("c", kC, 256, 1); }
TEST(LanesAlongRows, OfFourInCGiveTheSumsOfLoops) { compare("c", kC, 128, 2); }
TEST(LanesAlongRows, OfLlvmGiveTheSumsOfLoops) { compare("llvm", kLlvm, 256, 3); }

}  // namespace
}  // namespace etch
