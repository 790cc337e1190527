// For tests: every operation on every type, roundings and the recorded kernels on a device; results equal the reference interpreter's.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "interp/interp.h"
#include "ir/near.h"
#include "support/ast_cases.h"
#include "support/backends.h"
#include "support/op_cases.h"
#include "support/rounding_cases.h"

namespace etch::test {

inline Array reference_of(const LazyOp* store, const std::vector<Array>& inputs) {
  std::vector<const Array*> pointers;
  for (const Array& a : inputs) pointers.push_back(&a);
  return interp_evaluate(store, pointers);
}

inline void expect_operations(const Device& device, const std::vector<OpCase>& cases, const CodegenOptions& options) {
  std::vector<BackendKernel> kernels;
  for (std::size_t i = 0; i < cases.size(); i++) {
    BackendKernel kernel{cases[i].ast, &cases[i].inputs, kOpCaseSize, std::nullopt};
    if (i % 16 != 0) kernel.opts = std::vector<Opt>();  // the copies of an upcast are the same text again
    kernels.push_back(kernel);
  }
  const Program program = program_of(kernels, *device.language(), options);
  const std::vector<Array> got = device.load(program)->run({});
  int wrong = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 20; i++) {
    const std::string problem = difference(cases[i], got[i], reference_of(cases[i].ast, cases[i].inputs), cases[i].tolerance);
    EXPECT_EQ(problem, "") << program.kernels[i].text.source;
    wrong += problem.empty() ? 0 : 1;
  }
}

/// `device` rounds after each operation.
inline void expect_roundings(const Device& device) {
  LazyOps ops;
  std::vector<RoundingChain> chains;
  std::vector<std::vector<Array>> inputs;
  for (const RoundingCase& c : kRoundingCases)
    for (RoundingChain& chain : rounding_chains(ops, c)) {
      inputs.push_back({Array::of_doubles(c.dtype, {kRoundingSize}, kRoundingInput)});
      chains.push_back(std::move(chain));
    }
  std::vector<BackendKernel> kernels;
  for (std::size_t i = 0; i < chains.size(); i++) kernels.push_back({chains[i].store, &inputs[i], kRoundingSize, std::nullopt});
  const Program program = program_of(kernels, *device.language(), options_for(*device.language()));
  const std::vector<Array> got = device.load(program)->run({});
  for (std::size_t i = 0; i < chains.size(); i++) EXPECT_EQ(got[i].doubles(), chains[i].expected) << chains[i].name;
}

struct RecordedConfig {
  const char* name;
  CodegenOptions options;
};

/// All recorded kernels, made in each of these ways. `check` sees the program.
inline void expect_recorded(const Device& device, const std::vector<RecordedConfig>& configs,
                            const std::function<void(const RecordedConfig&, const Program&)>& check = {}) {
  LazyOps ops;
  const std::vector<AstCase> cases = read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  ASSERT_EQ(cases.size(), 160u);
  std::vector<BackendKernel> kernels;
  std::vector<Array> wanted;
  for (const AstCase& c : cases) {
    kernels.push_back({c.store, &c.inputs, c.output_size, std::nullopt});
    wanted.push_back(reference_of(c.store, c.inputs));
  }
  for (const RecordedConfig& config : configs) {
    const Program program = program_of(kernels, *device.language(), config.options, true);
    if (check) check(config, program);
    const std::vector<Array> got = device.load(program)->run({});
    for (std::size_t k = 0; k < cases.size(); k++) {
      const double mean = cases[k].output_abs_sum / static_cast<double>(std::max<std::int64_t>(cases[k].output_size, 1));
      const double scale = std::isfinite(mean) ? mean : 1.0;
      for (std::int64_t i = 0; i < got[k].size(); i++) {
        const double g = got[k].double_at(i), w = wanted[k].double_at(i);
        ASSERT_TRUE(is_near(g, w, 2e-3 * std::fabs(w) + 2e-4 * scale))
            << config.name << " " << cases[k].id << " element " << i << " is " << g << ", expected " << w;
      }
    }
  }
}

}  // namespace etch::test
