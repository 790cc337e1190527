// Linearizer: sums by dot-product and matrix instructions.
#include <algorithm>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

void Linearizer::multiply_by_instruction() {
  const LazyOp* sum = k_.reduces()[0];
  std::vector<int> copies;  // of the whole instruction
  for (int axis : axes_of(AxisKind::Upcast))
    if (k_.axes()[static_cast<std::size_t>(axis)].tile == 0) copies.push_back(axis);
  for_each(copies, [&] {
    if (k_.instruction().is_matrix())
      multiply_tiles(sum);
    else
      add_dot_product(sum);
  });
}

// Calls `add` for the elements of all steps, in the order of memory, or one step after the other.
template <class Add>
void Linearizer::add_steps(std::size_t steps, std::size_t tensor, bool in_order, Add add) {
  const Sint step = axis_index_[steps];
  constexpr std::int64_t kSteps = 2;
  const std::int64_t all = k_.axes()[tensor].size.as_int() * kSteps;
  for (std::int64_t i = 0; i < all; i++) {
    axis_index_[steps] = in_order ? i % kSteps : i / (all / kSteps);
    axis_index_[tensor] = in_order ? i / kSteps : i % (all / kSteps);
    add();
  }
  axis_index_[steps] = step;
  axis_index_[tensor] = 0;
}

// What an operand is where its mask hides it.
const UOp* Linearizer::padding_of(const LazyOp* load_op, int count) {
  const bool is_padded = load_op == k_.tensor()->padded;
  const UOp* number = b_.constant(Scalar::of_int(load_op->dtype, is_padded ? k_.tensor()->padding : 0));
  UOp all{.uop = UOpKind::Vectorize, .dtype = load_op->dtype, .lanes = count};
  all.src.assign(static_cast<std::size_t>(count), number);
  return count == 1 ? number : b_.add(std::move(all));
}

const UOp* Linearizer::element_of(const KernelBuf& buf, const Place& place, Sint inside) {
  if (inside == place.valid) return load(buf, place, 1, padding_of(buf.op, 1));
  if (inside.is_int(1)) return load(buf, place, 1);
  return b_.alu(Op::Where, buf.op->dtype, {index_.condition(inside), load(buf, place, 1), padding_of(buf.op, 1)});
}

// The bytes for all lanes one after the other, or those of one lane if all have the same.
const UOp* Linearizer::dot_operand(const LazyOp* load_op) {
  const KernelBuf& buf = k_.buf_of(load_op);
  const auto tensor = static_cast<std::size_t>(k_.axes().size()) - (k_.lanes() > 1 ? 2 : 1);
  check(k_.axes()[tensor].kind == AxisKind::Tensor, "the products of a lane stand in front of the lanes");
  const auto along = lanes_ > 1 ? k_.stride(buf, static_cast<int>(tensor) + 1) : std::nullopt;
  const int lanes = along && along->is_int(0) ? 1 : lanes_;
  std::vector<Place> places;
  std::vector<Sint> inside;  // where each is what it loads
  const auto add_place = [&] {
    places.push_back(place_of(buf));
    inside.push_back(load_op == k_.tensor()->padded ? place_of(k_.buf_of(k_.tensor()->inside)).valid : places.back().valid);
  };
  const bool in_order = load_op == k_.tensor()->a;
  const int steps = in_order || k_.instruction().is_whole_pair() ? k_.steps_axis() : -1;
  if (steps >= 0) add_steps(static_cast<std::size_t>(steps), tensor, in_order, add_place);
  for (int lane = 0; steps < 0 && lane < lanes; lane++)
    for (std::int64_t mac = 0; mac < k_.instruction().macs; mac++) {
      if (lanes_ > 1) axis_index_.back() = lane;
      axis_index_[tensor] = mac;
      add_place();
    }
  if (lanes_ > 1) axis_index_.back() = 0;
  axis_index_[tensor] = 0;
  const int count = static_cast<int>(places.size());
  const bool is_one = is_vector(places) && std::ranges::all_of(inside, [&](const Sint& i) { return i == places[0].valid; });
  if (is_one) return load(buf, places[0], count, places[0].valid.is_int(1) ? nullptr : padding_of(load_op, count));
  UOp vector{.uop = UOpKind::Vectorize, .dtype = load_op->dtype, .lanes = count};
  for (std::size_t i = 0; i < places.size(); i++) vector.src.push_back(element_of(buf, places[i], inside[i]));
  return b_.add(std::move(vector));
}

// The products of one instruction, one by one.
void Linearizer::add_products(const LazyOp* sum) {
  std::vector<int> axes;
  for (int axis : axes_of(AxisKind::Tensor)) axes.push_back(axis);
  for_each(axes, [&] { accumulate(sum, value(sum->src[0])); });
  for (int axis : axes) axis_index_[static_cast<std::size_t>(axis)] = 0;
}

// Whether `b` is elements of constants that lie in the instruction's order, so that it is whole words.
bool Linearizer::is_words(const UOp* b) const {
  const auto argument = static_cast<std::size_t>(k_.tensor()->b->mem().index);
  const bool is_laid_out = argument < options_.layouts.size() && options_.layouts[argument].has_value();
  return is_laid_out && b->uop == UOpKind::Load && b->lanes == k_.instruction().macs;
}

void Linearizer::add_dot_product(const LazyOp* sum) {
  const TargetInstruction& row = k_.instruction();
  const UOp *a = dot_operand(k_.tensor()->a), *b = dot_operand(k_.tensor()->b);
  if (row.words && !is_words(b)) return add_products(sum);
  const UOp*& newest = accumulators_.at(accumulator_of(sum));
  const UOp* acc = newest->uop == UOpKind::Phi ? newest->src[0] : newest;
  const bool in_steps = row.steps > 1;
  const std::int64_t step = in_steps ? axis_index_[static_cast<std::size_t>(k_.steps_axis())].as_int() : 0;
  const UOp* next = b_.add(UOp{.uop = UOpKind::Dot,
                               .dtype = sum->dtype,
                               .lanes = lanes_,
                               .src = {newest, a, b},
                               .number = k_.tensor()->row,
                               .size = row.macs,
                               .value = in_steps ? std::optional(Scalar::of_int(DType::Int32, step)) : std::nullopt,
                               .name = row.name});
  newest = b_.add(UOp{.uop = UOpKind::Phi, .dtype = acc->dtype, .lanes = acc->lanes, .src = {acc, next}});
}

void Linearizer::add_tail() {
  const LazyOp* sum = k_.reduces()[0];
  const TensorCore& tensor = *k_.tensor();
  std::vector<int> copies;
  for (int axis : axes_of(AxisKind::Unroll)) {
    const auto i = static_cast<std::size_t>(axis);
    if (k_.axes()[i].dim == tensor.dim)
      axis_index_[i] = 0;  // the last axis alone leads to the tail
    else
      copies.push_back(axis);
  }
  for (int axis : axes_of(AxisKind::Upcast)) copies.push_back(axis);
  for (std::int64_t n = 0; n < tensor.tail; n++) {
    axis_index_.back() = tensor.whole + n;  // along the products of one instruction, which is the last axis
    for_each(copies, [&] { accumulate(sum, value(sum->src[0])); });
  }
  axis_index_.back() = 0;
}

// The digits of the work-items are the last Local axes, whatever the operand; where they lead to is the operand's own. All of an axis of
// the tile is put into that part of it which moves by one element.
const UOp* Linearizer::tile_operand(const LazyOp* load_op, const TilePart& part, std::int64_t reg) {
  std::map<char, Sint> place;
  const std::vector<int> local = axes_of(AxisKind::Local);
  for (std::size_t d = 0; d < part.items.size(); d++)
    place[part.items[d].axis] += axis_index_[static_cast<std::size_t>(local[local.size() - 1 - d])] * part.items[d].step;
  for (const TileDigit& digit : part.registers) {
    place[digit.axis] += reg % digit.size * digit.step;
    reg /= digit.size;
  }
  const std::vector<Sint> saved = axis_index_;
  std::map<char, std::size_t> unit;
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& axis = k_.axes()[i];
    const char letter = axis.kind == AxisKind::Tensor ? 'k' : axis.tile;
    if (letter == 0) continue;
    axis_index_[i] = 0;
    const auto [known, is_new] = unit.try_emplace(letter, i);
    if (!is_new && axis.multiplier < k_.axes()[known->second].multiplier) known->second = i;
  }
  for (const auto& [letter, index] : place) axis_index_[unit.at(letter)] = index;
  const KernelBuf& buf = k_.buf_of(load_op);
  const Place from = place_of(buf);
  axis_index_ = saved;
  const UOp* zero = b_.constant(Scalar::of_int(DType::UInt16, 0));
  if (from.valid.is_int(0)) return zero;
  result_.accesses.push_back({&buf, from.idx, from.valid, 1});
  UOp bits{.uop = UOpKind::Load, .dtype = DType::UInt16, .src = {buffer(buf), index_.integer(from.idx)}};
  if (!from.valid.is_int(1)) {
    bits.src.push_back(index_.condition(from.valid));
    bits.src.push_back(zero);
  }
  return b_.add(std::move(bits));
}

void Linearizer::multiply_tiles(const LazyOp* sum) {
  const TargetInstruction& row = k_.instruction();
  const std::int64_t sums = count_of(row.of_sum.registers);
  std::vector<std::pair<int, std::int64_t>> keys;
  std::vector<int> registers;  // axes, the innermost first
  for (int axis : axes_of(AxisKind::Upcast))
    if (k_.axes()[static_cast<std::size_t>(axis)].tile != 0) registers.insert(registers.begin(), axis);
  UOp product{.uop = UOpKind::Wmma, .dtype = sum->dtype, .lanes = static_cast<int>(sums), .number = k_.tensor()->row, .name = row.name};
  for (std::int64_t r = 0; r < sums; r++) {
    std::int64_t left = r;
    for (std::size_t d = 0; d < registers.size(); d++) {
      axis_index_[static_cast<std::size_t>(registers[d])] = left % row.of_sum.registers[d].size;
      left /= row.of_sum.registers[d].size;
    }
    keys.push_back(accumulator_of(sum));
    product.src.push_back(accumulators_.at(keys.back()));
  }
  for (const auto& [load_op, part] : {std::pair(k_.tensor()->a, &row.of_a), std::pair(k_.tensor()->b, &row.of_b)})
    for (std::int64_t r = 0; r < count_of(part->registers); r++) product.src.push_back(tile_operand(load_op, *part, r));
  const UOp* made = b_.add(std::move(product));
  for (std::int64_t r = 0; r < sums; r++) {
    const UOp*& newest = accumulators_.at(keys[static_cast<std::size_t>(r)]);
    const UOp* acc = newest->uop == UOpKind::Phi ? newest->src[0] : newest;
    const UOp* one = b_.add(UOp{.uop = UOpKind::Gep, .dtype = sum->dtype, .src = {made}, .number = r});
    newest = b_.add(UOp{.uop = UOpKind::Phi, .dtype = acc->dtype, .src = {acc, one}});
  }
}

}  // namespace etch
