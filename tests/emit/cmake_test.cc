// The emitted CMakeLists.txt: which flags are used, with and without a build type, alone and in a user's project.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/tempdir.h"
#include "build.h"
#include "support/needs.h"
#include "tiny.h"

namespace etch {
namespace {

namespace fs = std::filesystem;
using test::put;
using test::run_in;

const std::vector<std::string> kCode{"-msse4.1", "-ffp-contract=fast"};

std::vector<EmittedFile> emit_mlp(const std::vector<std::string>& code = kCode, const std::vector<std::string>& features = {"__SSE4_1__"},
                                  WeightsForm form = WeightsForm::C) {
  const Program p = test::mlp_program();
  EmitOptions o = test::mlp_options(p);
  o.target_name = "old-pc";
  o.build.code = code;
  o.build.features = features;
  o.weights = form;
  return emit(p, plan_memory(p), o);
}

std::vector<EmittedFile> emit_scaler() {
  const Program p = test::batch_program();
  return emit(p, plan_memory(p), test::batch_options());
}

bool is_x86() { return run_process({"cc", "-msse4.1", "-E", "-x", "c", "/dev/null"}).ok(); }

// A project of the user around the models.
class UsersProject : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
    if (!is_x86()) GTEST_SKIP() << "cc makes no code for x86-64, whose flags these tests look for";
    put(temp.path() / "mlp", emit_mlp());
    put(temp.path() / "scaler", emit_scaler());
    write_file(temp.path() / "main.c", "#include \"mlp.h\"\nint main(void) { return MLP_ARENA_BYTES == 0; }\n");
    write_cmake("add_subdirectory(mlp)\nadd_executable(firmware main.c)\ntarget_link_libraries(firmware etch::mlp)\n");
  }
  void write_cmake(const std::string& text) {
    write_file(temp.path() / "CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(users C ASM)\n" + text);
  }
  ProcessResult configure(const std::vector<std::string>& options = {}) {
    fs::remove_all(temp.path() / "build");
    std::vector<std::string> more{"-B", "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"};
    more.insert(more.end(), options.begin(), options.end());
    return run_in(temp.path(), "cmake", more);
  }
  // The words of the command that compiles a file.
  std::vector<std::string> command(const std::string& file) const {
    std::ifstream in(temp.path() / "build/compile_commands.json");
    for (const auto& entry : nlohmann::json::parse(in))
      if (fs::path(entry.at("file").get<std::string>()).filename() == file) return test::split(entry.at("command"));
    ADD_FAILURE() << file << " is not compiled";
    return {};
  }
  bool has(const std::string& file, const std::string& flag) const {
    const auto words = command(file);
    return std::ranges::find(words, flag) != words.end();
  }
  TempDir temp;
};

TEST_F(UsersProject, TheLibraryAloneHasTheFlagsOfItsTarget) {
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (!find_program(compiler)) continue;
    SCOPED_TRACE(compiler);
    ASSERT_TRUE(configure({std::string("-DCMAKE_C_COMPILER=") + compiler}).ok());
    for (const std::string& flag : kCode) {
      EXPECT_TRUE(has("mlp.c", flag)) << flag;
      EXPECT_FALSE(has("main.c", flag)) << flag;
      EXPECT_FALSE(has("etch_runtime.c", flag)) << flag;
    }
    ASSERT_TRUE(run_in(temp.path(), "cmake --build build").ok());
    EXPECT_TRUE(run_in(temp.path(), "build/firmware").ok());
  }
}

TEST_F(UsersProject, CanSayThatItGivesTheFlags) {
  ASSERT_TRUE(configure({"-DMLP_TARGET_FLAGS=OFF"}).ok());
  EXPECT_FALSE(has("mlp.c", "-msse4.1"));
  // Without them the model does not compile, and the error names the missing flags.
  const ProcessResult built = run_in(temp.path(), "cmake --build build");
  EXPECT_FALSE(built.ok());
  EXPECT_NE((built.out + built.err).find("mlp.c is for target old-pc (__SSE4_1__): compile it with -msse4.1"), std::string::npos)
      << built.out << built.err;
  ASSERT_TRUE(configure({"-DMLP_TARGET_FLAGS=OFF", "-DCMAKE_C_FLAGS=-DETCH_ANY_CPU=1"}).ok());
  EXPECT_TRUE(run_in(temp.path(), "cmake --build build").ok());
  ASSERT_TRUE(configure({"-DMLP_TARGET_FLAGS=OFF", "-DCMAKE_C_FLAGS=-msse4.1"}).ok());
  EXPECT_TRUE(run_in(temp.path(), "cmake --build build").ok());
}

TEST_F(UsersProject, FlagsOfAnotherMachineAreLeftOutWithAWarning) {
  put(temp.path() / "mlp", emit_mlp({"-mcpu=cortex-m4", "-mthumb"}, {"__ARM_FEATURE_DSP"}));
  const ProcessResult configured = configure();
  ASSERT_TRUE(configured.ok());
  std::string said;  // CMake folds its messages
  for (const std::string& word : test::split(configured.err)) said += word + " ";
  EXPECT_NE(said.find("does not take its flags, -mcpu=cortex-m4 -mthumb"), std::string::npos) << said;
  EXPECT_FALSE(has("mlp.c", "-mcpu=cortex-m4"));
}

TEST_F(UsersProject, WithoutABuildTypeTheLibraryIsOptimised) {
  const std::string line = "-- mlp: no CMAKE_BUILD_TYPE, so the library is built with -O2\n";
  const struct {
    const char* what;
    std::vector<std::string> options;
    const char* cmake;  // before add_subdirectory
    bool is_ours;
  } rows[] = {
      {"nothing said", {}, "", true},
      {"a build type", {"-DCMAKE_BUILD_TYPE=Debug"}, "", false},
      {"a level among the flags", {"-DCMAKE_C_FLAGS=-g -Os"}, "", false},
      {"a level among the project's options", {}, "add_compile_options(-g -Os)\n", false},
      {"flags without a level", {"-DCMAKE_C_FLAGS=-g -fno-omit-frame-pointer"}, "", true},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    write_cmake(std::string(row.cmake) + "add_subdirectory(mlp)\nadd_executable(firmware main.c)\ntarget_link_libraries(firmware mlp)\n");
    const ProcessResult configured = configure(row.options);
    ASSERT_TRUE(configured.ok()) << configured.err;
    EXPECT_EQ(configured.out.find(line) != std::string::npos, row.is_ours) << configured.out;
    EXPECT_EQ(has("mlp.c", "-O2"), row.is_ours);
    EXPECT_EQ(has("etch_runtime.c", "-O2"), row.is_ours);
    EXPECT_FALSE(has("main.c", "-O2"));
  }
  // By itself, without a build type, it is the same.
  const ProcessResult alone = run_in(temp.path() / "scaler", "cmake -B build");
  EXPECT_NE(alone.out.find("-- scaler: no CMAKE_BUILD_TYPE, so the library is built with -O2\n"), std::string::npos) << alone.out;
}

TEST_F(UsersProject, ModelsShareARuntimeOfTheirAbi) {
  write_cmake(
      "add_subdirectory(mlp)\nadd_subdirectory(scaler)\nadd_executable(firmware main.c)\n"
      "target_link_libraries(firmware etch::mlp etch::scaler)\n");
  ASSERT_TRUE(configure().ok());
  std::ifstream in(temp.path() / "build/compile_commands.json");
  std::set<std::string> runtimes;
  for (const auto& entry : nlohmann::json::parse(in))
    if (const std::string file = entry.at("file"); file.ends_with("etch_runtime.c")) runtimes.insert(file);
  EXPECT_EQ(runtimes.size(), 1u);
  // A runtime of another version: CMake reports it, and the linker would too.
  write_cmake(
      "add_library(etch_runtime STATIC mlp/etch_runtime.c)\nset_target_properties(etch_runtime PROPERTIES ETCH_RUNTIME_ABI 1)\n"
      "add_subdirectory(mlp)\n");
  const ProcessResult configured = configure();
  EXPECT_FALSE(configured.ok());
  EXPECT_NE(configured.err.find("mlp needs etch runtime ABI"), std::string::npos) << configured.err;
}

TEST_F(UsersProject, AssemblerFilesHaveNoFlagsOfC) {
  put(temp.path() / "mlp", emit_mlp(kCode, {"__SSE4_1__"}, WeightsForm::Incbin));
  ASSERT_TRUE(configure().ok());
  EXPECT_TRUE(has("mlp.c", "-msse4.1"));
  EXPECT_FALSE(has("mlp_weights.S", "-msse4.1"));
}

}  // namespace
}  // namespace etch
