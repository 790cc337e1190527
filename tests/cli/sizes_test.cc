// --dim, --shape and inspect from the user's side: a model with open sizes and operators that are not supported.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch::sizes_test {
namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Four axes that the file leaves open in four ways; a network that takes any of their sizes.
std::string open_model(const fs::path& path) {
  onnx::ModelProto model;
  EXPECT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,3,h,w] x) => (y) { a = Relu (x) y = GlobalAveragePool (a) })")
                  .IsOK());
  auto& shape = *model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(2)->set_dim_value(-1);
  shape.mutable_dim(3)->set_dim_param("?");
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path.string();
}

constexpr const char* kRefused = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[batch,4] x) => (float[batch,4] y) { a = Foo (x) b = Relu (a) c = Foo (b) y = Bar (c) })";

TEST(Sizes, OfAnyAxisByDimOrShape) {
  const TempDir work("etch-sizes");
  const std::string model = open_model(work.path() / "m.onnx");
  const struct {
    std::vector<std::string> options;
    const char* says;
  } rows[] = {
      {{"--dim", "batch=1", "--dim", "x[2]=48", "--dim", "x[3]=192"}, "x float32 [1,3,48,192]"},
      {{"--shape", "x=1,3,48,192"}, "x float32 [1,3,48,192]"},
      {{"--shape", "x=1..4,3,48,160..640"}, "x float32 [batch,3,48,x_3]"},
      {{"--dim", "batch=2", "--shape", "x=2,3,8,9"}, "x float32 [2,3,8,9]"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> args{"inspect", model};
    args.insert(args.end(), row.options.begin(), row.options.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_TRUE(result.ok()) << result.err;
    EXPECT_TRUE(has(result.out, row.says)) << row.says << "\n" << result.out;
  }
  const ProcessResult ran = etch_tool({"run", model, "--backend", "interp", "--shape", "x=1..4,3,5,6", "--set", "batch=3"});
  EXPECT_TRUE(ran.ok()) << ran.err;
  EXPECT_TRUE(has(ran.out, "float32 [3,3,1,1]")) << ran.out;
}

TEST(Sizes, InspectListsWhatCompileRefusesAllAtOnce) {
  const TempDir work("etch-sizes");
  const std::string open = open_model(work.path() / "open.onnx"), refused = write_text_model(work.path() / "refused.onnx", kRefused);
  const ProcessResult sizes = etch_tool({"inspect", open});
  EXPECT_EQ(describe(sizes), "exit status 1");
  for (const char* part : {"--dim batch=1 ", "--dim 'x[2]=224' ", "--dim 'x[3]=224' ", "given as -1", "given as ?",
                           "x float32 [batch,3,-1,?]", "1 Relu, 1 GlobalAveragePool"})
    EXPECT_TRUE(has(sizes.out, part)) << part << "\n" << sizes.out;
  EXPECT_TRUE(has(sizes.err, "3 sizes of inputs are open")) << sizes.err;

  const ProcessResult nodes = etch_tool({"inspect", refused});
  EXPECT_EQ(describe(nodes), "exit status 1");
  for (const char* part :
       {"--dim batch=1", "node 'a' (Foo): operator 'Foo' is not supported", "node 'c' (Foo)", "node 'y' (Bar)", "2 Foo, 1 Relu, 1 Bar"})
    EXPECT_TRUE(has(nodes.out, part)) << part << "\n" << nodes.out;

  const ProcessResult json = etch_tool({"inspect", refused, "--json"});
  EXPECT_EQ(describe(json), "exit status 1");
  const auto parsed = nlohmann::json::parse(json.out);
  EXPECT_FALSE(parsed.at("ok").get<bool>());
  EXPECT_EQ(parsed.at("open_sizes").at(0).at("option"), "--dim batch=1");
  EXPECT_EQ(parsed.at("unsupported").size(), 3u);

  const ProcessResult compiled = etch_tool({"compile", refused, "-o", (work.path() / "out").string()});
  EXPECT_EQ(describe(compiled), "exit status 1");
  for (const char* part : {"1 size of an input is open, 3 things are not supported", "--dim batch=1", "node 'a' (Foo)",
                           "1 more of this kind", "node 'y' (Bar)"})
    EXPECT_TRUE(has(compiled.err, part)) << part << "\n" << compiled.err;
  EXPECT_FALSE(fs::exists(work.path() / "out"));
}

// The first padding comes after half of an open batch, which the prover can't handle for every size.
TEST(Sizes, WhatCantBeProvedNamesFileNodeAndSizes) {
  const TempDir work("etch-sizes");
  onnx::ModelProto model;
  ASSERT_TRUE(onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[N,8,T] x) => (y) {
  zero = Constant <value = int64[1] {0}> () two = Constant <value = int64[1] {2}> () end = Constant <value = int64[1] {2147483647}> ()
  pads = Constant <value = int64[6] {0, 3, 0, 3, 0, 0}> () value = Constant <value = float {0.5}> ()
  sizes = Shape (x) batch = Gather <axis = 0> (sizes, zero) half = Div (batch, two) rest = Slice (x, half, end, zero)
  pooled = AveragePool <kernel_shape = [3], pads = [1, 1], strides = [1], count_include_pad = 0> (rest) y = Pad (pooled, pads, value) })")
                  .IsOK());
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(2)->set_dim_param("?");
  const std::string path = (work.path() / "half.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const ProcessResult open = etch_tool({"compile", path, "--dim", "N=2..6", "--dim", "x[2]=4..40", "-o", (work.path() / "out").string()});
  EXPECT_EQ(describe(open), "exit status 1");
  for (const char* says : {"half.onnx: node 'y'", "it can't be proved", "x[2] is 4..40", "--dim N=VALUE or --dim x[2]=VALUE"})
    EXPECT_TRUE(has(open.err, says)) << says << "\n" << open.err;
  EXPECT_TRUE(etch_tool({"compile", path, "--dim", "N=4", "--dim", "x[2]=4..40", "-o", (work.path() / "out").string()}).ok());
}

TEST(Sizes, MisspeltNamesListTheNearestFirst) {
  const TempDir work("etch-sizes");
  const std::string model = open_model(work.path() / "m.onnx"), out = (work.path() / "out").string();
  const std::vector<std::string> good{"--dim", "batch=1..2", "--dim", "x[2]=4", "--dim", "x[3]=4"};
  const struct {
    std::vector<std::string> args;
    int status;
    std::vector<const char*> says;
  } rows[] = {
      {{"compile", model, "-o", out, "--dim", "bacth=1"}, 1, {"'bacth'", "'batch', 'x["}},
      {{"inspect", model, "--dim", "x[12]=1"}, 1, {"--dim x[12]=1", "4 axes"}},
      {{"inspect", model, "--dim", "y[2]=1"}, 1, {"'y[2]'", "'x[2]', 'x[3]', 'batch'"}},
      {{"inspect", model, "--shape", "xx=1,3,4,4"}, 1, {"no input 'xx'", "'x'"}},
      {{"inspect", model, "--shape", "x=1,3,four,4"}, 2, {"--shape x=1,3,four,4", "'four'"}},
      {{"inspect", model, "--shape", "x=1,3,,4"}, 2, {"--shape x=1,3,,4", "''"}},
      {{"inspect", model, "--shape", "x=1,3,4,"}, 2, {"--shape x=1,3,4,: ", "ends with a comma"}},
      {{"inspect", model, "--shape", "x=1,3,4..2,4"}, 2, {"--shape x=1,3,4..2,4: ", "range 4..2 is empty"}},
      {{"inspect", model, "--shape", "1,3,4,4"}, 2, {"no input and sizes"}},
      {{"inspect", model, "--shape", "x=1,3,4,4", "--shape", "x=1,3,4,4"}, 2, {"second for 'x'"}},
      {{"run", model, "--set", "btach=1"}, 1, {"'btach'", "'batch'"}},
      {{"run", model, "--input", "xx=a.npy"}, 1, {"'xx'", "'x'"}},
      {{"run", model, "--backend", "opnecl"}, 1, {"opnecl", "'opencl', "}},
      {{"inspect", model, "--dump", "scedule"}, 2, {"scedule", "'schedule', "}},
      {{"inspect", model, "--target", "cortex-m4"}, 1, {"'cortex-m4'", "'cortex-m4f', "}},
      {{"insepct", model}, 2, {"insepct", "'inspect', "}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> args = row.args;
    if (args[0] == "run") args.insert(args.end(), good.begin(), good.end());
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(describe(result), "exit status " + std::to_string(row.status)) << row.says[0] << "\n" << result.err;
    for (const char* part : row.says) EXPECT_TRUE(has(result.err, part)) << part << "\n" << result.err;
    EXPECT_FALSE(fs::exists(out));
  }
}

}  // namespace
}  // namespace etch::sizes_test
