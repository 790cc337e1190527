// Reads the linker's map file (-Wl,-Map): the size of each object file without its unused sections, and the symbols that came from
// libraries.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch {

/// Bytes that one object file has in the program.
struct ObjectSize {
  std::string object;  // "net.o", "libc.a(memcpy.c.o)"; without folders
  bool library = false;
  std::int64_t text = 0, rodata = 0, data = 0, bss = 0;
};

struct LinkMap {
  std::vector<ObjectSize> objects;           // in the map's order
  std::vector<std::string> library_symbols;  // global symbols of the library objects, sorted
};

/// Parses GNU ld's map file. Lines that it does not understand are skipped.
LinkMap parse_link_map(std::string_view text);

/// Those of `names` that mean a heap: malloc, free, _sbrk ...
std::vector<std::string> heap_symbols(const std::vector<std::string>& names);

/// Those of `names` that compute in double by software: __aeabi_dadd, __muldf3, __extendsfdf2 ...
std::vector<std::string> soft_double_symbols(const std::vector<std::string>& names);

}  // namespace etch
