// Linearizer: windows that are reduced as a whole (pooling). Of windows side by side most elements of a row are in several, so a row is not
// reduced window by window: each element of it has an accumulator, in which the rows meet, and behind the loops over them each window
// reduces the accumulators that it has. Of 3 x 3 elements 3 + 2 operations for each window are left, not 9. Where lanes are along the rows,
// accumulators are vectors of elements side by side, of which lanes are taken behind the loops alone:
//
//   for (i = 0; i < 3; i++) { below_x0 = max(below_x0, in[at .. at + 7]); below_x8 = max(below_x8, in[at + 8 .. at + 15]); ... }
//   acc_x0 = max({below_x0[0], below_x0[2], ..., below_x8[6]}, {below_x0[1], below_x0[3], ..., below_x8[7]});
#include <algorithm>

#include "codegen/linearizer_state.h"

namespace etch {
namespace {

constexpr int kMostSources = 3;  // vectors that the lanes of one are taken from
constexpr std::int64_t kMostLanes = 4096;
constexpr double kMostWork = 0.9;  // of the operations that windows of their own take

}  // namespace

const LazyOp* Linearizer::pooled() const {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  if (reduces.size() != 1 || is_scan(reduces[0]) || starts_.contains(reduces[0]) || kept_.op != nullptr) return nullptr;
  if (k_.is_staged() || k_.tensor() || k_.reduces_lanes() || k_.sums_are_lanes() || k_.lanes_rest() || options_.grid) return nullptr;
  if (axes_of(AxisKind::Unroll).size() != 1 || k_.count(AxisKind::Group) > 0) return nullptr;
  return pooled_load(reduces[0]);
}

// Where the current copy and step of the window read; nothing if it is not known that nothing else than the elements counts.
std::optional<Linearizer::Place> Linearizer::place_in_window(const LazyOp* load) const {
  const LazyOp* reduce = k_.reduces_of(stage_)[0];
  Place place = place_of(k_.buf_of(load));
  if (reduce->src[0] == load) return reduce->op == Op::ReduceSum || place.valid.is_int(1) ? std::optional(place) : std::nullopt;
  const LazyOp* choice = reduce->src[0];
  if (!(place_of(k_.buf_of(choice->src[0])).valid == place.valid) || choice->src[0]->constant().value.as_int() != 1) return std::nullopt;
  return place_of(k_.buf_of(choice->src[2])).valid.is_int(1) ? std::optional(place) : std::nullopt;
}

// Calls f for each copy, step of the window and lane, with its place, until f is false; whether it never was.
bool Linearizer::all_in_windows(const LazyOp* load, const std::function<bool(const Place&)>& f) {
  const auto lane_axis = k_.axes().size() - 1;
  bool all = true;
  for_each(axes_of(AxisKind::Upcast), [&] {
    for_each(axes_of(AxisKind::Unroll), [&] {
      for (int l = 0; l < lanes_ && all; l++) {
        if (lanes_ > 1) axis_index_[lane_axis] = l;
        const std::optional<Place> place = place_in_window(load);
        all = place && f(*place);
      }
    });
  });
  for (const AxisKind kind : {AxisKind::Upcast, AxisKind::Unroll, AxisKind::Vector})
    for (const int axis : axes_of(kind)) axis_index_[static_cast<std::size_t>(axis)] = 0;
  return all;
}

// Vectors that have all elements of the windows. They begin where lines of a cache may begin, if that is known, and end with the last
// element: between two elements that are read there are elements of the buffer alone.
std::vector<std::int64_t> Linearizer::starts_of_vectors(const Place& base, const std::set<std::int64_t>& offsets) const {
  std::vector<std::int64_t> starts;
  for (const std::int64_t offset : offsets) {
    if (!starts.empty() && offset < starts.back() + lanes_) continue;
    const Sint behind = floormod(base.idx + offset, lanes_);
    const std::int64_t aligned = offset - (behind.is_int() ? behind.as_int() : 0);
    const std::int64_t first = aligned < *offsets.begin() ? offset : aligned;
    starts.push_back(std::max(*offsets.begin(), std::min(first, *offsets.rbegin() + 1 - lanes_)));
  }
  return starts;
}

std::optional<Linearizer::Window> Linearizer::window_of_vectors(const LazyOp* load) {
  if (lanes_ == 1 || load->dtype != DType::Float32) return std::nullopt;
  Window window{.load = load, .lanes = lanes_};
  std::optional<Place> base;
  std::vector<std::optional<std::int64_t>> offsets;
  std::set<std::int64_t> read;
  const bool are_beside_each_other = all_in_windows(load, [&](const Place& p) {
    offsets.emplace_back();
    if (std::ssize(offsets) > kMostLanes) return false;
    if (p.valid.is_int(0)) return true;
    if (!base) base = p;
    const Sint offset = p.idx - base->idx;
    if (!(p.valid == base->valid) || !offset.is_int()) return false;
    const bool follows = offsets.size() % static_cast<std::size_t>(lanes_) != 1 && offsets[offsets.size() - 2];
    window.is_strided = window.is_strided || (follows && offset.as_int() != *offsets[offsets.size() - 2] + 1);
    offsets.back() = offset.as_int();
    read.insert(offset.as_int());
    return true;
  });
  if (!are_beside_each_other || !base || *read.rbegin() - *read.begin() + 1 < lanes_) return std::nullopt;
  const std::vector<std::int64_t> starts = starts_of_vectors(*base, read);
  const std::string& letters = k_.dims()[static_cast<std::size_t>(k_.root_dim(static_cast<int>(k_.axes().size()) - 1))].letters;
  for (const std::int64_t start : starts) {
    const std::int64_t at = start - *read.begin();
    window.parts.push_back({.place = {base->idx + start, base->valid}, .copy = "_" + letters + std::to_string(at)});
  }
  for (const std::optional<std::int64_t>& offset : offsets) {
    window.elements.emplace_back();
    if (!offset) continue;
    const auto part = std::ranges::upper_bound(starts, *offset) - starts.begin() - 1;
    window.elements.back() = {static_cast<int>(part), static_cast<int>(*offset - starts[static_cast<std::size_t>(part)])};
  }
  return window;
}

// One element, or the lanes of one copy, in each accumulator.
std::optional<Linearizer::Window> Linearizer::window_of_elements(const LazyOp* load) {
  std::vector<std::vector<Place>> places;
  std::vector<std::string> copies;
  const bool is_known = all_in_windows(load, [&](const Place& p) {
    if (places.empty() || std::ssize(places.back()) == lanes_) {
      places.emplace_back();
      copies.push_back(copy_of(load));
    }
    places.back().push_back(p);
    return std::ssize(places) * lanes_ <= kMostLanes;
  });
  if (!is_known) return std::nullopt;
  Window window{.load = load, .lanes = 1};
  std::vector<std::vector<Place>> parts;
  for (const std::vector<Place>& lanes : places) {
    window.elements.emplace_back();
    if (std::ranges::all_of(lanes, [](const Place& p) { return p.valid.is_int(0); })) continue;
    const auto is_same = [&](const std::vector<Place>& other) {
      return std::ranges::equal(lanes, other, [](const Place& a, const Place& b) { return a.idx == b.idx && a.valid == b.valid; });
    };
    const auto part = std::ranges::find_if(parts, is_same) - parts.begin();
    window.elements.back().part = static_cast<int>(part);
    if (part < std::ssize(parts)) continue;
    if (part == most_parts()) return std::nullopt;
    parts.push_back(lanes);
    window.parts.push_back({.step = std::ssize(window.elements) - 1, .copy = copies[window.elements.size() - 1]});
  }
  return window;
}

// Accumulators that there are registers for.
std::int64_t Linearizer::most_parts() const {
  const CodegenOptions& options = k_.options();
  return (is_float(k_.reduces()[0]->dtype) ? options.float_registers : options.integer_registers) - 2;
}

// Whether the accumulators have registers, and less is left to do than with one for each window.
bool Linearizer::is_worth_it(const Window& window) const {
  const auto parts = std::ssize(window.parts);
  if (parts > most_parts() || parts == 0) return false;
  const std::int64_t rows = count(axes_of(AxisKind::Reduce)), steps = std::ssize(window.elements) / window.lanes;
  const std::int64_t windows = steps / count(axes_of(AxisKind::Unroll));
  for (std::int64_t s = 0; s < steps; s++) {
    std::set<int> sources;
    for (int l = 0; l < window.lanes; l++) sources.insert(window.elements[static_cast<std::size_t>(s * window.lanes + l)].part);
    sources.erase(kOutside);
    if (std::ssize(sources) > kMostSources) return false;
  }
  const bool has_vectors = lanes_ > 1;                     // else a row's elements are loaded once in any case
  const std::int64_t of_step = window.is_strided ? 3 : 2;  // loads, lanes of them, reduces
  const std::int64_t own = rows * (has_vectors ? steps * of_step : parts + steps);
  const std::int64_t shared = rows * parts * 2 + steps * (window.lanes > 1 ? 2 : 1) - windows;
  return rows > 1 && static_cast<double>(shared) < kMostWork * static_cast<double>(own);
}

void Linearizer::find_window() {
  window_.reset();
  const LazyOp* load = pooled();
  const std::vector<int> rows = axes_of(AxisKind::Reduce);
  const auto is_open = [&](int axis) { return !k_.axes()[static_cast<std::size_t>(axis)].size.is_int(); };
  if (load == nullptr || std::ranges::any_of(rows, is_open)) return;
  make_variables(AxisKind::Reduce);
  window_ = window_of_vectors(load);
  if (!window_ || !is_worth_it(*window_)) window_ = window_of_elements(load);
  if (window_ && !is_worth_it(*window_)) window_.reset();
}

void Linearizer::define_window() {
  constexpr std::int64_t kInLine = 4;
  const LazyOp* reduce = k_.reduces_of(stage_)[0];
  for (Window::Part& part : window_->parts) {
    UOp acc{.uop = UOpKind::DefineAcc, .dtype = reduce->dtype, .lanes = lanes_, .number = defined_++};
    acc.value = start_of(reduce->op, reduce->dtype);
    acc.name = "below";
    acc.hint = part.copy;
    acc.size = (&part - window_->parts.data()) / kInLine;
    part.sum = b_.add(std::move(acc));
  }
}

// One more row.
void Linearizer::add_row() {
  const LazyOp* reduce = k_.reduces_of(stage_)[0];
  const KernelBuf& buf = k_.buf_of(window_->load);
  const UOp* nothing = b_.constant(start_of(reduce->op, reduce->dtype));
  std::int64_t step = 0;
  if (window_->lanes > 1) {
    for (Window::Part& part : window_->parts) {
      b_.set_copy(part.copy);
      accumulate(reduce, part.sum, load(buf, part.place, lanes_, in_all_lanes(nothing)));
      b_.set_copy("");
    }
    return;
  }
  auto part = window_->parts.begin();
  for_each(axes_of(AxisKind::Upcast), [&] {
    for_each(axes_of(AxisKind::Unroll), [&] {
      if (part != window_->parts.end() && part->step == step++) accumulate(reduce, (part++)->sum, value(reduce->src[0]));
    });
  });
}

// The accumulators as step number `step` of all steps of all windows has them; null if it is outside of the image.
const UOp* Linearizer::taken_from_row(std::int64_t step) {
  const LazyOp* reduce = k_.reduces_of(stage_)[0];
  const auto first = window_->elements.begin() + step * window_->lanes;
  const std::span<const Window::Element> elements(first, static_cast<std::size_t>(window_->lanes));
  if (std::ranges::all_of(elements, [](const Window::Element& e) { return e.part == kOutside; })) return nullptr;
  const auto sum_of = [&](const Window::Element& e) { return window_->parts[static_cast<std::size_t>(e.part)].sum; };
  if (window_->lanes == 1) return sum_of(elements[0]);
  UOp vector{.uop = UOpKind::Vectorize, .dtype = reduce->dtype, .lanes = lanes_};
  bool is_whole = true;
  for (const Window::Element& e : elements) {
    is_whole = is_whole && e.part == elements[0].part && e.lane == &e - elements.data();
    vector.src.push_back(e.part == kOutside ? b_.constant(start_of(reduce->op, reduce->dtype)) : lane(sum_of(e), e.lane));
  }
  return is_whole ? sum_of(elements[0]) : b_.add(std::move(vector));
}

// What each window has of the accumulators.
void Linearizer::reduce_windows() {
  const LazyOp* reduce = k_.reduces_of(stage_)[0];
  std::int64_t step = 0;
  for_each(axes_of(AxisKind::Upcast), [&] {
    b_.set_copy(copy_of(reduce));
    const UOp* sum = nullptr;
    for (std::int64_t n = 0; n < count(axes_of(AxisKind::Unroll)); n++)
      if (const UOp* next = taken_from_row(step++)) sum = sum == nullptr ? next : reduced_with(reduce, sum, next);
    if (sum == nullptr) sum = b_.constant(start_of(reduce->op, reduce->dtype));
    accumulators_[accumulator_of(reduce)] = lanes_ > 1 ? in_all_lanes(sum) : sum;
    b_.set_copy("");
  });
  window_.reset();
}

}  // namespace etch
