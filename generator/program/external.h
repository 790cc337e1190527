// Kernels that are functions in C, as texts: the declaration of each function, and one function for each kernel that calls it as
// every compiled kernel is called.
//
//   void leaky(float *y, const float *x, int32_t x_count, float alpha);
//
//   static void k1_leaky(void *const *arg) {
//     leaky((float *)arg[0], (const float *)arg[1], 48, 0.5f);
//   }
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/argument.h"
#include "program/program.h"

namespace etch {

/// The kernel, of a program in any language: it has no text, see external_text.
ProgramKernel external_kernel(std::shared_ptr<const ExternalKernel> external, KernelSignature signature);
/// Equal for equal functions with equal numbers alone: their files count by what they hold.
std::string key_of(const ExternalKernel& external);
/// All sizes that the function's outputs and numbers are made of.
std::vector<Sint> sizes_of(const ExternalKernel& external);

/// The text in C of an external kernel's own function; `table` is the type of the table of its arguments.
std::string external_text(const ProgramKernel& kernel, std::string_view table = "void *const *");

/// The declaration of each function that kernels call, once, in the order of its first kernel; empty if there are none.
std::string external_declarations(std::span<const ProgramKernel> kernels);

/// The files that the functions come from, each once. UserError if two of them have one name.
std::vector<ExternalFile> external_files(std::span<const ProgramKernel> kernels);

}  // namespace etch
