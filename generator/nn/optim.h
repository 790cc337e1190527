// Optimisers: a rule says what a parameter becomes, from its gradient and from what the rule keeps of the steps before; an Optimizer
// applies it to the parameters of a network. The rules are pure, so that a training step on the host and an emitted one compute the same.
//
//   nn::Optimizer optimizer(session, nn::parameters(state), nn::adam({}), 0.001);
//   TinyJit step(session, [&](const std::vector<Tensor>& in) {
//     optimizer.zero_grad();
//     nn::Pass pass{session, true};
//     const Tensor loss = nn::sparse_categorical_crossentropy(network(in[0], pass), in[1]);
//     loss.backward();
//     optimizer.step(pass.updates);
//     return std::vector<Tensor>{loss};
//   });
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jit/session.h"
#include "lazy/tensor.h"
#include "nn/state.h"

namespace etch::nn {

/// What one step makes of a parameter, and of what is kept for it, each of the parameter's shape.
struct Updated {
  Tensor parameter;
  std::vector<Tensor> kept;
};

struct Rule {
  std::string name;               // "adam"
  std::vector<std::string> kept;  // what is kept for each parameter, 0 before the first step: {"m", "v"}
  bool counts = false;            // it needs the number of the step, 1 for the first
  /// All of one type, that of `kept_type`; `rate` and `count` are scalars, `count` is empty unless `counts`.
  std::function<Updated(const Tensor& parameter, const Tensor& gradient, const std::vector<Tensor>& kept, const Tensor& rate,
                        const Tensor& count)>
      update;
};

/// The type in which a parameter's step is computed, and in which what is kept for it is: float32 for halves, whose range would lose
/// squares of gradients and epsilon; else the parameter's own.
DType kept_type(DType parameter);
/// The rule in that type; the new parameter has its own type again. `rate` and `count` are float32.
Updated apply_rule(const Rule& rule, const Tensor& parameter, const Tensor& gradient, const std::vector<Tensor>& kept, const Tensor& rate,
                   const Tensor& count);

struct SgdOptions {
  double momentum = 0;      // the part of the last change that is kept
  bool nesterov = false;    // the gradient of where the momentum leads
  double weight_decay = 0;  // added to the gradient, times the parameter
};
/// b = momentum * b + g, w -= rate * b; nesterov: w -= rate * (g + momentum * b).
Rule sgd(const SgdOptions& options = {});

struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999;  // of the means of gradients and of their squares
  double epsilon = 1e-8;
  double weight_decay = 0;
};
/// Kingma and Ba 2015: m and v are running means, corrected for their start; w -= rate * m / (sqrt(v) + epsilon).
Rule adam(const AdamOptions& options = {});
/// Loshchilov and Hutter 2019: adam with the decay apart from the gradient.
Rule adamw(const AdamOptions& options = {.weight_decay = 0.01});
/// You et al. 2020: adamw's change, made as large as the parameter.
Rule lamb(const AdamOptions& options = {.epsilon = 1e-6});

class Optimizer {
 public:
  /// Parameters that nobody said anything of require a gradient from now on; those that require none are left out. UserError if none is
  /// left, if one is there twice or is not realized.
  Optimizer(Session& session, const std::vector<Tensor>& parameters, Rule rule, double rate);

  void zero_grad() const;
  /// Changes each parameter, and in the same schedule what layers keep of the pass (nn::Pass::updates). UserError, before anything has
  /// changed, if a parameter has no gradient: the loss was not computed from it.
  void step(const std::vector<Session::Assignment>& also = {});
  /// Of the next step, also of a recorded one.
  void set_rate(double rate);
  double rate() const;
  /// All that it keeps, to be saved: "0.m", "0.v", ..., "count", "rate".
  StateDict state() const;
  const std::vector<Tensor>& parameters() const { return parameters_; }

 private:
  Session& session_;
  Rule rule_;
  std::vector<Tensor> parameters_;
  std::vector<std::vector<Tensor>> kept_;
  Tensor rate_, count_;  // realized scalars of float32
};

// Rates: what the rate of step `step` (from 0) is, for a rate that begins as `base`.
/// `base` times `factor` to the number of `milestones` that are reached.
double multi_step_rate(double base, std::int64_t step, const std::vector<std::int64_t>& milestones, double factor = 0.1);
/// From `base` down to `last` along half a cosine, in `steps` steps.
double cosine_rate(double base, std::int64_t step, std::int64_t steps, double last = 0);
struct OneCycle {
  double first_divisor = 25, last_divisor = 1e4;  // the rates at the ends are base / first_divisor and base / last_divisor
  double rising = 0.3;                            // part of the steps in which it rises
};
/// Smith and Topin 2018: up to `base` and down again, linearly.
double one_cycle_rate(double base, std::int64_t step, std::int64_t steps, const OneCycle& how = {});
/// A rate that shrinks when a figure has not become smaller for a while.
class ReduceOnPlateau {
 public:
  explicit ReduceOnPlateau(double base, double factor = 0.1, int patience = 10, double threshold = 1e-4)
      : rate_(base), factor_(factor), patience_(patience), threshold_(threshold) {}
  /// The rate after one more figure.
  double after(double figure);

 private:
  double rate_, factor_;
  int patience_;
  double threshold_, best_ = 0;
  int since_ = -1;  // figures since the best one; -1: there was none yet
};

}  // namespace etch::nn
