#include "models/layers.h"

#include <cmath>

#include "onnx/seeded.h"

namespace etch::layers {
namespace {

Tensor around(const Tensor& x, const std::string& name, std::int64_t count, double offset, double scale) {
  return Tensor::constant(x.graph(), seeded_array(name, {count}, static_cast<float>(scale), static_cast<float>(offset)), name);
}

Tensor weight(const Tensor& x, const std::string& name, std::vector<std::int64_t> shape, std::int64_t fan_in) {
  const float scale = static_cast<float>(std::sqrt(6.0 / static_cast<double>(fan_in)));
  return Tensor::constant(x.graph(), seeded_array(name, std::move(shape), scale), name);
}

}  // namespace

Tensor conv(const Tensor& x, const std::string& name, std::int64_t outputs, const Window& window, std::int64_t groups, bool bias) {
  std::int64_t fan_in = x.dim(1).as_int() / groups;
  std::vector<std::int64_t> shape = {outputs, fan_in};
  for (std::int64_t k : window.kernel) {
    shape.push_back(k);
    fan_in *= k;
  }
  const Tensor w = weight(x, name + ".weight", shape, fan_in);
  return x.conv(w, bias ? around(x, name + ".bias", outputs, 0, 0.125) : Tensor(), window, groups);
}

Tensor batch_norm(const Tensor& x, const std::string& name) {
  const std::int64_t channels = x.dim(1).as_int();
  return x.batchnorm(around(x, name + ".scale", channels, 1, 0.25), around(x, name + ".bias", channels, 0, 0.125),
                     around(x, name + ".mean", channels, 0, 0.125), around(x, name + ".var", channels, 1, 0.25),
                     static_cast<double>(1e-3f));
}

Tensor embedding(LazyGraph& graph, const std::string& name, std::int64_t ids, std::int64_t width) {
  const float scale = static_cast<float>(std::sqrt(6.0 / static_cast<double>(width)));
  return Tensor::constant(graph, seeded_array(name + ".weight", {ids, width}, scale), name + ".weight");
}

Tensor dense(const Tensor& x, const std::string& name, std::int64_t outputs) {
  const std::int64_t inputs = x.dim(1).as_int();
  const Tensor w = weight(x, name + ".weight", {outputs, inputs}, inputs);
  return x.linear(w.transpose(), around(x, name + ".bias", outputs, 0, 0.125));
}

}  // namespace etch::layers
