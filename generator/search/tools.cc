#include "search/tools.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/process.h"
#include "device/host_compiler.h"
#include "emulator/cross_build.h"

namespace etch {
namespace {

std::string version_of(const std::string& program) { return run_process({program, "--version"}).out; }

// "model name : AMD EPYC 7B13": processors with the same instructions differ in time.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line;
  return "";
}

}  // namespace

nlohmann::ordered_json json_of_tools(const Target& target) {
  const Toolchain& t = target.toolchain;
  const Emulator& e = target.emulator;
  const CycleWeights& c = target.cycles;
  nlohmann::ordered_json toolchain{{"package", t.package}, {"compilers", t.compilers}, {"linker", t.linker}, {"flags", t.flags},
                                   {"link", t.link},       {"libraries", t.libraries}, {"triple", t.triple}};
  std::vector<int> kinds;
  for (const FlagKind kind : t.flag_kinds) kinds.push_back(static_cast<int>(kind));
  toolchain["flag_kinds"] = kinds;
  return {{"name", target.name},
          {"toolchain", std::move(toolchain)},
          {"emulator", {{"kind", static_cast<int>(e.kind)}, {"package", e.package}, {"program", e.program}, {"args", e.args}}},
          {"cycles", {{"instruction", c.instruction}, {"load", c.load}, {"store", c.store}, {"taken", c.taken}, {"source", c.source}}}};
}

Target target_of_tools(const nlohmann::ordered_json& json) {
  Target target;
  json.at("name").get_to(target.name);
  const auto& t = json.at("toolchain");
  t.at("package").get_to(target.toolchain.package);
  t.at("compilers").get_to(target.toolchain.compilers);
  t.at("linker").get_to(target.toolchain.linker);
  t.at("flags").get_to(target.toolchain.flags);
  t.at("link").get_to(target.toolchain.link);
  t.at("libraries").get_to(target.toolchain.libraries);
  t.at("triple").get_to(target.toolchain.triple);
  for (const auto& kind : t.at("flag_kinds")) target.toolchain.flag_kinds.push_back(static_cast<FlagKind>(kind.get<int>()));
  const auto& e = json.at("emulator");
  target.emulator.kind = static_cast<EmulatorKind>(e.at("kind").get<int>());
  e.at("package").get_to(target.emulator.package);
  e.at("program").get_to(target.emulator.program);
  e.at("args").get_to(target.emulator.args);
  const auto& c = json.at("cycles");
  c.at("instruction").get_to(target.cycles.instruction);
  c.at("load").get_to(target.cycles.load);
  c.at("store").get_to(target.cycles.store);
  c.at("taken").get_to(target.cycles.taken);
  c.at("source").get_to(target.cycles.source);
  return target;
}

std::string tools_text(const Target& target) {
  nlohmann::ordered_json text = json_of_tools(target);
  if (const auto compiler = target_compiler(target)) text["compiler"] = {*compiler, version_of(*compiler)};
  if (!target.toolchain.linker.empty()) text["linker"] = version_of(target.toolchain.linker);
  if (!target.is_host()) text["emulator_version"] = version_of(target.emulator.program);
  if (target.is_host()) text["processor"] = {processor_name(), this_processor()};
  return text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace etch
