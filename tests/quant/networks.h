// For tests of quantised graphs: nodes with constants of their own, what the graph becomes, and its outputs on INTERP and C.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "target/target.h"

namespace etch::test {

using Ints = std::vector<std::int64_t>;
using Value = GraphBuilder::Value;

inline Array int8s(Ints shape, const Ints& values) { return Array::of_ints(DType::Int8, std::move(shape), values); }
inline Array float32(double value) { return Array::of_doubles(DType::Float32, {}, std::vector<double>{value}); }

/// All values of int8, in order.
inline Ints every_byte() {
  Ints values;
  for (std::int64_t v = -128; v < 128; v++) values.push_back(v);
  return values;
}

class Net : public GraphBuilder {
 public:
  explicit Net(int opset = 13) : GraphBuilder("net", opset) {}

  Value constant(const Array& values) { return initializer("constant" + std::to_string(constants_++), values); }
  Value quantise(const Value& x, double scale, std::int64_t zero, DType dtype = DType::Int8) {
    return node("QuantizeLinear", {x, constant(float32(scale)), constant(Array::of_ints(dtype, {}, Ints{zero}))});
  }
  Value dequantise(const Value& x, double scale, std::int64_t zero, DType dtype = DType::Int8) {
    return node("DequantizeLinear", {x, constant(float32(scale)), constant(Array::of_ints(dtype, {}, Ints{zero}))});
  }
  /// Of int32, with a scale for each element along `axis`.
  Value dequantise_along(const Value& x, int axis, const std::vector<double>& scales) {
    const Value s = constant(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(scales.size())}, scales));
    return node("DequantizeLinear", {x, s}, {{"axis", std::int64_t{axis}}});
  }

 private:
  int constants_ = 0;
};

struct Compiled {
  CompileOptions options;
  Frontend frontend;
  const Schedule& schedule() const { return frontend.schedule; }
};

inline Compiled compiled(const GraphBuilder& g) {
  Compiled c;
  c.options.import.bytes = g.bytes();
  c.options.import.path = "net.onnx";
  c.options.target = find_target("c99", std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
  c.frontend = read_model(c.options);
  return c;
}

/// INTERP's outputs; those of C have to be the same.
inline std::vector<Ints> run_all(const Compiled& c, const std::vector<Array>& inputs) {
  const auto interp = make_reference_device(), device = make_device("c", {});
  const std::vector<Array> want = interp->load(lower_model(c.frontend, nullptr, c.options))->run(inputs);
  const std::vector<Array> got = device->load(lower_model(c.frontend, device->language(), c.options))->run(inputs);
  std::vector<Ints> values;
  for (std::size_t i = 0; i < want.size(); i++) {
    EXPECT_TRUE(is_float(want[i].dtype()) || got.at(i) == want[i]) << "output " << i;
    values.push_back(is_float(want[i].dtype()) ? Ints() : want[i].ints());
  }
  return values;
}
inline Ints run(const Compiled& c, const std::vector<Array>& inputs) { return run_all(c, inputs).at(0); }

/// Whether a kernel writes floats, or reads ones that are computed.
inline bool has_floats_in_memory(const Schedule& schedule) {
  for (const ScheduleItem& item : schedule.items) {
    for (const LazyBuffer* b : item.outs())
      if (is_float(b->dtype)) return true;
    for (const LazyBuffer* b : item.inputs)
      if (is_float(b->dtype) && b->kind != LazyKind::Data) return true;
  }
  return false;
}

/// How many of the operations `op` in kernels are of floats, or of integers.
inline int count(const Schedule& schedule, Op op, bool of_floats) {
  int n = 0;
  for (const ScheduleItem& item : schedule.items)
    for (const LazyOp* o : toposort(item.ast)) n += o->op == op && is_float(o->dtype) == of_floats ? 1 : 0;
  return n;
}

/// saturate(rint(float32(acc) * m) + zero)
inline std::int64_t requantised(std::int64_t acc, float m, std::int64_t zero, std::int64_t low = -128, std::int64_t high = 127) {
  const float product = static_cast<float>(acc) * m;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::nearbyint(product)) + zero, low, high);
}

}  // namespace etch::test
