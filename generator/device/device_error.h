// What goes wrong on a device.
#pragma once

#include "base/error.h"

namespace etch {

/// The program could not be compiled or did not run to its end: a compiler's message, a crash, a hang, a wrong input, no memory.
class DeviceError : public UserError {
 public:
  using UserError::UserError;
};

}  // namespace etch
