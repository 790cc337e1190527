// Internal to schedule/: casts that are cheaper to repeat than to store.
#pragma once

#include "lazy/graph.h"

namespace etch {

/// Whether `b` is a cast to a type of more bytes that is exact for every value (int8 to int32, float16 to float32).
inline bool is_widening(const LazyBuffer* b) {
  return is_op(b, Op::Cast) && is_lossless(b->src[0]->dtype, b->dtype) && bytes_of(b->dtype) > bytes_of(b->src[0]->dtype);
}

}  // namespace etch
