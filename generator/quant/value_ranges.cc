#include "quant/value_ranges.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "quant/bounds.h"
#include "shape/axis_links.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
struct Ends {
  double low = 0, high = 0;
};

constexpr std::int64_t kLargestRange = 1 << 24;   // elements of a range
constexpr std::int64_t kLargestKept = 1 << 12;    // elements of a constant's range
constexpr std::int64_t kLargestMasked = 1 << 16;  // indices of an axis that padding makes different
constexpr double kExact = 9007199254740992.0;     // 2^53

Ends united(const Ends& a, const Ends& b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

bool has_ranges(DType dtype) { return dtype == DType::Float32 || !is_float(dtype); }

/// The bounds of a type; nullopt if it has none that double holds.
std::optional<Ends> ends_of_type(DType dtype) {
  if (is_float(dtype) || bytes_of(dtype) > 4) return std::nullopt;
  const IntegerBounds type = bounds_of_type(dtype);
  return Ends{static_cast<double>(type.low), static_cast<double>(type.high)};
}

std::int64_t elements(const Ints& shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

ValueRange uniform(std::size_t rank, const Ends& ends) { return {Ints(rank, 1), {ends.low}, {ends.high}}; }

std::optional<ValueRange> type_range(const LazyBuffer* b) {
  const std::optional<Ends> ends = ends_of_type(b->dtype);
  if (!ends) return std::nullopt;
  return uniform(b->shape().size(), *ends);
}

/// The range along which `axis` has size 1: what holds for each of its indices.
ValueRange merged(const ValueRange& r, std::size_t axis) {
  Ints shape = r.shape;
  shape[axis] = 1;
  const auto count = static_cast<std::size_t>(elements(shape));
  ValueRange result{shape, std::vector<double>(count, INFINITY), std::vector<double>(count, -INFINITY)};
  const Ints strides = strides_over(shape);
  for_each_index(r.shape, [&](std::size_t i, const Ints& at) {
    std::size_t k = 0;
    for (std::size_t a = 0; a < at.size(); a++) k += static_cast<std::size_t>(strides[a] * at[a]);
    result.low[k] = std::min(result.low[k], r.low[i]);
    result.high[k] = std::max(result.high[k], r.high[i]);
  });
  return result;
}

/// The values of an array as a range; nullopt if they are not exact in double, or not finite.
std::optional<ValueRange> range_of_values(const Array& array) {
  if (!has_ranges(array.dtype()) || array.size() > kLargestRange) return std::nullopt;
  std::vector<double> values = array.doubles();
  if (!std::ranges::all_of(values, [](double v) { return std::abs(v) < kExact; })) return std::nullopt;
  return ValueRange{array.shape(), values, values};
}

double rounded_to(DType dtype, double value) { return dtype == DType::Float32 ? static_cast<double>(static_cast<float>(value)) : value; }

/// The results of two ends of an operation that is monotonic in each operand, before they are rounded to a type.
Ends corners(const Ends& a, const Ends& b, double (*op)(double, double)) {
  const std::array<double, 4> r{op(a.low, b.low), op(a.low, b.high), op(a.high, b.low), op(a.high, b.high)};
  const auto [low, high] = std::ranges::minmax(r);
  return {low, high};
}

/// nullopt: nothing is known of the result. In double, one rounding to float32 later, each of +, -, *, / is rounded as in float32.
std::optional<Ends> of_binary(Op op, const Ends& a, const Ends& b, DType dtype) {
  switch (op) {
    case Op::Add:
      return Ends{a.low + b.low, a.high + b.high};
    case Op::Sub:
      return Ends{a.low - b.high, a.high - b.low};
    case Op::Mul:
      return corners(a, b, [](double x, double y) { return x * y; });
    case Op::Div:
      if (!is_float(dtype) || (b.low <= 0 && b.high >= 0)) return std::nullopt;
      return corners(a, b, [](double x, double y) { return x / y; });
    case Op::Max:
      return Ends{std::max(a.low, b.low), std::max(a.high, b.high)};
    case Op::Min:
      return Ends{std::min(a.low, b.low), std::min(a.high, b.high)};
    case Op::Shr:
      if (b.low != b.high || b.low < 0 || b.low > 31) return std::nullopt;
      return Ends{std::floor(std::ldexp(a.low, -static_cast<int>(b.low))), std::floor(std::ldexp(a.high, -static_cast<int>(b.low)))};
    case Op::And:
      if (!is_int(dtype) || b.low != b.high || b.low < 0) return std::nullopt;
      if (a.low != a.high) return Ends{0, b.high};
      {
        const auto bits = static_cast<double>(static_cast<std::int64_t>(a.low) & static_cast<std::int64_t>(b.low));
        return Ends{bits, bits};
      }
    default:
      return std::nullopt;
  }
}

std::optional<Ends> of_unary(Op op, const Ends& a, DType from) {
  switch (op) {
    case Op::Neg:
      return Ends{-a.high, -a.low};
    case Op::Floor:
      return Ends{std::floor(a.low), std::floor(a.high)};
    case Op::Ceil:
      return Ends{std::ceil(a.low), std::ceil(a.high)};
    case Op::Trunc:
      return Ends{std::trunc(a.low), std::trunc(a.high)};
    case Op::Rint:
    case Op::RintSmall:
      return Ends{std::nearbyint(a.low), std::nearbyint(a.high)};
    case Op::Cast:
      return is_float(from) ? Ends{std::trunc(a.low), std::trunc(a.high)} : a;
    default:
      return std::nullopt;
  }
}

/// `ends` as values of `dtype`; nullopt if they do not fit: integers wrap around, floats overflow.
std::optional<Ends> fitting(const std::optional<Ends>& ends, DType dtype) {
  if (!ends) return std::nullopt;
  const Ends r{rounded_to(dtype, ends->low), rounded_to(dtype, ends->high)};
  if (!std::isfinite(r.low) || !std::isfinite(r.high)) return std::nullopt;
  if (is_float(dtype)) return r;
  if (bytes_of(dtype) > 4) return r.low > -kExact && r.high < kExact ? std::optional(r) : std::nullopt;
  const Ends type = *ends_of_type(dtype);
  return r.low >= type.low && r.high <= type.high ? std::optional(r) : std::nullopt;
}

/// The values of a buffer of 64 bits that is unsigned are read as signed: no range.
bool is_readable(DType dtype) { return has_ranges(dtype) && dtype != DType::UInt64; }

}  // namespace

Ints strides_over(const Ints& shape) {
  Ints strides(shape.size(), 0);
  std::int64_t step = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (shape[axis] != 1) strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

const ValueRange* RangeFinder::of(const LazyBuffer* buffer) {
  auto found = known_.find(buffer);
  if (found == known_.end()) {
    std::optional<ValueRange> range = find(buffer);
    found = known_.emplace(buffer, std::move(range)).first;
  }
  return found->second ? &*found->second : nullptr;
}

std::optional<ValueRange> RangeFinder::find(const LazyBuffer* buffer) {
  if (!is_readable(buffer->dtype) || is_empty(buffer->shape())) return std::nullopt;
  if (!buffer->is_base()) return of_view(buffer);
  std::optional<ValueRange> range;
  switch (buffer->kind) {
    case LazyKind::Const:
      range = range_of_values(Array::scalar(buffer->value));
      break;
    case LazyKind::Data:
      range = range_of_values(buffer->data);
      break;
    case LazyKind::Compute:
      range = of_operation(buffer);
      break;
    case LazyKind::Contiguous:
      if (const ValueRange* below = of(buffer->src[0])) range = *below;
      break;
    case LazyKind::Gather:
      range = of_gather(buffer);
      break;
    case LazyKind::Input:
    case LazyKind::Index:
    case LazyKind::State:
    case LazyKind::Carried:
    case LazyKind::LoopResult:
    case LazyKind::External:
    case LazyKind::View:
      break;
  }
  if (!range && buffer->constant && buffer->st.size().as_int() <= kLargestRange) range = range_of_values(graph_.evaluate(buffer));
  return range ? range : type_range(buffer);
}

std::optional<ValueRange> RangeFinder::of_view(const LazyBuffer* view) {
  const ValueRange* below = of(view->base);
  if (below == nullptr) return type_range(view);
  const Ends zero{};
  if (std::ranges::any_of(view->st.views(), [](const View& v) { return v.is_empty(); })) return uniform(view->shape().size(), zero);
  ValueRange base = *below;
  const std::vector<AxisLink> links = axis_links(view->st, view->base->shape());
  std::vector<bool> masked = view->st.masked_axes();
  std::vector<const AxisLink*> along(view->shape().size(), nullptr);
  std::vector<bool> linked(base.shape.size(), false);
  for (const AxisLink& link : links) {
    const auto axis = static_cast<std::size_t>(link.axis);
    const bool varies = link.base_axis >= 0 && base.shape[static_cast<std::size_t>(link.base_axis)] > 1;
    const bool is_padded = std::ranges::any_of(link.from, [](std::int64_t from) { return from < 0; });
    if (!varies && (!is_padded || std::ssize(link.from) > kLargestMasked)) continue;
    along[axis] = &link;
    masked[axis] = masked[axis] && link.has_other_padding;
    if (varies) linked[static_cast<std::size_t>(link.base_axis)] = true;
  }
  for (std::size_t axis = 0; axis < base.shape.size(); axis++)
    if (base.shape[axis] > 1 && !linked[axis]) base = merged(base, axis);
  Ints shape(along.size(), 1);
  for (std::size_t axis = 0; axis < along.size(); axis++)
    if (along[axis] != nullptr) shape[axis] = std::ssize(along[axis]->from);
  if (elements(shape) > kLargestRange) return type_range(view);
  const bool has_padding = std::ranges::find(masked, true) != masked.end();
  const Ints strides = strides_over(base.shape);
  ValueRange range{shape, {}, {}};
  for_each_index(shape, [&](std::size_t, const Ints& at) {
    std::int64_t k = 0;
    bool inside = true;
    for (std::size_t axis = 0; axis < at.size(); axis++) {
      if (along[axis] == nullptr) continue;
      const std::int64_t from = along[axis]->from[static_cast<std::size_t>(at[axis])];
      inside = inside && from >= 0;
      if (along[axis]->base_axis >= 0) k += strides[static_cast<std::size_t>(along[axis]->base_axis)] * from;
    }
    Ends ends = inside ? Ends{base.low[static_cast<std::size_t>(k)], base.high[static_cast<std::size_t>(k)]} : zero;
    if (has_padding) ends = united(ends, zero);
    range.low.push_back(ends.low);
    range.high.push_back(ends.high);
  });
  return range;
}

std::optional<ValueRange> RangeFinder::of_operation(const LazyBuffer* base) {
  if (base->scan || base->op == Op::Bitcast) return std::nullopt;
  return base->is_reduction() ? of_reduction(base) : of_elementwise(base);
}

std::optional<ValueRange> RangeFinder::of_elementwise(const LazyBuffer* base) {
  std::vector<const ValueRange*> src(base->src.size(), nullptr);
  for (const bool constant : {false, true})  // constants last: they may not be needed
    for (std::size_t i = 0; i < src.size(); i++) {
      if (base->src[i]->base->constant != constant) continue;
      src[i] = of(base->src[i]);
      if (src[i] == nullptr) return std::nullopt;
    }
  Ints shape(base->shape().size(), 1);
  for (const ValueRange* r : src)
    for (std::size_t axis = 0; axis < shape.size(); axis++) shape[axis] = std::max(shape[axis], r->shape[axis]);
  if (elements(shape) > kLargestRange) return std::nullopt;
  const std::optional<Ends> type = ends_of_type(base->dtype);
  std::vector<Ints> strides;
  for (const ValueRange* r : src) strides.push_back(strides_over(r->shape));
  const auto result = [&](const std::vector<Ends>& ends) -> std::optional<Ends> {
    if (base->op == Op::Where) {
      if (ends[0].low == ends[0].high) return ends[0].low != 0 ? ends[1] : ends[2];
      return united(ends[1], ends[2]);
    }
    if (base->op == Op::Cast && base->dtype == DType::Bool) return std::nullopt;
    if (ends.size() == 1) return fitting(of_unary(base->op, ends[0], base->src[0]->dtype), base->dtype);
    return fitting(of_binary(base->op, ends[0], ends[1], base->dtype), base->dtype);
  };
  ValueRange range{shape, {}, {}};
  bool is_known = true;
  std::vector<Ends> ends(src.size());
  for_each_index(shape, [&](std::size_t, const Ints& at) {
    for (std::size_t s = 0; s < src.size(); s++) {
      std::int64_t k = 0;
      for (std::size_t axis = 0; axis < at.size(); axis++) k += strides[s][axis] * at[axis];
      ends[s] = {src[s]->low[static_cast<std::size_t>(k)], src[s]->high[static_cast<std::size_t>(k)]};
    }
    std::optional<Ends> r = result(ends);
    if (!r) r = type;
    is_known = is_known && r;
    range.low.push_back(r ? r->low : 0);
    range.high.push_back(r ? r->high : 0);
  });
  for (const LazyBuffer* s : base->src) forget(s);
  return is_known ? std::optional(std::move(range)) : std::nullopt;
}

/// The steps from data to a large constant, which is rarely asked for twice, need not stay in memory.
void RangeFinder::forget(const LazyBuffer* constant) {
  while (constant->base->constant) {
    const auto found = known_.find(constant);
    if (found != known_.end() && found->second && std::ssize(found->second->low) > kLargestKept) known_.erase(found);
    if (!constant->is_base())
      constant = constant->base;
    else if (constant->src.size() == 1)
      constant = constant->src[0];
    else
      return;
  }
}

std::optional<ValueRange> RangeFinder::of_reduction(const LazyBuffer* reduction) {
  const LazyBuffer* x = reduction->src[0];
  const ValueRange* below = of(x);
  if (below == nullptr) return std::nullopt;
  if (reduction->op == Op::ReduceMax || reduction->op == Op::ReduceMin) {
    Ints shape = below->shape;
    for (const int axis : reduction->axes) shape[static_cast<std::size_t>(axis)] = 1;
    const auto count = static_cast<std::size_t>(elements(shape));
    const double start = reduction->op == Op::ReduceMax ? -INFINITY : INFINITY;
    ValueRange range{shape, std::vector<double>(count, start), std::vector<double>(count, start)};
    const Ints strides = strides_over(shape);
    for_each_index(below->shape, [&](std::size_t i, const Ints& at) {
      std::int64_t k = 0;
      for (std::size_t axis = 0; axis < at.size(); axis++) k += strides[axis] * at[axis];
      double &low = range.low[static_cast<std::size_t>(k)], &high = range.high[static_cast<std::size_t>(k)];
      const bool is_max = reduction->op == Op::ReduceMax;
      low = is_max ? std::max(low, below->low[i]) : std::min(low, below->low[i]);
      high = is_max ? std::max(high, below->high[i]) : std::min(high, below->high[i]);
    });
    return range;
  }
  if (reduction->op != Op::ReduceSum || is_float(reduction->dtype)) return std::nullopt;
  double times = 1;
  Ints shape = below->shape;
  for (const int a : reduction->axes) {
    const auto axis = static_cast<std::size_t>(a);
    if (!x->shape()[axis].is_int()) return std::nullopt;
    if (shape[axis] == 1) times *= static_cast<double>(x->shape()[axis].as_int());
    shape[axis] = 1;
  }
  const auto count = static_cast<std::size_t>(elements(shape));
  ValueRange range{shape, std::vector<double>(count, 0), std::vector<double>(count, 0)};
  const Ints strides = strides_over(shape);
  for_each_index(below->shape, [&](std::size_t i, const Ints& at) {
    std::int64_t k = 0;
    for (std::size_t axis = 0; axis < at.size(); axis++) k += strides[axis] * at[axis];
    range.low[static_cast<std::size_t>(k)] += times * below->low[i];
    range.high[static_cast<std::size_t>(k)] += times * below->high[i];
  });
  const std::optional<Ends> type = ends_of_type(reduction->dtype);
  for (std::size_t i = 0; i < count; i++) {
    std::optional<Ends> ends = fitting(Ends{range.low[i], range.high[i]}, reduction->dtype);
    if (!ends) ends = type;
    if (!ends) return std::nullopt;
    range.low[i] = ends->low;
    range.high[i] = ends->high;
  }
  return range;
}

/// A table that is the same in each place: what stands between the positions.
std::optional<ValueRange> RangeFinder::of_gather(const LazyBuffer* gather) {
  const LazyBuffer *rows = gather->src[0], *positions = gather->src[1];
  if (!rows->base->constant) return std::nullopt;
  const ValueRange *index = of(positions), *table = index == nullptr ? nullptr : of(rows);
  if (table == nullptr || elements(table->shape) != table->shape.back()) return std::nullopt;
  const auto n = static_cast<double>(table->shape.back());
  ValueRange range{index->shape, {}, {}};
  for (std::size_t i = 0; i < index->low.size(); i++) {
    const bool inside = index->low[i] >= 0 && index->high[i] < n;  // others count from the end, or from the nearest
    const std::int64_t first = inside ? static_cast<std::int64_t>(index->low[i]) : 0;
    const std::int64_t last = inside ? static_cast<std::int64_t>(index->high[i]) : std::ssize(table->low) - 1;
    range.low.push_back(*std::min_element(table->low.begin() + first, table->low.begin() + last + 1));
    range.high.push_back(*std::max_element(table->high.begin() + first, table->high.begin() + last + 1));
  }
  return range;
}

}  // namespace etch
