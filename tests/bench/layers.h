// Layers that several groups of figures measure.
#pragma once

#include <string>

#include "onnx/builder.h"

namespace etch::bench {

/// A convolution with padding by half of the window.
inline std::string convolution(GraphBuilder& g, const std::string& x, std::int64_t channels, std::int64_t outputs, std::int64_t size,
                               std::int64_t stride = 1, std::int64_t groups = 1) {
  const std::int64_t pad = size / 2;
  return g.conv(x, "conv", channels, outputs, {size, size}, {stride, stride}, {pad, pad, pad, pad}, groups);
}

}  // namespace etch::bench
