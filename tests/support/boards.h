// For tests: the targets that an emulator runs.
#pragma once

#include <filesystem>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "base/process.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "target/target.h"

namespace etch::test {

struct BoardRow {
  const char* target;
  /// Flags of a lesser core, for which NAME.c is refused; empty if the target's code needs nothing of its core.
  std::vector<std::string> lesser;
  bool is_small = false;  // its memories have room for quantised_mlp(), but for none of the other models of these tests
};
inline void PrintTo(const BoardRow& row, std::ostream* out) { *out << row.target; }

/// The first is the one on which everything is tested each time, the others are among the long tests.
inline const BoardRow kBoards[] = {
    {"cortex-m4f", {"--specs=picolibc.specs"}},
    {"cortex-m3", {}},
    {"cortex-m0plus", {}},
    {"cortex-m7", {"--specs=picolibc.specs"}},
    {"cortex-m33", {"--specs=picolibc.specs"}},
    {"rv32imc", {"-march=rv32ic", "-mabi=ilp32", "--specs=picolibc.specs"}},
    {"cortex-m55", {"--target=thumbv7m-none-eabi", "-isystem/usr/lib/picolibc/arm-none-eabi/include"}},
    {"cortex-a55", {"--target=aarch64-linux-gnu", "-mcpu=cortex-a53"}},
    {"cortex-a53", {"--target=aarch64-linux-gnu", "-march=armv8-a+nosimd"}},
    {"cortex-a72", {"--target=aarch64-linux-gnu", "-march=armv8-a+nosimd"}},
    {"cortex-a7", {"--target=armv7-linux-gnueabihf", "-mfloat-abi=hard", "-mfpu=vfpv3-d16"}},
    {"rv64gc", {"--target=riscv64-linux-gnu", "-march=rv64ifd", "-mabi=lp64d"}},
    {"rv64gcv", {"--target=riscv64-linux-gnu", "-march=rv64gc", "-mabi=lp64d"}},
    {"avr", {}, true},
};

inline std::vector<BoardRow> first_board() { return {kBoards[0]}; }
/// Without small ones.
inline std::vector<BoardRow> large_boards() {
  std::vector<BoardRow> rows{std::begin(kBoards), std::end(kBoards)};
  std::erase_if(rows, [](const BoardRow& row) { return row.is_small; });
  return rows;
}
inline std::vector<BoardRow> other_boards() {
  std::vector<BoardRow> rows = large_boards();
  rows.erase(rows.begin());
  return rows;
}

/// A name for GoogleTest: "cortex_m4f".
struct BoardName {
  template <class Info>
  std::string operator()(const Info& info) const {
    std::string name = info.param.target;
    for (char& c : name) c = c == '-' ? '_' : c;
    return name;
  }
};

inline Target board_target(const std::string& name) { return find_target(name, std::filesystem::path(ETCH_SOURCE_DIR) / "targets"); }

/// "clang-19 is not installed: apt-get install clang-19", of the target's compiler; empty if it is.
inline std::string missing_compiler_line(const Target& target) {
  const std::string compiler = missing_compiler(target);
  return compiler.empty() ? "" : compiler + " is not installed: apt-get install " + target.toolchain.package;
}

/// The same of the target's compiler or emulator.
inline std::string missing_tools(const Target& target) {
  if (const std::string line = missing_compiler_line(target); !line.empty()) return line;
  if (!find_program(target.emulator.program))
    return target.emulator.program + " is not installed: apt-get install " + target.emulator.package;
  std::string why;
  return emulator_available(target, &why) ? "" : why;
}

}  // namespace etch::test
