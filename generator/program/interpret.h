// The reference for single calls: evaluates the AST of one call at a time, on buffer contents that the caller sets.
#pragma once

#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

class Interpreter {
 public:
  /// `program` must outlive it. Constants are set; all other buffers must be set before a call reads them.
  Interpreter(const Program& program, VarValues vars);

  /// Sets the content of `buffer`.
  void set(int buffer, Array value) { values_[static_cast<std::size_t>(buffer)] = std::move(value); }
  const Array& get(int buffer) const { return values_[static_cast<std::size_t>(buffer)]; }
  /// The result of call number `call`, in the shape of its AST. No buffer is changed.
  Array evaluate(int call) const;

 private:
  const Program* program_;
  VarValues vars_;
  std::vector<Array> values_;  // by buffer
};

}  // namespace etch
