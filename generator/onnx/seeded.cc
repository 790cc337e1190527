#include "onnx/seeded.h"

#include <cstring>
#include <utility>

#include "base/fnv.h"

namespace etch {

std::vector<float> seeded_values(std::string_view name, std::int64_t count) {
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(count));
  std::uint32_t state = fnv1a_32(name);
  for (std::int64_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(state >> 8) * 0x1p-23f - 1.0f);
  }
  return values;
}

Array seeded_array(std::string_view name, std::vector<std::int64_t> shape, float scale, float offset) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  std::vector<float> values = seeded_values(name, count);
  // Two loops: a compiler that fuses multiplication and addition would round once instead of twice.
  for (float& v : values) v *= scale;
  if (offset != 0) {
    for (float& v : values) v = offset + v;
  }
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return Array(DType::Float32, std::move(shape), std::move(bytes));
}

}  // namespace etch
