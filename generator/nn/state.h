// Names for the tensors of a network and of its optimiser, and files of them.
//
//   nn::StateDict state;
//   nn::add(state, "fc1.", fc1.members());
//   nn::save(session, state, "network.safetensors");
//   nn::load(session, state, "network.safetensors");   // into the same memory
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "jit/session.h"
#include "lazy/tensor.h"

namespace etch::nn {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};
/// Realized tensors by name, in the order in which they were added.
using StateDict = std::vector<NamedTensor>;

/// Adds `members` under names that begin with `prefix`. UserError if a name is there already.
void add(StateDict& state, const std::string& prefix, const StateDict& members);
/// Those that an optimiser may change: all but integers and those that require no gradient.
std::vector<Tensor> parameters(const StateDict& state);
StateDict with_prefix(const StateDict& state, const std::string& prefix);

/// Writes the values as a safetensors file, whole or not at all. UserError if that fails.
void save(Session& session, const StateDict& state, const std::filesystem::path& file);
/// Gives the tensors the values of the file. UserError, before any of them has changed, unless the file has the same names with the same
/// shapes and types; `strict` false accepts names of the file that `state` has not.
void load(Session& session, const StateDict& state, const std::filesystem::path& file, bool strict = true);

}  // namespace etch::nn
