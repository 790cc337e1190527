// Progress of long work: one line that is rewritten on a terminal, nothing in a pipe.
#pragma once

#include <string_view>

namespace etch {

class Progress {
 public:
  /// Shows on standard error if that is a terminal and `quiet` is false.
  explicit Progress(bool quiet = false);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// "lowering 12/54: conv2_relu"; `total` 0 shows no counts.
  void step(std::string_view what, long done = 0, long total = 0);
  /// Erases the line, so that other text can be printed.
  void clear();

 private:
  bool shown_;
  bool dirty_ = false;
};

}  // namespace etch
