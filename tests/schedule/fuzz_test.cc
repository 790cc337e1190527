// Random networks on small whole numbers (so that every order of evaluation is exact): the fused schedule must give the same as
// evaluating one operation after the other. With several outputs, shared parts, views of views, and different limits of a kernel.
#include <gtest/gtest.h>

#include <random>

#include "schedule/schedule.h"
#include "support/rounds.h"
#include "support/run_schedule.h"
#include "support/tensor_cases.h"

namespace etch {
namespace {

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::vector<int> some_axes(const Tensor& x) {
    std::vector<int> axes;
    for (int i = 0; i < x.rank(); i++)
      if (below(2) == 0) axes.push_back(i);
    if (axes.empty()) axes.push_back(below(x.rank()));
    return axes;
  }

  Tensor movement(const Tensor& x) {
    const int axis = below(x.rank());
    const std::int64_t n = x.dim(axis).as_int();
    switch (below(9)) {
      case 0:
        return x.transpose(axis, below(x.rank()));
      case 1:
        return x.flip(some_axes(x));
      case 2:
        return x.size().as_int() <= 200 ? x.pad(pads(x)) : x;
      case 3:
        return x.size().as_int() <= 200 ? x.pad(pads(x), 3) : x;
      case 4:
        return x.slice(axis, below(static_cast<int>(n)), n);
      case 5:
        return x.slice(axis, 0, n, 1 + below(2));
      case 6:
        return x.size().as_int() <= 100 ? x.unsqueeze(axis).expand(with(x, axis, 2)).flatten(axis, axis + 1) : x;
      case 7:
        return x.rank() > 1 && axis + 1 < x.rank() ? x.flatten(axis, axis + 1) : x.unsqueeze(0);
      default:
        return x.size().as_int() <= 100 ? Tensor::cat({x, x * 2.0, x.slice(axis, 0, 1)}, axis) : x;
    }
  }

  Tensor elementwise(const Tensor& x) {
    switch (below(8)) {
      case 0:
        return x.relu();
      case 1:
        return x + 1.0;
      case 2:
        return (x < 1.0).where(x, x.neg());
      case 3:
        return x.square().sqrt();
      case 4:
        return (x < 0.0).logical_not().cast(DType::Float32);
      case 5:
        return x * 2.0 - 3.0;
      case 6:
        return Tensor::binary(Op::Mod, x, x.full_like(5));
      default:
        return x.equal(x.flip({0})).cast(DType::Float32);
    }
  }

  Tensor reduction(const Tensor& x) {
    static constexpr Op kOps[] = {Op::ReduceSum, Op::ReduceMax, Op::ReduceMin};
    const Tensor r = x.reduce(kOps[below(3)], some_axes(x), true);
    return below(2) == 0 ? r : x - r;
  }

  Tensor binary(const Tensor& x, const Tensor& y) {
    static constexpr Op kOps[] = {Op::Add, Op::Sub, Op::Max, Op::Min};
    Tensor fit = y;  // brought to x's shape as far as that goes
    while (fit.rank() > x.rank()) fit = fit.reduce(Op::ReduceMax, {0}, false);
    for (int i = 1; i <= fit.rank(); i++)
      if (!(fit.dim(-i) == x.dim(-i))) fit = fit.slice(-i, 0, 1);
    if (below(5) == 0 && x.rank() >= 2 && x.size().as_int() <= 200) return x.matmul(x.transpose()).clip(-9, 9);
    return Tensor::binary(kOps[below(4)], x, fit);
  }

  /// A few values, each made from earlier ones; all stay within [-99, 99].
  std::vector<Tensor> network(std::vector<Tensor> values) {
    for (int i = 0; i < 14; i++) {
      const Tensor x = pick(values), y = pick(values);
      Tensor next;
      switch (below(5)) {
        case 0:
          next = movement(x);
          break;
        case 1:
          next = elementwise(x);
          break;
        case 2:
          next = reduction(x);
          break;
        case 3:
          next = binary(x, y);
          break;
        default:
          next = below(6) == 0 ? movement(movement(x)).contiguous() : movement(elementwise(x));
          break;
      }
      values.push_back(next.clip(-99, 99));
    }
    return {values.end() - 4, values.end()};
  }

  Array data(std::vector<std::int64_t> shape) {
    std::vector<std::int64_t> v(static_cast<std::size_t>(shape[0] * shape[1]));
    for (std::int64_t& e : v) e = below(19) - 9;
    return Array::of_ints(DType::Float32, std::move(shape), v);
  }

 private:
  const Tensor& pick(const std::vector<Tensor>& v) {
    const int recent = below(3) == 0 ? static_cast<int>(v.size()) : std::min<int>(4, static_cast<int>(v.size()));
    return v[v.size() - 1 - static_cast<std::size_t>(below(recent))];
  }
  Padding pads(const Tensor& x) {
    Padding p;
    for (int i = 0; i < x.rank(); i++) p.emplace_back(below(2), below(3) - (x.dim(i).as_int() > 1 ? 1 : 0));
    return p;
  }
  static Shape with(const Tensor& x, int axis, std::int64_t n) {
    Shape s = x.shape();
    s.insert(s.begin() + axis, n);
    return s;
  }
  std::mt19937 random_;
};

TEST(ScheduleFuzz, FusedEqualsOneAfterTheOther) {
  std::size_t kernels = 0;
  for (unsigned seed = 0; seed < static_cast<unsigned>(test::rounds(400)); seed++) {
    try {
      Generator sizes(seed);
      const Array a = sizes.data({3, 4}), b = sizes.data({4, 1}), c = sizes.data({2, 4});
      const auto fixed = LazyGraph::create(), lazy = LazyGraph::create();
      Generator first(seed + 1000), second(seed + 1000);
      const std::vector<Tensor> expected =
          first.network({Tensor::constant(*fixed, a), Tensor::constant(*fixed, b), Tensor::constant(*fixed, c)});
      const auto input = [&](const char* name, const Array& x) {
        return Tensor::input(*lazy, name, x.dtype(), Shape(x.shape().begin(), x.shape().end()));
      };
      // One of the inputs is a constant in half of the networks.
      const std::vector<Tensor> got =
          second.network({input("a", a), input("b", b), seed % 2 == 0 ? input("c", c) : Tensor::constant(*lazy, c)});
      std::vector<OutputSpec> outputs;
      for (std::size_t i = 0; i < got.size(); i++) outputs.push_back({"y" + std::to_string(i), got[i]});
      const ScheduleOptions options{.max_inputs = seed % 3 == 0 ? 3 : 15, .max_nodes = seed % 5 == 0 ? 24 : 256};
      const Schedule schedule = create_schedule(*lazy, outputs, options);
      kernels += schedule.items.size();
      const std::vector<Array> arrays = test::run_schedule(schedule, {{"a", a}, {"b", b}, {"c", c}});
      for (std::size_t i = 0; i < got.size(); i++) {
        // x - x.max() and the like may give either zero; adding 0.0 makes both the same.
        const Array want = (expected[i] + 0.0).evaluate().value();
        const Array have = (Tensor::constant(*fixed, arrays[i]) + 0.0).evaluate().value();
        ASSERT_EQ(test::difference(have, want, 0), "") << "seed " << seed << " output " << i << "\n" << to_text(schedule);
      }
    } catch (const std::exception& e) {
      FAIL() << "seed " << seed << ": " << e.what();
    }
  }
  EXPECT_GT(kernels, static_cast<std::size_t>(test::rounds(1000)));
}

}  // namespace
}  // namespace etch
