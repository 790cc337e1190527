// tinygrad's hand-coded optimisations: which axes to upcast, unroll, group and make local, in its order.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <vector>

#include "base/subscript.h"
#include "codegen/kernel.h"

namespace etch {
namespace {

bool is_int(const Kernel& k, int axis) { return k.axes()[at(axis)].size.is_int(); }
std::int64_t size_of(const Kernel& k, int axis) { return k.axes()[at(axis)].size.as_int(); }

// Number of output elements of the kernel; nullopt if it is not known.
std::optional<std::int64_t> outputs(const Kernel& k) {
  std::int64_t n = 1;
  for (int i = 0; i < k.first_reduce(); i++) {
    if (!is_int(k, i)) return std::nullopt;
    n *= size_of(k, i);
  }
  return n;
}

std::int64_t copies(const Kernel& k) {
  std::int64_t n = 1;
  for (int i = k.first_upcast(); i < static_cast<int>(k.axes().size()); i++) n *= size_of(k, i);
  return n;
}

// For products of a matrix and a vector: each work-group computes some rows.
bool matvec(Kernel& k) {
  constexpr std::int64_t kBlock = 4, kThreads = 8, kRows = 4;
  const std::optional<Contraction> product = product_of_loads(k);
  if (!k.options().has_local || !product || k.axes().size() < 2) return false;
  const KernelBuf &b0 = k.buf_of(product->a()), &b1 = k.buf_of(product->b());
  const auto is_expanded = [&](const KernelBuf& b) {
    for (int i = 0; i < static_cast<int>(k.axes().size()); i++) {
      const auto s = k.stride(b, i);
      if (s && s->is_int(0)) return true;
    }
    return false;
  };
  const int first = k.first_reduce();
  if (first >= static_cast<int>(k.axes().size())) return false;
  const auto s0 = k.stride(b0, first);
  if (!s0 || !s0->is_int(1) || (is_expanded(b0) && is_expanded(b1)) || !is_int(k, first)) return false;
  for (int g = 0; g < first; g++) {
    if (!is_int(k, g) || size_of(k, first) % kThreads != 0 || size_of(k, g) % (kBlock * kRows) != 0) continue;
    if (!k.try_apply({OptOp::Group, 0, kThreads})) continue;
    k.try_apply({OptOp::Local, g, kBlock});
    k.try_apply({OptOp::Upcast, g, kRows});
    return true;
  }
  return false;
}

// Few outputs, long sums: work-items share one sum.
bool group(Kernel& k) {
  const int first = k.first_reduce();
  const auto n = outputs(k);
  if (!k.options().has_local || !n || *n > 2048 || first > 2 || first >= k.first_upcast() || !is_int(k, first)) return false;
  const std::vector<std::int64_t> sizes = *n <= 32 ? std::vector<std::int64_t>{256, 16} : std::vector<std::int64_t>{16};
  return std::ranges::any_of(sizes, [&](std::int64_t size) { return k.try_apply({OptOp::GroupTop, 0, size}); });
}

bool is_scalar_sum(const Kernel& k) { return k.options().register_tiles && k.options().vector_bits == 0 && !k.reduces().empty(); }

// Whether tiles inside of all borders may have a body of their own, which needs no copies to get rid of masks.
bool wants_interior(const Kernel& k) { return is_scalar_sum(k) && !k.options().small_code && !k.why_illegal({OptOp::Interior}); }

// Upcasts small axes along which a buffer is masked, so that the mask tests become constant.
void upcast_masked(Kernel& k) {
  if (k.options().small_code) return;
  // Few copies, of the innermost axes: in each of two bodies, and of sums of integers, of which many would lie on the stack.
  const bool few = wants_interior(k) || (is_scalar_sum(k) && etch::is_int(k.reduces()[0]->dtype));
  const std::int64_t most = few ? 12 : 49;
  std::vector<int> chosen;
  std::int64_t n = copies(k);
  for (int i = 0; i < k.first_reduce(); i++) {
    const int axis = few ? k.first_reduce() - 1 - i : i;
    if (!is_int(k, axis) || size_of(k, axis) > 7 || size_of(k, axis) < 2) continue;
    const bool masked = std::ranges::any_of(k.bufs(), [&](const KernelBuf& b) { return k.is_masked(b, axis); });
    if (!masked || n * size_of(k, axis) > most) continue;
    n *= size_of(k, axis);
    chosen.push_back(axis);
  }
  std::ranges::sort(chosen, std::greater());
  for (int axis : chosen) k.try_apply({OptOp::Upcast, axis, 0});
}

// An axis of which `amount` elements may share what is read, the axes where least moves first.
using SharedAxis = std::tuple<int, std::int64_t, int, std::int64_t>;  // buffers that move, by how much in all, axis, amount

std::optional<SharedAxis> shared_axis(const Kernel& k, int axis, std::int64_t amount) {
  if (size_of(k, axis) % amount != 0) return std::nullopt;
  bool shared = false;
  int moving = 0;
  std::int64_t total = 0;
  for (const KernelBuf& b : k.bufs()) {
    const Sint stride = k.view_stride(b, axis);
    bool was_shared = false;
    for (int u = k.first_upcast(); u < static_cast<int>(k.axes().size()); u++) {
      const auto s = k.stride(b, u);
      was_shared = was_shared || (s && s->is_int(0));
    }
    // A mask alone does not pay for several sums and what each of them needs.
    const bool is_read = b.op->op != Op::Const || !is_scalar_sum(k);
    shared = shared || (is_read && stride.is_int(0) && !was_shared);
    moving += stride.min() > 0 ? 1 : 0;
    total += stride.is_int() ? stride.as_int() : 0;
  }
  return shared ? std::optional(SharedAxis(moving, total, axis, amount)) : std::nullopt;
}

// Upcasts axes along which a buffer has stride 0: its elements are then read once for several outputs.
void upcast_shared(Kernel& k) {
  std::vector<int> done;  // dimensions
  const auto best_of = [&](std::initializer_list<std::int64_t> amounts) {
    std::optional<SharedAxis> best;
    for (int axis = 0; axis < k.first_reduce(); axis++) {
      if (std::ranges::find(done, k.root_dim(axis)) != done.end()) continue;
      for (const std::int64_t amount : amounts)
        if (const auto choice = shared_axis(k, axis, amount); choice && (!best || *choice < *best)) best = choice;
    }
    return best;
  };
  while (true) {
    const auto n = outputs(k);
    if (!n || (*n < 1024 && !k.options().small_code)) return;
    auto best = best_of({3, 4});
    // Small masked axes are not upcast then: a window would be read again for every element of a row of 5 or 7.
    if (!best && done.empty() && k.options().small_code) best = best_of({5, 7});
    if (!best) return;
    const auto [moving, total, axis, amount] = *best;
    done.push_back(k.root_dim(axis));
    k.try_apply({OptOp::Upcast, axis, amount});
  }
}

void unroll(Kernel& k) {
  const int first = k.first_reduce();
  if (first >= k.first_upcast()) return;
  bool unrolled = false;
  for (const Axis& a : k.axes()) unrolled = unrolled || a.kind == AxisKind::Unroll;
  if ((unrolled && copies(k) > 4) || copies(k) >= 64) return;
  const int last = k.first_upcast() - 1;
  if (!is_int(k, last)) return;
  const std::int64_t size = size_of(k, last);
  // A window of integers is added row by row: sums and the elements of one row are what core registers have room for.
  const bool is_window = last > first && is_int(k, last - 1) && size <= 3 && size_of(k, last - 1) <= 3;
  if (is_window && k.options().vector_bits == 0 && etch::is_int(k.reduces()[0]->dtype)) {
    k.try_apply({OptOp::Unroll, last - 1 - first, 0});
    k.try_apply({OptOp::Unroll, last - 1 - first, 0});
    return;
  }
  if (!k.try_apply({OptOp::Unroll, last - first, 0})) {
    k.try_apply({OptOp::Unroll, last - first, 4});
  } else if (first < k.first_upcast() && size <= 3 && is_int(k, last - 1) && size_of(k, last - 1) <= 3) {
    k.try_apply({OptOp::Unroll, last - 1 - first, 0});
  }
}

void upcast_last(Kernel& k) {
  const int last = k.first_upcast() - 1;
  if (k.first_upcast() == static_cast<int>(k.axes().size())) k.try_apply({OptOp::Upcast, last, 4});
}

// A group has at most `most` items.
void locals(Kernel& k, std::int64_t most = 128) {
  struct Rank {
    bool shared;
    int axis;
  };
  std::vector<Rank> ranking;
  for (int axis = 0; axis < k.first_reduce(); axis++) {
    if (!is_int(k, axis)) continue;
    ranking.push_back({std::ranges::any_of(k.bufs(), [&](const KernelBuf& b) { return k.view_stride(b, axis).is_int(0); }), axis});
  }
  std::ranges::sort(ranking, [](const Rank& a, const Rank& b) { return std::tie(b.shared, b.axis) < std::tie(a.shared, a.axis); });
  std::vector<std::pair<int, std::int64_t>> chosen;
  std::int64_t items = 1;
  for (const Rank& r : ranking) {
    for (std::int64_t size : {32, 16, 8, 4, 3, 2}) {
      if ((size == 32 && r.axis != 0) || size_of(k, r.axis) % size != 0 || items * size > most) continue;
      chosen.emplace_back(r.axis, size);
      items *= size;
      break;
    }
  }
  if (chosen.size() > 3) chosen.resize(3);
  std::ranges::sort(chosen);
  int deleted = 0;
  for (const auto& [axis, size] : chosen) {
    const bool whole = size_of(k, axis - deleted) == size;
    if (k.try_apply({OptOp::Local, axis - deleted, size}) && whole) deleted++;
  }
}

// Few rows, long ones: neighbouring work-items have neighbouring elements of a row. The number of items that share one.
std::int64_t group_rows(Kernel& k) {
  constexpr std::int64_t kManyRows = 2048;
  const auto rows = outputs(k);
  if (!k.options().has_local || !rows || *rows >= kManyRows) return 1;
  int axis = -1;  // the innermost of the first stage
  for (int i = k.first_reduce(); i < k.first_upcast(); i++)
    if (k.axes()[at(i)].kind == AxisKind::Reduce && k.axes()[at(i)].stage == 0) axis = i;
  if (axis < 0 || !is_int(k, axis)) return 1;
  const std::int64_t items = items_of_row(size_of(k, axis));
  return items > 1 && k.try_apply({OptOp::Group, axis - k.first_reduce(), items}) ? items : 1;
}

// Several stages: a vector of rows if they are adjacent everywhere, else a few copies of the innermost loop of each stage.
void staged(Kernel& k) {
  constexpr std::int64_t kCopies = 4;
  const int outer = k.first_reduce();
  const auto moves_as_vector = [&](int axis) {
    return std::ranges::all_of(k.bufs(), [&](const KernelBuf& b) {
      const auto s = k.stride(b, axis);
      return s && (s->is_int(0) || s->is_int(1));
    });
  };
  if (outer > 0 && k.options().vector_bits > 0 && moves_as_vector(outer - 1) &&
      k.try_apply({OptOp::Vector, outer - 1, k.options().vector_bits / 32}))
    return;
  const std::int64_t items = group_rows(k);
  for (int axis = k.first_upcast() - 1; axis >= k.first_reduce(); axis--) {
    const Axis& a = k.axes()[at(axis)];
    const bool innermost = axis + 1 == k.first_upcast() || k.axes()[at(axis + 1)].stage != a.stage;
    if (!innermost) continue;
    if (a.kind == AxisKind::Inner)
      k.try_apply({OptOp::Upcast, axis, kCopies});
    else
      k.try_apply({OptOp::Unroll, axis - k.first_reduce(), kCopies});
  }
  // Rows that are shared by fewer work-items than run in step fill these up; others spread over the device.
  constexpr std::int64_t kInStep = 32;
  if (k.options().has_local && items == 1) locals(k);
  if (items > 1 && items < kInStep) locals(k, kInStep / items);
}

// Where no axis became local a work-group would be one item; of an axis of open size only the driver can choose a part.
void leave_to_driver(Kernel& k) {
  bool open = false;
  for (int axis = 0; axis < static_cast<int>(k.axes().size()); axis++)
    open = open || (k.axes()[at(axis)].kind == AxisKind::Global && !is_int(k, axis));
  if (open && k.options().has_local) k.try_apply({OptOp::NoLocals});
}

void single(Kernel& k) {
  if (matvec(k) || group(k)) return;
  upcast_masked(k);
  upcast_shared(k);
  unroll(k);
  upcast_last(k);
  if (wants_interior(k)) k.try_apply({OptOp::Interior});
  if (k.options().has_local) locals(k);
}

}  // namespace

std::int64_t items_of_row(std::int64_t size) {
  constexpr std::int64_t kFew = 8, kMany = 256, kShort = 32, kSumsOfElement = 16;
  if (size < kShort) return 1;
  std::int64_t items = std::min(kMany, size);
  while (size % items != 0 || items > kSumsOfElement * (size / items)) items--;
  return items < kFew ? 1 : items;
}

void hand_coded_optimizations(Kernel& k) {
  if (k.is_staged())
    staged(k);
  else
    single(k);
  leave_to_driver(k);
}

}  // namespace etch
