// Emitted projects with many compilers, with and without a way to align: each builds and passes its self-test.
#include <gtest/gtest.h>

#include <cstdio>

#include "base/tempdir.h"
#include "build.h"
#include "tiny.h"

namespace etch::compilers_test {
namespace {

namespace fs = std::filesystem;
using test::c_files;
using test::put;
using test::run_in;

std::vector<EmittedFile> emit_mlp(WeightsForm form) {
  const Program p = test::mlp_program();
  EmitOptions o = test::mlp_options(p);
  o.weights = form;
  return emit(p, plan_memory(p), o);
}

// A plan with a larger alignment than any C type has.
std::vector<EmittedFile> emit_mlp_aligned_to_64(WeightsForm form) {
  const Program p = test::mlp_program();
  EmitOptions o = test::mlp_options(p);
  o.weights = form;
  return emit(p, plan_memory(p, {.align = 64}), o);
}

struct Row {
  const char* compiler;
  std::vector<std::string> flags;
};

const Row kRows[] = {
    {"gcc", {"-std=c99", "-pedantic", "-Werror"}},
    {"gcc", {"-std=c11", "-pedantic", "-Werror", "-DETCH_ALIGNED(n)=_Alignas(n)"}},
    {"gcc", {"-std=c99", "-DETCH_ALIGNED(n)="}},
    {"clang-19", {"-std=c99", "-pedantic", "-Werror", "-DETCH_ALIGNED(n)="}},
    {"g++", {"-x", "c++", "-std=c++11", "-DETCH_ALIGNED(n)=alignas(n)"}},
    {"g++", {"-x", "c++", "-DETCH_ALIGNED(n)="}},
    {"tcc", {}},
    {"tcc", {"-DETCH_ALIGNED(n)="}},
};

TEST(ManyCompilers, ProjectsPassTheirSelfTest) {
  const TempDir temp;
  put(temp.path() / "c", emit_mlp(WeightsForm::C));
  put(temp.path() / "blob", emit_mlp(WeightsForm::Blob));
  put(temp.path() / "c64", emit_mlp_aligned_to_64(WeightsForm::C));
  put(temp.path() / "blob64", emit_mlp_aligned_to_64(WeightsForm::Blob));
  const Program batch = test::batch_program();
  put(temp.path() / "scaler", emit(batch, plan_memory(batch), test::batch_options()));
  for (const Row& row : kRows) {
    if (!find_program(row.compiler)) {
      std::printf("not installed, so not tried: %s\n", row.compiler);
      continue;
    }
    for (const char* project : {"c", "blob", "c64", "blob64", "scaler"}) {
      SCOPED_TRACE(std::string(row.compiler) + " " + (row.flags.empty() ? "" : row.flags.back()) + ", " + project);
      const fs::path dir = temp.path() / project;
      std::vector<std::string> args = row.flags;
      for (const std::string& file : c_files(dir)) args.push_back(file);
      args.insert(args.end(), {"-lm", "-o", "test"});
      const ProcessResult built = run_in(dir, row.compiler, args);
      ASSERT_TRUE(built.ok()) << built.err;
      const ProcessResult ran = run_in(dir, "./test", {"mlp_weights.bin"});
      EXPECT_EQ(ran.out, "PASS\n");
    }
  }
}

// If neither the compiler nor the caller aligns the memory, the run function returns a status and does not run.
TEST(ManyCompilers, TooLittleAlignmentIsAStatus) {
  const TempDir temp;
  put(temp.path(), emit_mlp_aligned_to_64(WeightsForm::C));
  write_file(temp.path() / "selftest.c", R"c(
#include <stdio.h>
#include "mlp.h"
int main(void) {
  static union { etch_widest widest; unsigned char bytes[MLP_ARENA_BYTES + 128]; } memory;
  static union { double aligns; float floats[8]; unsigned char bytes[32]; } x, y;
  unsigned char *const arena = memory.bytes + (0u - (uintptr_t)memory.bytes) % 64u;
  printf("%d", (int)mlp_run(arena, MLP_ARENA_BYTES, x.floats, y.floats));
  printf(" %d", (int)mlp_run(arena + 16, MLP_ARENA_BYTES, x.floats, y.floats));
  printf(" %d", (int)mlp_run(arena, MLP_ARENA_BYTES, (const float *)(void *)(x.bytes + 2), y.floats));
  printf(" %d", (int)mlp_run(arena, MLP_ARENA_BYTES, x.floats, (float *)(void *)(y.bytes + 1)));
  printf(" %d\n", (int)mlp_run(arena, MLP_ARENA_BYTES, x.floats + 1, y.floats + 1));
  return 0;
}
)c");
  std::vector<std::string> args{"-DETCH_ALIGNED(n)=", "-o", "test"};
  for (const std::string& file : c_files(temp.path())) args.push_back(file);
  args.push_back("-lm");
  ASSERT_TRUE(run_in(temp.path(), "cc", args).ok());
  EXPECT_EQ(run_in(temp.path(), "./test").out, "0 3 15 15 0\n");  // ETCH_OK, ETCH_ARENA_ALIGN, ETCH_IO_ALIGN twice, ETCH_OK
}

// ETCH_PROFILE for one file and not for the other: the program must not link, as its hooks would never be called.
TEST(ManyCompilers, ProfileInOneFileAloneDoesNotLink) {
  const TempDir temp;
  put(temp.path(), emit_mlp(WeightsForm::C));
  const struct {
    std::vector<std::string> with_profile;
    bool links;
  } rows[] = {
      {{}, true},
      {{"mlp.c", "etch_runtime.c", "selftest.c", "mlp_weights.c"}, true},
      {{"mlp.c"}, false},
      {{"etch_runtime.c"}, false},
      {{"mlp.c", "selftest.c"}, false},
  };
  for (const auto& row : rows) {
    std::vector<std::string> link{"-o", "test"};
    for (const std::string& file : c_files(temp.path())) {
      const bool with = std::ranges::find(row.with_profile, file) != row.with_profile.end();
      ASSERT_TRUE(run_in(temp.path(), std::string("cc -std=c99 -DETCH_PROFILE=") + (with ? "1" : "0") + " -c " + file).ok());
      link.push_back(file.substr(0, file.size() - 1) + "o");
    }
    link.push_back("-lm");
    const ProcessResult linked = run_in(temp.path(), "cc", link);
    EXPECT_EQ(linked.ok(), row.links) << row.with_profile.size();
    if (!row.links) {
      EXPECT_NE(linked.err.find("etch_run_abi"), std::string::npos) << linked.err;
    }
  }
}

}  // namespace
}  // namespace etch::compilers_test
