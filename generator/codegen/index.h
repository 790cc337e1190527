// Index expressions as UOps. 32-bit arithmetic is used where every intermediate value provably fits, else 64-bit; terms
// that depend on outer loops come first, so that they can be hoisted and shared.
#pragma once

#include <map>
#include <string>

#include "codegen/builder.h"
#include "shape/symbolic.h"

namespace etch {

class IndexLowering {
 public:
  explicit IndexLowering(UOpBuilder& builder) : builder_(builder) {}

  /// From now on the variable `name` is `uop`; what is declared later is an inner loop.
  void declare(const std::string& name, const UOp* uop);
  /// Whether all variables of `x` are declared.
  bool knows(Sint x) const;
  /// An int32 or int64 value.
  const UOp* integer(Sint x);
  /// A bool value: x is not 0.
  const UOp* condition(Sint x);

 private:
  struct Value {
    const UOp* uop = nullptr;
    std::int64_t min = 0, max = 0;
  };
  Value lower(Sint x, DType dtype);
  Value lower_node(const Node& node, DType dtype);
  Value lower_sum(const Node& node, DType dtype);
  Value arithmetic(Op op, Value a, Value b, DType dtype);
  Value constant(std::int64_t value, DType dtype);
  int depth(Sint x) const;

  UOpBuilder& builder_;
  std::map<std::string, std::pair<const UOp*, int>> variables_;  // and how deep they are
  bool fits_ = true;                                             // so far, every intermediate value of the current expression fits its type
};

}  // namespace etch
