// The CUDA device on hand-written kernels, run on the processor: results, and what is reported when things go wrong.
#include <gtest/gtest.h>

#include "device/cuda_driver.h"
#include "device/device.h"
#include "support/device_checks.h"

namespace etch {
namespace {

using test::error_of;
using test::expect_error;
using test::floats;
using test::ProgramBuilder;

DeviceOptions on_processor() {
  DeviceOptions options;
  options.of<CudaOptions>().device = "cpu";
  options.of<CudaOptions>().flags = {"-std=c++17", "-O1"};
  return options;
}

std::unique_ptr<Device> device() { return make_device("cuda", on_processor()); }

// y = body applied to x, by `groups` groups of `items` work-items.
Program one_call(const std::string& body, int groups, int items, bool has_barrier) {
  ProgramBuilder b("cuda");
  const int x = b.input("x", DType::Float32, {groups * items}), y = b.output("y", DType::Float32, {groups * items});
  const std::string text =
      "extern \"C\" __global__ void suspect(float *o, const float *x) {\n  const int l = threadIdx.x, g = blockIdx.x;\n" +
      std::string("  const int i = g * ") + std::to_string(items) + " + l;\n  " + body + "\n}\n";
  b.call(b.kernel("suspect", text, 2, {}, {groups}, {items}), {y, x});
  b.last_kernel().text.has_barrier = has_barrier;
  return b.take();
}

std::vector<double> numbers(int n) {
  std::vector<double> values;
  for (int i = 0; i < n; i++) values.push_back(i);
  return values;
}

TEST(CudaDevice, SaysWhereKernelsRun) {
  const auto cuda = device();
  std::string why;
  ASSERT_TRUE(cuda->available(&why)) << why;
  EXPECT_TRUE(cuda->description().starts_with("kernels run on the processor (as asked), compiled by ")) << cuda->description();
}

TEST(CudaDevice, SaysWhyItCantBeUsed) {
  const struct {
    std::string device, cxx, expected;
  } rows[] = {
      {"cpu", "no-such-compiler", "no C++ compiler to run kernels on the processor: 'no-such-compiler' is not found"},
      {"tpu", "", "the device is 'tpu', accepted are gpu and cpu"},
  };
  for (const auto& row : rows) {
    DeviceOptions options;
    options.of<CudaOptions>().device = row.device;
    options.of<CudaOptions>().cxx = row.cxx;
    std::string why;
    EXPECT_FALSE(make_device("cuda", options)->available(&why));
    EXPECT_EQ(why, row.expected);
    const Program program = one_call("o[i] = x[i];", 1, 1, false);
    expect_error(error_of([&] { make_device("cuda", options)->load(program); }), row.expected);
  }
}

TEST(CudaDevice, SaysWhyThereIsNoGpu) {
  DeviceOptions gpu;
  gpu.of<CudaOptions>().device = "gpu";
  std::string why;
  if (make_device("cuda", gpu)->available(&why)) GTEST_SKIP() << "there is a GPU, so nothing is missing";
  EXPECT_TRUE(why.starts_with("no GPU: ")) << why;
  EXPECT_EQ(why.find('\n'), std::string::npos) << why;
}

TEST(CudaDevice, RunsCallsInOrderAndTapsEach) {
  const Program program = test::two_calls("cuda",
                                          {"extern \"C\" __global__ void twice(float *o, const float *x) {\n"
                                           "  int i = blockIdx.x; o[i] = 2.0f * x[i]; }\n",
                                           {4}},
                                          {"extern \"C\" __global__ void add(float *o, const float *a, const float *b) {\n"
                                           "  int i = blockIdx.x * blockDim.x + threadIdx.x; o[i] = a[i] + b[i]; }\n",
                                           {2},
                                           {2}});
  const auto cuda = device();
  const auto first = cuda->load(program), second = cuda->load(program);
  test::expect_calls_in_order(*first);
  test::expect_calls_in_order(*second);
  test::expect_calls_in_order(*first);
}

TEST(CudaDevice, EvaluatesGridsAndPassesVariables) {
  test::expect_grids_by_variables(*device(), "cuda",
                                  "extern \"C\" __global__ void transpose(int *o, const int *x, const int n) {\n"
                                  "  int i = blockIdx.y, j = blockIdx.x; o[j * n + i] = x[i * 3 + j] + 100 * n; }\n");
}

// Each place of a grid of three dimensions runs once, with barriers and without.
TEST(CudaDevice, HasThreeDimensions) {
  for (const bool has_barrier : {false, true}) {
    ProgramBuilder b("cuda");
    const int y = b.output("y", DType::Int32, {2, 3, 4, 5, 6, 7});
    b.call(
        b.kernel("places",
                 "extern \"C\" __global__ void places(int *o) {\n"
                 "  int i = ((((blockIdx.z * 3 + blockIdx.y) * 4 + blockIdx.x) * 5 + threadIdx.z) * 6 + threadIdx.y) * 7 + threadIdx.x;\n" +
                     std::string(has_barrier ? "  __syncthreads();\n" : "") + "  o[i] = i + gridDim.x + blockDim.z; }\n",
                 1, {}, {4, 3, 2}, {7, 6, 5}),
        {y});
    b.last_kernel().text.has_barrier = has_barrier;
    const Program program = b.take();
    const Array got = device()->load(program)->run({})[0];
    for (std::int64_t i = 0; i < got.size(); i++) ASSERT_EQ(got.int_at(i), i + 9);
  }
}

TEST(CudaDevice, UsesSharedMemoryAndHelpers) {
  test::expect_sums_in_shared_memory(
      *device(), "cuda",
      "extern \"C\" __global__ void sum(float *o, const float *x) {\n"
      "  __shared__ float s[32];\n  int l = threadIdx.x, g = blockIdx.x;\n  s[l] = x[g * 32 + l];\n"
      "  for (int d = 16; d > 0; d /= 2) { __syncthreads(); if (l < d) s[l] = etch_round_half(s[l] + s[l + d]); }\n"
      "  if (l == 0) o[g] = s[0]; }\n");
}

// o[i] is what a neighbour left in shared memory. Without the barrier the order of the work-items decides what is there: the one to the
// left has been there before where they run from the first to the last, the one to the right where they run backwards. Groups take
// turns, so both are seen. With a second barrier the order turns within a group too.
TEST(CudaDevice, AMissingBarrierShows) {
  const auto run = [](const std::string& barrier, const std::string& from, bool has_barrier) {
    const Program program = one_call("__shared__ float s[8]; s[l] = x[i]; " + barrier + " o[i] = s[" + from + "];", 2, 8, has_barrier);
    return device()->load(program)->run({floats({16}, numbers(16))})[0].doubles();
  };
  const std::vector<double> left{7, 0, 1, 2, 3, 4, 5, 6, 15, 8, 9, 10, 11, 12, 13, 14};
  const std::vector<double> right{1, 2, 3, 4, 5, 6, 7, 0, 9, 10, 11, 12, 13, 14, 15, 8};
  EXPECT_EQ(run("__syncthreads();", "(l + 7) % 8", true), left);
  EXPECT_EQ(run("__syncthreads();", "(l + 1) % 8", true), right);
  for (const bool is_left : {true, false}) {
    const std::vector<double>& wanted = is_left ? left : right;
    for (const bool has_barrier : {false, true}) {  // in loops and in fibers
      const std::vector<double> got =
          run(has_barrier ? "if (x[0] < 0.0f) __syncthreads();" : "", is_left ? "(l + 7) % 8" : "(l + 1) % 8", has_barrier);
      int wrong[2] = {0, 0};
      for (std::size_t i = 0; i < 16; i++) wrong[i / 8] += got[i] == wanted[i] ? 0 : 1;
      // Forwards in the first group, backwards in the second: one order hides it but for the item at the border.
      EXPECT_EQ(wrong[is_left ? 0 : 1], 1);
      EXPECT_GE(wrong[is_left ? 1 : 0], 7);
    }
  }
}

TEST(CudaDevice, SharedMemoryHoldsNothingAtTheStart) {
  const Program program = one_call("__shared__ float s[2]; o[i] = s[l];", 1, 2, false);
  for (const double v : device()->load(program)->run({floats({2}, {1, 2})})[0].doubles()) EXPECT_NE(v, v);
}

TEST(CudaDevice, ABarrierThatNotAllReachIsAnError) {
  const struct {
    const char* body;
    bool has_barrier;
    const char* expected;
  } rows[] = {
      {"if (l < 5) __syncthreads(); o[i] = x[i];", true,
       "kernel 'suspect': 3 of the 8 work-items of group 0,0,0 do not reach the barrier at which others wait"},
      {"if (g == 1 && l == 2) { o[i] = 0; return; } __syncthreads(); o[i] = x[i];", true,
       "kernel 'suspect': 1 of the 8 work-items of group 1,0,0 do not reach"},
      {"for (int k = 0; k < l; k++) __syncthreads(); o[i] = x[i];", true, "1 of the 8 work-items of group 0,0,0 do not reach"},
      {"if (l < 5) {\n __syncthreads();\n } else {\n __syncthreads();\n } o[i] = x[i];", true,
       "3 of the 8 work-items of group 0,0,0 do not reach"},
      {"__syncthreads(); o[i] = x[i];", false, "kernel 'suspect': it has a barrier that its description does not mention"},
  };
  for (const auto& row : rows) {
    const Program program = one_call(row.body, 2, 8, row.has_barrier);
    const auto loaded = device()->load(program);
    for (int again = 0; again < 2; again++) expect_error(error_of([&] { loaded->run({floats({16}, numbers(16))}); }), row.expected);
  }
}

TEST(CudaDevice, AGroupThatIsTooLargeIsAnError) {
  const Program program = one_call("o[i] = x[i];", 1, 1025, false);
  expect_error(error_of([&] { device()->load(program)->run({floats({1025}, numbers(1025))}); }),
               "kernel 'suspect': dimension 0 has 1 work-groups of 1025 items, CUDA takes at most 2147483647 of 1024");
  const Program most = one_call("__syncthreads(); o[i] = x[i];", 1, 1024, true);
  EXPECT_EQ(device()->load(most)->run({floats({1024}, numbers(1024))})[0].doubles(), numbers(1024));
}

TEST(CudaDevice, GuardsNameTheKernelThatWritesOutside) {
  DeviceOptions options = on_processor();
  options.guards = true;
  const Program program = one_call("o[i + 1] = x[i];", 1, 2, false);
  expect_error(error_of([&] { make_device("cuda", options)->load(program)->run({floats({2}, {1, 2})}); }),
               "kernel 'suspect': wrote 0 bytes after the end of buffer 'y'");
}

TEST(CudaDevice, RefusesABrokenText) {
  const Program program = one_call("o[i] = no_such(x[i]);", 1, 2, false);
  const std::string got = error_of([&] { device()->load(program); });
  expect_error(got, "C++ compiler ");
  expect_error(got, "no_such");
}

TEST(CudaDevice, CompilesManyKernelsInSeveralParts) {
  const auto text = [](const std::string& name, int number, const std::string& padding) {
    return "extern \"C\" __global__ void " + name + "(float *o, const float *x) {" + padding + "o[0] = x[0] + " + std::to_string(number) +
           ".0f; }\n";
  };
  test::expect_many_kernels("cuda", text, [](int jobs) {
    DeviceOptions options = on_processor();
    options.of<CudaOptions>().compile_jobs = jobs;
    return options;
  });
}

// Where the toolkit is installed: what a GPU's kernels are compiled by.
TEST(Nvrtc, CompilesAndSaysWhatIsWrong) {
  const std::string good = "extern \"C\" __global__ void k(float *o) { o[threadIdx.x] = 1.0f; }\n";
  const std::string missing = error_of([&] { compile_cuda(good, 90, true); });
  if (missing.find("is not there") != std::string::npos) GTEST_SKIP() << missing;
  EXPECT_EQ(missing, "");
  EXPECT_EQ(compile_cuda(good, 75, true).substr(1, 3), "ELF");
  EXPECT_NE(compile_cuda(good, 990, false).find(".version"), std::string::npos) << "a GPU to come gets PTX";
  expect_error(error_of([&] { compile_cuda(good + "broken", 90, true); }), "NVRTC_ERROR_COMPILATION");
  expect_error(error_of([&] { compile_cuda(good + "broken", 90, true); }), "kernels.cu(2)");
  const std::string with_math = kCuda.prelude({}) + good;
  expect_error(error_of([&] { compile_cuda(with_math + "broken", 90, true); }), "error: this declaration has no storage class");
  expect_error(error_of([&] { compile_cuda(good, 10, true); }), "it is too new for a GPU of capability 10");
}

}  // namespace
}  // namespace etch
