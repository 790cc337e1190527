// Tiles of vectors.
#include "codegen/kernel.h"

namespace etch {

bool vector_optimizations(Kernel& kernel, const std::vector<bool>& constants) {
  (void)kernel;
  (void)constants;
  return false;
}

}  // namespace etch
