// Two programs written by hand, with kernels in C as a person would write them, for tests of the code that is emitted around them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/naming.h"
#include "emit/emit.h"
#include "ir/lazyop.h"
#include "memory/plan.h"
#include "program/program.h"
#include "renderer/language.h"

namespace etch::test {

struct Owned {
  Symbols symbols;
  LazyOps ops;
};

inline int add_buffer(Program& p, const std::string& name, BufferKind kind, std::vector<Sint> shape, std::vector<double> data = {}) {
  ProgramBuffer b;
  b.name = name;
  b.kind = kind;
  b.dtype = DType::Float32;
  b.shape = std::move(shape);
  b.max_elements = product(b.shape).max();
  if (kind == BufferKind::Constant) b.data = Array::of_doubles(DType::Float32, {b.max_elements}, data);
  p.buffers.push_back(std::move(b));
  return static_cast<int>(p.buffers.size()) - 1;
}

/// Arguments for float buffers, of which the first is written.
inline std::vector<KernelArgument> arguments_named(const std::vector<std::string>& names) {
  std::vector<KernelArgument> result;
  for (const std::string& name : names)
    result.push_back({.dtype = DType::Float32, .name = name, .access = result.empty() ? Access::Write : Access::Read});
  return result;
}

inline void add_call(Program& p, int kernel, std::vector<int> buffers, std::vector<bool> may_alias, std::vector<std::string> nodes) {
  ProgramCall c;
  c.kernel = kernel;
  const ProgramKernel& k = p.kernels[static_cast<std::size_t>(kernel)];
  for (std::size_t i = 0; i < buffers.size(); i++) c.arguments.push_back({buffers[i], k.arguments[i].access, may_alias[i]});
  c.short_name = nodes.empty() ? "" : c_identifier(nodes.front());
  c.nodes = std::move(nodes);
  const Work work = count_work(k.ast);
  c.macs = work.macs;
  c.flops = work.flops;
  p.calls.push_back(std::move(c));
}

/// out = relu(in w + b) of 4 and 4x4 floats.
inline ProgramKernel fc_kernel(LazyOps& ops) {
  const ShapeTracker grid = ShapeTracker::from_shape({4, 4});
  const LazyOp* in = ops.load(1, DType::Float32, ShapeTracker::from_shape({1, 4}).expand({4, 4}));
  const LazyOp* w = ops.load(2, DType::Float32, grid.permute({1, 0}));
  const LazyOp* b = ops.load(3, DType::Float32, ShapeTracker::from_shape({4, 1}));
  const LazyOp* sum = ops.reduce(Op::ReduceSum, ops.elementwise(Op::Mul, {in, w}), {1});
  const LazyOp* zero = ops.constant(Scalar::of_double(DType::Float32, 0), ShapeTracker::from_shape({1, 1}).expand({4, 1}));
  const LazyOp* relu = ops.elementwise(Op::Max, {ops.elementwise(Op::Add, {sum, b}), zero});
  ProgramKernel fc;
  fc.name = "k0_fc1_relu1";
  fc.shape_name = "r_4_4";
  fc.opts = "UNROLL 0 4";
  fc.ast = ops.store(0, relu, ShapeTracker::from_shape({4, 1}));
  fc.arguments = arguments_named({"out", "in", "w", "b"});
  fc.indices_proved = 7;
  fc.text.source =
      "static void k0_fc1_relu1(void *const *arg) {\n"
      "  float *const out = (float *)arg[0];\n"
      "  const float *const in = (const float *)arg[1];\n"
      "  const float *const w = (const float *)arg[2];\n"
      "  const float *const b = (const float *)arg[3];\n"
      "  for (int n = 0; n < 4; n++) {\n"
      "    float acc = b[n];\n"
      "    acc += in[0] * w[n];\n"
      "    acc += in[1] * w[4 + n];\n"
      "    acc += in[2] * w[8 + n];\n"
      "    acc += in[3] * w[12 + n];\n"
      "    out[n] = acc < 0.0f ? 0.0f : acc;\n"
      "  }\n"
      "}\n";
  return fc;
}

/// out = in + in_2 of 4 floats.
inline ProgramKernel sum_kernel(LazyOps& ops) {
  const ShapeTracker row = ShapeTracker::from_shape({1, 4});
  ProgramKernel add;
  add.name = "k1_sum";
  add.shape_name = "E_4";
  add.ast = ops.store(0, ops.elementwise(Op::Add, {ops.load(1, DType::Float32, row), ops.load(2, DType::Float32, row)}), row);
  add.arguments = arguments_named({"out", "in", "in_2"});
  add.indices_proved = 3;
  add.text.source =
      "static void k1_sum(void *const *arg) {\n"
      "  float *const out = (float *)arg[0];\n"
      "  const float *const in = (const float *)arg[1];\n"
      "  const float *const in_2 = (const float *)arg[2];\n"
      "  for (int i = 0; i < 4; i++) out[i] = in[i] + in_2[i];\n"
      "}\n";
  return add;
}

/// relu(b + x w) twice with different weights, then the sum with the input: x [4], 4x4 weights. The second half runs in place.
inline Program mlp_program() {
  auto owned = std::make_shared<Owned>();
  Program p;
  p.language = &kC;
  const int x = add_buffer(p, "gpu_0/data_0", BufferKind::Input, {1, 4});
  const int y = add_buffer(p, "sum", BufferKind::Output, {1, 4});
  p.inputs = {x};
  p.outputs = {y};
  const int w1 =
      add_buffer(p, "fc1.weight", BufferKind::Constant, {4, 4}, {1, 0.5, -1, 2, 0, 1, 0.1, -0.25, 1, 1, 1, 1, -3, 0, 0.125, 1e-5});
  const int b1 = add_buffer(p, "fc1.bias", BufferKind::Constant, {4}, {0.5, -0.5, 1.5, 0});
  const int w2 = add_buffer(p, "int", BufferKind::Constant, {4, 4}, {2, 0, 0, 1, 0, 2, 0, 1, 0, 0, 2, 1, -1, -1, -1, 1});
  const int b2 = add_buffer(p, "fc2*/bias", BufferKind::Constant, {4}, {0.25, 0.25, -0.25, -0.25});
  const int h1 = add_buffer(p, "fc1_relu", BufferKind::Intermediate, {1, 4});
  const int h2 = add_buffer(p, "fc2_relu", BufferKind::Intermediate, {1, 4});
  const int h3 = add_buffer(p, "res", BufferKind::Intermediate, {1, 4});
  p.kernels = {fc_kernel(owned->ops), sum_kernel(owned->ops)};
  add_call(p, 0, {h1, x, w1, b1}, {false, false, false, false}, {"fc1", "relu1"});
  add_call(p, 0, {h2, h1, w2, b2}, {false, false, false, false}, {"fc2", "relu2"});
  add_call(p, 1, {h3, h2, h1}, {false, true, true}, {"res"});
  add_call(p, 1, {y, h3, x}, {false, true, true}, {"sum"});
  p.owner = owned;
  verify(p);
  return p;
}

/// The expected output of mlp_program, computed in double.
inline std::vector<double> mlp_reference(const Program& p, const std::vector<double>& x) {
  auto fc = [&](const std::vector<double>& in, const Array& w, const Array& b) {
    std::vector<double> out;
    for (std::int64_t n = 0; n < 4; n++) {
      double acc = b.double_at(n);
      for (std::int64_t k = 0; k < 4; k++) acc += in[static_cast<std::size_t>(k)] * w.double_at(k * 4 + n);
      out.push_back(acc < 0 ? 0 : acc);
    }
    return out;
  };
  const std::vector<double> h1 = fc(x, p.buffers[2].data, p.buffers[3].data);
  const std::vector<double> h2 = fc(h1, p.buffers[4].data, p.buffers[5].data);
  std::vector<double> y;
  for (std::size_t i = 0; i < 4; i++) y.push_back(h2[i] + h1[i] + x[i]);
  return y;
}

/// y [batch, 32] = 2 x, then y + 1 in the second call; batch is 1 to 8.
inline Program batch_program() {
  auto owned = std::make_shared<Owned>();
  const Sint batch = owned->symbols.variable("batch", 1, 8);
  Program p;
  p.language = &kC;
  p.variables = {{"batch", 1, 8}};
  p.inputs = {add_buffer(p, "x", BufferKind::Input, {batch, 32})};
  p.outputs = {add_buffer(p, "y", BufferKind::Output, {batch, 32})};
  const int twice = add_buffer(p, "twice", BufferKind::Intermediate, {batch, 32});
  const ShapeTracker st = ShapeTracker::from_shape({batch, 32});
  LazyOps& ops = owned->ops;
  const LazyOp* in = ops.load(1, DType::Float32, st);
  const ShapeTracker scalar = ShapeTracker::from_shape({1, 1}).expand({batch, 32});
  auto kernel = [&](const std::string& name, Op op, double value, const std::string& expression) {
    ProgramKernel k;
    k.name = name;
    k.shape_name = "E_batch_32";
    k.ast = ops.store(0, ops.elementwise(op, {in, ops.constant(Scalar::of_double(DType::Float32, value), scalar)}), st);
    k.arguments = arguments_named({"out", "in"});
    k.variables = {"batch"};
    k.text.source = "static void " + name +
                    "(void *const *arg) {\n"
                    "  float *const out = (float *)arg[0];\n"
                    "  const float *const in = (const float *)arg[1];\n"
                    "  const int32_t batch = *(const int32_t *)arg[2];\n"
                    "  for (int32_t i = 0; i < batch * 32; i++) out[i] = " +
                    expression + ";\n}\n";
    p.kernels.push_back(std::move(k));
  };
  kernel("k0_double", Op::Mul, 2, "2.0f * in[i]");
  kernel("k1_increment", Op::Add, 1, "in[i] + 1.0f");
  add_call(p, 0, {twice, p.inputs[0]}, {false, true}, {"double"});
  add_call(p, 1, {p.outputs[0], twice}, {false, true}, {"increment"});
  p.owner = owned;
  verify(p);
  return p;
}

/// The same for OpenCL: a work-group for each row.
inline Program batch_program_opencl() {
  Program p = batch_program();
  p.language = &kOpenCl;
  for (ProgramKernel& k : p.kernels) {
    k.global_size = {p.buffers[0].shape[0], 1, 1};
    k.local_size = {32, 1, 1};
    k.text.source = "__kernel void " + k.name +
                    "(__global float *out, const __global float *in, const int batch) {\n"
                    "  const int i = (int)get_global_id(0);\n"
                    "  out[i] = " +
                    (k.name == "k0_double" ? "2.0f * in[i]" : "in[i] + 1.0f") + ";\n}\n";
  }
  return p;
}

/// The same for CUDA.
inline Program batch_program_cuda() {
  Program p = batch_program_opencl();
  p.language = &kCuda;
  for (ProgramKernel& k : p.kernels)
    k.text.source = "extern \"C\" __global__ void " + k.name +
                    "(float *out, const float *in, const int batch) {\n"
                    "  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n"
                    "  if (i < batch * 32) out[i] = " +
                    (k.name == "k0_double" ? "2.0f * in[i]" : "in[i] + 1.0f") + ";\n}\n";
  return p;
}

inline EmitOptions mlp_options(const Program& p) {
  EmitOptions o;
  o.name = "mlp";
  o.model_file = "mlp.onnx";
  o.model_sha256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  o.model_facts = "6 nodes, opset 17";
  o.options_text = "--target host";
  o.target_name = "host";
  const std::vector<double> x{1, -2, 0.5, 3};
  SelfTest t;
  t.inputs = {Array::of_doubles(DType::Float32, {1, 4}, x)};
  t.expected = {Array::of_doubles(DType::Float32, {1, 4}, mlp_reference(p, x))};
  o.selftest = t;
  return o;
}

inline EmitOptions batch_options() {
  EmitOptions o;
  o.name = "scaler";
  SelfTest t;
  const Array x = lcg_input(DType::Float32, {5, 32}, 1, 0);
  std::vector<double> y = x.doubles();
  for (double& v : y) v = 2 * v + 1;
  t.inputs = {x};
  t.expected = {Array::of_doubles(DType::Float32, {5, 32}, y)};
  t.variables = {{"batch", 5}};
  o.selftest = t;
  return o;
}

}  // namespace etch::test
