// From the AST of one kernel to the text of one function, in three steps: Kernel + OptOps; Linearizer and UOp passes; renderer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/argument.h"
#include "codegen/kernel.h"
#include "codegen/linearizer.h"
#include "program/program.h"
#include "renderer/language.h"

namespace etch {

/// The row that a search left for a kernel.
struct RowFound {
  std::optional<TableRow> row{};
  std::string note{};  // why its steps can't be taken
};

/// First step: the loops after the optimiser's steps, or after those of options.opts if they are given, or those that a search found
/// (options.tuned). `options` must outlive the result. Throws std::invalid_argument if options.opts holds an illegal step; one that was
/// found for another version of etch is a note, and the heuristics choose.
Kernel choose_opts(const LazyOp* ast, const std::vector<KernelArgument>& arguments, const CodegenOptions& options,
                   RowFound* found = nullptr);

/// Second step: the loops as UOps after all passes, and for each argument the new layout that they expect of a constant.
struct LinearKernel {
  Linearized linear;
  std::vector<std::optional<Layout>> layouts;
  std::vector<KernelArgument> arguments;  // in these layouts, of which one may have more elements
};
/// The second step alone, enough for a kernel that is only tried. The indices are not proved.
LinearKernel linearize_kernel(const Kernel& kernel, const std::vector<KernelArgument>& arguments, const Language& language);

/// Third step: the text.
ProgramKernel render_kernel(const Kernel& kernel, LinearKernel linear, KernelSignature signature, const Language& language);

/// All three steps, and the proof that every index is inside its buffer (KernelArgument::elements): InternalError if there is none.
/// The text of a C kernel is one function as runtime_c/etch_runtime.h calls it:
///   static void NAME(void *const *arg)    arg[0] the output, then the inputs, then the variables (const int32_t *)
/// The pointers are not `restrict`, because an input may be the output itself (in place), or lie over a part of it
/// (ProgramKernel::distances). Sums of products skip padding if the other factor is bounded; if it may be infinite they add 0 times
/// infinity.
ProgramKernel generate_kernel(const LazyOp* ast, KernelSignature signature, const Language& language, const CodegenOptions& options);

/// The second and third step, and the proof, for a kernel whose loops are chosen.
ProgramKernel generate_kernel(const Kernel& kernel, KernelSignature signature, const Language& language);

/// A kernel of its AST alone, without text: what a program for the reference consists of.
ProgramKernel kernel_of_ast(const LazyOp* ast, KernelSignature signature);

}  // namespace etch
