#include "training.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "peak.h"
#include "target/target.h"
#include "timer.h"

namespace etch::bench {
namespace {

// Prints the seconds of the fastest step and of the fastest forward pass, in turns.
constexpr const char* kTimer = R"(
#define _POSIX_C_SOURCE 200809L
#include "resnet8_train.h"
#include <stdio.h>
#include <time.h>
static ETCH_ALIGNED(64) unsigned char arena[RESNET8_TRAIN_ARENA_BYTES], state[RESNET8_STATE_BYTES];
static float in[RESNET8_INPUT_COUNT], out[RESNET8_OUTPUT_COUNT];
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void) {
  const int32_t label = 3;
  double step = 1e9, run = 1e9;
  float loss;
  unsigned i;
  for (i = 0; i < RESNET8_INPUT_COUNT; i++) in[i] = (float)(i % 97) / 97.0f;
  if (resnet8_state_init(state) != ETCH_OK) return 1;
  for (i = 0; i < 200; i++) {
    double t = now();
    if (resnet8_train_step(arena, sizeof arena, state, in, &label, 0.001f, &loss) != ETCH_OK) return 1;
    t = now() - t;
    if (t < step) step = t;
    t = now();
    if (resnet8_run(arena, sizeof arena, state, in, out) != ETCH_OK) return 1;
    t = now() - t;
    if (t < run) run = t;
  }
  printf("%.9e %.9e\n", step, run);
  return 0;
}
)";

// Seconds of PyTorch's fastest step on one thread; nullopt if Debian's Python has none.
std::optional<double> torch_step() {
  const ProcessResult ran = run_process({"/usr/bin/python3", ETCH_SOURCE_DIR "/tests/bench/torch_step.py"});
  if (ran.exit_code == 77) return std::nullopt;
  if (!ran.ok()) throw UserError("torch_step.py", describe(ran) + ": " + ran.err);
  return std::stod(ran.out);
}

}  // namespace

// The step of the residual network, batch 1, plain gradient descent.
void measure_training(Context& context) {
  context.say("training");
  const Target target = fastest_target();
  const fs::path dir = context.work / "resnet8_train", model = zoo(context, {"resnet8"}, "resnet8.onnx");
  tool({"compile", model.string(), "--train", "loss=crossentropy,optimizer=sgd", "--target", target.name, "-o", dir.string()});
  const fs::path timer = build_timer(dir, kTimer, target);
  double step = INFINITY, run = INFINITY;
  std::optional<double> torch;
  for (int turn = 0; turn < 5; turn++) {  // in turns, so that a slow minute of the machine is one of both
    const ProcessResult ran = run_process({timer.string()});
    if (!ran.ok()) throw UserError("timer", describe(ran));
    std::size_t end = 0;
    step = std::min(step, std::stod(ran.out, &end));
    run = std::min(run, std::stod(ran.out.substr(end)));
    if (const auto seconds = torch_step()) torch = std::min(torch.value_or(INFINITY), *seconds);
  }
  const Json report = read_json(dir / "report.json");
  const double arena = report.at("step_arena_bytes").get<double>(), bound = report.at("step_arena_lower_bound_bytes").get<double>();
  context.figures.push_back({"resnet8_step_arena", bound / arena, "lower bound/arena", 1 / 1.05, fmt::format("{} bytes", arena)});
  const std::string note =
      fmt::format("{:.2f} ms, {} by {}; the forward pass {:.2f} ms", step * 1e3, target.name, target.toolchain.compilers[0], run * 1e3);
  context.figures.push_back({"resnet8_step_of_forward_passes", 3.5 * run / step, "3.5 forward passes/time", 1.0, note});
  if (!torch) return context.say("SKIPPED: training steps beside PyTorch (apt-get install python3-torch)");
  context.figures.push_back({"resnet8_step_beside_pytorch", 1.5 * *torch / step, "1.5 PyTorch's time/time", 1.0,
                             fmt::format("{}; PyTorch {:.2f} ms", note, *torch * 1e3)});
}

}  // namespace etch::bench
