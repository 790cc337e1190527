// Emitted C beside ONNX Runtime: the time of a run, of both in one process in turns, on one thread.
#pragma once

#include "context.h"

namespace etch::bench {

/// Networks, those that were downloaded too, and the kernels that they are made of. Says in a line what is left out, and why.
void measure_beside_onnxruntime(Context& context);

}  // namespace etch::bench
