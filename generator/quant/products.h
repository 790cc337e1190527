// Internal to quant/: sums of products of floats, which a compiler may contract: round once instead of twice.
#pragma once

#include <functional>
#include <unordered_set>

#include "lazy/tensor.h"
#include "quant/bounds.h"

namespace etch {

/// `value`, which is quantised, where `f` has replaced the products that are added or subtracted on the way to it, by operations on single
/// elements. `f` gets what a sum reads, a product, its negative, or a view of one: as it is, and with what was replaced below it. An empty
/// result leaves it. nullptr: nothing was replaced, or there are too many operations.
using ReplaceProduct = std::function<Tensor(const LazyBuffer* product, const LazyBuffer* rebuilt)>;
const LazyBuffer* with_products(LazyGraph& graph, const LazyBuffer* value, const ReplaceProduct& f);

/// The same value of a product, rounded to its type whatever the compiler: it is bounded, which no product that is added to is. Of a
/// product whose sign is known the bound is on that side, as compilers drop the other one.
Tensor rounded_product(LazyGraph& graph, BoundsFinder& bounds, const LazyBuffer* product);

/// What is computed, in float, before it is rounded to a whole number and becomes an integer.
std::unordered_set<const LazyBuffer*> below_quantisations(const std::vector<const LazyBuffer*>& outputs);

/// What replaces `outputs`, of a graph that has its integers: below whatever is quantised, products of floats that are added or subtracted,
/// or summed up, are rounded before, also where a sum reads a choice, bounds or the negative of one. Those of matrix products and
/// convolutions stay: sums of products of which an operand is used for several results.
std::vector<const LazyBuffer*> with_rounded_products(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
