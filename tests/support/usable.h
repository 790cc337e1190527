// For tests: devices that this machine may lack. A test that needs one is skipped with the reason.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/device.h"

namespace etch::test {

/// "opencl can't be used here: " and the device's reason; empty if it can be used.
inline std::string why_not(const Device& device) {
  std::string why;
  return device.available(&why) ? "" : device.name() + " can't be used here: " + why;
}

/// A device that can be used; or none, and why.
struct UsableDevice {
  std::unique_ptr<Device> device;
  std::string why;  // one line, as why_not says it

  explicit operator bool() const { return device != nullptr; }
  const Device& operator*() const { return *device; }
  const Device* operator->() const { return device.get(); }
};
inline UsableDevice usable(std::unique_ptr<Device> device) {
  std::string why = why_not(*device);
  if (!why.empty()) device.reset();
  return {std::move(device), std::move(why)};
}

}  // namespace etch::test
