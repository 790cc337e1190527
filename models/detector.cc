// Object detection, 320x320, with the layers of YOLOv8n: a backbone of CSP blocks with SiLU, SPPF, a neck of upsampling and
// concatenation, and a head for each of three scales. 80 classes; boxes as distances to four sides, each the mean of a
// distribution over 16 bins. The network is written once, for whatever has its layers: an ONNX graph, or Tensors.
#include <array>

#include "models/layers.h"
#include "models/zoo.h"
#include "onnx/builder.h"

namespace etch {
namespace {

constexpr std::int64_t kClasses = 80, kBins = 16, kSides = 4;

/// A value and its channels.
template <class Value>
struct Plane {
  Value value;
  std::int64_t channels = 0;
};

// Layers as nodes of a graph.
class GraphLayers {
 public:
  using Value = std::string;
  using Ints = GraphBuilder::Ints;

  explicit GraphLayers(GraphBuilder& graph) : graph_(graph) {}

  Value conv(const Plane<Value>& x, const std::string& name, std::int64_t outputs, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t pad = kernel / 2;
    return graph_.conv(x.value, name, x.channels, outputs, {kernel, kernel}, {stride, stride}, {pad, pad, pad, pad});
  }
  Value silu(const Value& x) { return graph_.node("Mul", {x, graph_.node("Sigmoid", {x})}); }
  Value sigmoid(const Value& x) { return graph_.node("Sigmoid", {x}); }
  Value add(const Value& a, const Value& b) { return graph_.node("Add", {a, b}); }
  Value concat(const std::vector<Value>& parts, std::int64_t axis) { return graph_.node("Concat", parts, {{"axis", axis}}); }
  std::array<Value, 2> split(const Value& x, const std::string& name, std::int64_t first, std::int64_t second) {  // of axis 1
    const Value sizes = graph_.ints(name + ".sizes", {first, second});
    graph_.node_with_outputs("Split", {x, sizes}, {name + ".a", name + ".b"}, {{"axis", 1}}, name);
    return {name + ".a", name + ".b"};
  }
  Value pool5(const Value& x) {
    return graph_.node("MaxPool", {x}, {{"kernel_shape", Ints{5, 5}}, {"strides", Ints{1, 1}}, {"pads", Ints{2, 2, 2, 2}}});
  }
  Value twice_as_large(const Value& x, const std::string& name) {
    const Value scales = graph_.initializer(name + ".scales", Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 1, 2, 2}));
    return graph_.node("Resize", {x, "", scales},
                       {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}}, name);
  }
  Value reshape(const Value& x, const std::string& name, const Ints& shape) {
    return graph_.node("Reshape", {x, graph_.ints(name + ".shape", shape)}, {}, name);
  }
  Value softmax(const Value& x, std::int64_t axis) { return graph_.node("Softmax", {x}, {{"axis", axis}}); }
  Value weighted_sum(const Value& x, const std::string& name, const std::vector<double>& weights) {  // over axis 2 of four
    const Value w =
        graph_.initializer(name, Array::of_doubles(DType::Float32, {1, 1, static_cast<std::int64_t>(weights.size()), 1}, weights));
    return graph_.node("ReduceSum", {graph_.node("Mul", {x, w}), graph_.ints(name + ".axes", {2})}, {{"keepdims", 0}});
  }

 private:
  GraphBuilder& graph_;
};

// The same by the Tensor API.
class TensorLayers {
 public:
  using Value = Tensor;

  Value conv(const Plane<Value>& x, const std::string& name, std::int64_t outputs, std::int64_t kernel, std::int64_t stride) {
    const std::int64_t pad = kernel / 2;
    return layers::conv(x.value, name, outputs, {.kernel = {kernel, kernel}, .stride = {stride, stride}, .pads = {{pad, pad}, {pad, pad}}});
  }
  Value silu(const Value& x) { return x.silu(); }
  Value sigmoid(const Value& x) { return x.sigmoid(); }
  Value add(const Value& a, const Value& b) { return a + b; }
  Value concat(const std::vector<Value>& parts, std::int64_t axis) { return Tensor::cat(parts, static_cast<int>(axis)); }
  std::array<Value, 2> split(const Value& x, const std::string&, std::int64_t first, std::int64_t second) {
    return {x.slice(1, 0, first), x.slice(1, first, first + second)};
  }
  Value pool5(const Value& x) { return x.max_pool({.kernel = {5, 5}, .stride = {1, 1}, .dilation = {}, .pads = {{2, 2}, {2, 2}}}); }
  Value twice_as_large(const Value& x, const std::string&) {
    const Sint n = x.dim(0), c = x.dim(1), h = x.dim(2), w = x.dim(3);
    return x.reshape({n, c, h, 1, w, 1}).expand({n, c, h, 2, w, 2}).reshape({n, c, h * 2, w * 2});
  }
  Value reshape(const Value& x, const std::string&, const std::vector<std::int64_t>& shape) {
    return x.reshape(Shape(shape.begin(), shape.end()));
  }
  Value softmax(const Value& x, std::int64_t axis) { return x.softmax(static_cast<int>(axis)); }
  Value weighted_sum(const Value& x, const std::string& name, const std::vector<double>& weights) {
    const Array w = Array::of_doubles(DType::Float32, {1, 1, static_cast<std::int64_t>(weights.size()), 1}, weights);
    return (x * Tensor::constant(x.graph(), w, name)).sum({2});
  }
};

template <class Layers>
class Detector {
 public:
  using Value = typename Layers::Value;
  using P = Plane<Value>;

  explicit Detector(Layers layers) : layers_(layers) {}

  Value run(const Value& image) {
    P x = unit({image, 3}, "stem", 16, 3, 2);
    x = csp(unit(x, "down1", 32, 3, 2), "csp1", 32, 1, true);
    const P fine = csp(unit(x, "down2", 64, 3, 2), "csp2", 64, 2, true);
    const P middle = csp(unit(fine, "down3", 128, 3, 2), "csp3", 128, 2, true);
    const P coarse = sppf(csp(unit(middle, "down4", 256, 3, 2), "csp4", 256, 1, true), "sppf");
    const P up1 = csp(joined(larger(coarse, "up1"), middle), "csp5", 128, 1, false);
    const P out8 = csp(joined(larger(up1, "up2"), fine), "csp6", 64, 1, false);
    const P out16 = csp(joined(unit(out8, "down5", 64, 3, 2), up1), "csp7", 128, 1, false);
    const P out32 = csp(joined(unit(out16, "down6", 128, 3, 2), coarse), "csp8", 256, 1, false);
    const std::int64_t side = 320 / 8;
    const Value all = layers_.concat(
        {head(out8, "head8", side * side), head(out16, "head16", side * side / 4), head(out32, "head32", side * side / 16)}, 2);
    return decoded(all, side * side + side * side / 4 + side * side / 16);
  }

 private:
  P unit(const P& x, const std::string& name, std::int64_t outputs, std::int64_t kernel, std::int64_t stride = 1) {
    return {layers_.silu(layers_.conv(x, name, outputs, kernel, stride)), outputs};
  }
  P joined(const P& a, const P& b) { return {layers_.concat({a.value, b.value}, 1), a.channels + b.channels}; }
  P larger(const P& x, const std::string& name) { return {layers_.twice_as_large(x.value, name), x.channels}; }

  // Half of the channels goes through `count` bottlenecks, and everything on the way is kept.
  P csp(const P& x, const std::string& name, std::int64_t outputs, int count, bool shortcut) {
    const std::int64_t half = outputs / 2;
    const auto [kept, first] = layers_.split(unit(x, name + ".in", outputs, 1).value, name + ".split", half, half);
    std::vector<Value> parts{kept, first};
    for (int i = 0; i < count; i++) {
      const std::string at = name + ".m" + std::to_string(i);
      const P last{parts.back(), half};
      const P out = unit(unit(last, at + ".a", half, 3), at + ".b", half, 3);
      parts.push_back(shortcut ? layers_.add(last.value, out.value) : out.value);
    }
    return unit({layers_.concat(parts, 1), half * static_cast<std::int64_t>(parts.size())}, name + ".out", outputs, 1);
  }

  // Maxima of three growing windows beside the values themselves.
  P sppf(const P& x, const std::string& name) {
    std::vector<Value> parts{unit(x, name + ".in", x.channels / 2, 1).value};
    for (int i = 0; i < 3; i++) parts.push_back(layers_.pool5(parts.back()));
    return unit({layers_.concat(parts, 1), x.channels * 2}, name + ".out", x.channels, 1);
  }

  // [1, distributions and classes, positions]
  Value head(const P& x, const std::string& name, std::int64_t positions) {
    const P box = unit(unit(x, name + ".box1", 64, 3), name + ".box2", 64, 3);
    const P classes = unit(unit(x, name + ".class1", kClasses, 3), name + ".class2", kClasses, 3);
    const Value both = layers_.concat(
        {layers_.conv(box, name + ".box3", kSides * kBins, 1, 1), layers_.conv(classes, name + ".class3", kClasses, 1, 1)}, 1);
    return layers_.reshape(both, name, {1, kSides * kBins + kClasses, positions});
  }

  // [1, 4 distances and classes, positions]
  Value decoded(const Value& x, std::int64_t positions) {
    const auto [bins, classes] = layers_.split(x, "parts", kSides * kBins, kClasses);
    std::vector<double> bin(kBins);
    for (std::int64_t i = 0; i < kBins; i++) bin[static_cast<std::size_t>(i)] = static_cast<double>(i);
    const Value distribution = layers_.softmax(layers_.reshape(bins, "bins", {1, kSides, kBins, positions}), 2);
    return layers_.concat({layers_.weighted_sum(distribution, "bin", bin), layers_.sigmoid(classes)}, 1);
  }

  Layers layers_;
};

}  // namespace

std::string build_detector(GraphBuilder& graph, const std::string& input) { return Detector(GraphLayers(graph)).run(input); }
Tensor tensor_detector(const Tensor& input) { return Detector(TensorLayers()).run(input); }

}  // namespace etch
