// Linearizer: what is asked for before it is needed. Constants, one turn of a loop ahead (PREFETCH), and in kernels of several stages
// (normalisations) the next row: the first stage that reads it waits for memory otherwise, the others find it in the cache, and memory
// idles meanwhile.
//
//   for (n ...)                          the turns
//     for (y ...)                        reads all constants of a turn again
//       for (k ...) { a few lines of the next n; for (j ...) ... }
//
// Each line of the next turn is asked for once, the same number in each turn of the inner loops: a cache has few places for lines that are
// on their way, and a burst of them would keep the core waiting.
//
// And the lines that a tile stores into, before its sums (PREFETCHW): where lanes are stored far from each other, as channels are in
// planes, there are more stores than a core can hold back until their lines have come.
#include <algorithm>

#include "codegen/linearizer_state.h"
#include "shape/int_math.h"

namespace etch {
namespace {

constexpr std::int64_t kLineBytes = 64;

}  // namespace

// Elements between neighbours along the axis; nullopt where they are not evenly spaced.
std::optional<std::int64_t> Linearizer::distance(const KernelBuf& buf, std::size_t axis) const {
  const auto argument = static_cast<std::size_t>(buf.op->mem().index);
  if (argument < options_.layouts.size() && options_.layouts[argument]) return (*options_.layouts[argument])[axis];
  const auto stride = k_.stride(buf, static_cast<int>(axis));
  if (!stride || !stride->is_int() || (k_.axes()[axis].overlap > 0 && !stride->is_int(0))) return std::nullopt;
  return stride->as_int();
}

// Bytes of one turn of the loop, if they lie side by side, and those of the next turn behind them; else 0.
std::int64_t Linearizer::bytes_of_turn(const KernelBuf& buf, int turns) const {
  const auto apart = distance(buf, static_cast<std::size_t>(turns));
  if (!apart || *apart <= 0) return 0;
  std::int64_t last = 0;  // element of a turn
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& a = k_.axes()[i];
    if (a.stage != Axis::kOuter && a.stage != stage_) continue;
    const auto step = distance(buf, i);
    if (!step || *step < 0 || !a.size.is_int()) return 0;
    const bool is_outside = a.kind == AxisKind::Global && static_cast<int>(i) <= turns;
    if (!is_outside) last += *step * (a.size.as_int() - 1);
    if (const auto& rest = k_.lanes_rest(); rest && a.kind == AxisKind::Vector) last += *step * (rest->end - rest->first);
  }
  return last + 1 == *apart ? *apart * bytes_of(buf.op->dtype) : 0;
}

// The loops inside of that one, outermost first; none where one has an unknown number of turns.
std::vector<int> Linearizer::loops_inside(int turns) const {
  std::vector<int> loops;
  for (int axis : axes_of(AxisKind::Global))
    if (axis > turns) loops.push_back(axis);
  for (int axis : reduce_order(k_))
    if (const int stage = k_.axes()[static_cast<std::size_t>(axis)].stage; stage == Axis::kOuter || stage == stage_) loops.push_back(axis);
  const bool are_known = std::ranges::all_of(loops, [&](int axis) { return k_.axes()[static_cast<std::size_t>(axis)].size.is_int(); });
  return are_known ? loops : std::vector<int>();
}

// Of the innermost loop over whose turns lines are spread well, else of that with the least turns left over at the end.
std::optional<Linearizer::Ahead> Linearizer::share_of_turns(const KernelBuf& buf, int turns) const {
  constexpr std::int64_t kMostAtOnce = 16;
  constexpr double kWell = 0.8;
  const std::int64_t lines = bytes_of_turn(buf, turns) / kLineBytes;
  const std::vector<int> loops = loops_inside(turns);
  const auto outer = std::ranges::count_if(loops, [&](int l) { return k_.axes()[static_cast<std::size_t>(l)].kind == AxisKind::Global; });
  if (lines == 0 || loops.empty() || (outer == 0 && !k_.is_staged())) return std::nullopt;
  std::optional<Ahead> best;
  double most = 0;
  for (auto depth = std::ssize(loops); depth >= std::max<std::ptrdiff_t>(outer, 1) && most < kWell; depth--) {
    const std::vector<int> some(loops.begin(), loops.begin() + depth);
    const std::int64_t all = count(some), at_once = ceil_div(lines, all);
    const double spread = static_cast<double>(lines) / static_cast<double>(all * at_once);
    if (at_once <= kMostAtOnce && spread > most) best = Ahead{&buf, some, at_once, lines / at_once}, most = spread;
  }
  return best;
}

// Of the sums of this stage.
void Linearizer::find_ahead() {
  ahead_.clear();
  const int turns = k_.prefetched_axis();
  if (turns < 0 || (k_.is_staged() && stage_ != 1)) return;
  for (const LazyOp* reduce : k_.reduces_of(stage_))
    for (const LazyOp* op : toposort(reduce->src[0])) {
      if (op->op != Op::Load || is_indexed(op)) continue;
      if (!k_.is_staged() && !options_.arguments[static_cast<std::size_t>(op->mem().index)].is_constant) continue;
      const KernelBuf& buf = k_.buf_of(op);
      const bool is_found = std::ranges::any_of(ahead_, [&](const Ahead& a) { return a.buf == &buf; });
      if (const auto share = is_found ? std::nullopt : share_of_turns(buf, turns)) ahead_.push_back(*share);
    }
}

// Where the next turn of the loop begins to read (with PIPELINE the one after that), or, in the last one, the first does.
Linearizer::Place Linearizer::start_of_next(const KernelBuf& buf, int turns) {
  const std::vector<Sint> now = axis_index_;
  const Sint size = k_.axes()[static_cast<std::size_t>(turns)].size;
  const std::int64_t ahead = turns == pipelined_ ? 2 : 1;  // the first stage of the next turn reads what it needs
  const Sint next = floormod(now[static_cast<std::size_t>(turns)] + (k_.runs_backwards() ? size - ahead : Sint(ahead)), size);
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (k_.axes()[i].kind != AxisKind::Global || static_cast<int>(i) > turns) axis_index_[i] = 0;
  axis_index_[static_cast<std::size_t>(turns)] = next;
  Place start = place_of(buf);
  axis_index_ = now;
  return start;
}

// What the current turn of the loop over `axis`, which was just opened, asks for.
void Linearizer::fetch_shares(int axis) {
  for (const Ahead& ahead : ahead_) {
    if (ahead.loops.back() != axis) continue;
    const Place start = start_of_next(*ahead.buf, k_.prefetched_axis());
    if (!start.valid.is_int(1)) continue;
    Sint share = 0;
    for (const int loop : ahead.loops)
      share = share * k_.axes()[static_cast<std::size_t>(loop)].size + number_of_part(static_cast<std::size_t>(loop));
    share = floormod(share, ahead.shares);
    const std::int64_t line = kLineBytes / bytes_of(ahead.buf->op->dtype);
    for (std::int64_t l = 0; l < ahead.at_once; l++) {
      const Place place{start.idx + (share * ahead.at_once + l) * line};
      note_access(*ahead.buf, place, 1, false);
      b_.add(UOp{.uop = UOpKind::Prefetch,
                 .dtype = ahead.buf->op->dtype,
                 .src = {buffer(*ahead.buf), index_.integer(place.idx)},
                 .number = k_.is_staged() ? 1 : 2});
    }
  }
}

// Nullopt where elements are not evenly spaced.
std::optional<Linearizer::Pieces> Linearizer::pieces_of(const KernelBuf& store) const {
  std::vector<Pieces::Dim> steps;
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& a = k_.axes()[i];
    if (a.kind != AxisKind::Upcast && a.kind != AxisKind::Vector) continue;
    const auto step = distance(store, i);
    if (!step || *step <= 0 || !a.size.is_int() || k_.is_masked(store, static_cast<int>(i))) return std::nullopt;
    steps.push_back({*step, a.size.as_int()});
  }
  std::ranges::sort(steps, {}, &Pieces::Dim::step);
  Pieces pieces;
  for (const auto& [step, count] : steps) {
    if (pieces.dims.empty() && step == pieces.length)
      pieces.length *= count;
    else if (!pieces.dims.empty() && step == pieces.dims.front().step * pieces.dims.front().count)
      pieces.dims.front().count *= count;
    else
      pieces.dims.insert(pieces.dims.begin(), {step, count});
  }
  return pieces;
}

// Where no part of the tile lies in the padding of an axis (PADTO).
void Linearizer::fetch_stores() {
  const std::vector<Sint> now = axis_index_;
  for (const KernelBuf& store : k_.stores()) {
    const auto pieces = pieces_of(store);
    if (!pieces) continue;
    const auto corner = [&](bool is_last) {
      for (std::size_t i = 0; i < axis_index_.size(); i++)
        if (k_.axes()[i].kind != AxisKind::Global) axis_index_[i] = is_last ? k_.axes()[i].size - 1 : Sint(0);
      return place_of(store);
    };
    const Place last = corner(true), first = corner(false);
    axis_index_ = now;
    if (first.valid.is_int(1) && last.valid.is_int(1)) fetch_pieces(store, *pieces, 0, first.idx);
  }
}

// The last element of each piece, and one in each line before it. What lies before the first of these mostly has a line that the tile
// before has asked for; at the beginning of a row nothing has.
void Linearizer::fetch_pieces(const KernelBuf& store, const Pieces& pieces, std::size_t dim, Sint from) {
  if (dim < pieces.dims.size()) {
    const auto& [step, count] = pieces.dims[dim];
    const std::string name = free_name("piece");
    const UOp* loop = open_loop(name, count, 1, "");
    fetch_pieces(store, pieces, dim + 1, from + symbols_->variable(name, 0, count - 1) * step);
    return close(loop);
  }
  const std::int64_t line = kLineBytes / bytes_of(store.op->dtype);
  for (std::int64_t at = (pieces.length - 1) % line; at < pieces.length; at += line) {
    const Place place{from + at};
    note_access(store, place, 1, false);
    b_.add(UOp{.uop = UOpKind::Prefetch, .dtype = store.op->dtype, .src = {buffer(store), index_.integer(place.idx)}, .number = 1});
  }
}

}  // namespace etch
