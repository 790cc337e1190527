// Channels that are the same for every input leave a quantised network: pruned ones, whose weights are 0, and those that a bias or an
// activation saturates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lazy/graph.h"

namespace etch {

/// Channels that kernels compute, and instructions multiply, at a time.
constexpr std::int64_t kChannelTile = 4;

/// What a sum lost, for the report.
struct DeadChannels {
  std::vector<std::string> nodes;  // of the model, which compute the sum
  std::int64_t removed = 0, total = 0;
};

struct WithoutDeadChannels {
  std::vector<const LazyBuffer*> outputs;
  std::vector<DeadChannels> removed;  // in the order of computation
};

/// Equal outputs, in every bit, from less:
///   - integers that are the same for every input are constants, see value_ranges.h
///   - an index of a summed axis whose products are the same for every input becomes a constant of the sum
///   - an index that nothing else needs is not computed, nor what only it needs; those that are left are dense, in their order
///   y = sum over c of x[c] * w[o,c], where x[c] of 3 of 8 channels is always 7: x and w have 5 channels, and y + sum of 7 * w[o,c].
/// For sums of x - zero point, as to_integers leaves them first: a channel that is always its zero point is then the same as the padding.
/// Of the channels that a sum adds, a few dead ones stay where those that are left would not fill tiles of so many, or half a tile.
WithoutDeadChannels remove_dead_channels(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs, std::int64_t tile = kChannelTile);

}  // namespace etch
