#include "emulator/processor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "base/process.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "emulator/tools.h"

namespace etch {
namespace {

// The names of the macros that the compiler defines by itself under these flags.
std::set<std::string> predefined_macros(const std::string& compiler, const std::vector<std::string>& flags) {
  std::vector<std::string> command{compiler};
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"-dM", "-E", "-xc", "/dev/null"});
  std::istringstream lines(run_process(command).out);
  std::set<std::string> names;
  for (std::string define, name, rest; lines >> define >> name && std::getline(lines, rest);) names.insert(name);
  return names;
}

std::set<std::string> without(const std::set<std::string>& all, const std::set<std::string>& some) {
  std::set<std::string> left;
  std::ranges::set_difference(all, some, std::inserter(left, left.end()));
  return left;
}

}  // namespace

// Compilers know best what their flags stand for: what is compared are the macros under the target's flags, under none, and under those
// for this processor.
std::vector<std::string> features_missing_here(const Target& target) {
  std::vector<std::string> chosen = target.toolchain.flags_of(FlagKind::Code);
  std::erase_if(chosen, [](const std::string& flag) { return !flag.starts_with("-m"); });
  const auto compiler = target_compiler(target);
  if (!target.is_host() || !compiler || chosen.empty() || chosen == std::vector<std::string>{"-march=native"}) return {};
  const std::set<std::string> native = predefined_macros(*compiler, {"-march=native"});
  if (native.empty()) return {};  // a compiler without that flag
  const std::set<std::string> asked = without(predefined_macros(*compiler, chosen), predefined_macros(*compiler, {}));
  const std::set<std::string> missing = without(asked, native);
  return {missing.begin(), missing.end()};
}

bool can_run_here(const Target& target, std::string* why) {
  if (!target.is_host()) return emulator_available(target, why);
  const std::vector<std::string> missing = features_missing_here(target);
  if (why != nullptr) *why = missing.empty() ? "" : fmt::format("this machine's processor lacks {}", fmt::join(missing, ", "));
  return missing.empty();
}

std::string help_to_run(const Target& target) {
  return target.is_host() ? "use a machine that has it, or another target (etch targets)" : install_help(target.emulator.package);
}

}  // namespace etch
