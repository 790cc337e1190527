#include "lazy/graph.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/toposort.h"
#include "lazy/algebra.h"
#include "lazy/tape.h"

namespace etch {
namespace {

std::size_t hash_of(const LazyBuffer& b) {
  std::size_t h = hash_mix(static_cast<std::size_t>(b.kind), static_cast<std::uint64_t>(b.dtype));
  h = hash_mix(h, b.st.hash());
  if (b.kind == LazyKind::View) h = hash_mix(h, reinterpret_cast<std::uintptr_t>(b.base));
  if (b.kind == LazyKind::Compute) h = hash_mix(h, static_cast<std::uint64_t>(b.op));
  for (const LazyBuffer* s : b.src) h = hash_mix(h, reinterpret_cast<std::uintptr_t>(s));
  h = hash_mix(hash_all(h, b.axes), b.scan ? 1 : 0);
  if (b.loop != nullptr) h = hash_mix(hash_mix(h, static_cast<std::uint64_t>(b.loop->number)), static_cast<std::uint64_t>(b.slot));
  if (b.external != nullptr) h = hash_mix(hash_mix(h, std::hash<std::string>()(b.external->function)), static_cast<std::uint64_t>(b.slot));
  if (b.kind == LazyKind::Const) h = hash_mix(h, b.value.bits());
  if (b.kind == LazyKind::Data) h = hash_mix(h, b.data.content_hash());
  return h;
}

bool same(const LazyBuffer& a, const LazyBuffer& b) {
  if (a.kind != b.kind || a.dtype != b.dtype || a.src != b.src || a.axes != b.axes || a.scan != b.scan || !(a.st == b.st)) return false;
  if (a.loop != b.loop || a.slot != b.slot) return false;
  if (a.kind == LazyKind::External) return *a.external == *b.external;
  if (a.kind == LazyKind::View) return a.base == b.base;
  if (a.kind == LazyKind::Compute) return a.op == b.op;
  if (a.kind == LazyKind::Const) return a.value == b.value;
  if (a.kind == LazyKind::Data) return a.data == b.data;
  return a.kind != LazyKind::Input && a.kind != LazyKind::State;
}

ShapeTracker contiguous_tracker(const std::vector<Sint>& shape) { return ShapeTracker::from_shape(shape); }

bool is_positive_zero(const Scalar& value) { return value.bits() == 0; }

std::vector<std::string> merged(std::vector<std::string> a, const std::vector<std::string>& b) {
  for (const std::string& o : b)
    if (std::ranges::find(a, o) == a.end()) a.push_back(o);
  return a;
}

LazyBuffer base_of(LazyKind kind, DType dtype, const std::vector<Sint>& shape) {
  return LazyBuffer{.kind = kind, .dtype = dtype, .st = contiguous_tracker(shape)};
}

}  // namespace

std::string_view name_of(LazyKind kind) {
  switch (kind) {
    case LazyKind::Input:
      return "Input";
    case LazyKind::Data:
      return "Data";
    case LazyKind::Const:
      return "Const";
    case LazyKind::Index:
      return "Index";
    case LazyKind::Compute:
      return "Compute";
    case LazyKind::Contiguous:
      return "Contiguous";
    case LazyKind::Gather:
      return "Gather";
    case LazyKind::State:
      return "State";
    case LazyKind::Carried:
      return "Carried";
    case LazyKind::LoopResult:
      return "LoopResult";
    case LazyKind::External:
      return "External";
    case LazyKind::View:
      return "View";
  }
  return "";
}

std::span<const LazyBuffer* const> sources(const LazyBuffer* buffer) {
  if (!buffer->is_base()) return {&buffer->base, 1};
  return buffer->src;
}

std::vector<const LazyBuffer*> toposort_bases(const std::vector<const LazyBuffer*>& roots) {
  std::vector<const LazyBuffer*> bases;
  for (const LazyBuffer* root : roots) bases.push_back(root->base);
  // src may be views; only their bases are returned.
  std::vector<const LazyBuffer*> order;
  for (const LazyBuffer* b : toposort<LazyBuffer>(bases, sources))
    if (b->is_base()) order.push_back(b);
  return order;
}

bool is_masked(const ShapeTracker& st) {
  return std::ranges::any_of(st.views(), [](const View& v) { return v.mask.has_value(); });
}

bool is_empty(const std::vector<Sint>& shape) {
  return std::ranges::any_of(shape, [](const Sint& d) { return d.is_int(0); });
}

const Scalar* const_value(const LazyBuffer* buffer) {
  if (buffer->base->kind != LazyKind::Const || is_masked(buffer->st)) return nullptr;
  return &buffer->base->value;
}

LazyGraph::LazyGraph() : tape_(std::make_unique<Tape>()) {}
LazyGraph::~LazyGraph() = default;

std::shared_ptr<LazyGraph> LazyGraph::create() { return std::shared_ptr<LazyGraph>(new LazyGraph); }

void LazyGraph::set_origins(std::vector<std::string> origins) {
  origins_ = std::move(origins);
  for (const std::string& o : origins_) origin_ranks_.try_emplace(o, static_cast<int>(origin_ranks_.size()));
}

int LazyGraph::origin_rank(const std::string& origin) const {
  const auto it = origin_ranks_.find(origin);
  return it == origin_ranks_.end() ? -1 : it->second;
}

std::vector<std::string> LazyGraph::all_origins() const {
  std::vector<std::string> all(origin_ranks_.size());
  for (const auto& [origin, rank] : origin_ranks_) all[static_cast<std::size_t>(rank)] = origin;
  return all;
}

std::string LazyGraph::origin_kind(const std::string& origin) const {
  const auto it = origin_kinds_.find(origin);
  return it == origin_kinds_.end() ? "" : it->second;
}

const LazyBuffer* LazyGraph::add(LazyBuffer buffer) {
  buffer.number = static_cast<int>(buffers_.size());
  buffer.origins = origins_;
  const bool fixed = buffer.st.variables().empty();
  const auto below = sources(&buffer);
  // Loops and functions of others are not run on the host.
  const bool is_given = (is_memory(&buffer) && buffer.kind != LazyKind::Data) || buffer.kind == LazyKind::External;
  buffer.constant = fixed && !is_given && std::ranges::all_of(below, [](const LazyBuffer* s) { return s->constant; });
  LazyBuffer* kept = &buffers_.emplace_back(std::move(buffer));
  if (kept->base == nullptr) kept->base = kept;
  return kept;
}

void LazyGraph::share(const LazyBuffer* buffer, const std::vector<std::string>& origins) {
  auto& shared_by = const_cast<LazyBuffer*>(buffer)->shared_by;  // safe: shared_by is not part of the buffer's identity
  for (const std::string& o : origins) {
    if (std::ranges::find(buffer->origins, o) != buffer->origins.end()) continue;
    if (sharers_.emplace(buffer->number, origin_rank(o)).second) shared_by.push_back(o);
  }
}

const LazyBuffer* LazyGraph::intern(LazyBuffer buffer) {
  const std::size_t h = hash_of(buffer);
  const auto [first, last] = interned_.equal_range(h);
  for (auto it = first; it != last; it++) {
    if (!same(*it->second, buffer)) continue;
    share(it->second, origins_);
    return it->second;
  }
  const LazyBuffer* kept = add(std::move(buffer));
  interned_.emplace(h, kept);
  return kept;
}

const LazyBuffer* LazyGraph::input(const std::string& name, DType dtype, const std::vector<Sint>& shape) {
  LazyBuffer b = base_of(LazyKind::Input, dtype, shape);
  b.name = name;
  return add(std::move(b));
}

void LazyGraph::realize(const LazyBuffer* base, std::shared_ptr<Realized> memory) {
  check(base->is_base() && !base->constant && base->kind != LazyKind::Carried, "values that a kernel has computed are realized");
  const auto [first, last] = interned_.equal_range(hash_of(*base));
  for (auto it = first; it != last; it++) {
    if (it->second != base) continue;
    interned_.erase(it);
    break;
  }
  LazyBuffer& changed = *const_cast<LazyBuffer*>(base);  // safe: it is no longer found under what it was
  changed.kind = LazyKind::Input;
  changed.src.clear();
  changed.axes.clear();
  changed.scan = false;
  changed.loop = nullptr;
  changed.realized = std::move(memory);
}

const LazyBuffer* LazyGraph::data(Array data, const std::string& name) {
  const std::vector<Sint> shape(data.shape().begin(), data.shape().end());
  if (data.size() == 0) return constant(Scalar::of_int(data.dtype(), 0), shape);
  LazyBuffer b = base_of(LazyKind::Data, data.dtype(), shape);
  b.data = std::move(data);
  b.name = name;
  const LazyBuffer* kept = intern(std::move(b));
  if (kept->name.empty() && !name.empty()) const_cast<LazyBuffer*>(kept)->name = name;  // safe: the name is not part of its identity
  return kept;
}

const LazyBuffer* LazyGraph::constant(Scalar value, const std::vector<Sint>& shape) {
  if (is_empty(shape)) value = Scalar::of_int(value.dtype(), 0);
  LazyBuffer b = base_of(LazyKind::Const, value.dtype(), {});
  b.value = value;
  const LazyBuffer* base = intern(std::move(b));
  if (shape.empty()) return base;
  const std::vector<Sint> ones(shape.size(), 1);
  LazyBuffer v{.kind = LazyKind::View, .dtype = value.dtype(), .st = base->st.reshape(ones).expand(shape), .base = base};
  return intern(std::move(v));
}

const LazyBuffer* LazyGraph::index(DType dtype, Sint n) {
  check(is_legal(Op::Index, dtype), "an index is a number");
  if (n.is_int(0) || n.is_int(1)) return constant(Scalar::of_int(dtype, 0), {n});
  return intern(base_of(LazyKind::Index, dtype, {n}));
}

const LazyBuffer* LazyGraph::view(const LazyBuffer* a, ShapeTracker st) {
  const LazyBuffer* base = a->base;
  if (is_empty(st.shape())) return constant(Scalar::of_int(a->dtype, 0), st.shape());
  if (base->kind == LazyKind::Const && (is_positive_zero(base->value) || !is_masked(st))) return constant(base->value, st.shape());
  if (st == base->st) return base;
  LazyBuffer v{.kind = LazyKind::View, .dtype = a->dtype, .st = std::move(st), .base = base};
  if (a->is_base()) return intern(std::move(v));
  // A view of a view refers to the base, so the origins of the view in between are added here.
  OriginScope scope(*this, merged(a->origins, origins_));
  return intern(std::move(v));
}

const ShapeTracker& LazyGraph::simplified(const ShapeTracker& st) {
  if (const auto it = simplified_.find(st); it != simplified_.end()) return it->second;
  return simplified_.emplace(st, st.simplify()).first->second;
}

const ShapeTracker& LazyGraph::reshaped(const ShapeTracker& st, const std::vector<Sint>& shape) {
  std::pair key(st, shape);
  if (const auto it = reshaped_.find(key); it != reshaped_.end()) return it->second;
  return reshaped_.emplace(std::move(key), st.reshape(shape)).first->second;
}

const ShapeTracker& LazyGraph::stacked(const ShapeTracker& below, const ShapeTracker& above) {
  std::pair key(below, above);
  if (const auto it = stacked_.find(key); it != stacked_.end()) return it->second;
  return stacked_.emplace(std::move(key), below + above).first->second;
}

const LazyBuffer* LazyGraph::compute(Op op, DType dtype, const std::vector<const LazyBuffer*>& src, std::vector<int> axes) {
  std::vector<Sint> shape = src[0]->shape();
  for (int axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
  LazyBuffer b = base_of(LazyKind::Compute, dtype, shape);
  b.op = op;
  b.src = src;
  b.axes = std::move(axes);
  return intern(std::move(b));
}

const LazyBuffer* LazyGraph::elementwise(Op op, const std::vector<const LazyBuffer*>& src) {
  check(is_elementwise(op) && !is_conversion(op) && op != Op::MulAcc, "an elementwise operation of an AST");
  std::vector<DType> dtypes;
  for (const LazyBuffer* s : src) {
    check(s->shape() == src[0]->shape(), "the operands of an operation have one shape");
    dtypes.push_back(s->dtype);
  }
  const DType dtype = result_dtype(op, dtypes);
  if (is_empty(src[0]->shape())) return constant(Scalar::of_int(dtype, 0), src[0]->shape());
  if (const LazyBuffer* simple = simplify_elementwise(*this, op, src)) return simple;
  return compute(op, dtype, src, {});
}

const LazyBuffer* LazyGraph::cast(const LazyBuffer* a, DType dtype) {
  if (a->dtype == dtype) return a;
  if (const Scalar* value = const_value(a)) return constant(value->cast(dtype), a->shape());
  if (is_empty(a->shape())) return constant(Scalar::of_int(dtype, 0), a->shape());
  if (is_op(a, Op::Cast) && is_lossless(a->src[0]->dtype, a->dtype)) return cast(a->src[0], dtype);
  return compute(Op::Cast, dtype, {a}, {});
}

const LazyBuffer* LazyGraph::bitcast(const LazyBuffer* a, DType dtype) {
  if (a->dtype == dtype) return a;
  check(bytes_of(a->dtype) == bytes_of(dtype), "a bitcast keeps the size");
  if (is_empty(a->shape())) return constant(Scalar::of_int(dtype, 0), a->shape());
  return compute(Op::Bitcast, dtype, {a}, {});
}

const LazyBuffer* LazyGraph::reduce(Op op, const LazyBuffer* a, std::vector<int> axes) {
  check(is_reduce(op) && is_legal(op, a->dtype), "the reduction exists for its type");
  check(std::ranges::is_sorted(axes), "reduced axes ascend");
  if (const LazyBuffer* simple = simplify_reduce(*this, op, a, axes)) return simple;
  std::erase_if(axes, [&](int axis) { return a->shape()[static_cast<std::size_t>(axis)].is_int(1); });
  if (axes.empty()) return a;
  return compute(op, a->dtype, {a}, std::move(axes));
}

const LazyBuffer* LazyGraph::scan(Op op, const LazyBuffer* a, int axis) {
  check(is_reduce(op) && is_legal(op, a->dtype), "the reduction exists for its type");
  if (is_empty(a->shape()) || a->shape()[static_cast<std::size_t>(axis)].is_int(1)) return a;
  LazyBuffer b = base_of(LazyKind::Compute, a->dtype, a->shape());
  b.op = op;
  b.src = {a};
  b.axes = {axis};
  b.scan = true;
  return intern(std::move(b));
}

const LazyBuffer* LazyGraph::contiguous(const LazyBuffer* a) {
  const LazyKind kind = a->base->kind;
  const bool stored = is_memory(a->base) || kind == LazyKind::Contiguous || kind == LazyKind::External;
  if (stored && a->st.contiguous() && a->st.size() == a->base->st.size()) return a;
  if (is_empty(a->shape())) return a;
  LazyBuffer b = base_of(LazyKind::Contiguous, a->dtype, a->shape());
  b.src = {a};
  return intern(std::move(b));
}

const LazyBuffer* LazyGraph::gather(const LazyBuffer* table, const LazyBuffer* index) {
  std::vector<Sint> rows = table->shape();
  check(!rows.empty() && is_int(index->dtype), "rows and positions in them");
  const Sint n = rows.back();
  rows.pop_back();
  check(rows == index->shape(), "a position for each row");
  if (is_empty(rows)) return constant(Scalar::of_int(table->dtype, 0), rows);
  check(n.min() >= 1, "a row has elements");
  if (const Scalar* value = const_value(table)) return constant(*value, rows);
  const Scalar* position = n.is_int() ? const_value(index) : nullptr;
  if (position != nullptr || n.is_int(1)) {
    std::int64_t at = position == nullptr ? 0 : position->as_int();
    if (at < 0 && !is_unsigned(index->dtype)) at = std::max<std::int64_t>(at + n.as_int(), 0);
    if (at < 0 || at >= n.as_int()) at = n.as_int() - 1;
    std::vector<Range> ranges;
    for (const Sint& d : rows) ranges.emplace_back(0, d);
    ranges.emplace_back(at, at + 1);
    return view(table, table->st.shrink(ranges).reshape(rows));
  }
  const LazyKind kind = table->base->kind;
  if (is_op(table->base, Op::Cast) && bytes_of(table->base->src[0]->dtype) < bytes_of(table->dtype)) {
    const LazyBuffer* narrow = table->base->src[0];  // only what is taken is converted
    return cast(gather(view(narrow, stacked(narrow->st, table->st)), index), table->dtype);
  }
  if (kind == LazyKind::Const || kind == LazyKind::Index) table = contiguous(table);  // an indexed load reads memory
  LazyBuffer b = base_of(LazyKind::Gather, table->dtype, rows);
  b.src = {table, index};
  return intern(std::move(b));
}

const LazyLoop* LazyGraph::loop(Sint count, int carried) {
  check(carried >= 0 && count.min() >= 0 && count.max() >= 2, "a loop has turns");
  std::set<std::string> taken = taken_names_;  // "step", "step2", ... may be what a model calls its sizes
  for (const LazyBuffer& b : buffers_)
    if (b.kind == LazyKind::Input)
      for (const Sint& size : b.shape())
        for (const Node* v : variables(size)) taken.insert(v->name);
  for (const LazyLoop& l : loops_)
    for (const Node* v : variables(l.counter)) taken.insert(v->name);
  for (const Node* v : variables(count)) taken.insert(v->name);
  std::string name = "step";
  for (int n = 2; taken.contains(name); n++) name = "step" + std::to_string(n);
  loops_.push_back({static_cast<int>(loops_.size()), count, symbols_.variable(name, 0, count - 1), carried});
  return &loops_.back();
}

const LazyBuffer* LazyGraph::carried(const LazyLoop* loop, int slot, DType dtype, const std::vector<Sint>& shape) {
  check(slot >= 0 && slot < loop->carried, "a loop has that carried value");
  LazyBuffer b = base_of(LazyKind::Carried, dtype, shape);
  b.loop = loop;
  b.slot = slot;
  return intern(std::move(b));
}

const LazyBuffer* LazyGraph::loop_result(const LazyLoop* loop, int slot, const std::vector<const LazyBuffer*>& src) {
  const auto carried = static_cast<std::size_t>(loop->carried), which = static_cast<std::size_t>(slot);
  check(2 * carried <= src.size() && slot >= 0 && which < src.size() - carried, "a loop has that result");
  for (std::size_t k = 0; k < carried; k++)
    check(src[k]->shape() == src[carried + k]->shape() && src[k]->dtype == src[carried + k]->dtype, "a carried value keeps shape and type");
  const LazyBuffer* one = src[carried + which];
  std::vector<Sint> shape = one->shape();
  if (which >= carried) shape.insert(shape.begin(), loop->count);
  if (is_empty(shape)) return constant(Scalar::of_int(one->dtype, 0), shape);
  LazyBuffer b = base_of(LazyKind::LoopResult, one->dtype, shape);
  b.src = src;
  b.loop = loop;
  b.slot = slot;
  return intern(std::move(b));
}

std::vector<const LazyBuffer*> LazyGraph::external(const std::shared_ptr<const ExternalKernel>& function,
                                                   const std::vector<const LazyBuffer*>& src) {
  check(!function->outputs.empty(), "a function in C writes something");
  std::vector<const LazyBuffer*> in_memory;
  for (const LazyBuffer* s : src) {  // it reads memory, in order and as a whole
    check(!is_empty(s->shape()), "a function in C gets elements to read");
    const bool is_whole = shows_base(s) && (is_memory(s->base) || is_computed(s->base));
    in_memory.push_back(is_whole ? s->base : contiguous(s));
  }
  std::vector<const LazyBuffer*> outputs;
  for (const ExternalOutput& output : function->outputs) {
    check(!is_empty(output.shape), "a function in C is called for elements");
    LazyBuffer b = base_of(LazyKind::External, output.dtype, output.shape);
    b.src = in_memory;
    b.external = function;
    b.slot = static_cast<int>(outputs.size());
    outputs.push_back(intern(std::move(b)));
  }
  return outputs;
}

const LazyBuffer* LazyGraph::copy(const LazyBuffer* a) {
  LazyBuffer b = base_of(LazyKind::Contiguous, a->dtype, a->shape());
  b.src = {a};
  return add(std::move(b));
}

const LazyBuffer* LazyGraph::rebuild(const LazyBuffer* like, const std::vector<const LazyBuffer*>& src) {
  const LazyBuffer* made = rebuild_one(like, src);
  const bool is_alike = made != like && made->kind == like->kind && made->op == like->op;
  if (is_alike) share(made, like->shared_by);
  return made;
}

const LazyBuffer* LazyGraph::rebuild_one(const LazyBuffer* like, const std::vector<const LazyBuffer*>& src) {
  OriginScope scope(*this, like->origins);
  switch (like->kind) {
    case LazyKind::Input:
    case LazyKind::Data:
    case LazyKind::Const:
    case LazyKind::Index:
    case LazyKind::State:
    case LazyKind::Carried:
      return like;
    case LazyKind::View: {
      check(src[0]->shape() == like->base->shape(), "a rewrite keeps shapes");
      return src[0] == like->base ? like : view(src[0], stacked(src[0]->st, like->st));
    }
    case LazyKind::Contiguous:
      return contiguous(src[0]);
    case LazyKind::LoopResult:
      return src == like->src ? like : loop_result(like->loop, like->slot, src);
    case LazyKind::Gather:
      return src == like->src ? like : gather(src[0], src[1]);
    case LazyKind::External:
      return src == like->src ? like : external(like->external, src).at(static_cast<std::size_t>(like->slot));
    case LazyKind::Compute:
      break;
  }
  if (src == like->src) return like;
  if (like->op == Op::Cast) return cast(src[0], like->dtype);
  if (like->op == Op::Bitcast) return bitcast(src[0], like->dtype);
  if (is_scan(like)) return scan(like->op, src[0], like->axes[0]);
  if (is_reduce(like->op)) return reduce(like->op, src[0], like->axes);
  return elementwise(like->op, src);
}

std::string to_text(const std::vector<const LazyBuffer*>& outputs) {
  std::string text;
  std::unordered_map<const LazyBuffer*, int> number;  // for look-up only
  for (const LazyBuffer* b : toposort<LazyBuffer>(outputs, sources)) {
    const int n = static_cast<int>(number.size());
    number[b] = n;
    text += "%" + std::to_string(n) + " = " + std::string(b->kind == LazyKind::Compute ? name_of(b->op) : name_of(b->kind));
    text += " " + std::string(name_of(b->dtype)) + " " + shape_text(b->shape());
    for (const LazyBuffer* s : sources(b)) text += " %" + std::to_string(number[s]);
    if (b->is_reduction()) {
      text += is_scan(b) ? " along" : " axes";
      for (int axis : b->axes) text += " " + std::to_string(axis);
    }
    if (b->kind == LazyKind::Const) text += " " + b->value.to_text();
    if (b->loop != nullptr) {
      text += " loop " + std::to_string(b->loop->number) + " slot " + std::to_string(b->slot);
      if (b->kind == LazyKind::LoopResult) text += " turns " + to_text(b->loop->count);
    }
    if (b->kind == LazyKind::External) text += " output " + std::to_string(b->slot) + " of " + b->external->place();
    if (b->kind == LazyKind::View) text += " " + b->st.to_text();
    if (!b->name.empty()) text += " '" + b->name + "'";
    for (std::size_t i = 0; i < b->origins.size(); i++) text += (i == 0 ? "  # " : ", ") + b->origins[i];
    text += "\n";
  }
  text += "outputs";
  for (const LazyBuffer* b : outputs) text += " %" + std::to_string(number[b]);
  return text + "\n";
}

}  // namespace etch
