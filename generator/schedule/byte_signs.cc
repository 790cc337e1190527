#include "schedule/byte_signs.h"

#include <algorithm>

#include "base/subscript.h"
#include "interp/interp.h"
#include "ir/contraction.h"
#include "lazy/tensor.h"
#include "schedule/rewrite_ast.h"

namespace etch {
namespace {

constexpr std::int64_t kMostProduct = 255 * 128;  // of an unsigned byte and a weight
constexpr std::int64_t kProductsOfCopy = 64;      // of one element, from which on copying it is little beside them

bool is_plain(const ShapeTracker& st) { return st.views().size() == 1 && !st.views()[0].mask; }

bool is_masked_load(const LazyOp* load) {
  return std::ranges::any_of(load->st().views(), [](const View& v) { return v.mask.has_value(); });
}

std::int64_t users_of(const LazyOp* root, const LazyOp* op) {
  return std::ranges::count_if(toposort(root), [&](const LazyOp* o) { return std::ranges::count(o->src, op) > 0; });
}

/// What adds a constant to the sum, or subtracts it, and is all that reads it; and that constant.
struct Bias {
  const LazyOp *add = nullptr, *constant = nullptr;
};

Bias bias_of(const ScheduleItem& item, const LazyOp* sum) {
  if (users_of(item.ast, sum) != 1) return {};
  for (const LazyOp* op : toposort(item.ast)) {
    if ((op->op != Op::Add && (op->op != Op::Sub || op->src[0] != sum)) || std::ranges::count(op->src, sum) != 1) continue;
    const LazyOp* other = op->src[op->src[0] == sum ? 1 : 0];
    const bool is_data = other->op == Op::Load && !is_indexed(other) && item.input_of(other)->kind == LazyKind::Data;
    if ((is_data || other->op == Op::Const) && is_plain(other->st())) return {op, other};
  }
  return {};
}

/// `view` with one element along the axes that it does not move along, and that are not in `kept`.
View narrowed(const View& view, const std::vector<int>& kept, const View* other) {
  std::vector<Sint> shape = view.shape;
  for (int axis = 0; axis < static_cast<int>(shape.size()); axis++) {
    const bool moves = !view.strides[at(axis)].is_int(0) || (other != nullptr && !other->strides[at(axis)].is_int(0));
    if (!moves && std::ranges::find(kept, axis) == kept.end()) shape[at(axis)] = 1;
  }
  return View::create(shape, view.strides, view.offset);
}

/// The constant of `bias`, if any, and the offset times the sums of the weights, with one element along axes where it is the same.
const LazyBuffer* biased(LazyGraph& graph, const ScheduleItem& item, const SignChange& change, const Bias& bias) {
  LazyOps ops;
  const View &weights = change.weights->st().views()[0], *other = bias.constant != nullptr ? &bias.constant->st().views()[0] : nullptr;
  const View seen = narrowed(weights, change.sum->axes(), other);
  const LazyOp* w = ops.cast(ops.load(1, DType::Int8, ShapeTracker({seen})), DType::Int32);
  const LazyOp* sums = ops.reduce(Op::ReduceSum, w, change.sum->axes());
  const ShapeTracker all = ShapeTracker::from_shape(sums->shape);
  const std::vector<Sint> none(sums->shape.size(), Sint(0));
  const LazyOp* offset = ops.constant(Scalar::of_int(DType::Int32, change.offset), ShapeTracker({View::create(sums->shape, none)}));
  const LazyOp* value = ops.elementwise(Op::Mul, {sums, offset});
  const LazyBuffer* data = item.input_of(change.weights);
  std::vector<const Array*> inputs{&data->data};
  std::string name = data->name;
  if (bias.constant != nullptr) {
    const ShapeTracker st({View::create(sums->shape, other->strides, other->offset)});
    const bool is_load = bias.constant->op == Op::Load;
    if (is_load) {
      inputs.push_back(&item.input_of(bias.constant)->data);
      name = item.input_of(bias.constant)->name;
    }
    value =
        ops.elementwise(bias.add->op, {value, is_load ? ops.load(2, DType::Int32, st) : ops.constant(bias.constant->constant().value, st)});
  }
  OriginScope scope(graph, data->origins);
  return graph.data(interp_evaluate(ops.store(0, value, all), inputs), name);
}

/// A view of what biased() gives, where it is used.
ShapeTracker spread(const std::vector<std::int64_t>& narrow, const std::vector<Sint>& shape) {
  std::vector<Sint> strides(shape.size(), Sint(0));
  Sint stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    if (narrow[axis] == 1) continue;
    strides[axis] = stride;
    stride = stride * narrow[axis];
  }
  return ShapeTracker({View::create(shape, strides)});
}

/// What an item multiplies of a buffer, as it is or where no mask hides it.
struct Read {
  SignChange change{};
  const LazyOp *factor = nullptr, *load = nullptr;
  bool pays = false;
};

class Copies {
 public:
  static constexpr const char* kKind = "sign";

  Copies(LazyGraph& graph, const ScheduleOptions& options) : graph_(graph), options_(options) {}

  std::optional<Read> found_in(const ScheduleItem& item) const {
    if (item.ast == nullptr) return std::nullopt;
    std::optional<Read> first;
    for (const LazyOp* op : toposort(item.ast)) {
      const auto sum = contraction_of(op);
      if (!sum) continue;
      for (const LazyOp* factor : {sum->a(), sum->b()}) {
        const LazyOp* load = load_of_shown(factor);
        if (load == nullptr) continue;
        if (factor->op == Op::Where ? factor->src[2]->op != Op::Const || is_masked_load(factor->src[2]) : is_masked_load(load)) continue;
        const auto change = sign_change(item, op, factor, load->dtype, options_);
        const std::int64_t size = item.input_of(load)->st.size().max();
        const bool pays = product(sum->product->shape).max() >= kProductsOfCopy * size;
        if (!change || loads_of(item.ast, load->mem().index) != 1) continue;
        if (pays || !first) first = Read{*change, factor, load, pays};
        if (pays) return first;
      }
    }
    return first;
  }

  ScheduleItem writing(const Read& read, const ScheduleItem& reader) {
    const LazyBuffer* x = reader.input_of(read.load);
    LazyOps& ops = graph_.ops();
    OriginScope scope(graph_, reader.main_node);
    const LazyOp* load = ops.load(1, x->dtype, ShapeTracker::from_shape(x->shape()));
    return written_for(reader, ops, with_sign(ops, load, read.change), with_sign(graph_, x, read.change), x);
  }

  ScheduleItem reading(ScheduleItem item, const Read& read, const LazyBuffer* buffer) {
    const LazyBuffer* x = item.input_of(read.load);
    LazyOps& ops = graph_.ops();
    add_offset(graph_, item, read.change);
    item.ast = rewrite_ast(ops, item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) -> const LazyOp* {
      if (op != read.factor) return nullptr;
      const LazyOp* y = ops.cast(ops.load(read.load->mem().index, buffer->dtype, read.load->st()), op->dtype);
      if (op->op != Op::Where) return y;
      const LazyOp* padding = op->src[2];
      const auto number = Scalar::of_int(padding->dtype, padding->constant().value.as_int() - read.change.offset);
      return ops.elementwise(Op::Where, {op->src[0], y, ops.constant(number, padding->st())});
    });
    std::ranges::replace(item.inputs, x, buffer);
    return item;
  }

 private:
  LazyGraph& graph_;
  const ScheduleOptions& options_;
};

}  // namespace

std::optional<SignChange> sign_change(const ScheduleItem& item, const LazyOp* sum, const LazyOp* factor, DType x,
                                      const ScheduleOptions& options) {
  const auto c = contraction_of(sum);
  const bool is_byte = x == DType::Int8 || x == DType::UInt8;
  if (!options.stored_bytes || !is_byte || x == *options.stored_bytes || !c || !c->casts.empty()) return std::nullopt;
  const LazyOp* weights = load_of_factor(c->a() == factor ? c->b() : c->a());
  if (sum->dtype != DType::Int32 || factor->dtype != DType::Int32 || weights == nullptr) return std::nullopt;
  if (weights->dtype != DType::Int8 || !is_plain(weights->st()) || item.input_of(weights)->kind != LazyKind::Data) return std::nullopt;
  std::int64_t length = 1;
  for (const int axis : sum->axes()) {
    const Sint& size = weights->shape[at(axis)];
    if (!size.is_int()) return std::nullopt;
    length *= size.as_int();
  }
  const bool has_sizes = std::ranges::all_of(weights->shape, [](const Sint& d) { return d.is_int(); });
  const bool fits = length <= int_max(DType::Int32) / kMostProduct;
  if (!has_sizes || !fits || users_of(item.ast, factor) != 1 || users_of(item.ast, c->product) != 1) return std::nullopt;
  return SignChange{*options.stored_bytes, *options.stored_bytes == DType::Int8 ? kSignOffset : -kSignOffset, sum, weights};
}

const LazyBuffer* with_sign(LazyGraph& graph, const LazyBuffer* x, const SignChange& change) {
  const Tensor wide = Tensor(&graph, x).cast(DType::Int32);
  return (wide - Tensor::full(graph, wide.shape(), Scalar::of_int(DType::Int32, change.offset))).cast(change.stored).buffer();
}

const LazyOp* with_sign(LazyOps& ops, const LazyOp* x, const SignChange& change) {
  const std::vector<Sint> none(x->shape.size(), Sint(0));
  const LazyOp* offset = ops.constant(Scalar::of_int(DType::Int32, change.offset), ShapeTracker({View::create(x->shape, none)}));
  return ops.cast(ops.elementwise(Op::Sub, {ops.cast(x, DType::Int32), offset}), change.stored);
}

Scalar with_sign(const Scalar& x, const SignChange& change) { return Scalar::of_int(change.stored, x.as_int() - change.offset); }

void add_offset(LazyGraph& graph, ScheduleItem& item, const SignChange& change) {
  const Bias bias = bias_of(item, change.sum);
  const LazyBuffer* data = biased(graph, item, change, bias);
  int index = static_cast<int>(item.outs().size() + item.inputs.size());
  const bool is_alone = bias.constant != nullptr && bias.constant->op == Op::Load && loads_of(item.ast, bias.constant->mem().index) == 1;
  if (is_alone) {
    index = bias.constant->mem().index;
    item.inputs[at(index) - item.outs().size()] = data;
  } else {
    item.inputs.push_back(data);
  }
  const LazyOp* replaced = bias.add != nullptr ? bias.add : change.sum;
  item.ast = rewrite_ast(graph.ops(), item.ast, [&](const LazyOp* op, const std::vector<const LazyOp*>&) -> const LazyOp* {
    if (op != replaced) return nullptr;
    return graph.ops().elementwise(Op::Add,
                                   {change.sum, graph.ops().load(index, DType::Int32, spread(data->data.shape(), change.sum->shape))});
  });
}

void copy_with_sign(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit) {
  if (!options.stored_bytes) return;
  Copies copies(graph, options);
  write_apart(schedule, options, limit, copies);
}

}  // namespace etch
