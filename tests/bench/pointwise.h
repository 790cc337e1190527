// Int8 pointwise convolutions beside the peak of this processor's products of bytes.
#pragma once

#include "context.h"

namespace etch::bench {

void measure_pointwise(Context& context);

}  // namespace etch::bench
