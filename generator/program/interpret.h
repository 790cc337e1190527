// The reference for single calls: evaluates the AST of one call at a time, on buffer contents that the caller sets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

/// The result of a call of a function in C, in the shape of the buffer that it writes.
using ExternalCall = std::function<Array(const ProgramCall& call, const std::vector<const Array*>& inputs, const VarValues& values)>;

class Interpreter {
 public:
  /// `program` must outlive it. Constants are set; all other buffers must be set before a call reads them.
  /// `external` computes calls of functions in C; without it there must be none.
  explicit Interpreter(const Program& program, ExternalCall external = {});

  /// Sets the content of `buffer`.
  void set(int buffer, Array value);
  const Array& get(int buffer);
  /// The result of call number `call`, in the shape of its AST. No buffer is changed. `values`: of the variables and counters.
  Array evaluate(int call, const VarValues& values);
  /// Sets what the call has written: the whole buffer, or a part of it. What has not been written of that is 0.
  void set_written(int call, const Array& written, const VarValues& values);

 private:
  const Program* program_;
  ExternalCall external_;
  std::vector<Array> values_;  // by buffer

  struct List {
    std::vector<std::int64_t> shape;
    std::vector<std::byte> bytes;
  };
  std::map<int, List> lists_;  // by buffer: what a loop is filling; not in values_ then
};

}  // namespace etch
