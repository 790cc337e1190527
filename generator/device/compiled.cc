// Compiled: kernels are functions of this process, called on host memory.
#include <algorithm>
#include <thread>

#include "device/compiler.h"

namespace etch {
namespace {

class Compiled : public LoadedProgram {
 public:
  Compiled(const Program& program, std::unique_ptr<KernelLibrary> library, const PlanOptions& plan, bool guards)
      : program_(&program), library_(std::move(library)), replay_(program, plan, guards, library_->memory()) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    return replay_.run(inputs, vars, options, [&](const ProgramCall& call, const VarValues& now, std::span<std::byte* const> memory) {
      const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
      std::vector<std::int32_t> values;
      for (const std::string& v : kernel.variables) values.push_back(static_cast<std::int32_t>(now.at(v)));
      std::vector<void*> arg(memory.begin(), memory.end());
      for (std::int32_t& v : values) arg.push_back(&v);
      library_->run(call.kernel, arg.data(), launch_size(kernel, now));
    });
  }

 private:
  const Program* program_;
  std::unique_ptr<KernelLibrary> library_;
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
                                             bool guards) {
  return std::make_unique<Compiled>(program, std::move(library), plan, guards);
}

}  // namespace etch
