// Whole projects as etch compile writes them, of networks whose numbers are small enough to be exact on every machine.
#include "support/golden.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/tempdir.h"
#include "onnx/builder.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

/// Eighths from -1 to 1: products of them with the self-test's inputs, and sums of these, are exact in double.
GraphBuilder::Value eighths(GraphBuilder& g, const std::string& name, const std::vector<std::int64_t>& shape) {
  std::int64_t count = 1;
  for (std::int64_t d : shape) count *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(static_cast<double>(i * 5 % 17 - 8) / 8);
  return g.initializer(name, Array::of_doubles(DType::Float32, shape, values));
}

/// A padded convolution, a pool, two equal layers and a sum; names as exporters write them.
void network(GraphBuilder& g) {
  const auto node = [&](const char* op, const std::vector<std::string>& inputs, const char* name, const OnnxAttributes& attributes = {}) {
    g.node_with_outputs(op, inputs, {std::string(name) + "_output_0"}, attributes, name);
    return std::string(name) + "_output_0";
  };
  g.input("image", DType::Float32, {1, 1, 6, 6});
  std::string x = node("Conv", {"image", eighths(g, "conv.weight", {2, 1, 3, 3}), eighths(g, "conv.bias", {2})}, "/conv/Conv",
                       {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"pads", std::vector<std::int64_t>{1, 1, 1, 1}}});
  x = node("MaxPool", {node("Relu", {x}, "/Relu")}, "/pool/MaxPool",
           {{"kernel_shape", std::vector<std::int64_t>{3, 3}}, {"strides", std::vector<std::int64_t>{3, 3}}});
  const std::string flat = node("Flatten", {x}, "/Flatten", {{"axis", std::int64_t{1}}});
  x = flat;
  for (const std::string layer : {"fc1", "fc2"}) {
    x = node("Gemm", {x, eighths(g, layer + ".weight", {8, 8}), eighths(g, layer + ".bias", {8})}, ("/" + layer + "/Gemm").c_str());
    x = node("Relu", {x}, ("/" + layer + "/Relu").c_str());
  }
  g.node_with_outputs("Add", {x, flat}, {"scores"}, {}, "/Add");
  g.output("scores", DType::Float32, {1, 8});
}

/// A size that stays open.
void scaler(GraphBuilder& g) {
  g.input("x", DType::Float32, {"batch", 32});
  g.output(g.node("Add", {g.node("Mul", {"x", eighths(g, "scale", {32})}, {}, "scale"), eighths(g, "offset", {32})}, {}, "offset"),
           DType::Float32, {"batch", 32});
}

struct Project {
  const char* golden;
  void (*build)(GraphBuilder&);
  std::vector<std::string> options;
};

const Project kProjects[] = {
    {"network_c99", network, {"--target", "c99"}},
    {"network_x86-64-v3", network, {"--target", "x86-64-v3"}},
    {"network_opencl", network, {"--target", "opencl"}},
    {"network_cuda", network, {"--target", "cuda"}},
    {"scaler_cortex-m4f", scaler, {"--target", "cortex-m4f", "--dim", "batch=1..8"}},
};

TEST(GoldenProjects, AreWhatCompileWrites) {
  for (const Project& row : kProjects) {
    SCOPED_TRACE(row.golden);
    const TempDir work("etch-golden");
    const std::string name = row.build == network ? "network" : "scaler";
    GraphBuilder g(name, 17, 8);
    row.build(g);
    g.write(work.path() / (name + ".onnx"));
    std::vector<std::string> args{"compile", (work.path() / (name + ".onnx")).string(), "--no-measure", "-o",
                                  (work.path() / "out").string()};
    args.insert(args.end(), row.options.begin(), row.options.end());
    const ProcessResult compiled = etch_tool(args);
    ASSERT_TRUE(compiled.ok()) << compiled.err;
    std::map<std::string, std::string> files = test::folder_content(work.path() / "out");
    int runtime = 0;
    for (const char* file :
         {"etch_runtime.c", "etch_runtime.h", "etch_math.h", "etch_opencl.c", "etch_opencl.h", "etch_cuda.c", "etch_cuda.h"}) {
      const auto found = files.find(file);
      if (found == files.end()) continue;
      EXPECT_EQ(found->second, test::content(fs::path(ETCH_SOURCE_DIR) / "runtime_c" / file)) << file << " is copied";
      files.erase(found);
      runtime++;
    }
    EXPECT_GE(runtime, 2);
    test::expect_golden(row.golden, files);
  }
}

}  // namespace
}  // namespace etch
