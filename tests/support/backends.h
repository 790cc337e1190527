// For tests: many kernels as one program of a language, and the devices that run it.
#pragma once

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "renderer/generate.h"

namespace etch::test {

/// One kernel of a program: its inputs are the buffers 1, 2, ... of the stores' Loads.
struct BackendKernel {
  const LazyOp* store = nullptr;
  const std::vector<Array>* inputs = nullptr;
  std::int64_t output_size = 0;
  std::optional<std::vector<Opt>> opts;  // instead of the heuristics
};

/// All kernels as one program, one call and one output each; the inputs are constants. `may_lay_out` lets kernels have the
/// inputs 2 and up in another order.
inline Program program_of(const std::vector<BackendKernel>& kernels, const CodegenOptions& options, bool may_lay_out = false) {
  Program program;
  program.language = options.language;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    const BackendKernel& row = kernels[k];
    const std::string id = "k" + std::to_string(k);
    const auto add_buffer = [&](const std::string& name, BufferKind kind, DType dtype, std::int64_t n, Array data) {
      program.buffers.push_back({name, kind, dtype, {n}, n, std::move(data)});
      return static_cast<int>(program.buffers.size()) - 1;
    };
    ProgramKernel kernel;
    ProgramCall call;
    KernelNames names{id, {"out"}};
    std::vector<Sint> elements{row.output_size};
    for (std::size_t i = 0; i < row.inputs->size(); i++) {
      names.args.push_back("in" + std::to_string(i + 1));
      elements.emplace_back((*row.inputs)[i].size());
    }
    std::vector<bool> constants(elements.size(), may_lay_out);
    for (std::size_t i = 0; i < constants.size() && i < 2; i++) constants[i] = false;
    CodegenOptions own = options;
    if (row.opts) own.opts = row.opts;
    GeneratedKernel made = generate_kernel(row.store, elements, constants, names, own);
    kernel.name = id;
    kernel.ast = row.store;
    kernel.source = std::move(made.source);
    kernel.global_size = std::move(made.global_size);
    kernel.local_size = std::move(made.local_size);
    kernel.helpers = std::move(made.helpers);
    kernel.arg_dtypes = {row.store->dtype};
    call.kernel = static_cast<int>(k);
    call.buffers = {add_buffer(id, BufferKind::Output, row.store->dtype, row.output_size, {})};
    call.may_alias.resize(elements.size());
    program.outputs.push_back(call.buffers[0]);
    for (std::size_t i = 0; i < row.inputs->size(); i++) {
      Array data = (*row.inputs)[i];
      if (made.relayout[i + 1]) data = relayout(data, *made.relayout[i + 1]);
      const DType dtype = data.dtype();
      const std::int64_t n = data.size();
      kernel.arg_dtypes.push_back(dtype);
      call.buffers.push_back(add_buffer(id + "_" + names.args[i + 1], BufferKind::Constant, dtype, n, std::move(data)));
    }
    program.kernels.push_back(std::move(kernel));
    program.calls.push_back(std::move(call));
  }
  return program;
}

/// What programs of a language are generated with.
inline CodegenOptions options_for(const std::string& language) {
  CodegenOptions options;
  options.language = language;
  options.has_local = language == "opencl";
  return options;
}

/// The device, ready for generated programs; nullptr and one line on the output where it can't be used.
inline std::unique_ptr<Device> backend(const std::string& language) {
  DeviceOptions options;
  options.runtime_dir = ETCH_SOURCE_DIR "/runtime_c";
  options.c_flags = {"-std=gnu11", "-O1"};
  options.opencl_program = ETCH_BUILD_DIR "/etch-opencl";
  options.timeout_s = 900;
  if (language == "opencl") options.prelude = prelude("opencl", {"all"});
  auto device = make_device(language, options);
  std::string why;
  if (device->available(&why)) return device;
  std::cout << "skipped, no " << language << ": " << why << "\n";
  return nullptr;
}

}  // namespace etch::test
