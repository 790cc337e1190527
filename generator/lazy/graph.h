// LazyGraph: owner of everything that one traced network consists of. A LazyBuffer is a value that will be computed: either a
// base (an input, a constant, an operation) or a view, which is a base seen through a ShapeTracker. Movement operations
// only make views, so they are free. Buffers are interned: an equal operation on equal sources is the same pointer.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "ir/array.h"
#include "ir/external.h"
#include "ir/lazyop.h"

namespace etch {

enum class LazyKind : std::uint8_t {
  Input,       // memory that the caller fills
  Data,        // a constant with data
  Const,       // one value, shape []; takes no memory
  Index,       // 0, 1, ... n-1, shape [n]; takes no memory
  Compute,     // op of src: elementwise, cast or reduction (axes)
  Contiguous,  // src[0], stored in memory in row-major order
  Gather,      // of each row src[0][i..] the element at position src[1][i..], see gather()
  State,       // memory that outlives a run: what the run before left in it
  Carried,     // memory of a loop: what the turn before left in it, see LazyLoop
  LoopResult,  // what a loop leaves behind, in memory
  External,    // an output of a function in C; its src are all in memory
  View,        // base through st
};
std::string_view name_of(LazyKind kind);

/// A loop: its body is computed `count` times, one turn after the other. The body is whatever is computed from `counter` (in a view) or
/// from a Carried of the loop; all else is computed once, before. Its results are LoopResults, each with the same sources: for every
/// carried value what it starts with, then for every one what it is in the next turn, then what each turn adds to a list.
struct LazyLoop {
  int number = 0;  // in order of creation
  Sint count;
  Sint counter;     // a Variable: 0, 1, ... count - 1; 0 if count is 1
  int carried = 0;  // number of carried values

  bool operator==(const LazyLoop&) const = default;
};

/// Memory that holds the values of a LazyBuffer: what that is, jit/ knows.
class Realized {
 public:
  virtual ~Realized() = default;
};

struct LazyBuffer {
  LazyKind kind{};
  DType dtype{};
  ShapeTracker st;                   // of a base: contiguous
  const LazyBuffer* base = nullptr;  // of a base: itself
  Op op{};                           // Compute
  std::vector<const LazyBuffer*> src =
      {};                          // of Compute (elementwise: each of the result's shape), Contiguous, Gather, External, LoopResult
  std::vector<int> axes = {};      // reductions: ascending, each becomes size 1 (of a scan: keeps its size)
  bool scan = false;               // reductions: it is a scan
  Scalar value = {};               // Const
  Array data = {};                 // Data; State: what the first run finds, all 0 if it has no elements
  const LazyLoop* loop = nullptr;  // Carried and LoopResult
  int slot = 0;                    // of those: which carried value; from loop->carried on: which list. External: which output
  std::shared_ptr<const ExternalKernel> external = {};  // External: the function
  std::string name = {};                                // Input, State and Data: as the model calls it
  std::shared_ptr<Realized> realized = {};              // Input: where its values are; null: in memory that the caller of a run gives
  bool constant = false;                                // depends on constants alone, and no size in it is a Variable
  std::vector<std::string> origins = {};                // names of the ONNX nodes that it was traced from; usually one
  std::vector<std::string> shared_by = {};              // origins that asked for an equal buffer later
  int number = 0;                                       // in order of creation: wherever buffers are sorted, by this

  const std::vector<Sint>& shape() const { return st.shape(); }
  bool is_base() const { return kind != LazyKind::View; }
  bool is_reduction() const { return kind == LazyKind::Compute && is_reduce(op); }
};

/// The buffers that `buffer` is computed from: a view's base, an operation's src.
std::span<const LazyBuffer* const> sources(const LazyBuffer* buffer);
/// The bases of `roots` and all bases below them, sources first.
std::vector<const LazyBuffer*> toposort_bases(const std::vector<const LazyBuffer*>& roots);
/// Whether `buffer` is a reduction of all beginnings of an axis: a running sum.
inline bool is_scan(const LazyBuffer* buffer) { return buffer->scan; }
/// Whether `buffer` computes `op`.
inline bool is_op(const LazyBuffer* buffer, Op op) { return buffer->kind == LazyKind::Compute && buffer->op == op; }
/// Whether `base` is memory that no kernel of its own computes as a whole.
inline bool is_memory(const LazyBuffer* base) {
  return base->kind == LazyKind::Input || base->kind == LazyKind::Data || base->kind == LazyKind::State ||
         base->kind == LazyKind::Carried || base->kind == LazyKind::LoopResult;
}
/// Whether a kernel computes `base`; else it is a leaf.
inline bool is_computed(const LazyBuffer* base) {
  return base->kind == LazyKind::Compute || base->kind == LazyKind::Contiguous || base->kind == LazyKind::Gather ||
         base->kind == LazyKind::External;
}
/// The value, if it is the same unmasked constant everywhere; else nullptr.
const Scalar* const_value(const LazyBuffer* buffer);
/// Whether a view of `st` hides elements.
bool is_masked(const ShapeTracker& st);
/// Whether a buffer shows all of its base, in order.
inline bool shows_base(const LazyBuffer* buffer) { return buffer->st.contiguous() && buffer->st.size() == buffer->base->st.size(); }
/// Whether every value of `from` is exact in `to`.
bool is_lossless(DType from, DType to);
/// Whether a dimension is 0.
bool is_empty(const std::vector<Sint>& shape);

class Tape;

class LazyGraph {
 public:
  static std::shared_ptr<LazyGraph> create();
  ~LazyGraph();
  LazyGraph(const LazyGraph&) = delete;
  LazyGraph& operator=(const LazyGraph&) = delete;

  Symbols& symbols() { return symbols_; }
  LazyOps& ops() { return ops_; }
  /// What gradients are traced back through.
  Tape& tape() { return *tape_; }

  /// Each call is a new input.
  const LazyBuffer* input(const std::string& name, DType dtype, const std::vector<Sint>& shape);
  /// The input becomes a State of sizes that are numbers; its first values are `first`, or 0 if that has no elements.
  void make_state(const LazyBuffer* input, Array first);
  /// The values of `base`, which depends on no constants alone, have been computed: it is an Input from now on, with that memory. Whatever
  /// is computed from it reads them there; an equal operation is computed again, as what it reads may have changed.
  void realize(const LazyBuffer* base, std::shared_ptr<Realized> memory);
  /// Gives all memory back that realize() was given.
  void forget_memory();
  /// No loop's counter gets that name from now on; false if one has it.
  bool take_name(const std::string& name);
  /// Equal data is the same buffer, under its first non-empty name.
  const LazyBuffer* data(Array data, const std::string& name = "");
  const LazyBuffer* constant(Scalar value, const std::vector<Sint>& shape);
  const LazyBuffer* index(DType dtype, Sint n);
  /// Sources have one shape. Constants are folded and identities applied, never at the expense of NaN, infinity or -0.0.
  const LazyBuffer* elementwise(Op op, const std::vector<const LazyBuffer*>& src);
  const LazyBuffer* cast(const LazyBuffer* a, DType dtype);
  const LazyBuffer* bitcast(const LazyBuffer* a, DType dtype);
  /// The reduced axes stay with size 1.
  const LazyBuffer* reduce(Op op, const LazyBuffer* a, std::vector<int> axes);
  /// Element i along `axis` is the reduction of the elements 0 to i.
  const LazyBuffer* scan(Op op, const LazyBuffer* a, int axis);
  const LazyBuffer* contiguous(const LazyBuffer* a);
  /// `table` has the shape of `index` and one axis more, the last: its rows. The result has the shape of `index` (integers; a negative
  /// one counts from the end of the row); a position outside of the row counts as the nearest one inside.
  const LazyBuffer* gather(const LazyBuffer* table, const LazyBuffer* index);
  /// The outputs of a function in C on `src`. They are never computed on the host.
  std::vector<const LazyBuffer*> external(const std::shared_ptr<const ExternalKernel>& function, const std::vector<const LazyBuffer*>& src);
  /// A new loop of `count` turns (at least 2, or a size that may be less), which carries `carried` values.
  const LazyLoop* loop(Sint count, int carried);
  /// The carried value `slot` of `loop` at the start of a turn.
  const LazyBuffer* carried(const LazyLoop* loop, int slot, DType dtype, const std::vector<Sint>& shape);
  /// What is in carried value `slot` after the last turn or, from loop->carried on, a list: element t along its first axis is what turn t
  /// added. For `src` see LazyLoop.
  const LazyBuffer* loop_result(const LazyLoop* loop, int slot, const std::vector<const LazyBuffer*>& src);
  /// The same, but never an existing buffer: for an output that needs memory of its own.
  const LazyBuffer* copy(const LazyBuffer* a);
  /// `st` seen over a's base (not over `a`).
  const LazyBuffer* view(const LazyBuffer* a, ShapeTracker st);
  /// st.simplify(), st.reshape(shape), below + above. Results are cached, as layers of one shape ask for the same again and again.
  const ShapeTracker& simplified(const ShapeTracker& st);
  const ShapeTracker& reshaped(const ShapeTracker& st, const std::vector<Sint>& shape);
  const ShapeTracker& stacked(const ShapeTracker& below, const ShapeTracker& above);
  /// The operation of `like` on other sources (a rewritten part of the graph), with the origins of `like`.
  const LazyBuffer* rebuild(const LazyBuffer* like, const std::vector<const LazyBuffer*>& src);

  /// The value of a constant buffer, computed on the host and cached. InternalError if it is not constant.
  const Array& evaluate(const LazyBuffer* buffer);

  /// The origins of the buffers that are made from now on; see OriginScope.
  const std::vector<std::string>& origins() const { return origins_; }
  void set_origins(std::vector<std::string> origins);
  /// The position of `origin` in the order in which origins were first set, which is that of the traced graph; -1 if it never was.
  int origin_rank(const std::string& origin) const;
  /// All origins that were ever set, in that order.
  std::vector<std::string> all_origins() const;
  /// The operator of the node that an origin is ("Conv"); empty if it was not set.
  void set_origin_kind(const std::string& origin, std::string kind) { origin_kinds_[origin] = std::move(kind); }
  std::string origin_kind(const std::string& origin) const;
  const std::deque<LazyBuffer>& buffers() const { return buffers_; }

 private:
  struct TrackerHash {
    std::size_t operator()(const ShapeTracker& st) const { return st.hash(); }
    std::size_t operator()(const std::pair<ShapeTracker, std::vector<Sint>>& p) const { return hash_all(p.first.hash(), p.second); }
    std::size_t operator()(const std::pair<ShapeTracker, ShapeTracker>& p) const { return hash_mix(p.first.hash(), p.second.hash()); }
  };
  LazyGraph();
  const LazyBuffer* intern(LazyBuffer buffer);
  const LazyBuffer* rebuild_one(const LazyBuffer* like, const std::vector<const LazyBuffer*>& src);
  void share(const LazyBuffer* buffer, const std::vector<std::string>& origins);
  const LazyBuffer* add(LazyBuffer buffer);
  const LazyBuffer* compute(Op op, DType dtype, const std::vector<const LazyBuffer*>& src, std::vector<int> axes);

  Symbols symbols_;  // first, so that it is destroyed last: everything below refers to its nodes
  LazyOps ops_;
  std::deque<LazyBuffer> buffers_;
  std::deque<LazyLoop> loops_;
  std::set<std::string> taken_names_;
  std::unordered_multimap<std::size_t, const LazyBuffer*> interned_;
  std::unordered_map<const LazyBuffer*, Array> evaluated_;
  std::unordered_map<ShapeTracker, ShapeTracker, TrackerHash> simplified_;  // look-up only, like the next two
  std::unordered_map<std::pair<ShapeTracker, std::vector<Sint>>, ShapeTracker, TrackerHash> reshaped_;
  std::unordered_map<std::pair<ShapeTracker, ShapeTracker>, ShapeTracker, TrackerHash> stacked_;
  std::vector<std::string> origins_;
  std::map<std::string, int> origin_ranks_;
  std::map<std::string, std::string> origin_kinds_;
  std::unique_ptr<Tape> tape_;
  std::set<std::pair<int, int>> sharers_;  // number of a buffer, rank of an origin in its shared_by
};

/// While it lives, new buffers of the graph get the origin `origin` (the name of an ONNX node; `kind` is its operator). A buffer that
/// was interned before keeps its origins and adds this one to its `shared_by`.
class OriginScope {
 public:
  OriginScope(LazyGraph& graph, std::string origin) : OriginScope(graph, std::vector<std::string>{std::move(origin)}) {}
  OriginScope(LazyGraph& graph, const std::string& origin, std::string kind) : OriginScope(graph, origin) {
    graph.set_origin_kind(origin, std::move(kind));
  }
  OriginScope(LazyGraph& graph, std::vector<std::string> origins) : graph_(graph), before_(graph.origins()) {
    graph.set_origins(std::move(origins));
  }
  ~OriginScope() { graph_.set_origins(std::move(before_)); }
  OriginScope(const OriginScope&) = delete;
  OriginScope& operator=(const OriginScope&) = delete;

 private:
  LazyGraph& graph_;
  std::vector<std::string> before_;
};

/// One line for each base and view that the outputs need, sources first:
///   %3 = ReduceSum float32 [4,1] %2 axes 1   # fc1
std::string to_text(const std::vector<const LazyBuffer*>& outputs);

}  // namespace etch
