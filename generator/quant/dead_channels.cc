#include "quant/dead_channels.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "base/toposort.h"
#include "lazy/tensor.h"
#include "quant/collapse.h"
#include "quant/live_indices.h"
#include "shape/axis_links.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using Kept = std::vector<std::vector<bool>>;  // per axis, per index

bool is_all(const std::vector<bool>& kept) { return std::ranges::find(kept, false) == kept.end(); }
bool is_none(const std::vector<bool>& kept) { return std::ranges::find(kept, true) == kept.end(); }

std::int64_t count(const std::vector<bool>& kept) { return std::ranges::count(kept, true); }

/// `shape`, where each axis that loses indices has those that are left.
std::vector<Sint> kept_shape(const std::vector<Sint>& shape, const Kept& kept) {
  std::vector<Sint> result = shape;
  for (std::size_t axis = 0; axis < shape.size(); axis++)
    if (!is_all(kept[axis])) result[axis] = count(kept[axis]);
  return result;
}

/// Whether an index that is kept shows an element, not padding.
bool shows_any(const AxisLink& link, const std::vector<bool>& kept) {
  for (std::size_t i = 0; i < kept.size(); i++)
    if (kept[i] && link.from[i] >= 0) return true;
  return false;
}

/// Whether indices that show the same are kept together.
bool keeps_together(const AxisLink& link, const std::vector<bool>& kept) {
  std::unordered_map<std::int64_t, bool> is_kept;
  for (std::size_t i = 0; i < kept.size(); i++)
    if (is_kept.try_emplace(link.from[i], kept[i]).first->second != kept[i]) return false;
  return true;
}

/// The indices of link.base_axis that are shown where `kept` is.
std::vector<bool> kept_below(const AxisLink& link, const std::vector<bool>& kept, const std::vector<Sint>& base_shape) {
  std::vector<bool> below(static_cast<std::size_t>(base_shape[static_cast<std::size_t>(link.base_axis)].as_int()), false);
  for (std::size_t i = 0; i < kept.size(); i++)
    if (kept[i] && link.from[i] >= 0) below[static_cast<std::size_t>(link.from[i])] = true;
  return below;
}

/// The kept elements of an array; an axis of size 1 stays.
Array taken(const Array& array, const Kept& kept) {
  Ints shape = array.shape();
  for (std::size_t axis = 0; axis < shape.size(); axis++)
    if (shape[axis] > 1) shape[axis] = count(kept[axis]);
  const auto bytes = static_cast<std::size_t>(bytes_of(array.dtype()));
  std::vector<std::byte> data;
  for_each_index(array.shape(), [&](std::size_t i, const Ints& at) {
    for (std::size_t axis = 0; axis < at.size(); axis++)
      if (array.shape()[axis] > 1 && !kept[axis][static_cast<std::size_t>(at[axis])]) return;
    const auto element = array.bytes().subspan(i * bytes, bytes);
    data.insert(data.end(), element.begin(), element.end());
  });
  return Array(array.dtype(), shape, std::move(data));
}

class Remover {
 public:
  Remover(LazyGraph& graph, LiveIndices& live) : graph_(graph), live_(live) {}

  WithoutDeadChannels run(const std::vector<const LazyBuffer*>& outputs) {
    const std::vector<const LazyBuffer*> order = toposort<LazyBuffer>(outputs, sources);
    find_needed(order, outputs);
    WithoutDeadChannels result;
    for (const LazyBuffer* b : order) {
      report(b, result.removed);
      if (!computed_.contains(b)) continue;
      OriginScope scope(graph_, b->origins);
      done_.emplace(b, rebuilt(b));
    }
    for (const LazyBuffer* b : outputs) result.outputs.push_back(of(b, all_of(b)));
    return result;
  }

 private:
  /// What is computed: whatever the outputs need and is not known.
  void find_needed(const std::vector<const LazyBuffer*>& order, const std::vector<const LazyBuffer*>& outputs) {
    const auto add = [this](const LazyBuffer* b) {
      if (!live_.is_known(b)) computed_.insert(b);
    };
    for (const LazyBuffer* b : outputs) add(b);
    for (auto b = order.rbegin(); b != order.rend(); b++) {
      if (!computed_.contains(*b) || shows_nothing(*b) || sums_nothing(*b)) continue;
      for (const LazyBuffer* s : sources(*b)) add(s);
    }
  }

  Kept kept_of(const LazyBuffer* b) const {
    Kept kept;
    for (int axis = 0; axis < static_cast<int>(b->shape().size()); axis++) kept.push_back(live_.of(b, axis));
    return kept;
  }
  static Kept all_of(const LazyBuffer* b) {
    Kept kept;
    for (const Sint& size : b->shape()) kept.emplace_back(size.is_int() ? static_cast<std::size_t>(size.as_int()) : 1, true);
    return kept;
  }

  /// Whether a view is left with padding alone.
  bool shows_nothing(const LazyBuffer* b) const {
    if (b->is_base()) return false;
    for (const AxisLink& link : axis_links(b->st, b->base->shape())) {
      if (!live_.has_dead(b, link.axis)) continue;
      if (!shows_any(link, live_.of(b, link.axis))) return true;
    }
    return false;
  }

  /// Whether a sum is left with its constants alone.
  bool sums_nothing(const LazyBuffer* b) const {
    if (!b->is_reduction()) return false;
    return std::ranges::any_of(b->axes, [&](int axis) { return is_none(live_.of(b->src[0], axis)); });
  }

  /// What stands for `b` where indices `kept` of each axis are left.
  const LazyBuffer* of(const LazyBuffer* b, const Kept& kept) {
    if (!live_.is_known(b)) return done_.at(b);
    return taken_constant(constant_of(b), kept);
  }

  /// `b` as a constant, in its full shape.
  const LazyBuffer* constant_of(const LazyBuffer* b) {
    if (b->base->constant) return b;
    const LazyBuffer* base = b->base;
    auto found = known_.find(base);
    if (found == known_.end()) {
      const ValueRange& range = *live_.ranges().of(base);
      const Tensor values = range.low.size() == 1
                                ? Tensor::full(graph_, Shape(range.shape.size(), Sint(1)), Scalar::of_double(base->dtype, range.low[0]))
                                : Tensor::constant(graph_, Array::of_doubles(base->dtype, range.shape, range.low));
      found = known_.emplace(base, values.expand(base->shape()).buffer()).first;
    }
    return b->is_base() ? found->second : graph_.view(found->second, graph_.stacked(found->second->st, b->st));
  }

  /// A constant with the kept indices: of the data where that is possible, so that narrow types stay narrow, and repetitions free.
  const LazyBuffer* taken_constant(const LazyBuffer* b, const Kept& kept) {
    if (std::ranges::all_of(kept, is_all)) return b;
    OriginScope scope(graph_, b->origins);
    const Tensor whole(&graph_, b), part = collapsed(whole);
    Kept of_part = kept;
    for (std::size_t axis = 0; axis < kept.size(); axis++)
      if (part.shape()[axis].is_int(1)) of_part[axis] = {true};
    const Tensor result(&graph_, taken_part(part.buffer(), of_part));
    return result.expand(kept_shape(b->shape(), kept)).buffer();
  }

  /// The same of a constant without repetitions that are not masked.
  const LazyBuffer* taken_part(const LazyBuffer* b, Kept kept) {
    if (std::ranges::all_of(kept, is_all)) return b;
    const LazyBuffer* base = b->base;
    if (base->kind == LazyKind::Compute && !base->is_reduction() && !is_masked(b->st)) {
      std::vector<const LazyBuffer*> src;
      for (const LazyBuffer* s : base->src) src.push_back(taken_constant(graph_.view(s, graph_.stacked(s->st, b->st)), kept));
      return graph_.rebuild(base, src);
    }
    ShapeTracker st = b->st;
    for (const AxisLink& link : axis_links(st, base->shape())) {
      std::vector<bool>& of_axis = kept[static_cast<std::size_t>(link.axis)];
      if (is_all(of_axis) || !shows_any(link, of_axis) || !keeps_together(link, of_axis)) continue;
      std::vector<bool> of_base;
      if (link.base_axis >= 0) {
        if (base->kind != LazyKind::Data) continue;
        of_base = kept_below(link, of_axis, base->shape());
      }
      st = keep_indices(st, base->shape(), link, of_base, of_axis);
      of_axis.assign(static_cast<std::size_t>(count(of_axis)), true);
      if (link.base_axis < 0) continue;
      Kept of_data = all_of(base);
      of_data[static_cast<std::size_t>(link.base_axis)] = of_base;
      base = graph_.data(taken(base->data, of_data), base->name);
    }
    const Tensor seen(&graph_, graph_.view(base, graph_.simplified(st)));
    if (std::ranges::all_of(kept, is_all)) return seen.buffer();
    const std::optional<Array> values = seen.evaluate();
    check(values.has_value(), "constants have values");
    return graph_.data(taken(*values, kept), base->name);
  }

  const LazyBuffer* rebuilt(const LazyBuffer* b) {
    if (!b->is_base()) return rebuilt_view(b);
    if (b->is_reduction()) return rebuilt_reduction(b);
    const bool hands_on = b->kind == LazyKind::Compute || b->kind == LazyKind::Contiguous || b->kind == LazyKind::Gather;
    std::vector<const LazyBuffer*> src;
    for (const LazyBuffer* s : b->src) {
      Kept kept = hands_on ? kept_of(b) : all_of(s);
      if (kept.size() < s->shape().size()) kept.push_back(all_of(s).back());  // a table of each element
      src.push_back(of(s, kept));
    }
    return graph_.rebuild(b, src);
  }

  const LazyBuffer* rebuilt_view(const LazyBuffer* view) {
    const Kept kept = kept_of(view);
    if (shows_nothing(view)) return graph_.constant(Scalar::of_int(view->dtype, 0), kept_shape(view->shape(), kept));
    const LazyBuffer *base = view->base, *below = done_.at(base);
    ShapeTracker st = view->st;
    std::vector<Sint> shape = base->shape();
    for (const AxisLink& link : axis_links(st, shape)) {
      const bool is_linked = link.base_axis >= 0;
      const std::vector<bool> of_view = kept[static_cast<std::size_t>(link.axis)];
      const std::vector<bool> of_base = is_linked ? live_.of(base, link.base_axis) : std::vector<bool>();
      if (is_all(of_view) && is_all(of_base)) continue;
      st = keep_indices(st, shape, link, of_base, of_view);
      if (is_linked) shape[static_cast<std::size_t>(link.base_axis)] = count(of_base);
    }
    check(shape == below->shape() && st.shape() == kept_shape(view->shape(), kept), "a view shows what is left of its buffer");
    return graph_.view(below, graph_.stacked(below->st, graph_.simplified(st)));
  }

  /// The sum of what is left, and of what is the same for every input.
  const LazyBuffer* rebuilt_reduction(const LazyBuffer* reduction) {
    const LazyBuffer* x = reduction->src[0];
    const Kept kept = kept_of(x);
    const std::vector<Sint> shape = kept_shape(reduction->shape(), kept_of(reduction));
    const bool is_sum = std::ranges::any_of(reduction->axes, [&](int axis) { return live_.has_dead(x, axis); });
    Tensor constants;
    if (is_sum) constants = Tensor::constant(graph_, constant_part(reduction, kept)).expand(shape);
    if (sums_nothing(reduction)) return constants.buffer();
    const LazyBuffer* sum = graph_.rebuild(reduction, {of(x, kept)});
    return is_sum ? (Tensor(&graph_, sum) + constants).buffer() : sum;
  }

  /// The sum of what is not kept along summed axes. Integers wrap around.
  Array constant_part(const LazyBuffer* reduction, const Kept& kept) {
    const LazyBuffer* x = reduction->src[0];
    const ValueRange& range = *live_.ranges().of(x);
    std::vector<bool> reduced(range.shape.size(), false);
    for (const int axis : reduction->axes) reduced[static_cast<std::size_t>(axis)] = true;
    Ints shape = range.shape;
    for (const int axis : reduction->axes) shape[static_cast<std::size_t>(axis)] = 1;
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(product_of(shape)), 0);
    const Ints strides = strides_over(shape);
    for_each_index(range.shape, [&](std::size_t i, const Ints& at) {
      std::int64_t k = 0;
      std::uint64_t all = 1, left = 1;  // elements of x that range element i stands for, and those of them that are kept
      for (std::size_t axis = 0; axis < at.size(); axis++) {
        k += strides[axis] * at[axis];
        const std::vector<bool>& of_axis = kept[axis];
        const bool stands_for_all = range.shape[axis] == 1, keeps = stands_for_all || of_axis[static_cast<std::size_t>(at[axis])];
        if (!keeps && !reduced[axis]) return;
        if (!reduced[axis]) continue;
        all *= stands_for_all ? of_axis.size() : 1;
        left *= stands_for_all ? static_cast<std::uint64_t>(count(of_axis)) : keeps ? 1 : 0;
      }
      if (all == left) return;
      check(range.is_point(i), "what is not computed is the same for every input");
      sums[static_cast<std::size_t>(k)] += (all - left) * static_cast<std::uint64_t>(static_cast<std::int64_t>(range.low[i]));
    });
    std::vector<std::int64_t> wrapped;
    for (const std::uint64_t sum : sums) wrapped.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(sum)));
    return taken(Array::of_ints(DType::Int32, shape, wrapped), kept);
  }

  static std::int64_t product_of(const Ints& shape) {
    std::int64_t n = 1;
    for (const std::int64_t d : shape) n *= d;
    return n;
  }

  /// A sum of products that has fewer results than the model says.
  void report(const LazyBuffer* b, std::vector<DeadChannels>& removed) const {
    if (!b->is_reduction() || b->op != Op::ReduceSum || b->dtype != DType::Int32 || b->constant) return;
    DeadChannels dead{b->origins};
    for (int axis = 0; axis < static_cast<int>(b->shape().size()) && dead.total == 0; axis++) {
      if (!live_.has_dead(b, axis)) continue;
      const std::vector<bool> kept = live_.of(b, axis);
      dead.removed = std::ssize(kept) - count(kept);
      dead.total = std::ssize(kept);
    }
    if (dead.total > 0) removed.push_back(std::move(dead));
  }

  LazyGraph& graph_;
  LiveIndices& live_;
  std::unordered_set<const LazyBuffer*> computed_;
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> done_, known_;
};

}  // namespace

WithoutDeadChannels remove_dead_channels(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t tile) {
  LiveIndices live(graph, outputs, tile);
  if (!live.found_any()) return {outputs, {}};
  return Remover(graph, live).run(outputs);
}

}  // namespace etch
