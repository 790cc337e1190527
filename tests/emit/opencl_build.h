// Building emitted OpenCL projects with the compilers of this machine, and running them on its OpenCL device.
#pragma once

#include <gtest/gtest.h>

#include "base/tempdir.h"
#include "build.h"
#include "device_project.h"
#include "support/needs.h"

namespace etch::test {

inline constexpr const char* kStrict = "-std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror";

inline ProcessResult run_opencl(const fs::path& dir, const std::string& command, const std::vector<std::string>& more = {}) {
  static const TempDir cache;  // of kernels that PoCL has compiled
  return run_in(dir, command, more, environment_for(kOpenCl, cache.path()));
}

inline ProcessResult build(const fs::path& dir, const std::string& flags = "") {
  std::vector<std::string> args = c_sources(dir);
  args.insert(args.end(), {"-lOpenCL", "-lm"});
  return run_opencl(dir, "gcc " + std::string(kStrict) + " " + flags + " -o test", args);
}

// Why no OpenCL program can be run here; empty if one can.
inline std::string missing_opencl() {
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
  if (const std::string why = missing({"gcc"}); !why.empty()) return why;
  const struct {
    const char *command, *otherwise;
  } steps[] = {
      {"gcc -fsyntax-only probe.c", "OpenCL's headers are not installed: apt-get install opencl-headers"},
      {"gcc -o probe probe.c -lOpenCL", "there is no libOpenCL to link with: apt-get install ocl-icd-opencl-dev"},
      {"./probe", "there is no OpenCL device: apt-get install pocl-opencl-icd"},
  };
  for (const auto& step : steps)
    if (!run_opencl(temp.path(), step.command).ok()) return step.otherwise;
  return "";
}

class OpenCL : public testing::Test {
 protected:
  void SetUp() override {
    static const std::string why = missing_opencl();
    if (!why.empty()) GTEST_SKIP() << why;
  }
};

inline std::vector<EmittedFile> scaler(const Program& p = batch_program_opencl(), const std::string& name = "scaler") {
  return emit_aligned(p, 512, name);
}

// In front of a main() around a model: makes context, device and queue, and tells how often the context is held.
inline constexpr const char* kMain = R"c(
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

// Behind kMain and kRunWithState.
inline constexpr const char* kMainWithState = R"c(
int main(void) {
  if (!make() || mean_open(&session, context, device, queue) != ETCH_OK) return 2;
  runs();
  if (mean_close(&session) != ETCH_OK) return 3;
  after_close();
  return 0;
}
)c";

}  // namespace etch::test
