#include "validate/validate.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>

#include "base/error.h"
#include "emit/emit.h"
#include "program/interpret.h"
#include "program/loops.h"

namespace etch {
namespace {

std::string output_name(const Program& program, std::size_t i) {
  return program.buffers[static_cast<std::size_t>(program.outputs[i])].name;
}

std::vector<Array> run_set(const Program& program, LoadedProgram& loaded, const DataSet& set) {
  if (!program.states.empty()) loaded.reset_state();
  for (int k = 1; k < runs_on(program, set); k++) loaded.run(set.inputs, set.vars);
  return loaded.run(set.inputs, set.vars);
}

}  // namespace

std::vector<std::vector<Array>> reference_outputs(const Program& reference, const Device& interp, const std::vector<DataSet>& sets) {
  const auto loaded = interp.load(reference);
  std::vector<std::vector<Array>> outputs;
  for (const DataSet& set : sets) outputs.push_back(run_set(reference, *loaded, set));
  return outputs;
}

int runs_on(const Program& program, const DataSet& set) { return program.states.empty() || !set.expected.empty() ? 1 : kRunsWithState; }

BackendResult validate_backend(const Program& program, const Program& reference, const Device& device, const std::vector<DataSet>& sets,
                               const std::vector<std::vector<Array>>& outputs, const Tolerance& tolerance) {
  BackendResult result;
  result.name = device.name();
  try {
    const auto loaded = device.load(program);
    for (std::size_t s = 0; s < sets.size(); s++) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<Array> got = run_set(program, *loaded, sets[s]);
      result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const std::vector<Array>& want = sets[s].expected.empty() ? outputs[s] : sets[s].expected;
      for (std::size_t i = 0; i < want.size(); i++) {
        const Comparison c = compare(got[i], want[i], tolerance);
        result.comparison = worse(result.comparison, c);
        if (c.ok || !result.ok) continue;
        result.ok = false;
        result.differs = true;
        result.problem = fmt::format("{}, output '{}': {}", sets[s].name, output_name(program, i), c.problem);
        result.culprit = find_culprit(program, reference, *loaded, sets[s], tolerance);
      }
    }
  } catch (const DeviceError& error) {
    result.ok = result.differs = false;
    result.comparison.ok = false;
    result.problem = error.what();
  }
  return result;
}

namespace {

bool is_scratch(const Program& program, int call, int output) {
  const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(program.calls[static_cast<std::size_t>(call)].kernel)];
  return kernel.external != nullptr && kernel.external->outputs[static_cast<std::size_t>(output)].is_scratch;
}

}  // namespace

std::optional<Culprit> find_culprit(const Program& program, const Program& reference, LoadedProgram& loaded, const DataSet& set,
                                    const Tolerance& tolerance) {
  // Every call is evaluated on what the program's earlier calls wrote. The programs come from one schedule: their calls correspond
  // one to one, while a constant may be laid out anew in `program`.
  check(program.calls.size() == reference.calls.size(), "programs of one schedule have the same calls");
  Interpreter interpreter(reference);
  for (std::size_t i = 0; i < set.inputs.size(); i++) interpreter.set(reference.inputs[i], set.inputs[i]);
  std::vector<std::pair<int, VarValues>> turns;  // the calls of a run, in order
  for_each_call(reference, set.vars, [&](int call, const VarValues& values) { turns.emplace_back(call, values); });
  std::optional<Culprit> found;
  std::size_t turn = 0;
  std::vector<Array> wanted;  // of the call that was done last
  RunOptions options;
  options.tap = [&](int call, int output, const Array& written) {
    if (output == 0) turn++;
    if (found) return;
    const VarValues& values = turns.at(turn - 1).second;
    if (!interpreter.can_evaluate(call)) {  // the function is its own reference
      interpreter.set_written(call, output, written, values);
      return;
    }
    if (output == 0) wanted = interpreter.evaluate(call, values);  // before any output may replace an input
    const Array& want = wanted.at(static_cast<std::size_t>(output));
    const Comparison comparison = compare(written.reshaped(want.shape()), want, tolerance);
    interpreter.set_written(call, output, written, values);
    if (comparison.ok || is_scratch(reference, call, output)) return;
    const ProgramCall& info = program.calls[static_cast<std::size_t>(call)];
    found = Culprit{call, program.kernels[static_cast<std::size_t>(info.kernel)].name, info.nodes, comparison.problem};
  };
  if (!program.states.empty()) loaded.reset_state();  // as the interpreter has it
  for (int k = 0; k < runs_on(program, set) && !found; k++) {
    turn = 0;
    loaded.run(set.inputs, set.vars, options);
  }
  return found;
}

std::string to_text(const Culprit& culprit) {
  return fmt::format("kernel {} {} (nodes {}): {}", culprit.call, culprit.kernel, fmt::join(culprit.nodes, ", "), culprit.problem);
}

}  // namespace etch
