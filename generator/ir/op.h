// The operations of ASTs, from ops.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/dtype.h"

namespace etch {

enum class OpGroup : std::uint8_t { Unary, Binary, Ternary, Reduce, Buffer };

enum class Op : std::uint8_t {
#define OP(name, group, arity, types, meaning) name,
#include "ir/ops.def"
#undef OP
};

struct OpInfo {
  std::string_view name;
  OpGroup group;
  int arity;
  std::string_view types;
  std::string_view meaning;
};

inline constexpr OpInfo kOps[] = {
#define OP(name, group, arity, types, meaning) {#name, OpGroup::group, arity, types, meaning},
#include "ir/ops.def"
#undef OP
};

inline const OpInfo& info(Op op) { return kOps[static_cast<std::size_t>(op)]; }
inline std::string_view name_of(Op op) { return info(op).name; }
inline bool is_reduce(Op op) { return info(op).group == OpGroup::Reduce; }
inline bool is_elementwise(Op op) { return info(op).group < OpGroup::Reduce; }
/// The operation with that name ("ReduceSum"), or nothing.
std::optional<Op> op_named(std::string_view name);
/// Whether `op` exists for operands of `dtype` (for Where: its second and third).
bool is_legal(Op op, DType dtype);

}  // namespace etch
