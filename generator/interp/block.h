// Internal to interp/: a subtree of elementwise operations, evaluated block by block along a Domain.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "interp/access.h"
#include "interp/elementwise.h"

namespace etch::interp {

inline constexpr std::int64_t kBlock = 1024;  // elements; a dozen blocks of them stay in the L1 and L2 caches

/// The whole value of a reduction, row-major in its own shape.
struct Reduced {
  DType dtype{};
  std::vector<std::int64_t> shape;
  Block values;
};

/// The data that the leaves of a kernel read.
struct Inputs {
  const std::vector<InterpInput>* buffers = nullptr;
  const VarValues* vars = nullptr;
  std::unordered_map<const LazyOp*, Reduced> reduced;  // reductions that are done; for look-up only
};

/// The views of a leaf (Load, Const, Index) or of a finished reduction.
std::vector<FixedView> views_of(const LazyOp* leaf, const Inputs& inputs);
/// Leaves and reductions below `root`, each once; `root` itself if it is one.
std::vector<const LazyOp*> leaves_of(const LazyOp* root);

class BlockProgram {
 public:
  /// Each result is rounded to its type, except that of `exact` (a product that is summed; may be nullptr).
  BlockProgram(const LazyOp* root, const Domain& domain, const Inputs& inputs, const LazyOp* exact = nullptr);
  /// Values of positions [start, start + count) of the domain, count <= kBlock. Valid until the next call.
  const Block& run(std::int64_t start, std::int64_t count);
  DType dtype() const { return steps_.back().dtype; }
  /// The shortest of the leaves' unit runs: small means that this order of the domain is slow to read.
  std::int64_t unit_run() const;

 private:
  struct Step {
    Op op{};
    DType dtype{}, src_dtype{};
    std::vector<const Block*> src;
    Block out;
    std::unique_ptr<Access> access;  // leaves only; of an indexed Load: gives the number of the row, times their length
    std::vector<FixedView> rows;     // indexed Load: the views of the rows
    const Reduced* reduced = nullptr;
    InterpInput input;
    double float_value = 0;  // Const
    std::int64_t int_value = 0;
    bool constant = false;  // `out` never changes
    bool rounds = true;
  };
  static void set_up_leaf(Step& step, const LazyOp* op, const Domain& domain, const Inputs& inputs);
  void read(Step& step, std::int64_t start, std::int64_t count) const;
  static void read_indexed(Step& step, std::int64_t start, std::int64_t count);
  static void compute(Step& step, std::size_t count);
  std::vector<Step> steps_;  // sources first; never resized after construction
  const Block* result_ = nullptr;
};

/// Writes values[0, count) to elements [at, ...) of memory that holds `dtype`.
void write_block(DType dtype, const Block& values, std::int64_t count, std::byte* memory, std::int64_t at);

}  // namespace etch::interp
