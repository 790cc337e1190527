// The languages that kernels are written in, one row each. No other code tells languages apart by their names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "codegen/argument.h"
#include "codegen/linearizer.h"
#include "codegen/options.h"
#include "ir/uop.h"

namespace etch {

struct CStyle;
struct Target;

/// The text of a kernel, and what the file around it must provide.
struct Rendered {
  std::string source;
  std::vector<std::string> helpers;      // functions and types of runtime_c/etch_math.h that the text uses, sorted
  std::vector<std::string> definitions;  // functions for the target's instructions, sorted
  bool uses_vectors = false;             // GNU vector extensions
  bool uses_double = false;
  bool has_barrier = false;        // the work-items of a group wait for each other
  bool has_integer_tiles = false;  // several sums of integers at once
  bool has_vector_tiles = false;   // several sums that are vectors
  // GCC makes no vectors of branches (C and CUDA): a condition chooses between a load and another value, or floats become integers of one
  // or two bytes in a sum of integers
  bool keeps_branches = false;
  bool rounds_doubles = false;  // to float and back, which GCC leaves out in vectors of neighbours (C and CUDA)
};

struct Language {
  std::string_view name;      // as targets and reports call it: "c"
  bool grid = false;          // kernels are launched over a grid of work-groups and work-items; else they are loops
  bool local_memory = false;  // the work-items of a group share memory, and wait for each other at barriers
  GridLimits limits = {};     // of its grid
  const CStyle* style;        // its texts, if it has C syntax
  /// Renders the UOps, after all passes, as one function (source text or IR).
  Rendered (*render)(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options);
  /// The text that must precede kernels whose helpers are, all together, `helpers` (in IR: a module to link them with); may be empty.
  std::string (*prelude)(const std::vector<std::string>& helpers);
};

extern const Language kC;       // C99 for GCC and clang; arguments come in a table of pointers
extern const Language kOpenCl;  // OpenCL C 1.2
extern const Language kCuda;    // CUDA, the part of it that is also C++17 for any compiler with a few definitions in front
extern const Language kLlvm;    // LLVM IR, for the machine that etch runs on

Table<Language>& languages();
/// The language with that name; null if there is none.
const Language* find_language(std::string_view name);
/// The language of the target's kernels; a UserError with the place in the target's file if no row has its name.
const Language& language_of(const Target& target);
/// Whether the target's own projects are in this language; false also for one that only runs on the host beside them.
bool is_language_of(const Target& target, const Language& language);

/// Whether some of these functions of runtime_c are those of etch_quant.h.
bool uses_quant(const std::vector<std::string>& helpers);

}  // namespace etch
