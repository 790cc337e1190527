// From the AST of one kernel to the text of one function: Kernel + OptOps, Linearizer, UOp passes, renderer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/options.h"
#include "ir/lazyop.h"

namespace etch {

/// The text of a C kernel is one function as runtime_c/etch_runtime.h calls it:
///   static void NAME(void *const *arg)    arg[0] the output, then the inputs, then the variables (const int32_t *)
/// No two pointers of it may be `restrict` where an input may be the output itself (in place).
///
/// `constants`: for each buffer whether it is a constant that may be laid out anew.
/// `bounded`: for each buffer whether it is known to hold no NaN and nothing larger than kBounded (missing: not known). Sums of
/// products then skip padding; where the other factor may be infinite they add 0 times infinity.
/// Throws InternalError if an index can't be proved inside its buffer (`buffer_elements`, which may hold Variables),
/// and ShapeError-like std::invalid_argument if options.opts holds an illegal step.
GeneratedKernel generate_kernel(const LazyOp* ast, const std::vector<Sint>& buffer_elements, const std::vector<bool>& constants,
                                const KernelNames& names, const CodegenOptions& options, const std::vector<bool>& bounded = {});

/// What must stand before kernels that use `helpers` (GeneratedKernel::helpers of all of them together): an #include of
/// etch_math.h for C, the functions themselves for OpenCL; nothing where there are none.
std::string prelude(std::string_view language, const std::vector<std::string>& helpers);

}  // namespace etch
