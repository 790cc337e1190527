// Emitted training steps: their time beside PyTorch's and beside the forward pass, and their memory.
#pragma once

#include "context.h"

namespace etch::bench {

void measure_training(Context& context);

}  // namespace etch::bench
