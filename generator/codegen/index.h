// Index expressions as UOps. 32-bit arithmetic is used where every intermediate value provably fits, else 64-bit; terms
// that depend on outer loops come first, so that they can be hoisted and shared.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/builder.h"
#include "shape/symbolic.h"
#include "shape/texts.h"

namespace etch {

class IndexLowering {
 public:
  explicit IndexLowering(UOpBuilder& builder) : builder_(builder) {}

  /// From now on `uop` is the value of the variable `name`. A variable that is declared later belongs to a loop further inside.
  void declare(const std::string& name, const UOp* uop);
  /// The number of variables that are declared; keep() forgets those that were declared after there were `count`.
  int count() const { return static_cast<int>(variables_.size()); }
  void keep(int count);
  /// Whether all variables of `x` are declared.
  bool knows(Sint x) const;
  /// The value of x: int32 if every intermediate value fits, else int64.
  const UOp* integer(Sint x);
  /// A bool value: x is not 0.
  const UOp* condition(Sint x);

 private:
  struct Value {
    const UOp* uop = nullptr;
    std::int64_t min = 0, max = 0;
    bool fits = true;  // it and all its intermediate values fit the type
  };
  struct Part {
    Sint term;
    int depth = 0;
    bool negative = false;
  };
  /// An entry of the stack of nodes that are being lowered: the node and its type (Bool for a condition). Its operands are pushed on
  /// top of it.
  struct Open {
    const Node* node = nullptr;
    DType dtype{};
    std::vector<Part> parts = {};  // of a sum or a conjunction, in the order in which they are joined
    std::size_t joined = 0;        // how many of them are joined already
    Value total = {};              // the sum or conjunction of those
  };
  Value lower(Sint x, DType dtype);
  /// The value of x if it has been computed; else pushes x on the stack and returns nullopt.
  std::optional<Value> ready(Sint x, DType dtype);
  /// The same as int32 or, if that is too narrow, int64.
  std::optional<Value> ready_integer(Sint x);
  // Each step returns the value of `open`, or nullopt after it has pushed an operand that is needed first.
  std::optional<Value> step(Open& open);
  std::optional<Value> step_condition(Open& open);
  std::optional<Value> step_sum(Open& open);
  std::optional<Value> step_conjunction(Open& open);
  std::vector<Part> parts_of(const Node& node);
  Value arithmetic(Op op, Value a, Value b, DType dtype);
  Value constant(std::int64_t value, DType dtype);
  int depth(Sint x);

  UOpBuilder& builder_;
  std::map<std::string, std::pair<const UOp*, int>> variables_;  // by name: value and loop depth
  Texts texts_;
  // Of the expression that is being lowered:
  std::vector<Open> open_;
  std::map<std::pair<const Node*, DType>, Value> values_;  // look-up only
  std::unordered_map<const Node*, int> depths_;            // look-up only
};

}  // namespace etch
