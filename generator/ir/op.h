// The operations of ASTs, from ops.def: each property of an operation is a column there.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/dtype.h"
#include "ir/scalar.h"

namespace etch {

enum class OpGroup : std::uint8_t { Unary, Binary, Ternary, Convert, Reduce, Buffer, Movement };

enum class Op : std::uint8_t {
#define OP(name, group, arity, types, traits, cost, word, backward, meaning) name,
#include "ir/ops.def"
};

struct OpInfo {
  std::string_view name;
  OpGroup group;
  int arity;
  std::string_view types;
  std::string_view traits;
  int cost;
  std::string_view word;
  std::string_view meaning;
};

inline constexpr OpInfo kOps[] = {
#define OP(name, group, arity, types, traits, cost, word, backward, meaning) \
  {#name, OpGroup::group, arity, types, traits, cost, word, meaning},
#include "ir/ops.def"
};

constexpr const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }
inline std::string_view name_of(Op op) { return info(op).name; }
inline bool is_reduce(Op op) { return info(op).group == OpGroup::Reduce; }
inline bool is_elementwise(Op op) { return info(op).group < OpGroup::Reduce; }
/// Cast and Bitcast: of one operand, with a result type of their own.
inline bool is_conversion(Op op) { return info(op).group == OpGroup::Convert; }
/// The operation with that name ("ReduceSum"), or nullopt.
std::optional<Op> op_named(std::string_view name);
/// Whether `op` exists for operands of `dtype` (for Where: its second and third).
bool is_legal(Op op, DType dtype);

/// The column `traits`.
inline bool has_trait(Op op, char letter) { return info(op).traits.find(letter) != std::string_view::npos; }
inline bool gives_bool(Op op) { return has_trait(op, 'b'); }
inline bool is_commutative(Op op) { return has_trait(op, 'c'); }
inline bool is_idempotent(Op op) { return has_trait(op, 'i'); }
inline bool has_vector_form(Op op) { return has_trait(op, 'v'); }
inline bool gives_whole_numbers(Op op) { return has_trait(op, 'w'); }
inline bool is_exact(Op op) { return has_trait(op, 'e'); }

inline constexpr int kLibraryCost = 10;
/// Computed by the math library, to a few units in the last place; all other operations have one right result.
inline bool is_library_call(Op op) { return info(op).cost >= kLibraryCost; }

/// Where a reduction starts. Lowest and Highest are -inf and inf for floats, false and true for bool.
enum class Start : std::uint8_t { Zero, One, Lowest, Highest };

struct ReduceInfo {
  Op op;
  Op step;
  Start start;
  std::string_view stem;
};

inline constexpr ReduceInfo kReductions[] = {
#define REDUCE(name, types, step, start, stem, word, backward, meaning) {Op::name, Op::step, Start::start, stem},
#include "ir/ops.def"
};

/// The row of a Reduce operation.
const ReduceInfo& reduce_info(Op op);
/// The start value of a reduction, which is also its value over no elements.
Scalar start_of(Op reduce, DType dtype);

}  // namespace etch
