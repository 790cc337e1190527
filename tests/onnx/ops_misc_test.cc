// Space and channels, signals, grids, losses, determinants.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numeric>
#include <random>

#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

TEST(OnnxSpace, CenterCropPad) {
  const Array x = ints({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  expect_node({"CenterCropPad", 18, {x, ints({2}, {1, 6})}}, {ints({1, 6}, {0, 4, 5, 6, 7, 0})});
  expect_node({"CenterCropPad", 18, {x, ints({1}, {1})}, {{"axes", Ints{-1}}}}, {ints({3, 1}, {1, 5, 9})});  // an odd one goes to the end
  expect_node({"CenterCropPad", 18, {x, ints({1}, {6})}, {{"axes", Ints{0}}}},
              {ints({6, 4}, {0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 0, 0, 0, 0, 0, 0, 0})});
}

/// The definition: patches are added at their places, elements on the padding are dropped.
Doubles col2im(const Doubles& x, std::int64_t channels, const Ints& image, const Ints& block, const Ints& strides, const Ints& dilations,
               const Ints& pads) {
  Doubles y(static_cast<std::size_t>(channels * image[0] * image[1]), 0);
  const auto places = [&](std::size_t a) {
    return (image[a] + pads[a] + pads[a + 2] - dilations[a] * (block[a] - 1) - 1) / strides[a] + 1;
  };
  std::size_t from = 0;
  for (std::int64_t c = 0; c < channels; c++)
    for (std::int64_t i = 0; i < block[0]; i++)
      for (std::int64_t j = 0; j < block[1]; j++)
        for (std::int64_t r = 0; r < places(0); r++)
          for (std::int64_t s = 0; s < places(1); s++, from++) {
            const std::int64_t row = r * strides[0] + i * dilations[0] - pads[0], column = s * strides[1] + j * dilations[1] - pads[1];
            if (row >= 0 && row < image[0] && column >= 0 && column < image[1])
              y[static_cast<std::size_t>((c * image[0] + row) * image[1] + column)] += x[from];
          }
  EXPECT_EQ(from, x.size());
  return y;
}

TEST(OnnxSpace, Col2Im) {
  const struct {
    Ints image, block, strides, dilations, pads, x;
  } cases[] = {
      {{5, 5}, {1, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}, {1, 5, 5}},  {{5, 5}, {3, 3}, {2, 2}, {1, 1}, {0, 0, 0, 0}, {1, 9, 4}},
      {{5, 5}, {2, 2}, {1, 1}, {1, 1}, {1, 1, 1, 1}, {1, 8, 36}}, {{6, 6}, {2, 2}, {1, 1}, {1, 5}, {0, 0, 0, 0}, {1, 4, 5}},
      {{6, 5}, {2, 3}, {3, 2}, {2, 1}, {0, 1, 1, 0}, {1, 12, 4}},
  };
  for (const auto& c : cases) {
    Doubles x(static_cast<std::size_t>(c.x[1] * c.x[2]));
    std::iota(x.begin(), x.end(), 1);
    const std::int64_t channels = c.x[1] / (c.block[0] * c.block[1]);
    expect_node({"Col2Im",
                 18,
                 {floats(c.x, x), ints({2}, c.image), ints({2}, c.block)},
                 {{"strides", c.strides}, {"dilations", c.dilations}, {"pads", c.pads}}},
                {floats({1, channels, c.image[0], c.image[1]}, col2im(x, channels, c.image, c.block, c.strides, c.dilations, c.pads))});
  }
}

TEST(OnnxSpace, Col2ImSelects) {
  // One patch of two elements a block: an infinite one stays at its own place.
  const double inf = std::numeric_limits<double>::infinity();
  expect_node({"Col2Im", 18, {floats({1, 2, 3}, {1, inf, 3, 4, 5, 6}), ints({1}, {4}), ints({1}, {2})}},
              {floats({1, 1, 4}, {1, inf, 8, 6})});
  const Array bytes = Array::of_ints(DType::UInt8, {1, 2, 3}, std::vector<std::int64_t>{1, 2, 250, 4, 5, 6});
  expect_node({"Col2Im", 18, {bytes, ints({1}, {4}), ints({1}, {2})}},
              {Array::of_ints(DType::UInt8, {1, 1, 4}, std::vector<std::int64_t>{1, 6, 255, 6})});
}

using Complex = std::complex<double>;

std::vector<Complex> dft(const std::vector<Complex>& x, bool inverse) {
  const std::size_t n = x.size();
  std::vector<Complex> y(n);
  for (std::size_t k = 0; k < n; k++) {
    for (std::size_t j = 0; j < n; j++)
      y[k] += x[j] * std::polar(1.0, (inverse ? 2 : -2) * M_PI * static_cast<double>(j * k % n) / static_cast<double>(n));
    if (inverse) y[k] /= static_cast<double>(n);
  }
  return y;
}

Doubles flat(const std::vector<Complex>& x, std::size_t count) {
  Doubles values;
  for (std::size_t i = 0; i < count; i++) values.insert(values.end(), {x[i].real(), x[i].imag()});
  return values;
}

TEST(OnnxSignal, TransformsOfEveryKindOfLength) {
  std::mt19937 random(1);
  for (std::size_t n : {1u, 2u, 7u, 16u, 17u, 34u, 60u, 97u, 128u, 360u}) {  // direct, prime, products of small and large factors
    std::vector<Complex> x(n), real(n);
    for (std::size_t i = 0; i < n; i++) {
      x[i] = {static_cast<double>(random() % 17) - 8, static_cast<double>(random() % 17) - 8};
      real[i] = x[i].real();
    }
    const auto size = static_cast<std::int64_t>(n), half = size / 2 + 1;
    Doubles re;
    for (const Complex& v : real) re.push_back(v.real());
    const Array complex = floats({1, size, 2}, flat(x, n));
    expect_node({"DFT", 17, {complex}}, {floats({1, size, 2}, flat(dft(x, false), n))}, 1e-4, 1e-5);
    expect_node({"DFT", 20, {complex}, {{"inverse", std::int64_t{1}}}}, {floats({1, size, 2}, flat(dft(x, true), n))}, 1e-4, 1e-5);
    expect_node({"DFT", 20, {floats({1, size, 1}, re), Array(), ints({}, {1})}, {{"onesided", std::int64_t{1}}}},
                {floats({1, half, 2}, flat(dft(real, false), static_cast<std::size_t>(half)))}, 1e-4, 1e-5);
    // and back: half of a real signal's spectrum gives the signal
    const Array spectrum = floats({1, half, 2}, flat(dft(real, false), static_cast<std::size_t>(half)));
    const Attributes both{{"inverse", std::int64_t{1}}, {"onesided", std::int64_t{1}}};
    expect_node({"DFT", 17, {spectrum, ints({}, {size})}, both}, {floats({1, size, 1}, re)}, 1e-4, 1e-4);
    if (n % 2 == 0) expect_node({"DFT", 17, {spectrum}, both}, {floats({1, size, 1}, re)}, 1e-4, 1e-4);
  }
  // longer and shorter than the signal
  std::vector<Complex> padded{1, 2, 3, 0, 0}, cut{1, 2};
  const Array x = floats({1, 3, 1}, {1, 2, 3});
  expect_node({"DFT", 17, {x, ints({}, {5})}}, {floats({1, 5, 2}, flat(dft(padded, false), 5))}, 1e-5, 1e-6);
  expect_node({"DFT", 17, {x, ints({}, {2})}}, {floats({1, 2, 2}, flat(dft(cut, false), 2))}, 1e-5, 1e-6);
  expect_refused({"DFT", 17, {x}, {{"inverse", std::int64_t{1}}, {"onesided", std::int64_t{1}}}}, "with a real signal");
  expect_refused({"DFT", 17, {x, ints({}, {3 * 2053})}}, "no prime factor above 2048");
  expect_refused({"DFT", 17, {floats({1, 3, 3}, Doubles(9, 1))}}, "the last axis must have 1 (real) or 2 (complex) elements");
}

TEST(OnnxSignal, Windows) {
  expect_node({"HannWindow", 17, {ints({}, {4}, DType::Int32)}, {}, 1, 0}, {floats({4}, {0, 0.5, 1, 0.5})});
  expect_node({"HannWindow", 17, {ints({}, {3})}, {{"periodic", std::int64_t{0}}, {"output_datatype", std::int64_t{11}}}, 1, 0},
              {floats({3}, {0, 1, 0}, DType::Float64)});
  expect_node({"BlackmanWindow", 17, {ints({}, {4})}, {}, 1, 0}, {floats({4}, {0, 0.34, 1, 0.34})}, 1e-5, 1e-6);
  expect_node({"HammingWindow", 17, {ints({}, {2})}, {}, 1, 0}, {floats({2}, {4.0 / 46, 1})});
}

TEST(OnnxGrid, AffineGrid) {
  // theta swaps the axes and shifts x
  const Array theta = floats({1, 2, 3}, {0, 1, 0.5, 1, 0, 0});
  expect_node({"AffineGrid", 20, {theta, ints({4}, {1, 1, 2, 3})}, {{"align_corners", std::int64_t{1}}}},
              {floats({1, 2, 3, 2}, {-0.5, -1, -0.5, 0, -0.5, 1, 1.5, -1, 1.5, 0, 1.5, 1})});
  expect_node({"AffineGrid", 20, {theta, ints({4}, {1, 1, 2, 1})}}, {floats({1, 2, 1, 2}, {0, 0, 1, 0})});
}

TEST(OnnxGrid, GridSample) {
  const Array x = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  const Array grid = floats({1, 1, 4, 2}, {-1, -1, 1, 1, 0, 0, 3, 0});
  const Attributes corners{{"align_corners", std::int64_t{1}}};
  const auto with = [](Attributes a, const char* name, const char* value) {
    a.emplace_back(name, value);
    return a;
  };
  // x at 0, 1, 0.5 and 2 of [0, 1]; y at 0, 1, 0.5, 0.5
  expect_node({"GridSample", 20, {x, grid}, corners}, {floats({1, 1, 1, 4}, {1, 4, 2.5, 0})});
  expect_node({"GridSample", 20, {x, grid}, with(corners, "padding_mode", "border")}, {floats({1, 1, 1, 4}, {1, 4, 2.5, 3})});
  expect_node({"GridSample", 20, {x, grid}, with(corners, "padding_mode", "reflection")}, {floats({1, 1, 1, 4}, {1, 4, 2.5, 2})});
  // corners not aligned: -1 is half an element before the first
  // Cubic with borders: taps are moved into the image, the place is not (ONNX Runtime 1.31's numbers).
  const Array line = floats({1, 1, 1, 4}, {10, 20, 30, 40});
  const Attributes cubic{{"mode", "cubic"}, {"padding_mode", "border"}};
  expect_node({"GridSample", 20, {line, floats({1, 1, 3, 2}, {-0.9, 0, -1.2, 0, 1.4, 0.5})}, cubic},
              {floats({1, 1, 1, 3}, {8.8975, 9.9325, 40})}, 1e-4);
  expect_node({"GridSample", 16, {x, grid}}, {floats({1, 1, 1, 4}, {0.25, 1, 2.5, 0})});
  expect_node({"GridSample",
               20,
               {ints({1, 1, 2, 2}, {1, 2, 3, 4}, DType::Int8), floats({1, 1, 2, 2}, {-0.9, 0.9, 0.2, -0.3})},
               {{"mode", "nearest"}}},
              {ints({1, 1, 1, 2}, {3, 2}, DType::Int8)});
  // one and three spatial axes
  expect_node({"GridSample", 20, {floats({1, 1, 3}, {1, 5, 7}), floats({1, 2, 1}, {0.5, -0.5})}, corners}, {floats({1, 1, 2}, {6, 3})});
  expect_node({"GridSample", 20, {floats({1, 1, 2, 1, 2}, {1, 2, 3, 4}), floats({1, 1, 1, 1, 3}, {0.5, 0, -0.5})}, corners},
              {floats({1, 1, 1, 1, 1}, {2.25})});
  expect_refused({"GridSample", 20, {x, grid}, {{"mode", "quintic"}}}, "accepted are nearest, linear and cubic");
}

TEST(OnnxGrid, MaxUnpool) {
  const Array x = floats({1, 2, 1, 2}, {1, 2, 3, 4}), index = ints({1, 2, 1, 2}, {4, 3, 8, 14});
  const Attributes attributes{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  expect_node({"MaxUnpool", 11, {x, index}, attributes, 1, 2}, {floats({1, 2, 2, 4}, {0, 0, 0, 2, 1, 0, 0, 0, 3, 0, 0, 0, 0, 0, 4, 0})});
}

TEST(OnnxLinear, Determinants) {
  expect_node({"Det", 11, {floats({2, 2, 2}, {1, 2, 3, 4, 0, 1, 1, 0})}}, {floats({2}, {-2, -1})});
  expect_node({"Det", 11, {floats({1, 1}, {-7})}}, {floats({}, {-7})});
  expect_node({"Det", 11, {floats({3, 3}, {2, -1, 0, 3, 5, 4, 1, 1, -6})}}, {floats({}, {-90})});
  // a permutation times a diagonal: odd permutation (0 2 1 3 4) of 1..5
  expect_node({"Det", 11, {floats({5, 5}, {1, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 5})}},
              {floats({}, {-120})});
  expect_node({"Det", 11, {floats({0, 5, 5}, {})}}, {floats({0}, {})});
  expect_refused({"Det", 11, {floats({2, 3}, Doubles(6, 1))}}, "square matrices are expected");
}

TEST(OnnxLoss, WeightsAndIgnoredClasses) {
  // log-probabilities of 3 classes, 3 samples
  const Array x = floats({3, 3}, {-1, -2, -3, -4, -5, -6, -7, -8, -9}), weight = floats({3}, {1, 2, 4});
  const Array target = ints({3}, {1, -7, 2});
  const Attributes ignore{{"ignore_index", std::int64_t{-7}}};
  const auto with = [&](const char* reduction) {
    Attributes a = ignore;
    a.emplace_back("reduction", reduction);
    return a;
  };
  expect_node({"NegativeLogLikelihoodLoss", 13, {x, target, weight}, with("none"), 1, 3}, {floats({3}, {4, 0, 36})});
  expect_node({"NegativeLogLikelihoodLoss", 13, {x, target, weight}, with("sum"), 1, 3}, {floats({}, {40})});
  expect_node({"NegativeLogLikelihoodLoss", 13, {x, target, weight}, with("mean"), 1, 3}, {floats({}, {40.0 / 6})});
  expect_node({"NegativeLogLikelihoodLoss", 13, {x, target}, ignore, 1, 2}, {floats({}, {5.5})});
}

TEST(OnnxLoss, EveryRowHasItsLabel) {
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    expect_refused({op, 13, {floats({4, 2}, Doubles(8, -1)), ints({3}, {1, 0, 1})}}, "the scores have the shape [4,2], the target [3]");
    expect_refused({op, 13, {floats({2, 2, 3}, Doubles(12, -1)), ints({2, 2}, {1, 0, 1, 0})}}, "the target [2,2]");
  }
}

}  // namespace
}  // namespace etch
