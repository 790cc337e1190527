// Workers that share a kernel write different elements, together all of them, and read nothing in the output's place that another one
// writes. The oracle runs the kernel's loops for each of them and looks at every byte.
#include "codegen/workers.h"

#include <gtest/gtest.h>

#include <set>

#include "program/lower_call.h"
#include "support/ast_cases.h"
#include "support/backends.h"
#include "support/compiled.h"
#include "support/kernel_replay.h"
#include "support/opt_chain.h"
#include "support/random_stages.h"
#include "support/random_windows.h"
#include "support/rounds.h"

namespace etch {
namespace {

using namespace test::windows;

/// Bytes of arguments.
using Bytes = std::set<std::pair<int, std::int64_t>>;

struct Touched {
  Bytes written, read_in_place;  // the second: of inputs that an output may lie over, as bytes of that output
};

Touched touched(const LinearKernel& kernel, const std::vector<KernelArgument>& arguments, const LazyOp* store, int worker, int workers) {
  const test::KernelReplay replay(kernel.linear.uops, arguments, {{"worker", worker}, {"workers", workers}});
  const std::vector<std::uint32_t> aliases = may_alias(store, arguments.size());
  const int outputs = static_cast<int>(stores_of(store).size());
  Touched found;
  for (const test::MemoryEvent& e : replay.events())
    for (std::int64_t at = e.begin; at < e.end; at++) {
      if (e.is_store) found.written.insert({e.argument, at});
      for (int out = 0; !e.is_store && out < outputs; out++)
        if ((aliases[static_cast<std::size_t>(e.argument)] >> out & 1) != 0) found.read_in_place.insert({out, at});
    }
  return found;
}

bool meet(const Bytes& a, const Bytes& b) {
  return std::ranges::any_of(a, [&](const auto& byte) { return b.contains(byte); });
}

struct Seen {
  int kernels = 0, shared = 0, in_place = 0;
};

void check_shares(const LazyOp* store, const std::vector<KernelArgument>& arguments, CodegenOptions options, Seen& seen) {
  options.workers = {.most = 3, .least_work = 0};
  const Kernel kernel = choose_opts(store, arguments, options);
  SCOPED_TRACE(to_text(kernel.applied()));
  const LinearKernel made = linearize_kernel(kernel, arguments, kC);
  prove_indices(made.linear, made.arguments);
  seen.kernels++;
  if (made.linear.shared.empty()) {
    EXPECT_TRUE(made.linear.variables.empty());
    return;
  }
  seen.shared++;
  CodegenOptions alone = options;
  alone.workers = {};
  const Kernel same = choose_opts(store, arguments, alone);
  const Bytes all = touched(linearize_kernel(same, arguments, kC), made.arguments, store, 0, 1).written;
  for (int workers = 1; workers <= 3; workers++) {
    std::vector<Touched> parts;
    for (int worker = 0; worker < workers; worker++) parts.push_back(touched(made, made.arguments, store, worker, workers));
    Bytes together;
    for (int a = 0; a < workers; a++) {
      const Touched& own = parts[static_cast<std::size_t>(a)];
      seen.in_place += own.read_in_place.empty() ? 0 : 1;
      together.insert(own.written.begin(), own.written.end());
      for (int b = 0; b < workers; b++) {
        if (a == b) continue;
        ASSERT_FALSE(meet(own.written, parts[static_cast<std::size_t>(b)].written)) << a << " and " << b << " of " << workers;
        ASSERT_FALSE(meet(own.read_in_place, parts[static_cast<std::size_t>(b)].written)) << a << " and " << b << " of " << workers;
      }
    }
    ASSERT_EQ(together, all) << workers;
  }
}

// Tiles that overlap, borders apart, loops that run backwards, vectors and padded axes among them.
TEST(SharedKernels, RandomConvolutionsAreCutIntoParts) {
  std::mt19937 rng(31);
  Seen seen;
  std::set<OptOp> used;
  for (int round = 0; round < test::rounds(200); round++) {
    SCOPED_TRACE(round);
    const RandomKernel k(rng, round % 3 == 0 ? DType::Int8 : DType::Float32);
    CodegenOptions options;
    options.register_tiles = round % 2 == 0;
    if (k.dtype == DType::Float32 && round % 4 < 2) options.vector_bits = 128;
    ASSERT_NO_FATAL_FAILURE(check_shares(k.store, k.arguments, options, seen));
    options.opts = test::random_opt_chain(k.store, rng, options, 24);
    for (const Opt& opt : *options.opts) used.insert(opt.op);
    ASSERT_NO_FATAL_FAILURE(check_shares(k.store, k.arguments, options, seen));
  }
  for (const OptOp op : {OptOp::Overlap, OptOp::Outermost, OptOp::Block, OptOp::Backwards, OptOp::Interior, OptOp::PadTo, OptOp::Vector})
    EXPECT_TRUE(used.contains(op)) << to_text(Opt{op});
  EXPECT_GT(seen.shared, seen.kernels / 2);
}

// Softmax, norms and scans: what is reduced stays with one worker, and results may lie over what they are computed from.
TEST(SharedKernels, RandomStagesAreCutIntoParts) {
  test::Stages stages(32);
  Seen seen;
  for (int round = 0; round < test::rounds(200); round++) {
    SCOPED_TRACE(round);
    const auto ast = stages.next();
    std::vector<Sint> elements{static_cast<std::int64_t>(ast->expected.size())};
    for (const Array& input : ast->inputs) elements.push_back(input.size());
    const KernelSignature signature = test::signature_of("k", ast->store, elements);
    CodegenOptions options;
    options.vector_bits = round % 2 == 0 ? 0 : 128;
    ASSERT_NO_FATAL_FAILURE(check_shares(ast->store, signature.arguments, options, seen));
  }
  EXPECT_GT(seen.shared, seen.kernels / 3);
  EXPECT_GT(seen.in_place, seen.shared);
}

// The loop is the outermost of those that leave all about as much to do.
TEST(SharedKernels, ShareWhatDividesWell) {
  LazyOps ops;
  const auto shared = [&](const std::vector<Sint>& shape, int workers, std::int64_t least) {
    const ShapeTracker st = ShapeTracker::from_shape(shape), turned = ShapeTracker::from_shape({shape[1], shape[0]}).permute({1, 0});
    const LazyOp* store = ops.store(0, ops.load(1, DType::Float32, turned), st);
    CodegenOptions options;
    options.optimize = false;
    options.workers = {.most = workers, .least_work = least};
    const Sint elements = shape[0] * shape[1];
    const std::vector<KernelArgument> arguments{{DType::Float32, elements, "out", Access::Write}, {DType::Float32, elements, "in"}};
    return linearize_kernel(choose_opts(store, arguments, options), arguments, kC).linear.shared;
  };
  EXPECT_EQ(shared({3, 64}, 2, 0), "n");
  EXPECT_EQ(shared({3, 64}, 3, 0), "m");
  EXPECT_EQ(shared({50, 64}, 4, 0), "m") << "52 to 50 is close enough";
  EXPECT_EQ(shared({3, 5}, 4, 0), "m") << "one of four is idle; of five turns two would be one worker's";
  EXPECT_EQ(shared({3, 64}, 2, 1000), "") << "too little to do";
  EXPECT_EQ(shared({3, 64}, 1, 0), "") << "one worker shares nothing";
}

}  // namespace
}  // namespace etch
