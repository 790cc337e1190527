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

std::vector<std::uint32_t> may_alias(const LazyOp* root, std::size_t buffers) {
  const std::vector<const LazyOp*> stores = stores_of(root);
  check(stores.size() <= 32, "a kernel has at most 32 outputs");
  std::vector<std::uint32_t> result(buffers, ~std::uint32_t{0} >> (32 - stores.size()));
  std::vector<bool> loaded(buffers, false);
  for (const LazyOp* op : toposort(root)) {
    if (op->op != Op::Load) continue;
    const auto b = static_cast<std::size_t>(op->mem().index);
    check(b < buffers, "a Load reads a buffer of its kernel");
    loaded[b] = true;
    for (std::size_t s = 0; s < stores.size(); s++)
      if (!reads_in_place(op, stores[s])) result[b] &= ~(std::uint32_t{1} << s);
  }
  for (std::size_t b = 0; b < buffers; b++)
    if (!loaded[b]) result[b] = 0;
  return result;
}

Sint bytes_moved(const LazyOp* root, const std::vector<Sint>& elements) {
  std::vector<std::optional<Sint>> read(elements.size());
  std::vector<int> width(elements.size(), 0);
  for (const LazyOp* op : toposort(root)) {
    if (op->op != Op::Load) continue;
    const auto b = static_cast<std::size_t>(op->mem().index);
    width[b] = bytes_of(op->dtype);
    const Sint positions = positions_read(op);
    // If a buffer has several Loads only the largest counts, as they usually overlap.
    read[b] = read[b] ? try_max(*read[b], positions).value_or(positions) : positions;
  }
  Sint bytes = 0;
  for (const LazyOp* store : stores_of(root)) bytes += product(store->shape) * bytes_of(store->dtype);
  for (std::size_t b = 0; b < elements.size(); b++)
    if (read[b]) bytes += try_min(*read[b], elements[b]).value_or(elements[b]) * width[b];
  return bytes;
}

}  // namespace etch
