#include "search.h"

#include "emulator/cross_build.h"
#include "layers.h"
#include "peak.h"

namespace etch::bench {
namespace {

constexpr double kOfKernel = 60, kOfNetwork = 600;  // seconds

void measure_search(Context& context, const std::string& name, const fs::path& model, const std::string& target, double limit,
                    const std::vector<std::string>& more) {
  const std::string figure = fmt::format("search_{}_{}", name, target);
  context.say(figure);
  std::vector<std::string> args{"tune", model.string(), "--target", target, "--tuning",
                                "off",  "--cache",      "off",      "-o",   (context.work / (figure + ".opts")).string()};
  args.insert(args.end(), more.begin(), more.end());
  context.figures.push_back(under_limit(figure, limit, tool(args).seconds, "s"));
}

}  // namespace

void measure_searches(Context& context) {
  GraphBuilder g("conv", 13);
  const std::string x = g.input("x", DType::Float32, {1, 64, 56, 56});
  g.output(convolution(g, x, 64, 64, 3), DType::Float32, {1, 64, 56, 56});
  const fs::path layer = context.work / "conv3x3_64_on_56.onnx", network = context.models / "kws_f32" / "model.onnx";
  g.write(layer);
  for (const std::string& name : {fastest_target().name, std::string("cortex-a53")}) {
    const Target target = find_target(name, ETCH_SOURCE_DIR "/targets");
    if (const std::string missing = missing_compiler(target);
        !missing.empty() || (!target.is_host() && !find_program(target.emulator.program))) {
      context.say(fmt::format("SKIPPED: search for {} (no {})", name, missing.empty() ? target.emulator.program : missing));
      continue;
    }
    measure_search(context, "conv3x3_64_on_56", layer, name, kOfKernel, {"--kernel", "k0_conv"});
    if (fs::exists(network)) measure_search(context, "kws_f32", network, name, kOfNetwork, {});
  }
  if (!fs::exists(network)) context.say("SKIPPED: search for a network (set ETCH_MODELS to a folder of models)");
}

}  // namespace etch::bench
