// etch: the command line. Exit status 0: done, 1: the model or the result is not acceptable, 2: the command line can't be parsed.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/nearest.h"
#include "cli/options.h"
#include "device/device.h"
#include "driver/train.h"

namespace etch {
namespace {

// The option takes exactly one value (or a list with commas), so that the model may follow it; it may be repeated.
CLI::Option* one_value(CLI::Option* option) { return option->expected(1)->allow_extra_args(false)->take_all(); }

// CLI11 would accept -1 as 2^64 - 1.
std::string seed_problem(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && (text.size() < 10 || (text.size() == 10 && text <= "4294967295")) ? "" : text + " is no number from 0 to 4294967295";
}

std::string tolerance_problem(const std::string& text) {
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
  return good ? "" : text + " is no number from 0 up";
}

void add_measure(CLI::App& app, bool& measure) {
  app.add_flag("!--no-measure", measure, "leave the target's compiler out: code and stack stay unknown");
}

void add_seed(CLI::App& app, std::uint64_t& seed, const char* help) {
  app.add_option("--seed", seed, help)->check(CLI::Validator(seed_problem, "0..4294967295", "seed"))->capture_default_str();
}

void add_cache(CLI::App& app, std::string& cache, const char* keeps = "compiled kernels, at most 256 MiB") {
  app.add_option("--cache", cache,
                 fmt::format("folder that keeps {}, or off; default: etch in $XDG_CACHE_HOME or\n"
                             "~/.cache. It may be removed at any time",
                             keeps))
      ->envname("ETCH_CACHE")
      ->type_name("DIR|off");
}

// ETCH_DEVICE: what is meant where no backend is named.
void choose_default_device() {
  const char* name = std::getenv("ETCH_DEVICE");
  if (name == nullptr || *name == '\0') return;
  if (devices().find(&DeviceRow::name, std::string_view(name)) == nullptr)
    throw UserError("ETCH_DEVICE=" + std::string(name), "is unknown; the backends are " + nearest_text(name, device_names()),
                    "choose one of them, or unset it");
  Device::set_default(name);
}

void add_model_options(CLI::App& app, ModelArgs& args, bool model_required) {
  auto* model = app.add_option("model", args.model, "the network, an .onnx file");
  if (model_required) model->required();
  app.add_option("--name", args.name, "prefix of symbols and name of files; default: the file's name (its folder's, if it is model.onnx)");
  one_value(app.add_option("--dim", args.dims,
                           "size of a dimension: batch=1, of an axis of an input: x[2]=48, or a range that stays a\n"
                           "variable: batch=1..16"))
      ->type_name("NAME=N|A..B");
  one_value(app.add_option("--freeze", args.freeze, "makes an input a constant (axes, shapes, pads): .npy, TensorProto .pb or raw"))
      ->type_name("NAME=FILE");
  one_value(app.add_option("--state", args.states, "an input that is kept from run to run, and the output that it becomes"))
      ->type_name("INPUT=OUTPUT");
  one_value(app.add_option("--shape", args.shapes, "sizes of all axes of an input: x=1,3,48,160..640"))->type_name("INPUT=N|A..B,...");
  one_value(app.add_option("--custom", args.customs, "a function in C computes an operator: com.example.Leaky=leaky"))
      ->type_name("DOMAIN.OP=FUNCTION");
  one_value(app.add_option("--custom-file", args.custom_files, "C file that defines such functions, or a header of yours that it includes"))
      ->type_name("FILE.c");
  app.add_option("--target", args.target, "what to generate for: 'etch targets' lists them")->capture_default_str();
  app.add_option("--targets-dir", args.targets_dir, "folder of your own target descriptions; they go before the bundled ones");
  app.add_option("--weights", args.weights,
                 "auto, c (arrays in C), incbin (a binary file beside an assembler file) or blob (given at run time)")
      ->capture_default_str();
  app.add_option("--cc", args.cc, "C compiler, instead of the target's");
  app.add_option("--optimize", args.goal,
                 "what counts where they are at odds: speed, flash (weights keep their type, kernels of several sizes\n"
                 "are one), or ram (results lie over what they are computed from)")
      ->check(CLI::IsMember({"speed", "flash", "ram"}))
      ->capture_default_str();
  app.add_option("--winograd", args.winograd,
                 "convolutions with fewer products: along one axis of the kernel (of 3 x 3 half of them, with twice the weights),\n"
                 "along two (a quarter, four times), or not; auto: 1d where the target has vectors and memory to spare")
      ->check(CLI::IsMember({"auto", "off", "1d", "2d"}))
      ->capture_default_str();
  app.add_option("--tuning", args.tuning, "a table of etch tune, whose rows go before those of the target's own; off: heuristics alone")
      ->type_name("FILE|off");
  app.add_option("--workers", args.workers, "up to so many threads, tasks or cores share each run: NAME_run_worker, which all of them call")
      ->check(CLI::Range(1, kMostWorkers))
      ->capture_default_str();
  app.add_flag("--io-in-arena", args.io_in_arena, "the arena has room for inputs and outputs: NAME.h says where");
  app.add_flag("!--no-optimize", args.optimize, "kernels without any optimisation");
  one_value(app.add_option("--dump", args.dump, "print stages: graph,schedule,ast,uops,source,plan"))->delimiter(',');
  app.add_option("--debug", args.debug,
                 "tell about the work, on standard error; each level with those below it: 1 what is loaded, 2 each run of a\n"
                 "kernel with its time, 3 ASTs, 4 sources, 5 UOps, 6 instructions")
      ->envname("ETCH_DEBUG")
      ->type_name("0..6");
}

void add_picture(CLI::App& app, std::filesystem::path& folder) {
  app.add_option("--picture", folder, "folder for pictures (SVG): schedule.svg, and the UOps of each kernel")
      ->check([](const std::string& text) { return text.empty() ? std::string("names no folder") : std::string(); })
      ->type_name("DIR");
}

void add_train(CLI::App& app, CompileArgs& args) {
  auto* train = app.add_option("--train", args.train, train_options_help())->type_name("NAME=VALUE,...");
  train->check([](const std::string& text) { return text.empty() ? std::string("no loss and no optimizer is given") : std::string(); });
  app.add_option("--train-last", args.train_last, "only the last so many layers are trained")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(train);
}

struct Commands {
  CompileArgs compile, inspect;
  RunArgs run;
  ValidateArgs validate;
  TuneArgs tune;
  AuditArgs audit;
  std::vector<std::filesystem::path> conformance;
  std::filesystem::path targets_dir, unit;
};

void add_compile(CLI::App& app, CompileArgs& args, std::function<int()>& chosen) {
  CLI::App* sub = app.add_subcommand("compile", "write a folder of C: sources, weights, runtime, build files, self-test, report");
  add_model_options(*sub, args, true);
  sub->add_option("-o,--output", args.output, "the folder to write; an existing one is replaced if etch wrote it")->required();
  add_train(*sub, args);
  add_seed(*sub, args.seed, "of the self-test's input");
  sub->add_option("--selftest", args.selftest,
                  "what it compares with: interp (the reference computes it), checksum (nothing, it prints one), or\n"
                  "auto (interp up to 10 G multiply-accumulates and 16 M numbers)")
      ->capture_default_str();
  add_picture(*sub, args.picture);
  add_measure(*sub, args.measure);
  sub->add_flag("--json", args.json, "the report and the verdict as JSON");
  sub->callback([&args, &chosen] { chosen = [&args] { return compile_command(args); }; });
}

void add_inspect(CLI::App& app, CompileArgs& args, std::function<int()>& chosen) {
  CLI::App* sub = app.add_subcommand("inspect", "operators, shapes, work, parameters, memory, kernels");
  add_model_options(*sub, args, true);
  add_picture(*sub, args.picture);
  add_measure(*sub, args.measure);
  sub->add_flag("--json", args.json, "the report and the verdict as JSON");
  sub->callback([&args, &chosen] { chosen = [&args] { return inspect_command(args); }; });
}

void add_run(CLI::App& app, RunArgs& args, std::function<int()>& chosen) {
  CLI::App* sub = app.add_subcommand("run", "run on this machine, print or save the outputs");
  add_model_options(*sub, args, true);
  args.backend = Device::default_device().name;
  sub->add_option("--backend", args.backend, fmt::format("one of {}", fmt::join(device_names(), ", ")))->capture_default_str();
  one_value(sub->add_option("--input", args.inputs, "[NAME=]FILE: .npy, TensorProto .pb or raw; default: random"));
  one_value(sub->add_option("--set", args.sets, "value of a variable dimension: batch=3; default: the inputs', else its largest"));
  add_seed(*sub, args.seed, "of random inputs");
  sub->add_option("--times", args.times, "runs, one after the other; the outputs are those of the last")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  sub->add_option("--output", args.output, "folder for the outputs, as .npy");
  add_cache(*sub, args.cache);
  sub->add_flag("--profile", args.profile, "print the time that each call took, on standard error");
  sub->callback([&args, &chosen] { chosen = [&args] { return run_command(args); }; });
}

void add_validate(CLI::App& app, ValidateArgs& args, std::function<int()>& chosen) {
  CLI::App* sub = app.add_subcommand("validate", "compare backends, and the emitted project on its target, with the reference");
  add_model_options(*sub, args, false);
  args.backends = {"all"};
  one_value(sub->add_option("--backends", args.backends, fmt::format("all, or some of {}", fmt::join(device_names(), ","))))
      ->delimiter(',');
  add_train(*sub, args);
  one_value(sub->add_option("--input", args.inputs, "[NAME=]FILE"));
  sub->add_option("--data", args.data, "folder with test_data_set_N/{input,output}_K.pb");
  sub->add_option("--suite", args.suite,
                  "validate every folder below that has model.onnx and test_data_set_N, with the target's kernels on this machine");
  add_seed(*sub, args.seed, "of random inputs");
  const CLI::Validator tolerance(tolerance_problem, "NUMBER", "tolerance");
  sub->add_option("--rtol", args.relative, "accepted error relative to each value")->check(tolerance)->capture_default_str();
  sub->add_option("--atol", args.absolute, "accepted error relative to the largest value")->check(tolerance)->capture_default_str();
  sub->add_option("-o,--output", args.output, "keep the emitted project here");
  add_cache(*sub, args.cache);
  add_measure(*sub, args.measure);
  sub->add_flag("--json", args.json, "the result as JSON");
  sub->callback([&args, &chosen, sub] {
    args.target_given = sub->count("--target") > 0;
    if (args.model.empty() == args.suite.empty()) throw CLI::ValidationError("validate", "give a model, or --suite DIR");
    if (!args.data.empty() && !args.inputs.empty()) throw CLI::ValidationError("validate", "give --data or --input, not both");
    if (!args.suite.empty())
      for (const char* name : {"--input", "--data", "--output", "--train", "--seed", "--dump", "--name", "--weights", "--freeze", "--state",
                               "--shape", "--no-measure"})
        if (sub->count(name) > 0)
          throw CLI::ValidationError(name, "means nothing with --suite, which runs models on the backends with their own data");
    chosen = [&args] { return validate_command(args); };
  });
}

void add_tune(CLI::App& app, TuneArgs& args, std::function<int()>& chosen) {
  CLI::App* sub =
      app.add_subcommand("tune", "search better layouts and steps of kernels for a model, by what they cost in the target's emulator");
  add_model_options(*sub, args, true);
  sub->add_option("-o,--output", args.output,
                  "the table that gets what is found beside what it has: a file for compile --tuning;\n"
                  "default: the one that the target's description names");
  one_value(sub->add_option("--kernel", args.kernels, "search for this kernel alone, its name in NAME.c, and for no layouts"))
      ->type_name("NAME");
  sub->add_option("--width", args.width, "how many lists of steps the search keeps")->check(CLI::Range(1, 64))->capture_default_str();
  sub->add_option("--rounds", args.rounds,
                  "how often lists are changed, and layouts, these at most 3 times; 0: what the tables have is\n"
                  "measured again, and rows that do not pay are taken out")
      ->check(CLI::Range(0, 64))
      ->capture_default_str();
  sub->add_option("--cost", args.cost,
                  "model: a model of cost, fitted to the lists of steps that were run, chooses those that are; measured: all are\n"
                  "run, which takes longer")
      ->check(CLI::IsMember({"model", "measured"}))
      ->capture_default_str();
  sub->add_option("--jobs", args.jobs, "programs that are measured at a time; 0: one a processor")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  sub->add_option("--time-limit", args.time_limit,
                  "seconds that a compiler or a program that it made may take; what takes longer, or crashes, is left out")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  sub->footer("What is found computes the same integers; floats may be rounded otherwise, as sums may be in another order.");
  add_cache(*sub, args.cache, "what was measured (in its folder measured)");
  auto* launcher = sub->add_option("--launcher", args.launcher,
                                   "a shell command that runs the command lines that it reads, on this machine or others:\n"
                                   "'parallel -j8', or \"xargs -d '\\n' -P 8 -I{} srun -n1 sh -c {}\"");
  launcher->check([](const std::string& text) { return text.empty() ? std::string("names no command") : std::string(); })
      ->type_name("COMMAND");
  sub->add_option("--shared", args.shared,
                  "folder that all machines of --launcher see; default: units in the folder of --cache, else that of\ntemporary files")
      ->needs(launcher)
      ->type_name("DIR");
  sub->callback([&args, &chosen] { chosen = [&args] { return tune_command(args); }; });
}

void add_others(CLI::App& app, Commands& args, std::function<int()>& chosen) {
  CLI::App* audit = app.add_subcommand("audit", "check the C of a folder: heap, recursion, VLAs, mutable statics, loops, double");
  audit->add_option("dir", args.audit.dir, "the folder")->required();
  audit->add_option("--target", args.audit.target, "whose FPU counts")->capture_default_str();
  audit->add_option("--targets-dir", args.audit.targets_dir, "folder of your own target descriptions; they go before the bundled ones");
  audit->add_flag("--json", args.audit.json, "the result as JSON");
  audit->callback([&args, &chosen] { chosen = [&args] { return audit_command(args.audit); }; });

  CLI::App* measure = app.add_subcommand("measure", "measure one unit of work that etch tune --launcher wrote, which calls this");
  measure->add_option("folder", args.unit, "the unit's folder")->required();
  measure->callback([&args, &chosen] { chosen = [&args] { return measure_command(args.unit); }; });

  CLI::App* conformance = app.add_subcommand("conformance", "run case files of symbolic algebra, ShapeTrackers and kernels");
  conformance->add_option("files", args.conformance, "JSON files")->required();
  conformance->callback([&args, &chosen] { chosen = [&args] { return conformance_command(args.conformance); }; });

  app.add_subcommand("ops", "the supported ONNX operators, with opsets and types")->callback([&chosen] {
    chosen = [] { return ops_command(); };
  });
  CLI::App* targets = app.add_subcommand("targets", "the supported targets");
  targets->add_option("--targets-dir", args.targets_dir, "folder of your own target descriptions; they go before the bundled ones");
  targets->callback([&args, &chosen] { chosen = [&args] { return targets_command(args.targets_dir); }; });
}

int run_tool(int argc, char** argv) {
  CLI::App app{"etch burns a trained network into plain C", "etch"};
  app.set_version_flag("--version", "etch " ETCH_VERSION);
  app.require_subcommand(1);
  choose_default_device();
  Commands args;
  std::function<int()> chosen;
  add_compile(app, args.compile, chosen);
  add_run(app, args.run, chosen);
  add_validate(app, args.validate, chosen);
  add_inspect(app, args.inspect, chosen);
  add_tune(app, args.tune, chosen);
  add_others(app, args, chosen);
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  if (argc > 1 && argv[1][0] != '-' && std::ranges::find(names, argv[1]) == names.end())
    throw CommandLineError(argv[1], "is no command; the commands are " + nearest_text(argv[1], names), "etch --help explains them");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return chosen();
}

}  // namespace
}  // namespace etch

int main(int argc, char** argv) {
  etch::clean_up_on_interrupt();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is then an error, as on a full disk
  try {
    return etch::run_tool(argc, argv);
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "etch: error: out of memory\n");
  } catch (const etch::CommandLineError& error) {
    fmt::print(stderr, "etch: error: {}\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    etch::end_if_interrupted();
    fmt::print(stderr, "etch: error: {}\n", error.what());
  }
  return 1;
}
