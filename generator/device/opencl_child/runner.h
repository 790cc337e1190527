// The OpenCL side of the OPENCL device: one device, programs built on it, runs of them. Every failure is an OpenCLError
// that says what was tried.
#pragma once

#include <CL/cl.h>

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/allocator.h"

namespace etch::opencl {

class OpenCLError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A kernel wrote behind a buffer.
class GuardError : public OpenCLError {
 public:
  GuardError(const std::string& distance, int index) : OpenCLError("wrote " + distance + " bytes after the end of buffer"), buffer(index) {}
  int buffer;  // its number
};

struct DeviceInfo {
  std::string platform, name, version;
  bool is_cpu = false, has_half = false, has_double = false;
};

struct KernelSpec {
  std::string name;
  int variables = 0;  // int arguments after the buffers
};

struct ProgramSpec {
  std::string source;
  std::vector<KernelSpec> kernels;
  std::map<int, std::span<const std::byte>> constants;  // by buffer number
};

struct CallSpec {
  int kernel = 0;
  std::vector<int> buffers;  // all arguments
  std::vector<int> writes;   // those that are written
  std::vector<std::int32_t> values;
  std::vector<std::size_t> groups, local;  // work-groups, and work-items in one; as many as there are dimensions. No local: the driver
                                           // puts the work-items, `groups`, into groups
};

struct RunSpec {
  std::vector<std::int64_t> bytes;  // of each buffer, for these variables
  std::vector<CallSpec> calls;
  std::vector<int> last_use;  // of each buffer: the call after which its memory is free
  std::map<int, std::span<const std::byte>> inputs;
  std::vector<int> outputs;
  bool tap = false, guards = false, seconds = false;
};

struct RunResult {
  std::vector<std::vector<std::byte>> outputs;
  std::vector<double> seconds;  // of each call, if asked for
};

/// Called before each call, and after it with what it wrote (if asked for).
struct RunEvents {
  std::function<void(int call)> before;
  std::function<void(int call, int output, std::span<const std::byte> written)> tap;
};

/// Buffers of an OpenCL context: what it hands out are cl_mem.
class BufferAllocator : public Allocator {
 public:
  BufferAllocator(cl_context context, cl_command_queue queue) : context_(context), queue_(queue) {}
  void* allocate(std::int64_t bytes) override;
  void release(void* memory, std::int64_t bytes) override;

 private:
  cl_context context_;
  cl_command_queue queue_;
};

class Runner {
 public:
  /// Chooses a device: `wanted` is "gpu", "cpu", part of a name, or empty (a GPU if there is one).
  explicit Runner(const std::string& wanted);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  const DeviceInfo& info() const { return info_; }
  /// Builds; returns the program's number.
  int load(const ProgramSpec& spec);
  void unload(int program);
  RunResult run(int program, const RunSpec& spec, const RunEvents& events);

 private:
  struct Loaded {
    cl_program program = nullptr;
    std::vector<cl_kernel> kernels;
    std::map<int, Buffer> constants;
  };
  void release(Loaded& loaded);
  Buffer make(std::int64_t bytes, bool guards);
  void launch(const Loaded& loaded, const CallSpec& call, const std::vector<Buffer>& buffers);
  void check_guard(const Buffer& buffer, std::int64_t bytes, int index);
  void read(const Buffer& buffer, std::vector<std::byte>& to);

  DeviceInfo info_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::unique_ptr<BufferAllocator> memory_;
  std::unique_ptr<LRUAllocator> kept_;
  std::map<int, Loaded> programs_;
  int next_ = 0;
};

}  // namespace etch::opencl
