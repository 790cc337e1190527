// A dense row-major array on the host: constants, inputs, outputs and the content of tensor files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ir/dtype.h"
#include "ir/scalar.h"

namespace etch {

/// Shape, type and bytes. Copies share the bytes, which never change once an Array is made.
class Array {
 public:
  Array() = default;
  /// `bytes` holds the elements row-major in the machine's byte order: bytes.size() == product(shape) * bytes_of(dtype).
  Array(DType dtype, std::vector<std::int64_t> shape, std::vector<std::byte> bytes);
  static Array filled(DType dtype, std::vector<std::int64_t> shape, Scalar value);
  /// From values, each converted by Scalar's rules.
  static Array of_doubles(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values);
  static Array of_ints(DType dtype, std::vector<std::int64_t> shape, std::span<const std::int64_t> values);
  static Array scalar(Scalar value);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t size() const { return size_; }
  std::span<const std::byte> bytes() const { return bytes_ ? std::span<const std::byte>(*bytes_) : std::span<const std::byte>(); }
  /// Element `flat`, row-major.
  Scalar at(std::int64_t flat) const;
  /// at(flat).as_double(), with a fast path for float32, of which models have many.
  double double_at(std::int64_t flat) const {
    if (dtype_ != DType::Float32 || flat < 0 || flat >= size_) return at(flat).as_double();
    return static_cast<double>(data<float>()[flat]);
  }
  std::int64_t int_at(std::int64_t flat) const { return at(flat).as_int(); }
  /// All elements, converted.
  std::vector<std::int64_t> ints() const;
  std::vector<double> doubles() const;
  /// The same elements under another shape of the same size.
  Array reshaped(std::vector<std::int64_t> shape) const;
  /// Whether no element is NaN or infinite.
  bool is_finite() const;
  /// Same type, shape and bytes.
  bool operator==(const Array& other) const;
  /// A hash of type, shape and bytes; equal arrays have equal hashes, on every machine.
  std::uint64_t content_hash() const;

  template <class T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes().data());
  }

 private:
  DType dtype_ = DType::Float32;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<const std::vector<std::byte>> bytes_;
};

/// Writes `value` (cast to `dtype`) at element `index` of raw memory that holds elements of `dtype`.
void store_scalar(DType dtype, std::byte* memory, std::int64_t index, Scalar value);
/// Reads element `index` of raw memory that holds elements of `dtype`.
Scalar load_scalar(DType dtype, const std::byte* memory, std::int64_t index);

}  // namespace etch
