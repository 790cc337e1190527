#include "quant/stored_bytes.h"

#include <unordered_map>
#include <unordered_set>

#include "base/toposort.h"
#include "lazy/rewrite.h"
#include "lazy/tensor.h"
#include "quant/quantisation.h"

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

}  // namespace

std::vector<const LazyBuffer*> store_bytes_as(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, DType stored) {
  const bool is_signed = stored == DType::Int8;
  const std::unordered_set<const LazyBuffer*> bytes = find_bytes(outputs, is_signed ? DType::UInt8 : DType::Int8);
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> in_int32;  // of a byte: y + 128
  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) {
    OriginScope scope(graph, rebuilt->origins);
    if (bytes.contains(old) && rebuilt->is_base()) {
      const Tensor x(&graph, rebuilt);
      const Tensor offset = Tensor::full(graph, x.shape(), Scalar::of_int(DType::Int32, is_signed ? kSignOffset : -kSignOffset));
      const Tensor y = (x.cast(DType::Int32) - offset).cast(stored);
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
