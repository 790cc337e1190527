// An AST as the formula a person would write:
//   out[c][y][x] = relu(b[c] + sum[i,j](in[y+i-1][x+j-1] * w[i][j][c]))
//   out[y][x] = w[in[y]][x]
#pragma once

#include <string>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// A buffer as the formula shows it. By `shape` a position is split into one index for each dimension larger than 1; if it is empty,
/// positions are flat.
struct FormulaBuffer {
  std::string name;
  std::vector<Sint> shape;
};

struct Formula {
  std::vector<std::string> lines;  // one for each value that is used more than once; the last ones are the outputs
  bool is_masked = false;          // the formula has a "?" as in "in[y-1]?": an element outside of its buffer counts as 0
};

/// If the formula is longer than `max_lines` lines, its middle is left out.
Formula formula(const LazyOp* root, const std::vector<FormulaBuffer>& buffers, std::size_t max_lines = 12);

}  // namespace etch
