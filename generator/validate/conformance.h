// All kinds of case files behind one call.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "validate/conformance_shape.h"

namespace etch {

/// Looks at what the file holds (symbolic, ShapeTracker or kernel cases) and checks it. Throws UserError that names `file`
/// where it is none of these or misses what a case needs.
ConformanceReport check_conformance(const std::string& file, const nlohmann::json& json);

}  // namespace etch
