// Products whose sums are too long for the second cache: they are added up in blocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "memory/plan.h"
#include "onnx/builder.h"
#include "support/backends.h"
#include "support/evaluate.h"
#include "support/instructions.h"

namespace etch::long_sums_test {
namespace {

using Ints = GraphBuilder::Ints;
using Value = GraphBuilder::Value;

/// x [batch.., rows, sum] times w [sum, columns], as one of ONNX's operators.
struct Product {
  std::vector<std::int64_t> rows;
  std::int64_t sum, columns;
  bool is_gemm = false;  // with w transposed and a bias; then a ReLU
};

Array random_floats(std::mt19937& rng, std::vector<std::int64_t> shape) {
  std::uniform_real_distribution<float> any(-1, 1);
  std::int64_t size = 1;
  for (const std::int64_t d : shape) size *= d;
  std::vector<double> values(static_cast<std::size_t>(size));
  for (double& v : values) v = any(rng);
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

std::vector<OnnxDim> dims_of(const std::vector<std::int64_t>& shape) { return {shape.begin(), shape.end()}; }

/// A model, an input, and its result by the definition.
struct Known {
  std::string bytes;
  Array input, wanted;

  Known(const Product& p, unsigned seed) {
    std::mt19937 rng(seed);
    std::vector<std::int64_t> in = p.rows, out = p.rows;
    in.push_back(p.sum), out.push_back(p.columns);
    input = random_floats(rng, in);
    const Array w = random_floats(rng, {p.sum, p.columns}), bias = random_floats(rng, {p.columns});
    const std::vector<double> x = input.doubles(), m = w.doubles(), b = bias.doubles();
    std::vector<double> result, turned(m.size());
    const auto sum = static_cast<std::size_t>(p.sum), columns = static_cast<std::size_t>(p.columns);
    for (std::size_t row = 0; row < x.size() / sum; row++)
      for (std::size_t c = 0; c < columns; c++) {
        double y = p.is_gemm ? b[c] : 0;
        for (std::size_t k = 0; k < sum; k++) y += x[row * sum + k] * m[k * columns + c];
        result.push_back(p.is_gemm ? std::max(y, 0.0) : y);
      }
    for (std::size_t k = 0; k < sum; k++)
      for (std::size_t c = 0; c < columns; c++) turned[c * sum + k] = m[k * columns + c];
    wanted = Array::of_doubles(DType::Float32, out, result);
    GraphBuilder g("net", 13);
    const Value given = g.input("x", DType::Float32, dims_of(in));
    if (p.is_gemm) {
      const Value weights = g.initializer("w", Array::of_doubles(DType::Float32, {p.columns, p.sum}, turned));
      g.output(g.relu(g.node("Gemm", {given, weights, g.initializer("b", bias)}, {{"transB", 1}})), DType::Float32, dims_of(out));
    } else {
      g.output(g.node("MatMul", {given, g.initializer("w", w)}), DType::Float32, dims_of(out));
    }
    bytes = g.bytes();
  }
};

Program compiled(const std::string& bytes, const CompileOptions& how, const Language& language) {
  CompileOptions options = how;
  options.import.bytes = bytes;
  options.import.name = "net";
  return lower_model(read_model(options), &language, options);
}

// Of a cache of 4 KB sums of 16 are left whole, and others cut into blocks of 16, also sums and columns that nothing divides; a few columns
// of zeros fill the last vector.
TEST(LongSums, AreWhatTheirDefinitionSays) {
  CompileOptions options;
  options.target = test::target_named("x86-64-v4");
  options.target.cache_bytes = options.target.first_cache_bytes = 4096;
  for (const char* name : {"interp", "llvm", "c"}) {
    const auto device = test::backend(name, true);
    if (!device) {
      std::cout << "SKIPPED: " << name << " (" << device.why << ")\n";
      continue;
    }
    unsigned seed = 0;
    for (const Product& p : {Product{{24}, 13, 32},
                             {{24}, 17, 16},
                             {{24}, 32, 32},
                             {{30}, 97, 47, true},
                             {{2, 3, 5}, 200, 48},
                             {{64}, 256, 64, true},
                             {{25}, 149, 20},
                             {{1, 40}, 33, 70},
                             {{31}, 64, 110, true}}) {
      const Known known(p, seed++);
      const Program program = compiled(known.bytes, options, *device->language());
      EXPECT_EQ(program.loops.size(), p.sum > 32 && p.columns != 20 && p.columns != 70 ? 1u : 0u) << p.sum << " " << p.columns;
      const std::vector<Array> got = device->load(program)->run({known.input});
      ASSERT_EQ(got.size(), 1u);
      EXPECT_EQ(test::difference(got[0], known.wanted, 1e-5, 1e-5), "") << name << " " << p.sum << " " << p.columns;
    }
  }
}

// In how many blocks the sums are added up: kernels that multiply, and turns of the loop that one of them is in.
std::int64_t blocks(const Program& p) {
  std::int64_t calls = 0, turns = 0;
  for (const ProgramCall& call : p.calls) calls += call.macs.max() > 0 ? 1 : 0;
  for (const ProgramLoop& loop : p.loops) turns += loop.count.as_int() - 1;
  return calls + turns;
}

// Of 2 MB of second cache half holds 8192 elements of two vectors of columns.
TEST(LongSums, AreCutWhereTheCacheIsTooSmall) {
  using Change = std::function<void(CompileOptions&)>;
  const auto blocks_of = [](const char* target, std::int64_t rows, std::int64_t sum, std::int64_t columns, const Change& change = {},
                            const std::function<Value(GraphBuilder&, Value)>& before = {}) {
    CompileOptions options;
    options.target = test::target_named(target);
    if (change) change(options);
    GraphBuilder g("net", 13);
    Value x = g.input("x", DType::Float32, {rows, sum});
    if (before) x = before(g, x);
    g.output(g.node("MatMul", {x, g.seeded("w", {sum, columns}, sum)}), DType::Float32, {rows, columns});
    return blocks(compiled(g.bytes(), options, language_of(options.target)));
  };
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 8192, 32), 1);
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 8193, 32), 2);
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 16384, 32), 3);
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 65536, 32), 11);
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 65536, 1000), 11) << "eight columns of zeros";
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 65536, 20), 1) << "twelve would be too many";
  EXPECT_EQ(blocks_of("cortex-a53", 64, 16384, 32), 3) << "512 KB, vectors of four";
  EXPECT_EQ(blocks_of("x86-64-v4", 8, 16384, 32), 1) << "few rows read the weights once";
  EXPECT_EQ(blocks_of("x86-64-v4", 64, 16384, 8), 1) << "lanes run along the sum";
  for (const char* target : {"cortex-m4f", "c99", "opencl"}) EXPECT_EQ(blocks_of(target, 64, 16384, 32), 1) << target;
  for (const Change& change :
       {Change([](CompileOptions& o) { o.overlap = true; }), Change([](CompileOptions& o) { o.sharing = Sharing::All; }),
        Change([](CompileOptions& o) { o.optimize = false; }), Change([](CompileOptions& o) { o.target.vector.extensions = false; })})
    EXPECT_EQ(blocks_of("x86-64-v4", 64, 16384, 32, change), 1) << "memory or code counts, or there are no vectors";
  const auto constant = [](GraphBuilder& g, const Value&) { return g.relu(g.seeded("c", {24, 16384}, 1)); };
  EXPECT_EQ(blocks_of("x86-64-v4", 24, 16384, 16, {}, constant), 0) << "all is known";
}

// What is repeated would take its memory for each copy, and halves and open numbers of rows stay as they are.
TEST(LongSums, AreLeftWholeWhereBlocksWouldCostMore) {
  CompileOptions options;
  options.target = test::target_named("x86-64-v4");
  GraphBuilder repeated("net", 13);
  const Value wide = repeated.node("Expand", {repeated.seeded("w", {16384, 1}, 16384), repeated.ints("shape", {16384, 32})});
  repeated.output(repeated.node("MatMul", {repeated.input("x", DType::Float32, {64, 16384}), wide}), DType::Float32, {64, 32});
  EXPECT_EQ(blocks(compiled(repeated.bytes(), options, kC)), 1);
  GraphBuilder halves("net", 13);
  const Value w = halves.node("Cast", {halves.seeded("w", {16384, 32}, 16384)}, {{"to", 10}});
  halves.output(halves.node("MatMul", {halves.input("x", DType::Float16, {64, 16384}), w}), DType::Float16, {64, 32});
  EXPECT_EQ(blocks(compiled(halves.bytes(), options, kC)), 1);
  GraphBuilder open("net", 13);
  const Value x = open.input("x", DType::Float32, {"rows", 16384});
  open.output(open.node("MatMul", {x, open.seeded("w", {16384, 32}, 16384)}), DType::Float32, {"rows", 32});
  options.import.dims = {{.name = "rows", .min = 24, .max = 64}};
  EXPECT_EQ(blocks(compiled(open.bytes(), options, kC)), 1);
}

// What the blocks before have come to lies in one buffer, and each turn adds to it in place.
TEST(LongSums, TakeTheMemoryOfOneResult) {
  CompileOptions options;
  options.target = test::target_named("x86-64-v4");
  GraphBuilder g("net", 13);
  const Value x = g.input("x", DType::Float32, {48, 20000});
  g.output(g.relu(g.node("MatMul", {x, g.seeded("w", {20000, 64}, 20000)})), DType::Float32, {48, 64});
  const Program program = compiled(g.bytes(), options, kC);
  EXPECT_EQ(blocks(program), 4);
  EXPECT_EQ(plan_memory(program).arena_bytes, 48 * 64 * 4);
  EXPECT_EQ(program.calls.size(), 3u) << "zeros, a block, and the last one with what follows the sum";
}

}  // namespace
}  // namespace etch::long_sums_test
