#include "program/lower_call.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace etch {
namespace {

// Number of positions that a Load reads: an axis with stride 0 counts once. An indexed one reads a position for each element.
Sint positions_read(const LazyOp* load) {
  if (is_indexed(load)) return product(load->shape);
  const ShapeTracker& st = load->st();
  const std::vector<std::optional<Sint>> strides = st.real_strides(true);
  Sint count = 1;
  for (std::size_t a = 0; a < strides.size(); a++)
    if (!strides[a] || !strides[a]->is_int(0)) count *= st.shape()[a];
  return count;
}

}  // namespace

std::vector<bool> may_alias(const LazyOp* store, std::size_t buffers) {
  std::vector<bool> result(buffers, true);
  result[0] = false;
  std::vector<bool> loaded(buffers, false);
  for (const LazyOp* op : toposort(store)) {
    if (op->op != Op::Load) continue;
    const auto b = static_cast<std::size_t>(op->mem().index);
    check(b < buffers, "a Load reads a buffer of its kernel");
    loaded[b] = true;
    if (!reads_in_place(op, store)) result[b] = false;
  }
  for (std::size_t b = 0; b < buffers; b++) result[b] = result[b] && loaded[b];
  return result;
}

Sint bytes_moved(const LazyOp* store, const std::vector<Sint>& elements) {
  std::vector<std::optional<Sint>> read(elements.size());
  std::vector<int> width(elements.size(), 0);
  for (const LazyOp* op : toposort(store)) {
    if (op->op != Op::Load) continue;
    const auto b = static_cast<std::size_t>(op->mem().index);
    width[b] = bytes_of(op->dtype);
    const Sint positions = positions_read(op);
    // If a buffer has several Loads only the largest counts, as they usually overlap.
    read[b] = read[b] ? try_max(*read[b], positions).value_or(positions) : positions;
  }
  Sint bytes = elements[0] * bytes_of(store->dtype);
  for (std::size_t b = 1; b < elements.size(); b++)
    if (read[b]) bytes += try_min(*read[b], elements[b]).value_or(elements[b]) * width[b];
  return bytes;
}

}  // namespace etch
