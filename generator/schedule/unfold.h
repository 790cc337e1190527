// Internal to schedule/: windows side by side.
#pragma once

#include "schedule/apart.h"

namespace etch {

/// A convolution to many channels whose windows are short pieces of memory, as those of a first layer are, leaves long dot products little
/// to multiply. A kernel of its own writes the windows side by side, and the sum runs along them:
///   sum over i, j of x[2*y + i][2*x + j] * w[c][i][j]   becomes   sum over k of u[y][x][k] * v[c][k], where v has the order of k
/// The windows are made longer, with weights of 0, to be multiples of ScheduleOptions::dot_elements; nothing is done where they would be
/// much longer, or where the peak of memory (see peak_bytes) would rise. Called behind write_padding_once: x is read without masks.
void unfold_windows(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options, const PeakLimit& limit);

}  // namespace etch
