#include "codegen/kernel.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "ir/axis_names.h"

namespace etch {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// All reductions of the AST; none may stand below another, and all go over the same axes of the same shape.
std::vector<const LazyOp*> find_reduces(const LazyOp* ast) {
  std::vector<const LazyOp*> reduces;
  std::unordered_set<const LazyOp*> after_reduce;  // a reduction, or depends on one
  for (const LazyOp* op : toposort(ast)) {
    const bool late = std::ranges::any_of(op->src, [&](const LazyOp* s) { return after_reduce.contains(s); });
    if (late || is_reduce(op->op)) after_reduce.insert(op);
    if (!is_reduce(op->op)) continue;
    check(!late, "an AST is one reduction deep");
    reduces.push_back(op);
    check(op->axes() == reduces[0]->axes() && op->src[0]->shape == reduces[0]->src[0]->shape,
          "all reductions of an AST have the same axes");
  }
  return reduces;
}

[[noreturn]] void illegal(const Opt& opt, const std::string& why) { throw std::invalid_argument("illegal " + to_text(opt) + ": " + why); }

void require(bool holds, const Opt& opt, const std::string& why) {
  if (!holds) illegal(opt, why);
}

int rank(AxisKind kind) {
  switch (kind) {
    case AxisKind::Global:
      return 0;
    case AxisKind::Local:
      return 1;
    case AxisKind::Group:
      return 2;
    case AxisKind::Reduce:
      return 3;
    case AxisKind::Unroll:
    case AxisKind::Upcast:
      return 4;
    case AxisKind::Vector:
      return 5;
  }
  return 0;
}

}  // namespace

std::string to_text(const Opt& opt) {
  static constexpr const char* kNames[] = {"UPCAST", "UNROLL", "LOCAL", "GROUP", "GROUPTOP", "PADTO", "VECTOR"};
  return std::string(kNames[static_cast<int>(opt.op)]) + " " + std::to_string(opt.axis) + " " + std::to_string(opt.amount);
}

Kernel::Kernel(const LazyOp* ast, const CodegenOptions& options) : ast_(ast), options_(&options) {
  check(ast->op == Op::Store, "the root of an AST is a Store");
  reduces_ = find_reduces(ast);
  bufs_.push_back({ast, ast->st(), {}});
  for (const LazyOp* op : toposort(ast))
    if (op != ast && info(op->op).group == OpGroup::Buffer) bufs_.push_back({op, op->st(), {}});
  merge_dims(reduces_.empty() ? ast->shape : reduces_[0]->src[0]->shape);
  for (int d = 0; d < ast_dims_; d++)
    axes_.push_back({dims_[at(d)].reduce ? AxisKind::Reduce : AxisKind::Global, d, dims_[at(d)].valid, 1});
}

// Reduced dimensions last, dimensions of size 1 dropped, neighbours that every buffer walks as one merged.
void Kernel::merge_dims(const std::vector<Sint>& full) {
  const int n = static_cast<int>(full.size());
  std::vector<int> order;
  const auto is_reduced = [&](int d) { return !(full[at(d)] == ast_->shape[at(d)]); };
  for (int d = 0; d < n; d++)
    if (!is_reduced(d) && !full[at(d)].is_int(1)) order.push_back(d);
  const int first_reduce = static_cast<int>(order.size());
  for (int d = 0; d < n; d++)
    if (is_reduced(d) && !full[at(d)].is_int(1)) order.push_back(d);
  std::vector<int> permutation = order;
  for (int d = 0; d < n; d++)
    if (full[at(d)].is_int(1)) permutation.push_back(d);
  for (KernelBuf& b : bufs_) {
    b.st = b.st.permute(permutation);
    std::vector<Sint> shape(b.st.shape().begin(), b.st.shape().begin() + static_cast<std::ptrdiff_t>(order.size()));
    b.st = b.st.reshape(shape);
    b.strides = b.st.real_strides();
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
    b.st = b.st.reshape(shape);
    b.strides = b.st.real_strides();
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
  return buf.st.views().back().strides[at(root_dim(axis))] * root_multiplier(axis);
}

bool Kernel::is_masked(const KernelBuf& buf, int axis) const { return buf.st.axis_is_masked(root_dim(axis)); }

int Kernel::lanes() const {
  return axes_.empty() || axes_.back().kind != AxisKind::Vector ? 1 : static_cast<int>(axes_.back().size.as_int());
}

void Kernel::shift_to(int axis, std::int64_t amount, bool top, int insert_before, AxisKind kind) {
  Axis& from = axes_[at(axis)];
  const std::int64_t rest = from.size.as_int() / amount;
  Axis part = from;
  part.kind = kind;
  part.size = amount;
  if (top)
    part.multiplier = from.multiplier * rest;
  else
    from.multiplier *= amount;
  from.size = rest;
  axes_.insert(axes_.begin() + insert_before, part);
  if (rest == 1) axes_.erase(axes_.begin() + (insert_before <= axis ? axis + 1 : axis));
}

int Kernel::axis_of(const Opt& opt) const {
  int axis = opt.axis;
  if (opt.op == OptOp::Unroll) axis += first_reduce();
  if (opt.op == OptOp::Group || opt.op == OptOp::GroupTop) axis += first_reduce() + count(AxisKind::Group);
  require(opt.axis >= 0 && axis < first_upcast(), opt, "there is no such axis");
  return axis;
}

std::int64_t Kernel::amount_of(const Opt& opt, int axis) const {
  const Sint size = axes_[at(axis)].size;
  require(size.is_int(), opt, "the size of the axis is not known");
  const std::int64_t amount = opt.amount == 0 ? size.as_int() : opt.amount;
  require(amount > 1, opt, "the amount is more than 1");
  require(opt.op == OptOp::PadTo || size.as_int() % amount == 0, opt, "the amount divides the size " + std::to_string(size.as_int()));
  return amount;
}

void Kernel::apply(const Opt& opt) {
  const int axis = axis_of(opt);
  const std::int64_t amount = amount_of(opt, axis);
  const bool is_parallel = axis < first_reduce();
  const AxisKind kind = axes_[at(axis)].kind;
  const int end = first_upcast();
  const int last = static_cast<int>(axes_.size()) - count(AxisKind::Vector);
  std::int64_t copies = amount;
  for (int i = end; i < last; i++) copies *= axes_[at(i)].size.as_int();
  std::int64_t work_items = amount;
  for (const Axis& a : axes_)
    if (a.kind == AxisKind::Local || a.kind == AxisKind::Group) work_items *= a.size.as_int();
  switch (opt.op) {
    case OptOp::Upcast:
      require(is_parallel, opt, "only an axis that is not reduced can be upcast");
      require(amount <= 32 && copies <= 1024, opt, "at most 32 at once and 1024 in all are upcast");
      shift_to(axis, amount, false, last, AxisKind::Upcast);
      break;
    case OptOp::Unroll:
      require(!is_parallel && kind != AxisKind::Group, opt, "only a reduced axis can be unrolled");
      require(amount <= 32 && copies <= 1024, opt, "at most 32 at once and 1024 in all are unrolled");
      shift_to(axis, amount, false, last, AxisKind::Unroll);
      break;
    case OptOp::Local:
      require(options_->has_local, opt, "the language has work-groups");
      require(is_parallel && kind == AxisKind::Global, opt, "only a global axis can be local");
      require(work_items <= 1024, opt, "a work-group has at most 1024 items");
      shift_to(axis, amount, false, first_reduce(), AxisKind::Local);
      break;
    case OptOp::Group:
    case OptOp::GroupTop:
      require(options_->has_local, opt, "the language has work-groups");
      require(kind == AxisKind::Reduce, opt, "only a reduced axis can be grouped");
      require(count(AxisKind::Vector) == 0, opt, "a vector is not grouped");
      require(work_items <= 1024, opt, "a work-group has at most 1024 items");
      shift_to(axis, amount, opt.op == OptOp::GroupTop, first_reduce() + count(AxisKind::Group), AxisKind::Group);
      break;
    case OptOp::PadTo:
      require(is_parallel, opt, "only an axis that is not reduced can be padded");
      require(axes_[at(axis)].size.as_int() > amount / 2, opt, "padding at most doubles the work");
      require(axes_[at(axis)].size.as_int() % amount != 0, opt, "there is something to pad");
      apply_padto(axis, amount);
      break;
    case OptOp::Vector: {
      require(options_->vector_bits > 0, opt, "the target has vectors");
      require(is_parallel && count(AxisKind::Vector) == 0 && count(AxisKind::Group) == 0, opt,
              "one axis that is not reduced is the vector");
      require(amount * 32 <= options_->vector_bits && (amount & (amount - 1)) == 0, opt, "the lanes fit a register");
      for (const LazyOp* r : reduces_) require(r->dtype == DType::Float32, opt, "vectors accumulate float32");
      shift_to(axis, amount, false, static_cast<int>(axes_.size()), AxisKind::Vector);
      break;
    }
  }
  applied_.push_back(opt);
}

void Kernel::apply_padto(int axis, std::int64_t amount) {
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

}  // namespace etch
