#include "emulator/link_map.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace etch {
namespace {

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  for (std::size_t at = line.find_first_not_of(" \t\r"); at != std::string_view::npos; at = line.find_first_not_of(" \t\r", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    result.push_back(line.substr(at, end - at));
    at = end;
  }
  return result;
}

std::optional<std::int64_t> hex(std::string_view word) {
  if (!word.starts_with("0x")) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), value, 16);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

bool starts(std::string_view name, std::string_view section) {
  return name == section || (name.starts_with(section) && name.size() > section.size() && name[section.size()] == '.');
}

std::int64_t* bytes_of(ObjectSize& object, std::string_view section) {
  if (starts(section, ".text")) return &object.text;
  if (starts(section, ".rodata") || starts(section, ".srodata")) return &object.rodata;
  if (starts(section, ".progmem") || starts(section, ".etch_weights")) return &object.rodata;  // of AVR
  if (starts(section, ".data") || starts(section, ".sdata")) return &object.data;
  if (starts(section, ".bss") || starts(section, ".sbss") || section == "COMMON") return &object.bss;
  return nullptr;
}

/// "/usr/lib/.../libc.a(memcpy.c.o)" is "libc.a(memcpy.c.o)".
std::string without_folders(std::string_view path) {
  const std::size_t slash = path.substr(0, path.find('(')).rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

/// Reads the lines below "Linker script and memory map". An input section is
///    .text.net_run  0x00000264       0x20 net.o
/// or, with a long name, two lines; the symbols in it follow, one a line: address and name.
class Reader {
 public:
  void line(std::string_view text) {
    const auto w = words(text);
    if (w.empty()) return;
    const bool input_section = text.starts_with(" ") && !text.starts_with("  ") && (w[0][0] == '.' || w[0] == "COMMON");
    if (input_section && w.size() == 1) {
      pending_ = w[0];
    } else if (input_section && w.size() >= 4) {
      section(w[0], hex(w[2]), text, w[3]);
    } else if (!pending_.empty() && w.size() >= 3 && hex(w[0]) && hex(w[1])) {
      section(pending_, hex(w[1]), text, w[2]);
      pending_ = {};
    } else if (w.size() == 2 && hex(w[0]) && in_library_ && w[1].find_first_of("=()*") == std::string_view::npos) {
      symbols_.insert(std::string(w[1]));
    } else {
      pending_ = {};
      if (!text.starts_with("  ")) in_library_ = false;
    }
  }

  LinkMap result() && {
    LinkMap map;
    map.objects = std::move(objects_);
    map.library_symbols.assign(symbols_.begin(), symbols_.end());
    return map;
  }

 private:
  void section(std::string_view name, std::optional<std::int64_t> size, std::string_view line, std::string_view first_word) {
    if (!size) return;
    // Everything up to the end of the line is the file's name, which may hold spaces.
    const std::string_view file = line.substr(static_cast<std::size_t>(first_word.data() - line.data()));
    const std::string object = without_folders(file);
    const bool fresh = index_.try_emplace(object, objects_.size()).second;
    if (fresh) objects_.push_back({object, file.find(".a(") != std::string_view::npos || object.starts_with("crt"), 0, 0, 0, 0});
    ObjectSize& entry = objects_[index_.at(object)];
    if (std::int64_t* bytes = bytes_of(entry, name)) *bytes += *size;
    in_library_ = entry.library && *size > 0;
  }

  std::vector<ObjectSize> objects_;
  std::map<std::string, std::size_t> index_;
  std::set<std::string> symbols_;
  std::string_view pending_;
  bool in_library_ = false;
};

template <class Predicate>
std::vector<std::string> select(const std::vector<std::string>& names, Predicate wanted) {
  std::vector<std::string> result;
  std::copy_if(names.begin(), names.end(), std::back_inserter(result), wanted);
  return result;
}

}  // namespace

LinkMap parse_link_map(std::string_view text) {
  const std::size_t begin = text.find("Linker script and memory map");
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin);
  Reader reader;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    reader.line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return std::move(reader).result();
}

std::vector<std::string> heap_symbols(const std::vector<std::string>& names) {
  static constexpr std::string_view kHeap[] = {
      "malloc", "free",  "calloc",  "realloc",  "_malloc_r",     "_free_r",        "_realloc_r",   "_calloc_r",
      "sbrk",   "_sbrk", "_sbrk_r", "memalign", "aligned_alloc", "posix_memalign", "reallocarray", "__malloc_free_list"};
  return select(names, [](const std::string& name) { return std::find(std::begin(kHeap), std::end(kHeap), name) != std::end(kHeap); });
}

std::vector<std::string> soft_double_symbols(const std::vector<std::string>& names) {
  return select(names, [](const std::string& name) {
    const std::string_view n = name;
    // Arm's names: __aeabi_dadd, __aeabi_cdcmple, and __aeabi_f2d, __aeabi_i2d, __aeabi_ul2d
    if (n.starts_with("__aeabi_d") && !n.starts_with("__aeabi_div")) return true;
    if (n.starts_with("__aeabi_cd") || (n.starts_with("__aeabi_") && n.ends_with("2d"))) return true;
    // GCC's: __adddf3, __ledf2, __extendsfdf2; __fixdfsi, __fixunsdfdi, __truncdfsf2; __floatsidf
    if (!n.starts_with("__")) return false;
    if (n.ends_with("df2") || n.ends_with("df3") || (n.starts_with("__float") && n.ends_with("df"))) return true;
    return n.starts_with("__fixdf") || n.starts_with("__fixunsdf") || n.starts_with("__truncdf");
  });
}

}  // namespace etch
