// A Buffer: elements of one type in a device's memory, for kernels that are run by hand (device/runner.h).
//
//   Buffer x = Buffer::fromCPU(*device, array), y(*device, 4, DType::Float32);
//   device->get_runner(ast)->exec({&y, &x}, {});
//   Array result = y.toCPU();
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/allocator.h"
#include "ir/array.h"

namespace etch {

class Device;

/// Movable, not copyable; the destructor returns the memory. It may outlive the device.
class Buffer {
 public:
  Buffer() = default;
  /// Memory for `size` elements, with any content. Throws DeviceError for 0 elements or less, and if there is no memory.
  Buffer(const Device& device, std::int64_t size, DType dtype);
  /// Over memory that somebody else owns and that outlives it: `opaque` is what the device's allocator hands out (an address, if the
  /// device's memory is the host's).
  Buffer(const Device& device, std::int64_t size, DType dtype, void* opaque);
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() = default;

  /// A buffer with the elements of `array`, row-major, and an array of all elements of the buffer. Throws DeviceError.
  static Buffer fromCPU(const Device& device, const Array& array);
  Array toCPU() const { return toCPU({size_}); }
  /// In that shape, which has as many elements or fewer: the first ones.
  Array toCPU(std::vector<std::int64_t> shape) const;

  const std::string& device() const { return device_; }
  std::int64_t size() const { return size_; }
  DType dtype() const { return dtype_; }
  std::int64_t bytes() const { return size_ * bytes_of(dtype_); }
  void* opaque() const { return opaque_; }

  /// From the host, and to it: as many bytes as it has, or fewer. Both wait for the kernels that were started. Throws DeviceError.
  void copyin(std::span<const std::byte> from) const;
  void copyout(std::span<std::byte> to) const;
  /// Its memory itself, without a copy. Throws DeviceError where that is not the host's. Device::synchronize() before it is read.
  std::span<std::byte> as_buffer() const;

 private:
  void swap(Buffer& other) noexcept;

  std::string device_;
  std::int64_t size_ = 0;
  DType dtype_{};
  void* opaque_ = nullptr;
  std::shared_ptr<Allocator> allocator_;
  DeviceMemory memory_;  // none if somebody else owns it
};

}  // namespace etch
