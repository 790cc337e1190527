// Parses C with Clang and reports constructs that firmware must not contain. Every rule is checked on the syntax tree, after the
// preprocessor, so a macro can't hide anything; a file that does not parse is itself a finding.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace etch {

struct Target;

/// The rules, by the name that Finding::rule holds:
///   parse                  the file has an error
///   heap                   malloc and its relatives, alloca: called, or their address taken
///   recursion              a cycle of calls; calls through a table reach every function of that type whose address is taken
///   vla                    an array or type whose size is not constant
///   mutable-static         an object of static storage that is not const, in a file or in a function
///   unbounded-loop         a loop whose end is not evident (see loops.h), a jump backwards, setjmp and longjmp
///   double                 arithmetic on, conversion to or from, or a call with double (only with single_precision; not in
///                          static functions that nothing uses)
///   prefix                 an external symbol without one of the prefixes (only where prefixes are given)
///   indirect-call          a call through a pointer whose type is not one of the runtime's typedefs
///   function-pointer-cast  a function pointer converted to another type
///   asm                    an assembler statement in a function that is more than one value in a register from others
/// A file that defines main() is a test program around the audited code: it may own static objects and use double.
struct AuditOptions {
  std::vector<std::filesystem::path> include_dirs;
  std::vector<std::string> defines;  // NAME or NAME=VALUE
  std::string triple;                // the target as clang names it; empty: the host
  std::string core;                  // -mcpu or -march; empty: the triple's default
  std::filesystem::path
      system_includes;  // headers of the target's C library; empty or absent: triple and core are ignored, the host's are used
  bool single_precision = false;
  std::vector<std::string> prefixes;  // of external symbols, "etch_"; empty: not checked
  std::vector<std::string> symbols;   // external symbols that need none
};

/// Triple, headers and precision of a target.
AuditOptions audit_options(const Target& target);

struct Finding {
  std::string file;
  int line = 0;
  std::string function;  // empty outside of functions
  std::string rule;
  std::string text;
  friend auto operator<=>(const Finding&, const Finding&) = default;
};

/// A function that is defined in the audited files.
struct AuditedFunction {
  std::string name, file;
  int line = 0;
  bool external = false;
  std::int64_t stack_array_bytes = 0;  // local arrays and structs
  std::int64_t loops = 0;              // all loops: those proved bounded and those reported as findings
  std::vector<std::string> callees;    // names, sorted; "*TYPE" stands for a call through a function pointer of that type
};

/// An object of static storage that is defined in the audited files.
struct AuditedObject {
  std::string name, file;
  bool external = false;
  bool constant = false;
  std::int64_t bytes = 0;
};

/// Everything is sorted by file, line and name: equal input gives an equal report.
struct AuditReport {
  std::vector<std::string> files;
  std::vector<Finding> findings;
  std::vector<AuditedFunction> functions;
  std::vector<AuditedObject> objects;
  std::vector<std::string> table_functions;  // functions whose address is taken: what a program table can call
  std::int64_t bounded_loops = 0;

  bool ok() const { return findings.empty(); }
};

/// Audits C files (.c), OpenCL C files (.cl) and CUDA files (.cu) as one program. Throws UserError where a file can't be read.
AuditReport audit_c(const std::vector<std::filesystem::path>& files, const AuditOptions& options = {});

/// Audits every .c, .cl and .cu below `dir`, except in build folders (those with a CMakeCache.txt). File names in the report are relative
/// to `dir`. If options.prefixes is empty and `dir` holds etch_runtime.h, the prefixes are "etch_" and the name of each other header
/// with a "_" ("net.h": "net_").
AuditReport audit_directory(const std::filesystem::path& dir, AuditOptions options = {});

/// "FILE:LINE: in FUNCTION: TEXT [RULE]"
std::string describe(const Finding& finding);

}  // namespace etch
