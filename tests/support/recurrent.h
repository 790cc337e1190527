// For tests: models of RNN, GRU and LSTM, and what they give, by loops over the definition in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "support/node_model.h"

namespace etch::test {

using Doubles = std::vector<double>;

struct RecurrentOptions {
  std::string op;
  bool bidirectional = false, reverse = false, lengths = false, batch_first = false;
  bool peepholes = false, input_forget = false, reset_after = false;
  double clip = 0;
  std::int64_t steps = 8, batch = 2, inputs = 3, units = 2;
  double largest = 1;  // weight
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct RecurrentWeights {
  std::int64_t gates = 1, directions = 1;
  Doubles x, w, r, b, h0, c0, p;
  std::vector<std::int64_t> lengths;
};

inline Doubles random_values(std::mt19937& random, std::int64_t n) {
  Doubles values(static_cast<std::size_t>(n));
  for (double& v : values) v = static_cast<double>(static_cast<float>(static_cast<double>(random() % 2001) / 1000 - 1));
  return values;
}

/// The definition, one batch element and direction: y [T, H] and the last h and c.
struct RecurrentResult {
  Doubles y, h, c;
};

inline RecurrentResult run_recurrent(const RecurrentOptions& o, const RecurrentWeights& k, std::int64_t d, std::int64_t b, bool backward) {
  const std::int64_t T = o.steps, B = o.batch, I = o.inputs, H = o.units, G = k.gates, width = G * H,
                     length = k.lengths[static_cast<std::size_t>(b)];
  const auto at = [](const Doubles& v, std::int64_t i) { return v[static_cast<std::size_t>(i)]; };
  const auto squash = [&](double x) { return o.clip > 0 ? std::max(-o.clip, std::min(o.clip, x)) : x; };
  RecurrentResult s{Doubles(static_cast<std::size_t>(T * H), 0), {}, {}};
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

inline RecurrentWeights random_weights(const RecurrentOptions& o) {
  std::mt19937 random(11);
  RecurrentWeights k;
  k.gates = o.op == "RNN" ? 1 : o.op == "GRU" ? 3 : 4;
  k.directions = o.bidirectional ? 2 : 1;
  k.lengths.assign(static_cast<std::size_t>(o.batch), o.steps);
  if (o.lengths) k.lengths.back() = 2;
  const std::int64_t width = k.gates * o.units, states = k.directions * o.batch * o.units;
  k.x = random_values(random, o.steps * o.batch * o.inputs);
  k.w = random_values(random, k.directions * width * o.inputs);
  k.r = random_values(random, k.directions * width * o.units);
  k.b = random_values(random, k.directions * 2 * width);
  for (Doubles* weights : {&k.w, &k.r})
    for (double& v : *weights) v = static_cast<double>(static_cast<float>(v * o.largest));
  k.h0 = random_values(random, states);
  k.c0 = random_values(random, states);
  k.p = random_values(random, k.directions * 3 * o.units);
  return k;
}

/// y [T, D, B, H], and the last states [D, B, H].
inline RecurrentResult all_results(const RecurrentOptions& o, const RecurrentWeights& k) {
  const std::int64_t T = o.steps, B = o.batch, H = o.units, D = k.directions;
  RecurrentResult all{Doubles(static_cast<std::size_t>(T * D * B * H)), {}, {}};
  for (std::int64_t d = 0; d < D; d++)
    for (std::int64_t b = 0; b < B; b++) {
      const RecurrentResult s = run_recurrent(o, k, d, b, o.reverse || d == 1);
      for (std::int64_t t = 0; t < T; t++)
        for (std::int64_t j = 0; j < H; j++)
          all.y[static_cast<std::size_t>(((t * D + d) * B + b) * H + j)] = s.y[static_cast<std::size_t>(t * H + j)];
      all.h.insert(all.h.end(), s.h.begin(), s.h.end());
      all.c.insert(all.c.end(), s.c.begin(), s.c.end());
    }
  return all;
}

/// A model of one node, and what it gives.
struct KnownModel {
  NodeModel model;
  std::vector<Array> wanted;
};

inline KnownModel known_model(const RecurrentOptions& o) {
  const RecurrentWeights k = random_weights(o);
  const auto [y, h, c] = all_results(o, k);
  const std::int64_t T = o.steps, B = o.batch, I = o.inputs, H = o.units, D = k.directions, width = k.gates * H;
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
  NodeModel m{
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
  return {m, wanted};
}

}  // namespace etch::test
