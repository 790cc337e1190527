#include <fmt/format.h>

#include "emit/form.h"
#include "emit/workers.h"
#include "program/external.h"

namespace etch {
namespace {

// CMake text that sets an optimisation level for `library` if the build type sets none.
std::string optimize_text(const std::string& indent, const std::string& library, const std::string& macro) {
  return fmt::format(
      "{0}if({2}_OPTIMIZE)\n"
      "{0}  target_compile_options({1} PRIVATE ${{{2}_OPTIMIZE}})\n"
      "{0}endif()\n",
      indent, library, macro);
}

// Without a build type CMake passes no optimisation level, and compilers do not optimise then.
std::string level_text(const Project& p) {
  return fmt::format(
      "# Without a build type, and without a level among the flags, compilers would not optimise.\n"
      "set({1}_OPTIMIZE)\n"
      "get_directory_property({1}_OPTIONS COMPILE_OPTIONS)\n"
      "if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT MSVC\n"
      "   AND NOT \"${{CMAKE_C_FLAGS}} ${{{1}_OPTIONS}}\" MATCHES \"(^|[ ;])-O\")\n"
      "  set({1}_OPTIMIZE -O2)\n"
      "  message(STATUS \"{0}: no CMAKE_BUILD_TYPE, so the library is built with -O2\")\n"
      "endif()\n\n",
      p.name, p.macro);
}

// Libraries of the runtime besides etch_runtime: for workers, and one for each file of C that kernels are functions of.
std::vector<std::string> runtime_libraries(const Project& p) {
  std::vector<std::string> names;
  if (has_workers(p)) names.push_back("etch_workers");
  for (const ExternalFile& file : external_files(p.program->kernels))
    if (file.of_runtime && file.name.ends_with(".c")) names.push_back(file.name.substr(0, file.name.size() - 2));
  return names;
}

// CMake text for the runtime, which all models of a build share, and for linking the model to it.
std::string runtime_text(const Project& p) {
  std::string text = fmt::format(
      "# All models of a build share the runtime of the first one.\n"
      "if(NOT TARGET etch_runtime)\n"
      "  add_library(etch_runtime STATIC ${{CMAKE_CURRENT_SOURCE_DIR}}/etch_runtime.c)\n"
      "  target_include_directories(etch_runtime PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "  set_target_properties(etch_runtime PROPERTIES C_STANDARD 99 ETCH_RUNTIME_ABI {2})\n"
      "{3}"
      "endif()\n"
      "get_target_property({1}_ABI etch_runtime ETCH_RUNTIME_ABI)\n"
      "if(NOT {1}_ABI EQUAL {2})\n"
      "  get_target_property({1}_RUNTIME etch_runtime SOURCE_DIR)\n"
      "  message(FATAL_ERROR \"{0} needs etch runtime ABI {2}, the one of this build, in ${{{1}_RUNTIME}}, has ${{{1}_ABI}}: \"\n"
      "    \"generate all models of a build with one version of etch\")\n"
      "endif()\n\n",
      p.name, p.macro, runtime_abi(), optimize_text("  ", "etch_runtime", p.macro));
  text += p.form->cmake_library;
  for (const std::string& kernel : runtime_libraries(p)) {
    text += fmt::format(
        "if(NOT TARGET {0})\n"
        "  add_library({0} STATIC ${{CMAKE_CURRENT_SOURCE_DIR}}/{0}.c)\n"
        "  set_target_properties({0} PROPERTIES C_STANDARD 99)\n"
        "{1}"
        "{2}"
        "endif()\n\n",
        kernel, optimize_text("  ", kernel, p.macro),
        kernel == "etch_workers" ? "  target_link_libraries(etch_workers PUBLIC etch_runtime)\n" : "");
  }
  return text;
}

bool has_target_flags(const Project& p) { return !p.form->on_device && !p.options->build.code.empty(); }

std::string target_flags_option(const Project& p) {
  if (!has_target_flags(p)) return "";
  return fmt::format("option({1}_TARGET_FLAGS \"compile {0} with the flags of its target, {2}\" ON)\n", p.name, p.macro,
                     p.options->target_name);
}

// These flags concern only the model's own code and do not change the ABI, so they are PRIVATE.
std::string target_flags_text(const Project& p) {
  if (!has_target_flags(p)) return "";
  return fmt::format(
      "# Instruction set and vector width of the target. They change neither types nor calls, so only the model's code has them.\n"
      "if({1}_TARGET_FLAGS AND CMAKE_C_COMPILER_ID MATCHES \"GNU|Clang\")\n"
      "  set({1}_FLAGS {2})\n"
      "  string(REPLACE \";\" \" \" {1}_WORDS \"${{{1}_FLAGS}}\")\n"
      "  string(MAKE_C_IDENTIFIER \"ETCH_TAKES ${{{1}_WORDS}}\" {1}_TAKES)\n"
      "  set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY) # firmware may not link yet\n"
      "  include(CheckCCompilerFlag)\n"
      "  check_c_compiler_flag(\"${{{1}_WORDS}}\" ${{{1}_TAKES}})\n"
      "  if(${{{1}_TAKES}})\n"
      "    target_compile_options({0} PRIVATE \"$<$<COMPILE_LANGUAGE:C>:${{{1}_FLAGS}}>\")\n"
      "  else()\n"
      "    message(WARNING \"{0} is for target {3}: ${{CMAKE_C_COMPILER}} does not take its flags, ${{{1}_WORDS}}\")\n"
      "  endif()\n"
      "endif()\n",
      p.name, p.macro, fmt::join(p.options->build.code, " "), p.options->target_name);
}

std::string selftest_text(const Project& p) {
  const std::string weights = p.is_blob() ? fmt::format(" ${{CMAKE_CURRENT_SOURCE_DIR}}/{}_weights.bin", p.name) : "";
  std::string text = fmt::format(
      "\nif({1}_SELFTEST)\n"
      "  add_executable({0}_selftest selftest.c)\n"
      "  target_link_libraries({0}_selftest PRIVATE {0})\n"
      "  enable_testing()\n"
      "  add_test(NAME {0}_selftest COMMAND {0}_selftest{2})\n",
      p.name, p.macro, weights);
  if (p.form->no_device_status != 0)
    text +=
        fmt::format("  set_tests_properties({}_selftest PROPERTIES SKIP_RETURN_CODE {}) # no device\n", p.name, p.form->no_device_status);
  for (const ProjectRole::Companion& c : p.role().companions)
    if (!c.selftest.empty())
      text += fmt::format(
          "  add_executable({0}_selftest {1})\n"
          "  target_link_libraries({0}_selftest PRIVATE {2})\n"
          "  add_test(NAME {0}_selftest COMMAND {0}_selftest{3})\n",
          c.name, c.selftest, p.name, weights);
  return text + "endif()\n";
}

}  // namespace

std::string build_file(const Project& p) {
  const bool incbin = p.weights == WeightsForm::Incbin && p.has_constants();
  std::string sources = p.name + ".c";
  for (const EmittedFile& file : p.kernel_files)
    if (file.is_source) sources += " " + file.name;
  for (const ExternalFile& file : external_files(p.program->kernels))
    if (file.name.ends_with(".c") && !file.of_runtime) sources += " " + file.name;
  if (p.has_constants() && p.weights == WeightsForm::C) sources += fmt::format(" {}_weights.c", p.name);
  if (incbin) sources += fmt::format(" {}_weights.S", p.name);
  for (const ProjectRole::Companion& c : p.role().companions) sources += fmt::format(" {}", fmt::join(c.sources, " "));
  std::string text = fmt::format(
      "# {0}, generated by etch {1}; do not edit.\n"
      "#   in a project:  add_subdirectory({0})  and  target_link_libraries(firmware etch::{0})\n"
      "#   by itself:     cmake -B build -DCMAKE_TOOLCHAIN_FILE=... && cmake --build build\n"
      "cmake_minimum_required(VERSION {5})\n"
      "{6}"
      "project({0} LANGUAGES C{7}{2})\n\n"
      "if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
      "  set({3}_IS_TOP ON)\n"
      "else()\n"
      "  set({3}_IS_TOP OFF)\n"
      "endif()\n"
      "option({3}_SELFTEST \"build {0}_selftest, which runs the model on a known input\" ${{{3}_IS_TOP}})\n"
      "{4}\n",
      p.name, p.options->tool_version, incbin ? " ASM" : "", p.macro, target_flags_option(p), p.form->cmake_version, p.form->cmake_first,
      p.form->cmake_languages);
  text += level_text(p) + runtime_text(p);
  std::vector<std::string> libraries = runtime_libraries(p);
  libraries.insert(libraries.begin(), std::string(p.form->runtime));
  text += fmt::format(
      "add_library({0} STATIC {1})\n"
      "add_library(etch::{0} ALIAS {0})\n"
      "target_include_directories({0} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})\n"
      "set_target_properties({0} PROPERTIES C_STANDARD 99)\n"
      "target_link_libraries({0} PUBLIC {2})\n"
      "if(NOT MSVC)\n"
      "  target_link_libraries({0} PUBLIC m)\n"
      "endif()\n",
      p.name, sources, fmt::join(libraries, " "));
  text += optimize_text("", p.name, p.macro) + target_flags_text(p);
  if (incbin) {
    text += fmt::format(
        "# The assembler looks for the binary file beside this one.\n"
        "set_source_files_properties({0}_weights.S PROPERTIES\n"
        "  COMPILE_OPTIONS \"-Wa,-I${{CMAKE_CURRENT_SOURCE_DIR}}\" OBJECT_DEPENDS ${{CMAKE_CURRENT_SOURCE_DIR}}/{0}_weights.bin)\n",
        p.name);
  }
  if (p.options->selftest) text += selftest_text(p) + (has_workers(p) ? workers_build(p) : "");
  return text;
}

}  // namespace etch
