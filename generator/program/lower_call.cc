#include "program/lower_call.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace etch {

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

namespace {

using Box = std::vector<Range>;  // of indices

// Where a mask lets something be seen; nullopt: of several views, or of open sizes.
std::optional<Box> box_of(const ShapeTracker& st) {
  if (st.views().size() != 1 || !st.views()[0].has_fixed_shape()) return std::nullopt;
  const View& view = st.views()[0];
  if (view.mask) {
    const bool is_fixed = std::ranges::all_of(*view.mask, [](const Range& r) { return r.first.is_int() && r.second.is_int(); });
    return is_fixed ? view.mask : std::nullopt;
  }
  Box box;
  for (const Sint& size : view.shape) box.emplace_back(0, size);
  return box;
}

bool are_apart(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.size(); d++)
    if (a[d].second.as_int() <= b[d].first.as_int() || b[d].second.as_int() <= a[d].first.as_int()) return true;
  return false;
}

// Where in what is stored all elements of a Load lie, in their order.
std::optional<std::int64_t> place_of_load(const LazyOp* load, const LazyOp* store, const Box& box, std::int64_t elements) {
  if (load->dtype != store->dtype || store->st().views().size() != 1) return std::nullopt;
  const View from = load->st().views()[0].shrink(box), to = store->st().views()[0].shrink(box);
  if (!ShapeTracker({from}).shows_all_once(elements) || from.strides != to.strides || !to.offset.is_int()) return std::nullopt;
  return to.offset.as_int();
}

}  // namespace

std::vector<std::optional<std::int64_t>> parts_of_output(const LazyOp* root, const std::vector<Sint>& elements) {
  std::vector<std::optional<std::int64_t>> parts(elements.size());
  std::vector<int> loads(elements.size(), 0);
  for (const LazyOp* op : toposort(root))
    if (op->op == Op::Load) loads[static_cast<std::size_t>(op->mem().index)]++;
  std::vector<Box> before;  // what the values of outer Wheres fill
  if (root->op != Op::Store || !box_of(root->st())) return parts;
  const auto note = [&](const LazyOp* load, const Box& chosen) {
    const auto index = static_cast<std::size_t>(load->mem().index);
    const std::optional<Box> box = box_of(load->st());
    if (!box || is_indexed(load) || loads[index] != 1 || !elements[index].is_int()) return;
    if (!std::ranges::all_of(before, [&](const Box& b) { return are_apart(*box, b); })) return;
    for (std::size_t d = 0; d < box->size(); d++)
      if ((*box)[d].first.as_int() < chosen[d].first.as_int() || (*box)[d].second.as_int() > chosen[d].second.as_int()) return;
    parts[index] = place_of_load(load, root, *box, elements[index].as_int());
  };
  const LazyOp* op = root->src[0];
  for (; op->op == Op::Where; op = op->src[2]) {
    const LazyOp* condition = op->src[0];
    if (condition->op != Op::Const || condition->constant().value.as_int() != 1) return parts;
    const std::optional<Box> box = box_of(condition->st());
    if (!box) return parts;
    if (op->src[1]->op == Op::Load) note(op->src[1], *box);
    before.push_back(*box);
  }
  if (op->op == Op::Load) note(op, *box_of(root->st()));
  return parts;
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
