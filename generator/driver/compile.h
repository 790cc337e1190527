// The whole compilation as a list of calls: an ONNX file becomes a Program, a Program becomes a folder of C. Options come in as a
// struct; nothing here depends on the command line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/opt_table.h"
#include "codegen/options.h"
#include "emit/emit.h"
#include "emit/fit.h"
#include "memory/plan.h"
#include "onnx/import.h"
#include "program/program.h"
#include "program/share.h"
#include "quant/dead_channels.h"
#include "schedule/schedule.h"
#include "target/target.h"

namespace etch {

/// Called with each stage's name and a function that prints it: graph, schedule, ast, uops, source, plan.
using Dump = std::function<void(std::string_view stage, const std::function<std::string()>& text)>;
/// Called for each step of the work: what is done now, and its number `done` of `total` (0 of 0: unknown).
using Step = std::function<void(std::string_view what, std::int64_t done, std::int64_t total)>;

/// The stages that Dump is called with.
const std::vector<std::string>& dump_stages();

/// What the self-test compares its outputs with. Interp: INTERP's outputs. Checksum: nothing, it prints a checksum. Auto: Interp up to
/// kMostInterpreted and kMostExpected (driver/selftest.h), Checksum above.
enum class SelfTestResult : std::uint8_t { Auto, Interp, Checksum };
/// "auto", "interp", "checksum"; anything else is a UserError.
SelfTestResult selftest_result(const std::string& text);

/// What a Measure function gets: the project's C (of the weights only the header, and no self-test), and the sources to link it with.
struct MeasureRequest {
  std::vector<EmittedFile> files;
  ProbeSources probe;
};
/// Waits for the end of what a Measure began; gets the names of the functions in the project's program table.
using BegunMeasurement = std::function<FitMeasurement(const std::vector<std::string>& kernels)>;
/// Begins to build the files with the target's compiler, see validate/measure.h.
using Measure = std::function<BegunMeasurement(const MeasureRequest& request)>;

struct CompileOptions {
  ImportOptions import;
  Target target;
  bool optimize = true;      // false: no OptOps
  bool io_in_arena = false;  // the arena has room for inputs and outputs, which takes part in the planning
  bool overlap = false;      // an output may lie over parts of inputs: less RAM, more instructions
  int workers = 1;           // that run it together, at most; not for grids
  bool wide_weights = true;  // weights may take more flash for fewer instructions
  /// None: along one axis for targets with vectors of floats and memory to spare, unless flash or RAM are the goal.
  std::optional<Winograd> winograd = {};
  Sharing sharing = Sharing::None;         // kernels that differ in sizes alone are one function; All: small code counts elsewhere, too
  std::filesystem::path tuning;            // what a search found, whose rows go before those of the target's own table; may be empty
  std::shared_ptr<const OptTable> rows{};  // that go before those of both tables; may be null
  bool lists_choices = false;              // Schedule::choices is wanted
  WeightsForm weights = WeightsForm::Auto;
  std::string tool_version;
  std::string options_text;  // for the header: "--target cortex-m4f"
  std::uint32_t seed = 1;    // of the self-test's input
  bool selftest = true;
  SelfTestResult selftest_result = SelfTestResult::Auto;
  Measure measure;  // may be empty: code and stack stay unknown
  Dump dump;        // may be empty
  Step step;        // may be empty
};

/// A model after reading and scheduling: everything that does not depend on the language. Of the target it takes how values are laid out,
/// and whether there is memory to spare.
struct Frontend {
  ImportedModel model;
  Schedule schedule;
  std::vector<DeadChannels> dead;         // left out of its sums
  std::vector<std::string> float_nodes;   // computed in float between quantised values
  std::string file, sha256;               // without folder; of the file's bytes
  std::vector<std::string> tuning_notes;  // rows of a table whose way can't be taken
  ProjectRole role = {};                  // of its project
  std::int64_t widened_bytes = 0;         // that the constants of the schedule take more than those of the model, for speed
};

/// Reads the tables that `options` name into their rows, so that each is read once; they name none afterwards.
void read_tables(CompileOptions& options);

/// How a model is imported for the target: operators may take more memory only where options.import.target says so and the target has
/// memory to spare, but never with `overlap`.
ImportOptions import_options(const CompileOptions& options);
/// The model of `options.import`, scheduled for their target. UserError for what the file or the options have that is not accepted.
Frontend read_model(const CompileOptions& options);
/// The second half of read_model, for a model that is imported already.
Frontend schedule_model(ImportedModel model, const CompileOptions& options);

/// The program in `language` for the target in the options. A null `language` gives a program of ASTs alone, for the reference.
Program lower_model(const Frontend& frontend, const Language* language, const CompileOptions& options);

/// How lower_model makes kernels in `language`.
CodegenOptions codegen_of(const Language& language, const CompileOptions& options);

struct CompiledProject {
  Program program;
  MemoryPlan plan;
  Report report;
  std::vector<EmittedFile> files;
  ProbeSources probe;
  std::int64_t apart_bytes = 0;     // CompileOptions::overlap: what the arena would take if nothing overlapped; else 0
  bool named_after_folder = false;  // its name is only that of the folder in which the model lies
  std::string why_checksum{};       // why the self-test compares nothing under SelfTestResult::Auto: "its result would take ..."
  /// Of its code, by the options it was compiled with: begun before INTERP computes what the self-test expects, as the compiler takes as
  /// long as that. Null: write_audited or fit_of begin it.
  BegunMeasurement measurement{};
};

/// All stages from the frontend to the files. `selftest` overrides the self-test's input and expected output.
CompiledProject compile_project(const Frontend& frontend, const CompileOptions& options,
                                const std::optional<SelfTest>& selftest = std::nullopt);

/// The same from the program that lower_model gave for the target.
CompiledProject compile_program(const Frontend& frontend, Program program, const CompileOptions& options,
                                const std::optional<SelfTest>& selftest = std::nullopt);

struct WrittenProject {
  Report report;
  Fit fit;
};

/// Writes the project as folder `dir`, after the audit has parsed and checked each of its C files. The report with the audit's result
/// and the verdict whether the project fits (fit.json) become part of the folder and are returned. Throws UserError if the project
/// can't fit its target, InternalError if the emitted C does not pass the audit; nothing is written then. Figures measured with a
/// compiler of this machine are in fit.json alone: all other files are the same on every machine.
WrittenProject write_audited(const std::filesystem::path& dir, const CompiledProject& project, const CompileOptions& options);

/// The verdict alone, without writing the project.
Fit fit_of(const CompiledProject& project, const CompileOptions& options);

}  // namespace etch
