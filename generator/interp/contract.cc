// Sums of products as matrix products. Each axis of sum(A * B) is one of four kinds: batch (A and B depend on it), M (only A
// does), N (only B does), K (summed). For each batch position, panels of A (M x K) and B (N x K) are gathered in blocks and
// multiplied; what A and B are (leaves or elementwise subtrees) is evaluated into the panels.
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "interp/reduce.h"
#include "ir/contraction.h"

namespace etch::interp {
namespace {

constexpr std::int64_t kPanel = std::int64_t{1} << 20;  // elements of one panel: 8 MiB, and there are two
constexpr std::int64_t kTile = std::int64_t{1} << 20;   // elements of the tile of results
constexpr std::int64_t kMaxK = 8192;                    // of K in one panel
constexpr std::int64_t kWorthIt = 2048;                 // below this many products per batch position, BlockProgram is as fast
constexpr double kExact = 9007199254740992.0;           // 2^53

// Upper bound of the magnitude of an integer subtree; only a few levels of operations are examined.
double magnitude(const LazyOp* op, int depth = 0) {
  const double limit = op->dtype == DType::Bool ? 1 : std::ldexp(1.0, 8 * bytes_of(op->dtype) - (is_unsigned(op->dtype) ? 0 : 1));
  if (is_float(op->dtype) || depth > 8) return limit;
  double found = limit;
  switch (op->op) {
    case Op::Const:
      found = std::fabs(op->constant().value.as_double());
      break;
    case Op::Cast:
      if (!is_float(op->src[0]->dtype)) found = magnitude(op->src[0], depth + 1);
      if (is_unsigned(op->dtype) && !is_unsigned(op->src[0]->dtype) && op->src[0]->dtype != DType::Bool) found = limit;
      break;
    case Op::Add:
    case Op::Sub:
      found = magnitude(op->src[0], depth + 1) + magnitude(op->src[1], depth + 1);
      if (is_unsigned(op->dtype) && op->op == Op::Sub) found = limit;
      break;
    case Op::Mul:
      found = magnitude(op->src[0], depth + 1) * magnitude(op->src[1], depth + 1);
      break;
    case Op::Where:
      found = std::max(magnitude(op->src[1], depth + 1), magnitude(op->src[2], depth + 1));
      break;
      // clang-format off
    case Op::Neg: case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin: case Op::Cos: case Op::Tan: case Op::Asin:
    case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh: case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu:
    case Op::Sqrt: case Op::Floor: case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Bitcast: case Op::Div: case Op::Mod: case Op::Max:
    case Op::Min: case Op::Pow: case Op::CmpLt: case Op::CmpEq: case Op::CmpNe: case Op::And: case Op::Or: case Op::Xor: case Op::Shl:
    case Op::Shr: case Op::MulAcc: case Op::ReduceSum: case Op::ReduceMax: case Op::ReduceMin: case Op::ReduceProd: case Op::Load:
    case Op::Index: case Op::Expand: case Op::Store: break;
      // clang-format on
  }
  // A result that may have wrapped can be anything.
  return found >= limit ? limit : found;
}

// Whether the sum is the same without the casts.
bool casts_are_free(const Contraction& c) {
  const LazyOp* op = c.product;
  // If the product itself fits its type, every cast to a type that holds it is free too.
  const double product = is_float(op->dtype) ? 0 : magnitude(c.a()) * magnitude(c.b());
  for (const LazyOp* cast : c.casts) {
    const DType to = cast->dtype, from = cast->src[0]->dtype;
    if (is_float(from) || to == DType::Bool) return false;       // a float product is rounded before it is converted
    if (is_int(to) && bytes_of(to) <= bytes_of(from)) continue;  // modulo 2^bits is the same before and after the sum
    const double holds = std::ldexp(1.0, 8 * bytes_of(op->dtype) - 1);
    if (product >= holds || is_unsigned(op->dtype) || bytes_of(from) < bytes_of(op->dtype)) return false;
    if (is_float(to) && (to != DType::Float64 && product >= (to == DType::Float32 ? 16777216.0 : 0.0))) return false;
    if (is_float(to) && product >= kExact) return false;
  }
  return true;
}

bool depends_on(const LazyOp* side, int axis, const Inputs& inputs) {
  for (const LazyOp* leaf : leaves_of(side))
    if (depends_on(views_of(leaf, inputs), axis)) return true;
  return false;
}

// The axes of a contraction, each list from outer to inner.
struct Split {
  Domain batch, m, n, k;
};

Split split(const Contraction& c, const Inputs& inputs) {
  const std::vector<std::int64_t> shape = fixed(c.product->shape, *inputs.vars);
  Split result;
  Domain of_neither;
  for (int a = 0; a < static_cast<int>(shape.size()); a++) {
    const Loop loop{a, shape[static_cast<std::size_t>(a)]};
    if (loop.size == 1) continue;
    if (std::ranges::find(c.sum->axes(), a) != c.sum->axes().end()) {
      result.k.push_back(loop);
      continue;
    }
    const bool in_a = depends_on(c.a(), a, inputs), in_b = depends_on(c.b(), a, inputs);
    (in_a && in_b ? result.batch : in_a ? result.m : in_b ? result.n : of_neither).push_back(loop);
  }
  // Where weights are one constant, neither side depends on the channels: they are rows of the smaller one.
  Domain& rows = size_of(result.m) < size_of(result.n) ? result.m : result.n;
  rows.insert(rows.end(), of_neither.begin(), of_neither.end());
  return result;
}

Domain joined(const Domain& a, const Domain& b, const Domain& c) {
  Domain all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

// One side, evaluated into panels of rows x K, stored so that element (row, k) is at panel[row * k_count + k], or, if
// transposed, at panel[k * row_count + row]: whichever reads the buffers in longer runs.
class Side {
 public:
  Side(const LazyOp* op, const Domain& batch, const Domain& rows, const Domain& k, const Inputs& inputs)
      : rows_(size_of(rows)),
        k_(size_of(k)),
        by_row_(op, joined(batch, rows, k), inputs),
        by_k_(op, joined(batch, k, rows), inputs),
        transposed_(by_row_.unit_run() < 16 && by_k_.unit_run() > by_row_.unit_run()) {}

  bool transposed() const { return transposed_; }

  /// Rows [row, row + row_count) and K [k, k + k_count) of batch position `batch`.
  template <class T>
  void fill(std::int64_t batch, std::int64_t row, std::int64_t row_count, std::int64_t k, std::int64_t k_count, T* panel) {
    const bool t = transposed_;
    fill_lines(batch * rows_ * k_, t ? k : row, t ? k_count : row_count, t ? row : k, t ? row_count : k_count, t ? rows_ : k_, panel);
  }

 private:
  template <class T>
  void fill_lines(std::int64_t base, std::int64_t line, std::int64_t lines, std::int64_t at, std::int64_t count, std::int64_t length,
                  T* panel) {
    if (count == length) {  // whole lines follow each other
      count *= lines;
      lines = 1;
    }
    for (std::int64_t l = 0; l < lines; l++)
      for (std::int64_t done = 0; done < count; done += kBlock) {
        const std::int64_t n = std::min(kBlock, count - done);
        const std::int64_t from = base + (line + l) * length + at + done;
        const Block& values = transposed_ ? by_k_.run(from, n) : by_row_.run(from, n);
        T* to = panel + l * count + done;
        if (!values.f.empty()) {
          std::copy_n(values.f.begin(), n, to);
        } else {
          for (std::int64_t i = 0; i < n; i++) to[i] = static_cast<T>(values.i[static_cast<std::size_t>(i)]);
        }
      }
  }

  std::int64_t rows_, k_;
  BlockProgram by_row_, by_k_;
  bool transposed_;
};

template <class T>
using Matrix = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

// tile (m x n) += A (m x k) * B (n x k)^T, either of them stored transposed
template <class T>
void multiply(Matrix<T>& tile, T* a, bool a_transposed, T* b, bool b_transposed, Eigen::Index k) {
  const Eigen::Index m = tile.rows(), n = tile.cols();
  if (a_transposed && b_transposed) {
    tile.noalias() += Matrix<T>(a, k, m).transpose() * Matrix<T>(b, k, n);
  } else if (a_transposed) {
    tile.noalias() += Matrix<T>(a, k, m).transpose() * Matrix<T>(b, n, k).transpose();
  } else if (b_transposed) {
    tile.noalias() += Matrix<T>(a, m, k) * Matrix<T>(b, k, n);
  } else {
    tile.noalias() += Matrix<T>(a, m, k) * Matrix<T>(b, n, k).transpose();
  }
}

// Position in the result (row-major, `shape`) of each index of `domain`.
std::vector<std::int64_t> positions(const Domain& domain, const std::vector<std::int64_t>& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t k = shape.size(); k-- > 0; stride *= shape[k]) strides[k] = stride;
  std::vector<std::int64_t> result{0};
  for (const Loop& loop : domain) {
    std::vector<std::int64_t> next;
    next.reserve(result.size() * static_cast<std::size_t>(loop.size));
    for (std::int64_t base : result)
      for (std::int64_t i = 0; i < loop.size; i++) next.push_back(base + i * strides[static_cast<std::size_t>(loop.axis)]);
    result = std::move(next);
  }
  return result;
}

struct Tiling {
  std::int64_t m, n, k;
};

Tiling tiling(std::int64_t m, std::int64_t n, std::int64_t k) {
  Tiling t;
  t.k = std::min(k, kMaxK);
  t.n = std::min(n, std::max<std::int64_t>(1, kPanel / t.k));
  t.m = std::min({m, std::max<std::int64_t>(1, kPanel / t.k), std::max<std::int64_t>(1, kTile / t.n)});
  return t;
}

// T is double, or uint64_t for sums modulo 2^64.
template <class T>
void multiply_blocks(const Contraction& c, const Split& axes, const Inputs& inputs, Reduced& out) {
  Side a(c.a(), axes.batch, axes.m, axes.k, inputs), b(c.b(), axes.batch, axes.n, axes.k, inputs);
  const std::vector<std::int64_t> batch_at = positions(axes.batch, out.shape), m_at = positions(axes.m, out.shape),
                                  n_at = positions(axes.n, out.shape);
  const auto m = static_cast<std::int64_t>(m_at.size()), n = static_cast<std::int64_t>(n_at.size());
  const std::int64_t k = size_of(axes.k);
  const Tiling t = tiling(m, n, k);
  std::vector<T> a_panel(static_cast<std::size_t>(t.m * t.k)), b_panel(static_cast<std::size_t>(t.n * t.k)),
      tile_data(static_cast<std::size_t>(t.m * t.n));
  const bool whole_a = t.m == m && t.k == k;
  for (std::size_t batch = 0; batch < batch_at.size(); batch++) {
    const auto bi = static_cast<std::int64_t>(batch);
    for (std::int64_t n0 = 0; n0 < n; n0 += t.n)
      for (std::int64_t m0 = 0; m0 < m; m0 += t.m) {
        const std::int64_t mc = std::min(t.m, m - m0), nc = std::min(t.n, n - n0);
        Matrix<T> tile(tile_data.data(), mc, nc);
        tile.setZero();
        for (std::int64_t k0 = 0; k0 < k; k0 += t.k) {
          const std::int64_t kc = std::min(t.k, k - k0);
          if (!whole_a || n0 == 0) a.fill(bi, m0, mc, k0, kc, a_panel.data());
          if (t.k < k || m0 == 0) b.fill(bi, n0, nc, k0, kc, b_panel.data());
          multiply<T>(tile, a_panel.data(), a.transposed(), b_panel.data(), b.transposed(), kc);
        }
        for (std::int64_t i = 0; i < mc; i++)
          for (std::int64_t j = 0; j < nc; j++) {
            const auto at =
                static_cast<std::size_t>(batch_at[batch] + m_at[static_cast<std::size_t>(m0 + i)] + n_at[static_cast<std::size_t>(n0 + j)]);
            if (is_float(out.dtype)) {
              out.values.f[at] = static_cast<double>(tile(i, j));
            } else {
              out.values.i[at] = wrapped(out.dtype, static_cast<std::int64_t>(tile(i, j)));
            }
          }
      }
  }
}

}  // namespace

bool contract(const LazyOp* op, const Inputs& inputs, Reduced& out) {
  const std::optional<Contraction> c = contraction_of(op);
  if (!c || !casts_are_free(*c)) return false;
  const Split axes = split(*c, inputs);
  const std::int64_t m = size_of(axes.m), n = size_of(axes.n), k = size_of(axes.k);
  if (m * n * k < kWorthIt) return false;
  const bool exact = is_float(c->product->dtype) || magnitude(c->a()) * magnitude(c->b()) * static_cast<double>(k) < kExact;
  if (exact) {
    multiply_blocks<double>(*c, axes, inputs, out);
  } else {
    if (is_float(out.dtype)) return false;
    multiply_blocks<std::uint64_t>(*c, axes, inputs, out);
  }
  return true;
}

}  // namespace etch::interp
