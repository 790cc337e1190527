// Internal to quant/: what is done to each element is done before one of several values is chosen (Where, and so Concat and Pad).
#pragma once

#include <functional>

#include "lazy/tensor.h"

namespace etch {

/// Whether `value`, or what it is a view of, is a Where.
bool is_choice(const LazyBuffer* value);

/// f of `value`, elementwise: Where(c, f(a), f(b)) instead of f(Where(c, a, b)). `of_zero` is f of 0, which padding is; it is written only
/// where padding may be chosen, which it is not between the parts of a Concat.
Tensor before_choices(const LazyBuffer* value, const std::function<Tensor(const LazyBuffer*)>& f, LazyGraph& graph, Scalar of_zero);

}  // namespace etch
