// The other programs of a target's toolchain: objdump and what its listing says. Internal to emulator/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "target/target.h"

namespace etch {

/// objdump's listing of the whole program, or of one function. Nothing where the toolchain has no objdump here.
std::optional<std::string> disassemble(const Target& target, const std::filesystem::path& elf, std::string_view function = "");

/// The first instruction of a function that stores to the stack, and how far below the caller's stack pointer the lowest
/// byte lies that it stores: `push {r4, lr}` stores 8 below.
struct FrameProbe {
  uint64_t address = 0;
  int64_t taken = 0;
};

/// Nothing where the listing shows no such instruction before the first jump.
std::optional<FrameProbe> find_frame_probe(std::string_view listing, std::string_view function);

}  // namespace etch
