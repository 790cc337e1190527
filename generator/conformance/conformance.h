// All kinds of case files behind one call.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "conformance/shape.h"
#include "device/device.h"

namespace etch {

/// Looks at what the file holds (symbolic, ShapeTracker or kernel cases) and checks it. Throws UserError that names `file`
/// where it is none of these or misses what a case needs.
/// Kernels run on `devices`.
ConformanceReport check_conformance(const std::string& file, const nlohmann::json& json,
                                    const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace etch
