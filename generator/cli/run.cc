// etch run: one run on this machine.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/error.h"
#include "cli/debug.h"
#include "cli/model_options.h"
#include "emit/write.h"
#include "onnx/tensor_file.h"

namespace etch {
namespace {

// Name, type, shape, and the values if they are few.
void print_array(const std::string& name, const Array& array) {
  constexpr std::int64_t kShown = 16;
  fmt::print("{} {} [{}]:", name, name_of(array.dtype()), fmt::join(array.shape(), ","));
  for (std::int64_t i = 0; i < std::min(array.size(), kShown); i++) fmt::print(" {}", array.at(i).to_text());
  fmt::print("{}\n", array.size() > kShown ? " ..." : "");
}

// "   1.234 ms  45.6 %  conv1 + relu1", a line for each call, then their sum.
void print_profile(const Program& program, const std::vector<double>& seconds) {
  const double total = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const auto line = [&](double s, const std::string& what) {
    fmt::print(stderr, "{:10.3f} ms {:5.1f} %  {}\n", s * 1e3, total > 0 ? 100 * s / total : 0, what);
  };
  for (std::size_t c = 0; c < seconds.size(); c++)
    line(seconds[c], fmt::format("{}: {}", program.calls[c].short_name, fmt::join(program.calls[c].nodes, ", ")));
  line(total, "all calls");
}

}  // namespace

int run_command(const RunArgs& args) {
  Progress progress;
  const CompileOptions options = compile_options(args, progress);
  DeviceOptions on_host = device_options(args, options.target);
  on_host.debug = debug_options(args.debug, progress);
  const auto devices = devices_named({args.backend}, on_host);
  if (devices.size() != 1)
    throw UserError("backend " + args.backend, "is not one backend", fmt::format("choose one of {}", fmt::join(device_names(), ", ")));
  const Frontend frontend = read_model(options);
  const VarValues vars = variable_values(args.sets, frontend.model);
  const DataSet set = data_set_of_files(frontend.model, args.inputs, vars, args.seed);
  const Program program = lower_model(frontend, devices[0]->language(), options);
  progress.step("compiling", 0, 0);
  const auto loaded = devices[0]->load(program);
  progress.step("running", 0, 0);
  std::vector<double> seconds;
  RunOptions run_options;
  if (args.profile) run_options.call_seconds = &seconds;
  for (int k = 1; k < args.times; k++) loaded->run(set.inputs, set.vars);
  const std::vector<Array> outputs = loaded->run(set.inputs, set.vars, run_options);
  progress.clear();
  for (const std::string& name : set.random) fmt::print(stderr, "input '{}': random, seed {}\n", name, args.seed);
  if (args.profile) print_profile(program, seconds);
  std::vector<EmittedFile> files;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const ImportedTensor& info = frontend.model.outputs[i];
    const auto bytes = npy_bytes(outputs[i]);
    files.push_back({info.c_name + ".npy", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
    if (args.output.empty()) print_array(info.name, outputs[i]);
  }
  if (args.output.empty()) return 0;
  write_into(args.output, files);
  for (const EmittedFile& file : files) fmt::print("{}\n", (args.output / file.name).string());
  return 0;
}

}  // namespace etch
