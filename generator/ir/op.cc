#include "ir/op.h"

namespace etch {

std::optional<Op> op_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(kOps); i++)
    if (kOps[i].name == name) return static_cast<Op>(i);
  return std::nullopt;
}

bool is_legal(Op op, DType dtype) {
  const char letter = is_float(dtype) ? 'f' : dtype == DType::Bool ? 'b' : 'i';
  return info(op).types.find(letter) != std::string_view::npos;
}

}  // namespace etch
