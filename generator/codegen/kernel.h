// Kernel: the loops of one AST and the optimisation steps applied to them. It starts with one axis for each merged dimension of the
// AST; every OptOp splits an axis or changes its kind. The ShapeTrackers are never reshaped for that: an axis is a part of a
// dimension, and the index of a dimension is the sum of its axes times their multipliers, so a split never adds a mask or a view.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/argument.h"
#include "codegen/options.h"
#include "ir/contraction.h"
#include "ir/lazyop.h"

namespace etch {

enum class AxisKind : std::uint8_t {
  Global,
  Local,
  Group,
  Mid,  // work-items share it while they reduce; behind that it is upcast
  Reduce,
  Inner,  // a loop over a reduced dimension behind the last reduction
  Unroll,
  Upcast,
  Tensor,  // reduced inside of an instruction
  Vector
};

/// Part of dimension `dim`: its index times `multiplier` is added to the dimension's. All stages are inside of the outer axes, which a
/// Group axis is one of: a work-item has the same part of the dimension in every stage.
struct Axis {
  AxisKind kind{};
  int dim = 0;
  Sint size = 1;
  std::int64_t multiplier = 1;
  int stage = kOuter;
  char tile = 0;  // m or n: a part of that axis of a matrix instruction's tile; s: the steps of a dot product
  /// Of a loop over tiles of `tile_size` elements of which the last one begins so many elements early, as OVERLAP makes it; else 0.
  std::int64_t overlap = 0, tile_size = 1;
  /// Where the tile of that number begins if tiles overlap, in units of `multiplier` / `tile_size`; else its number.
  std::int64_t start_of(std::int64_t number) const {
    return overlap > 0 ? std::min(number * tile_size, size.as_int() * tile_size - overlap - tile_size) : number;
  }
  static constexpr int kOuter = -1;
  bool operator==(const Axis&) const = default;
};

/// A dimension of the merged AST or, if it has a parent, a padded axis: PADTO turns the axis into a dimension of its own. An index
/// of `valid` or more is padding.
struct Dim {
  Sint valid = 1;
  bool reduce = false;
  int parent = -1;
  std::int64_t multiplier = 1;
  std::string letters{};  // of the axes of the AST that it was merged from: "c", "yx"; empty with a parent
  bool operator==(const Dim&) const = default;
};

/// A leaf of the AST, or its root, with its ShapeTracker over the merged dimensions. That of an indexed Load has one axis more.
struct KernelBuf {
  const LazyOp* op = nullptr;
  ShapeTracker st;
  std::vector<std::optional<Sint>> strides;  // per dimension of the AST; nullopt where masks, several views or an index make it vary
  std::vector<bool> masked;                  // per dimension of the AST: whether the mask depends on its index
};

/// The axes that an instruction could take: of a matrix product m, n and k; of a dot product the axis of its lanes (as n) and k.
struct TensorChoice {
  int m = -1, n = -1, k = -1;               // positions in Kernel::axes()
  const LazyOp *a = nullptr, *b = nullptr;  // the Loads of the operands
  std::int64_t tail = 0;                    // of k: elements behind the last whole instruction
};

/// The instruction that computes the kernel's only reduction.
struct TensorCore {
  int row = 0;  // of CodegenOptions::instructions
  const LazyOp *a = nullptr, *b = nullptr;
  /// Elements of the reduced dimension `dim` that are added one by one, behind the first `whole`. That part is then unrolled.
  std::int64_t tail = 0, whole = 0;
  int dim = 0;
  /// One of a and b, if any: where the mask of the constant `inside` hides it, the operand is `padding`.
  const LazyOp *padded = nullptr, *inside = nullptr;
  std::int64_t padding = 0;
};

/// What lanes along a reduced dimension leave over: its elements from `first` on, fewer than there are lanes. Each stage goes through them
/// in narrower vectors and a loop, behind that over whole vectors.
struct LanesRest {
  int dim = 0;
  std::int64_t first = 0, end = 0;
};

/// Windows of rows that roll (ROLL): the loop over them, the unrolled axis of the rows of one, and how many rows on the next one begins.
struct Rolled {
  int axis = -1, window = -1;
  std::int64_t step = 0;
};

class Kernel {
 public:
  /// Throws InternalError unless all reductions of the AST are over the same axes of one shape.
  Kernel(const LazyOp* ast, const CodegenOptions& options);

  const LazyOp* ast() const { return ast_; }
  const CodegenOptions& options() const { return *options_; }
  /// The Stores, the root first, then the leaves in the order of the AST.
  const std::vector<KernelBuf>& bufs() const { return bufs_; }
  std::span<const KernelBuf> stores() const { return std::span(bufs_).first(ast_->src.size()); }
  const KernelBuf& buf_of(const LazyOp* op) const;
  /// The reductions: all over the same axes. One that depends on another belongs to a later stage.
  const std::vector<const LazyOp*>& reduces() const { return reduces_; }
  /// The reductions of one stage, and the number of such stages. What is stored is computed in a last stage behind them.
  std::vector<const LazyOp*> reduces_of(int stage) const;
  int reduce_stages() const { return reduce_stages_; }
  /// Whether its reduced axes are passed through by several reductions, or by a reduction and what is stored, as in a scan.
  bool is_staged() const { return reduce_stages_ > 1 || stores_reduced_dims_ || is_scan(); }
  /// Whether work-items that share the reduced axes go on behind reduction stage `stage`: each has a part of them in the stage that
  /// follows.
  bool all_go_on_behind(int stage) const { return stage + 1 < reduce_stages_ || stores_reduced_dims_; }
  /// Whether it stores a scan: in the loop over the reduced axis, not behind it.
  bool is_scan() const { return !reduces_.empty() && etch::is_scan(reduces_[0]); }
  /// Dimensions of the merged AST come first, then those that PADTO made.
  const std::vector<Dim>& dims() const { return dims_; }
  int ast_dims() const { return ast_dims_; }
  /// Order: Global, Local, Group, Mid, Reduce (stage by stage), Inner, Unroll and Upcast as applied, Tensor, Vector.
  const std::vector<Axis>& axes() const { return axes_; }
  const std::vector<Opt>& applied() const { return applied_; }

  int count(AxisKind kind) const;
  /// Position of the first axis that is not Global or Local.
  int first_reduce() const { return count(AxisKind::Global) + count(AxisKind::Local); }
  /// Position of the first Unroll, Upcast or Vector axis.
  int first_upcast() const;
  bool reduces_axis(int axis) const { return dims_[static_cast<std::size_t>(root_dim(axis))].reduce; }
  /// The dimension of the AST that an axis is a part of.
  int root_dim(int axis) const;
  /// How far one step of the axis moves the index of that dimension.
  std::int64_t root_multiplier(int axis) const;
  /// What one step along `axis` adds to the position in `buf`; nullopt where masks, several views or an index make it vary.
  std::optional<Sint> stride(const KernelBuf& buf, int axis) const;
  /// The stride of the buffer's outermost view, masked or not (what the heuristics look at); 1 if only an index decides.
  Sint view_stride(const KernelBuf& buf, int axis) const;
  /// Whether the mask of `buf` depends on `axis`.
  bool is_masked(const KernelBuf& buf, int axis) const;
  /// The loop whose next turn is asked for ahead (PREFETCH); -1: none is.
  int prefetched_axis() const;
  /// The loop whose turns each compute the first stage of the next one (PIPELINE), or -1. It is the innermost that is not reduced, and the
  /// first two stages have the same loops.
  int pipelined_axis() const;
  /// Whether what is stored comes a turn late, beside the second stage of the next turn: the last stage has the same loop.
  bool stores_late() const;
  /// What ROLL has asked for, as the kernel stands now; nullopt: nothing, or steps behind it have changed the loops.
  std::optional<Rolled> rolled() const;
  /// Whether a tile asks for the lines that it stores into before its sums (PREFETCHW).
  bool prefetches_stores() const { return prefetches_stores_; }
  /// Whether the loop goes over blocks of the turns of another one (BLOCK).
  bool is_block(int axis) const;
  /// Whether copies of the arithmetic may differ in their place along `axis`.
  bool has_copies(int axis) const { return axis >= first_upcast() || axes_[static_cast<std::size_t>(axis)].kind == AxisKind::Mid; }
  /// Whether the driver chooses the work-groups (NOLOCALS): the grid is counted in work-items.
  bool no_locals() const { return no_locals_; }
  /// Whether an output may lie over an input, which has each element where the output has it.
  bool may_be_in_place() const;
  /// Whether tiles where no mask hides anything have a body of their own (INTERIOR).
  bool has_interior() const { return has_interior_; }
  /// Whether all loops run forwards and backwards in turn (ZIGZAG).
  bool zigzags() const { return zigzags_; }
  /// Whether the loops over axes that are not reduced run from the last element to the first (BACKWARDS).
  bool runs_backwards() const { return backwards_; }
  /// The axes that instruction `row` fits, as the kernel stands now, those that are best for constants first: TC counts them.
  std::vector<TensorChoice> tensor_choices(const TargetInstruction& row) const;
  /// What TC has placed, or nullopt.
  const std::optional<TensorCore>& tensor() const { return tensor_; }
  const TargetInstruction& instruction() const { return options_->instructions[static_cast<std::size_t>(tensor_->row)]; }
  /// The axis of the steps of its dot product, or -1.
  int steps_axis() const;
  /// Whether the sums that its instruction makes one by one may become the lanes of a vector (VECTOR behind TC).
  bool sums_are_lanes() const;
  /// Lanes of the Vector axis, 1 without one.
  int lanes() const;
  /// Whether lanes run along a reduced dimension: each has a part of every sum.
  bool reduces_lanes() const { return lanes() > 1 && reduces_axis(static_cast<int>(axes_.size()) - 1); }
  const std::optional<LanesRest>& lanes_rest() const { return lanes_rest_; }
  /// Whether what is stored has the reduced dimensions, so that the last stage runs along them too.
  bool stores_reduced_dims() const { return stores_reduced_dims_; }

  /// The rule that `opt` breaks, or nullopt: it is legal. All rules of all steps are here.
  std::optional<std::string> why_illegal(const Opt& opt) const;
  /// Applies one step. False if it is illegal; the kernel is then unchanged.
  bool try_apply(const Opt& opt);
  /// Applies one step that must be legal, else throws std::invalid_argument with the text of why_illegal; the kernel is then unchanged.
  void apply(const Opt& opt);
  /// tinygrad's name for the sizes of the axes: "r_2_3_4" with a reduction, "E_8_4" without.
  std::string shape_name() const;

 private:
  void shift_to(int axis, std::int64_t amount, int insert_before, AxisKind kind);
  void overlap(int axis, std::int64_t amount, int insert_before, AxisKind kind);
  /// Whether tiles may overlap, what two of them share being computed twice.
  bool may_repeat() const;
  /// Cuts a part off the loops over a reduced dimension in all stages, their outermost part with `top`, and returns it.
  Axis split_stages(int axis, std::int64_t amount, AxisKind kind, bool top);
  void group(int axis, std::int64_t amount, bool top);
  void make_vector(int axis, std::int64_t amount);
  void block(int axis, std::int64_t amount);
  void apply_to_loops(const Opt& opt);
  /// The steps that change one axis, and count axes as axis_of says.
  static bool takes_axis(OptOp op);
  /// Whether two loops, of different stages, are over the same part of the same dimension.
  static bool is_same_part(const Axis& a, const Axis& b);
  /// Whether each stage has a loop over that part of the dimension.
  bool is_alike_in_stages(int axis) const;
  struct Rule {
    bool holds;
    const char* text;
  };
  /// The rules of step `op` on an axis of known size that `amount` divides (or pads), each with whether it holds.
  std::vector<Rule> vector_rules_of(int axis, std::int64_t amount) const;
  std::vector<Rule> rules_of(OptOp op, int axis, std::int64_t amount) const;
  std::vector<Rule> group_rules_of(OptOp op, int axis, std::int64_t amount) const;
  std::int64_t product_of(std::initializer_list<AxisKind> kinds, std::int64_t amount) const;
  /// Whether elements that follow each other along `axis` are adjacent in all outputs.
  bool is_adjacent(int axis) const;
  /// Bytes of shared memory that a grouped reduction would take after step `op` by `amount`; 0 if it is not grouped.
  std::int64_t shared_bytes(OptOp op, std::int64_t amount) const;
  std::optional<std::string> why_no_locals(const Opt& opt) const;
  std::optional<std::string> why_no_interior(const Opt& opt) const;
  /// OUTERMOST, BLOCK, ZIGZAG and BACKWARDS change the order of the loops, not what they do. ZIGZAG alone does so for sums, too: floats may
  /// round otherwise in every second turn.
  static bool is_of_order(OptOp op) {
    return op == OptOp::Outermost || op == OptOp::Block || op == OptOp::Zigzag || op == OptOp::Backwards;
  }
  std::optional<std::string> why_no_order(const Opt& opt) const;
  std::optional<std::string> why_no_zigzag(const Opt& opt) const;
  std::optional<std::string> why_no_prefetch(const Opt& opt) const;
  std::optional<std::string> why_no_prefetch_of_stores(const Opt& opt) const;
  // kernel_pipeline.cc
  std::optional<std::string> why_no_pipeline(const Opt& opt) const;
  /// The same as the kernel stands now: steps behind PIPELINE may have changed the loops.
  std::optional<std::string> why_not_early() const;
  bool may_begin_early() const;
  bool first_stages_are_alike() const;
  // kernel_roll.cc
  std::optional<std::string> why_no_roll(const Opt& opt) const;
  std::optional<std::string> why_not_rolling(Rolled& roll) const;
  std::int64_t step_of_windows(int axis, int window) const;
  // tensor.cc
  std::optional<std::string> why_no_tensor(const Opt& opt) const;
  void apply_tensor(const Opt& opt);
  /// The number of Local axes that are work-items of a tile; they are the last ones.
  int tile_items() const;
  void split_tile(const TensorChoice& choice, const TargetInstruction& row);
  /// The position in axes() of the axis that `opt` is about, or -1.
  int axis_of(const Opt& opt) const;
  std::int64_t amount_of(const Opt& opt, int axis) const;
  void pad_to(int axis, std::int64_t amount);
  void merge_dims(const std::vector<Sint>& full);
  void reshape(KernelBuf& buf, std::vector<Sint> shape) const;
  void find_indexed_dims();

  const LazyOp* ast_;
  const CodegenOptions* options_;
  std::vector<KernelBuf> bufs_;
  std::vector<const LazyOp*> reduces_;
  std::vector<int> stage_of_;  // of each of reduces_
  int reduce_stages_ = 0;
  bool stores_reduced_dims_ = false;
  std::vector<Dim> dims_;
  int ast_dims_ = 0;
  std::vector<Axis> axes_;
  std::vector<Opt> applied_;
  std::optional<std::pair<int, std::int64_t>> prefetched_{};  // dimension and multiplier of the axis, as others may move it
  bool no_locals_ = false, has_interior_ = false, backwards_ = false, prefetches_stores_ = false, pipelined_ = false, zigzags_ = false;
  bool rolls_ = false;
  std::optional<TensorCore> tensor_;
  std::optional<LanesRest> lanes_rest_;
};

/// The leaves that its reductions read.
std::vector<const KernelBuf*> reduced_bufs(const Kernel& kernel);

/// Whether a value has one element where those that are reduced have many: it is a number beside vectors.
bool is_of_row(const Kernel& kernel, const LazyOp* op);

/// The kernel's only reduction, if it is a sum of products of two loaded values without casts in between.
std::optional<Contraction> product_of_loads(const Kernel& kernel);

/// The Reduce axes in the order of their loops, outermost first: axes with a masked buffer come first, so that a border is tested
/// outside of the loops over channels.
std::vector<int> reduce_order(const Kernel& kernel);

/// Another order of the elements of a constant: the one in which the loops read them.
struct Layout {
  std::vector<std::int64_t> strides;  // per axis of the kernel, in the new order
  ShapeTracker from;                  // element j of the new order is element from.expr_node(j) of the old one
  bool in_words = false;              // an instruction loads it in whole words
};
/// The new layout of each argument; nullopt for one that is not constant or is read in several ways, and for one that is in that order
/// already, unless it is read in words.
std::vector<std::optional<Layout>> choose_layouts(const Kernel& kernel, const std::vector<KernelArgument>& arguments);

/// Whether the buffer that `buf` reads may get a new layout: it is a constant that is read once, through one view that shows each
/// element once.
bool can_be_laid_out(const Kernel& kernel, const KernelBuf& buf, const std::vector<KernelArgument>& arguments);

/// What a reduction takes as it is: the elements, or where they are masked what changes nothing (pooling). Null: it takes something else.
const LazyOp* pooled_load(const LazyOp* reduce);

/// The stride along an axis where no mask hides anything: that of the elements of the inner tiles of INTERIOR. nullopt where several views
/// do not tell.
std::optional<Sint> stride_inside(const Kernel& kernel, const KernelBuf& buf, int axis);

/// Whether an axis has so many vectors, in all of the blocks that it is in, that those at the borders of `buf`, which take more than a
/// load, are few of them. The last one may begin early.
bool has_inner_vectors(const Kernel& kernel, const KernelBuf& buf, int axis, std::int64_t lanes);

/// Places an instruction of the target where the kernel has operands for it that are adjacent or can be laid out so. False, and the
/// kernel unchanged, if there is none.
bool tensor_optimizations(Kernel& kernel, const std::vector<KernelArgument>& arguments);
/// tinygrad's hand-coded optimisations, for scalar C and for languages with work-groups.
void hand_coded_optimizations(Kernel& kernel);
/// For an output that may lie over a part of an input: the loop whose steps are the longest in the output goes around the others, so that
/// what is written stays close behind what is read, and all loops run backwards if the options say so.
void order_for_overlap(Kernel& kernel);
/// Lanes of integers, where what is stored is adjacent and what is read too, stays or can be laid out so. False, and the kernel unchanged,
/// if there is no such axis or the target has no such vectors.
bool vector_optimizations(Kernel& kernel, const std::vector<KernelArgument>& arguments);
/// Lanes of float32 along an axis that is not reduced, where what is stored is adjacent, what is loaded is adjacent, stays or can be laid
/// out so, and each operation exists for vectors; else along one that is reduced (softmax, norms, means). False, and the kernel unchanged,
/// if there is no such axis.
bool float_vector_optimizations(Kernel& kernel, const std::vector<KernelArgument>& arguments);
/// Bytes that a kernel reads and writes over all turns of a loop, so far as they move with it.
double bytes_of_rows(const Kernel& k, int axis);
/// Where the first stage is little work, computes that of the next row beside the second stage of this one. Whether it does.
bool pipeline_stages(Kernel& k);
/// Lanes along the rows of windows that each have a channel of their own, all vectors of a row at once, and the windows roll over the rows.
/// False, and the kernel unchanged, if there are none, or registers do not hold their sums.
bool roll_windows(Kernel& k);
/// Puts loops around the others so that what tiles of products read again and again fits the cache (CodegenOptions::cache_bytes).
void block_for_cache(Kernel& k, const std::vector<KernelArgument>& arguments);

/// Bytes of constants in one turn of a loop so that the cache holds them, those of the next turn and what else the kernel reads.
double most_of_turn(const CodegenOptions& options);
/// Where the cache may not have kept constants since the last run, asks for those of the next tiles while the present ones are read again.
void fetch_ahead_of_tiles(Kernel& k, const std::vector<KernelArgument>& arguments);
/// In a loop of the program, reads constants that the first cache does not hold forwards and backwards in turn.
void zigzag_through_weights(Kernel& k, const std::vector<KernelArgument>& arguments);
/// Where lanes are stored far from each other, so that a tile stores many pieces of lines, asks for those before the tile's sums.
void fetch_stores_of_tiles(Kernel& k, const std::vector<KernelArgument>& arguments);
/// In kernels of several stages whose rows fill more than an eighth of the cache, so that it may not have kept all of them since they were
/// written, asks for the next row while the second stage reads the present one.
void fetch_next_row(Kernel& k);

/// Register tiling: upcasts axes so that the accumulators of a tile fill the registers, with or without vectors. False, and the kernel
/// unchanged, if no tile fits.
bool tile_optimizations(Kernel& kernel, const std::vector<KernelArgument>& arguments);

/// Whether a stride is known, and is `step`.
inline bool is_step(const std::optional<Sint>& stride, std::int64_t step) { return stride && stride->is_int(step); }

}  // namespace etch
