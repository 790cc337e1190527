#include "schedule/memory_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/subscript.h"
#include "ir/contraction.h"
#include "ir/uop.h"
#include "schedule/axis_cuts.h"
#include "schedule/rewrite_ast.h"
#include "shape/int_math.h"

namespace etch {
namespace {

bool has_fixed_shape(const LazyBuffer* b) {
  return std::ranges::all_of(b->shape(), [](const Sint& d) { return d.is_int(); });
}

/// What lies innermost in memory: a whole axis, or blocks of it. All else is in the order of the axes.
struct MemoryOrder {
  int axis = 0;
  std::int64_t block = 0;  // elements; 0: the whole axis
};

/// Orders as ways: the axis, and the rank times the logarithm of the block.
constexpr int kBlockLogs = 10;

MemoryOrder order_of_way(int way, std::size_t rank) {
  const int n = static_cast<int>(rank);
  return {way % n, way < n ? 0 : std::int64_t{1} << (way / n)};
}

/// The elements of a buffer of `shape` where they lie in that order.
ShapeTracker ordered(const std::vector<Sint>& shape, const MemoryOrder& order) {
  std::vector<Sint> sizes = shape, strides(shape.size());
  if (order.block > 0) sizes[at(order.axis)] = shape[at(order.axis)].as_int() / order.block;
  Sint stride = order.block > 0 ? Sint(order.block) : shape[at(order.axis)];
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; axis--) {
    if (order.block == 0 && axis == order.axis) continue;
    strides[at(axis)] = stride;
    stride = stride * sizes[at(axis)];
  }
  if (order.block == 0) {
    strides[at(order.axis)] = 1;
    return ShapeTracker({View::create(shape, strides)});
  }
  sizes.insert(sizes.begin() + order.axis + 1, Sint(order.block));
  strides.insert(strides.begin() + order.axis + 1, Sint(1));
  return ShapeTracker({View::create(sizes, strides)}).reshape(shape);
}

/// Where a buffer lies in another order than its own.
struct Stored {
  MemoryOrder order;
  ShapeTracker st;  // shows it in its own order
};
using StoredOrders = std::unordered_map<const LazyBuffer*, Stored>;  // for look-up only

/// Distances in a buffer whose multiples are borders of its blocks.
std::vector<std::int64_t> borders(const Stored& stored) {
  const std::vector<Sint>& shape = stored.st.shape();
  const std::int64_t step = View::create(shape).strides[at(stored.order.axis)].as_int();
  return {step, step * stored.order.block, step * shape[at(stored.order.axis)].as_int()};
}

/// `st` on top of how the buffer lies, in as few views. A view below others (padding, of which they show windows) is cut at blocks first:
/// its elements are the same, in the same order.
ShapeTracker seen_through(const Stored& stored, const ShapeTracker& st) {
  if (stored.order.block == 0 || st.views().size() == 1) return (stored.st + st).simplify();
  const ShapeTracker front({st.views()[0]});
  AxisCuts cuts(front.shape().size());
  for (const std::int64_t border : borders(stored)) cuts.add(front, border);
  const auto shape = cuts.shape(front.shape());
  std::vector<View> views = (stored.st + (shape ? front.reshape(*shape) : front)).simplify().views();
  views.insert(views.end(), st.views().begin() + 1, st.views().end());
  return ShapeTracker(std::move(views)).simplify();
}

/// A buffer that may get another order, and what its consumers want.
struct Candidate {
  const LazyBuffer* buffer = nullptr;
  std::vector<const ScheduleItem*> items = {};  // that write or read it
  std::map<int, std::int64_t> products = {};    // that want the axis to be the last
  bool is_free = true;                          // nobody needs the order that it has
  bool may_be_usual = true;                     // heuristics may give it another order, not a search alone
};

class Orders {
 public:
  Orders(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options)
      : graph_(graph),
        schedule_(schedule),
        layouts_(options.layouts),
        alike_(options.orders_alike || options.integer_orders_alike || options.float_orders_alike),
        has_all_types_(options.orders_alike),
        has_floats_(options.float_orders_alike),
        vector_bytes_(options.vector_bytes) {}

  void choose() {
    find_candidates();
    for (const ScheduleItem& item : schedule_.items) {
      ask(item);
      for (const auto& list : {item.outs(), item.inputs})
        for (const LazyBuffer* b : list)
          if (Candidate* c = candidate(b); c != nullptr && (c->items.empty() || c->items.back() != &item)) c->items.push_back(&item);
    }
    // The consumers of a buffer are behind it: what they write has its order by then.
    for (auto candidate = candidates_.rbegin(); candidate != candidates_.rend(); candidate++) {
      if (alike_) ask_alike(*candidate);
      consider(*candidate);
    }
    if (chosen_.empty()) return;
    for (ScheduleItem& item : schedule_.items)
      if (item.ast != nullptr) item.ast = *rewritten(item);
  }

 private:
  void find_candidates() {
    for (const ScheduleItem& item : schedule_.items) {
      if (item.external != nullptr) continue;
      for (const LazyBuffer* out : item.outs()) {
        const bool is_small_integer = is_int(out->dtype) && bytes_of(out->dtype) <= 2;
        const bool may_be_usual = is_small_integer || has_all_types_ || (has_floats_ && out->dtype == DType::Float32);
        if (!is_computed(out) || !(may_be_usual || layouts_.matter()) || !has_fixed_shape(out)) continue;
        number_of_[out] = candidates_.size();
        candidates_.push_back({.buffer = out, .may_be_usual = may_be_usual});
      }
    }
    for (const ScheduledOutput& output : schedule_.outputs) keep(output.buffer);
    for (const ScheduleItem& item : schedule_.items) {
      if (item.external != nullptr)
        for (const LazyBuffer* b : item.inputs) keep(b);
    }
  }

  void keep(const LazyBuffer* b) {
    if (const auto found = number_of_.find(b); found != number_of_.end()) candidates_[found->second].is_free = false;
  }

  Candidate* candidate(const LazyBuffer* b) {
    const auto found = number_of_.find(b);
    return found == number_of_.end() ? nullptr : &candidates_[found->second];
  }

  void ask(const ScheduleItem& item) {
    if (item.ast == nullptr) return;
    for (const LazyOp* op : toposort(item.ast)) {
      if (is_indexed(op)) keep(item.input_of(op));
      const auto sum = contraction_of(op);
      if (!sum) continue;
      std::int64_t products = 1;
      for (const Sint& d : sum->product->shape) products *= d.max();
      for (const LazyOp* load : toposort(sum->product)) {
        if (load->op != Op::Load) continue;
        Candidate* c = candidate(item.input_of(load));
        if (has_few_outputs(item, *sum, load)) {
          for (Candidate* image : {c, candidate(item.out)})
            if (image != nullptr) image->products[static_cast<int>(image->buffer->shape().size()) - 1] += products;
        } else if (c != nullptr && !has_the_lanes(item, *sum, load)) {
          if (const auto axis = wanted(load, item.input_of(load), sum->sum->axes(), !alike_)) c->products[*axis] += products;
        }
      }
    }
  }

  /// Whether a constant makes sums for each place of an image that fill vectors badly, as where an image leaves the network: lanes run
  /// along the rows of the image then, of what is read and of what is written.
  bool has_few_outputs(const ScheduleItem& item, const Contraction& sum, const LazyOp* load) const {
    const LazyOp* other = reads(sum.a(), load) ? sum.b() : sum.a();
    if (!has_floats_ || load->dtype != DType::Float32 || is_indexed(load) || other->op != Op::Load || is_indexed(other)) return false;
    if (item.input_of(other)->kind != LazyKind::Data) return false;
    const auto image = load->st().real_strides(true), constant = other->st().real_strides(true);
    const auto moves = [](const std::optional<Sint>& stride) { return !stride || !stride->is_int(0); };
    const auto is_reduced = [&](std::size_t axis) {
      return std::ranges::find(sum.sum->axes(), static_cast<int>(axis)) != sum.sum->axes().end();
    };
    const std::int64_t lanes = vector_bytes_ / bytes_of(DType::Float32);
    std::int64_t outputs = 1;
    bool has_rows = false, has_groups = false;
    for (std::size_t axis = 0; axis < image.size(); axis++) {
      const Sint& size = sum.product->shape[axis];
      if (size.is_int(1) || is_reduced(axis)) continue;
      if (!size.is_int()) return false;
      if (!moves(image[axis])) outputs *= size.as_int();
      has_groups = has_groups || (moves(constant[axis]) && moves(image[axis]));
      has_rows = has_rows || (!moves(constant[axis]) && image[axis] && image[axis]->is_int(1) && size.as_int() >= lanes);
    }
    const bool is_depthwise = outputs == 1 && has_groups;
    return has_rows && !is_depthwise && !fill_vectors(outputs, lanes);
  }

  /// Whether there are vectors of them, or of half as many, without much that is computed twice.
  static bool fill_vectors(std::int64_t outputs, std::int64_t lanes) {
    return outputs % std::max<std::int64_t>(lanes / 2, kFewestLanes) == 0 || repeats_few(outputs, lanes);
  }

  static bool reads(const LazyOp* factor, const LazyOp* load) {
    return std::ranges::any_of(toposort(factor), [&](const LazyOp* op) { return op == load; });
  }

  /// Whether the other factor is computed, too, so that lanes run along what the kernel writes and `load` alone moves with (attention).
  /// Where it is constant it is laid out for the lanes. What the kernel writes is taken to lie in its own order: others are not known yet.
  bool has_the_lanes(const ScheduleItem& item, const Contraction& sum, const LazyOp* load) const {
    if (!has_floats_ || load->dtype != DType::Float32) return false;
    const auto is_read = [&](const LazyOp* factor, const std::function<bool(const LazyOp*)>& holds) {
      return std::ranges::any_of(toposort(factor), [&](const LazyOp* op) { return op->op == Op::Load && holds(op); });
    };
    const auto is_it = [&](const LazyOp* op) { return op == load; };
    const LazyOp* other = is_read(sum.a(), is_it) ? sum.b() : sum.a();
    const std::optional<std::size_t> inner = innermost(item);
    const auto moves = [&](const LazyOp* op) {
      const auto strides = op->st().real_strides(true);
      return !strides[*inner] || !strides[*inner]->is_int(0);
    };
    const auto is_computed = [&](const LazyOp* op) { return item.input_of(op)->kind != LazyKind::Data; };
    return inner && !is_read(other, is_it) && is_read(other, is_computed) && moves(load) && !is_read(other, moves);
  }

  /// Each reader that does not run along one of its axes asks for the axis that is the innermost one of what it writes.
  void ask_alike(Candidate& candidate) const {
    for (const ScheduleItem* item : candidate.items) {
      if (item->ast == nullptr || item->writes(candidate.buffer)) continue;
      const std::optional<std::size_t> inner = innermost(*item);
      if (!inner) continue;
      for (const LazyOp* load : toposort(item->ast)) {
        if (load->op != Op::Load || is_indexed(load) || item->input_of(load) != candidate.buffer) continue;
        const auto strides = load->st().real_strides(true);
        if (*inner >= strides.size() || !strides[*inner] || !strides[*inner]->is_int() || strides[*inner]->is_int(0)) continue;
        const std::vector<Sint> own = View::create(candidate.buffer->shape()).strides;
        for (std::size_t axis = 0; axis < own.size(); axis++)
          if (!candidate.buffer->shape()[axis].is_int(1) && own[axis] == *strides[*inner])
            candidate.products[static_cast<int>(axis)] += product(load->shape).max();
      }
    }
  }

  /// The axis of the item's AST along which it writes adjacent elements.
  std::optional<std::size_t> innermost(const ScheduleItem& item) const {
    const auto order = chosen_.find(item.out);
    const Sint step = order == chosen_.end() ? Sint(1) : View::create(item.out->shape()).strides[at(order->second.order.axis)];
    const ShapeTracker& st = item.ast->st();
    const auto strides = st.real_strides(true);
    for (std::size_t axis = 0; axis < strides.size(); axis++)
      if (!st.shape()[axis].is_int(1) && strides[axis] && *strides[axis] == step) return axis;
    return std::nullopt;
  }

  /// The axis of the buffer that the sum runs along, all of it or a part that is the same for all sums; of several the one along which it
  /// reads most; with `windows` its last one if the sum runs along a part of
  /// that.
  static std::optional<int> wanted(const LazyOp* load, const LazyBuffer* buffer, const std::vector<int>& reduced, bool windows) {
    const auto strides = load->st().real_strides(true);
    const std::vector<Sint> own = View::create(buffer->shape()).strides;
    std::optional<int> best;
    std::int64_t most = 0;
    for (const int r : reduced) {
      const auto& stride = strides[at(r)];
      if (!stride || !stride->is_int() || stride->is_int(0)) continue;
      for (int axis = 0; axis < static_cast<int>(own.size()); axis++) {
        const Sint& size = buffer->shape()[at(axis)];
        const bool is_along =
            !size.is_int(1) && own[at(axis)] == *stride && (size == load->shape[at(r)] || is_part(load, r, *stride * size));
        if (is_along && (!best || load->shape[at(r)].max() > most)) best = axis, most = load->shape[at(r)].max();
      }
    }
    if (best || !windows) return best;
    const auto is_unit = [&](int r) { return strides[at(r)] && strides[at(r)]->is_int(1); };
    return std::ranges::any_of(reduced, is_unit) ? std::optional(static_cast<int>(own.size()) - 1) : std::nullopt;
  }

  /// Whether a sum along axis `r` runs through a part of an axis of the buffer that is the same for all sums, as a branch of a split reads
  /// it: of windows and of groups another axis moves it. `end`: the distance at which the buffer's axis ends.
  static bool is_part(const LazyOp* load, int r, const Sint& end) {
    const auto strides = load->st().real_strides(true);
    for (std::size_t other = 0; other < strides.size(); other++) {
      if (static_cast<int>(other) == r) continue;
      if (!strides[other] || !strides[other]->is_int() || !strides[at(r)]->is_int() || !end.is_int()) return false;
      const std::int64_t distance = std::abs(strides[other]->as_int()), whole = distance * (load->shape[other].max() - 1);
      if (whole >= strides[at(r)]->as_int() && distance < end.as_int()) return false;
    }
    return true;
  }

  void consider(const Candidate& candidate) {
    const std::vector<Sint>& shape = candidate.buffer->shape();
    const auto last = std::ranges::find_if_not(shape.rbegin(), shape.rend(), [](const Sint& d) { return d.is_int(1); });
    if (!candidate.is_free || last == shape.rend()) return;
    const int own = static_cast<int>(shape.rend() - last) - 1;
    const auto can = [&](int way) { return way == own || may_lie_in(candidate, order_of_way(way, shape.size()), own); };
    int way = own;
    if (candidate.may_be_usual && !candidate.products.empty()) {
      const int wanted = std::ranges::max_element(candidate.products, {}, [](const auto& p) { return p.second; })->first;
      const int blocked =
          wanted + static_cast<int>(shape.size()) * std::countr_zero(static_cast<std::uint64_t>(vector_bytes_) / sizeof(float));
      if (has_floats_ && candidate.buffer->dtype == DType::Float32 && can(blocked))
        way = blocked;
      else if (can(wanted))
        way = wanted;
    }
    const int ways = static_cast<int>(shape.size()) * (layouts_.matter() ? kBlockLogs : 1);
    if (layouts_.matter()) way = take_way(layouts_, {"order", shape, text_of(candidate), ways, way}, can, schedule_);
    if (way == own) return;
    const MemoryOrder order = order_of_way(way, shape.size());
    chosen_.emplace(candidate.buffer, Stored{order, ordered(shape, order)});
    schedule_.orders.push_back({candidate.buffer, order.axis, order.block});
  }

  bool may_lie_in(const Candidate& candidate, const MemoryOrder& order, int own) {
    const std::vector<Sint>& shape = candidate.buffer->shape();
    if (shape[at(order.axis)].is_int(1) || (order.block > 0 && !is_block(order, *candidate.buffer, own))) return false;
    Stored stored{order, ordered(shape, order)};
    if (order.block > 0 && stored.st.contiguous()) return false;
    chosen_.emplace(candidate.buffer, std::move(stored));  // on trial: a copy of all orders for each trial would be quadratic
    const bool fits =
        std::ranges::all_of(candidate.items, [&](const ScheduleItem* item) { return item->ast == nullptr || rewritten(*item); });
    chosen_.erase(candidate.buffer);
    return fits;
  }

  /// Blocks are parts of an axis that does not lie innermost anyway; each fills a vector, or one of the sums of its elements does.
  bool is_block(const MemoryOrder& order, const LazyBuffer& buffer, int own) const {
    const std::int64_t size = buffer.shape()[at(order.axis)].as_int();
    const bool fills = order.block * bytes_of(buffer.dtype) == vector_bytes_ || order.block * bytes_of(DType::Int32) == vector_bytes_;
    return fills && order.axis != own && order.block < size && size % order.block == 0;
  }

  static std::string text_of(const Candidate& candidate) {
    std::string text(name_of(candidate.buffer->dtype));
    for (const ScheduleItem* item : candidate.items) {
      const auto input = std::ranges::find(item->inputs, candidate.buffer);
      text += fmt::format("\n{} {}", item->writes(candidate.buffer) ? "out of" : "input of", input - item->inputs.begin());
      if (item->ast != nullptr) text += "\n" + to_text(item->ast);
    }
    return text;
  }

  /// The item's AST where buffers lie in the chosen orders; nullopt if one of its views would become several.
  std::optional<const LazyOp*> rewritten(const ScheduleItem& item) {
    const std::vector<const LazyBuffer*> outs = item.outs();
    const auto stored = [&](const LazyOp* op) -> const Stored* {
      const bool has_buffer = (op->op == Op::Load && !is_indexed(op)) || op->op == Op::Store;
      if (!has_buffer) return nullptr;
      const auto found = chosen_.find(op->op == Op::Load ? item.input_of(op) : outs[at(op->mem().index)]);
      return found == chosen_.end() ? nullptr : &found->second;
    };
    const std::optional<const LazyOp*> root = in_blocks(item.ast, stored);
    if (!root) return std::nullopt;
    bool fits = true;
    const auto seen = [&](const LazyOp* op) {
      ShapeTracker moved = seen_through(*stored(op), op->st());
      fits = fits && moved.views().size() <= std::max<std::size_t>(op->st().views().size(), 1);
      return moved;
    };
    const LazyOp* ast = rewrite_ast(graph_.ops(), *root, [&](const LazyOp* op, const std::vector<const LazyOp*>& src) -> const LazyOp* {
      if (stored(op) == nullptr) return nullptr;
      if (op->op == Op::Load) return graph_.ops().load(op->mem().index, op->dtype, seen(op));
      return graph_.ops().store(op->mem().index, src[0], seen(op), {src.begin() + 1, src.end()});
    });
    return fits ? std::optional(ast) : std::nullopt;
  }

  /// `ast` with axes that run along axes of blocks cut into these.
  template <class Find>
  std::optional<const LazyOp*> in_blocks(const LazyOp* ast, const Find& stored) {
    AxisCuts cuts(ast->shape.size());
    for (const LazyOp* op : toposort(ast)) {
      const Stored* found = stored(op);
      if (found == nullptr || found->order.block == 0) continue;
      for (const std::int64_t border : borders(*found)) cuts.add(op->st(), border);
    }
    if (cuts.empty()) return ast;
    const std::optional<const LazyOp*> made = with_cut_axes(graph_.ops(), ast, cuts);
    return made && views_of(*made) <= views_of(ast) ? made : std::nullopt;
  }

  LazyGraph& graph_;
  Schedule& schedule_;
  const LayoutChoices& layouts_;
  bool alike_, has_all_types_, has_floats_;
  std::int64_t vector_bytes_;
  std::vector<Candidate> candidates_;                             // in the order in which they are written
  std::unordered_map<const LazyBuffer*, std::size_t> number_of_;  // of a candidate; for look-up only
  StoredOrders chosen_;
};

}  // namespace

void choose_memory_orders(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options) {
  Orders(graph, schedule, options).choose();
}

}  // namespace etch
