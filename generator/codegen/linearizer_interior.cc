// Linearizer: two bodies of a tile, INTERIOR. Of windows with borders, most tiles read nothing that is padding. These make a box: for each
// outer loop a range of its variable. In the box's body the variables have those ranges, so that the masks fold away.
//
//   if (0 < y && y < 47) { sum += in[at - 48] * w[0]; ... } else { sum += (0 < y ? in[at - 48] : 0) * w[0]; ... }
#include <algorithm>

#include "codegen/linearizer_state.h"
#include "shape/open_sizes.h"

namespace etch {
namespace {

// Where most tiles are outside of the box, a second body is only longer.
constexpr double kLeastShare = 0.4;

std::int64_t count_of(const Node* variable) { return variable->max - variable->min + 1; }

}  // namespace

// All conditions under which something is read, in all copies.
std::set<const Node*> Linearizer::find_masks() {
  std::set<const Node*> masks;
  std::vector<int> copies = copied_axes();
  for (const AxisKind kind : {AxisKind::Unroll, AxisKind::Tensor, AxisKind::Vector}) {
    const std::vector<int> some = axes_of(kind);
    copies.insert(copies.end(), some.begin(), some.end());
  }
  make_variables(AxisKind::Reduce);
  for_each(copies, [&] {
    for (const KernelBuf& buf : k_.bufs())
      if (!is_indexed(buf.op))
        for (const Sint term : terms_of(place_of(buf).valid)) masks.insert(term.node());
  });
  return masks;
}

// The values of `variable` for which `mask` holds whatever other variables are, if these follow each other.
std::optional<Linearizer::Span> Linearizer::span_without(const Node* mask, const Node* variable) const {
  constexpr std::int64_t kMost = 4096;
  if (!variable->max_expr.is_int() || count_of(variable) > kMost) return std::nullopt;
  std::optional<Span> span;
  for (std::int64_t v = variable->min; v <= variable->max; v++) {
    if (substitute(Sint(*mask), {{variable->name, v}}).min() != 1) continue;
    if (span && span->second + 1 != v) return std::nullopt;
    span = Span{span ? span->first : v, v};
  }
  return span;
}

// By axis; empty if masks leave no box that is worth a body. A mask that no single loop decides stays in both bodies.
std::map<std::size_t, Linearizer::Span> Linearizer::find_interior() {
  std::map<std::size_t, Span> box;
  for (const Node* mask : find_masks()) {
    std::optional<std::pair<std::size_t, Span>> widest;
    double widest_share = 0;
    for (int axis : axes_of(AxisKind::Global)) {
      const Sint index = axis_index_[static_cast<std::size_t>(axis)];
      if (index.is_int() || index.node()->kind != NodeKind::Variable) continue;
      box.try_emplace(static_cast<std::size_t>(axis), index.node()->min, index.node()->max);
      const std::optional<Span> span = span_without(mask, index.node());
      if (!span) continue;
      const double share = static_cast<double>(span->second - span->first + 1) / static_cast<double>(count_of(index.node()));
      if (share > widest_share) widest = {static_cast<std::size_t>(axis), *span};
      widest_share = std::max(widest_share, share);
    }
    if (!widest) continue;
    Span& side = box.at(widest->first);
    side = {std::max(side.first, widest->second.first), std::min(side.second, widest->second.second)};
  }
  double share = 1;
  std::erase_if(box, [&](const auto& side) {
    const Node* v = axis_index_[side.first].node();
    share *= static_cast<double>(std::max<std::int64_t>(side.second.second - side.second.first + 1, 0)) / static_cast<double>(count_of(v));
    return side.second == Span{v->min, v->max};
  });
  return share < kLeastShare ? std::map<std::size_t, Span>{} : box;
}

// Forgets the values of the body that is finished.
void Linearizer::begin_tile_again() {
  values_.clear();
  places_.clear();
  orders_.clear();
  zeros_.clear();
  accumulators_.clear();
  tile_.clear();
  lanes_ = k_.lanes();
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (k_.axes()[i].kind != AxisKind::Global) axis_index_[i] = 0;
}

bool Linearizer::add_interior() {
  if (!k_.has_interior()) return false;
  const std::map<std::size_t, Span> box = find_interior();
  begin_tile_again();
  if (box.empty()) return false;
  std::vector<Sint> inside, whole;
  for (const auto& [axis, side] : box) {
    const Sint index = axis_index_[axis];
    whole.push_back(index);
    if (side.first > index.node()->min) inside.push_back(lt(-index, 1 - side.first));
    if (side.second < index.node()->max) inside.push_back(lt(index, side.second + 1));
    axis_index_[axis] = symbols_->variable(index.node()->name, side.first, side.second);
  }
  const UOp* is_inside = index_.condition(ands(inside));
  open_.push_back(b_.add(UOp{.uop = UOpKind::If, .src = {is_inside}}));
  compute_tile();
  close(open_.back());
  begin_tile_again();
  std::size_t next = 0;
  for (const auto& [axis, side] : box) axis_index_[axis] = whole[next++];
  open_.push_back(b_.add(UOp{.uop = UOpKind::Else, .src = {is_inside}}));
  compute_tile();
  close(open_.back());
  return true;
}

}  // namespace etch
