#include "nn/state.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "nn/described.h"
#include "nn/safetensors.h"

namespace etch::nn {

void add(StateDict& state, const std::string& prefix, const StateDict& members) {
  for (const NamedTensor& m : with_prefix(members, prefix)) {
    if (std::ranges::find(state, m.name, &NamedTensor::name) != state.end())
      throw UserError("state '" + m.name + "'", "is there twice", "give each layer a prefix of its own");
    state.push_back(m);
  }
}

StateDict with_prefix(const StateDict& state, const std::string& prefix) {
  StateDict result;
  for (const NamedTensor& m : state) result.push_back({prefix + m.name, m.tensor});
  return result;
}

std::vector<Tensor> parameters(const StateDict& state) {
  std::vector<Tensor> result;
  for (const NamedTensor& m : state)
    if (is_float(m.tensor.dtype()) && m.tensor.requires_grad() != RequiresGrad::No) result.push_back(m.tensor);
  return result;
}

void save(Session& session, const StateDict& state, const std::filesystem::path& file) {
  NamedArrays arrays;
  for (const NamedTensor& m : state) arrays.emplace_back(m.name, session.values(m.tensor));
  write_safetensors(file, arrays);
}

void load(Session& session, const StateDict& state, const std::filesystem::path& file, bool strict) {
  const NamedArrays arrays = read_safetensors(file);
  std::map<std::string, const Array*> by_name;
  for (const auto& [name, array] : arrays) by_name[name] = &array;
  const std::string help = "accepted is a file that was saved from a network of the same layers";
  for (const NamedTensor& m : state) {
    const auto found = by_name.find(m.name);
    if (found == by_name.end()) throw UserError(file.string(), "has no '" + m.name + "', " + described(m.tensor), help);
    const Array& a = *found->second;
    if (a.dtype() != m.tensor.dtype() || Shape(a.shape().begin(), a.shape().end()) != m.tensor.shape())
      throw UserError(file.string(), "'" + m.name + "' is " + described(a) + ", the network's is " + described(m.tensor), help);
    by_name.erase(found);
  }
  if (strict && !by_name.empty())
    throw UserError(file.string(),
                    "has '" + by_name.begin()->first + "', " + described(*by_name.begin()->second) + ", which the network has not", help);
  for (const NamedTensor& m : state) {
    const auto* array = &std::ranges::find(arrays, m.name, &std::pair<std::string, Array>::first)->second;
    session.set_values(m.tensor, *array);
  }
}

}  // namespace etch::nn
