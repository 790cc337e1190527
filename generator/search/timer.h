// Times an emitted project on this machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "emulator/cross_build.h"

namespace etch {

/// How a self-test ended, and the least that its run, or each of its calls, took in cycles: a third of what a chain of dependent
/// multiplications of integers takes each, measured in turns with them, so that the processor's clock does not matter.
struct Timed {
  int exit_code = -1;      // of the self-test
  bool timed_out = false;  // the rest is then unknown
  std::string console{};   // what it printed; a second run prints nothing
  std::vector<double> cycles{};
};

/// How a project with its self-test is built to be timed: with another executor of program tables, which is written into the folder
/// `work`. It runs the program many times, in a process of its own, beside the self-test's run.
///   calls        0 to time the program; else its calls, which are ways to compute so many things in turn, without loops. Each run of a
///                call finds none of its data in the caches that `other_bytes` fill. A way that takes twice the time of another one is
///                run a few times only.
///   other_bytes  what is read before each run of a call
BuildOptions timed_build(const std::filesystem::path& work, std::size_t calls, std::int64_t other_bytes);

/// The text of that executor, which decides how time is taken.
const char* timer_text();

/// Runs what was built so, for `limit_s` seconds at most; nothing else should run meanwhile. A second run of it only takes time, and ways
/// that took 15 % longer than another one, or 30 % longer than what is known of each thing `elsewhere` (cycles), keep the time that they
/// had. UserError if it is ended by a signal, as where the processor lacks an instruction.
Timed run_timed(const CrossBuild& build, const std::filesystem::path& dir, double limit_s, std::span<const double> elsewhere = {});

}  // namespace etch
