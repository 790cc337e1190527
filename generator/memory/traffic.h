// How many bytes of each buffer the kernels read and write in a run, from their steps. It decides which buffers deserve fast memory.
#pragma once

#include <cstdint>
#include <vector>

#include "program/program.h"

namespace etch {

/// By buffer: the bytes that loads and stores of all calls move, with every loop at its full length and every condition true. A kernel
/// whose steps are not known counts as reading and writing each element once.
std::vector<std::int64_t> traffic_bytes(const Program& program);

}  // namespace etch
