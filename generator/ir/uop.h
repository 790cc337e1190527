// UOps: the steps of one linearised kernel, in execution order. A UOp is immutable and refers to its operands by pointer. A list of
// UOps is SSA, except that a Phi changes its accumulator: a use of the Phi reads the new value, a use of the DefineAcc reads the
// value at the start of the iteration.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/scalar.h"

namespace etch {

enum class UOpKind : std::uint8_t {
#define UOP(name, effect, meaning) name,
#include "ir/uops.def"
#undef UOP
};

/// Vectors that a StoreColumns takes, if not as many as they have lanes, and its operands in front of them.
inline constexpr int kStoredColumns = 4, kBeforeColumns = 3;

inline constexpr int kFewestLanes = 4;  // that a type of vectors has

struct UOpInfo {
  std::string_view name;
  bool has_effect;
  std::string_view meaning;
};

inline constexpr UOpInfo kUOps[] = {
#define UOP(name, effect, meaning) {#name, effect != 0, meaning},
#include "ir/uops.def"
#undef UOP
};

inline const UOpInfo& info(UOpKind uop) { return kUOps[static_cast<std::size_t>(uop)]; }
inline std::string_view name_of(UOpKind uop) { return info(uop).name; }
inline bool has_effect(UOpKind uop) { return info(uop).has_effect; }

struct UOp {
  UOpKind uop{};
  DType dtype{};  // of the value; of the element for buffers
  int lanes = 1;  // of the value
  std::vector<const UOp*> src{};
  Op op{};  // Alu
  /// Alu on integers: proved not to wrap around, divisors positive, numerators not negative. Cast: proved to keep the value.
  bool exact = false;
  std::int64_t number = 0;        // see uops.def
  std::int64_t size = 0;          // see uops.def
  std::optional<Scalar> value{};  // Const, DefineAcc, Dot in steps
  std::string name{};             // DefineVar, Loop, Special, DefineLocal, DefineAcc
  /// Only for names in the text: for a value that exists in several copies its suffix ("_c0_x2"), for a Loop or Special its axis, for
  /// an index its name ("c").
  std::string hint{};
  std::int64_t serial = 0;  // order of creation, used only for deterministic look-up

  /// Equal except for the serial number and the hint.
  bool same(const UOp& other) const;
};

/// The steps in order, and the pool that owns them, which is shared with the lists that passes make from this one.
struct UOpList {
  std::shared_ptr<std::deque<UOp>> pool = std::make_shared<std::deque<UOp>>();
  std::vector<const UOp*> order;

  /// A new UOp in the pool, not yet in the order.
  const UOp* make(UOp uop);
};

/// One UOp per line, indented by loops, operands by number: "%7 = Alu Add float32 %3 %6".
std::string to_text(const UOpList& uops);
/// Checks order, scopes, arity, types and lanes; throws InternalError naming `after`, the pass that was run last.
void verify(const UOpList& uops, std::string_view after);

}  // namespace etch
