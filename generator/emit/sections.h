// Internal to emit/: the parts of NAME.c that are the same for kernels in C and in OpenCL C.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "emit/project.h"

namespace etch {

/// Rows of a table, each with its comment; the comments are aligned in one column.
std::string with_comments(const std::vector<std::pair<std::string, std::string>>& rows);
/// A comment with the offset and the lifetime of each intermediate buffer.
std::string arena_table(const Project& project);
/// The declarations of the functions in C that kernels call, after a comment; empty where there are none.
std::string external_section(const Project& project);
/// Every kernel, each after a comment with its nodes and its formula.
std::string kernel_texts(const Project& project);
/// Those alone for which `are` holds.
std::string kernel_texts(const Project& project, bool (*are)(const ProgramKernel&));

/// "static const etch_ref args[...]", written with IO(n), ARENA(n), CONSTANT(member), VARIABLE(n), COUNTER(loop).
struct ArgTable {
  std::string text;
  std::vector<std::size_t> first;  // by call: its first argument
  std::size_t count = 0;
  // Whether it uses ARENA, CONSTANT, VARIABLE, COUNTER, WORKER, and places of states.
  bool arena = false, constant = false, variable = false, counter = false, worker = false, state = false;
};
ArgTable arg_table(const Project& project);
/// The macros VARIABLE, COUNTER, WORKER and WORKERS, if they are used.
std::string variable_macros(const Project& project, const ArgTable& args);
/// "static const etch_loop loops[...]"; empty where there are none.
std::string loop_table(const Project& project);
/// Elements of variables[]: the program's variables, the counters of its loops, and what a worker is.
std::size_t variable_room(const Project& project);

/// "static const etch_range ranges[...]"; empty where all sizes are fixed.
std::string range_table(const Project& project);
/// Statements of the entry: io[] and variables[] from the parameters.
std::string fill_io(const Project& project);
/// "#if ETCH_PROFILE" and NAME_calls[]; the caller adds the #endif.
std::string call_infos(const Project& project);
/// The expected header of the blob, and NAME_check_weights; empty for other forms of weights.
std::string blob_check(const Project& project);

}  // namespace etch
