// LazyOp: the AST of one kernel, a tree with shared parts (a DAG); its leaves are Load, Const and Index, its root is a Store. Nodes
// are interned in a LazyOps and immutable: equal trees are the same pointer. A kernel with several outputs has further Stores among the
// sources of its root. One of another shape, the last one, is that of a second tree, which shares nothing with the first but the loops
// that both are computed in (horizontal fusion).
//
// All nodes have one shape, except that the axes of reductions have size 1 behind them. A reduction may depend on others over the same
// axes: Expand brings their results back to the whole shape. The kernel then has several stages.
//
// An indexed Load has an operand: for each element a position, computed by the kernel. Its ShapeTracker has one axis more than its
// shape, the last, along which that position is taken. A negative position counts from the end; one outside counts as the nearest one
// inside, so that no value of the operand leads out of the buffer.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/op.h"
#include "ir/scalar.h"
#include "shape/shapetracker.h"

namespace etch {

/// A buffer that a kernel reads or writes: number `index` among the kernel's arguments (outputs come first).
struct MemBuffer {
  int index = 0;
  ShapeTracker st;
  bool operator==(const MemBuffer&) const = default;
};

/// One value seen through `st`: a padded constant has zeros around it.
struct ConstBuffer {
  Scalar value;
  ShapeTracker st;
  bool operator==(const ConstBuffer&) const = default;
};

/// The position that `st` gives, used as a value: with a contiguous st of shape (n) these are 0, 1, ... n-1.
struct IndexBuffer {
  ShapeTracker st;
  bool operator==(const IndexBuffer&) const = default;
};

/// Reduced axes, ascending; each becomes size 1. A scan has one axis, which keeps its size: an element is the reduction of those up to it.
struct ReduceAxes {
  std::vector<int> axes;
  bool is_scan = false;
  bool operator==(const ReduceAxes&) const = default;
};

using LazyArg = std::variant<std::monostate, MemBuffer, ConstBuffer, IndexBuffer, ReduceAxes>;

struct LazyOp {
  Op op{};
  DType dtype{};  // of the result; for Store and Load, of the buffer
  std::vector<const LazyOp*> src;
  LazyArg arg;
  std::vector<Sint> shape;  // of the result

  bool operator==(const LazyOp&) const = default;
  const ShapeTracker& st() const;  // of a Load, Const, Index or Store
  const MemBuffer& mem() const { return std::get<MemBuffer>(arg); }
  const ConstBuffer& constant() const { return std::get<ConstBuffer>(arg); }
  const std::vector<int>& axes() const { return std::get<ReduceAxes>(arg).axes; }
};

struct LazyOpHash {
  std::size_t operator()(const LazyOp& op) const;
};

/// Makes and owns LazyOps. Every function checks arity, shapes and types and throws InternalError where they do not fit.
class LazyOps {
 public:
  const LazyOp* load(int buffer, DType dtype, ShapeTracker st);
  /// An indexed Load: `index` holds integers, one for each element of the result.
  const LazyOp* load_at(int buffer, DType dtype, ShapeTracker st, const LazyOp* index);
  const LazyOp* constant(Scalar value, ShapeTracker st);
  const LazyOp* index(DType dtype, ShapeTracker st);
  /// An elementwise operation on equal shapes.
  const LazyOp* elementwise(Op op, std::vector<const LazyOp*> src);
  const LazyOp* cast(const LazyOp* a, DType dtype);
  const LazyOp* bitcast(const LazyOp* a, DType dtype);
  const LazyOp* reduce(Op op, const LazyOp* a, std::vector<int> axes);
  const LazyOp* scan(Op op, const LazyOp* a, int axis);
  /// `a` repeated along axes of size 1; the other sizes stay.
  const LazyOp* expand(const LazyOp* a, std::vector<Sint> shape);
  /// `st` is of the shape of `value`, and no two elements of it are the same one. `others`: Stores of that shape into buffers of their own;
  /// the last may be of another shape.
  const LazyOp* store(int buffer, const LazyOp* value, ShapeTracker st, const std::vector<const LazyOp*>& others = {});
  /// The operation of `like`, which is no leaf, on other sources; its result has the shape `shape`.
  const LazyOp* rebuild(const LazyOp* like, const std::vector<const LazyOp*>& src, const std::vector<Sint>& shape);

 private:
  const LazyOp* intern(LazyOp op);
  std::unordered_set<LazyOp, LazyOpHash> nodes_;  // node-based: addresses stay
};

/// The dtype of op(src...), as LazyOps::elementwise gives it.
DType result_dtype(Op op, const std::vector<DType>& src);
/// All nodes below and including `root`, sources first.
std::vector<const LazyOp*> toposort(const LazyOp* root);
/// Whether `op` is a reduction that gives the results for all beginnings of an axis, such as a running sum.
inline bool is_scan(const LazyOp* op) { return is_reduce(op->op) && std::get<ReduceAxes>(op->arg).is_scan; }
/// The Stores of a kernel: `root`, then its further outputs.
std::vector<const LazyOp*> stores_of(const LazyOp* root);
/// The Store of the second of two trees that are one kernel; nullptr: it has only one.
const LazyOp* second_tree(const LazyOp* root);
/// The first of the two, without the second; `root` itself if it is the only one.
const LazyOp* first_tree(LazyOps& ops, const LazyOp* root);
/// Whether `op` is a Load that reads each element only where `store` then writes it: the output may lie over such a buffer.
bool reads_in_place(const LazyOp* op, const LazyOp* store);
/// Number of positions that a Load reads: an axis with stride 0 counts once. An indexed one reads a position for each element.
Sint positions_read(const LazyOp* load);
/// Whether `op` is a Load whose positions the kernel computes.
inline bool is_indexed(const LazyOp* op) { return op->op == Op::Load && !op->src.empty(); }
/// The Load of a factor, itself or below a cast; nullptr: it is none, or an indexed one.
inline const LazyOp* load_of_factor(const LazyOp* factor) {
  const LazyOp* load = factor->op == Op::Cast ? factor->src[0] : factor;
  return load->op == Op::Load && !is_indexed(load) ? load : nullptr;
}
/// The same, also where a mask puts another number in the place of what it hides.
inline const LazyOp* load_of_shown(const LazyOp* factor) { return load_of_factor(factor->op == Op::Where ? factor->src[1] : factor); }
/// Free variables of all ShapeTrackers and shapes, by name.
std::vector<const Node*> variables(const LazyOp* root);
/// Elements of an axis along which constants choose what is computed, so that each gets its own code, at most.
inline constexpr std::int64_t kMostChoices = 28;
/// The arithmetic of one kernel, counted as tinygrad's FlopCounter does.
struct Work {
  Sint macs = 0;   // elements of each Contraction, before reducing
  Sint flops = 0;  // elements of each elementwise operation and each reduction's input; casts are free
};
Work count_work(const LazyOp* root);
/// Several lines, one node a line, sources first, numbered: %2 = Add float32 [4,8] %0 %1
std::string to_text(const LazyOp* root);
/// The same for people: the root first, what it is computed from indented below it. A node that several use is shown once, later as
/// "Add of line 4".
std::string to_tree(const LazyOp* root);
/// "[1,64,8,8]"
std::string shape_text(const std::vector<Sint>& shape);

}  // namespace etch
