#include "nn/layers.h"

#include <cmath>

#include "base/error.h"
#include "lazy/graph.h"
#include "nn/random.h"

namespace etch::nn {
namespace {

using Ints = std::vector<std::int64_t>;

Tensor filled(Session& session, const Ints& shape, double value) {
  return session.from(Array::filled(DType::Float32, shape, Scalar::of_double(DType::Float32, value)));
}

Shape shape_of(std::vector<std::int64_t> sizes, const Ints& more = {}) {
  sizes.insert(sizes.end(), more.begin(), more.end());
  return {sizes.begin(), sizes.end()};
}

std::int64_t product_of(const Ints& sizes) {
  std::int64_t n = 1;
  for (std::int64_t s : sizes) n *= s;
  return n;
}

void require_positive(const char* layer, const Ints& sizes) {
  for (std::int64_t s : sizes)
    if (s < 1) throw UserError(std::string("layer ") + layer, "a size is " + std::to_string(s), "accepted are sizes from 1");
}

void require_groups(const char* layer, std::int64_t inputs, std::int64_t outputs, std::int64_t groups) {
  if (groups < 1 || inputs % groups != 0 || outputs % groups != 0)
    throw UserError(std::string("layer ") + layer,
                    std::to_string(inputs) + " and " + std::to_string(outputs) + " channels in " + std::to_string(groups) + " groups",
                    "accepted are groups that divide both");
}

/// The channels of `all` that are in one group; the sizes of a convolution are checked first.
std::int64_t share_of(const char* layer, std::int64_t inputs, std::int64_t outputs, const Ints& kernel, std::int64_t groups,
                      std::int64_t all) {
  require_positive(layer, {inputs, outputs});
  require_positive(layer, kernel);
  require_groups(layer, inputs, outputs, groups);
  return all / groups;
}

Window window_of(const Shape& weight, const ConvOptions& o) {
  Window w{.stride = o.stride, .dilation = o.dilation};
  for (std::size_t i = 2; i < weight.size(); i++) w.kernel.push_back(weight[i].as_int());
  for (std::int64_t p : o.padding) w.pads.emplace_back(p, p);
  return w;
}

StateDict with_bias(const Tensor& weight, const Tensor& bias) {
  StateDict members{{"weight", weight}};
  if (bias) members.push_back({"bias", bias});
  return members;
}

/// [1, C, 1..] for a tensor of `rank` axes.
Tensor per_channel(const Tensor& x, int rank) {
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape.at(1) = x.size();
  return x.reshape(shape);
}

}  // namespace

Linear::Linear(Session& session, std::int64_t inputs, std::int64_t outputs, bool with_bias) {
  require_positive("Linear", {inputs, outputs});
  weight = kaiming_uniform(session, {outputs, inputs}, std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(inputs));
  if (with_bias) bias = uniform(session, {outputs}, -bound, bound);
}

Tensor Linear::operator()(const Tensor& x) const { return x.linear(weight.transpose(), bias); }
StateDict Linear::members() const { return with_bias(weight, bias); }

Filters::Filters(Session& session, std::int64_t first, std::int64_t second, std::int64_t outputs, const Ints& kernel, ConvOptions how)
    : options(std::move(how)) {
  weight = kaiming_uniform(session, shape_of({first, second}, kernel), std::sqrt(5.0));
  const double bound = 1 / std::sqrt(static_cast<double>(second * product_of(kernel)));
  if (options.bias) bias = uniform(session, {outputs}, -bound, bound);
}

StateDict Filters::members() const { return with_bias(weight, bias); }

Conv::Conv(Session& session, std::int64_t inputs, std::int64_t outputs, const Ints& kernel, ConvOptions how)
    : Filters(session, outputs, share_of("Conv", inputs, outputs, kernel, how.groups, inputs), outputs, kernel, how) {}

Tensor Conv::operator()(const Tensor& x) const { return x.conv(weight, bias, window_of(weight.shape(), options), options.groups); }

ConvTranspose::ConvTranspose(Session& session, std::int64_t inputs, std::int64_t outputs, const Ints& kernel, ConvOptions how)
    : Filters(session, inputs, share_of("ConvTranspose", inputs, outputs, kernel, how.groups, outputs), outputs, kernel, how) {}

Tensor ConvTranspose::operator()(const Tensor& x) const {
  return x.conv_transpose(weight, bias, window_of(weight.shape(), options), options.output_padding, options.groups);
}

BatchNorm2d::BatchNorm2d(Session& session, std::int64_t channels, double epsilon_, double momentum_)
    : epsilon(epsilon_), momentum(momentum_) {
  require_positive("BatchNorm2d", {channels});
  weight = filled(session, {channels}, 1);
  bias = filled(session, {channels}, 0);
  running_mean = filled(session, {channels}, 0).requires_grad(false);
  running_var = filled(session, {channels}, 1).requires_grad(false);
}

Tensor BatchNorm2d::operator()(const Tensor& x, Pass& pass) const {
  if (!pass.training) return x.batchnorm(weight, bias, running_mean, running_var, epsilon);
  std::vector<int> axes{0};
  for (int i = 2; i < x.rank(); i++) axes.push_back(i);
  const Tensor mean = x.mean(axes), variance = x.variance(axes);
  const Sint count = floordiv(x.size(), x.dim(1));
  if (count.max() < 2)
    throw UserError("layer BatchNorm2d", "one element a channel has no variance to train with", "train with larger batches or pictures");
  const Tensor n = Tensor::size_value(x.graph(), count, running_var.dtype());
  const auto moved = [&](const Tensor& from, const Tensor& to) { return from * (1 - momentum) + to.detach() * momentum; };
  pass.updates.push_back({running_mean, moved(running_mean, mean)});
  pass.updates.push_back({running_var, moved(running_var, variance.detach() * (n / (n - 1.0)))});
  const Tensor normal = (x - per_channel(mean, x.rank())) / (per_channel(variance, x.rank()) + epsilon).sqrt();
  return normal * per_channel(weight, x.rank()) + per_channel(bias, x.rank());
}

StateDict BatchNorm2d::members() const {
  return {{"weight", weight}, {"bias", bias}, {"running_mean", running_mean}, {"running_var", running_var}};
}

LayerNorm::LayerNorm(Session& session, const Ints& shape, double epsilon_) : epsilon(epsilon_) {
  require_positive("LayerNorm", shape);
  weight = filled(session, shape, 1);
  bias = filled(session, shape, 0);
}

Tensor LayerNorm::operator()(const Tensor& x) const { return x.layernorm(-weight.rank(), epsilon) * weight + bias; }
StateDict LayerNorm::members() const { return with_bias(weight, bias); }

GroupNorm::GroupNorm(Session& session, std::int64_t groups_, std::int64_t channels, double epsilon_) : groups(groups_), epsilon(epsilon_) {
  require_positive("GroupNorm", {channels, groups});
  require_groups("GroupNorm", channels, channels, groups);
  weight = filled(session, {channels}, 1);
  bias = filled(session, {channels}, 0);
}

Tensor GroupNorm::operator()(const Tensor& x) const {
  const Tensor normal = x.reshape({x.dim(0), groups, -1}).layernorm(-1, epsilon).reshape(x.shape());
  return normal * per_channel(weight, x.rank()) + per_channel(bias, x.rank());
}
StateDict GroupNorm::members() const { return with_bias(weight, bias); }

Embedding::Embedding(Session& session, std::int64_t words, std::int64_t width) {
  require_positive("Embedding", {words, width});
  weight = glorot_uniform(session, {words, width});
}

Tensor Embedding::operator()(const Tensor& index) const { return weight.gather(0, index); }
StateDict Embedding::members() const { return {{"weight", weight}}; }

LSTM::LSTM(Session& session, std::int64_t inputs, std::int64_t hidden) {
  require_positive("LSTM", {inputs, hidden});
  const double bound = 1 / std::sqrt(static_cast<double>(hidden));
  weight_ih = uniform(session, {4 * hidden, inputs}, -bound, bound);
  weight_hh = uniform(session, {4 * hidden, hidden}, -bound, bound);
  bias_ih = uniform(session, {4 * hidden}, -bound, bound);
  bias_hh = uniform(session, {4 * hidden}, -bound, bound);
}

LSTM::Result LSTM::operator()(const Tensor& x, const State& first) const {
  const std::int64_t hidden = weight_hh.dim(1).as_int();
  const auto turn = [x, hidden, in = weight_ih.transpose(), back = weight_hh.transpose(), bias = bias_ih + bias_hh](
                        Sint t, const std::vector<Tensor>& now) -> LoopTurn {
    const Tensor gates = x.at(0, t).matmul(in) + now[0].matmul(back) + bias;
    const auto gate = [&](std::int64_t k) { return gates.slice(-1, k * hidden, (k + 1) * hidden); };
    const Tensor c = gate(1).sigmoid() * now[1] + gate(0).sigmoid() * gate(2).tanh();
    const Tensor h = gate(3).sigmoid() * c.tanh();
    return {{h, c}, {h}};
  };
  const LoopResults results = Tensor::loop(x.graph(), x.dim(0), {first.h, first.c}, turn);
  return {results.listed[0], {results.carried[0], results.carried[1]}};
}

LSTM::Result LSTM::operator()(const Tensor& x) const {
  const Tensor zero = Tensor::full(x.graph(), {x.dim(1), weight_hh.dim(1)}, Scalar::of_double(x.dtype(), 0));
  return (*this)(x, {zero, zero});
}

StateDict LSTM::members() const { return {{"weight_ih", weight_ih}, {"weight_hh", weight_hh}, {"bias_ih", bias_ih}, {"bias_hh", bias_hh}}; }

Tensor dropout(const Tensor& x, double probability, Pass& pass) {
  if (!(probability >= 0 && probability < 1))
    throw UserError("dropout", "the probability is " + std::to_string(probability), "accepted is 0 to below 1");
  if (!pass.training || probability == 0) return x;
  const Tensor stays = pass.session.rand(x.shape()) < 1 - probability;
  return stays.where(x / (1 - probability), x.full_like(0));
}

}  // namespace etch::nn
