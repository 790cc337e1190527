// The text of whole kernels, as golden files: UPDATE_GOLDEN=1 rewrites them, and the diff is reviewed.
#include "support/golden.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "base/error.h"
#include "program/generate.h"
#include "renderer/cstyle.h"
#include "support/expect_error.h"

namespace etch {
namespace {

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

// out[i] = is[i] ? exp(a[i]) / b[i] : a[i]
const LazyOp* halves(LazyOps& ops) {
  const ShapeTracker st = ShapeTracker::from_shape({9});
  const LazyOp *a = ops.load(1, DType::Float16, st), *b = ops.load(2, DType::Float16, st), *is = ops.load(3, DType::Bool, st);
  return ops.store(0, ops.elementwise(Op::Where, {is, ops.elementwise(Op::Div, {ops.elementwise(Op::Exp, {a}), b}), a}), st);
}

// out[i] = sum(j) a[i][j]
const LazyOp* sums(LazyOps& ops) {
  const LazyOp* a = ops.load(1, DType::Float32, ShapeTracker::from_shape({4, 256}));
  return ops.store(0, ops.reduce(Op::ReduceSum, a, {1}), ShapeTracker::from_shape({4, 1}));
}

KernelSignature conv_signature(const std::string& name, std::int64_t out, std::int64_t in) {
  return {name,
          {{DType::Float32, out, "out", Access::Write},
           {DType::Float32, in, "in"},
           {DType::Float32, 144, "w", Access::Read, true, true},
           {DType::Float32, 16, "b", Access::Read, true, true}},
          {}};
}

struct Golden {
  const char* file;
  const LazyOp* ast;
  KernelSignature signature;
  const Language& language;
  CodegenOptions options;
};

TEST(Golden, Kernels) {
  LazyOps ops;
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 16);
  CodegenOptions vectors, grid, plain;
  plain.optimize = false;
  vectors.vector_bits = 256;
  grid.has_local = true;
  const KernelSignature relu = conv_signature("conv_relu", 16 * 64, 64);
  const KernelSignature of_bytes{"bytes", {{DType::Int8, n * 5, "out", Access::Write}, {DType::Int8, n * 5, "in"}}, {}};
  const KernelSignature of_halves{
      "halves",
      {{DType::Float16, 9, "out", Access::Write}, {DType::Float16, 9, "a"}, {DType::Float16, 9, "b"}, {DType::Bool, 9, "is"}},
      {}};
  const KernelSignature of_sums{"sums", {{DType::Float32, 4, "out", Access::Write}, {DType::Float32, 1024, "a"}}, {}};
  const Golden table[] = {
      {"conv_plain.c", conv(ops), relu, kC, plain},     {"conv.c", conv(ops), relu, kC, {}},
      {"conv_vectors.c", conv(ops), relu, kC, vectors}, {"conv.cl", conv(ops), relu, kOpenCl, grid},
      {"bytes.c", bytes(ops, n), of_bytes, kC, {}},     {"bytes.cl", bytes(ops, n), of_bytes, kOpenCl, grid},
      {"conv_plain.ll", conv(ops), relu, kLlvm, plain}, {"conv_vectors.ll", conv(ops), relu, kLlvm, vectors},
      {"bytes.ll", bytes(ops, n), of_bytes, kLlvm, {}}, {"halves.ll", halves(ops), of_halves, kLlvm, plain},
      {"conv.cu", conv(ops), relu, kCuda, grid},        {"bytes.cu", bytes(ops, n), of_bytes, kCuda, grid},
      {"halves.cu", halves(ops), of_halves, kCuda, {}}, {"sums.cu", sums(ops), of_sums, kCuda, grid},
  };
  std::map<std::string, std::string> files;
  for (const Golden& t : table) {
    const ProgramKernel k = generate_kernel(t.ast, t.signature, t.language, t.options);
    files[t.file] = definitions_of(std::span(&k, 1)) + k.text.source;
    if (t.language.style != nullptr) files[std::string(t.file) + ".uops"] = k.uops;  // those of IR are C's
    // The same again, whatever was made before.
    EXPECT_EQ(generate_kernel(t.ast, t.signature, t.language, t.options).text.source, k.text.source);
  }
  test::expect_golden("renderer", files);
}

TEST(Golden, IndexOutsideIsAnError) {
  LazyOps ops;
  const auto generate = [&](std::int64_t out, std::int64_t in) { generate_kernel(conv(ops), conv_signature("k", out, in), kC, {}); };
  EXPECT_NO_THROW(generate(16 * 64, 64));
  test::expect_error<InternalError>([&] { generate(16 * 64, 63); }, "of buffer 1 is proved inside its 63 elements");
  test::expect_error<InternalError>([&] { generate(16 * 64 - 1, 64); }, "of buffer 0 is proved inside its 1023 elements");
}

struct LiteralCase {
  Scalar value;
  const char* c;
  const char* opencl;
  const char* cuda;
};

TEST(Literals, ReadBackExactly) {
  const LiteralCase table[] = {
      {Scalar::of_double(DType::Float32, 0.5), "0.5f", "0.5f", "0.5f"},
      {Scalar::of_double(DType::Float32, -0.0), "-0.0f", "-0.0f", "-0.0f"},
      {Scalar::of_double(DType::Float32, 0.1), "0.1f", "0.1f", "0.1f"},
      {Scalar::of_double(DType::Float64, 0.1), "0.1", "0.1", "0.1"},
      {Scalar::of_double(DType::Float32, 1e30), "1e+30f", "1e+30f", "1e+30f"},
      {Scalar::of_double(DType::Float32, -__builtin_inf()), "-INFINITY", "-INFINITY", "-INFINITY"},
      {Scalar::of_double(DType::Float32, __builtin_nan("")), "NAN", "NAN", "NAN"},
      {Scalar::of_double(DType::Float64, __builtin_inf()), "(double)INFINITY", "(double)INFINITY", "(double)INFINITY"},
      {Scalar::of_int(DType::Bool, 1), "true", "true", "true"},
      {Scalar::of_int(DType::Int8, -128), "-128", "-128", "-128"},
      {Scalar::of_int(DType::Int32, -2147483648LL), "INT32_MIN", "INT_MIN", "(-2147483647 - 1)"},
      {Scalar::of_int(DType::UInt32, -1), "4294967295u", "4294967295u", "4294967295u"},
      {Scalar::of_int(DType::Int64, (1LL << 53) + 1), "INT64_C(9007199254740993)", "9007199254740993L", "9007199254740993ll"},
      {Scalar::of_int(DType::Int64, INT64_MIN), "INT64_MIN", "LONG_MIN", "(-9223372036854775807ll - 1)"},
      {Scalar::of_int(DType::UInt64, -1), "UINT64_C(18446744073709551615)", "18446744073709551615UL", "18446744073709551615ull"},
  };
  for (const LiteralCase& t : table) {
    EXPECT_EQ(literal(*kC.style, t.value), t.c);
    EXPECT_EQ(literal(*kOpenCl.style, t.value), t.opencl);
    EXPECT_EQ(literal(*kCuda.style, t.value), t.cuda);
  }
}

}  // namespace
}  // namespace etch
