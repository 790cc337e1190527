// The kind of a file from its bytes: token ids through an embedding, one convolution, the largest of each channel, a dense layer.
#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

constexpr std::int64_t kIds = 257, kWidth = 64, kKinds = 20;  // 256 bytes, and one id for what is beyond the file's end

}  // namespace

std::string build_file_type(GraphBuilder& graph, const std::string& input) {
  const std::string table = graph.seeded("embedding.weight", {kIds, kWidth}, kWidth);
  std::string x = graph.node("Gather", {table, input}, {{"axis", 0}}, "embedding");
  x = graph.node("Transpose", {x}, {{"perm", GraphBuilder::Ints{0, 2, 1}}}, "channels_first");
  x = graph.relu(graph.conv(x, "conv", kWidth, kWidth, {5}, {4}, {2, 2}));
  x = graph.node("Flatten", {graph.node("GlobalMaxPool", {x}, {}, "largest")}, {{"axis", 1}}, "flatten");
  return graph.node("Softmax", {graph.dense(x, "fc", kWidth, kKinds)}, {{"axis", 1}}, "softmax");
}

Tensor tensor_file_type(const Tensor& input) {
  const Tensor table = layers::embedding(input.graph(), "embedding", kIds, kWidth);
  const Tensor x =
      layers::conv(table.gather(0, input).permute({0, 2, 1}), "conv", kWidth, {.kernel = {5}, .stride = {4}, .pads = {{2, 2}}});
  return layers::dense(x.relu().max({2}, false), "fc", kKinds).softmax(1);
}

}  // namespace etch
