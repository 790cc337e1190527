// The 160 kernels of the conformance data, through the generated C.
#include "support/ast_cases.h"

#include <gtest/gtest.h>

#include "interp/interp.h"
#include "support/compiled.h"

namespace etch {
namespace {

struct Config {
  const char* name;
  CodegenOptions options;
  std::vector<std::string> flags;
};

std::vector<Sint> elements_of(const test::AstCase& c) {
  std::vector<Sint> n{c.output_size};
  for (const Array& a : c.inputs) n.push_back(a.size());
  return n;
}

void expect_close(const Array& got, const Array& want, double scale, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (std::int64_t i = 0; i < got.size(); i++) {
    const double g = got.double_at(i), w = want.double_at(i);
    if (std::isnan(w) && std::isnan(g)) continue;
    if (g == w) continue;
    ASSERT_LE(std::fabs(g - w), 2e-3 * std::fabs(w) + 2e-4 * scale) << what << " element " << i << " got " << g << " want " << w;
  }
}

class AstCases : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    ops_ = new LazyOps;
    cases_ = new std::vector<test::AstCase>(test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", *ops_));
    wanted_ = new std::vector<Array>;
    for (const test::AstCase& c : *cases_) {
      std::vector<const Array*> inputs;
      for (const Array& a : c.inputs) inputs.push_back(&a);
      wanted_->push_back(interp_evaluate(c.store, inputs));
    }
  }

  void run(const Config& config) {
    std::vector<std::string> sources;
    for (std::size_t i = 0; i < cases_->size(); i++) {
      const test::AstCase& c = (*cases_)[i];
      SCOPED_TRACE(c.id);
      const auto names = test::kernel_names("k" + std::to_string(i), c.inputs.size() + 1);
      const GeneratedKernel k = generate_kernel(c.store, elements_of(c), std::vector<bool>(c.inputs.size() + 1), names, config.options);
      EXPECT_GT(k.indices_proved, 0);
      sources.push_back(k.source);
    }
    const test::Compiled compiled(sources, config.flags);
    for (std::size_t i = 0; i < cases_->size(); i++) {
      const test::AstCase& c = (*cases_)[i];
      const Array got = compiled.run(static_cast<int>(i), c.store->dtype, c.output_size, c.inputs);
      const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
      for (const auto& [at, value] : c.samples) {
        if (std::isnan(value)) continue;
        EXPECT_NEAR(got.double_at(at), value, 2e-3 * std::fabs(value) + 2e-4 * scale) << c.id << " element " << at << "\n" << sources[i];
      }
      expect_close(got, (*wanted_)[i], std::isfinite(scale) ? scale : 1.0, c.id);
    }
  }

  static LazyOps* ops_;
  static std::vector<test::AstCase>* cases_;
  static std::vector<Array>* wanted_;
};
LazyOps* AstCases::ops_;
std::vector<test::AstCase>* AstCases::cases_;
std::vector<Array>* AstCases::wanted_;

TEST_F(AstCases, HandCoded) { run({"hand coded", {}, test::strict_flags()}); }
TEST_F(AstCases, Unoptimised) {
  CodegenOptions options;
  options.optimize = false;
  run({"unoptimised", options, test::strict_flags()});
}

}  // namespace
}  // namespace etch
