#include "driver/selftest.h"

#include <fmt/format.h>

#include <algorithm>

#include "device/device.h"
#include "emit/literals.h"
#include "program/loops.h"

namespace etch {

Array input_within(const ImportedTensor& input, Array any) {
  if (input.typical) return Array::filled(any.dtype(), any.shape(), Scalar::of_double(any.dtype(), *input.typical));
  if (input.below == 0) return any;
  std::vector<std::int64_t> values = any.ints();
  for (std::int64_t& v : values) v = ((v % input.below) + input.below) % input.below;
  return Array::of_ints(any.dtype(), any.shape(), values);
}

SelfTest selftest_inputs(const Frontend& frontend, const CompileOptions& options) {
  SelfTest test;
  test.seed = options.seed;
  if (!frontend.model.states.empty()) test.runs = kRunsWithState;
  VarValues& vars = test.variables;
  for (const ImportedDim& dim : frontend.model.dims) vars[dim.c_name] = dim.max;
  int number = 0;
  for (const ImportedTensor& input : frontend.model.inputs) {
    std::vector<std::int64_t> shape;
    for (const Sint& d : input.shape) shape.push_back(evaluate(d, vars));
    test.inputs.push_back(input_within(input, lcg_input(input.dtype, shape, test.seed, number++)));
  }
  return test;
}

void add_expected(SelfTest& test, const Frontend& frontend, const CompileOptions& options) {
  const Program program = lower_model(frontend, nullptr, options);
  RunOptions run;
  run.tap = [&](int call, int output, const Array&) {
    if (options.step && output == 0) options.step("self-test by INTERP", call + 1, static_cast<std::int64_t>(program.calls.size()));
  };
  const auto outputs_of_last = [&] {
    const auto reference = make_reference_device()->load(program);
    for (int k = 1; k < test.runs; k++) reference->run(test.inputs, test.variables, run);
    return reference->run(test.inputs, test.variables, run);
  };
  test.expected = outputs_of_last();
  // A step on any numbers may lead away: its first loss is that of the model.
  if (test.runs > 1 && frontend.role.function == "step" && !std::ranges::all_of(test.expected, &Array::is_finite)) {
    test.runs = 1;
    test.expected = outputs_of_last();
  }
}

SelfTest generated_selftest(const Frontend& frontend, const CompileOptions& options) {
  SelfTest test = selftest_inputs(frontend, options);
  add_expected(test, frontend, options);
  return test;
}

std::string too_much_to_expect(const Program& program) {
  std::int64_t macs = 0, elements = 0;
  const std::vector<Sint> turns = turns_of_calls(program);
  for (std::size_t c = 0; c < turns.size(); c++) macs += (program.calls[c].macs * turns[c]).max();
  for (int b : program.outputs) elements += program.buffers[static_cast<std::size_t>(b)].max_elements;
  if (macs > kMostInterpreted)
    return fmt::format("its result would take the reference {} multiply-accumulates, more than {}", grouped(macs),
                       grouped(kMostInterpreted));
  if (elements > kMostExpected)
    return fmt::format("its result would be {} numbers, more than {}", grouped(elements), grouped(kMostExpected));
  return "";
}

}  // namespace etch
