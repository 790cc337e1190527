// The operators of ai.onnx.preview.training: optimisers against their formulas, gradients against differences and formulas.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "onnx/operators.h"
#include "support/differences.h"
#include "support/expect_error.h"
#include "support/node_model.h"
#include "support/text_model.h"

namespace etch {
namespace {

using test::floats;
using test::ints;
using Doubles = std::vector<double>;
using ByName = std::map<std::string, Array>;

// --- optimisers

/// ONNX's pseudo code for one element: what X and what is kept beside it become.
Doubles adagrad_of(double r, double t, double x, double g, double h) {
  const double decay = 0.25, norm = 0.125, epsilon = 0.5;
  const double regularized = norm * x + g, sum = h + regularized * regularized;
  return {x - r / (1 + t * decay) * regularized / (std::sqrt(sum) + epsilon), sum};
}

Doubles adam_of(double r, double t, double x, double g, double v, double h) {
  const double alpha = 0.75, beta = 0.875, norm = 0.125, post = 0.25, epsilon = 0.5;
  const double regularized = norm * x + g;
  const double v_new = alpha * v + (1 - alpha) * regularized, h_new = beta * h + (1 - beta) * regularized * regularized;
  const double adjusted = t > 0 ? r * std::sqrt(1 - std::pow(beta, t)) / (1 - std::pow(alpha, t)) : r;
  return {(1 - post) * (x - adjusted * v_new / (std::sqrt(h_new) + epsilon)), v_new, h_new};
}

Doubles momentum_of(bool nesterov, double r, double t, double x, double g, double v) {
  const double alpha = 0.75, beta = 0.5, norm = 0.125;
  const double regularized = norm * x + g, v_new = alpha * v + (t > 0 ? beta : 1) * regularized;
  return {x - r * (nesterov ? regularized + alpha * v_new : v_new), v_new};
}

struct Optimiser {
  const char* op;
  std::size_t inputs;  // of one tensor
  test::Attributes attributes;
  Doubles (*update)(double r, double t, const Doubles& of_element);
};

const Optimiser kOptimisers[] = {
    {"Adagrad",
     3,
     {{"decay_factor", 0.25}, {"norm_coefficient", 0.125}, {"epsilon", 0.5}},
     [](double r, double t, const Doubles& e) { return adagrad_of(r, t, e[0], e[1], e[2]); }},
    {"Adam",
     4,
     {{"alpha", 0.75}, {"beta", 0.875}, {"norm_coefficient", 0.125}, {"norm_coefficient_post", 0.25}, {"epsilon", 0.5}},
     [](double r, double t, const Doubles& e) { return adam_of(r, t, e[0], e[1], e[2], e[3]); }},
    {"Momentum",
     3,
     {{"alpha", 0.75}, {"beta", 0.5}, {"norm_coefficient", 0.125}, {"mode", "standard"}},
     [](double r, double t, const Doubles& e) { return momentum_of(false, r, t, e[0], e[1], e[2]); }},
    {"Momentum",
     3,
     {{"alpha", 0.75}, {"beta", 0.5}, {"norm_coefficient", 0.125}, {"mode", "nesterov"}},
     [](double r, double t, const Doubles& e) { return momentum_of(true, r, t, e[0], e[1], e[2]); }},
};

const std::string kDomain(kTrainingDomain);

TEST(OnnxTraining, OptimisersOfTwoTensors) {
  const std::vector<std::vector<std::int64_t>> shapes = {{2, 3}, {4}};
  const double rate = 0.375;
  for (const Optimiser& o : kOptimisers)
    for (const DType dtype : {DType::Float32, DType::Float64})
      for (const std::int64_t t : {0, 1, 7}) {
        SCOPED_TRACE(std::string(o.op) + " " + std::string(name_of(dtype)) + ", T " + std::to_string(t));
        std::vector<Array> inputs{floats({}, {rate}, dtype), ints({}, {t})}, wanted;
        for (std::size_t n = 0; n < o.inputs; n++)
          for (std::size_t k = 0; k < shapes.size(); k++)
            inputs.push_back(floats(shapes[k], test::spread_values(shapes[k], 0.1, 2, static_cast<int>(n)).doubles(), dtype));
        const std::size_t kept = o.update(0, 0, Doubles(o.inputs, 1)).size();
        std::vector<std::vector<Doubles>> results(kept, std::vector<Doubles>(shapes.size()));
        for (std::size_t k = 0; k < shapes.size(); k++)
          for (std::int64_t i = 0; i < inputs[2 + k].size(); i++) {
            Doubles element;
            for (std::size_t n = 0; n < o.inputs; n++) element.push_back(inputs[2 + n * shapes.size() + k].double_at(i));
            const Doubles updated = o.update(rate, static_cast<double>(t), element);
            for (std::size_t n = 0; n < kept; n++) results[n][k].push_back(updated[n]);
          }
        for (std::size_t n = 0; n < kept; n++)
          for (std::size_t k = 0; k < shapes.size(); k++) wanted.push_back(floats(shapes[k], results[n][k], dtype));
        const double tolerance = dtype == DType::Float32 ? 1e-6 : 1e-14;
        test::expect_node({o.op, 17, inputs, o.attributes, 1, inputs.size(), kDomain}, wanted, tolerance, 0);
      }
}

TEST(OnnxTraining, OptimisersTakeWhatIsGivenAlone) {
  // Adam's defaults are ONNX's: alpha 0.9, beta 0.999, epsilon 1e-6, no norm. For the first G its step is R in G's direction.
  const Array zero = floats({2}, {0, 0}), x = floats({2}, {1, 1});
  test::expect_node({"Adam", 17, {floats({1}, {0.5}), ints({1}, {1}), x, floats({2}, {3, -3}), zero, zero}, {}, 1, 6, kDomain},
                    {floats({2}, {0.5, 1.5}), floats({2}, {0.3, -0.3}), floats({2}, {0.009, 0.009})}, 1e-5);
  // R of another type than X; alpha below 0.
  test::expect_node({"Adam",
                     17,
                     {floats({}, {0.5}, DType::Float64), ints({}, {3}), x, x, zero, x},
                     {{"alpha", -0.5}, {"beta", 0.0}, {"epsilon", 0.0}},
                     1,
                     6,
                     kDomain},
                    {floats({2}, {1 - 0.5 / 1.125 * 1.5, 1 - 0.5 / 1.125 * 1.5}), floats({2}, {1.5, 1.5}), x}, 1e-6);
}

TEST(OnnxTraining, OptimisersThatAreRefused) {
  const Array r = floats({}, {1}), t = ints({}, {0}), x = floats({2}, {1, 2}), y = floats({3}, {1, 2, 3});
  const test::Attributes momentum{{"alpha", 0.5}, {"beta", 0.5}, {"norm_coefficient", 0.0}, {"mode", "heavy"}};
  const struct {
    test::NodeModel node;
    const char* text;
  } rows[] = {
      {{"Adam", 17, {r, t, x, x, x}, {}, 1, 5, kDomain}, "it has 5 inputs; R, T and for each tensor X, G, V, H are expected"},
      {{"Adagrad", 17, {r, t}, {}, 1, 2, kDomain}, "it has 2 inputs"},
      {{"Adagrad", 17, {r, t, x, y, x}, {}, 1, 5, kDomain}, "its input 3 (G) is float32 [3], its input 2 (X) float32 [2]"},
      {{"Adagrad", 17, {x, t, x, x, x}, {}, 1, 5, kDomain}, "its R (input 0) has the shape [2]"},
      {{"Adagrad", 17, {r, r, x, x, x}, {}, 1, 5, kDomain}, "its input 1 is float32, Adagrad takes int64"},
      {{"Adagrad", 17, {r, t, x, x, x}, {{"alpha", 1.0}}, 1, 5, kDomain}, "attribute alpha is not supported"},
      {{"Adagrad", 17, {r, t, x, x, x}, {}, 3, 5, kDomain}, "its output 2 ('y2') is not supported"},
      {{"Momentum", 17, {r, t, x, x, x}, momentum, 1, 5, kDomain}, "attribute mode is 'heavy'; accepted are standard and nesterov"},
      {{"Momentum", 17, {r, t, x, x, x}, {}, 1, 5, kDomain}, "attribute alpha is missing"},
      {{"Adam", 13, {r, t, x, x, x, x}}, "operator 'Adam' is not supported at opset 13"},
      {{"Relu", 13, {x}, {}, 1, 1, kDomain}, "has no operator 'Relu'; it has Adagrad, Adam, Gradient, Momentum"},
  };
  for (const auto& row : rows) test::expect_refused(row.node, row.text);
}

// --- gradients

std::string bytes_of_text(const std::string& graph, int version = 1) {
  onnx::ModelProto model;
  const std::string header = R"(<ir_version: 8, opset_import: ["" : 17, "ai.onnx.preview.training" : )" + std::to_string(version) + "]>\n";
  std::string text = header + graph;
  for (std::size_t at = 0; (at = text.find("Gradient<", at)) != std::string::npos; at += kDomain.size() + 2) text.insert(at, kDomain + ".");
  const auto status = onnx::OnnxParser::Parse(model, text.c_str());
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  // The language has no word for an output that is left out.
  for (onnx::NodeProto& node : *model.mutable_graph()->mutable_node())
    for (std::string& name : *node.mutable_output())
      if (name == "unused") name.clear();
  return model.SerializeAsString();
}

/// The model's outputs by their names.
ByName run_text(const std::string& graph, const ByName& inputs) {
  const ImportedModel model = import_onnx({.bytes = bytes_of_text(graph), .name = "n"});
  const std::vector<Array> results = test::evaluate_model(model, inputs);
  ByName outputs;
  for (std::size_t i = 0; i < results.size(); i++) outputs.emplace(model.outputs[i].name, results[i]);
  return outputs;
}

double sum_of(const Array& a) {
  double sum = 0;
  for (const double value : a.doubles()) sum += value;
  return sum;
}

struct DifferentiatedCase {
  const char* name;
  std::map<std::string, std::vector<std::int64_t>> inputs;  // doubles
  const char* graph;                                        // its outputs are y and for inputs x the gradients d_x of y's sum
};

const DifferentiatedCase kDifferentiated[] = {
    {"ConvReluMatMul", {{"x", {1, 2, 4, 4}}, {"w", {3, 2, 3, 3}}, {"b", {3}}, {"m", {12, 2}}}, R"(
g (double[1,2,4,4] x, double[3,2,3,3] w, double[3] b, double[12,2] m) => (double[1,2] y, double[3,2,3,3] d_w, double[3] d_b, double[12,2] d_m) {
  c = Conv(x, w, b) r = Relu(c) f = Flatten(r) y = MatMul(f, m)
  d_w, d_b, d_m = Gradient<xs = ["w", "b", "m"], zs = ["x"], y = "y">(w, b, m, x)
})"},
    {"PoolNormSoftmax", {{"x", {1, 2, 4, 4}}, {"s", {2}}}, R"(
g (double[1,2,4,4] x, double[2] s) => (double y, double[1,2,4,4] d_x, double[2] d_s)
  <double[2] mean = {0.1, 0.2}, double[2] variance = {1.5, 0.7}> {
  n = BatchNormalization(x, s, mean, mean, variance) p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(n)
  a = Softmax<axis = 1>(p) t = Tanh(a) q = Mul(t, p) y = ReduceSum<keepdims = 0>(q)
  d_x, d_s = Gradient<xs = ["x", "s"], y = "y">(x, s)
})"},
    {"Recurrent", {{"x", {3, 1, 2}}, {"w", {1, 8, 2}}, {"r", {1, 8, 2}}}, R"(
g (double[3,1,2] x, double[1,8,2] w, double[1,8,2] r) => (double[3,1,1,2] y, double[3,1,2] d_x, double[1,8,2] d_w, double[1,8,2] d_r) {
  y = LSTM<hidden_size = 2>(x, w, r)
  d_x, d_w, d_r = Gradient<xs = ["x", "w", "r"], y = "y">(x, w, r)
})"},
    {"ShapesOfOthersAndSteps", {{"x", {2, 3}}}, R"(
g (double[2,3] x) => (double[6] y, double[2,3] d_x) <int64[1] flat = {6}, double k = {3.0}> {
  f = Floor(x) s = Exp(x) p = Sub(s, f) k2 = Add(k, k) q = Mul(p, k2) y = Reshape(q, flat)
  d_x = Gradient<xs = ["x"], y = "y">(x)
})"},
    {"ParametersThatFollow", {{"x", {2, 2}}, {"v", {2, 2}}}, R"(
g (double[2,2] x, double[2,2] v) => (double[2,2] y, double[2,2] d_x) {
  h = Sin(x) d_x = Gradient<xs = ["x"], zs = ["v"], y = "y">(x, v) a = Mul(h, v) y = Div(a, x)
})"},
    {"SecondOrder", {{"w", {3, 1}}, {"x", {2, 3}}, {"l", {2, 1}}}, R"(
g (double[3,1] w, double[2,3] x, double[2,1] l) => (double[3,1] y, double[2,3] d_x, double[3,1] d_w) {
  p = MatMul(x, w) t = Tanh(p) e = Sub(t, l) q = Mul(e, e) o = ReduceSum<keepdims = 0>(q)
  unused, y = Gradient<xs = ["x", "w"], zs = ["l"], y = "o">(x, w, l)
  d_x, d_w = Gradient<xs = ["x", "w"], zs = ["l"], y = "y">(x, w, l)
})"},
    {"ByWayOfWhatAGradientReads", {{"w", {3}}, {"b", {3}}}, R"(
g (double[3] w, double[3] b) => (double[3] y, double[3] d_b) {
  b2 = Exp(b) p = Mul(w, b2) o = Mul(p, p)
  y = Gradient<xs = ["w"], y = "o">(w)
  d_b = Gradient<xs = ["b"], y = "y">(b)
})"},
    {"ByWayOfAnOptimiser", {{"r", {1}}, {"w", {3}}}, R"(
g (double[1] r, double[3] w) => (double[3] y, double[1] d_r, double[3] d_w) <int64 t = {0}, double[3] h = {1, 2, 3}> {
  o = Exp(w) g = Gradient<xs = ["w"], y = "o">(w) y, v, k = ai.onnx.preview.training.Adam(r, t, w, g, h, h)
  d_r, d_w = Gradient<xs = ["r", "w"], y = "y">(r, w)
})"},
    {"WeightsOfTheFile", {{"x", {2}}}, R"(
g (double[2] x) => (double[4] y, double[2] d_x) <int64[4] places = {1, 0, 0, 1}> {
  t = Gather(x, places) c = CumSum(t, places0) y = Mul(c, t) places0 = Constant<value = int64 {0}>()
  d_x = Gradient<xs = ["x"], y = "y">(x)
})"},
};

class OnnxGradient : public testing::TestWithParam<DifferentiatedCase> {};
void PrintTo(const DifferentiatedCase& c, std::ostream* out) { *out << c.name; }

TEST_P(OnnxGradient, IsThatOfDifferences) {
  ByName at;
  for (const auto& [name, shape] : GetParam().inputs) at.emplace(name, test::spread_values(shape, 0.2, 1.7, static_cast<int>(at.size())));
  const ByName outputs = run_text(GetParam().graph, at);
  const ImportedModel model = import_onnx({.bytes = bytes_of_text(GetParam().graph), .name = "n"});
  int compared = 0;
  for (const auto& [name, value] : at) {
    const auto found = outputs.find("d_" + name);
    if (found == outputs.end()) continue;
    const Doubles wanted = test::derivatives(value, [&](const Array& changed) {
      ByName inputs = at;
      inputs.at(name) = changed;
      return sum_of(test::evaluate_tensors({model.outputs[0].tensor}, inputs)[0]);
    });
    EXPECT_EQ(test::difference(found->second, Array::of_doubles(DType::Float64, value.shape(), wanted), 1e-7, 1e-8), "") << name;
    compared++;
  }
  EXPECT_EQ(static_cast<std::size_t>(compared) + 1, outputs.size());
}

INSTANTIATE_TEST_SUITE_P(Cases, OnnxGradient, testing::ValuesIn(kDifferentiated),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(OnnxGradients, OfWhatIsInTheMiddle) {
  const ByName inputs{{"x", floats({2}, {1, 2})}, {"z", floats({2}, {3, 5})}, {"other", floats({2}, {7, 11})}};
  // y = h * h * z with h = exp(x), of which nothing is seen: the gradient is 2 h z, for the h and the z that are given.
  const ByName outputs = run_text(R"(
g (float[2] x, float[2] z, float[2] other) => (float[2] own, float[2] given, float[2] both) {
  h = Exp(x) s = Mul(h, h) y = Mul(s, z)
  own = Gradient<xs = ["h"], zs = ["z"], y = "y">(h, z)
  given = Gradient<xs = ["h"], y = "y">(other)
  both = Gradient<xs = ["h"], zs = ["z"], y = "y">(other, other)
})",
                                  inputs);
  EXPECT_EQ(test::difference(outputs.at("own"), floats({2}, {2 * std::exp(1.0) * 3, 2 * std::exp(2.0) * 5}), 1e-6, 0), "");
  EXPECT_EQ(test::difference(outputs.at("given"), floats({2}, {2 * 7 * 3, 2 * 11 * 5}), 1e-6, 0), "");
  EXPECT_EQ(test::difference(outputs.at("both"), floats({2}, {2 * 7 * 7, 2 * 11 * 11}), 1e-6, 0), "");
}

TEST(OnnxGradients, OfGradients) {
  // y = x^4: 4 x^3, 12 x^2, 24 x; then of the first one at another value.
  const ByName outputs = run_text(R"(
g (double[3] x, double[3] other) => (double[3] first, double[3] second, double[3] third, double[3] moved) {
  s = Mul(x, x) y = Mul(s, s)
  first = Gradient<xs = ["x"], y = "y">(x)
  second = Gradient<xs = ["x"], y = "first">(x)
  third = Gradient<xs = ["x"], y = "second">(x)
  moved = Gradient<xs = ["x"], y = "first">(other)
})",
                                  {{"x", floats({3}, {-1, 0.5, 2}, DType::Float64)}, {"other", floats({3}, {1, 2, 3}, DType::Float64)}});
  EXPECT_EQ(test::difference(outputs.at("first"), floats({3}, {-4, 0.5, 32}, DType::Float64), 1e-14, 0), "");
  EXPECT_EQ(test::difference(outputs.at("second"), floats({3}, {12, 3, 48}, DType::Float64), 1e-14, 0), "");
  EXPECT_EQ(test::difference(outputs.at("third"), floats({3}, {-24, 12, 48}, DType::Float64), 1e-14, 0), "");
  EXPECT_EQ(test::difference(outputs.at("moved"), floats({3}, {12, 48, 108}, DType::Float64), 1e-14, 0), "");
}

TEST(OnnxGradients, OfConstantsAndOfThemselves) {
  // The table and the matrix are in the file: their numbers alone would hide what depends on them.
  const ByName outputs = run_text(R"(
g (float[3] x) => (float[2] d_table, float[2,2] d_matrix, float[3] itself, float[3] zero)
  <float[2] table = {2, 3}, float[2,2] matrix = {1, 2, 3, 5}, int64[3] places = {1, 0, 1}> {
  t = Gather(table, places) y = Mul(t, x) d = Det(matrix)
  d_table = Gradient<xs = ["table"], y = "y">(table)
  d_matrix = Gradient<xs = ["matrix"], y = "d">(matrix)
  itself = Gradient<xs = ["y"], y = "y">(x)
  f = Floor(x) zero = Gradient<xs = ["x"], y = "f">(x)
})",
                                  {{"x", floats({3}, {10, 20, 30})}});
  EXPECT_EQ(test::difference(outputs.at("d_table"), floats({2}, {20, 40}), 1e-6, 0), "");
  EXPECT_EQ(test::difference(outputs.at("d_matrix"), floats({2, 2}, {5, -3, -2, 1}), 1e-6, 0), "");
  EXPECT_EQ(test::difference(outputs.at("itself"), floats({3}, {1, 1, 1}), 0, 0), "");
  EXPECT_EQ(test::difference(outputs.at("zero"), floats({3}, {0, 0, 0}), 0, 0), "");
}

TEST(OnnxGradients, LeavesOutWhatIsNotAskedFor) {
  // An empty name is no value: not the first output, nor what another node leaves out.
  const ByName outputs = run_text(R"(
g (float[3] x, float[3] w, float[3] v) => (float[3] d_w) {
  a = Mul(x, w) y = Mul(a, v) unused, d_w, unused = Gradient<xs = ["x", "w", "v"], y = "y">(x, w, v)
})",
                                  {{"x", floats({3}, {1, 2, 3})}, {"w", floats({3}, {0, 0, 0})}, {"v", floats({3}, {2, 2, 2})}});
  EXPECT_EQ(test::difference(outputs.at("d_w"), floats({3}, {2, 4, 6}), 0, 0), "");
}

TEST(OnnxGradients, StaysAConstantOutside) {
  // The gradient of 3 x is 3, which Reshape and Pad need as a number.
  const ByName outputs = run_text(R"(
g (float[2] x) => (float[4] y) <float c = {1}, float three = {3}, int64[2] pads = {1, 1}> {
  p = Mul(c, three) d = Gradient<xs = ["c"], y = "p">(c) y = Pad(x, pads, d)
})",
                                  {{"x", floats({2}, {1, 2})}});
  EXPECT_EQ(test::difference(outputs.at("y"), floats({4}, {3, 1, 2, 3}), 0, 0), "");
}

struct RefusedGradient {
  const char* nodes;
  const char* text;
};

const RefusedGradient kRefused[] = {
    {R"(h = Exp(x) d = Gradient<xs = ["q"], y = "h">(x))", "model: node 'd' (Gradient): it names 'q', which is no value of the graph"},
    {R"(d = Gradient<xs = ["x"], y = "q">(x))", "node 'd' (Gradient): it names 'q', which is no value of the graph"},
    {R"(h = Exp(x) d = Gradient<xs = ["x", "w"], y = "h">(x, w))", "'h' is not computed from 'w'"},
    {R"(h = Exp(x) d = Gradient<xs = ["x"], zs = ["i"], y = "h">(x, i))", "'h' is not computed from 'i'"},
    {R"(h = Exp(x) a = Sin(h) y = Mul(a, x) d = Gradient<xs = ["x", "h"], y = "y">(x, h))", "'h' is computed from 'x'"},
    {R"(y = Mul(x, x) d = Gradient<xs = ["x"], zs = ["x"], y = "y">(x, x))", "a value stands twice in xs and zs"},
    {R"(y = Mul(x, w) d = Gradient<xs = ["x", "w"], y = "y">(x))", "it has 1 inputs, xs and zs name 2 values"},
    {R"(y = Mul(x, w) d, e = Gradient<xs = ["x"], y = "y">(x))", "it has 2 outputs, xs names 1 values"},
    {R"(y = Mul(x, w) d = Gradient<xs = ["x"]>(x))", "attribute y is missing"},
    {R"(y = Mul(x, w) d = Gradient<y = "y">(x))", "attribute xs is missing"},
    {R"(y = ArgMax(x) d = Gradient<xs = ["x"], y = "y">(x))", "node 'd' (Gradient): its y 'y' is int64"},
    {R"(y = Gather(x, i) d = Gradient<xs = ["x", "i"], y = "y">(x, i))", "its input 1 ('i' in xs) is int64, only floats have gradients"},
    {R"(y = Gather(x, i) d = Gradient<xs = ["x"], zs = ["i"], y = "y">(x, x))", "node 'y' (Gather): its input 1 is float32"},
    {R"(y = Mul(x, g) g = Exp(d) d = Gradient<xs = ["x"], y = "y">(x))", "the graph has a cycle: "},
    {R"(y = Mul(d, x) d = Gradient<xs = ["x"], y = "y">(x))", "and a Gradient comes after what it differentiates"},
    {R"(p = ReduceProd(x) e = Gradient<xs = ["x"], y = "p">(x) d = Gradient<xs = ["x"], y = "e">(x))",
     "node 'd' (Gradient): the gradient of RunningProduct (node 'p backward') is not defined"},
    {R"(k = Exp(s) y = Pad(x, pads, k) d = Gradient<xs = ["s"], y = "y">(s))", "node 'y' (Pad): its"},
    {R"(b = Frobnicate(x) d = Gradient<xs = ["x"], y = "b">(x))", "operator 'Frobnicate' is not supported"},
};

TEST(OnnxGradients, Refused) {
  for (const RefusedGradient& row : kRefused) {
    const std::string graph = "g (float[2] x, float[2] w, int64[1] i) => (float[N] d) <float s = {1}, int64[2] pads = {1, 1}> {\n" +
                              std::string(row.nodes) + "\n}";
    SCOPED_TRACE(row.nodes);
    test::expect_error<UserError>([&] { import_onnx({.bytes = bytes_of_text(graph), .name = "n"}); }, row.text);
  }
  const std::string graph = R"(g (float[2] x) => (float[2] d) { y = Exp(x) d = Gradient<xs = ["x"], y = "y">(x) })";
  test::expect_error<UserError>([&] { import_onnx({.bytes = bytes_of_text(graph, 2), .name = "n"}); },
                                "the model uses version 2 of its domain ai.onnx.preview.training");
}

TEST(OnnxGradients, NestAsDeepAsAnybodyNeeds) {
  std::string nodes = "y0 = Exp(x)\n";
  for (int i = 0; i < 12; i++) nodes += "y" + std::to_string(i + 1) + " = Gradient<xs = [\"x\"], y = \"y" + std::to_string(i) + "\">(x)\n";
  const auto graph = [&](int order) { return "g (double[1] x) => (double[1] y" + std::to_string(order) + ") {\n" + nodes + "}"; };
  test::expect_error<UserError>([&] { import_onnx({.bytes = bytes_of_text(graph(12)), .name = "n"}); }, "levels deep");
  nodes = nodes.substr(0, nodes.find("y7 ="));
  const ByName outputs = run_text(graph(6), {{"x", floats({1}, {0.5}, DType::Float64)}});
  EXPECT_EQ(test::difference(outputs.at("y6"), floats({1}, {std::exp(0.5)}, DType::Float64), 1e-14, 0), "");
}

}  // namespace
}  // namespace etch
