// All kinds of case files behind one call.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "conformance/shape.h"
#include "device/device.h"

namespace etch {

/// Finds out which cases the file holds (symbolic, ShapeTracker or kernel cases) and checks them; kernels run on `devices`. Throws
/// UserError that names `file` if it holds none of these or a case lacks something.
ConformanceReport check_conformance(const std::string& file, const nlohmann::json& json,
                                    const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace etch
