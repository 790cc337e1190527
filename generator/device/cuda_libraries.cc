#include "device/cuda_libraries.h"

#include <dlfcn.h>

#include "base/process.h"

namespace etch {
namespace {

constexpr const char* kUsualFolder = "/usr/local/cuda";

// Where the linker looks, then beside nvcc; the newest first.
std::vector<std::string> nvrtc_names() {
  std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  if (const std::filesystem::path nvcc = find_nvcc(); !nvcc.empty()) {
    std::error_code ignored;
    const std::filesystem::path real = std::filesystem::canonical(nvcc, ignored), toolkit = real.parent_path().parent_path();
    for (const char* folder : {"lib64", "lib", "targets/x86_64-linux/lib"}) names.push_back((toolkit / folder / "libnvrtc.so").string());
  }
  return names;
}

}  // namespace

DynamicLibrary::DynamicLibrary(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ != nullptr) return;
  }
  missing_ = names.front() + " is not there";
}

void* DynamicLibrary::address(const char* name) {
  void* found = handle_ == nullptr ? nullptr : dlsym(handle_, name);
  if (found == nullptr && missing_.empty()) missing_ = std::string("it has no function ") + name;
  return found;
}

CudaDriver::CudaDriver() : library({"libcuda.so.1"}) {
  library.find("cuInit", init);
  library.find("cuDriverGetVersion", driver_version);
  library.find("cuGetErrorString", error_string);
  library.find("cuDeviceGetCount", device_count);
  library.find("cuDeviceGet", device_get);
  library.find("cuDeviceGetName", device_name);
  library.find("cuDeviceGetAttribute", device_attribute);
  library.find("cuDevicePrimaryCtxRetain", context_retain);
  library.find("cuDevicePrimaryCtxRelease_v2", context_release);
  library.find("cuCtxSetCurrent", context_set);
  library.find("cuModuleLoadData", module_load);
  library.find("cuModuleUnload", module_unload);
  library.find("cuModuleGetFunction", module_function);
  library.find("cuMemAllocManaged", memory_managed);
  library.find("cuMemFree_v2", memory_free);
  library.find("cuStreamCreate", stream_create);
  library.find("cuStreamDestroy_v2", stream_destroy);
  library.find("cuStreamSynchronize", stream_wait);
  library.find("cuLaunchKernel", launch);
}

CudaGraphs::CudaGraphs() : library({"libcuda.so.1"}) {
  library.find("cuGraphCreate", create);
  library.find("cuGraphDestroy", destroy);
  library.find("cuGraphAddKernelNode", add_kernel);
  library.find("cuGraphInstantiateWithFlags", instantiate);
  library.find("cuGraphExecDestroy", executable_destroy);
  library.find("cuGraphExecKernelNodeSetParams", set_kernel);
  library.find("cuGraphLaunch", launch);
}

Nvrtc::Nvrtc() : library(nvrtc_names()) {
  library.find("nvrtcVersion", version);
  library.find("nvrtcGetErrorString", error_string);
  library.find("nvrtcGetNumSupportedArchs", architecture_count);
  library.find("nvrtcGetSupportedArchs", architectures);
  library.find("nvrtcCreateProgram", create);
  library.find("nvrtcDestroyProgram", destroy);
  library.find("nvrtcCompileProgram", compile);
  library.find("nvrtcGetProgramLogSize", log_size);
  library.find("nvrtcGetProgramLog", log);
  library.find("nvrtcGetCUBINSize", code_size);
  library.find("nvrtcGetCUBIN", code);
  library.find("nvrtcGetPTXSize", ptx_size);
  library.find("nvrtcGetPTX", ptx);
}

std::filesystem::path find_nvcc() {
  for (const std::string& name : {std::string("nvcc"), std::string(kUsualFolder) + "/bin/nvcc"})
    if (auto found = find_program(name)) return *found;
  return {};
}

}  // namespace etch
