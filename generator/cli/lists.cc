// etch ops, etch targets, etch conformance, etch audit: what is supported, and checks of files.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "audit/audit.h"
#include "base/error.h"
#include "cli/model_options.h"
#include "conformance/conformance.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "emulator/processor.h"
#include "onnx/operators.h"
#include "target/target.h"

namespace etch {

int ops_command() {
  fmt::print("{:<26} {:<10} {}\n", "operator", "opsets", "types of the first input");
  const auto& rows = operator_rows();
  for (std::size_t i = 0; i < rows.size(); i++) {
    const bool replaced = i + 1 < rows.size() && std::string_view(rows[i].name) == rows[i + 1].name;
    if (!std::string_view(rows[i].domain).empty()) {
      fmt::print("{:<26} {:<10} {}   {}\n", rows[i].name, rows[i].since, types_text(rows[i]), rows[i].domain);
      continue;
    }
    const int from = std::max(rows[i].since, kOldestOpset), to = replaced ? rows[i + 1].since - 1 : kNewestOpset;
    if (to < from) continue;
    fmt::print("{:<26} {:<10} {}\n", rows[i].name, fmt::format("{}-{}", from, to), types_text(rows[i]));
  }
  return 0;
}

int targets_command(const std::filesystem::path& targets_dir) {
  const auto dirs = target_dirs(targets_dir);
  if (target_names(dirs.front()).empty()) throw UserError(dirs.front().string(), "there is no target description (*.xml) in this folder");
  for (const TargetFile& found : target_files(dirs)) {
    const Target target = read_target(found.file);
    const auto compiler = target_compiler(target);
    std::string why;
    const bool can_run = can_run_here(target, &why);
    const std::string runs = !can_run ? why : target.is_host() ? "runs on this machine" : "runs in " + target.emulator.program;
    fmt::print(
        "{:<14} {}\n{:<14}   {}; {}\n", found.name, target.description, "",
        compiler ? "compiler " + *compiler : fmt::format("no compiler here (wanted: {})", fmt::join(target.toolchain.compilers, ", ")),
        runs);
    if (!found.hides.empty()) fmt::print("{:<14}   {} is used, {} is hidden by it\n", "", found.file.string(), found.hides.string());
  }
  return 0;
}

int conformance_command(const std::vector<std::filesystem::path>& files) {
  bool wrong = false;
  const auto devices = devices_named({"all"}, device_options({}, find_target("host", own_targets_dir())));
  Progress progress;
  for (const auto& file : files) {
    progress.step("checking " + file.string());
    std::ifstream in(file);
    if (!in) throw UserError(file.string(), "can't be read", "check the path");
    nlohmann::json json;
    try {
      json = nlohmann::json::parse(in, [&](int depth, auto, const auto&) {
        if (depth > kMostConformanceDepth)
          throw UserError(file.string(), fmt::format("nests deeper than {} levels", kMostConformanceDepth), "give flatter expressions");
        return true;
      });
    } catch (const nlohmann::json::exception& error) {
      throw UserError(file.string(), fmt::format("is not a JSON file of cases ({})", error.what()),
                      "give symbolic, shapetracker or ast cases");
    }
    const ConformanceReport report = check_conformance(file.string(), json, devices);
    progress.clear();
    fmt::print("{}\n{}", file.string(), to_text(report));
    wrong = wrong || report.any_wrong();
  }
  return wrong ? 1 : 0;
}

namespace {

// The functions of the user's own that the project of a folder calls: they are called as the user likes.
std::vector<std::string> custom_functions_of(const std::filesystem::path& dir) {
  std::ifstream in(dir / "report.json");
  const nlohmann::json report = nlohmann::json::parse(in, nullptr, false);
  std::vector<std::string> names;
  if (!report.is_object() || !report.contains("custom_functions") || !report["custom_functions"].is_array()) return names;
  for (const auto& name : report["custom_functions"])
    if (name.is_string()) names.push_back(name.get<std::string>());
  return names;
}

}  // namespace

int audit_command(const AuditArgs& args) {
  const Target target = find_target(args.target, target_dirs(args.targets_dir));
  if (!std::filesystem::is_directory(args.dir)) throw UserError(args.dir.string(), "is not a folder", "give a folder of C files");
  Progress progress(args.json);
  progress.step("checking " + args.dir.string());
  AuditOptions options = audit_options(target);
  options.symbols = custom_functions_of(args.dir);
  const AuditReport report = audit_directory(args.dir, std::move(options));
  progress.clear();
  if (report.files.empty()) throw UserError(args.dir.string(), "holds no .c or .cl file", "give a folder of C files");
  if (args.json) {
    nlohmann::ordered_json json{
        {"ok", report.ok()}, {"files", report.files}, {"functions", report.functions.size()}, {"bounded_loops", report.bounded_loops}};
    json["findings"] = nlohmann::ordered_json::array();
    for (const Finding& f : report.findings)
      json["findings"].push_back({{"file", f.file}, {"line", f.line}, {"function", f.function}, {"rule", f.rule}, {"text", f.text}});
    fmt::print("{}\n", json.dump(2));
    return report.ok() ? 0 : 1;
  }
  for (const Finding& f : report.findings) fmt::print("{}\n", describe(f));
  fmt::print("{} files, {} functions, {} bounded loops, {} objects: {}\n", report.files.size(), report.functions.size(),
             report.bounded_loops, report.objects.size(),
             report.ok() ? "nothing found" : fmt::format("{} findings", report.findings.size()));
  return report.ok() ? 0 : 1;
}

}  // namespace etch
