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

#include "device/compiler.h"
#include "device/host_compiler.h"
#include "program/external.h"

namespace etch {
namespace {

constexpr std::int64_t kGuard = 4096;  // bytes before and after a buffer
constexpr std::byte kGuardByte{0xFF};  // a float that is read from it is NaN
constexpr const char* kTable = "etch_external_kernels";

std::string place_of(const Program& program, const ProgramCall& call) {
  const ExternalKernel& external = *program.kernels[static_cast<std::size_t>(call.kernel)].external;
  std::string nodes;
  for (const std::string& node : call.nodes) nodes += (nodes.empty() ? "" : ", ") + ("'" + node + "'");
  return fmt::format("node {} ({}): custom function {}", nodes, external.op, external.place());
}

/// Memory that a child process shares with this one.
class SharedMemory {
 public:
  explicit SharedMemory(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* made = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED)
      throw DeviceError("memory", fmt::format("there are no {} bytes for a custom function: {}", bytes, std::strerror(errno)),
                        "run on a machine with more memory");
    memory_ = static_cast<std::byte*>(made);
    std::memset(memory_, static_cast<int>(kGuardByte), bytes_);
  }
  ~SharedMemory() { munmap(memory_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  std::byte* at(std::int64_t offset) const { return memory_ + offset; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_;
};

/// A buffer of the call: where it lies, and what it holds before if it is read.
struct Zone {
  std::int64_t offset = 0, bytes = 0;
  std::int64_t width = 1;  // bytes of an element
  std::span<const std::byte> content;
  std::string name;  // "its output"
  bool is_read = false;
};

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
    throw DeviceError("a process for a custom function", std::string("can't be started: ") + std::strerror(errno), "raise ulimit -u");
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
  for (std::int64_t k = 0; k < kGuard; k++) {
    if (begin[zone.bytes + k] != kGuardByte) fail_outside((zone.bytes + k) / zone.width);
    if (begin[-1 - k] != kGuardByte) fail_outside(-1 - k / zone.width);
  }
  if (!zone.is_read || std::equal(zone.content.begin(), zone.content.end(), begin)) return;
  const auto at = std::mismatch(zone.content.begin(), zone.content.end(), begin).first - zone.content.begin();
  throw DeviceError(place, fmt::format("it writes into {}, at index {}, which it may only read", zone.name, at / zone.width),
                    "take the inputs as pointers to const, and write to the output alone");
}

std::string table_unit(const Program& program) {
  std::string text = "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n" + external_declarations(program), table;
  for (const ProgramKernel& kernel : program.kernels) {
    if (kernel.external != nullptr) text += external_text(kernel);
    table += kernel.external == nullptr ? "  0,\n" : "  " + kernel.name + ",\n";
  }
  const std::string head = std::string("void (*const ") + kTable + "[])(void *const *arg)";
  return text + "extern " + head + ";\n" + head + " = {\n" + table + "};\n";
}

}  // namespace

ExternalKernels::ExternalKernels(const Program& program, const DeviceOptions& options) : program_(&program), timeout_s_(options.timeout_s) {
  if (!has_external(program)) return;
  const COptions own = options.get<COptions>();
  const auto program_path = find_c_compiler(own);
  if (!program_path) throw DeviceError("custom functions", "there is no C compiler to compile them", "install gcc or clang");
  HostCompiler compiler{"C compiler for custom functions", *program_path, own.flags, options.timeout_s};
  compiler.flags.emplace_back("-Wl,-Bsymbolic");  // a function keeps its meaning, whatever this process calls its own functions
  compiler.flags.emplace_back("-Wl,-z,defs");     // what it calls has to be there
  std::vector<HostFile> headers, units{{"etch_external_kernels.c", table_unit(program)}};
  for (const ExternalFile& file : external_files(program)) (file.name.ends_with(".h") ? headers : units).push_back({file.name, file.text});
  object_ = compile_on_host(compiler, headers, units);
}

ExternalKernels::~ExternalKernels() = default;

std::vector<std::byte> ExternalKernels::run(const ProgramCall& call, const std::vector<std::span<const std::byte>>& inputs,
                                            std::int64_t output_bytes, const VarValues& values) const {
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
  const std::string place = place_of(*program_, call);
  std::vector<Zone> zones;
  std::int64_t end = kGuard;  // of the first, the first byte says whether the function returned
  std::size_t read = 0;
  for (const CallArgument& argument : call.arguments) {
    const DType dtype = program_->buffers[static_cast<std::size_t>(argument.buffer)].dtype;
    Zone zone{end + kGuard, output_bytes, bytes_of(dtype), {}, "its output", argument.access == Access::Read};
    if (zone.is_read) {
      zone.content = inputs.at(read);
      zone.bytes = static_cast<std::int64_t>(zone.content.size());
      zone.name = fmt::format("its input {}", read++);
    }
    end = (zone.offset + zone.bytes + kGuard + kGuard - 1) / kGuard * kGuard;
    zones.push_back(zone);
  }
  const SharedMemory memory(end);
  std::vector<void*> arg;
  for (const Zone& zone : zones) {
    std::ranges::copy(zone.content, memory.at(zone.offset));
    arg.push_back(memory.at(zone.offset));
  }
  std::vector<std::int32_t> variables;
  for (const std::string& v : kernel.variables) variables.push_back(static_cast<std::int32_t>(values.at(v)));
  for (std::int32_t& v : variables) arg.push_back(&v);
  const auto* table = static_cast<const KernelFunction*>(object_->symbol(kTable));
  Ended ended;
  const bool returned = call_in_child(table[call.kernel], arg.data(), reinterpret_cast<unsigned char*>(memory.at(0)), timeout_s_, ended);
  require_returned(returned, ended, timeout_s_, place);
  for (const Zone& zone : zones) check_zone(memory, zone, place);
  const std::byte* written = memory.at(zones.front().offset);
  return {written, written + output_bytes};
}

}  // namespace etch
