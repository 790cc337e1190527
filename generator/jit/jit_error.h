// What can't be recorded, or can't be replayed.
#pragma once

#include "device/device_error.h"

namespace etch {

/// A recorded function was called with what it was not recorded for, or does what no recording can repeat.
class JitError : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

}  // namespace etch
