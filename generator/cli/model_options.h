// Converts command line arguments to the values that the stages take. A value that is not acceptable is a UserError.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/progress.h"
#include "cli/options.h"
#include "device/device.h"
#include "driver/compile.h"
#include "validate/data_set.h"

namespace etch {

/// All options of ModelArgs, the tables read. `progress` shows each step and must outlive the result.
CompileOptions compile_options(const ModelArgs& args, Progress& progress);
/// The same, but the tables are only named.
CompileOptions options_naming_tables(const ModelArgs& args, Progress& progress);
/// Values from texts like "batch=3", for some or all of the model's variables.
VarValues variable_values(const std::vector<std::string>& sets, const ImportedModel& model);
/// The folder that --cache names, or the user's: etch in $XDG_CACHE_HOME or ~/.cache; empty for "off", and where there is none.
std::filesystem::path cache_folder(const std::string& chosen);
/// The options of the devices of this machine.
DeviceOptions device_options(const ModelArgs& args, const Target& target);
/// The named devices; "all" stands for every one that is available. A device that is named but not available is a UserError. For
/// each device that "all" leaves out, one line on standard error says why.
std::vector<std::unique_ptr<Device>> devices_named(const std::vector<std::string>& names, const DeviceOptions& options);

}  // namespace etch
