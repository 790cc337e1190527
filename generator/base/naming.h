// ONNX names to C identifiers. ONNX allows any text ("gpu_0/data_0", "1", "int", even nothing); C does not.
//
//   c_identifier("gpu_0/data_0")  ->  "gpu_0_data_0"
//   c_identifier("int")           ->  "int_"          (words of C and C++, and names that C reserves, get a '_')
//   CNames names; names.add("a/b") -> "a_b"; names.add("a:b") -> "a_b_2"
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace etch {

/// `name` as an identifier of C99 and C++: every run of other characters becomes one '_'; "n" stands before a leading digit and
/// before etch's own prefix "etch_". Never empty, never a keyword, never a name or macro of the C library, never one that C
/// reserves (no leading or double '_').
std::string c_identifier(std::string_view name);
/// The same for a size that kernels know by name: none of the names that they give to their own loops and values ("i0", "acc3"), no word of
/// OpenCL C ("global").
std::string size_identifier(std::string_view name);
/// The same for a project: besides, none that its files, its targets in a build system or the headers of the C library have
/// ("test", "selftest", "math"), and at most 60 characters.
std::string project_identifier(std::string_view name);

/// Identifiers that stay apart: the second name that comes out as "a_b" is "a_b_2".
class CNames {
 public:
  CNames() = default;
  /// Besides apart from what the files of a project of that name define: its macros (NET_H, NET_ARENA_BYTES, NET_X_COUNT),
  /// functions and tables. What begins like its macros gets "n_" in front.
  explicit CNames(std::string_view project);
  /// Reserves and returns an identifier for `name`, none that was returned before. Names that differ only in case are kept
  /// apart too (macros are made of them in upper case).
  std::string add(std::string_view name);

 private:
  std::string macro_prefix_;     // "NET_"
  std::set<std::string> taken_;  // in lower case
};

}  // namespace etch
