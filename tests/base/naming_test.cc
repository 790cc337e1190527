// ONNX allows any text as a name; tests its C identifier.
#include "base/naming.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

struct Row {
  const char *name, *identifier;
};

TEST(Naming, Identifiers) {
  constexpr Row kRows[] = {
      {"gpu_0/data_0", "gpu_0_data_0"},
      {"1", "n1"},
      {"", "unnamed"},
      {"int", "int_"},
      {"__x__", "x"},
      {"a::b", "a_b"},
      {"exp", "exp_"},
      {"expf", "expf_"},
      {"expl", "expl_"},
      {"expo", "expo"},
      {"y0", "y0_"},
      {"y2", "y2"},
      {"index", "index_"},
      {"linux", "linux_"},
      {"NAN", "NAN_"},
      {"printf", "printf_"},
      {"FP_NAN", "n_FP_NAN"},
      {"INT_LEAST8_MAX", "INT_LEAST8_MAX_"},
      {"M_PI_2", "n_M_PI_2"},
      {"fpclassify", "fpclassify_"},
      {"d_max", "d_max"},
      {"CUDART_VERSION", "n_CUDART_VERSION"},
      {"max", "max_"},
      {"norm3df", "norm3df_"},
      {"threadIdx", "threadIdx_"},
      {"etch", "n_etch"},
      {"ETCH_OK", "n_ETCH_OK"},
      {"etch_run", "n_etch_run"},
      {"etching", "etching"},
      {"\xC3\xA4rger", "rger"},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(c_identifier(row.name), row.identifier) << row.name;
    EXPECT_EQ(c_identifier(row.identifier), row.identifier) << "it is one already";
  }
}

TEST(Naming, SizesAreNoneOfTheKernelsOwnNames) {
  constexpr Row kRows[] = {{"batch", "batch"},
                           {"w", "w"},
                           {"i0", "size_i0"},
                           {"gid12", "size_gid12"},
                           {"acc3", "size_acc3"},
                           {"arg", "size_arg"},
                           {"i", "i"},
                           {"s0", "s0"},
                           {"lane1", "size_lane1"},
                           {"global", "size_global"},
                           {"half", "size_half"},
                           {"get_local_id", "size_get_local_id"},
                           {"float4", "size_float4"},
                           {"f4", "f4"}};
  for (const Row& row : kRows) EXPECT_EQ(size_identifier(row.name), row.identifier) << row.name;
}

TEST(Naming, ProjectsAreNoFilesAndTargetsOfOthers) {
  constexpr Row kRows[] = {{"kws", "kws"},       {"test", "test_net"},     {"m", "m_net"},     {"selftest", "selftest_net"},
                           {"Math", "Math_net"}, {"string", "string_net"}, {"etch", "n_etch"}, {"float", "float_net"}};
  for (const Row& row : kRows) {
    EXPECT_EQ(project_identifier(row.name), row.identifier) << row.name;
    EXPECT_EQ(project_identifier(row.identifier), row.identifier) << "it is one already";
  }
  EXPECT_EQ(project_identifier(std::string(300, 'a')).size(), 60u);
}

TEST(Naming, KeptApart) {
  CNames names;
  EXPECT_EQ(names.add("a/b"), "a_b");
  EXPECT_EQ(names.add("a:b"), "a_b_2");
  EXPECT_EQ(names.add("A_B"), "A_B_3") << "macros are made of them in upper case";
  EXPECT_EQ(names.add("exp"), "exp_");
  EXPECT_EQ(names.add("exp"), "exp_2");
  EXPECT_EQ(names.add("M_PI"), "n_M_PI");
  EXPECT_EQ(names.add("M_PI"), "n_M_PI_2") << "M_PI_2 is a macro too";
}

TEST(Naming, KeptApartFromWhatAProjectDefines) {
  CNames names("net");
  constexpr Row kRows[] = {{"NET_H", "n_NET_H"},
                           {"NET_ARENA_BYTES", "n_NET_ARENA_BYTES"},
                           {"NET_x_COUNT", "n_NET_x_COUNT"},
                           {"net_run", "net_run_2"},
                           {"net_constants", "net_constants_2"},
                           {"net_state_init", "net_state_init_2"},
                           {"net_kernels", "net_kernels_2"},
                           {"io_align", "io_align_2"},
                           {"states", "states_2"},
                           {"call", "call_2"},
                           {"args", "args_2"},
                           {"net_x", "net_x"},
                           {"NETS", "NETS"},
                           {"n_NET_H", "n_NET_H_2"}};
  for (const Row& row : kRows) EXPECT_EQ(names.add(row.name), row.identifier);
}

}  // namespace
}  // namespace etch
