#include "search/launcher.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <nlohmann/json.hpp>
#include <set>

#include "audit/digest.h"
#include "base/error.h"
#include "base/files.h"
#include "base/process.h"
#include "emit/write.h"
#include "search/tools.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kUnitVersion = 2;  // of unit.json and of results
constexpr const char* kResults = "results";

std::string dumped(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

Json json_of(const UnitRun& run) {
  return {{"version", kUnitVersion},      {"problem", run.problem}, {"was_stopped", run.was_stopped},    {"calls", run.calls},
          {"code_bytes", run.code_bytes}, {"outputs", run.outputs}, {"program_bytes", run.program_bytes}};
}

// nullopt: the text is no result, as that of an etch of another version.
std::optional<UnitRun> run_of(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kUnitVersion) return std::nullopt;
    UnitRun run;
    json.at("problem").get_to(run.problem);
    json.at("was_stopped").get_to(run.was_stopped);
    json.at("calls").get_to(run.calls);
    json.at("code_bytes").get_to(run.code_bytes);
    json.at("outputs").get_to(run.outputs);
    json.at("program_bytes").get_to(run.program_bytes);
    return run;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::optional<UnitRun> run_in(const fs::path& file) {
  try {
    return run_of(read_file(file));
  } catch (const UserError&) {
    return std::nullopt;  // not there yet, for this machine
  }
}

// For a shell, and for xargs -d '\n': most paths need no quotes, and are left without for those who split lines themselves.
std::string quoted(const std::string& text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+,:@%";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string last_lines(const std::string& text) {
  constexpr int kLines = 5;
  std::size_t begin = text.find_last_not_of('\n');
  if (begin == std::string::npos) return "";
  const std::size_t end = begin + 1;
  for (int i = 0; i < kLines && begin != std::string::npos && begin > 0; i++) begin = text.rfind('\n', begin - 1);
  return text.substr(begin == std::string::npos ? 0 : begin, end - (begin == std::string::npos ? 0 : begin));
}

// The units of one call, and what is known of them.
class Batch {
 public:
  Batch(const Target& target, const LauncherOptions& options, const std::vector<Unit>& units, const UnitDone& done)
      : options_(options), done_(done), folder_(options.shared, "etch-units"), is_known_(units.size()) {
    fs::create_directory(folder_.path() / kResults);
    const std::string tools = sha256_hex(tools_text(target));
    for (std::size_t u = 0; u < units.size(); u++) {
      write_into(folder_of(u) / "project", {units[u].files.begin(), units[u].files.end()});
      const Json json{{"version", kUnitVersion},       {"tools", tools},
                      {"limit_s", options.limit_s},    {"functions", units[u].functions},
                      {"is_whole", units[u].is_whole}, {"target", json_of_tools(target)}};
      write_file(folder_of(u) / "unit.json", dumped(json));
    }
  }

  void run() {
    launch();
    if (missing().empty()) return;
    launch();
    const std::vector<std::size_t> lost = missing();
    if (lost.empty()) return;
    throw UserError("--launcher " + options_.command,
                    fmt::format("{} of {} units of work have no result, also not when started once more: {}\n{}", lost.size(),
                                is_known_.size(), fmt::join(lost, ", "), what_was_said(lost)),
                    "let the command run each line that it reads to its end, on machines that see " + options_.shared.string() +
                        "; what was measured is kept where there is a cache");
  }

 private:
  fs::path folder_of(std::size_t u) const { return folder_.path() / std::to_string(u); }

  std::vector<std::size_t> missing() const {
    std::vector<std::size_t> result;
    for (std::size_t u = 0; u < is_known_.size(); u++)
      if (!is_known_[u]) result.push_back(u);
    return result;
  }

  // Results are taken while the command runs, so that an interrupt costs none.
  void launch() {
    std::string lines;
    for (const std::size_t u : missing()) lines += quoted(options_.etch) + " measure " + quoted(folder_of(u).string()) + "\n";
    ProcessOptions process;
    process.stdin_text = lines;
    process.timeout_s = 0;
    process.max_output_bytes = 1 << 20;
    auto ended = std::async(std::launch::async, [&] { return run_process({"/bin/sh", "-c", options_.command}, process); });
    while (ended.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) take_results();
    launched_ = ended.get();
    take_results();
  }

  // By the folder's list, which file systems of several machines read anew, where they may remember for long that a file was not there.
  void take_results() {
    std::error_code bad;
    for (fs::directory_iterator it(folder_.path() / kResults, bad), end; !bad && it != end; it.increment(bad)) {
      const fs::path& file = it->path();
      const std::string name = file.stem().string();
      if (file.extension() != ".json" || name.find_first_not_of("0123456789") != std::string::npos || name.empty() || name.size() > 9)
        continue;
      const auto u = static_cast<std::size_t>(std::stoul(name));
      if (u >= is_known_.size() || is_known_[u]) continue;
      const std::optional<UnitRun> run = run_in(file);
      if (!run) continue;
      is_known_[u] = true;
      done_(u, *run);
    }
  }

  // By the command and by the machines that ran units in vain.
  std::string what_was_said(const std::vector<std::size_t>& lost) const {
    std::string text = "the command ended with " + describe(launched_);
    if (const std::string said = last_lines(launched_.err); !said.empty()) text += ", its last words: " + said;
    std::set<std::string> told;
    for (const std::size_t u : lost) {
      const fs::path file = folder_.path() / kResults / (std::to_string(u) + ".error");
      std::error_code absent;
      if (!fs::exists(file, absent)) continue;
      const std::string why = read_file(file);
      if (told.insert(why).second && told.size() <= 3) text += fmt::format("\nunit {}: {}", u, why);
    }
    return text;
  }

  const LauncherOptions& options_;
  const UnitDone& done_;
  TempDir folder_;
  std::vector<bool> is_known_;
  ProcessResult launched_;
};

void require_shared(const fs::path& shared) {
  if (const std::string why = why_not_writable(shared); !why.empty())
    throw UserError(shared.string(), "units of work can't be written here: " + why,
                    "name a folder that can be written to and that all machines see: --shared DIR");
}

std::string this_machine() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this machine";
}

// What a unit's folder says.
struct UnitFolder {
  Target target;
  std::string tools;
  double limit_s = 0;
  Unit unit;
  std::vector<EmittedFile> files;
};

UnitFolder unit_in(const fs::path& folder) {
  UnitFolder read;
  const std::string text = read_file(folder / "unit.json");
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kUnitVersion)
      throw UserError(
          folder.string(),
          "this unit of work is of version " + json.at("version").dump() + ", this etch takes version " + std::to_string(kUnitVersion),
          "let all machines run the same etch");
    read.target = target_of_tools(json.at("target"));
    json.at("tools").get_to(read.tools);
    json.at("limit_s").get_to(read.limit_s);
    json.at("functions").get_to(read.unit.functions);
    json.at("is_whole").get_to(read.unit.is_whole);
  } catch (const Json::exception& error) {
    throw UserError(folder.string(), std::string("this is no unit of work: unit.json: ") + error.what(),
                    "such folders are written by etch tune --launcher");
  }
  for (const auto& entry : fs::directory_iterator(folder / "project"))
    read.files.push_back({entry.path().filename().string(), read_file(entry.path())});
  return read;
}

UnitRun measured(const fs::path& folder) {
  UnitFolder read = unit_in(folder);
  read.unit.files = read.files;
  require_tools(read.target);
  if (sha256_hex(tools_text(read.target)) != read.tools)
    throw UserError("target " + read.target.name, "compiler or emulator are of another version here than where the search runs",
                    "install the same on all machines");
  return run_unit(read.target, read.unit, build_unit(read.target, read.unit, read.limit_s), read.limit_s);
}

}  // namespace

RunUnits run_by_launcher(const Target& target, const LauncherOptions& options) {
  if (target.is_host())
    throw UserError("--launcher " + options.command,
                    "target " + target.name + " is timed on this machine, where nothing else may run meanwhile",
                    "leave it out, or choose a target with an emulator: etch targets lists them");
  require_shared(options.shared);
  return [target, options](const std::vector<Unit>& units, const UnitDone& done) {
    require_tools(target);
    Batch(target, options, units, done).run();
  };
}

void measure_unit(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder / ".").parent_path();
  const fs::path result = whole.parent_path() / kResults / whole.filename();
  try {
    replace_file(result.string() + ".json", dumped(json_of(measured(whole))));
  } catch (const UserError& error) {
    std::error_code absent;
    if (fs::is_directory(result.parent_path(), absent)) replace_file(result.string() + ".error", this_machine() + ": " + error.what());
    throw;
  }
}

}  // namespace etch
