// The ONNX backend's node tests, as the package libonnx-testdata installs them: a folder as an imported model with its data.
#pragma once

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/evaluate.h"
#include "support/files.h"

namespace etch::test {

inline const char* const kNodeSuite = "/usr/share/libonnx-testdata/data/node";

/// The number of folders in the package of Debian 12 (932 of nodes, 2 of Gradient), and how many of them etch accepts; the others are not
/// supported yet or out of scope (control flow, sequences, text).
inline constexpr std::size_t kNodeSuiteFolders = 934;
inline constexpr int kNodeSuitePassed = 834;

/// All folders, sorted, also those of Gradient, which the package has beside the ones of nodes, in `simple`; none if it is not installed.
inline std::set<std::filesystem::path> node_suite_folders(const std::filesystem::path& suite = kNodeSuite) {
  std::set<std::filesystem::path> folders;
  if (!std::filesystem::exists(suite)) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(suite)) folders.insert(entry.path());
  for (const char* name : {"test_gradient_of_add", "test_gradient_of_add_and_mul"}) {
    const std::filesystem::path folder = suite.parent_path() / "simple" / name;
    if (std::filesystem::exists(folder)) folders.insert(folder);
  }
  return folders;
}

struct NodeCase {
  ImportedModel model;
  std::vector<std::map<std::string, Array>> inputs;  // of each data set, by name
  std::vector<std::vector<Array>> wanted;
};

/// Whose model in ONNX 1.12 lacks an attribute, epsilon = 0.01, which its outputs were computed with; later versions have it.
inline constexpr const char* kWrongModel = "test_adam_multiple";

/// The model as it was meant where the package has a wrong one; else empty.
inline std::string corrected(const std::filesystem::path& folder) {
  onnx::ModelProto model;
  if (folder.filename() != kWrongModel || !model.ParseFromString(content(folder / "model.onnx"))) return "";
  onnx::NodeProto& node = *model.mutable_graph()->mutable_node(0);
  for (const auto& attribute : node.attribute())
    if (attribute.name() == "epsilon") return "";
  onnx::AttributeProto& epsilon = *node.add_attribute();
  epsilon.set_name("epsilon");
  epsilon.set_type(onnx::AttributeProto::FLOAT);
  epsilon.set_f(0.01F);
  return model.SerializeAsString();
}

/// The model with its inputs from `first` on turned into initializers that hold the data set's values: what exporters write
/// where the tests have shapes, axes and sizes as inputs. Empty if there is no such input.
inline std::string with_constants(const std::filesystem::path& folder, int first) {
  onnx::ModelProto model;
  if (!model.ParseFromString(content(folder / "model.onnx"))) return "";
  onnx::GraphProto& graph = *model.mutable_graph();
  if (first >= graph.input_size()) return "";
  for (int i = first; i < graph.input_size(); i++) {
    const std::string bytes = content(folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb"));
    onnx::TensorProto& tensor = *graph.add_initializer();
    if (!tensor.ParseFromString(bytes)) return "";
    tensor.set_name(graph.input(i).name());
  }
  graph.mutable_input()->DeleteSubrange(first, graph.input_size() - first);
  return model.SerializeAsString();
}

/// Imports the folder as it is. If that fails because a value must be known while generating, imports it with all inputs except the
/// first as constants, then with all. Throws the last UserError if none of these is accepted.
inline NodeCase import_node_case(const std::filesystem::path& folder) {
  constexpr int kAsItIs = -1;
  NodeCase c;
  std::exception_ptr refusal;
  for (int first : {kAsItIs, 1, 0}) {
    const std::string bytes = first == kAsItIs ? corrected(folder) : with_constants(folder, first);
    if (first != kAsItIs && bytes.empty()) continue;
    try {
      c.model = import_onnx({.path = folder / "model.onnx", .bytes = bytes});
      refusal = nullptr;
      break;
    } catch (const UserError& error) {
      if (error.problem().find("known while generating") == std::string::npos) throw;
      refusal = std::current_exception();
    }
  }
  if (refusal) std::rethrow_exception(refusal);
  for (int set = 0; std::filesystem::exists(folder / ("test_data_set_" + std::to_string(set))); set++) {
    const std::filesystem::path data = folder / ("test_data_set_" + std::to_string(set));
    const std::vector<NamedArray> inputs = read_data_set(data, "input"), wanted = read_data_set(data, "output");
    std::map<std::string, Array> values;
    for (std::size_t i = 0; i < c.model.inputs.size(); i++)
      values[c.model.inputs[i].name] = as_declared(inputs.at(i).array, c.model.inputs[i].dtype);
    c.inputs.push_back(std::move(values));
    c.wanted.emplace_back();
    for (std::size_t i = 0; i < wanted.size(); i++) c.wanted.back().push_back(as_declared(wanted[i].array, c.model.outputs.at(i).dtype));
  }
  return c;
}

/// Empty if `got` equals the data set's output. The bfloat16 data was made by truncation (numpy has no bfloat16) and etch rounds, so
/// they may differ by one step. ONNX functions that are expanded to operators round to 16 bits after each operator: they may differ by
/// more `steps`.
inline std::string node_case_difference(const std::vector<Array>& got, const std::vector<Array>& wanted, int steps = 1) {
  if (wanted.empty()) return "no output is expected";
  for (std::size_t i = 0; i < wanted.size(); i++) {
    const double rtol = wanted[i].dtype() == DType::BFloat16               ? steps / 128.0
                        : wanted[i].dtype() == DType::Float16 && steps > 1 ? steps / 1024.0
                                                                           : 1e-3;
    const std::string text = difference(got.at(i), wanted[i], rtol, 1e-6);
    if (!text.empty()) return "output " + std::to_string(i) + ": " + text;
  }
  return "";
}

struct NodeOutcome {
  enum Kind { Passed, Refused, Failed } kind;
  std::string text;
};

/// The folder's model by the reference, on all of its data sets.
inline NodeOutcome run_node_case(const std::filesystem::path& folder, int steps = 1) {
  try {
    const NodeCase c = import_node_case(folder);
    if (c.inputs.empty()) return {NodeOutcome::Failed, "there is no data set"};
    for (std::size_t set = 0; set < c.inputs.size(); set++) {
      const std::string difference = node_case_difference(evaluate_model(c.model, c.inputs[set]), c.wanted[set], steps);
      if (!difference.empty()) return {NodeOutcome::Failed, difference};
    }
    return {NodeOutcome::Passed, ""};
  } catch (const UserError& error) {
    return {NodeOutcome::Refused, error.problem()};
  } catch (const std::exception& error) {
    return {NodeOutcome::Failed, error.what()};
  }
}

/// Number of folders that pass; each failure is a failure of the running test. All outcomes are written to the file `table`.
inline int run_node_cases(const std::set<std::filesystem::path>& folders, const std::filesystem::path& table, int steps = 1) {
  std::ofstream out(table);
  int passed = 0, refused = 0;
  for (const std::filesystem::path& folder : folders) {
    const NodeOutcome outcome = run_node_case(folder, steps);
    const char* names[] = {"passed", "refused", "FAILED"};
    out << names[outcome.kind] << " " << folder.filename().string() << ": " << outcome.text << std::endl;
    passed += outcome.kind == NodeOutcome::Passed;
    refused += outcome.kind == NodeOutcome::Refused;
    if (outcome.kind == NodeOutcome::Failed) ADD_FAILURE() << folder.filename().string() << ": " << outcome.text;
  }
  std::cout << passed << " passed, " << refused << " refused, of " << folders.size() << "\n";
  return passed;
}

}  // namespace etch::test
