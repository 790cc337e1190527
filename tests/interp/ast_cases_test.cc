// Real kernels against a brute force interpreter's results (the file says how they were made).
#include "support/ast_cases.h"

#include <gtest/gtest.h>

#include <cmath>

#include "interp/interp.h"
#include "ir/near.h"

namespace etch {
namespace {

TEST(AstCases, AllKernelsAgree) {
  LazyOps ops;
  const auto cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  EXPECT_EQ(cases.size(), 160u);
  for (const test::AstCase& c : cases) {
    std::vector<const Array*> inputs;
    for (const Array& a : c.inputs) inputs.push_back(&a);
    const Array got = interp_evaluate(c.store, inputs);
    ASSERT_EQ(got.size(), c.output_size) << c.id;
    const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
    for (const auto& [at, value] : c.samples) {
      const double v = got.double_at(at);
      EXPECT_TRUE(is_near(v, value, 1e-5 * std::fabs(value) + 1e-6 * scale))
          << c.id << " element " << at << " is " << v << ", expected " << value;
    }
    double sum = 0;
    for (std::int64_t i = 0; i < got.size(); i++) sum += got.double_at(i);
    if (std::isfinite(c.output_sum)) {
      EXPECT_NEAR(sum, c.output_sum, 1e-6 * c.output_abs_sum + 1e-9) << c.id;
    }
  }
}

}  // namespace
}  // namespace etch
