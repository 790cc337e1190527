#include "int8.h"

#include <algorithm>
#include <functional>
#include <map>

#include "onnx/builder.h"

namespace etch::bench {
namespace {

// The report of the model after a run in the emulator, with the cost of each kernel.
Json costs_of(Context& context, const std::string& name, const fs::path& model, const std::string& goal) {
  const fs::path dir = context.work / (name + "_" + goal);
  tool({"validate", model.string(), "--name", name, "--backends", "c", "--target", "cortex-m4f", "--optimize", goal, "-o", dir.string()});
  return read_json(dir / "report.json");
}

// The most instructions that one of the calls with such a kernel takes for a multiply-accumulate; 0 if there is none.
double worst_per_mac(const Json& report, const std::function<bool(const std::string& kernel)>& counts) {
  double worst = 0;
  for (const Json& kernel : report.at("kernels")) {
    if (!kernel.contains("cost") || kernel.at("cost").at("instructions_per_mac").is_null()) continue;
    if (counts(kernel.at("name"))) worst = std::max(worst, kernel.at("cost").at("instructions_per_mac").get<double>());
  }
  return worst;
}

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

// Two tensors of 16384 bytes, each of a scale and a zero point of its own.
fs::path write_int8_add(const fs::path& path) {
  GraphBuilder g("add", 13);
  int number = 0;
  const auto converted = [&](const char* op, const std::string& x, double scale, std::int64_t zero) {
    const std::string name = "p" + std::to_string(number++);
    return g.node(op, {x, g.initializer(name + "s", Array::of_doubles(DType::Float32, {}, std::vector<double>{scale})),
                       g.initializer(name + "z", Array::of_ints(DType::Int8, {}, std::vector<std::int64_t>{zero}))});
  };
  const std::vector<OnnxDim> shape{1, 16, 32, 32};
  const std::string sum = g.node("Add", {converted("DequantizeLinear", g.input("x", DType::Int8, shape), 0.05, 3),
                                         converted("DequantizeLinear", g.input("y", DType::Int8, shape), 0.03, -5)});
  g.output(converted("QuantizeLinear", sum, 0.07, 4), DType::Int8, shape);
  g.write(path);
  return path;
}

void measure_int8_kernels(Context& context, const Json& resnet8, const Json& autoencoder, const Json& autoencoder_in_flash) {
  const auto limit = [&](const std::string& name, double most, double value) {
    context.figures.push_back(under_limit("int8_" + name, most, value, "instructions a multiply-accumulate"));
  };
  for (const char* stack : {"stack1", "stack2", "stack3"})
    limit("conv3x3_" + std::string(stack), 1.2, worst_per_mac(resnet8, [&](const std::string& kernel) {
            return has(kernel, stack) && (has(kernel, "conv1") || has(kernel, "conv2"));
          }));
  const auto first = [](const std::string& kernel) { return has(kernel, "fc1") && !has(kernel, "fc10"); };
  limit("dense_640x128", 1.1, worst_per_mac(autoencoder, first));
  const Json& flash = autoencoder_in_flash.at("kernels").at(0).at("cost");
  limit("dense_640x128_flash", 1.4, flash.at("instructions_per_mac").get<double>());
  const Json add = costs_of(context, "int8_add", write_int8_add(context.work / "int8_add.onnx"), "speed");
  context.figures.push_back(
      under_limit("int8_add", 20, add.at("instructions").get<double>() / add.at("output_bytes").get<double>(), "instructions an element"));
  if (!fs::exists(context.models)) return;
  const Json kws = costs_of(context, "kws_int8", context.models / "kws_int8" / "model.onnx", "speed");
  limit("depthwise3x3", 3.5, worst_per_mac(kws, [&](const std::string& kernel) { return has(kernel, "conv_op1"); }));
}

}  // namespace

// The residual network and the autoencoder, quantised.
void measure_int8(Context& context) {
  if (!find_program("arm-none-eabi-gcc") || !find_program("qemu-system-arm")) {
    context.say("SKIPPED: int8 on cortex-m4f (no arm-none-eabi-gcc or qemu-system-arm)");
    return;
  }
  const struct {
    const char* name;
    double arena, arena_of_ram;
  } rows[] = {{"resnet8", 49'152, 32'768}, {"autoencoder", 768, 640}};
  std::map<std::string, Json> reports;
  for (const auto& row : rows) {
    const std::string name = std::string(row.name) + "_int8";
    context.say(name);
    const fs::path model = zoo(context, {"quantised", row.name}, name + ".onnx");
    for (const char* goal : {"speed", "flash", "ram"}) {
      const Json report = reports[name + "_" + goal] = costs_of(context, name, model, goal);
      const double macs = report.at("macs").get<double>(), instructions = report.at("instructions").get<double>();
      context.figures.push_back({name + "_cortex_m4f_" + goal, macs / instructions, "multiply-accumulates/executed instruction",
                                 std::nullopt,
                                 fmt::format("{:.0f} instructions, {:.2f} a multiply-accumulate; code {}, weights {} bytes", instructions,
                                             instructions / macs, report.at("code_bytes").dump(), report.at("weights_bytes").dump())});
      if (std::string(goal) == "flash") continue;
      const bool is_ram = std::string(goal) == "ram";
      context.figures.push_back(under_limit(name + (is_ram ? "_arena_limit_ram" : "_arena_limit"), is_ram ? row.arena_of_ram : row.arena,
                                            report.at("arena_bytes").get<double>(), "bytes"));
    }
  }
  measure_int8_kernels(context, reports.at("resnet8_int8_speed"), reports.at("autoencoder_int8_speed"),
                       reports.at("autoencoder_int8_flash"));
}

}  // namespace etch::bench
