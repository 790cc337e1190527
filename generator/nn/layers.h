// Layers: each owns realized tensors, and is called with its input. Their first values are tinygrad's (and PyTorch's), drawn from the
// session's numbers (nn/random.h); members() names them as tinygrad does.
//
//   nn::Conv2d conv(session, 1, 8, {3, 3}, {.padding = {1, 1}});
//   nn::Linear out(session, 8 * 14 * 14, 10);
//   const Tensor logits = out(conv(x).relu().max_pool({.kernel = {2, 2}, .stride = {2, 2}}).flatten(1));
#pragma once

#include <cstdint>
#include <vector>

#include "jit/session.h"
#include "lazy/tensor.h"
#include "nn/state.h"

namespace etch::nn {

/// One pass through a network: whether it trains, and what layers keep of it. Optimizer::step(pass.updates) stores that together with the
/// parameters, in one schedule.
struct Pass {
  Session& session;
  bool training = false;
  std::vector<Session::Assignment> updates = {};
};

struct Linear {
  Tensor weight, bias;  // [outputs, inputs], [outputs] or empty
  Linear(Session& session, std::int64_t inputs, std::int64_t outputs, bool with_bias = true);
  Tensor operator()(const Tensor& x) const;  // [.., inputs] to [.., outputs]
  StateDict members() const;
};

/// Empty lists: 1 for each axis of the kernel, and 0 for padding, which is the same on both sides.
struct ConvOptions {
  std::vector<std::int64_t> stride = {}, padding = {}, dilation = {}, output_padding = {};
  std::int64_t groups = 1;
  bool bias = true;
};

/// The weights of a convolution over as many axes as the kernel has.
struct Filters {
  Tensor weight, bias;  // [first, second, kernel..], [outputs] or empty
  ConvOptions options;
  StateDict members() const;

 protected:
  Filters(Session& session, std::int64_t first, std::int64_t second, std::int64_t outputs, const std::vector<std::int64_t>& kernel,
          ConvOptions how);
};

/// [N, inputs, d..] to [N, outputs, o..]; weight [outputs, inputs / groups, kernel..].
struct Conv : Filters {
  Conv(Session& session, std::int64_t inputs, std::int64_t outputs, const std::vector<std::int64_t>& kernel, ConvOptions how);
  Tensor operator()(const Tensor& x) const;
};
/// The same the other way, larger by the stride; weight [inputs, outputs / groups, kernel..].
struct ConvTranspose : Filters {
  ConvTranspose(Session& session, std::int64_t inputs, std::int64_t outputs, const std::vector<std::int64_t>& kernel, ConvOptions how);
  Tensor operator()(const Tensor& x) const;
};

template <class Layer>
struct Over1d : Layer {
  Over1d(Session& session, std::int64_t inputs, std::int64_t outputs, std::int64_t kernel, const ConvOptions& how = {})
      : Layer(session, inputs, outputs, {kernel}, how) {}
};
template <class Layer>
struct Over2d : Layer {
  Over2d(Session& session, std::int64_t inputs, std::int64_t outputs, std::pair<std::int64_t, std::int64_t> kernel,
         const ConvOptions& how = {})
      : Layer(session, inputs, outputs, {kernel.first, kernel.second}, how) {}
};
using Conv1d = Over1d<Conv>;
using Conv2d = Over2d<Conv>;
using ConvTranspose1d = Over1d<ConvTranspose>;
using ConvTranspose2d = Over2d<ConvTranspose>;

/// Per channel (axis 1) of [N, C, ..]. In training by mean and variance of the batch, and the running ones approach these by
/// `momentum` of the way (the variance with n - 1), as updates of the pass; else by the running ones. UserError where a channel has one
/// element in training.
struct BatchNorm2d {
  Tensor weight, bias, running_mean, running_var;
  double epsilon, momentum;
  BatchNorm2d(Session& session, std::int64_t channels, double epsilon = 1e-5, double momentum = 0.1);
  Tensor operator()(const Tensor& x, Pass& pass) const;
  StateDict members() const;
};

/// Over the last axes, which have `shape`.
struct LayerNorm {
  Tensor weight, bias;  // of that shape
  double epsilon;
  LayerNorm(Session& session, const std::vector<std::int64_t>& shape, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const;
  StateDict members() const;
};

/// Over groups of channels (axis 1) and all axes behind them.
struct GroupNorm {
  Tensor weight, bias;  // [channels]
  std::int64_t groups;
  double epsilon;
  GroupNorm(Session& session, std::int64_t groups, std::int64_t channels, double epsilon = 1e-5);
  Tensor operator()(const Tensor& x) const;
  StateDict members() const;
};
struct InstanceNorm : GroupNorm {
  InstanceNorm(Session& session, std::int64_t channels, double least = 1e-5) : GroupNorm(session, channels, channels, least) {}
};

struct Embedding {
  Tensor weight;  // [words, width]
  Embedding(Session& session, std::int64_t words, std::int64_t width);
  Tensor operator()(const Tensor& index) const;  // integers [..] to [.., width]
  StateDict members() const;
};

/// One layer over a sequence; gates in the order input, forget, cell, output.
struct LSTM {
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;  // [4 * hidden, inputs], [4 * hidden, hidden], [4 * hidden] twice
  struct State {
    Tensor h, c;  // [N, hidden]
  };
  struct Result {
    Tensor outputs;  // [T, N, hidden]
    State last;
  };
  LSTM(Session& session, std::int64_t inputs, std::int64_t hidden);
  Result operator()(const Tensor& x, const State& first) const;  // x [T, N, inputs]
  Result operator()(const Tensor& x) const;                      // from zeros
  StateDict members() const;
};

/// In training each element is 0 with this probability, and the others are larger by as much as keeps the mean; else `x`.
Tensor dropout(const Tensor& x, double probability, Pass& pass);

}  // namespace etch::nn
