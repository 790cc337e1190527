#include "emulator/emulator.h"

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "emulator/elf.h"
#include "emulator/tools.h"

namespace etch {
namespace {

std::string hex(std::uint64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(value));
  return text;
}

/// Escapes commas for QEMU's option lists: a comma ends an entry, two commas stand for one.
std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) result += c == ',' ? std::string(",,") : std::string(1, c);
  return result;
}

std::filesystem::path find_plugin() {
  const std::filesystem::path file = own_file("lib/etch/etch_qemu_plugin.so", ETCH_QEMU_PLUGIN);
  std::error_code bad;
  if (std::filesystem::exists(file, bad)) return file;
  throw UserError("etch_qemu_plugin.so", "the counting plugin is neither where it was built nor in the installation of etch",
                  "build the target etch_qemu_plugin");
}

/// The program that stands in for an AVR; empty where etch was built without simavr's library.
std::string find_avr() {
  const std::filesystem::path file = own_file("lib/etch/etch_avr", ETCH_AVR);
  std::error_code bad;
  return std::filesystem::exists(file, bad) ? std::filesystem::absolute(file).string() : "";
}

std::uint64_t address_of(const std::map<std::string, ElfSymbol>& symbols, const std::filesystem::path& elf, const std::string& function) {
  const auto symbol = symbols.find(function);
  if (symbol == symbols.end())
    throw UserError(elf.string(), "there is no function '" + function + "' in this program", "name an external function");
  return symbol->second.address;
}

/// What runs a program for an AVR and counts the functions of the options: `args` of the target name the processor.
std::vector<std::string> avr_command(const Target& target, const std::filesystem::path& elf, const std::filesystem::path& counts,
                                     const EmulatorOptions& options) {
  std::vector<std::string> command{find_avr()};
  command.insert(command.end(), target.emulator.args.begin(), target.emulator.args.end());
  command.push_back(elf.string());
  if (options.functions.empty()) return command;
  const auto symbols = read_elf_symbols(elf);
  command.push_back("out=" + counts.string());
  for (const std::string& name : options.functions) command.push_back("watch=" + name + ":" + hex(address_of(symbols, elf, name)));
  return command;
}

constexpr std::uint64_t kProcessStack = 8 << 20;  // bytes that qemu-user gives a program

/// The plugin's arguments: where the stack is, and each function's entry and frame.
std::string plugin_arguments(const Target& target, const std::filesystem::path& elf, const EmulatorOptions& options) {
  const auto symbols = read_elf_symbols(elf);
  std::string text;
  const auto low = symbols.find("__bss_end"), high = symbols.find("__stack");
  if (target.emulator.kind == EmulatorKind::Process)
    text += ",stack_size=" + hex(kProcessStack);
  else if (low != symbols.end() && high != symbols.end())
    text += ",stack=" + hex(low->second.address) + "-" + hex(high->second.address);
  const InstructionSet* set = instruction_set(target.toolchain.triple);
  const auto whole = options.functions.size() > 1 ? disassemble(target, elf) : std::nullopt;
  for (const std::string& name : options.functions) {
    const std::uint64_t entry = address_of(symbols, elf, name);
    const bool is_listed = whole && whole->find("<" + name + ">:\n") != std::string::npos;
    const auto listing = is_listed ? whole : disassemble(target, elf, name);
    const FrameProbe probe = (listing && set ? find_frame_probe(*listing, name, *set) : std::nullopt).value_or(FrameProbe{});
    text += ",watch=" + name + ":" + hex(entry) + ":" + hex(probe.address) + ":" + hex(static_cast<std::uint64_t>(probe.taken));
  }
  return text;
}

std::vector<FunctionRun> read_runs(const std::filesystem::path& file) {
  std::vector<FunctionRun> runs;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const nlohmann::json j = nlohmann::json::parse(line);
    FunctionRun run;
    run.function = j.at("function");
    run.returned = j.at("returned");
    run.instructions = j.at("instructions");
    run.loads = j.at("loads");
    run.stores = j.at("stores");
    run.load_bytes = j.at("load_bytes");
    run.store_bytes = j.at("store_bytes");
    run.taken_branches = j.at("taken_branches");
    if (!j.at("stack_bytes").is_null()) run.stack_bytes = j.at("stack_bytes").get<std::int64_t>();
    runs.push_back(run);
  }
  return runs;
}

}  // namespace

bool emulator_available(const Target& target, std::string* why) {
  std::string reason;
  if (target.emulator.program.empty()) {
    reason = "the target has no emulator: what is built for it runs on the host";
  } else if (!find_program(target.emulator.program)) {
    reason = target.emulator.program + " is not installed";
  } else if (target.emulator.kind == EmulatorKind::Avr && find_avr().empty()) {
    reason = "etch was built without the library of simavr (Debian: libsimavr-dev)";
  }
  if (why != nullptr) *why = reason;
  return reason.empty();
}

EmulatorResult run_emulated(const Target& target, const std::filesystem::path& elf, const EmulatorOptions& options) {
  std::string why;
  if (!emulator_available(target, &why)) throw UserError("target '" + target.name + "'", why, install_help(target.emulator.package));
  std::error_code bad;
  if (!std::filesystem::is_regular_file(elf, bad)) throw UserError(elf.string(), "there is no such program", "build it first");
  const TempDir temp("etch-emulator");
  const std::filesystem::path counts = temp.path() / "counts.jsonl";
  const std::filesystem::path program = std::filesystem::absolute(elf);
  const bool is_avr = target.emulator.kind == EmulatorKind::Avr;
  std::vector<std::string> command{target.emulator.program};
  command.insert(command.end(), target.emulator.args.begin(), target.emulator.args.end());
  if (is_avr) command = avr_command(target, program, counts, options);
  if (target.emulator.kind == EmulatorKind::Board)
    command.insert(command.end(), {"-icount", "shift=0", "-semihosting-config", "enable=on,target=native", "-kernel", program.string()});
  if (!options.functions.empty() && !is_avr) {
    const std::string plugin = std::filesystem::absolute(find_plugin()).string();
    command.insert(command.end(),
                   {"-plugin", escaped(plugin) + ",out=" + escaped(counts.string()) + plugin_arguments(target, program, options)});
  }
  if (target.emulator.kind == EmulatorKind::Process) command.push_back(program.string());
  ProcessOptions process;
  process.cwd = options.cwd;
  process.timeout_s = options.timeout_s;
  const ProcessResult run = run_process(command, process);
  EmulatorResult result;
  result.started = run.started;
  result.timed_out = run.timed_out;
  result.exit_code = run.exit_code;
  result.console = run.out + run.err;
  result.seconds = run.seconds;
  if (run.started && !run.timed_out && !options.functions.empty()) {
    if (!std::filesystem::exists(counts))
      throw UserError(target.emulator.program, "it ended without counts (" + describe(run) + "): " + result.console, "");
    result.runs = read_runs(counts);
  }
  return result;
}

}  // namespace etch
