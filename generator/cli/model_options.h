// From the command line's words to the values that the stages take; what is not acceptable is a UserError.
#pragma once

#include <string>
#include <vector>

#include "cli/options.h"
#include "cli/progress.h"
#include "device/device.h"
#include "driver/compile.h"
#include "validate/data_set.h"

namespace etch {

/// Everything that ModelArgs says. `progress` is told of each step and must outlive the options.
CompileOptions compile_options(const ModelArgs& args, Progress& progress);
/// From "batch=3" for some of the model's variables.
VarValues variable_values(const std::vector<std::string>& sets, const ImportedModel& model);
/// For the devices of this machine.
DeviceOptions device_options(const ModelArgs& args, const Target& target);
/// The named devices ("all": every one that is available; an unavailable one that was asked for by name is a UserError).
/// Says of each one left out why, in one line on standard error.
std::vector<std::unique_ptr<Device>> devices_named(const std::vector<std::string>& names, const DeviceOptions& options);

}  // namespace etch
