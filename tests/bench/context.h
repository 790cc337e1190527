// What all measurements share: where they work, and running the tools.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/process.h"
#include "figure.h"

namespace etch::bench {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Context {
  fs::path work;    // temporary folder
  fs::path models;  // downloaded models; may be absent
  Figures figures;
  std::string only = {};  // networks and layers whose names contain this
  bool wants(std::string_view name) const { return name.find(only) != std::string_view::npos; }
  void say(const std::string& line) const { fmt::print(stderr, "{}\n", line); }
};

inline ProcessResult tool(const std::vector<std::string>& args) {
  std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
  argv.insert(argv.end(), args.begin(), args.end());
  ProcessOptions options;
  options.timeout_s = 1200;
  ProcessResult result = run_process(argv, options);
  if (!result.ok()) throw UserError("etch " + args[0], describe(result) + ": " + result.err);
  return result;
}

inline Json read_json(const fs::path& file) {
  std::ifstream in(file);
  return Json::parse(in);
}

inline fs::path zoo(const Context& context, const std::vector<std::string>& args, const std::string& file) {
  std::vector<std::string> argv{ETCH_BUILD_DIR "/etch-zoo"};
  argv.insert(argv.end(), args.begin(), args.end());
  argv.push_back((context.work / file).string());
  const ProcessResult made = run_process(argv);
  if (!made.ok()) throw UserError("etch-zoo", describe(made) + ": " + made.err);
  return context.work / file;
}

}  // namespace etch::bench
