// INTERP: the reference device. Each call's AST is evaluated.
#include <chrono>

#include "device/replay.h"
#include "program/interpret.h"
#include "program/loops.h"

namespace etch {
namespace {

class Interpreted : public LoadedProgram {
 public:
  explicit Interpreted(const Program& program) : program_(&program), last_use_(last_uses(program)) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    check_run(*program_, inputs, vars);
    Interpreter interpreter(*program_);
    for (std::size_t i = 0; i < inputs.size(); i++) interpreter.set(program_->inputs[i], inputs[i]);
    if (options.call_seconds != nullptr) options.call_seconds->assign(program_->calls.size(), 0);
    for_each_call(*program_, vars, [&](int c, const VarValues& values) {
      const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
      const auto begin = std::chrono::steady_clock::now();
      const std::vector<Array> written = interpreter.evaluate(c, values);
      if (options.call_seconds != nullptr)
        (*options.call_seconds)[static_cast<std::size_t>(c)] +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      for (int output = 0; output < static_cast<int>(written.size()); output++) {
        const Array& one = written[static_cast<std::size_t>(output)];
        interpreter.set_written(c, output, one, values);
        const int b = call.arguments[static_cast<std::size_t>(output)].buffer;
        if (options.tap) options.tap(c, output, writes_part(*program_, call, output) ? one : interpreter.get(b));
      }
      for (int b : call.buffers())
        if (last_use_[static_cast<std::size_t>(b)] == c) interpreter.set(b, {});
    });
    std::vector<Array> outputs;
    for (int b : program_->outputs) {
      const bool is_empty = elements_of(buffer(b), vars) == 0;  // no call writes it
      outputs.push_back(is_empty ? Array(buffer(b).dtype, shape_of(buffer(b), vars), {}) : interpreter.get(b));
    }
    return outputs;
  }

 private:
  const ProgramBuffer& buffer(int b) const { return program_->buffers[static_cast<std::size_t>(b)]; }

  const Program* program_;
  std::vector<int> last_use_;
};

class InterpDevice : public Device {
 public:
  using Device::Device;
  bool available(std::string*) const override { return true; }
  std::string description() const override { return "reference, in double"; }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override { return std::make_unique<Interpreted>(program); }
};

}  // namespace

constinit const DeviceRow kInterpDevice{
    .name = "interp",
    .language = nullptr,
    .make = [](const DeviceRow& row, const DeviceOptions&) -> std::unique_ptr<Device> { return std::make_unique<InterpDevice>(row); },
};

}  // namespace etch
