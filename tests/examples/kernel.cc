// kernel: one kernel through every stage by hand. A matrix product, 8 x 6 by 6 x 4, with a ReLU behind it:
//
//   AST -> axes -> OptOps -> UOps -> proof of the indices -> text -> a compiled kernel -> numbers
//
// At every stage stands what etch's own pipeline would call, so this is also a map of it. Beside it lies what it prints (kernel.txt).
#include <cstdio>
#include <cstdlib>

#include "etch.h"

using namespace etch;

static constexpr std::int64_t kRows = 8, kColumns = 4, kInner = 6;

static void expect(bool holds, const char* claim) {
  if (holds) return;
  std::printf("this should hold: %s\n", claim);
  std::exit(1);
}

static void title(const char* text) { std::printf("\n=== %s\n", text); }

// --- 1. The AST. Both operands are seen in the shape of all products, 8 x 4 x 6: a view repeats the rows of one (stride 0), another
// one transposes and repeats the other. The last axis is summed, so it has size 1 behind that.
static const LazyOp* product(LazyOps& ops) {
  const std::vector<Sint> all{kRows, kColumns, kInner}, out{kRows, kColumns, 1};
  const ShapeTracker a = ShapeTracker::from_shape({kRows, kInner}).reshape({kRows, 1, kInner}).expand(all);
  const ShapeTracker b = ShapeTracker::from_shape({kInner, kColumns}).permute({1, 0}).reshape({1, kColumns, kInner}).expand(all);
  const LazyOp* products = ops.elementwise(Op::Mul, {ops.load(1, DType::Float32, a), ops.load(2, DType::Float32, b)});
  const LazyOp* sum = ops.reduce(Op::ReduceSum, products, {2});
  const LazyOp* zero = ops.constant(Scalar::of_double(DType::Float32, 0), ShapeTracker::from_shape({1, 1, 1}).expand(out));
  return ops.store(0, ops.elementwise(Op::Max, {sum, zero}), ShapeTracker::from_shape(out));
}

// What it should compute, without etch.
static std::vector<double> by_loops(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> y;
  for (std::size_t i = 0; i < kRows; i++)
    for (std::size_t j = 0; j < kColumns; j++) {
      double sum = 0;
      for (std::size_t k = 0; k < kInner; k++) sum += a[i * kInner + k] * b[k * kColumns + j];
      y.push_back(sum < 0 ? 0 : sum);
    }
  return y;
}

// Small whole numbers, so that every sum is exact and results are compared with ==.
static std::vector<double> numbers(std::size_t count, int seed) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; i++) values[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(seed)) % 11) - 5;
  return values;
}

static void show_work(const LazyOp* ast) {
  std::printf("%s", to_tree(ast).c_str());
  const Work work = count_work(ast);
  std::printf("%s multiply-accumulates\n", to_text(work.macs).c_str());
  expect(work.macs == Sint(kRows * kColumns * kInner), "one for each row, column and inner element");
}

// --- 2. The axes, one for each dimension, and steps of the optimiser, which split them or change what they are. In the names below, r says
// that the kernel reduces, and the sizes of its axes follow, loops first.

static void show_axes(const Kernel& kernel) {
  std::printf("%s", kernel.shape_name().c_str());
  if (!kernel.applied().empty()) std::printf("   after %s", to_text(kernel.applied()).c_str());
  std::printf("\n");
}

static void optimise(Kernel& kernel) {
  show_axes(kernel);
  for (const Opt& step : {Opt{OptOp::Upcast, 1, 0},     // all four columns at once: four accumulators share each load of the left side
                          Opt{OptOp::Upcast, 0, 2},     // two rows of them
                          Opt{OptOp::Unroll, 0, 3}}) {  // three products behind each other
    kernel.apply(step);
    show_axes(kernel);
  }
  // A step that does not fit is refused with the rule that it breaks, and the kernel stays as it was.
  const Opt wrong{OptOp::Upcast, 0, 3};
  std::printf("%s: %s\n", to_text(wrong).c_str(), kernel.why_illegal(wrong).value_or("legal").c_str());
  expect(!kernel.try_apply(wrong), "4 is not 3 times something");
}

// --- 3, 4. The linearizer makes loops, indices and accumulators of the axes, as UOps, and passes simplify them. A kernel is used only if
// each of its indices is proved to lie inside of its buffer.

static void show_uops(const Kernel& kernel, const std::vector<KernelArgument>& arguments) {
  std::printf("%s", to_text(linearize_kernel(kernel, arguments, kC).linear.uops).c_str());
}

static void show_proof(const Kernel& kernel, const std::vector<KernelArgument>& arguments) {
  const LinearKernel linear = linearize_kernel(kernel, arguments, kC);
  const auto proved = static_cast<long long>(prove_indices(linear.linear, arguments));
  std::printf("%s: %lld accesses\n", kernel.shape_name().c_str(), proved);
}

static void show_refusal(const Kernel& kernel, std::vector<KernelArgument> arguments) {
  arguments.at(1).elements = kRows * kInner - 1;
  try {
    prove_indices(linearize_kernel(kernel, arguments, kC).linear, arguments);
  } catch (const InternalError&) {
    std::printf("with a left side that is one element too short: refused\n");
    return;
  }
  expect(false, "an access outside of its buffer is refused");
}

// --- 5, 6. The text. Every language is a row of a table; in those with a grid, axes that are neither reduced nor upcast are its
// work-groups and work-items instead of loops.

static void show_texts(const Kernel& kernel, const std::vector<KernelArgument>& arguments) {
  title("5. The text, in C");
  std::printf("%s", generate_kernel(kernel, {"product_relu", arguments, {}}, kC).text.source.c_str());

  title("6. The same AST in OpenCL");
  CodegenOptions grid;
  grid.has_local = true;
  Kernel on_grid(kernel.ast(), grid);
  on_grid.apply({OptOp::Local, 0, 4});   // four rows are one work-group
  on_grid.apply({OptOp::Upcast, 1, 2});  // two columns one work-item
  std::printf("%s", generate_kernel(on_grid, {"product_relu", arguments, {}}, kOpenCl).text.source.c_str());
}

// --- 7. On a device: compile the text, copy the operands, run, copy back.

static std::vector<double> run(const Device& device, const Kernel& kernel) {
  const std::vector<double> a = numbers(kRows * kInner, 1), b = numbers(kInner * kColumns, 4);
  const Buffer x = Buffer::fromCPU(device, Array::of_doubles(DType::Float32, {kRows, kInner}, a));
  const Buffer w = Buffer::fromCPU(device, Array::of_doubles(DType::Float32, {kInner, kColumns}, b));
  const Buffer y(device, kRows * kColumns, DType::Float32);
  const auto runner = dynamic_cast<const Compiled&>(device).to_program(kernel);
  runner->exec({&y, &x, &w}, {});
  expect(y.toCPU().doubles() == by_loops(a, b), "the kernel computes what the loops do");
  return y.toCPU().doubles();
}

static void run_everywhere(const Kernel& plain, const Kernel& optimised) {
  for (const char* name : {"c", "llvm"}) {  // by the machine's compiler, and in this process
    const auto device = make_device(name);
    const std::vector<double> y = run(*device, optimised);
    expect(run(*device, plain) == y, "steps of the optimiser change no number");
    std::printf("%s:", name);
    for (std::size_t j = 0; j < kColumns; j++) std::printf(" %g", y[j]);
    std::printf(" ...\n");
  }
}

int main() {
  LazyOps ops;  // owns the AST
  const LazyOp* ast = product(ops);
  title("1. The AST");
  show_work(ast);

  const CodegenOptions options;  // plain scalar code
  const Kernel plain(ast, options);
  Kernel kernel(ast, options);
  title("2. Its axes, and steps of the optimiser");
  optimise(kernel);

  const std::vector<KernelArgument> arguments = signature_of(ast, "c").arguments;
  title("3. The UOps of the plain kernel");
  show_uops(plain, arguments);
  title("4. Every index is proved");
  show_proof(plain, arguments);
  show_proof(kernel, arguments);
  show_refusal(plain, arguments);

  show_texts(kernel, arguments);

  title("7. Compiled and run");
  run_everywhere(plain, kernel);

  title("8. What etch would have done by itself");
  Kernel chosen(ast, options);
  hand_coded_optimizations(chosen);
  show_axes(chosen);
}
