// Internal to jit/: one schedule of a Session, from tensors to the runs of its kernels.
#pragma once

#include <memory>
#include <vector>

#include "jit/capture.h"
#include "jit/session.h"
#include "schedule/schedule.h"

namespace etch {

class SessionRun {
 public:
  using Memory = std::shared_ptr<Buffer>;

  /// Realizes each of `wanted`, which are not empty: into `memory` where that is not null.
  /// `vars`: values that Variables have in that memory.
  SessionRun(Session& session, std::vector<OutputSpec> wanted, std::vector<Memory> memory, std::vector<VarValues> vars = {})
      : session_(session), wanted_(std::move(wanted)), into_(std::move(memory)), vars_(std::move(vars)) {}
  std::vector<Tensor> run();

 private:
  /// An output whose memory is read after it would be written: it is computed elsewhere, and copied at the end.
  struct LateCopy {
    std::size_t output;
    Memory target;
  };

  void check_carried() const;
  void find_values();
  void add_value(const std::string& name, std::int64_t value);
  void find_memory();
  bool may_write_at_once(std::size_t output) const;
  Memory memory_of(int buffer);
  void run_calls();
  std::vector<Tensor> keep_results();
  void copy_late(std::vector<Tensor>& results);

  Session& session_;
  std::vector<OutputSpec> wanted_;
  std::vector<Memory> into_;
  std::vector<VarValues> vars_;
  Schedule schedule_;
  Program program_;
  VarValues values_;
  std::vector<Memory> memory_;  // by buffer of the program
  std::vector<LateCopy> late_;
};

}  // namespace etch
