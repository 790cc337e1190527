#include "device/compiled.h"

#include <algorithm>
#include <future>
#include <thread>

#include "device/external.h"
#include "device/replay.h"
#include "program/generate.h"

namespace etch {
namespace {

// Kernels are called on the device's memory, one after the other.
class CompiledProgram : public LoadedProgram {
 public:
  CompiledProgram(const Program& program, std::vector<LoadedKernel> kernels, const PlanOptions& plan, bool guards,
                  std::shared_ptr<Allocator> memory, Stats stats)
      : program_(&program), stats_(std::move(stats)), kernels_(std::move(kernels)), replay_(program, plan, guards, std::move(memory)) {}

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    auto outputs =
        replay_.run(inputs, vars, options, [&](const ProgramCall& call, const VarValues& now, std::span<std::byte* const> memory) {
          const auto k = static_cast<std::size_t>(call.kernel);
          const std::vector<void*> buffers(memory.begin(), memory.end());
          try {
            const auto seconds = call_kernel(k, buffers, now);
            const bool tells = stats_.tells(kDebugRuns);
            update_stats(stats_, {call.flops, call.bytes}, now, seconds, tells ? shown_run(program_->kernels[k], now) : KernelRun());
          } catch (const DeviceError& error) {
            throw_with_nodes(*program_, call, error);
          }
        });
    stats_.end_of_run();
    return outputs;
  }
  void reset_state() override { replay_.reset_state(); }

 private:
  // What workers share is done by all of them, one after the other: in one call the first worker comes first, in the next one the last, so
  // that it shows if one of them needs what another does in the same call.
  std::optional<double> call_kernel(std::size_t k, const std::vector<void*>& buffers, const VarValues& values) {
    const Workers& workers = program_->workers;
    if (program_->kernels[k].shared.empty()) return launch(kernels_[k], program_->kernels[k], buffers, values, true);
    first_comes_first_ = !first_comes_first_;
    VarValues of_worker = values;
    of_worker[workers.count] = workers.most;
    std::optional<double> seconds;
    for (int n = 0; n < workers.most; n++) {
      of_worker[workers.index] = first_comes_first_ ? n : workers.most - 1 - n;
      const auto part = launch(kernels_[k], program_->kernels[k], buffers, of_worker, true);
      if (part) seconds = seconds.value_or(0) + *part;
    }
    return seconds;
  }

  const Program* program_;
  Stats stats_;
  std::vector<LoadedKernel> kernels_;
  Replay replay_;
  bool first_comes_first_ = false;
};

}  // namespace

const CodegenOptions& Compiled::codegen() const {
  std::call_once(default_once_, [this] {
    default_codegen_ = options().codegen.value_or(CodegenOptions{});
    if (!options().codegen) default_codegen_->has_local = language()->local_memory;
  });
  return *default_codegen_;
}

Kernel Compiled::get_linearizer(const LazyOp* ast) const { return choose_opts(ast, signature_of(ast, name()).arguments, codegen()); }

std::shared_ptr<CompiledASTRunner> Compiled::to_program(const Kernel& kernel, std::shared_ptr<const void> owner) const {
  ASTSignature signature = signature_of(kernel.ast(), name());
  const Estimate estimate = estimate_of(kernel.ast(), signature.arguments);
  ProgramKernel made =
      generate_kernel(kernel, {.function = kernel.shape_name(), .arguments = signature.arguments, .variables = {}}, *language());
  tell(made);
  LoadedKernel loaded(load_kernels({&made, 1}), 0);
  return std::make_shared<CompiledASTRunner>(std::move(signature), estimate, stats(), std::move(owner), std::move(made), std::move(loaded));
}

std::shared_ptr<JITRunner> Compiled::make_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const {
  return to_program(get_linearizer(ast), std::move(owner));
}

std::shared_ptr<const KernelLibrary> Compiled::load_kernels(std::span<const ProgramKernel> kernels) const {
  const std::shared_ptr<const Compiler> compiling = compiler();
  const std::vector<std::string> texts = texts_of(kernels);
  std::vector<std::future<std::string>> running;
  for (const std::string& text : texts)
    running.push_back(std::async(std::launch::async, [&compiling, &text] { return compiling->compile_cached(text); }));
  for (auto& r : running) r.wait();
  std::vector<std::string> binaries;
  for (auto& r : running) binaries.push_back(r.get());
  for (std::size_t i = 0; i < texts.size(); i++) tell_instructions(*compiling, texts[i], binaries[i]);
  return load_binaries(binaries, kernels);
}

std::unique_ptr<KernelGraph> Compiled::make_graph(std::vector<GraphNode> nodes) const { return make_list_graph(std::move(nodes)); }

void Compiled::tell_instructions(const Compiler& compiling, const std::string& text, const std::string& binary) const {
  if (!stats().tells(kDebugInstructions)) return;
  std::string listing;
  try {
    listing = compiling.disassemble(binary);
    if (listing == text) listing = name() + ": its compiler shows no instructions, only the source\n";
  } catch (const DeviceError& error) {
    listing = name() + ": no instructions are shown: " + error.what() + "\n";
  }
  stats().debug->print("-- instructions\n" + listing);
}

std::unique_ptr<LoadedProgram> Compiled::load_own(const Program& program) const {
  const auto library = has_external(program) ? load_kernels(without_external(program.kernels)) : load_kernels(program.kernels);
  return std::make_unique<CompiledProgram>(program, with_external(program.kernels, library, options()), plan_options(), options().guards,
                                           allocator(), stats());
}

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
  if (parts.empty()) parts.emplace_back();
  return parts;
}

}  // namespace etch
