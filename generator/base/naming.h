// ONNX names to C identifiers. ONNX allows any text ("gpu_0/data_0", "1", "int", even nothing); C does not.
//
//   c_identifier("gpu_0/data_0")  ->  "gpu_0_data_0"
//   c_identifier("int")           ->  "int_"          (words of C and C++, and names that C reserves, get a '_')
//   CNames names; names.add("a/b") -> "a_b"; names.add("a:b") -> "a_b_2"
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace etch {

/// `name` as an identifier of C99 and C++: every run of other characters becomes one '_'; "n" stands before a leading digit and
/// before etch's own prefix "etch_". Never empty, never a keyword, never a name or macro of the C library, never one that C
/// reserves (no leading or double '_').
std::string c_identifier(std::string_view name);
/// The same for a variable size that is a parameter of kernels: also none of the names of their own loops and values ("i0", "acc3"), and
/// no word of OpenCL C ("global").
std::string size_identifier(std::string_view name);
/// The same for a project: also none of the names of its files, of targets in a build system or of headers of the C library ("test",
/// "selftest", "math"), and at most 60 characters.
std::string project_identifier(std::string_view name);

/// The names that a linker sees of the files of the project `project`, but for those of the runtime: "net_run", "net_constants". No
/// project has all of them.
std::vector<std::string> project_symbols(std::string_view project);

/// A to Z become a to z, as in the C locale.
std::string in_lower_case(std::string_view text);

/// Makes names differ: "a", "a_2", "a_3". Numbers go on where the last equal name left off.
class UniqueNames {
 public:
  std::string add(const std::string& name);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> last_number_;
};

/// Gives each name an identifier of its own: the second name that becomes "a_b" gets "a_b_2".
class CNames {
 public:
  CNames() = default;
  /// The identifiers also differ from everything that the files of the project `project` define: its macros (NET_H,
  /// NET_ARENA_BYTES, NET_X_COUNT), functions and tables. A name that begins like its macros gets "n_" in front.
  explicit CNames(std::string_view project);
  /// Returns an identifier for `name` that was never returned before, also not in other case (the identifiers become macros in upper
  /// case).
  std::string add(std::string_view name);

 private:
  std::string macro_prefix_;                          // "NET_"
  std::set<std::string> taken_;                       // in lower case
  std::unordered_map<std::string, int> last_number_;  // of the identifiers with this base
};

}  // namespace etch
