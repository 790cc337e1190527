// Arrays from files (numpy's .npy, ONNX TensorProto .pb, raw bytes), and random arrays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ir/array.h"

namespace etch {

/// Reads `file` by its extension: .npy, .pb, or any other as raw little-endian elements of `dtype` and `shape`. Type and shape in a
/// .npy or .pb must be `dtype` and `shape`, with two exceptions: the number of leading axes of size 1 may differ, and float32 is
/// rounded to float16 and bfloat16 (numpy has no bfloat16, so such outputs are saved as float32). Throws UserError that names the
/// file.
Array read_tensor_file(const std::filesystem::path& file, DType dtype, const std::vector<std::int64_t>& shape);

/// Reads a .npy with any type and shape: version 1 to 3, C or Fortran order, little-endian.
Array read_npy(const std::filesystem::path& file);
/// The bytes of a version 1.0 .npy file; bfloat16 has no numpy type and is written as float32.
std::vector<std::byte> npy_bytes(const Array& array);

/// Pseudo-random values, the same on every machine: floats uniform in [-1, 1), integers in [-8, 8) (unsigned: [0, 16)), bools.
Array random_array(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed);

}  // namespace etch
