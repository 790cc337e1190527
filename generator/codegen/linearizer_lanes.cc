// Linearizer: lanes of sums. Along a reduced axis each lane has a part of every sum; along another one each has a sum of its own.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

// With one sum each step of an unrolled loop waits for the one before.
bool Linearizer::may_sum_apart() const {
  if (!k_.reduces_lanes() || axes_of(AxisKind::Unroll).empty()) return false;
  const std::int64_t sums = count(copied_axes()) * static_cast<std::int64_t>(k_.reduces_of(stage_).size());
  return sums * count(axes_of(AxisKind::Unroll)) <= k_.options().float_registers / 2;
}

// Halves are added until one is left.
const UOp* Linearizer::total_of(const LazyOp* reduce, std::vector<const UOp*> parts) {
  while (parts.size() > 1) {
    const std::size_t half = (parts.size() + 1) / 2;
    for (std::size_t l = 0; l + half < parts.size(); l++) parts[l] = reduced_with(reduce, parts[l], parts[l + half]);
    parts.resize(half);
  }
  return parts[0];
}

// Lanes from `first` on, around the end, as a vector.
const UOp* Linearizer::rotated_lanes(const UOp* v, int first, int count) {
  UOp some{.uop = UOpKind::Vectorize, .dtype = v->dtype, .lanes = count};
  for (int l = 0; l < count; l++) some.src.push_back(lane(v, (first + l) % v->lanes));
  return b_.add(std::move(some));
}

// Compilers make vectors of sums of lanes, but branches of comparisons of one lane with another: halves of the vector are compared until
// four lanes are left, and these with each other until all have the largest.
const UOp* Linearizer::total_of_lanes(const LazyOp* reduce, const UOp* sum) {
  if (reduce->op != Op::ReduceMax && reduce->op != Op::ReduceMin) {
    std::vector<const UOp*> parts;
    for (int l = 0; l < sum->lanes; l++) parts.push_back(lane(sum, l));
    return total_of(reduce, std::move(parts));
  }
  sum = narrowed(reduce, sum, kFewestLanes);
  for (const int distance : {2, 1}) sum = reduced_with(reduce, sum, rotated_lanes(sum, distance, kFewestLanes));
  return lane(sum, 0);
}

// Halves of a vector reduced with each other until that many lanes are left.
const UOp* Linearizer::narrowed(const LazyOp* reduce, const UOp* sum, int lanes) {
  while (sum->lanes > lanes) {
    const int half = sum->lanes / 2;
    const UOp *lower = rotated_lanes(sum, 0, half), *upper = rotated_lanes(sum, half, half);
    sum = reduced_with(reduce, lower, upper);
  }
  return sum;
}

// Sums that were made apart become one, and the lanes of that, with those of what lanes leave over, one number, which all lanes have from
// then on. Behind the last reduction there are no lanes where nothing that is stored has the reduced dimension.
void Linearizer::add_lanes() {
  const std::vector<int> steps = sums_apart_ ? axes_of(AxisKind::Unroll) : std::vector<int>();
  std::vector<std::pair<const LazyOp*, const UOp*>> totals;  // of each reduction and copy, in order
  for (const LazyOp* op : k_.reduces_of(stage_))
    for_each(copied_axes(), [&] {
      std::vector<const UOp*> parts;
      for_each(steps, [&] { parts.push_back(accumulators_.at(accumulator_of(op))); });
      totals.emplace_back(op, total_of(op, std::move(parts)));
    });
  for (int axis : steps) axis_index_[static_cast<std::size_t>(axis)] = 0;
  sums_apart_ = false;
  auto total = totals.begin();
  for (const LazyOp* op : k_.reduces_of(stage_)) {
    std::erase_if(accumulators_, [&](const auto& a) { return a.first.first == number_.at(op); });
    for_each(copied_axes(), [&] { accumulators_[accumulator_of(op)] = (total++)->second; });
  }
  if (k_.lanes_rest()) add_rest();
  total_lanes();
  if (stage_ + 1 == k_.reduce_stages() && !k_.stores_reduced_dims()) lanes_ = 1;
}

void Linearizer::total_lanes() {
  for (const LazyOp* op : k_.reduces_of(stage_))
    for_each(copied_axes(), [&] {
      const UOp*& sum = accumulators_.at(accumulator_of(op));
      if (sum->lanes > 1) sum = total_of_lanes(op, sum);
    });
}

std::vector<int> Linearizer::without_rest(std::vector<int> axes) const {
  std::erase_if(axes, [&](int axis) { return k_.root_dim(axis) == k_.lanes_rest()->dim; });
  return axes;
}

// Vectors of half as many lanes and fewer, each at most once, and a loop over the last elements. Where a stage has loops over other axes
// too, one loop goes through all of it.
std::vector<Linearizer::RestPart> Linearizer::rest_parts(AxisKind kind) const {
  const LanesRest& rest = *k_.lanes_rest();
  std::vector<RestPart> parts;
  std::int64_t first = rest.first;
  const bool has_loops = !loops_beside_rest(kind).empty() || !without_rest(axes_of(AxisKind::Unroll)).empty();
  for (int lanes = k_.lanes() / 2; lanes >= kFewestLanes && !has_loops; lanes /= 2) {
    if (rest.end - first < lanes) continue;
    parts.push_back({lanes, first});
    first += lanes;
  }
  if (first < rest.end) parts.push_back({1, first});
  return parts;
}

std::vector<int> Linearizer::loops_beside_rest(AxisKind kind) const {
  std::vector<int> loops = without_rest(kind == AxisKind::Reduce ? reduce_order(k_) : axes_of(kind));
  std::erase_if(loops, [&](int axis) { return k_.axes()[static_cast<std::size_t>(axis)].stage != stage_; });
  return loops;
}

// Of the axes of its dimension that of the lanes alone tells where an element is.
void Linearizer::begin_part(const RestPart& part, AxisKind kind, const std::vector<const LazyOp*>& roots) {
  lanes_ = part.lanes;
  rest_first_ = part.first;
  if (kind == AxisKind::Reduce && lanes_ == 1) define_accumulators(Sums::Own);
  compute_outer_values(roots);  // these have no reduced dimension: where the axes stand does not matter
  make_variables(kind);
  for (std::size_t i = 0; i < axis_index_.size(); i++)
    if (k_.root_dim(static_cast<int>(i)) == k_.lanes_rest()->dim) axis_index_[i] = 0;
  axis_index_.back() = part.first;
}

void Linearizer::end_rest() {
  lanes_ = k_.lanes();
  rest_first_.reset();
  axis_index_.back() = 0;
}

void Linearizer::open_rest(AxisKind kind) {
  const LanesRest& rest = *k_.lanes_rest();
  for (int axis : loops_beside_rest(kind)) open_axis(axis);
  const std::string& letters = k_.dims()[static_cast<std::size_t>(rest.dim)].letters;
  const std::string name = free_name((letters.empty() ? "i" : letters) + "_rest");
  const UOp* end = index_.integer(rest.end);
  open_loop(name, b_.constant(Scalar::of_int(end->dtype, *rest_first_)), end, 1, letters);
  axis_index_.back() = symbols_->variable(name, *rest_first_, rest.end - 1);
}

// Goes on from what the lanes have summed.
void Linearizer::add_rest() {
  const std::vector<const LazyOp*> reduces = k_.reduces_of(stage_);
  std::vector<const LazyOp*> summed;
  for (const LazyOp* op : reduces) summed.push_back(op->src[0]);
  const std::size_t outside = open_.size();
  for (const RestPart& part : rest_parts(AxisKind::Reduce)) {
    if (part.lanes == 1) total_lanes();
    begin_part(part, AxisKind::Reduce, summed);
    if (lanes_ > 1) {
      add_rest_vector(reduces);
    } else {
      open_rest(AxisKind::Reduce);
      for_each(without_rest(axes_of(AxisKind::Unroll)), [&] { add_turn(reduces); });
    }
    end_turns(outside);
  }
  end_rest();
}

void Linearizer::add_rest_vector(const std::vector<const LazyOp*>& reduces) {
  for_each(axes_of(AxisKind::Upcast), [&] {
    if (kept_.op != nullptr && kept_.stage == stage_) store(k_.bufs()[0], value(kept_.op));
    for (const LazyOp* op : reduces) {
      const UOp*& sum = accumulators_.at(accumulator_of(op));
      const UOp *next = in_all_lanes(value(op->src[0])), *lanes = narrowed(op, sum, lanes_);
      sum = reduced_with(op, lanes, next);
    }
  });
}

void Linearizer::store_rest(const std::vector<const LazyOp*>& results, std::size_t outside) {
  end_turns(outside);
  for (const RestPart& part : rest_parts(AxisKind::Inner)) {
    begin_part(part, AxisKind::Inner, results);
    if (lanes_ == 1) open_rest(AxisKind::Inner);
    for_each(without_rest(copied_axes()), [&] { store_copy(results); });
    end_turns(outside);
  }
  end_rest();
}

// Of the sums that an instruction has made one by one, those along the Vector axis become one vector.
void Linearizer::gather_sums() {
  const LazyOp* sum = k_.reduces()[0];
  const std::size_t along = k_.axes().size() - 1;
  std::vector<int> copies = copied_axes();
  copies.pop_back();
  std::map<std::pair<int, std::int64_t>, const UOp*> vectors;
  for_each(copies, [&] {
    UOp vector{.uop = UOpKind::Vectorize, .dtype = sum->dtype, .lanes = k_.lanes()};
    for (lanes_ = 1; static_cast<int>(vector.src.size()) < k_.lanes();) {
      axis_index_[along] = static_cast<std::int64_t>(vector.src.size());
      vector.src.push_back(accumulators_.at(accumulator_of(sum)));
    }
    axis_index_[along] = 0;
    lanes_ = k_.lanes();
    vectors[accumulator_of(sum)] = b_.add(std::move(vector));
  });
  accumulators_ = std::move(vectors);
  lanes_ = k_.lanes();
}

bool Linearizer::stores_vectors() const {
  return std::ranges::all_of(k_.stores(),
                             [&](const KernelBuf& b) { return is_step(k_.stride(b, static_cast<int>(k_.axes().size()) - 1), 1); });
}

// If the lanes are not adjacent in every output, or are integers, and can't be stored as columns, the sums are stored in an array on the
// stack, and the operations after the reduction are done element by element.
void Linearizer::tile() {
  columns_ = -1;
  if (stores_vectors() && (!k_.tensor() || k_.options().integer_vectors)) return;
  columns_ = axis_of_columns();
  if (columns_ >= 0) return;
  const std::vector<int> upcast = axes_of(AxisKind::Upcast);
  for (const LazyOp* op : k_.reduces()) {
    const UOp* array = b_.add(UOp{.uop = UOpKind::DefineLocal,
                                  .dtype = op->dtype,
                                  .number = static_cast<std::int64_t>(tile_.size()),
                                  .size = count(upcast) * lanes_,
                                  .name = "tile"});
    for_each(upcast, [&] {
      const UOp* sum = accumulators_.at(accumulator_of(op));
      const UOp* at = index_.integer(position(upcast) * lanes_);
      b_.add(UOp{.uop = UOpKind::Store, .dtype = op->dtype, .lanes = lanes_, .src = {array, at, sum}});
    });
    tile_[op] = array;
  }
  const int lane = static_cast<int>(k_.axes().size()) - 1;
  make_variable(lane);
  open_axis(lane);
  lanes_ = 1;
}

}  // namespace etch
