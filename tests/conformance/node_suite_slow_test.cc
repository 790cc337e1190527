// The ONNX backend's node tests through the whole pipeline: imported, scheduled, lowered, compiled, run with guard zones around
// every buffer. Many models share one compilation. All run on C, a fixed tenth on the other backends; all of them there in the long
// tests (node_suite_full_test.cc).
#include <gtest/gtest.h>

#include <iostream>

#include "device/device.h"
#include "lazy/graph.h"
#include "program/lower.h"
#include "renderer/language.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/needs.h"
#include "support/node_suite.h"

namespace etch {
namespace {

struct BackendCase {
  const char* name;
  std::size_t every;            // of so many models one is run
  std::size_t per_compilation;  // models
};
void PrintTo(const BackendCase& row, std::ostream* out) { *out << row.name; }

// LLVM's text has no preprocessor that could give the kernels of many models names of their own.
#ifdef ETCH_FURTHER_BACKENDS
constexpr BackendCase kBackends[] = {{"llvm", 1, 1}, {"opencl", 1, 100}, {"cuda", 1, 100}};
#else
constexpr BackendCase kBackends[] = {{"c", 1, 100}, {"llvm", 10, 1}, {"opencl", 10, 100}, {"cuda", 10, 100}};
#endif

Program program_of(const ImportedModel& model, const Language& language) {
  std::vector<OutputSpec> outputs;
  for (const ImportedTensor& output : model.outputs) outputs.push_back({output.c_name, output.tensor});
  const Schedule schedule = create_schedule(*model.graph, outputs);
  verify(schedule);
  LowerOptions options;
  options.language = &language;
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
    if (!prefix.empty()) k.text.source = "#define " + k.name + " " + prefix + k.name + "\n" + k.text.source + "\n#undef " + k.name + "\n";
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
  explicit Batch(const Language& language) { program.language = &language; }
  Program program;
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
int run(const Batch& batch, const Device& device) {
  const auto loaded = device.load(batch.program);
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

class NodeSuiteOn : public testing::TestWithParam<BackendCase> {};

TEST_P(NodeSuiteOn, GivesTheExpectedOutputs) {
  const BackendCase& row = GetParam();
  const auto folders = test::node_suite_folders();
  if (const std::string why = test::missing_package("libonnx-testdata", test::kNodeSuite); !why.empty()) GTEST_SKIP() << why;
  const auto device = test::backend(row.name, true);
  if (!device) GTEST_SKIP() << device.why;
  const Language& language = *device->language();
  int passed = 0;
  std::size_t position = 0, accepted = 0;
  Batch batch(language);
  const auto flush = [&] {
    try {
      if (!batch.cases.empty()) passed += run(batch, *device);
    } catch (const std::exception& error) {
      ADD_FAILURE() << batch.names.front() << " to " << batch.names.back() << ": " << error.what();
    }
    batch = Batch(language);
  };
  for (const std::filesystem::path& folder : folders) {
    if (position++ % row.every != 0) continue;
    const std::string name = folder.filename().string();
    try {
      test::NodeCase c = test::import_node_case(folder);
      Program part = program_of(c.model, language);
      append(batch.program, part, row.per_compilation == 1 ? "" : "m" + std::to_string(batch.cases.size()) + "_");
      batch.parts.push_back(std::move(part));
      batch.cases.push_back(std::move(c));
      batch.names.push_back(name);
      accepted++;
    } catch (const UserError&) {
      continue;  // refused: the importer's test counts these
    } catch (const std::exception& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
    if (batch.cases.size() == row.per_compilation) flush();
  }
  flush();
  std::cout << passed << " passed of " << (folders.size() + row.every - 1) / row.every << "\n";
  EXPECT_EQ(static_cast<std::size_t>(passed), accepted);
  EXPECT_GE(accepted * row.every, 800u);
  if (folders.size() == test::kNodeSuiteFolders && row.every == 1) {
    EXPECT_EQ(passed, test::kNodeSuitePassed);
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, NodeSuiteOn, testing::ValuesIn(kBackends), [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace etch
