#include "models/zoo.h"

#include "base/error.h"
#include "onnx/builder.h"
#include "onnx/protobuf_file.h"

namespace etch {
namespace {

std::vector<OnnxDim> dims(const std::vector<std::int64_t>& shape) {
  std::vector<OnnxDim> result;
  for (std::int64_t d : shape) result.push_back(d < 0 ? OnnxDim("batch") : OnnxDim(d));
  return result;
}

}  // namespace

const std::vector<ZooModel>& zoo() {
  static const std::vector<ZooModel> models = {
      {"mlp", "perceptron 784-128-64-10, softmax", {1, 784}, {1, 10}, build_mlp, tensor_mlp},
      {"mlp_batch", "mlp with an open batch size", {-1, 784}, {-1, 10}, build_mlp, tensor_mlp},
      {"lenet", "LeNet-like CNN, 28x28 grey images, 10 classes", {1, 1, 28, 28}, {1, 10}, build_lenet, tensor_lenet},
      {"lenet_batch", "lenet with an open batch size", {-1, 1, 28, 28}, {-1, 10}, build_lenet_batch, tensor_lenet},
      {"ds_cnn", "keyword spotting, 49x10 MFCC, 12 words (MLPerf Tiny's shape)", {1, 1, 49, 10}, {1, 12}, build_ds_cnn, tensor_ds_cnn},
      {"resnet8",
       "image classification, 32x32 RGB, 10 classes (MLPerf Tiny's shape)",
       {1, 3, 32, 32},
       {1, 10},
       build_resnet8,
       tensor_resnet8},
      {"mobilenet_v1_025",
       "person detection, 96x96 RGB, 2 classes (MLPerf Tiny's shape)",
       {1, 3, 96, 96},
       {1, 2},
       build_mobilenet_v1_025,
       tensor_mobilenet_v1_025},
      {"autoencoder", "anomaly detection, 640 features (MLPerf Tiny's shape)", {1, 640}, {1, 640}, build_autoencoder, tensor_autoencoder},
      {"detector",
       "object detection, 320x320 RGB, 80 classes (YOLOv8n's layers)",
       {1, 3, 320, 320},
       {1, 84, 2100},
       build_detector,
       tensor_detector},
      {"file_type",
       "kind of a file from 2048 bytes, 20 kinds (Magika's layers)",
       {1, 2048},
       {1, 20},
       build_file_type,
       tensor_file_type,
       257},
  };
  return models;
}

const ZooModel& zoo_model(const std::string& name) {
  std::string names;
  for (const ZooModel& model : zoo()) {
    if (model.name == name) return model;
    names += (names.empty() ? "" : ", ") + std::string(model.name);
  }
  throw UserError("model zoo", "there is no model '" + name + "', there are: " + names);
}

std::string zoo_bytes(const ZooModel& model) {
  GraphBuilder graph(model.name, 13);
  const std::string input = graph.input("input", model.input_type(), dims(model.input_shape));
  graph.node_with_outputs("Identity", {model.build(graph, input)}, {"output"}, {}, "output");
  graph.output("output", DType::Float32, dims(model.output_shape));
  return graph.bytes();
}

std::vector<std::filesystem::path> write_zoo(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw UserError(folder.string(), "the folder can't be made: " + error.message());
  std::vector<std::filesystem::path> paths;
  for (const ZooModel& model : zoo()) {
    paths.push_back(folder / (std::string(model.name) + ".onnx"));
    write_file(paths.back(), zoo_bytes(model));
  }
  return paths;
}

}  // namespace etch
