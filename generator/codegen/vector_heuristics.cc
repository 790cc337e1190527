// Vectors of floats in kernels that are no sums of products by tiles: lanes along the axis in which the elements that are stored are
// adjacent, else along what is reduced. Vectors of integers: lanes along the axis in which the elements that are stored are adjacent, and
// some other elements beside them, for which the constants are loaded once.
#include <algorithm>
#include <bit>
#include <functional>

#include "codegen/kernel.h"
#include "codegen/math.h"
#include "shape/int_math.h"

namespace etch {
namespace {

constexpr std::int64_t kOperands = 2;    // registers beside the sums and the constants: an element, a product
constexpr std::int64_t kWindow = 12;     // products that are written one after the other
constexpr std::int64_t kPooled = 24;     // elements of a row that are
constexpr std::int64_t kNeighbours = 8;  // windows that are

bool is_of_integers(const Kernel& k) {
  const auto is_vector = [](DType d) { return is_int(d) && (bytes_of(d) <= 2 || d == DType::Int32); };
  return !k.is_staged() && std::ranges::all_of(k.stores(), [&](const KernelBuf& b) { return is_vector(b.op->dtype); }) &&
         std::ranges::all_of(k.reduces(), [](const LazyOp* r) { return r->dtype == DType::Int32; });
}

// Along the axis each buffer stays, is adjacent or can be laid out so, and no mask differs from lane to lane.
bool fits(const Kernel& k, int axis, std::int64_t lanes, const std::vector<KernelArgument>& arguments) {
  const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
  if (!size.is_int() || size.as_int() % lanes != 0) return false;
  return std::ranges::all_of(k.bufs(), [&](const KernelBuf& b) {
    const auto stride = k.stride(b, axis);
    if (k.is_masked(b, axis) || is_indexed(b.op)) return false;
    if (b.op->op == Op::Store) return is_step(stride, 1);
    if (b.op->op != Op::Load) return is_step(stride, 0) || b.op->op == Op::Const;
    return is_step(stride, 0) || is_step(stride, 1) || can_be_laid_out(k, b, arguments);
  });
}

// The constants that are used with one element: those of a row of the window if the elements are vectors too; else one.
std::int64_t constants_of(const Kernel& k) {
  const int lane = static_cast<int>(k.axes().size()) - 1, last = k.first_upcast() - 1;
  const std::optional<Contraction> c = contraction_of(k.reduces()[0]);
  const Sint& size = k.axes()[static_cast<std::size_t>(last)].size;
  if (!c || !size.is_int() || size.as_int() > kWindow) return 1;
  const auto is_vector = [&](const LazyOp* factor) {
    return std::ranges::any_of(toposort(factor),
                               [&](const LazyOp* op) { return op->op == Op::Load && !is_step(k.stride(k.buf_of(op), lane), 0); });
  };
  return is_vector(c->a()) && is_vector(c->b()) ? size.as_int() : 1;
}

// Elements along an axis on which a constant stays, while something else moves: as many as registers hold beside the constants, else a few
// more, for which constants are loaded twice.
void upcast_rows(Kernel& k, const std::vector<KernelArgument>& arguments) {
  const std::int64_t most = k.options().float_registers - kOperands - 1, best = most + 1 - constants_of(k);
  const auto stays = [&](const KernelBuf& b, int axis) { return b.op->op == Op::Load && is_step(k.stride(b, axis), 0); };
  for (int axis = k.count(AxisKind::Global) - 1; axis >= 0; axis--) {
    const bool is_shared = std::ranges::any_of(
        k.bufs(), [&](const KernelBuf& b) { return stays(b, axis) && arguments[static_cast<std::size_t>(b.op->mem().index)].is_constant; });
    if (!is_shared) continue;
    for (const auto& [from, to] : {std::pair(best, std::int64_t{1}), std::pair(most, std::max<std::int64_t>(best, 1))})
      for (std::int64_t amount = from; amount > to; amount--)
        if (k.try_apply({OptOp::Upcast, axis, amount})) return;
  }
}

// Windows of elements side by side, one or two apart, which share what they have of a row: vectors along the row, or of as many windows as
// upcast_neighbours() takes.
bool pools_rows(const Kernel& k, int axis) {
  const LazyOp* load = pooled_load(k.reduces()[0]);
  if (load == nullptr || k.options().small_code || k.count(AxisKind::Reduce) < 2) return false;
  const std::optional<Sint> step = stride_inside(k, k.buf_of(load), axis);
  if (!step || !step->is_int() || step->is_int(0)) return false;
  const int lanes = static_cast<int>(k.axes().size()) - 1;
  for (int other = 0; other <= lanes; other++) {
    const std::optional<Sint> moves = stride_inside(k, k.buf_of(load), other);
    const bool is_next = moves && *moves == *step, is_second = moves && *moves == *step * 2;
    if (k.reduces_axis(other) || (!is_next && !is_second)) continue;
    const std::int64_t elements = k.axes()[static_cast<std::size_t>(axis)].size.max() + (kNeighbours - 1) * (is_next ? 1 : 2);
    return other == lanes || elements <= k.options().float_registers - kOperands;
  }
  return false;
}

void unroll_window(Kernel& k, bool may_pool) {
  if (k.count(AxisKind::Reduce) == 0) return;
  const int last = k.first_upcast() - 1;
  const Sint& size = k.axes()[static_cast<std::size_t>(last)].size;
  const std::int64_t most = may_pool && pools_rows(k, last) ? kPooled : kWindow;
  if (size.is_int() && size.as_int() <= most) k.try_apply({OptOp::Unroll, last - k.first_reduce(), 0});
}

// Lanes of the narrowest type if the kernel only moves and chooses numbers of that, else of int32.
std::int64_t widest(const Kernel& k) {
  std::int64_t bytes = bytes_of(k.stores()[0].op->dtype);
  for (const LazyOp* op : toposort(k.ast())) {
    const bool moves = op->op == Op::Load || op->op == Op::Store || op->op == Op::Where || op->op == Op::Const;
    if (!moves || (op->op != Op::Const && bytes_of(op->dtype) != bytes)) bytes = 4;
  }
  return k.options().vector_bits / (8 * bytes);
}

bool vectors_along(Kernel& k, std::int64_t lanes, const std::vector<KernelArgument>& arguments) {
  for (int axis = k.first_reduce() - 1; axis >= 0; axis--) {
    if (!fits(k, axis, lanes, arguments) || !k.try_apply({OptOp::Vector, axis, lanes})) continue;
    if (k.count(AxisKind::Reduce) > 0) upcast_rows(k, arguments);
    unroll_window(k, false);
    if (!k.options().small_code) k.try_apply({OptOp::Interior});
    return true;
  }
  return false;
}

// Whether a kernel computes floats by what is one operation on vectors. With `along_rows` lanes run along what is reduced.
bool is_of_vector_operations(const Kernel& k, bool along_rows) {
  const auto is_float32 = [](const LazyOp* op) { return op->dtype == DType::Float32; };
  const auto may_be_vector = [&](const LazyOp* op) {
    if (info(op->op).group == OpGroup::Buffer) return is_float32(op) || (op->op == Op::Const && op->dtype == DType::Bool);
    if (op->op == Op::Where || op->op == Op::Max || op->op == Op::Min || op->op == Op::Expand || is_reduce(op->op)) return is_float32(op);
    if (op->op == Op::CmpLt || op->op == Op::CmpEq || op->op == Op::CmpNe) return is_float32(op->src[0]);
    if (op->dtype == DType::Bool) return op->op == Op::And || op->op == Op::Or || op->op == Op::Xor;
    return is_float32(op) && (has_vector_form(op->op, k.options()) || (along_rows && is_of_row(k, op)));
  };
  return !k.is_scan() && std::ranges::all_of(toposort(k.ast()), may_be_vector);
}

}  // namespace

const LazyOp* pooled_load(const LazyOp* reduce) {
  const LazyOp* op = reduce->src[0];
  const bool chooses = op->op == Op::Where && reduce->op != Op::ReduceSum && op->src[0]->op == Op::Const && op->src[2]->op == Op::Const;
  if (chooses && !(op->src[2]->constant().value == start_of(reduce->op, op->dtype))) return nullptr;
  const LazyOp* load = chooses ? op->src[1] : op;
  return load->op == Op::Load && !is_indexed(load) ? load : nullptr;
}

// What is padded, and windows in it, are two views: a step in the second is one along an axis of the first.
std::optional<Sint> stride_inside(const Kernel& k, const KernelBuf& b, int axis) {
  const std::vector<View>& views = b.st.views();
  if (!k.is_masked(b, axis)) return k.stride(b, axis);
  if (views.size() > 2 || is_indexed(b.op)) return std::nullopt;
  const Sint step = k.view_stride(b, axis);
  if (views.size() == 1 || step.is_int(0)) return step;
  const View& padded = views.front();
  if (!step.is_int() || !padded.has_fixed_shape()) return padded.strides.back().is_int(1) ? std::optional(step) : std::nullopt;
  std::int64_t unit = 1;
  for (std::size_t d = padded.shape.size(); d-- > 0; unit *= padded.shape[d].as_int())
    if (step.as_int() % unit == 0 && step.as_int() < unit * padded.shape[d].as_int()) return padded.strides[d] * (step.as_int() / unit);
  return std::nullopt;
}

bool has_inner_vectors(const Kernel& k, const KernelBuf& b, int axis, std::int64_t lanes) {
  constexpr std::int64_t kLeast = 4;  // vectors, of which two are at the borders
  const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
  if (!size.is_int()) return false;
  std::int64_t vectors = ceil_div(size.as_int(), lanes);  // the last of which may begin early
  const Sint behind = k.view_stride(b, axis) * size;
  for (int blocks = 0; blocks < k.first_reduce(); blocks++)
    if (const Sint& count = k.axes()[static_cast<std::size_t>(blocks)].size;
        count.is_int() && k.is_masked(b, blocks) && k.view_stride(b, blocks) == behind)
      vectors *= count.as_int();
  return vectors >= kLeast;
}

namespace {

// Along the axis what is stored is adjacent; what is loaded, too, or it stays or can be laid out so.
bool is_adjacent(const Kernel& k, int axis, std::int64_t lanes, const std::vector<KernelArgument>& arguments) {
  const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
  if (!size.is_int()) return false;
  const bool divides = size.as_int() % lanes == 0;
  return std::ranges::all_of(k.bufs(), [&](const KernelBuf& b) {
    if (is_indexed(b.op) || (k.is_masked(b, axis) && (b.op->op == Op::Store || k.is_staged() || !has_inner_vectors(k, b, axis, lanes))))
      return false;
    if (b.op->op == Op::Const) return true;
    const auto stride = stride_inside(k, b, axis);
    if (b.op->op == Op::Store) return is_step(stride, 1);
    if (b.op->op == Op::Load && !k.reduces().empty() && !k.is_staged() && is_step(stride, 2)) return true;
    return is_step(stride, 0) || (b.op->op == Op::Load && (is_step(stride, 1) || (divides && can_be_laid_out(k, b, arguments))));
  });
}

// Neighbours along the innermost loop: their windows overlap, and each waits for its own sum alone.
void upcast_neighbours(Kernel& k) {
  const int axis = k.count(AxisKind::Global) - 1;
  for (std::int64_t amount = kNeighbours; axis >= 0 && amount > 1; amount--)
    if (k.try_apply({OptOp::Upcast, axis, amount})) return;
}

// Vectors of so many elements, those of fewer, and the elements that are left. Beside loops over other axes there are none of fewer.
std::int64_t turns_of(std::int64_t size, std::int64_t lanes, bool is_alone) {
  const std::int64_t rest = size % lanes;
  return size / lanes + (is_alone ? std::popcount(static_cast<std::uint64_t>(rest / kFewestLanes)) + rest % kFewestLanes : rest);
}

// Steps that do not wait for each other, of sums over one axis. An exponential of each element is a long chain that waits for one sum, and
// another one for it (softmax): two rows at once keep the core busy.
void unroll_sums(Kernel& k) {
  if (k.options().small_code || k.count(AxisKind::Reduce) > k.reduce_stages()) return;
  const bool has_chains = k.is_staged() && std::ranges::any_of(toposort(k.ast()), [&](const LazyOp* op) {
                            return is_library_call(op->op) && !is_of_row(k, op);
                          });
  const bool in_pairs = has_chains && k.first_reduce() > 0 && k.try_apply({OptOp::Upcast, k.first_reduce() - 1, 2});
  const std::int64_t most = in_pairs ? 2 : 4;
  for (int axis = 0; axis < k.count(AxisKind::Reduce);) {
    const int loops = k.count(AxisKind::Reduce);
    for (std::int64_t amount = most; amount > 1; amount--)
      if (k.try_apply({OptOp::Unroll, axis, amount})) break;
    if (k.count(AxisKind::Reduce) == loops) axis++;  // else it is unrolled whole
  }
}

// Lanes along the axis that is reduced, where what is read and written is adjacent.
bool lanes_along_sums(Kernel& k) {
  const auto moves_as_vector = [&](int axis) {
    return std::ranges::all_of(k.bufs(), [&](const KernelBuf& b) {
      const auto stride = k.stride(b, axis);
      return !is_indexed(b.op) && !k.is_masked(b, axis) && (is_step(stride, 0) || (b.op->op != Op::Const && is_step(stride, 1)));
    });
  };
  const bool is_alone = k.count(AxisKind::Reduce) == k.reduce_stages();
  std::vector<std::pair<std::int64_t, Opt>> steps;
  for (std::int64_t lanes = k.options().vector_bits / 32; lanes >= kFewestLanes; lanes /= 2)
    for (int axis = k.first_upcast() - 1; axis >= k.first_reduce(); axis--)
      if (const Opt step{OptOp::Vector, axis, lanes}; moves_as_vector(axis) && !k.why_illegal(step))
        steps.emplace_back(turns_of(k.axes()[static_cast<std::size_t>(axis)].size.as_int(), lanes, is_alone), step);
  if (steps.empty()) return false;
  k.apply(std::ranges::min_element(steps, {}, [](const auto& step) { return step.first; })->second);
  unroll_sums(k);
  if (!k.options().small_code && !pipeline_stages(k)) fetch_next_row(k);
  return true;
}

// A short axis along which nothing but constants is masked: they choose what is computed. Each element gets its own code, and they share
// what they have in common (Winograd's rows).
void upcast_choices(Kernel& k) {
  for (int axis = k.first_reduce() - 1; axis >= 0; axis--) {
    const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
    if (!size.is_int() || size.as_int() > kMostChoices || size.is_int(1)) continue;
    const auto is_masked = [&](const KernelBuf& b) { return k.is_masked(b, axis); };
    const auto is_choice = [&](const KernelBuf& b) { return !is_masked(b) || b.op->op == Op::Const; };
    const bool has_choices = std::ranges::any_of(k.bufs(), is_masked) && std::ranges::all_of(k.bufs(), is_choice);
    if (has_choices && k.try_apply({OptOp::Upcast, axis, 0})) return;
  }
}

// With `overlap` the last vector of a loop may begin earlier.
bool lanes_along_outputs(Kernel& k, std::int64_t lanes, bool overlap, const std::vector<KernelArgument>& arguments) {
  for (int axis = k.first_reduce() - 1; axis >= 0; axis--) {
    const Sint& size = k.axes()[static_cast<std::size_t>(axis)].size;
    if (size.is_int() && (size.as_int() % lanes != 0) != overlap) continue;
    if (!is_adjacent(k, axis, lanes, arguments) || !k.try_apply({OptOp::Vector, axis, lanes})) continue;
    if (k.is_staged()) return true;
    if (k.reduces().empty()) {
      if (k.options().small_code) return true;
      upcast_choices(k);
      k.try_apply({OptOp::Interior});
      return true;
    }
    unroll_window(k, true);
    upcast_neighbours(k);
    k.try_apply({OptOp::Interior});
    return true;
  }
  return false;
}

}  // namespace

bool float_vector_optimizations(Kernel& k, const std::vector<KernelArgument>& arguments) {
  if (k.options().vector_bits == 0 || !is_of_vector_operations(k, true)) return false;
  const std::int64_t widest = k.options().vector_bits / 32;
  std::vector<std::pair<std::int64_t, bool>> ways;
  for (std::int64_t lanes = widest; lanes >= kFewestLanes && is_of_vector_operations(k, false); lanes /= 2)
    for (const bool overlap : {false, true})
      if (!overlap || 2 * lanes > widest || lanes == kFewestLanes) ways.emplace_back(lanes, overlap);
  // In place the last vector is stored in parts: those of half the lanes that all are whole come before.
  const auto worth = [](const std::pair<std::int64_t, bool>& way) { return way.second ? way.first : 2 * way.first + 1; };
  if (k.may_be_in_place()) std::ranges::stable_sort(ways, std::greater{}, worth);
  for (const auto& [lanes, overlap] : ways)
    if (lanes_along_outputs(k, lanes, overlap, arguments)) return true;
  return !k.reduces().empty() && lanes_along_sums(k);
}

bool vector_optimizations(Kernel& k, const std::vector<KernelArgument>& arguments) {
  if (!k.options().integer_vectors || !is_of_integers(k)) return false;
  for (std::int64_t lanes = widest(k); lanes >= kFewestLanes; lanes /= 2)
    if (vectors_along(k, lanes, arguments)) return true;
  return false;
}

}  // namespace etch
