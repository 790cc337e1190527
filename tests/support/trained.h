// For tests: an emitted training step, built and run by a main() that a user would write, against the library's own training.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.h"
#include "driver/train.h"
#include "emit/write.h"
#include "jit/tinyjit.h"
#include "models/drawings.h"
#include "models/zoo.h"
#include "nn/losses.h"
#include "validate/data_set.h"

namespace etch::test {

/// The options of `etch compile MODEL --train` of a bundled network.
inline CompileOptions trained_options(const std::filesystem::path& folder, const std::string& model, const std::string& target) {
  CompileOptions options;
  options.import.path = folder / (model + ".onnx");
  write_file(options.import.path, zoo_bytes(etch::zoo_model(model)));
  options.target = find_target(target, std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  options.selftest = false;
  return options;
}

/// Trains on `steps` drawn digits of 28 x 28, one each step, and writes the state to state.bin.
inline std::string training_main(const std::string& name, int steps, double rate) {
  std::string pictures, labels, upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  for (int i = 0; i < steps; i++) {
    const Drawing drawing = draw(i, {.seed = 5});
    pictures += "  {" + fmt::format("{}", fmt::join(drawing.grey, ",")) + "},\n";
    labels += fmt::format("{},", drawing.label);
  }
  return fmt::format(R"(#include <stdio.h>
#include "{0}_train.h"
static const unsigned char pictures[{2}][784] = {{
{3}}};
static const int32_t labels[{2}] = {{{4}}};
static union {{ etch_widest widest; unsigned char bytes[{1}_TRAIN_ARENA_BYTES]; }} arena;
static union {{ etch_widest widest; unsigned char bytes[{1}_STATE_BYTES]; }} state;
static float picture[784];
int main(void) {{
  int step, i;
  float loss;
  FILE *file;
  if ({0}_state_init(state.bytes) != ETCH_OK) return 2;
  for (step = 0; step < {2}; step++) {{
    for (i = 0; i < 784; i++) picture[i] = (float)pictures[step][i] / 255.0f;
    if ({0}_train_step(arena.bytes, {1}_TRAIN_ARENA_BYTES, state.bytes, picture, &labels[step], {5}f, &loss) != ETCH_OK) return 3;
  }}
  file = fopen("state.bin", "wb");
  if (file == NULL || fwrite(state.bytes, 1, {1}_STATE_BYTES, file) != {1}_STATE_BYTES) return 4;
  return fclose(file) == 0 ? 0 : 5;
}}
)",
                     name, upper, steps, pictures, labels, rate);
}

/// The same steps by the library, from the weights that the project starts with; the parameters in the order of `project`'s states.
template <class Network>
std::vector<Array> trained_by_library(const CompiledProject& project, const nn::Rule& rule, int steps, double rate) {
  Session session(make_device("llvm"));
  const Network network(session);
  const nn::StateDict parameters = network.state();
  std::vector<Tensor> ordered;
  for (const ProgramState& s : project.program.states) {
    const std::string& name = project.program.buffers[static_cast<std::size_t>(s.buffer)].name;
    const auto at = std::ranges::find(parameters, name, &nn::NamedTensor::name);
    if (at == parameters.end()) break;  // what the rule keeps
    const Array& first = project.program.buffers[static_cast<std::size_t>(s.first)].data;
    session.set_values(at->tensor, first.reshaped(concrete_shape(at->tensor.shape(), {})));
    ordered.push_back(at->tensor);
  }
  nn::Optimizer optimizer(session, nn::parameters(parameters), rule, rate);
  TinyJit step(session, [&](const std::vector<Tensor>& in) {
    optimizer.zero_grad();
    const Tensor loss = nn::sparse_categorical_crossentropy(network(in[0]), in[1]);
    loss.backward();
    optimizer.step();
    return std::vector<Tensor>{};
  });
  Tensor picture, label;
  for (int i = 0; i < steps; i++) {
    const DrawingBatch batch = draw_batch(i, 1, {.seed = 5});
    if (i == 0) {
      picture = session.from(batch.pictures);
      label = session.from(batch.labels);
    }
    session.set_values(picture, batch.pictures);
    session.set_values(label, batch.labels);
    step({picture, label});
  }
  std::vector<Array> result;
  for (const Tensor& t : ordered) result.push_back(session.values(t));
  return result;
}

}  // namespace etch::test
