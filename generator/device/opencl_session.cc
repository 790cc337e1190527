#include "device/opencl_session.h"

#include <fstream>
#include <sstream>

#include "base/installation.h"

namespace etch {
namespace {

using nlohmann::json;

constexpr std::size_t kLogTail = 1500;  // bytes of the child's output in an error message

std::filesystem::path find_child(const OpenClOptions& options) {
  return options.program.empty() ? own_file("bin/etch-opencl", ETCH_BUILD_DIR "/etch-opencl") : options.program;
}

}  // namespace

std::vector<EnvVar> opencl_environment(const std::filesystem::path& cache) {
  // PoCL's default, "loopvec", lets LLVM vectorize the loop over work-items, and LLVM 15 (PoCL 3.1) crashes on some masked
  // copies. Without it three networks took 2 to 7 % less or 5 % more time, in one run. A user's own setting takes precedence.
  return {{"POCL_CACHE_DIR", cache.string()}, {"POCL_WORK_GROUP_METHOD", "loops", true}};
}

OpenCLSession::OpenCLSession(const DeviceOptions& options)
    : own_(options.get<OpenClOptions>()), timeout_s_(options.timeout_s), program_(find_child(own_)) {}

void OpenCLSession::open() {
  if (child_ && child_->running()) return;
  std::error_code ignored;
  if (!std::filesystem::exists(program_, ignored))
    throw DeviceError("OPENCL", "the program " + program_.string() + " is not there",
                      "build etch where OpenCL is installed (ocl-icd-opencl-dev)");
  if (!dir_) dir_.emplace("etch-opencl");
  child_ = std::make_unique<ChildProcess>(program_, log(), opencl_environment(driver_folder()));
  generation_++;
  if (!child_->running()) throw DeviceError("OPENCL", child_->result().err);
  info_ = request({{"op", "open"}, {"device", own_.device}}, {}, "choosing a device");
}

// The process waits for the result: also where there is none.
FrameStatus OpenCLSession::answer_call(int call, Frame& frame, const Events& events) {
  try {
    check(static_cast<bool>(events.function), "only a program has functions in C");
    const std::vector<std::byte> written = events.function(call, frame.blob);
    return child_->send(json{{"ok", true}}.dump(), {written}, timeout_s_);
  } catch (...) {
    if (child_->send(json{{"ok", false}}.dump(), {}, timeout_s_) == FrameStatus::Ok)
      while (child_->receive(frame, timeout_s_) == FrameStatus::Ok && frame.kind != FrameKind::Reply) {
      }
    throw;
  }
}

json OpenCLSession::request(const json& message, const Parts& parts, const std::string& doing, std::vector<std::byte>* blob,
                            const Events& events) {
  std::string where = "OPENCL, " + doing;
  FrameStatus status = child_->send(message.dump(), parts, timeout_s_);
  for (Frame frame; status == FrameStatus::Ok;) {
    status = child_->receive(frame, timeout_s_);
    if (status != FrameStatus::Ok) break;
    const json answer = json::parse(frame.json);
    if (frame.kind == FrameKind::Progress) {
      if (events.progress) where = "OPENCL, " + events.progress(answer.get<int>());
    } else if (frame.kind == FrameKind::Tap) {
      if (events.tap) events.tap(answer.at(0), answer.at(1), frame.blob);
    } else if (frame.kind == FrameKind::Call) {
      status = answer_call(answer.get<int>(), frame, events);
    } else {
      if (!answer.at("ok").get<bool>()) {
        const std::string what = answer.at("error").get<std::string>();
        throw DeviceError(
            where, answer.contains("buffer") && events.name_of_buffer ? what + " '" + events.name_of_buffer(answer["buffer"]) + "'" : what);
      }
      if (blob != nullptr) *blob = std::move(frame.blob);
      return answer;
    }
  }
  const std::string tail = log_tail();
  throw DeviceError(
      where, "the process " + std::string(child_->result().timed_out ? "gave no sign: " : "ended: ") + describe(child_->result()) + tail,
      child_->result().timed_out ? "the kernel may never end; allow more time if it is only slow"
                                 : "the driver or a kernel crashed; the kernel's name is above");
}

std::string OpenCLSession::log_tail() const {
  std::ifstream file(log());
  std::ostringstream text;
  text << file.rdbuf();
  std::string all = text.str();
  if (all.empty()) return "";
  if (all.size() > kLogTail) all = "..." + all.substr(all.size() - kLogTail);
  return "\n" + all;
}

}  // namespace etch
