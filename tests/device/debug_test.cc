// DeviceOptions::debug: what each level tells, of kernels that are run by hand and of programs, on every backend.
#include "device/debug.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <thread>

#include "device/compiled.h"
#include "device/runner.h"
#include "program/generate.h"
#include "support/device_checks.h"
#include "support/usable.h"

namespace etch::debug_test {
namespace {

constexpr std::int64_t kSize = 4096;

// y[i] = x[i] * x[i] + x[i]: two operations an element, one load and one store.
const LazyOp* polynomial(LazyOps& ops) {
  const auto flat = ShapeTracker::from_shape({kSize});
  const LazyOp* x = ops.load(1, DType::Float32, flat);
  return ops.store(0, ops.elementwise(Op::Add, {ops.elementwise(Op::Mul, {x, x}), x}), flat);
}
constexpr std::int64_t kOps = 2 * kSize, kBytes = 8 * kSize;

/// A line of the table, read back.
struct Row {
  std::int64_t number = 0, buffers = 0, memory = 0;
  std::string device, kernel, grid;
  double us = 0, total_ms = 0, gflops = 0, gbytes = 0;
};

std::vector<Row> rows_of(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  bool in_table = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("     #  device")) {
      in_table = true;
      continue;
    }
    if (line.starts_with("   sum  ")) in_table = false;
    if (!in_table) continue;
    Row row;
    std::istringstream words(line);
    words >> row.number >> row.device >> row.kernel >> row.grid;
    if (std::string of, local; row.grid != "-") words >> of >> local, row.grid += " " + of + " " + local;
    words >> row.buffers >> row.memory >> row.us >> row.total_ms >> row.gflops >> row.gbytes;
    EXPECT_FALSE(words.fail()) << line;
    rows.push_back(row);
  }
  return rows;
}

// The rates are those of the printed time, which has two decimals.
void expect_rates(const Row& row, std::int64_t ops, std::int64_t bytes) {
  ASSERT_GT(row.us, 0);
  const double least = (row.us - 0.006) * 1e3, most = (row.us + 0.006) * 1e3;  // nanoseconds
  for (const auto& [rate, amount] : {std::pair{row.gflops, ops}, {row.gbytes, bytes}}) {
    EXPECT_GE(rate, static_cast<double>(amount) / most - 0.0006);
    EXPECT_LE(rate, static_cast<double>(amount) / least + 0.0006);
  }
}

class Debug : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (const std::string why = test::why_not(*make(0)); !why.empty()) GTEST_SKIP() << why;
  }
  /// A device of that level. What it tells is in told_.
  std::unique_ptr<Device> make(int level) {
    DeviceOptions options;
    options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
    options.of<CudaOptions>().device = "cpu";
    options.counters = counters_ = std::make_shared<GlobalCounters>();
    told_.clear();
    options.debug = {.level = level, .sink = [this](std::string_view text) {
                       EXPECT_TRUE(text.ends_with('\n')) << "whole lines: " << text;
                       told_ += text;
                     }};
    return make_device(GetParam(), options);
  }
  bool told(const std::string& part) const { return told_.find(part) != std::string::npos; }
  /// The kernel of a runner; of one for the reference an AST and a name.
  static ProgramKernel kernel_of(const Device& device, const LazyOp* ast) {
    const auto* compiled = dynamic_cast<const Compiled*>(&device);
    if (compiled != nullptr) return compiled->to_program(compiled->get_linearizer(ast))->kernel();
    return kernel_of_ast(ast, {.function = "square", .arguments = signature_of(ast, "interp").arguments, .variables = {}});
  }
  /// y = f(f(x)) with the kernel f.
  Program twice(const Device& device, const LazyOp* ast) const {
    Program program;
    program.language = device.language();
    for (const auto& [name, kind] : {std::pair{"x", BufferKind::Input}, {"h", BufferKind::Intermediate}, {"y", BufferKind::Output}})
      program.buffers.push_back({name, kind, DType::Float32, {kSize}, kSize, {}});
    program.inputs = {0};
    program.outputs = {2};
    program.kernels = {kernel_of(device, ast)};
    ProgramCall call;
    call.flops = kOps;
    call.bytes = kBytes;
    call.arguments = {{1, Access::Write}, {0}};
    program.calls.push_back(call);
    call.arguments = {{2, Access::Write}, {1}};
    program.calls.push_back(call);
    return program;
  }

  LazyOps ops_;
  std::shared_ptr<GlobalCounters> counters_;
  std::string told_;
};

INSTANTIATE_TEST_SUITE_P(Backends, Debug, testing::Values("interp", "c", "llvm", "opencl", "cuda"),
                         [](const auto& row) { return row.param; });

TEST_P(Debug, LevelZeroTellsNothing) {
  const auto device = make(0);
  const Buffer x = Buffer::fromCPU(*device, Array::filled(DType::Float32, {kSize}, Scalar::of_double(DType::Float32, 2)));
  const Buffer y(*device, kSize, DType::Float32);
  device->get_runner(polynomial(ops_))->exec({&y, &x}, {});
  device->load(twice(*device, polynomial(ops_)))->run({x.toCPU()});
  EXPECT_EQ(told_, "");
}

TEST_P(Debug, TableOfKernelsRunByHand) {
  const auto device = make(2);
  const auto runner = device->get_runner(polynomial(ops_));
  const Buffer x = Buffer::fromCPU(*device, Array::filled(DType::Float32, {kSize}, Scalar::of_double(DType::Float32, 3)));
  Buffer y(*device, kSize, DType::Float32);
  EXPECT_EQ(runner->exec({&y, &x}, {}), std::nullopt) << "the caller gets a time only if it waits";
  EXPECT_GT(runner->exec({&y, &x}, {}, true).value_or(0), 0);
  const Buffer more(*device, 1000, DType::Float32);
  runner->exec({&y, &x}, {});
  EXPECT_EQ(y.toCPU().double_at(5), 12);
  EXPECT_TRUE(told_.starts_with(GetParam() + ": " + device->description() + "\n")) << told_;
  const std::vector<Row> rows = rows_of(told_);
  ASSERT_EQ(rows.size(), 3u) << told_;
  double total = 0;
  for (std::size_t i = 0; i < rows.size(); i++) {
    const Row& row = rows[i];
    EXPECT_EQ(row.number, static_cast<std::int64_t>(i));
    EXPECT_EQ(row.device, GetParam());
    EXPECT_EQ(row.buffers, 2);
    EXPECT_EQ(row.memory, 8 * kSize + (i == 2 ? 4000 : 0));
    expect_rates(row, kOps, kBytes);
    total += row.us;
    EXPECT_NEAR(row.total_ms, total / 1e3, 0.001);
    const auto* compiled = dynamic_cast<const CompiledASTRunner*>(runner.get());
    EXPECT_EQ(row.grid == "-", device->language() == nullptr || !device->language()->grid) << row.grid;
    if (compiled == nullptr) continue;
    EXPECT_EQ(row.kernel, compiled->kernel().shape_name);
    if (row.grid == "-") continue;
    // All of a grid's items compute the elements together, one or several each.
    const LaunchSize size = compiled->launch_dims({});
    std::int64_t items = size.local[0] * size.local[1] * size.local[2];
    for (std::int64_t n : size.groups) items *= n;
    EXPECT_EQ(kSize % items, 0) << row.grid;
    EXPECT_TRUE(row.grid.starts_with(std::to_string(size.groups[0])) && row.grid.ends_with(std::to_string(size.local[0]))) << row.grid;
  }
  EXPECT_EQ(counters_->values().kernel_count, 3);
  EXPECT_NEAR(counters_->values().time_sum_s * 1e3, rows.back().total_ms, 0.001);
  device->stats().debug->print_sums();
  EXPECT_TRUE(told("   sum  3 kernels, ")) << told_;
}

TEST_P(Debug, TableOfAProgram) {
  const auto device = make(2);
  const Program program = twice(*device, polynomial(ops_));
  const auto loaded = device->load(program);
  EXPECT_TRUE(told(GetParam() + ": loaded 1 kernels for 2 calls in ")) << told_;
  told_.clear();
  const Array x = Array::filled(DType::Float32, {kSize}, Scalar::of_double(DType::Float32, 1));
  for (int run = 0; run < 2; run++) EXPECT_EQ(loaded->run({x})[0].double_at(7), 6);
  const std::vector<Row> rows = rows_of(told_);
  ASSERT_EQ(rows.size(), 4u) << told_;
  for (std::size_t i = 0; i < rows.size(); i++) {
    EXPECT_EQ(rows[i].number, static_cast<std::int64_t>(i));
    EXPECT_EQ(rows[i].kernel, program.kernels[0].name);
    EXPECT_EQ(rows[i].buffers, 2);
    EXPECT_GE(rows[i].memory, 4 * kSize) << "what it writes; the reference reads inputs where they are";
    EXPECT_LE(rows[i].memory, 12 * kSize + 256);
    expect_rates(rows[i], kOps, kBytes);
  }
  // Behind each run its sums.
  std::istringstream lines(told_);
  std::vector<std::string> sums;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("   sum  ")) sums.push_back(line);
  ASSERT_EQ(sums.size(), 2u);
  for (std::size_t run = 0; run < 2; run++) {
    double ms = 0, gflops = 0;
    ASSERT_EQ(std::sscanf(sums[run].c_str(), "   sum  2 kernels, %lf ms, %lf GFLOP/s", &ms, &gflops), 2) << sums[run];
    const double us = rows[2 * run].us + rows[2 * run + 1].us;
    EXPECT_NEAR(ms * 1e3, us, 0.52);
    EXPECT_GE(gflops, 2 * kOps / ((us + 0.012) * 1e3) - 0.0006);
    EXPECT_LE(gflops, 2 * kOps / ((us - 0.012) * 1e3) + 0.0006);
  }
}

// Level by level: the AST, the source, the UOps, each as the library gives it otherwise.
TEST_P(Debug, TextsOfKernels) {
  for (int level = 1; level <= kMostDebug; level++) {
    const auto device = make(level);
    const LazyOp* ast = polynomial(ops_);
    const auto runner = device->get_runner(ast);
    EXPECT_EQ(told("-- AST\n" + to_tree(ast)), level >= 3) << told_;
    const auto* compiled = dynamic_cast<const CompiledASTRunner*>(runner.get());
    EXPECT_EQ(told(GetParam() + ": evaluates ASTs, so its kernels have no source"), compiled == nullptr && level >= 4) << told_;
    if (compiled != nullptr) {
      EXPECT_EQ(told("-- source\n" + compiled->kernel().text.source), level >= 4) << told_;
      EXPECT_EQ(told("-- UOps\n" + compiled->kernel().uops), level >= 5) << told_;
      EXPECT_EQ(told("-- instructions\n"), level >= 6) << told_;
    }
    if (level != 3 && level != 6) continue;
    // A program's kernels too.
    const Program program = twice(*device, ast);
    told_.clear();
    device->load(program);
    EXPECT_TRUE(told("== " + program.kernels[0].name) && told("-- AST\n" + to_tree(ast))) << told_;
    EXPECT_EQ(told("-- instructions\n"), level == 6 && compiled != nullptr) << told_;
  }
}

TEST_P(Debug, Instructions) {
  const auto device = make(6);
  const auto* compiled = dynamic_cast<const Compiled*>(device.get());
  const Program program = twice(*device, polynomial(ops_));
  if (compiled != nullptr) told_.clear();
  device->load(program);
  if (compiled == nullptr) {
    EXPECT_TRUE(told("interp: evaluates ASTs, so its kernels have no source, no UOps and no instructions\n")) << told_;
    EXPECT_FALSE(told("-- instructions"));
    return;
  }
  const std::string shown = told_.substr(std::min(told_.find("-- instructions\n"), told_.size()));
  const auto compiler = compiled->compiler();
  const std::string text = compiled->texts_of(program.kernels).at(0);
  if (compiler->disassemble(compiler->compile(text)) == text) {
    EXPECT_TRUE(shown.starts_with("-- instructions\n" + GetParam() + ": its compiler shows no instructions, only the source\n")) << shown;
    return;
  }
  EXPECT_NE(shown.find("ret"), std::string::npos) << shown;
}

// A line of the table belongs to one run, whatever other threads do.
TEST(Debug, SeveralThreadsTellWholeLines) {
  std::string told;
  DebugLog log({.level = 2, .sink = [&](std::string_view text) { told += text; }});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([&log, t] {
      for (int i = 0; i < 100; i++)
        log.print_run("d", {.name = "k" + std::to_string(t), .grid = std::nullopt, .buffers = 1}, 1, 1, 1e-3, {.kernel_count = 1});
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(rows_of(told).size(), 400u);
}

}  // namespace
}  // namespace etch::debug_test
