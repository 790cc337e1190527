// Transposed convolutions of every kind of stride, padding and kernel, by phases or not, against their definition: each element of the
// input adds its kernel to the result.
#include <gtest/gtest.h>

#include <random>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "support/rounds.h"

namespace etch::conv_transpose_test {
namespace {

struct Case {
  std::int64_t batch = 1, groups = 1, inputs = 1, outputs = 1;  // channels of a group
  std::vector<std::int64_t> size{}, kernel{}, stride{}, dilation{}, begin{}, end{}, more{}, result{};
};

std::vector<double> whole_numbers(std::mt19937& rng, std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; i++) values.push_back(std::uniform_int_distribution<int>(-9, 9)(rng));
  return values;
}

Case random_case(std::mt19937& rng) {
  const auto pick = [&](std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); };
  Case c{.batch = pick(1, 2), .groups = pick(1, 2), .inputs = pick(1, 3), .outputs = pick(1, 3)};
  const std::int64_t stride = pick(1, 3);
  const bool doubles = pick(0, 2) == 0;
  while (std::ssize(c.size) < 2) {
    // Of every third one the size doubles, as most networks have it.
    const std::int64_t size = pick(1, 6), own = doubles ? 2 : pick(0, 2) > 0 ? stride : pick(1, 3);
    const std::int64_t kernel = doubles ? 2 * pick(1, 3) : pick(1, 6), dilation = !doubles && pick(0, 4) == 0 ? 2 : 1;
    const std::int64_t begin = doubles ? kernel / 2 - 1 : pick(0, 2), end = doubles ? begin : pick(0, 2);
    const std::int64_t more = own > 1 && !doubles ? pick(0, own - 1) : 0;
    const std::int64_t result = (size - 1) * own + dilation * (kernel - 1) + 1 - begin - end + more;
    if (result < 1) continue;
    c.size.push_back(size), c.kernel.push_back(kernel), c.stride.push_back(own), c.dilation.push_back(dilation);
    c.begin.push_back(begin), c.end.push_back(end), c.more.push_back(more), c.result.push_back(result);
  }
  return c;
}

std::vector<double> by_definition(const Case& c, const std::vector<double>& x, const std::vector<double>& w) {
  std::vector<double> y(static_cast<std::size_t>(c.batch * c.groups * c.outputs * c.result[0] * c.result[1]));
  const auto place = [](std::initializer_list<std::pair<std::int64_t, std::int64_t>> indices) {
    std::int64_t at = 0;
    for (const auto& [index, size] : indices) at = at * size + index;
    return static_cast<std::size_t>(at);
  };
  const std::int64_t channels = c.groups * c.inputs, results = c.groups * c.outputs;
  for (std::int64_t n = 0; n < c.batch * channels * c.size[0] * c.size[1]; n++)
    for (std::int64_t k = 0; k < c.outputs * c.kernel[0] * c.kernel[1]; k++) {
      const std::int64_t ix = n % c.size[1], iy = n / c.size[1] % c.size[0], in = n / c.size[1] / c.size[0] % channels;
      const std::int64_t kx = k % c.kernel[1], ky = k / c.kernel[1] % c.kernel[0], out = k / c.kernel[1] / c.kernel[0];
      const std::int64_t oy = iy * c.stride[0] + ky * c.dilation[0] - c.begin[0], ox = ix * c.stride[1] + kx * c.dilation[1] - c.begin[1];
      if (oy < 0 || ox < 0 || oy >= c.result[0] || ox >= c.result[1]) continue;
      const std::int64_t image = n / (channels * c.size[0] * c.size[1]);
      const double factor = w[place({{in, 0}, {out, c.outputs}, {ky, c.kernel[0]}, {kx, c.kernel[1]}})];
      y[place({{image, 0}, {in / c.inputs * c.outputs + out, results}, {oy, c.result[0]}, {ox, c.result[1]}})] +=
          x[static_cast<std::size_t>(n)] * factor;
    }
  return y;
}

// Whether each element of the result takes the same number of products along the axis, and none of them with a zero.
bool has_no_zeros(const Case& c, std::size_t axis) {
  const std::int64_t s = c.stride[axis];
  const bool begins_evenly = c.begin[axis] % s == 0 || s == 2;
  return c.result[axis] % s == 0 && c.kernel[axis] % s == 0 && c.dilation[axis] == 1 && begins_evenly;
}

/// Of the largest multiplication that `y` is computed from.
std::int64_t products_of(const Tensor& y) {
  std::int64_t most = 0;
  for (const LazyBuffer* b : toposort_bases({y.buffer()}))
    if (is_op(b, Op::Mul)) most = std::max(most, product(b->shape()).as_int());
  return most;
}

TEST(ConvTranspose, IsItsDefinition) {
  std::mt19937 rng(4);
  int by_phases = 0;
  for (int round = 0; round < test::rounds(400); round++) {
    const Case c = random_case(rng);
    const std::vector<std::int64_t> shape{c.batch, c.groups * c.inputs, c.size[0], c.size[1]};
    const std::vector<std::int64_t> kernel{c.groups * c.inputs, c.outputs, c.kernel[0], c.kernel[1]};
    const std::vector<double> x = whole_numbers(rng, shape[0] * shape[1] * shape[2] * shape[3]);
    const std::vector<double> w = whole_numbers(rng, kernel[0] * kernel[1] * kernel[2] * kernel[3]);
    const auto graph = LazyGraph::create();
    const DType dtype = round % 4 == 0 ? DType::Int32 : round % 4 == 1 ? DType::Float64 : DType::Float32;
    const auto constant = [&](const std::vector<std::int64_t>& sizes, const std::vector<double>& values) {
      return Tensor::constant(*graph, Array::of_doubles(dtype, sizes, values));
    };
    const Window window{.kernel = c.kernel,
                        .stride = c.stride,
                        .dilation = c.dilation,
                        .pads = {{c.begin[0], c.end[0]}, {c.begin[1], c.end[1]}},
                        .ceil = false};
    const std::vector<double> bias = whole_numbers(rng, c.groups * c.outputs);
    const Tensor y =
        constant(shape, x).conv_transpose(constant(kernel, w), constant({c.groups * c.outputs}, bias), window, c.more, c.groups);
    const std::vector<Sint> expected{c.batch, c.groups * c.outputs, c.result[0], c.result[1]};
    ASSERT_EQ(y.shape(), expected);
    std::vector<double> wanted = by_definition(c, x, w);
    for (std::size_t i = 0; i < wanted.size(); i++)
      wanted[i] += bias[i / static_cast<std::size_t>(c.result[0] * c.result[1]) % static_cast<std::size_t>(c.groups * c.outputs)];
    const std::optional<Array> got = y.evaluate();
    ASSERT_TRUE(got.has_value());
    ASSERT_EQ(got->doubles(), wanted) << "stride " << c.stride[0] << " " << c.stride[1] << ", kernel " << c.kernel[0] << " " << c.kernel[1]
                                      << ", padding " << c.begin[0] << " " << c.begin[1];
    if (!has_no_zeros(c, 0) || !has_no_zeros(c, 1)) continue;
    const std::int64_t taps = c.kernel[0] / c.stride[0] * (c.kernel[1] / c.stride[1]);
    EXPECT_EQ(products_of(y), std::ssize(wanted) * c.inputs * taps);
    by_phases += c.stride[0] > 1 || c.stride[1] > 1 ? 1 : 0;
  }
  EXPECT_GT(by_phases, test::rounds(400) / 5);
}

}  // namespace
}  // namespace etch::conv_transpose_test
