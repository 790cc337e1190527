// The backends that run a Program on the host, one row each: INTERP, C, LLVM, OPENCL, CUDA. A device takes the texts that the program holds
// and does not depend on how they were made; all devices give the same results up to rounding.
//
//   auto device = make_device("c", options);
//   auto loaded = device->load(program);         // compiles, keeps constants
//   std::vector<Array> outputs = loaded->run(inputs, {{"batch", 4}});
#pragma once

#include <any>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "base/table.h"
#include "interp/interp.h"
#include "ir/array.h"
#include "program/program.h"

namespace etch {

/// The program could not be compiled or did not run to its end: a compiler's message, a crash, a hang, a wrong input.
class DeviceError : public UserError {
 public:
  using UserError::UserError;
};

/// The options of every device, and for single devices a struct of their own options:
///   options.of<COptions>().cc = "clang";
class DeviceOptions {
 public:
  /// Seconds after which a compiler or a run in a child process is stopped. Zero: never.
  double timeout_s = 300;
  /// Finds stores out of bounds and names the kernel: after each call all memory that the call may not write is checked, and memory that
  /// was never written holds NaN.
  bool guards = false;

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
  /// The program that talks to OpenCL. Empty: etch-opencl beside the running executable.
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
  virtual std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars = {}, const RunOptions& options = {}) = 0;
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
  bool runs_external = false;  // kernels that are functions in C, see device/external.h
};

class Device {
 public:
  explicit Device(const DeviceRow& row) : row_(&row) {}
  virtual ~Device() = default;
  std::string name() const { return std::string(row_->name); }
  const Language* language() const { return row_->language; }
  /// Whether it runs kernels that are functions in C.
  bool runs_external() const { return row_->runs_external; }
  /// Whether it can be used here; if not, *why is one line (why may be null).
  virtual bool available(std::string* why) const = 0;
  /// What runs the programs, for people to read: "gcc 12.2.0 (/usr/bin/gcc)". Call it only if available().
  virtual std::string description() const = 0;
  /// Throws DeviceError if the program does not compile or has kernels that the device can't run, InternalError if it is in another
  /// language.
  std::unique_ptr<LoadedProgram> load(const Program& program) const;

 private:
  virtual std::unique_ptr<LoadedProgram> load_own(const Program& program) const = 0;

  const DeviceRow* row_;
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
/// The device with that name; nullptr if there is none.
std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options = {});
/// The reference, which all others are compared with.
std::unique_ptr<Device> make_reference_device(const DeviceOptions& options = {});
/// Names for make_device, the reference first.
std::vector<std::string> device_names();
/// Those of the devices that run kernels that are functions in C.
std::vector<std::string> external_device_names();
/// Variables of the environment that a process needs to run programs of `language` by itself.
std::vector<EnvVar> environment_for(const Language& language, const std::filesystem::path& work);

}  // namespace etch
