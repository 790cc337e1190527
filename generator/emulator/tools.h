// The other programs of a target's toolchain: objdump and what its listing says. Internal to emulator/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/elf.h"
#include "target/target.h"

namespace etch {

/// objdump's listing of the whole program, or of one function. Nothing where the toolchain has no objdump here.
std::optional<std::string> disassemble(const Target& target, const std::filesystem::path& elf, std::string_view function = "");

/// The listing with every place in the code named by its function: objdump names the nearest symbol below it, which may be a
/// number of the linker script that happens to be an address of code. One name per function, see function_aliases.
std::string by_function(std::string_view listing, const std::map<std::string, ElfSymbol>& symbols);

/// Further names of functions (__aeabi_memcpy and memcpy are one), each with the name that by_function uses: the first.
std::map<std::string, std::string> function_aliases(const std::map<std::string, ElfSymbol>& symbols);

/// The first instruction of a function that stores to the stack, and how far below the caller's stack pointer the lowest
/// byte lies that it stores: `push {r4, lr}` stores 8 below.
struct FrameProbe {
  std::uint64_t address = 0;
  std::int64_t taken = 0;
};

/// Nothing where the listing shows no such instruction before the first jump.
std::optional<FrameProbe> find_frame_probe(std::string_view listing, std::string_view function);

}  // namespace etch
