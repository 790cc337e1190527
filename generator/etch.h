// etch as a library: one header, one namespace. The tool `etch` is a user of it.
//
//   find_package(etch REQUIRED)
//   target_link_libraries(mine PRIVATE etch::etch)
//
// What it can do, system by system. The examples are one program, which the tests build with an installed etch and run; tests/examples
// has longer ones. Every header that is included below begins with what it is for.
//
// MODELS  onnx/builder.h writes ONNX, driver/compile.h goes the whole way from a model to a folder of C, as `etch compile` does.
//
//     GraphBuilder graph("tiny", 17);
//     const auto x = graph.input("x", DType::Float32, {1, 4});
//     graph.output(graph.relu(graph.dense(x, "fc", 4, 3)), DType::Float32, {1, 3});
//     graph.write("tiny.onnx");
//
//     CompileOptions options;
//     options.import.path = "tiny.onnx";
//     options.target = find_target("host", target_dirs());
//     const Frontend frontend = read_model(options);
//     const WrittenProject written = write_audited("out", compile_project(frontend, options), options);
//
// Open sizes, states, frozen inputs and custom operators are in options.import (onnx/import.h). What was emitted can be checked by Clang
// (audit/audit.h), and built by the target's own compiler and run on its emulator, or here (validate/target_run.h).
//
//     const AuditReport audited = audit_directory("out");
//     const TargetResult tested = run_on_target("out", options.target, "tiny_run");
//
// DEVICES  interp (the reference), c, llvm, opencl, cuda: device/device.h. A device runs the very program that is emitted.
//
//     const std::shared_ptr<const Device> device = make_device("c");
//     const Program program = lower_model(frontend, device->language(), options);
//     const Array values = Array::of_doubles(DType::Float32, {1, 4}, std::vector<double>{1, -2, 3, -4});
//     const Array answer = device->load(program)->run({values})[0];
//
// VALIDATION  Any backend against the reference, down to the first kernel that is wrong: validate/validate.h.
//
//     const Program reference = lower_model(frontend, nullptr, options);
//     const std::vector<DataSet> sets = random_data_sets(frontend.model, 1);
//     const auto expected = reference_outputs(reference, *make_reference_device(), sets);
//     const BackendResult compared = validate_backend(program, reference, *device, sets, expected, {});
//
// TENSORS  Lazy until their values are wanted: lazy/tensor.h has the operations, jit/session.h computes them on a device.
//
//     Session session(device);
//     const Tensor a = session.from(values);
//     const Array sums = session.values((a * a + 1.0).sum({1}));
//     const Sint n = session.variable("n", 1, 16);  // an open size: one kernel for all that it may be
//     const Array doubled = session.values(session.from(sums, {n}) * 2.0);
//
// TINYJIT  A function on tensors is recorded once, and its kernels are replayed: jit/tinyjit.h.
//
//     TinyJit step(session, [](const std::vector<Tensor>& in) { return std::vector<Tensor>{in[0].relu() * 10.0}; });
//     Array stepped;
//     for (int call = 0; call < 3; call++) stepped = session.values(step({a})[0]);
//
// TRAINING  Gradients of tensors (lazy/tensor.h), and layers, losses, optimisers and files of weights on them: nn/.
//
//     const nn::Linear layer(session, 4, 1);
//     nn::Optimizer optimizer(session, nn::parameters(layer.members()), nn::sgd(), 0.1);
//     const Tensor inputs = session.rand({8, 4}), wanted = session.realize(inputs.sum({1}, true));
//     for (int epoch = 0; epoch < 5; epoch++) {
//       optimizer.zero_grad();
//       nn::mean_square(layer(inputs), wanted).backward();
//       optimizer.step();
//     }
//     nn::save(session, layer.members(), "layer.safetensors");
//
// nn/trainer.h has that loop with its steps recorded, progress, checks of what goes in and comes out, and checkpoints to go on from.
//
//     const auto forward = [&](const std::vector<Tensor>& in, nn::Pass&) { return nn::Forward{nn::mean_square(layer(in[0]), in[1])}; };
//     nn::Trainer trainer(session, optimizer, layer.members(), forward);
//     const std::vector<Array> batch{session.values(inputs), session.values(wanted)};
//     trainer.train([&](std::int64_t) { return batch; }, 20);
//     trainer.save("checkpoint.safetensors");
//
// A model's own step, in C beside the network: driver/train.h, what `etch compile --train` does.
//
//     const CompiledProject training = compile_trained(options, train_options("loss=mean_square,optimizer=sgd"));
//     write_audited("training", training, options);
//
// A function on tensors is a model without a file, to be compiled or trained likewise: driver/traced.h.
//
//     const auto product = [](const std::vector<Tensor>& in, const std::vector<Tensor>& w) {
//         return in[0].linear(w[0].transpose(), w[1]);
//     };
//     const Array weights = session.values(layer.members()[0].tensor), bias = session.values(layer.members()[1].tensor);
//     const TracedNetwork line{"line", {{"x", DType::Float32, {1, 4}}}, {{"w", weights}, {"b", bias}}, product};
//     CompileOptions of_line;
//     of_line.target = options.target;
//     write_audited("line", compile_project(schedule_model(traced_model(line), of_line), of_line), of_line);
//
// KERNELS BY HAND  An AST (ir/lazyop.h) through views (shape/shapetracker.h), buffers of a device (device/buffer.h), and what runs the
// one on the other (device/runner.h).
//
//     LazyOps ops;
//     const ShapeTracker four = ShapeTracker::from_shape({4});
//     const LazyOp* load = ops.load(1, DType::Float32, four);
//     const LazyOp* square = ops.store(0, ops.elementwise(Op::Mul, {load, load}), four);
//     const Buffer in = Buffer::fromCPU(*device, values), out(*device, 4, DType::Float32);
//     device->get_runner(square)->exec({&out, &in}, {});
//     const Array squares = out.toCPU();
//
// CODE  The steps in between: codegen/kernel.h (axes and OptOps), codegen/linearizer.h (UOps, and the proof of their indices),
// renderer/language.h (C, OpenCL C, CUDA, LLVM IR).
//
//     const CodegenOptions plain;
//     Kernel kernel(square, plain);
//     kernel.apply({OptOp::Upcast, 0, 4});
//     const ProgramKernel made = generate_kernel(kernel, {"square", signature_of(square, "c").arguments, {}}, kCuda);
//
// OPERATORS OF YOUR OWN  A function in C computes a node: driver/custom.h reads it, onnx/custom.h says what it gets.
//
//     write_file("half.c", "void half(float *y, const float *x, int y_count) { for (int i = 0; i < y_count; i++) y[i] = x[i] / 2; }\n");
//     CompileOptions with_half = options;
//     with_half.import.customs = read_custom_operators({"half.c"}, {{"com.example.Half", "half"}});
//
// WATCHING  What a device does, level by level (device/debug.h), and pictures of schedule and UOps (picture/picture.h).
//
//     std::string log;
//     DeviceOptions talking;
//     talking.debug = {.level = 2, .sink = [&log](std::string_view lines) { log += lines; }};
//     make_device("c", talking)->load(program)->run({values});
//     write_into("pictures", pictures_of(program, "tiny"));
//
// BACKENDS OF YOUR OWN  A row of languages(), of devices() and, for emitted projects, of project_forms(): tests/examples/backend.cc.
//
// ERRORS  A UserError (base/error.h) is about what you gave: its text names the place, what was found, what is accepted and what to do.
// DeviceError and JitError are such, of a device and of a recording. A ShapeError says which tensors do not fit. An InternalError is a bug
// of etch.
//
// Nothing here reads environment variables, and nothing is kept on disk unless an option says where. Objects may be used by several threads
// where their header says so, else by one at a time.
#pragma once

// --- errors, processes, files, the machine
#include "base/error.h"
#include "base/files.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "target/target.h"

// --- symbolic integers, views, types, operations, the reference evaluator
#include "interp/interp.h"
#include "ir/array.h"
#include "ir/dtype.h"
#include "ir/external.h"
#include "ir/lazyop.h"
#include "ir/scalar.h"
#include "ir/uop.h"
#include "shape/shapetracker.h"
#include "shape/symbolic.h"

// --- tensors, and how they become kernels
#include "lazy/ast.h"
#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "schedule/schedule.h"

// --- kernels: loops and their optimisation, UOps, texts
#include "codegen/kernel.h"
#include "codegen/linearizer.h"
#include "codegen/passes.h"
#include "renderer/cstyle.h"
#include "renderer/language.h"
#include "renderer/llvm.h"

// --- programs, memory, pictures
#include "memory/plan.h"
#include "picture/picture.h"
#include "program/generate.h"
#include "program/interpret.h"
#include "program/lower.h"
#include "program/program.h"

// --- devices of this machine; tensors on them
#include "device/compiled.h"
#include "device/device.h"
#include "device/runner.h"
#include "jit/session.h"
#include "jit/tinyjit.h"
#include "nn/layers.h"
#include "nn/losses.h"
#include "nn/optim.h"
#include "nn/random.h"
#include "nn/safetensors.h"
#include "nn/state.h"
#include "nn/trainer.h"

// --- ONNX, emitted projects, and the whole way from the one to the other
#include "audit/audit.h"
#include "driver/compile.h"
#include "driver/custom.h"
#include "driver/pictures.h"
#include "driver/selftest.h"
#include "driver/traced.h"
#include "driver/train.h"
#include "emit/emit.h"
#include "emit/form.h"
#include "emit/write.h"
#include "onnx/builder.h"
#include "onnx/import.h"

// --- comparison with the reference, test data, emulated targets
#include "validate/compare.h"
#include "validate/data_set.h"
#include "validate/measure.h"
#include "validate/suite.h"
#include "validate/target_run.h"
#include "validate/validate.h"

#ifdef ETCH_PREFIX
namespace etch {
/// find_package(etch) says where the installation is, whose target descriptions and programs are then used.
inline const bool kInstallationIsKnown = (use_installation(ETCH_PREFIX), true);
}  // namespace etch
#endif
