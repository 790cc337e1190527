#include "search/tools.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "audit/digest.h"
#include "base/process.h"
#include "device/host_compiler.h"
#include "emulator/cross_build.h"
#include "search/timer.h"

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

// Calls field(name, value) for each of them.
template <class T, class Field>
void for_each_tool(T& target, Field field) {
  auto& t = target.toolchain;
  auto& e = target.emulator;
  auto& c = target.cycles;
  field("name", target.name);
  field("package", t.package), field("compilers", t.compilers), field("linker", t.linker), field("triple", t.triple);
  field("flags", t.flags), field("flag_kinds", t.flag_kinds), field("link", t.link), field("libraries", t.libraries);
  field("emulator", e.program), field("emulator_kind", e.kind), field("emulator_package", e.package), field("emulator_args", e.args);
  field("cycles_instruction", c.instruction), field("cycles_load", c.load), field("cycles_store", c.store);
  field("cycles_taken", c.taken), field("cycles_source", c.source);
}

}  // namespace

nlohmann::ordered_json json_of_tools(const Target& target) {
  nlohmann::ordered_json json;
  for_each_tool(target, [&](const char* name, const auto& value) { json[name] = value; });
  return json;
}

Target target_of_tools(const nlohmann::ordered_json& json) {
  Target target;
  for_each_tool(target, [&](const char* name, auto& value) { json.at(name).get_to(value); });
  return target;
}

std::string tools_text(const Target& target) {
  nlohmann::ordered_json text = json_of_tools(target);
  if (const auto compiler = target_compiler(target)) text["compiler_version"] = {*compiler, version_of(*compiler)};
  if (!target.toolchain.linker.empty()) text["linker_version"] = version_of(target.toolchain.linker);
  if (!target.is_host()) text["emulator_version"] = version_of(target.emulator.program);
  if (target.is_host()) text["processor"] = {processor_name(), this_processor()};
  if (target.is_host()) text["timer"] = sha256_hex(timer_text());
  return text.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace etch
