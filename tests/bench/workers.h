// Networks shared by two workers, beside what two threads reach at the peak of the arithmetic units.
#pragma once

#include "context.h"

namespace etch::bench {

/// ResNet-50 and SqueezeNet, of the downloaded models; skipped with a line where they, or a second processor, are absent.
void measure_workers(Context& context);

}  // namespace etch::bench
