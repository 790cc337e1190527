// ProjectForm: what is special in a project whose kernels are in a certain language. There is one row for each language that can be
// emitted. The code that all languages share (weights, tables, self-test, report) asks the row, never the language.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/table.h"
#include "emit/project.h"

namespace etch {

/// The parts of NAME.h that depend on the form.
struct HeaderParts {
  std::string arena_bytes;              // the line that defines NAME_ARENA_BYTES
  std::vector<std::string> parameters;  // of NAME_run, before sizes, inputs and outputs: "void *arena"
  std::string promise, notes;           // texts in the comment above NAME_run: after what it computes, and after the ranges of sizes
  std::string state;                    // of a program with states: what declares NAME_state_init
  std::string before_run, after_run;    // declarations around NAME_run
};

/// The parts of selftest.c that depend on the form.
struct SelfTestParts {
  std::string includes, memory, functions;  // at file scope
  std::string declarations, checks;         // at the start of main()
  std::string call;                         // an expression of type etch_status
  bool runs_itself = false;                 // `call` runs the model as often as it is to
  std::string reset{};                      // of a program with states: a statement that gives them their first values; may be empty
};

struct ProjectForm {
  const Language* language = nullptr;
  bool on_device = false;         // kernels run on a device: arena and weights are copied there, and no compiler tells the kernels' cost
  std::string_view device_tag{};  // in the names of that runtime: "cl" of etch_cl_open, and of session.cl
  std::string_view runtime = "etch_runtime";         // header and library of runtime_c that NAME is built on
  std::string_view callback = "etch_after_call";     // type of the function that NAME_profile calls after each call
  std::string_view callback_gets = "arguments";      // what that function gets besides the call's number
  std::string_view compile = "cc -std=c99";          // of the build command, before the flags
  std::string_view sources = "*.c";                  // of it
  std::string_view link_flags{};                     // of it: "-lOpenCL "
  std::string_view unmeasured{};                     // why no compiler tells what the kernels cost
  bool math_file = false;                            // a file of kernels includes etch_math.h
  std::string_view cmake_version = "3.16";           // the oldest that its CMakeLists.txt is for
  std::string_view cmake_first{};                    // text of CMakeLists.txt before project()
  std::string_view cmake_languages{};                // besides C: " CUDA"
  std::string_view cmake_library{};                  // text of CMakeLists.txt that makes `runtime` a library, if it is not etch_runtime
  int no_device_status = 0;                          // exit status of a self-test that finds no device; 0: it needs none
  std::string_view no_device{}, device_help{};       // what is said then on the host, and what to do
  std::span<const std::string_view> reserved_names;  // parameters and locals of its functions, which no input may be called

  /// Throws UserError where the program is too large for the form's tables. May be null.
  void (*check)(const Program& program, const EmitOptions& options) = nullptr;
  /// Fills in what only this form's files need of a Project, and its kernel_files. May be null.
  void (*prepare)(Project& project) = nullptr;
  std::string (*source)(const Project& project);                           // NAME.c
  std::string (*kernel_files_note)(const Project& project) = nullptr;      // for the report, if there are such files
  std::string (*arena_place)(const Project& project, int buffer);          // of an intermediate, in the argument table: "ARENA(64)"
  std::string (*state_place)(const Project& project, std::size_t number);  // of a state there: "IO(3)"
  HeaderParts (*header)(const Project& project);
  std::vector<std::string> (*selftest_arguments)(const Project& project);  // for HeaderParts::parameters
  SelfTestParts (*selftest)(const Project& project, const std::string& run_arguments, int runs);
};

extern const ProjectForm kCForm, kOpenClForm, kCudaForm;

Table<ProjectForm>& project_forms();
/// Null if programs of that language can't be emitted.
const ProjectForm* form_of(const Language* language);

}  // namespace etch
