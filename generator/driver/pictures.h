// The pictures of a compiled model, as files.
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"

namespace etch {

/// schedule.svg and, for each kernel, KERNEL.svg with its UOps. `name`: of the model.
std::vector<EmittedFile> pictures_of(const Program& program, const std::string& name);

}  // namespace etch
