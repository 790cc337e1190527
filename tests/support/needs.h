// For tests: what they need besides etch. A test that lacks something is skipped with one line, which says what to install.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/process.h"

namespace etch::test {

/// Debian's packages of programs that are not called like them.
struct ProgramPackage {
  std::string_view program, package;
};
inline constexpr ProgramPackage kProgramPackages[] = {
    {"arm-none-eabi-gcc", "gcc-arm-none-eabi picolibc-arm-none-eabi"},
    {"arm-none-eabi-g++", "gcc-arm-none-eabi picolibc-arm-none-eabi"},
    {"aarch64-linux-gnu-g++", "g++-aarch64-linux-gnu"},
    {"riscv64-unknown-elf-g++", "gcc-riscv64-unknown-elf"},
    {"powerpc-linux-gnu-gcc", "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross"},
    {"s390x-linux-gnu-gcc", "gcc-s390x-linux-gnu libc6-dev-s390x-cross"},
    {"qemu-ppc", "qemu-user"},
    {"qemu-s390x", "qemu-user"},
    {"clang++-19", "clang-19"},
    {"nvcc", "nvidia-cuda-toolkit"},
    {"objdump", "binutils"},
    {"script", "bsdutils"},
};

/// "script is not installed: apt-get install bsdutils", of the first of the programs that is not on PATH; empty if all are.
inline std::string missing(std::initializer_list<std::string_view> programs) {
  for (const std::string_view program : programs) {
    if (find_program(program)) continue;
    std::string_view package = program;
    for (const ProgramPackage& row : kProgramPackages)
      if (row.program == program) package = row.package;
    return std::string(program) + " is not installed: apt-get install " + std::string(package);
  }
  return "";
}

/// The same for a package, of which the test reads `path`.
inline std::string missing_package(std::string_view package, const std::filesystem::path& path) {
  if (std::filesystem::exists(path)) return "";
  return path.string() + " is not there: apt-get install " + std::string(package);
}

}  // namespace etch::test
