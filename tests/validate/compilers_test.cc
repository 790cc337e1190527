// Networks that compilers were seen to get wrong, and what C libraries may not bring along.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <iterator>

#include "base/tempdir.h"
#include "support/tool.h"

namespace etch {
namespace {

bool has_avx2() {
  std::ifstream in("/proc/cpuinfo");
  return std::string(std::istreambuf_iterator<char>(in), {}).find(" avx2") != std::string::npos;
}

// gcc 12 with -O3 and AVX: several masked loads with stores between them in the body of a loop.
TEST(Compilers, MaskedLoadsBetweenStores) {
  if (!find_program("gcc")) GTEST_SKIP() << "gcc is not installed";
  if (!has_avx2()) GTEST_SKIP() << "this processor has no AVX2";
  const TempDir work("etch-compilers");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,16,1,3] x) => (float[1,17,2,4] y) {
  pads = Constant <value = int64[8] {0, 1, 1, 0, 0, 0, 0, 1}> ()
  low = Constant <value = float {-0.5}> ()
  high = Constant <value = float {1.5}> ()
  p = Pad (x, pads)
  c = Clip (p, low, high)
  y = Max (c, p)
})");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const std::string path = (work.path() / "net.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const ProcessResult result = etch_tool({"validate", path, "--backends", "c", "--target", "x86-64-v3", "--cc", "gcc"});
  EXPECT_TRUE(result.ok()) << result.err << result.out;
}

// picolibc computes these in double: a core with a single-precision FPU gets etch_math.h's.
TEST(Compilers, NoDoubleOnASinglePrecisionCore) {
  if (!find_program("arm-none-eabi-gcc") || !find_program("qemu-system-arm")) GTEST_SKIP() << "no Cortex-M compiler or emulator";
  const TempDir work("etch-compilers");
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, R"(<ir_version: 8, opset_import: ["" : 18]>
g (float[8] x) => (float[8] y) {
  a = Softplus (x)
  b = Log (a)
  c = Asinh (b)
  d = Cosh (c)
  e = Acosh (d)
  f = Tanh (e)
  h = Atanh (f)
  i = Mish (h)
  j = Elu (i)
  y = Pow (a, j)
})");
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  const std::string path = (work.path() / "net.onnx").string();
  std::ofstream(path, std::ios::binary) << model.SerializeAsString();
  const ProcessResult result = etch_tool({"validate", path, "--backends", "c", "--target", "cortex-m4f", "--json"});
  ASSERT_TRUE(result.ok()) << result.err << result.out;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_TRUE(json.at("target").at("ok"));
  EXPECT_EQ(json.at("target").at("soft_double_symbols"), nlohmann::json::array());
}

}  // namespace
}  // namespace etch
