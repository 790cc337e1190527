#include "device/packed_folder.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace etch {
namespace {

namespace fs = std::filesystem;

/// Takes a number and the line's end behind it off the front of `text`.
std::optional<std::size_t> take_number(std::string_view& text) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || length >= text.size() || text[length] != '\n') return std::nullopt;
  text.remove_prefix(length + 1);
  return value;
}

/// The same for a number of bytes and these bytes.
std::optional<std::string_view> take_part(std::string_view& text) {
  const auto bytes = take_number(text);
  if (!bytes || *bytes > text.size()) return std::nullopt;
  const std::string_view part = text.substr(0, *bytes);
  text.remove_prefix(*bytes);
  return part;
}

// Inside of the folder that it is relative to.
bool is_below(const fs::path& path) {
  return path.is_relative() && std::ranges::none_of(path, [](const fs::path& part) { return part == ".."; });
}

}  // namespace

std::set<std::string> files_below(const fs::path& dir) {
  std::set<std::string> files;
  std::error_code gone;
  for (fs::recursive_directory_iterator at(dir, gone), end; !gone && at != end; at.increment(gone))
    if (std::error_code ignored; at->is_regular_file(ignored)) files.insert(at->path().lexically_relative(dir).string());
  return files;
}

std::string pack_files(const fs::path& dir, const std::set<std::string>& files) {
  std::string packed;
  for (const std::string& name : files) {
    std::ifstream file(dir / name, std::ios::binary);
    if (!file) continue;
    std::ostringstream content;
    content << file.rdbuf();
    const std::string bytes = content.str();
    packed += std::to_string(name.size()) + "\n" + name + std::to_string(bytes.size()) + "\n" + bytes;
  }
  return packed;
}

void unpack_files(const std::string& packed, const fs::path& dir) {
  std::string_view rest = packed;
  while (!rest.empty()) {
    const auto name = take_part(rest);
    const auto bytes = name ? take_part(rest) : std::nullopt;
    if (!bytes || !is_below(*name)) return;
    const fs::path path = dir / *name;
    std::error_code ignored;
    if (fs::exists(path, ignored)) continue;  // a driver may have loaded it: writing would change code that is in use
    fs::create_directories(path.parent_path(), ignored);
    std::ofstream(path, std::ios::binary) << *bytes;
  }
}

}  // namespace etch
