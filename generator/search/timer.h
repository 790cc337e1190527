// Times an emitted project on this machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "emulator/cross_build.h"

namespace etch {

/// How a self-test ended, and the least that its run and each of its calls took, in cycles: a third of what a chain of dependent
/// multiplications of integers takes each, measured in turns with them, so that the processor's clock does not matter.
struct Timed {
  int exit_code = -1;      // of the self-test
  bool timed_out = false;  // the rest is then unknown
  std::string console{};   // what it printed
  double run = 0;
  std::vector<double> calls{};  // in order; empty where the program has loops
};

/// How `dir`, a project with its self-test, is built to be timed: with another executor of program tables, which is written into the folder
/// `work`. It runs the program many times before the self-test's own run, in a process of its own.
BuildOptions timed_build(const std::filesystem::path& work);

/// Runs what was built so, for `limit_s` seconds at most; nothing else should run meanwhile. UserError if it is ended by a signal, as where
/// the processor lacks an instruction.
Timed run_timed(const CrossBuild& build, const std::filesystem::path& dir, double limit_s);

}  // namespace etch
