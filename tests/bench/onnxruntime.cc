#include "onnxruntime.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/files.h"
#include "driver/compile.h"
#include "layers.h"
#include "onnx/builder.h"
#include "peak.h"
#include "target/target.h"
#include "untuned.h"

namespace etch::bench {
namespace {

constexpr double kSeconds = 3;          // of turns, for each model and compiler
constexpr double kDifference = 1e-3;    // of outputs: above it what was timed is not the same network
constexpr const char* kName = "model";  // of the emitted functions

using Ints = GraphBuilder::Ints;

/// The names of numpy's types are those of DType.
Json described(const std::vector<ImportedTensor>& tensors) {
  Json rows = Json::array();
  for (const ImportedTensor& t : tensors) {
    Json shape = Json::array();
    for (const Sint& d : t.shape) shape.push_back(d.as_int());
    rows.push_back({t.name, std::string(name_of(t.dtype)), shape});
  }
  return rows;
}

fs::path build_library(const fs::path& dir, const Target& target, const std::string& compiler) {
  std::vector<std::string> argv{compiler, "-std=gnu99", "-shared", "-fPIC"};
  argv.insert(argv.end(), target.toolchain.flags.begin(), target.toolchain.flags.end());
  for (const auto& entry : fs::directory_iterator(dir)) {
    const std::string file = entry.path().filename().string();
    if (file != "selftest.c" && (file.ends_with(".c") || file.ends_with(".S"))) argv.push_back(file);
  }
  const std::string library = compiler + ".so";
  argv.insert(argv.end(), {"-o", library, "-lm"});
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 600;
  const ProcessResult built = run_process(argv, options);
  if (!built.ok()) throw UserError(dir.string(), describe(built) + ": " + built.err.substr(0, 500));
  return dir / library;
}

struct Limits {
  double clang = 1.05, gcc = 1.2;  // of etch's time / ONNX Runtime's
  double searched = 0.97;          // by clang, with what a search found
};

/// The least time that this machine allows for a layer.
enum class Bound : std::uint8_t { None, Products, Larger, Reading };
struct Physical {
  Bound by = Bound::None;                // its products at FMA peak; those, or its bytes, whichever takes longer; reading its weights
  std::optional<double> clang{}, gcc{};  // goals, as a part of it
  std::optional<double> searched{};      // by clang, with what a search found
  double operations = 0;                 // beside products, for each element of the output: two take the time of a product
};

/// What is compared: a model, and how long etch's code for it may take.
struct Case {
  std::string name;
  fs::path model;
  Limits limits{};
  Physical physical{};
  bool of_bytes = false;

  Target target() const { return of_bytes ? fastest_target_of_bytes() : fastest_target(); }
};

void add_physical(Context& context, const Case& c, const std::string& figure, const Json& report, const std::string& compiler,
                  double seconds) {
  if (c.physical.by == Bound::None) return;
  const Target target = fastest_target();
  const std::string& by = target.toolchain.compilers[0];
  const auto bits = static_cast<int>(target.vector.bits);
  const double peak = fma_peak(by, target.toolchain.flags, bits);  // anew: the clock of one minute is not that of the next
  const auto bytes_of = [&](const char* what) { return report.at(what).get<std::int64_t>(); };
  const std::int64_t bytes = bytes_of("input_bytes") + bytes_of("output_bytes") + bytes_of("weights_bytes");
  const double operations = 2 * report.at("macs").get<double>() + c.physical.operations * static_cast<double>(bytes_of("output_bytes")) / 4;
  double least = operations / peak;
  std::string what = "of one core's FMA peak";
  if (c.physical.by == Bound::Reading) {
    static const double memory = read_bandwidth(by, target.toolchain.flags, bits, 4 * last_cache_bytes());
    least = static_cast<double>(bytes) / memory;
    what = fmt::format("of reading four times the last cache ({:.1f} GB/s)", memory / 1e9);
  } else if (c.physical.by == Bound::Larger) {
    const double memory = static_cast<double>(bytes) / copy_bandwidth(by, target.toolchain.flags, bits, bytes);
    what = memory > least ? "of moving as many bytes" : what;
    least = std::max(least, memory);
  }
  context.figures.push_back({figure + "_of_the_limit_" + compiler, least / seconds, what,
                             compiler == "gcc" ? c.physical.gcc : c.physical.clang,
                             fmt::format("{:.3f} ms, {:.3f} ms at the limit", seconds * 1e3, least * 1e3)});
}

/// Times what was emitted into `dir`, by each compiler. False: ONNX Runtime is not there.
bool measure_code(Context& context, const Case& c, const std::string& figure, const fs::path& dir) {
  CompileOptions options;
  options.import.path = c.model;
  options.target = c.target();
  const Frontend frontend = read_model(options);
  const Json report = read_json(dir / "report.json");
  for (const char* compiler : {"clang-19", "gcc"}) {
    if (!find_program(compiler)) {
      context.say(fmt::format("SKIPPED: {} by {} (it is not installed)", figure, compiler));
      continue;
    }
    const fs::path library = build_library(dir, options.target, compiler);
    const ProcessResult ran =
        run_process({ETCH_SOURCE_DIR "/tests/fuzz/in_venv", "../bench/beside_onnxruntime.py", c.model.string(), library.string(),
                     std::string(kName) + "_run", report.at("arena_bytes").dump(), fmt::format("{}", kSeconds),
                     described(frontend.model.inputs).dump(), described(frontend.model.outputs).dump()});
    if (ran.exit_code == 77) {
      context.say(ran.out);
      return false;
    }
    if (!ran.ok()) throw UserError("beside_onnxruntime.py " + figure, describe(ran) + ": " + ran.err.substr(0, 500));
    const Json times = Json::parse(ran.out);
    const double own = times.at("etch").get<double>(), theirs = times.at("onnxruntime").get<double>();
    if (const double apart = times.at("difference").get<double>(); apart > kDifference)
      throw UserError(figure + " by " + compiler, fmt::format("outputs are {:.1e} apart", apart));
    const double most = std::string(compiler) == "gcc" ? c.limits.gcc : c.limits.clang;
    context.figures.push_back(
        {figure + "_beside_onnxruntime_" + compiler, theirs / own, "ONNX Runtime's time/time", 1 / most,
         fmt::format("{:.3f} ms, ONNX Runtime {:.3f} ms: {:.2f} of its time, limit {:.2f}", own * 1e3, theirs * 1e3, own / theirs, most)});
    add_physical(context, c, figure, report, compiler, own);
  }
  return true;
}

/// The text of an emitted project behind its title, which tells the options.
std::string kernels_in(const fs::path& dir) {
  const std::string text = read_file(dir / (std::string(kName) + ".c"));
  return text.substr(text.find("/* --- kernels"));
}

/// By the heuristics alone, and where the target's table has rows for the model by these, too; where it has none the one code is held to
/// what both may take. False: ONNX Runtime is not there.
bool measure(Context& context, const Case& c) {
  context.say(c.name);
  const std::string target = c.target().name;
  const auto compiled = [&](const std::string& what, std::vector<std::string> more) {
    const fs::path dir = context.work / (c.name + what);
    std::vector<std::string> args{"compile", c.model.string(), "--name", kName, "--target", target, "-o", dir.string(), "--no-measure"};
    args.insert(args.end(), more.begin(), more.end());
    tool(args);
    return dir;
  };
  const fs::path plain = compiled("_beside", {"--tuning", "off"}), tuned = compiled("_tuned", {});
  Case searched = c;
  if (c.physical.searched) searched.physical.clang = c.physical.searched;
  searched.limits.clang = std::min(c.limits.clang, c.limits.searched);
  if (kernels_in(plain) == kernels_in(tuned)) return measure_code(context, searched, c.name, plain);
  return measure_code(context, c, c.name, plain) && measure_code(context, searched, c.name + "_tuned", tuned);
}

/// A network of one layer, as its shapes and what makes its output.
struct Layer {
  const char* name;
  Ints input, output;
  std::function<std::string(GraphBuilder& g, const std::string& x)> build;
  double limit;
  Physical physical{};
};

std::vector<Layer> products() {
  return {
      {"matmul_512",
       {512, 512},
       {512, 512},
       [](GraphBuilder& g, const std::string& x) { return g.node("MatMul", {x, g.seeded("w", {512, 512}, 512)}); },
       1.05,
       {.by = Bound::Products, .clang = 0.85, .gcc = 0.75, .searched = 0.93}},
      {"matmul_1024",
       {1024, 1024},
       {1024, 1024},
       [](GraphBuilder& g, const std::string& x) { return g.node("MatMul", {x, g.seeded("w", {1024, 1024}, 1024)}); },
       1.05},
      {"long_sums_64x16384_1024",
       {64, 16384},
       {64, 1024},
       [](GraphBuilder& g, const std::string& x) { return g.node("MatMul", {x, g.seeded("w", {16384, 1024}, 16384)}); },
       1.05},
      {"conv3x3_64_on_56",
       {1, 64, 56, 56},
       {1, 64, 56, 56},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 64, 64, 3); },
       1.05,
       {.by = Bound::Products, .clang = 0.85, .gcc = 0.75, .searched = 0.93}},
      {"conv1x1_256_on_14",
       {1, 256, 14, 14},
       {1, 256, 14, 14},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 256, 256, 1); },
       1.05,
       {.by = Bound::Products, .clang = 0.85, .gcc = 0.75, .searched = 0.93}},
      {"conv1x1_512_2048_on_7",
       {1, 512, 7, 7},
       {1, 2048, 7, 7},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 512, 2048, 1); },
       1.0,
       {.by = Bound::Products, .clang = 0.85, .gcc = 0.75, .searched = 0.93}},
      {"conv1x1_512_1000_on_13",
       {1, 512, 13, 13},
       {1, 1000, 13, 13},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 512, 1000, 1); },
       1.0},
      {"first_7x7_on_224",
       {1, 3, 224, 224},
       {1, 64, 112, 112},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 3, 64, 7, 2); },
       0.95,
       {.by = Bound::Products, .clang = 0.75}},
      {"first_3x3_on_320",
       {1, 3, 320, 320},
       {1, 16, 160, 160},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 3, 16, 3, 2); },
       0.95},
      {"dense_9216_4096",
       {1, 9216},
       {1, 4096},
       [](GraphBuilder& g, const std::string& x) { return g.dense(x, "fc", 9216, 4096); },
       1.05,
       {.by = Bound::Reading, .clang = 0.85}},
  };
}

// Additions, products and comparisons of one element, a fused product and sum being two. Of softmax: the largest, the distance from it, e^x
// (3 for n, 4 for r, 12 of the polynomial, the product with 2^n), the sum and the product with its reciprocal; of layer norm: the mean, the
// distance from it twice, the sum of squares (2), three factors and summands (3).
constexpr double kOperationsOfSoftmax = 1 + 1 + 20 + 1 + 1, kOperationsOfLayerNorm = 8, kOperationsOfPool = 8;

std::vector<Layer> other_layers() {
  return {
      {"depthwise_128_on_56",
       {1, 128, 56, 56},
       {1, 128, 56, 56},
       [](GraphBuilder& g, const std::string& x) { return convolution(g, x, 128, 128, 3, 1, 128); },
       0.5,
       {.by = Bound::Larger, .clang = 0.6}},
      {"maxpool_64_on_112",
       {1, 64, 112, 112},
       {1, 64, 56, 56},
       [](GraphBuilder& g, const std::string& x) {
         return g.node("MaxPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
       },
       0.95,
       {.by = Bound::Larger, .clang = 0.6, .operations = kOperationsOfPool}},
      {"softmax_64x1000",
       {64, 1000},
       {64, 1000},
       [](GraphBuilder& g, const std::string& x) { return g.node("Softmax", {x}, {{"axis", 1}}); },
       0.95,
       {.by = Bound::Larger, .clang = 0.6, .operations = kOperationsOfSoftmax}},
      {"layernorm_512x768",
       {512, 768},
       {512, 768},
       [](GraphBuilder& g, const std::string& x) {
         return g.node("LayerNormalization", {x, g.seeded("scale", {768}, 1), g.seeded("bias", {768}, 1)});
       },
       0.95,
       {.by = Bound::Larger, .clang = 0.6, .operations = kOperationsOfLayerNorm}},
      {"sigmoid_1m", {1 << 20}, {1 << 20}, [](GraphBuilder& g, const std::string& x) { return g.node("Sigmoid", {x}); }, 0.95},
      {"gelu_1m", {1 << 20}, {1 << 20}, [](GraphBuilder& g, const std::string& x) { return g.node("Gelu", {x}); }, 0.95},
      {"lstm_64_128_100",
       {100, 1, 64},
       {100, 1, 1, 128},
       [](GraphBuilder& g, const std::string& x) {
         return g.node("LSTM", {x, g.seeded("w", {1, 512, 64}, 64), g.seeded("r", {1, 512, 128}, 128)}, {{"hidden_size", 128}});
       },
       0.8},
  };
}

fs::path write_layer(const Context& context, const Layer& layer) {
  GraphBuilder g(layer.name, 20, 9);
  const std::string y = layer.build(g, g.input("x", DType::Float32, std::vector<OnnxDim>(layer.input.begin(), layer.input.end())));
  g.output(y, DType::Float32, std::vector<OnnxDim>(layer.output.begin(), layer.output.end()));
  const fs::path path = context.work / (std::string(layer.name) + ".onnx");
  g.write(path);
  return path;
}

}  // namespace

void measure_beside_onnxruntime(Context& context) {
  for (const std::vector<Layer>& layers : {products(), other_layers()})
    for (const Layer& layer : layers)
      if (context.wants(layer.name) &&
          !measure(context, {layer.name, write_layer(context, layer), {layer.limit, 1.2, layer.limit}, layer.physical}))
        return;
  for (const char* name : {"mlp", "lenet", "ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder", "file_type"})
    if (context.wants(name)) measure(context, {name, zoo(context, {name}, std::string(name) + ".onnx"), {}});
  constexpr Limits kUntuned{.clang = 1.1, .gcc = 1.2, .searched = 1.1};
  if (context.wants("detector")) measure(context, {"detector", zoo(context, {"detector"}, "detector.onnx"), kUntuned});
  for (const UntunedNetwork& network : untuned_networks()) {
    if (!context.wants(network.name)) continue;
    const fs::path path = context.work / (std::string(network.name) + ".onnx");
    network.write(path);
    measure(context, {network.name, path, kUntuned});
  }
  if (!fs::exists(context.models)) return context.say("SKIPPED: downloaded models (set ETCH_MODELS to a folder of models)");
  const Limits small{.clang = 0.9, .gcc = 1.2, .searched = 0.85};
  for (const char* name : {"kws_f32", "kws_f32_bn", "vww_f32"})
    if (context.wants(name)) measure(context, {name, context.models / name / "model.onnx", small});
  for (const char* name : {"kws_int8", "kws_int8_qop", "kws_uint8", "kws_int8_floatio", "vww_int8", "vww_int8_qop"})
    if (context.wants(name)) measure(context, {.name = name, .model = context.models / name / "model.onnx", .of_bytes = true});
  for (const char* name : {"mnist_pytorch", "mnist_cntk"})
    if (context.wants(name)) measure(context, {name, context.models / name / "model.onnx", {}});
  for (const char* name : {"squeezenet", "shufflenet", "bvlc_alexnet", "inception_v1", "resnet50", "zfnet512", "vgg19"}) {
    if (!context.wants(name)) continue;
    const std::string light = std::string("light_") + name;
    const fs::path dense = zoo(context, {"densify", (context.models / light / "model.onnx").string()}, light + ".onnx");
    measure(context, {name, dense, std::string(name) == "shufflenet" ? small : Limits{}});
  }
}

}  // namespace etch::bench
