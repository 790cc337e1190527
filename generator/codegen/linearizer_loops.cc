// Linearizer: loops and the dimensions of a grid.
#include <algorithm>

#include "base/error.h"
#include "codegen/linearizer_state.h"
#include "shape/int_math.h"

namespace etch {

std::vector<int> Linearizer::axes_of(AxisKind kind) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < k_.axes().size(); i++)
    if (const AxisKind own =
            k_.axes()[i].kind == AxisKind::Vector && lanes_ == 1 && k_.sums_are_lanes() ? AxisKind::Upcast : k_.axes()[i].kind;
        own == kind && (k_.axes()[i].stage == Axis::kOuter || k_.axes()[i].stage == stage_))
      found.push_back(static_cast<int>(i));
  return found;
}

std::vector<int> Linearizer::copied_axes() const {
  std::vector<int> found = is_behind_group_ ? axes_of(AxisKind::Mid) : std::vector<int>();
  const std::vector<int> upcast = axes_of(AxisKind::Upcast);
  found.insert(found.end(), upcast.begin(), upcast.end());
  return found;
}

const UOp* Linearizer::open_loop(const std::string& name, Sint size, std::int64_t elements, const std::string& axis) {
  const UOp* end = index_.integer(size);
  return open_loop(name, b_.constant(Scalar::of_int(end->dtype, 0)), end, elements, axis);
}

const UOp* Linearizer::open_loop(const std::string& name, const UOp* begin, const UOp* end, std::int64_t elements, const std::string& axis,
                                 bool stores_apart) {
  const UOp* loop = b_.add(UOp{.uop = UOpKind::Loop,
                               .dtype = end->dtype,
                               .src = {begin, end},
                               .number = elements,
                               .size = stores_apart ? 1 : 0,
                               .name = name,
                               .hint = axis});
  index_.declare(name, loop);
  open_.push_back(loop);
  loop_number_[loop] = static_cast<int>(result_.loops.size());
  result_.loops.push_back({name});
  return loop;
}

std::string Linearizer::free_name(const std::string& wanted) {
  std::string name = wanted;
  for (int n = 2; !taken_.insert(name).second; n++) name = wanted + "_" + std::to_string(n);
  return name;
}

void Linearizer::name_axes() {
  const auto letters = [&](int axis) { return k_.dims()[static_cast<std::size_t>(k_.root_dim(axis))].letters; };
  const int n = static_cast<int>(k_.axes().size());
  for (int i = 0; i < n; i++) {
    int parts = 0;
    const auto [kind, stage] = std::pair(k_.axes()[static_cast<std::size_t>(i)].kind, k_.axes()[static_cast<std::size_t>(i)].stage);
    for (int other = 0; other < n; other++)
      if (const int of = k_.axes()[static_cast<std::size_t>(other)].stage; of == stage || of == Axis::kOuter)
        parts += k_.root_dim(other) == k_.root_dim(i) ? 1 : 0;
    std::string name = letters(i);
    if (name.empty()) name = "i";
    if (kind == AxisKind::Vector)
      name = "lane";
    else if (kind == AxisKind::Local || kind == AxisKind::Group || kind == AxisKind::Mid)
      name += "_item";
    else if (k_.is_block(i))
      name += "_block";
    else if (parts > 1)
      name += k_.root_multiplier(i) > 1 ? "_tile" : "_in";
    axis_names_.push_back(free_name(name));
  }
}

void Linearizer::make_variable(int axis) {
  const auto i = static_cast<std::size_t>(axis);
  const Axis& a = k_.axes()[i];
  if (a.overlap > 0)
    axis_index_[i] = symbols_->variable(start_of_tile(axis), 0, a.size * a.tile_size - a.overlap - a.tile_size);
  else
    axis_index_[i] = a.size.is_int(1) ? Sint(0) : symbols_->variable(axis_names_[i], 0, a.size - 1);
}

std::string Linearizer::start_of_tile(int axis) const { return axis_names_[static_cast<std::size_t>(axis)] + "_start"; }

void Linearizer::make_variables(AxisKind kind) {
  for (int axis : axes_of(kind)) make_variable(axis);
}

const UOp* Linearizer::open_backwards(int axis, Turns turns) {
  const std::string& letters = k_.dims()[static_cast<std::size_t>(k_.root_dim(axis))].letters;
  const Axis& a = k_.axes()[static_cast<std::size_t>(axis)];
  const std::string& name = axis_names_[static_cast<std::size_t>(axis)];
  const UOp* turn = open_loop(free_name(name + "_turn"), turns.first, turns.second, 1, letters);
  const UOp* last = index_.integer(a.size - 1);
  const UOp* number =
      b_.add(UOp{.uop = UOpKind::Alu, .dtype = turn->dtype, .src = {last, turn}, .op = Op::Sub, .exact = true, .hint = name});
  index_.declare(name, number);
  result_.loops.back() = {name, true};
  return number;
}

const UOp* Linearizer::open_zigzag(int axis, Turns turns) {
  const Axis& a = k_.axes()[static_cast<std::size_t>(axis)];
  const std::string& name = axis_names_[static_cast<std::size_t>(axis)];
  const std::vector<const Node*> known = variables(k_.ast());
  const auto counter = std::ranges::find(known, k_.options().counter, &Node::name);
  const auto named = [&](const std::string& text, Op op, DType dtype, std::vector<const UOp*> src) {
    return b_.add(UOp{.uop = UOpKind::Alu, .dtype = dtype, .src = std::move(src), .op = op, .exact = true, .name = text});
  };
  const UOp *odd = index_.integer(floormod(Sint(**counter), 2)), *last = index_.integer(a.size - 1);
  const UOp* is_back = named("is_back", Op::CmpEq, DType::Bool, {odd, index_.integer(1)});
  const UOp* first = named(name + "_first", Op::Where, last->dtype, {is_back, last, index_.integer(0)});
  const UOp* by = named("by", Op::Where, last->dtype, {is_back, index_.integer(-1), index_.integer(1)});
  const UOp* turn = open_loop(free_name(name + "_turn"), turns.first, turns.second, 1, name);
  const UOp* number = named(name, Op::Add, last->dtype, {first, b_.alu(Op::Mul, last->dtype, {turn, by}, true)});
  index_.declare(name, number);
  result_.loops.back() = {name};
  return number;
}

void Linearizer::open_axis(int axis) {
  if (axis == shared_) return open_turns(axis, own_turns_);
  const UOp* end = index_.integer(k_.axes()[static_cast<std::size_t>(axis)].size);
  open_turns(axis, {b_.constant(Scalar::of_int(end->dtype, 0)), end});
}

void Linearizer::open_axis(int axis, const UOp* begin, const UOp* end) { open_turns(axis, of_this_worker(axis, {begin, end})); }

void Linearizer::open_turns(int axis, Turns turns) {
  const auto [begin, end] = turns;
  const std::string& letters = k_.dims()[static_cast<std::size_t>(k_.root_dim(axis))].letters;
  const auto i = static_cast<std::size_t>(axis);
  const Axis& a = k_.axes()[i];
  const bool zigzags = k_.zigzags() && (a.kind == AxisKind::Global || a.kind == AxisKind::Reduce);
  const UOp* tile = k_.runs_backwards() && a.kind == AxisKind::Global ? open_backwards(axis, turns)
                    : zigzags                                         ? open_zigzag(axis, turns)
                              : open_loop(axis_names_[i], begin, end, a.overlap > 0 ? 1 : k_.root_multiplier(axis), letters,
                                          a.kind == AxisKind::Vector && !stores_vectors());
  if (a.overlap == 0) return;
  result_.loops.back().name = start_of_tile(axis);
  // The last tile ends where the axis ends; a loop over the others alone does not ask.
  const auto integer = [&](Sint n) { return index_.integer(n); };
  const bool has_last = k_.runs_backwards() || end->uop != UOpKind::Const || end->value->as_int() == a.size.as_int();
  const UOp* start = b_.add(UOp{.uop = UOpKind::Alu,
                                .dtype = tile->dtype,
                                .src = {tile, integer(a.tile_size)},
                                .op = Op::Mul,
                                .exact = true,
                                .hint = has_last ? "" : letters});
  if (has_last) {
    const UOp* is_before =
        b_.add(UOp{.uop = UOpKind::Alu, .dtype = DType::Bool, .src = {tile, integer(a.size - 1)}, .op = Op::CmpLt, .exact = true});
    const UOp* last = integer(a.size * a.tile_size - a.overlap - a.tile_size);
    start = b_.add(
        UOp{.uop = UOpKind::Alu, .dtype = tile->dtype, .src = {is_before, start, last}, .op = Op::Where, .exact = true, .hint = letters});
  }
  index_.declare(start_of_tile(axis), start);
}

void Linearizer::close(const UOp* start) {
  check(!open_.empty() && open_.back() == start, "scopes nest");
  b_.end(start);
  open_.pop_back();
}

// The axes of each dimension of the grid, x first: one axis for x and one for y and the others for z, or the first other way to cut them
// that keeps to the limits.
std::vector<std::vector<int>> Linearizer::grid_axes(const std::vector<int>& axes, const std::array<std::int64_t, 3>& most) const {
  const int n = static_cast<int>(axes.size());
  if (n == 0) return {};
  const auto size = [&](int from, int to) {
    std::int64_t product = 1;
    for (int i = from; i < to; i++)
      product = saturating_mul(product, k_.axes()[static_cast<std::size_t>(axes[static_cast<std::size_t>(i)])].size.max());
    return product;
  };
  const auto part = [&](int from, int to) { return std::vector<int>(axes.begin() + from, axes.begin() + to); };
  for (int x = std::max(n - 1, 0); x >= 0; x--)
    for (int y = std::max(x - 1, 0); y >= 0; y--)
      if (size(x, n) <= most[0] && size(y, x) <= most[1] && size(0, y) <= most[2]) return {part(x, n), part(y, x), part(0, y)};
  return {part(n - 1, n), part(std::max(n - 2, 0), n - 1), part(0, std::max(n - 2, 0))};  // too many for any: the launch will say so
}

// Maps the axes of a kind to at most three dimensions of the grid, innermost first.
void Linearizer::bind_grid(AxisKind kind, const std::vector<int>& axes, std::vector<Sint>& sizes) {
  const std::string prefix = kind != AxisKind::Global ? "lid" : k_.no_locals() ? "id" : "gid";
  const auto size_of = [&](int axis) { return k_.axes()[static_cast<std::size_t>(axis)].size; };
  for (const std::vector<int>& together : grid_axes(axes, kind == AxisKind::Global ? options_.limits.groups : options_.limits.items)) {
    if (together.empty()) continue;
    const auto d = static_cast<std::int64_t>(sizes.size());
    Sint size = 1;
    for (int axis : together) size = size * size_of(axis);
    sizes.push_back(size);
    std::string name = axis_names_[static_cast<std::size_t>(together[0])], letters;
    for (int axis : together) letters += k_.dims()[static_cast<std::size_t>(k_.root_dim(axis))].letters;
    if (together.size() > 1) name = free_name(letters + (kind == AxisKind::Global ? "_group" : "_item"));
    const UOp* count = index_.integer(size);
    index_.declare(name,
                   b_.add(UOp{.uop = UOpKind::Special, .dtype = count->dtype, .src = {count}, .number = d, .name = prefix, .hint = name}));
    Sint rest = size.is_int(1) ? Sint(0) : symbols_->variable(name, 0, size - 1);
    for (auto it = together.rbegin(); it != together.rend(); it++) {
      const bool outermost = it + 1 == together.rend();
      axis_index_[static_cast<std::size_t>(*it)] = outermost ? rest : floormod(rest, size_of(*it));
      if (!outermost) rest = floordiv(rest, size_of(*it));
    }
  }
  while (sizes.size() < 3) sizes.push_back(1);
}

void Linearizer::open_grid() {
  bind_grid(AxisKind::Global, axes_of(AxisKind::Global), result_.global_size);
  result_.driver_groups = k_.no_locals();
  std::vector<int> local;
  for (const AxisKind kind : {AxisKind::Local, AxisKind::Group, AxisKind::Mid}) {
    const std::vector<int> some = axes_of(kind);
    local.insert(local.end(), some.begin(), some.end());
  }
  bind_grid(AxisKind::Local, local, result_.local_size);
}

}  // namespace etch
