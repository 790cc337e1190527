#include "emulator/emulator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "audit/audit.h"
#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "double_math.h"
#include "emulator/cross_build.h"
#include "emulator/elf.h"
#include "emulator/tools.h"
#include "support/boards.h"
#include "support/expect_error.h"
#include "support/needs.h"

namespace etch {
namespace {

const std::filesystem::path kData = std::filesystem::path(ETCH_TEST_DATA) / "emulator";
const std::filesystem::path kProject = std::filesystem::path(ETCH_TEST_DATA) / "audit/project";
const std::filesystem::path kTargets = std::filesystem::path(ETCH_SOURCE_DIR) / "targets";

/// Every test here needs the cross compiler and the emulated board.
class Emulated : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({"arm-none-eabi-gcc", "qemu-system-arm"}); !why.empty()) GTEST_SKIP() << why;
  }
  CrossBuild build(const std::filesystem::path& dir, const BuildOptions& options = {}) {
    return build_project(dir, target, temp.path() / "build", options);
  }

  const Target target = find_target("cortex-m4f", kTargets);
  const TempDir temp;
};

TEST_F(Emulated, CountsAreExact) {
  const CrossBuild program = build(kData / "counts");
  EmulatorOptions options;
  options.functions = {"sum", "around"};
  const EmulatorResult result = run_emulated(target, program.elf, options);
  ASSERT_TRUE(result.ok()) << result.console;
  EXPECT_EQ(result.console, "111\n");
  struct Row {
    const char* function;
    std::int64_t instructions, loads, stores, load_bytes, store_bytes, stack_bytes, taken_branches;
  };
  // sum(n): 4 n + 4 instructions, n - 1 turns and a return, see count.S; around: 4 + 3 of 3 with 3 jumps and 3 calls + 1, beside its
  // three sums
  constexpr Row kSum10 = {"sum", 44, 12, 2, 48, 8, 8, 10};
  constexpr Row kRows[] = {
      kSum10, {"sum", 8, 3, 2, 12, 8, 8, 1},
      kSum10, kSum10,
      kSum10, {"around", 4 + 9 + 2 + 1 + 3 * 44, 4 + 36, 4 + 6, 160, 40, 16 + 8, 3 + 3 + 1 + 3 * 10},
      kSum10,
  };
  ASSERT_EQ(result.runs.size(), std::size(kRows));
  for (std::size_t i = 0; i < std::size(kRows); i++) {
    SCOPED_TRACE(i);
    const FunctionRun& run = result.runs[i];
    EXPECT_EQ(run.function, kRows[i].function);
    EXPECT_TRUE(run.returned);
    EXPECT_EQ(run.instructions, kRows[i].instructions);
    EXPECT_EQ(run.loads, kRows[i].loads);
    EXPECT_EQ(run.stores, kRows[i].stores);
    EXPECT_EQ(run.load_bytes, kRows[i].load_bytes);
    EXPECT_EQ(run.store_bytes, kRows[i].store_bytes);
    EXPECT_EQ(run.stack_bytes, kRows[i].stack_bytes);
    EXPECT_EQ(run.taken_branches, kRows[i].taken_branches);
  }
}

/// The same function written for the other architectures; the counts are those that stand in its count.S.
TEST(OtherArchitectures, CountsAreExact) {
  struct Row {
    const char *target, *folder;
    FunctionRun ten, one;  // of sum(10), of sum(1)
  };
  const Row rows[] = {
      {"rv32imc", "counts_riscv", {"sum", true, 59, 12, 2, 48, 8, 16, 10}, {"sum", true, 14, 3, 2, 12, 8, 16, 1}},
      {"cortex-a55", "counts_aarch64", {"sum", true, 47, 13, 3, 64, 24, 32, 10}, {"sum", true, 11, 4, 3, 28, 24, 32, 1}},
      {"cortex-a53", "counts_aarch64", {"sum", true, 47, 13, 3, 64, 24, 32, 10}, {"sum", true, 11, 4, 3, 28, 24, 32, 1}},
      {"cortex-a72", "counts_aarch64", {"sum", true, 47, 13, 3, 64, 24, 32, 10}, {"sum", true, 11, 4, 3, 28, 24, 32, 1}},
      {"cortex-a7", "counts_arm", {"sum", true, 44, 12, 2, 48, 8, 8, 10}, {"sum", true, 8, 3, 2, 12, 8, 8, 1}},
      {"rv64gc", "counts_riscv", {"sum", true, 59, 12, 2, 56, 16, 16, 10}, {"sum", true, 14, 3, 2, 20, 16, 16, 1}},
      {"rv64gcv", "counts_rvv", {"sum", true, 27, 12, 2, 56, 16, 16, 2}, {"sum", true, 18, 3, 2, 20, 16, 16, 1}},
      {"avr", "counts_avr", {"sum", true, 69, 25, 2, 25, 2, 5, 10}, {"sum", true, 15, 7, 2, 7, 2, 5, 1}},
  };
  std::string skipped;
  for (const Row& row : rows) {
    SCOPED_TRACE(row.target);
    const Target target = find_target(row.target, kTargets);
    if (const std::string why = test::missing_tools(target); !why.empty()) {
      skipped = why;
      continue;
    }
    const TempDir temp;
    BuildOptions options;
    options.extra_sources = {kData / "print_sums.c"};
    const CrossBuild program = build_project(kData / row.folder, target, temp.path() / "build", options);
    const EmulatorResult result = run_emulated(target, program.elf, {.functions = {"sum"}, .cwd = {}});
    ASSERT_TRUE(result.ok()) << result.console;
    EXPECT_EQ(result.console, "56\n");
    ASSERT_EQ(result.runs.size(), 2u);
    EXPECT_EQ(result.runs[0], row.ten);
    EXPECT_EQ(result.runs[1], row.one);
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

/// clang's .su file leaves out what vectors of RISC-V take on the stack.
TEST(OtherArchitectures, SpilledVectorsAreWithinTheBound) {
  const Target target = find_target("rv64gcv", kTargets);
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  const CrossBuild program = build_project(kData / "spilled_vectors", target, temp.path() / "build");
  const EmulatorResult result = run_emulated(target, program.elf, {.functions = {"add"}, .cwd = {}});
  ASSERT_TRUE(result.ok()) << result.console;
  ASSERT_EQ(result.runs.size(), 1u);
  ASSERT_TRUE(result.runs[0].stack_bytes);
  const StackBound bound = worst_case_stack(program.stack, "add");
  ASSERT_TRUE(bound.bytes.has_value());
  EXPECT_GE(*result.runs[0].stack_bytes, (40 + 1 - 32) * 32) << "no more than the registers hold the rest of the sums and what is added";
  EXPECT_LE(*result.runs[0].stack_bytes, *bound.bytes);
  EXPECT_LE(*bound.bytes, *result.runs[0].stack_bytes + 64) << "the bound is not far from what is used";
  Target unknown = target;  // of a core whose vectors have at least 256 bits, no one says how many
  unknown.vector = {};
  ASSERT_EQ(std::erase(unknown.toolchain.flags, "-mrvv-vector-bits=zvl"), 1u);
  EXPECT_FALSE(worst_case_stack(build_project(kData / "spilled_vectors", unknown, temp.path() / "other").stack, "add").bytes);
}

/// Processors round by instructions of their own, of numbers and of vectors.
TEST(OtherArchitectures, ProductsAreRoundedAsByTheCLibrary) {
  std::string skipped;
  for (const char* name : {"rv64gc", "rv64gcv", "cortex-a53"}) {
    SCOPED_TRACE(name);
    const Target target = find_target(name, kTargets);
    if (const std::string why = test::missing_tools(target); !why.empty()) {
      skipped = why;
      continue;
    }
    const TempDir temp;
    BuildOptions options;
    options.flags = {"-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I" + std::string(ETCH_SOURCE_DIR) + "/runtime_c"};
    const CrossBuild program = build_project(kData / "requantise", target, temp.path() / "build", options);
    const EmulatorResult result = run_emulated(target, program.elf);
    EXPECT_TRUE(result.ok());
    EXPECT_EQ(result.console, "40005 compared\n");
    const auto listing = disassemble(target, program.elf.parent_path() / "main.c.o");
    ASSERT_TRUE(listing);
    if (target.vector.scalars) {
      EXPECT_NE(listing->find("\tvfcvt.x.f.v\t"), std::string::npos) << "one instruction for all lanes";
    }
  }
  if (!skipped.empty()) GTEST_SKIP() << skipped;
}

TEST_F(Emulated, EqualInEveryRun) {
  const CrossBuild program = build(kData / "counts");
  EmulatorOptions options;
  options.functions = {"main"};
  const EmulatorResult first = run_emulated(target, program.elf, options), second = run_emulated(target, program.elf, options);
  ASSERT_EQ(first.runs.size(), 1u) << first.console;
  ASSERT_EQ(second.runs.size(), 1u);
  EXPECT_GT(first.runs[0].instructions, 1000);
  EXPECT_EQ(first.runs[0].instructions, second.runs[0].instructions);
  EXPECT_EQ(first.runs[0].loads, second.runs[0].loads);
  EXPECT_EQ(first.runs[0].stores, second.runs[0].stores);
  EXPECT_EQ(first.runs[0].stack_bytes, second.runs[0].stack_bytes);
}

TEST_F(Emulated, StackIsWithinTheCompilersBound) {
  const CrossBuild program = build(kData / "counts");
  EmulatorOptions options;
  options.functions = {"deep"};
  const EmulatorResult result = run_emulated(target, program.elf, options);
  ASSERT_EQ(result.runs.size(), 1u) << result.console;
  const StackBound bound = worst_case_stack(program.stack, "deep");
  ASSERT_TRUE(bound.bytes) << (bound.unresolved.empty() ? "" : bound.unresolved[0]);
  EXPECT_GE(*result.runs[0].stack_bytes, 1000 + 40 + 8);  // two arrays, and what sum takes
  EXPECT_LE(*result.runs[0].stack_bytes, *bound.bytes);
  EXPECT_LE(*bound.bytes, 1000 + 40 + 8 + 64);
}

TEST_F(Emulated, ProjectRunsAndIsMeasured) {
  const CrossBuild program = build(kProject);
  EmulatorOptions options;
  options.functions = {"net_run"};
  const EmulatorResult result = run_emulated(target, program.elf, options);
  EXPECT_TRUE(result.ok()) << result.console;
  EXPECT_EQ(result.console, "PASS\n");
  ASSERT_EQ(result.runs.size(), 1u);
  EXPECT_GT(result.runs[0].instructions, 16 * 8 * 3);  // 128 multiply-accumulates, each at least two loads and the sum
  const StackBound bound = stack_bound(program.stack, "net_run", audit_directory(kProject).table_functions);
  ASSERT_TRUE(bound.bytes) << (bound.unresolved.empty() ? "" : bound.unresolved[0]);
  EXPECT_LE(*result.runs[0].stack_bytes, *bound.bytes);
  EXPECT_GE(*result.runs[0].stack_bytes, *bound.bytes - 16);  // the deepest path runs; expf's own callees are for overflow
  EXPECT_EQ(program.weights_bytes, 16 * 8 * 4);
  EXPECT_EQ(heap_symbols(program.map.library_symbols), std::vector<std::string>());
  EXPECT_EQ(soft_double_symbols(program.map.library_symbols), std::vector<std::string>());
  EXPECT_TRUE(std::ranges::find(program.map.library_symbols, "expf") != program.map.library_symbols.end());
}

/// The sizes in the map are those of the object files without unused functions.
TEST_F(Emulated, CodeBytesAreThoseOfTheObjects) {
  const CrossBuild program = build(kProject);
  std::int64_t expected = 0;
  for (const char* object : {"net.c.o", "etch_runtime.c.o"}) {
    const ProcessResult size = run_process({"arm-none-eabi-size", (program.elf.parent_path() / object).string()});
    std::istringstream lines(size.out);
    std::string header;
    std::getline(lines, header);
    std::int64_t text = 0;
    lines >> text;
    expected += text;
  }
  EXPECT_GT(expected, 200);
  EXPECT_EQ(program.code_bytes, expected);
  std::filesystem::copy(kProject, temp.path() / "more", std::filesystem::copy_options::recursive);
  std::ofstream(temp.path() / "more/etch_runtime.c", std::ios::app) << "int etch_unused(int x) { return x * 7 % 13; }\n";
  EXPECT_EQ(build(temp.path() / "more").code_bytes, expected);
}

TEST_F(Emulated, HeapAndDoubleShowInTheMap) {
  std::filesystem::copy(kProject, temp.path() / "worse", std::filesystem::copy_options::recursive);
  std::ofstream(temp.path() / "worse/net.c", std::ios::app) << "#include <stdlib.h>\n"
                                                               "void *net_block(unsigned n);\n"
                                                               "double net_twice(double x);\n"
                                                               "void *net_block(unsigned n) { return malloc(n); }\n"
                                                               "double net_twice(double x) { return x + x; }\n";
  std::ofstream(temp.path() / "main.c")
      << "void *net_block(unsigned);\ndouble net_twice(double);\n"
         "int main(int n, char **v) { (void)v; return net_block((unsigned)n) == 0 || net_twice(n) > 3; }\n";
  BuildOptions options;
  options.leave_out = {"selftest.c"};
  options.extra_sources = {temp.path() / "main.c"};
  const CrossBuild program = build(temp.path() / "worse", options);
  const auto heap = heap_symbols(program.map.library_symbols), soft = soft_double_symbols(program.map.library_symbols);
  EXPECT_TRUE(std::ranges::find(heap, "malloc") != heap.end());
  EXPECT_TRUE(std::ranges::find(soft, "__aeabi_dadd") != soft.end());
  EXPECT_FALSE(soft_double_symbols(reachable(program.stack, "net_twice")).empty());
  EXPECT_TRUE(soft_double_symbols(reachable(program.stack, "net_run")).empty());
}

TEST_F(Emulated, DoubleMathIsAsTheTargetSays) { test::expect_double_math_as_said(target); }

TEST_F(Emulated, HangIsEnded) {
  const CrossBuild program = build(kData / "hang");
  EmulatorOptions options;
  options.timeout_s = 1;
  options.functions = {"main"};
  const EmulatorResult result = run_emulated(target, program.elf, options);
  EXPECT_TRUE(result.timed_out);
  EXPECT_FALSE(result.ok());
  EXPECT_LT(result.seconds, 10);
  EXPECT_TRUE(result.runs.empty());
}

TEST_F(Emulated, FilesAndExitStatus) {
  const CrossBuild program = build(kData / "files");
  EmulatorOptions options;
  options.cwd = temp.path();
  EXPECT_EQ(run_emulated(target, program.elf, options).exit_code, 3);  // no in.bin
  std::ofstream(temp.path() / "in.bin") << std::string("\x01\x02\x03\x04", 4);
  const EmulatorResult result = run_emulated(target, program.elf, options);
  EXPECT_EQ(result.exit_code, 7) << result.console;
  std::ifstream out(temp.path() / "out.bin", std::ios::binary);
  EXPECT_EQ(out.get(), 10);
}

TEST_F(Emulated, Errors) {
  test::expect_error<UserError>([&] { build(kData / "bad"); }, "main.c:1:25: error: 'missing' undeclared");
  test::expect_error<UserError>([&] { build(temp.path()); }, "there is no .c file in this folder");
  test::expect_error<UserError>([&] { run_emulated(target, temp.path() / "absent.elf"); }, "absent.elf: there is no such program");
  const CrossBuild program = build(kData / "hang");
  EmulatorOptions options;
  options.functions = {"no_such_function"};
  test::expect_error<UserError>([&] { run_emulated(target, program.elf, options); },
                                "there is no function 'no_such_function' in this program");
}

TEST(EmulatorTools, MissingOnesAreNamed) {
  Target target = find_target("cortex-m4f", kTargets);
  target.toolchain.compilers = {"no-such-gcc"};
  target.emulator.program = "no-such-emulator";
  EXPECT_FALSE(target_compiler(target));
  std::string why;
  EXPECT_FALSE(emulator_available(target, &why));
  EXPECT_EQ(why, "no-such-emulator is not installed");
  const TempDir temp;
  try {
    build_project(kProject, target, temp.path());
    ADD_FAILURE() << "accepted";
  } catch (const UserError& e) {
    EXPECT_NE(std::string(e.what()).find("no-such-gcc is not installed"), std::string::npos);
  }
  test::expect_error<UserError>([&] { run_emulated(target, kProject / "net.c"); },
                                "target 'cortex-m4f': no-such-emulator is not installed");
  EXPECT_FALSE(emulator_available(find_target("host", kTargets), &why));
}

TEST(EmulatorTools, HostBuild) {
  const Target target = find_target("host", kTargets);
  if (!target_compiler(target)) GTEST_SKIP() << "no C compiler is installed: apt-get install gcc";
  const TempDir temp;
  const CrossBuild program = build_project(kProject, target, temp.path() / "b");
  EXPECT_EQ(run_process({program.elf.string()}).out, "PASS\n");
  EXPECT_EQ(program.weights_bytes, 16 * 8 * 4);
  EXPECT_GT(program.code_bytes, 200);
}

TEST(EmulatorTools, FrameProbe) {
  struct Row {
    const InstructionSet* set;
    const char* code;
    std::uint64_t address;
    std::int64_t taken;
  };
  const Row rows[] = {
      {&kArm, " 100:\tpush\t{r4, lr}\n", 0x100, 8},
      {&kArm, "10000100:\tpush\t{r4, lr}\n", 0x10000100, 8},
      {&kArm, " 100:\tmov\tr3, r0\n 102:\tstmdb\tsp!, {r4, r5, r6, lr}\n", 0x102, 16},
      {&kArm, " 100:\tvpush\t{d8-d9}\n", 0x100, 16},
      {&kArm, " 100:\tsub\tsp, #8\n 102:\tpush\t{r4, lr}\n", 0x102, 16},
      {&kArm, " 100:\tstr.w\tlr, [sp, #-8]!\n", 0x100, 8},
      {&kArm, " 100:\tsub\tsp, #16\n 102:\tstr\tr0, [sp, #4]\n", 0x102, 12},
      {&kArm, " 100:\tsub\tsp, #16\n 102:\tstr\tr0, [sp]\n", 0x102, 16},
      {&kArm, " 100:\tbx\tlr\n", 0, 0},
      {&kArm, " 100:\tb.n\t200 <g>\n 102:\tpush\t{r4, lr}\n", 0, 0},
      {&kArm, "", 0, 0},
      {&kRiscV32, "80000100:\taddi\tsp,sp,-32\n80000102:\tmv\ta5,a0\n80000104:\tsw\tra,28(sp)\n", 0x80000104, 4},
      {&kRiscV32, "80000100:\tadd\tsp,sp,-32\n80000102:\tsw\ts0,24(sp)\n", 0x80000102, 8},
      {&kRiscV32, "80000100:\tsw\ta0,0(a1)\n80000102:\tret\n80000104:\tsw\tra,28(sp)\n", 0, 0},
      {&kRiscV32, "80000100:\tsub\tsp,sp,t0\n80000104:\tsw\tra,28(sp)\n", 0, 0},
      // It takes 64 bytes for a moment and gives half of them back: what the frame is afterwards the listing does not say.
      {&kRiscV32, "80000100:\tjal\tt0,80000300 <__riscv_save_4>\n80000104:\taddi\tsp,sp,-16\n80000106:\tsw\ta0,12(sp)\n", 0, 0},
      {&kAArch64, "  400100:\tstp\tx29, x30, [sp, #-64]!\n", 0x400100, 64},
      {&kAArch64, "  400100:\tsub\tsp, sp, #0x40\n  400104:\tstp\tx29, x30, [sp, #48]\n", 0x400104, 16},
      {&kAArch64, "  400100:\tsub\tsp, sp, #0x1, lsl #12\n  400104:\tstr\tx19, [sp]\n", 0x400104, 4096},
      {&kAArch64, "  400100:\tcbz\tx0, 400200 <g>\n  400104:\tstp\tx29, x30, [sp, #-64]!\n", 0, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.code);
    const std::string listing = "x\n00000100 <f>:\n" + std::string(row.code) + "\n00000300 <g>:\n 300:\tpush\t{r4, lr}\n";
    const auto probe = find_frame_probe(listing, "f", *row.set);
    EXPECT_EQ(probe.has_value(), row.taken != 0);
    if (!probe) continue;
    EXPECT_EQ(probe->address, row.address);
    EXPECT_EQ(probe->taken, row.taken);
  }
}

TEST(EmulatorTools, PlacesInTheCodeAreNamedByTheirFunction) {
  const std::map<std::string, ElfSymbol> symbols = {
      {"__aeabi_memcpy", {0x40, 0x10, true}}, {"memcpy", {0x40, 0x10, true}},    {"run", {0x100, 0x40, true}},
      {"__bss_size", {0x108, 0, false}},      {"__bss_start", {0x40, 0, false}}, {"table", {0x200, 8, false}},
  };
  EXPECT_EQ(by_function("00000100 <run>:\n"
                        " 100:\tbne.n\t118 <__bss_size+0x10>\n"
                        " 102:\tbl\t40 <__bss_start>\n"
                        " 104:\tldr\tr3, [pc, #4]\t@ (200 <table>)\n"
                        " 108:\tbl\t300 <gone+0x4>\n"
                        " 10a:\tmov\tr1, <x\n",
                        symbols),
            "00000100 <run>:\n"
            " 100:\tbne.n\t118 <run+0x18>\n"
            " 102:\tbl\t40 <__aeabi_memcpy>\n"
            " 104:\tldr\tr3, [pc, #4]\t@ (200 <table>)\n"
            " 108:\tbl\t300 <gone+0x4>\n"
            " 10a:\tmov\tr1, <x\n");
  EXPECT_EQ(function_aliases(symbols), (std::map<std::string, std::string>{{"memcpy", "__aeabi_memcpy"}}));
}

TEST(EmulatorTools, JumpsToOtherFunctionsAreAPlaceOfTheirOwn) {
  const auto symbols = read_elf_symbols("/proc/self/exe");  // linked to libraries
  ASSERT_TRUE(symbols.contains(".plt"));
  EXPECT_TRUE(symbols.at(".plt").function);
  EXPECT_GT(symbols.at(".plt").size, 0u);
  const std::map<std::string, ElfSymbol> small = {{"_init", {0x40, 0, true}}, {".iplt", {0x50, 0x20, true}}};
  EXPECT_EQ(by_function(" 100:\tb.w\t58 <_init+0x18>\n", small), " 100:\tb.w\t58 <.iplt+0x8>\n");
}

// glibc's memcpy in a static program: an indirect function, whose forms are functions.
TEST(EmulatorTools, FormsOfFunctionsThatAreChosenWhenAProgramStarts) {
  const std::map<std::string, ElfSymbol> symbols = {
      {"memcpy", {0x40, 0x10, false, true}},     {"__memcpy_generic", {0x80, 0x40, true}}, {"__memcpy_simd", {0xc0, 0x40, true}},
      {"__memcpy_flags", {0x1000, 8, false}},    {"__memcpyx", {0x200, 0x10, true}},       {"memset", {0x300, 0x10, true}},
      {"__memset_generic", {0x340, 0x10, true}},
  };
  EXPECT_EQ(chosen_functions(symbols), (std::set<std::string>{"__memcpy_generic", "__memcpy_simd"}));
}

TEST(EmulatorTools, SymbolKinds) {
  const std::vector<std::string> names = {"__aeabi_dadd", "__aeabi_f2d", "__aeabi_idiv",    "__aeabi_uldivmod",
                                          "__adddf3",     "__floatsidf", "__fixdfsi",       "__addsf3",
                                          "expf",         "malloc",      "memcpy",          "_sbrk",
                                          "net_df2",      "__aeabi_d2f", "__aeabi_cdcmple", "__math_invalidf",
                                          "__truncdfsf2"};
  EXPECT_EQ(soft_double_symbols(names), (std::vector<std::string>{"__aeabi_dadd", "__aeabi_f2d", "__adddf3", "__floatsidf", "__fixdfsi",
                                                                  "__aeabi_d2f", "__aeabi_cdcmple", "__truncdfsf2"}));
  EXPECT_EQ(heap_symbols(names), (std::vector<std::string>{"malloc", "_sbrk"}));
}

TEST(LinkMap, Sample) {
  const LinkMap map = parse_link_map(
      "Archive member included to satisfy reference by file (symbol)\n\n .text.gone 0x0 0x40 net.o\n\n"
      "Linker script and memory map\n\n"
      "LOAD net.o\n"
      ".text           0x00000000      0x264\n"
      " *(.text*)\n"
      " .text.net_run  0x00000264       0x20 net.o\n"
      "                0x00000264                net_run\n"
      " .text.a_function_with_a_long_name\n"
      "                0x00000284       0x30 dir with space/net.o\n"
      "                0x00000284                a_function_with_a_long_name\n"
      " *fill*         0x000002b4        0x4 \n"
      " .text.expf     0x00000374      0x18c /usr/lib/x/libc.a(libm_exp.o)\n"
      "                0x00000374                expf\n"
      " .text.unused   0x00000374        0x0 /usr/lib/x/libc.a(libm_log.o)\n"
      "                0x00000374                logf\n"
      " .rodata.table  0x00000500       0x10 net.o\n"
      " .rodata        0x00000510        0x8 net_weights.o\n"
      "                [!provide]                PROVIDE (__x = .)\n"
      " .data.state    0x20000000        0x4 net.o\n"
      " .bss.arena     0x20000004      0x100 selftest.o\n"
      " COMMON         0x20000104        0x8 selftest.o\n"
      " .debug_info    0x00000000      0x999 net.o\n");
  ASSERT_EQ(map.objects.size(), 5u);
  EXPECT_EQ(map.objects[0].object, "net.o");
  EXPECT_EQ(map.objects[0].text, 0x50);
  EXPECT_EQ(map.objects[0].rodata, 0x10);
  EXPECT_EQ(map.objects[0].data, 4);
  EXPECT_FALSE(map.objects[0].library);
  EXPECT_EQ(map.objects[1].object, "libc.a(libm_exp.o)");
  EXPECT_TRUE(map.objects[1].library);
  EXPECT_EQ(map.objects[3].rodata, 8);
  EXPECT_EQ(map.objects[4].bss, 0x108);
  EXPECT_EQ(map.library_symbols, (std::vector<std::string>{"expf"}));
  EXPECT_TRUE(parse_link_map("").objects.empty());
}

TEST(Elf, BadFiles) {
  test::expect_error<UserError>([&] { read_elf_symbols(kProject / "net.c"); }, "net.c: this is no little-endian ELF file");
  test::expect_error<UserError>([&] { read_elf_symbols(kProject / "absent"); }, "absent: can't be read: No such file");
  const TempDir temp;
  std::ofstream(temp.path() / "short") << std::string(
                                              "\x7f"
                                              "ELF\x01\x01\x01",
                                              7)
                                       << std::string(30, '\0');
  test::expect_error<UserError>([&] { read_elf_symbols(temp.path() / "short"); }, "short: this ELF file is cut off");
}

}  // namespace
}  // namespace etch
