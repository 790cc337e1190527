// Random legal chains of OptOps must not change what a kernel computes: the recorded kernels on LLVM, and on OPENCL and CUDA with
// work-groups and local memory. (Chains in C are in ast_cases_test.cc.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "interp/interp.h"
#include "ir/near.h"
#include "support/ast_cases.h"
#include "support/backends.h"
#include "support/opt_chain.h"
#include "support/random_stages.h"
#include "support/rounds.h"

namespace etch {
namespace {

constexpr int kBatch = 50;
constexpr std::int64_t kMaxElements = 1 << 16;  // of all buffers of a kernel together

bool is_small(const test::AstCase& c) {
  std::int64_t n = c.output_size;
  for (const Array& a : c.inputs) n += a.size();
  return n <= kMaxElements;
}

std::string first_difference(const Array& got, const Array& want, double scale) {
  if (got.size() != want.size()) return "another size";
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double g = got.double_at(i), w = want.double_at(i);
    if (is_near(g, w, 1e-3 * std::fabs(w) + 2e-5 * scale)) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(g) + ", expected " + std::to_string(w);
  }
  return "";
}

struct Chain {
  const test::AstCase* ast = nullptr;
  std::string text;
};

struct Fuzz {
  const char* backend;
  unsigned seed;
  int chains;
  int vector_bits;
  std::vector<std::string> steps;  // which have to come up
  bool integer_vectors = false;
};

void fuzz(const Fuzz& f) {
  const auto device = test::backend(f.backend);
  if (!device) GTEST_SKIP() << device.why;
  LazyOps ops;
  std::vector<test::AstCase> cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  std::erase_if(cases, [](const test::AstCase& c) { return !is_small(c); });
  ASSERT_GT(cases.size(), 100u);
  CodegenOptions options = test::options_for(*device->language());
  options.vector_bits = f.vector_bits;
  options.integer_vectors = f.integer_vectors;
  std::mt19937 rng(f.seed);
  std::map<std::string, int> used;  // how often each kind of step came up
  for (int done = 0; done < test::rounds(f.chains); done += kBatch) {
    std::vector<test::BackendKernel> kernels;
    std::vector<Chain> chains;
    while (kernels.size() < kBatch) {
      const test::AstCase& c = cases[std::uniform_int_distribution<std::size_t>(0, cases.size() - 1)(rng)];
      const std::vector<Opt> opts = test::random_opt_chain(c.store, rng, options, 16);
      Chain chain{&c, c.id};
      for (const Opt& o : opts) {
        chain.text += ", " + to_text(o);
        used[to_text(o).substr(0, to_text(o).find(' '))]++;
      }
      kernels.push_back({c.store, &c.inputs, c.output_size, opts});
      chains.push_back(chain);
    }
    const Program program = test::program_of(kernels, *device->language(), options, true);
    const std::vector<Array> got = device->load(program)->run({});
    for (std::size_t k = 0; k < chains.size(); k++) {
      const test::AstCase& c = *chains[k].ast;
      std::vector<const Array*> inputs;
      for (const Array& a : c.inputs) inputs.push_back(&a);
      const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
      EXPECT_EQ(first_difference(got[k], interp_evaluate(c.store, inputs), std::isfinite(scale) ? scale : 1.0), "")
          << chains[k].text << "\n"
          << program.kernels[k].text.source;
    }
    if (testing::Test::HasFailure()) return;
  }
  for (const std::string& step : f.steps) EXPECT_GT(used[step], 0) << step << " never came up";
}

TEST(RandomChains, OpenCL) {
  fuzz({"opencl", 3, 300, 0, {"UPCAST", "UNROLL", "LOCAL", "LASTLOCAL", "GROUP", "GROUPTOP", "UPCASTMID", "NOLOCALS", "PADTO"}});
}
TEST(RandomChains, CUDA) {
  fuzz({"cuda", 4, 300, 0, {"UPCAST", "UNROLL", "LOCAL", "LASTLOCAL", "GROUP", "GROUPTOP", "UPCASTMID", "NOLOCALS", "PADTO"}});
}
// Kernels of several stages: in half of them a chain starts with sharing rows, which is not legal in all.
void fuzz_stages(const char* name, const Language& language, unsigned seed, int count) {
  test::Stages stages(seed);
  test::expect_backend_agrees(name, language, stages, count, 0, test::first_difference, count / 4);
}
TEST(RandomChainsOfStages, OpenCL) { fuzz_stages("opencl", kOpenCl, 21, 200); }
TEST(RandomChainsOfStages, CUDA) { fuzz_stages("cuda", kCuda, 22, 300); }
// As many as in C.
TEST(RandomChains, LLVM) { fuzz({"llvm", 1, 2000, 0, {"UPCAST", "UNROLL", "PADTO"}}); }
TEST(RandomChains, LLVMVectorsOfIntegers) { fuzz({"llvm", 5, 300, 128, {"UPCAST", "UNROLL", "PADTO", "VECTOR"}, true}); }
TEST(RandomChains, LLVMVectors) { fuzz({"llvm", 2, 500, 128, {"UPCAST", "UNROLL", "PADTO", "VECTOR"}}); }

}  // namespace
}  // namespace etch
