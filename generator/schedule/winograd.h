// Internal to schedule/: convolutions with fewer products.
#pragma once

#include "schedule/apart.h"

namespace etch {

/// Convolutions of floats along an axis with three to seven elements of the kernel, stride 1 and constant weights, by Winograd's minimal
/// filtering F(m, r): m + r - 1 products instead of m * r give m rows of the result, six instead of twelve for three elements of the
/// kernel. Two kernels stand beside the one of the products: the first combines rows of the image, the last makes rows of the result, with
/// what followed the sum (bias, activation). The weights are combined here, and are more: m + r - 1 for r. Along the other axes of the
/// kernel the products are added as before:
///   y[h][w]  =  sum over i, j, c of x[h + i][w + j][c] * w[i][j][c]              becomes
///   v[k][t][w][c] of x[4 * t .. 4 * t + 5][w][c],    m[k][t][w]  =  sum over j, c of v[k][t][w + j][c] * u[k][j][c],
///   y[4 * t .. 4 * t + 3][w] of m[0 .. 5][t][w]
/// Results are off by two or three times as much as plain sums; where an element of x is infinite or NaN, or so large that sums of some
/// overflow, more of its neighbours become NaN. Only as ScheduleOptions::winograd says, where what is saved is more than making v and m and
/// reading u costs and `limit` allows it. With Winograd::TwoAxes m, which is a convolution along the other axis, is made in the same way.
/// Called before write_padding_once: v has the padding of the other axes.
/// Source: A. Lavin, S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015.
void winograd_convolutions(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit);

}  // namespace etch
