#include "quant/stored_bytes.h"

#include <unordered_map>
#include <unordered_set>

#include "base/toposort.h"
#include "lazy/rewrite.h"
#include "lazy/tensor.h"

namespace etch {
namespace {

bool is_computed_byte(const LazyBuffer* b, DType dtype) {
  return b->is_base() && b->kind == LazyKind::Compute && b->dtype == dtype && !b->is_reduction() && !b->constant;
}

bool widens(const LazyBuffer* b) { return b->kind == LazyKind::Compute && b->op == Op::Cast && b->dtype == DType::Int32; }

// Those that are read, and by conversions to int32 alone.
std::unordered_set<const LazyBuffer*> find_bytes(const std::vector<const LazyBuffer*>& outputs, DType dtype) {
  std::unordered_set<const LazyBuffer*> found, others;
  for (const LazyBuffer* output : outputs) others.insert(output->base);
  for (const LazyBuffer* b : toposort<LazyBuffer>(outputs, sources)) {
    if (!b->is_base()) continue;
    for (const LazyBuffer* s : b->src)
      if (is_computed_byte(s->base, dtype)) (widens(b) ? found : others).insert(s->base);
  }
  std::erase_if(found, [&](const LazyBuffer* b) { return others.contains(b); });
  return found;
}

/// A float that was rounded, of at most 2^30, and a constant that is added to it, if any; a null Tensor for anything else.
std::pair<Tensor, std::int64_t> rounded_and_added(LazyGraph& graph, const LazyBuffer* b) {
  constexpr std::int64_t kMost = 1 << 29;
  const Scalar* added = is_op(b, Op::Add) ? const_value(b->src[1]) : nullptr;
  const LazyBuffer* x = added != nullptr ? b->src[0] : b;
  if (!is_op(x, Op::Cast) || x->dtype != DType::Int32 || !is_op(x->src[0], Op::RintSmall)) return {};
  const std::int64_t number = added != nullptr ? added->as_int() : 0;
  return {number > -kMost && number < kMost ? Tensor(&graph, x) : Tensor(), number};
}

/// The byte `b`, in int32, less `offset`. Where it is a requantised sum its zero point and bounds move along: nothing is added twice.
Tensor moved(LazyGraph& graph, const LazyBuffer* b, std::int64_t offset) {
  const auto constant = [&](std::int64_t v) { return Tensor::full(graph, b->shape(), Scalar::of_int(DType::Int32, v)); };
  const Tensor plain = Tensor(&graph, b).cast(DType::Int32) - constant(offset);
  const LazyBuffer* high = is_op(b, Op::Cast) && is_op(b->src[0], Op::Min) ? b->src[0] : nullptr;
  const LazyBuffer* low = high != nullptr && is_op(high->src[0], Op::Max) ? high->src[0] : nullptr;
  const Scalar *most = low != nullptr ? const_value(high->src[1]) : nullptr, *least = low != nullptr ? const_value(low->src[1]) : nullptr;
  if (most == nullptr || least == nullptr) return plain;
  if (least->as_int() < int_min(b->dtype) || most->as_int() > int_max(b->dtype)) return plain;
  const auto [x, zero] = rounded_and_added(graph, low->src[0]);
  if (!x) return plain;
  return (x + constant(zero - offset)).maximum(constant(least->as_int() - offset)).minimum(constant(most->as_int() - offset));
}

}  // namespace

std::vector<const LazyBuffer*> store_bytes_as(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, DType stored) {
  const bool is_signed = stored == DType::Int8;
  const std::unordered_set<const LazyBuffer*> bytes = find_bytes(outputs, is_signed ? DType::UInt8 : DType::Int8);
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> in_int32;  // of a byte: y + 128
  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) {
    OriginScope scope(graph, rebuilt->origins);
    if (bytes.contains(old) && rebuilt->is_base()) {
      const std::int64_t added = is_signed ? kSignOffset : -kSignOffset;
      const Tensor y = moved(graph, rebuilt, added).cast(stored);
      const Tensor offset = Tensor::full(graph, y.shape(), Scalar::of_int(DType::Int32, added));
      in_int32[rebuilt] = (y.cast(DType::Int32) + offset).buffer();
      return rebuilt;
    }
    if (!widens(rebuilt)) return rebuilt;
    const auto found = in_int32.find(rebuilt->src[0]->base);
    if (found == in_int32.end()) return rebuilt;
    return graph.view(found->second, graph.stacked(found->second->st, rebuilt->src[0]->st));
  });
}

}  // namespace etch
