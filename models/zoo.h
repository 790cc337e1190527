// The model zoo: small networks with the shapes of MLPerf Tiny, two classics, a detector and a classifier of bytes, with weights made from
// their names. Each is written twice, as an ONNX graph and by the Tensor API; both give the same outputs. To add one: a file beside this
// one and a row in zoo.cc.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace etch {

class GraphBuilder;

struct ZooModel {
  const char* name;
  const char* what;
  std::vector<std::int64_t> input_shape;  // -1: the open dimension "batch"
  std::vector<std::int64_t> output_shape;
  /// Adds the nodes that compute the network; returns the output value's name.
  std::string (*build)(GraphBuilder& graph, const std::string& input);
  /// The same network on a Tensor.
  Tensor (*tensor)(const Tensor& input);
  /// 0: the input is float32; else it holds int64 numbers from 0 to below this.
  std::int64_t ids = 0;

  DType input_type() const { return ids > 0 ? DType::Int64 : DType::Float32; }
};

/// All models, in the order in which they are listed to people.
const std::vector<ZooModel>& zoo();
/// The model with that name; UserError if there is none.
const ZooModel& zoo_model(const std::string& name);
/// The bytes of the model's ONNX file: input "input", output "output".
std::string zoo_bytes(const ZooModel& model);
/// Writes DIR/NAME.onnx for all models; returns the paths.
std::vector<std::filesystem::path> write_zoo(const std::filesystem::path& folder);

// The networks; see their files.
std::string build_mlp(GraphBuilder& graph, const std::string& input);
Tensor tensor_mlp(const Tensor& input);
std::string build_lenet(GraphBuilder& graph, const std::string& input);
std::string build_lenet_batch(GraphBuilder& graph, const std::string& input);
Tensor tensor_lenet(const Tensor& input);
std::string build_ds_cnn(GraphBuilder& graph, const std::string& input);
Tensor tensor_ds_cnn(const Tensor& input);
std::string build_resnet8(GraphBuilder& graph, const std::string& input);
Tensor tensor_resnet8(const Tensor& input);
std::string build_mobilenet_v1_025(GraphBuilder& graph, const std::string& input);
Tensor tensor_mobilenet_v1_025(const Tensor& input);
std::string build_autoencoder(GraphBuilder& graph, const std::string& input);
Tensor tensor_autoencoder(const Tensor& input);
std::string build_detector(GraphBuilder& graph, const std::string& input);
Tensor tensor_detector(const Tensor& input);
std::string build_file_type(GraphBuilder& graph, const std::string& input);
Tensor tensor_file_type(const Tensor& input);

}  // namespace etch
