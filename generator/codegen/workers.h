// Several workers that run one program: each does its part of the kernels' outer loops.
#pragma once

#include <cstdint>
#include <string>

namespace etch {

/// Kernels take two variables of these names: the number of the worker that calls, and how many there are. With one there are none, and
/// kernels do all of their work.
struct Workers {
  int most = 1;
  std::string index = "worker", count = "workers";
  std::int64_t least_work = 2048;  // operations, or elements: of less than that one worker does all, as to wait for others takes time too

  bool are_several() const { return most > 1; }
};

}  // namespace etch
