// RNN, GRU and LSTM against loops over the definition in double: directions, lengths, layout, peepholes, clips, variants.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "program/lower.h"
#include "program/program.h"
#include "schedule/schedule.h"
#include "support/node_model.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using Doubles = std::vector<double>;

constexpr std::int64_t B = 2, I = 3, H = 2;

struct Options {
  std::string op;
  bool bidirectional = false, reverse = false, lengths = false, batch_first = false;
  bool peepholes = false, input_forget = false, reset_after = false;
  double clip = 0;
  std::int64_t steps = 8;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Weights {
  std::int64_t gates, directions;
  Doubles x, w, r, b, h0, c0, p;
  std::vector<std::int64_t> lengths;
};

Doubles random_values(std::mt19937& random, std::int64_t n) {
  Doubles values(static_cast<std::size_t>(n));
  for (double& v : values) v = static_cast<double>(static_cast<float>(static_cast<double>(random() % 2001) / 1000 - 1));
  return values;
}

/// The definition, one batch element and direction: y [T, H] and the last h and c.
struct Result {
  Doubles y, h, c;
};

Result run(const Options& o, const Weights& k, std::int64_t d, std::int64_t b, bool backward) {
  const std::int64_t T = o.steps, G = k.gates, width = G * H, length = k.lengths[static_cast<std::size_t>(b)];
  const auto at = [](const Doubles& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  const auto squash = [&](double x) { return o.clip > 0 ? std::max(-o.clip, std::min(o.clip, x)) : x; };
  Result s{Doubles(static_cast<std::size_t>(T * H), 0), {}, {}};
  for (std::int64_t j = 0; j < H; j++) {
    s.h.push_back(at(k.h0, (d * B + b) * H + j));
    s.c.push_back(at(k.c0, (d * B + b) * H + j));
  }
  for (std::int64_t step = 0; step < length; step++) {
    const std::int64_t t = backward ? length - 1 - step : step;
    const Doubles before = s.h;
    const auto input = [&](std::int64_t g, std::int64_t j) {
      double sum = at(k.b, d * 2 * width + g * H + j);
      for (std::int64_t i = 0; i < I; i++) sum += at(k.x, (t * B + b) * I + i) * at(k.w, (d * width + g * H + j) * I + i);
      return sum;
    };
    const auto state = [&](std::int64_t g, std::int64_t j, const Doubles& h) {
      double sum = at(k.b, d * 2 * width + width + g * H + j);
      for (std::int64_t i = 0; i < H; i++) sum += h[static_cast<std::size_t>(i)] * at(k.r, (d * width + g * H + j) * H + i);
      return sum;
    };
    const auto peep = [&](std::int64_t g, std::int64_t j, double c) { return o.peepholes ? at(k.p, d * 3 * H + g * H + j) * c : 0; };
    Doubles gated(static_cast<std::size_t>(H));  // GRU: r * h
    for (std::int64_t j = 0; j < H && o.op == "GRU"; j++) {
      gated[static_cast<std::size_t>(j)] = sigmoid(squash(input(1, j) + state(1, j, before))) * before[static_cast<std::size_t>(j)];
    }
    for (std::int64_t j = 0; j < H; j++) {
      double& h = s.h[static_cast<std::size_t>(j)];
      double& c = s.c[static_cast<std::size_t>(j)];
      if (o.op == "RNN") h = std::tanh(squash(input(0, j) + state(0, j, before)));
      if (o.op == "GRU") {
        const double z = sigmoid(squash(input(0, j) + state(0, j, before))), r = sigmoid(squash(input(1, j) + state(1, j, before)));
        const double candidate = std::tanh(squash(input(2, j) + (o.reset_after ? r * state(2, j, before) : state(2, j, gated))));
        h = (1 - z) * candidate + z * before[static_cast<std::size_t>(j)];
      }
      if (o.op == "LSTM") {
        const double i = sigmoid(squash(input(0, j) + state(0, j, before) + peep(0, j, c)));
        const double f = o.input_forget ? 1 - i : sigmoid(squash(input(2, j) + state(2, j, before) + peep(2, j, c)));
        c = f * c + i * std::tanh(squash(input(3, j) + state(3, j, before)));
        h = sigmoid(squash(input(1, j) + state(1, j, before) + peep(1, j, c))) * std::tanh(c);
      }
      s.y[static_cast<std::size_t>(t * H + j)] = h;
    }
  }
  return s;
}

void expect_as_defined(const Options& o) {
  std::mt19937 random(11);
  const std::int64_t T = o.steps;
  Weights k{o.op == "RNN" ? 1 : o.op == "GRU" ? 3 : 4, o.bidirectional ? 2 : 1, {}, {}, {}, {}, {}, {}, {}, {T, o.lengths ? 2 : T}};
  const std::int64_t D = k.directions, width = k.gates * H;
  k.x = random_values(random, T * B * I);
  k.w = random_values(random, D * width * I);
  k.r = random_values(random, D * width * H);
  k.b = random_values(random, D * 2 * width);
  k.h0 = random_values(random, D * B * H);
  k.c0 = random_values(random, D * B * H);
  k.p = random_values(random, D * 3 * H);

  Doubles y(static_cast<std::size_t>(T * D * B * H)), h, c;
  for (std::int64_t d = 0; d < D; d++)
    for (std::int64_t b = 0; b < B; b++) {
      const Result s = run(o, k, d, b, o.reverse || d == 1);
      for (std::int64_t t = 0; t < T; t++)
        for (std::int64_t j = 0; j < H; j++)
          y[static_cast<std::size_t>(((t * D + d) * B + b) * H + j)] = s.y[static_cast<std::size_t>(t * H + j)];
      h.insert(h.end(), s.h.begin(), s.h.end());
      c.insert(c.end(), s.c.begin(), s.c.end());
    }
  // layout 1 swaps batch to the front
  const auto batch_first = [&](const Doubles& v, std::int64_t outer, std::int64_t inner) {
    Doubles swapped(v.size());
    for (std::int64_t a = 0; a < outer; a++)
      for (std::int64_t b = 0; b < B; b++)
        for (std::int64_t i = 0; i < inner; i++)
          swapped[static_cast<std::size_t>((b * outer + a) * inner + i)] = v[static_cast<std::size_t>((a * B + b) * inner + i)];
    return swapped;
  };
  const auto laid = [&](const Doubles& v, std::int64_t outer, std::int64_t inner) {
    return o.batch_first ? batch_first(v, outer, inner) : v;
  };
  const auto shape = [&](std::vector<std::int64_t> s) {
    if (o.batch_first) s = s.size() == 4 ? std::vector<std::int64_t>{s[2], s[0], s[1], s[3]} : std::vector<std::int64_t>{s[1], s[0], s[2]};
    return s;
  };
  test::NodeModel m{
      o.op,
      14,
      {floats(shape({T, B, I}), laid(k.x, T, I)), floats({D, width, I}, k.w), floats({D, width, H}, k.r), floats({D, 2 * width}, k.b),
       o.lengths ? ints({B}, k.lengths, DType::Int32) : Array(), floats(shape({D, B, H}), laid(k.h0, D, H))}};
  std::vector<Array> wanted{floats(shape({T, D, B, H}), laid(y, T * D, H)), floats(shape({D, B, H}), laid(h, D, H))};
  if (o.op == "LSTM") {
    m.inputs.push_back(floats(shape({D, B, H}), laid(k.c0, D, H)));
    if (o.peepholes) m.inputs.push_back(floats({D, 3 * H}, k.p));
    wanted.push_back(floats(shape({D, B, H}), laid(c, D, H)));
    m.attributes.emplace_back("input_forget", std::int64_t{o.input_forget});
  }
  m.attributes.emplace_back("hidden_size", H);
  if (o.bidirectional || o.reverse) m.attributes.emplace_back("direction", o.reverse ? "reverse" : "bidirectional");
  if (o.batch_first) m.attributes.emplace_back("layout", std::int64_t{1});
  if (o.clip > 0) m.attributes.emplace_back("clip", o.clip);
  if (o.op == "GRU") m.attributes.emplace_back("linear_before_reset", std::int64_t{o.reset_after});
  expect_node(m, wanted, 1e-5, 1e-5);
}

TEST(OnnxRecurrent, FollowsTheDefinition) {
  for (const char* op : {"RNN", "GRU", "LSTM"}) {
    for (std::int64_t steps : {1, 4, 7, 8, 10}) expect_as_defined({.op = op, .steps = steps});
    expect_as_defined({.op = op, .bidirectional = true, .lengths = true, .steps = 7});
    expect_as_defined({.op = op, .reverse = true});
    expect_as_defined({.op = op, .bidirectional = true});
    expect_as_defined({.op = op, .lengths = true});
    expect_as_defined({.op = op, .reverse = true, .lengths = true});
    expect_as_defined({.op = op, .bidirectional = true, .lengths = true, .batch_first = true, .clip = 0.3});
    expect_as_defined({.op = op, .batch_first = true});
  }
  expect_as_defined({.op = "GRU", .reset_after = true});
  expect_as_defined({.op = "GRU", .bidirectional = true, .reset_after = true, .clip = 0.5});
  expect_as_defined({.op = "LSTM", .peepholes = true});
  expect_as_defined({.op = "LSTM", .bidirectional = true, .peepholes = true, .input_forget = true});
}

TEST(OnnxRecurrent, ActivationsTakeTheirParametersInOrder) {
  // one step, one unit, no state: y = activation(2)
  const auto y = [](const std::string& name, Attributes more, double wanted) {
    more.emplace_back("activations", std::vector<std::string>{name});
    expect_node({"RNN", 14, {floats({1, 1, 1}, {2}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {1})}, more},
                {floats({1, 1, 1, 1}, {wanted})});
  };
  using Values = std::vector<double>;
  y("Affine", {{"activation_alpha", Values{3}}, {"activation_beta", Values{0.5}}}, 6.5);
  y("ScaledTanh", {{"activation_alpha", Values{3}}, {"activation_beta", Values{0.5}}}, 3 * std::tanh(1));
  y("HardSigmoid", {}, 0.9);
  y("ThresholdedRelu", {{"activation_alpha", Values{2}}}, 0);
  y("Softsign", {}, 2.0 / 3);
  expect_refused({"RNN",
                  14,
                  {floats({1, 1, 1}, {2}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {1})},
                  {{"activations", std::vector<std::string>{"Gelu"}}}},
                 "accepted are Affine");
  expect_refused({"RNN", 14, {floats({1, 1, 1}, {2}), floats({1, 1, 1}, {1}), floats({1, 1, 1}, {1})}, {{"activation_alpha", Values{2}}}},
                 "more values");
  expect_refused({"LSTM", 14, {floats({1, 1, 1}, {2}), floats({1, 4, 1}, {1, 1, 1, 1}), floats({1, 3, 1}, {1, 1, 1})}},
                 "its weight R has the shape");
}

// A sequence of open length gives for each length what the network of that length gives.
TEST(OnnxRecurrent, AnyNumberOfSteps) {
  std::mt19937 random(5);
  constexpr std::int64_t kMost = 6, kWidth = 3, kUnits = 2;
  for (const std::string op : {"RNN", "GRU", "LSTM"}) {
    const std::int64_t gates = op == "RNN" ? 1 : op == "GRU" ? 3 : 4;
    const Doubles x = random_values(random, kMost * 2 * kWidth);
    const auto fixed = [&](std::int64_t steps) -> test::NodeModel {
      const Doubles part(x.begin(), x.begin() + steps * 2 * kWidth);
      std::mt19937 weights(6);
      return {op,
              14,
              {floats({steps, 2, kWidth}, part), floats({2, gates * kUnits, kWidth}, random_values(weights, 2 * gates * kUnits * kWidth)),
               floats({2, gates * kUnits, kUnits}, random_values(weights, 2 * gates * kUnits * kUnits))},
              {{"direction", std::string("bidirectional")}}};
    };
    onnx::ModelProto model;
    model.ParseFromString(test::bytes_of(fixed(kMost)));
    model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("T");
    const ImportedModel open = import_onnx({.bytes = model.SerializeAsString(), .dims = {{"T", 1, kMost}}, .name = "n"});
    for (std::int64_t steps = 1; steps <= kMost; steps++) {
      const test::NodeModel m = fixed(steps);
      const std::vector<Array> wanted = test::run_node(m),
                               got = test::evaluate_model(open, {{"x0", m.inputs[0]}}, {{open.dims.at(0).c_name, steps}});
      for (std::size_t i = 0; i < wanted.size(); i++)
        EXPECT_EQ(test::difference(got.at(i), wanted[i], 1e-5, 1e-6), "") << op << ", " << steps << " steps, output " << i;
    }
  }
}

std::string bytes_of_lstm(std::int64_t steps, std::int64_t batch) {
  std::mt19937 random(7);
  constexpr std::int64_t kWidth = 16, kUnits = 16;
  onnx::ModelProto model;
  model.ParseFromString(test::bytes_of({"LSTM",
                                        14,
                                        {floats({steps, batch, kWidth}, random_values(random, steps * batch * kWidth)),
                                         floats({1, 4 * kUnits, kWidth}, random_values(random, 4 * kUnits * kWidth)),
                                         floats({1, 4 * kUnits, kUnits}, random_values(random, 4 * kUnits * kUnits))},
                                        {}}));
  return model.SerializeAsString();
}

// Inputs of four steps are multiplied at once, in a loop in which one over the steps lies, without copies; with the least memory they are
// multiplied one by one.
TEST(OnnxRecurrent, InputsOfAFewStepsAreMultipliedAtOnce) {
  const auto lowered = [](std::int64_t steps, bool may_take_memory, std::int64_t batch = 1) {
    const ImportedModel imported = import_onnx({.bytes = bytes_of_lstm(steps, batch), .may_take_memory = may_take_memory, .name = "n"});
    return lower(imported.graph, create_schedule(*imported.graph, {{"y", imported.outputs.at(0).tensor}}), {});
  };
  const auto turns = [](const Program& program) {
    std::vector<std::int64_t> counts;
    for (const ProgramLoop& l : program.loops) counts.push_back(l.count.as_int());
    return counts;
  };
  const Program several = lowered(100, true);
  EXPECT_EQ(turns(several), (std::vector<std::int64_t>{25, 4})) << to_text(several);
  EXPECT_EQ(several.calls.size(), 5u) << "two starts, the product, the sum, the gates\n" << to_text(several);
  EXPECT_EQ(turns(lowered(100, false)), (std::vector<std::int64_t>{100}));
  EXPECT_EQ(turns(lowered(101, true)), (std::vector<std::int64_t>{101}));
  EXPECT_EQ(turns(lowered(9, true)), (std::vector<std::int64_t>{3, 3}));
  EXPECT_EQ(turns(lowered(100, true, 2)), (std::vector<std::int64_t>{25, 4})) << "two rows";
  EXPECT_EQ(turns(lowered(100, true, 3)), (std::vector<std::int64_t>{100})) << "three share the weights already";
}

TEST(OnnxRecurrent, EmptyBatchesAndInputs) {
  const Array recurrent = floats({1, 2, 2}, {0, 0, 0, 0}), bias = floats({1, 4}, {0.5, 0, 0, 0});
  expect_node({"RNN", 14, {floats({8, 0, 3}, {}), floats({1, 2, 3}, Doubles(6, 1)), recurrent, bias}}, {floats({8, 1, 0, 2}, {})});
  Doubles wanted;
  for (int t = 0; t < 8; t++) wanted.insert(wanted.end(), {std::tanh(0.5), 0});
  expect_node({"RNN", 14, {floats({8, 1, 0}, {}), floats({1, 2, 0}, {}), recurrent, bias}}, {floats({8, 1, 1, 2}, wanted)});
}

}  // namespace
}  // namespace etch
