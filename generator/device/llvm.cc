// LLVM: kernels in IR are optimised for this processor and compiled in this process.
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <future>

#include "device/compiler.h"

namespace etch {
namespace {

using llvm::orc::JITTargetMachineBuilder;
using llvm::orc::LLJIT;

constexpr std::size_t kSplitBytes = 48'000;  // of IR: below it another thread costs more than it saves

// Once for the process: registers the code generator of its processor. Empty, or why it can't.
const std::string& missing_target() {
  static const std::string why = [] {
    const bool failed = llvm::InitializeNativeTarget() || llvm::InitializeNativeTargetAsmPrinter();
    return failed ? std::string("this LLVM has no code generator for the machine's processor") : std::string();
  }();
  return why;
}

template <class T>
T value_or_throw(llvm::Expected<T> result, const std::string& where) {
  if (!result) throw DeviceError(where, llvm::toString(result.takeError()));
  return std::move(*result);
}

JITTargetMachineBuilder this_machine() {
  JITTargetMachineBuilder machine = value_or_throw(JITTargetMachineBuilder::detectHost(), "LLVM");
  machine.setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  machine.setRelocationModel(llvm::Reloc::PIC_);
  return machine;
}

/// Makes one object file from some of the kernels. All of LLVM's state is its own, so several may work at the same time.
class Unit {
 public:
  explicit Unit(const LlvmOptions& options) : options_(options), machine_(value_or_throw(this_machine().createTargetMachine(), "LLVM")) {
    context_.setDiagnosticHandlerCallBack(keep_error, &said_);
    module_ = std::make_unique<llvm::Module>("kernels", context_);
    module_->setTargetTriple(machine_->getTargetTriple().str());
    module_->setDataLayout(machine_->createDataLayout());
  }

  void add(const ProgramKernel& kernel) {
    const std::string where = "kernel '" + kernel.name + "'";
    std::unique_ptr<llvm::Module> read = parse(kernel.text.source, where);
    const llvm::Function* function = read->getFunction(kernel.name);
    if (function == nullptr || function->isDeclaration()) throw DeviceError(where, "its IR does not define a function of that name");
    link(std::move(read), where);
  }

  /// Functions that kernels call.
  void add_prelude(const std::string& text) {
    if (text.empty()) return;
    std::unique_ptr<llvm::Module> read = parse(text, "the functions that kernels call");
    for (llvm::Function& f : *read) {
      // Compiled for any processor, to be inlined into kernels for this one. Kernels do not extend small integers for the callee.
      for (const char* attribute : {"target-cpu", "target-features", "tune-cpu"}) f.removeFnAttr(attribute);
      for (unsigned i = 0; i < f.arg_size(); i++)
        for (const auto kind : {llvm::Attribute::ZExt, llvm::Attribute::SExt}) f.removeParamAttr(i, kind);
      if (!f.isDeclaration()) f.setLinkage(llvm::Function::LinkOnceODRLinkage);
    }
    link(std::move(read), "the functions that kernels call");
    for (llvm::Function& f : *module_)
      if (f.hasLinkOnceODRLinkage()) f.setLinkage(llvm::Function::InternalLinkage);
  }

  std::unique_ptr<llvm::MemoryBuffer> compile() {
    if (!options_.contract) forbid_contraction();
    optimize();
    auto object = value_or_throw(llvm::orc::SimpleCompiler(*machine_)(*module_), "LLVM");
    if (!said_.empty()) throw DeviceError("LLVM", said_);
    return object;
  }

 private:
  // Without it LLVM would write an error to the terminal and end the process.
  static void keep_error(const llvm::DiagnosticInfo* info, void* said) {
    if (info->getSeverity() != llvm::DS_Error) return;
    llvm::raw_string_ostream out(*static_cast<std::string*>(said));
    llvm::DiagnosticPrinterRawOStream printer(out);
    info->print(printer);
  }

  std::unique_ptr<llvm::Module> parse(const std::string& text, const std::string& where) {
    llvm::SMDiagnostic problem;
    std::unique_ptr<llvm::Module> read = llvm::parseIR(llvm::MemoryBufferRef(text, "IR"), problem, context_);
    std::string message;
    llvm::raw_string_ostream out(message);
    if (read == nullptr)
      problem.print(nullptr, out, false);
    else
      llvm::verifyModule(*read, &out);
    if (!message.empty()) throw DeviceError(where, "LLVM refuses its IR: " + message, "if the text is IR, this is a bug of etch");
    read->setTargetTriple(module_->getTargetTriple());
    read->setDataLayout(module_->getDataLayout());
    return read;
  }

  void link(std::unique_ptr<llvm::Module> read, const std::string& where) {
    if (llvm::Linker::linkModules(*module_, std::move(read))) throw DeviceError(where, "can't be linked with the other kernels: " + said_);
  }

  void forbid_contraction() {
    for (llvm::Function& f : *module_)
      for (llvm::BasicBlock& block : f)
        for (llvm::Instruction& i : block)
          if (llvm::isa<llvm::FPMathOperator>(i)) i.setHasAllowContract(false);
  }

  // The passes of clang -O3.
  void optimize() {
    llvm::PipelineTuningOptions tuning;
    tuning.SLPVectorization = true;
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager calls;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder passes(machine_.get(), tuning);
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(calls);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, calls, modules);
    passes.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module_, modules);
  }

  LlvmOptions options_;
  std::string said_;  // errors
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::unique_ptr<llvm::Module> module_;
};

class JitLibrary : public KernelLibrary {
 public:
  JitLibrary(std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects, const Program& program) {
    jit_ = value_or_throw(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(this_machine()).create(), "LLVM");
    jit_->getExecutionSession().setErrorReporter([this](llvm::Error error) { said_ += llvm::toString(std::move(error)) + "\n"; });
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    // expf and the like.
    jit_->getMainJITDylib().addGenerator(value_or_throw(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix), "LLVM"));
    for (auto& object : objects)
      if (llvm::Error error = jit_->addObjectFile(std::move(object))) throw DeviceError("LLVM", llvm::toString(std::move(error)));
    for (const ProgramKernel& kernel : program.kernels) {
      if (kernel.external != nullptr) {
        functions_.push_back(nullptr);
        continue;
      }
      llvm::Expected<llvm::orc::ExecutorAddr> found = jit_->lookup(kernel.name);
      if (!found) throw DeviceError("kernel '" + kernel.name + "'", llvm::toString(found.takeError()) + "\n" + said_);
      functions_.push_back(found->toPtr<KernelFunction>());
    }
  }
  void run(int kernel, void* const* arg, const LaunchSize&) const override { functions_.at(static_cast<std::size_t>(kernel))(arg); }

 private:
  std::string said_;  // by the linker; outlives it
  std::unique_ptr<LLJIT> jit_;
  std::vector<KernelFunction> functions_;
};

class LlvmCompiler : public Compiler {
 public:
  explicit LlvmCompiler(const LlvmOptions& options) : options_(options) {}

  std::unique_ptr<KernelLibrary> compile(const Program& program) const override {
    const std::string prelude = program.language->prelude(helpers_of(program));
    std::vector<std::future<std::unique_ptr<llvm::MemoryBuffer>>> running;
    for (const std::span<const ProgramKernel> part : parts_of(program.kernels, kSplitBytes, options_.compile_jobs))
      running.push_back(std::async(std::launch::async, [this, part, &prelude] {
        Unit unit(options_);
        for (const ProgramKernel& kernel : part)
          if (kernel.external == nullptr) unit.add(kernel);
        unit.add_prelude(prelude);
        return unit.compile();
      }));
    for (auto& r : running) r.wait();
    std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
    for (auto& r : running) objects.push_back(r.get());
    return std::make_unique<JitLibrary>(std::move(objects), program);
  }

 private:
  LlvmOptions options_;
};

class LlvmDevice : public Device {
 public:
  LlvmDevice(const DeviceRow& row, const DeviceOptions& options) : Device(row), own_(options.get<LlvmOptions>()), options_(options) {}

  bool available(std::string* why) const override {
    if (why != nullptr) *why = missing_target();
    return missing_target().empty();
  }

  std::string description() const override { return "LLVM " LLVM_VERSION_STRING ", " + llvm::sys::getHostCPUName().str(); }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    if (!missing_target().empty()) throw DeviceError("LLVM device", missing_target());
    return make_compiled(program, LlvmCompiler(own_).compile(program), {.align = own_.arena_align}, options_);
  }

  LlvmOptions own_;
  DeviceOptions options_;
};

}  // namespace

constinit const DeviceRow kLlvmDevice{
    .name = "llvm",
    .language = &kLlvm,
    .make = make_of<LlvmDevice>,
    .runs_external = true,
};

}  // namespace etch
