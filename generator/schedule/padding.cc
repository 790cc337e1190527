#include "schedule/padding.h"

#include <algorithm>
#include <optional>

#include "base/subscript.h"
#include "ir/contraction.h"
#include "schedule/byte_signs.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

// Products of one element from which on writing it once more is little beside the tests that it saves: element by element, as vectors, and
// where vectors would be read otherwise, of which most see no border.
constexpr std::int64_t kProducts = 16, kProductsOfVectors = 1, kProductsBesideVectors = 64, kProductsOfRows = 4;
constexpr std::int64_t kLanes = 4;

/// x is read through a view with a mask, of which other views show windows; outside there is a number.
struct Padded {
  const LazyOp *replaced = nullptr, *load = nullptr;  // what gives x with its padding; the Load of x
  Scalar padding;
  ShapeTracker padded, windows;           // of the buffer; of what is written
  std::optional<SignChange> change = {};  // of what is written
  bool pays = false;
};

/// Nothing but the first view of `st` has a mask.
bool is_padded_first(const ShapeTracker& st) {
  const std::vector<View>& views = st.views();
  return views.size() > 1 && views[0].mask && std::all_of(views.begin() + 1, views.end(), [](const View& v) { return !v.mask; });
}

bool is_padded_load(const LazyOp* op) {
  const bool is_copied =
      op->op == Op::Load && !is_indexed(op) && ((is_int(op->dtype) && bytes_of(op->dtype) <= 2) || op->dtype == DType::Float32);
  return is_copied && is_padded_first(op->st()) && op->st().views()[0].has_fixed_shape();
}

Padded padded_load(const LazyOp* replaced, const LazyOp* load, std::int64_t padding) {
  const std::vector<View>& views = load->st().views();
  return {replaced,
          load,
          Scalar::of_int(load->dtype, padding),
          ShapeTracker({views[0]}),
          ShapeTracker(std::vector<View>(views.begin() + 1, views.end())),
          {},
          false};
}

/// A factor that is padded by its zero point, or by 0.
std::optional<Padded> padded_by(const LazyOp* factor) {
  const LazyOp* below = factor->op == Op::Cast ? factor->src[0] : factor;
  if (is_padded_load(below)) return padded_load(factor, below, 0);
  if (factor->op != Op::Where) return std::nullopt;
  const LazyOp *inside = factor->src[0], *x = factor->src[1], *padding = factor->src[2];
  const LazyOp* load = x->op == Op::Cast ? x->src[0] : x;
  if (!is_padded_load(load) || inside->op != Op::Const || inside->constant().value.as_int() != 1 || padding->op != Op::Const)
    return std::nullopt;
  const std::vector<View>&views = load->st().views(), &masks = inside->st().views();
  const bool same_windows = std::equal(views.begin() + 1, views.end(), masks.begin() + 1, masks.end());
  if (!same_windows || views[0].shape != masks[0].shape || views[0].mask != masks[0].mask) return std::nullopt;
  const Scalar value = padding->constant().value;
  if (!is_int(value.dtype()) || value.as_int() < int_min(load->dtype) || value.as_int() > int_max(load->dtype)) return std::nullopt;
  return padded_load(factor, load, value.as_int());
}

/// Whether an axis without padding has whole vectors.
bool has_lanes(const Padded& p) {
  const View& seen = p.padded.views()[0];
  for (std::size_t axis = 0; axis < seen.shape.size(); axis++) {
    const Sint& size = seen.shape[axis];
    if (size.as_int() % kLanes == 0 && (*seen.mask)[axis].first.is_int(0) && (*seen.mask)[axis].second == size) return true;
  }
  return false;
}

/// Whether elements lie in memory in the order in which they are seen.
bool is_in_order(const View& v) {
  std::optional<std::int64_t> before;
  for (std::size_t axis = 0; axis < v.shape.size(); axis++) {
    if (v.shape[axis].is_int(1) || !v.strides[axis].is_int()) continue;
    if (before && v.strides[axis].as_int() > *before) return false;
    before = v.strides[axis].as_int();
  }
  return true;
}

std::int64_t least_products(const Padded& p, const LazyBuffer* x, bool has_vectors) {
  // Lanes run along rows, which must not be masked, where channels can't lie side by side: those that were shuffled, and an input's.
  const bool has_rows = x->kind == LazyKind::Input || !is_in_order(p.padded.views()[0]);
  if (p.load->dtype == DType::Float32) return has_rows ? kProductsOfRows : kProducts;
  if (!has_vectors) return kProducts;
  return has_lanes(p) ? kProductsOfVectors : kProductsBesideVectors;
}

/// The padded operand of the sum of products of an item, of several the first that is worth a kernel.
std::optional<Padded> padded_operand(const ScheduleItem& item, const ScheduleOptions& options) {
  if (item.ast == nullptr || !item.loops.empty()) return std::nullopt;
  std::optional<Padded> first;
  for (const LazyOp* op : toposort(item.ast)) {
    const auto sum = contraction_of(op);
    if (!sum) continue;
    for (const LazyOp* side : {sum->a(), sum->b()}) {
      std::optional<Padded> found = padded_by(side);
      if (!found || (found->load->dtype == DType::Float32 && !options.float_orders_alike)) continue;
      const std::int64_t least = least_products(*found, item.input_of(found->load), options.integer_orders_alike);
      found->pays = product(sum->product->shape).max() >= least * found->padded.size().max();
      found->change = sign_change(item, op, side, found->load->dtype, options);
      if (found->pays) return found;
      if (!first) first = found;
    }
  }
  return first;
}

class PaddingWriter {
 public:
  static constexpr const char* kKind = "padding";

  PaddingWriter(LazyGraph& graph, const ScheduleOptions& options) : graph_(graph), options_(options) {}

  std::optional<Padded> found_in(const ScheduleItem& item) const { return padded_operand(item, options_); }

  /// The kernel that writes what is read, with its padding.
  ScheduleItem writing(const Padded& p, const ScheduleItem& reader) {
    const LazyBuffer* x = reader.input_of(p.load);
    const std::vector<Sint>& shape = p.padded.shape();
    const Scalar number = p.change ? with_sign(p.padding, *p.change) : p.padding;
    OriginScope scope(graph_, reader.main_node);
    const LazyBuffer* everywhere = graph_.constant(Scalar::of_int(DType::Bool, 1), x->shape());
    const LazyBuffer* seen_x = graph_.view(x, graph_.stacked(x->st, p.padded));
    const LazyBuffer* out =
        graph_.elementwise(Op::Where, {graph_.view(everywhere, graph_.stacked(everywhere->st, p.padded)),
                                       p.change ? with_sign(graph_, seen_x, *p.change) : seen_x, graph_.constant(number, shape)});
    LazyOps& ops = graph_.ops();
    std::vector<Sint> none(shape.size(), Sint(0));
    const View& seen = p.padded.views()[0];
    const LazyOp* inside = ops.constant(Scalar::of_int(DType::Bool, 1), ShapeTracker({View::create(shape, none, 0, seen.mask)}));
    const LazyOp *load = ops.load(1, x->dtype, p.padded), *padding = ops.constant(number, ShapeTracker({View::create(shape, none)}));
    const LazyOp* value = ops.elementwise(Op::Where, {inside, p.change ? with_sign(ops, load, *p.change) : load, padding});
    return written_for(reader, ops, value, out, x);
  }

  /// `item`, where what is padded is read from `buffer`.
  ScheduleItem reading(ScheduleItem item, const Padded& p, const LazyBuffer* buffer) {
    if (p.change) add_offset(graph_, item, *p.change);
    const int added = static_cast<int>(item.outs().size() + item.inputs.size());
    item.inputs.push_back(buffer);
    item.ast = rewrite_ast(graph_.ops(), item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) -> const LazyOp* {
      if (op != p.replaced) return nullptr;
      const LazyOp* load = graph_.ops().load(added, buffer->dtype, p.windows);
      return op->dtype == buffer->dtype ? load : graph_.ops().cast(load, op->dtype);
    });
    drop_unread(graph_.ops(), item);
    return item;
  }

 private:
  LazyGraph& graph_;
  const ScheduleOptions& options_;
};

}  // namespace

void write_padding_once(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit) {
  PaddingWriter writer(graph, options);
  write_apart(schedule, options, limit, writer);
}

}  // namespace etch
