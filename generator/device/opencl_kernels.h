// Internal to the OPENCL device: what compiles texts in its process, and programs that are loaded there.
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/compiler.h"
#include "device/device_error.h"
#include "device/host_compiler.h"
#include "device/opencl_session.h"
#include "device/packed_folder.h"
#include "program/program.h"

namespace etch {

class OpenCLCompiler : public Compiler {
 public:
  OpenCLCompiler(std::shared_ptr<OpenCLSession> session, CacheOptions cache) : Compiler(std::move(cache)), session_(std::move(session)) {}
  std::string cachekey() const override {
    session_->open();
    std::string key = "OpenCL\n" + this_processor();  // of a processor's driver
    for (const char* part : {"platform", "device", "version", "driver"}) key += "\n" + session_->info().at(part).get<std::string>();
    return key;
  }
  std::string compile(const std::string& text) const override {
    session_->open();
    std::vector<std::byte> binary;
    session_->request({{"op", "compile"}, {"source", text}}, {}, "building the kernels", &binary);
    return binary_of(text, std::string(reinterpret_cast<const char*>(binary.data()), binary.size()));
  }
  /// OpenCL has no form of its own for instructions: it is the text that was compiled.
  std::string disassemble(const std::string& binary) const override { return parts_of_binary(binary).first; }

  /// The text, and what the driver made of it: its binary, or if it is a processor's, files of its own.
  static std::string binary_of(const std::string& text, const std::string& made) {
    return std::to_string(text.size()) + "\n" + text + made;
  }
  static std::pair<std::string, std::string> parts_of_binary(const std::string& binary) {
    const std::size_t line = binary.find('\n') + 1, size = std::stoull(binary);
    return {binary.substr(line, size), binary.substr(line + size)};
  }

 private:
  std::shared_ptr<OpenCLSession> session_;
};

/// A program in the process, which is loaded again if the process is another one.
class OpenCLKernels {
 public:
  /// `binary` as the compiler made it. `constants`: buffers by number, with their content; with `has_states` some are written.
  OpenCLKernels(std::shared_ptr<OpenCLSession> session, std::shared_ptr<const Compiler> compiler, const std::string& binary,
                std::span<const ProgramKernel> kernels, nlohmann::json constants, OpenCLSession::Parts parts, bool has_states)
      : session_(std::move(session)), compiler_(std::move(compiler)), constants_(std::move(parts)), has_states_(has_states) {
    session_->open();
    auto [source, made] = OpenCLCompiler::parts_of_binary(binary);
    if (session_->info().at("cpu").get<bool>())
      driver_files_ = std::move(made);
    else
      binary_ = std::move(made);
    message_ = {{"op", "load"},
                {"source", std::move(source)},
                {"binary", binary_.size()},
                {"kernels", nlohmann::json::array()},
                {"constants", std::move(constants)}};
    for (const ProgramKernel& k : kernels) message_["kernels"].push_back({{"name", k.name}, {"variables", k.variables.size()}});
    number();
  }
  ~OpenCLKernels() {
    if (!session_->has(generation_)) return;
    keep_driver_files();
    try {
      session_->request({{"op", "unload"}, {"program", number_}}, {}, "unloading a program");
    } catch (const DeviceError&) {  // the process is gone, and what it had loaded with it
    }
  }
  OpenCLKernels(const OpenCLKernels&) = delete;
  OpenCLKernels& operator=(const OpenCLKernels&) = delete;

  /// Buffers by number get that content, as they had it when the program was loaded.
  void restore(const nlohmann::json& buffers, const OpenCLSession::Parts& parts) {
    states_lost_ = false;
    if (!parts.empty()) session_->request({{"op", "restore"}, {"program", number()}, {"constants", buffers}}, parts, "resetting states");
    states_lost_ = false;  // where the program was loaded anew
  }
  /// Throws DeviceError if the process that held the states is gone.
  void check_states() const {
    if (states_lost_)
      throw DeviceError("OPENCL", "the states are lost: the process that held them ended after an error",
                        "reset_state() gives them their first values");
  }
  /// Its number in the process. Throws DeviceError.
  int number() {
    session_->open();
    if (session_->has(generation_)) return number_;
    states_lost_ = has_states_ && (states_lost_ || generation_ != 0);
    unpack_files(driver_files_, session_->driver_folder());
    before_ = files_below(session_->driver_folder());
    OpenCLSession::Parts parts{std::as_bytes(std::span(binary_.data(), binary_.size()))};
    parts.insert(parts.end(), constants_.begin(), constants_.end());
    number_ = session_->request(message_, parts, "building the kernels").at("program");
    generation_ = session_->generation();
    return number_;
  }

 private:
  // PoCL compiles a kernel when it is first started, and keeps what it makes in files: they become part of the program's entry.
  void keep_driver_files() const {
    if (!compiler_->is_cached()) return;
    const std::set<std::string> now = files_below(session_->driver_folder());
    const auto folder_of = [](const std::string& file) { return file.substr(0, file.find('/', file.find('/') + 1)); };  // of a program
    std::set<std::string> folders, files;
    for (const std::string& file : now)
      if (!before_.contains(file)) folders.insert(folder_of(file));
    for (const std::string& file : now)
      if (folders.contains(folder_of(file)) && file.find("tempfile") == std::string::npos) files.insert(file);
    if (files.empty()) return;
    const std::string source = message_.at("source");
    compiler_->keep(source, OpenCLCompiler::binary_of(source, pack_files(session_->driver_folder(), files)));
  }

  std::shared_ptr<OpenCLSession> session_;
  std::shared_ptr<const Compiler> compiler_;
  std::string binary_;            // of the driver
  std::string driver_files_;      // of an earlier run
  std::set<std::string> before_;  // files of the driver, before it got this program
  nlohmann::json message_;
  OpenCLSession::Parts constants_;
  bool has_states_, states_lost_ = false;
  int number_ = 0, generation_ = 0;  // 0: not loaded yet
};

}  // namespace etch
