// The 160 kernels of the conformance data, through the generated C.
#include "support/ast_cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "interp/interp.h"
#include "ir/near.h"
#include "renderer/cstyle.h"
#include "support/compiled.h"
#include "support/needs.h"
#include "support/opt_chain.h"
#include "support/rounds.h"

namespace etch {
namespace {

struct Config {
  CodegenOptions options;
  std::vector<std::string> flags;
  bool constant = false;  // inputs 2 and up are constants, which kernels may lay out anew
};

/// Statistics of the kernels: how many have OptOps, vectors, constants in another order.
struct Made {
  int optimised = 0, vectors = 0, laid_out = 0;
};

std::vector<bool> constants_of(const test::AstCase& c, bool constant) {
  std::vector<bool> result(c.inputs.size() + 1, constant);
  result[0] = false;
  if (result.size() > 1) result[1] = false;
  return result;
}

// The inputs as the kernel reads them.
std::vector<Array> laid_out(const test::AstCase& c, const ProgramKernel& k) {
  std::vector<Array> inputs = c.inputs;
  for (std::size_t i = 0; i < inputs.size(); i++)
    if (k.arguments[i + 1].layout) inputs[i] = relayout(inputs[i], *k.arguments[i + 1].layout);
  return inputs;
}

KernelSignature signature_of(std::size_t number, const test::AstCase& c, bool constant) {
  std::vector<Sint> n{c.output_size};
  for (const Array& a : c.inputs) n.push_back(a.size());
  return test::signature_of("k" + std::to_string(number), c.store, n, constants_of(c, constant));
}

void expect_close(const Array& got, const Array& want, double scale, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double g = got.double_at(i), w = want.double_at(i);
    ASSERT_TRUE(is_near(g, w, 2e-3 * std::fabs(w) + 2e-4 * scale)) << what << " element " << i << " got " << g << " want " << w;
  }
}

class AstCases : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ops_ = new LazyOps;
    cases_ = new std::vector<test::AstCase>(test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", *ops_));
    ASSERT_EQ(cases_->size(), 160u);
    wanted_ = new std::vector<Array>;
    for (const test::AstCase& c : *cases_) {
      std::vector<const Array*> inputs;
      for (const Array& a : c.inputs) inputs.push_back(&a);
      wanted_->push_back(interp_evaluate(c.store, inputs));
    }
  }

  Made run(const Config& config) {
    Made made;
    std::vector<std::string> sources;
    std::set<std::string> defined;
    std::vector<std::vector<Array>> inputs;
    for (std::size_t i = 0; i < cases_->size(); i++) {
      const test::AstCase& c = (*cases_)[i];
      SCOPED_TRACE(c.id);
      const ProgramKernel k = generate_kernel(c.store, signature_of(i, c, config.constant), kC, config.options);
      EXPECT_GT(k.indices_proved, 0);
      made.optimised += k.opts.empty() ? 0 : 1;
      made.vectors += k.opts.find("VECTOR") != std::string::npos ? 1 : 0;
      made.laid_out += std::ranges::any_of(k.arguments, [](const KernelArgument& a) { return a.layout.has_value(); }) ? 1 : 0;
      sources.push_back(test::with_definitions(k.text, defined));
      inputs.push_back(laid_out(c, k));
    }
    const test::Compiled compiled(sources, config.flags);
    for (std::size_t i = 0; i < cases_->size(); i++) {
      const test::AstCase& c = (*cases_)[i];
      const Array got = compiled.run(static_cast<int>(i), c.store->dtype, c.output_size, inputs[i]);
      const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
      for (const auto& [at, value] : c.samples) {
        EXPECT_TRUE(is_near(got.double_at(at), value, 2e-3 * std::fabs(value) + 2e-4 * scale))
            << c.id << " element " << at << " is " << got.double_at(at) << ", expected " << value << "\n"
            << sources[i];
      }
      expect_close(got, (*wanted_)[i], std::isfinite(scale) ? scale : 1.0, c.id);
    }
    return made;
  }

  static LazyOps* ops_;
  static std::vector<test::AstCase>* cases_;
  static std::vector<Array>* wanted_;
};
LazyOps* AstCases::ops_;
std::vector<test::AstCase>* AstCases::cases_;
std::vector<Array>* AstCases::wanted_;

// Chains of OptOps must not change what a kernel computes.
struct Fuzz {
  unsigned seed;
  int chains;
  CodegenOptions options;
};

void fuzz(const std::vector<test::AstCase>& cases, const std::vector<Array>& wanted, const Fuzz& f) {
  std::mt19937 rng(f.seed);
  std::set<OptOp> used;
  for (int done = 0; done < f.chains; done += 250) {
    std::vector<std::string> sources, chains;
    std::set<std::string> defined;
    std::vector<std::vector<Array>> inputs;
    std::vector<std::size_t> which;
    while (static_cast<int>(sources.size()) < std::min(f.chains - done, 250)) {
      const std::size_t i = std::uniform_int_distribution<std::size_t>(0, cases.size() - 1)(rng);
      const test::AstCase& c = cases[i];
      CodegenOptions options = f.options;
      options.opts = test::random_opt_chain(c.store, rng, f.options, 24);
      std::string text = c.id;
      for (const Opt& o : *options.opts) {
        text += ", " + to_text(o);
        used.insert(o.op);
      }
      try {
        const ProgramKernel kernel = generate_kernel(c.store, signature_of(sources.size(), c, true), kC, options);
        sources.push_back(test::with_definitions(kernel.text, defined));
        inputs.push_back(laid_out(c, kernel));
      } catch (const std::exception& e) {
        FAIL() << text << ": " << e.what();
      }
      chains.push_back(text);
      which.push_back(i);
    }
    const test::Compiled compiled(sources, {"-O0", "-w"});
    for (std::size_t k = 0; k < sources.size(); k++) {
      const test::AstCase& c = cases[which[k]];
      const Array got = compiled.run(static_cast<int>(k), c.store->dtype, c.output_size, inputs[k]);
      const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
      expect_close(got, wanted[which[k]], std::isfinite(scale) ? scale : 1.0, chains[k] + "\n" + sources[k]);
      if (testing::Test::HasFailure()) return;
    }
  }
  std::set<OptOp> wanted_ops{OptOp::Upcast,    OptOp::Unroll, OptOp::PadTo,    OptOp::Overlap,       OptOp::Interior,
                             OptOp::Outermost, OptOp::Block,  OptOp::Prefetch, OptOp::PrefetchWrite, OptOp::Backwards};
  if (f.options.vector_bits > 0) wanted_ops.insert(OptOp::Vector);
  EXPECT_EQ(used, wanted_ops) << "all steps that C has came up";
}

TEST_F(AstCases, RandomChains) { fuzz(*cases_, *wanted_, {.seed = 1, .chains = test::rounds(2000), .options = {}}); }
TEST_F(AstCases, RandomChainsOfVectors) {
  CodegenOptions options;
  options.vector_bits = 128;
  fuzz(*cases_, *wanted_, {.seed = 2, .chains = test::rounds(500), .options = options});
}
TEST_F(AstCases, RandomChainsOfVectorsOfIntegers) {
  CodegenOptions options;
  options.vector_bits = 128;
  options.integer_vectors = true;
  fuzz(*cases_, *wanted_, {.seed = 3, .chains = test::rounds(500), .options = options});
}
TEST_F(AstCases, HandCoded) { EXPECT_GT(run({{}, test::strict_flags()}).optimised, 0); }
TEST_F(AstCases, Unoptimised) {
  CodegenOptions options;
  options.optimize = false;
  EXPECT_EQ(run({options, test::strict_flags()}).optimised, 0);
}

TEST_F(AstCases, VectorsOfConstants) {
  CodegenOptions options;
  options.vector_bits = 256;
  std::vector<std::string> flags = test::strict_flags();
  flags.insert(flags.end(), {"-O1", "-Wno-psabi"});
  const Made made = run({options, flags, true});
  EXPECT_GT(made.vectors, 0);
  EXPECT_GT(made.laid_out, 0);
}

TEST_F(AstCases, RegisterTiles) {
  CodegenOptions options;
  options.register_tiles = true;
  options.float_registers = 32;
  const Made made = run({options, test::strict_flags(), true});
  EXPECT_GT(made.optimised, 0);
  EXPECT_EQ(made.vectors, 0);
}

TEST_F(AstCases, NothingUndefined) {
  std::vector<std::string> sources;
  std::vector<test::SanitizedRun> runs;
  for (const test::AstCase& c : *cases_) {
    sources.push_back(generate_kernel(c.store, signature_of(sources.size(), c, false), kC, {}).text.source);
    runs.push_back({c.output_size * bytes_of(c.store->dtype), c.inputs});
  }
  const ProcessResult result = test::run_sanitized(sources, runs);
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err.substr(0, 3000);
}

// The text that PoCL gets is OpenCL C.
TEST_F(AstCases, OpenClIsAccepted) {
  if (const std::string why = test::missing({"clang-19"}); !why.empty()) GTEST_SKIP() << why;
  CodegenOptions options;
  options.has_local = true;
  std::vector<std::string> helpers{"all"};
  std::vector<ProgramKernel> kernels;
  for (std::size_t i = 0; i < cases_->size(); i++) {
    const test::AstCase& c = (*cases_)[i];
    const ProgramKernel k = generate_kernel(c.store, signature_of(i, c, false), kOpenCl, options);
    EXPECT_EQ(k.global_size.size(), 3u);
    EXPECT_EQ(k.local_size.size(), 3u);
    kernels.push_back(k);
  }
  std::string text = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" + kOpenCl.prelude(helpers) + definitions_of(kernels);
  for (const ProgramKernel& k : kernels) text += k.text.source;
  const TempDir dir("etch-test");
  const std::string file = (dir.path() / "kernels.cl").string();
  std::ofstream(file) << text;
  const ProcessResult result = run_process({"clang-19", "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-Wall",
                                            "-Werror", "-Wno-unused-function", "-fsyntax-only", file});
  EXPECT_TRUE(result.ok()) << result.err.substr(0, 3000);
}

}  // namespace
}  // namespace etch
