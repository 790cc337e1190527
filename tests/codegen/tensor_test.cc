// OptOp TC: which kernels take an instruction and which don't, the UOps and texts that it makes, and that the C of a dot product is right
// with the instruction and without it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "support/dot_sums.h"
#include "support/expect_error.h"
#include "support/processor.h"

namespace etch {
namespace {

using test::Product;
using test::store_of;

constexpr Product kBytes{DType::UInt8, DType::Int8, DType::Int32, 6, 32, 24};
constexpr Product kHalves{DType::Float16, DType::Float16, DType::Float32, 32, 48, 64};

CodegenOptions vnni() { return codegen_options(test::target_named("x86-64-vnni"), kC); }
CodegenOptions cuda() { return codegen_options(test::target_named("cuda"), kCuda); }

TEST(Tensor, RowsGoToTheLanguagesThatWriteThem) {
  EXPECT_EQ(vnni().instructions.size(), 2u);
  EXPECT_EQ(codegen_options(test::target_named("x86-64-vnni"), kLlvm).instructions.size(), 2u);
  EXPECT_EQ(codegen_options(test::target_named("x86-64-vnni"), kCuda).instructions.size(), 0u);
  EXPECT_EQ(test::target_named("cortex-m4f").instructions.size(), 9u);
  EXPECT_EQ(test::target_named("x86-64-v4").instructions.size(), 3u);
  EXPECT_EQ(test::target_named("x86-64-v3").instructions.size(), 2u);
  EXPECT_EQ(test::target_named("cortex-a55").instructions.size(), 2u);
  EXPECT_EQ(cuda().instructions.size(), 1u);
  EXPECT_EQ(codegen_options(test::target_named("cuda"), kC).instructions.size(), 0u);
  for (const char* without : {"cortex-m3", "c99", "host", "opencl"})
    EXPECT_EQ(test::target_named(without).instructions.size(), 0u) << without;
}

struct Refusal {
  Product product;
  std::vector<Opt> before;
  Opt opt;
  const char* why;
};

void expect_refused(const CodegenOptions& options, const std::vector<Refusal>& rows) {
  LazyOps ops;
  for (const Refusal& row : rows) {
    Kernel kernel(store_of(ops, row.product), options);
    for (const Opt& opt : row.before) kernel.apply(opt);
    const std::string shape = kernel.shape_name();
    EXPECT_EQ(kernel.why_illegal(row.opt).value_or("legal"), row.why) << to_text(row.before) << "; " << to_text(row.opt);
    EXPECT_FALSE(kernel.try_apply(row.opt));
    EXPECT_EQ(kernel.shape_name(), shape);
  }
}

TEST(Tensor, RefusedDotProductsSayWhy) {
  const Opt tc{OptOp::Tensor, 0, 0};
  Product floats = kBytes, odd = kBytes, narrow = kBytes, wide = kBytes, swapped = kBytes;
  floats.a = floats.b = floats.sum = DType::Float32;
  odd.k = 22;
  narrow.n = 24;
  narrow.m = 7;
  wide.sum = DType::Int64;
  swapped.a = swapped.b = DType::Int8;
  const char* types = "the kernel is one sum in int32 of products of loaded uint8 and int8";
  const char* sizes = "there is an axis of a multiple of 16 and a reduced one of a multiple of 4";
  const char* placed = "no dot-product or matrix instruction (TC) computes the sums";
  expect_refused(
      vnni(),
      {
          {floats, {}, tc, types},
          {wide, {}, tc, types},
          {swapped, {}, tc, types},
          {odd, {}, tc, sizes},
          {narrow, {}, tc, sizes},
          {kBytes, {{OptOp::Upcast, 1, 32}}, tc, sizes},
          {kBytes, {{OptOp::Unroll, 0, 0}}, tc, sizes},
          {kBytes, {}, {OptOp::Tensor, 0, 2}, "the target has 2 dot-product or matrix instructions, the amount is the number of one"},
          {kBytes, {}, {OptOp::Tensor, 1, 0}, "there is no such choice of axes, but 1"},
          {kBytes, {}, {OptOp::Tensor, -1, 0}, "there is no such choice of axes, but 1"},
          {kBytes, {tc}, tc, "an instruction is placed once"},
          {kBytes, {tc}, {OptOp::Vector, 1, 2}, placed},
      });
  expect_refused({}, {{kBytes, {}, tc, "the target has dot-product or matrix instructions in this language"}});
}

TEST(Tensor, RefusedMatrixProductsSayWhy) {
  const Opt tc{OptOp::Tensor, 0, 0};
  Product wide = kHalves, odd = kHalves;
  wide.sum = DType::Float16;
  odd.m = 40;
  const char* whole = "an axis of the tile of a matrix instruction stays whole";
  const char* driver = "the driver does not choose the work-groups (NOLOCALS)";
  expect_refused(cuda(), {
                             {wide, {}, tc, "the kernel is one sum in float32 of products of loaded float16 and float16"},
                             {odd, {}, tc, "there are axes of multiples of 16, 16 and, reduced, 16 of which each operand has two"},
                             {kHalves, {{OptOp::Group, 0, 4}}, tc, "no axis is a vector or grouped"},
                             {kHalves, {{OptOp::NoLocals}}, tc, driver},
                             {kHalves,
                              {{OptOp::Local, 0, 2}, {OptOp::Local, 1, 3}, {OptOp::Upcast, 0, 2}},
                              tc,
                              "there are axes of multiples of 16, 16 and, reduced, 16 of which each operand has two"},
                             {kHalves, {tc}, {OptOp::Upcast, 2, 2}, whole},
                             {kHalves, {tc}, {OptOp::PadTo, 3, 5}, whole},
                             {kHalves, {tc}, {OptOp::Group, 0, 2}, "no dot-product or matrix instruction (TC) computes the sums"},
                             {kHalves, {tc}, {OptOp::NoLocals}, "no axis is local or grouped"},
                         });
}

TEST(Tensor, AxesOfTheTile) {
  LazyOps ops;
  const CodegenOptions options = cuda();
  Kernel kernel(store_of(ops, kHalves), options);
  kernel.apply({OptOp::Tensor, 0, 0});
  EXPECT_EQ(kernel.shape_name(), "r_2_3_8_4_4_2_2_2_16");
  kernel.apply({OptOp::Local, 1, 3});
  EXPECT_EQ(kernel.shape_name(), "r_2_3_8_4_4_2_2_2_16");  // its 3 stands in front of the 8 x 4 of the tile
  EXPECT_EQ(kernel.axes()[1].kind, AxisKind::Local);
}

// Which element of a tile a thread has, by the figures of NVIDIA's PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type":
// groupID = laneid / 4, threadID_in_group = laneid % 4.
TEST(Tensor, TilesLieAsThePtxIsaSays) {
  const TargetInstruction row = test::target_named("cuda").instructions.at(0);
  const auto place = [](const TilePart& part, std::int64_t item, std::int64_t reg) {
    std::map<char, std::int64_t> at;
    for (const TileDigit& d : part.items) {
      at[d.axis] += item % d.size * d.step;
      item /= d.size;
    }
    for (const TileDigit& d : part.registers) {
      at[d.axis] += reg % d.size * d.step;
      reg /= d.size;
    }
    return at;
  };
  for (int lane = 0; lane < 32; lane++) {
    const int group = lane / 4, in_group = lane % 4;
    for (int i = 0; i < 8; i++) {
      const int half = i / 4, c = i % 4;  // two instructions side by side
      std::map<char, std::int64_t> sum = place(row.of_sum, lane, i), a = place(row.of_a, lane, i), b = place(row.of_b, lane, i);
      EXPECT_EQ(sum['m'], c < 2 ? group : group + 8);
      EXPECT_EQ(sum['n'], in_group * 2 + (c & 1) + 8 * half);
      EXPECT_EQ(a['m'], (i < 2 || (i >= 4 && i < 6)) ? group : group + 8);
      EXPECT_EQ(a['k'], in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0));
      EXPECT_EQ(b['k'], in_group * 2 + (c & 1) + (c >= 2 ? 8 : 0));
      EXPECT_EQ(b['n'], group + 8 * half);
    }
  }
}

TEST(Tensor, MalformedUOpsAreRefused) {
  UOpList list;
  const auto add = [&](UOp u) { return list.order.emplace_back(list.make(std::move(u))); };
  const UOp* acc = add({.uop = UOpKind::DefineAcc, .dtype = DType::Int32, .lanes = 4, .value = Scalar::of_int(DType::Int32, 0)});
  const UOp* one = add({.uop = UOpKind::Const, .dtype = DType::UInt8, .value = Scalar::of_int(DType::UInt8, 1)});
  const UOp* four = add({.uop = UOpKind::Vectorize, .dtype = DType::UInt8, .lanes = 4, .src = {one, one, one, one}});
  const std::size_t begin = list.order.size();
  const auto verify_with = [&](UOp u) {
    list.order.resize(begin);
    add(std::move(u));
    verify(list, "a test");
  };
  EXPECT_NO_THROW(verify_with({.uop = UOpKind::Dot, .dtype = DType::Int32, .lanes = 4, .src = {acc, four, four}, .size = 4}));
  test::expect_error<InternalError>(
      [&] { verify_with({.uop = UOpKind::Dot, .dtype = DType::Int32, .lanes = 4, .src = {acc, one, four}, .size = 4}); },
      "an operand has its elements for one lane or for all");
  test::expect_error<InternalError>(
      [&] { verify_with({.uop = UOpKind::Dot, .dtype = DType::Int64, .lanes = 4, .src = {acc, four, four}, .size = 4}); },
      "a dot product has a sum of its type and two operands");
  test::expect_error<InternalError>([&] { verify_with({.uop = UOpKind::Wmma, .dtype = DType::Int32, .lanes = 2, .src = {one, one}}); },
                                    "a matrix product has sums and two operands");
  test::expect_error<InternalError>(
      [&] { verify_with({.uop = UOpKind::Wmma, .dtype = DType::Int32, .lanes = 2, .src = {one, one, one, one}}); },
      "the sums have its type");
}

// The shapes are random; the chains reach all ways in which operands are read.
std::vector<test::DotCase> dot_cases() {
  const Opt wide{OptOp::Tensor, 0, 0}, narrow{OptOp::Tensor, 0, 1};
  Product rows = kBytes, swapped = kBytes, lengthy = kBytes, lanes_of_a = kBytes;
  rows.b_rows = true;
  swapped.b_first = true;
  lengthy.m = 2;
  lengthy.n = 16;
  lengthy.k = 131072;  // 255 * -128 * 131072 = -4278190080 wraps around
  lanes_of_a.m = 32;
  lanes_of_a.n = 6;
  std::vector<test::DotCase> cases{{kBytes, {wide}},
                                   {kBytes, {narrow}},
                                   {rows, {wide}},
                                   {swapped, {narrow}},
                                   {lanes_of_a, {wide}},
                                   {kBytes, {wide, {OptOp::Upcast, 0, 3}}},
                                   {kBytes, {narrow, {OptOp::Unroll, 0, 3}, {OptOp::Upcast, 1, 2}}},
                                   {kBytes, {wide, {OptOp::PadTo, 0, 4}, {OptOp::Upcast, 0, 4}}},
                                   {kBytes, {{OptOp::Upcast, 1, 2}, {OptOp::Unroll, 0, 2}, wide}},
                                   {kBytes, {wide}, true, true},
                                   {lengthy, {wide}, true, true}};
  std::mt19937 rng(5);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (int i = 0; i < 20; i++) {
    Product p{DType::UInt8, DType::Int8, DType::Int32, pick(1, 9), 16 * pick(1, 3), 4 * pick(1, 30)};
    p.b_rows = pick(0, 1) == 1;
    cases.push_back({p, {i % 2 == 0 ? wide : narrow}});
  }
  return cases;
}

void expect_dot_products(const std::vector<std::string>& flags, const std::string& compiler) {
  test::expect_dot_sums(dot_cases(), vnni(), test::dot_numbers(6), flags, compiler);
}

TEST(Tensor, DotProductsInPlainC) { expect_dot_products(test::strict_flags(), "cc"); }

TEST(Tensor, DotProductsByTheInstruction) {
  if (!test::has_feature("avx512_vnni")) GTEST_SKIP() << "this processor has no AVX-512 VNNI";
  std::vector<std::string> flags = test::strict_flags();
  flags.insert(flags.end(), {"-O2", "-mavx512f", "-mavx512vl", "-mavx512vnni"});
  for (const char* compiler : {"gcc", "clang-19"})
    if (find_program(compiler)) expect_dot_products(flags, compiler);
}

// Whatever this processor has, the compilers accept the texts for one that has the instruction, and use it.
TEST(Tensor, CompilersUseTheInstruction) {
  const std::pair<std::int64_t, std::vector<std::string>> rows[] = {
      {0, {"-mavx512f", "-mavx512vnni"}}, {1, {"-mavx512f", "-mavx512vl", "-mavx512vnni"}}, {1, {"-mavx2", "-mavxvnni"}}};
  for (const auto& [row, flags] : rows)
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!find_program(compiler)) continue;
      std::vector<std::string> command{compiler};
      command.insert(command.end(), flags.begin(), flags.end());
      const std::string code = test::dot_assembly({kBytes, {{OptOp::Tensor, 0, row}}, false}, vnni(), command);
      EXPECT_NE(code.find("vpdpbusd"), std::string::npos) << compiler << " " << flags[1];
    }
}

// The heuristics place it where operands are adjacent or can be laid out so, and nowhere else.
TEST(Tensor, HeuristicsPlaceIt) {
  LazyOps ops;
  struct Row {
    Product product;
    bool b_is_constant;
    const char* opts;
  };
  Product float_product = kBytes, rows = kBytes;
  float_product.a = float_product.b = float_product.sum = DType::Float32;
  rows.b_rows = true;
  const Row table[] = {{kBytes, true, "TC 0 0, UPCAST 0 6, UPCAST 0 2, UNROLL 0 2"},
                       {kBytes, false, ""},
                       {rows, true, "TC 0 0, UPCAST 0 6, UPCAST 0 2, UNROLL 0 2"}};
  for (const Row& row : table) {
    const CodegenOptions options = vnni();
    Kernel kernel(store_of(ops, row.product), options);
    std::vector<KernelArgument> arguments(3);
    arguments[1].elements = row.product.m * row.product.k;
    arguments[2].elements = row.product.k * row.product.n;
    arguments[2].is_constant = row.b_is_constant;
    EXPECT_EQ(tensor_optimizations(kernel, arguments), *row.opts != '\0');
    EXPECT_EQ(to_text(kernel.applied()), row.opts);
  }
  const CodegenOptions options = cuda();
  Kernel kernel(store_of(ops, kHalves), options);
  EXPECT_TRUE(tensor_optimizations(kernel, std::vector<KernelArgument>(3)));
  EXPECT_EQ(to_text(kernel.applied()), "TC 0 0, UPCAST 0 2");
}

}  // namespace
}  // namespace etch
