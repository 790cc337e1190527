// INTERP: the reference device. Interpreted: each call's AST is evaluated.
#include "device/replay.h"

namespace etch {
namespace {

class Interpreted : public LoadedProgram {
 public:
  Interpreted(const Program& program, bool guards) : program_(&program), replay_(program, guards) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    return replay_.run(inputs, vars, options,
                       [&](const ProgramCall& call, std::span<std::byte* const> memory, std::span<const std::int64_t> elements) {
                         const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
                         check(kernel.ast != nullptr, "a kernel has an AST");
                         std::vector<InterpInput> sources;
                         for (std::size_t k = 1; k < memory.size(); k++) sources.push_back({kernel.arg_dtypes[k], memory[k], elements[k]});
                         interp_evaluate_into(kernel.ast, sources, vars, memory[0], elements[0]);
                       });
  }

 private:
  const Program* program_;
  Replay replay_;
};

class InterpDevice : public Device {
 public:
  explicit InterpDevice(const DeviceOptions& options) : guards_(options.guards) {}
  std::string name() const override { return "interp"; }
  bool available(std::string*) const override { return true; }
  std::string description() const override { return "reference, in double"; }
  std::unique_ptr<LoadedProgram> load(const Program& program) const override { return std::make_unique<Interpreted>(program, guards_); }

 private:
  bool guards_;
};

}  // namespace

std::unique_ptr<Device> make_interp_device(const DeviceOptions& options) { return std::make_unique<InterpDevice>(options); }

}  // namespace etch
