#include "emulator/tools.h"

#include <cctype>
#include <charconv>

#include "base/process.h"
#include "base/tempdir.h"
#include "emulator/cross_build.h"

namespace etch {
namespace {

/// "arm-none-eabi-gcc" has "arm-none-eabi-objdump" beside it; "gcc" and "clang-19" use "objdump".
std::string objdump_of(const std::string& compiler) {
  const std::size_t dash = compiler.rfind("-gcc");
  return dash == std::string::npos ? "objdump" : compiler.substr(0, dash) + "-objdump";
}

struct Extent {
  std::string name;
  std::uint64_t size = 0;
};

std::map<std::uint64_t, Extent> functions_by_address(const std::map<std::string, ElfSymbol>& symbols) {
  std::map<std::uint64_t, Extent> functions;
  for (const auto& [name, symbol] : symbols)
    if (symbol.function) functions.try_emplace(symbol.address, name, symbol.size);
  return functions;
}

/// "memcpy" or "memcpy+0x1c"; empty where the address lies in no function.
std::string place(const std::map<std::uint64_t, Extent>& functions, std::uint64_t address) {
  auto next = functions.upper_bound(address);
  if (next == functions.begin()) return "";
  const auto& [begin, function] = *--next;
  const std::uint64_t offset = address - begin;
  if (offset == 0) return function.name;
  if (offset >= function.size) return "";
  char hex[17];
  return function.name + "+0x" + std::string(hex, std::to_chars(hex, hex + sizeof hex, offset, 16).ptr);
}

}  // namespace

std::string install_help(const std::string& package) {
  return (package.empty() ? "install it" : "install it (Debian: apt-get install " + package + ")") + ", or leave --target out";
}

std::string by_function(std::string_view listing, const std::map<std::string, ElfSymbol>& symbols) {
  const auto functions = functions_by_address(symbols);
  std::string text;
  text.reserve(listing.size());
  for (std::size_t open = listing.find(" <"); open != std::string_view::npos; open = listing.find(" <")) {
    std::size_t digits = open;
    while (digits > 0 && std::isxdigit(static_cast<unsigned char>(listing[digits - 1])) != 0) digits--;
    std::uint64_t address = 0;
    const bool known = std::from_chars(listing.data() + digits, listing.data() + open, address, 16).ec == std::errc();
    const std::size_t close = listing.find('>', open);
    const std::string name = known && close != std::string_view::npos ? place(functions, address) : "";
    const std::size_t end = name.empty() ? open + 2 : close;
    text += listing.substr(0, open + 2);
    text += name;
    listing.remove_prefix(end);
  }
  return text.append(listing);
}

std::map<std::string, std::string> function_aliases(const std::map<std::string, ElfSymbol>& symbols) {
  const auto functions = functions_by_address(symbols);
  std::map<std::string, std::string> aliases;
  for (const auto& [name, symbol] : symbols)
    if (symbol.function && functions.at(symbol.address).name != name) aliases[name] = functions.at(symbol.address).name;
  return aliases;
}

std::set<std::string> chosen_functions(const std::map<std::string, ElfSymbol>& symbols) {
  std::set<std::string> found;
  for (const auto& [name, symbol] : symbols) {
    if (!symbol.chosen) continue;
    const std::string begin = "__" + name + "_";
    for (auto form = symbols.lower_bound(begin); form != symbols.end() && form->first.starts_with(begin); form++)
      if (form->second.function) found.insert(form->first);
  }
  return found;
}

std::optional<std::string> disassemble(const Target& target, const std::filesystem::path& elf, std::string_view function) {
  const auto compiler = target_compiler(target);
  if (!compiler) return std::nullopt;
  std::vector<std::string> command{objdump_of(target.toolchain.linker.empty() ? *compiler : target.toolchain.linker), "-d",
                                   "--no-show-raw-insn"};
  if (!function.empty()) command.back() = "--disassemble=" + std::string(function), command.push_back("--no-show-raw-insn");
  command.push_back(elf.string());
  const ProcessResult result = run_process(command);
  return result.ok() ? std::optional(result.out) : std::nullopt;
}

std::optional<FrameProbe> find_frame_probe(std::string_view listing, std::string_view function, const InstructionSet& set) {
  const std::size_t title = listing.find("<" + std::string(function) + ">:\n");
  if (title == std::string_view::npos) return std::nullopt;
  listing.remove_prefix(listing.find('\n', title) + 1);
  FrameProbe probe;
  while (!listing.empty() && listing[0] != '\n') {
    const auto i = listed_instruction(take_listed_line(listing));
    if (!i || set.flow(*i) != Flow::Next) return std::nullopt;
    const auto taken = set.taken(*i), stored = set.stored(*i);
    if (!taken) return std::nullopt;
    probe.taken += *taken;
    if (!stored || probe.taken == 0) continue;
    probe.address = i->address;
    probe.taken -= *stored;  // after `sub sp, #16`, `str r0, [sp, #4]` stores 12 below
    return probe.taken > 0 ? std::optional(probe) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace etch
