// For tests of custom operators: models with one, functions for it, and what runs them.
#pragma once

#include <onnx/onnx_pb.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "driver/compile.h"
#include "driver/custom.h"
#include "emit/build.h"
#include "onnx/builder.h"
#include "onnx/types.h"
#include "support/usable.h"
#include "target/target.h"

namespace etch::test {

/// Adds a node of a domain of its own, with its declared output.
inline GraphBuilder::Value custom_node(GraphBuilder& g, const std::string& op, const std::vector<GraphBuilder::Value>& inputs,
                                       const OnnxAttributes& attributes, const std::string& name) {
  g.node_with_outputs(op, inputs, {name}, attributes, name, "com.example");
  return name;
}

/// Declares a value, so that the importer knows it.
inline GraphBuilder::Value declare(GraphBuilder& g, const GraphBuilder::Value& value, const std::vector<OnnxDim>& shape,
                                   DType dtype = DType::Float32) {
  auto& info = *g.proto().mutable_graph()->add_value_info();
  info.set_name(value);
  auto& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type_of(dtype));
  for (const OnnxDim& d : shape) {
    auto& dim = *type.mutable_shape()->add_dim();
    if (d.name.empty())
      dim.set_dim_value(d.value);
    else
      dim.set_dim_param(d.name);
  }
  return value;
}

inline std::vector<CustomOperator> customs(const std::map<std::string, std::string>& files, const std::vector<CustomBinding>& bindings) {
  const TempDir dir("etch-custom");
  std::vector<std::filesystem::path> paths;
  for (const auto& [name, text] : files) {
    paths.push_back(dir.path() / name);
    write_file(paths.back(), text);
  }
  return read_custom_operators(paths, bindings);
}

inline CompileOptions options_for(const std::string& model, std::vector<CustomOperator> operators, const std::string& target = "c99") {
  CompileOptions options;
  options.import.bytes = model;
  options.import.path = "net.onnx";
  options.import.customs = std::move(operators);
  options.target = find_target(target, std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  options.tool_version = "0";
  return options;
}

/// Every device that can be used here.
inline std::vector<std::unique_ptr<Device>> devices(DeviceOptions options = {}) {
  static const TempDir cache("etch-custom");  // a function is compiled once for all devices
  if (options.cache.dir.empty()) options.cache.dir = cache.path();
  options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
  std::vector<std::unique_ptr<Device>> made;
  for (const std::string& name : device_names()) {
    UsableDevice row = usable(make_device(name, options));
    if (row) made.push_back(std::move(row.device));
    if (!row.why.empty()) std::cout << row.why << "\n";
  }
  return made;
}

/// The outputs on each device, by its name.
inline std::map<std::string, std::vector<Array>> run_everywhere(const CompileOptions& options, const std::vector<Array>& inputs,
                                                                const VarValues& vars = {}, const DeviceOptions& device_options = {}) {
  const Frontend frontend = read_model(options);
  std::map<std::string, std::vector<Array>> outputs;
  for (const auto& device : devices(device_options)) {
    const Program program = lower_model(frontend, device->language(), options);
    outputs[device->name()] = device->load(program)->run(inputs, vars);
  }
  return outputs;
}

/// Its self-test, compiled by `compiler` without a warning.
inline void expect_builds_and_passes(const std::filesystem::path& dir, const std::string& compiler) {
  std::vector<std::string> args{"-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror", "-O1", "-o", "test"};
  for (const std::string& file : c_files(dir)) args.push_back(file);
  args.push_back("-lm");
  const ProcessResult built = run_in(dir, compiler, args);
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(run_in(dir, "./test").out, "PASS\n");
}

/// The error of what `run` does; empty if there is none.
template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

}  // namespace etch::test
