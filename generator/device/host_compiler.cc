#include "device/host_compiler.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <future>

#include "base/process.h"

namespace etch {
namespace {

constexpr std::size_t kShownLines = 12;  // of the compiler's message

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kShownLines && end < text.size(); line++) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end) + (end < text.size() ? "..." : "");
}

void run_compiler(const HostCompiler& compiler, const std::filesystem::path& dir, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {compiler.program.string(), "-fPIC", "-w"};
  command.insert(command.end(), compiler.flags.begin(), compiler.flags.end());
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessOptions process;
  process.cwd = dir;
  process.timeout_s = compiler.timeout_s;
  process.env = {{"TMPDIR", dir.string()}};  // so that files of a compiler that is stopped are removed with the folder
  const ProcessResult result = run_process(command, process);
  if (result.ok()) return;
  throw DeviceError(compiler.what + " " + compiler.program.string(), describe(result) + "\n" + first_lines(result.err),
                    "choose another compiler or other flags; if the text is right, this is a bug of etch");
}

// Replaces the names of sources by those of their object files.
void compile_units(const HostCompiler& compiler, const std::filesystem::path& dir, std::vector<std::string>& files) {
  std::vector<std::future<void>> running;
  for (std::string& file : files) {
    const std::string object = file.substr(0, file.rfind('.')) + ".o";
    running.push_back(
        std::async(std::launch::async, [&compiler, dir, file, object] { run_compiler(compiler, dir, {"-c", "-o", object, file}); }));
    file = object;
  }
  for (auto& r : running) r.wait();
  for (auto& r : running) r.get();
}

}  // namespace

SharedObject::SharedObject(TempDir dir, const std::filesystem::path& file) : dir_(std::move(dir)) {
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) throw DeviceError("the compiled kernels", std::string("can't be loaded: ") + dlerror());
}

SharedObject::~SharedObject() {
  if (handle_ != nullptr) dlclose(handle_);
}

const void* SharedObject::symbol(const std::string& name) const {
  const void* found = dlsym(handle_, name.c_str());
  check(found != nullptr, "a unit of kernels exports its table");
  return found;
}

std::unique_ptr<SharedObject> compile_on_host(const HostCompiler& compiler, const std::vector<HostFile>& headers,
                                              const std::vector<HostFile>& units) {
  TempDir dir("etch-kernels");
  std::vector<std::string> link = {"-shared", "-o", "kernels.so"}, files;
  for (const HostFile& header : headers) std::ofstream(dir.path() / header.name) << header.text;
  for (const HostFile& unit : units) {
    std::ofstream(dir.path() / unit.name) << unit.text;
    files.push_back(unit.name);
  }
  if (units.size() > 1) compile_units(compiler, dir.path(), files);
  link.insert(link.end(), files.begin(), files.end());
  link.push_back("-lm");
  run_compiler(compiler, dir.path(), link);
  const std::filesystem::path file = dir.path() / "kernels.so";
  return std::make_unique<SharedObject>(std::move(dir), file);
}

std::optional<std::filesystem::path> find_compiler(const std::string& wanted, const std::vector<std::string>& names) {
  if (!wanted.empty()) return find_program(wanted);
  for (const std::string& name : names)
    if (auto found = find_program(name)) return found;
  return std::nullopt;
}

std::optional<std::filesystem::path> find_c_compiler(const COptions& options) {
  return find_compiler(options.cc, {"gcc", "clang", "clang-19", "cc"});
}

std::string describe_compiler(const std::filesystem::path& program) {
  const ProcessResult result = run_process({program.string(), "--version"});
  return result.out.substr(0, result.out.find('\n')) + " (" + program.string() + ")";
}

}  // namespace etch
