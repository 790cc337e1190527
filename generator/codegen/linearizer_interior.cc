// Linearizer: several bodies of a tile, INTERIOR. Of windows with borders, most tiles read nothing that is padding. These make a box: of
// each outer loop some turns. There the variables have the ranges of the box, so that the masks fold away; what is around it, boxes of the
// same loops, has the other body or, around vectors along a row, one for what is in front of it and one for what is behind it.
//
//   for (y = 1; y < 47; y++) { sum += in[at - 48] * w[0]; ... }
//   for (border = 0; border < 2; border++)
//     for (y = border < 1 ? 0 : 47; y < (border < 1 ? 1 : 48); y++) { sum += (0 < y ? in[at - 48] : 0) * w[0]; ... }
//
// Where masks choose between inputs (concatenations) each of them hides something in most tiles. Without a sum the bodies are short: there
// is one for each box in which the masks do not change.
//
//   for (c = 0; c < 64; c++) out[...] = in[...];
//   for (c = 64; c < 144; c++) out[...] = in_2[...];
#include <algorithm>
#include <functional>
#include <iterator>

#include "codegen/linearizer_state.h"

namespace etch {
namespace {

// Where most tiles are outside of the box, a second body is only longer.
constexpr double kLeastShare = 0.4;
constexpr double kLeastShareOfVectors = 0.3;  // masks of some lanes cost more
// More bodies are worth their text where a tile has so many sums at most.
constexpr std::int64_t kFewSums = 8;
constexpr std::int64_t kMostTurns = 4096;  // of a loop whose turns are looked at one by one
constexpr std::int64_t kMostBoxesOfChoice = 12;
constexpr std::int64_t kMostOperationsOfBoxes = 64;  // in all of them

std::int64_t turns_of(const std::pair<std::int64_t, std::int64_t>& span) { return span.second - span.first + 1; }

}  // namespace

Linearizer::Span Linearizer::whole(int axis) const { return {0, k_.axes()[static_cast<std::size_t>(axis)].size.as_int() - 1}; }

std::int64_t Linearizer::value_in_turn(int axis, std::int64_t turn) const {
  const Axis& a = k_.axes()[static_cast<std::size_t>(axis)];
  return a.start_of(turn);
}

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
        for (const Sint& term : terms_of(place_of(buf).valid)) masks.insert(term.node());
  });
  return masks;
}

// The turns in which `mask` holds whatever other loops do, if these follow each other.
std::optional<Linearizer::Span> Linearizer::span_without(const Node* mask, int axis) const {
  const std::string& name = axis_index_[static_cast<std::size_t>(axis)].node()->name;
  std::optional<Span> span;
  for (std::int64_t turn = 0; turn <= whole(axis).second; turn++) {
    if (substitute(Sint(*mask), {{name, value_in_turn(axis, turn)}}).min() != 1) continue;
    if (span && span->second + 1 != turn) return std::nullopt;
    span = Span{span ? span->first : turn, turn};
  }
  return span;
}

// Vectors lie along the axis, and a tile has few sums of them.
bool Linearizer::has_bodies_per_border(int axis) const {
  const int lanes = static_cast<int>(k_.axes().size()) - 1;
  return lanes_ > 1 && count(copied_axes()) <= kFewSums && k_.root_dim(axis) == k_.root_dim(lanes);
}

// Empty if masks leave no box that is worth a body. A mask that no single loop decides stays in all bodies. Where all vectors of a row have
// some, the box has those of which all have the same. Where too few tiles are free of masks, it is of the loop over vectors alone: masks of
// other loops hide a vector as a whole, and stay in all bodies.
Linearizer::Box Linearizer::find_interior(const std::set<const Node*>& masks) const {
  Box box;
  for (int axis : axes_of(AxisKind::Global)) {
    const Sint& size = k_.axes()[static_cast<std::size_t>(axis)].size;
    if (size.is_int() && size.as_int() > 1 && size.as_int() <= kMostTurns) box.emplace(axis, whole(axis));
  }
  for (const Node* mask : masks) {
    std::optional<std::pair<int, Span>> widest;
    double most = 0;
    for (const auto& [axis, side] : box) {
      const std::optional<Span> span = span_without(mask, axis);
      const double share = span ? static_cast<double>(turns_of(*span)) / static_cast<double>(turns_of(whole(axis))) : 0;
      if (share > most) widest = {axis, *span};
      most = std::max(most, share);
    }
    if (!widest) continue;
    Span& side = box.at(widest->first);
    side = {std::max(side.first, widest->second.first), std::min(side.second, widest->second.second)};
  }
  for (auto& [axis, side] : box)
    if (turns_of(side) <= 0 && has_bodies_per_border(axis)) side = std::ranges::max(spans_of_choice(masks, axis), {}, turns_of);
  std::erase_if(box, [&](const auto& side) { return side.second == whole(side.first); });
  const auto is_of_vectors = [&](const auto& side) { return has_bodies_per_border(side.first); };
  if (std::ranges::none_of(box, is_of_vectors)) return share_of(box) < kLeastShare ? Box{} : box;
  if (share_of(box) < kLeastShareOfVectors) std::erase_if(box, std::not_fn(is_of_vectors));
  return share_of(box) < kLeastShareOfVectors ? Box{} : box;
}

// The part of all tiles that is in the box.
double Linearizer::share_of(const Box& box) const {
  double share = 1;
  for (const auto& [axis, side] : box)
    share *= static_cast<double>(std::max<std::int64_t>(turns_of(side), 0)) / static_cast<double>(turns_of(whole(axis)));
  return share;
}

// The turns of a loop in parts: in each of them each mask holds, holds nowhere, or depends on other loops in the same way.
std::vector<Linearizer::Span> Linearizer::spans_of_choice(const std::set<const Node*>& masks, int axis) const {
  const std::string& name = axis_index_[static_cast<std::size_t>(axis)].node()->name;
  std::vector<Span> spans;
  std::vector<std::pair<bool, bool>> before;
  for (std::int64_t turn = 0; turn <= whole(axis).second; turn++) {
    std::vector<std::pair<bool, bool>> now;  // of each mask whether it holds, and whether it may
    for (const Node* mask : masks) {
      const Sint there = substitute(Sint(*mask), {{name, value_in_turn(axis, turn)}});
      now.emplace_back(there.min() == 1, there.max() == 1);
    }
    if (spans.empty() || now != before) spans.emplace_back(turn, turn);
    spans.back().second = turn;
    before = std::move(now);
  }
  return spans;
}

// Empty if there is a sum, or nothing is chosen, or the bodies would be long.
std::vector<Linearizer::Box> Linearizer::boxes_of_choice(const std::set<const Node*>& masks) const {
  if (!k_.reduces().empty()) return {};
  const std::int64_t operations = std::ranges::count_if(
      toposort(k_.ast()), [](const LazyOp* op) { return info(op->op).group != OpGroup::Buffer && op->op != Op::Where; });
  const std::int64_t most =
      std::min(kMostBoxesOfChoice, kMostOperationsOfBoxes / std::max<std::int64_t>(operations * count(copied_axes()), 1));
  if (most < 2) return {};
  std::vector<Box> boxes(1);
  for (const int axis : axes_of(AxisKind::Global)) {
    const Sint& size = k_.axes()[static_cast<std::size_t>(axis)].size;
    if (!size.is_int() || size.is_int(1) || size.as_int() > kMostTurns) continue;
    const std::vector<Span> spans = spans_of_choice(masks, axis);
    if (std::ssize(spans) * std::ssize(boxes) > most) return {};
    std::vector<Box> cut;
    for (const Box& box : boxes)
      for (const Span& span : spans) cut.emplace_back(box)[axis] = span;
    boxes = std::move(cut);
  }
  return boxes.size() > 1 ? boxes : std::vector<Box>();
}

// Boxes that cover what is not `interior`: what is in front of it and behind it along each axis, where the axes before are inside. The
// boxes of a group share a body. Along an axis of lanes the masks of one vector differ: what is around it comes first, as groups of its
// own, so that the vectors of the others are loaded whole. In front of it and behind it other lanes are masked: two bodies, and where one
// turn is there, its masks are constants.
std::vector<std::vector<Linearizer::Box>> Linearizer::borders_of(const Box& interior) const {
  std::vector<int> axes;
  for (const auto& [axis, side] : interior) axes.push_back(axis);
  std::ranges::stable_partition(axes, [&](int axis) { return has_bodies_per_border(axis); });
  std::vector<std::vector<Box>> groups(1);
  Box around;
  for (const int axis : axes) around.emplace(axis, whole(axis));
  for (const int axis : axes) {
    const Span side = interior.at(axis);
    for (const Span& part : {Span{0, side.first - 1}, Span{side.second + 1, whole(axis).second}}) {
      if (turns_of(part) <= 0) continue;
      groups.back().push_back(around);
      groups.back().back().at(axis) = part;
      if (has_bodies_per_border(axis)) groups.emplace_back();
    }
    around.at(axis) = side;
  }
  if (groups.back().empty()) groups.pop_back();
  return groups;
}

// values[number]
const UOp* Linearizer::one_of(const UOp* number, const std::vector<std::int64_t>& values) {
  const DType dtype = DType::Int32;
  const auto constant = [&](std::int64_t n) { return b_.constant(Scalar::of_int(dtype, n)); };
  const UOp* chosen = constant(values.back());
  for (std::size_t n = values.size() - 1; n-- > 0;) {
    if (values[n] == values[n + 1]) continue;
    const UOp* is_before = b_.alu(Op::CmpLt, DType::Bool, {number, constant(static_cast<std::int64_t>(n) + 1)}, true);
    chosen = b_.alu(Op::Where, dtype, {is_before, constant(values[n]), chosen}, true);
  }
  return chosen;
}

// Where all boxes have the same turns of a loop, its variable has their range.
void Linearizer::open_boxes(const std::vector<Box>& boxes) {
  const UOp* number = nullptr;
  if (boxes.size() > 1) {
    const std::string name = free_name("border");
    number = open_loop(name, static_cast<std::int64_t>(boxes.size()), 1, name);
  }
  for (const auto& [axis, side] : boxes[0]) {
    std::vector<std::int64_t> begins, ends;
    for (const Box& b : boxes) {
      begins.push_back(b.at(axis).first);
      ends.push_back(b.at(axis).second + 1);
    }
    Sint& index = axis_index_[static_cast<std::size_t>(axis)];
    const bool are_alike = std::ranges::all_of(boxes, [&](const Box& b) { return b.at(axis) == side; });
    if (are_alike && side.first == side.second && axis != shared_) {
      index = value_in_turn(axis, side.first);
      continue;
    }
    const UOp* begin = one_of(number, begins);
    open_axis(axis, begin, one_of(number, ends));
    if (are_alike) index = symbols_->variable(index.node()->name, value_in_turn(axis, side.first), value_in_turn(axis, side.second));
  }
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
  std::vector<std::vector<Box>> bodies;
  const std::set<const Node*> masks = find_masks();
  if (const Box box = find_interior(masks); !box.empty()) {
    bodies = {{box}};
    std::ranges::copy(borders_of(box), std::back_inserter(bodies));
  } else {
    for (const Box& part : boxes_of_choice(masks)) bodies.push_back({part});
  }
  begin_tile_again();  // for what comes next, whichever it is
  if (bodies.empty()) return false;
  const Box& box = bodies[0][0];
  for (int axis : axes_of(AxisKind::Global))
    if (!box.contains(axis)) open_axis(axis);
  const std::size_t outside = open_.size();
  const int declared = index_.count();
  const std::vector<Sint> variables = axis_index_;
  for (const std::vector<Box>& boxes : bodies) {
    begin_tile_again();
    index_.keep(declared);
    positions_.clear();
    for (const auto& [axis, side] : box) axis_index_[static_cast<std::size_t>(axis)] = variables[static_cast<std::size_t>(axis)];
    open_boxes(boxes);
    compute_tile();
    while (open_.size() > outside) close(open_.back());
  }
  return true;
}

}  // namespace etch
