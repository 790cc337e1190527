// What tinygrad 0.8 gets wrong in views, symbolic algebra, scheduling and C, each with the example that shows it there: etch does not.
// The other half, from Tensor to the emitted project, is in bugs_of_08_tensor_test.cc.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "bugs_of_08.h"
#include "conformance/shape.h"

namespace etch {
namespace {

using test::Net;

/// The recorded cases of a file that `keep` keeps: all of them agree.
template <class Keep>
void expect_cases(const char* file, ConformanceReport (*check)(const nlohmann::json&), std::int64_t count, Keep keep) {
  std::ifstream in(std::string(ETCH_TEST_DATA) + "/conformance/" + file);
  const nlohmann::json all = nlohmann::json::parse(in);
  nlohmann::json some = all;
  for (auto& [section, rows] : some.items())
    if (rows.is_array()) rows = nlohmann::json::array();
  for (const nlohmann::json& row : all.at("cases"))
    if (keep(row)) some.at("cases").push_back(row);
  const ConformanceReport report = check(some);
  std::int64_t agree = 0;
  for (const ConformanceRow& row : report.rows) agree += row.agree;
  EXPECT_EQ(agree, count);
  EXPECT_TRUE(report.messages.empty()) << to_text(report);
}

/// For each element of `st` in order the position that it reads, -1 where it is padding.
std::vector<std::int64_t> positions(const ShapeTracker& st) {
  std::vector<std::int64_t> result;
  Symbols symbols;
  const Sint flat = symbols.variable("flat", 0, st.size().as_int());
  const ShapeTracker::Index index = st.expr_node(flat);
  for (std::int64_t k = 0; k < st.size().as_int(); k++)
    result.push_back(evaluate(index.valid, {{"flat", k}}) != 0 ? evaluate(index.idx, {{"flat", k}}) : -1);
  return result;
}

TEST(BugsOf08, ViewPadThenReshapeOfASizeOfOne) {
  const ShapeTracker st = ShapeTracker::from_shape({1, 4}).pad({{1, 0}, {0, 2}}).reshape({3, 4});
  EXPECT_EQ(positions(st), (std::vector<std::int64_t>{-1, -1, -1, -1, -1, -1, 0, 1, 2, 3, -1, -1}));
  Net net;
  const Tensor x = net.input(DType::Float32, {1, 4}, {1, 2, 3, 4});
  net.expect(x.pad({{1, 0}, {0, 2}}).reshape({3, 4}), {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0});
  expect_cases("shapetracker_cases.json", check_shapetracker, 17, [](const auto& row) { return row.at("group") == "v08_wrong"; });
}

TEST(BugsOf08, ViewRealSizeIsThatOfWhatIsRead) {
  EXPECT_EQ(ShapeTracker::from_shape({2, 3}).pad({{2, 0}, {0, 0}}).shrink({{0, 2}, {0, 3}}).real_size(), 0);
  std::mt19937 rng(20);
  const auto draw = [&](std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>(from, to)(rng); };
  for (int round = 0; round < 300; round++) {
    ShapeTracker st = ShapeTracker::from_shape({draw(1, 5), draw(1, 5)});
    for (int step = 0; step < 3; step++) {
      const std::int64_t rows = st.shape()[0].as_int(), columns = st.shape()[1].as_int();
      if (draw(0, 2) == 0) st = st.pad({{draw(0, 3), draw(0, 2)}, {draw(0, 2), draw(0, 3)}});
      if (draw(0, 2) == 0) st = st.permute({1, 0}).stride({-1, draw(1, 2)});
      if (draw(0, 2) == 0) st = st.reshape({st.shape()[1], st.shape()[0]});
      if (draw(0, 2) == 0 && st.shape()[0].is_int(rows) && st.shape()[1].is_int(columns)) {
        const std::int64_t top = draw(0, rows - 1), left = draw(0, columns - 1);
        st = st.shrink({{top, draw(top + 1, rows)}, {left, draw(left + 1, columns)}});
      }
    }
    const std::vector<std::int64_t> read = positions(st);
    EXPECT_EQ(st.real_size(), *std::ranges::max_element(read) + 1) << st.to_text();
  }
  Symbols symbols;
  const Sint i = symbols.variable("i", 0, 6);
  EXPECT_EQ(ShapeTracker::from_shape({10}).shrink({{i, i + 4}}).real_size(), 10) << "not beyond the buffer";
}

TEST(BugsOf08, ViewsAreMergedWhereOneWouldDo) {
  const ShapeTracker third = ShapeTracker::from_shape({10}).stride({3});
  ASSERT_EQ(third.views().size(), 1u);
  EXPECT_FALSE(third.views()[0].mask.has_value());
  EXPECT_EQ(positions(third), (std::vector<std::int64_t>{0, 3, 6, 9}));
  // A reshape of a transposed view can't be one view, a row of it can.
  const ShapeTracker row = ShapeTracker::from_shape({4, 6}).permute({1, 0}).reshape({24}).shrink({{4, 8}}).simplify();
  EXPECT_EQ(row.views().size(), 1u) << row.to_text();
  expect_cases("shapetracker_cases.json", check_shapetracker, 13,
               [](const auto& c) { return c.contains("single_view_possible") && c.at("single_view_possible") == true; });
}

TEST(BugsOf08, SymbolicDivisionsAndBoundsAreSound) {
  Symbols symbols;
  const Sint a = symbols.variable("a", 0, 7), b = symbols.variable("b", 0, 3), i = symbols.variable("i", 1, 10);
  const Sint g = symbols.variable("g", 0, i);
  EXPECT_TRUE(floordiv(lt(a, b), 5).is_int(0));
  EXPECT_TRUE(floordiv(Sint(7), Sint(-3)).is_int(-3));
  EXPECT_TRUE(floordiv(Sint(-8), Sint(-3)).is_int(2));
  const auto floor_of = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(x) / static_cast<double>(y)));
  };
  const Sint negative = floordiv(g * -2, 3);  // there: endless recursion
  const Sint rest = floormod(i - 4, i), quotient = floordiv(g * 5, i * 4 + 4), factors = (i - 7) * i;
  for (std::int64_t vi = 1; vi <= 10; vi++) {
    EXPECT_EQ(evaluate(rest, {{"i", vi}}), vi - 4 - vi * floor_of(vi - 4, vi));
    EXPECT_GE((vi - 7) * vi, factors.min());
    EXPECT_LE((vi - 7) * vi, factors.max());
    for (std::int64_t vg = 0; vg <= vi; vg++) {
      EXPECT_EQ(evaluate(negative, {{"g", vg}, {"i", vi}}), floor_of(-2 * vg, 3));
      EXPECT_EQ(evaluate(quotient, {{"g", vg}, {"i", vi}}), floor_of(5 * vg, 4 * vi + 4));
    }
  }
  expect_cases("symbolic_cases.json", check_symbolic, 19, [](const auto& row) { return row.at("group") == "v08_wrong"; });
}

TEST(BugsOf08, SymbolicSumsAndConditionsSimplify) {
  Symbols symbols;
  const Sint a = symbols.variable("a", 0, 63), b = symbols.variable("b", 1, 9);
  EXPECT_EQ(floordiv(a, 4) * 4 + floormod(a, 4), a);
  EXPECT_TRUE((a * b - b * a).is_int(0));
  EXPECT_TRUE(ands({lt(a, 3), ge(a, 5)}).is_int(0)) << "a contradiction";
  EXPECT_EQ(ands({lt(a, 3), lt(a, 5)}), lt(a, 3)) << "an implication";
  EXPECT_EQ(lt(a * 4, 8), lt(a, 2));
  EXPECT_EQ(ge(a * 4, 8), ge(a, 2));
  EXPECT_EQ(floormod(symbols.variable("c", 0, 7) * 6, 8).max(), 6) << "0 6 4 2 0 6 4 2";
  const Sint never = ands({lt(a, 3), lt(b, 1)});
  EXPECT_EQ(never.max(), 0);
  expect_cases("symbolic_cases.json", check_symbolic, 17, [](const auto& row) { return row.at("group") == "v08_missed"; });
}

TEST(BugsOf08, ScheduleALogicalNotIsPaddedWithFalse) {
  Net net;
  std::vector<double> values, expected(2);
  for (int k = 0; k < 20; k++) values.push_back(k % 3 == 0);
  for (const double v : values) expected.push_back(1 - v);
  expected.push_back(0);
  const Tensor x = net.input(DType::Bool, {20}, values);
  net.expect(x.logical_not().pad({{2, 1}}), expected);
  net.expect(x.neg().pad({{2, 1}}), expected);
}

// There: softmax, log_softmax and layer norm 3 kernels each, exp twice; argmax 3; attention 5, causal 8; sum and max of one input 2.
TEST(BugsOf08, ScheduleFusesReductionsAndOutputs) {
  Net net;
  const Tensor x = net.input(DType::Float32, {4, 8}, std::vector<double>(32, 1));
  for (const Tensor& y : {x.softmax(1), x.log_softmax(1), x.layernorm(1, 1e-5), x.argmax(1, false)}) EXPECT_EQ(net.kernels(y), 1u);
  EXPECT_EQ(test::count_ops(net.schedule({x.softmax(1)}), Op::ExpNonPos), 1);
  EXPECT_EQ(test::count_of(net.source({x.softmax(1)}, test::plain()), "etch_exp_nonpos_f32("), 1) << "once for each element";
  EXPECT_EQ(net.schedule({x.sum({1}), x.max({1})}).items.size(), 1u);
  const Tensor q = net.input(DType::Float32, {5, 4}, std::vector<double>(20, 1)),
               k = net.input(DType::Float32, {5, 4}, std::vector<double>(20, 1)),
               v = net.input(DType::Float32, {5, 4}, std::vector<double>(20, 1));
  const Tensor scores = q.matmul(k.transpose()) * 0.5;
  EXPECT_LE(net.kernels(scores.softmax(1).matmul(v)), 3u);
  const Tensor seen = Tensor::full(*net.graph, {5, 5}, Scalar::of_int(DType::Bool, 1)).tril();
  EXPECT_LE(net.kernels(seen.where(scores, scores.full_like(-INFINITY)).softmax(1).matmul(v)), 3u);
}

TEST(BugsOf08, CComputesInTheTypeOfEachResult) {
  Net net;
  const auto one = [&](DType dtype, double value) { return net.input(dtype, {1}, {value}); };
  net.expect(one(DType::UInt8, 200) + one(DType::UInt8, 100) < one(DType::UInt8, 50), {1});  // 44 < 50
  net.expect((one(DType::Int8, 100) + one(DType::Int8, 100)).cast(DType::Int32), {-56});
  net.expect((one(DType::Int16, 300) * one(DType::Int16, 300)).cast(DType::Int64), {90000 - 65536});
  net.expect(Tensor::binary(Op::Shl, one(DType::UInt8, 255), one(DType::UInt8, 4)).cast(DType::Int32), {240});
  const Tensor yes = one(DType::Bool, 1);
  net.expect((yes + yes).cast(DType::Int32), {1});  // numpy's: the sum of bools is a bool
  net.expect(yes.cast(DType::Int32) + yes.cast(DType::Int32), {2});
}

TEST(BugsOf08, CConstantsKeepTheirTypesDigits) {
  Net net;
  const Tensor d = net.input(DType::Float64, {1}, {1.0});
  net.expect(d * 0.1, {0.1});
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  const Tensor i = net.input(Array::of_ints(DType::Int64, {1}, std::vector<std::int64_t>{1}));
  const Tensor u = net.input(Array::of_ints(DType::UInt64, {1}, std::vector<std::int64_t>{0}));
  const std::vector<Tensor> sums{i * Tensor::full(*net.graph, {1}, Scalar::of_int(DType::Int64, kOdd)),
                                 u + Tensor::full(*net.graph, {1}, Scalar::of_int(DType::UInt64, -1))};
  for (const char* backend : {"interp", "c"}) {
    const std::vector<Array> got = net.run(backend, sums);
    EXPECT_EQ(got.at(0).int_at(0), kOdd) << backend;
    EXPECT_EQ(static_cast<std::uint64_t>(got.at(1).int_at(0)), 18446744073709551615U) << backend;
  }
}

TEST(BugsOf08, CCallsFloatFunctionsAndKeepsNaN) {
  Net net;
  const Tensor x = net.input(DType::Float32, {4}, {NAN, -1, 2, INFINITY});
  for (const Tensor& y : {x.sqrt(), x.sin(), x.exp2(), x.log2(), x.exp(), x.tanh(), x.erf()}) {
    const std::string text = net.source({y}, test::plain());
    for (const char* in_double : {"sqrt(", "sin(", "exp2(", "log2(", "exp(", "tanh(", "erf(", "double"})
      for (std::size_t at = text.find(in_double); at != std::string::npos; at = text.find(in_double, at + 1))
        EXPECT_TRUE(at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_')) << text;
  }
  net.expect(x.relu(), {NAN, 0, 2, INFINITY});
  const std::string text = net.source({x.exp().maximum(x.full_like(0.5))}, test::plain());
  EXPECT_EQ(test::count_of(text, "etch_exp_f32("), 1) << "an operand of max is computed once\n" << text;
}

TEST(BugsOf08, CHasVectorsStaticFunctionsAndHalf) {
  Net net;
  const Tensor x = net.input(DType::Float32, {64}, std::vector<double>(64, 0.5));
  CodegenOptions vectors;
  vectors.vector_bits = 256;
  vectors.register_tiles = true;
  const Tensor weight =
      Tensor::constant(*net.graph, Array::of_doubles(DType::Float32, {64, 16}, std::vector<double>(1024, 0.25)), "weight");
  EXPECT_NE(net.source({x.reshape({1, 64}).matmul(weight)}, vectors).find("etch_f32x8"), std::string::npos);
  EXPECT_TRUE(net.source({x * 2.0}).starts_with("static void "));
  // An index that 32 bits don't hold has 64.
  EXPECT_NE(net.source({x.reshape({64, 1}).expand({64, std::int64_t{1} << 33}).sum({1})}).find("for (int64_t k"), std::string::npos);
  EXPECT_EQ(net.source({x.sum()}).find("int64_t"), std::string::npos);
  // There, an expression of 300 operations nests too deep for compilers.
  Tensor chain = x;
  double value = 0.5;
  for (int k = 0; k < 300; k++) {
    chain = k % 2 == 0 ? (chain + 1.0).relu() : chain * 0.5;
    value = k % 2 == 0 ? value + 1 : value * 0.5;
  }
  EXPECT_NEAR(net.run("c", {chain}).at(0).double_at(63), value, 1e-5);
  // Halves are what IEEE says on every machine: 1 + 2^-11 and its neighbours round to even, from double directly.
  const Tensor d = net.input(DType::Float64, {5}, {1.00048828125, 1.000488281250001, 1.00146484375, 65520, 3e-8});
  net.expect(d.cast(DType::Float16), {1, 1.0009765625, 1.001953125, INFINITY, 5.9604644775390625e-08});
  net.expect(d.cast(DType::BFloat16), {1, 1, 1, 65536, 0x1.02p-25});
  EXPECT_EQ(net.source({d.cast(DType::Float16)}).find("__fp16"), std::string::npos);
}

TEST(BugsOf08, CBordersOfAConvolutionAreNotATestForEachLoad) {
  Net net;
  const std::int64_t n = 40;
  std::vector<double> image(static_cast<std::size_t>(n * n)), expected;
  for (std::size_t k = 0; k < image.size(); k++) image[k] = static_cast<double>(k * 7 % 11) - 5;
  const Tensor x = net.input(DType::Float32, {1, 1, n, n}, image);
  const Tensor w =
      Tensor::constant(*net.graph, Array::of_doubles(DType::Float32, {1, 1, 3, 3}, std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}), "w");
  for (std::int64_t r = 0; r < n; r++)
    for (std::int64_t c = 0; c < n; c++) {
      double sum = 0;
      for (std::int64_t i = 0; i < 9; i++) {
        const std::int64_t y = r + i / 3 - 1, z = c + i % 3 - 1;
        if (y >= 0 && y < n && z >= 0 && z < n) sum += image[static_cast<std::size_t>(y * n + z)] * static_cast<double>(i + 1);
      }
      expected.push_back(sum);
    }
  const Tensor y = x.conv(w, {}, {.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}});
  net.expect(y, expected);
  // There, each of the 36 loads of a tile of four has a test of its own, of row and column. Here a load in the middle of the tile tests no
  // column, the middle row tests nothing, and what a row tests is found out once for it. (Loops are not cut into an inside and borders.)
  const std::string text = net.source({y});
  const std::size_t row = text.find("for (int m"), column = text.find("for (int n_tile"), above = text.find("const bool m_above_0 =");
  ASSERT_NE(column, std::string::npos) << text;
  EXPECT_TRUE(row < above && above < column) << text;
  EXPECT_EQ(test::count_of(text, "in[at"), 18) << "a load serves several windows\n" << text;
  EXPECT_LE(test::count_of(text, " && "), 4) << text;
  EXPECT_GE(test::count_of(text, "= in[at"), 4) << text;
}

TEST(BugsOf08, UopANegatedBoolIsItsOpposite) {
  Net net;
  for (const bool value : {false, true}) {
    const Tensor known = Tensor::full(*net.graph, {2}, Scalar::of_int(DType::Bool, value ? 1 : 0));
    EXPECT_EQ(known.neg().evaluate()->doubles(), std::vector<double>(2, value ? 0 : 1));
    // In a kernel the constant meets the loaded value as UOps.
    const Tensor x = net.input(DType::Bool, {2}, {0, 1});
    net.expect(Tensor::binary(Op::CmpEq, x, known.neg()), value ? std::vector<double>{1, 0} : std::vector<double>{0, 1});
    net.expect(Tensor::binary(Op::Or, known.pad({{1, 1}}).neg(), net.input(DType::Bool, {4}, {0, 0, 0, 0})),
               {1, value ? 0.0 : 1.0, value ? 0.0 : 1.0, 1});
  }
}

}  // namespace
}  // namespace etch
