// Kernels of several stages and scans, on every backend, against loops that compute each value by hand: reductions that depend on each
// other, values between them, views, masks, results of the whole and of the reduced shape, with the heuristics and with random OptOps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ir/near.h"
#include "support/in_place.h"
#include "support/random_stages.h"
#include "support/rounds.h"

namespace etch::stages_test {
namespace {

using test::first_difference;
using test::InPlace;
using test::KnownAst;
using test::Stages;

TEST(Stages, ReferenceAgreesWithLoops) {
  Stages stages(1);
  test::expect_reference_agrees(stages, 1000, first_difference);
}

void compare(const std::string& name, const Language& language, unsigned seed, int count, int vector_bits, int grouped = 0) {
  Stages stages(seed);
  test::expect_backend_agrees(name, language, stages, count, vector_bits, first_difference, grouped);
}

void compare_in_place(const std::string& name, const Language& language, unsigned seed, int all) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  const auto count = static_cast<std::size_t>(test::rounds(all));
  Stages stages(seed);
  InPlace in_place(language);
  std::vector<std::unique_ptr<KnownAst>> cases;
  while (cases.size() < count) {
    auto c = stages.next();
    if (in_place.add(*c, cases.size() % 3 == 0 ? nullptr : &stages.rng())) cases.push_back(std::move(c));
  }
  test::expect_in_place_agrees(*device, in_place, cases, 2 * std::ssize(cases) / 3, first_difference);
}

TEST(Stages, CInPlaceAgreesWithLoops) { compare_in_place("c", kC, 7, 150); }
TEST(Stages, LlvmInPlaceAgreesWithLoops) { compare_in_place("llvm", kLlvm, 8, 150); }
TEST(Stages, OpenClInPlaceAgreesWithLoops) { compare_in_place("opencl", kOpenCl, 10, 40); }
TEST(Stages, CudaInPlaceAgreesWithLoops) { compare_in_place("cuda", kCuda, 11, 40); }

// Padded rows as a vector, with a value that is kept in the output: the last vector is not whole.
TEST(Stages, KeptValuesOfPaddedVectors) {
  const auto device = test::backend("c");
  if (!device) GTEST_SKIP() << device.why;
  KnownAst c;
  const ShapeTracker st = ShapeTracker::from_shape({3, 5});
  const LazyOp* e = c.ops.elementwise(Op::Exp, {c.ops.load(1, DType::Float32, st)});
  const LazyOp* sum = c.ops.expand(c.ops.reduce(Op::ReduceSum, e, {0}), {3, 5});
  c.store = c.ops.store(0, c.ops.elementwise(Op::Div, {e, sum}), st);
  std::vector<double> x;
  for (int i = 0; i < 15; i++) x.push_back(i % 7 / 8.0);
  c.inputs.push_back(Array::of_doubles(DType::Float32, {15}, x));
  for (std::size_t i = 0; i < 15; i++)
    c.expected.push_back(std::exp(x[i]) / (std::exp(x[i % 5]) + std::exp(x[i % 5 + 5]) + std::exp(x[i % 5 + 10])));
  CodegenOptions options = test::options_for(kC);
  options.vector_bits = 256;
  test::BackendKernel kernel{c.store, &c.inputs, 15, std::vector<Opt>{{OptOp::PadTo, 0, 8}, {OptOp::Vector, 0, 8}}};
  const Program program = test::program_of({kernel}, kC, options);
  EXPECT_EQ(first_difference(device->load(program)->run({})[0], c.expected), "") << program.kernels[0].text.source;
}

TEST(Stages, CAgreesWithLoops) { compare("c", kC, 2, 500, 0); }
TEST(Stages, VectorsAgreeWithLoops) { compare("c", kC, 3, 250, 256); }
TEST(Stages, LlvmAgreesWithLoops) { compare("llvm", kLlvm, 5, 150, 0); }
TEST(Stages, LlvmVectorsAgreeWithLoops) { compare("llvm", kLlvm, 6, 100, 256); }
TEST(Stages, CudaAgreesWithLoops) { compare("cuda", kCuda, 9, 80, 0, 20); }
TEST(Stages, OpenClAgreesWithLoops) { compare("opencl", kOpenCl, 4, 80, 0, 20); }

}  // namespace
}  // namespace etch::stages_test
