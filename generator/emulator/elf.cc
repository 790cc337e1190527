#include "emulator/elf.h"

#include <elf.h>

#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/files.h"

namespace etch {
namespace {

/// A record at an offset, copied because it need not be aligned.
template <class T>
T record(std::string_view bytes, std::uint64_t at, const std::string& file) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) throw UserError(file, "this ELF file is cut off", "build it again");
  T result;
  std::memcpy(&result, bytes.data() + at, sizeof result);
  return result;
}

/// The text at an offset, up to its 0; empty beyond the end of the file.
std::string text_at(std::string_view bytes, std::uint64_t at) {
  if (at >= bytes.size()) return "";
  bytes.remove_prefix(at);
  return std::string(bytes.substr(0, bytes.find('\0')));
}

/// Jumps to other functions have no symbols: each section of them is one.
template <class Header, class Section>
void add_jumps(std::string_view bytes, const std::string& file, std::map<std::string, ElfSymbol>& result) {
  const auto header = record<Header>(bytes, 0, file);
  if (header.e_shstrndx >= header.e_shnum) return;
  const auto names = record<Section>(bytes, header.e_shoff + std::uint64_t{header.e_shstrndx} * header.e_shentsize, file);
  for (std::uint64_t s = 0; s < header.e_shnum; s++) {
    const auto section = record<Section>(bytes, header.e_shoff + s * header.e_shentsize, file);
    const std::string name = text_at(bytes, std::uint64_t{names.sh_offset} + section.sh_name);
    if (name == ".plt" || name == ".iplt") result.try_emplace(name, ElfSymbol{section.sh_addr, section.sh_size, true});
  }
}

template <class Header, class Section, class Symbol>
std::map<std::string, ElfSymbol> symbols(std::string_view bytes, const std::string& file) {
  std::map<std::string, ElfSymbol> result;
  add_jumps<Header, Section>(bytes, file, result);
  const auto header = record<Header>(bytes, 0, file);
  for (std::uint64_t s = 0; s < header.e_shnum; s++) {
    const auto table = record<Section>(bytes, header.e_shoff + s * header.e_shentsize, file);
    if (table.sh_type != SHT_SYMTAB) continue;
    const auto names = record<Section>(bytes, header.e_shoff + std::uint64_t{table.sh_link} * header.e_shentsize, file);
    for (std::uint64_t at = 0; at + sizeof(Symbol) <= table.sh_size; at += sizeof(Symbol)) {
      const auto symbol = record<Symbol>(bytes, table.sh_offset + at, file);
      const std::uint64_t begin = std::uint64_t{names.sh_offset} + symbol.st_name;
      if (symbol.st_name == 0 || begin >= bytes.size()) continue;
      const bool function = ELF32_ST_TYPE(symbol.st_info) == STT_FUNC;
      const std::uint64_t address = function && header.e_machine == EM_ARM ? symbol.st_value & ~std::uint64_t{1} : symbol.st_value;
      result.try_emplace(text_at(bytes, begin),
                         ElfSymbol{address, symbol.st_size, function, ELF32_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC});
    }
  }
  return result;
}

template <class Header, class Section>
ImageSize image_size(std::string_view bytes, const std::string& file) {
  ImageSize size;
  const auto header = record<Header>(bytes, 0, file);
  for (std::uint64_t s = 0; s < header.e_shnum; s++) {
    const auto section = record<Section>(bytes, header.e_shoff + s * header.e_shentsize, file);
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    const bool is_text = (section.sh_flags & SHF_EXECINSTR) != 0 || (section.sh_flags & SHF_WRITE) == 0;
    std::int64_t& part = section.sh_type == SHT_NOBITS ? size.bss : is_text ? size.text : size.data;
    part += static_cast<std::int64_t>(section.sh_size);
  }
  return size;
}

std::string elf_bytes(const std::filesystem::path& file) {
  std::string bytes = read_file(file);
  const bool little = bytes.size() > EI_NIDENT && bytes.starts_with(ELFMAG) && bytes[EI_DATA] == ELFDATA2LSB;
  if (!little) throw UserError(file.string(), "this is no little-endian ELF file", "name the program that the compiler linked");
  return bytes;
}

}  // namespace

ImageSize read_image_size(const std::filesystem::path& file) {
  const std::string bytes = elf_bytes(file);
  if (bytes[EI_CLASS] == ELFCLASS32) return image_size<Elf32_Ehdr, Elf32_Shdr>(bytes, file.string());
  return image_size<Elf64_Ehdr, Elf64_Shdr>(bytes, file.string());
}

std::map<std::string, ElfSymbol> read_elf_symbols(const std::filesystem::path& file) {
  const std::string bytes = elf_bytes(file);
  if (bytes[EI_CLASS] == ELFCLASS32) return symbols<Elf32_Ehdr, Elf32_Shdr, Elf32_Sym>(bytes, file.string());
  return symbols<Elf64_Ehdr, Elf64_Shdr, Elf64_Sym>(bytes, file.string());
}

}  // namespace etch
