#include "device/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace etch {
namespace {

// Milliseconds that a process which closed its socket gets to end by itself, so that its own signal or status is seen.
constexpr int kGraceMs = 2000;

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program, const std::filesystem::path& log, const std::vector<EnvVar>& env) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    result_.err = std::string("no socket: ") + std::strerror(errno);
    return;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  sigset_t none;  // the child must not inherit the signals that etch blocks for its own threads
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::string name = program.string();
  char* argv[] = {name.data(), nullptr};
  std::vector<std::string> texts = environment_with(env);
  std::vector<char*> envp;
  for (std::string& t : texts) envp.push_back(t.data());
  envp.push_back(nullptr);
  const int code = posix_spawn(&pid_, name.c_str(), &actions, &attributes, argv, envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  close(pair[1]);
  if (code == 0) {
    socket_ = pair[0];
    result_.started = true;
    return;
  }
  pid_ = -1;
  close(pair[0]);
  result_.err = name + ": " + std::strerror(code);
}

ChildProcess::~ChildProcess() { end(); }

void ChildProcess::end() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) result_.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result_.exit_code = WEXITSTATUS(status);
  close(socket_);
  pid_ = -1;
}

FrameStatus ChildProcess::after(FrameStatus status, double timeout_s) {
  if (status == FrameStatus::Ok) return status;
  if (status == FrameStatus::TimedOut) {
    result_.timed_out = true;
    result_.seconds = timeout_s;
  } else {
    for (int waited = 0; waited < kGraceMs; waited += 10) {
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_) break;
      poll(nullptr, 0, 10);
    }
  }
  end();
  return status;
}

FrameStatus ChildProcess::send(std::string_view json, const std::vector<std::span<const std::byte>>& parts, double timeout_s) {
  if (!running()) return FrameStatus::Closed;
  return after(write_frame(socket_, FrameKind::Request, json, parts, timeout_s), timeout_s);
}

FrameStatus ChildProcess::receive(Frame& frame, double timeout_s) {
  if (!running()) return FrameStatus::Closed;
  return after(read_frame(socket_, frame, timeout_s), timeout_s);
}

}  // namespace etch
