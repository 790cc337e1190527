// The reference for single calls: their ASTs evaluated, one call at a time, on whatever the caller says that buffers hold.
#pragma once

#include <vector>

#include "interp/interp.h"
#include "program/program.h"

namespace etch {

class Interpreter {
 public:
  /// The program outlives it. Constants are known; inputs are not.
  Interpreter(const Program& program, VarValues vars);

  /// What calls read from `buffer` from now on.
  void set(int buffer, Array value) { values_[static_cast<std::size_t>(buffer)] = std::move(value); }
  const Array& get(int buffer) const { return values_[static_cast<std::size_t>(buffer)]; }
  /// What call number `call` writes, in the shape of its AST; what buffers hold is left as it is.
  Array evaluate(int call) const;

 private:
  const Program* program_;
  VarValues vars_;
  std::vector<Array> values_;  // by buffer
};

}  // namespace etch
