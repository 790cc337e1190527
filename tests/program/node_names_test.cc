// Names of kernels come from names of nodes: they are short and clear, and differ if the nodes' names do.
#include "program/node_names.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

TEST(NodeNames, SayTheNodeAndItsKind) {
  const struct {
    NamedNode node;
    const char* expected;
  } rows[] = {
      {{"conv1", "Conv"}, "conv1"},
      {{"/net/conv1/Conv", "Conv"}, "conv1"},
      {{"/layer1/layer1.0/downsample/Conv_3", "Conv"}, "conv_downsample"},
      {{"op2/conv", "Conv"}, "conv_op2"},
      {{"n65", "Softmax"}, "softmax_n65"},
      {{"Conv", "Conv"}, "Conv"},
      {{"/Conv_12", "Conv"}, "Conv_12"},
      {{"functional_1/conv2d_1/BiasAdd;functional_1/conv2d_1/Conv2D1", "Conv"}, "conv2d_1"},
      {{"int", "Gemm"}, "gemm_int"},
      {{"int", ""}, "int_"},
      {{"gpu_0/res2_0/conv", ""}, "conv"},
      {{"1", ""}, "n1"},
      {{"", ""}, "unnamed"},
      {{"a_name_of_many_more_letters_than_anybody_wants_to_read", "MaxPool"}, "maxpool_a_name_of_many_more_letters_than"},
  };
  for (const auto& row : rows) EXPECT_EQ(NodeNames({row.node}).of(row.node.name), row.expected);
}

TEST(NodeNames, TakeAsMuchOfThePathAsTellsThemApart) {
  const NodeNames names({{"/a/conv_stack1/conv1/Conv", "Conv"},
                         {"/a/conv_stack2/conv1/Conv", "Conv"},
                         {"/a/conv_stack2/conv2/Conv", "Conv"},
                         {"/b/fc/Gemm", "Gemm"},
                         {"/c/fc/Gemm", "Gemm"},
                         {"x/y", "Relu"},
                         {"x:y", "Relu"}});
  EXPECT_EQ(names.of("/a/conv_stack1/conv1/Conv"), "conv_stack1_conv1");
  EXPECT_EQ(names.of("/a/conv_stack2/conv1/Conv"), "conv_stack2_conv1");
  EXPECT_EQ(names.of("/a/conv_stack2/conv2/Conv"), "conv2");
  EXPECT_EQ(names.of("/b/fc/Gemm"), "gemm_b_fc");
  EXPECT_EQ(names.of("/c/fc/Gemm"), "gemm_c_fc");
  EXPECT_EQ(names.of("x/y"), "relu_y");
  EXPECT_EQ(names.of("x:y"), "relu_x_y");
  EXPECT_EQ(names.of("another"), "kernel");
}

}  // namespace
}  // namespace etch
