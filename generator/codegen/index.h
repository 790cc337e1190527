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
    bool fits = true;  // every value that it is made of fits the type
  };
  struct Part {
    Sint term;
    int depth = 0;
    bool negative = false;
  };
  /// A node that is being lowered to a type, Bool for a condition; operands are opened on top of it.
  struct Open {
    const Node* node = nullptr;
    DType dtype{};
    std::vector<Part> parts = {};  // of a sum or a conjunction, in the order in which they are joined
    std::size_t joined = 0;        // so many of them are
    Value total = {};              // what they make
  };
  Value lower(Sint x, DType dtype);
  /// The value, if it is there; else what it takes is opened. The same of what is open.
  std::optional<Value> ready(Sint x, DType dtype);
  std::optional<Value> ready_integer(Sint x);
  std::optional<Value> step(Open& open);
  std::optional<Value> step_condition(Open& open);
  std::optional<Value> step_sum(Open& open);
  std::optional<Value> step_conjunction(Open& open);
  std::vector<Part> parts_of(const Node& node);
  Value arithmetic(Op op, Value a, Value b, DType dtype);
  Value constant(std::int64_t value, DType dtype);
  int depth(Sint x);

  UOpBuilder& builder_;
  std::map<std::string, std::pair<const UOp*, int>> variables_;  // and how deep they are
  Texts texts_;
  // Of the expression that is being lowered:
  std::vector<Open> open_;
  std::map<std::pair<const Node*, DType>, Value> values_;  // look-up only
  std::unordered_map<const Node*, int> depths_;            // look-up only
};

}  // namespace etch
