// Reads C files that a user gives and says what they define: the functions with their parameters, and every external name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace etch {

/// A file as text; its name is without folder. Those that end in .h are only there to be included by the others.
struct CFile {
  std::string name, text;
};

/// A number, a pointer to one, or something else.
struct CType {
  enum class Kind : std::uint8_t { Void, Bool, Signed, Unsigned, Float, Other };
  Kind kind = Kind::Other;  // of the number, also where this is a pointer to it
  int bytes = 0;
  bool pointer = false;
  bool constant = false;  // what it points to is const
  std::string text;       // as the file spells it: "const float *"
  std::string number;     // the number's type without qualifiers, in words that any C file with <stdint.h> has: "int32_t"
};

struct CParameter {
  std::string name;  // may be empty
  CType type;
};

/// A function that a file defines.
struct Prototype {
  std::string function;
  std::string file;
  int line = 0;
  CType result;
  std::vector<CParameter> parameters;
  bool variadic = false;
  std::string not_callable;  // why no other file can call it: "it is static"; empty: they can
  std::string text;          // "void leaky(float *y, const float *x)"
};

/// A function or object that a linker finds by its name.
struct CDefinition {
  std::string name, file;
  int line = 0;
  bool operator==(const CDefinition&) const = default;
};

struct CContents {
  std::vector<Prototype> functions;      // of the files themselves
  std::vector<CDefinition> definitions;  // also of headers that they include; none that is weak, which gives way to another
};

/// What the files define, in their order. UserError with the first errors of a file that does not parse as C99.
CContents read_c(const std::vector<CFile>& files);

}  // namespace etch
