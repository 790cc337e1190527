// UOpBuilder: appends UOps to a list. An equal value from a scope that is still open is reused (common subexpression
// elimination). Scopes (loops, ifs) are opened and closed here.
#pragma once

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/uop.h"

namespace etch {

class UOpBuilder {
 public:
  UOpBuilder() : scopes_(1) {}
  /// Starts an empty list that shares the pool of `uops`.
  explicit UOpBuilder(const UOpList& uops) : scopes_(1) { list_.pool = uops.pool; }

  /// Appends `uop`, or returns the equal value that is in an open scope already.
  const UOp* add(UOp uop);
  /// The same for a UOp of the shared pool, which is not copied.
  const UOp* add(const UOp* uop);
  /// Ends the innermost scope, which `start` opened (by add).
  void end(const UOp* start);
  /// Hands over the list; the builder is empty afterwards.
  UOpList finish() { return std::move(list_); }

  /// Sets UOp::hint of all values that are added from now on: the copy that they belong to ("_c0_x2").
  void set_copy(std::string hint) { copy_ = std::move(hint); }

  const UOp* constant(Scalar value) { return add(UOp{.uop = UOpKind::Const, .dtype = value.dtype(), .value = value}); }
  const UOp* alu(Op op, DType dtype, std::vector<const UOp*> src, bool exact = false);
  const UOp* cast(const UOp* a, DType dtype);

 private:
  struct Hash {
    std::size_t operator()(const UOp* u) const;
  };
  struct Same {
    bool operator()(const UOp* a, const UOp* b) const { return a->same(*b); }
  };
  void opened(const UOp* u);

  UOpList list_;
  std::string copy_;
  std::unordered_set<const UOp*, Hash, Same> known_;  // look-up only
  std::vector<std::vector<const UOp*>> scopes_;
};

/// Whether an equal UOp that is already there has the same value. False for accumulators, for loads of local arrays, which the
/// kernel writes, and for everything with an effect.
bool is_pure(const UOp& uop);

}  // namespace etch
