#include "quant/fixed_point.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "lazy/rewrite.h"
#include "lazy/tensor.h"
#include "quant/bounds.h"
#include "quant/form.h"
#include "quant/value_ranges.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

constexpr std::int64_t kLargestInt = 2147483647;
constexpr int kMostPlaces = 16;      // binary places of a product, of which few are near a tie
constexpr std::int64_t kRare = 128;  // one in so many values may be near a tie

/// clamp(int32(rint(float(value) * factor)) + zero, low, high)
struct Requantisation {
  const LazyBuffer* whole = nullptr;   // what is bounded
  const LazyBuffer* value = nullptr;   // int32
  const LazyBuffer* factor = nullptr;  // a constant
  const LazyBuffer* zero = nullptr;    // a constant; nullptr: 0
  IntegerBounds bounds;
};

/// The operand of `b` beside a constant; nullptr if `b` is no such operation that is computed as a whole.
const LazyBuffer* beside_constant(const LazyBuffer* b, Op op, const LazyBuffer** constant) {
  if (!b->is_base() || !is_op(b, op)) return nullptr;
  for (const std::size_t k : {0, 1}) {
    if (!b->src[1 - k]->base->constant || b->src[k]->base->constant) continue;
    *constant = b->src[1 - k];
    return b->src[k];
  }
  return nullptr;
}

/// Takes bounds off `x`, the outermost first.
const LazyBuffer* without_bounds(const LazyBuffer* x, IntegerBounds& bounds) {
  while (true) {
    const LazyBuffer* constant = nullptr;
    const LazyBuffer* inner = beside_constant(x, Op::Min, &constant);
    const bool is_upper = inner != nullptr;
    if (!is_upper) inner = beside_constant(x, Op::Max, &constant);
    const Scalar* bound = inner == nullptr ? nullptr : const_value(constant);
    if (bound == nullptr) return x;
    (is_upper ? bounds.high : bounds.low) = std::clamp(bound->as_int(), bounds.low, bounds.high);
    x = inner;
  }
}

std::optional<Requantisation> requantisation_of(const LazyBuffer* b) {
  const bool is_narrow = is_int(b->dtype) && bytes_of(b->dtype) <= 2;
  if (!b->is_base() || !is_op(b, Op::Cast) || !is_narrow || b->src[0]->dtype != DType::Int32) return std::nullopt;
  Requantisation r{.bounds = bounds_of_type(DType::Int32)};
  const LazyBuffer* x = without_bounds(b->src[0], r.bounds);
  if (!r.bounds.within(bounds_of_type(b->dtype))) return std::nullopt;
  r.whole = x;
  if (const LazyBuffer* sum = beside_constant(x, Op::Add, &r.zero)) x = sum;
  if (!x->is_base() || !is_op(x, Op::Cast) || !x->src[0]->is_base()) return std::nullopt;
  const LazyBuffer* rounded = x->src[0];
  if (!is_op(rounded, Op::Rint) && !is_op(rounded, Op::RintSmall)) return std::nullopt;
  const LazyBuffer* value = beside_constant(rounded->src[0], Op::Mul, &r.factor);
  if (value == nullptr || !value->is_base() || !is_op(value, Op::Cast) || value->dtype != DType::Float32) return std::nullopt;
  r.value = value->src[0];
  return r.value->dtype == DType::Int32 ? std::optional(r) : std::nullopt;
}

/// One channel of a requantisation: its factor, and between which values it is.
struct Channel {
  double factor = 1;
  double from = 0, to = 0;
};

/// What is different for the channels. An axis along which all is the same has size 1.
struct Channels {
  Ints shape;
  std::vector<Channel> each;
  double zero = 0;    // a whole number, as those of quantised values are
  double result = 0;  // the largest one less its zero point; what is further away is at a bound
};

/// Channels of a constant value, however large it is, have the same result from a small one.
class SmallConstants {
 public:
  SmallConstants(Channels& c, const IntegerBounds& bounds) : plus(c.each.size(), 0) {
    double most = 1, factor = 0;
    for (const Channel& one : c.each) {
      if (one.from == one.to) continue;
      most = std::max({most, std::abs(one.from), std::abs(one.to)});
      factor = std::max(factor, one.factor);
    }
    for (std::size_t i = 0; i < plus.size(); i++) {
      Channel& one = c.each[i];
      if (one.from != one.to || std::abs(one.from) <= most || factor == 0 || factor > 0.5) continue;
      const double rounded = std::nearbyint(static_cast<double>(static_cast<float>(one.from) * static_cast<float>(one.factor)));
      const double wanted = std::clamp(rounded + c.zero, static_cast<double>(bounds.low), static_cast<double>(bounds.high)) - c.zero;
      const double value = std::nearbyint(wanted / factor);  // less than a quarter away from `wanted` when multiplied again
      plus[i] = static_cast<std::int64_t>(value - one.from);
      one = {factor, value, value};
      any = true;
    }
  }

  bool any = false;
  Ints plus;  // to the value of each channel
};

/// How large things are, in one requantisation or in several that are to be computed alike.
struct Extent {
  double value = 0, factor = 0;
  double product = 0;  // zero point included
  double result = 0;   // as in Channels

  bool operator==(const Extent&) const = default;
  Extent with(const Extent& e) const {
    return {std::max(value, e.value), std::max(factor, e.factor), std::max(product, e.product), std::max(result, e.result)};
  }
};

Extent extent_of(const Channels& c) {
  Extent all;
  for (const Channel& one : c.each) {
    const double value = std::max(std::abs(one.from), std::abs(one.to));
    all = all.with({value, one.factor, value * one.factor + std::abs(c.zero) + 2, c.result});
  }
  return all;
}

/// A product v * n of `places` binary places, and how it is computed:
///   upper half   (v << moved) * n >> 32
///   two products v * (n >> moved) + (v * (n mod 2^moved) >> moved)
/// Where its places are no nearer than `near` to those of a tie, it is rounded as with both roundings to float32.
struct Steps {
  int places = 0, moved = 0;
  std::int64_t near = 0;
};

/// nullopt: something does not fit int32, or too much is near a tie.
std::optional<Steps> steps_of(const Extent& e, std::int64_t product_bits, int places) {
  Steps s{.places = places};
  double error = 1;  // of what is rounded down, then of a rounded n
  if (product_bits == 64) {
    s.moved = std::max(0, places + 2 + std::ilogb(e.factor));
    if (s.moved > 30 || e.value >= static_cast<double>(kLargestInt >> s.moved)) return std::nullopt;
    error += std::ldexp(e.value, s.moved - 33);
  } else {
    s.moved = std::min(16, 30 - std::ilogb(e.value + 1));
    if (s.moved < 1 || places > 14 - std::ilogb(e.factor)) return std::nullopt;
    error += std::ldexp(e.value, -s.moved - 1);
  }
  // Rounding to float32, of v and of the product, moves a result by 2^-24 of it each.
  s.near = static_cast<std::int64_t>(std::ceil(error + std::ldexp(e.result, places - 23))) + 1;
  return s.near <= (std::int64_t{1} << places) / kRare ? std::optional(s) : std::nullopt;
}

/// The finest.
std::optional<Steps> steps_for(const Extent& e, std::int64_t product_bits) {
  for (int places = std::min(kMostPlaces, 29 - std::ilogb(e.product)); places > 0; places--)
    if (const std::optional<Steps> s = steps_of(e, product_bits, places)) return s;
  return std::nullopt;
}

class FixedPoint {
 public:
  FixedPoint(LazyGraph& graph, std::int64_t product_bits) : graph_(graph), ranges_(graph), product_bits_(product_bits) {}

  /// All that is rescaled in the graph, so that it is done in the same steps: kernels that are equal but for their constants are shared.
  void find_common_steps(const std::vector<const LazyBuffer*>& outputs) {
    Extent all;
    for (const LazyBuffer* b : toposort_bases(outputs))
      if (const auto r = requantisation_of(b))
        if (auto channels = channels_of(*r)) {
          const SmallConstants small(*channels, r->bounds);
          if (const Extent own = extent_of(*channels); steps_for(own, product_bits_)) all = all.with(own);
        }
    if (all.factor > 0) common_ = steps_for(all, product_bits_);
    common_extent_ = all;
  }

  /// `old` has the same values as `b`, which has new sources.
  const LazyBuffer* replace(const LazyBuffer* old, const LazyBuffer* b) {
    const std::optional<Requantisation> before = requantisation_of(old);
    std::optional<Requantisation> r = requantisation_of(b);
    std::optional<Channels> channels = before && r ? channels_of(*before) : std::nullopt;
    if (!channels) return b;
    OriginScope scope(graph_, b->origins);
    if (const SmallConstants small(*channels, r->bounds); small.any) with_small_constants(*r, small, *channels);
    const std::optional<Tensor> result = unless_near_a_tie(*r, *channels);
    if (!result) return b;
    return result->clip(static_cast<double>(r->bounds.low), static_cast<double>(r->bounds.high)).cast(b->dtype).buffer();
  }

 private:
  std::optional<Channels> channels_of(const Requantisation& r) {
    const ValueRange* factor = ranges_.of(r.factor);
    if (factor == nullptr || !factor->is_point()) return std::nullopt;
    const double zero = zero_of(r);
    if (std::isnan(zero)) return std::nullopt;
    const auto low = static_cast<double>(r.bounds.low), high = static_cast<double>(r.bounds.high);
    Channels c{factor->shape, {}, zero, std::max(std::abs(low - zero), std::abs(high - zero)) + 1};
    for (const double m : factor->low) c.each.push_back({m, INFINITY, -INFINITY});
    const ValueRange* value = ranges_.of(r.value);
    if (value == nullptr || !std::ranges::all_of(c.each, [](const Channel& one) { return one.factor > 0; })) return std::nullopt;
    spread(*value, c);
    return c;
  }

  /// What is added to all elements; NaN if that differs.
  double zero_of(const Requantisation& r) {
    if (r.zero == nullptr) return 0;
    const ValueRange* zero = ranges_.of(r.zero);
    return zero != nullptr && zero->is_point() && zero->low.size() == 1 ? zero->low[0] : NAN;
  }

  /// Each channel gets the union of the ranges of its values.
  static void spread(const ValueRange& value, Channels& c) {
    Ints both = c.shape;
    for (std::size_t axis = 0; axis < both.size(); axis++) both[axis] = std::max(both[axis], value.shape[axis]);
    const Ints of_value = strides_over(value.shape), of_channel = strides_over(c.shape);
    for_each_index(both, [&](std::size_t, const Ints& at) {
      std::int64_t v = 0, k = 0;
      for (std::size_t axis = 0; axis < at.size(); axis++) {
        v += of_value[axis] * at[axis];
        k += of_channel[axis] * at[axis];
      }
      Channel& one = c.each[static_cast<std::size_t>(k)];
      one.from = std::min(one.from, value.low[static_cast<std::size_t>(v)]);
      one.to = std::max(one.to, value.high[static_cast<std::size_t>(v)]);
    });
  }

  void with_small_constants(Requantisation& r, const SmallConstants& small, const Channels& c) {
    constexpr double kSmallFloat = 1 << 21;  // what RintSmall takes, with room for what is rounded before it
    std::vector<double> factors;
    for (const Channel& one : c.each) factors.push_back(one.factor);
    const Tensor old(&graph_, r.value), value = old + constant(small.plus, DType::Int32, c, old.shape());
    const Tensor factor = Tensor::constant(graph_, Array::of_doubles(DType::Float32, c.shape, factors)).expand(old.shape());
    const Op round = extent_of(c).product <= kSmallFloat ? Op::RintSmall : Op::Rint;
    const Tensor rounded = (value.cast(DType::Float32) * factor).unary(round).cast(DType::Int32);
    r.value = value.buffer();
    r.whole = (rounded + number_like(rounded, static_cast<std::int64_t>(c.zero))).buffer();
  }

  /// What is not near a tie is rounded by a shift. The rest is rare.
  std::optional<Tensor> unless_near_a_tie(const Requantisation& r, const Channels& c) {
    const Extent own = extent_of(c);
    const bool is_common = common_ && own.with(common_extent_) == common_extent_;
    const std::optional<Steps> s = is_common ? common_ : steps_for(own, product_bits_);
    if (!s) return std::nullopt;
    const Tensor v(&graph_, r.value), product = product_bits_ == 64 ? by_upper_half(v, c, *s) : by_two_products(v, c, *s);
    const std::int64_t one = std::int64_t{1} << s->places, half_above_zero = (2 * static_cast<std::int64_t>(c.zero) + 1) * one / 2;
    const Tensor sum = product + number_like(product, half_above_zero + s->near);
    const Tensor is_near = Tensor::binary(Op::And, sum, number_like(sum, one - 1)) < number_like(sum, 2 * s->near + 1);
    return is_near.where(Tensor(&graph_, r.whole), shifted(sum, s->places));
  }

  Tensor by_upper_half(const Tensor& v, const Channels& c, const Steps& s) {
    const Tensor moved = s.moved == 0 ? v : Tensor::binary(Op::Shl, v, number_like(v, s.moved));
    const Tensor n = constant(rounded_factors(c, s.places + 32 - s.moved), DType::Int32, c, v.shape());
    return shifted(moved.cast(DType::Int64) * n.cast(DType::Int64), 32).cast(DType::Int32);
  }

  Tensor by_two_products(const Tensor& v, const Channels& c, const Steps& s) {
    Ints upper, lower;
    for (const std::int64_t n : rounded_factors(c, s.places + s.moved)) {
      upper.push_back(n >> s.moved);
      lower.push_back(n & ((std::int64_t{1} << s.moved) - 1));
    }
    const auto times = [&](const Ints& half) { return v * constant(half, DType::UInt16, c, v.shape()).cast(DType::Int32); };
    return times(upper) + shifted(times(lower), s.moved);
  }

  static Ints rounded_factors(const Channels& c, int places) {
    Ints n;
    for (const Channel& one : c.each) n.push_back(std::llrint(std::ldexp(one.factor, places)));
    return n;
  }

  Tensor constant(const Ints& values, DType dtype, const Channels& c, const Shape& shape) {
    return Tensor::constant(graph_, Array::of_ints(dtype, c.shape, values)).expand(shape);
  }

  LazyGraph& graph_;
  RangeFinder ranges_;
  std::int64_t product_bits_;
  std::optional<Steps> common_;
  Extent common_extent_;
};

}  // namespace

std::vector<const LazyBuffer*> to_fixed_point(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t product_bits) {
  check(product_bits == 32 || product_bits == 64, "products have 32 or 64 bits");
  FixedPoint fixed(graph, product_bits);
  fixed.find_common_steps(outputs);
  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) { return fixed.replace(old, rebuilt); });
}

}  // namespace etch
