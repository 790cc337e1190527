// An AST as the formula a person would write:
//   out[c][y][x] = relu(b[c] + sum[i,j](in[y+i-1][x+j-1] * w[i][j][c]))
#pragma once

#include <string>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// A buffer as the formula names it; `shape` splits positions into one index for each dimension larger than 1. An empty
/// shape: flat positions.
struct FormulaBuffer {
  std::string name;
  std::vector<Sint> shape;
};

struct Formula {
  std::vector<std::string> lines;  // one for each value that is used more than once, the last for the output
  bool is_masked = false;          // "in[y-1]?": some element lies outside of its buffer, and counts as 0
};

/// Of a formula that is longer than `max_lines` lines the middle is left out.
Formula formula(const LazyOp* store, const std::vector<FormulaBuffer>& buffers, std::size_t max_lines = 12);

}  // namespace etch
