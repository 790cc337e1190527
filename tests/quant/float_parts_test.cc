// Which nodes of a quantised network are named as computed in float: those between a conversion to float and a quantisation.
#include "quant/float_parts.h"

#include <gtest/gtest.h>

#include "quant/networks.h"

namespace etch::test::float_parts_test {
namespace {

using Names = std::vector<std::string>;

struct Row {
  const char* what;
  Value (*make)(Net&, const Value& x, const Value& y);  // of two values [2,4], dequantised
  Names of_bytes, of_words;                             // int8 and int16
};

Value named(Net& g, const char* op, const std::vector<Value>& inputs, const OnnxAttributes& attributes = {}) {
  return g.node(op, inputs, attributes, op);
}

const Row kRows[] = {
    {"nothing", [](Net&, const Value& x, const Value&) { return x; }, {}, {}},
    {"bounds and moves", [](Net& g, const Value& x, const Value&) { return named(g, "Transpose", {named(g, "Relu", {x})}); }, {}, {}},
    {"a function of one", [](Net& g, const Value& x, const Value&) { return named(g, "Sigmoid", {x}); }, {}, {}},
    {"two of them", [](Net& g, const Value& x, const Value&) { return named(g, "Tanh", {named(g, "Sigmoid", {x})}); }, {}, {}},
    {"a function whose slope has no bound",
     [](Net& g, const Value& x, const Value&) { return named(g, "Sqrt", {named(g, "Abs", {x})}); },
     {},
     {"Abs", "Sqrt"}},
    {"a product", [](Net& g, const Value& x, const Value& y) { return named(g, "Mul", {x, y}); }, {}, {}},
    {"a sum that no formula gives", [](Net& g, const Value& x, const Value& y) { return named(g, "Add", {x, y}); }, {"Add"}, {"Add"}},
    {"softmax", [](Net& g, const Value& x, const Value&) { return named(g, "Softmax", {x}); }, {}, {}},
    {"its logarithm", [](Net& g, const Value& x, const Value&) { return named(g, "LogSoftmax", {x}); }, {"LogSoftmax"}, {"LogSoftmax"}},
    {"normalization",
     [](Net& g, const Value& x, const Value&) {
       return named(g, "LayerNormalization", {x, g.constant(Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 2, 3, 4}))});
     },
     {},
     {}},
    {"a linear resize",
     [](Net& g, const Value& x, const Value&) {
       const Value scales = g.constant(Array::of_doubles(DType::Float32, {2}, std::vector<double>{1, 2}));
       const Value large = named(g, "Resize", {x, "", scales}, {{"mode", "linear"}});
       return g.node("Slice", {large, g.ints("from", {0}), g.ints("to", {4}), g.ints("axis", {1})});
     },
     {},
     {}},
    {"weights in float",
     [](Net& g, const Value& x, const Value&) {
       std::vector<double> weights;
       for (int i = 0; i < 16; i++) weights.push_back(i % 5 * 0.1 - 0.17);
       return named(g, "MatMul", {x, g.constant(Array::of_doubles(DType::Float32, {4, 4}, weights))});
     },
     {"MatMul"},
     {"MatMul"}},
};

Compiled compiled_net(const Row& row, DType dtype, bool ends_in_float) {
  Net g(21);
  const Value x = g.dequantise(g.input("x", dtype, {2, 4}), 0.05, 3, dtype),
              y = g.dequantise(g.input("y", dtype, {2, 4}), 0.031, -7, dtype);
  const Value result = row.make(g, x, y);
  if (ends_in_float)
    g.output(result, DType::Float32, {"a", "b"});
  else
    g.output(g.quantise(result, 0.06, -5, dtype), dtype, {"a", "b"});
  return compiled(g);
}

TEST(FloatParts, AreNamed) {
  for (const Row& row : kRows)
    for (const DType dtype : {DType::Int8, DType::Int16}) {
      SCOPED_TRACE(std::string(row.what) + " of " + std::string(name_of(dtype)));
      EXPECT_EQ(compiled_net(row, dtype, false).frontend.float_nodes, dtype == DType::Int8 ? row.of_bytes : row.of_words);
      EXPECT_EQ(compiled_net(row, dtype, true).frontend.float_nodes, Names()) << "an output in float is the model's own";
    }
}

TEST(FloatParts, StandInTheReport) {
  const Row* row = std::ranges::find(kRows, std::string_view("its logarithm"), [](const Row& r) { return std::string_view(r.what); });
  ASSERT_NE(row, std::end(kRows));
  const Compiled c = compiled_net(*row, DType::Int8, false);
  const Report report = compile_project(c.frontend, c.options).report;
  EXPECT_NE(to_text(report).find("In float between quantised values: LogSoftmax\n"), std::string::npos) << to_text(report);
  EXPECT_NE(to_json(report).find("\"float_nodes\": [\n  \"LogSoftmax\"\n ]"), std::string::npos) << to_json(report);
}

}  // namespace
}  // namespace etch::test::float_parts_test
