// Arrays in files: numpy's .npy, ONNX TensorProto .pb, and raw bytes; and random ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "ir/array.h"

namespace etch {

/// Reads `file` by its ending: .npy, .pb, anything else as raw little-endian elements of `dtype` and `shape`. What a .npy or
/// .pb says of type and shape must be `dtype` and `shape`, except that a [1, ...] may lack or have leading ones, and that float32
/// is rounded to float16 and bfloat16 (numpy has no bfloat16, so that outputs of it are saved as float32).
/// Throws UserError that names the file.
Array read_tensor_file(const std::filesystem::path& file, DType dtype, const std::vector<std::int64_t>& shape);

/// A .npy with whatever type and shape it has. Version 1 to 3, C or Fortran order, little-endian.
Array read_npy(const std::filesystem::path& file);
/// The bytes of a version 1.0 .npy file; bfloat16 has no numpy type and is written as float32.
std::vector<std::byte> npy_bytes(const Array& array);

/// Repeatable values on every machine: floats uniform in [-1, 1), integers in [-8, 8) (unsigned: [0, 16)), bools.
Array random_array(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed);

}  // namespace etch
