// Sizes, tensors and nodes may have any name, also those that C, its library, the generated kernels and the emitted project use.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "base/tempdir.h"
#include "support/rounds.h"
#include "support/tool.h"

namespace etch {
namespace {

std::string written(const TempDir& work, const std::string& text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, ("<ir_version: 8, opset_import: [\"\" : 17]>\n" + text).c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  const auto path = work.path() / "net.onnx";
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  return path.string();
}

TEST(Names, OfSizes) {
  // The last ones are what the kernels of this model call their loops, bases and sums.
  constexpr const char* kPairs[][2] = {{"i0", "i1"},     {"i0", "r0"},      {"gid0", "gid1"}, {"w", "in"}, {"out", "b"},
                                       {"arg", "exp"},   {"NAN", "printf"}, {"n", "m"},       {"c", "y"},  {"x_tile", "lane"},
                                       {"in_at", "acc"}, {"n", "at"},       {"i", "sum"}};
  for (std::size_t i = 0; i < std::size(kPairs); i += test::rounds(2) == 2 ? 1 : 3) {
    const auto& [first, second] = kPairs[i];
    const TempDir work("etch-names");
    const std::string a = first, b = second;
    const std::string model =
        written(work, "g (float[" + a + ",3," + b + "] x) => (float[" + a + ",1," + b + "] y, float[" + a + ",3," + b +
                          "] z) {\n s = Constant <value = float[3,1] {1, 2, 3}> ()\n h = Mul (x, s)\n e = Exp (h)\n"
                          " y = ReduceMax <axes = [1]> (e)\n z = Div (e, y) }");
    const ProcessResult result =
        etch_tool({"validate", model, "--dim", a + "=1..2", "--dim", b + "=4..5", "--backends", "all", "--target", "host"});
    EXPECT_TRUE(result.ok()) << a << " " << b << "\n" << result.err << result.out;
  }
}

TEST(Names, OfTensors) {
  for (const char* name : {"exp", "y0", "index", "memcpy", "linux", "NAN", "program", "etch_run", "net_run", "i", "call", "arena"}) {
    const TempDir work("etch-names");
    const std::string n = name;
    const std::string model = written(work, "g (float[4] " + n + ") => (float[4] y) { y = Exp (" + n + ") }");
    const ProcessResult result = etch_tool({"validate", model, "--backends", "c", "--target", "host"});
    EXPECT_TRUE(result.ok()) << name << "\n" << result.err << result.out;
  }
}

/// Compiles the emitted source in `folder`: as C99, where trigraphs count, with profile hooks; and as C++.
void expect_compiles(const std::filesystem::path& folder, const std::string& what) {
  for (const char* compiler : {"cc -std=c99 -DETCH_PROFILE=1", "c++ -x c++"}) {
    const std::string command =
        std::string(compiler) + " -Wall -Wextra -Wpedantic -Wshadow -Werror -fsyntax-only " + (folder / "net.c").string();
    const ProcessResult result = run_process({"sh", "-c", command});
    EXPECT_TRUE(result.ok()) << what << ": " << command << "\n" << result.err.substr(0, 2000);
  }
}

/// The macros that the compiler knows at the end of a source, but those that C reserves.
std::set<std::string> macros_of(const std::filesystem::path& source) {
  std::set<std::string> words;
  const ProcessResult result = run_process({"cc", "-E", "-dM", "-DETCH_PROFILE=1", source.string()});
  EXPECT_TRUE(result.ok()) << result.err;
  const std::regex define("#define ([A-Za-z][A-Za-z_0-9]*)");
  for (std::sregex_iterator it(result.out.begin(), result.out.end(), define), end; it != end; it++) words.insert((*it)[1].str());
  return words;
}

/// One input, one output, one weight and one node for each name; `sized`: a dimension too.
onnx::ModelProto model_of(const std::vector<std::string>& names, bool sized) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto declare = [](onnx::ValueInfoProto& info, const std::string& name, const std::string& dim) {
    info.set_name(name);
    auto& type = *info.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    if (!dim.empty()) type.mutable_shape()->add_dim()->set_dim_param(dim);
    type.mutable_shape()->add_dim()->set_dim_value(3);
  };
  const auto node = [&](const char* op, const std::vector<std::string>& inputs, const std::string& output, const std::string& name) {
    onnx::NodeProto& n = *graph.add_node();
    n.set_op_type(op);
    n.set_name(name);
    for (const std::string& input : inputs) n.add_input(input);
    n.add_output(output);
  };
  for (std::size_t i = 0; i < names.size(); i++) {
    const std::string& name = names[i];
    onnx::TensorProto& weight = *graph.add_initializer();
    weight.set_name("w/" + name);
    weight.set_data_type(onnx::TensorProto::FLOAT);
    weight.add_dims(3);
    for (int k = 0; k < 3; k++) weight.add_float_data(static_cast<float>(k) + static_cast<float>(i));
    declare(*graph.add_input(), name, "");
    declare(*graph.add_output(), name + "/", "");
    node("Mul", {name, "w/" + name}, name + "/", name);
    if (!sized) continue;
    declare(*graph.add_input(), "sized" + std::to_string(i), name);
    declare(*graph.add_output(), "made" + std::to_string(i), name);
    node("Relu", {"sized" + std::to_string(i)}, "made" + std::to_string(i), name + "?");
  }
  return model;
}

// Every macro that the compiler sees in an emitted project becomes the name of an input, output, weight and node; those that are the
// project's own, of a size too.
TEST(Names, OfAllThatAnEmittedProjectSees) {
  const TempDir work("etch-names");
  const auto compiled = [&](const std::vector<std::string>& names, const std::string& out, bool sized) {
    std::ofstream(work.path() / "net.onnx", std::ios::binary) << model_of(names, sized).SerializeAsString();
    std::vector<std::string> args{"compile", (work.path() / "net.onnx").string(), "-o", (work.path() / out).string()};
    for (const std::string& name : names)
      if (sized) args.insert(args.end(), {"--dim", name + "=2..3"});
    const ProcessResult result = etch_tool(args);
    EXPECT_TRUE(result.ok()) << result.err.substr(0, 2000) << "\nof the names from " << names.front() << " to " << names.back();
    return result.ok();
  };
  const std::vector<std::string> own{"NET_H",
                                     "NET_ARENA_BYTES",
                                     "NET_WEIGHTS_ALIGN",
                                     "NET_CALL_COUNT",
                                     "NET_A?\?/",
                                     "net_run",
                                     "net_calls",
                                     "net_constants",
                                     "args",
                                     "calls",
                                     "ranges",
                                     "call",
                                     "io"};
  ASSERT_TRUE(compiled(own, "own", true));
  expect_compiles(work.path() / "own", "the project's own");
  const std::set<std::string> words = macros_of(work.path() / "own" / "net.c");
  ASSERT_GT(words.size(), 100u);
  const std::vector<std::string> names(words.begin(), words.end());
  constexpr std::size_t kAtOnce = 80;
  for (std::size_t begin = 0; begin < names.size(); begin += kAtOnce) {
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), begin + kAtOnce));
    const std::vector<std::string> some(names.begin() + static_cast<std::ptrdiff_t>(begin), end);
    const std::string out = "out" + std::to_string(begin);
    if (compiled(some, out, false)) expect_compiles(work.path() / out, some.front() + " to " + some.back());
  }
}

TEST(Names, OfSizesInOpenCL) {
  const TempDir work("etch-names");
  for (const char* name : {"global", "local", "constant", "kernel", "half", "uint", "get_local_id", "float4", "CLK_LOCAL_MEM_FENCE"}) {
    std::ofstream(work.path() / "net.onnx", std::ios::binary) << model_of({name}, true).SerializeAsString();
    const ProcessResult result = etch_tool({"compile", (work.path() / "net.onnx").string(), "--target", "opencl", "--dim",
                                            std::string(name) + "=2..3", "-o", (work.path() / "out").string()});
    EXPECT_TRUE(result.ok()) << name << ": " << result.err;
  }
}

}  // namespace
}  // namespace etch
