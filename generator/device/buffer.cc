#include "device/buffer.h"

#include <limits>

#include "device/device.h"

namespace etch {

Buffer::Buffer(const Device& device, std::int64_t size, DType dtype, void* opaque)
    : device_(device.name()), size_(size), dtype_(dtype), opaque_(opaque), allocator_(device.allocator()) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 16;  // of any type, with room for what rounds up
  if (size <= 0 || size > kMost)
    throw DeviceError("buffer of " + std::string(name_of(dtype)) + " on " + device_,
                      "it has " + std::to_string(size) + " elements, at least 1 is accepted and at most " + std::to_string(kMost));
}

Buffer::Buffer(const Device& device, std::int64_t size, DType dtype) : Buffer(device, size, dtype, nullptr) {
  memory_ = DeviceMemory(*allocator_, bytes());
  opaque_ = memory_.opaque();
}

void Buffer::swap(Buffer& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(size_, other.size_);
  std::swap(dtype_, other.dtype_);
  std::swap(opaque_, other.opaque_);
  std::swap(allocator_, other.allocator_);
  std::swap(memory_, other.memory_);
}

Buffer Buffer::fromCPU(const Device& device, const Array& array) {
  Buffer buffer(device, array.size(), array.dtype());
  buffer.copyin(array.bytes());
  return buffer;
}

Array Buffer::toCPU(std::vector<std::int64_t> shape) const {
  std::int64_t bytes = bytes_of(dtype_);
  for (const std::int64_t d : shape) bytes *= d;
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  copyout(content);
  return {dtype_, std::move(shape), std::move(content)};
}

void Buffer::copyin(std::span<const std::byte> from) const {
  check(opaque_ != nullptr && static_cast<std::int64_t>(from.size()) <= bytes(), "what is copied into a buffer fits into it");
  if (!from.empty()) allocator_->copyin(opaque_, from);
}

void Buffer::copyout(std::span<std::byte> to) const {
  check(opaque_ != nullptr && static_cast<std::int64_t>(to.size()) <= bytes(), "what is copied out of a buffer is in it");
  if (!to.empty()) allocator_->copyout(to, opaque_);
}

std::span<std::byte> Buffer::as_buffer() const {
  check(opaque_ != nullptr, "a buffer that is read has memory");
  std::byte* memory = allocator_->host_address(opaque_);
  if (memory == nullptr) throw DeviceError("buffer on " + device_, "its memory is not the host's", "use copyout, which copies it");
  return {memory, static_cast<std::size_t>(bytes())};
}

}  // namespace etch
