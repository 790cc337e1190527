// LLVM IR as a language: one function `void NAME(ptr arg)` a kernel, as KernelFunction in device/compiler.h. No LLVM header is needed here.
#pragma once

#include <string>
#include <vector>

#include "renderer/language.h"

namespace etch {

/// Language::render: a module of IR with one function, verified.
Rendered render_llvm(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options);

/// Language::prelude: the functions of runtime_c/etch_math.h as a module of its own, which has to be linked with the kernels.
std::string llvm_math(const std::vector<std::string>& helpers);

}  // namespace etch
