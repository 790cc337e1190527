#include "onnx/matrix_product.h"

#include "lazy/graph.h"
#include "lazy/tape.h"
#include "onnx/ops_common.h"
#include "shape/int_math.h"

namespace etch::operators {
namespace {

constexpr std::int64_t kFewestRows = 24;       // of fewer a kernel reads the weights but once or twice
constexpr std::int64_t kFewestColumns = 16;    // of fewer lanes run along the sums
constexpr std::int64_t kBlockMultiple = 16;    // the length of a block is a multiple of this
constexpr std::int64_t kPartThatIsAdded = 16;  // one column of so many may be computed for nothing

/// So many columns that whole vectors, and where that is no burden whole tiles, have them; 0 if that would add too many.
std::int64_t padded_columns(const LongSums& sums, std::int64_t columns) {
  for (const std::int64_t multiple : {2 * sums.lanes, sums.lanes})
    if (const std::int64_t padded = ceil_div(columns, multiple) * multiple; padded - columns <= columns / kPartThatIsAdded) return padded;
  return 0;
}

/// Of a times b: the length of a block of the sums; 0 if they are not cut.
std::int64_t block_of(const LongSums& sums, const Tensor& a, const Tensor& b) {
  if (sums.longest == 0 || a.dtype() != DType::Float32 || a.rank() < 2 || b.rank() != 2 || a.graph().tape().is_training()) return 0;
  const Sint rows = product(Shape(a.shape().begin(), a.shape().end() - 1)), sum = a.dim(-1);
  if (!rows.is_int() || !sum.is_int() || sum != b.dim(0) || !b.dim(1).is_int()) return 0;
  const bool shows_all = b.buffer()->st.size() == b.buffer()->base->st.size();  // what is repeated would take memory for each copy
  if (!is_given(b) || !shows_all || a.buffer()->base->constant) return 0;
  if (rows.as_int() < kFewestRows || b.dim(1).as_int() < kFewestColumns || sum.as_int() <= sums.longest) return 0;
  const std::int64_t blocks = ceil_div(sum.as_int(), sums.block);
  const std::int64_t block = ceil_div(ceil_div(sum.as_int(), blocks), kBlockMultiple) * kBlockMultiple;
  if (2 * block < sum.as_int() && padded_columns(sums, b.dim(1).as_int()) == 0) return 0;  // a loop would read the columns one by one
  return block < sum.as_int() ? block : 0;
}

/// a [.., K] times the matrices [K, lanes] that b [K, N] consists of side by side, [N / lanes, K, lanes]: in which order a kernel reads
/// them whose lanes run along the columns. Kernels lay out only what they read as a whole, and a turn of a loop reads a part.
Tensor by_panels(const Tensor& a, const Tensor& panels) {
  Shape rows(a.shape().begin(), a.shape().end() - 1), spread = rows, result = rows;
  spread.insert(spread.end(), {1, a.dim(-1), 1});
  result.push_back(panels.dim(0) * panels.dim(2));
  return (a.reshape(spread) * panels).sum({static_cast<int>(rows.size()) + 1}, false).reshape(result);
}

/// a [.., K] times b [K, N], added up in so many turns of a loop.
Tensor in_turns(const LongSums& sums, const Tensor& a, const Tensor& b, std::int64_t turns) {
  const std::int64_t block = a.dim(-1).as_int() / turns, columns = b.dim(1).as_int(), padded = padded_columns(sums, columns);
  Shape blocks(a.shape().begin(), a.shape().end() - 1), result = blocks;
  blocks.insert(blocks.end(), {turns, block});
  result.push_back(padded);
  const Tensor parts = a.reshape(blocks), wide = b.pad({{0, 0}, {0, padded - columns}});
  const Tensor panels = wide.reshape({turns, block, padded / sums.lanes, sums.lanes}).permute({0, 2, 1, 3}).contiguous();
  const Tensor zeros = Tensor::full(a.graph(), result, Scalar::of_double(a.dtype(), 0));
  const auto turn = [=](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
    return {{now[0] + by_panels(parts.at(-2, t), panels.at(0, t))}, {}};
  };
  return Tensor::loop(a.graph(), turns, {zeros}, turn).carried[0].slice(-1, 0, columns);
}

}  // namespace

Tensor matrix_product(const NodeContext& node, const Tensor& a, const Tensor& b) {
  const LongSums& sums = node.target().long_sums;
  const std::int64_t block = block_of(sums, a, b);
  if (block == 0) return a.matmul(b);
  const std::int64_t sum = a.dim(-1).as_int(), turns = (sum - 1) / block, rest = turns * block;
  const auto part = [&](std::int64_t from, std::int64_t to) { return a.slice(-1, from, to).matmul(as_own_constant(b.slice(0, from, to))); };
  if (turns == 1) return part(0, rest) + part(rest, sum);
  return in_turns(sums, a.slice(-1, 0, rest), b.slice(0, 0, rest), turns) + part(rest, sum);
}

}  // namespace etch::operators
