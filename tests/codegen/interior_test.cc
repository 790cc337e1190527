// Windows over rows of vectors, INTERIOR: the first and the last vector of a row have a body each, in which what is padding is known.
// Against sums by their definition.
#include <gtest/gtest.h>

#include <random>

#include "support/backends.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch::interior_test {
namespace {

using test::windows::LaidWindow;

struct Layer {
  Layer(std::mt19937& rng, int lanes, bool is_pooled) : pooled(is_pooled) {
    const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
    const std::int64_t kernel = 2 * pick(1, 2) + 1;
    window = {.channels = pick(1, 3), .height = pick(5, 30), .kernel = kernel, .pad = pick(1, kernel / 2), .depthwise = true};
    window.stride = pooled ? pick(1, 2) : 1;
    window.width = (pick(3 * lanes + 1, 5 * lanes) - 1) * window.stride + kernel - 2 * window.pad;  // at least four vectors in a row
    const auto random = [&](std::int64_t n) {
      std::vector<double> values;
      for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<double>(pick(-9, 9)));
      return Array::of_doubles(DType::Float32, {n}, values);
    };
    inputs = {random(window.channels * window.height * window.width), random(window.channels * kernel * kernel)};
    store = pooled ? sums_of_windows() : test::windows::store_of(ops, window, DType::Float32);
  }

  // As average pooling does: the windows of the padded planes.
  const LazyOp* sums_of_windows() {
    const LaidWindow& w = window;
    const std::int64_t h = w.height + 2 * w.pad, wide = w.width + 2 * w.pad;
    std::vector<View> views =
        ShapeTracker::from_shape({w.channels, w.height, w.width}).pad({{0, 0}, {w.pad, w.pad}, {w.pad, w.pad}}).views();
    views.push_back(View::create({w.channels, w.out(w.height), w.out(w.width), w.kernel, w.kernel},
                                 std::vector<Sint>{h * wide, w.stride * wide, w.stride, wide, 1}));
    const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.load(1, DType::Float32, ShapeTracker(views).simplify()), {3, 4});
    return ops.store(0, sum, ShapeTracker::from_shape({w.channels, w.out(w.height), w.out(w.width), 1, 1}));
  }

  std::int64_t outputs() const { return window.channels * window.out(window.height) * window.out(window.width); }

  double sum_at(std::int64_t index) const {
    const LaidWindow& w = window;
    const std::int64_t x = index % w.out(w.width), row = index / w.out(w.width), y = row % w.out(w.height), c = row / w.out(w.height);
    double sum = 0;
    for (std::int64_t i = 0; i < w.kernel * w.kernel; i++) {
      const std::int64_t at_y = y * w.stride + i / w.kernel - w.pad, at_x = x * w.stride + i % w.kernel - w.pad;
      if (at_y < 0 || at_y >= w.height || at_x < 0 || at_x >= w.width) continue;
      const double weight = pooled ? 1 : inputs[1].double_at(c * w.kernel * w.kernel + i);
      sum += inputs[0].double_at((c * w.height + at_y) * w.width + at_x) * weight;
    }
    return sum;
  }

  bool pooled;
  LaidWindow window;
  LazyOps ops;
  std::vector<Array> inputs;
  const LazyOp* store = nullptr;
};

void compare(const std::string& name, const Language& language, int vector_bits) {
  const auto device = test::backend(name);
  ASSERT_TRUE(device) << device.why;
  std::mt19937 rng(static_cast<unsigned>(vector_bits));
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  options.float_registers = 32;
  std::vector<std::unique_ptr<Layer>> layers;
  std::vector<test::BackendKernel> kernels;
  for (int i = 0; i < test::rounds(60); i++) {
    const Layer& layer = *layers.emplace_back(std::make_unique<Layer>(rng, vector_bits / 32, i % 2 == 1));
    kernels.push_back({layer.store, &layer.inputs, layer.outputs(), std::nullopt});
  }
  const Program program = test::program_of(kernels, language, options);
  const std::vector<Array> got = device->load(program)->run({});
  int with_bodies = 0;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    const std::string& source = program.kernels[k].text.source;
    for (std::int64_t i = 0; i < kernels[k].output_size; i++) ASSERT_EQ(got[k].double_at(i), layers[k]->sum_at(i)) << i << "\n" << source;
    const bool is_of_lanes = source.find("etch_f32x" + std::to_string(vector_bits / 32) + "_u") != std::string::npos;
    const bool has_masks = source.find("x_tile_above") != std::string::npos || source.find("x_tile_below") != std::string::npos ||
                           source.find("x_above") != std::string::npos || source.find("x_below") != std::string::npos;
    with_bodies += is_of_lanes && !has_masks ? 1 : 0;
  }
  if (name == "c")                                    // in its text types have names
    EXPECT_GT(with_bodies, std::ssize(kernels) / 2);  // others have lanes of half the width, or loops over few tiles of several vectors
}

TEST(Interior, RowsOfC) {
  for (const int bits : {128, 256, 512}) {
    SCOPED_TRACE(bits);
    compare("c", kC, bits);
  }
}
TEST(Interior, RowsOfLlvm) { compare("llvm", kLlvm, 256); }

}  // namespace
}  // namespace etch::interior_test
