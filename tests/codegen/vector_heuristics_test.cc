// The heuristics for vectors, of kernels with and without sums of products.
#include <gtest/gtest.h>

#include <functional>
#include <tuple>

#include "codegen/kernel.h"
#include "support/random_windows.h"

namespace etch {
namespace {

std::string applied_text(const std::vector<Opt>& opts) {
  std::string text;
  for (const Opt& o : opts) text += to_text(o) + ";";
  return text;
}

// Kernels of floats without sums are vectors along the axis in which what they store lies side by side, as wide as that axis allows, if
// every operation has a form for vectors.
TEST(Heuristics, FloatsWithoutSumsAreVectors) {
  LazyOps ops;
  CodegenOptions options, by_library;
  options.vector_bits = by_library.vector_bits = 512;
  by_library.library_math = {"expf"};
  const auto store = [&](std::int64_t size, const std::function<const LazyOp*(const LazyOp*)>& value) {
    const ShapeTracker st = ShapeTracker::from_shape({size});
    return ops.store(0, value(ops.load(1, DType::Float32, st)), st);
  };
  const auto zero = [&](const LazyOp* x) {
    return ops.constant(Scalar::of_int(DType::Float32, 0), ShapeTracker({View::create(x->shape, std::vector<Sint>(x->shape.size(), 0))}));
  };
  const auto leaky = [&](const LazyOp* x) {
    return ops.elementwise(Op::Where, {ops.elementwise(Op::CmpLt, {x, zero(x)}), ops.elementwise(Op::Exp, {x}), x});
  };
  const auto tangent = [&](const LazyOp* x) { return ops.elementwise(Op::Tan, {x}); };
  const std::tuple<const LazyOp*, const CodegenOptions*, const char*> rows[] = {
      {store(64, leaky), &options, "VECTOR 0 16;"}, {store(24, leaky), &options, "VECTOR 0 8;"},
      {store(36, leaky), &options, "VECTOR 0 16;"}, {store(64, leaky), &by_library, ""},  // one call after the other
      {store(63, leaky), &options, "VECTOR 0 16;"},                                       // the last one is stored in parts
      {store(64, tangent), &options, ""},
  };
  for (const auto& [ast, of, wanted] : rows) {
    Kernel kernel(ast, *of);
    EXPECT_EQ(float_vector_optimizations(kernel, {}), *wanted != 0);
    EXPECT_EQ(applied_text(kernel.applied()), wanted);
  }
}

// A copy with padding is vectors in rows that are long enough, and where no lane is padding they are loaded whole.
TEST(Heuristics, PaddingIsAtBordersAlone) {
  LazyOps ops;
  const auto opts_of = [&](std::int64_t size, bool small_code) {
    CodegenOptions options;
    options.vector_bits = 256;
    options.small_code = small_code;
    const ShapeTracker padded = ShapeTracker::from_shape({16, size - 2}).pad({{0, 0}, {1, 1}});
    Kernel kernel(ops.store(0, ops.load(1, DType::Float32, padded), ShapeTracker::from_shape({16, size})), options);
    float_vector_optimizations(kernel, {});
    return applied_text(kernel.applied());
  };
  EXPECT_EQ(opts_of(64, false), "VECTOR 1 8;INTERIOR;");
  EXPECT_EQ(opts_of(58, false), "VECTOR 1 8;INTERIOR;");
  EXPECT_EQ(opts_of(58, true), "VECTOR 1 8;");
  EXPECT_EQ(opts_of(24, false), "VECTOR 1 4;INTERIOR;");
  EXPECT_EQ(opts_of(12, false), "");
}

// Where nothing is written over what is read, the last vector of a loop may begin earlier.
TEST(Heuristics, LastVectorsBeginEarlier) {
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 512;
  const ShapeTracker moved({View::create({Sint(63)}, std::vector<Sint>{Sint(1)}, Sint(1))});  // from the second element on
  Kernel kernel(ops.store(0, ops.load(1, DType::Float32, moved), ShapeTracker::from_shape({63})), options);
  EXPECT_TRUE(float_vector_optimizations(kernel, {}));
  EXPECT_EQ(applied_text(kernel.applied()), "VECTOR 0 16;");
  EXPECT_EQ(kernel.shape_name(), "E_4_16");
}

// Reductions that are no sums of products: lanes along what is stored side by side, else along what is reduced.
TEST(Heuristics, ReductionsAreVectors) {
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 512;
  const auto opts_of = [&](const LazyOp* value, const std::vector<Sint>& shape) {
    Kernel kernel(ops.store(0, value, ShapeTracker::from_shape(shape)), options);
    EXPECT_TRUE(float_vector_optimizations(kernel, {}));
    return applied_text(kernel.applied()) + " " + kernel.shape_name();
  };
  const std::vector<Sint> windows{8, 8, 32, 3, 3}, strides{2 * 18 * 32, 2 * 32, 1, 18 * 32, 32};
  const LazyOp* image = ops.load(1, DType::Float32, ShapeTracker({View::create(windows, strides)}));
  EXPECT_EQ(opts_of(ops.reduce(Op::ReduceMax, image, {3, 4}), {8, 8, 32, 1, 1}), "VECTOR 2 16;UNROLL 1 0;UPCAST 2 2; r_8_8_3_3_2_16");
  const LazyOp* rows = ops.load(1, DType::Float32, ShapeTracker::from_shape({6, 48}));
  EXPECT_EQ(opts_of(ops.reduce(Op::ReduceSum, rows, {1}), {6, 1}), "VECTOR 1 16;UNROLL 0 3; r_6_3_16");
  // By two stages: (x - max) or e^(x - max), over its sum.
  const auto opts_of_stages = [&](std::int64_t count, bool with_exp) {
    const std::vector<Sint> shape{count, 64};
    const LazyOp* x = ops.load(1, DType::Float32, ShapeTracker::from_shape(shape));
    const LazyOp* value = ops.elementwise(Op::Sub, {x, ops.expand(ops.reduce(Op::ReduceMax, x, {1}), shape)});
    if (with_exp) value = ops.elementwise(Op::Exp, {value});
    return opts_of(ops.elementwise(Op::Div, {value, ops.expand(ops.reduce(Op::ReduceSum, value, {1}), shape)}), shape);
  };
  EXPECT_EQ(opts_of_stages(6, false), "VECTOR 1 16;UNROLL 0 4;UNROLL 0 4; r_6_4_4_4_16");
  EXPECT_EQ(opts_of_stages(5, true), "VECTOR 1 16;UNROLL 0 4;UNROLL 0 4; r_5_4_4_4_16");
  EXPECT_EQ(opts_of_stages(6, true), "VECTOR 1 16;UPCAST 0 2;UNROLL 0 2;UNROLL 1 2; r_3_2_2_4_2_2_2_16");
}

// In planes the lanes run along rows, whose first and last vectors are loaded element by element, if others are enough; every second
// element of a pooled row is too.
TEST(Heuristics, LanesRunAlongRowsWithBorders) {
  using namespace test::windows;
  const auto opts_of = [](std::int64_t width, int bits = 256) {
    LazyOps ops;
    CodegenOptions options;
    options.vector_bits = bits;
    // Of two rows there are no windows that roll.
    const LaidWindow w{.channels = 3, .outputs = 3, .height = 2, .width = width, .kernel = 3, .pad = 1, .depthwise = true};
    Kernel kernel(store_of(ops, w, DType::Float32), options);
    tile_optimizations(kernel, arguments_of(w, DType::Float32));
    return applied_text(kernel.applied());
  };
  EXPECT_EQ(opts_of(40), "VECTOR 2 8;UPCAST 2 5;UNROLL 1 0;UNROLL 0 0;INTERIOR;");
  EXPECT_EQ(opts_of(24).substr(0, 11), "VECTOR 2 4;") << opts_of(24) << " of three vectors of 8 two are at borders";
  EXPECT_EQ(opts_of(28).substr(0, 11), "VECTOR 2 8;") << opts_of(28) << " four, of which the last begins earlier";
  EXPECT_EQ(opts_of(56, 512).substr(0, 12), "VECTOR 2 16;") << opts_of(56, 512);
  EXPECT_EQ(opts_of(12).find("VECTOR"), std::string::npos) << opts_of(12);
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 256;
  const View windows = View::create({2, 8, 16, 3, 3}, std::vector<Sint>{20 * 34, 2 * 34, 2, 34, 1});
  const LazyOp* pooled = ops.reduce(Op::ReduceMax, ops.load(1, DType::Float32, ShapeTracker({windows})), {3, 4});
  Kernel kernel(ops.store(0, pooled, ShapeTracker::from_shape({2, 8, 16, 1, 1})), options);
  EXPECT_TRUE(float_vector_optimizations(kernel, {}));
  EXPECT_EQ(applied_text(kernel.applied()).substr(0, 11), "VECTOR 2 8;");
}

// 88 channels are six vectors of 16, of which the last begins earlier: as many as there are make no tile, but half of them do.
TEST(Heuristics, SomeOfTheVectorsThatOverlapAreATile) {
  using namespace test::windows;
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 512;
  options.float_registers = 32;
  const LaidWindow w{.channels = 16, .outputs = 88, .height = 8, .width = 8, .in_last = true, .out_last = true};
  Kernel kernel(store_of(ops, w, DType::Float32), options);
  EXPECT_TRUE(tile_optimizations(kernel, arguments_of(w, DType::Float32)));
  EXPECT_EQ(applied_text(kernel.applied()), "VECTOR 0 16;UPCAST 1 8;UPCAST 0 3;");
}

// Vectors of few sums read 64 KB of weights for each tile, more than the first cache holds: eight steps a turn.
TEST(Heuristics, LongTurnsWhereWeightsComeFromBeyondTheFirstCache) {
  const auto opts_of = [](std::int64_t channels, std::int64_t size) {
    LazyOps ops;
    CodegenOptions options;
    options.vector_bits = 512;
    options.float_registers = 32;
    const test::windows::LaidWindow w{.channels = channels, .outputs = 2048, .height = size, .width = size};
    Kernel kernel(store_of(ops, w, DType::Float32), options);
    EXPECT_TRUE(tile_optimizations(kernel, arguments_of(w, DType::Float32)));
    return applied_text(kernel.applied());
  };
  EXPECT_EQ(opts_of(512, 7), "VECTOR 0 16;UPCAST 1 7;UPCAST 0 2;UNROLL 0 8;");
  EXPECT_EQ(opts_of(128, 7), "VECTOR 0 16;UPCAST 1 7;UPCAST 0 2;");
  EXPECT_EQ(opts_of(512, 14), "VECTOR 0 16;UPCAST 1 14;UPCAST 0 2;") << "28 sums";
}

// Of a first layer in planes 32 channels and eight pixels: a number is read for two products, and the pixels of a plane are whole columns.
// One vector and 16 pixels would read a number for each product, and 14 pixels end in columns that overlap.
TEST(Heuristics, FirstLayersReadLessThanTheyMultiply) {
  LazyOps ops;
  CodegenOptions options;
  options.vector_bits = 512;
  options.float_registers = 32;
  const test::windows::LaidWindow w{.channels = 3, .outputs = 64, .height = 224, .width = 224, .kernel = 7, .stride = 2, .pad = 3};
  Kernel kernel(store_of(ops, w, DType::Float32), options);
  EXPECT_TRUE(tile_optimizations(kernel, arguments_of(w, DType::Float32)));
  EXPECT_EQ(applied_text(kernel.applied()).substr(0, 36), "VECTOR 0 16;UPCAST 2 8;UPCAST 0 2;UN") << applied_text(kernel.applied());
}

// Of 3 x 4 and 9 x 2 vectors, which load about as much for each product, the tile of more sums where there are registers for them.
TEST(Heuristics, MoreSumsWhereThereAreRegisters) {
  const auto opts_of = [](std::int64_t registers) {
    LazyOps ops;
    CodegenOptions options;
    options.vector_bits = 512;
    options.float_registers = registers;
    const test::windows::LaidWindow w{
        .channels = 32, .outputs = 128, .height = 29, .width = 29, .kernel = 3, .in_last = true, .out_last = true};
    Kernel kernel(store_of(ops, w, DType::Float32), options);
    EXPECT_TRUE(tile_optimizations(kernel, arguments_of(w, DType::Float32)));
    return applied_text(kernel.applied());
  };
  EXPECT_EQ(opts_of(32), "VECTOR 0 16;UPCAST 2 9;UPCAST 0 2;");
  EXPECT_EQ(opts_of(16), "VECTOR 0 16;OVERLAP 2 6;UPCAST 0 2;");
}

// Where the number of instructions counts, a loop's own are shared by two steps, and the values of all rows have registers, unless they are
// numbers in registers for scalars.
TEST(Heuristics, TilesOfCoresInOrder) {
  using namespace test::windows;
  const auto opts_of = [](bool in_order, std::int64_t size = 14, bool scalar_factors = false) {
    LazyOps ops;
    CodegenOptions options;
    options.scalar_factors = scalar_factors;
    options.vector_bits = 128;
    options.float_registers = 32;
    options.in_order = in_order;
    const LaidWindow w{.channels = 16, .outputs = 64, .height = size, .width = size};
    Kernel kernel(store_of(ops, w, DType::Float32), options);
    tile_optimizations(kernel, arguments_of(w, DType::Float32));
    return applied_text(kernel.applied());
  };
  EXPECT_EQ(opts_of(true), "VECTOR 1 4;OVERLAP 0 3;UPCAST 1 7;UNROLL 0 2;");
  EXPECT_EQ(opts_of(true, 16), "VECTOR 1 4;OVERLAP 0 5;UPCAST 1 4;UNROLL 0 2;");
  EXPECT_EQ(opts_of(true, 16, true), "VECTOR 1 4;OVERLAP 0 6;UPCAST 1 4;UNROLL 0 2;");  // 24 sums, and four vectors to multiply
  EXPECT_EQ(opts_of(false).find("UNROLL"), std::string::npos) << opts_of(false);
}

// And what rows read in common along a window of three is loaded once, if it has registers beside the sums.
TEST(Heuristics, RowsOfCoresInOrderShareWindows) {
  using namespace test::windows;
  const auto opts_of = [](int registers, std::int64_t kernel, std::int64_t stride = 1) {
    LazyOps ops;
    CodegenOptions options;
    options.vector_bits = 128;
    options.float_registers = registers;
    options.in_order = true;
    const LaidWindow w{.channels = 64, .outputs = 64, .height = 56, .width = 56, .kernel = kernel, .stride = stride, .pad = kernel / 2};
    Kernel kernel_of_window(store_of(ops, w, DType::Float32), options);
    tile_optimizations(kernel_of_window, arguments_of(w, DType::Float32));
    return applied_text(kernel_of_window.applied());
  };
  EXPECT_EQ(opts_of(32, 3), "VECTOR 0 4;UPCAST 2 4;UPCAST 0 4;UNROLL 0 2;UNROLL 2 0;INTERIOR;");
  EXPECT_EQ(opts_of(16, 3), "VECTOR 0 4;UPCAST 2 4;UPCAST 0 2;UNROLL 0 2;INTERIOR;");
  EXPECT_EQ(opts_of(32, 5), "VECTOR 0 4;UPCAST 2 4;UPCAST 0 4;UNROLL 0 2;INTERIOR;");
  EXPECT_EQ(opts_of(32, 3, 2).find("UNROLL 2 0"), std::string::npos) << "nine elements, not six: " << opts_of(32, 3, 2);
  EXPECT_EQ(opts_of(32, 3, 3), "VECTOR 0 4;OVERLAP 2 5;UPCAST 0 4;UNROLL 0 2;INTERIOR;");
}

// Without vectors the whole axis of a window along which rows read elements in common is unrolled, or else four channels, or all of
// them if they are few.
TEST(Heuristics, RowsOfScalarCoresShareWindows) {
  using namespace test::windows;
  const auto opts_of = [](std::int64_t kernel, std::int64_t stride, DType dtype, std::int64_t channels = 64) {
    LazyOps ops;
    CodegenOptions options;
    options.register_tiles = true;
    options.float_registers = 32;
    const LaidWindow w{
        .channels = channels, .outputs = 64, .height = 56, .width = 56, .kernel = kernel, .stride = stride, .pad = kernel / 2};
    Kernel kernel_of_window(store_of(ops, w, dtype), options);
    tile_optimizations(kernel_of_window, arguments_of(w, dtype));
    return applied_text(kernel_of_window.applied());
  };
  EXPECT_EQ(opts_of(3, 1, DType::Float32), "UPCAST 2 14;UPCAST 0 2;UNROLL 2 0;");
  EXPECT_EQ(opts_of(3, 1, DType::Int32), "UPCAST 2 4;UPCAST 0 2;UNROLL 2 0;");
  EXPECT_EQ(opts_of(3, 2, DType::Float32), "UPCAST 2 14;UPCAST 0 2;UNROLL 2 0;");
  EXPECT_EQ(opts_of(3, 3, DType::Float32), "UPCAST 2 19;UNROLL 0 4;");
  EXPECT_EQ(opts_of(9, 1, DType::Float32), "UPCAST 2 14;UPCAST 0 2;UNROLL 0 4;");
  EXPECT_EQ(opts_of(3, 1, DType::Float32, 3), "UPCAST 2 14;UPCAST 0 2;UNROLL 2 0;");
  EXPECT_EQ(opts_of(3, 2, DType::Float32, 3), "UPCAST 2 14;UPCAST 0 2;UNROLL 0 0;") << "every other column is read by one row alone";
  EXPECT_EQ(opts_of(1, 1, DType::Float32), "UPCAST 1 14;UPCAST 0 2;UNROLL 0 4;");
}

}  // namespace
}  // namespace etch
