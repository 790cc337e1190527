#include "onnx/states.h"

#include <algorithm>

#include "base/error.h"
#include "base/nearest.h"
#include "lazy/graph.h"

namespace etch {
namespace {

std::vector<std::string> names_of(const std::vector<ImportedTensor>& tensors) {
  std::vector<std::string> names;
  for (const ImportedTensor& t : tensors) names.push_back(t.name);
  return names;
}

std::string text_of(const ImportedTensor& tensor) { return std::string(name_of(tensor.dtype)) + " " + shape_text(tensor.shape); }

std::vector<ImportedTensor>::iterator find(std::vector<ImportedTensor>& among, const std::string& name, const std::string& place,
                                           const char* what) {
  const auto found = std::ranges::find(among, name, &ImportedTensor::name);
  if (found != among.end()) return found;
  throw UserError(
      place, std::string("the model has no ") + what + " '" + name + "' left",
      among.empty() ? std::string("it has no ") + what + "s" : std::string("its ") + what + "s: " + nearest_text(name, names_of(among)));
}

}  // namespace

void bind_states(ImportedModel& model, const std::vector<StateBinding>& bindings) {
  for (const auto& [input, output] : bindings) {
    const std::string place = "--state " + input + "=" + output;
    const auto in = find(model.inputs, input, place, "input");
    const auto out = find(model.outputs, output, place, "output");
    if (in->dtype != out->dtype || in->shape != out->shape)
      throw UserError(place, "the input is " + text_of(*in) + ", the output " + text_of(*out),
                      "what a state becomes has its shape and type");
    if (!variables(in->shape).empty())
      throw UserError(place, "the input is " + text_of(*in) + ": its size is open", "give the dimension one value, --dim NAME=N");
    model.graph->make_state(in->tensor.buffer(), {});
    model.states.push_back({*in, out->tensor});
    model.inputs.erase(in);
    model.outputs.erase(out);
  }
}

}  // namespace etch
