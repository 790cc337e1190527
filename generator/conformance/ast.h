// Kernels recorded from tinygrad 0.8 (sections of ast_cases.json), with inputs made by a rule and outputs computed by brute force.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "conformance/shape.h"
#include "device/device.h"
#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch {

struct AstCase {
  std::string id;
  const LazyOp* store = nullptr;
  std::vector<Array> inputs;  // input b of a Load is inputs[b - 1]
  std::int64_t output_size = 0;
  double output_sum = 0, output_abs_sum = 0;
  std::vector<std::pair<std::int64_t, double>> samples;  // element, value
};

/// All cases of the file's content; `ops` owns the nodes.
std::vector<AstCase> ast_cases(const nlohmann::json& file, LazyOps& ops);
/// The same from a file.
std::vector<AstCase> read_ast_cases(const std::string& path, LazyOps& ops);

/// Runs every case on every device; the report has one row per device. Samples, sum and sum of absolute values must equal the
/// recorded ones (relative tolerance 2e-3, for float32 accumulation).
ConformanceReport check_ast(const nlohmann::json& file, const std::vector<std::unique_ptr<Device>>& devices);

}  // namespace etch
