// Internal to schedule/: values in a wide type that are cheaper to compute again from a narrow one than to store.
#pragma once

#include "lazy/graph.h"

namespace etch {

/// Whether `b` is a cast to a type of more bytes that is exact for every value (int8 to int32, float16 to float32).
inline bool is_widening(const LazyBuffer* b) {
  return is_op(b, Op::Cast) && is_lossless(b->src[0]->dtype, b->dtype) && bytes_of(b->dtype) > bytes_of(b->src[0]->dtype);
}

/// The operand of `b`, a cheap operation on it and constants; nullptr if it is none.
inline const LazyBuffer* only_operand(const LazyBuffer* b) {
  if (b->kind != LazyKind::Compute || b->is_reduction() || b->op == Op::Bitcast || is_library_call(b->op)) return nullptr;
  const LazyBuffer* only = nullptr;
  for (const LazyBuffer* s : b->src) {
    if (s->base->constant) continue;
    if (only != nullptr || !shows_base(s)) return nullptr;
    only = s->base;
  }
  return only;
}

/// Whether a buffer shows as many elements as its base has, none of them padding: all of it, for an image in another order too.
inline bool shows_all(const LazyBuffer* buffer) { return buffer->st.size() == buffer->base->st.size() && !is_masked(buffer->st); }

/// A narrow value that another is computed from.
struct Narrow {
  const LazyBuffer* source = nullptr;  // nullptr: there is none
  int cost = 0;                        // of computing one element again in float; integers widen while they are loaded
};

/// The narrow value that `b` is computed from, if that is a widening cast and at most three cheap operations with constants (a quantised
/// value less its zero point, times its scale).
inline Narrow narrow_source(const LazyBuffer* b) {
  constexpr int kMost = 4;
  const bool in_float = is_float(b->dtype);
  int cost = 0;
  for (int i = 0; i < kMost && b != nullptr; i++) {
    cost += in_float && b->kind == LazyKind::Compute ? info(b->op).cost : 0;
    if (is_widening(b)) return shows_all(b->src[0]) ? Narrow{b->src[0]->base, cost} : Narrow{};
    b = only_operand(b);
  }
  return {};
}

}  // namespace etch
