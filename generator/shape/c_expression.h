// Sizes as C expressions.
#pragma once

#include <map>
#include <string>

#include "shape/symbolic.h"

namespace etch {

/// The expression in C, in parentheses unless it is a number or a name. `names` gives the variables' C identifiers.
std::string c_expression(Sint size, const std::map<std::string, std::string>& names);

}  // namespace etch
