#include "nn/random.h"

#include <cmath>
#include <numbers>

namespace etch::nn {
namespace {

double elements_from(const Shape& shape, std::size_t first) {
  double n = 1;
  for (std::size_t i = first; i < shape.size(); i++) n *= static_cast<double>(shape[i].max());
  return n;
}

void require_outputs(const Shape& shape, const char* what) {
  if (shape.size() < 2)
    throw ShapeError(std::string(what) + ": of shape with " + std::to_string(shape.size()) + " axes, accepted is [outputs, inputs..]");
}

}  // namespace

Tensor uniform(Session& session, const Shape& shape, double low, double high, DType dtype) {
  return session.realize(session.rand(shape, dtype) * (high - low) + low);
}

Tensor normal(Session& session, const Shape& shape, double mean, double deviation, DType dtype) {
  // The logarithm of a number that is never 0, in float32 also for types of 16 bits.
  const DType wide = dtype == DType::Float64 ? dtype : DType::Float32;
  const Tensor first = session.rand(shape, wide), second = session.rand(shape, wide);
  const Tensor radius = ((first.full_like(1) - first).log() * -2.0).sqrt();
  return session.realize((radius * (second * (2 * std::numbers::pi)).cos() * deviation + mean).cast(dtype));
}

Tensor scaled_uniform(Session& session, const Shape& shape, DType dtype) {
  const double bound = 1 / std::sqrt(elements_from(shape, 0));
  return uniform(session, shape, -bound, bound, dtype);
}

Tensor glorot_uniform(Session& session, const Shape& shape, DType dtype) {
  require_outputs(shape, "glorot_uniform");
  const double bound = std::sqrt(6 / (static_cast<double>(shape[0].max()) + elements_from(shape, 1)));
  return uniform(session, shape, -bound, bound, dtype);
}

Tensor kaiming_uniform(Session& session, const Shape& shape, double slope, DType dtype) {
  require_outputs(shape, "kaiming_uniform");
  const double bound = std::sqrt(6 / ((1 + slope * slope) * elements_from(shape, 1)));
  return uniform(session, shape, -bound, bound, dtype);
}

Tensor kaiming_normal(Session& session, const Shape& shape, double slope, DType dtype) {
  require_outputs(shape, "kaiming_normal");
  return normal(session, shape, 0, std::sqrt(2 / ((1 + slope * slope) * elements_from(shape, 1))), dtype);
}

}  // namespace etch::nn
