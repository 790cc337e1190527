// RNN, GRU and LSTM against loops over the definition in double: directions, lengths, layout, peepholes, clips, variants.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "program/lower.h"
#include "program/program.h"
#include "schedule/schedule.h"
#include "support/node_model.h"
#include "support/recurrent.h"

namespace etch {
namespace {

using test::Attributes;
using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;

using test::Doubles;
using test::known_model;
using test::KnownModel;
using test::random_values;
using Options = test::RecurrentOptions;

void expect_as_defined(const Options& o) {
  const KnownModel known = known_model(o);
  expect_node(known.model, known.wanted, 1e-5, 1e-5);
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
    const ImportedModel imported =
        import_onnx({.bytes = bytes_of_lstm(steps, batch), .target = {.may_take_memory = may_take_memory}, .name = "n"});
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
