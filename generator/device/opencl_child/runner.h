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
  std::string platform, name, version, driver;
  bool is_cpu = false, has_half = false, has_double = false;
};

struct KernelSpec {
  std::string name;
  int variables = 0;  // int arguments after the buffers
};

struct ProgramSpec {
  std::string source;
  std::span<const std::byte> binary;  // if not empty, what compile() returned for the source
  std::vector<KernelSpec> kernels;
  std::map<int, std::span<const std::byte>> constants;  // by buffer number
};

struct CallSpec {
  int kernel = 0;            // negative: a function of the tool computes it
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
  std::vector<double> seconds;       // of each call, if asked for
  std::vector<std::int64_t> memory;  // bytes in use at each call, without constants; then too
};

/// Called before each call, and after it with what it wrote (if asked for). `function` computes calls without a kernel: it gets what
/// they read, one buffer after the other, and returns what they write.
struct RunEvents {
  std::function<void(int call)> before;
  std::function<void(int call, int output, std::span<const std::byte> written)> tap;
  std::function<std::vector<std::byte>(int call, std::span<const std::byte> read)> function;
};

/// Buffers of an OpenCL context: what it hands out are cl_mem.
class BufferAllocator : public Allocator {
 public:
  BufferAllocator(cl_context context, cl_command_queue queue) : context_(context), queue_(queue) {}
  std::byte* host_address(void*) const override { return nullptr; }

 protected:
  void* alloc_own(std::int64_t bytes) override;
  void free_own(void* memory, std::int64_t bytes) override;

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
  /// Builds, and returns the driver's binary. Nothing of a processor's driver: PoCL's binaries take longer to make than they save.
  std::vector<unsigned char> compile(const std::string& source);
  /// Builds; returns the program's number.
  int load(const ProgramSpec& spec);
  void unload(int program);
  /// Writes constants of a program again: those of a program's states, which kernels write.
  void restore(int program, const std::map<int, std::span<const std::byte>>& constants);
  /// Memory by number, for kernels that are started one by one; 0 if there is none left.
  int alloc(std::int64_t bytes);
  void free(int memory);
  void write(int memory, std::span<const std::byte> bytes);
  std::vector<std::byte> read(int memory, std::int64_t bytes);
  /// Starts a kernel of a program; call.buffers are numbers of memory.
  void launch(int program, const CallSpec& call);
  /// Prepares calls of programs, with all their arguments set; returns the number of the list.
  int prepare(const std::vector<std::pair<int, CallSpec>>& calls);
  /// Gives call number `index` of a list other arguments.
  void update(int list, int index, const CallSpec& call);
  /// Starts all calls of a list.
  void replay(int list);
  void forget(int list);
  /// Waits for all that was started.
  void wait();
  RunResult run(int program, const RunSpec& spec, const RunEvents& events);

 private:
  struct Loaded {
    cl_program program = nullptr;
    std::vector<cl_kernel> kernels;
    std::map<int, DeviceMemory> constants;
  };
  /// A call whose kernel has its arguments.
  struct Prepared {
    cl_kernel kernel = nullptr;
    CallSpec call;
  };
  void release(Loaded& loaded);
  void set_arguments(cl_kernel kernel, const CallSpec& call, const std::function<const DeviceMemory&(int)>& buffer_of);
  void start(cl_kernel kernel, const CallSpec& call);
  const Loaded& loaded(int program) const;
  void build_source(const std::string& source, Loaded& loaded);
  /// False if the driver does not take it: it is of another version.
  bool build_binary(std::span<const std::byte> binary, Loaded& loaded);
  DeviceMemory make(std::int64_t bytes, bool guards);
  void launch(const Loaded& loaded, const CallSpec& call, const std::function<const DeviceMemory&(int)>& buffer_of);
  /// Runs a call that is a function of the tool.
  void call_function(int number, const RunSpec& spec, const RunEvents& events, const std::function<const DeviceMemory&(int)>& buffer_of);
  void check_guard(const DeviceMemory& buffer, std::int64_t bytes, int index);
  void read(const DeviceMemory& buffer, std::span<std::byte> to);

  DeviceInfo info_;
  cl_device_id device_ = nullptr;
  cl_context context_ = nullptr;
  cl_command_queue queue_ = nullptr;
  std::unique_ptr<LRUAllocator> kept_;
  std::map<int, Loaded> programs_;
  std::map<int, DeviceMemory> memory_;  // by number
  std::map<int, std::vector<Prepared>> lists_;
  int next_ = 0, next_memory_ = 1, next_list_ = 0;
};

}  // namespace etch::opencl
