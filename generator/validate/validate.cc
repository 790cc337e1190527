#include "validate/validate.h"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "base/error.h"
#include "interp/interp.h"

namespace etch {
namespace {

// What INTERP gives for each call of `reference` when it reads what `program` wrote. The programs come from one schedule:
// their calls correspond one to one, while a constant may be laid out anew in `program`.
class Replayer {
 public:
  Replayer(const Program& program, const Program& reference, const DataSet& set) : reference_(reference), set_(set) {
    check(program.calls.size() == reference.calls.size(), "programs of one schedule have the same calls");
    for (std::size_t i = 0; i < program.inputs.size(); i++) written_[reference.inputs[i]] = set.inputs[i];
  }

  /// The AST of call `c` on what the program's earlier calls wrote.
  Array expected(std::size_t c) const {
    const ProgramCall& call = reference_.calls[c];
    std::vector<const Array*> inputs;
    for (std::size_t i = 1; i < call.buffers.size(); i++) {
      const int buffer = call.buffers[i];
      const ProgramBuffer& info = reference_.buffers[static_cast<std::size_t>(buffer)];
      inputs.push_back(info.kind == BufferKind::Constant ? &info.data : &written_.at(buffer));
    }
    return interp_evaluate(reference_.kernels[static_cast<std::size_t>(call.kernel)].ast, inputs, set_.vars);
  }

  void write(std::size_t c, const Array& output) { written_[reference_.calls[c].buffers[0]] = output; }

 private:
  const Program& reference_;
  const DataSet& set_;
  std::map<int, Array> written_;  // by buffer of the reference
};

std::string output_name(const Program& program, std::size_t i) {
  return program.buffers[static_cast<std::size_t>(program.outputs[i])].name;
}

}  // namespace

std::vector<std::vector<Array>> reference_outputs(const Program& reference, const Device& interp, const std::vector<DataSet>& sets) {
  const auto loaded = interp.load(reference);
  std::vector<std::vector<Array>> outputs;
  for (const DataSet& set : sets) outputs.push_back(loaded->run(set.inputs, set.vars));
  return outputs;
}

BackendResult validate_backend(const Program& program, const Program& reference, const Device& device, const std::vector<DataSet>& sets,
                               const std::vector<std::vector<Array>>& outputs, const Tolerance& tolerance) {
  BackendResult result;
  result.name = device.name();
  try {
    const auto loaded = device.load(program);
    for (std::size_t s = 0; s < sets.size(); s++) {
      const auto start = std::chrono::steady_clock::now();
      const std::vector<Array> got = loaded->run(sets[s].inputs, sets[s].vars);
      result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      const std::vector<Array>& want = sets[s].expected.empty() ? outputs[s] : sets[s].expected;
      for (std::size_t i = 0; i < want.size(); i++) {
        const Comparison c = compare(got[i], want[i], tolerance);
        result.comparison = worse(result.comparison, c);
        if (c.ok || !result.ok) continue;
        result.ok = false;
        result.problem = fmt::format("{}, output '{}': {}", sets[s].name, output_name(program, i), c.problem);
        result.culprit = find_culprit(program, reference, *loaded, sets[s], tolerance);
      }
    }
  } catch (const DeviceError& error) {
    result.ok = false;
    result.comparison.ok = false;
    result.problem = error.what();
  }
  return result;
}

std::optional<Culprit> find_culprit(const Program& program, const Program& reference, LoadedProgram& loaded, const DataSet& set,
                                    const Tolerance& tolerance) {
  Replayer replayer(program, reference, set);
  std::optional<Culprit> found;
  RunOptions options;
  options.tap = [&](int call, const Array& output) {
    if (found) return;
    const auto c = static_cast<std::size_t>(call);
    const Array want = replayer.expected(c);
    const Comparison comparison = compare(output.reshaped(want.shape()), want, tolerance);
    replayer.write(c, output);
    if (comparison.ok) return;
    const ProgramCall& info = program.calls[c];
    found = Culprit{call, program.kernels[static_cast<std::size_t>(info.kernel)].name, info.nodes, comparison.problem};
  };
  loaded.run(set.inputs, set.vars, options);
  return found;
}

std::string to_text(const Culprit& culprit) {
  return fmt::format("kernel {} {} (nodes {}): {}", culprit.call, culprit.kernel, fmt::join(culprit.nodes, ", "), culprit.problem);
}

}  // namespace etch
