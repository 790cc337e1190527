#include "jit/capture.h"

#include <algorithm>

#include "jit/jit_error.h"
#include "program/loops.h"

namespace etch {
namespace {

const CompiledASTRunner* compiled_of(const JitItem& item) { return dynamic_cast<const CompiledASTRunner*>(item.prg.get()); }

bool has_variable(const std::vector<Sint>& sizes) { return !variables(sizes).empty(); }

/// The items in which memory must keep its content: a use in a loop holds for the whole of the outermost one.
std::pair<int, int> around_loops(const JitCache& cache, int item) {
  for (const ProgramLoop& loop : cache.loops)
    if (loop.first <= item && item < loop.end) return {loop.first, loop.end - 1};
  return {item, item};
}

}  // namespace

SharedPieces share_pieces(const std::vector<PlaceHolder>& holders) {
  std::vector<std::size_t> order(holders.size());
  for (std::size_t k = 0; k < order.size(); k++) order[k] = k;
  // Large ones first, so that small ones find a piece that is there anyway.
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t k) { return holders[k].bytes; });
  SharedPieces shared{.piece = std::vector<int>(holders.size(), -1), .bytes = {}};
  std::vector<std::vector<std::size_t>> users;  // of each piece
  for (const std::size_t k : order) {
    const auto is_free = [&](const std::vector<std::size_t>& of) {
      return std::ranges::all_of(of,
                                 [&](std::size_t u) { return holders[u].last < holders[k].first || holders[k].last < holders[u].first; });
    };
    std::size_t best = users.size();  // the smallest that is free
    for (std::size_t p = 0; p < users.size(); p++)
      if (is_free(users[p]) && (best == users.size() || shared.bytes[p] < shared.bytes[best])) best = p;
    if (best == users.size()) {
      users.emplace_back();
      shared.bytes.push_back(holders[k].bytes);
    }
    users[best].push_back(k);
    shared.piece[k] = static_cast<int>(best);
  }
  return shared;
}

void CacheCollector::add(std::vector<JitItem> items, std::vector<ProgramLoop> loops) {
  const int before = static_cast<int>(cache_.items.size());
  for (ProgramLoop& loop : loops) {
    loop.first += before;
    loop.end += before;
    cache_.loops.push_back(std::move(loop));
  }
  std::ranges::move(items, std::back_inserter(cache_.items));
}

JitCache CacheCollector::finish(const Device& device) {
  std::vector<PlaceHolder> holders;
  std::vector<Memory> held;
  std::map<const Buffer*, std::size_t> number;  // look-up only
  for (std::size_t j = 0; j < cache_.items.size(); j++) {
    for (const Memory& buffer : cache_.items[j].rawbufs) {
      if (!temporary_.contains(buffer)) continue;
      const auto [first, last] = around_loops(cache_, static_cast<int>(j));
      const auto [found, added] = number.try_emplace(buffer.get(), holders.size());
      if (added) {
        holders.push_back({buffer->bytes(), first, last});
        held.push_back(buffer);
      }
      holders[found->second].last = std::max(holders[found->second].last, last);
    }
  }
  const SharedPieces shared = share_pieces(holders);
  std::vector<Memory> pieces, placed;
  for (const std::int64_t bytes : shared.bytes) pieces.push_back(std::make_shared<Buffer>(device, bytes, DType::UInt8));
  for (std::size_t k = 0; k < holders.size(); k++) {
    const Memory& piece = pieces[static_cast<std::size_t>(shared.piece[k])];
    auto* view = new Buffer(device, held[k]->size(), held[k]->dtype(), piece->opaque());
    placed.emplace_back(view, [piece](const Buffer* b) { delete b; });  // the piece lives as long as what lies in it
  }
  for (JitItem& item : cache_.items)
    for (Memory& buffer : item.rawbufs)
      if (const auto found = number.find(buffer.get()); found != number.end()) buffer = placed[found->second];
  return std::move(cache_);
}

VarValues CacheCollector::captured_values(const std::vector<Memory>& inputs) const {
  VarValues values;
  for (const auto& [memory, vars] : uses_) {
    if (is_output(memory) || std::ranges::find(inputs, memory) != inputs.end()) continue;
    for (const auto& [name, value] : vars)
      if (const auto [known, added] = values.try_emplace(name, value); !added && known->second != value)
        throw JitError("variable '" + name + "'",
                       "is " + std::to_string(known->second) + " and " + std::to_string(value) +
                           " in tensors that the recorded function reads without being given them",
                       "give their shapes a Variable each");
  }
  return values;
}

InputReplace get_input_replace(const std::vector<JitItem>& items, const std::vector<std::shared_ptr<const Buffer>>& input_rawbuffers) {
  std::map<const Buffer*, int> position;  // look-up only
  for (std::size_t k = 0; k < input_rawbuffers.size(); k++)
    if (!position.emplace(input_rawbuffers[k].get(), static_cast<int>(k)).second)
      throw JitError("arguments " + std::to_string(position.at(input_rawbuffers[k].get())) + " and " + std::to_string(k),
                     "are the same memory, so they can't be told apart in later calls", "pass a copy, or the tensor once");
  InputReplace replace;
  for (std::size_t j = 0; j < items.size(); j++)
    for (std::size_t i = 0; i < items[j].rawbufs.size(); i++)
      if (const auto found = position.find(items[j].rawbufs[i].get()); found != position.end())
        replace[{static_cast<int>(j), static_cast<int>(i)}] = found->second;
  return replace;
}

std::vector<int> get_jc_idxs_with_updatable_launch_dims(std::span<const JitItem> items) {
  std::vector<int> found;
  for (std::size_t j = 0; j < items.size(); j++) {
    const CompiledASTRunner* runner = compiled_of(items[j]);
    if (runner != nullptr && (has_variable(runner->kernel().global_size) || has_variable(runner->kernel().local_size)))
      found.push_back(static_cast<int>(j));
  }
  return found;
}

std::vector<int> get_jc_idxs_with_updatable_var_vals(std::span<const JitItem> items) {
  std::vector<int> found;
  for (std::size_t j = 0; j < items.size(); j++) {
    const CompiledASTRunner* runner = compiled_of(items[j]);
    if (runner != nullptr && !runner->kernel().variables.empty()) found.push_back(static_cast<int>(j));
  }
  return found;
}

JitStats get_jit_stats(const JitCache& cache, const VarValues& var_vals) {
  JitStats sum;
  for_each_step(cache.loops, static_cast<int>(cache.items.size()), var_vals, [&](int j, const VarValues& values) {
    const JITRunner& runner = *cache.items[static_cast<std::size_t>(j)].prg;
    sum.op_estimate += evaluate(runner.op_estimate(), values);
    sum.mem_estimate += evaluate(runner.mem_estimate(), values);
    sum.kernels += runner.kernels();
  });
  return sum;
}

}  // namespace etch
