// The hand-coded optimisations choose what tinygrad 0.8 chose, and kernels have its names (the conformance data has both).
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "codegen/kernel.h"
#include "support/ast_cases.h"

namespace etch {
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

TEST(Heuristics, ChooseWhatTinygradChooses) {
  LazyOps ops;
  const std::string path = ETCH_TEST_DATA "/conformance/ast_cases.json";
  const auto cases = test::read_ast_cases(path, ops);
  std::ifstream file(path);
  const nlohmann::json all = nlohmann::json::parse(file);
  int scalar = 0, named = 0, grid = 0;
  std::string different;
  for (std::size_t i = 0; i < cases.size(); i++) {
    const auto& v08 = all.at("cases").at(i).at("v08");
    CodegenOptions c, opencl;
    opencl.has_local = true;
    Kernel on_c(cases[i].store, c), on_grid(cases[i].store, opencl);
    hand_coded_optimizations(on_c);
    hand_coded_optimizations(on_grid);
    const std::string want = opts_text(v08.at("opt").at("opts")), got = opts_text(on_c.applied());
    scalar += got == want ? 1 : 0;
    named += on_c.shape_name() == v08.at("opt").at("name").get<std::string>() ? 1 : 0;
    grid += opts_text(on_grid.applied()) == opts_text(v08.at("gpu_opts").at("opts")) ? 1 : 0;
    if (got != want) different += cases[i].id + " " + got + " not " + want + "\n";
    if (opts_text(on_grid.applied()) != opts_text(v08.at("gpu_opts").at("opts")))
      different += cases[i].id + " grid " + opts_text(on_grid.applied()) + " not " + opts_text(v08.at("gpu_opts").at("opts")) + "\n";
  }
  // The others differ where its views are worse than ours.
  EXPECT_GE(scalar, 150) << different;
  EXPECT_GE(named, 150) << different;
  EXPECT_GE(grid, 150) << different;
}

// Of a scalar core with 32 registers: sums fill them, each loaded value serves several.
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
    const std::vector<Sint> elements(3, Sint(1 << 20));
    EXPECT_EQ(tile_optimizations(kernel, elements, {false, false, true}), row.opts != nullptr);
    EXPECT_EQ(opts_text(kernel.applied()), row.opts != nullptr ? row.opts : "");
  }
}

struct Illegal {
  Opt opt;
  const char* why;
};

// Of an 8 x 6 by 6 x 5 product: axes 8, 5 and the reduced 6.
constexpr Illegal kIllegal[] = {
    {{OptOp::Upcast, 5, 2}, "there is no such axis"},
    {{OptOp::Upcast, 2, 2}, "only an axis that is not reduced can be upcast"},
    {{OptOp::Upcast, 0, 3}, "the amount divides the size 8"},
    {{OptOp::Upcast, 0, 1}, "the amount is more than 1"},
    {{OptOp::Unroll, 1, 2}, "there is no such axis"},
    {{OptOp::Unroll, 0, 4}, "the amount divides the size 6"},
    {{OptOp::Local, 0, 4}, "the language has work-groups"},
    {{OptOp::GroupTop, 0, 2}, "the language has work-groups"},
    {{OptOp::PadTo, 0, 4}, "there is something to pad"},
    {{OptOp::PadTo, 1, 32}, "padding at most doubles the work"},
    {{OptOp::PadTo, 2, 4}, "only an axis that is not reduced can be padded"},
    {{OptOp::Vector, 0, 4}, "the target has vectors"},
};

const LazyOp* product_8x6x5(LazyOps& ops) {
  const ShapeTracker a = ShapeTracker::from_shape({8, 6}).reshape({8, 1, 6}).expand({8, 5, 6});
  const ShapeTracker b = ShapeTracker::from_shape({6, 5}).permute({1, 0}).reshape({1, 5, 6}).expand({8, 5, 6});
  const LazyOp* product = ops.elementwise(Op::Mul, {ops.load(1, DType::Float32, a), ops.load(2, DType::Float32, b)});
  return ops.store(0, ops.reduce(Op::ReduceSum, product, {2}), ShapeTracker::from_shape({8, 5, 1}));
}

TEST(OptOps, IllegalStepsSayWhy) {
  LazyOps ops;
  const CodegenOptions options;
  for (const Illegal& t : kIllegal) {
    Kernel kernel(product_8x6x5(ops), options);
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
      {{{OptOp::Group, 0, 2}}, "r_8_5_2_3"},
      {{{OptOp::GroupTop, 0, 3}, {OptOp::Local, 0, 8}}, "r_5_8_3_2"},
      {{{OptOp::PadTo, 1, 8}, {OptOp::Upcast, 1, 4}}, "r_8_2_6_4"},
      {{{OptOp::Vector, 0, 4}, {OptOp::Upcast, 0, 2}}, "r_5_6_2_4"},
  };
  for (const Named& t : table) {
    Kernel kernel(product_8x6x5(ops), options);
    for (const Opt& o : t.opts) kernel.apply(o);
    EXPECT_EQ(kernel.shape_name(), t.name);
    EXPECT_EQ(kernel.applied(), t.opts);
  }
}

}  // namespace
}  // namespace etch
