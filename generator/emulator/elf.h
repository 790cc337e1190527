// Reads an ELF file: the sizes of its sections, and the addresses and sizes of its functions.
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
  bool chosen = false;  // an indirect function: the C library chooses one of its forms when the program starts
};

/// The sizes of a program as the tool `size` of GNU binutils counts them, in bytes.
struct ImageSize {
  std::int64_t text = 0;  // code and read-only data
  std::int64_t data = 0;  // variables with initial values
  std::int64_t bss = 0;   // variables without initial values
};

/// Reads a little-endian ELF file of 32 or 64 bits. Throws UserError if `file` is not one.
ImageSize read_image_size(const std::filesystem::path& file);

/// Every named symbol of a little-endian ELF file of 32 or 64 bits, and the sections .plt and .iplt as functions. If a name occurs twice
/// (static functions of two files), the first one counts. Throws UserError if `file` is not such a file.
std::map<std::string, ElfSymbol> read_elf_symbols(const std::filesystem::path& file);

}  // namespace etch
