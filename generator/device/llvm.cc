// LLVM: kernels in IR are optimised for this processor and compiled in this process.
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/IRBuilder.h>
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

#include "device/compiled.h"
#include "device/host_compiler.h"

namespace etch {
namespace {

using llvm::orc::JITTargetMachineBuilder;
using llvm::orc::LLJIT;

// A text is several modules of IR, each behind one of these lines: a kernel, by its name, or the functions that kernels call.
constexpr std::string_view kKernelLine = "; etch kernel ", kPreludeLine = "; etch prelude";
constexpr std::size_t kLlvmSplitBytes = 48'000;  // of IR: below it another thread costs more than it saves

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

  void add(const std::string& kernel, const std::string& text) {
    const std::string where = "kernel '" + kernel + "'";
    std::unique_ptr<llvm::Module> read = parse(text, where);
    const llvm::Function* function = read->getFunction(kernel);
    if (function == nullptr || function->isDeclaration()) throw DeviceError(where, "its IR does not define a function of that name");
    use_intrinsics(*read);
    link(std::move(read), where);
  }

  /// Functions that kernels call.
  void add_prelude(const std::string& text) {
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

  // A function that says which intrinsic function computes it becomes a call of that if this processor has the feature.
  void use_intrinsics(llvm::Module& module) {
    const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
    std::vector<llvm::Function*> replaced;
    for (llvm::Function& f : module)
      if (f.hasFnAttribute("etch-intrinsic") && features.lookup(f.getFnAttribute("etch-feature").getValueAsString()))
        replaced.push_back(&f);
    for (llvm::Function* f : replaced) {
      const std::string name = f->getFnAttribute("etch-intrinsic").getValueAsString().str();
      llvm::Type* type = f->getReturnType();  // of the operands too, whatever they are made of
      const llvm::FunctionCallee intrinsic = module.getOrInsertFunction(name, llvm::FunctionType::get(type, {type, type, type}, false));
      f->deleteBody();
      f->setLinkage(llvm::Function::InternalLinkage);
      llvm::IRBuilder<> body(llvm::BasicBlock::Create(context_, "entry", f));
      std::vector<llvm::Value*> operands;
      for (llvm::Argument& a : f->args()) operands.push_back(body.CreateBitCast(&a, type));
      body.CreateRet(body.CreateCall(intrinsic, operands));
    }
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
  JitLibrary(const std::vector<std::string>& objects, std::span<const ProgramKernel> kernels) {
    jit_ = value_or_throw(llvm::orc::LLJITBuilder().setJITTargetMachineBuilder(this_machine()).create(), "LLVM");
    jit_->getExecutionSession().setErrorReporter([this](llvm::Error error) { said_ += llvm::toString(std::move(error)) + "\n"; });
    const char prefix = jit_->getDataLayout().getGlobalPrefix();
    // expf and the like.
    jit_->getMainJITDylib().addGenerator(value_or_throw(llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(prefix), "LLVM"));
    for (const std::string& object : objects)
      if (llvm::Error error = jit_->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object, "kernels")))
        throw DeviceError("LLVM", llvm::toString(std::move(error)));
    for (const ProgramKernel& kernel : kernels) {
      llvm::Expected<llvm::orc::ExecutorAddr> found = jit_->lookup(kernel.name);
      if (!found) throw DeviceError("kernel '" + kernel.name + "'", llvm::toString(found.takeError()) + "\n" + said_);
      functions_.push_back(found->toPtr<KernelFunction>());
    }
  }
  void launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize&) const override {
    functions_.at(static_cast<std::size_t>(kernel))(KernelArguments(buffers, values).get());
  }

 private:
  std::string said_;  // by the linker; outlives it
  std::unique_ptr<LLJIT> jit_;
  std::vector<KernelFunction> functions_;
};

/// A binary is an object file.
class LlvmCompiler : public Compiler {
 public:
  LlvmCompiler(const LlvmOptions& options, CacheOptions cache) : Compiler(std::move(cache)), options_(options) {}

  std::string cachekey() const override {
    return "LLVM " LLVM_VERSION_STRING " " + llvm::sys::getDefaultTargetTriple() + "\n" + this_processor() +
           (options_.contract ? "\ncontract" : "");
  }

  std::string compile(const std::string& text) const override {
    Unit unit(options_);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t line = text.find('\n', at) + 1, end = std::min(text.find("\n; etch ", line - 1), text.size() - 1) + 1;
      const std::string_view head = std::string_view(text).substr(at, line - 1 - at);
      const std::string body = text.substr(line, end - line);
      check(head.starts_with(kKernelLine) || head == kPreludeLine, "a text for LLVM says what each module is");
      if (head == kPreludeLine)
        unit.add_prelude(body);
      else
        unit.add(std::string(head.substr(kKernelLine.size())), body);
      at = end;
    }
    const std::unique_ptr<llvm::MemoryBuffer> object = unit.compile();
    return object->getBuffer().str();
  }

  std::string disassemble(const std::string& binary) const override { return disassemble_object(binary); }

 private:
  LlvmOptions options_;
};

std::string llvm_unit_text(std::span<const ProgramKernel> kernels, const std::string& prelude) {
  std::string text;
  for (const ProgramKernel& k : kernels) text += std::string(kKernelLine) + k.name + "\n" + k.text.source + "\n";
  return prelude.empty() ? text : text + std::string(kPreludeLine) + "\n" + prelude + "\n";
}

class LlvmDevice : public Compiled {
 public:
  LlvmDevice(const DeviceRow& row, const DeviceOptions& options) : Compiled(row, options), own_(options.get<LlvmOptions>()) {}

  bool available(std::string* why) const override {
    if (why != nullptr) *why = missing_target();
    return missing_target().empty();
  }

  std::string description() const override { return "LLVM " LLVM_VERSION_STRING ", " + llvm::sys::getHostCPUName().str(); }

  std::shared_ptr<const Compiler> compiler() const override {
    if (!missing_target().empty()) throw DeviceError("LLVM device", missing_target());
    return std::make_shared<LlvmCompiler>(own_, options().cache);
  }

  std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const override {
    const std::string prelude = language()->prelude(helpers_of(kernels));
    std::vector<std::string> units;
    for (const std::span<const ProgramKernel> part : parts_of(kernels, kLlvmSplitBytes, own_.compile_jobs))
      if (!part.empty()) units.push_back(llvm_unit_text(part, prelude));
    return units;
  }

  std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                     std::span<const ProgramKernel> kernels) const override {
    return std::make_shared<JitLibrary>(binaries, kernels);
  }

 private:
  PlanOptions plan_options() const override { return {.align = own_.arena_align}; }

  LlvmOptions own_;
};

}  // namespace

constinit const DeviceRow kLlvmDevice{
    .name = "llvm",
    .language = &kLlvm,
    .make = make_of<LlvmDevice>,
};

}  // namespace etch
