#include "device/external.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "device/buffer.h"
#include "device/host_compiler.h"
#include "program/external.h"

namespace etch {
namespace {

constexpr std::int64_t kZoneGuard = 4096;  // bytes before and after a buffer
// A float that is read from around an input is NaN. Around outputs it is another byte: what a function copies from there to here shows.
constexpr std::byte kZoneGuardByte{0xFF}, kOutputGuardByte{0xA5};
constexpr const char* kExternalTable = "etch_external_kernels";
const std::string kFolder = "custom/";  // of the user's files: their names are their own

/// Memory that a child process shares with this one.
class SharedMemory {
 public:
  explicit SharedMemory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
      throw DeviceError("memory", fmt::format("there are no {} bytes for a function in C: {}", bytes, std::strerror(errno)),
                        "run on a machine with more memory");
    memory_ = static_cast<std::byte*>(made);
    std::memset(memory_, static_cast<int>(kZoneGuardByte), bytes_);
  }
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::byte* at(std::int64_t offset) const { return memory_ + offset; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

/// A buffer of the call: where it lies in the shared memory, and where in this process's own.
struct Zone {
  std::int64_t offset = 0, bytes = 0;
  std::int64_t width = 1;  // bytes of an element
  std::span<std::byte> content;
  std::string name;  // "its output"
  bool is_read = false;
  std::byte guard() const { return is_read ? kZoneGuardByte : kOutputGuardByte; }
  /// With the guard behind it, in whole guards.
  std::int64_t end() const { return (offset + bytes + 2 * kZoneGuard - 1) / kZoneGuard * kZoneGuard; }
};

/// The buffers one behind the other, with guards between them. The first byte of the memory says whether the function returned.
std::vector<Zone> zones_of(const std::vector<KernelArgument>& arguments, std::span<void* const> buffers, const VarValues& values) {
  std::vector<Zone> zones;
  const auto outputs = std::ranges::count(arguments, Access::Write, &KernelArgument::access);
  for (std::size_t i = 0, read = 0; i < arguments.size(); i++) {
    const KernelArgument& a = arguments[i];
    Zone zone{.offset = (zones.empty() ? kZoneGuard : zones.back().end()) + kZoneGuard,
              .bytes = evaluate(a.elements, values) * bytes_of(a.dtype),
              .width = bytes_of(a.dtype),
              .content = {},
              .name = outputs == 1 ? "its output" : fmt::format("its output {}", i),
              .is_read = a.access == Access::Read};
    if (zone.is_read) zone.name = fmt::format("its input {}", read++);
    zone.content = {static_cast<std::byte*>(buffers[i]), static_cast<std::size_t>(zone.bytes)};
    zones.push_back(zone);
  }
  return zones;
}

/// How a child process ended.
struct Ended {
  bool timed_out = false;
  int status = 0;  // of waitpid
};

Ended wait_for(pid_t child, double timeout_s) {
  using namespace std::chrono;
  Ended ended;
  if (timeout_s <= 0) {
    while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
    }
    return ended;
  }
  const auto end = steady_clock::now() + duration<double>(timeout_s);
  for (microseconds pause{50}; waitpid(child, &ended.status, WNOHANG) == 0; pause = std::min(2 * pause, microseconds{5000})) {
    if (steady_clock::now() < end) {
      std::this_thread::sleep_for(pause);
      continue;
    }
    ended.timed_out = true;
    kill(child, SIGKILL);
    while (waitpid(child, &ended.status, 0) < 0 && errno == EINTR) {
    }
    break;
  }
  return ended;
}

/// In the child: as a process that nobody prepared, so that a crash is a signal, and not what a handler of this one makes of it.
void become_plain(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) ::signal(signal, SIG_DFL);
  sigset_t empty;
  sigemptyset(&empty);
  pthread_sigmask(SIG_SETMASK, &empty, nullptr);
}

/// Calls the function in a child; returns whether it came back there, and how the child ended.
bool call_in_child(KernelFunction function, void* const* arg, volatile unsigned char* returned, double timeout_s, Ended& ended) {
  *returned = 0;
  std::fflush(nullptr);  // else both processes would write what waits to be written
  const pid_t parent = getpid(), child = fork();
  if (child < 0)
    throw DeviceError("a process for a function in C", std::string("can't be started: ") + std::strerror(errno), "raise ulimit -u");
  if (child == 0) {
    become_plain(parent);
    function(arg);
    *returned = 1;
    std::fflush(nullptr);
    _exit(0);
  }
  ended = wait_for(child, timeout_s);
  return *returned != 0;
}

void require_returned(bool returned, const Ended& ended, double timeout_s, const std::string& place) {
  if (returned) return;
  ProcessResult result;
  result.started = true;
  result.timed_out = ended.timed_out;
  result.seconds = timeout_s;
  if (WIFSIGNALED(ended.status)) result.signal = WTERMSIG(ended.status);
  if (WIFEXITED(ended.status)) result.exit_code = WEXITSTATUS(ended.status);
  if (ended.timed_out) throw DeviceError(place, "it does not return: " + describe(result), "look for a loop without end");
  if (result.signal == 0) throw DeviceError(place, "it ends the process: " + describe(result), "let it return");
  throw DeviceError(place, "it crashes: " + describe(result), "look for an index outside of its arrays, or a pointer that is not set");
}

/// DeviceError if the function wrote where it may not.
void check_zone(const SharedMemory& memory, const Zone& zone, const std::string& place) {
  const std::string help = "look for a loop that runs too far: the sizes are those of the node";
  const std::byte* begin = memory.at(zone.offset);
  const auto fail_outside = [&](std::int64_t index) {
    const std::int64_t count = zone.bytes / zone.width;
    throw DeviceError(place, fmt::format("it writes outside of {}, at index {}, there are {} elements", zone.name, index, count), help);
  };
  for (std::int64_t k = 0; k < kZoneGuard; k++) {
    if (begin[zone.bytes + k] != zone.guard()) fail_outside((zone.bytes + k) / zone.width);
    if (begin[-1 - k] != zone.guard()) fail_outside(-1 - k / zone.width);
  }
  if (!zone.is_read || std::equal(zone.content.begin(), zone.content.end(), begin)) return;
  const auto at = std::mismatch(zone.content.begin(), zone.content.end(), begin).first - zone.content.begin();
  throw DeviceError(place, fmt::format("it writes into {}, at index {}, which it may only read", zone.name, at / zone.width),
                    "take the inputs as pointers to const, and write to outputs alone");
}

std::string table_unit(std::span<const ProgramKernel> kernels) {
  std::string text = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n" + external_declarations(kernels), table;
  for (const ProgramKernel& kernel : kernels) {
    text += external_text(kernel);
    table += "  " + kernel.name + ",\n";
  }
  const std::string head = std::string("void (*const ") + kExternalTable + "[])(void *const *arg)";
  return text + "extern " + head + ";\n" + head + " = {\n" + table + "};\n";
}

/// That a user's files parse is known: what a compiler or linker refuses now is theirs to mend.
std::string compiled(const HostCompiler& compiler, const std::string& text, const std::string& names) {
  try {
    return compiler.compile_cached(text);
  } catch (const DeviceError& error) {
    if (names.empty()) throw;
    throw DeviceError(
        "--custom-file " + names, error.where() + " can't build it: " + error.problem(),
        "define what is missing in a file of --custom-file, or correct what is shown; the C library and its <math.h> are there");
  }
}

}  // namespace

ExternalLibrary::ExternalLibrary(std::span<const ProgramKernel> kernels, const DeviceOptions& options)
    : timeout_s_(options.custom_timeout_s) {
  for (const ProgramKernel& kernel : kernels) {
    check(kernel.external != nullptr, "a library of functions in C has no other kernels");
    functions_.push_back(
        {(kernel.external->is_custom() ? "custom function " : "") + kernel.external->place(), kernel.arguments, kernel.variables});
  }
  const COptions own = options.get<COptions>();
  const auto program = find_c_compiler(own.cc);
  if (!program) throw DeviceError(functions_.front().place, "there is no C compiler to compile it", "install gcc or clang");
  HostCompilerOptions host{.what = "C compiler for functions in C",
                           .program = *program,
                           .flags = own.flags,
                           .timeout_s = options.timeout_s,
                           .extension = ".c",
                           .files = {}};
  host.flags.emplace_back("-Wl,-Bsymbolic");  // a function keeps its meaning, whatever this process calls its own functions
  host.flags.emplace_back("-Wl,-z,defs");     // what it calls has to be there
  std::string names;                          // of the user's files in C
  for (const ExternalFile& file : external_files(kernels)) {
    host.files.push_back({kFolder + file.name, file.text});
    if (file.name.ends_with(".c") && !file.of_runtime) names += (names.empty() ? "" : ", ") + file.name;
  }
  const HostCompiler compiler(std::move(host), options.cache);
  object_ = std::make_unique<SharedObject>(compiled(compiler, table_unit(kernels), names));
}

ExternalLibrary::~ExternalLibrary() = default;

void ExternalLibrary::launch(int kernel, std::span<void* const> buffers, std::span<const std::int32_t> values, const LaunchSize&) const {
  const Function& function = functions_.at(static_cast<std::size_t>(kernel));
  VarValues now;
  for (std::size_t v = 0; v < function.variables.size(); v++) now[function.variables[v]] = values[v];
  const std::vector<Zone> zones = zones_of(function.arguments, buffers, now);
  const SharedMemory memory(zones.empty() ? kZoneGuard : zones.back().end());
  std::vector<void*> arg;
  for (const Zone& zone : zones) {
    std::fill_n(memory.at(zone.offset - kZoneGuard), kZoneGuard, zone.guard());
    std::fill_n(memory.at(zone.offset + zone.bytes), kZoneGuard, zone.guard());
    if (zone.is_read) std::ranges::copy(zone.content, memory.at(zone.offset));
    arg.push_back(memory.at(zone.offset));
  }
  const auto* table = static_cast<const KernelFunction*>(object_->symbol(kExternalTable));
  Ended ended;
  const bool returned =
      call_in_child(table[kernel], KernelArguments(arg, values).get(), reinterpret_cast<unsigned char*>(memory.at(0)), timeout_s_, ended);
  require_returned(returned, ended, timeout_s_, function.place);
  for (const Zone& zone : zones) check_zone(memory, zone, function.place);
  for (const Zone& zone : zones)
    if (!zone.is_read) std::copy_n(memory.at(zone.offset), zone.content.size(), zone.content.begin());
}

std::vector<LoadedKernel> with_external(std::span<const ProgramKernel> kernels, const std::shared_ptr<const KernelLibrary>& generated,
                                        const DeviceOptions& options) {
  std::vector<ProgramKernel> functions;
  for (const ProgramKernel& kernel : kernels)
    if (kernel.external != nullptr) functions.push_back(kernel);
  const auto library = functions.empty() ? nullptr : std::make_shared<const ExternalLibrary>(functions, options);
  std::vector<LoadedKernel> loaded;
  int own = 0, other = 0;
  for (const ProgramKernel& kernel : kernels) {
    if (kernel.external == nullptr)
      loaded.emplace_back(generated, own++);
    else
      loaded.emplace_back(library, other++);
  }
  return loaded;
}

std::vector<ProgramKernel> without_external(std::span<const ProgramKernel> kernels) {
  std::vector<ProgramKernel> generated;
  for (const ProgramKernel& kernel : kernels)
    if (kernel.external == nullptr) generated.push_back(kernel);
  return generated;
}

void throw_with_nodes(const Program& program, const ProgramCall& call, const DeviceError& error) {
  const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(call.kernel)];
  if (kernel.external == nullptr) throw DeviceError(error);
  std::string nodes;
  for (const std::string& node : call.nodes) nodes += (nodes.empty() ? "" : ", ") + ("'" + node + "'");
  throw DeviceError(fmt::format("node {} ({}): {}", nodes, kernel.external->op, error.where()), error.problem(), error.help());
}

namespace {

class ExternalRunner : public ASTRunner {
 public:
  ExternalRunner(ASTSignature signature, Estimate estimate, Stats stats, ProgramKernel kernel, const DeviceOptions& options,
                 std::shared_ptr<const void> owner)
      : ASTRunner(std::move(signature), std::move(estimate), std::move(stats), std::move(owner)),
        kernel_(std::move(kernel)),
        loaded_(std::make_shared<const ExternalLibrary>(std::span(&kernel_, 1), options), 0) {}

 protected:
  std::optional<double> run(const std::vector<const Buffer*>& rawbufs, const VarValues& var_vals, bool) override {
    check_arguments(rawbufs, var_vals);
    std::vector<std::vector<std::byte>> contents;
    std::vector<void*> memory;
    for (const Buffer* buffer : rawbufs) {
      contents.emplace_back(static_cast<std::size_t>(buffer->bytes()));
      buffer->copyout(contents.back());
      memory.push_back(contents.back().data());
    }
    const auto seconds = launch(loaded_, kernel_, memory, var_vals, true);
    for (std::size_t i = 0; i < rawbufs.size(); i++)
      if (kernel_.arguments[i].access == Access::Write) rawbufs[i]->copyin(contents[i]);
    return seconds;
  }

 private:
  ProgramKernel kernel_;
  LoadedKernel loaded_;
};

}  // namespace

std::shared_ptr<JITRunner> make_external_runner(const Device& device, ProgramKernel kernel, const DeviceOptions& options,
                                                std::shared_ptr<const void> owner) {
  ASTSignature signature{.device = device.name(), .arguments = kernel.arguments, .variables = {}};
  std::vector<Sint> sizes = sizes_of(*kernel.external);
  Estimate estimate;  // what it computes is not known
  for (KernelArgument& a : signature.arguments) {
    estimate.mem += a.elements * bytes_of(a.dtype);
    sizes.push_back(a.elements);
    a.elements = a.elements.max();
  }
  for (const Node* v : variables(sizes)) signature.variables.push_back({v->name, v->min, v->max});
  return std::make_shared<ExternalRunner>(std::move(signature), estimate, device.stats(), std::move(kernel), options, std::move(owner));
}

}  // namespace etch
