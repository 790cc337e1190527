// Every operation for every type it has, on values that are difficult for it, in C: results equal the reference interpreter's, no
// warnings under strict flags as C and as C++, and no undefined behaviour.
#include <gtest/gtest.h>

#include <cmath>

#include "interp/interp.h"
#include "support/compiled.h"
#include "support/needs.h"
#include "support/op_cases.h"
#include "support/rounding_cases.h"

namespace etch {
namespace {

class OpDtype : public testing::Test {
 protected:
  OpDtype() : cases(test::op_cases(ops, true)) {
    for (std::size_t i = 0; i < cases.size(); i++) {
      std::vector<Sint> elements(cases[i].inputs.size() + 1, test::kOpCaseSize);
      CodegenOptions options;
      options.optimize = i % 16 == 0;  // the copies of an upcast are the same text again
      kernels.push_back(generate_kernel(cases[i].ast, test::signature_of("k" + std::to_string(i), cases[i].ast, elements), kC, options));
      sources.push_back(kernels.back().text.source);
    }
    sources[0] = definitions_of(kernels) + sources[0];
  }
  LazyOps ops;
  std::vector<test::OpCase> cases;
  std::vector<ProgramKernel> kernels;
  std::vector<std::string> sources;
};

TEST_F(OpDtype, SameAsReference) {
  const test::Compiled compiled(sources, test::strict_flags());
  ASSERT_GT(cases.size(), 1000u);
  int wrong = 0;
  for (std::size_t i = 0; i < cases.size() && wrong < 20; i++) {
    const test::OpCase& c = cases[i];
    std::vector<const Array*> inputs;
    for (const Array& a : c.inputs) inputs.push_back(&a);
    const Array want = interp_evaluate(c.ast, inputs);
    const Array got = compiled.run(static_cast<int>(i), c.ast->dtype, test::kOpCaseSize, c.inputs);
    const std::string problem = test::difference(c, got, want, c.tolerance);
    EXPECT_EQ(problem, "") << sources[i];
    wrong += problem.empty() ? 0 : 1;
  }
}

TEST(Rounding, IsDoneAfterEachOperation) {
  LazyOps ops;
  std::vector<test::RoundingChain> chains;
  std::vector<Array> inputs;
  std::vector<std::string> sources;
  for (const test::RoundingCase& c : test::kRoundingCases)
    for (test::RoundingChain& chain : test::rounding_chains(ops, c)) {
      const std::vector<Sint> elements(2, test::kRoundingSize);
      sources.push_back(
          generate_kernel(chain.store, test::signature_of("k" + std::to_string(chains.size()), chain.store, elements), kC, {}).text.source);
      inputs.push_back(Array::of_doubles(c.dtype, {test::kRoundingSize}, test::kRoundingInput));
      chains.push_back(std::move(chain));
    }
  const test::Compiled compiled(sources, test::strict_flags());
  for (std::size_t i = 0; i < chains.size(); i++) {
    const Array got = compiled.run(static_cast<int>(i), chains[i].store->dtype, test::kRoundingSize, {inputs[i]});
    EXPECT_EQ(got.doubles(), chains[i].expected) << chains[i].name << "\n" << sources[i];
  }
}

TEST_F(OpDtype, CleanAsCpp) {
  EXPECT_NO_THROW(test::Compiled(
      sources, {"-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-Wno-unused-function"}));
}

TEST_F(OpDtype, CleanUnderClang) {
  if (const std::string why = test::missing({"clang-19"}); !why.empty()) GTEST_SKIP() << why;
  std::vector<std::string> flags = test::strict_flags();
  EXPECT_NO_THROW(test::Compiled(sources, flags, "clang-19"));
}

TEST_F(OpDtype, NothingUndefined) {
  std::vector<test::SanitizedRun> runs;
  for (const test::OpCase& c : cases) runs.push_back({test::kOpCaseSize * bytes_of(c.ast->dtype), c.inputs});
  const ProcessResult result = test::run_sanitized(sources, runs);
  EXPECT_TRUE(result.ok()) << describe(result) << "\n" << result.err.substr(0, 3000);
}

}  // namespace
}  // namespace etch
