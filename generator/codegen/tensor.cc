// OptOp TC: which axes of a kernel fit a dot-product or matrix instruction, and how they are split for it.
#include <algorithm>
#include <ranges>

#include "base/error.h"
#include "base/subscript.h"
#include "codegen/kernel.h"
#include "shape/int_math.h"

namespace etch {
namespace {

struct Operand {
  const LazyOp* load = nullptr;
  const LazyOp* inside = nullptr;  // else it is always there
  std::int64_t padding = 0;
};

// The Load below a cast to the type of the sum that keeps its values, or a number of its type where a mask hides it; no Load for anything
// else.
Operand operand_of(const LazyOp* factor, const LazyOp* sum) {
  const LazyOp* x = factor->op == Op::Where ? factor->src[1] : factor;
  Operand found{x->op == Op::Cast ? x->src[0] : x};
  if (found.load->op != Op::Load || is_indexed(found.load) || x->dtype != sum->dtype) return {};
  if (factor->op != Op::Where) return found;
  const LazyOp *inside = factor->src[0], *number = factor->src[2];
  const DType type = found.load->dtype;
  if (inside->op != Op::Const || inside->constant().value.as_int() != 1 || number->op != Op::Const || !is_int(type)) return {};
  if (std::ranges::any_of(number->st().views(), [](const View& v) { return v.mask.has_value(); })) return {};
  found.inside = inside;
  found.padding = number->constant().value.as_int();
  const bool fits = found.padding >= int_min(type) && found.padding <= int_max(type);
  return fits ? found : Operand{};
}

bool has_types(const LazyOp* a, const LazyOp* b, const TargetInstruction& row) {
  return name_of(a->dtype) == row.a && name_of(b->dtype) == row.b;
}

// The factors of the kernel's only sum, in the order of the row; nulls if they are not of its types.
std::pair<const LazyOp*, const LazyOp*> factors_of(const Kernel& k, const TargetInstruction& row) {
  const std::optional<Contraction> c = k.reduces().size() == 1 ? contraction_of(k.reduces()[0]) : std::nullopt;
  if (!c || !c->casts.empty() || k.is_staged() || name_of(c->sum->dtype) != row.sum) return {};
  const Operand of_a = operand_of(c->a(), c->sum), of_b = operand_of(c->b(), c->sum);
  const LazyOp *first = of_a.load, *second = of_b.load;
  const bool is_padded = of_a.inside != nullptr || of_b.inside != nullptr;
  if (first == nullptr || second == nullptr || (is_padded && row.is_matrix()) || (of_a.inside != nullptr && of_b.inside != nullptr))
    return {};
  if (has_types(first, second, row)) return {first, second};
  return has_types(second, first, row) ? std::pair(second, first) : std::pair<const LazyOp*, const LazyOp*>{};
}

bool has_multiple(const Kernel& k, int axis, std::int64_t amount) {
  const Sint size = k.axes()[at(axis)].size;
  return size.is_int() && size.as_int() % amount == 0;
}

bool stays(const Kernel& k, const LazyOp* load, int axis) {
  const auto s = k.stride(k.buf_of(load), axis);
  return s && s->is_int(0);
}

// All axes of a kind that `amount` divides, the innermost first.
std::vector<int> axes_for(const Kernel& k, AxisKind kind, std::int64_t amount) {
  std::vector<int> found;
  for (int i = static_cast<int>(k.axes().size()) - 1; i >= 0; i--)
    if (k.axes()[at(i)].kind == kind && k.axes()[at(i)].overlap == 0 && has_multiple(k, i, amount)) found.push_back(i);
  return found;
}

// Short reduced axes, whole ones, of which an instruction with one lane leaves some elements over.
std::vector<int> axes_with_tail(const Kernel& k, const TargetInstruction& row) {
  constexpr std::int64_t kMost = 8;  // instructions, which are unrolled
  std::vector<int> found;
  if (row.lanes > 1 || row.parts_evens() || row.words) return found;
  for (int i = static_cast<int>(k.axes().size()) - 1; i >= 0; i--) {
    const Axis& a = k.axes()[at(i)];
    const bool is_whole = a.kind == AxisKind::Reduce && a.dim < k.ast_dims() && a.size == k.dims()[at(a.dim)].valid && a.size.is_int();
    if (!is_whole || a.size.as_int() < row.macs || a.size.as_int() > row.macs * (kMost + 1)) continue;
    if (a.size.as_int() % row.macs != 0) found.push_back(i);
  }
  return found;
}

}  // namespace

std::vector<TensorChoice> Kernel::tensor_choices(const TargetInstruction& row) const {
  const auto [a, b] = factors_of(*this, row);
  std::vector<TensorChoice> choices;
  if (a == nullptr) return choices;
  if (!row.is_matrix()) {
    for (int k : axes_for(*this, AxisKind::Reduce, row.macs * row.steps))
      for (int n : axes_for(*this, AxisKind::Global, row.lanes)) choices.push_back({-1, n, k, a, b});
    for (int k : axes_with_tail(*this, row))
      for (int n : axes_for(*this, AxisKind::Global, 1)) choices.push_back({-1, n, k, a, b, axes()[at(k)].size.as_int() % row.macs});
    return choices;
  }
  // Of two operands of one type each may be the first. The columns of the tile are adjacent: they take the inner axis.
  const std::vector<int> rows = axes_for(*this, AxisKind::Global, row.m);
  for (int k : axes_for(*this, AxisKind::Reduce, row.k))
    for (int m : std::views::reverse(rows))
      for (int n : axes_for(*this, AxisKind::Global, row.n)) {
        const bool is_straight = m != n && stays(*this, a, n) && stays(*this, b, m),
                   is_swapped = m != n && stays(*this, a, m) && stays(*this, b, n);
        if (is_straight)
          choices.push_back({m, n, k, a, b});
        else if (is_swapped && a->dtype == b->dtype)
          choices.push_back({m, n, k, b, a});
      }
  return choices;
}

std::optional<std::string> Kernel::why_no_tensor(const Opt& opt) const {
  const auto rows = static_cast<std::int64_t>(options_->instructions.size());
  if (rows == 0) return "the target has dot-product or matrix instructions in this language";
  if (opt.amount < 0 || opt.amount >= rows)
    return "the target has " + std::to_string(rows) + " dot-product or matrix instructions, the amount is the number of one";
  const TargetInstruction& row = options_->instructions[static_cast<std::size_t>(opt.amount)];
  if (tensor_) return "an instruction is placed once";
  if (count(AxisKind::Vector) + count(AxisKind::Group) > 0) return "no axis is a vector or grouped";
  if (row.is_matrix() && !options_->has_local) return "the language has work-groups";
  if (row.is_matrix() && no_locals_) return "the driver does not choose the work-groups (NOLOCALS)";
  if (factors_of(*this, row).first == nullptr)
    return "the kernel is one sum in " + row.sum + " of products of loaded " + row.a + " and " + row.b;
  const auto choices = static_cast<int>(tensor_choices(row).size());
  if (choices == 0)
    return row.is_matrix() ? "there are axes of multiples of " + std::to_string(row.m) + ", " + std::to_string(row.n) + " and, reduced, " +
                                 std::to_string(row.k) + " of which each operand has two"
                           : "there is an axis of a multiple of " + std::to_string(row.lanes) + " and a reduced one of a multiple of " +
                                 std::to_string(row.macs * row.steps) +
                                 (row.lanes == 1 && !row.parts_evens() && !row.words ? ", or a short one of more" : "");
  if (opt.axis < 0 || opt.axis >= choices) return "there is no such choice of axes, but " + std::to_string(choices);
  std::int64_t copies = row.is_matrix() ? count_of(row.of_sum.registers) : 1, items = row.is_matrix() ? count_of(row.of_sum.items) : 1;
  for (const Axis& a : axes_) {
    if (a.kind == AxisKind::Unroll || a.kind == AxisKind::Upcast) copies = saturating_mul(copies, a.size.as_int());
    if (a.kind == AxisKind::Local) items = saturating_mul(items, a.size.as_int());
  }
  if (copies > 1024) return "at most 1024 in all are upcast";
  if (items > 1024) return "a work-group has at most 1024 items";
  return std::nullopt;
}

int Kernel::tile_items() const {
  return static_cast<int>(std::ranges::count_if(axes_, [](const Axis& a) { return a.kind == AxisKind::Local && a.tile != 0; }));
}

// The axes of the tile become work-items and registers: the first digit is the innermost axis.
void Kernel::split_tile(const TensorChoice& choice, const TargetInstruction& row) {
  const auto position = [&](char axis) { return axis == 'm' ? choice.m : choice.n; };
  std::vector<Axis> items, registers;
  const auto add = [&](const std::vector<TileDigit>& digits, AxisKind kind, std::vector<Axis>& to) {
    for (auto d = digits.rbegin(); d != digits.rend(); d++) {
      Axis part = axes_[at(position(d->axis))];
      part.kind = kind;
      part.size = d->size;
      part.multiplier *= d->step;
      part.tile = d->axis;
      to.push_back(part);
    }
  };
  add(row.of_sum.items, AxisKind::Local, items);
  add(row.of_sum.registers, AxisKind::Upcast, registers);
  for (char axis : {'m', 'n'}) {
    Axis& outer = axes_[at(position(axis))];
    const std::int64_t size = axis == 'm' ? row.m : row.n;
    outer.size = outer.size.as_int() / size;
    outer.multiplier *= size;
  }
  axes_.insert(axes_.end() - count(AxisKind::Tensor), registers.begin(), registers.end());
  axes_.insert(axes_.begin() + first_reduce(), items.begin(), items.end());
  for (int axis : {std::max(choice.m, choice.n), std::min(choice.m, choice.n)})
    if (axes_[at(axis)].size.is_int(1)) axes_.erase(axes_.begin() + axis);
}

void Kernel::apply_tensor(const Opt& opt) {
  const TargetInstruction& row = options_->instructions[static_cast<std::size_t>(opt.amount)];
  const TensorChoice choice = tensor_choices(row)[at(opt.axis)];
  const Axis reduced = axes_[at(choice.k)];
  tensor_ = TensorCore{static_cast<int>(opt.amount), choice.a, choice.b, choice.tail, 0, reduced.dim};
  const std::optional<Contraction> product = contraction_of(reduces_[0]);
  for (const LazyOp* factor : {product->a(), product->b()})
    if (const Operand o = operand_of(factor, product->sum); o.inside != nullptr) {
      tensor_->padded = o.load;
      tensor_->inside = o.inside;
      tensor_->padding = o.padding;
    }
  if (choice.tail > 0) tensor_->whole = reduced.size.as_int() - choice.tail;
  // The reduced axis stands behind the others, so these keep their positions.
  shift_to(choice.k, row.is_matrix() ? row.k : row.macs * row.steps, static_cast<int>(axes_.size()), AxisKind::Tensor);
  if (choice.tail > 0 && tensor_->whole > row.macs)
    shift_to(choice.k, tensor_->whole / row.macs, static_cast<int>(axes_.size()) - 1, AxisKind::Unroll);
  if (row.parts_evens()) {
    const AxisKind kind = row.is_whole_pair() ? AxisKind::Tensor : AxisKind::Unroll;
    shift_to(static_cast<int>(axes_.size()) - 1, 2, static_cast<int>(axes_.size()) - 1, kind);
    axes_[axes_.size() - 2].tile = 's';
  }
  if (row.is_matrix())
    split_tile(choice, row);
  else if (row.lanes > 1)
    shift_to(choice.n, row.lanes, static_cast<int>(axes_.size()), AxisKind::Vector);
}

}  // namespace etch
