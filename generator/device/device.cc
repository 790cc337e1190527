#include "device/device.h"

#include <fmt/format.h>

namespace etch {

std::unique_ptr<LoadedProgram> Device::load(const Program& program) const {
  check(program.language == row_->language, "a device runs programs in its own language");
  if (!runs_external())
    for (const ProgramKernel& kernel : program.kernels)
      if (kernel.external != nullptr)
        throw DeviceError("backend " + name(),
                          fmt::format("it can't run the custom function {} ({})", kernel.external->place(), kernel.external->op),
                          fmt::format("custom operators run on {}", fmt::join(external_device_names(), ", ")));
  return load_own(program);
}

Table<DeviceRow>& devices() {
  static Table<DeviceRow> table{&kInterpDevice, &kCDevice, &kLlvmDevice, &kOpenClDevice, &kCudaDevice};
  return table;
}

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  const DeviceRow* row = devices().find(&DeviceRow::name, name);
  return row == nullptr ? nullptr : row->make(*row, options);
}

std::unique_ptr<Device> make_reference_device(const DeviceOptions& options) {
  const DeviceRow& row = *devices().rows().front();
  return row.make(row, options);
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceRow* row : devices().rows()) names.emplace_back(row->name);
  return names;
}

std::vector<std::string> external_device_names() {
  std::vector<std::string> names;
  for (const DeviceRow* row : devices().rows())
    if (row->runs_external) names.emplace_back(row->name);
  return names;
}

std::vector<EnvVar> environment_for(const Language& language, const std::filesystem::path& work) {
  const DeviceRow* row = devices().find(&DeviceRow::language, &language);
  if (row == nullptr || row->environment == nullptr) return {};
  return row->environment(work);
}

}  // namespace etch
