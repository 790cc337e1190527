// The operators of the domain ai.onnx.preview.training: gradients of a part of the graph, and one step of three optimisers.
#include <algorithm>
#include <cmath>
#include <set>

#include "ir/lazyop.h"
#include "onnx/operators.h"
#include "onnx/ops_common.h"

namespace etch::operators {
namespace {

/// Input `i` as a scalar: the rate R or the count T of an optimiser.
Tensor scalar_input(const NodeContext& node, int i, const std::string& name) {
  const Tensor x = node.input(i);
  if (!x.size().is_int(1))
    node.fail("its " + name + " (input " + std::to_string(i) + ") has the shape " + shape_text(x.shape()), "it must be one number");
  return x.reshape({});
}

/// What an optimiser gets for one of its tensors X: in the order of the inputs, all of X's shape and type.
struct OptimiserInputs {
  Tensor rate, count;  // scalars of X's type
  Tensor first;        // whether the count is 0 or less
  std::vector<Tensor> values;
};

std::string type_and_shape(const Tensor& x) { return std::string(name_of(x.dtype())) + " " + shape_text(x.shape()); }

/// The inputs are R, T, and then `names`, of each as many as there are tensors to optimise; so are the outputs, which `update` makes of the
/// inputs of one tensor.
template <class Update>
Outputs optimised(const NodeContext& node, const std::vector<std::string>& names, Update update) {
  const int each = static_cast<int>(names.size()), given = std::max(node.input_count() - 2, 0), tensors = given / each;
  if (given == 0 || given % each != 0) {
    std::string list;
    for (const std::string& name : names) list += ", " + name;
    node.fail("it has " + std::to_string(node.input_count()) + " inputs",
              "R, T and for each tensor" + list.substr(1) + " are expected: 2 inputs and " + std::to_string(each) + " a tensor");
  }
  const Tensor rate = scalar_input(node, 0, "R"), count = scalar_input(node, 1, "T");
  std::vector<std::vector<Tensor>> outputs;
  for (int k = 0; k < tensors; k++) {
    OptimiserInputs step{
        .rate = rate.cast(node.input(2 + k).dtype()), .count = count.cast(node.input(2 + k).dtype()), .first = count < 1.0, .values = {}};
    for (int n = 0; n < each; n++) {
      const int i = 2 + n * tensors + k;
      step.values.push_back(node.input(i));
      if (step.values[0].shape() == step.values.back().shape() && step.values[0].dtype() == step.values.back().dtype()) continue;
      node.fail("its input " + std::to_string(i) + " (" + names[static_cast<std::size_t>(n)] + ") is " + type_and_shape(node.input(i)) +
                    ", its input " + std::to_string(2 + k) + " (X) " + type_and_shape(node.input(2 + k)),
                "both must have one shape and type");
    }
    outputs.push_back(update(step));
  }
  Outputs result;
  for (std::size_t n = 0; n < outputs[0].size(); n++)
    for (const std::vector<Tensor>& of_tensor : outputs) result.push_back(of_tensor[n]);
  return result;
}

/// A number that the node may leave out. ONNX's default is a float, which is not quite its decimal number in float64.
double optional_float(NodeContext& node, const std::string& name, float fallback) {
  return node.attribute_float(name, static_cast<double>(fallback));
}

/// 1 - base^count. A base near 1 keeps its digits as e to the count * log(base).
Tensor one_minus_power(double base, const Tensor& count) {
  if (base > 0) return (count * std::log(base)).unary(Op::Expm1).neg();
  return count.full_like(1) - count.full_like(base).pow(count);
}

}  // namespace

Outputs adagrad(NodeContext& node) {
  const double decay = optional_float(node, "decay_factor", 0), epsilon = optional_float(node, "epsilon", 1e-6F),
               norm = optional_float(node, "norm_coefficient", 0);
  return optimised(node, {"X", "G", "H"}, [=](const OptimiserInputs& s) -> Outputs {
    const Tensor &x = s.values[0], g = x * norm + s.values[1];
    const Tensor sum = s.values[2] + g * g;
    return {x - g * (s.rate / (s.count * decay + 1.0)) / (sum.sqrt() + epsilon), sum};
  });
}

Outputs adam(NodeContext& node) {
  const double alpha = optional_float(node, "alpha", 0.9F), beta = optional_float(node, "beta", 0.999F),
               epsilon = optional_float(node, "epsilon", 1e-6F), norm = optional_float(node, "norm_coefficient", 0),
               norm_after = optional_float(node, "norm_coefficient_post", 0);
  return optimised(node, {"X", "G", "V", "H"}, [=](const OptimiserInputs& s) -> Outputs {
    const Tensor &x = s.values[0], g = x * norm + s.values[1];
    const Tensor v = s.values[2] * alpha + g * (1 - alpha), h = s.values[3] * beta + g * g * (1 - beta);
    const Tensor count = s.count.maximum(s.count.full_like(1));  // for 0, where it is not used, all stays finite
    const Tensor adjusted = s.rate * one_minus_power(beta, count).sqrt() / one_minus_power(alpha, count);
    const Tensor next = x - v * s.first.where(s.rate, adjusted) / (h.sqrt() + epsilon);
    return {norm_after == 0 ? next : next * (1 - norm_after), v, h};
  });
}

Outputs momentum(NodeContext& node) {
  const double alpha = node.attribute_float("alpha"), beta = node.attribute_float("beta"), norm = node.attribute_float("norm_coefficient");
  const std::string mode = node.attribute_string("mode");
  if (mode != "standard" && mode != "nesterov") node.fail("attribute mode is '" + mode + "'", "accepted are standard and nesterov");
  return optimised(node, {"X", "G", "V"}, [=](const OptimiserInputs& s) -> Outputs {
    const Tensor &x = s.values[0], g = x * norm + s.values[1];
    const Tensor scale = s.first.where(s.rate.full_like(1), s.rate.full_like(beta));
    const Tensor v = s.values[2] * alpha + g * scale;
    return {x - (mode == "nesterov" ? g + v * alpha : v) * s.rate, v};
  });
}

/// The gradients of y are those of the sum of its elements, so that each has the shape of its x: ONNX's text has y = dO/dW, a tensor, but
/// no rule for it. Values that the graph computes y from, beside those in xs and zs, are those of the graph.
Outputs gradient(NodeContext& node) {
  std::vector<std::string> names = node.attribute_strings("xs");
  const std::size_t wanted = names.size();
  const std::string y = node.attribute_string("y");
  for (const std::string& name : node.attribute_strings("zs", std::vector<std::string>{})) names.push_back(name);
  if (static_cast<std::size_t>(node.input_count()) != names.size())
    node.fail("it has " + std::to_string(node.input_count()) + " inputs, xs and zs name " + std::to_string(names.size()) + " values",
              "give one input for each name");
  if (static_cast<std::size_t>(node.output_count()) > wanted)
    node.fail("it has " + std::to_string(node.output_count()) + " outputs, xs names " + std::to_string(wanted) + " values",
              "give at most one output for each name in xs");
  if (std::set<std::string>(names.begin(), names.end()).size() < names.size())
    node.fail("a value stands twice in xs and zs", "name each once");
  std::vector<std::pair<std::string, Tensor>> instead;
  std::vector<Tensor> xs;
  for (std::size_t k = 0; k < names.size(); k++) {
    Tensor value = node.input(static_cast<int>(k));
    if (k < wanted && !is_float(value.dtype()))
      node.fail("its input " + std::to_string(k) + " ('" + names[k] + "' in xs) is " + std::string(name_of(value.dtype())) +
                    ", only floats have gradients",
                "name it in zs instead of xs");
    const bool is_wanted = k < wanted && node.has_output(static_cast<int>(k));
    if (is_wanted) value = value.watched();
    if (k < wanted) xs.push_back(is_wanted ? value : Tensor());
    instead.emplace_back(names[k], value);
  }
  const Tensor of = node.recomputed(y, instead);
  if (!is_float(of.dtype())) node.fail("its y '" + y + "' is " + std::string(name_of(of.dtype())), "only floats are differentiated");
  std::vector<Tensor> asked;
  std::ranges::copy_if(xs, std::back_inserter(asked), [](const Tensor& x) { return static_cast<bool>(x); });
  const std::vector<Tensor> found = Tensor::gradients({of}, asked, {of.full_like(1)});
  std::size_t next = 0;
  for (Tensor& x : xs) {
    if (!x) continue;
    const Tensor& result = found[next++];
    x = result ? result : x.full_like(0);  // y is computed from it in steps only: comparisons, sizes
  }
  return xs;
}

}  // namespace etch::operators
