#include "onnx/matrix_product.h"

#include "lazy/graph.h"
#include "lazy/tape.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

constexpr std::int64_t kFewestRows = 24;     // of fewer a kernel reads the weights but once or twice
constexpr std::int64_t kFewestColumns = 16;  // of fewer lanes run along the sums
constexpr std::int64_t kBlock = 16;          // elements, of which a block of a sum is a multiple

/// Of a times b: elements of a block of the sums; 0 if they are not cut.
std::int64_t block_of(const NodeContext& node, const Tensor& a, const Tensor& b) {
  const std::int64_t longest = node.long_sums().longest;
  if (longest == 0 || a.dtype() != DType::Float32 || a.rank() < 2 || b.rank() != 2 || node.graph().tape().is_training()) return 0;
  const Sint rows = product(Shape(a.shape().begin(), a.shape().end() - 1)), sum = a.dim(-1);
  if (!rows.is_int() || !sum.is_int() || sum != b.dim(0) || !b.dim(1).is_int() || !is_given(b) || is_given(a)) return 0;
  if (rows.as_int() < kFewestRows || b.dim(1).as_int() < kFewestColumns || sum.as_int() <= longest) return 0;
  const std::int64_t blocks = (sum.as_int() + longest - 1) / longest, size = (sum.as_int() + blocks - 1) / blocks;
  return (size + kBlock - 1) / kBlock * kBlock;
}

/// a [.., K] times the matrices [K, width] that b [K, N] consists of side by side, [N / width, K, width]: in which order a kernel reads
/// them that computes so many columns at once. Kernels lay out only what they read as a whole, and a turn of a loop reads a part.
Tensor by_panels(const Tensor& a, const Tensor& panels) {
  Shape rows(a.shape().begin(), a.shape().end() - 1), spread = rows, result = rows;
  spread.insert(spread.end(), {1, a.dim(-1), 1});
  result.push_back(panels.dim(0) * panels.dim(2));
  return (a.reshape(spread) * panels).sum({static_cast<int>(rows.size()) + 1}, false).reshape(result);
}

/// a [.., K] times b [K, N], added up in so many turns of a loop.
Tensor in_turns(const NodeContext& node, const Tensor& a, const Tensor& b, std::int64_t turns) {
  const std::int64_t block = a.dim(-1).as_int() / turns, columns = b.dim(1).as_int();
  const std::int64_t width = columns % node.long_sums().columns == 0 ? node.long_sums().columns : columns;
  Shape blocks(a.shape().begin(), a.shape().end() - 1), result = blocks;
  blocks.insert(blocks.end(), {turns, block});
  result.push_back(columns);
  const Tensor parts = a.reshape(blocks);
  const Tensor panels = b.reshape({turns, block, columns / width, width}).permute({0, 2, 1, 3}).contiguous();
  const Tensor zeros = Tensor::full(node.graph(), result, Scalar::of_double(a.dtype(), 0));
  const auto turn = [=](const Sint& t, const std::vector<Tensor>& now) -> LoopTurn {
    return {{now[0] + by_panels(parts.at(-2, t), panels.at(0, t))}, {}};
  };
  return Tensor::loop(node.graph(), turns, {zeros}, turn).carried[0];
}

}  // namespace

Tensor matrix_product(const NodeContext& node, const Tensor& a, const Tensor& b) {
  const std::int64_t block = block_of(node, a, b);
  if (block == 0) return a.matmul(b);
  const std::int64_t sum = a.dim(-1).as_int(), turns = (sum - 1) / block, last = turns * block;
  const auto part = [&](std::int64_t from, std::int64_t to) { return a.slice(-1, from, to).matmul(as_own_constant(b.slice(0, from, to))); };
  return (turns == 1 ? part(0, last) : in_turns(node, a.slice(-1, 0, last), b.slice(0, 0, last), turns)) + part(last, sum);
}

}  // namespace etch::operators
