// Internal to emulator/: runs objdump of a target's toolchain and reads its listing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "audit/listing.h"
#include "emulator/elf.h"
#include "target/target.h"

namespace etch {

/// What to do without a program of Debian's `package`.
std::string install_help(const std::string& package);

/// objdump's listing of the whole program, or of one function. nullopt if the toolchain's objdump is not installed.
std::optional<std::string> disassemble(const Target& target, const std::filesystem::path& elf, std::string_view function = "");

/// The listing with every code address named by its function. objdump names an address by the nearest symbol below it, which may be a
/// constant of the linker script that happens to lie in the code. Each function gets one name, see function_aliases.
std::string by_function(std::string_view listing, const std::map<std::string, ElfSymbol>& symbols);

/// Further names of functions (__aeabi_memcpy and memcpy may be one function), each with the name that by_function uses, the first.
std::map<std::string, std::string> function_aliases(const std::map<std::string, ElfSymbol>& symbols);

/// All forms of the functions that glibc chooses when a program starts: of memcpy __memcpy_generic, __memcpy_simd. In a static program
/// it is them that the section .plt, or .iplt, jumps to.
std::set<std::string> chosen_functions(const std::map<std::string, ElfSymbol>& symbols);

/// The first instruction of a function that stores to the stack, and the distance from the caller's stack pointer down to the lowest
/// byte that it stores: 8 for `push {r4, lr}`.
struct FrameProbe {
  std::uint64_t address = 0;
  std::int64_t taken = 0;
};

/// nullopt if the listing shows no such instruction before the first jump or call, those of libgcc that push registers included.
std::optional<FrameProbe> find_frame_probe(std::string_view listing, std::string_view function, const InstructionSet& set);

}  // namespace etch
