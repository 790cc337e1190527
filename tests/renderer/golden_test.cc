// The text of whole kernels, as golden files: UPDATE_GOLDEN=1 rewrites them, and the diff is reviewed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "renderer/cstyle.h"
#include "renderer/generate.h"

namespace etch {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(ETCH_SOURCE_DIR) / "tests/golden/renderer" / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  std::stringstream want;
  want << file.rdbuf();
  EXPECT_EQ(text, want.str()) << name;
}

ShapeTracker spread(Scalar, const std::vector<Sint>& shape) {
  return ShapeTracker::from_shape(std::vector<Sint>(shape.size(), 1)).expand(shape);
}

// out[c][y][x] = relu(b[c] + sum(i,j) in[y+i-1][x+j-1] * w[c][i][j]) for c, y, x of 16, 8, 8
const LazyOp* conv(LazyOps& ops) {
  const View padded = View::create({10, 10}, std::vector<Sint>{8, 1}, -9, std::vector<Range>{{1, 9}, {1, 9}});
  const View windows = View::create({16, 8, 8, 3, 3}, std::vector<Sint>{0, 10, 1, 10, 1});
  const LazyOp* in = ops.load(1, DType::Float32, ShapeTracker({padded, windows}));
  const LazyOp* w = ops.load(2, DType::Float32, ShapeTracker({View::create({16, 8, 8, 3, 3}, std::vector<Sint>{9, 0, 0, 3, 1})}));
  const LazyOp* b = ops.load(3, DType::Float32, ShapeTracker({View::create({16, 8, 8, 1, 1}, std::vector<Sint>{1, 0, 0, 0, 0})}));
  const LazyOp* sum = ops.elementwise(Op::Add, {ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {in, w}), {3, 4}), b});
  const LazyOp* zero = ops.constant(Scalar::of_int(DType::Float32, 0), spread({}, {16, 8, 8, 1, 1}));
  return ops.store(0, ops.elementwise(Op::Max, {sum, zero}), ShapeTracker::from_shape({16, 8, 8, 1, 1}));
}

// out[i] = (int8) ((a[i] + 1) * a[i]), of a variable number of rows
const LazyOp* bytes(LazyOps& ops, Sint n) {
  const ShapeTracker st = ShapeTracker::from_shape({n, 5});
  const LazyOp* a = ops.load(1, DType::Int8, st);
  const LazyOp* one = ops.constant(Scalar::of_int(DType::Int8, 1), spread({}, {n, 5}));
  return ops.store(0, ops.elementwise(Op::Mul, {ops.elementwise(Op::Add, {a, one}), a}), st);
}

struct Golden {
  const char* file;
  const LazyOp* ast;
  std::vector<Sint> elements;
  std::vector<bool> constants;  // and bounded
  KernelNames names;
  CodegenOptions options;
};

TEST(Golden, Kernels) {
  LazyOps ops;
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 16);
  CodegenOptions vectors, opencl, plain;
  plain.optimize = false;
  vectors.vector_bits = 256;
  opencl.language = "opencl";
  opencl.has_local = true;
  const std::vector<Sint> sizes{16 * 64, 64, 144, 16};
  const std::vector<bool> constants{false, false, true, true};
  const KernelNames names{"conv_relu", {"out", "in", "w", "b"}};
  const Golden table[] = {
      {"conv_plain.c", conv(ops), sizes, constants, names, plain},
      {"conv.c", conv(ops), sizes, constants, names, {}},
      {"conv_vectors.c", conv(ops), sizes, constants, names, vectors},
      {"conv.cl", conv(ops), sizes, constants, names, opencl},
      {"bytes.c", bytes(ops, n), {n * 5, n * 5}, {false, false}, {"bytes", {"out", "in"}}, {}},
      {"bytes.cl", bytes(ops, n), {n * 5, n * 5}, {false, false}, {"bytes", {"out", "in"}}, opencl},
  };
  for (const Golden& t : table) {
    const GeneratedKernel k = generate_kernel(t.ast, t.elements, t.constants, t.names, t.options, t.constants);
    expect_golden(t.file, k.source);
    expect_golden(std::string(t.file) + ".uops", k.uops);
    // The same again, whatever was made before.
    EXPECT_EQ(generate_kernel(t.ast, t.elements, t.constants, t.names, t.options, t.constants).source, k.source);
  }
}

TEST(Golden, IndexOutsideIsAnError) {
  LazyOps ops;
  EXPECT_THROW(generate_kernel(conv(ops), {16 * 64, 63, 144, 16}, std::vector<bool>(4), {"k", {"out", "in", "w", "b"}}, {}),
               std::exception);
  EXPECT_THROW(generate_kernel(conv(ops), {16 * 64 - 1, 64, 144, 16}, std::vector<bool>(4), {"k", {"out", "in", "w", "b"}}, {}),
               std::exception);
}

struct LiteralCase {
  Scalar value;
  const char* c;
  const char* opencl;
};

TEST(Literals, ReadBackExactly) {
  const LiteralCase table[] = {
      {Scalar::of_double(DType::Float32, 0.5), "0.5f", "0.5f"},
      {Scalar::of_double(DType::Float32, -0.0), "-0.0f", "-0.0f"},
      {Scalar::of_double(DType::Float32, 0.1), "0.1f", "0.1f"},
      {Scalar::of_double(DType::Float64, 0.1), "0.1", "0.1"},
      {Scalar::of_double(DType::Float32, 1e30), "1e+30f", "1e+30f"},
      {Scalar::of_double(DType::Float32, -__builtin_inf()), "-INFINITY", "-INFINITY"},
      {Scalar::of_double(DType::Float32, __builtin_nan("")), "NAN", "NAN"},
      {Scalar::of_double(DType::Float64, __builtin_inf()), "(double)INFINITY", "(double)INFINITY"},
      {Scalar::of_int(DType::Bool, 1), "true", "true"},
      {Scalar::of_int(DType::Int8, -128), "-128", "-128"},
      {Scalar::of_int(DType::Int32, -2147483648LL), "INT32_MIN", "INT_MIN"},
      {Scalar::of_int(DType::UInt32, -1), "4294967295u", "4294967295u"},
      {Scalar::of_int(DType::Int64, (1LL << 53) + 1), "INT64_C(9007199254740993)", "9007199254740993L"},
      {Scalar::of_int(DType::Int64, INT64_MIN), "INT64_MIN", "LONG_MIN"},
      {Scalar::of_int(DType::UInt64, -1), "UINT64_C(18446744073709551615)", "18446744073709551615UL"},
  };
  for (const LiteralCase& t : table) {
    EXPECT_EQ(literal(kC, t.value), t.c);
    EXPECT_EQ(literal(kOpenCl, t.value), t.opencl);
  }
}

}  // namespace
}  // namespace etch
