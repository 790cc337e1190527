#include "quant/quantisation.h"

#include <algorithm>

#include "quant/bounds.h"

namespace etch {
namespace {

bool is_quantised_type(DType dtype) {
  return dtype == DType::Int8 || dtype == DType::UInt8 || dtype == DType::Int16 || dtype == DType::UInt16;
}

/// The other operand of `b`, op(x, c) where c is one constant `value`; nullptr if it is not that.
const LazyBuffer* operand_beside(const LazyBuffer* b, Op op, double value) {
  if (!b->is_base() || !is_op(b, op)) return nullptr;
  for (const std::size_t k : {0, 1})
    if (const Scalar* c = const_value(b->src[1 - k]); c != nullptr && c->as_double() == value) return b->src[k];
  return nullptr;
}

/// Whether every node that asked for `b` also asked for `inner`.
bool is_made_with(const LazyBuffer* b, const LazyBuffer* inner) {
  const auto asked = [inner](const std::string& node) {
    return std::ranges::find(inner->origins, node) != inner->origins.end() ||
           std::ranges::find(inner->shared_by, node) != inner->shared_by.end();
  };
  return !b->origins.empty() && std::ranges::all_of(b->origins, asked) && std::ranges::all_of(b->shared_by, asked);
}

}  // namespace

std::optional<Quantisation> quantisation_of(const LazyBuffer* b) {
  if (!b->is_base() || !is_op(b, Op::Cast) || !is_quantised_type(b->dtype) || b->src[0]->dtype != DType::Float32) return std::nullopt;
  const IntegerBounds type = bounds_of_type(b->dtype);
  const LazyBuffer* x = operand_beside(b->src[0], Op::Min, static_cast<double>(type.high));
  x = x == nullptr ? nullptr : operand_beside(x, Op::Max, static_cast<double>(type.low));
  if (x == nullptr || !x->is_base()) return std::nullopt;
  Quantisation q{.dtype = b->dtype};
  if (is_op(x, Op::Add)) {
    for (const std::size_t k : {0, 1})
      if (x->src[k]->is_base() && is_op(x->src[k], Op::Rint) && x->src[1 - k]->base->constant) {
        q.zero = x->src[1 - k];
        x = x->src[k];
        break;
      }
  }
  if (!x->is_base() || !is_op(x, Op::Rint) || !is_made_with(b, x)) return std::nullopt;
  q.x = x->src[0];
  return q;
}

}  // namespace etch
