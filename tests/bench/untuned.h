// Networks that nobody tuned etch for: those of papers, with weights drawn by a seed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace etch::bench {

struct UntunedNetwork {
  const char* name;
  void (*write)(const std::filesystem::path& path);
};

/// DenseNet-121, Inception-v2 (both 224 x 224), a text recogniser (convolutions and a bidirectional LSTM on 32 x 100), an encoder of a
/// transformer (4 layers of width 256 on 128 tokens), super-resolution by 3 (of 120 x 160, its last convolution to 9 channels), and the
/// generator of an adversarial network (transposed convolutions from 256 channels of 8 x 8 to 3 of 128 x 128).
const std::vector<UntunedNetwork>& untuned_networks();

}  // namespace etch::bench
