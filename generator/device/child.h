// A child process that answers requests over a socket; how it ended is a value, not an exception.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/process.h"
#include "device/frames.h"

namespace etch {

class ChildProcess {
 public:
  /// Starts `program`. Its standard input is a socket for frames; both its outputs are appended to the file `log`. If it can't be
  /// started, running() is false and result().err says why.
  ChildProcess(const std::filesystem::path& program, const std::filesystem::path& log, const std::vector<EnvVar>& env);
  /// Ends it.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  bool running() const { return pid_ > 0; }
  /// Both give up after `timeout_s` seconds without progress. On any status but Ok the process is ended and result() says how it
  /// ended.
  FrameStatus send(std::string_view json, const std::vector<std::span<const std::byte>>& parts, double timeout_s);
  FrameStatus receive(Frame& frame, double timeout_s);
  /// How the process ended; describe(result()) is a line about it.
  const ProcessResult& result() const { return result_; }

 private:
  FrameStatus after(FrameStatus status, double timeout_s);
  void end();

  pid_t pid_ = -1;
  int socket_ = -1;
  ProcessResult result_;
};

}  // namespace etch
