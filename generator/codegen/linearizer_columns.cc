// Linearizer: outputs in which the lanes of a vector lie far from each other, as channels do in planes, but copies of it lie side by side,
// as pixels do. Vectors of four such copies are stored as four columns: rows of four elements, which processors make in registers. Where
// there are as many copies as lanes, rows are whole vectors: planes are often a multiple of a page apart, so their lines share few places
// of the first cache and are gone before the next four elements come.
#include <algorithm>

#include "base/toposort.h"
#include "codegen/linearizer_state.h"

namespace etch {
namespace {

constexpr std::int64_t kColumns = kStoredColumns;

}  // namespace

// What is computed behind the sums: each lane is by itself, and loads take vectors or one number for all lanes.
bool Linearizer::has_vectors_behind_sums() const {
  const int along = static_cast<int>(k_.axes().size()) - 1;
  for (const KernelBuf& store : k_.stores())
    for (const LazyOp* op :
         toposort<LazyOp>({store.op->src[0]}, [](const LazyOp* o) { return is_reduce(o->op) ? Sources() : Sources(o->src); })) {
      if (op->dtype != DType::Float32 && info(op->op).group != OpGroup::Buffer && op->dtype != DType::Bool) return false;
      if (is_reduce(op->op) || info(op->op).group != OpGroup::Buffer) continue;
      if (is_indexed(op) || k_.is_masked(k_.buf_of(op), along)) return false;
      const auto stride = k_.stride(k_.buf_of(op), along);
      if (!is_step(stride, 0) && (!is_step(stride, 1) || op->op != Op::Load || op->dtype != DType::Float32)) return false;
    }
  return true;
}

int Linearizer::axis_of_columns() const {
  const int along = static_cast<int>(k_.axes().size()) - 1;
  const bool has_padding = static_cast<int>(k_.dims().size()) > k_.ast_dims();
  const bool is_simple = k_.lanes() % kColumns == 0 && !k_.tensor() && !k_.is_staged() && !has_padding && !options_.grid;
  if (!is_simple || repeats_in_place() || !has_vectors_behind_sums()) return -1;
  for (const KernelBuf& store : k_.stores()) {
    const auto stride = k_.stride(store, along);
    if (store.op->dtype != DType::Float32 || k_.is_masked(store, along) || !stride || !stride->is_int()) return -1;
  }
  for (const int axis : axes_of(AxisKind::Upcast))
    if (k_.axes()[static_cast<std::size_t>(axis)].size.as_int() >= kColumns &&
        std::ranges::all_of(k_.stores(), [&](const KernelBuf& s) { return is_step(k_.stride(s, axis), 1) && !k_.is_masked(s, axis); }))
      return axis;
  return -1;
}

// How many of `left` copies are stored next.
std::int64_t Linearizer::columns_at_once(std::int64_t left) const { return lanes_ > kColumns && left >= lanes_ ? lanes_ : kColumns; }

// As many as lanes at a time, then four; where their number is no multiple of four, the last four begin earlier.
void Linearizer::store_columns(int axis, const std::vector<const LazyOp*>& results) {
  std::vector<int> others = axes_of(AxisKind::Upcast);
  std::erase(others, axis);
  Sint& number = axis_index_[static_cast<std::size_t>(axis)];
  const std::int64_t size = k_.axes()[static_cast<std::size_t>(axis)].size.as_int();
  for_each(others, [&] {
    for (std::int64_t begin = 0, count = 0; begin < size; begin += count) {
      count = columns_at_once(size - begin);
      const std::int64_t first = std::min(begin, size - count);
      std::vector<std::vector<const UOp*>> columns(results.size());
      for (std::int64_t c = 0; c < count; c++) {
        number = first + c;
        for (std::size_t r = 0; r < results.size(); r++) columns[r].push_back(in_all_lanes(value(results[r])));
      }
      number = first;
      for (std::size_t r = 0; r < results.size(); r++) store_rows(k_.bufs()[r], columns[r]);
    }
    number = 0;
  });
}

void Linearizer::store_rows(const KernelBuf& buf, const std::vector<const UOp*>& columns) {
  const std::vector<Place>& rows = lanes_of(buf);
  for (const Place& row : rows) note_access(buf, row, static_cast<int>(columns.size()), true);
  UOp u{.uop = UOpKind::StoreColumns,
        .dtype = buf.op->dtype,
        .lanes = lanes_,
        .src = {buffer(buf), index_.integer(rows[0].idx), index_.integer(rows[1].idx - rows[0].idx)}};
  u.src.insert(u.src.end(), columns.begin(), columns.end());
  b_.add(std::move(u));
}

}  // namespace etch
