#include "ir/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/error.h"

namespace etch {
namespace {

std::int64_t element_count(const std::vector<std::int64_t>& shape) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) {
    check(d >= 0, "a dimension is not negative");
    check(!__builtin_mul_overflow(size, d, &size), "the number of elements fits 63 bits");
  }
  return size;
}

template <class T>
T read(const std::byte* memory, std::int64_t index) {
  T value;
  std::memcpy(&value, memory + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <class T>
void write(std::byte* memory, std::int64_t index, T value) {
  std::memcpy(memory + index * static_cast<std::int64_t>(sizeof(T)), &value, sizeof(T));
}

}  // namespace

Array::Array(DType dtype, std::vector<std::int64_t> shape, std::vector<std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), size_(element_count(shape_)) {
  check(static_cast<std::int64_t>(bytes.size()) == size_ * bytes_of(dtype), "an array has the bytes of its shape and type");
  bytes_ = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

Array Array::filled(DType dtype, std::vector<std::int64_t> shape, Scalar value) {
  const std::int64_t size = element_count(shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(size * bytes_of(dtype)));
  for (std::int64_t i = 0; i < size; i++) store_scalar(dtype, bytes.data(), i, value);
  return {dtype, std::move(shape), std::move(bytes)};
}

Array Array::of_doubles(DType dtype, std::vector<std::int64_t> shape, std::span<const double> values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
  for (std::size_t i = 0; i < values.size(); i++)
    store_scalar(dtype, bytes.data(), static_cast<std::int64_t>(i), Scalar::of_double(dtype, values[i]));
  return {dtype, std::move(shape), std::move(bytes)};
}

Array Array::of_ints(DType dtype, std::vector<std::int64_t> shape, std::span<const std::int64_t> values) {
  std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(dtype)));
  for (std::size_t i = 0; i < values.size(); i++)
    store_scalar(dtype, bytes.data(), static_cast<std::int64_t>(i), Scalar::of_int(dtype, values[i]));
  return {dtype, std::move(shape), std::move(bytes)};
}

Array Array::scalar(Scalar value) { return filled(value.dtype(), {}, value); }

Scalar Array::at(std::int64_t flat) const {
  check(flat >= 0 && flat < size_, "an element's position lies inside its array");
  return load_scalar(dtype_, bytes().data(), flat);
}

std::vector<std::int64_t> Array::ints() const {
  std::vector<std::int64_t> values(static_cast<std::size_t>(size_));
  for (std::int64_t i = 0; i < size_; i++) values[static_cast<std::size_t>(i)] = int_at(i);
  return values;
}

std::vector<double> Array::doubles() const {
  std::vector<double> values(static_cast<std::size_t>(size_));
  for (std::int64_t i = 0; i < size_; i++) values[static_cast<std::size_t>(i)] = double_at(i);
  return values;
}

Array Array::reshaped(std::vector<std::int64_t> shape) const {
  check(element_count(shape) == size_, "a reshape keeps the number of elements");
  Array result = *this;
  result.shape_ = std::move(shape);
  return result;
}

bool Array::operator==(const Array& other) const {
  if (dtype_ != other.dtype_ || shape_ != other.shape_) return false;
  return bytes_ == other.bytes_ || std::ranges::equal(bytes(), other.bytes());
}

bool Array::is_finite() const {
  for (std::int64_t i = 0; i < size_; i++)
    if (!std::isfinite(double_at(i))) return false;
  return true;
}

std::uint64_t Array::content_hash() const {
  std::uint64_t hash = 1469598103934665603u ^ static_cast<std::uint64_t>(dtype_);
  for (std::int64_t d : shape_) hash = (hash ^ static_cast<std::uint64_t>(d)) * 1099511628211u;
  const auto all = bytes();
  std::size_t i = 0;
  for (; i + 8 <= all.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, all.data() + i, 8);
    hash = (hash ^ word) * 1099511628211u;
    hash ^= hash >> 29;
  }
  for (; i < all.size(); i++) hash = (hash ^ static_cast<std::uint64_t>(all[i])) * 1099511628211u;
  return hash;
}

void store_scalar(DType dtype, std::byte* memory, std::int64_t index, Scalar value) {
  if (value.dtype() != dtype) value = value.cast(dtype);
  const auto i = static_cast<std::uint64_t>(value.as_int());
  switch (dtype) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8:
      return write(memory, index, static_cast<std::uint8_t>(i));
    case DType::Int16:
    case DType::UInt16:
      return write(memory, index, static_cast<std::uint16_t>(i));
    case DType::Int32:
    case DType::UInt32:
      return write(memory, index, static_cast<std::uint32_t>(i));
    case DType::Int64:
    case DType::UInt64:
      return write(memory, index, i);
    case DType::Float16:
      return write(memory, index, double_to_half(value.as_double()));
    case DType::BFloat16:
      return write(memory, index, double_to_bfloat16(value.as_double()));
    case DType::Float32:
      return write(memory, index, static_cast<float>(value.as_double()));
    case DType::Float64:
      return write(memory, index, value.as_double());
  }
}

Scalar load_scalar(DType dtype, const std::byte* memory, std::int64_t index) {
  switch (dtype) {
    case DType::Bool:
      return Scalar::of_int(dtype, read<std::uint8_t>(memory, index));
    case DType::Int8:
      return Scalar::of_int(dtype, read<std::int8_t>(memory, index));
    case DType::UInt8:
      return Scalar::of_int(dtype, read<std::uint8_t>(memory, index));
    case DType::Int16:
      return Scalar::of_int(dtype, read<std::int16_t>(memory, index));
    case DType::UInt16:
      return Scalar::of_int(dtype, read<std::uint16_t>(memory, index));
    case DType::Int32:
      return Scalar::of_int(dtype, read<std::int32_t>(memory, index));
    case DType::UInt32:
      return Scalar::of_int(dtype, read<std::uint32_t>(memory, index));
    case DType::Int64:
    case DType::UInt64:
      return Scalar::of_int(dtype, read<std::int64_t>(memory, index));
    case DType::Float16:
      return Scalar::of_double(dtype, static_cast<double>(half_to_float(read<std::uint16_t>(memory, index))));
    case DType::BFloat16:
      return Scalar::of_double(dtype, static_cast<double>(bfloat16_to_float(read<std::uint16_t>(memory, index))));
    case DType::Float32:
      return Scalar::of_double(dtype, static_cast<double>(read<float>(memory, index)));
    case DType::Float64:
      return Scalar::of_double(dtype, read<double>(memory, index));
  }
  return {};
}

}  // namespace etch
