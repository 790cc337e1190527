#include "renderer/index_range.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "ir/scalar.h"

namespace etch {
namespace {

struct IndexRange {
  std::int64_t min = std::numeric_limits<std::int32_t>::min(), max = std::numeric_limits<std::int32_t>::max();
};

/// The smallest range of 32 bits around it.
IndexRange range(std::int64_t a, std::int64_t b) {
  const IndexRange all;
  return {std::clamp(std::min(a, b), all.min, all.max), std::clamp(std::max(a, b), all.min, all.max)};
}

IndexRange product(IndexRange a, IndexRange b) {
  const auto [low, high] = std::minmax({a.min * b.min, a.min * b.max, a.max * b.min, a.max * b.max});
  return range(low, high);
}

/// Divisors are positive and numerators not negative where the division is exact.
IndexRange quotient(IndexRange a, IndexRange b) { return b.min > 0 && a.min >= 0 ? range(a.min / b.max, a.max / b.min) : IndexRange{}; }

class Ranges {
 public:
  IndexRange of(const UOp* u) {
    const auto found = known_.find(u);
    return found == known_.end() ? IndexRange{} : found->second;
  }
  void add(const UOp* u) { known_[u] = compute(u); }

 private:
  IndexRange compute(const UOp* u) {
    if (u->lanes > 1) return {};
    if (u->uop == UOpKind::Const && !is_float(u->dtype)) return range(u->value->as_int(), u->value->as_int());
    if (u->uop == UOpKind::Loop) return range(of(u->src[0]).min, of(u->src[1]).max - 1);
    if (u->uop == UOpKind::Load) return of_type(u->dtype);
    if (u->uop == UOpKind::Cast) return u->exact ? of(u->src[0]) : of_type(u->dtype);
    return u->uop == UOpKind::Alu && u->exact ? of_operation(u) : of_type(u->dtype);
  }

  static IndexRange of_type(DType dtype) {
    if (dtype == DType::Bool) return range(0, 1);
    if (is_float(dtype) || bytes_of(dtype) > 2) return {};
    return range(int_min(dtype), int_max(dtype));
  }

  IndexRange of_operation(const UOp* u) {
    const IndexRange a = of(u->src[0]), b = u->src.size() > 1 ? of(u->src[1]) : IndexRange{},
                     c = u->src.size() > 2 ? of(u->src[2]) : IndexRange{};
    if (u->op == Op::Neg) return range(-a.max, -a.min);
    if (u->op == Op::Add) return range(a.min + b.min, a.max + b.max);
    if (u->op == Op::Sub) return range(a.min - b.max, a.max - b.min);
    if (u->op == Op::Mul) return product(a, b);
    if (u->op == Op::Div) return quotient(a, b);
    if (u->op == Op::Mod) return b.min > 0 && a.min >= 0 ? range(0, std::min(a.max, b.max - 1)) : IndexRange{};
    if (u->op == Op::Max) return range(std::max(a.min, b.min), std::max(a.max, b.max));
    if (u->op == Op::Min) return range(std::min(a.min, b.min), std::min(a.max, b.max));
    if (u->op == Op::Where) return range(std::min(b.min, c.min), std::max(b.max, c.max));
    if (u->op == Op::MulAcc) {
      const IndexRange p = product(a, b);
      return range(p.min + c.min, p.max + c.max);
    }
    return {};
  }

  std::unordered_map<const UOp*, IndexRange> known_;
};

}  // namespace

bool indices_fit(const UOpList& uops, std::int64_t min, std::int64_t max) {
  Ranges ranges;
  for (const UOp* u : uops.order) {
    ranges.add(u);
    const bool counts = u->exact || u->uop == UOpKind::Loop || u->uop == UOpKind::Special;
    if (!counts || u->dtype != DType::Int32) continue;
    const IndexRange r = ranges.of(u);
    // Behind the last turn a counter is what ends the loop.
    if (r.min < min || r.max + (u->uop == UOpKind::Loop ? 1 : 0) > max) return false;
    if (u->uop != UOpKind::Alu || u->op != Op::MulAcc) continue;
    const IndexRange step = product(ranges.of(u->src[0]), ranges.of(u->src[1]));
    if (step.min < min || step.max > max) return false;
  }
  return true;
}

}  // namespace etch
