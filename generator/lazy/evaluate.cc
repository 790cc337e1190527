// Constants computed on the host: one reduction or elementwise operation at a time, by the reference.
#include <unordered_set>

#include "base/error.h"
#include "interp/interp.h"
#include "lazy/ast.h"

namespace etch {
namespace {

constexpr std::int64_t kKeepElements = 1 << 14;  // intermediate results up to this size are cached for the next evaluation

std::int64_t elements(const LazyBuffer* b) { return b->st.size().as_int(); }

/// The bases whose values are stored: all except operations that are larger than their operands (a product that is summed afterwards).
/// What a Gather reads is stored in any case.
std::unordered_set<const LazyBuffer*> choose_stored(const std::vector<const LazyBuffer*>& order, const LazyBuffer* target) {
  std::unordered_set<const LazyBuffer*> stored;
  std::unordered_set<const LazyBuffer*> tables;
  for (const LazyBuffer* b : order)
    if (b->kind == LazyKind::Gather) tables.insert(b->src[0]->base);
  std::unordered_map<const LazyBuffer*, std::int64_t> memory;  // elements stored below each base, counted once for each use
  for (const LazyBuffer* b : order) {
    std::int64_t below = 0;
    for (const LazyBuffer* s : b->src) below += memory.at(s->base);
    const bool leaf = b->kind == LazyKind::Const || b->kind == LazyKind::Index;
    const bool store =
        b->kind == LazyKind::Data || b == target || b->is_reduction() || tables.contains(b) || (!leaf && elements(b) <= below);
    if (store) stored.insert(b);
    memory[b] = store ? elements(b) : leaf ? 1 : below;
  }
  return stored;
}

}  // namespace

const Array& LazyGraph::evaluate(const LazyBuffer* buffer) {
  check(buffer->constant, "only constants are evaluated on the host");
  if (const auto it = evaluated_.find(buffer); it != evaluated_.end()) return it->second;
  if (buffer->kind == LazyKind::Data) return evaluated_.emplace(buffer, buffer->data).first->second;

  const std::vector<const LazyBuffer*> order = toposort_bases({buffer});
  const auto stored = choose_stored(order, buffer);
  std::unordered_map<const LazyBuffer*, Array> arrays;
  const auto in_memory = [&](const LazyBuffer* b) { return stored.contains(b); };
  const auto compute = [&](const LazyBuffer* b) {
    const Ast ast = build_ast(*this, b, in_memory);
    std::vector<const Array*> inputs;
    for (const LazyBuffer* input : ast.inputs) inputs.push_back(&arrays.at(input));
    std::vector<std::int64_t> shape;
    for (const Sint& d : b->shape()) shape.push_back(d.as_int());
    return interp_evaluate(ast.store, inputs, {}).reshaped(std::move(shape));
  };
  for (const LazyBuffer* b : order) {
    if (!stored.contains(b) || b == buffer) continue;
    if (const auto it = evaluated_.find(b); it != evaluated_.end()) {
      arrays.emplace(b, it->second);
      continue;
    }
    arrays.emplace(b, b->kind == LazyKind::Data ? b->data : compute(b));
    if (b->kind != LazyKind::Data && elements(b) <= kKeepElements) evaluated_.emplace(b, arrays.at(b));
  }
  return evaluated_.emplace(buffer, compute(buffer)).first->second;
}

}  // namespace etch
