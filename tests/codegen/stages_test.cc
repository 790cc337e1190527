// Kernels of several stages and scans, on every backend, against loops that compute each value by hand: reductions that depend on each
// other, values between them, views, masks, results of the whole and of the reduced shape, with the heuristics and with random OptOps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ir/near.h"
#include "memory/plan.h"
#include "program/lower_call.h"
#include "support/random_ast.h"

namespace etch {
namespace {

using test::for_each_index;
using test::Index;
using test::KnownAst;
using test::sints;

std::int64_t product(const Index& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return n;
}

/// A part of an AST, and its values by hand, row-major.
struct Part {
  const LazyOp* op = nullptr;
  Index shape;
  std::vector<double> values;
};

class Stages : public test::RandomAsts {
 public:
  using RandomAsts::RandomAsts;

  std::unique_ptr<KnownAst> next() override {
    ast_ = std::make_unique<KnownAst>();
    whole_.clear();
    axes_.clear();
    for (std::int64_t rank = draw(1, 4); rank > 0; rank--) whole_.push_back(pick({1, 2, 3, 4, 5, 8, 16}));
    for (int a = 0; a < static_cast<int>(whole_.size()); a++)
      if (whole_[static_cast<std::size_t>(a)] > 1 && draw(0, 1) == 1) axes_.push_back(a);
    if (axes_.empty()) {
      whole_.back() = 8;
      axes_ = {static_cast<int>(whole_.size()) - 1};
    }
    reduced_ = whole_;
    for (const int a : axes_) reduced_[static_cast<std::size_t>(a)] = 1;
    const Part x = leaf(whole_);
    if (draw(0, 4) == 0) return finished(binary(Op::Sub, scan(binary(Op::Max, x, leaf(whole_)), axes_.back()), leaf(whole_)));
    if (draw(0, 4) == 0) {  // a value that is kept for the last stage, multiplied by what may be masked or lie in the output's place
      const Part kept = exp(binary(Op::Sub, x, expand(reduce(x))));
      return finished(binary(Op::Sub, kept, expand(reduce(binary(Op::Mul, kept, leaf(whole_))))));
    }
    Part now = x;
    for (std::int64_t stages = draw(1, 3); stages > 0; stages--) {
      Part row = reduce(draw(0, 2) == 0 ? binary(Op::Mul, now, leaf(whole_)) : now);
      if (draw(0, 1) == 1) row = binary(Op::Mul, row, constant(0.125));
      if (draw(0, 2) == 0) row = binary(Op::Add, row, leaf(reduced_));
      const Part rows = expand(row);
      now = binary(pick<Op>({Op::Sub, Op::Max, Op::Sub}), draw(0, 1) == 1 ? x : draw(0, 1) == 1 ? now : leaf(whole_), rows);
      if (draw(0, 2) == 0) now = exp(now);
    }
    if (draw(0, 3) == 0)
      now = reduce(now);
    else if (draw(0, 2) == 0)
      now = binary(Op::Add, now, leaf(whole_));
    return finished(now);
  }

 private:
  std::unique_ptr<KnownAst> finished(const Part& result) {
    ast_->store = ast_->ops.store(0, result.op, ShapeTracker::from_shape(sints(result.shape)));
    ast_->expected = result.values;
    return std::move(ast_);
  }

  std::size_t row_of(const Index& at) const {
    std::int64_t number = 0;
    for (std::size_t k = 0; k < at.size(); k++) number = number * reduced_[k] + (reduced_[k] == 1 ? 0 : at[k]);
    return static_cast<std::size_t>(number);
  }

  Part leaf(const Index& shape) {
    const auto seen = view(*ast_, DType::Float32, shape, {.in_order = one_in(2), .repeats = 5, .backwards = 5, .masked = 6},
                           [&] { return static_cast<double>(draw(-16, 16)) / 16; });
    Part part{ast_->ops.load(seen.buffer, DType::Float32, seen.st), shape, {}};
    for_each_index(shape, [&](const Index& at, std::size_t) { part.values.push_back(seen.value(at)); });
    return part;
  }

  Part constant(double value) {
    const ShapeTracker st({View::create(sints(reduced_), std::vector<Sint>(reduced_.size(), 0))});
    return {ast_->ops.constant(Scalar::of_double(DType::Float32, value), st), reduced_,
            std::vector<double>(static_cast<std::size_t>(product(reduced_)), value)};
  }

  Part binary(Op op, const Part& a, const Part& b) {
    Part part{ast_->ops.elementwise(op, {a.op, b.op}), a.shape, {}};
    for (std::size_t i = 0; i < a.values.size(); i++) {
      const double x = a.values[i], y = b.values[i];
      part.values.push_back(op == Op::Add ? x + y : op == Op::Sub ? x - y : op == Op::Mul ? x * y : std::max(x, y));
    }
    return part;
  }

  Part exp(const Part& a) {
    const ShapeTracker st({View::create(sints(a.shape), std::vector<Sint>(a.shape.size(), 0))});
    // Never above 1: what follows stays small.
    const LazyOp* low = ast_->ops.elementwise(Op::Min, {a.op, ast_->ops.constant(Scalar::of_int(DType::Float32, 0), st)});
    Part part{ast_->ops.elementwise(Op::Exp, {low}), a.shape, {}};
    for (const double v : a.values) part.values.push_back(std::exp(std::min(v, 0.0)));
    return part;
  }

  Part reduce(const Part& a) {
    const Op op = pick<Op>({Op::ReduceSum, Op::ReduceSum, Op::ReduceMax, Op::ReduceMin});
    Part part{ast_->ops.reduce(op, a.op, axes_), reduced_, {}};
    part.values.assign(static_cast<std::size_t>(product(reduced_)), op == Op::ReduceSum ? 0 : op == Op::ReduceMax ? -HUGE_VAL : HUGE_VAL);
    for_each_index(whole_, [&](const Index& at, std::size_t number) {
      double& total = part.values[row_of(at)];
      const double v = a.values[number];
      total = op == Op::ReduceSum ? total + v : op == Op::ReduceMax ? std::max(total, v) : std::min(total, v);
    });
    return part;
  }

  Part scan(const Part& a, int axis) {
    const Op op = pick<Op>({Op::ReduceSum, Op::ReduceSum, Op::ReduceMax, Op::ReduceProd});
    Part part{ast_->ops.scan(op, a.op, axis), whole_, a.values};
    std::int64_t step = 1;
    for (std::size_t k = static_cast<std::size_t>(axis) + 1; k < whole_.size(); k++) step *= whole_[k];
    for_each_index(whole_, [&](const Index& at, std::size_t number) {
      if (at[static_cast<std::size_t>(axis)] == 0) return;
      const double before = part.values[number - static_cast<std::size_t>(step)], v = part.values[number];
      part.values[number] = op == Op::ReduceSum ? before + v : op == Op::ReduceMax ? std::max(before, v) : before * v;
    });
    return part;
  }

  Part expand(const Part& a) {
    Part part{ast_->ops.expand(a.op, sints(whole_)), whole_, {}};
    for_each_index(whole_, [&](const Index& at, std::size_t) { part.values.push_back(a.values[row_of(at)]); });
    return part;
  }

  std::unique_ptr<KnownAst> ast_;
  Index whole_, reduced_;
  std::vector<int> axes_;
};

std::string first_difference(const Array& got, const std::vector<double>& want) {
  double scale = 1;
  for (const double w : want) scale = std::max(scale, std::fabs(w));
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double g = got.double_at(i), w = want[static_cast<std::size_t>(i)];
    if (!is_near(g, w, 3e-5 * scale))
      return "element " + std::to_string(i) + " is " + std::to_string(g) + ", expected " + std::to_string(w);
  }
  return got.size() == static_cast<std::int64_t>(want.size()) ? "" : "another size";
}

TEST(Stages, ReferenceAgreesWithLoops) {
  Stages stages(1);
  test::expect_reference_agrees(stages, 1000, first_difference);
}

void compare(const std::string& name, const Language& language, unsigned seed, int count, int vector_bits) {
  Stages stages(seed);
  test::expect_backend_agrees(name, language, stages, count, vector_bits, first_difference);
}

/// Each kernel reads what may share memory with its output from there: inputs are copied into the arena, in which the plan puts the output
/// over one of them.
class InPlace {
 public:
  explicit InPlace(const Language& language) : options_(test::options_for(language)) {
    program_.language = &language;
    options_.vector_bits = 256;
  }

  /// Whether some input of the kernel can lie in the output's memory.
  bool add(const KnownAst& c, std::mt19937* random_opts = nullptr) {
    const auto size = static_cast<std::int64_t>(c.expected.size());
    const std::vector<std::uint32_t> may_share = may_alias(c.store, c.inputs.size() + 1);
    if (std::ranges::all_of(may_share, [](std::uint32_t outputs) { return outputs == 0; })) return false;
    KernelSignature signature{"k" + std::to_string(program_.kernels.size()), {{DType::Float32, size, "out", Access::Write}}, {}};
    for (std::size_t i = 0; i < c.inputs.size(); i++)
      signature.arguments.push_back({DType::Float32, c.inputs[i].size(), "in" + std::to_string(i + 1), Access::Read});
    CodegenOptions options = options_;
    if (random_opts != nullptr) options.opts = test::random_opt_chain(c.store, *random_opts, options, 16);
    program_.kernels.push_back(generate_kernel(c.store, signature, *program_.language, options));
    ProgramCall call;
    call.kernel = static_cast<int>(program_.kernels.size()) - 1;
    const int result = buffer(BufferKind::Intermediate, size, {});
    call.arguments.push_back({result, Access::Write, false});
    for (std::size_t i = 0; i < c.inputs.size(); i++) {
      const int constant = buffer(BufferKind::Constant, c.inputs[i].size(), c.inputs[i]);
      call.arguments.push_back({may_share[i + 1] ? copy(constant, BufferKind::Intermediate) : constant, Access::Read, may_share[i + 1]});
    }
    program_.calls.push_back(call);
    program_.outputs.push_back(copy(result, BufferKind::Output));
    return true;
  }

  const Program& program() const { return program_; }

 private:
  int buffer(BufferKind kind, std::int64_t n, Array data) {
    program_.buffers.push_back({"b" + std::to_string(program_.buffers.size()), kind, DType::Float32, {n}, n, std::move(data)});
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  int copy(int from, BufferKind kind) {
    const std::int64_t n = program_.buffers[static_cast<std::size_t>(from)].max_elements;
    const ShapeTracker st = ShapeTracker::from_shape({n});
    const auto [kernel, is_new] = copies_.try_emplace(n, static_cast<int>(program_.kernels.size()));
    if (is_new) {
      KernelSignature signature{"copy" + std::to_string(n), {{DType::Float32, n, "out", Access::Write}, {DType::Float32, n, "in"}}, {}};
      program_.kernels.push_back(
          generate_kernel(ops_.store(0, ops_.load(1, DType::Float32, st), st), signature, *program_.language, options_));
    }
    ProgramCall call;
    call.kernel = kernel->second;
    const int to = buffer(kind, n, {});
    call.arguments = {{to, Access::Write, false}, {from, Access::Read, false}};
    program_.calls.push_back(call);
    return to;
  }

  LazyOps ops_;
  CodegenOptions options_;
  Program program_;
  std::map<std::int64_t, int> copies_;  // by size
};

void compare_in_place(const std::string& name, const Language& language, unsigned seed) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  Stages stages(seed);
  InPlace in_place(language);
  std::vector<std::unique_ptr<KnownAst>> cases;
  while (cases.size() < 150) {
    auto c = stages.next();
    if (in_place.add(*c, cases.size() % 3 == 0 ? nullptr : &stages.rng())) cases.push_back(std::move(c));
  }
  const MemoryPlan plan = plan_memory(in_place.program());
  EXPECT_GT(std::ranges::count_if(plan.placements, [](const Placement& p) { return p.in_place_of >= 0; }), 100);
  const std::vector<Array> got = device->load(in_place.program())->run({});
  for (std::size_t k = 0; k < cases.size(); k++)
    ASSERT_EQ(first_difference(got[k], cases[k]->expected), "") << k << "\n" << to_text(cases[k]->store);
}

TEST(Stages, CInPlaceAgreesWithLoops) { compare_in_place("c", kC, 7); }
TEST(Stages, LlvmInPlaceAgreesWithLoops) { compare_in_place("llvm", kLlvm, 8); }

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
TEST(Stages, CudaAgreesWithLoops) { compare("cuda", kCuda, 9, 40, 0); }
TEST(Stages, OpenClAgreesWithLoops) { compare("opencl", kOpenCl, 4, 40, 0); }

}  // namespace
}  // namespace etch
