// What decides about the cost of a program beside its text: flags, compiler and emulator of a target, and this machine where it is timed.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "target/target.h"

namespace etch {

/// Of a target, what building, running and counting take.
nlohmann::ordered_json json_of_tools(const Target& target);
/// A target with those alone. nlohmann::json::exception if `json` is none.
Target target_of_tools(const nlohmann::ordered_json& json);

/// All of it as a text, with what compiler, linker and emulator say of their versions: equal where a program costs the same.
std::string tools_text(const Target& target);

}  // namespace etch
