// Building emitted OpenCL projects with the compilers of this machine, and running them on its OpenCL device.
#pragma once

#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "build.h"
#include "device/device.h"
#include "driver/compile.h"
#include "models/zoo.h"
#include "support/files.h"
#include "tiny.h"

namespace etch::test {

inline constexpr const char* kStrict = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

inline ProcessResult run_opencl(const fs::path& dir, const std::string& command, const std::vector<std::string>& more = {}) {
  static const TempDir cache;  // of kernels that PoCL has compiled
  return run_in(dir, command, more, environment_for(kOpenCl, cache.path()));
}

inline ProcessResult build(const fs::path& dir, const std::string& flags = "") {
  std::vector<std::string> args = c_files(dir);
  for (const auto& entry : fs::directory_iterator(dir))
    if (entry.path().extension() == ".S") args.push_back(entry.path().filename());
  args.insert(args.end(), {"-lOpenCL", "-lm"});
  return run_opencl(dir, "gcc " + std::string(kStrict) + " " + flags + " -o test", args);
}

// Why no OpenCL program can be run here; empty if one can.
inline std::string missing() {
  const TempDir temp;
  write_file(temp.path() / "probe.c", R"c(
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
int main(void) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 1;
  return clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS;
}
)c");
  if (!find_program("gcc")) return "gcc is not installed";
  if (!run_opencl(temp.path(), "gcc -fsyntax-only probe.c").ok()) return "OpenCL's headers are not installed";
  if (!run_opencl(temp.path(), "gcc -o probe probe.c -lOpenCL").ok()) return "there is no libOpenCL to link with";
  return run_opencl(temp.path(), "./probe").ok() ? "" : "there is no OpenCL device";
}

class OpenCL : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string why = missing();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

inline CompileOptions options_for(const std::string& model, WeightsForm weights, std::vector<DimBinding> dims = {}) {
  CompileOptions options;
  options.import.path = model + ".onnx";
  options.import.bytes = zoo_bytes(zoo_model(model));
  options.import.dims = std::move(dims);
  options.target = find_target("opencl", ETCH_SOURCE_DIR "/targets");
  options.weights = weights;
  options.tool_version = "0.1.0";
  return options;
}

inline std::vector<EmittedFile> project(const std::string& model, WeightsForm weights) {
  const CompileOptions options = options_for(model, weights);
  return compile_project(read_model(options), options).files;
}

inline std::vector<EmittedFile> scaler() {
  const Program p = batch_program_opencl();
  return emit(p, plan_memory(p, {.align = 512, .align_all = true}), batch_options());
}

inline void replace(std::vector<EmittedFile>& files, const std::string& name, const std::string& from, const std::string& to) {
  for (EmittedFile& f : files) {
    if (f.name != name) continue;
    const std::size_t at = f.text.find(from);
    ASSERT_NE(at, std::string::npos) << name << " has no " << from;
    f.text.replace(at, from.size(), to);
    return;
  }
  ADD_FAILURE() << "no file " << name;
}

// A main() around a model: it makes context, device and queue, and compares the context's reference count before and after.
inline constexpr const char* kMain = R"c(
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model.h"
static cl_context context;
static cl_device_id device;
static cl_command_queue queue, wild;
static unsigned held(void) {
  cl_uint count = 0;
  clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL);
  return (unsigned)count;
}
static int make(void) {
  cl_platform_id platform;
  cl_int error;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS) return 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) return 0;
  context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
  if (error != CL_SUCCESS) return 0;
  queue = clCreateCommandQueue(context, device, 0, &error);
  if (error != CL_SUCCESS) return 0;
  wild = clCreateCommandQueue(context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &error);
  if (error != CL_SUCCESS) wild = NULL;
  return 1;
}
)c";

}  // namespace etch::test
