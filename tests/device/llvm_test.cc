// The LLVM device on hand-written IR.
#include <gtest/gtest.h>

#include <future>

#include "device/device.h"
#include "support/device_checks.h"

namespace etch::llvm_test {
namespace {

using test::floats;
using test::ProgramBuilder;

// out[0] = op(in[0]) by a line of IR that makes %y of %x.
std::string kernel_text(const std::string& name, const std::string& line, const std::string& after = "") {
  return "define void @" + name +
         "(ptr %arg) {\n  %o = load ptr, ptr %arg\n  %at = getelementptr ptr, ptr %arg, i64 1\n  %i = load ptr, ptr %at\n"
         "  %x = load float, ptr %i\n  " +
         line + "\n  store float %y, ptr %o\n  ret void\n}\n" + after;
}

// y = -(2x) in two calls
Program two_calls() {
  ProgramBuilder b("llvm");
  const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
  const int h = b.intermediate("h", DType::Float32, {1});
  b.call(b.kernel("twice", kernel_text("twice", "%y = fadd float %x, %x"), 2), {h, x});
  b.call(b.kernel("negative", kernel_text("negative", "%y = fneg float %x"), 2), {y, h});
  return b.take();
}

std::string error_of(const Program& program) {
  return test::error_of([&] { make_device("llvm")->load(program); });
}

TEST(LlvmDevice, SaysWhatItIs) {
  const auto device = make_device("llvm");
  std::string why;
  ASSERT_TRUE(device->available(&why)) << why;
  EXPECT_TRUE(device->description().starts_with("LLVM ")) << device->description();
  EXPECT_NE(device->description().find(", "), std::string::npos) << device->description();
}

TEST(LlvmDevice, LoadsAndRunsTwice) {
  const Program program = two_calls();
  const auto device = make_device("llvm");
  const auto first = device->load(program);
  EXPECT_EQ(first->run({floats({1}, {3})})[0].doubles(), std::vector<double>{-6});
  const auto second = device->load(program);
  EXPECT_EQ(second->run({floats({1}, {4})})[0].doubles(), std::vector<double>{-8});
  EXPECT_EQ(first->run({floats({1}, {5})})[0].doubles(), std::vector<double>{-10});
}

TEST(LlvmDevice, LoadsInSeveralThreads) {
  const Program program = two_calls();
  std::vector<std::future<double>> running;
  for (int i = 0; i < 4; i++)
    running.push_back(std::async(std::launch::async, [&program, i] {
      return make_device("llvm")->load(program)->run({floats({1}, {static_cast<double>(i)})})[0].double_at(0);
    }));
  for (int i = 0; i < 4; i++) EXPECT_EQ(running[static_cast<std::size_t>(i)].get(), -2 * i);
}

TEST(LlvmDevice, CompilesManyKernelsInSeveralParts) {
  const auto text = [](const std::string& name, int number, const std::string& padding) {
    return kernel_text(name, padding + "%y = fadd float %x, " + std::to_string(number) + ".0");
  };
  test::expect_many_kernels("llvm", text, [](int jobs) {
    DeviceOptions options;
    options.of<LlvmOptions>().compile_jobs = jobs;
    return options;
  });
}

TEST(LlvmDevice, PassesVariables) {
  ProgramBuilder b("llvm");
  b.variable("n", 1, 8);
  const int y = b.output("y", DType::Int32, {1});
  b.call(b.kernel("n_of",
                  "define void @n_of(ptr %arg) {\n  %o = load ptr, ptr %arg\n  %at = getelementptr ptr, ptr %arg, i64 1\n"
                  "  %p = load ptr, ptr %at\n  %n = load i32, ptr %p\n  store i32 %n, ptr %o\n  ret void\n}\n",
                  1, {"n"}),
         {y});
  const Program program = b.take();
  EXPECT_EQ(make_device("llvm")->load(program)->run({}, {{"n", 7}})[0].int_at(0), 7);
}

TEST(LlvmDevice, GuardsNameTheKernelThatWritesOutside) {
  ProgramBuilder b("llvm");
  const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
  b.call(
      b.kernel("bad", kernel_text("bad", "%y = fneg float %x\n  %far = getelementptr float, ptr %o, i64 1\n  store float %y, ptr %far"), 2),
      {y, x});
  const Program program = b.take();
  DeviceOptions options;
  options.guards = true;
  test::expect_error(test::error_of([&] { make_device("llvm", options)->load(program)->run({floats({1}, {2})}); }),
                     "kernel 'bad': wrote 0 bytes after the end of buffer 'y'");
}

TEST(LlvmDevice, RefusesTheSameFunctionTwice) {
  ProgramBuilder b("llvm");
  const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
  const std::string other = kernel_text("other", "%y = fneg float %x");
  b.call(b.kernel("k", kernel_text("k", "%y = fneg float %x") + other, 2), {y, x});
  b.call(b.kernel("other", other, 2), {y, x});
  const std::string got = error_of(b.take());
  EXPECT_NE(got.find("kernel 'other': can't be linked with the other kernels: Linking globals named 'other'"), std::string::npos) << got;
}

TEST(LlvmDevice, RefusesABrokenText) {
  const struct {
    const char* what;
    std::string text;
    const char* expected;
  } rows[] = {
      {"no IR", "this is not IR", "kernel 'k': LLVM refuses its IR: IR:1:1: error: expected top-level entity"},
      {"wrong type", kernel_text("k", "%y = fneg float %o"), "'%o' defined with type 'ptr' but expected 'float'"},
      {"not valid", kernel_text("k", "%y = fadd float %z, %x\n  %z = fneg float %y"), "Instruction does not dominate all uses"},
      {"another name", kernel_text("other", "%y = fneg float %x"), "kernel 'k': its IR does not define a function of that name"},
      {"unknown function", kernel_text("k", "%y = call float @etch_no_such(float %x)", "declare float @etch_no_such(float)\n"),
       "etch_no_such"},
  };
  for (const auto& row : rows) {
    ProgramBuilder b("llvm");
    const int x = b.input("x", DType::Float32, {1}), y = b.output("y", DType::Float32, {1});
    b.call(b.kernel("k", row.text, 2), {y, x});
    const std::string got = error_of(b.take());
    EXPECT_NE(got.find(row.expected), std::string::npos) << row.what << ": " << got;
  }
}

}  // namespace
}  // namespace etch::llvm_test
