// What a linked program says of itself: its sections' sizes, and where functions begin and how long they are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace etch {

struct ElfSymbol {
  std::uint64_t address = 0;  // without the bit that marks Thumb functions
  std::uint64_t size = 0;
  bool function = false;
};

/// What a program takes, as the program `size` of GNU binutils counts it.
struct ImageSize {
  std::int64_t text = 0;  // code and read-only data
  std::int64_t data = 0;  // variables with initial values
  std::int64_t bss = 0;   // variables without
};

/// Of a little-endian ELF file of 32 or 64 bits. Throws UserError where the file is no such file.
ImageSize read_image_size(const std::filesystem::path& file);

/// Every named symbol of a little-endian ELF file of 32 or 64 bits. Where a name stands twice (static functions of two
/// files) the first one counts. Throws UserError where the file is no such file.
std::map<std::string, ElfSymbol> read_elf_symbols(const std::filesystem::path& file);

}  // namespace etch
