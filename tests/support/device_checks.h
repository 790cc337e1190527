// For tests of devices: programs that differ by language in their texts alone, and what every device must do with them.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "support/programs.h"

namespace etch::test {

/// What the DeviceError says that `f` throws; empty if it throws none.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const DeviceError& e) {
    return e.what();
  }
  return "";
}

inline void expect_error(const std::string& got, const std::string& part) {
  EXPECT_NE(got.find(part), std::string::npos) << "got: " << got;
}

/// A kernel's text, and the grid that it is launched on.
struct GridKernel {
  std::string text;
  std::vector<Sint> groups = {}, local = {};
};

/// h = 2x by the kernel "twice"; y = h + w by "add"; four floats.
inline Program two_calls(std::string_view language, const GridKernel& twice, const GridKernel& add) {
  ProgramBuilder b(language);
  const int x = b.input("x", DType::Float32, {4}), y = b.output("y", DType::Float32, {4});
  const int h = b.intermediate("h", DType::Float32, {4}), w = b.constant("w", floats({4}, {10, 20, 30, 40}));
  b.call(b.kernel("twice", twice.text, 2, {}, twice.groups, twice.local), {h, x});
  b.call(b.kernel("add", add.text, 3, {}, add.groups, add.local), {y, h, w});
  return b.take();
}

/// The calls of two_calls run in order, each is tapped and timed, and a second run keeps nothing of the first.
inline void expect_calls_in_order(LoadedProgram& loaded) {
  std::vector<std::pair<int, std::vector<double>>> seen;
  std::vector<double> seconds;
  RunOptions run;
  run.tap = [&](int call, int, const Array& output) { seen.emplace_back(call, output.doubles()); };
  run.call_seconds = &seconds;
  const std::vector<Array> outputs = loaded.run({floats({4}, {1, 2, 3, 4})}, {}, run);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].doubles(), (std::vector<double>{12, 24, 36, 48}));
  EXPECT_EQ(seen, (std::vector<std::pair<int, std::vector<double>>>{{0, {2, 4, 6, 8}}, {1, {12, 24, 36, 48}}}));
  EXPECT_EQ(seconds.size(), 2u);
  EXPECT_EQ(loaded.run({floats({4}, {0, 0, 0, 1})})[0].doubles(), (std::vector<double>{10, 20, 30, 42}));
}

/// A grid whose size is a variable: `text` is a kernel "transpose" of x [n,3], y [3,n] and n that adds 100 n; work-group (j, i) writes
/// y[j][i].
inline void expect_grids_by_variables(const Device& device, std::string_view language, const std::string& text) {
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 6);
  ProgramBuilder b(language);
  b.variable("n", 1, 6);
  const int x = b.input("x", DType::Int32, {n, 3}), y = b.output("y", DType::Int32, {3, n});
  b.call(b.kernel("transpose", text, 2, {"n"}, {3, n}, {1, 1}), {y, x});
  const Program program = b.take();
  const auto loaded = device.load(program);
  for (std::int64_t k = 1; k <= 6; k++) {
    std::vector<std::int64_t> in, expected(static_cast<std::size_t>(3 * k));
    for (std::int64_t i = 0; i < 3 * k; i++) {
      in.push_back(i);
      expected[static_cast<std::size_t>(i % 3 * k + i / 3)] = i + 100 * k;
    }
    const Array out = loaded->run({Array::of_ints(DType::Int32, {k, 3}, in)}, {{"n", k}})[0];
    EXPECT_EQ(out.shape(), (std::vector<std::int64_t>{3, k}));
    EXPECT_EQ(out.ints(), expected);
  }
}

/// Sums of 32 floats each by a kernel "sum" of y [2] and x [64], in two groups of 32 items that share memory; it calls etch_round_half.
inline void expect_sums_in_shared_memory(const Device& device, std::string_view language, const std::string& text) {
  ProgramBuilder b(language);
  const int x = b.input("x", DType::Float32, {64}), y = b.output("y", DType::Float32, {2});
  b.call(b.kernel("sum", text, 2, {}, {2}, {32}), {y, x});
  b.last_kernel().text.helpers = {"etch_round_half"};  // the sums are whole numbers that a half holds
  b.last_kernel().text.has_barrier = true;
  const Program program = b.take();
  std::vector<double> in;
  for (int i = 0; i < 64; i++) in.push_back(i);
  EXPECT_EQ(device.load(program)->run({floats({64}, in)})[0].doubles(), (std::vector<double>{496, 1520}));
}

/// A kernel as text: y[0] = x[0] + number, with `padding` somewhere inside.
using AddText = std::function<std::string(const std::string& name, int number, const std::string& padding)>;

/// 20 kernels of 4000 characters each, one after the other, compiled by so many `jobs` at a time as `options` says.
inline void expect_many_kernels(std::string_view language, const AddText& text, const std::function<DeviceOptions(int jobs)>& options) {
  ProgramBuilder b(language);
  int value = b.input("x", DType::Float32, {1});
  for (int k = 0; k < 20; k++) {
    const std::string name = "k" + std::to_string(k);
    const int next = k == 19 ? b.output("y", DType::Float32, {1}) : b.intermediate("v" + std::to_string(k), DType::Float32, {1});
    b.call(b.kernel(name, text(name, k, std::string(4000, '\n')), 2, {}, {1}), {next, value});
    value = next;
  }
  const Program program = b.take();
  for (const int jobs : {1, 2, 3, 30})
    EXPECT_EQ(make_device(language, options(jobs))->load(program)->run({floats({1}, {1})})[0].doubles(), std::vector<double>{191});
}

}  // namespace etch::test
