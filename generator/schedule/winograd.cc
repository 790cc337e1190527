#include "schedule/winograd.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "base/subscript.h"
#include "ir/contraction.h"
#include "lazy/ast.h"
#include "schedule/axis_cuts.h"
#include "schedule/minimal_filter.h"
#include "schedule/rewrite_ast.h"
#include "shape/int_math.h"

namespace etch {
namespace {

constexpr std::int64_t kCost = 8;  // products that take as long as making one element of v or m, or reading one of u
constexpr int kFewestTaps = 3;
constexpr int kUsual = 4;  // rows of a tile, where these divide the rows of the result

/// The sum of an item, and the axis along which it takes fewer products.
struct Convolution {
  const LazyOp *sum = nullptr, *x = nullptr, *weights = nullptr;  // Loads
  ShapeTracker image{std::vector<View>{View{}}};                  // x with its padding
  std::vector<std::optional<std::size_t>> axes = {};              // of the image, that each axis of the sum moves along
  std::vector<std::int64_t> steps = {};                           // by how many elements of that axis
  int row = 0, tap = 0;                                           // axes of the sum: of the result, of the kernel
  std::int64_t rows = 0, taps = 0, tiles = 0;
  MinimalFilter filter = {};
  std::int64_t saved = 0;  // products, without those that take as long as what is made for that

  std::size_t image_axis() const { return *axes[at(row)]; }
  /// `shape` of the sum's product or result, with one row of each tile.
  std::vector<Sint> of_tiles(std::vector<Sint> shape) const {
    shape[at(row)] = tiles;
    shape[at(tap)] = 1;
    shape.insert(shape.begin(), Sint(filter.points));
    return shape;
  }
};

/// Arithmetic for combined() of minimal_filter.h.
struct Tensors {
  static Tensor add(const Tensor& a, const Tensor& b) { return a + b; }
  static Tensor sub(const Tensor& a, const Tensor& b) { return a - b; }
  static Tensor times(const Tensor& a, double factor) { return a * factor; }
};

struct AstNodes {
  LazyOps& ops;

  const LazyOp* add(const LazyOp* a, const LazyOp* b) const { return ops.elementwise(Op::Add, {a, b}); }
  const LazyOp* sub(const LazyOp* a, const LazyOp* b) const { return ops.elementwise(Op::Sub, {a, b}); }
  const LazyOp* times(const LazyOp* a, double factor) const {
    const ShapeTracker everywhere({View::create(a->shape, std::vector<Sint>(a->shape.size(), Sint(0)))});
    return ops.elementwise(Op::Mul, {a, ops.constant(Scalar::of_double(a->dtype, factor), everywhere)});
  }
};

class Combining {
 public:
  Combining(LazyGraph& graph, const ScheduleOptions& options) : graph_(graph), options_(options) {}

  /// Along one axis of any item or, `again`, along another axis of products that an earlier call made.
  std::optional<Apart> split(const ScheduleItem& item, bool again) {
    if (again && !products_.contains(item.out)) return std::nullopt;
    const std::optional<Convolution> c = found_in(item);
    if (!c || (c->saved <= 0 && !options_.layouts.matter())) return std::nullopt;
    OriginScope scope(graph_, item.main_node);
    const LazyBuffer *x = item.input_of(c->x), *image = image_of(*c, x);
    const LazyBuffer* products = products_of(*c, image, weights_of(*c, item.input_of(c->weights)));
    products_.insert(products);
    return Apart{{written(item, image, x), written(item, products, image)}, results(item, *c, products), "winograd", c->saved > 0};
  }

  /// By how many bytes the weights that items read are more than what they were made from.
  std::int64_t widened_bytes(const std::vector<ScheduleItem>& items) const {
    std::set<const LazyBuffer*> read, made_from;
    for (const ScheduleItem& item : items) read.insert(item.inputs.begin(), item.inputs.end());
    std::int64_t bytes = 0;
    for (const LazyBuffer* b : read) {
      if (!combined_.contains(b)) continue;
      const LazyBuffer* first = b;
      while (combined_.contains(first)) first = combined_.at(first);
      bytes += static_cast<std::int64_t>(b->data.bytes().size());
      if (!read.contains(first) && made_from.insert(first).second) bytes -= static_cast<std::int64_t>(first->data.bytes().size());
    }
    return bytes;
  }

 private:
  static std::optional<Convolution> found_in(const ScheduleItem& item) {
    if (item.ast == nullptr || !item.loops.empty()) return std::nullopt;
    std::optional<Convolution> found;
    for (const LazyOp* op : toposort(item.ast)) {
      if (!is_reduce(op->op)) continue;
      const auto sum = contraction_of(op);
      if (found || !sum || !sum->casts.empty() || op->dtype != DType::Float32) return std::nullopt;
      Convolution c{.sum = op, .x = sum->a(), .weights = sum->b()};
      if (c.x->op != Op::Load || c.weights->op != Op::Load || is_indexed(c.x) || is_indexed(c.weights)) return std::nullopt;
      if (item.input_of(c.x)->kind == LazyKind::Data) std::swap(c.x, c.weights);
      if (!are_operands(item, c) || !find_image(c, item.input_of(c.x)->shape()) || !find_rows(c, item.input_of(c.weights)->data.size()) ||
          !item.input_of(c.weights)->data.is_finite())
        return std::nullopt;
      found = std::move(c);
    }
    return found;
  }

  static bool are_operands(const ScheduleItem& item, const Convolution& c) {
    const LazyBuffer *x = item.input_of(c.x), *data = item.input_of(c.weights);
    if (data->kind != LazyKind::Data || x->kind == LazyKind::Data || data->dtype != DType::Float32) return false;
    const auto has_numbers = [](const LazyOp* op) { return std::ranges::all_of(op->shape, [](const Sint& d) { return d.is_int(); }); };
    return has_numbers(c.x) && has_numbers(c.weights) && c.weights->st().shows_all_once(data->data.size());
  }

  /// What windows are seen of, and along which of its axes each axis of the sum moves.
  static bool find_image(Convolution& c, const std::vector<Sint>& shape) {
    const std::vector<View>& views = c.x->st().views();
    if (views.size() > 2 || views.back().mask || !views.back().offset.is_int(0)) return false;
    c.image = views.size() == 2 ? ShapeTracker({views[0]}) : ShapeTracker::from_shape(shape);
    if (!std::ranges::all_of(c.image.shape(), [](const Sint& d) { return d.is_int(); })) return false;
    const std::vector<Sint> units = strides_for_shape(c.image.shape());
    std::vector<std::int64_t> last(units.size(), 0);  // position that is read
    for (std::size_t axis = 0; axis < views.back().shape.size(); axis++) {
      const std::int64_t size = views.back().shape[axis].as_int();
      if (!views.back().strides[axis].is_int()) return false;
      const std::int64_t stride = views.back().strides[axis].as_int();
      std::optional<std::size_t> along;
      for (std::size_t i = 0; i < units.size() && stride > 0 && !along; i++) {
        const std::int64_t unit = units[i].as_int();
        if (unit > 0 && stride % unit == 0 && stride / unit * (size - 1) < c.image.shape()[i].as_int()) along = i;
      }
      if (stride != 0 && !along) return false;
      c.axes.push_back(along);
      c.steps.push_back(along ? stride / units[*along].as_int() : 0);
      if (along) last[*along] += c.steps.back() * (size - 1);
    }
    for (std::size_t i = 0; i < last.size(); i++)
      if (last[i] >= c.image.shape()[i].as_int()) return false;  // windows that go on in the next row
    return true;
  }

  static bool find_rows(Convolution& c, std::int64_t weights) {
    const std::vector<int>& reduced = c.sum->axes();
    if (reduced.size() < 2) return false;
    for (c.row = 0; c.row < static_cast<int>(c.axes.size()); c.row++) {
      const bool moves = c.steps[at(c.row)] == 1 && c.weights->st().views()[0].strides[at(c.row)].is_int(0);
      if (!moves || std::ranges::find(reduced, c.row) != reduced.end()) continue;
      c.rows = c.x->shape[at(c.row)].as_int();
      const auto tap = std::ranges::find_if(reduced, [&](int axis) { return has_taps(c, axis); });
      if (tap == reduced.end()) continue;
      c.tap = *tap;
      c.taps = c.x->shape[at(c.tap)].as_int();
      if (c.image.shape()[c.image_axis()].is_int(c.rows + c.taps - 1) && find_tile(c, weights)) return true;
    }
    return false;
  }

  static bool has_taps(const Convolution& c, int tap) {
    const std::vector<Sint>& weights = c.weights->st().views()[0].strides;
    const bool moves = c.axes[at(tap)] == c.axes[at(c.row)] && c.steps[at(tap)] == 1;
    const std::int64_t taps = c.x->shape[at(tap)].as_int();
    return moves && taps >= kFewestTaps && taps < MinimalFilter::kMostPoints && !weights[at(tap)].is_int(0);
  }

  /// The tile of rows that saves most, unless the usual one divides them; false if there is none.
  static bool find_tile(Convolution& c, std::int64_t weights) {
    std::optional<Convolution> best;
    const int taps = static_cast<int>(c.taps), most = MinimalFilter::kMostPoints + 1 - taps, usual = std::min(kUsual, most);
    for (int rows = most; rows >= 2; rows--) {
      if (c.rows % rows != 0 && (rows != usual || c.rows > kMostChoices)) continue;
      if (rows != usual && c.rows % usual == 0) continue;
      Convolution with = c;
      with.filter = minimal_filter(rows, taps);
      with.tiles = ceil_div(c.rows, std::int64_t{rows});
      with.saved = saved(with, weights);
      if (!best || with.saved > best->saved) best = std::move(with);
    }
    if (best) c = std::move(*best);
    return best.has_value();
  }

  static std::int64_t saved(const Convolution& c, std::int64_t weights) {
    const std::int64_t before = product(c.x->shape).as_int(), after = product(c.of_tiles(c.x->shape)).as_int();
    const std::int64_t of_row = product(c.image.shape()).as_int() / c.image.shape()[c.image_axis()].as_int();
    const std::int64_t products = product(c.of_tiles(c.sum->shape)).as_int();
    return before - after - kCost * (of_row * c.tiles * c.filter.points + products + weights * c.filter.points / c.taps);
  }

  /// [points, image with tiles for rows]
  const LazyBuffer* image_of(const Convolution& c, const LazyBuffer* x) {
    const std::size_t h = c.image_axis();
    std::vector<Range> more(c.image.shape().size(), Range{0, 0});
    more[h].second = c.tiles * c.filter.rows + c.taps - 1 - c.image.shape()[h].as_int();
    const ShapeTracker padded = c.image.pad(more);
    std::vector<Sint> shape = padded.shape(), strides = strides_for_shape(shape);
    const Sint row = strides[h];
    strides[h] = row * c.filter.rows;
    shape[h] = c.tiles;
    strides.insert(strides.begin(), Sint(0));
    shape.insert(shape.begin(), Sint(c.filter.points));
    std::vector<Tensor> rows;
    for (int i = 0; i < c.filter.points; i++) {
      const ShapeTracker st = padded + ShapeTracker({View::create(shape, strides, row * i)});
      rows.emplace_back(&graph_, graph_.view(x, graph_.stacked(x->st, st)));
    }
    const std::vector<Tensor> points = combined_image(tensors_, c.filter, rows);
    Tensor all = points.back();
    for (int i = c.filter.points - 2; i >= 0; i--) {
      const LazyBuffer* everywhere = graph_.constant(Scalar::of_int(DType::Bool, 1), shape);
      all = Tensor(&graph_, graph_.view(everywhere, ShapeTracker({only(shape, 0, i)}))).where(points[at(i)], all);
    }
    return all.buffer();
  }

  /// A constant of `shape` that is there at `index` of an axis alone.
  static View only(const std::vector<Sint>& shape, int axis, int index) {
    std::vector<Range> mask;
    for (const Sint& d : shape) mask.emplace_back(0, d);
    mask[at(axis)] = {index, index + 1};
    return View::create(shape, std::vector<Sint>(shape.size(), Sint(0)), 0, mask);
  }

  const LazyBuffer* weights_of(const Convolution& c, const LazyBuffer* data) {
    const View& seen = c.weights->st().views()[0];
    std::vector<std::int64_t> shape{c.filter.points};
    std::vector<std::size_t> axes;
    for (std::size_t axis = 0; axis < seen.shape.size(); axis++) {
      const bool moves = !seen.strides[axis].is_int(0) && static_cast<int>(axis) != c.tap;
      shape.push_back(moves ? seen.shape[axis].as_int() : 1);
      if (moves) axes.push_back(axis);
    }
    const std::int64_t count = data->data.size() / c.taps, tap = seen.strides[at(c.tap)].as_int();
    std::vector<std::byte> bytes(at(c.filter.points * count) * sizeof(float));  // there may be millions of numbers
    auto* values = reinterpret_cast<float*>(bytes.data());
    std::vector<std::int64_t> index(axes.size(), 0);
    for (std::int64_t n = 0; n < count; n++) {
      std::int64_t place = 0;
      for (std::size_t i = 0; i < axes.size(); i++) place += index[i] * seen.strides[axes[i]].as_int();
      const float* w = data->data.data<float>() + place;
      for (int point = 0; point < c.filter.points; point++) {
        double sum = 0;
        for (int k = 0; k < c.filter.taps; k++) sum += c.filter.weights[at(point)][at(k)] * static_cast<double>(w[k * tap]);
        values[point * count + n] = static_cast<float>(sum);
      }
      for (std::size_t i = axes.size(); i > 0 && ++index[i - 1] == seen.shape[axes[i - 1]].as_int();) index[--i] = 0;
    }
    OriginScope scope(graph_, data->origins);
    const LazyBuffer* combined = graph_.data(Array(DType::Float32, shape, std::move(bytes)), data->name);
    combined_[combined] = data;
    return combined;
  }

  /// [points, result of the sum with tiles for rows]
  const LazyBuffer* products_of(const Convolution& c, const LazyBuffer* image, const LazyBuffer* weights) {
    const std::vector<Sint> shape = c.of_tiles(c.x->shape), units = strides_for_shape(image->shape());
    std::vector<Sint> strides{units[0]};
    for (std::size_t axis = 0; axis < c.axes.size(); axis++) {
      const bool moves = c.axes[axis] && static_cast<int>(axis) != c.tap;
      strides.push_back(moves ? units[*c.axes[axis] + 1] * c.steps[axis] : Sint(0));
    }
    const LazyBuffer* v = graph_.view(image, ShapeTracker({View::create(shape, strides)}));
    const LazyBuffer* u = graph_.view(weights, weights->st.expand(shape));
    std::vector<int> reduced;
    for (const int axis : c.sum->axes())
      if (axis != c.tap) reduced.push_back(axis + 1);
    return graph_.reduce(Op::ReduceSum, graph_.elementwise(Op::Mul, {v, u}), reduced);
  }

  /// The view of tiles and their rows as one axis, without rows behind the last.
  static ShapeTracker flat(const Convolution& c, const View& tiles) {
    std::vector<Sint> shape = c.sum->shape;
    shape[at(c.row)] = c.tiles * c.filter.rows;
    std::vector<Range> ranges;
    for (const Sint& d : c.sum->shape) ranges.emplace_back(0, d);
    return ShapeTracker({tiles}).reshape(shape).shrink(ranges);
  }

  /// `item`, which makes the rows of the result from `products`.
  ScheduleItem results(ScheduleItem item, const Convolution& c, const LazyBuffer* products) {
    LazyOps& ops = graph_.ops();
    const int added = static_cast<int>(item.outs().size() + item.inputs.size());
    item.inputs.push_back(products);
    const LazyOp* result = rows_of(c, products, added);
    item.ast =
        rewrite_ast(ops, item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) { return op == c.sum ? result : nullptr; });
    drop_unread(ops, item);
    if (c.rows % c.filter.rows != 0) return item;
    AxisCuts cuts(c.sum->shape.size());
    const ShapeTracker whole = ShapeTracker::from_shape(c.sum->shape);
    cuts.add(whole, c.filter.rows * whole.views()[0].strides[at(c.row)].as_int());
    if (const auto cut = with_cut_axes(ops, item.ast, cuts)) item.ast = *cut;
    return item;
  }

  /// What the sum was, of argument `index`, the buffer `products`.
  const LazyOp* rows_of(const Convolution& c, const LazyBuffer* products, int index) {
    LazyOps& ops = graph_.ops();
    std::vector<Sint> shape = c.sum->shape, strides = strides_for_shape(products->shape());
    const Sint point = strides[0];
    strides.erase(strides.begin());
    shape[at(c.row)] = c.tiles;
    shape.insert(shape.begin() + c.row + 1, Sint(c.filter.rows));
    strides.insert(strides.begin() + c.row + 1, Sint(0));
    std::vector<const LazyOp*> m;
    for (int i = 0; i < c.filter.points; i++)
      m.push_back(ops.load(index, DType::Float32, flat(c, View::create(shape, strides, point * i))));
    AstNodes nodes{ops};
    const std::vector<const LazyOp*> rows = combined_result(nodes, c.filter, m);
    const LazyOp* all = rows.back();
    for (int i = c.filter.rows - 2; i >= 0; i--) {
      const LazyOp* is_row = ops.constant(Scalar::of_int(DType::Bool, 1), flat(c, only(shape, c.row + 1, i)));
      all = ops.elementwise(Op::Where, {is_row, rows[at(i)], all});
    }
    return all;
  }

  /// The kernel that computes `out`, a part of the work of the nodes of `reader`.
  ScheduleItem written(const ScheduleItem& reader, const LazyBuffer* out, const LazyBuffer* in) {
    Ast ast = build_ast(graph_, out, [&](const LazyBuffer* b) { return b == in; });
    return {ast.store, out, std::move(ast.inputs), {reader.main_node}, reader.main_node, {}};
  }

  LazyGraph& graph_;
  const ScheduleOptions& options_;
  Tensors tensors_;
  std::unordered_set<const LazyBuffer*> products_;                     // look-up only, like the next
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> combined_;  // weights, and what they were made from
};

}  // namespace

void winograd_convolutions(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit) {
  if (options.winograd == Winograd::Off) return;
  Combining combining(graph, options);
  for (const bool again : {false, true})
    if (!again || options.winograd == Winograd::TwoAxes)
      write_each_apart(schedule, options, limit, [&](const ScheduleItem& item) { return combining.split(item, again); });
  schedule.widened_bytes += combining.widened_bytes(schedule.items);
}

}  // namespace etch
