#include "search/timer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/process.h"

namespace etch {
namespace {

constexpr const char *kFile = "etch_timer.c", *kTimes = "etch_times.txt";

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
/* Times the fastest way: what is slower is timed no further, after a few runs and after all those of a process. */
static const double kSlow = 2.0, kFar = 1.15;
/* And times the fastest way elsewhere: another process may have had a better time. */
static const double kFarElsewhere = 1.3;
static const char *const kFile = ETCH_TIMES;
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

/* Of each part, what an earlier process found for it, and of each thing the least that is known of ways elsewhere, in cycles; 0 if nothing
   is known. Whether there was an earlier process. */
static int read_earlier(double *earlier, double *elsewhere, unsigned count) {
  FILE *const file = fopen(kFile, "r");
  unsigned p;
  for (p = 0; p < count + kThings; p++) {
    double *const known = p < count ? &earlier[p] : &elsewhere[p - count];
    if (file == NULL || fscanf(file, "%lf", known) != 1) *known = 0;
  }
  if (file != NULL) fclose(file);
  return file != NULL;
}

/* Ways to compute one thing lie kThings apart. */
static int is_slow(const double *times, unsigned p, unsigned count, double factor) {
  unsigned other;
  for (other = p % kThings; other < count; other += kThings) {
    if (times[other] > 0 && times[p] > factor * times[other]) return 1;
  }
  return 0;
}

static int is_far(const double *earlier, const double *elsewhere, unsigned p, unsigned count) {
  const double least = elsewhere[p % kThings];
  return (least > 0 && earlier[p] > kFarElsewhere * least) || is_slow(earlier, p, count, kFar);
}

static etch_program part_of(const etch_program *program, unsigned p) {
  etch_program part = *program;
  if (kCalls != 0) {
    part.calls += p;
    part.call_count = 1;
  }
  return part;
}

/* Seconds of one run, the less of `known` and others, and how many runs make a sample: of a kernel alone one, as the second one would find
   its weights. */
static double first_seconds(const etch_program *program, const etch_frame *frame, double known, long *times) {
  double one = known == 0 ? seconds(program, frame, 1) : known;
  if (one < kLong || known != 0) { /* the first one may have waited for pages */
    const double again = seconds(program, frame, 1);
    if (again < one) one = again;
  }
  *times = kCalls != 0 || one > kSample ? 1 : (long)(kSample / (one + 1e-9)) + 1;
  return *times > 1 ? seconds(program, frame, *times) : one;
}

/* Runs the parts in turns, each so often as `times` says, and keeps the least of each. Returns the cycle, in seconds. */
static double time_rounds(const etch_program *program, const etch_frame *frame, unsigned count, double *least, const long *times) {
  const double cooling = kCalls == 0 ? 0 : cool();
  double cycle = chain(), running = 0, total = 0;
  int round, rounds;
  unsigned p;
  for (p = 0; p < count; p++) {
    running += least[p] * (double)times[p];
    total += least[p] * (double)times[p] + (times[p] > 0 ? cooling : 0);
  }
  rounds = (int)(kTotal / (total + 1e-9));
  if (rounds < kRounds) rounds = running > kTotal ? kRoundsOfLong : kRounds;
  if (rounds > kMostRounds) rounds = kMostRounds;
  for (round = 0; round < rounds; round++) {
    const double c = chain();
    if (c < cycle) cycle = c;
    for (p = 0; p < count; p++) {
      const etch_program part = part_of(program, p);
      double s;
      if (times[p] == 0) continue;
      s = seconds(&part, frame, times[p]);
      if (s < least[p]) least[p] = s;
    }
  }
  return cycle;
}

/* The program, or each of its calls alone, of which `first` has what a run took, or 0. */
static void time_all(const etch_program *program, const etch_frame *frame, const double *first, const double *earlier,
                     const double *elsewhere, unsigned count) {
  double *const least = calloc(count, sizeof *least), cycle;
  long *const times = calloc(count, sizeof *times);
  unsigned p;
  FILE *file;
  if (least == NULL || times == NULL) return;
  for (p = 0; p < count; p++) {
    const etch_program part = part_of(program, p);
    if (is_far(earlier, elsewhere, p, count)) continue;
    least[p] = first[p]; /* and no more, if it is long, and so far off that what came between can't be the reason */
    if (first[p] < kLong || !is_slow(first, p, count, 2 * kSlow)) least[p] = first_seconds(&part, frame, first[p], &times[p]);
  }
  for (p = 0; p < count; p++) {
    if (times[p] > 0 && is_slow(least, p, count, kSlow)) { /* once more: what came between may have made it so */
      const etch_program part = part_of(program, p);
      const double s = seconds(&part, frame, times[p]);
      if (s < least[p]) least[p] = s;
      if (is_slow(least, p, count, kSlow)) times[p] = 0;
    }
  }
  cycle = time_rounds(program, frame, count, least, times);
  file = fopen(kFile, "w");
  if (file == NULL) return;
  for (p = 0; p < count; p++) fprintf(file, "%.1f\n", least[p] > 0 ? least[p] / cycle : earlier[p]);
  fclose(file);
}

/* The self-test's own run, call by call, and how long each took. */
static etch_status run_parts(const etch_program *program, const etch_frame *frame, double *first, unsigned count) {
  unsigned p;
  for (p = 0; p < count; p++) {
    const etch_program part = part_of(program, p);
    double start;
    etch_status status;
    cool();
    start = now();
    status = etch_run_once(&part, frame);
    if (status != ETCH_OK) return status;
    first[p] = now() - start;
  }
  return ETCH_OK;
}

/* A later process times alone: what the program computes is known from the first one. */
etch_status etch_run(const etch_program *program, const etch_frame *frame) {
  const unsigned count = kCalls == 0 ? 1u : program->call_count;
  static double elsewhere[kThings], *first, *earlier;
  static int is_timed;
  int is_later;
  etch_status status = ETCH_OK;
  pid_t child;
  if (is_timed) return etch_run_once(program, frame);
  is_timed = 1;
  first = calloc(count, sizeof *first);
  earlier = calloc(count, sizeof *earlier);
  if (first == NULL || earlier == NULL) return etch_run_once(program, frame);
  is_later = read_earlier(earlier, elsewhere, count);
  memset(other, 1, sizeof other); /* pages of its own */
  if (kCalls != 0 && !is_later) status = run_parts(program, frame, first, count);
  child = fork();
  if (child == 0) {
    time_all(program, frame, first, earlier, elsewhere, count);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
  if (is_later) _exit(0);
  return kCalls != 0 ? status : etch_run_once(program, frame);
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
  options.defines = {fmt::format("ETCH_TIMED_CALLS={}", calls), fmt::format("ETCH_OTHER_BYTES={}", other_bytes),
                     fmt::format("ETCH_TIMES=\"{}\"", kTimes)};
  options.flags = {"-std=gnu99", "-I."};  // compiled in the project's folder
  return options;
}

Timed run_timed(const CrossBuild& build, const std::filesystem::path& dir, double limit_s, std::span<const double> elsewhere) {
  const std::filesystem::path file = dir / kTimes;
  if (std::filesystem::exists(file)) write_file(file, fmt::format("{}{:.1f}\n", read_file(file), fmt::join(elsewhere, "\n")));
  ProcessOptions options;
  options.timeout_s = limit_s;
  options.cwd = dir;
  const ProcessResult run = run_process({build.elf.string()}, options);
  if (run.timed_out) return {.timed_out = true};
  if (run.signal != 0) throw UserError(dir.string(), "the program that is timed was " + describe(run), "");
  Timed timed{.exit_code = run.exit_code, .console = run.out + run.err, .cycles = {}};
  std::istringstream times(read_file(file));
  for (double cycles = 0; times >> cycles;) timed.cycles.push_back(cycles);
  return timed;
}

}  // namespace etch
