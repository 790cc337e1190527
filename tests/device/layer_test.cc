// What every backend does alike below a Program: buffers, runners of ASTs, counters. Results are compared with loops written here.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "device/compiled.h"
#include "device/runner.h"
#include "support/device_checks.h"
#include "support/needs.h"
#include "support/usable.h"

namespace etch::layer_test {
namespace {

using test::error_of;
using test::expect_error;

class DeviceLayer : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    options_.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
    options_.of<CudaOptions>().device = "cpu";
    options_.counters = counters_;
    device_ = make();
    if (const std::string why = test::why_not(*device_); !why.empty()) GTEST_SKIP() << why;
  }
  std::unique_ptr<Device> make() const { return make_device(GetParam(), options_); }
  /// The device, if it compiles kernels.
  const Compiled* compiled() const { return dynamic_cast<const Compiled*>(device_.get()); }
  /// Whether its memory is this process's.
  bool on_host() const { return Buffer(*device_, 1, DType::Int8).opaque() != nullptr && GetParam() != "opencl"; }

  DeviceOptions options_;
  std::shared_ptr<GlobalCounters> counters_ = std::make_shared<GlobalCounters>();
  std::unique_ptr<Device> device_;
};

std::vector<std::string> names() { return {"interp", "c", "llvm", "opencl", "cuda"}; }
INSTANTIATE_TEST_SUITE_P(Backends, DeviceLayer, testing::ValuesIn(names()), [](const auto& row) { return row.param; });

Array floats(const std::vector<std::int64_t>& shape, int seed) {
  std::vector<double> values(static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>())));
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<double>((i * 37 + static_cast<std::size_t>(seed)) % 19) - 9;
  return test::floats(shape, values);
}

constexpr std::int64_t kRows = 6, kColumns = 10, kInner = 7;

// y[i,j] = max(sum over k of a[i,k] * b[k,j], 0)
const LazyOp* product(LazyOps& ops, DType dtype = DType::Float32) {
  const auto sizes = [](std::initializer_list<std::int64_t> list) { return std::vector<Sint>(list.begin(), list.end()); };
  const std::vector<Sint> all = sizes({kRows, kColumns, kInner}), out = sizes({kRows, kColumns, 1});
  const auto a = ShapeTracker::from_shape(sizes({kRows, kInner})).reshape(sizes({kRows, 1, kInner})).expand(all);
  const auto b = ShapeTracker::from_shape(sizes({kInner, kColumns})).permute({1, 0}).reshape(sizes({1, kColumns, kInner})).expand(all);
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {ops.load(1, dtype, a), ops.load(2, dtype, b)}), {2});
  const LazyOp* zero = ops.constant(Scalar::of_int(dtype, 0), ShapeTracker::from_shape(sizes({1, 1, 1})).expand(out));
  return ops.store(0, ops.elementwise(Op::Max, {sum, zero}), ShapeTracker::from_shape(out));
}

std::vector<double> product_by_loops(const Array& a, const Array& b) {
  std::vector<double> y;
  for (std::int64_t i = 0; i < kRows; i++)
    for (std::int64_t j = 0; j < kColumns; j++) {
      double sum = 0;
      for (std::int64_t k = 0; k < kInner; k++) sum += a.double_at(i * kInner + k) * b.double_at(k * kColumns + j);
      y.push_back(std::max(sum, 0.0));
    }
  return y;
}

TEST_P(DeviceLayer, BufferCopiesInAndOut) {
  for (const DType dtype : {DType::Float32, DType::Int64, DType::UInt8, DType::Bool, DType::Float16}) {
    const Array values = Array::of_ints(dtype, {5}, std::vector<std::int64_t>{1, 0, 1, 1, 0});
    Buffer buffer = Buffer::fromCPU(*device_, values);
    EXPECT_EQ(buffer.device(), GetParam());
    EXPECT_EQ(buffer.size(), 5);
    EXPECT_EQ(buffer.dtype(), dtype);
    EXPECT_EQ(buffer.bytes(), 5 * bytes_of(dtype));
    EXPECT_EQ(buffer.toCPU(), values);
    EXPECT_EQ(buffer.toCPU({1, 2}).ints(), (std::vector<std::int64_t>{1, 0}));
    Buffer moved = std::move(buffer);
    EXPECT_EQ(moved.toCPU(), values);
    moved = Buffer::fromCPU(*device_, values.reshaped({5, 1}));
    EXPECT_EQ(moved.toCPU({5, 1}), values.reshaped({5, 1}));
    moved.copyin(values.bytes());
    EXPECT_EQ(moved.toCPU(), values);
  }
}

TEST_P(DeviceLayer, BufferOutlivesItsDevice) {
  const Array values = floats({3}, 1);
  const Buffer buffer = Buffer::fromCPU(*make(), values);
  EXPECT_EQ(buffer.toCPU(), values);
}

TEST_P(DeviceLayer, BufferIsTheHostsMemoryOrSaysThatItIsNot) {
  const Buffer buffer = Buffer::fromCPU(*device_, floats({4}, 2));
  if (!on_host()) {
    expect_error(error_of([&] { buffer.as_buffer(); }), "buffer on opencl: its memory is not the host's\n  help: use copyout");
    return;
  }
  const std::span<std::byte> bytes = buffer.as_buffer();
  ASSERT_EQ(bytes.size(), 16u);
  EXPECT_EQ(bytes.data(), buffer.opaque());
  std::ranges::copy(floats({4}, 3).bytes(), bytes.begin());
  EXPECT_EQ(buffer.toCPU(), floats({4}, 3));
}

TEST_P(DeviceLayer, BufferMayLieInMemoryOfTheCaller) {
  const Buffer owner = Buffer::fromCPU(*device_, floats({4}, 4));
  const std::int64_t before = counters_->values().mem_used;
  {
    Buffer view(*device_, 2, DType::Float32, owner.opaque());
    EXPECT_EQ(view.toCPU().doubles(), (std::vector<double>{floats({4}, 4).double_at(0), floats({4}, 4).double_at(1)}));
    view.copyin(floats({2}, 5).bytes());
  }
  EXPECT_EQ(owner.toCPU({2}), floats({2}, 5));
  EXPECT_EQ(counters_->values().mem_used, before);
}

TEST_P(DeviceLayer, AllocatorRefusesSizesOfZeroOrLess) {
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, INT64_MIN}) {
    const std::string number = std::to_string(size);
    expect_error(error_of([&] { device_->allocator()->alloc(size); }),
                 "memory: a piece of " + number + " bytes was asked for, at least 1 is accepted");
    expect_error(error_of([&] { Buffer(*device_, size, DType::Float32); }),
                 "buffer of float32 on " + GetParam() + ": it has " + number + " elements, at least 1 is accepted");
  }
  expect_error(error_of([&] { Buffer(*device_, INT64_MAX, DType::Float32); }), "it has 9223372036854775807 elements");
  expect_error(error_of([&] { device_->allocator()->alloc(INT64_MAX); }), "there are no 9223372036854775807 bytes for a buffer");
  EXPECT_EQ(counters_->values().mem_used, 0);
}

TEST_P(DeviceLayer, LruCanBeLeftOut) {
  EXPECT_NE(dynamic_cast<LRUAllocator*>(device_->allocator().get()), nullptr);
  options_.lru = false;
  const auto plain = make();
  EXPECT_EQ(dynamic_cast<LRUAllocator*>(plain->allocator().get()), nullptr);
  EXPECT_EQ(Buffer::fromCPU(*plain, floats({4}, 6)).toCPU(), floats({4}, 6));
  EXPECT_EQ(counters_->values().mem_used, 0);
}

TEST_P(DeviceLayer, RunnerEqualsLoopsAndCounts) {
  LazyOps ops;
  const LazyOp* ast = product(ops);
  const Array a = floats({kRows, kInner}, 7), b = floats({kInner, kColumns}, 8);
  const auto runner = device_->get_runner(ast);
  const Buffer x = Buffer::fromCPU(*device_, a), z = Buffer::fromCPU(*device_, b), y(*device_, kRows * kColumns, DType::Float32);
  EXPECT_EQ(counters_->values().kernel_count, 0);
  const auto seconds = runner->exec({&y, &x, &z}, {}, true);
  EXPECT_EQ(y.toCPU().doubles(), product_by_loops(a, b));
  ASSERT_TRUE(seconds.has_value());
  EXPECT_GT(*seconds, 0);
  // A product and a sum for each of the inner elements, and one maximum.
  constexpr std::int64_t kOps = kRows * kColumns * (2 * kInner + 1);
  constexpr std::int64_t kBytes = 4 * (kRows * kColumns + kRows * kInner + kInner * kColumns);
  EXPECT_EQ(runner->op_estimate().as_int(), kOps);
  EXPECT_EQ(runner->mem_estimate().as_int(), kBytes);
  const GlobalCounters::Values counted{.global_ops = kOps,
                                       .global_mem = kBytes,
                                       .time_sum_s = *seconds,
                                       .kernel_count = 1,
                                       .mem_used = 4 * (kRows * kColumns + kRows * kInner + kInner * kColumns)};
  EXPECT_EQ(counters_->values(), counted);
  EXPECT_FALSE(runner->exec({&y, &x, &z}, {}).has_value());
  EXPECT_EQ(counters_->values().kernel_count, 2);
  EXPECT_EQ(counters_->values().time_sum_s, *seconds);  // nobody waited for the second
  counters_->reset();
  EXPECT_EQ(counters_->values(), (GlobalCounters::Values{.mem_used = counted.mem_used}));
}

TEST_P(DeviceLayer, RunnerNeedsNoWaitBetweenKernels) {
  LazyOps ops;
  const auto flat = ShapeTracker::from_shape({64});
  const LazyOp* x = ops.load(1, DType::Float32, flat);
  const auto runner = device_->get_runner(ops.store(0, ops.elementwise(Op::Add, {x, x}), flat));
  Buffer a = Buffer::fromCPU(*device_, test::floats({64}, std::vector<double>(64, 1))), b(*device_, 64, DType::Float32);
  for (int i = 0; i < 10; i++) {
    runner->exec({&b, &a}, {});
    std::swap(a, b);
  }
  device_->synchronize();
  if (on_host()) {
    EXPECT_EQ(reinterpret_cast<const float*>(a.as_buffer().data())[63], 1024.0f);
  }
  EXPECT_EQ(a.toCPU().doubles(), std::vector<double>(64, 1024));
}

TEST_P(DeviceLayer, RunnerCachedByAst) {
  LazyOps ops;
  const auto first = device_->get_runner(product(ops));
  {
    const auto others = std::make_shared<LazyOps>();  // equal, but not the same nodes
    EXPECT_EQ(device_->get_runner(product(*others), others), first);
  }
  EXPECT_NE(device_->get_runner(product(ops, DType::Int32)), first);
  EXPECT_EQ(device_->get_runner(product(ops)), first);
  EXPECT_NE(make()->get_runner(product(ops)), first);
  const auto chosen = [&](double value) {
    const auto flat = ShapeTracker::from_shape({2});
    return ops.store(0, ops.constant(Scalar::of_double(DType::Float32, value), flat), flat);
  };
  EXPECT_NE(device_->get_runner(chosen(0.0)), device_->get_runner(chosen(-0.0)));
}

// One runner serves every value; grid and estimates follow it.
TEST_P(DeviceLayer, RunnerTakesVariables) {
  Symbols symbols;
  LazyOps ops;
  const Sint n = symbols.variable("n", 1, 100);
  const auto shape = ShapeTracker::from_shape({n, 2});
  const LazyOp* x = ops.load(1, DType::Int32, shape);
  const auto runner = device_->get_runner(ops.store(0, ops.elementwise(Op::Mul, {x, x}), shape));
  std::vector<std::int64_t> numbers(200);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Buffer in = Buffer::fromCPU(*device_, Array::of_ints(DType::Int32, {200}, numbers));
  for (const std::int64_t k : {1, 2, 37, 100}) {
    const Buffer out = Buffer::fromCPU(*device_, Array::filled(DType::Int32, {200}, Scalar::of_int(DType::Int32, -1)));
    counters_->reset();
    runner->exec({&out, &in}, {{"n", k}});
    const std::vector<std::int64_t> got = out.toCPU().ints();
    for (std::size_t i = 0; i < 200; i++) {
      const auto want = static_cast<std::int64_t>(i) < 2 * k ? numbers[i] * numbers[i] : -1;
      ASSERT_EQ(got[i], want) << "n=" << k << ", element " << i;
    }
    EXPECT_EQ(counters_->values().global_ops, 2 * k);
    EXPECT_EQ(counters_->values().global_mem, 16 * k);
    const auto* compiled = dynamic_cast<const CompiledASTRunner*>(runner.get());
    if (compiled == nullptr || !device_->language()->grid) continue;
    const LaunchSize size = compiled->launch_dims({{"n", k}});
    EXPECT_EQ(2 * k % (size.groups[0] * size.groups[1] * size.groups[2]), 0) << "n=" << k;
    EXPECT_EQ(size.groups[0] * size.groups[1] * size.groups[2] % k, 0) << "n=" << k;
  }
  const Buffer out(*device_, 200, DType::Int32);
  expect_error(error_of([&] { runner->exec({&out, &in}, {}); }), "variable 'n': has no value\n  help: give it one from 1 to 100");
  expect_error(error_of([&] { runner->exec({&out, &in}, {{"n", 101}}); }), "variable 'n': is 101, accepted is 1 to 100");
  const Buffer small(*device_, 199, DType::Int32);
  expect_error(error_of([&] { runner->exec({&small, &in}, {{"n", 1}}); }), "buffer 0: is 199 x int32");
}

TEST_P(DeviceLayer, RunnerRefusesOtherBuffers) {
  LazyOps ops;
  const auto runner = device_->get_runner(product(ops));
  const Buffer y(*device_, kRows * kColumns, DType::Float32), a(*device_, kRows * kInner, DType::Float32);
  const Buffer b(*device_, kInner * kColumns, DType::Float32);
  const Buffer short_b(*device_, kInner * kColumns - 1, DType::Float32), ints(*device_, kInner * kColumns, DType::Int32);
  const std::string where = "kernel on " + GetParam(), wanted = ", accepted is float32 on " + GetParam() + ", at least 70";
  expect_error(error_of([&] { runner->exec({&y, &a}, {}); }), where + ": there are 2 buffers, it takes 3");
  expect_error(error_of([&] { runner->exec({&y, &a, &short_b}, {}); }), where + ", buffer 2: is 69 x float32 on " + GetParam() + wanted);
  expect_error(error_of([&] { runner->exec({&y, &a, &ints}, {}); }), where + ", buffer 2: is 70 x int32 on " + GetParam() + wanted);
  const auto other = make_device(GetParam() == "interp" ? "c" : "interp", options_);
  const Buffer elsewhere(*other, kInner * kColumns, DType::Float32);
  expect_error(error_of([&] { runner->exec({&y, &a, &elsewhere}, {}); }), where + ", buffer 2: is 70 x float32 on " + other->name());
  EXPECT_EQ(counters_->values().kernel_count, 0);
}

TEST_P(DeviceLayer, LinearizerIsChosenAndToProgramRunsIt) {
  if (compiled() == nullptr) {
    EXPECT_NE(dynamic_cast<const Interpreted*>(device_.get()), nullptr);
    return;
  }
  LazyOps ops;
  const LazyOp* ast = product(ops);
  const Array a = floats({kRows, kInner}, 9), b = floats({kInner, kColumns}, 10);
  const Buffer x = Buffer::fromCPU(*device_, a), z = Buffer::fromCPU(*device_, b), y(*device_, kRows * kColumns, DType::Float32);
  const Kernel chosen = compiled()->get_linearizer(ast);
  EXPECT_FALSE(chosen.applied().empty());
  options_.codegen = CodegenOptions();
  options_.codegen->opts = std::vector<Opt>{{OptOp::Upcast, 1, 5}};
  const auto other = make();
  const auto& mine = dynamic_cast<const Compiled&>(*other);
  const Kernel given = mine.get_linearizer(ast);
  EXPECT_EQ(to_text(given.applied()), "UPCAST 1 5");
  const auto heuristic = compiled()->to_program(chosen), own = mine.to_program(given);
  EXPECT_NE(heuristic->kernel().text.source, own->kernel().text.source);
  heuristic->exec({&y, &x, &z}, {});
  EXPECT_EQ(y.toCPU().doubles(), product_by_loops(a, b));
  const Buffer x2 = Buffer::fromCPU(*other, a), z2 = Buffer::fromCPU(*other, b), y2(*other, kRows * kColumns, DType::Float32);
  own->exec({&y2, &x2, &z2}, {});
  EXPECT_EQ(y2.toCPU().doubles(), product_by_loops(a, b));
}

TEST_P(DeviceLayer, DisassemblesWhatItCompiled) {
  if (compiled() == nullptr) return;
  const bool is_text = GetParam() == "opencl";
  if (const std::string why = test::missing({"objdump"}); !is_text && !why.empty()) GTEST_SKIP() << why;
  LazyOps ops;
  const auto runner = compiled()->to_program(compiled()->get_linearizer(product(ops)));
  const ProgramKernel& kernel = runner->kernel();
  const auto compiler = compiled()->compiler();
  const std::vector<std::string> texts = compiled()->texts_of({&kernel, 1});
  ASSERT_EQ(texts.size(), 1u);
  const std::string shown = compiler->disassemble(compiler->compile(texts[0]));
  EXPECT_NE(shown.find(is_text ? kernel.text.source : "ret"), std::string::npos) << shown;
}

// A program's calls are counted as kernels that are run by hand, and its memory as theirs.
TEST_P(DeviceLayer, GlobalCountersCountPrograms) {
  LazyOps ops;
  const LazyOp* ast = product(ops);
  Program program;
  program.language = device_->language();
  const auto buffer = [&](const char* name, BufferKind kind, std::int64_t n) {
    program.buffers.push_back({name, kind, DType::Float32, {n}, n, {}});
    return static_cast<int>(program.buffers.size()) - 1;
  };
  program.inputs = {buffer("a", BufferKind::Input, kRows * kInner)};
  buffer("b", BufferKind::Constant, kInner * kColumns);
  program.outputs = {buffer("y", BufferKind::Output, kRows * kColumns)};
  const Array b = floats({kInner * kColumns}, 12);
  program.buffers[1].data = b;
  ProgramKernel kernel;
  if (compiled() != nullptr) {
    kernel = compiled()->to_program(compiled()->get_linearizer(ast))->kernel();
  } else {
    kernel.name = "product";
    kernel.ast = ast;
    kernel.arguments = signature_of(ast, "interp").arguments;
  }
  program.kernels = {kernel};
  ProgramCall call;
  call.arguments = {{2, Access::Write}, {0}, {1}};
  call.flops = 1000;
  call.bytes = 200;
  program.calls = {call, call};
  const Array a = floats({kRows * kInner}, 11);
  const GlobalCounters::Values of_process = GlobalCounters::of_process()->values();
  {
    const auto loaded = device_->load(program);
    // The reference reads constants where they are.
    EXPECT_EQ(counters_->values().mem_used >= 4 * kInner * kColumns, compiled() != nullptr);
    std::vector<double> seconds;
    RunOptions run;
    run.call_seconds = &seconds;
    EXPECT_EQ(loaded->run({a}, {}, run)[0].doubles(), product_by_loops(a, b));
    const GlobalCounters::Values counted = counters_->values();
    EXPECT_EQ(counted.kernel_count, 2);
    EXPECT_EQ(counted.global_ops, 2000);
    EXPECT_EQ(counted.global_mem, 400);
    EXPECT_GT(counted.time_sum_s, 0);
    ASSERT_EQ(seconds.size(), 2u);
    EXPECT_LE(counted.time_sum_s, 1.01 * (seconds[0] + seconds[1]) + 1e-9);
  }
  EXPECT_EQ(counters_->values().mem_used, 0);
  EXPECT_EQ(GlobalCounters::of_process()->values(), of_process) << "the device counts where its options say";
}

// Each operation by itself, against loops.
TEST(DeviceLayer, InterpretedHasAFunctionForEachOp) {
  const auto apply = [](Op op, Interpreted::OpArguments arguments) { return Interpreted::fxn_for_op(op)(arguments).doubles(); };
  const Array a = test::floats({2, 3}, {-1.5, 2, 0, 4, -3, 0.25}), b = test::floats({2, 3}, {2, -2, 1, 4, 0.5, 8});
  const Array t = Array::of_ints(DType::Bool, {2, 3}, std::vector<std::int64_t>{1, 0, 1, 0, 0, 1});
  const struct {
    Op op;
    double (*f)(double, double);
  } rows[] = {
      {Op::Add, [](double x, double y) { return x + y; }},
      {Op::Sub, [](double x, double y) { return x - y; }},
      {Op::Mul, [](double x, double y) { return x * y; }},
      {Op::Max, [](double x, double y) { return x < y ? y : x; }},
      {Op::CmpLt, [](double x, double y) { return x < y ? 1.0 : 0.0; }},
      {Op::Neg, [](double x, double) { return -x; }},
      {Op::Floor, [](double x, double) { return std::floor(x); }},
  };
  for (const auto& row : rows) {
    std::vector<double> want;
    for (int i = 0; i < 6; i++) want.push_back(row.f(a.double_at(i), b.double_at(i)));
    const std::vector<Array> both = {a, b};
    EXPECT_EQ(apply(row.op, {.operands = {both.begin(), both.begin() + info(row.op).arity}}), want) << name_of(row.op);
  }
  EXPECT_EQ(apply(Op::Where, {.operands = {t, a, b}}), (std::vector<double>{-1.5, -2, 0, 4, 0.5, 0.25}));
  EXPECT_EQ(apply(Op::Cast, {.operands = {a}, .dtype = DType::Int8}), (std::vector<double>{-1, 2, 0, 4, -3, 0}));
  EXPECT_EQ(apply(Op::Bitcast, {.operands = {test::floats({1}, {1})}, .dtype = DType::Int32}), std::vector<double>{0x3F800000});
  EXPECT_EQ(apply(Op::ReduceSum, {.operands = {a}, .axes = {1}}), (std::vector<double>{0.5, 1.25}));
  EXPECT_EQ(apply(Op::ReduceMin, {.operands = {a}, .axes = {0, 1}}), std::vector<double>{-3});
  EXPECT_EQ(apply(Op::Expand, {.operands = {test::floats({2, 1}, {5, 6})}, .shape = {2, 2}}), (std::vector<double>{5, 5, 6, 6}));
  for (std::size_t i = 0; i < std::size(kOps); i++) {
    const Op op = static_cast<Op>(i);
    const bool has_operands = kOps[i].group != OpGroup::Buffer && op != Op::MulAcc;
    EXPECT_EQ(Interpreted::fxn_for_op(op) != nullptr, has_operands) << name_of(op);
  }
  EXPECT_THROW(apply(Op::Add, {.operands = {a}}), InternalError);
}

TEST(DeviceLayer, DefaultDeviceIsChosen) {
  EXPECT_EQ(Device::default_device().name, "interp");
  Device::set_default("c");
  EXPECT_EQ(make_device("")->name(), "c");
  expect_error(error_of([] { Device::set_default("cc"); }), "device cc: is unknown; the devices are 'c', ");
  EXPECT_EQ(Device::default_device().name, "c");
  Device::set_default("interp");
}

}  // namespace
}  // namespace etch::layer_test
