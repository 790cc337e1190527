#include "search/cache.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/tempdir.h"

namespace etch {
namespace {

constexpr int kEntryVersion = 2;  // of an entry
constexpr int kMostWarned = 5;    // lines about entries: a folder that is damaged as a whole has thousands

std::string text_of(const Measured& measured) {
  nlohmann::ordered_json json{{"version", kEntryVersion}};
  if (measured.cost) json["cost"] = *measured.cost;
  json["problem"] = measured.problem;
  json["outputs"] = measured.outputs;
  return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

// nlohmann::json::exception where the text is no entry of this version.
Measured measured_of(const nlohmann::ordered_json& json) {
  Measured measured;
  if (json.contains("cost")) measured.cost = json.at("cost").get<Cost>();
  json.at("problem").get_to(measured.problem);
  json.at("outputs").get_to(measured.outputs);
  return measured;
}

void require_writable(const std::filesystem::path& dir) {
  if (const std::string why = why_not_writable(dir); !why.empty())
    throw UserError(dir.string(), "measurements can't be kept here: " + why,
                    "name a folder that can be written to, --cache DIR, or none, --cache off");
}

}  // namespace

MeasureCache::MeasureCache(const std::filesystem::path& dir, std::string tools, std::function<void(const std::string& line)> warn)
    : entries_({.dir = dir, .most_bytes = 0}), tools_(std::move(tools)), warn_(std::move(warn)) {
  require_writable(dir);
}

std::string MeasureCache::key_of(std::string_view program) const {
  return fmt::format("measurement\n{}\n{}\n{}", tools_.size(), tools_, program);
}

std::optional<Measured> MeasureCache::find(std::string_view program) {
  const std::string key = key_of(program);
  const std::filesystem::path file = entries_.file_of(key);
  const std::optional<std::string> text = entries_.find(key);
  std::error_code absent;
  if (!text) {
    if (std::filesystem::exists(file, absent)) warn_of(file.string() + ": this measurement is damaged or another user's; it is made again");
    return std::nullopt;
  }
  const auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  if (json.is_object() && json.contains("version") && json["version"] != kEntryVersion) {
    warn_of(fmt::format("{}: this measurement is of version {}, this etch reads version {}; it is made again", file.string(),
                        json["version"].dump(), kEntryVersion));
    return std::nullopt;
  }
  try {
    const Measured measured = measured_of(json);
    found_++;
    return measured;
  } catch (const nlohmann::json::exception&) {
    warn_of(file.string() + ": this measurement is damaged; it is made again");
    return std::nullopt;
  }
}

void MeasureCache::keep(std::string_view program, const Measured& measured) {
  if (measured.was_stopped) return;
  const std::string key = key_of(program);
  const auto held = hold_interrupts();  // when the folders of programs are being removed, what fails for that is not kept
  if (entries_.keep(key, text_of(measured))) {
    kept_++;
  } else if (is_writable_) {
    is_writable_ = false;
    warn_(entries_.file_of(key).parent_path().string() + ": measurements can't be kept here any more; the search goes on without");
  }
}

void MeasureCache::warn_of(const std::string& line) {
  if (warned_ < kMostWarned) warn_(line);
  if (warned_ == kMostWarned) warn_("further measurements that can't be used are not told");
  warned_++;
}

}  // namespace etch
