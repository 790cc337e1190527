// The CUDA device on a GPU, as far as that can be shown without one: which calls a driver gets, with a driver that only pretends.
#include <gtest/gtest.h>

#include "device/buffer.h"
#include "device/compiled.h"
#include "device/device.h"
#include "device/kernel_graph.h"
#include "support/device_checks.h"
#include "support/fake_cuda.h"
#include "support/usable.h"

namespace etch::cuda_gpu_test {
namespace {

using test::floats;
using test::ProgramBuilder;

constexpr const char* kFill =
    "extern \"C\" __global__ void fill(float *o, const float *x, const int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = x[i] + n; }\n";
constexpr const char* kCrash = "extern \"C\" __global__ void crash(float *o, const float *x) { *(float *)0 = x[0]; }\n";

DeviceOptions on_gpu() {
  DeviceOptions options;
  options.of<CudaOptions>().device = "gpu";
  options.guards = true;
  return options;
}

// h = x + n; y = h + n, in a grid of three groups of two
Program two_calls() {
  ProgramBuilder b("cuda");
  b.variable("n", 1, 8);
  const int x = b.input("x", DType::Float32, {6}), y = b.output("y", DType::Float32, {6});
  const int h = b.intermediate("h", DType::Float32, {6});
  const int fill = b.kernel("fill", kFill, 2, {"n"}, {3}, {2});
  b.call(fill, {h, x});
  b.call(fill, {y, h});
  return b.take();
}

Program one_call(const std::string& name, const char* text, std::vector<Sint> groups) {
  ProgramBuilder b("cuda");
  const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
  b.call(b.kernel(name, text, 2, {}, std::move(groups)), {y, x});
  return b.take();
}

class CudaGpu : public testing::Test {
 protected:
  void SetUp() override {
    if (!fake.missing().empty()) GTEST_SKIP() << fake.missing();
    if (const std::string why = test::why_not(*make_device("cuda", on_gpu())); !why.empty()) GTEST_SKIP() << why;  // no NVRTC
  }
  const test::FakeCuda& fake = test::FakeCuda::instance();
};

TEST_F(CudaGpu, DrivesTheDriver) {
  const std::size_t before = fake.log().size();
  {
    const auto device = make_device("cuda", on_gpu());
    EXPECT_EQ(device->description(), "Fake (sm_90, CUDA 13.0)");
    const Program program = two_calls();
    const auto loaded = device->load(program);
    EXPECT_EQ(loaded->run({floats({6}, {1, 2, 3, 4, 5, 6})}, {{"n", 5}})[0].doubles(), (std::vector<double>{11, 12, 13, 14, 15, 16}));
  }
  EXPECT_EQ(fake.log().substr(before), "load fill<3,1,1;2,1,1> wait fill<3,1,1;2,1,1> wait unload end release ");
}

TEST_F(CudaGpu, GraphsAreTheDrivers) {
  const std::size_t before = fake.log().size();
  {
    const auto device = make_device("cuda", on_gpu());
    const Program program = two_calls();
    const auto library = dynamic_cast<const Compiled&>(*device).load_kernels(program.kernels);
    const Buffer x = Buffer::fromCPU(*device, floats({6}, {1, 2, 3, 4, 5, 6})),
                 other = Buffer::fromCPU(*device, floats({6}, {0, 0, 0, 0, 0, 0}));
    const Buffer h(*device, 6, DType::Float32), y(*device, 6, DType::Float32);
    const auto node = [&](const Buffer& to, const Buffer& from, std::int32_t n) {
      return GraphNode{library, 0, {to.opaque(), from.opaque()}, {n}, {.groups = {3, 1, 1}, .local = {2, 1, 1}}};
    };
    const auto graph = device->make_graph({node(h, x, 5), node(y, h, 1)});
    graph->launch();
    EXPECT_EQ(y.toCPU().doubles(), (std::vector<double>{7, 8, 9, 10, 11, 12}));
    graph->update(0, node(h, other, 2));
    graph->launch();
    graph->wait();
    EXPECT_EQ(y.toCPU().doubles(), (std::vector<double>{3, 3, 3, 3, 3, 3}));
    GraphNode nothing = node(h, other, 2);
    nothing.size.groups[0] = 0;
    graph->update(0, nothing);  // a graph has no empty grids: the other kernel is started by itself
    graph->launch();
    EXPECT_THROW(device->make_graph({nothing}), GraphException);
  }
  const std::string two = "fill<3,1,1;2,1,1> fill<3,1,1;2,1,1> ", one = "fill<3,1,1;2,1,1> ";
  std::string said = fake.log().substr(before);
  for (std::size_t at; (at = said.find("wait ")) != std::string::npos;) said.erase(at, 5);
  EXPECT_EQ(said, "load graph replay " + two + "set replay " + two + one + "graph-end graph-end unload end release ");
}

TEST_F(CudaGpu, SaysWhichKernelFails) {
  const auto device = make_device("cuda", on_gpu());
  const struct {
    std::string name;
    const char* text;
    std::vector<Sint> groups;
    const char* expected;
  } rows[] = {
      {"fill", "broken", {1}, "NVRTC_ERROR_COMPILATION"},
      {"other", "extern \"C\" __global__ void other() {}", {1}, "CUDA, kernel 'other': error 500: another error"},
      {"fill", kFill, {1, 65536}, "kernel 'fill': dimension 1 has 65536 work-groups of 1 items, CUDA takes at most 65535 of 1024"},
      {"crash", kCrash, {1}, "CUDA, kernel 'crash': error 700: an illegal memory access"},
  };
  for (const auto& row : rows) {
    const Program program = one_call(row.name, row.text, row.groups);
    test::expect_error(test::error_of([&] { device->load(program)->run({floats({1}, {1})}); }), row.expected);
  }
}

}  // namespace
}  // namespace etch::cuda_gpu_test
