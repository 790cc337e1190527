// Internal to schedule/: the order in which intermediates lie in memory.
#pragma once

#include "schedule/schedule.h"

namespace etch {

/// Gives intermediates of integers of one or two bytes, whose sizes are numbers, another order of their axes where the sums that read them
/// ask for it: the longest axis that a sum of products runs along becomes the last one (channels last, for a convolution), so that what is
/// multiplied one after the other lies side by side. Of several consumers the one with most products decides. With integer_orders_alike
/// every other kernel asks for the order of its output, so that vectors lie side by side in both; with orders_alike intermediates of every
/// type take part, so that outputs can be written over what has been read. With float_orders_alike floats do as well, for vectors: their
/// axis then lies in blocks of a vector where these divide it; images from or to channels that fill vectors badly stay planes, as lanes run
/// along their rows. Only the ShapeTrackers of Loads and Stores change; a buffer stays as it is
/// if one of them would need more views than it has.
///
/// A search may choose any axis, way = its number, or blocks of an axis: way = its number + rank * log2(elements of a block). Blocks of 8
/// channels of [channels, rows, columns] lie in memory as [channels / 8, rows, columns, 8]; kernels that run along channels get two axes.
void choose_memory_orders(LazyGraph& graph, Schedule& schedule, const ScheduleOptions& options);

}  // namespace etch
