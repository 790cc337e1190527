// Internal to the linearizer: the state that its files share.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/builder.h"
#include "codegen/index.h"
#include "codegen/linearizer.h"
#include "codegen/value_range.h"

namespace etch {

/// Operands as toposort() takes them; none where a walk goes no further.
using Sources = std::span<const LazyOp* const>;

class Linearizer {
 public:
  Linearizer(const Kernel& kernel, const LinearizeOptions& options);
  Linearized run();

 private:
  // linearizer.cc: the order of all parts of a kernel
  void declare_arguments();
  void store_outputs();
  /// The results of the current copy, each of which one output takes.
  void store_copy(const std::vector<const LazyOp*>& results);
  void compute_tile();

  // linearizer_interior.cc
  /// The first and the last turn of a loop.
  using Span = std::pair<std::int64_t, std::int64_t>;
  /// For some of the outer loops, by axis, some of their turns.
  using Box = std::map<int, Span>;
  bool add_interior();
  Box find_interior(const std::set<const Node*>& masks) const;
  std::vector<Span> spans_of_choice(const std::set<const Node*>& masks, int axis) const;
  std::vector<Box> boxes_of_choice(const std::set<const Node*>& masks) const;
  std::set<const Node*> find_masks();
  std::optional<Span> span_without(const Node* mask, int axis) const;
  Span whole(int axis) const;
  /// What the variable of the axis is in that turn of its loop.
  std::int64_t value_in_turn(int axis, std::int64_t turn) const;
  bool has_bodies_per_border(int axis) const;
  double share_of(const Box& box) const;
  std::vector<std::vector<Box>> borders_of(const Box& interior) const;
  void open_boxes(const std::vector<Box>& boxes);
  const UOp* one_of(const UOp* number, const std::vector<std::int64_t>& values);
  void begin_tile_again();

  // linearizer_loops.cc
  const UOp* open_loop(const std::string& name, Sint size, std::int64_t elements, const std::string& axis);
  const UOp* open_loop(const std::string& name, const UOp* begin, const UOp* end, std::int64_t elements, const std::string& axis,
                       bool stores_apart = false);
  /// Names each axis after the letters of its dimension, and after the part that the axis is if the dimension has several.
  void name_axes();
  std::string free_name(const std::string& wanted);
  /// The variable of an axis; its loop is opened later.
  void make_variable(int axis);
  void make_variables(AxisKind kind);
  void open_axis(int axis);
  /// The same for a part of its turns.
  void open_axis(int axis, const UOp* begin, const UOp* end);
  /// The first turn of a loop, and what comes behind the last.
  using Turns = std::pair<const UOp*, const UOp*>;
  /// Opens a loop that runs from the last turn of the axis to the first, and returns the number of the turn. `turns`: counted from the
  /// last.
  const UOp* open_backwards(int axis, Turns turns);
  /// Opens a loop that runs forwards or backwards, as the loop around the kernel says, and returns the number of the turn.
  const UOp* open_zigzag(int axis, Turns turns);
  void open_turns(int axis, Turns turns);
  /// The variable of an axis whose tiles overlap: the element at which the tile begins.
  std::string start_of_tile(int axis) const;
  void open_grid();
  std::vector<std::vector<int>> grid_axes(const std::vector<int>& axes, const std::array<std::int64_t, 3>& most) const;
  void bind_grid(AxisKind kind, const std::vector<int>& axes, std::vector<Sint>& sizes);
  void close(const UOp* start);

  // linearizer_workers.cc
  void share_among_workers();
  int shared_axis() const;
  bool can_be_shared(int axis) const;
  double read_by_all(int axis) const;
  Turns of_this_worker(int axis, Turns turns);
  /// The axes of the current stage and the outer ones.
  std::vector<int> axes_of(AxisKind kind) const;
  /// The axes along which there is a copy of what is not reduced: Upcast, and behind a grouped reduction Mid too.
  std::vector<int> copied_axes() const;

  // linearizer_leaves.cc
  /// The position that a leaf or the store accesses for the current values of the axes, and the condition under which it does.
  struct Place {
    Sint idx = 0, valid = 1;
  };
  Sint number_of_part(std::size_t axis) const;
  /// `index`: the position that an indexed load takes along its last axis.
  Place place_of(const KernelBuf& buf, std::optional<Sint> index = std::nullopt) const;
  const std::vector<Place>& lanes_of(const KernelBuf& buf);
  std::vector<Sint> dim_indices() const;
  const UOp* leaf(const LazyOp* op);
  const UOp* load_every_second(const KernelBuf& buf, const std::vector<Place>& places);
  const UOp* load_between_ends(const KernelBuf& buf, const std::vector<Place>& places);
  const UOp* between_ends(const KernelBuf& buf, const std::vector<Place>& places, int begin, const std::vector<const UOp*>& inside);
  const UOp* load_all(const KernelBuf& buf, const std::vector<Place>& places);
  const UOp* leaf_value(const KernelBuf& buf, const Place& place, int lanes);
  /// `other`: what it is where the place is not valid; 0 unless given.
  const UOp* load(const KernelBuf& buf, const Place& place, int lanes, const UOp* other = nullptr);
  /// Whether the places are adjacent in memory and valid under the same condition.
  static bool is_vector(const std::vector<Place>& places);
  const UOp* where_valid(Sint valid, const UOp* value);
  bool repeats_in_place() const;
  Sint is_new() const;
  void store_in_parts(const KernelBuf& buf, const std::vector<Place>& places, const std::vector<Sint>& is_new, const UOp* value);
  void store(const KernelBuf& buf, const UOp* value);
  void note_access(const KernelBuf& buf, const Place& place, int lanes, bool is_store);
  void store_one(const KernelBuf& buf, const Place& place, const UOp* value, int lanes);
  const UOp* buffer(const KernelBuf& buf);

  // linearizer_ahead.cc
  /// Of a constant's lines of a cache in one turn of the loop that PREFETCH names, how many each turn of some loops inside of it asks for.
  struct Ahead {
    const KernelBuf* buf = nullptr;
    std::vector<int> loops;    // outermost first
    std::int64_t at_once = 0;  // lines
    std::int64_t shares = 0;   // after so many turns all lines have been asked for
  };
  void find_ahead();
  std::optional<Ahead> share_of_turns(const KernelBuf& buf, int turns) const;
  std::optional<std::int64_t> distance(const KernelBuf& buf, std::size_t axis) const;
  std::int64_t bytes_of_turn(const KernelBuf& buf, int turns) const;
  std::vector<int> loops_inside(int turns) const;
  Place start_of_next(const KernelBuf& buf, int turns);
  void fetch_shares(int axis);
  /// Where a tile stores: pieces of so many elements side by side, at even distances in some dimensions, farthest first.
  struct Pieces {
    struct Dim {
      std::int64_t step = 0, count = 0;
    };
    std::int64_t length = 1;
    std::vector<Dim> dims;
  };
  std::optional<Pieces> pieces_of(const KernelBuf& store) const;
  void fetch_stores();
  void fetch_pieces(const KernelBuf& store, const Pieces& pieces, std::size_t dim, Sint from);

  // linearizer_stages.cc
  /// Computes what the stage reads of earlier ones, so that it is not computed again in the loops that are opened next.
  void compute_outer_values(const std::vector<const LazyOp*>& roots);
  /// A value that a stage stores in the output and the last stage reads there, before it writes the result.
  struct Kept {
    const LazyOp* op = nullptr;
    int stage = 0;
  };
  Kept find_kept() const;
  bool may_keep(const LazyOp* op, int stage) const;
  const UOp* load_kept();
  /// One step of a reduction: `sum` and one more element, reduced.
  const UOp* reduced_with(const LazyOp* reduce, const UOp* sum, const UOp* next);
  std::set<const LazyOp*> find_without_nans() const;

  // linearizer_indexed.cc
  const UOp* indexed_load(const KernelBuf& buf);
  Sint position_at(const LazyOp* load, const UOp* index, Sint n);

  // linearizer_values.cc
  /// Value of `op` for the current values of the unrolled and upcast axes.
  const UOp* value(const LazyOp* op);
  const UOp* compute(const LazyOp* op);
  const std::vector<const LazyOp*>& order_of(const LazyOp* op);
  const UOp* elementwise(Op op, DType dtype, const std::vector<const UOp*>& src);
  bool is_vector_choice(Op op, DType dtype, const std::vector<const UOp*>& src) const;
  bool is_vector_operation(Op op, DType dtype, const std::vector<const UOp*>& src) const;
  /// `u` in all lanes.
  const UOp* in_all_lanes(const UOp* u);
  /// Whether elements of that type are loaded and stored as vectors.
  bool has_vectors(DType dtype) const;
  /// The key of the current accumulator of a reduction.
  std::pair<int, std::int64_t> accumulator_of(const LazyOp* reduce);
  /// The axes along which a reduction has accumulators of its own.
  std::uint64_t axes_of_sum(const LazyOp* reduce);
  std::uint64_t steps_of_sum(const LazyOp* reduce) const;
  const UOp* vector_choice(Op op, DType dtype, std::vector<const UOp*> src);
  const UOp* lane(const UOp* v, int number);
  std::uint64_t own_axes(const LazyOp* op);
  std::uint64_t relevant_axes(const LazyOp* op);
  /// Names the current one of the copies of `op`: "_c0_x2".
  std::string copy_of(const LazyOp* op);
  std::int64_t key_of(std::uint64_t axes) const;
  /// Calls f for every combination of the given axes, the first one slowest; sets axis_index_.
  template <class F>
  void for_each(const std::vector<int>& axes, F f);

  // linearizer_guards.cc
  /// Where a value is known to be 0: everywhere if `always`, else where one of the conditions `terms` does not hold.
  struct Zeros {
    bool always = false;
    std::vector<Sint> terms;
  };
  Zeros zeros_of_product(const LazyOp* mul, const Zeros& a, const Zeros& b);
  const Zeros& zeros_of(const LazyOp* op);
  /// An upper bound of the magnitude of `op`; infinity if none is found. With a finite bound `op` is never infinite or NaN.
  double bound(const LazyOp* op);
  std::vector<Sint> find_guards();

  /// By reduction, or another LazyOp, and copy.
  using Accumulators = std::map<std::pair<int, std::int64_t>, const UOp*>;

  // linearizer_pipeline.cc
  /// What is remembered of another turn of the loop that PIPELINE names, a stage of which is computed beside the second one of this turn.
  struct OtherTurn {
    Accumulators values = {}, accumulators = {};
    std::map<std::pair<int, std::int64_t>, std::vector<Place>> places = {};
    std::map<std::pair<int, std::int64_t>, Zeros> zeros = {};
    std::vector<Sint> axis_index = {};
    bool sums_apart = false;
  };
  bool begins_next() const { return pipelined_ >= 0 && stage_ == 1; }
  void swap_with(OtherTurn& turn);
  void of_next_turn(const std::function<void()>& compute);
  void of_turn_before(Sint element, const std::function<void()>& store);
  std::vector<const LazyOp*> results() const;
  void store_turn_before();
  void store_rest_of_turn_before();
  void define_late();
  void keep_late();
  void store_last_turn();
  void define_next();
  void finish_next();
  void begin_turns();
  void open_pipelined();
  void compute_turns();

  // linearizer_roll.cc
  void define_rolling(Sint turn, std::size_t ahead);
  void forget_values();
  void add_row_to_windows(Sint turn, std::int64_t row);
  void roll_turn(Sint turn);
  bool has_row_outside(std::int64_t turn);
  Span turns_inside();
  void roll_through(const Span& turns);
  void compute_rolling();

  // linearizer_tensor.cc
  /// All products of the reduction by the instruction that TC has placed, in the loops that are open.
  void multiply_by_instruction();
  void add_dot_product(const LazyOp* sum);
  /// The products that whole instructions leave over.
  void add_tail();
  void multiply_tiles(const LazyOp* sum);
  const UOp* dot_operand(const LazyOp* load);
  const UOp* padding_of(const LazyOp* load, int count);
  const UOp* element_of(const KernelBuf& buf, const Place& place, Sint inside);
  template <class Add>
  void add_steps(std::size_t steps, std::size_t tensor, bool in_order, Add add);
  bool is_words(const UOp* b) const;
  void add_products(const LazyOp* sum);
  /// The bits of the element of an operand that this work-item has in register number `reg`.
  const UOp* tile_operand(const LazyOp* load, const TilePart& part, std::int64_t reg);

  // linearizer_reduce.cc
  /// Of a reduction: those of one work-item, the array of those of all that share it, those of some and of all of them together.
  enum class Sums : std::uint8_t { Own, OfItems, OfPart, Total };
  /// Arrays in shared memory, one for each reduction of the stage.
  struct SharedSums {
    std::vector<const UOp*> arrays;
    Sint first = 0;           // of this work-item's group
    std::int64_t items = 1;   // that share a sum
    std::vector<int> copied;  // axes along which an item has several sums
  };
  void reduce();
  void reduce_group();
  void add_in_parts(SharedSums& sums, Sint mine);
  void add_shared(const SharedSums& sums, Sums kind, Sint from, std::int64_t n, std::int64_t step);
  void store_shared(const SharedSums& sums, std::size_t array, Sint item, const UOp* sum);
  Sint place_of(const SharedSums& sums, Sint item) const;
  std::string name_of(const LazyOp* reduce, Sums sums) const;
  void define_accumulators(Sums sums);
  void open_reduce_loops(const std::vector<Sint>& guards);
  const LazyOp* window_sum() const;
  void add_by_element(const LazyOp* sum);
  /// Whether a value holds all elements along the axis. While an instruction makes sums one by one, these are copies instead.
  bool is_in_lanes(const Axis& a) const { return a.kind == AxisKind::Vector && lanes_ > 1; }
  void add_turn(const std::vector<const LazyOp*>& reduces);
  /// Sums that copies share, to which the current turn is added.
  using Done = std::set<std::pair<int, std::int64_t>>;
  void add_copy(const std::vector<const LazyOp*>& reduces, Done& done);
  void end_turns(std::size_t outside);
  void finish_sums();
  void accumulate(const LazyOp* op, const UOp* x);
  /// The same of that accumulator, of which `newest` is the latest Phi.
  void accumulate(const LazyOp* op, const UOp*& newest, const UOp* x);
  /// Gives an accumulator, of which `newest` is the latest Phi, that value.
  void carry(const UOp*& newest, const UOp* value);
  /// Finds the constants that are added to sums of integers: the sums start at them.
  void find_starts();
  Sint position(const std::vector<int>& axes) const;
  std::int64_t count(const std::vector<int>& axes) const;

  // linearizer_windows.cc
  static constexpr int kOutside = -1;
  /// Windows that share the elements of rows: accumulators of elements, and what each window has of them.
  struct Window {
    struct Part {
      Place place = {};       // of its first element
      std::int64_t step = 0;  // of all steps of all windows the first that is this element
      std::string copy = {};  // names it
      const UOp* sum = nullptr;
    };
    struct Element {
      int part = kOutside, lane = 0;
    };
    const LazyOp* load = nullptr;
    int lanes = 1;  // along the rows
    bool is_strided = false;
    std::vector<Part> parts = {};
    std::vector<Element> elements = {};  // by window, step and lane
  };
  const LazyOp* pooled() const;
  std::optional<Place> place_in_window(const LazyOp* load) const;
  bool all_in_windows(const LazyOp* load, const std::function<bool(const Place&)>& f);
  std::vector<std::int64_t> starts_of_vectors(const Place& base, const std::set<std::int64_t>& offsets) const;
  std::optional<Window> window_of_vectors(const LazyOp* load);
  std::optional<Window> window_of_elements(const LazyOp* load);
  std::int64_t most_parts() const;
  bool is_worth_it(const Window& window) const;
  void find_window();
  void define_window();
  void add_row();
  const UOp* taken_from_row(std::int64_t step);
  void reduce_windows();

  // linearizer_lanes.cc
  /// Whether the steps of unrolled loops over a reduced axis have a sum each, for which there are registers.
  bool may_sum_apart() const;
  const UOp* total_of(const LazyOp* reduce, std::vector<const UOp*> parts);
  const UOp* rotated_lanes(const UOp* v, int first, int count);
  const UOp* narrowed(const LazyOp* reduce, const UOp* sum, int lanes);
  const UOp* total_of_lanes(const LazyOp* reduce, const UOp* sum);
  void total_lanes();
  void gather_sums();
  void add_lanes();
  void tile();
  /// Whether the lanes of a vector are adjacent in every output.
  bool stores_vectors() const;

  // linearizer_columns.cc
  bool has_vectors_behind_sums() const;
  /// The axis of copies that become columns of the outputs; -1: there is none, or lanes are adjacent or stored one by one.
  int axis_of_columns() const;
  void store_columns(int axis, const std::vector<const LazyOp*>& results);
  std::int64_t columns_at_once(std::int64_t left) const;
  void store_rows(const KernelBuf& buf, const std::vector<const UOp*>& columns);

  // linearizer_lanes.cc, of what lanes leave over
  /// The axes that are not of the dimension along which lanes leave elements over.
  std::vector<int> without_rest(std::vector<int> axes) const;
  /// So many lanes, or a loop of one.
  struct RestPart {
    int lanes = 1;
    std::int64_t first = 0;
  };
  std::vector<RestPart> rest_parts(AxisKind kind) const;
  std::vector<int> loops_beside_rest(AxisKind kind) const;
  void begin_part(const RestPart& part, AxisKind kind, const std::vector<const LazyOp*>& roots);
  void end_rest();
  void open_rest(AxisKind kind);
  void add_rest();
  void add_rest_vector(const std::vector<const LazyOp*>& reduces);
  void store_rest(const std::vector<const LazyOp*>& results, std::size_t outside);

  const Kernel& k_;
  const LinearizeOptions& options_;
  int stage_ = 0;
  std::optional<std::int64_t> rest_first_{};  // of the part of what lanes leave over that is computed now
  std::vector<Ahead> ahead_;                  // of the stage
  int columns_ = -1;                          // axis_of_columns(), for outputs whose lanes lie apart
  std::set<const LazyOp*> without_nans_;      // largest elements that may pass over NaNs: a later sum brings them back
  bool sums_apart_ = false;                   // in each step of the unrolled loops that are open
  bool is_behind_group_ = false;              // one work-item of the group goes on alone
  Kept kept_;
  int pipelined_ = -1;         // the axis over whose turns the first stage is computed early, or -1
  bool is_next_turn_ = false;  // what is computed now is of the next one of these
  Sint next_turn_ = 0, turn_before_ = 0;
  const UOp* has_before_ = nullptr;
  OtherTurn next_;
  bool stores_late_ = false, is_late_ = false;  // what is stored now is of the turn before
  Accumulators late_;                           // the values of a row that it needs, by number of the LazyOp and copy
  std::set<const LazyOp*> late_rows_;           // these LazyOps
  std::optional<Rolled> rolled_{};
  std::vector<Accumulators> rolling_;  // of the windows that are begun: that of this turn, of the next one, ...
  std::string ahead_name_{};           // of the one of these whose sums are defined now
  std::optional<Window> window_{};     // of the stage, while it is reduced
  Symbols* symbols_ = nullptr;
  UOpBuilder b_;
  IndexLowering index_;
  Linearized result_;
  std::vector<const UOp*> open_;                                       // scopes, outermost first
  std::map<const UOp*, int> loop_number_;                              // of a Loop in Linearized::loops; look-up only
  std::vector<Sint> guards_;                                           // conditions that hold here: outer ifs have tested them
  int lanes_ = 1;                                                      // vector lanes of a value, along the Vector axis
  std::map<const LazyOp*, const UOp*> tile_;                           // of each reduction: the stack array that holds its sums
  std::map<std::pair<int, std::int64_t>, std::vector<Place>> places_;  // by number of the leaf and copy
  std::vector<Sint> axis_index_;                                       // per axis: its variable, or the number of the current copy
  std::map<int, const UOp*> buffers_;                                  // by argument
  std::unordered_map<const LazyOp*, IntRange> ranges_;                 // of the operands of indexed loads
  std::unordered_map<const UOp*, Sint> positions_;                     // the variable of each position that indexed loads take
  std::vector<std::string> axis_names_;                                // per axis
  int shared_ = -1;                                                    // the axis whose loop the workers share; -1: none
  Turns own_turns_;                                                    // of that loop, for this worker
  std::set<std::string> taken_;                                        // names of axes and Variables
  std::unordered_map<const LazyOp*, std::uint64_t> relevant_;
  std::unordered_map<const LazyOp*, double> bounds_;
  std::map<std::pair<int, std::int64_t>, Zeros> zeros_;              // by number of the LazyOp and copy, while reducing
  std::map<std::pair<int, std::int64_t>, const UOp*> values_;        // by number of the LazyOp and copy
  std::unordered_map<const LazyOp*, int> number_;                    // of each LazyOp, in topological order
  std::map<std::pair<int, std::int64_t>, const UOp*> accumulators_;  // by reduction and copy: the latest Phi, at first the DefineAcc
  std::unordered_map<const LazyOp*, std::vector<const LazyOp*>> orders_;
  std::unordered_map<const LazyOp*, const LazyOp*> starts_;  // of sums: what they start at; look-up only
  std::unordered_map<const LazyOp*, const LazyOp*> begun_;   // by the addition of that: the sum, which has it already; look-up only
  std::int64_t defined_ = 0;                                 // number of accumulators so far
  std::int64_t arrays_ = 0;                                  // and of arrays that work-items share
};

template <class F>
void Linearizer::for_each(const std::vector<int>& axes, F f) {
  std::vector<std::int64_t> at(axes.size(), 0);
  while (true) {
    for (std::size_t i = 0; i < axes.size(); i++) axis_index_[static_cast<std::size_t>(axes[i])] = at[i];
    f();
    std::size_t i = axes.size();
    while (i > 0 && ++at[i - 1] == k_.axes()[static_cast<std::size_t>(axes[i - 1])].size.as_int()) at[--i] = 0;
    if (i == 0) return;
  }
}

/// The conditions of a conjunction, or the single condition itself; none for a constant.
std::vector<Sint> terms_of(Sint valid);

}  // namespace etch
