// A kernel that etch does not generate: a function in C that somebody else wrote, with what a call of it passes. It takes pointers to
// whole buffers in row-major order, first those that it writes, then those that it reads; after them numbers.
//
//   void leaky(float *y, const float *x, int32_t x_count, float alpha);
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/array.h"
#include "shape/symbolic.h"

namespace etch {

/// A function or object that other files of C find by its name.
struct ExternalSymbol {
  std::string name;
  int line = 0;  // of the file that defines it
  bool operator==(const ExternalSymbol&) const = default;
};

/// A file of C that comes with a program, named without folder. Those that end in .h are only included.
struct ExternalFile {
  std::string name, text;
  std::vector<ExternalSymbol> defines = {};
  bool of_runtime = false;  // of runtime_c, not a user's: all models of an image share it
  bool operator==(const ExternalFile&) const = default;
};

/// A number that the function takes: a size, which may hold Variables, or a literal.
struct ExternalScalar {
  std::string name;  // of the parameter
  std::string type;  // in C: "int32_t"
  Sint size;
  std::string literal;  // if not empty, it counts, not `size`
  bool operator==(const ExternalScalar&) const = default;
};

/// What the function writes through one of its first pointers.
struct ExternalOutput {
  DType dtype{};
  std::vector<Sint> shape;
  bool is_scratch = false;  // room to work in: nobody reads what is left there
  bool operator==(const ExternalOutput&) const = default;
};

/// What a function in C has to compute, in C++: its outputs, of these shapes. It knows the function's numbers.
using ExternalReference =
    std::function<std::vector<Array>(const std::vector<const Array*>& inputs, const std::vector<std::vector<std::int64_t>>& shapes)>;

struct ExternalKernel {
  std::string op;                       // the operator that it computes, as messages call it: "com.example.Leaky"
  std::string function;                 // an external symbol
  std::string file;                     // name of the file that defines it
  std::string declaration;              // without ';'
  std::vector<ExternalOutput> outputs;  // at least one
  std::vector<ExternalScalar> scalars;
  std::shared_ptr<const std::vector<ExternalFile>> files;  // all that are compiled together
  ExternalReference reference = {};                        // none: the function is its own

  /// "leaky() of leaky.c"
  std::string place() const { return function + "() of " + file; }
  /// Whether a user gave the function; else it is of runtime_c.
  bool is_custom() const {
    return std::ranges::none_of(*files, [](const ExternalFile& of) { return of.of_runtime; });
  }
  bool operator==(const ExternalKernel& o) const {
    return op == o.op && function == o.function && declaration == o.declaration && outputs == o.outputs && scalars == o.scalars &&
           files == o.files;
  }
};

}  // namespace etch
