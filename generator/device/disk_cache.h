// A folder of what compilers made, kept from run to run. An entry is found by a hash of all that it was made from, so nothing in it is
// ever out of date; whatever is wrong with the folder, the work is only done again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace etch {

struct CacheOptions {
  /// The folder; it is made when something is kept. Empty: nothing is kept and nothing is found.
  std::filesystem::path dir;
  /// So much is kept; beyond that the entries that were not used for the longest time are removed. 0: nothing is ever removed.
  std::int64_t most_bytes = std::int64_t{256} << 20;
};

/// Several processes and threads may use one folder at the same time.
class DiskCache {
 public:
  explicit DiskCache(CacheOptions options) : options_(std::move(options)) {}

  bool enabled() const { return !options_.dir.empty(); }
  /// What was kept for `key`, a text of any length. Nothing if that is not there, can't be read, is damaged, or belongs to another user.
  std::optional<std::string> find(std::string_view key) const;
  /// Keeps `content` for `key`. False and without effect where the folder can't be written, or where nothing is kept.
  bool keep(std::string_view key, std::string_view content) const;
  /// The file of that entry.
  std::filesystem::path file_of(std::string_view key) const;

 private:
  void trim() const;

  CacheOptions options_;
};

}  // namespace etch
