// From a Program and its memory plan to the files of a C project: model, weights, runtime, self-test, build file, report.
// The files are values; write_project (emit/write.h) writes them to disk. Equal arguments give equal bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emit/report.h"
#include "interp/interp.h"
#include "ir/array.h"
#include "memory/plan.h"
#include "program/program.h"
#include "target/target.h"

namespace etch {

struct EmittedFile {
  std::string name;         // without folder
  std::string text;         // any bytes
  bool is_weights = false;  // the weights themselves: their size is known, and they may be large
  bool is_source = false;   // of kernels: one that is compiled with NAME.c
  bool is_selftest = false;
};

/// The form in which the weights are emitted.
///   C       a struct with literals: builds with any C compiler
///   Incbin  an assembler file that includes a binary file: megabytes of weights build in no time (needs GNU as or clang)
///   Blob    a binary file that the caller places or loads, checked by size, hash and version
///   Auto    C below one megabyte, else Incbin
enum class WeightsForm : std::uint8_t { Auto, C, Incbin, Blob };
/// "auto", "c", "incbin", "blob"; anything else is a UserError.
WeightsForm weights_form(const std::string& text);

/// How often a model with a state runs where its results are compared: the second run reads what the first wrote, the third what was
/// written over it.
inline constexpr int kRunsWithState = 3;

/// Inputs of one run of the model and, unless that was too much work, the outputs that the reference computes for them.
struct SelfTest {
  std::vector<Array> inputs;    // in the order of program.inputs
  std::vector<Array> expected;  // in the order of program.outputs; empty: not known, the self-test prints a checksum of each
  VarValues variables;          // a value for each of program.variables
  int runs = 1;            // how often the model runs on the inputs before its outputs are compared; states start with their first values
  std::uint32_t seed = 1;  // inputs that equal lcg_input of this seed become a loop instead of literals
  double relative = 1e-3;  // a float may differ by relative * its value + absolute * the largest value of its output
  double absolute = 1e-5;
  bool prints_sums = false;  // where nothing is compared: beside the checksum of each output of floats also sums, see printed.h
};

/// How the files are meant to be compiled.
struct EmitBuild {
  std::string compiler = "cc";        // for people to read
  std::string optimize = "-O2";       // the optimisation level of the target
  std::vector<std::string> code;      // flags of the model's own library
  std::vector<std::string> abi;       // flags of the whole program
  std::vector<std::string> features;  // macros that compilers with these flags predefine
  ConstantSpace constants;            // where they keep constants
};

/// The build settings in the target's description.
EmitBuild emit_build(const Target& target);

/// What a project is beside others in one folder.
struct ProjectRole {
  std::string function = "run";  // NAME_run
  std::string state_of = "";     // the project whose state and constants this one works on: it has the same states; empty: it has its own
  bool saves_state = false;      // it has NAME_state_save and NAME_state_load
  const Program* constants_of = nullptr;  // of `state_of` the program, which has all constants of this one too (share_constants)
  bool starts_of_blob = false;            // the state of `state_of` gets its first values from a blob
  /// The projects that work on this one's state, and what they add to its library.
  struct Companion {
    std::string name;
    std::vector<std::string> sources;
    std::string selftest;  // a file with a main(); empty: none
    std::int64_t arena_bytes = 0, arena_lower_bound_bytes = 0;
    std::vector<std::string> trained;  // what it changes of the network
  };
  std::vector<Companion> companions = {};
};

struct EmitOptions {
  std::string name = "model";  // prefix of symbols and files: a C identifier
  std::string tool_version = "0.1.0";
  std::string model_file;  // "kws.onnx", without folder
  std::string model_sha256;
  std::string model_facts;   // "13 nodes, opset 17"; may be empty
  std::string options_text;  // "--target cortex-m4f"; may be empty
  std::string target_name;   // may be empty
  EmitBuild build;
  WeightsForm weights = WeightsForm::Auto;
  std::int64_t widened_bytes = 0;  // of the weights: what they take more than those of the model
  std::optional<SelfTest> selftest;
  ProjectRole role;
};

/// Throws UserError where a function of the user's, or something else that his files define, is called as something in the files of the
/// project `name`. Holds for a program in any language, and before there is a plan.
void require_own_names(const Program& program, const std::string& name);

/// Throws UserError where the program can't be emitted (a language without emitter, a name that is no C identifier).
std::vector<EmittedFile> emit(const Program& program, const MemoryPlan& plan, const EmitOptions& options);

inline constexpr std::string_view kSelfTestFile = "selftest.c";
/// This one of those files, with what options.selftest expects.
EmittedFile emit_selftest(const Program& program, const MemoryPlan& plan, const EmitOptions& options);

/// Two C sources to link a project with when its code size is measured: a main() that calls the entries, and an object of
/// kWeightsStubBytes in place of the weights, whose size is known anyway. Each is empty if it is not needed.
struct ProbeSources {
  struct Entry {
    std::string function, header;        // "kws_run", "kws.h"
    std::vector<std::string> arguments;  // `place`, a pointer, stands for every address
  };
  std::vector<Entry> entries;  // empty: there is no main
  std::string weights;
  std::string why_not;  // why there is no main

  std::string main() const;
};
inline constexpr std::int64_t kWeightsStubBytes = 4;
ProbeSources probe_sources(const Program& program, const MemoryPlan& plan, const EmitOptions& options);

/// The figures that are known without a compiler for the target.
Report make_report(const Program& program, const MemoryPlan& plan, const EmitOptions& options);

/// Input number `number` of a self-test: reproducible values in [-1, 1) for floats, in 0..1 for bool, over the whole range of
/// 8-bit integers, in 0..99 for other integers. Simple enough to be computed by the emitted self-test.
Array lcg_input(DType dtype, const std::vector<std::int64_t>& shape, std::uint32_t seed, int number);

}  // namespace etch
