// Use of an emitted project for a board: it is built with the toolchain file, in C and C++, and with another compiler than the
// target's; each program runs in the emulator. Instantiated for one board in each test run, for the others among the long tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "audit/listing.h"
#include "base/tempdir.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "support/boards.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ETCH_SOURCE_DIR;

inline ProcessResult run_in(const fs::path& dir, std::vector<std::string> command) {
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 300;
  return run_process(command, options);
}

/// The C++ compiler beside a C compiler: "clang++-19" of "clang-19", "arm-none-eabi-g++" of "arm-none-eabi-gcc".
inline std::string cxx_compiler_of(std::string compiler) {
  const std::size_t gcc = compiler.rfind("gcc");
  if (gcc != std::string::npos) return compiler.replace(gcc, 3, "g++");
  return compiler.replace(compiler.rfind("clang"), 5, "clang++");
}

/// Made for the tests' process: the project of lenet for the target.
class Board : public testing::TestWithParam<test::BoardRow> {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
    fs::copy(test::zoo_project("lenet", target.name), project(), fs::copy_options::recursive);
  }
  fs::path project() const { return temp.path() / "lenet"; }
  std::string console(const fs::path& program) {
    const EmulatorResult run = run_emulated(target, program, {});
    return run.console + (run.ok() ? "" : "exit status " + std::to_string(run.exit_code));
  }
  std::string ending() const { return target.emulator.kind == EmulatorKind::Board ? ".elf" : ""; }
  /// What tells CMake the target.
  std::vector<std::string> cmake_options() const {
    return {"-DCMAKE_TOOLCHAIN_FILE=" + (kSource / "toolchains" / target.toolchain.file).string(),
            "-DETCH_TARGET_FILE=" + target.file.string()};
  }
  const Target target = test::board_target(GetParam().target);
  TempDir temp;
};

/// Those with memories of their own.
using BoardMemory = Board;

TEST_P(Board, ToolchainFileBuildsTheProject) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const std::string level = *std::ranges::find_if(target.toolchain.flags, [](const std::string& flag) { return flag.starts_with("-O"); });
  for (const char* type : {"", "Release"}) {
    const fs::path build = temp.path() / ("build" + std::string(type));
    std::vector<std::string> command = {
        "cmake", "-S", "lenet", "-B", build.string(), "-DCMAKE_BUILD_TYPE=" + std::string(type), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"};
    std::ranges::copy(cmake_options(), std::back_inserter(command));
    const ProcessResult configured = run_in(temp.path(), command);
    ASSERT_TRUE(configured.ok()) << configured.err;
    EXPECT_EQ(configured.err.find("warning"), std::string::npos) << configured.err;
    const ProcessResult built = run_in(temp.path(), {"cmake", "--build", build.string()});
    ASSERT_TRUE(built.ok()) << built.out << built.err;
    EXPECT_EQ(console(build / ("lenet_selftest" + ending())), "PASS\n");
    const std::string wanted = *type == 0 ? "-O2" : level;  // of the description, and -O2 where no build type is chosen
    const std::string commands = test::content(build / "compile_commands.json");
    EXPECT_EQ(commands.find(wanted == "-O2" ? "-O3" : "-O2"), std::string::npos) << "the level is " << wanted;
    EXPECT_NE(commands.find(wanted), std::string::npos);
  }
}

TEST_P(Board, TheCompilerThatTheUserNamesIsTaken) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const fs::path own = temp.path() / "own-cc";
  std::ofstream(own) << "#!/bin/sh\nexec " << *target_compiler(target) << " \"$@\"\n";
  fs::permissions(own, fs::perms::owner_all);
  std::vector<std::string> command = {
      "cmake", "-S", "lenet", "-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", "-DCMAKE_C_COMPILER=" + own.string()};
  std::ranges::copy(cmake_options(), std::back_inserter(command));
  const ProcessResult configured = run_in(temp.path(), command);
  ASSERT_TRUE(configured.ok()) << configured.err;
  for (const auto& file : nlohmann::json::parse(test::content(temp.path() / "build/compile_commands.json")))
    EXPECT_TRUE(file.at("command").get<std::string>().starts_with(own.string() + " ")) << file;
}

// No C++ library is needed: a main with a class, a constructor before main, and a virtual function.
TEST_P(Board, AProgramInCPlusPlusRuns) {
  const std::string compiler = cxx_compiler_of(*target_compiler(target));
  if (const std::string why = test::missing({"cmake", compiler}); !why.empty()) GTEST_SKIP() << why;
  std::ofstream(temp.path() / "CMakeLists.txt") << "cmake_minimum_required(VERSION 3.16)\nproject(firmware LANGUAGES C CXX)\n"
                                                   "add_subdirectory(lenet)\nadd_executable(firmware main.cc)\n"
                                                   "target_link_libraries(firmware etch::lenet)\n";
  std::ofstream(temp.path() / "main.cc") << R"cc(
#include <stdio.h>

#include "lenet.h"

    struct Source {
      virtual float next() = 0;
    };
    class Ramp final : public Source {
     public:
      explicit Ramp(float step) : step_(step) {}
      ~Ramp() { printf("ramp ends\n"); }
      float next() override { return at_ += step_; }

     private:
      float step_, at_ = 0;
    };

    static Ramp ramp(1.0f / 1024);  // its constructor runs before main, its destructor after

    static void fill(Source& source, float* to, unsigned count) {
      for (unsigned i = 0; i < count; i++) to[i] = source.next();
    }

    ETCH_ALIGNED(LENET_ARENA_ALIGN) static unsigned char arena[LENET_ARENA_BYTES];
    static float input[LENET_INPUT_COUNT], output[LENET_OUTPUT_COUNT];

    int main() {
      fill(ramp, input, LENET_INPUT_COUNT);
      const etch_status status = lenet_run(arena, sizeof arena, input, output);
      float sum = 0;
      for (float p : output) sum += p;
      printf("%s, %d of 1000\n", etch_status_text(status), static_cast<int>(sum * 1000 + 0.5f));
      return status;
    }
  )cc";
  std::vector<std::string> configure = {"cmake", "-B", "build"};
  std::ranges::copy(cmake_options(), std::back_inserter(configure));
  const ProcessResult configured = run_in(temp.path(), configure);
  ASSERT_TRUE(configured.ok()) << configured.err;
  const ProcessResult built = run_in(temp.path(), {"cmake", "--build", "build"});
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  EXPECT_EQ(console(temp.path() / ("build/firmware" + ending())), "ok, 1000 of 1000\nramp ends\n");
}

// File by file, by clang too, with ETCH_ALIGNED as it is and empty; the linker and the C library are GCC's.
TEST_P(Board, BothCompilersBuildItWithAndWithoutAlignment) {
  const auto& flags = target.toolchain.flags;
  const std::string own = *target_compiler(target);
  std::vector<std::vector<std::string>> compilers{{own}};
  compilers[0].insert(compilers[0].end(), flags.begin(), flags.end());
  if (find_program("clang-19") && own.ends_with("gcc")) {
    compilers.push_back({"clang-19", "--target=" + target.toolchain.triple, "-isystem", target.toolchain.include});
    if (instruction_set(target.toolchain.triple) == &kArm) compilers[1].emplace_back("-fshort-enums");
    const auto is_of_gcc = [](const std::string& flag) { return flag.starts_with("--specs") || flag.starts_with("-fno-tree-"); };
    std::ranges::remove_copy_if(flags, std::back_inserter(compilers[1]), is_of_gcc);
  }
  for (const auto& compiler : compilers) {
    for (const char* define : {"-DETCH_PROFILE=0", "-DETCH_ALIGNED(n)="}) {
      if (target.arena_align > 8 && std::string_view(define).starts_with("-DETCH_ALIGNED")) continue;  // no array is by itself
      SCOPED_TRACE(compiler[0] + " " + define);
      std::vector<std::string> link = target.toolchain.linker.empty() ? compilers[0] : std::vector{target.toolchain.linker};
      for (const auto& entry : fs::directory_iterator(project())) {
        if (entry.path().extension() != ".c") continue;
        const std::string object = (temp.path() / (entry.path().stem().string() + ".o")).string();
        std::vector<std::string> command = compiler;
        command.insert(command.end(), {"-Wall", "-Werror", define, "-c", entry.path().string(), "-o", object});
        const ProcessResult compiled = run_process(command);
        ASSERT_TRUE(compiled.ok()) << compiled.err;
        link.push_back(object);
      }
      link.insert(link.end(), target.toolchain.link.begin(), target.toolchain.link.end());
      const std::string program = (temp.path() / "lenet.elf").string();
      link.insert(link.end(), {"-lm", "-o", program});
      const ProcessResult linked = run_process(link);
      ASSERT_TRUE(linked.ok()) << linked.err;
      EXPECT_EQ(console(program), "PASS\n");
    }
  }
}

// The flags that the generated file asks for, if features of the compiler are missing, are sufficient.
TEST_P(Board, TheFlagsOfTheErrorAreEnough) {
  const std::string source = (project() / "lenet.c").string(), compiler = *target_compiler(target);
  EXPECT_EQ(target.features.empty(), GetParam().lesser.empty());
  if (target.features.empty()) return;
  std::vector<std::string> command = {compiler};
  command.insert(command.end(), GetParam().lesser.begin(), GetParam().lesser.end());
  command.insert(command.end(), {"-c", source, "-o", "/dev/null"});
  const ProcessResult without = run_process(command);
  const std::string before = "compile it with ", after = ", or with -DETCH_ANY_CPU=1";
  const std::size_t begin = without.err.find(before), end = without.err.find(after);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << without.err;
  const std::string flags = without.err.substr(begin + before.size(), end - begin - before.size());
  const ProcessResult with = run_process({"sh", "-c", compiler + " " + flags + " -Wall -Werror -c " + source + " -o /dev/null"});
  EXPECT_TRUE(with.ok()) << flags << "\n" << with.err;
}

// A board whose memories have room for the model, but not for the stack that its link flags reserve for a whole program.
TEST_P(BoardMemory, NoRoomForTheSelfTestIsSaidInNumbers) {
  std::string board = test::content(target.file);
  const auto change = [&board](const std::string& from, const std::string& to) { board.replace(board.find(from), from.size(), to); };
  change("name=\"" + target.name + "\"", "name=\"tight\"");
  const std::size_t ram = board.find("kind=\"ram\""), size = board.find("size=\"4M\"", ram);
  ASSERT_LT(size, board.find('\n', ram)) << board;
  board.replace(size, 9, "size=\"80K\"");
  std::ofstream(temp.path() / "tight.xml") << board;
  const std::string model = test::zoo_model("lenet").string();
  const std::vector<std::string> on_board{"--targets-dir", temp.path().string(), "--target", "tight"};
  std::vector<std::string> compile{"compile", model, "-o", (temp.path() / "tight").string()}, validate{"validate", model};
  compile.insert(compile.end(), on_board.begin(), on_board.end());
  validate.insert(validate.end(), on_board.begin(), on_board.end());
  validate.insert(validate.end(), {"--backends", "interp"});
  const ProcessResult compiled = etch_tool(compile), validated = etch_tool(validate);
  EXPECT_TRUE(compiled.ok()) << compiled.err;
  EXPECT_EQ(describe(validated), "exit status 1");
  EXPECT_NE(validated.err.find("target tight: its memories have no room for the whole program: region `ram' overflowed by "),
            std::string::npos)
      << validated.err;
}

// The self-test reads a blob with fopen, which uses the heap: this counts for the self-test and is not reported for the model.
TEST_P(Board, WhatTheSelfTestNeedsIsNotTheModels) {
  for (const char* form : {"c", "blob"}) {
    const ProcessResult run = etch_tool(
        {"validate", test::zoo_model("lenet").string(), "--backends", "interp", "--target", target.name, "--weights", form, "--json"});
    ASSERT_TRUE(run.ok()) << run.err << run.out;
    const auto json = nlohmann::json::parse(run.out).at("target");
    EXPECT_EQ(json.at("heap_symbols"), nlohmann::json::array()) << form;
    EXPECT_EQ(json.at("soft_double_symbols"), nlohmann::json::array()) << form;
    EXPECT_TRUE(json.at("stack_bound_bytes").is_number()) << json;
  }
}

}  // namespace
}  // namespace etch
