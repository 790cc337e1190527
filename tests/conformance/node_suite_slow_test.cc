// The ONNX backend's node tests through the whole pipeline: imported, scheduled, lowered to C, compiled, run with guard zones
// around every buffer. Many models share one compilation.
#include <gtest/gtest.h>

#include <iostream>

#include "device/device.h"
#include "lazy/graph.h"
#include "program/lower.h"
#include "renderer/language.h"
#include "schedule/schedule.h"
#include "support/needs.h"
#include "support/node_suite.h"
#include "support/usable.h"

namespace etch {
namespace {

constexpr std::size_t kModelsPerCompilation = 100;

Program program_of(const ImportedModel& model) {
  std::vector<OutputSpec> outputs;
  for (const ImportedTensor& output : model.outputs) outputs.push_back({output.c_name, output.tensor});
  const Schedule schedule = create_schedule(*model.graph, outputs);
  verify(schedule);
  LowerOptions options;
  options.language = &kC;
  for (const ImportedTensor& input : model.inputs) options.inputs.push_back(input.tensor.buffer());
  Program program = lower(model.graph, schedule, options);
  verify(program);
  return program;
}

/// Appends the buffers, kernels and calls of `part` to those of `all`; its names get a prefix.
void append(Program& all, const Program& part, const std::string& prefix) {
  const int buffers = static_cast<int>(all.buffers.size()), kernels = static_cast<int>(all.kernels.size()),
            calls = static_cast<int>(all.calls.size());
  for (ProgramBuffer b : part.buffers) {
    b.name = prefix + b.name;
    all.buffers.push_back(std::move(b));
  }
  for (ProgramKernel k : part.kernels) {
    k.text.source = "#define " + k.name + " " + prefix + k.name + "\n" + k.text.source + "\n#undef " + k.name + "\n";
    k.name = prefix + k.name;
    all.kernels.push_back(std::move(k));
  }
  for (ProgramCall c : part.calls) {
    c.kernel += kernels;
    for (CallArgument& a : c.arguments) a.buffer += buffers;
    all.calls.push_back(std::move(c));
  }
  for (ProgramLoop l : part.loops) {  // counters have a meaning in their loop alone, so they may share a name
    l.first += calls;
    l.end += calls;
    all.loops.push_back(std::move(l));
  }
  for (int b : part.inputs) all.inputs.push_back(b + buffers);
  for (int b : part.outputs) all.outputs.push_back(b + buffers);
}

struct Batch {
  Program program{.language = &kC,
                  .variables = {},
                  .buffers = {},
                  .kernels = {},
                  .calls = {},
                  .loops = {},
                  .inputs = {},
                  .outputs = {},
                  .folded = {},
                  .owner = {}};
  std::vector<std::string> names;
  std::vector<test::NodeCase> cases;
  std::vector<Program> parts;  // keep what the kernels point into
};

/// Some data sets of CastLike hold fewer elements than the model declares; only their type counts.
Array as_shaped(const Array& array, const ImportedTensor& input) {
  std::vector<std::int64_t> shape;
  for (const Sint& d : input.shape) shape.push_back(d.as_int());
  return array.shape() == shape ? array : Array::filled(array.dtype(), shape, Scalar::of_int(array.dtype(), 0));
}

/// Number of models in the batch that give the right outputs.
int run(const Batch& batch) {
  DeviceOptions options;
  options.of<COptions>().flags = {"-std=gnu11", "-O1"};
  options.timeout_s = 1200;
  options.guards = true;
  const auto loaded = make_device("c", options)->load(batch.program);
  std::vector<Array> inputs;
  for (const test::NodeCase& c : batch.cases) {
    for (const ImportedTensor& input : c.model.inputs) inputs.push_back(as_shaped(c.inputs.at(0).at(input.name), input));
  }
  const std::vector<Array> outputs = loaded->run(inputs);
  std::size_t first = 0;
  int passed = 0;
  for (std::size_t i = 0; i < batch.cases.size(); i++) {
    const std::size_t count = batch.cases[i].model.outputs.size();
    const auto begin = outputs.begin() + static_cast<std::ptrdiff_t>(first);
    const std::string difference =
        test::node_case_difference({begin, begin + static_cast<std::ptrdiff_t>(count)}, batch.cases[i].wanted.at(0));
    EXPECT_EQ(difference, "") << batch.names[i];
    passed += difference.empty();
    first += count;
  }
  return passed;
}

TEST(NodeSuiteC, GivesTheExpectedOutputs) {
  const auto folders = test::node_suite_folders();
  if (const std::string why = test::missing_package("libonnx-testdata", test::kNodeSuite); !why.empty()) GTEST_SKIP() << why;
  if (const std::string why = test::why_not(*make_device("c")); !why.empty()) GTEST_SKIP() << why;
  int passed = 0;
  Batch batch;
  const auto flush = [&] {
    try {
      if (!batch.cases.empty()) passed += run(batch);
    } catch (const std::exception& error) {
      ADD_FAILURE() << batch.names.front() << " to " << batch.names.back() << ": " << error.what();
    }
    batch = Batch{};
  };
  for (const std::filesystem::path& folder : folders) {
    const std::string name = folder.filename().string();
    try {
      test::NodeCase c = test::import_node_case(folder);
      Program part = program_of(c.model);
      append(batch.program, part, "m" + std::to_string(batch.cases.size()) + "_");
      batch.parts.push_back(std::move(part));
      batch.cases.push_back(std::move(c));
      batch.names.push_back(name);
    } catch (const UserError&) {
      continue;  // refused: the importer's test counts these
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
    if (batch.cases.size() == kModelsPerCompilation) flush();
  }
  flush();
  std::cout << passed << " passed of " << folders.size() << "\n";
  if (folders.size() == test::kNodeSuiteFolders) EXPECT_EQ(passed, test::kNodeSuitePassed);
  EXPECT_GE(passed, 800);
}

}  // namespace
}  // namespace etch
