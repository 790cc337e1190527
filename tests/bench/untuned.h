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

/// DenseNet-121, Inception-v2 (both 224 x 224), a text recogniser (convolutions and a bidirectional LSTM on 32 x 100), and an encoder of
/// a transformer (4 layers of width 256 on 128 tokens).
const std::vector<UntunedNetwork>& untuned_networks();

}  // namespace etch::bench
