#include "emit/emit.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/error.h"
#include "base/process.h"
#include "base/runtime_text.h"
#include "base/tempdir.h"
#include "build.h"
#include "emit/write.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/needs.h"
#include "tiny.h"

namespace etch::emit_test {
namespace {

namespace fs = std::filesystem;
using test::batch_options;
using test::batch_program;
using test::c_files;
using test::mlp_options;
using test::mlp_program;
using test::put;
using test::run_in;

const std::string& text_of(const std::vector<EmittedFile>& files, const std::string& name) {
  for (const EmittedFile& f : files)
    if (f.name == name) return f.text;
  static const std::string none;
  ADD_FAILURE() << "no file " << name;
  return none;
}

std::vector<EmittedFile> emit_mlp(WeightsForm form = WeightsForm::Auto) {
  const Program p = mlp_program();
  EmitOptions o = mlp_options(p);
  o.weights = form;
  return emit(p, plan_memory(p), o);
}

std::vector<EmittedFile> emit_scaler() {
  const Program p = batch_program();
  return emit(p, plan_memory(p), batch_options());
}

TEST(Emit, IsTheSameEveryTime) {
  const std::vector<EmittedFile> a = emit_mlp(), b = emit_mlp();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); i++) EXPECT_EQ(a[i].text, b[i].text) << a[i].name;
}

TEST(Emit, CompilesWithoutWarnings) {
  const std::string strict = " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wswitch-default -Wfloat-equal -Werror -O1 -fsyntax-only";
  const struct {
    std::string compiler, flags;
  } rows[] = {
      {"gcc", "-std=c99"},
      {"gcc", "-std=c99 -DETCH_PROFILE=1"},
      {"gcc", "-std=c99 -DETCH_CHECK_ARGUMENTS=0 -DETCH_STATUS_TEXT=0"},
      {"clang-19", "-std=c99"},
      {"clang-19", "-std=c99 -DETCH_PROFILE=1"},
      {"arm-none-eabi-gcc", "-std=c99 -mcpu=cortex-m4 -mthumb --specs=picolibc.specs"},
      {"g++", "-x c++ -std=c++11 -DETCH_PROFILE=1"},
      {"clang++-19", "-x c++ -std=c++17"},
  };
  const TempDir temp;
  for (const WeightsForm form : {WeightsForm::C, WeightsForm::Incbin, WeightsForm::Blob})
    put(temp.path() / std::to_string(static_cast<int>(form)), emit_mlp(form));
  put(temp.path() / "scaler", emit_scaler());
  std::vector<std::string> files;  // of all projects: starting a compiler takes longer than reading them
  for (const char* project : {"1", "2", "3", "scaler"})
    for (const std::string& file : c_files(temp.path() / project)) files.push_back(project + ("/" + file));
  for (const auto& row : rows) {
    if (!find_program(row.compiler)) {
      std::printf("not installed, so not tried: %s\n", row.compiler.c_str());
      continue;
    }
    SCOPED_TRACE(row.compiler + " " + row.flags);
    const ProcessResult r = run_in(temp.path(), row.compiler + " " + row.flags + strict, files);
    EXPECT_TRUE(r.ok()) << r.err;
  }
}

TEST(Emit, BuildsByOneCommandAndPasses) {
  const TempDir temp;
  for (const auto& [name, files] : {std::pair("mlp", emit_mlp()), std::pair("scaler", emit_scaler())}) {
    SCOPED_TRACE(name);
    const fs::path dir = temp.path() / name;
    put(dir, files);
    const ProcessResult built = run_in(dir, "cc -std=c99 -g -fsanitize=address,undefined -fno-sanitize-recover=all -o test", [&] {
      std::vector<std::string> args = c_files(dir);
      args.push_back("-lm");
      return args;
    }());
    ASSERT_TRUE(built.ok()) << built.err;
    const ProcessResult ran = run_in(dir, "./test");
    EXPECT_EQ(ran.out, "PASS\n");
    EXPECT_TRUE(ran.ok()) << ran.err;
  }
}

TEST(Emit, SelfTestFailsWhereTheModelIsWrong) {
  const TempDir temp;
  std::vector<EmittedFile> files = emit_mlp();
  for (EmittedFile& f : files) {
    const std::size_t at = f.name == "mlp.c" ? f.text.find("acc += in[1]") : std::string::npos;
    if (at != std::string::npos) f.text.replace(at, 12, "acc -= in[1]");
  }
  put(temp.path(), files);
  std::vector<std::string> args = c_files(temp.path());
  args.push_back("-lm");
  ASSERT_TRUE(run_in(temp.path(), "cc -std=c99 -o test", args).ok());
  const ProcessResult ran = run_in(temp.path(), "./test");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out.substr(0, 9), "FAIL sum[");
}

// The model's value and the expected one, in every combination of finite, infinite and NaN.
TEST(Emit, SelfTestTellsInfinitiesAndNaNFromNumbers) {
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
  const std::pair<const char*, double> values[] = {{"1.0f", 1}, {"3e38f", 3e38}, {"INFINITY", kInf}, {"-INFINITY", -kInf}, {"NAN", kNan}};
  const Program p = test::mlp_program();
  EmitOptions options = test::mlp_options(p);
  for (const auto& [want_text, want] : values) {
    options.selftest->expected = {Array::of_doubles(DType::Float32, {1, 4}, std::vector<double>(4, want))};
    std::vector<EmittedFile> files = emit(p, plan_memory(p), options);
    for (EmittedFile& f : files) {
      const std::string sum = "in[i] + in_2[i]";
      if (const std::size_t at = f.name == "mlp.c" ? f.text.find(sum) : std::string::npos; at != std::string::npos)
        f.text = "#include <math.h>\n" + f.text.replace(at, sum.size(), "GOT");
    }
    const TempDir temp;
    put(temp.path(), files);
    std::vector<std::string> args = c_files(temp.path());
    args.push_back("-lm");
    for (const auto& [got_text, got] : values) {
      SCOPED_TRACE(std::string("the model gives ") + got_text + ", expected is " + want_text);
      ASSERT_TRUE(run_in(temp.path(), "cc -std=c99 -w -o test -DGOT=" + std::string(got_text), args).ok());
      const ProcessResult ran = run_in(temp.path(), "./test");
      EXPECT_EQ(ran.out.substr(0, 4), std::string_view(got_text) == want_text ? "PASS" : "FAIL");
    }
  }
}

TEST(Emit, BuildsByCMakeInEveryForm) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  for (const auto& [name, form] :
       {std::pair("c", WeightsForm::C), std::pair("incbin", WeightsForm::Incbin), std::pair("blob", WeightsForm::Blob)}) {
    SCOPED_TRACE(name);
    const fs::path dir = temp.path() / name;
    put(dir, emit_mlp(form));
    const ProcessResult configured = run_in(dir, "cmake -B build");
    ASSERT_TRUE(configured.ok()) << configured.err;
    const ProcessResult built = run_in(dir, "cmake --build build");
    ASSERT_TRUE(built.ok()) << built.out << built.err;
    const ProcessResult ran = run_in(dir, "build/mlp_selftest");
    EXPECT_EQ(ran.out, "PASS\n");
  }
}

TEST(Emit, TwoModelsAndOneRuntimeRunInTurns) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  put(temp.path() / "mlp", emit_mlp(WeightsForm::Incbin));
  put(temp.path() / "scaler", emit_scaler());
  write_file(temp.path() / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.16)\nproject(two C ASM)\nadd_subdirectory(mlp)\nadd_subdirectory(scaler)\n"
             "add_executable(two main.c)\ntarget_link_libraries(two mlp scaler)\n");
  // One block of memory for both arenas; 2 x + 1 by the one model, its first row through the other; expected by hand:
  // x = {1,-2,0.5,3} gives {3,-3,2,7} after scaling.
  write_file(temp.path() / "main.c", R"c(
#include <stdio.h>
#include "mlp.h"
#include "scaler.h"
ETCH_ALIGNED(64) static unsigned char memory[4096];
int main(void) {
  static float x[SCALER_X_COUNT] = {1, -2, 0.5f, 3}, y[SCALER_Y_COUNT], sum[MLP_SUM_COUNT], direct[MLP_SUM_COUNT];
  static const float scaled[4] = {3, -3, 2, 7};
  etch_arena arena;
  etch_arena_init(&arena, memory, sizeof memory);
  for (int turn = 0; turn < 3; turn++) {
    void *block;
    const size_t mark = arena.used;
    if (etch_arena_take(&arena, SCALER_ARENA_BYTES, SCALER_ARENA_ALIGN, &block) != ETCH_OK) return 2;
    if (scaler_run(block, SCALER_ARENA_BYTES, 1, x, y) != ETCH_OK) return 3;
    etch_arena_release(&arena, mark);
    if (etch_arena_take(&arena, MLP_ARENA_BYTES, MLP_ARENA_ALIGN, &block) != ETCH_OK) return 4;
    if (mlp_run(block, MLP_ARENA_BYTES, y, sum) != ETCH_OK) return 5;
    if (mlp_run(block, MLP_ARENA_BYTES, scaled, direct) != ETCH_OK) return 6;
    etch_arena_release(&arena, mark);
    for (int i = 0; i < 4; i++)
      if (y[i] != scaled[i] || sum[i] != direct[i]) return 7;
  }
  if (scaler_run(memory, sizeof memory, 0, x, y) != ETCH_RANGE || scaler_run(memory, sizeof memory, 9, x, y) != ETCH_RANGE) return 8;
  if (mlp_run(memory, MLP_ARENA_BYTES - 1, y, sum) != ETCH_ARENA_SMALL) return 9;
  printf("%g %g %g %g\n", sum[0], sum[1], sum[2], sum[3]);
  return 0;
}
)c");
  const ProcessResult configured = run_in(temp.path(), "cmake -B build");
  ASSERT_TRUE(configured.ok()) << configured.err;
  const ProcessResult built = run_in(temp.path(), "cmake --build build");
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  const ProcessResult ran = run_in(temp.path(), "build/two");
  EXPECT_EQ(ran.exit_code, 0);
  const std::vector<double> expected = test::mlp_reference(mlp_program(), {3, -3, 2, 7});
  std::istringstream out(ran.out);
  for (double e : expected) {
    double got = 0;
    out >> got;
    EXPECT_NEAR(got, e, 1e-4);
  }
}

TEST(Emit, ABlobOfAnotherModelIsRefused) {
  const TempDir temp;
  std::vector<EmittedFile> files = emit_mlp(WeightsForm::Blob);
  put(temp.path(), files);
  std::vector<std::string> args = c_files(temp.path());
  args.push_back("-lm");
  ASSERT_TRUE(run_in(temp.path(), "cc -std=c99 -o test", args).ok());
  EXPECT_EQ(run_in(temp.path(), "./test mlp_weights.bin").out, "PASS\n");
  const std::string good = text_of(files, "mlp_weights.bin");
  const struct {
    const char* what;
    std::string bytes;
  } rows[] = {
      {"cut off", good.substr(0, good.size() - 1)},
      {"one byte changed", good.substr(0, good.size() - 1) + '\x7f'},
      {"empty", ""},
      {"no header", good.substr(64)},
  };
  for (const auto& row : rows) {
    write_file(temp.path() / "bad.bin", row.bytes);
    EXPECT_EQ(run_in(temp.path(), "./test bad.bin").out, "FAIL weights\n") << row.what;
  }
}

TEST(Emit, ProfileNamesEveryCall) {
  const TempDir temp;
  put(temp.path(), emit_mlp());
  write_file(temp.path() / "selftest.c", R"c(
#include <stdio.h>
#include "mlp.h"
static void after(void *user, uint32_t call, void *const *arg) {
  const etch_call_info *info = &mlp_calls[call];
  printf("%s %u %s %s %s %u %g\n", (const char *)user, (unsigned)call, info->nodes, info->output, info->type, (unsigned)info->output_bytes, *(const float *)arg[0]);
}
int main(void) {
  ETCH_ALIGNED(MLP_ARENA_ALIGN) static unsigned char arena[MLP_ARENA_BYTES];
  static const float x[4] = {1, 0, 0, 0};
  float sum[4];
  return (int)mlp_profile(arena, sizeof arena, x, sum, after, (void *)"after");
}
)c");
  std::vector<std::string> args = c_files(temp.path());
  args.push_back("-lm");
  ASSERT_TRUE(run_in(temp.path(), "cc -std=c99 -DETCH_PROFILE=1 -o test", args).ok());
  // fc1: 1 * 1 + 0.5 = 1.5; fc2: 1.5*2 + 0*0 + 0.5*0 + 2*(-1) + 0.25 = 1.25; res: 2.75; sum: 3.75
  EXPECT_EQ(run_in(temp.path(), "./test").out,
            "after 0 fc1, relu1 fc1_relu float32 16 1.5\n"
            "after 1 fc2, relu2 fc2_relu float32 16 1.25\n"
            "after 2 res res float32 16 2.75\n"
            "after 3 sum sum float32 16 3.75\n");
}

TEST(Emit, WeightsFormFollowsTheSize) {
  const Program small = mlp_program();
  EXPECT_EQ(make_report(small, plan_memory(small), mlp_options(small)).weights_form, "c");
  Program large = mlp_program();
  large.buffers[2].max_elements = 1 << 19;
  large.buffers[2].data = Array::filled(DType::Float32, {1 << 19}, Scalar::of_double(DType::Float32, 1));
  EXPECT_EQ(make_report(large, plan_memory(large), mlp_options(large)).weights_form, "incbin");
  const Program none = batch_program();
  EXPECT_EQ(make_report(none, plan_memory(none), batch_options()).weights_form, "none");
  for (const char* text : {"auto", "c", "incbin", "blob"}) EXPECT_NO_THROW(weights_form(text));
  test::expect_error<UserError>([&] { weights_form("file"); }, "--weights file: unknown form of weights");
}

TEST(Emit, ReportHasWhatMachinesAskFor) {
  const std::vector<EmittedFile> files = emit_mlp();
  const nlohmann::json j = nlohmann::json::parse(text_of(files, "report.json"));
  EXPECT_EQ(j.at("arena_bytes"), 32);  // two vectors of four floats
  EXPECT_EQ(j.at("arena_lower_bound_bytes"), 32);
  EXPECT_EQ(j.at("weights_bytes"), (16 + 4 + 16 + 4) * 4);
  EXPECT_EQ(j.at("macs"), 32);
  EXPECT_EQ(j.at("indices_proved"), 10);
  EXPECT_TRUE(j.at("code_bytes").is_null());
  EXPECT_TRUE(j.at("stack_bytes").is_null());
  EXPECT_TRUE(j.at("instructions").is_null());
  EXPECT_TRUE(j.at("note").is_string());
  ASSERT_EQ(j.at("kernels").size(), 4u);
  EXPECT_EQ(j.at("kernels")[0].at("name"), "k0_fc1_relu1");
  EXPECT_EQ(j.at("kernels")[0].at("macs"), 16);
  EXPECT_EQ(j.at("kernels")[1].at("nodes"), (std::vector<std::string>{"fc2", "relu2"}));
}

TEST(Emit, RefusesWhatItCanNotEmit) {
  Program p = mlp_program();
  const MemoryPlan plan = plan_memory(p);
  EmitOptions o = mlp_options(p);
  o.name = "my-model";
  test::expect_error<UserError>([&] { emit(p, plan, o); },
                                "name 'my-model': the prefix of all symbols and files has to be an identifier of C");
  o.name = "mlp";
  p.language = nullptr;
  test::expect_error<UserError>([&] { emit(p, plan, o); }, "mlp: a program in no language can't be emitted");
  p.language = &kLlvm;
  test::expect_error<UserError>([&] { emit(p, plan, o); }, "mlp: a program in llvm can't be emitted");
}

TEST(Emit, NamesOfTheModelCanNotBreakTheText) {
  Program p = mlp_program();
  p.buffers[6].name = "a*/ int evil; /*";
  p.calls[0].nodes = {"*/ #error", "new\nline",
                      "quote\"back\\slash?"
                      "?/"};
  EmitOptions o = mlp_options(p);
  o.model_file = "*/ #error.onnx";
  const TempDir temp;
  put(temp.path(), emit(p, plan_memory(p), o));
  const ProcessResult r =
      run_in(temp.path(), "gcc -std=c99 -DETCH_PROFILE=1 -Wall -Wextra -Wpedantic -Werror -fsyntax-only", c_files(temp.path()));
  EXPECT_TRUE(r.ok()) << r.err;
}

TEST(Emit, AReportHasOneLineForAKernelWhateverItsNodesAreCalled) {
  Report report;
  report.model_file = "odd\nname.onnx";
  report.kernels.push_back({"k0_a", {"a\nb", "tab\t", "plain"}, "r_4", 1, 2});
  const std::string text = to_text(report);
  EXPECT_TRUE(text.ends_with("  a?b, tab?, plain\n")) << text;
  EXPECT_NE(text.find("odd?name.onnx\n"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(to_json(report)).at("kernels")[0].at("nodes")[0], "a\nb") << "JSON can say it as it is";
}

TEST(Emit, AReportSaysWhatEachKernelCosts) {
  Report report;
  report.kernels.push_back({"k0_conv", {"conv"}, "r_4", 1000, 2, ReportCost{2500, 300, 40, 50, 2940, 24, 512}});
  report.kernels.push_back({"k1_copy", {"copy"}, "E_4", 0, 2, ReportCost{20, 8, 4, 3, std::nullopt, std::nullopt, 36}});
  report.kernels.push_back({"k2_lost", {"lost"}, "E_4", 0, 2});
  EXPECT_EQ(costs_text(report.kernels),
            "  cost      instructions    a MAC        loads       stores   cycles, est.   stack   flash\n"
            "  k0_conv          2 500     2.50          300           40          2 940      24     512\n"
            "  k1_copy             20        -            8            4              -       -      36\n");
  EXPECT_NE(to_text(report).find(costs_text(report.kernels)), std::string::npos);
  const auto kernels = nlohmann::json::parse(to_json(report)).at("kernels");
  EXPECT_EQ(kernels[0].at("cost"), nlohmann::json::parse(R"({"instructions": 2500, "instructions_per_mac": 2.5, "loads": 300,
    "stores": 40, "taken_branches": 50, "cycles_estimated": 2940, "stack_bytes": 24, "code_bytes": 512})"));
  EXPECT_TRUE(kernels[1].at("cost").at("instructions_per_mac").is_null());
  EXPECT_FALSE(kernels[2].contains("cost"));
}

// --- writing

// A report that names these files as etch's.
std::string report_of(const std::vector<std::string>& files) { return nlohmann::json{{"etch", "0.1.0"}, {"files", files}}.dump(); }

TEST(Write, ReplacesItsOwnOutputOnly) {
  const TempDir temp;
  const fs::path out = temp.path() / "a/b/out";
  write_project(out, {{"report.json", report_of({"old.c"})}, {"old.c", "x"}});
  write_project(out, {{"report.json", report_of({"new.c"})}, {"new.c", "y"}});
  EXPECT_EQ(test::content(out / "new.c"), "y");
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 2);  // old.c went, nothing temporary stays
  EXPECT_EQ(std::distance(fs::directory_iterator(out.parent_path()), {}), 1);
}

TEST(Write, LosesNoFileThatItDidNotWrite) {
  const std::string ours = report_of({"model.c", "report.txt"});
  const struct {
    const char* says;  // of the error; "" if the folder is replaced
    std::vector<EmittedFile> holds;
    const char* made;  // a folder in it, a link in it, or nullptr
  } rows[] = {
      {"", {}, nullptr},
      {"", {{"report.json", ours}, {"model.c", "1"}, {"report.txt", "2"}}, nullptr},
      {"", {{"report.json", ours}}, nullptr},
      {"mine.c", {{"report.json", ours}, {"model.c", "1"}, {"mine.c", "my own"}}, nullptr},
      {"thesis.tex", {{"thesis.tex", "do not delete"}}, nullptr},
      {"report.json", {{"report.json", "{}"}}, nullptr},
      {"report.json", {{"report.json", "[1, 2"}}, nullptr},
      {"report.json", {{"report.json", R"({"files": ["sales.csv"]})"}}, nullptr},
      {"data.csv", {{"data.csv", "1"}, {"report.json", R"({"etch": "0.1.0"})"}}, nullptr},
      {"the folder build, ", {{"report.json", ours}, {"model.c", "1"}}, "build/"},
      {"report.txt", {{"report.json", ours}}, "report.txt"},
  };
  for (const auto& row : rows) {
    const TempDir temp;
    const fs::path out = temp.path() / "out";
    fs::create_directory(out);
    for (const EmittedFile& file : row.holds) write_file(out / file.name, file.text);
    const std::string made = row.made == nullptr ? "" : row.made;
    if (made.ends_with('/')) fs::create_directory(out / made.substr(0, made.size() - 1));
    if (!made.empty() && !made.ends_with('/')) fs::create_symlink("/etc/hostname", out / made);
    std::string said;
    try {
      write_project(out, {{"report.json", ours}, {"model.c", "new"}});
    } catch (const UserError& error) {
      said = error.what();
    }
    if (*row.says == 0) {
      EXPECT_EQ(said, "");
      EXPECT_EQ(test::content(out / "model.c"), "new");
      continue;
    }
    EXPECT_NE(said.find(row.says), std::string::npos) << said;
    for (const EmittedFile& file : row.holds) EXPECT_EQ(test::content(out / file.name), file.text) << file.name;
    EXPECT_EQ(static_cast<std::size_t>(std::distance(fs::directory_iterator(out), {})), row.holds.size() + (made.empty() ? 0 : 1));
  }
}

TEST(Write, TheFolderItselfStaysAndLinksAreFollowed) {
  const TempDir temp;
  const fs::path out = temp.path() / "out", link = temp.path() / "link", dangling = temp.path() / "dangling";
  fs::create_directory(out);
  fs::create_symlink("out", link);
  fs::create_symlink("nowhere", dangling);
  struct stat before{}, after{};
  ASSERT_EQ(stat(out.c_str(), &before), 0);
  for (const fs::path& way : {out, link, link / "", link / "." / ".." / "out"}) {
    write_project(way, {{"report.json", report_of({"a.c"})}, {"a.c", way.string()}});
    EXPECT_EQ(test::content(out / "a.c"), way.string());
  }
  ASSERT_EQ(stat(out.c_str(), &after), 0);
  EXPECT_EQ(before.st_ino, after.st_ino) << "a shell that stands in the folder still does";
  EXPECT_TRUE(fs::is_symlink(link));
  try {
    write_project(dangling, {{"report.json", report_of({})}});
    ADD_FAILURE() << "a dangling link is no folder";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("nowhere"), std::string::npos) << error.what();
  }
}

TEST(Write, IntoAFolderOfOthersAllOrNothing) {
  const TempDir temp;
  const fs::path out = temp.path() / "new/out";
  write_into(out, {{"a.npy", "1"}, {"b.npy", "2"}});
  write_file(out / "other", "mine");
  write_into(out, {{"a.npy", "3"}, {"b.npy", "4"}});
  fs::create_directory(out / "c.npy");
  test::expect_error<UserError>([&] { write_into(out, {{"a.npy", "5"}, {"c.npy", "6"}}); }, "c.npy: is there already and is a folder");
  test::expect_error<UserError>([&] { write_into(out, {{"a.npy", "5"}, {"no/such/folder", "6"}}); }, "no/such/folder: can't be written");
  EXPECT_EQ(test::content(out / "a.npy") + test::content(out / "b.npy") + test::content(out / "other"), "34mine");
  EXPECT_EQ(std::distance(fs::directory_iterator(out), {}), 4);
  test::expect_error<UserError>([&] { write_into(temp.path() / "x/y", {{"no/such/folder", "1"}}); }, "no/such/folder: can't be written");
  EXPECT_FALSE(fs::exists(temp.path() / "x"));
}

TEST(Write, LeavesNothingBehindWhenItFails) {
  const TempDir temp;
  const fs::path out = temp.path() / "new/out";
  auto refuse = [](const fs::path& made) {
    EXPECT_EQ(test::content(made / "report.json"), "1");
    throw UserError("audit", "found something");
  };
  test::expect_error<UserError>([&] { write_project(out, {{"report.json", "1"}}, refuse); }, "audit: found something");
  EXPECT_TRUE(fs::is_empty(temp.path()));
  test::expect_error<UserError>([&] { write_project(out, {{"no/such/folder", "1"}}); }, "no/such/folder: can't be written");
  EXPECT_TRUE(fs::is_empty(temp.path()));
  write_project(out, {{"report.json", report_of({})}});
  test::expect_error<UserError>([&] { write_project(out, {{"report.json", "2"}, {"no/such/folder", "1"}}); },
                                "no/such/folder: can't be written");
  EXPECT_EQ(test::content(out / "report.json"), report_of({}));  // what was there is unchanged
}

TEST(Write, AFullDiskIsAUserError) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  test::expect_error<UserError>([&] { write_file("/dev/full", std::string(100000, 'x')); },
                                "/dev/full: can't be written: No space left on device");
}

}  // namespace
}  // namespace etch::emit_test
