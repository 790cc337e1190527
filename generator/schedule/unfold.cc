#include "schedule/unfold.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/subscript.h"
#include "ir/contraction.h"
#include "schedule/byte_signs.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

constexpr std::int64_t kChannels = 16;  // of the output, from which on laying windows out is little beside what they are used for
constexpr double kMostLonger = 1.25;    // windows with what they are made longer by, to pay
constexpr double kLongest = 2;          // the same, to be tried
constexpr std::int64_t kShortest = 8;   // elements that a dot product takes where they are

/// The sum of an item, and its operands.
struct Windows {
  const LazyOp *sum = nullptr, *x = nullptr, *weights = nullptr;  // Loads
  std::vector<int> places, channels;                              // axes that are not reduced: of x, of the weights
  std::int64_t rows = 0;                                          // of the outermost reduced axis, with what is added
  std::int64_t length = 0;                                        // of a window, with what is added
  std::optional<SignChange> change = {};                          // of what is written
  bool pays = true;
};

class Unfolding {
 public:
  static constexpr const char* kKind = "windows";

  Unfolding(LazyGraph& graph, const Schedule& schedule, const ScheduleOptions& options) : graph_(graph), options_(options) {
    for (const ScheduleItem& item : schedule.items)
      for (const LazyBuffer* b : item.inputs) readers_[b]++;
  }

  std::optional<Windows> found_in(const ScheduleItem& item) const {
    if (item.ast == nullptr || !item.loops.empty()) return std::nullopt;
    std::optional<Windows> found;
    for (const LazyOp* op : toposort(item.ast)) {
      if (!is_reduce(op->op)) continue;
      const auto sum = contraction_of(op);
      if (found || !sum || !is_int(op->dtype)) return std::nullopt;
      Windows w;
      w.sum = op;
      w.x = load_of_factor(sum->a());
      w.weights = load_of_factor(sum->b());
      if (w.x == nullptr || w.weights == nullptr) return std::nullopt;
      if (item.input_of(w.x)->kind == LazyKind::Data) std::swap(w.x, w.weights);
      if (!are_operands(item, w) || !find_axes(w) || !find_length(w)) return std::nullopt;
      w.change = sign_change(item, op, load_of_factor(sum->a()) == w.x ? sum->a() : sum->b(), w.x->dtype, options_);
      found = w;
    }
    return found;
  }

  /// The kernel that writes the windows, a part of the work of the nodes of `reader`.
  ScheduleItem writing(const Windows& w, const ScheduleItem& reader) {
    const std::vector<Sint> shape = unfolded_shape(w);
    const LazyBuffer* x = reader.input_of(w.x);
    const View& seen = w.x->st().views()[0];
    std::vector<Sint> sizes, strides;
    for (const auto& axes : {w.places, w.sum->axes()})
      for (const int axis : axes) {
        sizes.push_back(w.x->shape[at(axis)]);
        strides.push_back(seen.strides[at(axis)]);
      }
    std::vector<Range> more(shape.size(), Range{0, 0});
    more[w.places.size()].second = shape[w.places.size()] - sizes[w.places.size()];
    const ShapeTracker windows = ShapeTracker({View::create(sizes, strides, seen.offset)}).pad(more);
    OriginScope scope(graph_, reader.main_node);
    LazyOps& ops = graph_.ops();
    const LazyOp* load = ops.load(1, x->dtype, windows);
    const LazyBuffer* laid = graph_.view(x, graph_.stacked(x->st, windows));
    return written_for(reader, ops, w.change ? with_sign(ops, load, *w.change) : load,
                       w.change ? with_sign(graph_, laid, *w.change) : graph_.contiguous(laid)->base, x);
  }

  /// `item`, which reads the windows from `buffer`.
  ScheduleItem reading(ScheduleItem item, const Windows& w, const LazyBuffer* buffer) {
    LazyOps& ops = graph_.ops();
    if (w.change) add_offset(graph_, item, *w.change);
    const LazyOp* product = rewrite_ast(ops, w.sum->src[0], [&](const LazyOp* op, const std::vector<const LazyOp*>& src) {
      if (op == w.weights) return load_along(w, op->mem().index, op, op->dtype, w.channels);
      if (op == w.x) return load_along(w, op->mem().index, op, buffer->dtype, w.places);
      return op->op == Op::Cast ? ops.cast(src[0], op->dtype) : ops.elementwise(op->op, src);
    });
    const LazyOp* sum = ops.reduce(w.sum->op, product, w.sum->axes());
    const LazyBuffer *x = item.input_of(w.x), *data = item.input_of(w.weights);
    item.ast = rewrite_ast(ops, item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) { return op == w.sum ? sum : nullptr; });
    std::ranges::replace(item.inputs, x, buffer);
    std::ranges::replace(item.inputs, data, longer_weights(w, data));
    return item;
  }

 private:
  bool are_operands(const ScheduleItem& item, const Windows& w) const {
    const LazyBuffer *x = item.input_of(w.x), *data = item.input_of(w.weights);
    if (data->kind != LazyKind::Data || x->kind == LazyKind::Data || readers_.at(data) > 1) return false;
    const auto reads = [&](const LazyOp* load) { return loads_of(item.ast, load->mem().index); };
    const bool is_plain = w.x->st().views().size() == 1 && !w.x->st().views()[0].mask && bytes_of(x->dtype) == 1;
    const bool has_sizes = std::ranges::all_of(w.x->shape, [](const Sint& d) { return d.is_int(); });
    return is_plain && has_sizes && reads(w.x) == 1 && reads(w.weights) == 1 && w.weights->st().shows_all_once(data->data.size());
  }

  /// False if x and the weights move along one axis that is not reduced, or nothing else moves.
  static bool find_axes(Windows& w) {
    const std::vector<int>& reduced = w.sum->axes();
    const std::vector<Sint>&x = w.x->st().views()[0].strides, &weights = w.weights->st().views()[0].strides;
    std::int64_t channels = 1;
    for (int axis = 0; axis < static_cast<int>(x.size()); axis++) {
      if (w.x->shape[at(axis)].is_int(1) || std::ranges::find(reduced, axis) != reduced.end()) continue;
      const bool x_moves = !x[at(axis)].is_int(0), weights_move = !weights[at(axis)].is_int(0);
      if (x_moves == weights_move) return false;
      (x_moves ? w.places : w.channels).push_back(axis);
      if (weights_move) channels *= w.x->shape[at(axis)].as_int();
    }
    w.pays = w.pays && channels >= kChannels;
    return !w.places.empty();
  }

  /// False if windows have pieces that are long enough, or would get far longer.
  bool find_length(Windows& w) const {
    const std::vector<int>& reduced = w.sum->axes();
    if (reduced.size() < 2) return false;
    std::int64_t length = 1;
    for (const int axis : reduced) {
      const Sint &size = w.x->shape[at(axis)], &stride = w.x->st().views()[0].strides[at(axis)];
      if (stride.is_int(0) || size.as_int() % kShortest == 0) return false;
      length *= size.as_int();
    }
    const std::int64_t first = w.x->shape[at(reduced[0])].as_int(), inner = length / first;
    w.rows = first;
    while (w.rows * inner % options_.dot_elements != 0) w.rows++;
    w.length = w.rows * inner;
    const double longer = static_cast<double>(w.length) / static_cast<double>(length);
    w.pays = w.pays && longer <= kMostLonger;
    return longer <= kLongest;
  }

  /// The shape of what is written: places, then the windows.
  static std::vector<Sint> unfolded_shape(const Windows& w) {
    std::vector<Sint> shape;
    for (const int axis : w.places) shape.push_back(w.x->shape[at(axis)]);
    for (const int axis : w.sum->axes()) shape.push_back(w.x->shape[at(axis)]);
    shape[w.places.size()] = w.rows;
    return shape;
  }

  /// The weights in the order of the windows, with zeros where these are longer.
  const LazyBuffer* longer_weights(const Windows& w, const LazyBuffer* old) {
    const View& seen = w.weights->st().views()[0];
    std::vector<int> axes = w.channels;
    axes.insert(axes.end(), w.sum->axes().begin(), w.sum->axes().end());
    std::vector<std::int64_t> index(axes.size(), 0), values;
    while (true) {
      std::int64_t place = seen.offset.as_int();
      for (std::size_t i = 0; i < axes.size(); i++) place += index[i] * seen.strides[at(axes[i])].as_int();
      const bool is_added = index[w.channels.size()] >= w.weights->shape[at(axes[w.channels.size()])].as_int();
      values.push_back(is_added ? 0 : old->data.int_at(place));
      std::size_t i = axes.size();
      while (i > 0 && ++index[i - 1] == (i - 1 == w.channels.size() ? w.rows : w.weights->shape[at(axes[i - 1])].as_int())) index[--i] = 0;
      if (i == 0) break;
    }
    OriginScope scope(graph_, old->origins);
    const auto size = static_cast<std::int64_t>(values.size());
    return graph_.data(Array::of_ints(old->data.dtype(), {size}, values), old->name);
  }

  /// A Load along the windows, which the last reduced axis stands for, and along `axes`.
  const LazyOp* load_along(const Windows& w, int index, const LazyOp* load, DType dtype, const std::vector<int>& axes) {
    std::vector<Sint> shape = load->shape, strides(shape.size(), Sint(0));
    for (const int axis : w.sum->axes()) shape[at(axis)] = 1;
    shape[at(w.sum->axes().back())] = w.length;
    strides[at(w.sum->axes().back())] = 1;
    Sint stride = w.length;
    for (auto axis = axes.rbegin(); axis != axes.rend(); axis++) {
      strides[at(*axis)] = stride;
      stride = stride * shape[at(*axis)];
    }
    return graph_.ops().load(index, dtype, ShapeTracker({View::create(shape, strides)}));
  }

  LazyGraph& graph_;
  const ScheduleOptions& options_;
  std::unordered_map<const LazyBuffer*, int> readers_;  // look-up only
};

}  // namespace

void unfold_windows(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit) {
  if (options.dot_elements == 0) return;
  Unfolding unfolding(graph, schedule, options);
  write_apart(schedule, options, limit, unfolding);
}

}  // namespace etch
