#include "search/timer.h"

#include <fmt/format.h>

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"

namespace etch {
namespace {

constexpr const char* kFile = "etch_timer.c";

// In the place of etch_runtime.c, which it includes. The caller's memory is that of another process while it is timed, so that states and
// results over inputs are as the self-test wants them.
constexpr const char* kTimer = R"(#define _DEFAULT_SOURCE
#include "etch_runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

etch_status etch_run_once(const etch_program *program, const etch_frame *frame);

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

enum { kCalls = ETCH_TIMED_CALLS, kThings = kCalls > 0 ? kCalls : 1 }; /* calls 0: the program is timed */
enum { kOther = ETCH_OTHER_BYTES > 0 ? ETCH_OTHER_BYTES : 1, kLine = 64 };
enum { kChain = 3000, kRounds = 5, kRoundsOfLong = 2, kMostRounds = 200 };
/* Seconds: of what is timed at once, of all rounds, and of what is not run once in vain. */
static const double kSample = 20e-6, kTotal = 0.1, kLong = 5e-3;
static const double kSlow = 2.0; /* times the fastest way: what is slower is timed no further */
static const char *const kFile = "etch_times.txt";
static unsigned char other[kOther];

static double chain(void) {
  unsigned x = 1;
  int i;
  const double start = now();
  for (i = 0; i < kChain; i++) {
    x *= 2654435761u; /* no shift and addition takes its place */
    __asm__ volatile("" : "+r"(x));
  }
  return (now() - start) / (3.0 * kChain);
}

/* In a network other kernels have run since a kernel's weights were last read, and their bytes are in the caches. */
static double cool(void) {
  unsigned sum = 0;
  long i;
  const double start = now();
  for (i = 0; i < kOther; i += kLine) sum += other[i];
  __asm__ volatile("" : : "r"(sum) : "memory");
  return now() - start;
}

/* Of one run, on average. */
static double seconds(const etch_program *program, const etch_frame *frame, long times) {
  long i;
  double start;
  if (kCalls != 0) cool();
  start = now();
  for (i = 0; i < times; i++) etch_run_once(program, frame);
  return (now() - start) / (double)times;
}

/* Of each part, what an earlier process found for it, in cycles; 0 if none did. */
static void read_earlier(double *earlier, unsigned count) {
  FILE *const file = fopen(kFile, "r");
  unsigned p;
  for (p = 0; p < count; p++) {
    if (file == NULL || fscanf(file, "%lf", &earlier[p]) != 1) earlier[p] = 0;
  }
  if (file != NULL) fclose(file);
}

/* Ways to compute one thing lie kThings apart. */
static int is_slow(const double *times, unsigned p, unsigned count) {
  unsigned other;
  for (other = p % kThings; other < count; other += kThings) {
    if (times[other] > 0 && times[p] > kSlow * times[other]) return 1;
  }
  return 0;
}

/* Seconds of one run, and how many runs make a sample: of a kernel alone one, as the second one would find its weights. */
static double first_seconds(const etch_program *program, const etch_frame *frame, long *times) {
  double one = seconds(program, frame, 1);
  if (one < kLong) one = seconds(program, frame, 1); /* the first one may have waited for pages */
  *times = kCalls != 0 || one > kSample ? 1 : (long)(kSample / (one + 1e-9)) + 1;
  return *times > 1 ? seconds(program, frame, *times) : one;
}

/* The program, or each of its calls alone. */
static void time_all(const etch_program *program, const etch_frame *frame) {
  const unsigned count = kCalls == 0 ? 1u : program->call_count;
  etch_program *const part = calloc(count, sizeof *part);
  double *const earlier = calloc(count, sizeof *earlier), *const least = calloc(count, sizeof *least);
  long *const times = calloc(count, sizeof *times);
  double cycle = chain(), cooling, running = 0, total = 0;
  unsigned p;
  int round, rounds;
  FILE *file;
  if (part == NULL || earlier == NULL || least == NULL || times == NULL) return;
  read_earlier(earlier, count);
  memset(other, 1, sizeof other); /* pages of its own */
  cooling = kCalls == 0 ? 0 : cool();
  for (p = 0; p < count; p++) {
    part[p] = *program;
    if (is_slow(earlier, p, count)) continue;
    if (kCalls != 0) {
      part[p].calls += p;
      part[p].call_count = 1;
    }
    least[p] = first_seconds(&part[p], frame, &times[p]);
  }
  for (p = 0; p < count; p++) {
    if (is_slow(least, p, count)) { /* once more: what came between may have made it so */
      const double s = seconds(&part[p], frame, times[p]);
      if (s < least[p]) least[p] = s;
      if (is_slow(least, p, count)) times[p] = 0;
    }
    running += least[p] * (double)times[p];
    total += least[p] * (double)times[p] + (times[p] > 0 ? cooling : 0);
  }
  rounds = (int)(kTotal / total);
  if (rounds < kRounds) rounds = running > kTotal ? kRoundsOfLong : kRounds;
  if (rounds > kMostRounds) rounds = kMostRounds;
  for (round = 0; round < rounds; round++) {
    const double c = chain();
    if (c < cycle) cycle = c;
    for (p = 0; p < count; p++) {
      double s;
      if (times[p] == 0) continue;
      s = seconds(&part[p], frame, times[p]);
      if (s < least[p]) least[p] = s;
    }
  }
  file = fopen(kFile, "w");
  if (file == NULL) return;
  for (p = 0; p < count; p++) fprintf(file, "%.1f\n", least[p] > 0 ? least[p] / cycle : earlier[p]);
  fclose(file);
}

etch_status etch_run(const etch_program *program, const etch_frame *frame) {
  static int is_timed;
  if (!is_timed) {
    pid_t child;
    is_timed = 1;
    child = fork();
    if (child == 0) {
      time_all(program, frame);
      _exit(0);
    }
    if (child > 0) waitpid(child, NULL, 0);
  }
  return etch_run_once(program, frame);
}

#undef etch_run
#define etch_run etch_run_once
#include "etch_runtime.c"
)";

}  // namespace

const char* timer_text() { return kTimer; }

BuildOptions timed_build(const std::filesystem::path& work, std::size_t calls, std::int64_t other_bytes) {
  const std::filesystem::path file = work / kFile;
  write_file(file, kTimer);
  BuildOptions options;
  options.leave_out = {"etch_runtime.c"};
  options.extra_sources = {file};
  options.defines = {fmt::format("ETCH_TIMED_CALLS={}", calls), fmt::format("ETCH_OTHER_BYTES={}", other_bytes)};
  options.flags = {"-std=gnu99", "-I."};  // compiled in the project's folder
  return options;
}

Timed run_timed(const CrossBuild& build, const std::filesystem::path& dir, double limit_s) {
  ProcessOptions options;
  options.timeout_s = limit_s;
  options.cwd = dir;
  const ProcessResult run = run_process({build.elf.string()}, options);
  if (run.timed_out) return {.timed_out = true};
  if (run.signal != 0) throw UserError(dir.string(), "the program that is timed was " + describe(run), "");
  Timed timed{.exit_code = run.exit_code, .console = run.out + run.err, .cycles = {}};
  std::istringstream times(read_file(dir / "etch_times.txt"));
  for (double cycles = 0; times >> cycles;) timed.cycles.push_back(cycles);
  return timed;
}

}  // namespace etch
