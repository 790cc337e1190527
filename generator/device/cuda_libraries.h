// Internal to device/: the functions of CUDA's driver and of NVRTC that etch uses, as their libraries export them. The types are those of
// cuda.h and nvrtc.h; a result of 0 is success.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace etch {

/// A shared library of the machine. It stays in memory, because every program asks for it again.
class DynamicLibrary {
 public:
  /// Opens the first of `names` that is there.
  explicit DynamicLibrary(const std::vector<std::string>& names);

  /// Sets `function` to the function of that name.
  template <class Function>
  void find(const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(address(name));
  }
  /// What was not found, in one line; empty if nothing.
  const std::string& missing() const { return missing_; }

 private:
  void* address(const char* name);

  void* handle_ = nullptr;
  std::string missing_;
};

struct CudaDriver {
  CudaDriver();

  DynamicLibrary library;
  int (*init)(unsigned flags);
  int (*driver_version)(int* version);
  int (*error_string)(int error, const char** text);
  int (*device_count)(int* count);
  int (*device_get)(int* device, int ordinal);
  int (*device_name)(char* name, int length, int device);
  int (*device_attribute)(int* value, int attribute, int device);
  int (*context_retain)(void** context, int device);
  int (*context_release)(int device);
  int (*context_set)(void* context);
  int (*module_load)(void** module, const void* image);
  int (*module_unload)(void* module);
  int (*module_function)(void** function, void* module, const char* name);
  int (*memory_managed)(unsigned long long* memory, std::size_t bytes, unsigned flags);
  int (*memory_free)(unsigned long long memory);
  int (*stream_create)(void** stream, unsigned flags);
  int (*stream_destroy)(void* stream);
  int (*stream_wait)(void* stream);
  int (*launch)(void* function, unsigned groups_x, unsigned groups_y, unsigned groups_z, unsigned items_x, unsigned items_y,
                unsigned items_z, unsigned shared_bytes, void* stream, void** arguments, void** extra);
};

/// The driver's graphs, which old drivers do not have.
struct CudaGraphs {
  /// CUDA_KERNEL_NODE_PARAMS, in its first version.
  struct KernelNode {
    void* function;
    unsigned groups_x, groups_y, groups_z, items_x, items_y, items_z, shared_bytes;
    void** arguments;
    void** extra;
  };
  CudaGraphs();

  DynamicLibrary library;
  int (*create)(void** graph, unsigned flags);
  int (*destroy)(void* graph);
  int (*add_kernel)(void** node, void* graph, void* const* after, std::size_t after_count, const KernelNode* kernel);
  int (*instantiate)(void** executable, void* graph, unsigned long long flags);
  int (*executable_destroy)(void* executable);
  int (*set_kernel)(void* executable, void* node, const KernelNode* kernel);
  int (*launch)(void* executable, void* stream);
};

struct Nvrtc {
  Nvrtc();

  DynamicLibrary library;
  int (*version)(int* major, int* minor);
  const char* (*error_string)(int error);
  int (*architecture_count)(int* count);
  int (*architectures)(int* capabilities);
  int (*create)(void** program, const char* text, const char* name, int headers, const char* const* header_texts,
                const char* const* header_names);
  int (*destroy)(void** program);
  int (*compile)(void* program, int count, const char* const* options);
  int (*log_size)(void* program, std::size_t* bytes);
  int (*log)(void* program, char* text);
  int (*code_size)(void* program, std::size_t* bytes);
  int (*code)(void* program, char* code);
  int (*ptx_size)(void* program, std::size_t* bytes);
  int (*ptx)(void* program, char* ptx);
};

/// nvcc on PATH or where CUDA is usually installed; empty if it is in neither place.
std::filesystem::path find_nvcc();

}  // namespace etch
