// For tests: many kernels as one program of a language, and the devices that run it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/device.h"
#include "program/generate.h"
#include "renderer/cstyle.h"
#include "support/usable.h"

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
inline Program program_of(const std::vector<BackendKernel>& kernels, const Language& language, const CodegenOptions& options,
                          bool may_lay_out = false) {
  Program program;
  program.language = &language;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    const BackendKernel& row = kernels[k];
    const std::string id = "k" + std::to_string(k);
    const auto add_buffer = [&](const std::string& name, BufferKind kind, DType dtype, std::int64_t n, Array data) {
      program.buffers.push_back({name, kind, dtype, {n}, n, std::move(data)});
      return static_cast<int>(program.buffers.size()) - 1;
    };
    KernelSignature signature{id, {{row.store->dtype, row.output_size, "out", Access::Write}}, {}};
    for (std::size_t i = 0; i < row.inputs->size(); i++) {
      const Array& data = (*row.inputs)[i];
      signature.arguments.push_back({data.dtype(), data.size(), "in" + std::to_string(i + 1), Access::Read, may_lay_out && i > 0});
    }
    CodegenOptions own = options;
    if (row.opts) own.opts = row.opts;
    ProgramKernel kernel = generate_kernel(row.store, std::move(signature), language, own);
    ProgramCall call;
    call.kernel = static_cast<int>(k);
    call.arguments.push_back({add_buffer(id, BufferKind::Output, row.store->dtype, row.output_size, {}), Access::Write});
    program.outputs.push_back(call.arguments[0].buffer);
    for (std::size_t i = 0; i < row.inputs->size(); i++) {
      const KernelArgument& argument = kernel.arguments[i + 1];
      Array data = (*row.inputs)[i];
      if (argument.layout) data = relayout(data, *argument.layout);
      const DType dtype = data.dtype();
      const std::int64_t n = data.size();
      call.arguments.push_back({add_buffer(id + "_" + argument.name, BufferKind::Constant, dtype, n, std::move(data))});
    }
    program.kernels.push_back(std::move(kernel));
    program.calls.push_back(std::move(call));
  }
  return program;
}

/// The code generator's options for programs of a language.
inline CodegenOptions options_for(const Language& language) {
  CodegenOptions options;
  options.has_local = language.local_memory;
  return options;
}

/// The device, ready for generated programs.
inline UsableDevice backend(const std::string& name, bool guards = false) {
  DeviceOptions options;
  options.guards = guards;
  options.of<COptions>().flags = {"-std=gnu11", "-O1"};
  options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
  options.of<CudaOptions>().flags = {"-std=c++17", "-O1"};
  options.timeout_s = 900;
  return usable(make_device(name, options));
}

}  // namespace etch::test
