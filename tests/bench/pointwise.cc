#include "pointwise.h"

#include <algorithm>
#include <random>

#include "onnx/builder.h"
#include "peak.h"
#include "target/target.h"
#include "timer.h"

namespace etch::bench {
namespace {

// Prints the seconds of the fastest run of call CALL.
constexpr const char* kTimer = R"(
#define _POSIX_C_SOURCE 200809L
#include "pointwise.h"
#include <stdio.h>
#include <time.h>
static ETCH_ALIGNED(64) unsigned char arena[POINTWISE_ARENA_BYTES], in[ELEMENTS], out[ELEMENTS];
static double last, best = 1e9;
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
static void after(void *user, uint32_t call, etch_address const *arg) {
  const double t = now();
  (void)user;
  (void)arg;
  if (call == CALL && t - last < best) best = t - last;
  last = now();
}
int main(void) {
  unsigned i;
  for (i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i % 251);
  for (i = 0; i < 3000; i++)
    if (pointwise_profile(arena, sizeof arena, in, out, after, 0) != ETCH_OK) return 1;
  printf("%.9e\n", best);
  return 0;
}
)";

// Three convolutions of 1 x 1: what the middle one reads and writes lies as the kernels want it.
fs::path write_chain(const fs::path& path, std::int64_t channels, std::int64_t size) {
  GraphBuilder g("pointwise", 13);
  std::mt19937 rng(1);
  const auto scale = [&](const std::string& name, double v) {
    return g.initializer(name, Array::of_doubles(DType::Float32, {}, std::vector<double>{v}));
  };
  const auto zero = [&](const std::string& name, DType dtype, std::int64_t v) {
    return g.initializer(name, Array::of_ints(dtype, {}, std::vector<std::int64_t>{v}));
  };
  const std::vector<OnnxDim> shape{1, channels, size, size};
  std::string y = g.input("x", DType::UInt8, shape);
  for (int layer = 0; layer < 3; layer++) {
    const std::string n = std::to_string(layer);
    std::vector<std::int64_t> weights, bias;
    for (std::int64_t i = 0; i < channels * channels; i++) weights.push_back(static_cast<std::int64_t>(rng() % 255) - 127);
    for (std::int64_t i = 0; i < channels; i++) bias.push_back(static_cast<std::int64_t>(rng() % 2001) - 1000);
    y = g.node("QLinearConv",
               {y, scale("sx" + n, 0.02), zero("zx" + n, DType::UInt8, 3),
                g.initializer("w" + n, Array::of_ints(DType::Int8, {channels, channels, 1, 1}, weights)), scale("sw" + n, 0.0005),
                zero("zw" + n, DType::Int8, 0), scale("sy" + n, 0.02), zero("zy" + n, DType::UInt8, 3),
                g.initializer("b" + n, Array::of_ints(DType::Int32, {channels}, bias))},
               {}, "y" + n);
  }
  g.output(y, DType::UInt8, shape);
  g.write(path);
  return path;
}

bool has_vnni() {
  std::ifstream info("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(info), std::istreambuf_iterator<char>()};
  return text.find(" avx512_vnni") != std::string::npos;
}

}  // namespace

void measure_pointwise(Context& context) {
  if (!has_vnni()) return context.say("SKIPPED: int8 pointwise beside the VNNI peak (this processor has no AVX-512 VNNI)");
  if (!find_program("clang-19")) return context.say("SKIPPED: int8 pointwise beside the VNNI peak (clang-19 is not installed)");
  const Target target = find_target("x86-64-vnni", ETCH_SOURCE_DIR "/targets");
  constexpr std::int64_t kSize = 14;
  for (const std::int64_t channels : {64, 128, 256}) {
    const std::string name = fmt::format("int8_pointwise_{}", channels);
    context.say(name);
    const fs::path dir = context.work / name, model = write_chain(context.work / (name + ".onnx"), channels, kSize);
    tool({"compile", model.string(), "--name", "pointwise", "--target", target.name, "--weights", "c", "-o", dir.string()});
    const Json kernels = read_json(dir / "report.json").at("kernels");
    int call = 0;
    while (call < static_cast<int>(kernels.size()) &&
           kernels[static_cast<std::size_t>(call)].at("name").get<std::string>().find("y1") == std::string::npos)
      call++;
    const fs::path timer = build_timer(
        dir, kTimer, target, {"-DETCH_PROFILE=1", fmt::format("-DCALL={}", call), fmt::format("-DELEMENTS={}", channels * kSize * kSize)});
    double seconds = INFINITY, peak = 0;
    for (int turn = 0; turn < 5; turn++) {  // in turns, so that a slow minute of the machine is one of both
      const ProcessResult ran = run_process({timer.string()});
      if (!ran.ok()) throw UserError("timer", describe(ran));
      seconds = std::min(seconds, std::stod(ran.out));
      peak = std::max(peak, vnni_peak(target.toolchain.compilers[0], target.toolchain.flags));
    }
    const double rate = static_cast<double>(channels * channels * kSize * kSize) / seconds;
    context.figures.push_back({name + "_fraction_of_vnni_peak", rate / peak, "of one core's VPDPBUSD peak", 0.7,
                               fmt::format("{:.2f} us, {:.0f} of {:.0f} G multiply-accumulates/s, {} by {}", seconds * 1e6, rate / 1e9,
                                           peak / 1e9, target.name, target.toolchain.compilers[0])});
  }
}

}  // namespace etch::bench
