#include "ir/op.h"

#include <algorithm>

#include "base/error.h"

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

const ReduceInfo& reduce_info(Op op) {
  const auto* found = std::ranges::find(kReductions, op, &ReduceInfo::op);
  check(found != std::end(kReductions), "a Reduce operation");
  return *found;
}

Scalar start_of(Op reduce, DType dtype) {
  const double infinity = __builtin_inf();
  switch (reduce_info(reduce).start) {
    case Start::Zero:
      return Scalar::of_int(dtype, 0);
    case Start::One:
      return Scalar::of_int(dtype, 1);
    case Start::Lowest:
      return is_float(dtype) ? Scalar::of_double(dtype, -infinity) : Scalar::of_int(dtype, int_min(dtype));
    case Start::Highest:
      return is_float(dtype) ? Scalar::of_double(dtype, infinity) : Scalar::of_int(dtype, int_max(dtype));
  }
  fail_check("every start has its value", std::source_location::current());
}

}  // namespace etch
