// OPENCL: kernels run in a child process, etch-opencl, so that a driver's crash or hang is an error message here. One
// process serves all programs of a device; when it dies, the next request starts another and loads again.
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/tempdir.h"
#include "device/child.h"
#include "device/replay.h"
#include "renderer/language.h"

namespace etch {
namespace {

using nlohmann::json;
using Parts = std::vector<std::span<const std::byte>>;

constexpr std::size_t kLogTail = 1500;  // bytes of the child's output in an error message

std::filesystem::path find_child(const OpenClOptions& options) {
  if (!options.program.empty()) return options.program;
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  // Beside the tool; one folder up for the test programs of a build folder.
  for (const auto& path : {self / "etch-opencl", self.parent_path() / "etch-opencl"})
    if (std::filesystem::exists(path, ignored)) return path;
  return self / "etch-opencl";
}

// Variables for PoCL: it keeps compiled kernels in `cache`, and runs work-groups by the method that works.
std::vector<EnvVar> opencl_environment(const std::filesystem::path& cache) {
  // PoCL's default, "loopvec", lets LLVM vectorize the loop over work-items, and LLVM 15 (PoCL 3.1) crashes on some masked
  // copies. Without it three networks took 2 to 7 % less or 5 % more time, in one run. A user's own setting takes precedence.
  return {{"POCL_CACHE_DIR", cache.string()}, {"POCL_WORK_GROUP_METHOD", "loops", true}};
}

/// The child and what it has loaded.
class Session {
 public:
  explicit Session(const DeviceOptions& options)
      : own_(options.get<OpenClOptions>()), timeout_s_(options.timeout_s), program_(find_child(own_)) {}

  /// Starts the process and chooses the device, if that is not done. Throws DeviceError.
  void open() {
    if (child_ && child_->running()) return;
    std::error_code ignored;
    if (!std::filesystem::exists(program_, ignored))
      throw DeviceError("OPENCL", "the program " + program_.string() + " is not there",
                        "build etch where OpenCL is installed (ocl-icd-opencl-dev)");
    if (!dir_) dir_.emplace("etch-opencl");
    const std::filesystem::path cache = dir_->path() / "cache";
    child_ = std::make_unique<ChildProcess>(program_, log(), opencl_environment(cache));
    generation_++;
    if (!child_->running()) throw DeviceError("OPENCL", child_->result().err);
    info_ = request({{"op", "open"}, {"device", own_.device}}, {}, "choosing a device");
  }

  /// Number of processes that were started. What an earlier process had loaded is lost.
  int generation() const { return generation_; }
  const json& info() const { return info_; }

  /// Sends a request and waits for its reply. Throws DeviceError if the process fails or refuses. `doing` describes the request in
  /// that error; `progress` is called with the number of the call that is about to run, `tap` gets what calls have written.
  json request(const json& message, const Parts& parts, const std::string& doing, std::vector<std::byte>* blob = nullptr,
               const std::function<std::string(int call)>& progress = {},
               const std::function<void(int call, int output, const std::vector<std::byte>&)>& tap = {},
               const std::function<std::string(int)>& name_of_buffer = {}) {
    std::string where = "OPENCL, " + doing;
    FrameStatus status = child_->send(message.dump(), parts, timeout_s_);
    for (Frame frame; status == FrameStatus::Ok;) {
      status = child_->receive(frame, timeout_s_);
      if (status != FrameStatus::Ok) break;
      const json answer = json::parse(frame.json);
      if (frame.kind == FrameKind::Progress) {
        if (progress) where = "OPENCL, " + progress(answer.get<int>());
      } else if (frame.kind == FrameKind::Tap) {
        if (tap) tap(answer.at(0), answer.at(1), frame.blob);
      } else {
        if (!answer.at("ok").get<bool>()) {
          const std::string what = answer.at("error").get<std::string>();
          throw DeviceError(where,
                            answer.contains("buffer") && name_of_buffer ? what + " '" + name_of_buffer(answer["buffer"]) + "'" : what);
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

  bool running() const { return child_ && child_->running(); }

 private:
  std::filesystem::path log() const { return dir_->path() / "log"; }
  std::string log_tail() const {
    std::ifstream file(log());
    std::ostringstream text;
    text << file.rdbuf();
    std::string all = text.str();
    if (all.empty()) return "";
    if (all.size() > kLogTail) all = "..." + all.substr(all.size() - kLogTail);
    return "\n" + all;
  }

  OpenClOptions own_;
  double timeout_s_;
  std::filesystem::path program_;
  std::optional<TempDir> dir_;
  std::unique_ptr<ChildProcess> child_;
  int generation_ = 0;
  json info_;
};

class OpenCLProgram : public LoadedProgram {
 public:
  OpenCLProgram(const Program& program, std::shared_ptr<Session> session, const DeviceOptions& options)
      : program_(&program), session_(std::move(session)), guards_(options.guards), last_use_(last_uses(program)) {
    load();
  }
  ~OpenCLProgram() override {
    if (!session_->running() || generation_ != session_->generation()) return;
    try {
      session_->request({{"op", "unload"}, {"program", number_}}, {}, "unloading a program");
    } catch (const DeviceError&) {  // the process is gone, and what it had loaded with it
    }
  }
  OpenCLProgram(const OpenCLProgram&) = delete;
  OpenCLProgram& operator=(const OpenCLProgram&) = delete;

  std::vector<Array> run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options) override {
    check_run(*program_, inputs, vars);
    session_->open();
    if (generation_ != session_->generation()) load();
    Parts parts;
    json message = {{"op", "run"},
                    {"program", number_},
                    {"bytes", json::array()},
                    {"last_use", last_use_},
                    {"outputs", program_->outputs},
                    {"inputs", json::array()},
                    {"tap", static_cast<bool>(options.tap)},
                    {"guards", guards_},
                    {"seconds", options.call_seconds != nullptr},
                    {"calls", json::array()}};
    for (const ProgramBuffer& b : program_->buffers) message["bytes"].push_back(elements_of(b, vars) * bytes_of(b.dtype));
    for (std::size_t k = 0; k < inputs.size(); k++) {
      message["inputs"].push_back({program_->inputs[k], inputs[k].bytes().size()});
      parts.push_back(inputs[k].bytes());
    }
    for (const ProgramCall& call : program_->calls) message["calls"].push_back(call_of(call, vars));
    std::vector<std::byte> blob;
    const auto progress = [&](int call) {
      const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
      return "call " + std::to_string(call) + ", kernel '" + program_->kernels[static_cast<std::size_t>(c.kernel)].name + "'";
    };
    const auto tap = [&](int call, int output, const std::vector<std::byte>& bytes) {
      auto writes = program_->calls[static_cast<std::size_t>(call)].writes();
      const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(*std::next(writes.begin(), output))];
      if (options.tap) options.tap(call, output, Array(b.dtype, shape_of(b, vars), bytes));
    };
    const json answer = session_->request(message, parts, "running the program", &blob, progress, tap,
                                          [&](int b) { return program_->buffers[static_cast<std::size_t>(b)].name; });
    if (options.call_seconds != nullptr) *options.call_seconds = answer.at("seconds").get<std::vector<double>>();
    return split(blob, vars);
  }

 private:
  void load() {
    session_->open();
    std::string source = program_->language->prelude(helpers_of(*program_)) + "\n";
    json message = {{"op", "load"}, {"kernels", json::array()}, {"constants", json::array()}};
    for (const ProgramKernel& k : program_->kernels) {
      source += k.text.source + "\n";
      message["kernels"].push_back({{"name", k.name}, {"variables", k.variables.size()}});
    }
    message["source"] = source;
    Parts parts;
    for (std::size_t b = 0; b < program_->buffers.size(); b++) {
      if (program_->buffers[b].kind != BufferKind::Constant || last_use_[b] < 0) continue;
      message["constants"].push_back({b, program_->buffers[b].data.bytes().size()});
      parts.push_back(program_->buffers[b].data.bytes());
    }
    number_ = session_->request(message, parts, "building the kernels").at("program");
    generation_ = session_->generation();
  }

  json call_of(const ProgramCall& call, const VarValues& vars) const {
    const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(call.kernel)];
    const LaunchSize size = launch_size(kernel, vars);
    std::vector<std::int64_t> values;
    for (const std::string& v : kernel.variables) values.push_back(vars.at(v));
    auto writes = call.writes();
    return {{"kernel", call.kernel},
            {"buffers", std::vector<int>(call.buffers().begin(), call.buffers().end())},
            {"writes", std::vector<int>(writes.begin(), writes.end())},
            {"values", values},
            {"groups", size.groups},
            {"local", size.driver_groups ? json(nullptr) : json(size.local)}};
  }

  std::vector<Array> split(const std::vector<std::byte>& blob, const VarValues& vars) const {
    std::vector<Array> outputs;
    auto at = blob.begin();
    for (int index : program_->outputs) {
      const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(index)];
      const auto end = at + static_cast<std::ptrdiff_t>(elements_of(b, vars) * bytes_of(b.dtype));
      check(end <= blob.end(), "the OpenCL process returns every output");
      outputs.emplace_back(b.dtype, shape_of(b, vars), std::vector<std::byte>(at, end));
      at = end;
    }
    return outputs;
  }

  const Program* program_;
  std::shared_ptr<Session> session_;
  bool guards_;
  std::vector<int> last_use_;
  int number_ = 0, generation_ = 0;
};

class OpenCLDevice : public Device {
 public:
  OpenCLDevice(const DeviceRow& row, const DeviceOptions& options)
      : Device(row), options_(options), session_(std::make_shared<Session>(options)) {}

  bool available(std::string* why) const override {
    try {
      session_->open();
      return true;
    } catch (const DeviceError& e) {
      if (why != nullptr) *why = e.problem().substr(0, e.problem().find('\n'));
      return false;
    }
  }

  std::string description() const override {
    const json& info = session_->info();
    return info.at("device").get<std::string>() + " (" + info.at("platform").get<std::string>() + ", " +
           info.at("version").get<std::string>() + ")";
  }

 private:
  std::unique_ptr<LoadedProgram> load_own(const Program& program) const override {
    return std::make_unique<OpenCLProgram>(program, session_, options_);
  }

  DeviceOptions options_;
  std::shared_ptr<Session> session_;
};

}  // namespace

constinit const DeviceRow kOpenClDevice{
    .name = "opencl",
    .language = &kOpenCl,
    .make = [](const DeviceRow& row, const DeviceOptions& options) -> std::unique_ptr<Device> {
      return std::make_unique<OpenCLDevice>(row, options);
    },
    .environment = opencl_environment,
};

}  // namespace etch
