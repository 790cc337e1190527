// Internal to emit/: the parts of NAME.c that are the same for kernels in C and in OpenCL C.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "emit/project.h"

namespace etch {

/// Rows of a table, each with its comment; the comments stand in one column.
std::string with_comments(const std::vector<std::pair<std::string, std::string>>& rows);
/// A comment: where each intermediate lies, and when it is needed.
std::string arena_table(const Project& project);
/// Every kernel, each behind a comment with its nodes and its formula.
std::string kernel_texts(const Project& project);

/// "static const etch_ref args[...]", written with IO(n), ARENA(n), CONSTANT(member), VARIABLE(n).
struct ArgTable {
  std::string text;
  std::vector<std::size_t> first;  // by call: its first argument
  std::size_t count = 0;
  bool arena = false, constant = false, variable = false;  // which of the macros it needs
};
ArgTable arg_table(const Project& project);

/// "static const etch_range ranges[...]"; empty where all sizes are fixed.
std::string range_table(const Project& project);
/// Statements of the entry: io[] and variables[] from the parameters.
std::string fill_io(const Project& project);
/// "#if ETCH_PROFILE" and NAME_calls[]; the caller ends the condition.
std::string call_infos(const Project& project);
/// What the blob has to be, and NAME_check_weights; empty for other forms of weights.
std::string blob_check(const Project& project);

}  // namespace etch
