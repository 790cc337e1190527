#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "base/error.h"
#include "base/tempdir.h"

namespace etch {
namespace {

using Clock = std::chrono::steady_clock;

/// A file descriptor that is closed once.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { close(); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

struct Pipe {
  Fd read, write;
};

/// Moves a descriptor above the three standard numbers, which are free if the caller has closed its own: dup2 of number 0 onto itself
/// would keep its close-on-exec flag.
Fd above_standard(Fd fd) { return fd.get() > 2 || !fd.is_open() ? std::move(fd) : Fd(fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)); }

/// Both ends close on exec: the child gets its own by dup2, and no other child that is started meanwhile inherits them.
Pipe make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw UserError("", std::string("no pipe to another program: ") + std::strerror(errno), "raise ulimit -n");
  return {above_standard(Fd(ends[0])), above_standard(Fd(ends[1]))};
}

void set_nonblocking(const Fd& fd) { fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK); }

/// Blocks SIGPIPE: a write to a program that no longer reads must give an error code, not a signal that ends etch.
class BlockSigpipe {
 public:
  BlockSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  BlockSigpipe(const BlockSigpipe&) = delete;
  BlockSigpipe& operator=(const BlockSigpipe&) = delete;
  ~BlockSigpipe() {
    const timespec now{};
    if (sigismember(&before_, SIGPIPE) == 0)
      while (sigtimedwait(&pipe_, nullptr, &now) == SIGPIPE) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t pipe_{}, before_{};
};

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Everything the child needs, made before the fork: between fork and exec only async-signal-safe calls are allowed.
struct Launch {
  std::string program;
  std::vector<std::string> args, env;
  std::string cwd;
  Pipe in, out, err, failure;
};

[[noreturn]] void become(const Launch& launch, char* const* argv, char* const* envp, pid_t parent, const sigset_t& mask) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  bool good = getppid() == parent;  // the parent may have died before prctl
  good = good && dup2(launch.in.read.get(), 0) >= 0 && dup2(launch.out.write.get(), 1) >= 0 && dup2(launch.err.write.get(), 2) >= 0;
  good = good && (launch.cwd.empty() || chdir(launch.cwd.c_str()) == 0);
  sigset_t unblocked = mask;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigdelset(&unblocked, signal);  // a thread of etch waits for these
  pthread_sigmask(SIG_SETMASK, &unblocked, nullptr);
  if (good) execve(launch.program.c_str(), argv, envp);
  const int reason = errno;
  const ssize_t written = write(launch.failure.write.get(), &reason, sizeof reason);
  _exit(written == sizeof reason ? 127 : 126);
}

/// The errno of a failed exec; nullopt if it succeeded, which closes the pipe.
std::optional<int> exec_failure(Launch& launch) {
  launch.failure.write.close();
  int reason = 0;
  ssize_t got = 0;
  do got = read(launch.failure.read.get(), &reason, sizeof reason);
  while (got < 0 && errno == EINTR);
  return got == sizeof reason ? std::optional(reason) : std::nullopt;
}

/// Reads what is there. Closes the descriptor at end of file.
void drain(Fd& fd, std::string& text, std::size_t limit) {
  std::array<char, 65536> block;
  for (int blocks = 0; fd.is_open() && blocks < 64; blocks++) {  // a program that writes without end must not hide the clock
    const ssize_t got = read(fd.get(), block.data(), block.size());
    if (got > 0) {
      text.append(block.data(), std::min(static_cast<std::size_t>(got), limit - std::min(limit, text.size())));
    } else if (got < 0 && errno == EINTR) {
      continue;
    } else if (got < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.close();
    }
  }
}

/// Writes what fits. Closes the descriptor when all is written or nobody reads any more.
void feed(Fd& fd, std::string_view& rest) {
  while (fd.is_open() && !rest.empty()) {
    const ssize_t put = write(fd.get(), rest.data(), rest.size());
    if (put > 0) {
      rest.remove_prefix(static_cast<std::size_t>(put));
    } else if (put < 0 && errno == EINTR) {
      continue;
    } else if (put < 0 && errno == EAGAIN) {
      return;
    } else {
      fd.close();
    }
  }
  fd.close();
}

/// True if the child has ended. It is not reaped yet, so that its process and group numbers are not reused.
bool has_ended(pid_t child) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == child;
}

/// Moves bytes until the child has ended (true) or the time limit has passed (false).
bool attend(pid_t child, Launch& launch, std::string_view input, ProcessResult& result, const ProcessOptions& options,
            Clock::time_point start) {
  auto nap = std::chrono::microseconds(200);
  while (!has_ended(child)) {
    if (options.timeout_s > 0 && std::chrono::duration<double>(Clock::now() - start).count() > options.timeout_s) return false;
    std::array<pollfd, 3> wanted{};
    nfds_t count = 0;
    if (launch.out.read.is_open()) wanted[count++] = {launch.out.read.get(), POLLIN, 0};
    if (launch.err.read.is_open()) wanted[count++] = {launch.err.read.get(), POLLIN, 0};
    if (launch.in.write.is_open()) wanted[count++] = {launch.in.write.get(), POLLOUT, 0};
    if (count == 0) {  // outputs closed, still running: usually about to end
      std::this_thread::sleep_for(nap);
      nap = std::min(nap * 2, std::chrono::microseconds(10000));
      continue;
    }
    poll(wanted.data(), count, 20);  // the limit is for a child that ended and left its outputs to another process
    drain(launch.out.read, result.out, options.max_output_bytes);
    drain(launch.err.read, result.err, options.max_output_bytes);
    feed(launch.in.write, input);
  }
  return true;
}

/// Ends the group (also after a normal end: children that the program left behind are in it), then takes the rest.
void finish(pid_t child, Launch& launch, ProcessResult& result, const ProcessOptions& options) {
  kill(-child, SIGKILL);
  int status = 0;
  rusage usage{};
  while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024;
  drain(launch.out.read, result.out, options.max_output_bytes);
  drain(launch.err.read, result.err, options.max_output_bytes);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
}

bool is_executable(const std::filesystem::path& path) {
  std::error_code bad;
  return std::filesystem::is_regular_file(path, bad) && access(path.c_str(), X_OK) == 0;
}

// What PATH says, or where programs usually are.
std::string search_path() {
  for (const std::string& variable : environment_with({}))
    if (variable.starts_with("PATH=")) return variable.substr(5);
  return "/usr/local/bin:/usr/bin:/bin";
}

}  // namespace

std::vector<std::string> environment_with(const std::vector<EnvVar>& additions) {
  std::vector<std::string> all;
  std::set<std::string_view> present;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; entry++) {
    const std::string_view text(*entry), name = text.substr(0, text.find('='));
    if (std::ranges::any_of(additions, [&](const EnvVar& a) { return a.name == name && !a.is_default; })) continue;
    present.insert(name);
    all.emplace_back(text);
  }
  for (const EnvVar& a : additions)
    if (!a.is_default || !present.contains(a.name)) all.push_back(a.name + "=" + a.value);
  return all;
}

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  check(!argv.empty(), "a program has a name");
  const Clock::time_point start = Clock::now();
  ProcessResult result;
  const auto program = find_program(argv[0]);
  if (!program) {
    result.err = argv[0] + ": not found";
    return result;
  }
  BlockSigpipe quiet;
  Launch launch{std::filesystem::absolute(*program).string(),
                argv,
                environment_with(options.env),
                options.cwd.string(),
                make_pipe(),
                make_pipe(),
                make_pipe(),
                make_pipe()};
  const std::vector<char*> args = pointers(launch.args), env = pointers(launch.env);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child < 0) {
    result.err = argv[0] + ": " + std::strerror(errno);
    return result;
  }
  if (child == 0) become(launch, args.data(), env.data(), parent, quiet.before());
  setpgid(child, child);  // in both processes, so that the group exists whichever comes first
  launch.in.read.close();
  launch.out.write.close();
  launch.err.write.close();
  if (const auto reason = exec_failure(launch)) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    result.err = argv[0] + ": " + std::strerror(*reason);
    return result;
  }
  result.started = true;
  for (const Fd* fd : {&launch.in.write, &launch.out.read, &launch.err.read}) set_nonblocking(*fd);
  result.timed_out = !attend(child, launch, options.stdin_text, result, options, start);
  finish(child, launch, result, options);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

std::string describe(const ProcessResult& result) {
  if (!result.started) return result.err.empty() ? "not found" : result.err;
  if (result.timed_out) return "timed out after " + std::to_string(static_cast<long long>(result.seconds + 0.5)) + " s";
  if (result.signal != 0) return "killed by signal " + std::to_string(result.signal) + " (" + strsignal(result.signal) + ")";
  return "exit status " + std::to_string(result.exit_code);
}

std::optional<std::filesystem::path> find_program(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.find('/') != std::string_view::npos) {
    std::filesystem::path path(name);
    return is_executable(path) ? std::optional(path) : std::nullopt;
  }
  const std::string path_variable = search_path();
  std::string_view rest = path_variable;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view folder = rest.substr(0, colon);
    std::filesystem::path path = (folder.empty() ? std::filesystem::path(".") : std::filesystem::path(folder)) / name;
    if (is_executable(path)) return path;
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace etch
