#include "device/host_compiler.h"

#include <dlfcn.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>

#include "base/files.h"
#include "base/process.h"
#include "device/device_error.h"

namespace etch {
namespace {

constexpr std::size_t kShownLines = 12;  // of the compiler's message
constexpr const char* kBinary = "kernels.so";

std::string first_lines(const std::string& text) {
  std::size_t end = 0;
  for (std::size_t line = 0; line < kShownLines && end < text.size(); line++) end = std::min(text.find('\n', end), text.size() - 1) + 1;
  return text.substr(0, end) + (end < text.size() ? "..." : "");
}

}  // namespace

// The compiler is known by its file, since asking it for its version would mean to start it.
std::string HostCompiler::cachekey() const {
  std::error_code ignored;
  const std::filesystem::path file = std::filesystem::canonical(options_.program, ignored);
  const auto changed = std::filesystem::last_write_time(file, ignored).time_since_epoch().count();
  std::string key = file.string() + "\n" + std::to_string(std::filesystem::file_size(file, ignored)) + " " + std::to_string(changed) +
                    "\n" + this_processor() + "\n";
  for (const std::string& flag : options_.flags) key += flag + "\n";
  for (const HostFile& beside : options_.files) key += beside.name + "\n" + std::to_string(beside.text.size()) + "\n" + beside.text;
  return key;
}

std::string HostCompiler::compile(const std::string& text) const {
  const TempDir dir("etch-kernels");
  const std::string source = "kernels" + options_.extension;
  for (const HostFile& file : options_.files) {
    std::filesystem::create_directories((dir.path() / file.name).parent_path());
    write_file(dir.path() / file.name, file.text);
  }
  write_file(dir.path() / source, text);
  std::vector<std::string> command = {options_.program.string(), "-fPIC", "-w"};
  command.insert(command.end(), options_.flags.begin(), options_.flags.end());
  command.insert(command.end(), {"-shared", "-o", kBinary, source});
  for (const HostFile& file : options_.files)
    if (file.name.ends_with(".c")) command.push_back(file.name);
  command.emplace_back("-lm");
  ProcessOptions process;
  process.cwd = dir.path();
  process.timeout_s = options_.timeout_s;
  process.env = {{"TMPDIR", dir.path().string()}};  // so that files of a compiler that is stopped are removed with the folder
  const ProcessResult result = run_process(command, process);
  if (result.ok()) return read_file(dir.path() / kBinary);
  throw DeviceError(options_.what + " " + options_.program.string(), describe(result) + "\n" + first_lines(result.err),
                    "choose another compiler or other flags; if the text is right, this is a bug of etch");
}

std::string HostCompiler::disassemble(const std::string& binary) const { return disassemble_object(binary); }

SharedObject::SharedObject(const std::string& binary) : dir_("etch-kernels") {
  const std::filesystem::path file = dir_.path() / kBinary;
  write_file(file, binary);
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

std::optional<std::filesystem::path> find_compiler(const std::string& wanted, const std::vector<std::string>& names) {
  if (!wanted.empty()) return find_program(wanted);
  for (const std::string& name : names)
    if (auto found = find_program(name)) return found;
  return std::nullopt;
}

std::optional<std::filesystem::path> find_c_compiler(const std::string& wanted) {
  return find_compiler(wanted, {"gcc", "clang", "clang-19", "cc"});
}

std::string describe_compiler(const std::filesystem::path& program) {
  const ProcessResult result = run_process({program.string(), "--version"});
  return result.out.substr(0, result.out.find('\n')) + " (" + program.string() + ")";
}

std::string this_processor() {
  std::string text = llvm::sys::getHostCPUName().str();
  std::vector<std::string> names;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    if (feature.getValue()) names.push_back(feature.getKey().str());
  std::ranges::sort(names);
  for (const std::string& name : names) text += " " + name;
  return text;
}

std::string disassemble_object(const std::string& object) {
  const auto program = find_program("objdump");
  if (!program) throw DeviceError("disassembly", "objdump is not installed", "install binutils");
  const TempDir dir("etch-kernels");
  write_file(dir.path() / kBinary, object);
  ProcessOptions process;
  process.cwd = dir.path();
  const ProcessResult result = run_process({program->string(), "-d", "--no-show-raw-insn", kBinary}, process);
  if (!result.ok()) throw DeviceError("disassembly", "objdump: " + describe(result) + "\n" + first_lines(result.err));
  return result.out;
}

}  // namespace etch
