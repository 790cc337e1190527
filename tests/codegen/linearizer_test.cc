// The accesses that the linearizer reports, and the proof that they are in bounds.
#include "codegen/linearizer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "program/generate.h"
#include "support/compiled.h"
#include "support/product.h"
#include "support/small_stack.h"

namespace etch {
namespace {

// The arguments of product_8x6x5; argument `small`, if there is one, has one element too few.
KernelSignature signature(const LazyOp* store, std::size_t small = 3) {
  std::vector<Sint> elements{40, 48, 30};
  if (small < elements.size()) elements[small] -= 1;
  return test::signature_of("k", store, elements);
}

// Counted by hand: one access for each copy of a load, and for each element that is stored.
TEST(Linearizer, NamesEveryAccess) {
  const struct {
    std::vector<Opt> opts;
    std::int64_t accesses;
  } rows[] = {
      {{}, 2 + 1},
      {{{OptOp::Upcast, 0, 4}}, 4 + 1 + 4},
      {{{OptOp::Unroll, 0, 3}}, 3 + 3 + 1},
      {{{OptOp::Upcast, 0, 4}, {OptOp::Upcast, 1, 5}}, 4 + 5 + 20},
      {{{OptOp::Upcast, 0, 2}, {OptOp::Unroll, 0, 6}}, 2 * 6 + 6 + 2},
  };
  for (const auto& row : rows) {
    LazyOps ops;
    const LazyOp* store = test::product_8x6x5(ops);
    const KernelSignature names = signature(store);
    CodegenOptions options;
    options.opts = row.opts;
    const Kernel kernel = choose_opts(store, names.arguments, options);
    const LinearKernel linear = linearize_kernel(kernel, names.arguments, kC);
    EXPECT_EQ(static_cast<std::int64_t>(linear.linear.accesses.size()), row.accesses) << kernel.shape_name();
    EXPECT_EQ(prove_indices(linear.linear, names.arguments), row.accesses) << kernel.shape_name();
    // In a generated kernel exactly these are proved.
    EXPECT_EQ(generate_kernel(store, names, kC, options).indices_proved, row.accesses) << kernel.shape_name();
  }
}

// A kernel that is only tried is not proved: a buffer that is too small is an error only when prove_indices is called.
TEST(Linearizer, ProvesNothingItself) {
  for (std::size_t small : {0, 1, 2}) {
    LazyOps ops;
    const LazyOp* store = test::product_8x6x5(ops);
    const KernelSignature names = signature(store, small);
    const CodegenOptions options;
    const Kernel kernel = choose_opts(store, names.arguments, options);
    const LinearKernel linear = linearize_kernel(kernel, names.arguments, kC);
    EXPECT_THROW(prove_indices(linear.linear, names.arguments), InternalError) << small;
    EXPECT_GT(prove_indices(linear.linear, signature(store).arguments), 0) << small;
    EXPECT_THROW(generate_kernel(store, names, kC, options), InternalError) << small;
  }
}

// Each operation is read by the next two: neither the stack nor the time may grow with the number of paths.
void generate_long_chain() {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({8});
  const LazyOp* x = ops.load(1, DType::Float32, st);
  const LazyOp* before = x;
  constexpr int kOperations = 3000;
  for (int i = 0; i < kOperations; i++) {
    const LazyOp* next = ops.elementwise(i % 2 == 0 ? Op::Add : Op::Mul, {x, before});
    before = x;
    x = next;
  }
  const LazyOp* store = ops.store(0, x, st);
  const ProgramKernel kernel = generate_kernel(store, test::signature_of("k", store, {8, 8}), kC, CodegenOptions());
  EXPECT_EQ(kernel.indices_proved, 8) << "one load and one store for each of four copies";
  EXPECT_GE(std::ranges::count(kernel.text.source, ';'), kOperations);
}

TEST(Linearizer, LongChainsNeedNoDeepStack) { test::with_small_stack(generate_long_chain); }

}  // namespace
}  // namespace etch
