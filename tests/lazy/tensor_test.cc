// Every Tensor method on constants, folded on the host, against numpy.
#include "lazy/tensor.h"

#include <gtest/gtest.h>

#include "lazy/graph.h"
#include "support/tensor_cases.h"

namespace etch {
namespace {

TEST(Tensor, MethodsOnConstantsAgreeWithNumpy) {
  for (const test::TensorCase& c : test::tensor_cases()) {
    try {
      const auto graph = LazyGraph::create();
      std::vector<Tensor> inputs;
      for (const Array& a : c.inputs) inputs.push_back(Tensor::constant(*graph, a));
      const std::optional<Array> got = c.build(inputs).evaluate();
      ASSERT_TRUE(got) << c.name;
      EXPECT_EQ(test::difference(*got, c.expected), "") << c.name;
    } catch (const std::exception& e) {
      ADD_FAILURE() << c.name << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace etch
