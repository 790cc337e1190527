// The letters of an AST's axes. Its formula and the loops of its kernel both take them from here:
//   out[c][y][x] = relu(sum[k,i,j](in[k][y+i-1][x+j-1]? * w[c][k][i][j]) + b[c])
#pragma once

#include <string>
#include <vector>

#include "ir/lazyop.h"

namespace etch {

/// The shape over which an AST computes: its axes before they are reduced.
std::vector<Sint> full_shape(const LazyOp* store);
/// One letter for each axis of the full shape: n, c, y, x for outer axes, k, i, j for reduced ones; empty for an axis of size 1. A
/// letter that is the name of a Variable of the AST is doubled.
std::vector<std::string> axis_letters(const LazyOp* store);

}  // namespace etch
