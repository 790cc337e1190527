// Measurements that are kept from search to search, each in a file of its own that is written as soon as it is known: a search that is
// interrupted loses none, and several searches may use one folder. A measurement is found by a hash of what decides it (of a whole program
// its files; of a kernel its text, its data and how it is measured), the target's flags and emulator, and what compiler and emulator say of
// themselves, so none is ever out of date.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "device/disk_cache.h"
#include "search/beam.h"

namespace etch {

class MeasureCache {
 public:
  /// In `dir`, which is made if it does not exist. `tools` stands for all that decides about costs beside the program, see tools_text().
  /// `warn` gets a line for each entry that can't be used, and one if an entry can't be written. UserError if the folder can't be written.
  MeasureCache(const std::filesystem::path& dir, std::string tools, std::function<void(const std::string& line)> warn);

  /// What was kept for a program with this text. An entry that is damaged or of another version counts as none.
  std::optional<Measured> find(std::string_view program);
  /// A measurement that may come out otherwise another time (Measured::was_stopped) is not kept.
  void keep(std::string_view program, const Measured& measured);

  /// How many were found, and kept, by this object.
  int found() const { return found_; }
  int kept() const { return kept_; }

 private:
  std::string key_of(std::string_view program) const;
  void warn_of(const std::string& line);

  DiskCache entries_;
  std::string tools_;
  std::function<void(const std::string&)> warn_;
  int found_ = 0, kept_ = 0, warned_ = 0;
  bool is_writable_ = true;
};

}  // namespace etch
