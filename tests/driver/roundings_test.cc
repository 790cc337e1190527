// Doubles that a model rounds to float and takes back, where GCC 12 makes vectors of neighbours and left the rounding out.
#include <gtest/gtest.h>

#include <random>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "support/needs.h"

namespace etch {
namespace {

constexpr std::int64_t kRows = 64, kColumns = 16, kInner = 64;

std::vector<double> random_values(std::int64_t count, std::mt19937& rng) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(std::normal_distribution<double>()(rng));
  return values;
}

// y = c ? double(float(x * w)) : x * w
CompileOptions rounded_product(const std::vector<double>& w) {
  GraphBuilder g("net", 17);
  const auto c = g.input("c", DType::Bool, {1}), x = g.input("x", DType::Float64, {kRows, kInner});
  const auto product = g.node("MatMul", {x, g.initializer("w", Array::of_doubles(DType::Float64, {kInner, kColumns}, w))});
  const auto to = [](std::int64_t type) { return OnnxAttributes{{"to", type}}; };
  const auto rounded = g.node("Cast", {g.node("Cast", {product}, to(1))}, to(11));
  g.output(g.node("Where", {c, rounded, product}), DType::Float64, {kRows, kColumns});
  CompileOptions options;
  options.import.bytes = g.bytes();
  options.import.path = "net.onnx";
  options.target = find_target("host", ETCH_SOURCE_DIR "/targets");
  return options;
}

TEST(Roundings, ToFloatAreKeptByGcc) {
  if (const std::string why = test::missing({"gcc"}); !why.empty()) GTEST_SKIP() << why;
  std::mt19937 rng(1);
  const std::vector<double> x = random_values(kRows * kInner, rng), w = random_values(kInner * kColumns, rng);
  const CompileOptions options = rounded_product(w);
  const Frontend frontend = read_model(options);
  DeviceOptions gcc;
  gcc.of<COptions>().cc = "gcc";
  const auto device = make_device("c", gcc);
  const Program program = lower_model(frontend, device->language(), options);
  const auto loaded = device->load(program);
  for (const bool rounds : {false, true}) {
    const Array c = Array::of_ints(DType::Bool, {1}, std::vector<std::int64_t>{rounds});
    const Array y = loaded->run({c, Array::of_doubles(DType::Float64, {kRows, kInner}, x)}).at(0);
    std::int64_t floats = 0;
    for (const double v : y.doubles()) {
      const volatile float nearest = static_cast<float>(v);
      floats += v == static_cast<double>(nearest) ? 1 : 0;
    }
    EXPECT_EQ(floats, rounds ? kRows * kColumns : 0);
  }
}

}  // namespace
}  // namespace etch
