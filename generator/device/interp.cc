// INTERP: the reference device. Each call's AST is evaluated.
#include <chrono>

#include "device/external.h"
#include "device/replay.h"
#include "program/interpret.h"
#include "program/loops.h"

namespace etch {
namespace {

class Interpreted : public LoadedProgram {
 public:
  Interpreted(const Program& program, const DeviceOptions& options)
      : program_(&program), external_(program, options), last_use_(last_uses(program)) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    check_run(*program_, inputs, vars);
    Interpreter interpreter(*program_, [&](const ProgramCall& call, const std::vector<const Array*>& read, const VarValues& values) {
      return run_external(call, read, values);
    });
    for (std::size_t i = 0; i < inputs.size(); i++) interpreter.set(program_->inputs[i], inputs[i]);
    if (options.call_seconds != nullptr) options.call_seconds->assign(program_->calls.size(), 0);
    for_each_call(*program_, vars, [&](int c, const VarValues& values) {
      const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
      const auto begin = std::chrono::steady_clock::now();
      const Array written = interpreter.evaluate(c, values);
      if (options.call_seconds != nullptr)
        (*options.call_seconds)[static_cast<std::size_t>(c)] +=
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      interpreter.set_written(c, written, values);
      if (options.tap) options.tap(c, 0, writes_part(*program_, call) ? written : interpreter.get(call.writes().front()));
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
  Array run_external(const ProgramCall& call, const std::vector<const Array*>& inputs, const VarValues& values) const {
    std::vector<std::span<const std::byte>> bytes;
    for (const Array* input : inputs) bytes.push_back(input->bytes());
    const ProgramBuffer& out = buffer(call.writes().front());
    std::vector<std::byte> written = external_.run(call, bytes, elements_of(out, values) * bytes_of(out.dtype), values);
    return {out.dtype, shape_of(out, values), std::move(written)};
  }

  const ProgramBuffer& buffer(int b) const { return program_->buffers[static_cast<std::size_t>(b)]; }

  const Program* program_;
  ExternalKernels external_;
  std::vector<int> last_use_;
};

class InterpDevice : public Device {
 public:
  InterpDevice(const DeviceRow& row, const DeviceOptions& options) : Device(row), options_(options) {}
  bool available(std::string*) const override { return true; }
  std::string description() const override { return "reference, in double"; }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    return std::make_unique<Interpreted>(program, options_);
  }

  DeviceOptions options_;
};

}  // namespace

constinit const DeviceRow kInterpDevice{
    .name = "interp",
    .language = nullptr,
    .make = make_of<InterpDevice>,
    .runs_external = true,
};

}  // namespace etch
