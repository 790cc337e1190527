// The hand-coded optimisations choose what tinygrad 0.8 chose, and kernels have its names (the conformance data has both).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "codegen/kernel.h"
#include "support/ast_cases.h"
#include "support/files.h"
#include "support/product.h"

namespace etch::heuristics_test {
namespace {

std::string opts_text(const nlohmann::json& opts) {
  std::string text;
  for (const auto& o : opts)
    text += o.at(0).get<std::string>() + " " + std::to_string(o.at(1).get<int>()) + " " + std::to_string(o.at(2).get<int>()) + ";";
  return text;
}

std::string opts_text(const std::vector<Opt>& opts) {
  std::string text;
  for (const Opt& o : opts) text += to_text(o) + ";";
  return text;
}

struct Chosen {
  std::string scalar, name, grid;  // OptOps in C, the kernel's name with them, OptOps on a grid
};

Chosen chosen(const LazyOp* store) {
  CodegenOptions c, opencl;
  opencl.has_local = true;
  Kernel on_c(store, c), on_grid(store, opencl);
  hand_coded_optimizations(on_c);
  hand_coded_optimizations(on_grid);
  return {opts_text(on_c.applied()), on_c.shape_name(), opts_text(on_grid.applied())};
}

TEST(Heuristics, ChooseWhatTinygradChooses) {
  LazyOps ops;
  const std::string path = ETCH_TEST_DATA "/conformance/ast_cases.json";
  const auto cases = test::read_ast_cases(path, ops);
  std::ifstream file(path);
  const nlohmann::json all = nlohmann::json::parse(file);
  std::vector<std::string> scalar, named, grid;  // the kernels where they differ
  ASSERT_EQ(cases.size(), 160u);
  for (std::size_t i = 0; i < cases.size(); i++) {
    const auto& v08 = all.at("cases").at(i).at("v08");
    const Chosen want{opts_text(v08.at("opt").at("opts")), v08.at("opt").at("name").get<std::string>(),
                      opts_text(v08.at("gpu_opts").at("opts"))};
    const Chosen got = chosen(cases[i].store);
    if (got.scalar != want.scalar) scalar.push_back(cases[i].id + ": " + got.scalar + " not " + want.scalar);
    if (got.name != want.name) named.push_back(cases[i].id + ": " + got.name + " not " + want.name);
    if (got.grid != want.grid) grid.push_back(cases[i].id + ": " + got.grid + " not " + want.grid);
  }
  // etch has one axis where tinygrad's views keep two.
  using Texts = std::vector<std::string>;
  EXPECT_EQ(scalar, (Texts{"ast106: UPCAST 0 4; not ", "ast112: UPCAST 2 0;UNROLL 1 0;UNROLL 0 0; not UPCAST 3 0;UNROLL 1 0;UNROLL 0 0;",
                           "ast137: UPCAST 2 0;UNROLL 1 0;UNROLL 0 0; not UPCAST 3 0;UNROLL 1 0;UNROLL 0 0;"}));
  EXPECT_EQ(named, (Texts{"ast077: r_8_13_13_4_4 not r_2_4_13_13_4_4", "ast106: E_10_4 not E_2_4_5",
                          "ast112: r_12_11_7_3_2 not r_4_3_11_7_3_2", "ast137: r_12_11_7_2_3 not r_4_3_11_7_2_3"}));
  EXPECT_EQ(grid, (Texts{"ast077: UNROLL 1 0;LOCAL 0 8; not UNROLL 1 0;LOCAL 0 2;LOCAL 0 4;",
                         "ast106: UPCAST 0 4;LOCAL 0 2; not LOCAL 0 2;LOCAL 0 4;",
                         "ast112: UPCAST 2 0;UNROLL 1 0;UNROLL 0 0;LOCAL 0 4; not UPCAST 3 0;UNROLL 1 0;UNROLL 0 0;LOCAL 0 4;LOCAL 0 3;",
                         "ast137: UPCAST 2 0;UNROLL 1 0;UNROLL 0 0;LOCAL 0 4; not UPCAST 3 0;UNROLL 1 0;UNROLL 0 0;LOCAL 0 4;LOCAL 0 3;"}));
}

// Sizes that are open have no divisor that is known; a local axis is enough for a work-group.
TEST(Heuristics, WorkGroupsOfOpenSizesAreLeftToTheDriver) {
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 100), m = symbols.variable("m", 1, 100);
  const struct {
    std::vector<Sint> shape;
    const char* grid;
  } rows[] = {{{n}, "NOLOCALS;"}, {{n, m}, "NOLOCALS;"}, {{n, 3}, "LOCAL 1 3;"}, {{7}, ""}};
  for (const auto& row : rows) {
    LazyOps ops;
    const ShapeTracker view = ShapeTracker::from_shape(row.shape);
    const Chosen got = chosen(ops.store(0, ops.elementwise(Op::Sqrt, {ops.load(1, DType::Float32, view)}), view));
    EXPECT_EQ(got.grid, row.grid) << row.shape.size();
    EXPECT_EQ(got.scalar.find("NOLOCALS"), std::string::npos) << "C has no work-groups";
  }
}

// Tiles of a scalar core with 32 registers: sums fill them, and each loaded value is used for several sums.
TEST(Heuristics, TilesFillTheRegisters) {
  const struct {
    std::vector<std::int64_t> a, b, out;  // out = sum over the last axis of a * b, broadcast; 0: the axis is missing
    const char* opts;
  } rows[] = {
      {{64, 0, 64}, {0, 125, 64}, {64, 125, 64}, "UPCAST 1 5;UPCAST 0 4;UNROLL 0 4;"},  // 20 sums, 4 + 5 loads
      {{48, 0, 3}, {0, 48, 3}, {48, 48, 3}, "UPCAST 1 4;UPCAST 0 6;UNROLL 0 0;"},       // 24 sums
      {{0, 784}, {64, 784}, {64, 784}, "UPCAST 0 8;UNROLL 0 4;"},                       // a matrix and a vector
      {{0, 7}, {13, 7}, {13, 7}, nullptr},                                              // 13 has no divisor: the others' turn
  };
  for (const auto& row : rows) {
    LazyOps ops;
    const auto load = [&](int arg, const std::vector<std::int64_t>& sizes) {
      std::vector<Sint> base, spread, all;
      for (std::size_t i = 0; i < sizes.size(); i++) {
        if (sizes[i] != 0) base.emplace_back(sizes[i]);
        spread.emplace_back(std::max<std::int64_t>(sizes[i], 1));
        all.emplace_back(row.out[i]);
      }
      return ops.load(arg, DType::Float32, ShapeTracker::from_shape(base).reshape(spread).expand(all));
    };
    std::vector<Sint> shape(row.out.begin(), row.out.end());
    const int last = static_cast<int>(shape.size()) - 1;
    shape.back() = 1;
    const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {load(1, row.a), load(2, row.b)}), {last});
    CodegenOptions options;
    options.register_tiles = true;
    options.float_registers = 32;
    Kernel kernel(ops.store(0, sum, ShapeTracker::from_shape(shape)), options);
    std::vector<KernelArgument> arguments(3);
    for (KernelArgument& a : arguments) a.elements = 1 << 20;
    arguments[2].is_constant = true;
    EXPECT_EQ(tile_optimizations(kernel, arguments), row.opts != nullptr);
    EXPECT_EQ(opts_text(kernel.applied()), row.opts != nullptr ? row.opts : "");
  }
}

// One body for all sizes: columns of a window's output share its weights and most of its elements; channels share nothing but a mask,
// and all their weights together would lie on the stack.
TEST(Heuristics, WindowsOfOneBodyShareWeightsAmongColumns) {
  const struct {
    std::int64_t columns;
    bool is_masked;
    const char* opts;
  } rows[] = {
      {6, true, "UPCAST 2 3;UNROLL 0 0;UNROLL 0 0;"},
      {5, true, "UPCAST 2 5;UNROLL 0 0;UNROLL 0 0;"},
      {5, false, "UPCAST 2 5;UNROLL 0 0;UNROLL 0 0;"},
      {11, true, "UPCAST 1 5;UNROLL 0 0;UNROLL 0 0;"},  // of 25 rows
  };
  for (const auto& row : rows) {
    LazyOps ops;
    const std::int64_t x = row.columns, line = x + 2;
    const std::vector<Sint> shape{64, 25, x, 3, 3};
    const auto tracker = [&](const std::vector<Sint>& strides, const std::optional<std::vector<Range>>& mask = std::nullopt) {
      return ShapeTracker({View::create(shape, strides, 0, mask)});
    };
    std::optional<std::vector<Range>> inside;
    if (row.is_masked) inside = std::vector<Range>{{0, 64}, {1, 25}, {1, x}, {0, 3}, {0, 3}};
    const LazyOp* element = ops.elementwise(Op::Where, {ops.constant(Scalar::of_int(DType::Bool, 1), tracker({0, 0, 0, 0, 0}, inside)),
                                                        ops.load(1, DType::Int32, tracker({27 * line, line, 1, line, 1})),
                                                        ops.constant(Scalar::of_int(DType::Int32, -128), tracker({0, 0, 0, 0, 0}))});
    const LazyOp* product = ops.elementwise(Op::Mul, {element, ops.load(2, DType::Int32, tracker({9, 0, 0, 3, 1}))});
    CodegenOptions options;
    options.register_tiles = options.small_code = true;
    Kernel kernel(ops.store(0, ops.reduce(Op::ReduceSum, product, {3, 4}), ShapeTracker::from_shape({64, 25, x, 1, 1})), options);
    hand_coded_optimizations(kernel);
    EXPECT_EQ(opts_text(kernel.applied()), row.opts) << x;
  }
}

struct Illegal {
  Opt opt;
  const char* why;
};

// Of product_8x6x5.
constexpr Illegal kIllegal[] = {
    {{OptOp::Upcast, 5, 2}, "there is no such axis"},
    {{OptOp::Upcast, 2, 2}, "only an axis that is not reduced can be upcast"},
    {{OptOp::Upcast, 0, 3}, "the amount divides the size 8"},
    {{OptOp::Upcast, 0, 1}, "the amount is more than 1"},
    {{OptOp::Overlap, 0, 4}, "the amount is less than the size and does not divide it"},
    {{OptOp::Overlap, 0, 9}, "the amount is less than the size and does not divide it"},
    {{OptOp::Overlap, 2, 4}, "a loop over an axis that is not reduced is cut into tiles that overlap"},
    {{OptOp::Unroll, 1, 2}, "there is no such axis"},
    {{OptOp::Unroll, 0, 4}, "the amount divides the size 6"},
    {{OptOp::Interior}, "a mask depends on a loop over an axis that is not reduced"},
    {{OptOp::Interior, 0, 2}, "it takes no axis and no amount"},
    {{OptOp::Local, 0, 4}, "the language has work-groups"},
    {{OptOp::GroupTop, 0, 2}, "the language has work-groups"},
    {{OptOp::PadTo, 0, 4}, "there is something to pad"},
    {{OptOp::PadTo, 1, 32}, "padding at most doubles the work"},
    {{OptOp::PadTo, 2, 4}, "only an axis that is not reduced can be padded"},
    {{OptOp::Vector, 0, 4}, "the target has vectors"},
    {{OptOp::Outermost, 0, 0}, "the axis is one of the loops that are not reduced, behind the first of them"},
    {{OptOp::Outermost, 2, 0}, "the axis is one of the loops that are not reduced, behind the first of them"},
    {{OptOp::Outermost, 1, 4}, "it takes no amount"},
    {{OptOp::Block, 0, 2}, "the axis is one of the loops that are not reduced, behind the first of them"},
    {{OptOp::Block, 1, 0}, "the amount is more than 1, less than the size and divides it"},
    {{OptOp::Backwards, 1, 0}, "it takes no axis"},
    {{OptOp::PrefetchWrite, 1, 0}, "it takes no axis and no amount"},
    {{OptOp::Roll, 1, 0}, "it takes no axis and no amount"},
    {{OptOp::Roll}, "all axes of the window are unrolled"},
};

TEST(OptOps, IllegalStepsSayWhy) {
  LazyOps ops;
  const CodegenOptions options;
  for (const Illegal& t : kIllegal) {
    Kernel kernel(test::product_8x6x5(ops), options);
    try {
      kernel.apply(t.opt);
      ADD_FAILURE() << to_text(t.opt) << " is legal";
    } catch (const std::invalid_argument& e) {
      EXPECT_EQ(e.what(), "illegal " + to_text(t.opt) + ": " + t.why);
    }
    EXPECT_EQ(kernel.shape_name(), "r_8_5_6");
    EXPECT_TRUE(kernel.applied().empty());
  }
}

// A kernel with a vector of two lanes, which a search tried, was not C: etch_math.h has no such type.
TEST(OptOps, VectorsHaveTypes) {
  const std::string types = test::content(ETCH_SOURCE_DIR "/runtime_c/etch_math.h");
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 512;
  options.integer_vectors = true;
  for (const DType dtype : {DType::Float32, DType::Int8})
    for (const std::int64_t lanes : {2, 4, 8, 16, 32}) {
      const auto row = ShapeTracker::from_shape({64});
      const Kernel kernel(ops.store(0, ops.load(1, dtype, row), row), options);
      const bool has_type = types.find("ETCH_VECTORS(" + std::to_string(lanes) + ")") != std::string::npos;
      EXPECT_EQ(!kernel.why_illegal({OptOp::Vector, 0, lanes}), has_type) << lanes;
    }
}

struct IllegalAfter {
  std::vector<Opt> before;
  Opt opt;
  const char* why;
};

// Of product_8x6x5 in a language with work-groups.
constexpr const char* kNotByDriver = "the driver does not choose the work-groups (NOLOCALS)";
const IllegalAfter kIllegalAfter[] = {
    {{}, {OptOp::UpcastMid, 0, 4}, "there is a grouped reduction (GROUP, GROUPTOP)"},
    {{{OptOp::Group, 0, 3}}, {OptOp::UpcastMid, 3, 2}, "only a global axis can be shared while reducing"},
    {{{OptOp::Group, 0, 3}, {OptOp::Local, 0, 4}}, {OptOp::UpcastMid, 2, 4}, "only a global axis can be shared while reducing"},
    {{{OptOp::Group, 0, 3}}, {OptOp::UpcastMid, 0, 3}, "the amount divides the size 8"},
    {{{OptOp::Group, 0, 3}, {OptOp::UpcastMid, 0, 2}}, {OptOp::NoLocals}, "no axis is local or grouped"},
    {{{OptOp::Local, 0, 4}}, {OptOp::LastLocal, 2, 2}, "only a global axis can be local"},
    {{{OptOp::Local, 0, 4}}, {OptOp::NoLocals}, "no axis is local or grouped"},
    {{{OptOp::NoLocals}}, {OptOp::NoLocals}, "the driver does not choose the work-groups yet"},
    {{}, {OptOp::NoLocals, 0, 4}, "it takes no axis and no amount"},
    {{{OptOp::NoLocals}}, {OptOp::Local, 0, 4}, kNotByDriver},
    {{{OptOp::NoLocals}}, {OptOp::LastLocal, 0, 4}, kNotByDriver},
    {{{OptOp::NoLocals}}, {OptOp::Group, 0, 3}, kNotByDriver},
    {{{OptOp::NoLocals}}, {OptOp::GroupTop, 0, 3}, kNotByDriver},
};

TEST(OptOps, IllegalBehindOthersSayWhy) {
  LazyOps ops;
  CodegenOptions options;
  options.has_local = true;
  for (const IllegalAfter& t : kIllegalAfter) {
    Kernel kernel(test::product_8x6x5(ops), options);
    for (const Opt& opt : t.before) kernel.apply(opt);
    EXPECT_EQ(kernel.why_illegal(t.opt), t.why) << to_text(t.opt);
  }
  options.has_local = false;
  EXPECT_EQ(Kernel(test::product_8x6x5(ops), options).why_illegal({OptOp::NoLocals}), "the language has work-groups");
}

// 1024 work-items with 4 sums of 4 bytes are 16384 bytes, with 16 they are 65536.
TEST(OptOps, SumsOfAGroupFitSharedMemory) {
  LazyOps ops;
  CodegenOptions options;
  options.has_local = true;
  const LazyOp* x = ops.load(1, DType::Float32, ShapeTracker::from_shape({16, 2048}));
  Kernel kernel(ops.store(0, ops.reduce(Op::ReduceSum, x, {1}), ShapeTracker::from_shape({16, 1})), options);
  kernel.apply({OptOp::Group, 0, 1024});
  const char* why = "the sums of a work-group take at most 32768 bytes";
  EXPECT_EQ(kernel.why_illegal({OptOp::Upcast, 0, 16}), why);
  kernel.apply({OptOp::Upcast, 0, 8});
  EXPECT_EQ(kernel.why_illegal({OptOp::Upcast, 0, 2}), why);
}

struct State {
  std::vector<Axis> axes;
  std::vector<Dim> dims;
  std::vector<Opt> applied;
  bool operator==(const State&) const = default;
};

State state_of(const Kernel& kernel) { return {kernel.axes(), kernel.dims(), kernel.applied()}; }

/// Applies one step to copies of `kernel` in each of the three ways. Returns the kernel after a legal step.
std::optional<Kernel> after(const Kernel& kernel, const Opt& opt) {
  const std::optional<std::string> why = kernel.why_illegal(opt);
  Kernel tried = kernel, applied = kernel;
  EXPECT_EQ(tried.try_apply(opt), !why) << to_text(opt);
  std::string thrown;
  try {
    applied.apply(opt);
  } catch (const std::invalid_argument& e) {
    thrown = e.what();
  }
  EXPECT_EQ(thrown, why ? "illegal " + to_text(opt) + ": " + *why : "");
  EXPECT_EQ(state_of(tried), state_of(applied)) << to_text(opt);
  EXPECT_EQ(state_of(tried) == state_of(kernel), why.has_value()) << to_text(opt);
  if (why) return std::nullopt;
  return tried;
}

/// Iterations of all loops together.
std::int64_t visits(const Kernel& kernel) {
  std::int64_t n = 1;
  for (const Axis& a : kernel.axes()) n *= a.size.as_int();
  return n;
}

// Tries every step on the kernels of the conformance data, and every seventh after some of the legal ones: why_illegal, try_apply and
// What two tiles compute is stored twice: that must not lie over what it is computed from. And an axis of tiles is cut into larger ones
// alone.
TEST(OptOps, TilesOverlapWhereTheyMayBeComputedTwice) {
  LazyOps ops;
  const CodegenOptions options;
  CodegenOptions overlapping;
  overlapping.overlap = true;
  const ShapeTracker rows = ShapeTracker::from_shape({7, 5}), columns = ShapeTracker::from_shape({5, 7}).permute({1, 0});
  const auto kernel_of = [&](const ShapeTracker& read, const CodegenOptions& of) {
    return Kernel(ops.store(0, ops.elementwise(Op::Neg, {ops.load(1, DType::Float32, read)}), rows), of);
  };
  const char* twice = "what is computed twice is not written over what it is computed from";
  EXPECT_EQ(kernel_of(rows, overlapping).why_illegal({OptOp::Overlap, 0, 2}).value_or("legal"), twice);
  EXPECT_EQ(kernel_of(rows, options).why_illegal({OptOp::Overlap, 0, 2}).value_or("legal"), "legal") << "it is stored once";
  Kernel moved = kernel_of(columns, options);
  EXPECT_EQ(moved.why_illegal({OptOp::Overlap, 0, 2}).value_or("legal"), "legal");
  moved.apply({OptOp::Overlap, 0, 3});
  EXPECT_EQ(moved.shape_name(), "E_3_5_3");
  for (const Opt& opt : {Opt{OptOp::Overlap, 0, 2}, Opt{OptOp::PadTo, 0, 2}})
    EXPECT_EQ(moved.why_illegal(opt).value_or("legal"), "an axis whose tiles overlap is cut into larger tiles alone (UPCAST)")
        << to_text(opt);
  Kernel whole = moved;
  whole.apply({OptOp::Upcast, 0, 0});
  EXPECT_EQ(whole.shape_name(), "E_5_3_3");
  EXPECT_EQ(whole.axes()[2].start_of(1), 3);
  EXPECT_EQ(whole.axes()[2].start_of(2), 4) << "two elements are computed twice";
  const ShapeTracker wide = ShapeTracker::from_shape({11, 5}), turned = ShapeTracker::from_shape({5, 11}).permute({1, 0});
  Kernel larger(ops.store(0, ops.elementwise(Op::Neg, {ops.load(1, DType::Float32, turned)}), wide), options);
  larger.apply({OptOp::Overlap, 0, 3});
  larger.apply({OptOp::Upcast, 0, 2});
  EXPECT_EQ(larger.shape_name(), "E_2_5_3_2");
  EXPECT_EQ(larger.axes()[0].overlap, 1) << "two tiles of six";
  EXPECT_EQ(larger.axes()[0].tile_size, 6);
}

// apply must agree, an illegal step changes nothing, and a legal one keeps the number of iterations (PADTO increases it).
TEST(OptOps, TryApplyAgreesWithApply) {
  LazyOps ops;
  CodegenOptions grid, vectors;
  grid.has_local = true;
  vectors.vector_bits = 256;
  static constexpr OptOp kOps[] = {OptOp::Upcast,    OptOp::Unroll,    OptOp::PadTo,     OptOp::Local,  OptOp::Group,
                                   OptOp::GroupTop,  OptOp::LastLocal, OptOp::UpcastMid, OptOp::Vector, OptOp::Overlap,
                                   OptOp::Outermost, OptOp::Block,     OptOp::Backwards};
  std::vector<Opt> all{{OptOp::NoLocals}, {OptOp::NoLocals, 1, 0}, {OptOp::Interior}, {OptOp::Interior, 1, 0}};
  for (OptOp op : kOps)
    for (int axis : {-1, 0, 1, 2, 3, 7, std::numeric_limits<int>::max()})
      for (std::int64_t amount : {std::int64_t{-4}, std::int64_t{0}, std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{4},
                                  std::int64_t{8}, std::int64_t{32}, std::int64_t{64}, std::numeric_limits<std::int64_t>::max()})
        all.push_back({op, axis, amount});
  int legal = 0, illegal = 0;
  const auto count = [&](const Kernel& kernel, const Opt& opt) {
    std::optional<Kernel> next = after(kernel, opt);
    (next ? legal : illegal)++;
    const auto uneven = [](const Kernel& k) {
      return std::ranges::count_if(k.axes(), [](const Axis& a) { return a.overlap > 0; }) + (k.lanes_rest() ? 1 : 0);
    };
    if (next && opt.op != OptOp::PadTo && uneven(*next) == uneven(kernel)) {  // OVERLAP adds one, VECTOR where it does not divide
      EXPECT_EQ(visits(*next), visits(kernel)) << to_text(opt);
    }
    return next;
  };
  const auto cases = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
  for (std::size_t i = 0; i < cases.size(); i += 3)
    for (const CodegenOptions* options : {&grid, &vectors}) {
      SCOPED_TRACE(cases[i].id);
      const Kernel kernel(cases[i].store, *options);
      std::size_t turn = i;
      for (const Opt& opt : all)
        if (const auto next = count(kernel, opt); next && turn++ % 5 == 0)
          for (std::size_t second = turn % 7; second < all.size(); second += 7) count(*next, all[second]);
    }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(illegal, 10000);
}

// 48 copies of 32 terms are more than a kernel may have: they are unrolled by 4 instead.
TEST(Heuristics, StepsThatAreIllegalAreLeftOut) {
  LazyOps ops;
  const std::vector<std::vector<std::int64_t>> inputs{{0, 64, 48, 32}, {64, 0, 48, 32}, {64, 64, 0, 32}};  // 0: the axis is missing
  const LazyOp* product = nullptr;
  for (const std::vector<std::int64_t>& sizes : inputs) {
    std::vector<Sint> base, spread;
    for (std::int64_t n : sizes) {
      if (n != 0) base.emplace_back(n);
      spread.emplace_back(std::max<std::int64_t>(n, 1));
    }
    const ShapeTracker st = ShapeTracker::from_shape(base).reshape(spread).expand({64, 64, 48, 32});
    const LazyOp* load = ops.load(static_cast<int>(&sizes - inputs.data()) + 1, DType::Float32, st);
    product = product == nullptr ? load : ops.elementwise(Op::Mul, {product, load});
  }
  const CodegenOptions options;
  Kernel kernel(ops.store(0, ops.reduce(Op::ReduceSum, product, {3}), ShapeTracker::from_shape({64, 64, 48, 1})), options);
  hand_coded_optimizations(kernel);
  EXPECT_EQ(opts_text(kernel.applied()), "UPCAST 2 3;UPCAST 1 4;UPCAST 0 4;UNROLL 0 4;");
}

struct Named {
  std::vector<Opt> opts;
  const char* name;
};

TEST(OptOps, AxesStandInTheirOrder) {
  LazyOps ops;
  CodegenOptions options;
  options.has_local = true;
  options.vector_bits = 128;
  const Named table[] = {
      {{}, "r_8_5_6"},
      {{{OptOp::Upcast, 0, 4}}, "r_2_5_6_4"},
      {{{OptOp::Upcast, 0, 0}}, "r_5_6_8"},
      {{{OptOp::Unroll, 0, 3}, {OptOp::Upcast, 0, 2}}, "r_4_5_2_3_2"},
      {{{OptOp::Local, 0, 4}}, "r_2_5_4_6"},
      {{{OptOp::Local, 0, 4}, {OptOp::Local, 0, 2}}, "r_5_4_2_6"},
      {{{OptOp::Local, 0, 4}, {OptOp::LastLocal, 0, 2}}, "r_5_2_4_6"},
      {{{OptOp::Group, 0, 2}, {OptOp::UpcastMid, 0, 4}}, "r_2_5_2_4_3"},
      {{{OptOp::Group, 0, 2}, {OptOp::UpcastMid, 1, 0}, {OptOp::Group, 0, 3}}, "r_8_2_3_5"},
      {{{OptOp::NoLocals}, {OptOp::Upcast, 0, 4}}, "r_2_5_6_4"},
      {{{OptOp::Group, 0, 2}}, "r_8_5_2_3"},
      {{{OptOp::GroupTop, 0, 3}, {OptOp::Local, 0, 8}}, "r_5_8_3_2"},
      {{{OptOp::PadTo, 1, 8}, {OptOp::Upcast, 1, 4}}, "r_8_2_6_4"},
      {{{OptOp::Vector, 0, 4}, {OptOp::Upcast, 0, 2}}, "r_5_6_2_4"},
  };
  for (const Named& t : table) {
    Kernel kernel(test::product_8x6x5(ops), options);
    for (const Opt& o : t.opts) kernel.apply(o);
    EXPECT_EQ(kernel.shape_name(), t.name);
    EXPECT_EQ(kernel.applied(), t.opts);
  }
}

}  // namespace
}  // namespace etch::heuristics_test
