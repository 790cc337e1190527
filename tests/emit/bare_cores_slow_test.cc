// Two workers without an operating system: both cores of an emulated RISC-V board share the runs of a network, with no more than a counter
// for each core as the barrier, and the outputs have the bits of NAME_run.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>

#include "device_project.h"
#include "emulator/elf.h"
#include "support/boards.h"

namespace etch {
namespace {

// The barrier, for any core: each of the two writes a counter of its own, so that they need no atomic instructions (rv32imc has none).
constexpr const char* kBarrier = R"c(
#include <stdint.h>
#include "net.h"
typedef struct core {
  uint32_t entered; /* barriers in this run */
  uint32_t arrived; /* the same, as the other core sees it */
  uint32_t is_done; /* with this run */
  struct core *other;
} core;
static core cores[2] = {{0, 0, 0, &cores[1]}, {0, 0, 0, &cores[0]}};
static const core *late; /* computes only while the other core waits for it or is done; NULL: both compute at once */
static int barriers_wait = 1;
static uint32_t seen(const uint32_t *what) { return __atomic_load_n(what, __ATOMIC_ACQUIRE); }
static void show(uint32_t *what, uint32_t value) { __atomic_store_n(what, value, __ATOMIC_RELEASE); }
static void hold_if_late(const core *self) {
  while (self == late && seen(&self->other->arrived) <= self->entered && !seen(&self->other->is_done)) continue;
}
static void barrier(void *user) {
  core *const self = user;
  self->entered++;
  if (!barriers_wait) return;
  show(&self->arrived, self->entered);
  while (seen(&self->other->arrived) < self->entered) continue;
  hold_if_late(self);
}
static union { etch_widest widest; unsigned char bytes[NET_ARENA_BYTES]; } arena;
static ELEMENT input[NET_INPUT_COUNT], output[NET_OUTPUT_COUNT];
static etch_status run_part(uint32_t worker) {
  return net_run_worker(worker, 2, barrier, &cores[worker], arena.bytes, sizeof arena.bytes, input, output);
}
)c";

// Core 0 has the C library's start-up code, which clears memory; so core 1, which begins at second_core_start, is woken by a register of
// the board and not by a variable.
constexpr const char* kSecondCore = R"c(
#include <stdio.h>
#include <string.h>
extern volatile uint32_t wake_second;
__asm__(
  ".pushsection .bss.second_stack, \"aw\", @nobits\n"
  ".balign 16\n"
  ".skip 16384\n"
  "second_stack_end:\n"
  ".popsection\n"
  ".pushsection .text.second_core_start, \"ax\"\n"
  ".globl second_core_start\n"
  "second_core_start:\n"
  ".option push\n"
  ".option norelax\n"
  "  la gp, __global_pointer$\n"
  ".option pop\n"
  "  la tp, __tls_base\n" /* errno, which nobody reads: that of core 0 */
  "  la sp, second_stack_end\n"
  "  la t0, wake_second\n"
  "1: lw t1, 0(t0)\n"
  "  beqz t1, 1b\n"
  "  tail second_core\n"
  ".popsection\n");
)c";
constexpr const char* kSecondCoreLink[] = {"-Wl,--undefined=second_core_start",     // nothing calls it
                                           "-Wl,--defsym=wake_second=0x02000004"};  // the software interrupt of core 1

// Rounds with a late core have one order of all that is computed, so what is read too early is poison in every run of this test.
constexpr const char* kRounds = R"c(
static const struct {
  const char *what;
  int barriers_wait, second_works; /* both: as etch promises */
  const core *late;
} rounds[] = {
  {"at once", 1, 1, NULL},
  {"core 0 first", 1, 1, &cores[1]},
  {"core 1 first", 1, 1, &cores[0]},
  {"no barrier, core 0 first", 0, 1, &cores[1]},
  {"no barrier, core 1 first", 0, 1, &cores[0]},
  {"core 1 only waits", 1, 0, NULL},
};
static uint32_t started, barriers; /* rounds; in a run */
static etch_status statuses[2];
static void play(uint32_t worker, uint32_t round) {
  hold_if_late(&cores[worker]);
  if (worker == 0u || rounds[round].second_works) statuses[worker] = run_part(worker);
  else while (cores[1].entered < barriers) barrier(&cores[1]);
  show(&cores[worker].is_done, 1);
}
void second_core(void) {
  uint32_t round;
  for (round = 0;; round++) {
    while (seen(&started) <= round) continue;
    play(1, round);
  }
}
static void play_both(uint32_t round) {
  int n;
  memset(arena.bytes, 0xff, sizeof arena.bytes); /* floats: NaN */
  memset(output, 0xff, sizeof output);
  for (n = 0; n < 2; n++) cores[n].entered = cores[n].arrived = cores[n].is_done = 0;
  late = rounds[round].late;
  barriers_wait = rounds[round].barriers_wait;
  show(&started, round + 1u);
  play(0, round);
  while (!seen(&cores[1].is_done)) continue;
  barriers = cores[1].entered;
}
static int problem(int is_equal) { /* the exit status */
  if (statuses[0] != ETCH_OK || statuses[1] != ETCH_OK) return 2;
  if (cores[0].entered == 0u || cores[1].entered == 0u) return 3;
  return is_equal ? 0 : 4;
}
int main(void) {
  static ELEMENT alone[NET_OUTPUT_COUNT];
  int result = 0;
  uint32_t i;
  for (i = 0; i < NET_INPUT_COUNT; i++) input[i] = (ELEMENT)((int)(i * 37u % 61u) - 30);
  if (net_run(arena.bytes, sizeof arena.bytes, input, alone) != ETCH_OK) return 1;
  wake_second = 1;
  for (i = 0; i < sizeof rounds / sizeof rounds[0]; i++) {
    int is_equal;
    play_both(i);
    is_equal = memcmp(output, alone, sizeof output) == 0;
    if (rounds[i].barriers_wait && rounds[i].second_works && result == 0) result = problem(is_equal);
    printf("%s: %s, barriers %lu %lu\n", rounds[i].what, is_equal ? "same bits" : "other bits", (unsigned long)cores[0].entered,
           (unsigned long)cores[1].entered);
  }
  return result;
}
)c";

struct NetworkCase {
  const char *name, *model;
  bool in_bytes;
};
void PrintTo(const NetworkCase& row, std::ostream* out) { *out << row.name; }

CompileOptions options_of(const std::string& target, const NetworkCase& row) {
  CompileOptions options = test::options_for(target, row.model, WeightsForm::C, {}, row.in_bytes);
  options.import.name = "net";
  options.workers = 2;
  return options;
}

/// The emitted project with this main program in place of the self-test.
CrossBuild build_with(const std::vector<EmittedFile>& files, const std::string& program, const Target& target,
                      const std::filesystem::path& dir, bool in_bytes) {
  test::put(dir / "net", files);
  std::ofstream(dir / "main.c") << program;
  return build_project(dir / "net", target, dir / "build",
                       {.defines = {in_bytes ? "ELEMENT=int8_t" : "ELEMENT=float"},
                        .flags = {"-Wall", "-Wextra", "-Werror"},
                        .extra_sources = {dir / "main.c"},
                        .leave_out = {"selftest.c"}});
}

/// No threads, no heap, and no calls for what the core has no atomic instructions for.
void expect_no_system(const CrossBuild& build) {
  const auto symbols = read_elf_symbols(build.elf);
  EXPECT_TRUE(symbols.contains("net_run_worker"));
  EXPECT_EQ(heap_symbols(build.map.library_symbols), std::vector<std::string>());
  const std::regex system("pthread|thrd_|mtx_|sem_|__atomic_|__sync_");
  for (const auto& [name, symbol] : symbols) EXPECT_FALSE(std::regex_search(name, system)) << name;
}

/// Each core is a thread of QEMU's, so they run at once, at any speed.
ProcessResult run_on_two_cores(const Target& target, const std::filesystem::path& elf) {
  const std::string second = std::to_string(read_elf_symbols(elf).at("second_core_start").address);
  std::vector<std::string> command{target.emulator.program};
  command.insert(command.end(), target.emulator.args.begin(), target.emulator.args.end());
  command.insert(command.end(), {"-smp", "2", "-accel", "tcg,thread=multi", "-device", "loader,cpu-num=1,addr=" + second,
                                 "-semihosting-config", "enable=on,target=native", "-kernel", elf.string()});
  return run_process(command);
}

class BareCores : public testing::TestWithParam<NetworkCase> {};

// Where barriers do not wait, and where one core computes nothing, the bits are others: so both have to wait, and both compute.
TEST_P(BareCores, GiveTheBitsOfOneWorker) {
  const CompileOptions options = options_of("rv32imc", GetParam());
  if (const std::string why = test::missing_tools(options.target); !why.empty()) GTEST_SKIP() << why;
  const CompiledProject project = compile_project(read_model(options), options);
  const ReportWorkers& workers = project.report.workers;
  EXPECT_GE(workers.shared_calls, 5);
  EXPECT_GE(workers.barriers, 5);
  Target target = options.target;
  for (const char* flag : kSecondCoreLink) target.toolchain.link.emplace_back(flag);
  const TempDir temp;
  const std::string program = std::string(kBarrier) + kSecondCore + kRounds;
  const CrossBuild build = build_with(project.files, program, target, temp.path(), GetParam().in_bytes);
  expect_no_system(build);
  const ProcessResult run = run_on_two_cores(target, build.elf);
  EXPECT_EQ(describe(run), "exit status 0");
  const std::string count = std::to_string(workers.barriers), barriers = " bits, barriers " + count + " " + count + "\n";
  std::string wanted;
  for (const char* round : {"at once: same", "core 0 first: same", "core 1 first: same", "no barrier, core 0 first: other",
                            "no barrier, core 1 first: other", "core 1 only waits: other"})
    wanted += round + barriers;
  EXPECT_EQ(run.out + run.err, wanted);
}

// A core of another kind, whose board has no second one.
TEST_P(BareCores, NeedNoSystemOnArm) {
  const CompileOptions options = options_of("cortex-m4f", GetParam());
  if (const std::string why = test::missing_compiler_line(options.target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  const std::string main = "int main(int count, char **names) { (void)names; return (int)run_part((uint32_t)count); }\n";
  const std::vector<EmittedFile> files = compile_project(read_model(options), options).files;
  expect_no_system(build_with(files, kBarrier + main, options.target, temp.path(), GetParam().in_bytes));
}

constexpr NetworkCase kNetworks[] = {{"lenet", "lenet", false}, {"ds_cnn_int8", "ds_cnn", true}};
INSTANTIATE_TEST_SUITE_P(Workers, BareCores, testing::ValuesIn(kNetworks), [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace etch
