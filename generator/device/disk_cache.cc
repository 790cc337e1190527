#include "device/disk_cache.h"

#include <fcntl.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/SHA256.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <vector>

namespace etch {
namespace {

namespace fs = std::filesystem;

// An entry is this line, the hash of the content in 64 digits, a line's end, the content.
constexpr std::string_view kMark = "etch cache 1\n";
constexpr std::size_t kDigits = 64, kHead = kMark.size() + kDigits + 1;
constexpr std::string_view kSuffix = ".entry", kUnfinished = ".part";
constexpr auto kAbandoned = std::chrono::hours(1);  // a file that is older and unfinished: its process has ended

std::string sha256(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  return llvm::toHex(llvm::SHA256::hash({bytes, text.size()}), true);
}

/// A file that closes itself.
class File {
 public:
  explicit File(int number) : number_(number) {}
  ~File() {
    if (number_ >= 0) ::close(number_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  std::optional<std::string> read_all() const {
    std::string text;
    std::array<char, 65536> part{};
    for (;;) {
      const ssize_t n = ::read(number_, part.data(), part.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return std::nullopt;
      if (n == 0) return text;
      text.append(part.data(), static_cast<std::size_t>(n));
    }
  }
  bool write_all(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::write(number_, text.data(), text.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

 private:
  int number_;
};

}  // namespace

fs::path DiskCache::file_of(std::string_view key) const { return options_.dir / (sha256(key) + std::string(kSuffix)); }

std::optional<std::string> DiskCache::find(std::string_view key) const {
  if (!enabled()) return std::nullopt;
  const File file(::open(file_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info{};
  // Entries are code that this process will run: another user's are not accepted.
  if (!file.is_open() || ::fstat(file.number(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return std::nullopt;
  std::optional<std::string> entry = file.read_all();
  if (!entry || entry->size() < kHead || !entry->starts_with(kMark) || (*entry)[kHead - 1] != '\n') return std::nullopt;
  const std::string hash = entry->substr(kMark.size(), kDigits);
  entry->erase(0, kHead);
  if (sha256(*entry) != hash) return std::nullopt;
  ::futimens(file.number(), nullptr);  // used now
  return entry;
}

// Written beside its place and renamed, so that nobody reads half of it.
bool DiskCache::keep(std::string_view key, std::string_view content) const {
  const bool is_limited = options_.most_bytes > 0;
  if (!enabled() || (is_limited && static_cast<std::int64_t>(content.size()) > options_.most_bytes)) return false;
  std::error_code failed;
  if (!fs::exists(options_.dir, failed)) {
    fs::create_directories(options_.dir, failed);
    fs::permissions(options_.dir, fs::perms::owner_all, failed);
  }
  std::string unfinished = (options_.dir / ("XXXXXX" + std::string(kUnfinished))).string();
  const File file(::mkostemps(unfinished.data(), static_cast<int>(kUnfinished.size()), O_CLOEXEC));
  if (!file.is_open()) return false;
  const bool written = file.write_all(std::string(kMark) + sha256(content) + "\n") && file.write_all(content);
  if (written) fs::rename(unfinished, file_of(key), failed);
  const bool is_kept = written && !failed;
  if (!is_kept) fs::remove(unfinished, failed);
  if (is_limited) trim();
  return is_kept;
}

void DiskCache::trim() const {
  struct Entry {
    fs::file_time_type used;
    fs::path path;
    std::int64_t bytes = 0;
  };
  std::vector<Entry> entries;
  std::int64_t bytes = 0;
  std::error_code failed;  // other processes remove entries too
  for (fs::directory_iterator at(options_.dir, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code gone;
    Entry entry{at->last_write_time(gone), at->path(), static_cast<std::int64_t>(at->file_size(gone))};
    if (gone) continue;
    const std::string suffix = entry.path.extension().string();
    if (suffix == kUnfinished && entry.used + kAbandoned < fs::file_time_type::clock::now()) fs::remove(entry.path, gone);
    if (suffix != kSuffix) continue;
    bytes += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (bytes <= options_.most_bytes) return;
  std::ranges::sort(entries, {}, &Entry::used);
  for (const Entry& entry : entries) {
    if (bytes <= options_.most_bytes) return;
    fs::remove(entry.path, failed);
    bytes -= entry.bytes;
  }
}

}  // namespace etch
