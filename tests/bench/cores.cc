#include "cores.h"

#include <optional>

#include "layers.h"

namespace etch::bench {
namespace {

struct Convolution {
  const char* name;
  std::int64_t channels, outputs, size, groups, image;
};

constexpr Convolution kConvolutions[] = {
    {"conv3x3_64_on_56", 64, 64, 3, 1, 56}, {"conv1x1_256_on_14", 256, 256, 1, 1, 14}, {"depthwise_128_on_56", 128, 128, 3, 128, 56}};

struct Core {
  const char *target, *compiler, *emulator;
  std::optional<double> limits[std::size(kConvolutions)];
};

const Core kCores[] = {{"cortex-a53", "clang-19", "qemu-aarch64", {0.38, 0.38, 1.2}},
                       {"cortex-a72", "clang-19", "qemu-aarch64", {}},
                       {"rv64gc", "clang-19", "qemu-riscv64", {}},
                       {"rv64gcv", "clang-19", "qemu-riscv64", {}}};

}  // namespace

void measure_cores(Context& context) {
  for (const Core& core : kCores) {
    if (!find_program(core.compiler) || !find_program(core.emulator)) {
      context.say(fmt::format("SKIPPED: layers on {} (no {} or {})", core.target, core.compiler, core.emulator));
      continue;
    }
    for (std::size_t i = 0; i < std::size(kConvolutions); i++) {
      const Convolution& c = kConvolutions[i];
      const std::string name = std::string(c.name) + "_" + core.target;
      context.say(name);
      GraphBuilder g(c.name, 13);
      const std::string x = g.input("x", DType::Float32, {1, c.channels, c.image, c.image});
      g.output(convolution(g, x, c.channels, c.outputs, c.size, 1, c.groups), DType::Float32, {1, c.outputs, c.image, c.image});
      const fs::path model = context.work / (name + ".onnx"), dir = context.work / name;
      g.write(model);
      tool({"validate", model.string(), "--name", "model", "--backends", "c", "--target", core.target, "--tuning", "off", "-o",
            dir.string()});
      const Json report = read_json(dir / "report.json");
      const double macs = report.at("macs").get<double>(), instructions = report.at("instructions").get<double>();
      if (core.limits[i])
        context.figures.push_back(under_limit(name, *core.limits[i], instructions / macs, "instructions a multiply-accumulate"));
      else
        context.figures.push_back({name, macs / instructions, "multiply-accumulates/executed instruction", std::nullopt,
                                   fmt::format("{:.3g} instructions a multiply-accumulate", instructions / macs)});
    }
  }
}

}  // namespace etch::bench
