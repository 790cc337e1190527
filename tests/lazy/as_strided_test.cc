// Tensor::as_strided on random views, against the flat list of what they show.
#include <gtest/gtest.h>

#include <random>

#include "lazy/graph.h"
#include "lazy/tensor.h"

namespace etch {
namespace {

class Draw {
 public:
  std::int64_t operator()(std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>(from, to)(rng_); }

 private:
  std::mt19937 rng_{8};
};

/// Some view of a new constant.
Tensor random_view(LazyGraph& graph, Draw& draw) {
  const std::int64_t rows = draw(1, 4), columns = draw(1, 5);
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= rows * columns; i++) values.push_back(i);
  Tensor x = Tensor::constant(graph, Array::of_ints(DType::Int32, {rows, columns}, values));
  for (std::int64_t left = draw(0, 3); left > 0; left--) {
    switch (draw(0, 4)) {
      case 0:
        x = x.permute({1, 0});
        break;
      case 1:
        x = x.flip({static_cast<int>(draw(0, 1))});
        break;
      case 2:
        x = x.pad({{draw(0, 2), draw(0, 1)}, {draw(0, 1), draw(0, 2)}});
        break;
      case 3:
        x = x.reshape({x.dim(1), x.dim(0)});
        break;
      default:
        x = x.stride({1, draw(1, 2)});
        break;
    }
  }
  return x;
}

TEST(AsStrided, ShowsTheElementsThatItSays) {
  Draw draw;
  int taken = 0, refused = 0;
  for (int i = 0; i < 3000; i++) {
    const auto graph = LazyGraph::create();
    const Tensor x = random_view(*graph, draw);
    const std::vector<std::int64_t> flat = x.evaluate()->ints();
    const auto n = static_cast<std::int64_t>(flat.size());
    std::vector<std::int64_t> sizes, strides;
    for (std::int64_t rank = draw(0, 3); rank > 0; rank--) {
      sizes.push_back(draw(1, 3));
      strides.push_back(draw(-3, 4));
    }
    const std::int64_t offset = draw(0, n - 1);
    std::vector<std::int64_t> positions{offset};
    for (std::size_t k = 0; k < sizes.size(); k++) {
      std::vector<std::int64_t> more;
      for (const std::int64_t p : positions)
        for (std::int64_t step = 0; step < sizes[k]; step++) more.push_back(p + step * strides[k]);
      positions = more;
    }
    const auto outside = [&](std::int64_t p) { return p < 0 || p >= n; };
    const Shape shape(sizes.begin(), sizes.end());
    if (std::ranges::any_of(positions, outside)) {
      EXPECT_THROW(x.as_strided(shape, strides, offset), ShapeError);
      refused++;
      continue;
    }
    std::vector<std::int64_t> expected;
    for (const std::int64_t p : positions) expected.push_back(flat[static_cast<std::size_t>(p)]);
    const Array got = x.as_strided(shape, strides, offset).evaluate().value();
    ASSERT_EQ(got.shape(), sizes);
    ASSERT_EQ(got.ints(), expected) << i;
    taken++;
  }
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 500);
}

// Bounds have to hold for every value of a Variable.
TEST(AsStrided, OfOpenSizesIsProved) {
  const auto graph = LazyGraph::create();
  const Sint n = graph->symbols().variable("n", 1, 8);
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {n, 3});
  EXPECT_EQ(x.as_strided({n, 2}, {3, 2}).shape(), (Shape{n, 2}));
  EXPECT_EQ(x.as_strided({n}, {-3}, n * 3 - 3).shape(), Shape{n});
  EXPECT_THROW(x.as_strided({n, 2}, {3, 2}, 1), ShapeError);
  EXPECT_THROW(x.as_strided({2}, {3}), ShapeError) << "there may be one row";
  EXPECT_EQ(x.as_strided({0, 4}, {100, 100}).shape(), (Shape{0, 4})) << "nothing is read";
}

}  // namespace
}  // namespace etch
