#include "target/target.h"

#include <algorithm>

#include "base/error.h"
#include "base/installation.h"
#include "base/nearest.h"

namespace etch {

std::string_view text(Fpu fpu) {
  switch (fpu) {
    case Fpu::None:
      return "none";
    case Fpu::Single:
      return "single";
    case Fpu::Double:
      return "double";
  }
  return "";
}

std::string_view text(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Ram:
      return "ram";
    case MemoryKind::Flash:
      return "flash";
  }
  return "";
}

std::string_view text(PoolContent content) {
  switch (content) {
    case PoolContent::All:
      return "all";
    case PoolContent::Intermediates:
      return "intermediates";
    case PoolContent::Io:
      return "io";
  }
  return "";
}

std::string_view text(FlagKind kind) {
  switch (kind) {
    case FlagKind::Code:
      return "code";
    case FlagKind::Abi:
      return "abi";
    case FlagKind::Build:
      return "build";
  }
  return "";
}

std::string text(const CycleWeights& w) {
  const auto more = [](std::int64_t n, const char* of) { return n == 0 ? "" : ", " + std::to_string(n) + " more " + of; };
  return std::to_string(w.instruction) + " an instruction" + more(w.load, "a load") + more(w.store, "a store") +
         more(w.taken, "a taken branch") + " (" + w.source + ")";
}

std::vector<std::string> Toolchain::flags_of(FlagKind kind) const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < flags.size(); i++)
    if (flag_kinds[i] == kind) result.push_back(flags[i]);
  return result;
}

bool Target::computes_in_double(std::string_view function) const { return std::ranges::find(double_math, function) != double_math.end(); }

std::int64_t Target::bytes(MemoryKind kind) const {
  std::int64_t sum = 0;
  for (const Memory& memory : memories)
    if (memory.kind == kind) sum += memory.size;
  return sum;
}

std::vector<std::string> target_names(const std::filesystem::path& dir) {
  std::vector<std::string> names;
  std::error_code bad;
  for (std::filesystem::directory_iterator it(dir, bad), end; !bad && it != end; it.increment(bad))
    if (it->path().extension() == ".xml") names.push_back(it->path().stem().string());
  std::ranges::sort(names);
  return names;
}

std::filesystem::path own_targets_dir() { return own_file("share/etch/targets", ETCH_TARGETS_DIR); }

std::vector<std::filesystem::path> target_dirs(const std::filesystem::path& dir) {
  if (dir.empty()) return {own_targets_dir()};
  return {dir, own_targets_dir()};
}

std::vector<TargetFile> target_files(const std::vector<std::filesystem::path>& dirs) {
  std::vector<TargetFile> files;
  for (const auto& dir : dirs)
    for (const std::string& name : target_names(dir)) {
      const std::filesystem::path file = dir / (name + ".xml");
      const auto same = std::ranges::find(files, name, &TargetFile::name);
      if (same == files.end()) {
        files.push_back({name, file, {}});
      } else if (std::error_code bad; same->hides.empty() && !std::filesystem::equivalent(same->file, file, bad)) {
        same->hides = file;
      }
    }
  return files;
}

Target find_target(std::string_view name, const std::vector<std::filesystem::path>& dirs) {
  check(!dirs.empty(), "targets are looked for in a folder");
  if (target_names(dirs.front()).empty())
    throw UserError(dirs.front().string(), "there is no target description (*.xml) in this folder", "name the folder with --targets-dir");
  const std::vector<TargetFile> files = target_files(dirs);
  const auto found = std::ranges::find(files, name, &TargetFile::name);
  if (found != files.end()) return read_target(found->file);
  std::vector<std::string> names;
  for (const TargetFile& f : files) names.push_back(f.name);
  throw UserError("", "unknown target '" + std::string(name) + "', known are " + nearest_text(name, names),
                  "pick one of them, or describe yours in " + (dirs.front() / (std::string(name) + ".xml")).string());
}

}  // namespace etch
