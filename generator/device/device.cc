#include "device/device.h"

namespace etch {
namespace {

struct Row {
  std::string_view name;
  std::unique_ptr<Device> (*make)(const DeviceOptions& options);
};

constexpr Row kDevices[] = {
    {"interp", make_interp_device},
    {"c", make_c_device},
    {"opencl", make_opencl_device},
};

}  // namespace

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  for (const Row& row : kDevices)
    if (row.name == name) return row.make(options);
  return nullptr;
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const Row& row : kDevices) names.emplace_back(row.name);
  return names;
}

}  // namespace etch
