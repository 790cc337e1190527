#include "base/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace etch {

Progress::Progress(bool quiet) : shown_(!quiet && isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::step(std::string_view what, long done, long total) {
  if (!shown_) return;
  const std::string counts = total > 0 ? fmt::format(" {}/{}", done, total) : "";
  const std::string line = fmt::format("\r\033[K{}{}", what.substr(0, 100), counts);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
  dirty_ = true;
}

void Progress::clear() {
  if (!dirty_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  dirty_ = false;
}

}  // namespace etch
