#include "backends.h"

#include <algorithm>
#include <memory>
#include <numeric>

#include "base/error.h"
#include "base/process.h"
#include "device/device.h"
#include "driver/compile.h"
#include "validate/data_set.h"

namespace etch::bench {
namespace {

constexpr double kGoal = 1 / 1.1;  // LLVM takes at most 1.1 times the time
constexpr double kSeconds = 4;     // of measuring a network
constexpr int kTurnsMin = 5, kTurnsMax = 400;
constexpr double kShareMin = 0.01;  // of the time: shorter calls are clock noise

/// A network on one backend.
struct Contender {
  Contender(const char* device, const Frontend& frontend, const CompileOptions& options) {
    DeviceOptions device_options;
    device_options.of<COptions>().cc = "clang-19";
    device_options.of<COptions>().flags = options.target.toolchain.flags;
    device_options.of<COptions>().flags.insert(device_options.of<COptions>().flags.begin(), "-std=gnu99");
    device_options.of<COptions>().arena_align = options.target.arena_align;
    device_options.of<LlvmOptions>().arena_align = options.target.arena_align;
    const auto made = make_device(device, device_options);
    program = std::make_unique<Program>(lower_model(frontend, made->language(), options));
    loaded = made->load(*program);
    fastest.assign(program->calls.size(), INFINITY);
  }
  /// Returns the seconds of all calls.
  double run(const std::vector<Array>& inputs) {
    std::vector<double> seconds;
    RunOptions run_options;
    run_options.call_seconds = &seconds;
    loaded->run(inputs, {}, run_options);
    for (std::size_t k = 0; k < seconds.size(); k++) fastest[k] = std::min(fastest[k], seconds[k]);
    return std::accumulate(seconds.begin(), seconds.end(), 0.0);
  }
  double sum() const { return std::accumulate(fastest.begin(), fastest.end(), 0.0); }

  std::unique_ptr<Program> program;
  std::unique_ptr<LoadedProgram> loaded;
  std::vector<double> fastest;  // seconds, of each call
};

}  // namespace

Figure llvm_beside_c(const std::string& name, const std::filesystem::path& model, const Target& target) {
  if (!find_program("clang-19")) throw UserError("clang-19", "is not installed");
  CompileOptions options;
  options.import.path = model;
  options.target = target;
  const Frontend frontend = read_model(options);
  const std::vector<Array> inputs = random_data_sets(frontend.model, 1).at(0).inputs;
  Contender c("c", frontend, options), llvm("llvm", frontend, options);
  check(c.fastest.size() == llvm.fastest.size(), "both languages have the same calls");
  double spent = 0;
  for (int turn = 0; turn < kTurnsMax && (turn < kTurnsMin || spent < kSeconds); turn++) spent += c.run(inputs) + llvm.run(inputs);
  double worst = 0;
  std::string worst_name = "none";
  for (std::size_t k = 0; k < c.fastest.size(); k++) {
    const double ratio = llvm.fastest[k] / c.fastest[k];
    if (llvm.fastest[k] < kShareMin * llvm.sum() || ratio <= worst) continue;
    worst = ratio;
    worst_name = llvm.program->kernels[static_cast<std::size_t>(llvm.program->calls[k].kernel)].name;
  }
  return {name + "_llvm_beside_c", c.sum() / llvm.sum(), "time by C/time by LLVM", kGoal,
          fmt::format("C {:.3f} ms, LLVM {:.3f} ms, {}; slowest beside C: {}, {:.2f} times", c.sum() * 1e3, llvm.sum() * 1e3, target.name,
                      worst_name, worst)};
}

}  // namespace etch::bench
