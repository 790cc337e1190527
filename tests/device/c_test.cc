// The C device on hand-written kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "device/device.h"
#include "support/device_checks.h"
#include "support/usable.h"

namespace etch {
namespace {

using test::error_of;
using test::floats;
using test::ProgramBuilder;

Program two_calls() {
  return test::two_calls("c",
                         {"static void twice(void *const *arg) {\n  float *o = arg[0]; const float *x = arg[1];\n"
                          "  for (int i = 0; i < 4; i++) o[i] = 2.0f * x[i];\n}\n"},
                         {"static void add(void *const *arg) {\n  float *o = arg[0]; const float *a = arg[1], *b = arg[2];\n"
                          "  for (int i = 0; i < 4; i++) o[i] = a[i] + b[i];\n}\n"});
}

TEST(CDevice, RunsCallsInOrderAndTapsEach) {
  const Program program = two_calls();
  for (const char* cc : {"gcc", "clang-19"}) {
    DeviceOptions options;
    options.of<COptions>().cc = cc;
    const test::UsableDevice device = test::usable(make_device("c", options));
    if (device) test::expect_calls_in_order(*device->load(program));
    if (!device) std::cout << device.why << "\n";
  }
}

TEST(CDevice, PassesVariablesAndSizesBuffersByThem) {
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 8);
  ProgramBuilder b("c");
  b.variable("n", 1, 8);
  const int x = b.input("x", DType::Int32, {n, 2}), y = b.output("y", DType::Int32, {n});
  b.call(b.kernel("sum2",
                  "static void sum2(void *const *arg) {\n  int32_t *o = arg[0]; const int32_t *x = arg[1]; const int32_t n = *(const "
                  "int32_t *)arg[2];\n"
                  "  for (int i = 0; i < n; i++) o[i] = x[2 * i] + x[2 * i + 1];\n}\n",
                  2, {"n"}),
         {y, x});
  const Program program = b.take();
  const auto loaded = make_device("c")->load(program);
  for (std::int64_t k = 1; k <= 8; k++) {
    std::vector<std::int64_t> in, expected;
    for (std::int64_t i = 0; i < k; i++) {
      in.insert(in.end(), {i, 10});
      expected.push_back(i + 10);
    }
    const Array out = loaded->run({Array::of_ints(DType::Int32, {k, 2}, in)}, {{"n", k}})[0];
    EXPECT_EQ(out.shape(), std::vector<std::int64_t>{k});
    EXPECT_EQ(out.ints(), expected);
  }
  const Array x0 = Array::filled(DType::Int32, {9, 2}, Scalar::of_int(DType::Int32, 0));
  EXPECT_NE(error_of([&] { loaded->run({x0}, {{"n", 9}}); }).find("dimension 'n': is 9, accepted is 1 to 8"), std::string::npos);
  EXPECT_NE(error_of([&] { loaded->run({x0}, {}); }).find("dimension 'n': has no value"), std::string::npos);
}

TEST(CDevice, CompilesManyKernelsInSeveralUnits) {
  const auto text = [](const std::string& name, int number, const std::string& padding) {
    return "static void " + name + "(void *const *arg) {" + padding + "*(float *)arg[0] = *(const float *)arg[1] + " +
           std::to_string(number) + ".0f; }\n";
  };
  test::expect_many_kernels("c", text, [](int jobs) {
    DeviceOptions options;
    options.of<COptions>().compile_jobs = jobs;
    return options;
  });
}

TEST(CDevice, PassesInputsAndConstantsThroughToOutputs) {
  ProgramBuilder b("c");
  const int x = b.input("x", DType::UInt8, {3}), w = b.constant("w", Array::of_ints(DType::Int64, {1}, std::vector<std::int64_t>{-5}));
  Program program = b.take();
  program.outputs = {x, w};
  const auto out = make_device("c")->load(program)->run({Array::of_ints(DType::UInt8, {3}, std::vector<std::int64_t>{1, 2, 255})});
  EXPECT_EQ(out[0].ints(), (std::vector<std::int64_t>{1, 2, 255}));
  EXPECT_EQ(out[1].ints(), std::vector<std::int64_t>{-5});
}

// h = 2x; g = h reversed; y = h or g, in the arena as planned: `over` lets g be written over h.
Program turned(bool over, const std::string& extra = "") {
  ProgramBuilder b("c");
  const int x = b.input("x", DType::Float32, {4}), y = b.output("y", DType::Float32, {4});
  const int h = b.intermediate("h", DType::Float32, {4}), g = b.intermediate("g", DType::Float32, {4});
  const auto kernel = [&](const std::string& name, const std::string& index, const std::string& more) {
    return b.kernel(
        name,
        "static void " + name +
            "(void *const *arg) {\n  float *o = arg[0]; const float *x = arg[1];\n  for (int i = 0; i < 4; i++) o[i] = 2.0f * x[" + index +
            "];\n" + more + "}\n",
        2);
  };
  b.call(kernel("twice", "i", ""), {h, x});
  b.call(kernel("turn", "3 - i", extra), {g, h});
  b.call(kernel("last", "i", ""), {y, g});
  Program program = b.take();
  program.calls[1].arguments[1].may_alias = over;
  return program;
}

TEST(CDevice, RunsInTheArenaOfThePlan) {
  const std::vector<double> right{32, 24, 16, 8};
  const Program apart = turned(false), over = turned(true);
  EXPECT_EQ(make_device("c")->load(apart)->run({floats({4}, {1, 2, 3, 4})})[0].doubles(), right);
  // A plan that lets g replace h is wrong, and the result shows it: the second half reads what the first half has written.
  EXPECT_EQ(make_device("c")->load(over)->run({floats({4}, {1, 2, 3, 4})})[0].doubles(), (std::vector<double>{32, 24, 48, 64}));
}

TEST(CDevice, GuardsSeeWhatLiesInTheArenaToo) {
  const struct {
    const char* body;
    const char* expected;
  } rows[] = {
      {"", ""},
      {"  o[-4] = -1.37e-5f;\n", " bytes before the start of buffer 'g'"},
      {"  o[4] = 1;\n", "kernel 'turn': wrote 0 bytes after the end of "},
  };
  for (const auto& row : rows) {
    DeviceOptions options;
    options.guards = true;
    options.of<COptions>().flags = {"-O0"};
    const Program program = turned(false, row.body);
    const std::string got = error_of([&] { make_device("c", options)->load(program)->run({floats({4}, {1, 2, 3, 4})}); });
    EXPECT_EQ(got.empty(), *row.expected == 0) << got;
    EXPECT_NE(got.find(row.expected), std::string::npos) << got;
  }
}

TEST(CDevice, GuardsNameTheKernelThatWritesOutside) {
  const struct {
    const char* body;
    const char* expected;
  } kRows[] = {
      {"o[0] = 1; o[1] = 2;", ""},
      {"o[0] = 1; o[1] = 2; o[2] = 3;", "kernel 'bad': wrote 0 bytes after the end of buffer 'y'"},
      {"o[-1] = 1;", "kernel 'bad': wrote 4 bytes before the start of buffer 'y'"},
      {"((float *)x)[2] = 1;", "kernel 'bad': wrote 0 bytes after the end of buffer 'x'"},
      {"((float *)arg[2])[1] = 1;", "kernel 'bad': wrote 0 bytes after the end of buffer 'w'"},
  };
  for (const auto& row : kRows) {
    ProgramBuilder b("c");
    const int x = b.input("x", DType::Float32, {2}), y = b.output("y", DType::Float32, {2}), w = b.constant("w", floats({1}, {7}));
    b.call(b.kernel("bad",
                    std::string("static void bad(void *const *arg) { float *o = arg[0]; const float *x = arg[1]; (void)o; (void)x; ") +
                        row.body + " }\n",
                    3),
           {y, x, w});
    const Program program = b.take();
    DeviceOptions options;
    options.guards = true;
    options.of<COptions>().flags = {"-O0"};
    const std::string got = error_of([&] { make_device("c", options)->load(program)->run({floats({2}, {1, 2})}); });
    if (*row.expected == 0) {
      EXPECT_EQ(got, "");
    } else {
      EXPECT_NE(got.find(row.expected), std::string::npos) << got;
    }
  }
}

TEST(CDevice, GuardsMakeUnwrittenElementsNaN) {
  ProgramBuilder b("c");
  const int y = b.output("y", DType::Float32, {3});
  b.call(b.kernel("some", "static void some(void *const *arg) { ((float *)arg[0])[1] = 5.0f; }\n", 1), {y});
  const Program program = b.take();
  DeviceOptions options;
  options.guards = true;
  const auto got = make_device("c", options)->load(program)->run({})[0].doubles();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 5.0);
  EXPECT_TRUE(std::isnan(got[2]));
}

TEST(CDevice, ReportsWhatTheCompilerSays) {
  ProgramBuilder b("c");
  const int y = b.output("y", DType::Float32, {1});
  b.call(b.kernel("broken", "static void broken(void *const *arg) { this is not C; }\n", 1), {y});
  const Program program = b.take();
  const std::string got = error_of([&] { make_device("c")->load(program); });
  EXPECT_NE(got.find("exit status 1"), std::string::npos) << got;
  EXPECT_NE(got.find("broken"), std::string::npos) << got;
}

TEST(CDevice, AnAbsentCompilerIsAReason) {
  DeviceOptions options;
  options.of<COptions>().cc = "no-such-compiler";
  std::string why;
  EXPECT_FALSE(make_device("c", options)->available(&why));
  EXPECT_EQ(why, "no C compiler: 'no-such-compiler' is not found");
  const Program program = two_calls();
  EXPECT_NE(error_of([&] { make_device("c", options)->load(program); }).find(why), std::string::npos);
}

TEST(CDevice, RefusesWrongInputs) {
  const Program program = two_calls();
  const auto loaded = make_device("c")->load(program);
  const struct {
    std::vector<Array> inputs;
    const char* expected;
  } kRows[] = {
      {{}, "there are 0, the program takes 1"},
      {{floats({3}, {1, 2, 3})}, "input 'x': is float32 [3], the program takes float32 [4]"},
      {{Array::of_ints(DType::Int8, {4}, std::vector<std::int64_t>{1, 2, 3, 4})}, "is int8 [4], the program takes float32 [4]"},
  };
  for (const auto& row : kRows) {
    const std::string got = error_of([&] { loaded->run(row.inputs); });
    EXPECT_NE(got.find(row.expected), std::string::npos) << got;
  }
}

}  // namespace
}  // namespace etch
