// The files of runtime_c/ as text: what etch writes beside an emitted model, and what host kernels are compiled with.
#pragma once

#include <span>
#include <string_view>

namespace etch {

struct RuntimeFile {
  std::string_view name;  // "etch_runtime.h"
  std::string_view text;
};

/// All of them, sorted by name.
std::span<const RuntimeFile> runtime_files();
/// The one with that name; an unknown name is an InternalError.
std::string_view runtime_text(std::string_view name);

}  // namespace etch
