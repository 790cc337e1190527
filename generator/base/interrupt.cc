#include "base/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

namespace etch {
namespace {

namespace fs = std::filesystem;

// State for the signal thread. Signals are sent to the process, so there is one such object per process.
struct Temporaries {
  std::recursive_mutex mutex;
  std::set<fs::path> paths;
  std::atomic<bool> interrupted = false;
};

Temporaries& temporaries() {
  static auto* const all = new Temporaries;  // never destroyed: the thread may outlive main()
  return *all;
}

// Programs that this process started and that have not ended.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& task : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(task.path() / "children");
    for (pid_t child = 0; list >> child;) found.push_back(child);
  }
  return found;
}

// Each is the leader of a group of its own.
void signal_children(const std::vector<pid_t>& all, int signal) {
  for (const pid_t child : all) {
    kill(-child, signal);
    kill(child, signal);
  }
}

// Removes all temporaries while the programs that write to them are stopped. A stop takes effect a little later, and a program may just
// have been started: what is written meanwhile is removed in another round.
void remove_temporaries(const std::set<fs::path>& paths) {
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; round++) {
    signal_children(children(), SIGSTOP);
    bool is_left = false;
    for (const fs::path& path : paths) {
      std::error_code failed, ignored;
      fs::remove_all(path, failed);
      is_left = is_left || fs::exists(path, ignored);
    }
    if (!is_left) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// The programs are first stopped, not killed: the folders that they write to are removed before their callers see them end.
[[noreturn]] void end_by(int signal) {
  Temporaries& all = temporaries();
  all.mutex.lock();  // for good: nothing new is registered
  all.interrupted = true;
  remove_temporaries(all.paths);
  signal_children(children(), SIGKILL);
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  pthread_sigmask(SIG_UNBLOCK, &own, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace

void clean_up_on_interrupt() {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) sigaddset(&wanted, signal);
  }
  temporaries();
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  std::thread([wanted] {
    int signal = 0;
    while (sigwait(&wanted, &signal) != 0) {
    }
    end_by(signal);
  }).detach();
}

void end_if_interrupted() {
  while (temporaries().interrupted) pause();
}

void register_temporary(const fs::path& path) {
  const auto held = hold_interrupts();
  temporaries().paths.insert(path);
}

void forget_temporary(const fs::path& path) {
  const auto held = hold_interrupts();
  temporaries().paths.erase(path);
}

std::unique_lock<std::recursive_mutex> hold_interrupts() { return std::unique_lock(temporaries().mutex); }

}  // namespace etch
