#include "peak.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/process.h"
#include "base/tempdir.h"

namespace etch::bench {
namespace {

// 12 chains: a latency of 4 times 2 units needs 8, the rest hides instructions that the compiler adds. The factors are read from
// volatile memory, so that nothing is folded; the result is printed, so that nothing is dead code.
constexpr const char* kSource = R"(
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <time.h>
typedef float vec __attribute__((vector_size(BYTES)));
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void) {
  volatile float source[2] = {0.999999f, 0.000001f};
  vec a, b;
  for (unsigned i = 0; i < BYTES / 4; i++) { a[i] = source[0]; b[i] = source[1]; }
  double best = 1e9;
  float sink = 0;
  for (int run = 0; run < 15; run++) {
#define START(n) vec c##n = b * (float)(n + 1);
    EACH(START)
    const double start = now();
    for (int i = 0; i < 4000000; i++) {
#define STEP(n) c##n = c##n * a + b;
      EACH(STEP)
    }
    const double seconds = now() - start;
    if (seconds < best) best = seconds;
#define SUM(n) sink += c##n[0];
    EACH(SUM)
  }
  printf("%.6e %g\n", 4e6 * 12 * (BYTES / 4) * 2 / best, (double)sink);
  return 0;
}
)";

// The same of VPDPBUSD: 16 chains of sums in registers.
constexpr const char* kVnniSource = R"(
#define _POSIX_C_SOURCE 200809L
#include <immintrin.h>
#include <stdio.h>
#include <time.h>
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void) {
  volatile int source[2] = {0x01020304, 0x01010101};
  const __m512i a = _mm512_set1_epi32(source[0]), b = _mm512_set1_epi32(source[1]);
  double best = 1e9;
  int sink = 0;
  for (int run = 0; run < 15; run++) {
#define START(n) __m512i c##n = _mm512_add_epi32(a, _mm512_set1_epi32(n));
    EACH(START)
    const double start = now();
    for (int i = 0; i < 2000000; i++) {
#define STEP(n) c##n = _mm512_dpbusd_epi32(c##n, a, b);
      EACH(STEP)
    }
    const double seconds = now() - start;
    if (seconds < best) best = seconds;
#define SUM(n) sink += _mm512_reduce_add_epi32(c##n);
    EACH(SUM)
  }
  printf("%.6e %d\n", 2e6 * 16 * 64 / best, sink);
  return 0;
}
)";

// What is read is added up, eight streams at once: a prefetcher follows several, each in a page of its own.
constexpr const char* kMemorySource = R"(
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
typedef float vec __attribute__((vector_size(BYTES), aligned(4), may_alias));
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }
int main(void) {
  const size_t part = TOTAL / 8 / BYTES * BYTES / 4, all = part * 8, half = all / 2;
  const int times = TOTAL < 100000000 ? (int)(100000000 / TOTAL) + 1 : 1;
  float *const data = malloc(all * 4);
  double best = 1e9;
  float sink = 0;
  if (data == NULL) return 1;
  for (size_t i = 0; i < all; i++) data[i] = (float)(i % 7);
  for (int run = 0; run < 8; run++) {
    const double start = now();
    for (int n = 0; n < times; n++) {
#if READS
      vec sum[8];
      memset(sum, 0, sizeof sum);
      for (size_t i = 0; i < part; i += BYTES / 4)
        for (int s = 0; s < 8; s++) sum[s] += *(const vec *)&data[s * part + i];
      for (int s = 0; s < 8; s++) sink += sum[s][0];
#else
      for (size_t i = 0; i < half; i += BYTES / 4) *(vec *)&data[half + i] = *(const vec *)&data[i];
      sink += data[half + n];
#endif
      __asm__ volatile("" : : "r"(data) : "memory");
    }
    const double seconds = (now() - start) / times;
    if (seconds < best) best = seconds;
  }
  printf("%.6e %g\n", (double)all * 4 / best, (double)sink);
  return (int)(half == 0);
}
)";

double run_peak(const char* text, const char* what, const std::string& compiler, const std::vector<std::string>& flags) {
  const TempDir work("etch-peak");
  const std::string source = (work.path() / "peak.c").string(), program = (work.path() / "peak").string();
  std::ofstream(source) << text;
  std::vector<std::string> argv{compiler, "-std=gnu99"};
  argv.insert(argv.end(), flags.begin(), flags.end());
  argv.insert(argv.end(), {source, "-o", program});
  const ProcessResult built = run_process(argv);
  if (!built.ok()) throw UserError(compiler, describe(built), "install clang-19 or gcc");
  const ProcessResult ran = run_process({program});
  if (!ran.ok()) throw UserError(what, describe(ran), "this machine lacks the vector instructions of the target");
  return std::stod(ran.out);
}

double bandwidth(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits, std::int64_t bytes, bool reads) {
  std::vector<std::string> all{fmt::format("-DBYTES={}u", vector_bits / 8), fmt::format("-DTOTAL={}ul", bytes),
                               fmt::format("-DREADS={:d}", reads)};
  all.insert(all.end(), flags.begin(), flags.end());
  return run_peak(kMemorySource, "bandwidth", compiler, all);
}

}  // namespace

double fma_peak(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits) {
  std::vector<std::string> all{"-ffp-contract=fast", fmt::format("-DBYTES={}u", vector_bits / 8)};
  all.insert(all.end(), flags.begin(), flags.end());
  return run_peak(kSource, "FMA peak", compiler, all);
}

double vnni_peak(const std::string& compiler, const std::vector<std::string>& flags) {
  return run_peak(kVnniSource, "VPDPBUSD peak", compiler, flags);
}

double copy_bandwidth(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits, std::int64_t bytes) {
  return bandwidth(compiler, flags, vector_bits, bytes, false);
}

double read_bandwidth(const std::string& compiler, const std::vector<std::string>& flags, int vector_bits, std::int64_t bytes) {
  return bandwidth(compiler, flags, vector_bits, bytes, true);
}

std::int64_t last_cache_bytes() {
  const long bytes = std::max({sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE), 1L << 20});
  return bytes;
}

namespace {

bool has_instructions(const std::string& flag) {
  std::ifstream info("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(info), std::istreambuf_iterator<char>()};
  return text.find(" " + flag) != std::string::npos;
}

}  // namespace

Target fastest_target() { return find_target(has_instructions("avx512vl") ? "x86-64-v4" : "x86-64-v3", ETCH_SOURCE_DIR "/targets"); }

Target fastest_target_of_bytes() {
  return has_instructions("avx512_vnni") ? find_target("x86-64-vnni", ETCH_SOURCE_DIR "/targets") : fastest_target();
}

}  // namespace etch::bench
