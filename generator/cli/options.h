// The command line as values. CLI11 parses it; a command line that it can't parse ends with exit status 2. A value that parses but
// is not acceptable (an unknown target) is a UserError like any other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace etch {

/// A command line that is wrong whatever the model is: exit status 2.
class CommandLineError : public UserError {
 public:
  using UserError::UserError;
};

/// What --workers takes at most.
inline constexpr int kMostWorkers = 256;

/// The arguments of `compile`, `run`, `inspect` and `validate` about the model and how to lower it.
struct ModelArgs {
  std::filesystem::path model;
  std::string name;                                 // prefix and file names; empty: the file's name
  std::vector<std::string> dims;                    // "batch=1", "batch=1..16", "x[2]=48"
  std::vector<std::string> shapes;                  // "x=1,3,48,160..640"
  std::vector<std::string> freeze;                  // "NAME=FILE": inputs that become constants
  std::vector<std::string> states;                  // "INPUT=OUTPUT": what is kept from run to run
  std::vector<std::string> customs;                 // "com.example.Leaky=leaky": an operator, and the function that computes it
  std::vector<std::filesystem::path> custom_files;  // C files that define such functions, and headers
  std::string target = "host";
  std::string weights = "auto";   // auto, c, incbin, blob
  std::vector<std::string> dump;  // stages to print
  bool optimize = true;           // false: kernels as the AST says, no OptOps
  bool io_in_arena = false;
  int workers = 1;                    // that share the work, at most
  std::string goal = "speed";         // speed, flash, ram
  std::string winograd = "auto";      // auto, off, 1d, 2d
  std::filesystem::path targets_dir;  // empty: etch's own targets alone
  std::string tuning;                 // a table whose rows go before those of the target's own, or "off": no table; empty: the target's
  std::string cc;                     // empty: the target's
  std::string cache;                  // folder of compiled kernels and measurements, or "off"; empty: the user's
  std::string debug = "0";            // 1 to 6: tell about the work, see device/debug.h
  std::filesystem::path picture;      // folder for pictures of the schedule and the UOps; empty: none
};

struct CompileArgs : ModelArgs {
  std::filesystem::path output;
  std::string train;              // "loss=crossentropy,optimizer=sgd": a training step; empty: none
  int train_last = 0;             // layers that are trained; 0: all
  std::uint64_t seed = 0;         // of the self-test's input
  std::string selftest = "auto";  // auto, interp, checksum
  bool measure = true;            // code and stack, by the target's compiler
  bool json = false;
};

struct RunArgs : ModelArgs {
  std::string backend;              // a name of devices(); Device::default_device() if none is given
  std::vector<std::string> inputs;  // "FILE" or "NAME=FILE"
  std::uint64_t seed = 0;
  std::filesystem::path output;   // folder for the outputs; empty: print them
  std::vector<std::string> sets;  // "batch=3": the value of a Variable
  bool profile = false;           // print the time of each call
  int times = 1;                  // runs, one after the other
};

struct ValidateArgs : CompileArgs {
  std::vector<std::string> backends;  // or "all"
  std::vector<std::string> inputs;
  std::filesystem::path data;   // a folder of test_data_set_N, or of input_K files
  std::filesystem::path suite;  // a folder of models with test data
  bool target_given = false;    // run the emitted project too
  double relative = 1e-3, absolute = 1e-5;
};

struct TuneArgs : ModelArgs {
  std::filesystem::path output;      // the table; empty: the target's own
  std::vector<std::string> kernels;  // names; empty: all
  int width = 3;                     // lists of steps that the search keeps
  int rounds = 8;                    // of changes; 0: what the tables have is measured again
  std::string cost = "model";        // or "measured"
  int jobs = 0;                      // 0: as many as there are processors
  int time_limit = 120;              // seconds of each run of a compiler or a program
  std::string launcher;              // a command that runs units of work; empty: they run here
  std::filesystem::path shared;      // folder for these; empty: below the cache, or in the folder of temporary files
};

struct AuditArgs {
  std::filesystem::path dir;
  std::string target = "host";
  std::filesystem::path targets_dir;
  bool json = false;
};

// One function for each command (cli/commands.h); each returns the exit status.
int compile_command(const CompileArgs& args);
int run_command(const RunArgs& args);
int inspect_command(const CompileArgs& args);
int validate_command(const ValidateArgs& args);
int tune_command(const TuneArgs& args);
int measure_command(const std::filesystem::path& unit);
int audit_command(const AuditArgs& args);
int conformance_command(const std::vector<std::filesystem::path>& files);
int ops_command();
int targets_command(const std::filesystem::path& targets_dir);

}  // namespace etch
