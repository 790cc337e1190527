// The ONNX backend's node tests, as the package libonnx-testdata installs them: every folder is imported and interpreted.
// What is refused must be refused by a UserError; nothing may come out wrong.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "base/error.h"
#include "support/evaluate.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

struct Outcome {
  enum Kind { Passed, Refused, Failed } kind;
  std::string text;
};

std::string bytes_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The model with its inputs from `first` on turned into initializers that hold the data set's values: what exporters write
/// where the tests have shapes, axes and sizes as inputs. Empty if there is no such input.
std::string with_constants(const fs::path& folder, int first) {
  onnx::ModelProto model;
  if (!model.ParseFromString(bytes_of_file(folder / "model.onnx"))) return "";
  onnx::GraphProto& graph = *model.mutable_graph();
  if (first >= graph.input_size()) return "";
  for (int i = first; i < graph.input_size(); ++i) {
    const std::string bytes = bytes_of_file(folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"));
    onnx::TensorProto& tensor = *graph.add_initializer();
    if (!tensor.ParseFromString(bytes)) return "";
    tensor.set_name(graph.input(i).name());
  }
  graph.mutable_input()->DeleteSubrange(first, graph.input_size() - first);
  return model.SerializeAsString();
}

/// numpy has no bfloat16: the test data were made by cutting bits off, ours are rounded, so they differ by one step.
double relative_tolerance(DType dtype) { return dtype == DType::BFloat16 ? 1.0 / 128 : 1e-3; }

Outcome run_model(const fs::path& folder, const std::string& bytes) {
  try {
    const ImportedModel model = import_onnx({.path = folder / "model.onnx", .bytes = bytes});
    for (int set = 0; fs::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
      const fs::path data = folder / ("test_data_set_" + std::to_string(set));
      const std::vector<NamedArray> inputs = test::read_data_set(data, "input"), wanted = test::read_data_set(data, "output");
      std::map<std::string, Array> values;
      for (std::size_t i = 0; i < model.inputs.size(); ++i)
        values[model.inputs[i].name] = test::as_declared(inputs.at(i).array, model.inputs[i].dtype);
      const std::vector<Array> got = test::evaluate_model(model, values);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const DType dtype = model.outputs.at(i).dtype;
        const std::string difference =
            test::difference(got.at(i), test::as_declared(wanted[i].array, dtype), relative_tolerance(dtype), 1e-6);
        if (!difference.empty()) return {Outcome::Failed, "output " + std::to_string(i) + ": " + difference};
      }
    }
    return {Outcome::Passed, ""};
  } catch (const UserError& error) {
    return {Outcome::Refused, error.problem()};
  } catch (const std::exception& error) {
    return {Outcome::Failed, error.what()};
  }
}

/// As it is; where a value must be known while generating, with all inputs but the first as constants, then with all.
Outcome run_folder(const fs::path& folder) {
  Outcome outcome = run_model(folder, "");
  for (int first = 1; first >= 0 && outcome.kind == Outcome::Refused && outcome.text.find("known while generating") != std::string::npos;
       --first) {
    const std::string bytes = with_constants(folder, first);
    if (!bytes.empty()) outcome = run_model(folder, bytes);
  }
  return outcome;
}

TEST(NodeSuite, NothingFailsAndMostPass) {
  const fs::path root = "/usr/share/libonnx-testdata/data/node";
  if (!fs::exists(root)) GTEST_SKIP() << "package libonnx-testdata is not installed";
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  std::ofstream table(fs::path(ETCH_BUILD_DIR) / "node_suite.txt");  // all outcomes, for reading
  int passed = 0, refused = 0;
  for (const fs::path& folder : folders) {
    const Outcome outcome = run_folder(folder);
    const char* names[] = {"passed", "refused", "FAILED"};
    table << names[outcome.kind] << " " << folder.filename().string() << ": " << outcome.text << std::endl;
    passed += outcome.kind == Outcome::Passed;
    refused += outcome.kind == Outcome::Refused;
    if (outcome.kind == Outcome::Failed) ADD_FAILURE() << folder.filename().string() << ": " << outcome.text;
  }
  std::cout << passed << " passed, " << refused << " refused, of " << folders.size() << "\n";
  EXPECT_GE(passed, 820);
}

}  // namespace
}  // namespace etch
