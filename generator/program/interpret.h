// The reference for single calls: evaluates the AST of one call at a time, on buffer contents that the caller sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

class Interpreter {
 public:
  /// `program` must outlive it. Constants are set, and states have their first values; all other buffers must be set before a call
  /// reads them.
  explicit Interpreter(const Program& program);

  /// Sets the content of `buffer`.
  void set(int buffer, Array value);
  const Array& get(int buffer);
  /// Whether evaluate() knows what the call computes: a function in C may have no reference.
  bool can_evaluate(int call) const;
  /// The results of call number `call`, in the shape of its AST, or of its outputs. No buffer is changed. `values`: of the variables and
  /// counters.
  std::vector<Array> evaluate(int call, const VarValues& values);
  /// Sets what the call has written as its output number `output`: the whole buffer, or a part of it. What has not been written is 0.
  void set_written(int call, int output, const Array& written, const VarValues& values);

 private:
  std::vector<Array> by_reference(const ProgramCall& call, const ExternalKernel& external, const VarValues& values);

  const Program* program_;
  std::vector<Array> values_;  // by buffer

  struct List {
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::map<int, List> lists_;  // by buffer: what a loop is filling; not in values_ then
};

}  // namespace etch
