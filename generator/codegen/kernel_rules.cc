// Which steps are legal: the rules of all OptOps but TC (tensor.cc), PIPELINE (kernel_pipeline.cc) and ROLL (kernel_roll.cc), each with the
// text that says what it asks for.
#include <algorithm>

#include "base/subscript.h"
#include "codegen/kernel.h"
#include "shape/int_math.h"

namespace etch {
namespace {

constexpr std::int64_t kSharedBytes = 32768;  // of local memory: what OpenCL promises for every device
constexpr const char* kFitsShared = "the sums of a work-group take at most 32768 bytes";
constexpr const char* kNotTensor = "no dot-product or matrix instruction (TC) computes the sums";

// Comparisons of floats are hidden from the compiler in vectors of the target's own size alone.
std::int64_t most_lanes(const CodegenOptions& options, const LazyOp* ast) {
  const auto is_of_floats = [](const LazyOp* op) { return is_float(op->dtype); };
  if (options.hides_equal && std::ranges::any_of(toposort(ast), is_of_floats)) return options.vector_bits / 32;
  return std::max(options.vector_bits / 32, options.integer_vectors ? std::min(options.vector_bits / 8, 16) : 0);  // of bytes
}

}  // namespace

bool Kernel::may_be_in_place() const {
  return std::ranges::any_of(bufs_, [&](const KernelBuf& load) {
    return std::ranges::any_of(stores_of(ast_), [&](const LazyOp* store) { return reads_in_place(load.op, store); });
  });
}

bool Kernel::sums_are_lanes() const {
  return tensor_ && options_->integer_vectors && instruction().lanes == 1 && !instruction().parts_evens() && !instruction().words &&
         tensor_->tail == 0;
}

bool Kernel::is_adjacent(int axis) const {
  return std::ranges::all_of(stores(), [&](const KernelBuf& b) {
    const auto stored = stride(b, axis);
    return stored && stored->is_int(1);
  });
}

// What is computed twice may lie over what it is computed from if the second time is not stored; distances are of what reads nothing that
// is written before.
bool Kernel::may_repeat() const { return !may_be_in_place() || (!options_->overlap && !is_staged()); }

// How many there are of some kinds together after `amount` more.
std::int64_t Kernel::product_of(std::initializer_list<AxisKind> kinds, std::int64_t amount) const {
  for (const Axis& a : axes_)
    if (std::ranges::find(kinds, a.kind) != kinds.end()) amount = saturating_mul(amount, a.size.as_int());
  return amount;
}

// Of the steps by which work-items share an axis.
std::vector<Kernel::Rule> Kernel::group_rules_of(OptOp op, int axis, std::int64_t amount) const {
  const AxisKind kind = axes_[at(axis)].kind;
  const std::int64_t items = product_of({AxisKind::Local, AxisKind::Group, AxisKind::Mid}, amount);
  const std::int64_t copies = product_of({AxisKind::Unroll, AxisKind::Upcast, AxisKind::Mid}, amount);
  std::vector<Rule> rules{{options_->has_local, "the language has work-groups"}};
  if (op == OptOp::Group || op == OptOp::GroupTop) {
    rules.push_back({kind == AxisKind::Reduce, "only a reduced axis can be grouped"});
    rules.push_back({!is_scan(), "a scan is not grouped"});
    rules.push_back({axes_[at(axis)].stage == 0, "the axes of the first stage are grouped, and those of the others with them"});
    rules.push_back({is_alike_in_stages(axis), "all stages have that part of the axis: none is split in another way"});
    rules.push_back({!tensor_, kNotTensor});
    rules.push_back({count(AxisKind::Vector) == 0, "a vector is not grouped"});
  } else if (op == OptOp::UpcastMid) {
    rules.push_back({count(AxisKind::Group) > 0, "there is a grouped reduction (GROUP, GROUPTOP)"});
    rules.push_back({!is_staged(), "in a kernel of several stages all work-items of a group go on"});
    rules.push_back({kind == AxisKind::Global, "only a global axis can be shared while reducing"});
    rules.push_back({amount <= 32 && copies <= 1024, "at most 32 at once and 1024 in all are upcast"});
  } else {
    rules.push_back({kind == AxisKind::Global, "only a global axis can be local"});
  }
  rules.push_back({!no_locals_, "the driver does not choose the work-groups (NOLOCALS)"});
  rules.push_back({items <= 1024, "a work-group has at most 1024 items"});
  rules.push_back({shared_bytes(op, amount) <= kSharedBytes, kFitsShared});
  return rules;
}

std::vector<Kernel::Rule> Kernel::vector_rules_of(int axis, std::int64_t amount) const {
  const bool is_parallel = axis < first_reduce();
  const AxisKind kind = axes_[at(axis)].kind;
  const std::int64_t size = axes_[at(axis)].size.as_int();
  const auto accumulates = [&](DType d) { return d == DType::Float32 || (options_->integer_vectors && d == DType::Int32); };
  const bool has_integers = std::ranges::any_of(reduces_, [](const LazyOp* r) { return is_int(r->dtype); });
  return {{options_->vector_bits > 0, "the target has vectors"},
          {!tensor_ || sums_are_lanes(), kNotTensor},
          {count(AxisKind::Vector) == 0 && count(AxisKind::Group) == 0, "one axis is the vector"},
          {is_parallel || (kind == AxisKind::Reduce && axes_[at(axis)].stage == 0 && is_alike_in_stages(axis) && !is_scan()),
           "it is not reduced, or all stages have that part of the axis and none is a scan"},
          {is_parallel || !has_integers, "sums of integers are no lanes"},
          {size % amount == 0 || !is_parallel || (kind == AxisKind::Global && !options_->has_local && amount < size && may_repeat()),
           "the amount divides the size, or the last vector of a loop may begin earlier: what is computed twice is not written in place"},
          {size % amount == 0 || is_parallel || (amount < size && axes_[at(axis)].multiplier == 1),
           "the amount divides the size, or the axis is whole: what lanes along a sum leave over is added behind them"},
          {(!is_staged() && !has_integers) || !is_parallel || is_adjacent(axis),
           "the elements that a kernel of several stages, or of integers, stores as a vector are adjacent"},
          {amount >= 4 && amount <= most_lanes(*options_, ast_) && (amount & (amount - 1)) == 0,
           "there is a type of so many lanes, which fit a register"},
          {std::ranges::all_of(reduces_, [&](const LazyOp* r) { return accumulates(r->dtype); }),
           "vectors accumulate float32, and int32 where the target has vectors of integers"}};
}

std::vector<Kernel::Rule> Kernel::rules_of(OptOp op, int axis, std::int64_t amount) const {
  const bool is_parallel = axis < first_reduce();
  const AxisKind kind = axes_[at(axis)].kind;
  const std::int64_t size = axes_[at(axis)].size.as_int();
  const std::int64_t copies = product_of({AxisKind::Unroll, AxisKind::Upcast, AxisKind::Mid}, amount);
  switch (op) {
    case OptOp::Upcast:
      return {{is_parallel || kind == AxisKind::Inner, "only an axis that is not reduced can be upcast"},
              {amount <= 32 && copies <= 1024, "at most 32 at once and 1024 in all are upcast"},
              {kind == AxisKind::Inner || shared_bytes(op, amount) <= kSharedBytes, kFitsShared}};
    case OptOp::Overlap:
      return {{kind == AxisKind::Global && !options_->has_local, "a loop over an axis that is not reduced is cut into tiles that overlap"},
              {amount < size && size % amount != 0, "the amount is less than the size and does not divide it"},
              {amount <= 32 && copies <= 1024, "at most 32 at once and 1024 in all are upcast"},
              {may_repeat(), "what is computed twice is not written over what it is computed from"}};
    case OptOp::Unroll:
      return {{kind == AxisKind::Reduce, "only a reduced axis can be unrolled"},
              {!is_scan() || count(AxisKind::Unroll) == 0, "a scan keeps its order: it is unrolled once"},
              {amount <= 32 && copies <= 1024, "at most 32 at once and 1024 in all are unrolled"}};
    case OptOp::Local:
    case OptOp::LastLocal:
    case OptOp::Group:
    case OptOp::GroupTop:
    case OptOp::UpcastMid:
      return group_rules_of(op, axis, amount);
    case OptOp::PadTo:
      return {{is_parallel, "only an axis that is not reduced can be padded"},
              {size > amount / 2, "padding at most doubles the work"},
              {size % amount != 0, "there is something to pad"}};
    case OptOp::Vector:
      return vector_rules_of(axis, amount);
    case OptOp::NoLocals:
    case OptOp::Interior:
    case OptOp::Tensor:
    case OptOp::Outermost:
    case OptOp::Block:
    case OptOp::Prefetch:
    case OptOp::Pipeline:
    case OptOp::PrefetchWrite:
    case OptOp::Roll:
    case OptOp::Zigzag:
    case OptOp::Backwards:
      return {};  // each has a function of its own: why_no_locals, ...
  }
  return {};
}

// Each work-item has its sums there, and behind UPCASTMID the same number is shared by fewer copies.
std::int64_t Kernel::shared_bytes(OptOp op, std::int64_t amount) const {
  const bool groups = op == OptOp::Group || op == OptOp::GroupTop, adds = groups || op == OptOp::Local || op == OptOp::LastLocal;
  if (!groups && count(AxisKind::Group) == 0) return 0;
  std::int64_t bytes = adds || op == OptOp::Upcast || op == OptOp::UpcastMid ? amount : 1;
  for (const Axis& a : axes_) {
    const bool is_item = a.kind == AxisKind::Local || a.kind == AxisKind::Group || a.kind == AxisKind::Mid;
    if (is_item || (a.kind == AxisKind::Upcast && a.stage == Axis::kOuter)) bytes = saturating_mul(bytes, a.size.as_int());
  }
  std::int64_t of_one = 0;
  for (const LazyOp* r : reduces_) of_one += bytes_of(r->dtype);
  return saturating_mul(bytes, of_one);
}

std::optional<std::string> Kernel::why_no_locals(const Opt& opt) const {
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  if (!options_->has_local) return "the language has work-groups";
  if (no_locals_) return "the driver does not choose the work-groups yet";
  if (count(AxisKind::Local) + count(AxisKind::Group) > 0) return "no axis is local or grouped";
  return std::nullopt;
}

std::optional<std::string> Kernel::why_no_interior(const Opt& opt) const {
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  if (options_->has_local) return "only loops get several bodies";
  if (options_->overlap || backwards_) return "outputs do not lie over parts of inputs, which are read in the order of one nest of loops";
  if (has_interior_) return "there is one body yet";
  if (zigzags_) return "the loops run forwards in every turn of the loop around the kernel";
  if (is_staged()) return "in a kernel of several stages each has its own masks";
  for (int axis = 0; axis < first_reduce(); axis++)
    if (std::ranges::any_of(bufs_, [&](const KernelBuf& b) { return is_masked(b, axis); })) return std::nullopt;
  return "a mask depends on a loop over an axis that is not reduced";
}

std::optional<std::string> Kernel::why_no_prefetch(const Opt& opt) const {
  if (options_->has_local) return "the language runs loops in order: it has no grid";
  if (opt.amount != 0) return "it takes no amount";
  if (prefetched_) return "one axis is asked for ahead";
  if (zigzags_) return "the loops run forwards in every turn of the loop around the kernel";
  if (reduces_.empty() || is_scan() || tensor_) return "it has a sum, which is no running one, and which no matrix instruction makes";
  if (is_staged() && reduce_stages_ < 2) return "its second stage has a sum";
  if (opt.axis < 0 || opt.axis >= count(AxisKind::Global)) return "the axis is one of the loops that are not reduced";
  const Axis& a = axes_[at(opt.axis)];
  const bool has_next = a.size.is_int() && a.size.as_int() > 1 && a.overlap == 0;
  return has_next ? std::nullopt : std::optional("the loop has a known number of turns, more than one, which do not overlap");
}

std::optional<std::string> Kernel::why_no_prefetch_of_stores(const Opt& opt) const {
  if (options_->has_local) return "the language runs loops in order: it has no grid";
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  if (prefetches_stores_) return "the stores are not asked for yet";
  const bool has_time = !reduces_.empty() && !is_scan() && !is_staged();
  return has_time ? std::nullopt : std::optional("it has a sum before its stores, which is no running one, and one stage");
}

std::optional<std::string> Kernel::why_no_order(const Opt& opt) const {
  if (options_->has_local) return "the language runs loops in order: it has no grid";
  if (has_interior_) return "there is one nest of loops: no body for borders (INTERIOR)";
  if (opt.op == OptOp::Zigzag) return why_no_zigzag(opt);
  if (opt.amount != 0 && opt.op != OptOp::Block) return "it takes no amount";
  if (opt.op == OptOp::Backwards) {
    if (opt.axis != 0) return "it takes no axis";
    if (backwards_ || zigzags_) return "the loops do not run backwards yet";
    return count(AxisKind::Global) == 0 ? std::optional("there is a loop over an axis that is not reduced") : std::nullopt;
  }
  const bool moves = opt.axis > 0 && opt.axis < count(AxisKind::Global);
  if (!moves) return "the axis is one of the loops that are not reduced, behind the first of them";
  if (opt.op == OptOp::Outermost) return std::nullopt;
  const Axis& a = axes_[at(opt.axis)];
  if (!a.size.is_int()) return "the size of the axis is not known";
  if (a.overlap > 0) return "tiles that overlap make no blocks";
  const bool divides = opt.amount > 1 && opt.amount < a.size.as_int() && a.size.as_int() % opt.amount == 0;
  return divides ? std::nullopt : std::optional("the amount is more than 1, less than the size and divides it");
}

std::optional<std::string> Kernel::why_no_zigzag(const Opt& opt) const {
  if (opt.axis != 0 || opt.amount != 0) return "it takes no axis and no amount";
  const auto counts = [&](const Node* v) { return v->name == options_->counter; };
  if (std::ranges::none_of(variables(ast_), counts)) return "the kernel knows which turn it is of the loop around it";
  if (zigzags_ || backwards_ || options_->overlap) return "the loops run forwards yet";
  if (prefetched_) return "nothing is asked for ahead, which would be another turn's";
  if (options_->workers.are_several()) return "one core reads again what it has read: the program has one worker";
  return product_of_loads(*this) && !is_staged() && !tensor_
             ? std::nullopt
             : std::optional("it has a sum of products, which no instruction makes as a whole");
}

std::optional<std::string> Kernel::why_illegal(const Opt& opt) const {
  if (is_of_order(opt.op)) return why_no_order(opt);
  if (opt.op == OptOp::NoLocals) return why_no_locals(opt);
  if (opt.op == OptOp::Interior) return why_no_interior(opt);
  if (opt.op == OptOp::Prefetch) return why_no_prefetch(opt);
  if (opt.op == OptOp::Pipeline) return why_no_pipeline(opt);
  if (opt.op == OptOp::Roll) return why_no_roll(opt);
  if (opt.op == OptOp::PrefetchWrite) return why_no_prefetch_of_stores(opt);
  if (opt.op == OptOp::Tensor) return why_no_tensor(opt);
  const int axis = axis_of(opt);
  if (axis < 0) return "there is no such axis";
  const Sint size = axes_[at(axis)].size;
  if (!size.is_int()) return "the size of the axis is not known";
  if (axes_[at(axis)].tile != 0) return "an axis of the tile of a matrix instruction stays whole";
  const std::int64_t amount = amount_of(opt, axis);
  if (amount <= 1) return "the amount is more than 1";
  if (axes_[at(axis)].overlap > 0 && opt.op != OptOp::Upcast) return "an axis whose tiles overlap is cut into larger tiles alone (UPCAST)";
  const bool divides = opt.op != OptOp::PadTo && opt.op != OptOp::Overlap && opt.op != OptOp::Vector;
  if (divides && size.as_int() % amount != 0) return "the amount divides the size " + std::to_string(size.as_int());
  for (const Rule& rule : rules_of(opt.op, axis, amount))
    if (!rule.holds) return rule.text;
  return std::nullopt;
}

}  // namespace etch
