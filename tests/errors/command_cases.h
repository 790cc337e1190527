// Options that do not fit the model or the machine, and command lines that can't be parsed.
#pragma once

#include "error_case.h"

namespace etch {
// A model with a dimension of any size.
inline constexpr const char* kVariable = "(float[n,4] x) => (float[n,4] y) { y = Relu (x) }";

inline std::vector<ErrorCase> worker_cases() {
  return {
      {"no_workers", {"compile", "{m}", "--workers", "0", "-o", "{d}/out"}, {"--workers: Value 0 not in range 1 to 256"}, 2},
      {"too_many_workers", {"compile", "{m}", "--workers", "257", "-o", "{d}/out"}, {"--workers: Value 257 not in range 1 to 256"}, 2},
      {"workers_on_a_grid",
       {"compile", "{m}", "--workers", "2", "--target", "opencl", "-o", "{d}/out"},
       {"--workers 2: the kernels of target opencl run on a device", "help: leave it out, or choose a target with kernels in C"}},
      {"workers_where_results_lie_over_inputs",
       {"compile", "{m}", "--workers", "2", "--optimize", "ram", "-o", "{d}/out"},
       {"--workers 2: can't go with --optimize ram", "help: leave one of the two out"},
       2},
      {"larger_weights_where_flash_counts",
       {"compile", "{m}", "--winograd", "1d", "--optimize", "flash", "-o", "{d}/out"},
       {"--winograd 1d: can't go with --optimize flash, as it takes larger weights", "help: leave one of the two out"},
       2},
      {"winograd_along_three_axes", {"compile", "{m}", "--winograd", "3d", "-o", "{d}/out"}, {"--winograd: 3d not in {auto,off,1d,2d}"}, 2},
  };
}

// Where and by what etch tune measures.
inline std::vector<ErrorCase> tune_cases() {
  return {
      {"measurements_below_a_file",
       {"tune", "{m}", "--target", "cortex-m4f", "-o", "{d}/table.opts", "--cache", "{m}"},
       {"{m}/measured: measurements can't be kept here: ",
        "help: name a folder that can be written to, --cache DIR, or none, --cache off"}},
      {"units_in_no_folder",
       {"tune", "{m}", "--target", "cortex-m4f", "-o", "{d}/table.opts", "--launcher", "sh", "--shared", "/proc/etch"},
       {"/proc/etch: units of work can't be written here: ", "that all machines see: --shared DIR"}},
      {"units_below_a_file",
       {"tune", "{m}", "--target", "cortex-m4f", "-o", "{d}/table.opts", "--launcher", "sh", "--shared", "{m}"},
       {"{m}: units of work can't be written here: Not a directory", "that all machines see: --shared DIR"}},
      {"launcher_of_what_is_timed",
       {"tune", "{m}", "-o", "{d}/table.opts", "--launcher", "sh", "--shared", "{d}"},
       {"--launcher sh: target host is timed on this machine, where nothing else may run meanwhile", "choose a target with an emulator"}},
      {"launcher_of_what_is_measured_nowhere",
       {"tune", "{m}", "--target", "opencl", "-o", "{d}/table.opts", "--launcher", "sh"},
       {"target opencl: its kernels run on a device, whose time is not measured"}},
      {"no_unit_of_work", {"measure", "{d}"}, {"{d}/unit.json: can't be read: No such file or directory"}},
      {"unit_that_is_a_model", {"measure", "{m}"}, {"{m}/unit.json: can't be read: "}},
  };
}

inline std::vector<ErrorCase> option_cases() {
  return {
      {"unknown_target",
       {"compile", "{m}", "--target", "cortex-m99", "-o", "{d}/out"},
       {"unknown target 'cortex-m99', known are 'cortex-m", "help: pick one of them, or describe yours in ", "/cortex-m99.xml"}},
      {"unknown_backend", {"run", "{m}", "--backend", "fortran"}, {"backend fortran: is unknown; the backends are ", "'interp'", "'c'"}},
      {"unknown_dim_name", {"compile", "{m}", "--dim", "batch=3", "-o", "{d}/out"}, {"{m}: no dimension is called 'batch'"}},
      {"unwritable_folder", {"compile", "{m}", "-o", "/proc/etch/out"}, {"/proc/etch: can't make the folder: "}},
      {"output_is_a_file", {"compile", "{m}", "-o", "{m}"}, {"{m}: is there already and is not a folder"}},
      {"bad_name", {"compile", "{m}", "--name", "2 many", "-o", "{d}/out"}, {"--name 2 many: is no C identifier", "--name n2_many"}},
      {"state_of_no_input",
       {"compile", "{m}", "--state", "h=y", "-o", "{d}/out"},
       {"--state h=y: the model has no input 'h' left", "help: its inputs: 'x'"}},
      {"state_of_another_shape",
       {"compile", "{m}", "--state", "x=y", "-o", "{d}/out"},
       {"--state x=y: the input is float32 [1,4], the output float32 [1,3]", "help: what a state becomes has its shape and type"}},
      {"unknown_weights_form",
       {"compile", "{m}", "--weights", "paper", "-o", "{d}/out"},
       {"--weights paper: unknown form of weights", "help: choose one of auto, c, incbin, blob"}},
      {"absent_input_file", {"run", "{m}", "--backend", "interp", "--input", "{d}/x.npy"}, {"{d}/x.npy: can't be read"}},
      {"input_of_another_name",
       {"run", "{m}", "--backend", "interp", "--input", "q={m}"},
       {"--input q={m}: the model has no input 'q'; its inputs are 'x'"}},
      {"raw_input_of_wrong_size",
       {"run", "{m}", "--backend", "interp", "--input", "x=/dev/null"},
       {"/dev/null: has 0 bytes, float32 [1,4] needs 16"}},
      {"input_without_a_file", {"run", "{m}", "--input", "x="}, {"--input x=: names no file"}},
      {"input_without_text", {"run", "{m}", "--input", ""}, {"--input : names no file"}},
      {"input_twice", {"run", "{m}", "--input", "x=a.npy", "--input", "x=b.npy"}, {"--input x=b.npy: input 'x' is given already: a.npy"}},
      {"input_by_place_and_by_name",
       {"run", "{m}", "--input", "a.npy", "--input", "x=b.npy"},
       {"--input x=b.npy: input 'x' is given already: a.npy"}},
      {"input_too_many",
       {"run", "{m}", "--input", "a.npy", "--input", "b.npy"},
       {"--input b.npy: there are more inputs than the 1 of the model"}},
      {"input_with_equals_in_its_path",
       {"run", "{m}", "--input", "{d}/a=b.npy"},
       {"--input {d}/a=b.npy: the model has no input '{d}/a'; its inputs are 'x'"}},
      {"set_outside_the_range",
       {"run", "{m}", "--dim", "n=1..3", "--set", "n=4"},
       {"--set n=4: the value lies outside 1..3"},
       1,
       kVariable},
      {"no_test_data", {"validate", "{m}", "--backends", "interp", "--data", "{d}"}, {"{d}: holds no test_data_set_N and no input_0.pb"}},
      {"empty_suite", {"validate", "--suite", "{d}", "--backends", "interp"}, {"{d}: holds no folder with model.onnx and test_data_set_N"}},
      {"absent_compiler",
       {"validate", "{m}", "--backends", "interp", "--target", "cortex-m4f", "--cc", "no-such-gcc"},
       {"target 'cortex-m4f': its compiler no-such-gcc is not installed"}},
      {"audit_of_nothing", {"audit", "{d}"}, {"{d}: there is no .c file in this folder"}},
      {"conformance_file_absent", {"conformance", "{d}/cases.json"}, {"{d}/cases.json: can't be read"}},
      {"conformance_not_json", {"conformance", "{m}"}, {"{m}: is not a JSON file of cases"}},
      {"conformance_nests_deep",
       {"conformance", "{m}"},
       {"{m}: nests deeper than 500 levels"},
       1,
       kGoodModel,
       nullptr,
       [](std::string) { return std::string(100'000, '['); }},
  };
}

// What tells and draws.
inline std::vector<ErrorCase> debug_cases() {
  return {
      {"debug_level_too_high",
       {"run", "{m}", "--debug", "9"},
       {"--debug 9: is no level from 0 to 6", "help: 1 tells what is loaded, 2 the time of each kernel, "}},
      {"debug_level_no_number", {"compile", "{m}", "--debug", "x", "-o", "{d}/out"}, {"--debug x: is no level from 0 to 6"}},
      {"debug_level_empty", {"validate", "{m}", "--backends", "interp", "--debug", ""}, {"--debug : is no level from 0 to 6"}},
      {"debug_level_negative", {"inspect", "{m}", "--debug=-1"}, {"--debug -1: is no level from 0 to 6"}},
      {"picture_is_a_file", {"inspect", "{m}", "--no-measure", "--picture", "{m}"}, {"{m}: "}},
      {"picture_in_the_output_folder",
       {"compile", "{m}", "--picture", "{d}/out/pictures", "-o", "{d}/out/"},
       {"--picture {d}/out/pictures: lies in the output folder, which holds the project and nothing else",
        "help: choose a folder beside it, for example --picture {d}/out-pictures"}},
      {"picture_is_the_output_folder",
       {"compile", "{m}", "--picture", "{d}/a/../out/", "-o", "{d}/out"},
       {"--picture {d}/a/../out/: lies in"}},
      {"picture_of_what_does_not_fit",
       {"compile", "{m}", "--picture", "{d}/pictures", "--target", "cortex-m4f", "-o", "{d}/out", "--no-measure"},
       {"target 'cortex-m4f': the model does not fit: "},
       1,
       "(float[1,4000000] x) => (float[1,4000000] y) { y = Relu (x) }"},
      {"picture_in_no_folder", {"compile", "{m}", "--picture", "/proc/etch/pictures", "-o", "{d}/out"}, {"/proc/etch"}},
  };
}

inline std::vector<ErrorCase> command_cases() {
  const char* const with_suite = ": means nothing with --suite, which runs models on the backends with their own data";
  std::vector<ErrorCase> rows{
      {"no_command", {}, {"A subcommand is required"}},
      {"unknown_command", {"burn", "{m}"}, {"burn: is no command; the commands are ", "'compile'", "help: etch --help explains them"}},
      {"unknown_option", {"compile", "{m}", "-o", "{d}/out", "--fast"}, {"The following argument was not expected: --fast"}},
      {"option_without_value", {"compile", "{m}", "-o"}, {"--output: 1 required TEXT missing"}},
      {"picture_without_a_folder", {"inspect", "{m}", "--picture", ""}, {"--picture: names no folder"}},
      {"output_left_out", {"compile", "{m}"}, {"--output is required"}},
      {"bad_dim",
       {"compile", "{m}", "--dim", "batch=three", "-o", "{d}/out"},
       {"--dim batch=three: 'three' is not a number or a range", "help: write NAME=N or NAME=A..B"}},
      {"empty_dim_range", {"compile", "{m}", "--dim", "batch=5..2", "-o", "{d}/out"}, {"--dim batch=5..2: the range 5..2 is empty"}},
      {"unknown_dump",
       {"compile", "{m}", "--dump=everything", "-o", "{d}/out"},
       {"--dump everything: is no stage; the stages are ", "'schedule'", "'source'", "'plan'"}},
      {"negative_seed", {"run", "{m}", "--seed", "-1"}, {"--seed: -1 is no number from 0 to 4294967295"}},
      {"large_seed", {"compile", "{m}", "--seed", "4294967296", "-o", "{d}/out"}, {"--seed: 4294967296 is no number from 0 to 4294967295"}},
      {"negative_tolerance", {"validate", "{m}", "--rtol", "-1"}, {"--rtol: -1 is no number from 0 up"}},
      {"tolerance_is_no_number", {"validate", "{m}", "--rtol", "nan"}, {"--rtol: nan is no number from 0 up"}},
      {"tolerance_is_a_word", {"validate", "{m}", "--atol", "1e-3x"}, {"--atol: 1e-3x is no number from 0 up"}},
      {"dim_twice", {"compile", "{m}", "--dim", "n=2", "--dim", "n=1..3", "-o", "{d}/out"}, {"--dim n=1..3: is the second for 'n'"}},
      {"dim_without_value", {"compile", "{m}", "--dim", "n", "-o", "{d}/out"}, {"--dim n: has no name and value"}},
      {"set_without_value", {"run", "{m}", "--dim", "n=1..3", "--set", "n"}, {"--set n: has no value"}},
      {"set_to_a_word", {"run", "{m}", "--dim", "n=1..3", "--set", "n=two"}, {"--set n=two: 'two' is no number"}},
      {"set_twice", {"run", "{m}", "--dim", "n=1..3", "--set", "n=1", "--set", "n=2"}, {"--set n=2: is the second for 'n'"}},
      {"custom_without_function",
       {"run", "{m}", "--custom", "com.example.Scale"},
       {"--custom com.example.Scale: has no operator and function"}},
      {"custom_twice", {"run", "{m}", "--custom", "Scale=a", "--custom", "Scale=b"}, {"--custom Scale=b: is the second for 'Scale'"}},
      {"data_and_input", {"validate", "{m}", "--data", "{d}", "--input", "x.npy"}, {"validate: give --data or --input, not both"}},
      {"model_and_suite", {"validate", "{m}", "--suite", "{d}"}, {"validate: give a model, or --suite DIR"}},
      {"suite_with_data", {"validate", "--suite", "{d}", "--data", "{d}"}, {"--data", with_suite}},
      {"suite_with_input", {"validate", "--suite", "{d}", "--input", "x.npy"}, {"--input", with_suite}},
      {"suite_with_output", {"validate", "--suite", "{d}", "-o", "{d}/out"}, {"--output", with_suite}},
      {"no_launcher", {"tune", "{m}", "--launcher", ""}, {"--launcher: names no command"}},
      {"shared_without_a_launcher", {"tune", "{m}", "--shared", "{d}"}, {"--shared requires --launcher"}},
      {"no_time_at_all", {"tune", "{m}", "--time-limit", "0"}, {"--time-limit: Value 0 not in range 1 to 1000000"}},
      {"no_such_cost", {"tune", "{m}", "--cost", "guessed"}, {"--cost: guessed not in {model,measured}"}},
      {"measure_without_a_unit", {"measure"}, {"folder is required"}},
      {"suite_with_dump", {"validate", "--suite", "{d}", "--dump", "plan"}, {"--dump", with_suite}},
  };
  for (ErrorCase& row : rows) {
    row.status = 2;
    row.model = kVariable;
  }
  return rows;
}

}  // namespace etch
