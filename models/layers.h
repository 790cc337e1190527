// Layers of the zoo by the Tensor API, with the same weights that GraphBuilder makes for a node of that name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace etch::layers {

/// TensorFlow's "same" of a 3x3 window on an even size: with stride 2 the padding is all at the far end.
inline std::int64_t same_padding_before(std::int64_t stride) { return stride == 1 ? 1 : 0; }

/// weight NAME.weight; bias NAME.bias unless there is none.
Tensor conv(const Tensor& x, const std::string& name, std::int64_t outputs, const Window& window, std::int64_t groups = 1,
            bool bias = true);
Tensor batch_norm(const Tensor& x, const std::string& name);
/// NAME.weight [ids, width], a row for each id.
Tensor embedding(LazyGraph& graph, const std::string& name, std::int64_t ids, std::int64_t width);
Tensor dense(const Tensor& x, const std::string& name, std::int64_t outputs);

}  // namespace etch::layers
