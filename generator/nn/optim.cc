#include "nn/optim.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "lazy/graph.h"

namespace etch::nn {
namespace {

/// The root of the sum of squares.
Tensor norm(const Tensor& x) { return x.square().sum().sqrt(); }

/// 1 - beta^count, beta^count as e to the count * log(beta).
Tensor bias_correction(double beta, const Tensor& count) { return (count * std::log(beta)).unary(Op::Expm1).neg(); }

void require_adam(const char* name, const AdamOptions& o) {
  const auto is_part = [](double beta) { return beta >= 0 && beta < 1; };
  if (!is_part(o.beta1) || !is_part(o.beta2) || !(o.epsilon >= 0) || !(o.weight_decay >= 0))
    throw UserError(name,
                    "beta1 is " + std::to_string(o.beta1) + ", beta2 " + std::to_string(o.beta2) + ", epsilon " +
                        std::to_string(o.epsilon) + ", weight_decay " + std::to_string(o.weight_decay),
                    "accepted are betas of [0, 1), the others from 0");
}

/// Where a decay is added.
enum class Decay : std::uint8_t { Gradient, Change };

/// The part of a change that keeps it as large as the parameter; 1 where one of them is 0.
Tensor trust_of(const Tensor& w, const Tensor& change) {
  const Tensor own = norm(w), other = norm(change), one = own.full_like(1), zero = own.full_like(0);
  return (zero < own).where((zero < other).where(own / other, one), one);
}

/// Adam and its kin: a change by running means that are corrected for their start.
Rule adaptive(const char* name, const AdamOptions& o, Decay decay, bool trusts) {
  require_adam(name, o);
  const auto update = [=](const Tensor& w, const Tensor& gradient, const std::vector<Tensor>& kept, const Tensor& rate,
                          const Tensor& count) -> Updated {
    const auto decayed = [&](const Tensor& x, Decay here) { return decay == here && o.weight_decay != 0 ? x + w * o.weight_decay : x; };
    const Tensor g = decayed(gradient, Decay::Gradient);
    const Tensor m = kept[0] * o.beta1 + g * (1 - o.beta1), v = kept[1] * o.beta2 + g * g * (1 - o.beta2);
    const Tensor m_hat = m / bias_correction(o.beta1, count), v_hat = v / bias_correction(o.beta2, count);
    const Tensor change = decayed(m_hat / (v_hat.sqrt() + o.epsilon), Decay::Change);
    return {w - change * (trusts ? rate * trust_of(w, change) : rate), {m, v}};
  };
  return {.name = name, .kept = {"m", "v"}, .counts = true, .update = update};
}

}  // namespace

Rule sgd(const SgdOptions& o) {
  if (!(o.momentum >= 0) || !(o.weight_decay >= 0) || (o.nesterov && o.momentum == 0))
    throw UserError("sgd", "momentum is " + std::to_string(o.momentum) + ", weight_decay " + std::to_string(o.weight_decay),
                    "accepted are numbers from 0, with nesterov a momentum above 0");
  const auto update = [o](const Tensor& w, const Tensor& gradient, const std::vector<Tensor>& kept, const Tensor& rate,
                          const Tensor& /*count*/) -> Updated {
    const Tensor g = o.weight_decay == 0 ? gradient : gradient + w * o.weight_decay;
    if (o.momentum == 0) return {w - g * rate, {}};
    const Tensor b = kept[0] * o.momentum + g;
    return {w - (o.nesterov ? g + b * o.momentum : b) * rate, {b}};
  };
  return {.name = "sgd",
          .kept = o.momentum == 0 ? std::vector<std::string>{} : std::vector<std::string>{"momentum"},
          .counts = false,
          .update = update};
}

DType kept_type(DType parameter) { return bytes_of(parameter) == 2 ? DType::Float32 : parameter; }

Updated apply_rule(const Rule& rule, const Tensor& parameter, const Tensor& gradient, const std::vector<Tensor>& kept, const Tensor& rate,
                   const Tensor& count) {
  const DType type = kept_type(parameter.dtype());
  Updated u = rule.update(parameter.cast(type), gradient.cast(type), kept, rate.cast(type), count ? count.cast(type) : Tensor());
  u.parameter = u.parameter.cast(parameter.dtype());
  return u;
}

Rule adam(const AdamOptions& o) { return adaptive("adam", o, Decay::Gradient, false); }
Rule adamw(const AdamOptions& o) { return adaptive("adamw", o, Decay::Change, false); }
Rule lamb(const AdamOptions& o) { return adaptive("lamb", o, Decay::Change, true); }

Optimizer::Optimizer(Session& session, const std::vector<Tensor>& parameters, Rule rule, double rate)
    : session_(session), rule_(std::move(rule)) {
  for (const Tensor& t : parameters) {
    if (Session::realized(t) == nullptr)
      throw UserError("optimiser " + rule_.name, "a parameter of shape " + shape_text(t.shape()) + " is not realized", "realize it first");
    if (!variables(t.shape()).empty())
      throw UserError("optimiser " + rule_.name, "a parameter has the open shape " + shape_text(t.shape()), "accepted are fixed sizes");
    if (t.requires_grad() == RequiresGrad::No) continue;
    if (std::ranges::find(parameters_, t.buffer(), [](const Tensor& p) { return p.buffer(); }) != parameters_.end())
      throw UserError("optimiser " + rule_.name, "a parameter of shape " + shape_text(t.shape()) + " is there twice", "name each once");
    parameters_.push_back(t.requires_grad(true));
    kept_.emplace_back();
    std::vector<std::int64_t> shape;
    for (const Sint& d : t.shape()) shape.push_back(d.as_int());
    for (std::size_t k = 0; k < rule_.kept.size(); k++)
      kept_.back().push_back(session.from(Array::filled(kept_type(t.dtype()), shape, Scalar::of_double(kept_type(t.dtype()), 0))));
  }
  if (parameters_.empty()) throw UserError("optimiser " + rule_.name, "has no parameters", "pass tensors that may require a gradient");
  rate_ = session.from(Array::scalar(Scalar::of_double(DType::Float32, rate)));
  if (rule_.counts) count_ = session.from(Array::scalar(Scalar::of_double(DType::Float32, 0)));
}

void Optimizer::zero_grad() const {
  for (const Tensor& p : parameters_) p.zero_grad();
}

void Optimizer::step(const std::vector<Session::Assignment>& also) {
  const NoGrad scope(session_.graph());
  std::vector<Session::Assignment> changes = also;
  const Tensor count = count_ ? count_ + 1.0 : Tensor();
  for (std::size_t i = 0; i < parameters_.size(); i++) {
    const Tensor& w = parameters_[i];
    if (!w.grad())
      throw UserError(
          "optimiser " + rule_.name,
          "parameter " + std::to_string(i) + " of shape " + shape_text(w.shape()) + " has no gradient: the loss does not depend on it",
          "call backward() of a loss that is computed from it first, or leave it out");
    const Updated u = apply_rule(rule_, w, w.grad(), kept_[i], rate_, count);
    changes.push_back({w, u.parameter});
    for (std::size_t k = 0; k < u.kept.size(); k++) changes.push_back({kept_[i][k], u.kept[k]});
  }
  if (count) changes.push_back({count_, count});
  session_.assign(changes);
}

void Optimizer::set_rate(double rate) { session_.set_values(rate_, Array::scalar(Scalar::of_double(DType::Float32, rate))); }

double Optimizer::rate() const { return session_.values(rate_).doubles()[0]; }

StateDict Optimizer::state() const {
  StateDict result;
  for (std::size_t i = 0; i < parameters_.size(); i++)
    for (std::size_t k = 0; k < rule_.kept.size(); k++) result.push_back({std::to_string(i) + "." + rule_.kept[k], kept_[i][k]});
  result.push_back({"rate", rate_});
  if (count_) result.push_back({"count", count_});
  return result;
}

double multi_step_rate(double base, std::int64_t step, const std::vector<std::int64_t>& milestones, double factor) {
  const auto reached = std::ranges::count_if(milestones, [&](std::int64_t m) { return step >= m; });
  return base * std::pow(factor, static_cast<double>(reached));
}

double cosine_rate(double base, std::int64_t step, std::int64_t steps, double last) {
  const double done = std::clamp(static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(steps, 1)), 0.0, 1.0);
  return last + (base - last) * (1 + std::cos(std::numbers::pi * done)) / 2;
}

double one_cycle_rate(double base, std::int64_t step, std::int64_t steps, const OneCycle& how) {
  const double done = std::clamp(static_cast<double>(step) / static_cast<double>(std::max<std::int64_t>(steps, 1)), 0.0, 1.0);
  const double first = base / how.first_divisor, last = base / how.last_divisor;
  if (done < how.rising) return first + (base - first) * (done / how.rising);
  return base + (last - base) * ((done - how.rising) / (1 - how.rising));
}

double ReduceOnPlateau::after(double figure) {
  if (since_ < 0 || figure < best_ * (1 - threshold_)) {
    best_ = figure;
    since_ = 0;
  } else if (++since_ > patience_) {
    rate_ *= factor_;
    since_ = 0;
  }
  return rate_;
}

}  // namespace etch::nn
