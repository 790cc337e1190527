#include "ir/lazyop.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/toposort.h"
#include "ir/contraction.h"

namespace etch {
namespace {

std::size_t hash_sints(std::size_t seed, const std::vector<Sint>& values) {
  for (const Sint& v : values) seed = hash_mix(seed, std::hash<Sint>{}(v));
  return seed;
}

bool same_shape(const std::vector<Sint>& a, const std::vector<Sint>& b) { return a == b; }

}  // namespace

const ShapeTracker& LazyOp::st() const {
  if (const auto* m = std::get_if<MemBuffer>(&arg)) return m->st;
  if (const auto* c = std::get_if<ConstBuffer>(&arg)) return c->st;
  return std::get<IndexBuffer>(arg).st;
}

std::size_t LazyOpHash::operator()(const LazyOp& op) const {
  std::size_t h = hash_mix(static_cast<std::size_t>(op.op), static_cast<std::uint64_t>(op.dtype));
  for (const LazyOp* s : op.src) h = hash_mix(h, reinterpret_cast<std::uintptr_t>(s));
  if (const auto* m = std::get_if<MemBuffer>(&op.arg))
    h = hash_mix(hash_mix(h, static_cast<std::uint64_t>(m->index)), std::hash<ShapeTracker>{}(m->st));
  if (const auto* c = std::get_if<ConstBuffer>(&op.arg)) h = hash_mix(hash_mix(h, c->value.bits()), std::hash<ShapeTracker>{}(c->st));
  if (const auto* i = std::get_if<IndexBuffer>(&op.arg)) h = hash_mix(h, std::hash<ShapeTracker>{}(i->st));
  if (const auto* r = std::get_if<ReduceAxes>(&op.arg)) h = hash_mix(hash_all(h, r->axes), r->is_scan ? 1 : 0);
  return hash_sints(h, op.shape);
}

const LazyOp* LazyOps::intern(LazyOp op) { return &*nodes_.insert(std::move(op)).first; }

const LazyOp* LazyOps::load(int buffer, DType dtype, ShapeTracker st) {
  std::vector<Sint> shape = st.shape();
  return intern({Op::Load, dtype, {}, MemBuffer{buffer, std::move(st)}, std::move(shape)});
}

const LazyOp* LazyOps::load_at(int buffer, DType dtype, ShapeTracker st, const LazyOp* index) {
  check(is_int(index->dtype), "the positions of an indexed load are integers");
  std::vector<Sint> shape = st.shape();
  check(!shape.empty() && shape.back().min() >= 1, "there is an element at some position");
  shape.pop_back();
  check(same_shape(shape, index->shape), "an indexed load has a position for each element");
  return intern({Op::Load, dtype, {index}, MemBuffer{buffer, std::move(st)}, std::move(shape)});
}

const LazyOp* LazyOps::constant(Scalar value, ShapeTracker st) {
  std::vector<Sint> shape = st.shape();
  return intern({Op::Const, value.dtype(), {}, ConstBuffer{value, std::move(st)}, std::move(shape)});
}

const LazyOp* LazyOps::index(DType dtype, ShapeTracker st) {
  check(is_legal(Op::Index, dtype), "an index is a number");
  std::vector<Sint> shape = st.shape();
  return intern({Op::Index, dtype, {}, IndexBuffer{std::move(st)}, std::move(shape)});
}

DType result_dtype(Op op, const std::vector<DType>& src) {
  check(static_cast<int>(src.size()) == info(op).arity, "an operation has as many operands as its arity");
  if (op == Op::Where) {
    check(src[0] == DType::Bool, "the condition of Where is bool");
    check(src[1] == src[2], "both values of Where have one type");
    return src[1];
  }
  for (DType d : src) {
    check(d == src[0], "the operands of an operation have one type");
    check(is_legal(op, d), "the operation exists for the type of its operands");
  }
  return gives_bool(op) ? DType::Bool : src[0];
}

const LazyOp* LazyOps::elementwise(Op op, std::vector<const LazyOp*> src) {
  check(is_elementwise(op) && !is_conversion(op) && !src.empty(), "an elementwise operation");
  std::vector<DType> dtypes;
  for (const LazyOp* s : src) {
    check(same_shape(s->shape, src[0]->shape), "the operands of an operation have one shape");
    dtypes.push_back(s->dtype);
  }
  const DType dtype = result_dtype(op, dtypes);
  std::vector<Sint> shape = src[0]->shape;
  return intern({op, dtype, std::move(src), {}, std::move(shape)});
}

const LazyOp* LazyOps::cast(const LazyOp* a, DType dtype) {
  if (a->dtype == dtype) return a;
  return intern({Op::Cast, dtype, {a}, {}, a->shape});
}

const LazyOp* LazyOps::bitcast(const LazyOp* a, DType dtype) {
  if (a->dtype == dtype) return a;
  check(bytes_of(a->dtype) == bytes_of(dtype), "a bitcast keeps the size");
  return intern({Op::Bitcast, dtype, {a}, {}, a->shape});
}

const LazyOp* LazyOps::reduce(Op op, const LazyOp* a, std::vector<int> axes) {
  check(is_reduce(op) && is_legal(op, a->dtype), "the reduction exists for its type");
  check(std::ranges::is_sorted(axes), "reduced axes ascend");
  std::vector<Sint> shape = a->shape;
  for (int axis : axes) shape.at(static_cast<std::size_t>(axis)) = 1;
  return intern({op, a->dtype, {a}, ReduceAxes{std::move(axes)}, std::move(shape)});
}

const LazyOp* LazyOps::scan(Op op, const LazyOp* a, int axis) {
  check(is_reduce(op) && is_legal(op, a->dtype), "the reduction exists for its type");
  return intern({op, a->dtype, {a}, ReduceAxes{{axis}, true}, a->shape});
}

const LazyOp* LazyOps::expand(const LazyOp* a, std::vector<Sint> shape) {
  check(a->shape.size() == shape.size(), "an expansion keeps the number of axes");
  for (std::size_t k = 0; k < shape.size(); k++)
    check(a->shape[k] == shape[k] || a->shape[k].is_int(1), "only axes of size 1 are expanded");
  if (a->shape == shape) return a;
  return intern({Op::Expand, a->dtype, {a}, {}, std::move(shape)});
}

const LazyOp* LazyOps::store(int buffer, const LazyOp* value, ShapeTracker st, const std::vector<const LazyOp*>& others) {
  check(same_shape(st.shape(), value->shape), "a store has the shape of its value");
  std::vector<Sint> shape = st.shape();
  std::vector<const LazyOp*> src{value};
  for (const LazyOp* other : others) {
    check(other->op == Op::Store && other->src.size() == 1, "a further output is a Store");
    check(other == others.back() || same_shape(other->shape, shape), "all outputs but the last have one shape");
    src.push_back(other);
  }
  if (!others.empty() && !same_shape(others.back()->shape, shape)) {
    const std::vector<const LazyOp*> second = toposort(others.back());
    const auto is_shared = [&](const LazyOp* op) { return op->op == Op::Load && std::ranges::find(second, op) != second.end(); };
    check(std::ranges::none_of(toposort(value), is_shared), "two trees share no buffer");
  }
  return intern({Op::Store, value->dtype, std::move(src), MemBuffer{buffer, std::move(st)}, std::move(shape)});
}

const LazyOp* LazyOps::rebuild(const LazyOp* like, const std::vector<const LazyOp*>& src, const std::vector<Sint>& shape) {
  check(info(like->op).group != OpGroup::Buffer && src.size() == like->src.size(), "an operation on as many sources");
  LazyOp made = *like;
  made.src = src;
  made.shape = shape;
  return intern(std::move(made));
}

std::vector<const LazyOp*> stores_of(const LazyOp* root) {
  std::vector<const LazyOp*> stores{root};
  stores.insert(stores.end(), root->src.begin() + 1, root->src.end());
  return stores;
}

const LazyOp* second_tree(const LazyOp* root) {
  const LazyOp* last = root->src.back();
  return root->src.size() > 1 && !same_shape(last->shape, root->shape) ? last : nullptr;
}

const LazyOp* first_tree(LazyOps& ops, const LazyOp* root) {
  if (second_tree(root) == nullptr) return root;
  return ops.store(root->mem().index, root->src[0], root->st(), {root->src.begin() + 1, root->src.end() - 1});
}

namespace {

/// Whether `st` shows every element from the first on once, without gaps, in any order of its axes.
bool is_dense(const ShapeTracker& st) {
  const View& view = st.views().front();
  if (st.views().size() > 1 || view.mask || !view.offset.is_int(0)) return false;
  return view.contiguous || view.invert();
}

}  // namespace

bool reads_in_place(const LazyOp* op, const LazyOp* store) {
  return op->op == Op::Load && op->src.empty() && op->st() == store->st() && is_dense(op->st()) &&
         bytes_of(op->dtype) == bytes_of(store->dtype);
}

Sint positions_read(const LazyOp* load) {
  if (is_indexed(load)) return product(load->shape);
  const ShapeTracker& st = load->st();
  const std::vector<std::optional<Sint>> strides = st.real_strides(true);
  Sint count = 1;
  for (std::size_t a = 0; a < strides.size(); a++)
    if (!strides[a] || !strides[a]->is_int(0)) count *= st.shape()[a];
  return count;
}

std::vector<const LazyOp*> toposort(const LazyOp* root) {
  return toposort<LazyOp>({root}, [](const LazyOp* op) -> const std::vector<const LazyOp*>& { return op->src; });
}

std::vector<const Node*> variables(const LazyOp* root) {
  std::map<std::string, const Node*> found;
  for (const LazyOp* op : toposort(root)) {
    if (info(op->op).group != OpGroup::Buffer) continue;
    for (const Node* v : op->st().variables()) found.emplace(v->name, v);
  }
  std::vector<const Node*> result;
  for (const auto& [name, node] : found) result.push_back(node);
  return result;
}

Work count_work(const LazyOp* root) {
  Work work;
  for (const LazyOp* op : toposort(root)) {
    if (!is_elementwise(op->op) && !is_reduce(op->op)) continue;
    if (is_conversion(op->op)) continue;
    const bool reduces = is_reduce(op->op);
    const Sint elements = product(reduces ? op->src[0]->shape : op->shape);
    work.flops = work.flops + elements;
    if (contraction_of(op)) work.macs = work.macs + elements;
  }
  return work;
}

std::string shape_text(const std::vector<Sint>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); i++) text += (i == 0 ? "" : ",") + to_text(shape[i]);
  return text + "]";
}

namespace {

std::string head_text(const LazyOp* op) {
  return std::string(name_of(op->op)) + " " + std::string(name_of(op->dtype)) + " " + shape_text(op->shape);
}

std::string argument_text(const LazyOp* op) {
  std::string text;
  if (const auto* m = std::get_if<MemBuffer>(&op->arg)) text += " buffer " + std::to_string(m->index) + " " + m->st.to_text();
  if (const auto* c = std::get_if<ConstBuffer>(&op->arg)) text += " " + c->value.to_text() + " " + c->st.to_text();
  if (const auto* i = std::get_if<IndexBuffer>(&op->arg)) text += " " + i->st.to_text();
  if (const auto* r = std::get_if<ReduceAxes>(&op->arg)) {
    text += r->is_scan ? " along" : " axes";
    for (int axis : r->axes) text += " " + std::to_string(axis);
  }
  return text;
}

}  // namespace

std::string to_text(const LazyOp* root) {
  std::string text;
  std::map<const LazyOp*, int> number;  // for look-up only, never walked
  for (const LazyOp* op : toposort(root)) {
    const int n = static_cast<int>(number.size());
    number[op] = n;
    text += "%" + std::to_string(n) + " = " + head_text(op);
    for (const LazyOp* s : op->src) text += " %" + std::to_string(number[s]);
    text += argument_text(op) + "\n";
  }
  return text;
}

std::string to_tree(const LazyOp* root) {
  struct Place {
    const LazyOp* op;
    std::string before;  // what stands in front of the lines below it
    std::string branch;  // "┣" or "┗"; nothing at the root
  };
  std::string text;
  std::map<const LazyOp*, int> lines;  // for look-up only, never walked
  std::vector<Place> open{{root, "", ""}};
  for (int line = 0; !open.empty(); line++) {
    const Place place = std::move(open.back());
    open.pop_back();
    const auto [seen, is_new] = lines.emplace(place.op, line);
    const bool opens = is_new && !place.op->src.empty();
    std::string number = std::to_string(line);
    number.insert(0, number.size() < 3 ? 3 - number.size() : 0, ' ');
    text += number + " " + place.before + place.branch + (opens ? "━┳ " : "━━ ");
    text += is_new ? head_text(place.op) + argument_text(place.op)
                   : std::string(name_of(place.op->op)) + " of line " + std::to_string(seen->second);
    text += "\n";
    if (!opens) continue;
    const std::string before = place.before + (place.branch == "┣" ? "┃ " : place.branch.empty() ? " " : "  ");
    for (std::size_t i = place.op->src.size(); i-- > 0;)  // the first source comes next
      open.push_back({place.op->src[i], before, i + 1 < place.op->src.size() ? "┣" : "┗"});
  }
  return text;
}

}  // namespace etch
