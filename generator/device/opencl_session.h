// The process that talks to OpenCL for a device, etch-opencl: a driver's crash or hang is an error message here. One process serves all
// programs of a device; when it dies, the next request starts another.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/tempdir.h"
#include "device/child.h"
#include "device/device.h"

namespace etch {

class OpenCLSession {
 public:
  using Parts = std::vector<std::span<const std::byte>>;

  explicit OpenCLSession(const DeviceOptions& options);

  /// Starts the process and chooses the device, if that is not done. Throws DeviceError.
  void open();
  bool running() const { return child_ && child_->running(); }
  /// Number of processes that were started. What an earlier process had loaded is lost.
  int generation() const { return generation_; }
  /// Whether what was made in that generation is still there.
  bool has(int generation) const { return running() && generation == generation_; }
  /// What the process says of the device.
  const nlohmann::json& info() const { return info_; }
  /// Where PoCL keeps compiled kernels, while the session lasts. Call it only after open().
  std::filesystem::path driver_folder() const { return dir_->path() / "cache"; }

  /// What happens while a request is served. `progress` is called with the number of the call that is about to run, and describes it;
  /// `tap` gets what calls have written; `function` computes a call that has no kernel: from what it reads, one buffer after the other,
  /// what it writes.
  struct Events {
    std::function<std::string(int call)> progress;
    std::function<void(int call, int output, const std::vector<std::byte>&)> tap;
    std::function<std::vector<std::byte>(int call, std::span<std::byte> read)> function;
    std::function<std::string(int)> name_of_buffer;
  };
  /// Sends a request and waits for its reply. Throws DeviceError if the process fails or refuses. `doing` describes the request in
  /// that error.
  nlohmann::json request(const nlohmann::json& message, const Parts& parts, const std::string& doing,
                         std::vector<std::byte>* blob = nullptr, const Events& events = {});

 private:
  FrameStatus answer_call(int call, Frame& frame, const Events& events);
  std::filesystem::path log() const { return dir_->path() / "log"; }
  std::string log_tail() const;

  OpenClOptions own_;
  double timeout_s_;
  std::filesystem::path program_;
  std::optional<TempDir> dir_;
  std::unique_ptr<ChildProcess> child_;
  int generation_ = 0;
  nlohmann::json info_;
};

/// Variables for PoCL: it keeps compiled kernels in `cache`, and runs work-groups by the method that works.
std::vector<EnvVar> opencl_environment(const std::filesystem::path& cache);

}  // namespace etch
