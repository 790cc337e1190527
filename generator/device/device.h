// Places where a Program runs on the host: INTERP, C, OPENCL. A device takes the texts that the program holds and knows
// nothing of how they were made; every device gives the same results up to rounding.
//
//   auto device = make_device("c", options);
//   auto loaded = device->load(program);         // compiles, keeps constants
//   std::vector<Array> outputs = loaded->run(inputs, {{"batch", 4}});
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "interp/interp.h"
#include "ir/array.h"
#include "program/program.h"

namespace etch {

/// The program could not be compiled or did not run to its end: a compiler's message, a crash, a hang, a wrong input.
class DeviceError : public UserError {
 public:
  using UserError::UserError;
};

struct DeviceOptions {
  /// C: the compiler, a name on PATH or a path. Empty: the first of gcc, clang, clang-19, cc that is found.
  std::string cc;
  /// C: flags besides those that make a shared object.
  std::vector<std::string> c_flags = {"-std=gnu11", "-O3", "-march=native"};
  /// C: compiler processes at a time; a program with much text is split into that many translation units.
  int compile_jobs = 2;
  /// C: the folder that holds etch_math.h. Empty: the header is not included.
  std::filesystem::path runtime_dir;
  /// Text that goes before the kernels: the OpenCL helpers.
  std::string prelude;
  /// OPENCL: the program that talks to OpenCL. Empty: etch-opencl beside the running executable.
  std::filesystem::path opencl_program;
  /// OPENCL: "gpu", "cpu", or part of a device's or platform's name. Empty: a GPU if there is one.
  std::string opencl_device;
  /// OPENCL: folder for PoCL's compiled kernels, kept between runs. Empty: a temporary one for each device.
  std::filesystem::path opencl_cache;
  /// Seconds after which a compiler or a run in a child process is given up. Zero: never.
  double timeout_s = 300;
  /// Guard zones around every buffer, checked after each call, and memory that was never written holds NaN: finds stores
  /// out of bounds and names the kernel.
  bool guards = false;
};

struct RunOptions {
  /// Called after each call of the program with its number and the array that it wrote.
  std::function<void(int call, const Array& output)> tap;
  /// Filled with the seconds that each call took, if given. With OPENCL each call is then waited for.
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

class Device {
 public:
  virtual ~Device() = default;
  /// "interp", "c", "opencl".
  virtual std::string name() const = 0;
  /// Whether it can be used here; if not, *why is one line (why may be null).
  virtual bool available(std::string* why) const = 0;
  /// What runs the programs, for people: "gcc 12.2.0 (/usr/bin/gcc)". Only if available.
  virtual std::string description() const = 0;
  /// Throws DeviceError if the program does not compile, InternalError if it is in another language.
  virtual std::unique_ptr<LoadedProgram> load(const Program& program) const = 0;
};

/// The device with that name; nullptr if there is none.
std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options = {});
/// Names for make_device, the reference first.
std::vector<std::string> device_names();

std::unique_ptr<Device> make_interp_device(const DeviceOptions& options);
std::unique_ptr<Device> make_c_device(const DeviceOptions& options);
std::unique_ptr<Device> make_opencl_device(const DeviceOptions& options);

/// The environment of a process that runs kernels on OpenCL: PoCL keeps compiled kernels in `cache`, and runs work-groups in
/// the way that works, unless the caller's environment says how.
std::vector<std::pair<std::string, std::string>> opencl_environment(const std::filesystem::path& cache);

}  // namespace etch
