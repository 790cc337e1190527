// The ONNX backend's node tests, as the package libonnx-testdata installs them: a folder as an imported model with its data.
#pragma once

#include <onnx/onnx_pb.h>

#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/evaluate.h"

namespace etch::test {

inline const char* const kNodeSuite = "/usr/share/libonnx-testdata/data/node";

/// All folders, sorted; none if the package is not installed.
inline std::set<std::filesystem::path> node_suite_folders() {
  std::set<std::filesystem::path> folders;
  if (!std::filesystem::exists(kNodeSuite)) return folders;
  for (const auto& entry : std::filesystem::directory_iterator(kNodeSuite)) folders.insert(entry.path());
  return folders;
}

struct NodeCase {
  ImportedModel model;
  std::vector<std::map<std::string, Array>> inputs;  // of each data set, by name
  std::vector<std::vector<Array>> wanted;
};

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The model with its inputs from `first` on turned into initializers that hold the data set's values: what exporters write
/// where the tests have shapes, axes and sizes as inputs. Empty if there is no such input.
inline std::string with_constants(const std::filesystem::path& folder, int first) {
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

/// Imports the folder as it is; where a value must be known while generating, with all inputs but the first as constants,
/// then with all. Throws the last UserError if none of them is accepted.
inline NodeCase import_node_case(const std::filesystem::path& folder) {
  constexpr int kAsItIs = -1;
  NodeCase c;
  std::exception_ptr refusal;
  for (int first : {kAsItIs, 1, 0}) {
    const std::string bytes = first == kAsItIs ? "" : with_constants(folder, first);
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
  for (int set = 0; std::filesystem::exists(folder / ("test_data_set_" + std::to_string(set))); ++set) {
    const std::filesystem::path data = folder / ("test_data_set_" + std::to_string(set));
    const std::vector<NamedArray> inputs = read_data_set(data, "input"), wanted = read_data_set(data, "output");
    std::map<std::string, Array> values;
    for (std::size_t i = 0; i < c.model.inputs.size(); ++i)
      values[c.model.inputs[i].name] = as_declared(inputs.at(i).array, c.model.inputs[i].dtype);
    c.inputs.push_back(std::move(values));
    c.wanted.emplace_back();
    for (std::size_t i = 0; i < wanted.size(); ++i) c.wanted.back().push_back(as_declared(wanted[i].array, c.model.outputs.at(i).dtype));
  }
  return c;
}

/// Empty if `got` is what the data set holds. numpy has no bfloat16: the data were made by cutting bits off, ours are
/// rounded, so they differ by one step.
inline std::string node_case_difference(const std::vector<Array>& got, const std::vector<Array>& wanted) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double rtol = wanted[i].dtype() == DType::BFloat16 ? 1.0 / 128 : 1e-3;
    const std::string text = difference(got.at(i), wanted[i], rtol, 1e-6);
    if (!text.empty()) return "output " + std::to_string(i) + ": " + text;
  }
  return "";
}

}  // namespace etch::test
