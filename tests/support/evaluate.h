// For tests: the outputs of an imported model for given inputs, each operation by the reference interpreter, without the
// scheduler. Slow and simple.
#pragma once

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/toposort.h"
#include "interp/interp.h"
#include "ir/near.h"
#include "lazy/ast.h"
#include "lazy/graph.h"
#include "onnx/import.h"
#include "onnx/tensor_proto.h"

namespace etch::test {

inline std::vector<std::int64_t> numbers(const std::vector<Sint>& shape, const VarValues& vars) {
  std::vector<std::int64_t> result;
  for (const Sint& d : shape) result.push_back(evaluate(d, vars));
  return result;
}

/// Values without the scheduler: each operation by the reference, each loop turn by turn, all that is in it anew in each turn.
class GraphEvaluator {
 public:
  using Arrays = std::unordered_map<const LazyBuffer*, Array>;

  GraphEvaluator(LazyGraph& graph, const std::map<std::string, Array>& inputs) : graph_(graph), inputs_(inputs) {}

  /// `carried`: the values of the loops around.
  std::vector<Array> evaluate(const std::vector<const LazyBuffer*>& roots, const VarValues& vars, const Arrays& carried = {}) const {
    const std::vector<const LazyBuffer*> order = order_below(roots);
    const auto stored = stored_bases(order, vars);
    Arrays arrays = carried;
    const auto compute = [&](const LazyBuffer* b, bool may_read_itself) {
      if (may_read_itself && b->is_base() && is_memory(b) && arrays.contains(b)) return arrays.at(b);
      const Ast ast = build_ast(graph_, b, [&](const LazyBuffer* base) { return stored.contains(base) && (may_read_itself || base != b); });
      std::vector<const Array*> read;
      for (const LazyBuffer* input : ast.inputs) read.push_back(&arrays.at(input));
      return interp_evaluate(ast.store, read, vars).reshaped(numbers(b->shape(), vars));
    };
    for (const LazyBuffer* b : order) {
      if (!stored.contains(b) || arrays.contains(b)) continue;
      if (b->kind == LazyKind::Data)
        arrays.emplace(b, b->data);
      else if (b->kind == LazyKind::Input)
        arrays.emplace(b, inputs_.at(b->name).reshaped(numbers(b->shape(), vars)));
      else if (b->kind == LazyKind::LoopResult)
        arrays.emplace(b, loop_result(b, vars, carried, [&](const LazyBuffer* s) { return compute(s, true); }));
      else if (b->kind == LazyKind::External)
        arrays.emplace(b, by_reference(b, vars, [&](const LazyBuffer* s) { return arrays.contains(s) ? arrays.at(s) : compute(s, true); }));
      else
        arrays.emplace(b, compute(b, false));
    }
    std::vector<Array> results;
    for (const LazyBuffer* b : roots) results.push_back(b->is_base() && stored.contains(b) ? arrays.at(b) : compute(b, true));
    return results;
  }

 private:
  /// One output of a function in C.
  template <class Compute>
  static Array by_reference(const LazyBuffer* b, const VarValues& vars, const Compute& compute) {
    std::vector<Array> read;
    for (const LazyBuffer* source : b->src) read.push_back(compute(source));
    std::vector<const Array*> inputs;
    for (const Array& array : read) inputs.push_back(&array);
    std::vector<std::vector<std::int64_t>> shapes;
    for (const ExternalOutput& output : b->external->outputs) shapes.push_back(numbers(output.shape, vars));
    return b->external->reference(inputs, shapes).at(static_cast<std::size_t>(b->slot));
  }

  /// The bases below `roots`, sources first; of a loop only what its carried values start with.
  static std::vector<const LazyBuffer*> order_below(const std::vector<const LazyBuffer*>& roots) {
    const auto below = [](const LazyBuffer* b) {
      const auto all = sources(b);
      return b->kind == LazyKind::LoopResult ? all.first(static_cast<std::size_t>(b->loop->carried)) : all;
    };
    std::vector<const LazyBuffer*> order;
    for (const LazyBuffer* b : toposort<LazyBuffer>(roots, below))
      if (b->is_base()) order.push_back(b);
    return order;
  }

  /// The bases whose values are stored: all except operations that are larger than their operands, and the tables of Gathers in any case.
  static std::unordered_set<const LazyBuffer*> stored_bases(const std::vector<const LazyBuffer*>& order, const VarValues& vars) {
    std::unordered_set<const LazyBuffer*> stored;
    std::unordered_set<const LazyBuffer*> tables;
    for (const LazyBuffer* b : order)
      if (b->kind == LazyKind::Gather) tables.insert(b->src[0]->base);
    std::unordered_map<const LazyBuffer*, std::int64_t> memory;
    for (const LazyBuffer* b : order) {
      std::int64_t below = 0;
      for (const LazyBuffer* s : b->src) below += memory[s->base];
      const bool leaf = b->kind == LazyKind::Const || b->kind == LazyKind::Index;
      const std::int64_t size = etch::evaluate(product(b->shape()), vars);
      const bool needed = tables.contains(b) || b->is_reduction() || b->kind == LazyKind::Contiguous || b->kind == LazyKind::External;
      const bool store = is_memory(b) || needed || (!leaf && size <= below);
      if (store) stored.insert(b);
      memory[b] = store ? size : leaf ? 1 : below;
    }
    return stored;
  }

  template <class Compute>
  Array loop_result(const LazyBuffer* b, const VarValues& vars, const Arrays& around, Compute compute) const {
    const auto carried = static_cast<std::size_t>(b->loop->carried), slot = static_cast<std::size_t>(b->slot);
    Arrays now = around;
    const auto memory = [&](std::size_t k) { return graph_.carried(b->loop, static_cast<int>(k), b->src[k]->dtype, b->src[k]->shape()); };
    for (std::size_t k = 0; k < carried; k++) now[memory(k)] = compute(b->src[k]);
    std::vector<const LazyBuffer*> wanted(b->src.begin() + static_cast<std::ptrdiff_t>(carried),
                                          b->src.begin() + static_cast<std::ptrdiff_t>(2 * carried));
    if (slot >= carried) wanted.push_back(b->src[slot + carried]);
    std::vector<std::byte> listed;
    VarValues inside = vars;
    const std::int64_t count = etch::evaluate(b->loop->count, vars);
    for (std::int64_t turn = 0; turn < count; turn++) {
      for (const Node* v : variables(b->loop->counter)) inside[v->name] = turn;
      const std::vector<Array> made = evaluate(wanted, inside, now);
      for (std::size_t k = 0; k < carried; k++) now[memory(k)] = made[k];
      if (slot >= carried) listed.insert(listed.end(), made.back().bytes().begin(), made.back().bytes().end());
    }
    return slot < carried ? now.at(memory(slot)) : Array(b->dtype, numbers(b->shape(), vars), std::move(listed));
  }

  LazyGraph& graph_;
  const std::map<std::string, Array>& inputs_;
};

/// The values of `tensors`, all of one graph. `inputs` by the Tensors' names.
inline std::vector<Array> evaluate_tensors(const std::vector<Tensor>& tensors, const std::map<std::string, Array>& inputs,
                                           const VarValues& vars = {}) {
  std::vector<const LazyBuffer*> roots;
  for (const Tensor& t : tensors) roots.push_back(t.buffer());
  return GraphEvaluator(tensors.at(0).graph(), inputs).evaluate(roots, vars);
}

inline std::vector<Array> evaluate_model(const ImportedModel& model, const std::map<std::string, Array>& inputs,
                                         const VarValues& vars = {}) {
  std::vector<Tensor> tensors;
  for (const ImportedTensor& output : model.outputs) tensors.push_back(output.tensor);
  return evaluate_tensors(tensors, inputs, vars);
}

/// input_K.pb or output_K.pb of a test_data_set folder, K = 0, 1, ...
inline std::vector<NamedArray> read_data_set(const std::filesystem::path& folder, const std::string& kind) {
  std::vector<NamedArray> arrays;
  for (int k = 0;; k++) {
    const std::filesystem::path file = folder / (kind + "_" + std::to_string(k) + ".pb");
    if (!std::filesystem::exists(file)) return arrays;
    arrays.push_back(read_tensor_file(file));
  }
}

/// Test data of bfloat16 is written as uint16, because numpy has no such type.
inline Array as_declared(const Array& array, DType declared) {
  if (declared != DType::BFloat16 || array.dtype() != DType::UInt16) return array;
  return Array(declared, array.shape(), {array.bytes().begin(), array.bytes().end()});
}

/// Empty if equal: integers exactly, floats within rtol * |want| + atol * max|want| + tiny; NaN and infinities in the same places.
inline std::string difference(const Array& got, const Array& want, double rtol, double atol) {
  if (got.dtype() != want.dtype()) return "type " + std::string(name_of(got.dtype())) + ", expected " + std::string(name_of(want.dtype()));
  if (got.shape() != want.shape()) {
    std::string text = "shape";
    for (std::int64_t d : got.shape()) text += " " + std::to_string(d);
    text += ", expected";
    for (std::int64_t d : want.shape()) text += " " + std::to_string(d);
    return text;
  }
  // One step of bfloat16 is more than any tolerance meant for float32; old test data was also truncated instead of rounded.
  if (want.dtype() == DType::BFloat16) rtol = std::max(rtol, 0x1p-7);
  double largest = 0;
  for (std::int64_t i = 0; i < want.size(); i++) {
    const double w = want.double_at(i);
    if (std::isfinite(w)) largest = std::max(largest, std::abs(w));
  }
  for (std::int64_t i = 0; i < want.size(); i++) {
    if (!is_float(want.dtype())) {
      if (got.int_at(i) == want.int_at(i)) continue;
    } else {
      const double g = got.double_at(i), w = want.double_at(i);
      if (is_near(g, w, rtol * std::abs(w) + atol * largest + 1e-7)) continue;
    }
    return "element " + std::to_string(i) + " is " + got.at(i).to_text() + ", expected " + want.at(i).to_text();
  }
  return "";
}

}  // namespace etch::test
