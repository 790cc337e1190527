#include <algorithm>
#include <chrono>

#include "jit/tinyjit.h"

namespace etch {

namespace {

Estimate sum_of(const std::vector<JitItem>& items) {
  Estimate sum;
  for (const JitItem& item : items) {
    sum.ops += item.prg->op_estimate();
    sum.mem += item.prg->mem_estimate();
  }
  return sum;
}

}  // namespace

GraphRunner::GraphRunner(const Device& device, std::vector<JitItem> items, const InputReplace& replace, const VarValues& vars, Stats stats)
    : JITRunner(sum_of(items), std::move(stats)), items_(std::move(items)) {
  for (std::size_t j = 0; j < items_.size(); j++)
    for (const ProgramVariable& v : runner(j).signature().variables)
      if (std::ranges::find(variables_, v.name, &ProgramVariable::name) == variables_.end()) variables_.push_back(v);
  std::set<std::size_t> updatable;
  for (const auto& [place, position] : replace) {
    const auto known = std::ranges::find(replaced_, position);
    places_[place] = static_cast<std::size_t>(known - replaced_.begin());
    if (known == replaced_.end()) replaced_.push_back(position);
    updatable.insert(static_cast<std::size_t>(place.first));
  }
  for (const int j : get_jc_idxs_with_updatable_launch_dims(items_)) updatable.insert(static_cast<std::size_t>(j));
  for (const int j : get_jc_idxs_with_updatable_var_vals(items_)) updatable.insert(static_cast<std::size_t>(j));
  updatable_.assign(updatable.begin(), updatable.end());
  std::vector<GraphNode> nodes;
  for (std::size_t j = 0; j < items_.size(); j++) nodes.push_back(node_of(j, vars));
  graph_ = device.make_graph(std::move(nodes));
  for (const auto& [place, number] : places_)
    items_[static_cast<std::size_t>(place.first)].rawbufs[static_cast<std::size_t>(place.second)].reset();
}

const CompiledASTRunner& GraphRunner::runner(std::size_t item) const { return dynamic_cast<const CompiledASTRunner&>(*items_[item].prg); }

GraphNode GraphRunner::node_of(std::size_t item, const VarValues& var_vals) const {
  const CompiledASTRunner& kernel = runner(item);
  GraphNode node{.library = kernel.loaded().library(),
                 .kernel = kernel.loaded().number(),
                 .buffers = {},
                 .values = etch::values_of(kernel.kernel(), var_vals),
                 .size = kernel.launch_dims(var_vals)};
  for (const auto& buffer : items_[item].rawbufs) node.buffers.push_back(buffer ? buffer->opaque() : nullptr);
  return node;
}

std::optional<double> GraphRunner::run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) {
  check(rawbufs.size() == replaced_.size(), "a graph gets each buffer that a call replaces");
  check_values("graph of kernels", variables_, var_vals);
  for (const std::size_t j : updatable_) {
    GraphNode node = node_of(j, var_vals);
    for (std::size_t i = 0; i < node.buffers.size(); i++)
      if (const auto place = places_.find({static_cast<int>(j), static_cast<int>(i)}); place != places_.end())
        node.buffers[i] = rawbufs[place->second]->opaque();
    graph_->update(j, node);
  }
  const auto begin = std::chrono::steady_clock::now();
  graph_->launch();
  if (!wait) return std::nullopt;
  graph_->wait();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The kernels of a graph have no times of their own: it is one row of the table.
void GraphRunner::count(std::size_t, const VarValues& var_vals, std::optional<double> seconds) const {
  std::size_t buffers = 0;
  for (const JitItem& item : items_) buffers += item.rawbufs.size();
  KernelRun shown_as = stats().tells(kDebugRuns) ? shown(var_vals) : KernelRun();
  shown_as.buffers = buffers;
  update_stats(stats(), {op_estimate(), mem_estimate()}, var_vals, seconds, shown_as, kernels());
}

KernelRun GraphRunner::shown(const VarValues&) const {
  return {.name = "graph of " + std::to_string(items_.size()) + " kernels", .grid = std::nullopt};
}

namespace {

/// Builds the new list item by item.
class Batches {
 public:
  Batches(const Device& device, const JitCache& cache, const InputReplace& replace, const VarValues& vars, std::size_t batch_size)
      : device_(device), old_(cache), replace_(replace), vars_(vars), batch_size_(batch_size) {}

  std::pair<JitCache, InputReplace> make() {
    std::vector<int> position(old_.items.size() + 1);  // of the first item that came of each old one
    for (std::size_t j = 0; j < old_.items.size(); j++) {
      const bool fits = may_batch(j);
      if (!fits || pending_.size() == batch_size_) flush();
      position[j] = static_cast<int>(made_.items.size());
      if (fits)
        pending_.push_back(j);
      else
        keep(j);
    }
    flush();
    position.back() = static_cast<int>(made_.items.size());
    for (ProgramLoop loop : old_.loops) {
      loop.first = position[static_cast<std::size_t>(loop.first)];
      loop.end = loop.end == static_cast<int>(old_.items.size()) ? position.back() : position[static_cast<std::size_t>(loop.end)];
      made_.loops.push_back(std::move(loop));
    }
    return {std::move(made_), std::move(made_replace_)};
  }

 private:
  bool may_batch(std::size_t j) const {
    const bool in_loop = std::ranges::any_of(
        old_.loops, [&](const ProgramLoop& l) { return l.first <= static_cast<int>(j) && static_cast<int>(j) < l.end; });
    return !in_loop && dynamic_cast<const CompiledASTRunner*>(old_.items[j].prg.get()) != nullptr;
  }

  void keep(std::size_t j) {
    for (std::size_t i = 0; i < old_.items[j].rawbufs.size(); i++)
      if (const auto found = replace_.find({static_cast<int>(j), static_cast<int>(i)}); found != replace_.end())
        made_replace_[{static_cast<int>(made_.items.size()), static_cast<int>(i)}] = found->second;
    made_.items.push_back(old_.items[j]);
  }

  void flush() {
    if (pending_.size() < 2 || !add_graph())
      for (const std::size_t j : pending_) keep(j);
    pending_.clear();
  }

  bool add_graph() {
    std::vector<JitItem> items;
    InputReplace own;
    for (const std::size_t j : pending_) {
      for (std::size_t i = 0; i < old_.items[j].rawbufs.size(); i++)
        if (const auto found = replace_.find({static_cast<int>(j), static_cast<int>(i)}); found != replace_.end())
          own[{static_cast<int>(items.size()), static_cast<int>(i)}] = found->second;
      items.push_back(old_.items[j]);
    }
    try {
      auto runner = std::make_shared<GraphRunner>(device_, std::move(items), own, vars_, device_.stats());
      const int number = static_cast<int>(made_.items.size());
      for (std::size_t k = 0; k < runner->replaced().size(); k++) made_replace_[{number, static_cast<int>(k)}] = runner->replaced()[k];
      std::vector<std::shared_ptr<const Buffer>> buffers(runner->replaced().size());
      made_.items.push_back({std::move(runner), std::move(buffers)});
      return true;
    } catch (const GraphException&) {  // they are started one by one, as they were recorded
      return false;
    }
  }

  const Device& device_;
  const JitCache& old_;
  const InputReplace& replace_;
  const VarValues& vars_;
  std::size_t batch_size_;
  std::vector<std::size_t> pending_;
  JitCache made_;
  InputReplace made_replace_;
};

}  // namespace

std::pair<JitCache, InputReplace> apply_graph_to_jit(const Device& device, const JitCache& cache, const InputReplace& replace,
                                                     const VarValues& vars, int batch_size) {
  return Batches(device, cache, replace, vars, static_cast<std::size_t>(std::max(batch_size, 1))).make();
}

}  // namespace etch
