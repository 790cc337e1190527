#include "target/target.h"

#include <algorithm>

#include "base/error.h"

namespace etch {

std::string_view text(Language language) {
  switch (language) {
    case Language::C:
      return "c";
    case Language::OpenCl:
      return "opencl";
  }
  return "";
}

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

bool Target::computes_in_double(std::string_view function) const { return std::ranges::find(double_math, function) != double_math.end(); }

int64_t Target::bytes(MemoryKind kind) const {
  int64_t sum = 0;
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

Target find_target(std::string_view name, const std::filesystem::path& dir) {
  const std::vector<std::string> names = target_names(dir);
  if (names.empty())
    throw UserError(dir.string(), "there is no target description (*.xml) in this folder", "name the folder with --targets-dir");
  if (std::ranges::find(names, name) == names.end()) {
    std::string known;
    for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
    throw UserError("", "unknown target '" + std::string(name) + "', known are " + known,
                    "pick one of them, or describe yours in " + (dir / (std::string(name) + ".xml")).string());
  }
  return read_target(dir / (std::string(name) + ".xml"));
}

}  // namespace etch
