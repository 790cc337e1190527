#include "codegen/kernel.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "base/subscript.h"
#include "ir/axis_names.h"
#include "shape/int_math.h"

namespace etch {
namespace {

struct StagedReduce {
  const LazyOp* op;
  int stage;  // number of reductions one below the other that it depends on
};

// All reductions of the AST; checks that all reduce the same axes of the same shape.
std::vector<StagedReduce> find_reduces(const LazyOp* ast) {
  std::vector<StagedReduce> reduces;
  int scans = 0;
  std::unordered_map<const LazyOp*, int> stages;  // in which stage a value is known; look-up only
  for (const LazyOp* op : toposort(ast)) {
    int& stage = stages[op];
    for (const LazyOp* s : op->src) stage = std::max(stage, stages.at(s));
    if (!is_reduce(op->op)) continue;
    reduces.push_back({op, stage++});
    const LazyOp* first = reduces[0].op;
    check(op->axes() == first->axes() && op->src[0]->shape == first->src[0]->shape, "all reductions of an AST have the same axes");
    scans += is_scan(op) ? 1 : 0;
    check(scans == 0 || reduces.size() == 1, "a scan is the only reduction of its kernel");
  }
  return reduces;
}

int rank(AxisKind kind) {
  switch (kind) {
    case AxisKind::Global:
      return 0;
    case AxisKind::Local:
      return 1;
    case AxisKind::Group:
      return 2;
    case AxisKind::Mid:
      return 3;
    case AxisKind::Reduce:
    case AxisKind::Inner:
      return 4;
    case AxisKind::Unroll:
    case AxisKind::Upcast:
      return 5;
    case AxisKind::Tensor:
      return 6;
    case AxisKind::Vector:
      return 7;
  }
  return 0;
}

}  // namespace

Kernel::Kernel(const LazyOp* ast, const CodegenOptions& options) : ast_(ast), options_(&options) {
  check(ast->op == Op::Store, "the root of an AST is a Store");
  for (const StagedReduce& reduce : find_reduces(ast)) {
    reduces_.push_back(reduce.op);
    stage_of_.push_back(reduce.stage);
    reduce_stages_ = std::max(reduce_stages_, reduce.stage + 1);
  }
  stores_reduced_dims_ = !reduces_.empty() && ast->shape != reduces_[0]->shape;
  for (const LazyOp* store : stores_of(ast)) bufs_.push_back({store, store->st(), {}, {}});
  check(bufs_.size() == 1 || (!stores_reduced_dims_ && !is_scan()), "of several outputs none has what a kernel reduces");
  for (const LazyOp* op : toposort(ast))
    if (op->op != Op::Store && info(op->op).group == OpGroup::Buffer) bufs_.push_back({op, op->st(), {}, {}});
  merge_dims(reduces_.empty() ? ast->shape : reduces_[0]->src[0]->shape);
  find_indexed_dims();
  const auto add_axes = [&](bool reduced, AxisKind kind, int stage) {
    for (int d = 0; d < ast_dims_; d++)
      if (dims_[at(d)].reduce == reduced) axes_.push_back({kind, d, dims_[at(d)].valid, 1, stage});
  };
  add_axes(false, AxisKind::Global, Axis::kOuter);
  for (int stage = 0; stage < reduce_stages_; stage++) add_axes(true, AxisKind::Reduce, stage);
  if (stores_reduced_dims_) add_axes(true, AxisKind::Inner, reduce_stages_);
}

std::vector<const LazyOp*> Kernel::reduces_of(int stage) const {
  std::vector<const LazyOp*> found;
  for (std::size_t r = 0; r < reduces_.size(); r++)
    if (stage_of_[r] == stage) found.push_back(reduces_[r]);
  return found;
}

// `shape` is that of the dimensions; the axis of an index stays behind them.
void Kernel::reshape(KernelBuf& buf, std::vector<Sint> shape) const {
  if (is_indexed(buf.op)) shape.push_back(buf.st.shape().back());
  buf.st = buf.st.reshape(shape);
  buf.strides = buf.st.real_strides();
  buf.masked = buf.st.masked_axes();
}

// An indexed load moves along every dimension along which its index can change.
void Kernel::find_indexed_dims() {
  for (KernelBuf& b : bufs_) {
    if (!is_indexed(b.op)) continue;
    for (const LazyOp* op : toposort(b.op->src[0])) {
      if (info(op->op).group != OpGroup::Buffer) continue;
      const KernelBuf& below = buf_of(op);
      for (int d = 0; d < ast_dims_; d++)
        if (!below.strides[at(d)] || !below.strides[at(d)]->is_int(0)) b.strides[at(d)] = std::nullopt;
    }
  }
}

// Puts reduced dimensions last, drops dimensions of size 1, and merges adjacent dimensions that every buffer reads as one.
void Kernel::merge_dims(const std::vector<Sint>& full) {
  const int n = static_cast<int>(full.size());
  std::vector<int> order;
  const auto is_reduced = [&](int d) {
    return !reduces_.empty() && std::ranges::find(reduces_[0]->axes(), d) != reduces_[0]->axes().end();
  };
  for (int d = 0; d < n; d++)
    if (!is_reduced(d) && !full[at(d)].is_int(1)) order.push_back(d);
  const int first_reduce = static_cast<int>(order.size());
  for (int d = 0; d < n; d++)
    if (is_reduced(d) && !full[at(d)].is_int(1)) order.push_back(d);
  std::vector<int> permutation = order;
  for (int d = 0; d < n; d++)
    if (full[at(d)].is_int(1)) permutation.push_back(d);
  for (KernelBuf& b : bufs_) {
    std::vector<int> all = permutation;
    if (is_indexed(b.op)) all.push_back(n);
    b.st = b.st.permute(all);
    reshape(b, {b.st.shape().begin(), b.st.shape().begin() + static_cast<std::ptrdiff_t>(order.size())});
  }
  const std::vector<std::string> letters = axis_letters(ast_);
  std::vector<std::vector<int>> groups;  // of positions in `order`
  const auto mergeable = [&](int before, int d) {
    return std::ranges::all_of(bufs_, [&](const KernelBuf& b) {
      const auto &s0 = b.strides[at(before)], &s1 = b.strides[at(d)];
      if (!s0 || !s1) return false;
      return s1->is_int(0) ? s0->is_int(0) : *s0 == b.st.shape()[at(d)] * *s1;
    });
  };
  for (int d = 0; d < static_cast<int>(order.size()); d++) {
    const bool symbolic = d > 0 && (!full[at(order[at(d)])].is_int() || !full[at(order[at(d - 1)])].is_int());
    if (d > 0 && d != first_reduce && !symbolic && mergeable(d - 1, d))
      groups.back().push_back(d);
    else
      groups.push_back({d});
  }
  for (const std::vector<int>& group : groups) {
    Dim dim{.valid = 1, .reduce = group[0] >= first_reduce};
    for (int d : group) {
      dim.valid = dim.valid * full[at(order[at(d)])];
      dim.letters += letters[at(order[at(d)])];
    }
    dims_.push_back(dim);
  }
  ast_dims_ = static_cast<int>(dims_.size());
  if (groups.size() == order.size()) return;
  for (KernelBuf& b : bufs_) {
    std::vector<Sint> shape;
    for (const std::vector<int>& group : groups) {
      Sint size = 1;
      for (int d : group) size = size * b.st.shape()[at(d)];
      shape.push_back(size);
    }
    reshape(b, std::move(shape));
  }
}

const KernelBuf& Kernel::buf_of(const LazyOp* op) const {
  const auto found = std::ranges::find(bufs_, op, &KernelBuf::op);
  check(found != bufs_.end(), "every leaf has its buffer");
  return *found;
}

int Kernel::count(AxisKind kind) const { return static_cast<int>(std::ranges::count(axes_, kind, &Axis::kind)); }

int Kernel::first_upcast() const {
  return static_cast<int>(std::ranges::find_if(axes_, [](const Axis& a) { return rank(a.kind) >= rank(AxisKind::Unroll); }) -
                          axes_.begin());
}

int Kernel::root_dim(int axis) const {
  int d = axes_[at(axis)].dim;
  while (dims_[at(d)].parent >= 0) d = dims_[at(d)].parent;
  return d;
}

std::int64_t Kernel::root_multiplier(int axis) const {
  const Axis& a = axes_[at(axis)];
  std::int64_t m = a.multiplier;
  for (int d = a.dim; dims_[at(d)].parent >= 0; d = dims_[at(d)].parent) m *= dims_[at(d)].multiplier;
  return m;
}

std::optional<Sint> Kernel::stride(const KernelBuf& buf, int axis) const {
  if (buf.st.shape()[at(root_dim(axis))].is_int(1)) return 0;  // read after the reduction of that dimension
  const auto& s = buf.strides[at(root_dim(axis))];
  if (!s) return std::nullopt;
  return *s * root_multiplier(axis);
}

Sint Kernel::view_stride(const KernelBuf& buf, int axis) const {
  const auto dim = at(root_dim(axis));
  const Sint stride = buf.st.views().back().strides[dim];
  if (is_indexed(buf.op) && stride.is_int(0) && !buf.strides[dim]) return 1;
  return stride * root_multiplier(axis);
}

int Kernel::prefetched_axis() const {
  if (!prefetched_) return -1;
  const auto found = std::ranges::find_if(axes_, [&](const Axis& a) {
    return a.kind == AxisKind::Global && a.overlap == 0 && a.dim == prefetched_->first && a.multiplier == prefetched_->second;
  });
  return found == axes_.end() ? -1 : static_cast<int>(found - axes_.begin());
}

bool Kernel::is_block(int axis) const {
  const Axis& a = axes_[at(axis)];
  return a.kind == AxisKind::Global && std::ranges::any_of(axes_, [&](const Axis& other) {
           return other.kind == AxisKind::Global && other.dim == a.dim && other.multiplier < a.multiplier;
         });
}

bool Kernel::is_masked(const KernelBuf& buf, int axis) const { return buf.masked[at(root_dim(axis))]; }

int Kernel::steps_axis() const {
  const auto found = std::ranges::find(axes_, 's', &Axis::tile);
  return found == axes_.end() ? -1 : static_cast<int>(found - axes_.begin());
}

int Kernel::lanes() const {
  return axes_.empty() || axes_.back().kind != AxisKind::Vector ? 1 : static_cast<int>(axes_.back().size.as_int());
}

void Kernel::shift_to(int axis, std::int64_t amount, int insert_before, AxisKind kind) {
  Axis& from = axes_[at(axis)];
  const std::int64_t rest = from.size.as_int() / amount;
  Axis part = from;
  part.kind = kind;
  part.size = amount;
  if (rest > 1) part.overlap = 0, part.tile_size = 1;
  from.multiplier *= amount;
  from.size = rest;
  if (from.overlap > 0) from.tile_size *= amount;
  axes_.insert(axes_.begin() + insert_before, part);
  if (rest == 1) axes_.erase(axes_.begin() + (insert_before <= axis ? axis + 1 : axis));
}

void Kernel::overlap(int axis, std::int64_t amount, int insert_before, AxisKind kind) {
  Axis& tiles = axes_[at(axis)];
  Axis part = tiles;
  part.kind = kind;
  part.size = amount;
  const std::int64_t size = tiles.size.as_int();
  tiles.multiplier *= amount;
  tiles.size = ceil_div(size, amount);
  tiles.tile_size = amount;
  tiles.overlap = tiles.size.as_int() * amount - size;
  axes_.insert(axes_.begin() + insert_before, part);
}

bool Kernel::is_same_part(const Axis& a, const Axis& b) {
  const auto is_loop = [](const Axis& axis) { return axis.kind == AxisKind::Reduce || axis.kind == AxisKind::Inner; };
  return is_loop(a) && is_loop(b) && a.dim == b.dim && a.size == b.size && a.multiplier == b.multiplier;
}

bool Kernel::is_alike_in_stages(int axis) const {
  const auto same = std::ranges::count_if(axes_, [&](const Axis& a) { return is_same_part(a, axes_[at(axis)]); });
  return same == reduce_stages_ + (stores_reduced_dims_ ? 1 : 0);
}

// Every stage is split alike, so that a work-item or a lane has the same elements in each: what one stage keeps in the output the same one
// reads in another.
Axis Kernel::split_stages(int axis, std::int64_t amount, AxisKind kind, bool top) {
  const Axis whole = axes_[at(axis)];
  const std::int64_t rest = whole.size.as_int() / amount;
  Axis part = whole;
  part.kind = kind;
  part.size = amount;
  part.stage = Axis::kOuter;
  if (top) part.multiplier = whole.multiplier * rest;
  for (Axis& a : axes_) {
    if (!is_same_part(a, whole)) continue;
    a.size = rest;
    if (!top) a.multiplier *= amount;
  }
  if (rest == 1) std::erase_if(axes_, [&](const Axis& a) { return a.dim == whole.dim && a.size.is_int(1); });
  return part;
}

void Kernel::group(int axis, std::int64_t amount, bool top) {
  const Axis part = split_stages(axis, amount, AxisKind::Group, top);
  axes_.insert(axes_.begin() + first_reduce() + count(AxisKind::Group), part);
}

void Kernel::make_vector(int axis, std::int64_t amount) {
  const int end = static_cast<int>(axes_.size());
  if (axis >= first_reduce()) {
    const Axis whole = axes_[at(axis)];
    const std::int64_t size = whole.size.as_int();
    if (size % amount != 0) lanes_rest_ = {whole.dim, size - size % amount, size};
    axes_.push_back(split_stages(axis, amount, AxisKind::Vector, false));
  } else if (axes_[at(axis)].size.as_int() % amount != 0) {
    overlap(axis, amount, end, AxisKind::Vector);
  } else {
    shift_to(axis, amount, end, AxisKind::Vector);
  }
}

void Kernel::block(int axis, std::int64_t amount) {
  Axis blocks = axes_[at(axis)];
  blocks.size = blocks.size.as_int() / amount;
  blocks.multiplier *= amount;
  axes_[at(axis)].size = amount;
  axes_.insert(axes_.begin(), blocks);
}

// UNROLL counts axes from the first one after the parallel ones, GROUP and GROUPTOP from the first one that is not grouped yet.
int Kernel::axis_of(const Opt& opt) const {
  int first = 0;
  if (opt.op == OptOp::Unroll) first = first_reduce();
  if (opt.op == OptOp::Group || opt.op == OptOp::GroupTop) first = first_reduce() + count(AxisKind::Group) + count(AxisKind::Mid);
  return opt.axis >= 0 && opt.axis < first_upcast() - first ? first + opt.axis : -1;
}

std::int64_t Kernel::amount_of(const Opt& opt, int axis) const { return opt.amount == 0 ? axes_[at(axis)].size.as_int() : opt.amount; }

// What changes the order of the loops, or what they do beside the sums.
void Kernel::apply_to_loops(const Opt& opt) {
  if (opt.op == OptOp::Outermost) std::rotate(axes_.begin(), axes_.begin() + opt.axis, axes_.begin() + opt.axis + 1);
  if (opt.op == OptOp::Block) block(opt.axis, opt.amount);
  if (opt.op == OptOp::Prefetch) prefetched_.emplace(axes_[at(opt.axis)].dim, axes_[at(opt.axis)].multiplier);
  if (opt.op == OptOp::Pipeline) pipelined_ = true;
  if (opt.op == OptOp::PrefetchWrite) prefetches_stores_ = true;
  if (opt.op == OptOp::Roll) rolls_ = true;
  if (opt.op == OptOp::Zigzag) zigzags_ = true;
  if (opt.op == OptOp::Backwards) backwards_ = true;
}

bool Kernel::takes_axis(OptOp op) {
  const bool is_ahead = op == OptOp::Prefetch || op == OptOp::Pipeline || op == OptOp::PrefetchWrite || op == OptOp::Roll;
  return op != OptOp::NoLocals && op != OptOp::Interior && op != OptOp::Tensor && !is_ahead && !is_of_order(op);
}

bool Kernel::try_apply(const Opt& opt) {
  if (why_illegal(opt)) return false;
  const bool has_axis = takes_axis(opt.op);
  const int axis = has_axis ? axis_of(opt) : 0;
  const std::int64_t amount = has_axis ? amount_of(opt, axis) : 0;
  const int last = static_cast<int>(axes_.size()) - count(AxisKind::Tensor) - count(AxisKind::Vector);
  switch (opt.op) {
    case OptOp::Upcast:
      shift_to(axis, amount, last, AxisKind::Upcast);
      break;
    case OptOp::Overlap:
      overlap(axis, amount, last, AxisKind::Upcast);
      break;
    case OptOp::Unroll:
      // The steps of a dot product follow each other.
      shift_to(axis, amount, steps_axis() < 0 ? last : steps_axis(), AxisKind::Unroll);
      break;
    case OptOp::Local:
      shift_to(axis, amount, first_reduce() - tile_items(), AxisKind::Local);
      break;
    case OptOp::LastLocal:
      shift_to(axis, amount, count(AxisKind::Global), AxisKind::Local);
      break;
    case OptOp::Group:
    case OptOp::GroupTop:
      group(axis, amount, opt.op == OptOp::GroupTop);
      break;
    case OptOp::UpcastMid:
      shift_to(axis, amount, first_reduce() + count(AxisKind::Group) + count(AxisKind::Mid), AxisKind::Mid);
      break;
    case OptOp::NoLocals:
      no_locals_ = true;
      break;
    case OptOp::PadTo:
      pad_to(axis, amount);
      break;
    case OptOp::Vector:
      make_vector(axis, amount);
      break;
    case OptOp::Interior:
      has_interior_ = true;
      break;
    case OptOp::Tensor:
      apply_tensor(opt);
      break;
    case OptOp::Outermost:
    case OptOp::Block:
    case OptOp::Prefetch:
    case OptOp::Pipeline:
    case OptOp::PrefetchWrite:
    case OptOp::Roll:
    case OptOp::Zigzag:
    case OptOp::Backwards:
      apply_to_loops(opt);
      break;
  }
  applied_.push_back(opt);
  return true;
}

void Kernel::apply(const Opt& opt) {
  if (const auto why = why_illegal(opt)) throw std::invalid_argument("illegal " + to_text(opt) + ": " + *why);
  try_apply(opt);
}

void Kernel::pad_to(int axis, std::int64_t amount) {
  Axis& a = axes_[at(axis)];
  dims_.push_back({.valid = a.size, .reduce = false, .parent = a.dim, .multiplier = a.multiplier});
  a.dim = static_cast<int>(dims_.size()) - 1;
  a.multiplier = 1;
  a.size = (a.size.as_int() + amount - 1) / amount * amount;
}

std::string Kernel::shape_name() const {
  std::string name = reduces_.empty() ? "E" : "r";
  for (const Axis& a : axes_) {
    name += "_";
    if (a.size.is_int()) {
      name += std::to_string(a.size.as_int());
      continue;
    }
    for (char c : to_text(a.size)) name += (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? c : '_';
  }
  return name;
}

std::vector<const KernelBuf*> reduced_bufs(const Kernel& kernel) {
  std::unordered_set<const LazyOp*> below;
  for (const LazyOp* r : kernel.reduces())
    for (const LazyOp* op : toposort(r->src[0])) below.insert(op);
  std::vector<const KernelBuf*> bufs;
  for (const KernelBuf& b : kernel.bufs())
    if (below.contains(b.op)) bufs.push_back(&b);
  return bufs;
}

bool is_of_row(const Kernel& kernel, const LazyOp* op) {
  const auto is_one = [&](int axis) { return op->shape[static_cast<std::size_t>(axis)].is_int(1); };
  return !kernel.reduces().empty() && std::ranges::all_of(kernel.reduces()[0]->axes(), is_one);
}

void order_for_overlap(Kernel& kernel) {
  int longest = 0;
  const auto stride = [&](int axis) {
    const auto s = kernel.stride(kernel.stores()[0], axis);
    return s && s->is_int() ? s->as_int() : 0;
  };
  for (int axis = 1; axis < kernel.count(AxisKind::Global); axis++)
    if (stride(axis) > stride(longest)) longest = axis;
  if (longest > 0) kernel.try_apply({OptOp::Outermost, longest, 0});
  if (kernel.options().backwards) kernel.try_apply({OptOp::Backwards, 0, 0});
}

std::optional<Contraction> product_of_loads(const Kernel& kernel) {
  if (kernel.reduces().size() != 1) return std::nullopt;
  std::optional<Contraction> c = contraction_of(kernel.reduces()[0]);
  const bool loads = c && c->casts.empty() && is_op(c->a(), Op::Load) && is_op(c->b(), Op::Load);
  return loads ? c : std::nullopt;
}

}  // namespace etch
