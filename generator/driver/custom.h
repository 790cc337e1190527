// Reads the C files of custom operators and finds the function of each.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "onnx/custom.h"

namespace etch {

/// "com.example.Leaky=leaky": an operator with its domain (none: one of ONNX's own), and the function that computes it.
struct CustomBinding {
  std::string op, function;
};

/// UserError where a file can't be read or does not parse, or does not define the function of a binding.
std::vector<CustomOperator> read_custom_operators(const std::vector<std::filesystem::path>& files,
                                                  const std::vector<CustomBinding>& bindings);

}  // namespace etch
