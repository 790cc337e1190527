// The backends that run a Program on the host, one row each: INTERP, C, LLVM, OPENCL, CUDA. A device takes the texts that the program holds
// and does not depend on how they were made; all devices give the same results up to rounding.
//
//   auto device = make_device("c", options);
//   auto loaded = device->load(program);         // compiles, keeps constants
//   std::vector<Array> outputs = loaded->run(inputs, {{"batch", 4}});
//
// A device is an allocator for its memory, and what runs ASTs: kernels of a Compiler (device/compiled.h) or the reference. Programs and
// ASTs that are run by hand (device/runner.h) use the same memory, compiler and counters.
#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/process.h"
#include "base/table.h"
#include "codegen/options.h"
#include "device/allocator.h"
#include "device/counters.h"
#include "device/debug.h"
#include "device/device_error.h"
#include "device/disk_cache.h"
#include "interp/interp.h"
#include "ir/array.h"
#include "program/program.h"

namespace etch {

/// The options of every device, and for single devices a struct of their own options:
///   options.of<COptions>().cc = "clang";
class DeviceOptions {
 public:
  /// Seconds after which a compiler or a run in a child process is stopped. Zero: never.
  double timeout_s = 300;
  /// Seconds after which one call of a custom operator's function is stopped. Zero: never.
  double custom_timeout_s = 20;
  /// Finds stores out of bounds and names the kernel: after each call all memory that the call may not write is checked, and memory that
  /// was never written holds NaN.
  bool guards = false;
  /// Where compilers keep what they made. By default nowhere.
  CacheOptions cache;
  /// Whether memory that is returned is kept for the next buffer of its size.
  bool lru = true;
  /// Where the device counts. Null: in those of the process.
  std::shared_ptr<GlobalCounters> counters;
  /// What the device tells about its work, and where.
  DebugOptions debug;
  /// How get_runner makes kernels. If absent: scalar code, with work-groups where the language has them.
  std::optional<CodegenOptions> codegen;

  /// The options of one device, to be read or changed; initially T{}.
  template <class T>
  T& of() {
    std::any& slot = own_[std::type_index(typeid(T))];
    if (!slot.has_value()) slot = T{};
    return *std::any_cast<T>(&slot);
  }
  template <class T>
  T get() const {
    const auto found = own_.find(std::type_index(typeid(T)));
    return found == own_.end() ? T{} : std::any_cast<T>(found->second);
  }

 private:
  std::map<std::type_index, std::any> own_;
};

struct COptions {
  /// The compiler, a name on PATH or a path. Empty: the first of gcc, clang, clang-19, cc that is found.
  std::string cc;
  /// Flags besides those that make a shared object.
  std::vector<std::string> flags = {"-std=gnu99", "-O3", "-march=native"};
  /// Alignment of the arena and of the buffers in it, as in the target's project.
  std::int64_t arena_align = 16;
  /// Number of compiler processes at a time; a program with much text is split into that many translation units. 0: one per processor.
  int compile_jobs = 0;
};

struct LlvmOptions {
  /// Whether a * b + c may become one operation that rounds once.
  bool contract = true;
  /// As in COptions.
  std::int64_t arena_align = 16;
  /// Number of threads that compile; a program with much text is split into that many parts. 0: one per processor.
  int compile_jobs = 0;
};

struct OpenClOptions {
  /// The program that talks to OpenCL. Empty: etch's own (base/installation.h).
  std::filesystem::path program;
  /// "gpu", "cpu", or part of a device's or platform's name. Empty: a GPU if there is one.
  std::string device;
};

struct CudaOptions {
  /// "gpu", or "cpu": the kernels are compiled as C++ and run on this processor. Empty: a GPU if there is one.
  std::string device;
  /// Whether a * b + c may become one operation that rounds once.
  bool contract = true;
  /// The C++ compiler where there is no GPU, a name on PATH or a path. Empty: the first of g++, clang++, clang++-19, c++ that is found.
  std::string cxx;
  /// Its flags besides those that make a shared object.
  std::vector<std::string> flags = {"-std=c++17", "-O2"};
  /// As in COptions.
  int compile_jobs = 0;
};

struct RunOptions {
  /// Called after each call of the program, once for each buffer that it wrote: `call` is its number, `written` the content of
  /// number `output` of its writes(), of a list the element that this turn of the loop wrote.
  std::function<void(int call, int output, const Array& written)> tap;
  /// If given, filled with the seconds that each call took, in all turns of its loops. OPENCL then waits for the end of each call.
  std::vector<double>* call_seconds = nullptr;
};

/// A program that is ready to run. It holds a reference to the Program it was loaded from, which must outlive it.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  /// Runs the program: `inputs` in the order of Program::inputs, of the shapes that `vars` give them. Every variable of the
  /// program has a value in its range. Throws DeviceError.
  /// The program's states keep what a run leaves in them for the next one; before the first run they have their first values.
  virtual std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars = {}, const RunOptions& options = {}) = 0;
  /// The states have their first values again.
  virtual void reset_state() = 0;
};

class Device;

/// A row of the table of devices.
struct DeviceRow {
  std::string_view name;     // as --backends takes it: "interp"
  const Language* language;  // of the programs that it runs; null: it takes their ASTs
  std::unique_ptr<Device> (*make)(const DeviceRow& row, const DeviceOptions& options);
  /// The environment variables that a process needs to run programs of this language by itself. `work`: a folder that it may use.
  /// May be null.
  std::vector<EnvVar> (*environment)(const std::filesystem::path& work) = nullptr;
};

class JITRunner;
class KernelGraph;
struct GraphNode;

class Device {
 public:
  explicit Device(const DeviceRow& row, const DeviceOptions& options = {});
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string name() const { return std::string(row_->name); }
  const Language* language() const { return row_->language; }
  /// Whether it can be used here; if not, *why is one line (why may be null).
  virtual bool available(std::string* why) const = 0;
  /// What runs the programs, for people to read: "gcc 12.2.0 (/usr/bin/gcc)". Call it only if available().
  virtual std::string description() const = 0;
  /// Throws DeviceError if the program does not compile, InternalError if it is in another language. The result may outlive the device.
  std::unique_ptr<LoadedProgram> load(const Program& program) const;

  /// Its memory, which programs and Buffers share. Throws DeviceError if the device is not available.
  std::shared_ptr<Allocator> allocator() const;
  /// What runs `ast` on Buffers of this device; equal ASTs get the same runner. `owner` keeps alive what the AST points into (as
  /// Program::owner does), and null promises that it outlives the runner. Throws DeviceError. The runner may outlive the device.
  std::shared_ptr<JITRunner> get_runner(const LazyOp* ast, std::shared_ptr<const void> owner = nullptr) const;
  /// The same for a function in C; `arguments`: its buffers, what it writes first. Equal calls get the same runner. It calls the function,
  /// also where a program on the reference device would take the function's own reference.
  std::shared_ptr<JITRunner> get_runner(const std::shared_ptr<const ExternalKernel>& function, const std::vector<KernelArgument>& arguments,
                                        std::shared_ptr<const void> owner = nullptr) const;
  /// Prepares these runs of kernels, which get_runner made, to be started as a whole. Throws GraphException if the device can't.
  virtual std::unique_ptr<KernelGraph> make_graph(std::vector<GraphNode> nodes) const;
  /// Waits for the end of all kernels that were started.
  virtual void synchronize() const {}
  const std::shared_ptr<GlobalCounters>& counters() const { return stats_.counters; }
  /// Where runners on this device count and tell what they do.
  const Stats& stats() const { return stats_; }

  /// The device that is meant where none is named: the reference, until another is chosen. Throws DeviceError for an unknown name.
  static void set_default(std::string_view name);
  static const DeviceRow& default_device();

 protected:
  const DeviceOptions& options() const { return options_; }
  /// With DeviceOptions::debug: a kernel that is about to be loaded, the first below a line that names the device.
  void tell(const ProgramKernel& kernel) const;
  /// What the device's memory is taken from; the host's by default.
  virtual std::shared_ptr<Allocator> make_allocator() const;

 private:
  virtual std::unique_ptr<LoadedProgram> load_own(const Program& program) const = 0;
  virtual std::shared_ptr<JITRunner> make_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const = 0;
  std::shared_ptr<JITRunner> runner_of(const std::string& key, const std::function<std::shared_ptr<JITRunner>()>& make) const;
  void tell_device() const;

  const DeviceRow* row_;
  DeviceOptions options_;

  Stats stats_;
  mutable std::once_flag told_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Allocator> allocator_;
  mutable std::map<std::string, std::shared_ptr<JITRunner>> runners_;  // by the AST or the function's call as text
};

/// DeviceRow::make of a device whose constructor takes a row and options.
template <class T>
std::unique_ptr<Device> make_of(const DeviceRow& row, const DeviceOptions& options) {
  return std::make_unique<T>(row, options);
}

extern const DeviceRow kInterpDevice;  // the reference: ASTs evaluated in double
extern const DeviceRow kCDevice;       // C, compiled by the machine's compiler into this process
extern const DeviceRow kLlvmDevice;    // LLVM IR, compiled in this process
extern const DeviceRow kOpenClDevice;  // OpenCL C, in a child process
extern const DeviceRow kCudaDevice;    // CUDA, on a GPU or, where there is none, on this processor

/// All devices, the reference first.
Table<DeviceRow>& devices();
/// The device with that name, or Device::default_device() for an empty one. Throws DeviceError for a name that no device has.
std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options = {});
/// The reference, which all others are compared with.
std::unique_ptr<Device> make_reference_device(const DeviceOptions& options = {});
/// Names for make_device, the reference first.
std::vector<std::string> device_names();
/// Variables of the environment that a process needs to run programs of `language` by itself.
std::vector<EnvVar> environment_for(const Language& language, const std::filesystem::path& work);

}  // namespace etch
