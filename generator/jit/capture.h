// What TinyJit records: runs of kernels in order, each with its buffers.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/buffer.h"
#include "device/runner.h"
#include "program/program.h"

namespace etch {

/// One run of a kernel, or of a graph of kernels.
struct JitItem {
  std::shared_ptr<JITRunner> prg;
  std::vector<std::shared_ptr<const Buffer>> rawbufs;  // null: another one in every call
};

struct JitCache {
  std::vector<JitItem> items;
  std::vector<ProgramLoop> loops;  // over items, by the first one, outer ones first
};

/// Memory that is needed between two kernels of the recording alone.
struct PlaceHolder {
  std::int64_t bytes = 0;
  int first = 0, last = 0;  // items
};

/// For each place holder, the number of the piece of memory that it gets, and the sizes of the pieces. Place holders that live at the same
/// time have pieces of their own; a piece is as large as the largest that it serves.
struct SharedPieces {
  std::vector<int> piece;
  std::vector<std::int64_t> bytes;
};
SharedPieces share_pieces(const std::vector<PlaceHolder>& holders);

/// Records what a Session runs.
class CacheCollector {
 public:
  using Memory = std::shared_ptr<const Buffer>;

  /// The items of one schedule; its loops count from its first item.
  void add(std::vector<JitItem> items, std::vector<ProgramLoop> loops);
  /// Nobody reads that memory after the schedule that was added last.
  void add_temporary(const Memory& buffer) { temporary_.insert(buffer); }
  /// A realized tensor's new memory.
  void add_output(const Memory& buffer) { outputs_.insert(buffer); }
  bool is_output(const Memory& buffer) const { return outputs_.contains(buffer); }
  /// A realized tensor's memory that was read or assigned, with the values that Variables have in its shape.
  void add_use(const Memory& buffer, const VarValues& values) { uses_.emplace_back(buffer, values); }
  /// The values in memory that is neither in `inputs` nor was made by what was recorded: they are the same in every replay. Throws JitError
  /// where a Variable has two.
  VarValues captured_values(const std::vector<Memory>& inputs) const;
  /// Variables that a schedule uses.
  void add_variables(const std::vector<ProgramVariable>& variables) {
    for (const ProgramVariable& v : variables) variables_.insert(v.name);
  }
  const std::set<std::string>& variables() const { return variables_; }
  /// What was recorded. Temporary memory is replaced by pieces that are shared.
  JitCache finish(const Device& device);

 private:
  JitCache cache_;
  std::vector<std::pair<Memory, VarValues>> uses_;  // in their order
  std::set<std::string> variables_;
  std::set<Memory> temporary_, outputs_;  // look-up only
};

/// Where buffers of calls occur: (item, argument) -> position in `input_rawbuffers`. Throws JitError if one occurs twice in the list.
using InputReplace = std::map<std::pair<int, int>, int>;
InputReplace get_input_replace(const std::vector<JitItem>& items, const std::vector<std::shared_ptr<const Buffer>>& input_rawbuffers);
/// The items whose grid depends on a Variable, and those that take the value of one. A graph of kernels is in neither.
std::vector<int> get_jc_idxs_with_updatable_launch_dims(std::span<const JitItem> items);
std::vector<int> get_jc_idxs_with_updatable_var_vals(std::span<const JitItem> items);
/// Operations and bytes of one run of all items, loops included, for these values of the variables.
struct JitStats {
  std::int64_t op_estimate = 0, mem_estimate = 0, kernels = 0;
};
JitStats get_jit_stats(const JitCache& cache, const VarValues& var_vals);

}  // namespace etch
