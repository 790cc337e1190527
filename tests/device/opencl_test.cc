// The OPENCL device on hand-written kernels: results, and what is reported when things go wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "device/device.h"
#include "support/device_checks.h"
#include "support/usable.h"

namespace etch::opencl_test {
namespace {

using test::error_of;
using test::expect_error;
using test::floats;
using test::ProgramBuilder;

DeviceOptions options_for_tests() {
  DeviceOptions options;
  options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
  options.timeout_s = 60;
  return options;
}

class OpenCLDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (!device) GTEST_SKIP() << device.why;
  }
  const test::UsableDevice device = test::usable(make_device("opencl", options_for_tests()));
};

constexpr const char* kTwice =
    "__kernel void twice(__global float *o, __global const float *x) { int i = get_group_id(0); o[i] = 2.0f * x[i]; }\n";
constexpr const char* kAdd =
    "__kernel void add(__global float *o, __global const float *a, __global const float *b) {\n"
    "  int i = get_group_id(0) * get_local_size(0) + get_local_id(0); o[i] = a[i] + b[i]; }\n";

Program two_calls() { return test::two_calls("opencl", {kTwice, {4}}, {kAdd, {2}, {2}}); }

// y = body applied to x, both of two floats
Program one_call(const std::string& body) {
  ProgramBuilder b("opencl");
  const int x = b.input("x", DType::Float32, {2}), y = b.output("y", DType::Float32, {2});
  b.call(b.kernel("suspect", "__kernel void suspect(__global float *o, __global float *x) { " + body + " }\n", 2, {}, {1}), {y, x});
  return b.take();
}

TEST_F(OpenCLDevice, RunsCallsInOrderAndTapsEach) {
  EXPECT_FALSE(device->description().empty());
  const Program program = two_calls();
  const auto loaded = device->load(program);
  test::expect_calls_in_order(*loaded);
  // A second program in the same process.
  const Program other = one_call("o[0] = x[1]; o[1] = x[0];");
  EXPECT_EQ(device->load(other)->run({floats({2}, {1, 2})})[0].doubles(), (std::vector<double>{2, 1}));
  EXPECT_EQ(loaded->run({floats({4}, {0, 0, 0, 2})})[0].doubles(), (std::vector<double>{10, 20, 30, 44}));
}

TEST_F(OpenCLDevice, EvaluatesGridsAndPassesVariables) {
  test::expect_grids_by_variables(*device, "opencl",
                                  "__kernel void transpose(__global int *o, __global const int *x, const int n) {\n"
                                  "  int i = get_group_id(1), j = get_group_id(0); o[j * n + i] = x[i * 3 + j] + 100 * n; }\n");
}

TEST_F(OpenCLDevice, UsesLocalMemoryAndHelpers) {
  test::expect_sums_in_shared_memory(
      *device, "opencl",
      "__kernel void sum(__global float *o, __global const float *x) {\n"
      "  __local float s[32]; int l = get_local_id(0), g = get_group_id(0);\n  s[l] = x[g * 32 + l];\n"
      "  for (int d = 16; d > 0; d /= 2) { barrier(CLK_LOCAL_MEM_FENCE); if (l < d) s[l] = etch_round_half(s[l] + s[l + d]); }\n"
      "  if (l == 0) o[g] = s[0]; }\n");
}

// Found in a network: the vectorizer of LLVM 15 under PoCL 3.1 crashes while it compiles this kernel (a wrong free).
TEST_F(OpenCLDevice, CompilesMaskedCopiesOverWorkItems) {
  constexpr const char* kConcat =
      "__kernel void concat(__global float *out, const __global float *a, const __global float *b) {\n"
      "  const int g = (int)get_group_id(0), l = (int)get_local_id(0), x = g * 32 + l;\n"
      "  const bool m0 = x < 40, m1 = g < 3 && 39 < x;\n"
      "  out[x * 2] = m0 ? a[x * 2] : m1 ? b[x * 2 - 80] : 0.0f;\n"
      "  out[x * 2 + 1] = m0 ? a[x * 2 + 1] : m1 ? b[x * 2 - 79] : 0.0f;\n"
      "}\n";
  ProgramBuilder b("opencl");
  const int x = b.input("x", DType::Float32, {80}), z = b.input("z", DType::Float32, {112}), y = b.output("y", DType::Float32, {256});
  b.call(b.kernel("concat", kConcat, 3, {}, {4}, {32}), {y, x, z});
  const Program program = b.take();
  std::vector<double> first(80, 1), second(112, 2), expected(256, 0);
  std::fill_n(expected.begin(), 80, 1.0);
  std::fill_n(expected.begin() + 80, 112, 2.0);
  EXPECT_EQ(device->load(program)->run({floats({80}, first), floats({112}, second)})[0].doubles(), expected);
}

TEST_F(OpenCLDevice, ACrashIsReportedAndTheNextRunWorks) {
  const Program good = two_calls();
  const auto loaded = device->load(good);
  const Program bad = one_call("if (x[0] > 0.0f) *(volatile __global float *)(0x10 + (size_t)x[1]) = 1.0f; o[0] = 7.0f; o[1] = x[1];");
  const auto suspect = device->load(bad);
  EXPECT_EQ(suspect->run({floats({2}, {0, 3})})[0].doubles(), (std::vector<double>{7, 3}));
  if (device->description().find("Portable Computing Language") != std::string::npos) {  // a GPU may not care
    const std::string got = error_of([&] { suspect->run({floats({2}, {1, 0})}); });
    expect_error(got, "OPENCL, call 0, kernel 'suspect'");
    expect_error(got, "killed by signal 11");
  }
  EXPECT_EQ(loaded->run({floats({4}, {1, 2, 3, 4})})[0].doubles(), (std::vector<double>{12, 24, 36, 48}));
  EXPECT_EQ(suspect->run({floats({2}, {0, 4})})[0].doubles(), (std::vector<double>{7, 4}));
}

TEST_F(OpenCLDevice, AHangIsReportedAfterTheTimeLimit) {
  const Program program = one_call("volatile __global float *p = x; while (p[0] > 0.0f) { } o[0] = 7.0f; o[1] = 8.0f;");
  device->load(program)->run({floats({2}, {0, 0})});  // compiled now
  DeviceOptions options = options_for_tests();
  options.timeout_s = 5;
  const auto hasty = make_device("opencl", options);
  const auto loaded = hasty->load(program);
  const std::string got = error_of([&] { loaded->run({floats({2}, {1, 0})}); });
  expect_error(got, "kernel 'suspect'");
  expect_error(got, "gave no sign: timed out after 5 s");
  EXPECT_EQ(loaded->run({floats({2}, {0, 0})})[0].doubles(), (std::vector<double>{7, 8}));
}

TEST_F(OpenCLDevice, ReportsWhatTheCompilerSays) {
  const Program program = one_call("o[0] = not_declared;");
  const std::string got = error_of([&] { device->load(program); });
  expect_error(got, "OPENCL, building the kernels: the kernels do not compile");
  expect_error(got, "not_declared");
  const Program good = two_calls();
  EXPECT_EQ(device->load(good)->run({floats({4}, {1, 2, 3, 4})})[0].doubles(), (std::vector<double>{12, 24, 36, 48}));
}

TEST_F(OpenCLDevice, GuardsNameTheKernelThatWritesOutside) {
  DeviceOptions options = options_for_tests();
  options.guards = true;
  const auto guarded = make_device("opencl", options);
  const struct {
    const char* body;
    const char* expected;
  } kRows[] = {
      {"o[0] = 1.0f; o[1] = 2.0f;", ""},
      {"o[2] = 3.0f;", "kernel 'suspect': wrote 0 bytes after the end of buffer 'y'"},
      {"x[3] = 3.0f;", "kernel 'suspect': wrote 4 bytes after the end of buffer 'x'"},
  };
  for (const auto& row : kRows) {
    const Program program = one_call(row.body);
    const std::string got = error_of([&] { guarded->load(program)->run({floats({2}, {1, 2})}); });
    if (*row.expected == 0) {
      EXPECT_EQ(got, "");
    } else {
      expect_error(got, row.expected);
    }
  }
}

TEST(OpenCLProcess, ThatCannotBeUsedIsNamed) {
  DeviceOptions options = options_for_tests();
  options.of<OpenClOptions>().program = "/nowhere/etch-opencl";
  std::string why;
  EXPECT_FALSE(make_device("opencl", options)->available(&why));
  EXPECT_EQ(why, "the program /nowhere/etch-opencl is not there");
  options.of<OpenClOptions>().program = "/bin/true";  // ends at once
  EXPECT_FALSE(make_device("opencl", options)->available(&why));
  EXPECT_EQ(why, "the process ended: exit status 0");
}

TEST_F(OpenCLDevice, AnUnknownOneIsNamedBesideThoseThatAreThere) {
  DeviceOptions options = options_for_tests();
  std::string why;
  options.of<OpenClOptions>().device = "no such device";
  EXPECT_FALSE(make_device("opencl", options)->available(&why));
  expect_error(why, "no OpenCL device is 'no such device'; there is ");
}

}  // namespace
}  // namespace etch::opencl_test
