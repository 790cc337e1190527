// TinyJit: a function on realized tensors is recorded once, and its kernels are replayed (tinygrad's TinyJit). Call 0 runs it as it is,
// call 1 runs and records it, later calls start the recorded kernels on other inputs without building a graph.
//
//   TinyJit step(session, [&](const std::vector<Tensor>& in) {
//     session.assign(weight, weight - gradient(in[0]) * 0.01);
//     return std::vector<Tensor>{loss(in[0])};
//   });
//   for (const Array& batch : batches) {
//     const Tensor x = session.from(batch), loss = step({x})[0];
//     report(session.values(loss));
//     for (const Tensor& t : {x, loss}) session.release(t);
//   }
//
// What a call returns is memory of its own, which later calls leave alone; Session::release gives it back. Tensors that the function
// reads without being given them are read anew in every call; if one of them is also an argument while it is recorded, it is that argument.
// A recorded function that is called inside of another becomes part of it. One recording serves all values of the Variables in the shapes
// of its inputs and of those that are bound.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/kernel_graph.h"
#include "jit/capture.h"
#include "jit/jit_error.h"
#include "jit/session.h"

namespace etch {

class TinyJit {
 public:
  using Function = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;
  struct Options {
    bool graphs = true;   // give kernels that follow each other to the device as one graph, if it has such
    int batch_size = 64;  // kernels in one graph at most
  };

  TinyJit(Session& session, Function function, Options options);
  TinyJit(Session& session, Function function) : TinyJit(session, std::move(function), Options()) {}

  /// Inputs that are not realized are so first; the results are realized. Throws JitError if a replay gets other inputs than the recording
  /// (their number, shapes, types, Variables), for inputs that share memory or that the recording uses otherwise, and if the function ran
  /// no kernel.
  std::vector<Tensor> operator()(const std::vector<Tensor>& inputs);

  /// Calls so far.
  int count() const { return count_; }
  /// What is replayed; empty before call 1.
  const JitCache& jit_cache() const { return cache_; }
  /// Where the memory of a call's inputs, and behind them that of its new outputs, occurs in the recording.
  const InputReplace& input_replace() const { return replace_; }
  /// Forgets the recording: the next call is call 0.
  void reset();

 private:
  /// What a recording was made for.
  struct Expected {
    std::vector<std::string> inputs;     // shape and type of each
    std::vector<std::string> variables;  // names, sorted
    bool operator==(const Expected&) const = default;
  };
  /// What a call returns.
  struct Result {
    int fresh = -1;      // new memory: its number among such outputs
    int input = -1;      // one of the call's inputs
    Tensor tensor = {};  // else what the recording returned
    Shape shape = {};
    DType dtype{};
    std::int64_t elements = 0;
  };

  std::vector<Tensor> call(const std::vector<Tensor>& inputs);
  std::vector<Tensor> record(const std::vector<Tensor>& inputs);
  std::vector<Tensor> replay(const std::vector<Tensor>& inputs, const VarValues& vars);
  void note_memory(const JitCache& cache, const InputReplace& replace);
  Expected expected_of(const std::vector<Tensor>& inputs, const VarValues& vars) const;
  /// The values that are bound, those of the inputs' shapes, and `captured`. Throws JitError where two differ.
  VarValues values_of(const std::vector<Tensor>& inputs, const VarValues& captured) const;

  Session& session_;
  Function function_;
  Options options_;
  int count_ = 0;
  Expected expected_;
  JitCache cache_;
  InputReplace replace_;
  std::vector<Result> results_;
  VarValues captured_;                   // of Variables in the shapes of tensors that the function read without being given them
  std::map<const Buffer*, Access> own_;  // memory that is not a call's: whether the recording writes it; look-up only
  std::set<int> written_inputs_;         // positions of arguments whose memory it writes
};

/// Several kernels that the device runs as one. Its buffers are those that differ from call to call, in the order of `replaced`.
class GraphRunner : public JITRunner {
 public:
  /// Throws GraphException if the device makes no graph of them.
  GraphRunner(const Device& device, std::vector<JitItem> items, const InputReplace& replace, const VarValues& vars, Stats stats);

  /// For each of its buffers the position in the list that the calls' buffers come from.
  const std::vector<int>& replaced() const { return replaced_; }
  std::int64_t kernels() const override { return static_cast<std::int64_t>(items_.size()); }
  KernelRun shown(const VarValues& var_vals) const override;

 protected:
  std::optional<double> run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool wait) override;
  void count(std::size_t buffers, const VarValues& var_vals, std::optional<double> seconds) const override;

 private:
  const CompiledASTRunner& runner(std::size_t item) const;
  GraphNode node_of(std::size_t item, const VarValues& var_vals) const;

  std::vector<JitItem> items_;
  std::vector<int> replaced_;
  std::map<std::pair<int, int>, std::size_t> places_;  // (item, argument) -> number in replaced_
  std::vector<std::size_t> updatable_;                 // items that a call changes
  std::vector<ProgramVariable> variables_;             // of all items
  std::unique_ptr<KernelGraph> graph_;
};

/// The cache with kernels that follow each other put into graphs, and where buffers of calls then occur. Items that are in a loop, that
/// run no kernel or that the device makes no graph of stay as they are.
std::pair<JitCache, InputReplace> apply_graph_to_jit(const Device& device, const JitCache& cache, const InputReplace& replace,
                                                     const VarValues& vars, int batch_size);

}  // namespace etch
