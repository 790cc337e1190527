// RNN, GRU and LSTM: a loop over the steps of the sequence. Inputs of a few steps are multiplied by their weights at once, so that these
// are read once for all of them; the product for the whole sequence would be no faster and take memory that grows with it.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "ir/lazyop.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

struct ActivationRow {
  const char* name;
  int parameters;      // how many of alpha, beta it has
  double alpha, beta;  // ONNX's defaults, float32 as there
  Tensor (*function)(const Tensor& x, double alpha, double beta);
};

constexpr ActivationRow kActivations[] = {
    {"Affine", 2, 1, 0, [](const Tensor& x, double a, double b) { return x * a + b; }},
    {"Elu", 1, 1, 0, [](const Tensor& x, double a, double) { return x.elu(a); }},
    {"HardSigmoid", 2, 0.2f, 0.5, [](const Tensor& x, double a, double b) { return x.hardsigmoid(a, b); }},
    {"LeakyRelu", 1, 0.01f, 0, [](const Tensor& x, double a, double) { return x.leaky_relu(a); }},
    {"Relu", 0, 0, 0, [](const Tensor& x, double, double) { return x.relu(); }},
    {"ScaledTanh", 2, 1, 1, [](const Tensor& x, double a, double b) { return (x * b).tanh() * a; }},
    {"Sigmoid", 0, 0, 0, [](const Tensor& x, double, double) { return x.sigmoid(); }},
    {"Softplus", 0, 0, 0, [](const Tensor& x, double, double) { return x.softplus(); }},
    {"Softsign", 0, 0, 0, [](const Tensor& x, double, double) { return x.softsign(); }},
    {"Tanh", 0, 0, 0, [](const Tensor& x, double, double) { return x.tanh(); }},
    {"ThresholdedRelu", 1, 1, 0, [](const Tensor& x, double a, double) { return (number(x, a) < x).where(x, number(x, 0)); }},
};

struct Activation {
  const ActivationRow* row = nullptr;
  double alpha = 0, beta = 0;

  Tensor operator()(const Tensor& x) const { return row->function(x, alpha, beta); }
};

/// One direction of a layer.
struct Layer {
  std::int64_t hidden = 0;
  Tensor recurrent;       // [H, gates * H]
  Tensor recurrent_bias;  // [H] of GRU's last gate, if it is added before the reset; else empty
  Tensor peepholes;       // [3 * H] of LSTM, or empty
  std::vector<Activation> activations;
  double clip = 0;  // 0: none
  bool input_forget = false;
  std::int64_t outputs_at_once = 0;  // of the first product of a step with its state

  /// Activation number `which` of `x`, which is clipped first.
  Tensor apply(std::size_t which, const Tensor& x) const { return activations[which](clip > 0 ? x.clip(-clip, clip) : x); }
  Tensor gate(const Tensor& x, std::int64_t k) const { return x.slice(-1, k * hidden, (k + 1) * hidden); }
};

struct State {
  Tensor h, c;  // c of LSTM only
};

/// One step: `x` [B, gates * H] is input times weights plus biases.
using CellStep = State (*)(const Layer&, const Tensor& x, const State&);

State rnn_step(const Layer& layer, const Tensor& x, const State& state) {
  return {layer.apply(0, x + state.h.matmul(layer.recurrent)), Tensor()};
}

// Gates: update z, reset r, hidden h.
State gru_step(const Layer& layer, const Tensor& x, const State& state) {
  const std::int64_t size = layer.hidden;
  const Tensor rows = layer.recurrent.transpose();
  const Tensor early = as_own_constant(rows.slice(0, 0, 2 * size)).transpose(),
               late = as_own_constant(rows.slice(0, 2 * size, 3 * size)).transpose();
  const Tensor gates = layer.apply(0, x.slice(-1, 0, 2 * size) + state.h.matmul(early));
  const Tensor z = layer.gate(gates, 0), r = layer.gate(gates, 1);
  const Tensor from_state = layer.recurrent_bias ? r * (state.h.matmul(late) + layer.recurrent_bias) : (r * state.h).matmul(late);
  const Tensor h = layer.apply(1, layer.gate(x, 2) + from_state);
  return {(number(z, 1) - z) * h + z * state.h, Tensor()};
}

// Gates: input i, output o, forget f, cell c. Peepholes: i, o, f.
State lstm_step(const Layer& layer, const Tensor& x, const State& state) {
  const Tensor sum = x + state.h.matmul(layer.recurrent);
  const auto seen = [&](std::int64_t gate, const Tensor& cell) {
    const Tensor own = layer.gate(sum, gate);
    return layer.peepholes ? own + layer.gate(layer.peepholes, gate) * cell : own;
  };
  const Tensor i = layer.apply(0, seen(0, state.c));
  const Tensor f = layer.input_forget ? number(i, 1) - i : layer.apply(0, seen(2, state.c));
  const Tensor c = f * state.c + i * layer.apply(1, layer.gate(sum, 3));
  const Tensor o = layer.apply(0, seen(1, c));
  // h = o * activation(c) without clipping, which applies to the gates' inputs only.
  return {o * layer.activations[2](c), c};
}

struct Family {
  std::int64_t gates;
  std::vector<std::string> activations;  // defaults of one direction
  CellStep step;
  bool has_cell;
};

const ActivationRow& activation_row(const NodeContext& node, const std::string& name) {
  std::string accepted;
  for (const ActivationRow& row : kActivations) {
    if (name == row.name) return row;
    accepted += (accepted.empty() ? "" : ", ") + std::string(row.name);
  }
  node.fail("an activation is '" + name + "'", "accepted are " + accepted);
  return kActivations[0];
}

/// The activations of all directions, one after the other. The lists of alphas and betas hold values only for functions that have them.
std::vector<Activation> read_activations(NodeContext& node, const Family& family, std::size_t directions) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < directions; d++) names.insert(names.end(), family.activations.begin(), family.activations.end());
  const std::size_t count = names.size();
  names = node.attribute_strings("activations", names);
  if (names.size() != count)
    node.fail("attribute activations has " + std::to_string(names.size()) + " names, " + std::to_string(count) + " are expected");
  const std::vector<double> alphas = node.attribute_floats("activation_alpha", std::vector<double>{});
  const std::vector<double> betas = node.attribute_floats("activation_beta", std::vector<double>{});
  std::size_t alpha = 0, beta = 0;
  std::vector<Activation> result;
  for (const std::string& name : names) {
    const ActivationRow& row = activation_row(node, name);
    Activation f{&row, row.alpha, row.beta};
    if (row.parameters > 0 && alpha < alphas.size()) f.alpha = alphas[alpha++];
    if (row.parameters > 1 && beta < betas.size()) f.beta = betas[beta++];
    result.push_back(f);
  }
  if (alpha < alphas.size() || beta < betas.size())
    node.fail("activation_alpha or activation_beta has more values than the activations take");
  return result;
}

/// Reverses the first `length` elements of each sequence and keeps the rest; x [T, B, ..], lengths [B] or empty (all of T).
Tensor turned(const Tensor& x, const Tensor& lengths) {
  if (!lengths) return x.flip({0});
  const Tensor length = lengths.cast(DType::Int64).reshape({1, x.dim(1), 1}), step = positions(x.graph(), x.dim(0), 0, 3);
  const Tensor source = (step < length).where(length - integer(length, 1) - step, step);
  return x.gather_elements(0, source.expand(x.shape()));
}

struct Run {
  Tensor y;  // [T, B, H]
  State last;
};

/// Of how many steps the inputs are multiplied at once, for x [T, B, I]: a divisor of their number, so that none is left over; 1 where T or
/// B is open. Rows of a batch share the weights as steps do, so from 3 rows on little is won.
std::int64_t steps_at_once(const NodeContext& node, const Tensor& x) {
  const Sint steps = x.dim(0), batch = x.dim(1);
  const bool is_trained = node.graph().tape().is_training();  // gradients go through one loop
  if (!node.target().may_take_memory || is_trained || !steps.is_int() || !batch.is_int() || batch.as_int() > 2) return 1;
  constexpr std::array<std::int64_t, 4> kSizes{4, 5, 3, 2};
  const auto divides = [&](std::int64_t size) { return steps.as_int() % size == 0; };
  const auto* const found = std::ranges::find_if(kSizes, divides);
  return found == kSizes.end() ? 1 : *found;
}

/// What one step does: number t, whose inputs were multiplied by their weights.
using Turn = std::function<LoopTurn(Sint t, const Tensor& inputs, const std::vector<Tensor>& now)>;

/// Whether each step multiplies a part of the inputs of the next `at_once` steps beside the product with its state, which waits for its
/// weights: where one kernel can do both, with sums about as long, and where the inputs of the first steps, and of as many behind the last,
/// are a small part of all.
bool multiplies_ahead(const NodeContext& node, const Layer& layer, const Tensor& x, const Tensor& weight, std::int64_t at_once) {
  constexpr std::int64_t kFewestBlocks = 6;
  const bool is_constant = is_given(layer.recurrent) && is_given(weight);
  if (!node.target().fit_together || at_once == 1 || !x.dim(1).is_int(1) || x.dtype() != DType::Float32 || !is_constant) return false;
  const std::int64_t inputs = weight.dim(0).as_int(), width = weight.dim(1).as_int();
  if (inputs == 0 || width % at_once != 0 || x.dim(0).as_int() < kFewestBlocks * at_once) return false;
  return node.target().fit_together(
      {.length = layer.hidden, .outputs = layer.outputs_at_once, .rows = at_once, .other_length = inputs, .others = width / at_once});
}

/// The same as run_layer for parts [T / steps, steps, B, I] of x: a step lists, beside its results, its slice of the products of the next
/// part; those of the last part are of the first one, and not used.
LoopResults run_ahead(const Tensor& parts, const Tensor& weight, const Tensor& bias, std::vector<Tensor> first, const Turn& turn) {
  const std::int64_t count = parts.dim(0).as_int(), steps = parts.dim(1).as_int(), width = weight.dim(1).as_int(), slice = width / steps;
  const Sint batch = parts.dim(2);
  const Tensor slices = weight.reshape({weight.dim(0), steps, slice}).permute({1, 0, 2}).contiguous();
  const auto product = [=](const Tensor& inputs, const Sint& t) {
    const Tensor products = inputs.matmul(slices.at(0, t));
    return bias ? products + bias.reshape({steps, slice}).at(0, t) : products;
  };
  const auto by_step = [=](const Tensor& listed) { return listed.permute({1, 2, 0, 3}).reshape({steps, batch, width}); };
  const auto of_first = [=](const Sint& t, const std::vector<Tensor>&) -> LoopTurn { return {{}, {product(parts.at(0, 0), t)}}; };
  first.push_back(by_step(Tensor::loop(parts.graph(), steps, {}, of_first).listed[0]));
  return Tensor::loop(parts.graph(), count, first, [=](const Sint& part, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor inputs = now.back(), next = parts.at(0, floormod(part + 1, count));
    const auto one = [=](const Sint& t, const std::vector<Tensor>& state) {
      LoopTurn made = turn(part * steps + t, inputs.at(0, t), state);
      made.listed.push_back(product(next, t));
      return made;
    };
    LoopResults results = Tensor::loop(parts.graph(), steps, {now.begin(), now.end() - 1}, one);
    results.carried.push_back(by_step(results.listed[1]));
    return {results.carried, {results.listed[0]}};
  });
}

/// `x` [T, B, I] is multiplied by `weight` [I, gates * H], and `bias` [gates * H] (may be empty) added, for `at_once` steps at a time;
/// lengths [B] (may be empty), first: h and c [B, H]. The result is [T, B, H], the last state like the first.
Run run_layer(const NodeContext& node, const Layer& layer, CellStep step, const Tensor& x, const Tensor& weight, const Tensor& bias,
              const Tensor& lengths, const State& first) {
  const std::int64_t at_once = steps_at_once(node, x);
  const auto projected = [weight, bias](const Tensor& input) { return bias ? input.matmul(weight) + bias : input.matmul(weight); };
  std::vector<Tensor> carried{first.h};
  if (first.c) carried.push_back(first.c);
  const Turn turn = [=](Sint t, const Tensor& input, const std::vector<Tensor>& now) -> LoopTurn {
    const State state{now[0], now.size() > 1 ? now[1] : Tensor()};
    State next = step(layer, input, state);
    Tensor output = next.h;
    if (lengths) {
      const Tensor active = (Tensor::arange(lengths.graph(), x.dim(0), lengths.dtype()).at(0, t) < lengths).unsqueeze(1);
      output = active.where(next.h, number(next.h, 0));
      next.h = active.where(next.h, state.h);
      if (next.c) next.c = active.where(next.c, state.c);
    }
    std::vector<Tensor> after{next.h};
    if (next.c) after.push_back(next.c);
    return {after, {output}};
  };
  const auto single = [=](Sint t, const std::vector<Tensor>& now) { return turn(t, projected(x.at(0, t)), now); };
  LoopResults results;
  if (at_once == 1) {
    results = Tensor::loop(x.graph(), x.dim(0), carried, single);
  } else {
    const Tensor parts = x.reshape({x.dim(0).as_int() / at_once, at_once, x.dim(1), x.dim(2)});
    const auto of_part = [=](const Sint& part, const std::vector<Tensor>& now) {
      const Tensor inputs = projected(parts.at(0, part));
      const auto one = [=](Sint t, const std::vector<Tensor>& state) { return turn(part * at_once + t, inputs.at(0, t), state); };
      return Tensor::loop(inputs.graph(), at_once, now, one);
    };
    const bool is_ahead = multiplies_ahead(node, layer, x, weight, at_once);
    results = is_ahead ? run_ahead(parts, weight, bias, carried, turn) : Tensor::loop(x.graph(), parts.dim(0), carried, of_part);
  }
  return {results.listed[0].reshape({x.dim(0), x.dim(1), layer.hidden}), {results.carried[0], first.c ? results.carried[1] : Tensor()}};
}

void require_shape(const NodeContext& node, int i, const std::string& what, const Shape& expected) {
  if (node.input(i).shape() == expected) return;
  node.fail("its " + what + " has the shape " + shape_text(node.input(i).shape()) + ", " + shape_text(expected) + " is expected");
}

struct Shapes {
  std::int64_t directions, hidden, input;
  Sint batch;
};

/// The weights of direction `d`; sets `bias` to the vector that is added to the input of every step.
Layer layer_of(const NodeContext& node, const Family& family, const Shapes& s, std::int64_t d, bool reset_after, Tensor& bias) {
  const auto of_direction = [&](int i) { return node.input(i).slice(0, d, d + 1).squeeze({0}); };
  const std::int64_t width = family.gates * s.hidden;
  Layer layer{.hidden = s.hidden,
              .recurrent = as_own_constant(of_direction(2)).transpose(),
              .recurrent_bias = {},
              .peepholes = {},
              .activations = {},
              .outputs_at_once = family.step == gru_step ? 2 * s.hidden : width};
  if (node.has_input(3)) {
    const Tensor both = of_direction(3), input_bias = both.slice(0, 0, width), recurrent_bias = both.slice(0, width, 2 * width);
    if (reset_after) {
      layer.recurrent_bias = recurrent_bias.slice(0, 2 * s.hidden, width);
      bias = input_bias + recurrent_bias.slice(0, 0, 2 * s.hidden).pad({{0, s.hidden}});
    } else {
      bias = input_bias + recurrent_bias;
    }
  } else if (reset_after) {
    layer.recurrent_bias = Tensor::full(node.graph(), {s.hidden}, Scalar::of_double(node.input(0).dtype(), 0));
  }
  if (family.has_cell && node.has_input(7)) layer.peepholes = of_direction(7);
  return layer;
}

Shapes check_shapes(NodeContext& node, const Family& family, const Tensor& x, std::int64_t directions) {
  if (node.input(1).rank() != 3) node.fail("its weight W has the shape " + shape_text(node.input(1).shape()) + ", 3 axes are expected");
  Shapes s{directions, fixed_dim(node, node.input(2), -1, "weight R"), fixed_dim(node, x, 2, "input"), x.dim(1)};
  if (node.has_attribute("hidden_size") && node.attribute_int("hidden_size") != s.hidden) {
    node.fail("attribute hidden_size is " + std::to_string(node.attribute_int("hidden_size")) + ", the weight R says " +
              std::to_string(s.hidden));
  }
  const std::int64_t width = family.gates * s.hidden;
  require_shape(node, 1, "weight W", {directions, width, s.input});
  require_shape(node, 2, "weight R", {directions, width, s.hidden});
  if (node.has_input(3)) require_shape(node, 3, "bias B", {directions, 2 * width});
  if (node.has_input(4)) require_shape(node, 4, "sequence_lens", {s.batch});
  if (family.has_cell && node.has_input(7)) require_shape(node, 7, "peepholes P", {directions, 3 * s.hidden});
  return s;
}

Outputs recurrent(NodeContext& node, const Family& family) {
  require_inputs(node, 3, family.has_cell ? 8 : 6);
  const bool batch_first = node.opset() >= 14 && node.attribute_int("layout", 0) != 0;
  if (node.input(0).rank() != 3) node.fail("its input has the shape " + shape_text(node.input(0).shape()) + ", 3 axes are expected");
  const Tensor x = batch_first ? node.input(0).transpose(0, 1) : node.input(0);  // [T, B, I]
  const Sint steps = x.dim(0);
  if (steps.min() < 1) node.fail("its sequence has " + to_text(steps) + " steps", "at least 1 is accepted");
  if (!steps.is_int() && steps.node()->kind != NodeKind::Variable)
    node.fail("its sequence has " + to_text(steps) + " steps", "a number or an open size of an input is accepted");
  const std::string direction = node.attribute_string("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    node.fail("attribute direction is '" + direction + "'", "accepted are forward, reverse and bidirectional");
  const std::int64_t directions = direction == "bidirectional" ? 2 : 1;
  const Shapes s = check_shapes(node, family, x, directions);
  const std::vector<Activation> activations = read_activations(node, family, static_cast<std::size_t>(directions));
  const double clip = node.has_attribute("clip") ? node.attribute_float("clip") : 0;
  const bool input_forget = family.has_cell && node.attribute_int("input_forget", 0) != 0;
  const bool reset_after = family.step == gru_step && node.attribute_int("linear_before_reset", 0) != 0;
  const Tensor lengths = node.has_input(4) ? node.input(4) : Tensor();
  const auto initial = [&](int i, std::int64_t d) {
    if (!node.has_input(i)) return Tensor::full(node.graph(), {s.batch, s.hidden}, Scalar::of_double(x.dtype(), 0));
    require_shape(node, i, "initial state", batch_first ? Shape{s.batch, directions, s.hidden} : Shape{directions, s.batch, s.hidden});
    return (batch_first ? node.input(i).transpose(0, 1) : node.input(i)).slice(0, d, d + 1).squeeze({0});
  };

  std::vector<Tensor> y, h, c;
  for (std::int64_t d = 0; d < directions; d++) {
    const bool backward = direction == "reverse" || d == 1;
    Tensor bias;
    Layer layer = layer_of(node, family, s, d, reset_after, bias);
    const auto own = activations.begin() + static_cast<std::ptrdiff_t>(family.activations.size()) * d;
    layer.activations.assign(own, own + static_cast<std::ptrdiff_t>(family.activations.size()));
    layer.clip = clip;
    layer.input_forget = input_forget;
    const Tensor weight = as_own_constant(node.input(1).slice(0, d, d + 1).squeeze({0})).transpose();
    const Run run = run_layer(node, layer, family.step, backward ? turned(x, lengths) : x, weight, bias, lengths,
                              {initial(5, d), family.has_cell ? initial(6, d) : Tensor()});
    y.push_back(backward ? turned(run.y, lengths) : run.y);
    h.push_back(run.last.h);
    if (family.has_cell) c.push_back(run.last.c);
  }
  const int axis = batch_first ? 2 : 1;
  const Tensor all = Tensor::stack(y, 1);  // [T, D, B, H]
  Outputs outputs{batch_first ? all.permute({2, 0, 1, 3}) : all, Tensor::stack(h, axis - 1)};
  if (family.has_cell) outputs.push_back(Tensor::stack(c, axis - 1));
  return outputs;
}

}  // namespace

Outputs rnn(NodeContext& node) { return recurrent(node, {1, {"Tanh"}, rnn_step, false}); }
Outputs gru(NodeContext& node) { return recurrent(node, {3, {"Sigmoid", "Tanh"}, gru_step, false}); }
Outputs lstm(NodeContext& node) { return recurrent(node, {4, {"Sigmoid", "Tanh", "Tanh"}, lstm_step, true}); }

}  // namespace etch::operators
