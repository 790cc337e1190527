// What sizes and tensors are called does not matter: names that C, its library and the generated kernels use too.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "base/tempdir.h"
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
  for (const auto& [first, second] : kPairs) {
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

}  // namespace
}  // namespace etch
