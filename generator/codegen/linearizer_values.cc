// Linearizer: the value of each LazyOp, for each copy that unrolled and upcast axes make of it.
#include <algorithm>

#include "base/error.h"
#include "base/toposort.h"
#include "codegen/linearizer_state.h"
#include "codegen/math.h"

namespace etch {
namespace {

// Joins two dimensions that index the same axis of the buffer, such as x and j of a window. They do if the smaller step, taken as often
// as its dimension allows, reaches beyond the larger one.
void join_windows(const Kernel& k, const KernelBuf& buf, std::map<int, std::int64_t>& place) {
  const auto stride = [&](int dim) {
    const Sint s = buf.st.views().back().strides[static_cast<std::size_t>(dim)];
    return s.is_int() ? s.as_int() : 0;
  };
  const auto size = [&](int dim) {
    const Sint s = k.dims()[static_cast<std::size_t>(dim)].valid;
    return s.is_int() ? s.as_int() : 0;
  };
  for (auto inner = place.begin(); inner != place.end();) {
    const bool is_reduced = k.dims()[static_cast<std::size_t>(inner->first)].reduce;
    const auto outer = std::ranges::find_if(place, [&](const auto& o) {
      if (!is_reduced || k.dims()[static_cast<std::size_t>(o.first)].reduce) return false;
      const std::int64_t a = stride(o.first), b = stride(inner->first), small = std::min(a, b), large = std::max(a, b);
      return small > 0 && large % small == 0 && large / small < size(a == small ? o.first : inner->first);
    });
    if (outer == place.end()) {
      inner++;
      continue;
    }
    const std::int64_t a = stride(outer->first), b = stride(inner->first);
    outer->second = (outer->second * a + inner->second * b) / std::min(a, b);
    inner = place.erase(inner);
  }
}

}  // namespace

// The axes that a leaf or a reduction itself depends on, without those of its operands.
std::uint64_t Linearizer::own_axes(const LazyOp* op) {
  if (is_reduce(op->op) && !is_scan(op)) return axes_of_sum(op);
  const bool is_leaf = info(op->op).group == OpGroup::Buffer && op->op != Op::Store;
  std::uint64_t axes = 0;
  for (int i = 0; i < static_cast<int>(k_.axes().size()); i++) {
    if (!k_.has_copies(i)) continue;
    bool relevant = op->op == Op::Store || is_reduce(op->op);
    if (is_leaf) {
      const auto stride = k_.stride(k_.buf_of(op), i);
      relevant = !stride || !stride->is_int(0);
    }
    if (relevant) axes |= std::uint64_t{1} << i;
  }
  return axes;
}

// One bit for each unrolled, upcast or vector axis along which the value can differ.
std::uint64_t Linearizer::relevant_axes(const LazyOp* op) {
  if (const auto found = relevant_.find(op); found != relevant_.end()) return found->second;
  const auto below = [&](const LazyOp* o) { return is_reduce(o->op) || relevant_.contains(o) ? Sources() : Sources(o->src); };
  for (const LazyOp* o : toposort<LazyOp>({op}, below)) {
    if (relevant_.contains(o)) continue;
    std::uint64_t axes = own_axes(o);
    if (!is_reduce(o->op))
      for (const LazyOp* s : o->src) axes |= relevant_.at(s);
    relevant_.emplace(o, axes);
  }
  return relevant_.at(op);
}

// Index of the current copy, counting only `axes`.
std::int64_t Linearizer::key_of(std::uint64_t axes) const {
  std::int64_t key = 0;
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& a = k_.axes()[i];
    if (is_in_lanes(a) || (axes >> i & 1) == 0 || !axis_index_[i].is_int()) continue;
    key = key * a.size.as_int() + axis_index_[i].as_int();
  }
  return key;
}

// The copy's offset in elements along each dimension. A buffer that is read at x + j has one coordinate for both, called x.
std::string Linearizer::copy_of(const LazyOp* op) {
  const std::uint64_t axes = relevant_axes(op) | steps_of_sum(op);
  std::map<int, std::int64_t> place;  // by dimension of the AST
  for (int i = 0; i < static_cast<int>(k_.axes().size()); i++) {
    const auto axis = static_cast<std::size_t>(i);
    if (!k_.has_copies(i) || is_in_lanes(k_.axes()[axis]) || (axes >> i & 1) == 0 || !axis_index_[axis].is_int()) continue;
    if (rest_first_ && k_.root_dim(i) == k_.lanes_rest()->dim) continue;  // there is one alone
    if (k_.axes()[axis].stage != Axis::kOuter && k_.axes()[axis].stage != stage_) continue;
    const Axis& a = k_.axes()[axis];
    const std::int64_t unit = a.overlap > 0 ? k_.root_multiplier(i) / a.tile_size : k_.root_multiplier(i);
    place[k_.root_dim(i)] += (a.kind == AxisKind::Upcast ? a.start_of(axis_index_[axis].as_int()) : axis_index_[axis].as_int()) * unit;
  }
  if (op->op == Op::Load) join_windows(k_, k_.buf_of(op), place);
  std::string text;
  for (const auto& [dim, at] : place) text += "_" + k_.dims()[static_cast<std::size_t>(dim)].letters + std::to_string(at);
  return text;
}

// The operations that `op` needs, sources first, not including those below a reduction.
const std::vector<const LazyOp*>& Linearizer::order_of(const LazyOp* op) {
  auto [found, is_new] = orders_.try_emplace(op);
  if (!is_new) return found->second;
  found->second = toposort<LazyOp>({op}, [&](const LazyOp* o) {
    const bool is_known =
        is_reduce(o->op) || begun_.contains(o) || (o == kept_.op && stage_ > kept_.stage) || (is_late_ && late_rows_.contains(o));
    return is_known ? Sources() : Sources(o->src);
  });
  return found->second;
}

const UOp* Linearizer::value(const LazyOp* op) {
  const UOp* last = nullptr;
  for (const LazyOp* needed : order_of(op)) {
    const auto [place, is_new] = values_.try_emplace({number_.at(needed), key_of(relevant_axes(needed))});
    if (is_new) {
      b_.set_copy(copy_of(needed));
      place->second = compute(needed);
      b_.set_copy("");
    }
    last = place->second;
  }
  return last;
}

const UOp* Linearizer::compute(const LazyOp* op) {
  if (op == kept_.op && stage_ > kept_.stage) return load_kept();
  if (info(op->op).group == OpGroup::Buffer) return leaf(op);
  if (const auto found = tile_.find(op); found != tile_.end()) {
    const UOp* at = index_.integer(position(copied_axes()) * k_.lanes() + axis_index_.back());
    return b_.add(UOp{.uop = UOpKind::Load, .dtype = op->dtype, .src = {found->second, at}});
  }
  if (const auto found = begun_.find(op); found != begun_.end()) return accumulators_.at(accumulator_of(found->second));
  if (is_reduce(op->op)) return accumulators_.at(accumulator_of(op));
  std::vector<const UOp*> src;
  for (const LazyOp* s : op->src) src.push_back(values_.at({number_.at(s), key_of(relevant_axes(s))}));
  if (op->op == Op::Expand) return src[0];
  return elementwise(op->op, op->dtype, src);
}

// The axes that are not reduced and have copies. One along which all of the sum is the same is none of them, if there are several sums:
// the others alone have copies then.
std::uint64_t Linearizer::axes_of_sum(const LazyOp* reduce) {
  const bool may_share =
      k_.reduces().size() > 1 && k_.lanes() == 1 && !k_.is_staged() && k_.count(AxisKind::Group) == 0 && !starts_.contains(reduce);
  const std::uint64_t summed = may_share ? relevant_axes(reduce->src[0]) : ~std::uint64_t{0};
  std::uint64_t axes = 0;
  for (int i = 0; i < static_cast<int>(k_.axes().size()); i++)
    if (k_.has_copies(i) && !k_.reduces_axis(i)) axes |= std::uint64_t{1} << i;
  return axes & summed;
}

// The unrolled steps that have a sum each. They pass, so they are not among the axes that are remembered of the reduction.
std::uint64_t Linearizer::steps_of_sum(const LazyOp* reduce) const {
  const std::vector<const LazyOp*> own = k_.reduces_of(stage_);
  std::uint64_t axes = 0;
  if (sums_apart_ && std::ranges::find(own, reduce) != own.end())
    for (const int step : axes_of(AxisKind::Unroll)) axes |= std::uint64_t{1} << step;
  return axes;
}

std::pair<int, std::int64_t> Linearizer::accumulator_of(const LazyOp* reduce) {
  return {number_.at(reduce), key_of(axes_of_sum(reduce) | steps_of_sum(reduce))};
}

const UOp* Linearizer::lane(const UOp* v, int number) {
  if (v->lanes == 1) return v;
  if (v->uop == UOpKind::Vectorize) return v->src[static_cast<std::size_t>(number)];
  return b_.add(UOp{.uop = UOpKind::Gep, .dtype = v->dtype, .src = {v}, .number = number});
}

// Max and Min of vectors: both operands have all lanes, except the zero of a relu.
const UOp* Linearizer::vector_choice(Op op, DType dtype, std::vector<const UOp*> src) {
  for (std::size_t i = 0; i < src.size(); i++) {
    const bool is_zero = src[i]->uop == UOpKind::Const && src[i]->value->as_double() == 0.0;
    if (src[i]->lanes > 1 || (is_zero && i == 1 && op == Op::Max)) continue;
    src[i] = in_all_lanes(src[i]);
  }
  return b_.alu(op, dtype, std::move(src));
}

const UOp* Linearizer::in_all_lanes(const UOp* u) {
  if (u->lanes > 1) return u;
  UOp all{.uop = UOpKind::Vectorize, .dtype = u->dtype, .lanes = lanes_};
  all.src.assign(static_cast<std::size_t>(lanes_), u);
  return b_.add(std::move(all));
}

// Comparisons of floats, what is made of them, and what they choose.
bool Linearizer::is_vector_choice(Op op, DType dtype, const std::vector<const UOp*>& src) const {
  if (op == Op::Where) return dtype == DType::Float32 && src[0]->lanes > 1;
  if (op == Op::CmpLt || op == Op::CmpEq || op == Op::CmpNe) return src[0]->dtype == DType::Float32;
  return dtype == DType::Bool && (op == Op::And || op == Op::Or || op == Op::Xor) && src[0]->lanes == src[1]->lanes;
}

// Beside those of floats: what one condition chooses in all lanes; arithmetic in int32, the conversions to it, from it and between it and
// floats, and rounding.
bool Linearizer::is_vector_operation(Op op, DType dtype, const std::vector<const UOp*>& src) const {
  if (op == Op::Where && dtype == DType::Float32) return src[0]->lanes == 1;
  if (!k_.options().integer_vectors) return false;
  const DType from = src[0]->dtype;
  const auto is_small = [](DType d) { return is_int(d) && bytes_of(d) <= 2; };
  switch (op) {
    case Op::Cast:
      if (dtype == DType::Int32) return is_small(from) || from == DType::Float32;
      return from == DType::Int32 && (is_small(dtype) || dtype == DType::Float32);
    case Op::Rint:
    case Op::RintSmall:
      return dtype == DType::Float32;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Max:
    case Op::Min:
    case Op::And:
    case Op::Or:
    case Op::Xor:
      return dtype == DType::Int32;
    case Op::Where:  // one condition for all lanes
      return src[0]->lanes == 1 && (dtype == DType::Int32 || is_small(dtype));
    case Op::Shl:
    case Op::Shr:
      return dtype == DType::Int32 && src[1]->uop == UOpKind::Const && src[1]->value->as_int() >= 0 && src[1]->value->as_int() < 32;
    default:
      return false;
  }
}

const UOp* Linearizer::elementwise(Op op, DType dtype, const std::vector<const UOp*>& src) {
  int lanes = 1;
  for (const UOp* s : src) lanes = std::max(lanes, s->lanes);
  if (lanes > 1 && dtype == DType::Float32 && (op == Op::Max || op == Op::Min)) return vector_choice(op, dtype, src);
  if (lanes > 1 && is_vector_choice(op, dtype, src)) return b_.alu(op, dtype, src);
  if (lanes > 1 && is_vector_operation(op, dtype, src)) {
    if (op == Op::Cast) return b_.cast(src[0], dtype);
    std::vector<const UOp*> wide;
    for (const UOp* s : src) wide.push_back(op == Op::Where && s == src[0] ? s : in_all_lanes(s));
    return b_.alu(op, dtype, std::move(wide));
  }
  const auto scalar = [&](const std::vector<const UOp*>& operands) {
    if (op == Op::Cast) return b_.cast(operands[0], dtype);
    if (op == Op::Bitcast) return b_.add(UOp{.uop = UOpKind::Bitcast, .dtype = dtype, .src = operands});
    return b_.alu(op, dtype, operands);
  };
  if (lanes > 1 && expansion_of(op, dtype, k_.options()) != nullptr && dtype == DType::Float32) {  // a call takes vectors alone
    std::vector<const UOp*> wide;
    for (const UOp* s : src) wide.push_back(in_all_lanes(s));
    return scalar(wide);
  }
  if (lanes == 1 || (dtype == DType::Float32 && has_vector_form(op, k_.options()))) return scalar(src);
  UOp vector{.uop = UOpKind::Vectorize, .dtype = dtype, .lanes = lanes};
  for (int l = 0; l < lanes; l++) {
    std::vector<const UOp*> operands;
    for (const UOp* s : src) operands.push_back(lane(s, l));
    vector.src.push_back(scalar(operands));
  }
  return b_.add(std::move(vector));
}

}  // namespace etch
