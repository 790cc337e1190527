// Compiled: kernels are functions of this process, called on host memory.
#include <algorithm>
#include <thread>

#include "device/compiler.h"
#include "device/external.h"

namespace etch {
namespace {

class Compiled : public LoadedProgram {
 public:
  Compiled(const Program& program, std::unique_ptr<KernelLibrary> library, const PlanOptions& plan, const DeviceOptions& options)
      : program_(&program),
        library_(std::move(library)),
        external_(program, options),
        replay_(program, plan, options.guards, library_->memory()) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    return replay_.run(inputs, vars, options, [&](const ProgramCall& call, const VarValues& now, std::span<std::byte* const> memory) {
      const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
      if (kernel.external != nullptr) return run_external(call, now, memory);
      std::vector<std::int32_t> values;
      for (const std::string& v : kernel.variables) values.push_back(static_cast<std::int32_t>(now.at(v)));
      std::vector<void*> arg(memory.begin(), memory.end());
      for (std::int32_t& v : values) arg.push_back(&v);
      library_->run(call.kernel, arg.data(), launch_size(kernel, now));
    });
  }

 private:
  void run_external(const ProgramCall& call, const VarValues& values, std::span<std::byte* const> memory) const {
    std::vector<std::span<const std::byte>> inputs;
    std::span<std::byte> output;
    for (std::size_t i = 0; i < call.arguments.size(); i++) {
      const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(call.arguments[i].buffer)];
      const std::span<std::byte> bytes(memory[i], static_cast<std::size_t>(elements_of(buffer, values) * bytes_of(buffer.dtype)));
      if (call.arguments[i].access == Access::Read)
        inputs.emplace_back(bytes);
      else
        output = bytes;
    }
    std::ranges::copy(external_.run(call, inputs, static_cast<std::int64_t>(output.size()), values), output.begin());
  }

  const Program* program_;
  std::unique_ptr<KernelLibrary> library_;
  ExternalKernels external_;
  Replay replay_;
};

}  // namespace

std::vector<std::span<const ProgramKernel>> parts_of(std::span<const ProgramKernel> kernels, std::size_t least, int jobs) {
  std::size_t bytes = 0;
  for (const ProgramKernel& k : kernels) bytes += k.text.source.size();
  if (jobs <= 0) jobs = static_cast<int>(std::thread::hardware_concurrency());
  const std::size_t most = bytes < least ? 1 : static_cast<std::size_t>(std::max(1, jobs));
  std::vector<std::span<const ProgramKernel>> parts;
  std::size_t begin = 0, seen = 0;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    seen += kernels[k].text.source.size();
    if (k + 1 < kernels.size() && seen * most < bytes * (parts.size() + 1)) continue;
    parts.push_back(kernels.subspan(begin, k + 1 - begin));
    begin = k + 1;
  }
  return parts;
}

std::unique_ptr<LoadedProgram> make_compiled(const Program& program, std::unique_ptr<KernelLibrary> library, const PlanOptions& plan,
                                             const DeviceOptions& options) {
  return std::make_unique<Compiled>(program, std::move(library), plan, options);
}

}  // namespace etch
