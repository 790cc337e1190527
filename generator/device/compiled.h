// Devices that run compiled kernels (C, LLVM, OPENCL, CUDA), and what they share. A backend beside etch's own derives from Compiled: it
// says what compiles a text and how a binary is loaded.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/kernel.h"
#include "device/compiler.h"
#include "device/device.h"
#include "device/kernel_graph.h"
#include "device/loaded_kernel.h"
#include "device/runner.h"
#include "memory/plan.h"

namespace etch {

class Compiled : public Device {
 public:
  using Device::Device;

  /// The kernel of `ast` with the steps of the hand-coded heuristics, or those of DeviceOptions::codegen. It must not outlive the device.
  Kernel get_linearizer(const LazyOp* ast) const;
  /// That kernel as text, compiled and loaded; `owner` as for get_runner. Throws DeviceError.
  std::shared_ptr<CompiledASTRunner> to_program(const Kernel& kernel, std::shared_ptr<const void> owner = nullptr) const;
  /// Throws DeviceError if the device is not available.
  virtual std::shared_ptr<const Compiler> compiler() const = 0;
  /// What the compiler gets for kernels in the device's language: each text has some of them, with all that they need.
  virtual std::vector<std::string> texts_of(std::span<const ProgramKernel> kernels) const = 0;
  /// Loads what the compiler made of texts_of(kernels). Throws DeviceError.
  virtual std::shared_ptr<const KernelLibrary> load_binaries(const std::vector<std::string>& binaries,
                                                             std::span<const ProgramKernel> kernels) const = 0;
  /// Both, with the compiler between them: several texts are compiled at the same time, and not at all if its cache has them.
  std::shared_ptr<const KernelLibrary> load_kernels(std::span<const ProgramKernel> kernels) const;
  std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const override;

 protected:
  /// With DeviceOptions::debug: what `compiling` made of a text.
  void tell_instructions(const Compiler& compiling, const std::string& text, const std::string& binary) const;

 private:
  /// How the memory of a program is laid out.
  virtual PlanOptions plan_options() const { return {}; }
  /// By Replay, in the device's memory.
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override;
  std::shared_ptr<JITRunner> make_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const override;
  const CodegenOptions& codegen() const;

  mutable std::optional<CodegenOptions> default_codegen_;
  mutable std::once_flag default_once_;
};

/// The reference: nothing is compiled, ASTs are evaluated.
class Interpreted : public Device {
 public:
  using Device::Device;
  /// One operation of an AST on whole arrays. `dtype`: of the result, for Cast and Bitcast; `axes`: those that a reduction reduces;
  /// `shape`: what Expand repeats its operand to. The other operations ignore them.
  struct OpArguments {
    std::vector<Array> operands{};
    DType dtype{};
    std::vector<int> axes{};
    std::vector<std::int64_t> shape{};
  };
  using OpFunction = Array (*)(const OpArguments& arguments);
  /// The function of each operation that has operands; null for the others (leaves, Store) and for MulAcc, which no AST has.
  static OpFunction fxn_for_op(Op op);

 private:
  std::shared_ptr<JITRunner> make_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const override;
};

/// Kernels that follow each other, in parts of about the same amount of text: one part if there are less than `least` bytes, else at
/// most `jobs`; 0 is one per processor. At least one part, which may be empty.
std::vector<std::span<const ProgramKernel>> parts_of(std::span<const ProgramKernel> kernels, std::size_t least, int jobs);

}  // namespace etch
