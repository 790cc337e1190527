// Linearizer: loads, constants, positions and stores.
#include <algorithm>
#include <iterator>
#include <ranges>

#include "base/error.h"
#include "codegen/linearizer_state.h"
#include "shape/int_math.h"

namespace etch {
namespace {

bool is_memory(const LazyOp* op) { return op->op == Op::Load || op->op == Op::Store; }

}  // namespace

// The index of every dimension, from those of the axes; a padded axis is a dimension that is part of another.
std::vector<Sint> Linearizer::dim_indices() const {
  const auto& dims = k_.dims();
  std::vector<Sint> idx(dims.size(), 0);
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& a = k_.axes()[i];
    const Sint start = a.overlap > 0 && a.kind == AxisKind::Upcast ? Sint(a.start_of(axis_index_[i].as_int())) : axis_index_[i];
    idx[static_cast<std::size_t>(a.dim)] += start * (a.overlap > 0 ? a.multiplier / a.tile_size : a.multiplier);
  }
  for (std::size_t d = dims.size(); d-- > 0;)
    if (dims[d].parent >= 0) idx[static_cast<std::size_t>(dims[d].parent)] += idx[d] * dims[d].multiplier;
  return idx;
}

// Of an axis whose tiles overlap the number of the tile, not where it begins: laid out anew each has elements of its own.
Sint Linearizer::number_of_part(std::size_t axis) const {
  const Axis& a = k_.axes()[axis];
  const Sint& index = axis_index_[axis];
  if (a.overlap == 0 || a.kind == AxisKind::Upcast) return index;
  return index.is_int() ? Sint(ceil_div(index.as_int(), a.tile_size)) : symbols_->variable(axis_names_[axis], 0, a.size - 1);
}

Linearizer::Place Linearizer::place_of(const KernelBuf& buf, std::optional<Sint> index) const {
  std::vector<Sint> idx = dim_indices();
  std::vector<Sint> valid;
  const auto& dims = k_.dims();
  for (std::size_t d = static_cast<std::size_t>(k_.ast_dims()); d < dims.size(); d++) {
    int root = static_cast<int>(d);
    while (dims[static_cast<std::size_t>(root)].parent >= 0) root = dims[static_cast<std::size_t>(root)].parent;
    const auto& stride = buf.strides[static_cast<std::size_t>(root)];
    if (!stride || !stride->is_int(0)) valid.push_back(lt(idx[d], dims[d].valid));
  }
  idx.resize(static_cast<std::size_t>(k_.ast_dims()));
  // A buffer that is read after the reduction has size 1 where others have the reduced dimension.
  for (std::size_t d = 0; d < idx.size(); d++)
    if (buf.st.shape()[d].is_int(1)) idx[d] = 0;
  if (index) idx.push_back(*index);
  const std::size_t argument = is_memory(buf.op) ? static_cast<std::size_t>(buf.op->mem().index) : options_.layouts.size();
  Place place;
  if (argument < options_.layouts.size() && options_.layouts[argument]) {
    for (std::size_t i = 0; i < k_.axes().size(); i++) place.idx += number_of_part(i) * (*options_.layouts[argument])[i];
  } else {
    const ShapeTracker::Index at = buf.st.expr_idxs(idx);
    place.idx = at.idx;
    valid.push_back(at.valid);
  }
  place.valid = ands(valid);
  if (!place.valid.is_int()) place.idx = simplify_under(place.idx, place.valid);
  return place;
}

// One place if all lanes have the same one; else one for each lane.
const std::vector<Linearizer::Place>& Linearizer::lanes_of(const KernelBuf& buf) {
  const auto [found, is_new] = places_.try_emplace({number_.at(buf.op), key_of(relevant_axes(buf.op))});
  std::vector<Place>& places = found->second;
  if (!is_new) return places;
  if (lanes_ == 1 || (relevant_axes(buf.op) >> (k_.axes().size() - 1) & 1) == 0) {
    places.push_back(place_of(buf));
    return places;
  }
  const std::int64_t first = rest_first_.value_or(0);
  for (int l = 0; l < lanes_; l++) {
    axis_index_.back() = first + l;
    places.push_back(place_of(buf));
  }
  axis_index_.back() = first;
  return places;
}

// The conditions of a conjunction.
std::vector<Sint> terms_of(Sint valid) {
  if (valid.is_int()) return {};
  return valid.node()->kind == NodeKind::And ? valid.node()->src : std::vector<Sint>{valid};
}

bool Linearizer::is_vector(const std::vector<Place>& places) {
  for (std::size_t l = 1; l < places.size(); l++)
    if (!(places[l].idx == places[0].idx + static_cast<std::int64_t>(l)) || !(places[l].valid == places[0].valid)) return false;
  return true;
}

bool Linearizer::has_vectors(DType dtype) const {
  const bool is_integer = is_int(dtype) && bytes_of(dtype) <= 4 && dtype != DType::UInt32;
  return dtype == DType::Float32 || (k_.options().integer_vectors && is_integer);
}

const UOp* Linearizer::buffer(const KernelBuf& buf) { return buffers_.at(buf.op->mem().index); }

const UOp* Linearizer::where_valid(Sint valid, const UOp* value) {
  if (valid.is_int(1)) return value;
  const UOp* zero = b_.constant(Scalar::of_int(value->dtype, 0));
  if (valid.is_int(0)) return zero;
  return b_.alu(Op::Where, value->dtype, {index_.condition(valid), value, zero});
}

void Linearizer::note_access(const KernelBuf& buf, const Place& place, int lanes, bool is_store) {
  MemoryAccess access{&buf, place.idx, place.valid, lanes, is_store, is_next_turn_, {}};
  for (const UOp* scope : open_)
    if (const auto loop = loop_number_.find(scope); loop != loop_number_.end()) access.loops.push_back(loop->second);
  result_.accesses.push_back(std::move(access));
}

const UOp* Linearizer::load(const KernelBuf& buf, const Place& place, int lanes, const UOp* other) {
  const DType dtype = buf.op->dtype;
  if (other == nullptr) other = b_.constant(Scalar::of_int(dtype, 0));
  if (place.valid.is_int(0)) return other;
  note_access(buf, place, lanes, false);
  UOp u{.uop = UOpKind::Load, .dtype = dtype, .lanes = lanes, .src = {buffer(buf), index_.integer(place.idx)}};
  std::vector<Sint> tests = terms_of(place.valid);
  std::erase_if(tests, [&](Sint t) { return std::ranges::find(guards_, t) != guards_.end(); });
  if (!tests.empty()) {
    u.src.push_back(index_.condition(ands(tests)));
    u.src.push_back(other);
  }
  return b_.add(std::move(u));
}

const UOp* Linearizer::leaf_value(const KernelBuf& buf, const Place& place, int lanes) {
  if (is_memory(buf.op)) return load(buf, place, lanes);
  if (buf.op->op == Op::Const) return where_valid(place.valid, b_.constant(buf.op->constant().value));
  if (place.valid.is_int(0)) return b_.constant(Scalar::of_int(buf.op->dtype, 0));
  return where_valid(place.valid, b_.cast(index_.integer(place.idx), buf.op->dtype));
}

const UOp* Linearizer::leaf(const LazyOp* op) {
  const KernelBuf& buf = k_.buf_of(op);
  if (is_indexed(op)) return indexed_load(buf);
  return load_all(buf, lanes_of(buf));
}

// Lanes that are every second element, as of rows that are pooled: of two vectors, of which one begins with the first lane that is inside
// and one ends with the last. Null if they are not, or so few are inside that a vector reads others.
const UOp* Linearizer::load_every_second(const KernelBuf& buf, const std::vector<Place>& places) {
  const auto is_inside = [](const Place& p) { return !p.valid.is_int(0); };
  const int begin = static_cast<int>(std::ranges::find_if(places, is_inside) - places.begin());
  const int last = lanes_ - 1 - static_cast<int>(std::ranges::find_if(places | std::views::reverse, is_inside) - places.rbegin());
  const int end_of_first = lanes_ - 1, end = 2 * (last - begin);  // elements behind the first one
  if (end < end_of_first) return nullptr;
  const Place& from = places[static_cast<std::size_t>(begin)];
  for (int l = begin; l <= last; l++)
    if (const Place& p = places[static_cast<std::size_t>(l)]; !(p.idx == from.idx + 2 * (l - begin)) || !(p.valid == from.valid))
      return nullptr;
  const UOp *first = load(buf, from, lanes_), *second = load(buf, {from.idx + (end - end_of_first), from.valid}, lanes_);
  UOp vector{.uop = UOpKind::Vectorize, .dtype = buf.op->dtype, .lanes = lanes_};
  for (int l = 0; l < lanes_; l++) {
    const int at = 2 * (l - begin);
    if (l < begin || l > last)
      vector.src.push_back(leaf_value(buf, places[static_cast<std::size_t>(l)], 1));
    else
      vector.src.push_back(at <= end_of_first ? lane(first, at) : lane(second, at - (end - end_of_first)));
  }
  return b_.add(std::move(vector));
}

// Lanes of which some at the ends may be outside, as at the borders of rows: of a vector that begins or ends with the lanes that are inside
// together and has other elements of the buffer for those at the ends; or of two halves. Null where fewer than half of the lanes are
// inside, these are not adjacent, or neither such a vector is inside of the buffer nor halves are vectors.
const UOp* Linearizer::load_between_ends(const KernelBuf& buf, const std::vector<Place>& places) {
  const Sint& valid = places[static_cast<std::size_t>(lanes_ / 2)].valid;
  const auto is_inside = [&](const Place& p) { return p.valid == valid; };
  const int begin = static_cast<int>(std::ranges::find_if(places, is_inside) - places.begin());
  const int end = static_cast<int>(std::ranges::find_if(places | std::views::reverse, is_inside).base() - places.begin());
  if (valid.is_int(0) || end - begin < lanes_ / 2) return nullptr;
  const Sint first_idx = places[static_cast<std::size_t>(begin)].idx;
  for (int l = begin; l < end; l++)
    if (const Place& p = places[static_cast<std::size_t>(l)]; !(p.idx == first_idx + (l - begin)) || !is_inside(p)) return nullptr;
  const auto loaded = [&](int from, int count) { return load(buf, {first_idx + (from - begin), valid}, count); };
  const Sint elements = options_.arguments[static_cast<std::size_t>(buf.op->mem().index)].elements;
  std::vector<const UOp*> inside;
  for (const int from : {begin, end - lanes_}) {
    if (!inside.empty() || !is_inside_buffer(first_idx + (from - begin), valid, lanes_, elements)) continue;
    const UOp* whole = loaded(from, lanes_);
    for (int l = begin; l < end; l++) inside.push_back(lane(whole, l - from));
  }
  if (const int half = lanes_ / 2; inside.empty() && half >= kFewestLanes) {
    const UOp *first = loaded(begin, half), *second = loaded(end - half, half);
    for (int l = begin; l < end; l++) inside.push_back(l < begin + half ? lane(first, l - begin) : lane(second, l - (end - half)));
  }
  return inside.empty() ? nullptr : between_ends(buf, places, begin, inside);
}

// The vector of these lanes, from `begin` on, and what is beside them: compilers make a permutation of the former, and a choice of what
// only some tiles have at the ends.
const UOp* Linearizer::between_ends(const KernelBuf& buf, const std::vector<Place>& places, int begin,
                                    const std::vector<const UOp*>& inside) {
  UOp vector{.uop = UOpKind::Vectorize, .dtype = buf.op->dtype, .lanes = lanes_};
  UOp mask = vector, ends = vector;
  mask.dtype = DType::Bool;
  const UOp* zero = b_.constant(Scalar::of_int(buf.op->dtype, 0));
  const auto last = static_cast<int>(std::ssize(inside)) - 1;
  for (int l = 0; l < lanes_; l++) {
    const Place& place = places[static_cast<std::size_t>(l)];
    const bool is_end = l < begin || l > begin + last, is_read = is_end && !place.valid.is_int(0);
    vector.src.push_back(is_end && !is_read ? zero : inside[static_cast<std::size_t>(std::clamp(l - begin, 0, last))]);
    mask.src.push_back(b_.constant(Scalar::of_int(DType::Bool, is_read ? 1 : 0)));
    ends.src.push_back(is_read ? leaf_value(buf, place, 1) : zero);
  }
  const UOp* between = b_.add(std::move(vector));
  std::vector<const UOp*> read;
  std::ranges::copy_if(ends.src, std::back_inserter(read), [&](const UOp* u) { return u != zero; });
  if (read.empty()) return between;
  const UOp* beside = read.size() == 1 ? read[0] : b_.add(std::move(ends));
  return elementwise(Op::Where, buf.op->dtype, {b_.add(std::move(mask)), beside, between});
}

// One value for all lanes, or one for each.
const UOp* Linearizer::load_all(const KernelBuf& buf, const std::vector<Place>& places) {
  const LazyOp* op = buf.op;
  if (places.size() == 1) return leaf_value(buf, places[0], 1);
  if (is_memory(op) && has_vectors(op->dtype)) {
    if (is_vector(places) && !places[0].valid.is_int(0)) return load(buf, places[0], lanes_);
    const bool is_float32 = op->dtype == DType::Float32;
    if (const UOp* vector = is_float32 ? load_every_second(buf, places) : nullptr) return vector;
    if (const UOp* vector = is_float32 && !is_indexed(op) ? load_between_ends(buf, places) : nullptr) return vector;
  }
  UOp vector{.uop = UOpKind::Vectorize, .dtype = op->dtype, .lanes = lanes_};
  for (const Place& p : places) vector.src.push_back(leaf_value(buf, p, 1));
  if (std::ranges::all_of(vector.src, [&](const UOp* u) { return u == vector.src[0]; })) return vector.src[0];
  return b_.add(std::move(vector));
}

void Linearizer::store_one(const KernelBuf& buf, const Place& place, const UOp* value, int lanes) {
  if (place.valid.is_int(0)) return;
  note_access(buf, place, lanes, true);
  UOp u{.uop = UOpKind::Store, .dtype = buf.op->dtype, .lanes = lanes, .src = {buffer(buf), index_.integer(place.idx), value}};
  if (!place.valid.is_int(1)) u.src.push_back(index_.condition(place.valid));
  b_.add(std::move(u));
}

// Where tiles overlap and an output may lie over an input, what the last tile computes again is not stored again, as it was read from what
// the tile before has written. is_new: the condition under which the current element is stored.
bool Linearizer::repeats_in_place() const {
  return std::ranges::any_of(k_.axes(), [](const Axis& a) { return a.overlap > 0; }) && k_.may_be_in_place();
}

Sint Linearizer::is_new() const {
  std::vector<Sint> terms;
  for (std::size_t i = 0; i < k_.axes().size(); i++) {
    const Axis& tiles = k_.axes()[i];
    if (tiles.overlap == 0) continue;
    const std::int64_t unit = tiles.multiplier / tiles.tile_size;
    Sint in_tile = 0;
    for (std::size_t p = 0; p < k_.axes().size(); p++)
      if (const Axis& part = k_.axes()[p]; part.dim == tiles.dim && part.multiplier >= unit && part.multiplier < tiles.multiplier)
        in_tile += axis_index_[p] * (part.multiplier / unit);
    const Sint before_last = tiles.size - 1 - number_of_part(i);  // 0 in the last tile
    if (in_tile.is_int() && in_tile.as_int() < tiles.overlap)
      terms.push_back(lt(number_of_part(i), tiles.size - 1));
    else
      terms.push_back(lt(tiles.overlap - 1, in_tile + before_last * tiles.overlap));
  }
  return ands(terms);
}

// Of a vector that is stored as a whole in all tiles but the last, which stores some of the lanes alone: as vectors that are as wide as can
// be.
void Linearizer::store_in_parts(const KernelBuf& buf, const std::vector<Place>& places, const std::vector<Sint>& is_new, const UOp* value) {
  const UOp* vector = in_all_lanes(value);
  store_one(buf, {places[0].idx, ands({places[0].valid, is_new.front()})}, vector, lanes_);
  if (is_new.front() == is_new.back()) return;
  const Axis& lanes = k_.axes().back();
  const auto tiles = std::ranges::find_if(k_.axes(), [&](const Axis& a) { return a.overlap > 0 && a.dim == lanes.dim; });
  const Sint is_last = lt(tiles->size - 2, number_of_part(static_cast<std::size_t>(tiles - k_.axes().begin())));
  int first = static_cast<int>(std::ranges::find(is_new, is_new.back()) - is_new.begin());
  while (first < lanes_) {
    int count = lanes_ / 2;
    while (count > 1 && (first % count != 0 || count < kFewestLanes)) count /= 2;
    const Place& place = places[static_cast<std::size_t>(first)];
    store_one(buf, {place.idx, ands({place.valid, is_new.back(), is_last})},
              count == 1 ? lane(vector, first) : rotated_lanes(vector, first, count), count);
    first += count;
  }
}

void Linearizer::store(const KernelBuf& buf, const UOp* value) {
  std::vector<Place> places = lanes_of(buf);
  const bool has_lanes = places.size() > 1, are_adjacent = has_lanes && has_vectors(buf.op->dtype) && is_vector(places);
  std::vector<Sint> conditions(places.size(), 1);
  for (std::size_t l = 0; l < places.size() && repeats_in_place(); l++) {
    if (has_lanes) axis_index_.back() = static_cast<std::int64_t>(l) + rest_first_.value_or(0);
    conditions[l] = is_new();
  }
  if (has_lanes) axis_index_.back() = rest_first_.value_or(0);
  if (are_adjacent) return store_in_parts(buf, places, conditions, value);
  for (std::size_t l = 0; l < places.size(); l++) {
    places[l].valid = ands({places[l].valid, conditions[l]});
    store_one(buf, places[l], has_lanes ? lane(value, static_cast<int>(l)) : value, 1);
  }
}

}  // namespace etch
