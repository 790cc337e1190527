// Internal to quant/: sums of products of floats, which a compiler may contract: round once instead of twice.
#pragma once

#include <functional>

#include "lazy/tensor.h"

namespace etch {

/// `value`, which is quantised, where `f` has replaced the products that are added or subtracted last: below bounds and the division by a
/// scale. `f` gets what a sum reads, a product or a view of one; an empty result leaves it. nullptr: nothing was replaced.
const LazyBuffer* with_products(LazyGraph& graph, const LazyBuffer* value, const std::function<Tensor(const LazyBuffer*)>& f);

/// The same value of a product, rounded to its type whatever the compiler: it is bounded, which no product that is added to is.
Tensor rounded_product(LazyGraph& graph, const LazyBuffer* product);

}  // namespace etch
