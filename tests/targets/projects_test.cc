// Use of an emitted project for a board: it is built with the toolchain file, in C and C++, and with another compiler than the
// target's; each program runs in the emulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/tempdir.h"
#include "emulator/emulator.h"
#include "support/files.h"
#include "support/made_once.h"
#include "support/needs.h"
#include "support/tool.h"
#include "target/target.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ETCH_SOURCE_DIR;

ProcessResult run_in(const fs::path& dir, std::vector<std::string> command) {
  ProcessOptions options;
  options.cwd = dir;
  options.timeout_s = 300;
  return run_process(command, options);
}

class CortexM : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({"arm-none-eabi-gcc", "qemu-system-arm"}); !why.empty()) GTEST_SKIP() << why;
    fs::copy(test::zoo_project("lenet", "cortex-m4f"), project(), fs::copy_options::recursive);
  }
  fs::path project() const { return temp.path() / "lenet"; }
  std::string console(const fs::path& program) {
    const EmulatorResult run = run_emulated(target, program, {});
    return run.console + (run.ok() ? "" : "exit status " + std::to_string(run.exit_code));
  }
  const Target target = find_target("cortex-m4f", kSource / "targets");
  TempDir temp;
};

TEST_F(CortexM, ToolchainFileBuildsTheProject) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const std::string toolchain = "-DCMAKE_TOOLCHAIN_FILE=" + (kSource / "toolchains/arm-none-eabi-gcc.cmake").string();
  for (const char* type : {"", "Release"}) {
    const fs::path build = temp.path() / ("build" + std::string(type));
    const ProcessResult configured = run_in(temp.path(), {"cmake", "-S", "lenet", "-B", build.string(), toolchain,
                                                          "-DCMAKE_BUILD_TYPE=" + std::string(type), "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"});
    ASSERT_TRUE(configured.ok()) << configured.err;
    EXPECT_EQ(configured.err.find("warning"), std::string::npos) << configured.err;
    const ProcessResult built = run_in(temp.path(), {"cmake", "--build", build.string()});
    ASSERT_TRUE(built.ok()) << built.out << built.err;
    EXPECT_EQ(console(build / "lenet_selftest.elf"), "PASS\n");
    const std::string commands = test::content(build / "compile_commands.json");
    EXPECT_EQ(commands.find("-O3"), std::string::npos) << "the level is that of the description, -O2";
    EXPECT_NE(commands.find("-O2"), std::string::npos);
  }
}

// No C++ library is needed: a main with a class, a constructor before main, and a virtual function.
TEST_F(CortexM, AProgramInCPlusPlusRuns) {
  if (const std::string why = test::missing({"cmake", "arm-none-eabi-g++"}); !why.empty()) GTEST_SKIP() << why;
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
  const ProcessResult configured =
      run_in(temp.path(), {"cmake", "-B", "build", "-DCMAKE_TOOLCHAIN_FILE=" + (kSource / "toolchains/arm-none-eabi-gcc.cmake").string()});
  ASSERT_TRUE(configured.ok()) << configured.err;
  const ProcessResult built = run_in(temp.path(), {"cmake", "--build", "build"});
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  EXPECT_EQ(console(temp.path() / "build/firmware.elf"), "ok, 1000 of 1000\nramp ends\n");
}

// File by file, by clang too, with ETCH_ALIGNED as it is and empty; the linker and the C library are GCC's.
TEST_F(CortexM, BothCompilersBuildItWithAndWithoutAlignment) {
  const auto& flags = target.toolchain.flags;
  std::vector<std::vector<std::string>> compilers{{"arm-none-eabi-gcc"}};
  compilers[0].insert(compilers[0].end(), flags.begin(), flags.end());
  if (find_program("clang-19")) {
    compilers.push_back({"clang-19", "--target=" + target.toolchain.triple, "-isystem", target.toolchain.include, "-fshort-enums"});
    std::ranges::copy_if(flags, std::back_inserter(compilers[1]), [](const std::string& flag) { return !flag.starts_with("--specs"); });
  }
  for (const auto& compiler : compilers) {
    for (const char* define : {"-DETCH_PROFILE=0", "-DETCH_ALIGNED(n)="}) {
      SCOPED_TRACE(compiler[0] + " " + define);
      std::vector<std::string> link = compilers[0];
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
TEST_F(CortexM, TheFlagsOfTheErrorAreEnough) {
  const std::string source = (project() / "lenet.c").string();
  const ProcessResult without = run_process({"arm-none-eabi-gcc", "--specs=picolibc.specs", "-c", source, "-o", "/dev/null"});
  const std::string before = "compile it with ", after = ", or with -DETCH_ANY_CPU=1";
  const std::size_t begin = without.err.find(before), end = without.err.find(after);
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << without.err;
  const std::string flags = without.err.substr(begin + before.size(), end - begin - before.size());
  const ProcessResult with = run_process({"sh", "-c", "arm-none-eabi-gcc " + flags + " -Wall -Werror -c " + source + " -o /dev/null"});
  EXPECT_TRUE(with.ok()) << flags << "\n" << with.err;
}

// A board whose memories have room for the model, but not for the stack that its link flags reserve for a whole program.
TEST_F(CortexM, NoRoomForTheSelfTestIsSaidInNumbers) {
  std::string board = test::content(kSource / "targets/cortex-m4f.xml");
  const auto change = [&board](const std::string& from, const std::string& to) { board.replace(board.find(from), from.size(), to); };
  change("name=\"cortex-m4f\"", "name=\"tight\"");
  change("origin=\"0x20000000\" size=\"4M\"", "origin=\"0x20000000\" size=\"80K\"");
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
TEST_F(CortexM, WhatTheSelfTestNeedsIsNotTheModels) {
  for (const char* form : {"c", "blob"}) {
    const ProcessResult run = etch_tool(
        {"validate", test::zoo_model("lenet").string(), "--backends", "interp", "--target", "cortex-m4f", "--weights", form, "--json"});
    ASSERT_TRUE(run.ok()) << run.err << run.out;
    const auto json = nlohmann::json::parse(run.out).at("target");
    EXPECT_EQ(json.at("heap_symbols"), nlohmann::json::array()) << form;
    EXPECT_EQ(json.at("soft_double_symbols"), nlohmann::json::array()) << form;
    EXPECT_TRUE(json.at("stack_bound_bytes").is_number()) << json;
  }
}

TEST(Targets, OwnOnesAreListedBeforeTheBundledOnes) {
  const TempDir own;
  const std::string host = test::content(kSource / "targets/host.xml");
  std::ofstream(own.path() / "host.xml") << host;
  std::string board = host;
  board.replace(board.find("name=\"host\""), 11, "name=\"board\"");
  std::ofstream(own.path() / "board.xml") << board;
  const ProcessResult listed = etch_tool({"targets", "--targets-dir", own.path().string()});
  ASSERT_TRUE(listed.ok()) << listed.err;
  const std::size_t mine = listed.out.find("board "), bundled = listed.out.find("cortex-m4f ");
  EXPECT_LT(mine, bundled);
  EXPECT_NE(bundled, std::string::npos);
  EXPECT_NE(listed.out.find((own.path() / "host.xml").string() + " is used, "), std::string::npos) << listed.out;
  EXPECT_FALSE(etch_tool({"targets", "--targets-dir", (own.path() / "absent").string()}).ok());
}

}  // namespace
}  // namespace etch
