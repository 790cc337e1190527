// View::reshape. Neighbouring axes that can be read as one are joined into blocks; then the blocks are cut into the new
// axes. A mask is a range of each block, and must be a range of each new axis as well.
#include "shape/int_math.h"
#include "shape/open_sizes.h"
#include "shape/view.h"

namespace etch {
namespace {

struct Block {
  Sint size, stride;
  Range mask;
};

bool covers(const Range& m, Sint size) { return m.first.is_int(0) && m.second == size; }
bool is_inside(const Range& m, Sint size) { return m.first.min() >= 0 && proves_nonnegative(size - m.second); }

// outer * inner.size + inner as one index, if that is possible. *offset takes what a fixed outer index adds.
std::optional<Block> join(const Block& outer, const Block& inner, Sint* offset) {
  Range m;
  if ((outer.mask.second - outer.mask.first).is_int(1) && is_inside(inner.mask, inner.size)) {
    Sint start = outer.mask.first * inner.size;
    *offset += outer.mask.first * outer.stride - start * inner.stride;
    m = {start + inner.mask.first, start + inner.mask.second};
  } else if (covers(inner.mask, inner.size) && outer.stride == inner.stride * inner.size) {
    m = {outer.mask.first * inner.size, outer.mask.second * inner.size};
  } else {
    return std::nullopt;
  }
  return Block{outer.size * inner.size, inner.stride, m};
}

// Joins axes into blocks as far as possible; nullopt if an axis of size 1 has a mask that can't be decided.
std::optional<std::vector<Block>> blocks_of(const View& v, Sint* offset) {
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < v.shape.size(); k++) {
    Block next{v.shape[k], v.strides[k], v.mask ? (*v.mask)[k] : Range{0, v.shape[k]}};
    if (next.size.is_int(1)) {
      if (!covers(next.mask, 1)) return std::nullopt;
      continue;
    }
    if (!blocks.empty()) {
      if (auto joined = join(blocks.back(), next, offset)) {
        blocks.back() = *joined;
        continue;
      }
    }
    blocks.push_back(next);
  }
  return blocks;
}

// The mask of a block as a range of each of the axes it is cut into.
bool cut_mask(Range m, Sint size, const std::vector<Sint>& axes, std::vector<Range>* out) {
  if (covers(m, size)) {
    for (const Sint& s : axes) out->push_back({0, s});
    return true;
  }
  for (std::size_t k = 0; k < axes.size(); k++) {
    if (k + 1 == axes.size()) {
      out->push_back(m);
      break;
    }
    Sint inner = product({axes.begin() + static_cast<std::ptrdiff_t>(k) + 1, axes.end()});
    Sint first = floordiv(m.first, inner), last = floordiv(m.second - 1, inner);
    if (first == last) {
      out->push_back({first, first + 1});
      m = {m.first - first * inner, m.second - first * inner};
    } else if (floormod(m.first, inner).is_int(0) && floormod(m.second, inner).is_int(0)) {
      out->push_back({first, floordiv(m.second, inner)});
      for (k++; k < axes.size(); k++) out->push_back({0, axes[k]});
      break;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<View> View::reshape(const std::vector<Sint>& new_shape) const {
  if (shape == new_shape) return *this;
  Sint size = product(shape);
  check_for_sizes(product(new_shape) == size, "reshape keeps the number of elements", {size, product(new_shape)});
  if (contiguous) return create(new_shape);
  if (size.is_int(0)) return create(new_shape);
  if (is_empty()) return create(new_shape, std::nullopt, 0, std::vector<Range>(new_shape.size(), Range{0, 0}));
  Sint new_offset = offset;
  auto blocks = blocks_of(*this, &new_offset);
  if (!blocks) return std::nullopt;
  std::vector<Sint> new_strides(new_shape.size(), 0);
  std::vector<Range> new_mask(new_shape.size(), Range{0, 1});
  std::size_t axis = 0;
  for (const Block& b : *blocks) {
    std::vector<std::size_t> where;
    std::vector<Sint> axes;
    for (Sint part = 1; part != b.size; axis++) {
      if (axis == new_shape.size()) return std::nullopt;
      if (new_shape[axis].is_int(1)) continue;
      part = part * new_shape[axis];
      where.push_back(axis);
      axes.push_back(new_shape[axis]);
    }
    std::vector<Range> ranges;
    if (!cut_mask(b.mask, b.size, axes, &ranges)) return std::nullopt;
    Sint step = b.stride;
    for (std::size_t k = where.size(); k-- > 0;) {
      new_strides[where[k]] = step;
      new_mask[where[k]] = ranges[k];
      step = step * axes[k];
    }
  }
  if (new_shape.empty()) return create({}, std::nullopt, new_offset);
  return create(new_shape, std::move(new_strides), new_offset, std::move(new_mask));
}

}  // namespace etch
