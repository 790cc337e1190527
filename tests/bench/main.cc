// etch_bench: figures of speed, memory, code and compile time as ratios, measured side by side in one run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "backends.h"
#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "context.h"
#include "cores.h"
#include "figure.h"
#include "int8.h"
#include "onnxruntime.h"
#include "peak.h"
#include "pointwise.h"
#include "search.h"
#include "support/long_models.h"
#include "target/target.h"
#include "training.h"
#include "workers.h"

namespace etch::bench {
namespace {

namespace fs = std::filesystem;

// --- speed on this machine

constexpr const char* kTimer = R"(
#define _POSIX_C_SOURCE 200809L
#include "NAME.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void) {
  unsigned char *block = malloc(NAME_UPPER_ARENA_BYTES + 64u);
  void *arena = block + (64u - (size_t)block % 64u);
  float *in = malloc(INPUT_BYTES), *out = malloc(OUTPUT_BYTES);
  for (unsigned i = 0; i < INPUT_BYTES / 4; i++) in[i] = (float)(i % 97) / 97.0f;
  double best = 1e9;
  const double start = now();
  for (int run = 0; run < 1000 && (run < 5 || now() - start < 3.0); run++) {
    const double t = now();
    if (NAME_run(arena, NAME_UPPER_ARENA_BYTES, in, out) != ETCH_OK) return 1;
    const double seconds = now() - t;
    if (seconds < best) best = seconds;
  }
  printf("%.9e\n", best);
  return 0;
}
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  return text;
}

// A program that runs the model many times and prints the seconds of the fastest run.
std::string timer_text(const fs::path& dir, const std::string& name) {
  const Json report = read_json(dir / "report.json");
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string text = replaced(replaced(kTimer, "NAME_UPPER", upper), "NAME", name);
  text = replaced(text, "INPUT_BYTES", std::to_string(report.at("input_bytes").get<long>()) + "u");
  text = replaced(text, "OUTPUT_BYTES", std::to_string(report.at("output_bytes").get<long>()) + "u");
  return text;
}

double run_timer(const fs::path& timer, const fs::path& dir) {
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 600;
  const ProcessResult ran = run_process({timer.string()}, options);
  if (!ran.ok()) throw UserError("timer", describe(ran));
  return std::stod(ran.out);
}

// Compiles the emitted folder with the target's compiler and flags; `compile_seconds` is of the sources alone.
fs::path build_timer(const fs::path& dir, const std::string& name, const Target& target, double* compile_seconds) {
  std::ofstream(dir / "timer.c") << timer_text(dir, name);
  std::vector<std::string> flags{target.toolchain.compilers[0], "-std=gnu99"};
  flags.insert(flags.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  std::vector<std::string> objects;
  *compile_seconds = 0;
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 600;
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string file = entry.path().filename().string();
    if (file == "selftest.c" || (entry.path().extension() != ".c" && entry.path().extension() != ".S")) continue;
    std::vector<std::string> argv = flags;
    argv.insert(argv.end(), {"-c", file, "-o", file + ".o"});
    const ProcessResult built = run_process(argv, options);
    if (!built.ok()) throw UserError(file, describe(built) + ": " + built.err.substr(0, 500));
    if (file != "timer.c") *compile_seconds += built.seconds;
    objects.push_back(file + ".o");
  }
  std::vector<std::string> link{target.toolchain.compilers[0]};
  link.insert(link.end(), objects.begin(), objects.end());
  link.insert(link.end(), {"-o", "timer", "-lm"});
  const ProcessResult linked = run_process(link, options);
  if (!linked.ok()) throw UserError("link", linked.err.substr(0, 500));
  return dir / "timer";
}

// The same for a project whose CMakeLists.txt only adds the folder with add_subdirectory.
fs::path build_timer_of_users_project(const Context& context, const fs::path& dir, const std::string& name, const std::string& compiler) {
  const fs::path project = context.work / (name + "_user_" + compiler);
  fs::create_directories(project);
  std::ofstream(project / "timer.c") << timer_text(dir, name);
  std::ofstream(project / "CMakeLists.txt") << fmt::format(
      "cmake_minimum_required(VERSION 3.16)\nproject(user C ASM)\nadd_subdirectory({} model)\nadd_executable(timer timer.c)\n"
      "target_link_libraries(timer etch::{})\n",
      dir.string(), name);
  ProcessOptions options;
  options.cwd = project;
  options.timeout_s = 600;
  for (const std::vector<std::string>& command : {std::vector<std::string>{"cmake", "-B", "build", "-DCMAKE_C_COMPILER=" + compiler},
                                                  std::vector<std::string>{"cmake", "--build", "build"}})
    if (const ProcessResult made = run_process(command, options); !made.ok())
      throw UserError(project.string(), describe(made) + ": " + made.err);
  return project / "build/timer";
}

void measure_speed(Context& context, const std::string& name, const fs::path& model, std::optional<double> goal, bool large) {
  const Target target = fastest_target();
  static const double peak = fma_peak(target.toolchain.compilers[0], target.toolchain.flags, static_cast<int>(target.vector.bits));
  const fs::path dir = context.work / (name + "_" + target.name);
  const ProcessResult compiled = tool({"compile", model.string(), "--name", name, "--target", target.name, "-o", dir.string()});
  const Json report = read_json(dir / "report.json");
  double compile_seconds = 0;
  const double seconds = run_timer(build_timer(dir, name, target, &compile_seconds), dir);
  const double flops = 2 * report.at("macs").get<double>();
  context.figures.push_back({name + "_fraction_of_fma_peak", flops / seconds / peak, "of one core's FMA peak", goal,
                             fmt::format("{:.3f} ms, {:.1f} of {:.1f} GFLOP/s, {} by {}", seconds * 1e3, flops / seconds / 1e9, peak / 1e9,
                                         target.name, target.toolchain.compilers[0])});
  const double arena = report.at("arena_bytes").get<double>(), bound = report.at("arena_lower_bound_bytes").get<double>();
  context.figures.push_back(
      {name + "_arena", arena > 0 ? bound / arena : 1, "lower bound/arena", 1 / 1.05, fmt::format("{} bytes", arena)});
  if (!large) return;
  context.figures.push_back(under_limit(name + "_etch_compile_time", 3, compiled.seconds, "s"));
  const ProcessResult unmeasured =
      tool({"compile", model.string(), "--name", name, "--target", target.name, "--no-measure", "-o", dir.string() + "_unmeasured"});
  context.figures.push_back(under_limit(name + "_etch_compile_time_without_measuring", 3, unmeasured.seconds, "s"));
  context.figures.push_back(under_limit(name + "_etch_compile_memory", 1e9, static_cast<double>(compiled.max_rss_bytes), "bytes"));
  context.figures.push_back(under_limit(name + "_c_compile_time", 20, compile_seconds, "s"));
  double text_bytes = 0;
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == ".c" || entry.path().extension() == ".h") text_bytes += static_cast<double>(entry.file_size());
  context.figures.push_back(under_limit(name + "_source_text", 1e6, text_bytes, "bytes"));
}

void measure_llvm(Context& context, const std::string& name, const fs::path& model) {
  if (!find_program("clang-19"))
    context.say(fmt::format("SKIPPED: {} by LLVM beside C (clang-19 is not installed)", name));
  else
    context.figures.push_back(llvm_beside_c(name, model, fastest_target()));
}

// Speed when the folder is added to a project without flags and build type, compared with the target's own flags.
void measure_users_project(Context& context, const std::string& name, const fs::path& model) {
  Target target = fastest_target();
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!find_program(compiler) || !find_program("cmake")) {
      context.say(fmt::format("SKIPPED: {} by add_subdirectory with {} (it or cmake is not installed)", name, compiler));
      continue;
    }
    const fs::path dir = context.work / (name + "_added_" + compiler);
    tool({"compile", model.string(), "--name", name, "--target", target.name, "-o", dir.string()});
    const fs::path users_timer = build_timer_of_users_project(context, dir, name, compiler);
    target.toolchain.compilers = {compiler};
    double compile_seconds = 0, users = INFINITY, own = INFINITY;
    const fs::path own_timer = build_timer(dir, name, target, &compile_seconds);
    for (int turn = 0; turn < 7; turn++) {  // in turns, so that a slow minute of the machine is one of both
      users = std::min(users, run_timer(users_timer, dir));
      own = std::min(own, run_timer(own_timer, dir));
    }
    context.figures.push_back(
        {fmt::format("{}_by_add_subdirectory_{}", name, compiler), own / users, "time with the target's flags/time", 0.9,
         fmt::format("{:.1f} ms without flags of the user's, {:.1f} ms with the target's, {}", users * 1e3, own * 1e3, target.name)});
  }
}

// --- growth with the length of a model

void measure_chain(Context& context, const test::Chain& chain) {
  ProcessResult once, twice;
  for (auto [nodes, result] : {std::pair{20'000, &once}, std::pair{40'000, &twice}}) {
    const fs::path model = context.work / "chain.onnx";
    test::write_chain(chain, nodes, model);
    std::vector<std::string> args{"inspect", model.string()};
    for (const std::string& option : test::options_of(chain)) args.push_back(option);
    *result = tool(args);
  }
  const std::string name = fmt::format("chain_{}_", replaced(chain.name, " ", "_"));
  context.figures.push_back(under_limit(name + "inspect_time", 5, once.cpu_seconds, "s of processor time for 20 000 nodes"));
  context.figures.push_back(under_limit(name + "inspect_memory", 1e9, static_cast<double>(once.max_rss_bytes), "bytes for 20 000 nodes"));
  context.figures.push_back(under_limit(name + "growth", 2.2, twice.cpu_seconds / once.cpu_seconds, "times the time for twice the nodes"));
}

// --- limits that were promised

void measure_arena_limit(Context& context, const std::string& name, double limit) {
  const fs::path dir = context.work / (name + "_arena");
  tool({"compile", (context.models / name / "model.onnx").string(), "-o", dir.string()});
  context.figures.push_back(
      under_limit(name + "_arena_limit", limit, read_json(dir / "report.json").at("arena_bytes").get<double>(), "bytes"));
}

void measure_cortex_m(Context& context, const std::string& name, const fs::path& model, std::optional<double> code_limit) {
  if (!find_program("arm-none-eabi-gcc") || !find_program("qemu-system-arm")) {
    context.say("SKIPPED: " + name + " on cortex-m4f (no arm-none-eabi-gcc or qemu-system-arm)");
    return;
  }
  const ProcessResult run = tool({"validate", model.string(), "--name", name, "--backends", "interp", "--target", "cortex-m4f", "--json"});
  const Json target = Json::parse(run.out).at("target");
  const fs::path dir = context.work / (name + "_m4");
  tool({"compile", model.string(), "--name", name, "--target", "cortex-m4f", "-o", dir.string()});
  const double macs = read_json(dir / "report.json").at("macs").get<double>(), instructions = target.at("instructions").get<double>();
  context.figures.push_back({name + "_cortex_m4f_macs_per_instruction", macs / instructions, "multiply-accumulates/executed instruction",
                             std::nullopt,
                             fmt::format("{:.0f} instructions, {:.2f} a multiply-accumulate; stack {} bytes", instructions,
                                         instructions / macs, target.at("stack_bytes").dump())});
  if (code_limit)
    context.figures.push_back(under_limit(name + "_cortex_m4f_code", *code_limit, target.at("code_bytes").get<double>(), "bytes"));
}

void measure_backends(Context& context, const std::string& name, const fs::path& model, const fs::path& data) {
  const ProcessResult run = tool({"validate", model.string(), "--backends", "all", "--data", data.string(), "--json"});
  context.figures.push_back(under_limit(name + "_validate_time", 120, run.seconds, "s"));
  context.figures.push_back(under_limit(name + "_validate_memory", 2e9, static_cast<double>(run.max_rss_bytes), "bytes"));
}

void measure_chains(Context& context) {
  for (const test::Chain& chain : test::kChains) {
    context.say(fmt::format("chain: {}", chain.name));
    measure_chain(context, chain);
  }
}

void measure_int8_everywhere(Context& context) {
  measure_pointwise(context);
  measure_int8(context);
}

Figures measure(Context& context) {
  measure_chains(context);
  for (const char* name : {"mlp", "lenet", "ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder"}) {
    context.say(name);
    const fs::path model = zoo(context, {name}, std::string(name) + ".onnx");
    measure_speed(context, name, model, std::nullopt, false);
    measure_llvm(context, name, model);
    measure_cortex_m(context, name, model, std::nullopt);
  }
  measure_int8(context);
  measure_cores(context);
  measure_pointwise(context);
  measure_training(context);
  measure_beside_onnxruntime(context);
  measure_workers(context);
  measure_searches(context);
  context.say("detector");
  const fs::path detector = zoo(context, {"detector"}, "detector.onnx");
  measure_speed(context, "detector", detector, std::nullopt, false);
  measure_llvm(context, "detector", detector);
  measure_users_project(context, "detector", detector);
  if (!fs::exists(context.models)) {
    context.say("SKIPPED: figures of downloaded models (set ETCH_MODELS to a folder of models)");
    return context.figures;
  }
  context.say("resnet50");
  const fs::path dense = zoo(context, {"densify", (context.models / "light_resnet50" / "model.onnx").string()}, "light_resnet50.onnx");
  measure_speed(context, "resnet50", dense, 0.10, true);
  measure_llvm(context, "resnet50", dense);
  measure_backends(context, "resnet50", dense, context.models / "light_resnet50" / "lcg");
  context.say("limits");
  measure_cortex_m(context, "kws_f32", context.models / "kws_f32" / "model.onnx", 24576.0);
  measure_cortex_m(context, "vww_f32", context.models / "vww_f32" / "model.onnx", std::nullopt);
  measure_arena_limit(context, "kws_f32", 64000);
  measure_arena_limit(context, "kws_f32_bn", 64000);
  measure_arena_limit(context, "vww_f32", 221184);
  measure_arena_limit(context, "light_resnet50", 7.3e6);
  return context.figures;
}

void print(const Figures& figures, bool json) {
  if (json) {
    nlohmann::ordered_json array = nlohmann::ordered_json::array();
    for (const Figure& f : figures)
      array.push_back({{"name", f.name},
                       {"value", f.value},
                       {"unit", f.unit},
                       {"goal", f.goal ? nlohmann::ordered_json(*f.goal) : nlohmann::ordered_json(nullptr)}});
    fmt::print("{}\n", array.dump(2));
    return;
  }
  fmt::print("{:<44} {:>8} {:>6}  {}\n", "figure (more is better)", "value", "goal", "measured");
  for (const Figure& f : figures)
    fmt::print("{:<44} {:>8.3f} {:>6}  {} ({})\n", f.name, f.value, f.goal ? fmt::format("{:.2f}", *f.goal) : "-", f.note, f.unit);
}

/// What can be measured alone.
struct Group {
  const char *flag, *text;
  void (*measure)(Context&);
};
constexpr Group kGroups[] = {
    {"--chains", "etch's own time and memory on models of 20 000 nodes, alone", measure_chains},
    {"--int8", "int8 networks on the Cortex-M4F, and int8 kernels beside this processor's peak, alone", measure_int8_everywhere},
    {"--training", "emitted training steps beside PyTorch's, alone", measure_training},
    {"--onnxruntime", "networks and layers beside ONNX Runtime, alone", measure_beside_onnxruntime},
    {"--workers", "networks shared by two workers, alone", measure_workers},
    {"--cores", "layers on cores with vectors, in instructions, alone", measure_cores},
    {"--search", "how long etch tune takes, alone", measure_searches},
};

int run(int argc, char** argv) {
  CLI::App app{"figures of speed, memory and code size, as ratios", "etch_bench"};
  std::vector<CLI::Option*> flags;
  flags.reserve(std::size(kGroups));
  for (const Group& group : kGroups) flags.push_back(app.add_flag(group.flag, group.text));
  std::string only;
  app.add_option("--only", only, "of --onnxruntime, what has this in its name")->type_name("TEXT")->needs("--onnxruntime");
  bool json = false;
  app.add_flag("--json", json, "an array of {name, value, unit, goal}");
  CLI11_PARSE(app, argc, argv);
  const TempDir work("etch-bench");
  const char* models = std::getenv("ETCH_MODELS");
  Context context{work.path(), models != nullptr ? models : "", {}, only};
  bool is_part = false;
  for (std::size_t i = 0; i < flags.size(); i++) {
    if (flags[i]->count() == 0) continue;
    kGroups[i].measure(context);
    is_part = true;
  }
  if (!is_part) measure(context);
  if (!only.empty() && context.figures.empty())
    throw UserError("--only " + only, "nothing that is measured has this in its name", "etch_bench --onnxruntime lists all");
  print(context.figures, json);
  return 0;
}

}  // namespace
}  // namespace etch::bench

int main(int argc, char** argv) {
  try {
    return etch::bench::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "etch_bench: error: {}\n", error.what());
    return 1;
  }
}
