// Linearizer: loads whose position the kernel computes. The position is brought into its axis and becomes a variable with that range, so
// that the index is lowered and proved like any other.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "codegen/linearizer_state.h"
#include "codegen/value_range.h"

namespace etch {
namespace {

/// A type of at least 32 bits that holds the values of `index` up to n and, if it is signed, from -n.
DType position_type(DType index, std::int64_t n) {
  if (bytes_of(index) < 4) index = DType::Int32;
  return bytes_of(index) == 4 && n > std::numeric_limits<std::int32_t>::max() ? DType::Int64 : index;
}

}  // namespace

// The variable that stands for the value of `index`, the operand of the `load`: clamped to -n..n-1, then counted from the start. What the
// range of the operand rules out is left out.
Sint Linearizer::position_at(const LazyOp* load, const UOp* index, Sint n) {
  const auto [known, is_first] = ranges_.try_emplace(load->src[0]);
  if (is_first) known->second = value_range(load->src[0]);
  const IntRange range = known->second;
  const DType type = position_type(index->dtype, n.max());
  const DType narrow = n.max() <= std::numeric_limits<std::int32_t>::max() ? DType::Int32 : DType::Int64;
  const bool is_below = range.min < -n.min(), is_above = range.max >= n.min(), wraps = range.min < 0, casts = type != narrow;
  const auto bound = [&](Sint value) { return b_.cast(index_.integer(value), type); };
  const std::string copy = copy_of(load->src[0]);
  const auto step = [&](Op op, std::vector<const UOp*> src, const char* name) {
    return b_.add(UOp{.uop = UOpKind::Alu, .dtype = type, .src = std::move(src), .op = op, .exact = true, .hint = name + copy});
  };
  const UOp* at = b_.cast(index, type);
  if (is_below) at = step(Op::Max, {at, bound(-n)}, "raised");
  if (is_above) at = step(Op::Min, {at, bound(n - 1)}, wraps || casts ? "limited" : "picked");
  if (wraps) {
    const UOp* is_from_end = b_.alu(Op::CmpLt, DType::Bool, {at, bound(0)});
    at = step(Op::Where, {is_from_end, b_.alu(Op::Add, type, {at, bound(n)}, true), at}, casts ? "from_start" : "picked");
  }
  if (casts) at = b_.add(UOp{.uop = UOpKind::Cast, .dtype = narrow, .src = {at}, .exact = true, .hint = "picked" + copy});
  const auto [found, is_new] = positions_.try_emplace(at, 0);
  if (!is_new) return found->second;
  const std::string name = free_name("picked");
  index_.declare(name, at);
  return found->second = symbols_->variable(name, 0, n - 1);
}

const UOp* Linearizer::indexed_load(const KernelBuf& buf) {
  const LazyOp* op = buf.op;
  const LazyOp* index = op->src[0];
  const UOp* value = values_.at({number_.at(index), key_of(relevant_axes(index))});
  const Sint n = buf.st.shape().back();
  const bool by_lane = lanes_ > 1 && (relevant_axes(op) >> (k_.axes().size() - 1) & 1) != 0;
  const std::int64_t first = rest_first_.value_or(0);
  std::vector<Place> places;
  for (int l = 0; l < (by_lane ? lanes_ : 1); l++) {
    if (by_lane) axis_index_.back() = first + l;
    const Sint at = n.is_int(1) ? Sint(0) : position_at(op, lane(value, l), n);
    places.push_back(place_of(buf, at));
  }
  if (by_lane) axis_index_.back() = first;
  return load_all(buf, places);
}

}  // namespace etch
