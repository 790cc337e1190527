#include "workers.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <thread>

#include "peak.h"
#include "timer.h"

namespace etch::bench {
namespace {

// Four jobs in turns, one thread and two: multiply-accumulates in registers, and the network. Between jobs threads sleep, so that one that
// has nothing to do takes no time of the other; in a run they spin. Each thread stays on a core of its own, as one that wakes up may be put
// where the other one is, for longer than a run takes. Prints the least seconds of each job.
constexpr const char* kSource = R"(
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include "model.h"
typedef float vec __attribute__((vector_size(BYTES)));
#define EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
enum { JOBS = 4, ROUNDS = 25 };
static ETCH_ALIGNED(MODEL_ARENA_ALIGN) unsigned char arena[MODEL_ARENA_BYTES];
static float x[INPUT_COUNT], y[OUTPUT_COUNT];
static pthread_barrier_t between;
static atomic_uint arrived, turn;
static volatile float source[2] = {0.999999f, 0.000001f};
static volatile float sink[2];

static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }

static void wait_for_both(void *user) {
  const unsigned own = atomic_load_explicit(&turn, memory_order_relaxed);
  (void)user;
  if (atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel) == 1) {
    atomic_store_explicit(&arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&turn, own + 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&turn, memory_order_acquire) == own) __builtin_ia32_pause();
}

static float multiply(int steps) {
  vec a, b;
  float sum = 0;
  for (unsigned i = 0; i < BYTES / 4; i++) { a[i] = source[0]; b[i] = source[1]; }
#define START(n) vec c##n = b * (float)(n + 1);
  EACH(START)
  for (int i = 0; i < steps; i++) {
#define STEP(n) c##n = c##n * a + b;
    EACH(STEP)
  }
#define SUM(n) sum += c##n[0];
  EACH(SUM)
  return sum;
}

static void do_part(int job, uint32_t worker) {
  const int steps = 4000000;
  if (job == 0 && worker == 0) sink[0] = multiply(steps);
  if (job == 1) sink[worker] = multiply(steps / 2);
  if (job == 2 && worker == 0) model_run(arena, sizeof arena, x, y);
  if (job == 3) model_run_worker(worker, 2, wait_for_both, NULL, arena, sizeof arena, x, y);
}

/* The first of the cores that the process may use, or the last one. */
static void stay_on(int is_last) {
  cpu_set_t may, one;
  int core = -1;
  if (sched_getaffinity(0, sizeof may, &may) != 0) return;
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &may) && (is_last || core < 0)) core = i;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pthread_setaffinity_np(pthread_self(), sizeof one, &one);
}

static void *second(void *unused) {
  stay_on(1);
  for (int n = 0; n < JOBS * ROUNDS; n++) {
    pthread_barrier_wait(&between);
    do_part(n % JOBS, 1);
    pthread_barrier_wait(&between);
  }
  return unused;
}

int main(void) {
  double best[JOBS] = {1e9, 1e9, 1e9, 1e9};
  pthread_t thread;
  for (size_t i = 0; i < INPUT_COUNT; i++) x[i] = (float)(i % 256) / 256.0f;
  pthread_barrier_init(&between, NULL, 2);
  if (pthread_create(&thread, NULL, second, NULL) != 0) return 1;
  stay_on(0);
  for (int n = 0; n < JOBS * ROUNDS; n++) {
    pthread_barrier_wait(&between);
    const double start = now();
    do_part(n % JOBS, 0);
    pthread_barrier_wait(&between);
    const double seconds = now() - start;
    if (seconds < best[n % JOBS]) best[n % JOBS] = seconds;
  }
  pthread_join(thread, NULL);
  printf("%.6e %.6e %.6e %.6e\n", best[0], best[1], best[2], best[3]);
  return 0;
}
)";

void measure(Context& context, const std::string& name, const fs::path& model) {
  context.say(name + " by two workers");
  const Target target = fastest_target();
  const fs::path dir = context.work / (name + "_workers");
  tool({"compile", model.string(), "--name", "model", "--target", target.name, "--workers", "2", "--no-measure", "-o", dir.string()});
  const Json report = read_json(dir / "report.json");
  std::ifstream in(dir / "model.h");
  std::vector<std::string> counts;  // the macros of input and output
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("#define ") && line.find("_COUNT ") != std::string::npos) counts.push_back(line.substr(8, line.find(' ', 8) - 8));
  std::string text = kSource;
  for (const auto& [word, macro] : {std::pair("INPUT_COUNT", counts.at(0)), {"OUTPUT_COUNT", counts.at(1)}})
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += macro.size())
      text.replace(at, std::string_view(word).size(), macro);
  const fs::path timer = build_timer(dir, text, target, {"-pthread", fmt::format("-DBYTES={}u", target.vector.bits / 8)});
  const ProcessResult ran = run_process({timer.string()});
  if (!ran.ok()) throw UserError(timer.string(), describe(ran));
  double peak1 = 0, peak2 = 0, net1 = 0, net2 = 0;
  std::istringstream(ran.out) >> peak1 >> peak2 >> net1 >> net2;
  context.figures.push_back({name + "_two_workers", net1 / net2 / (peak1 / peak2), "scaling/scaling of two threads at FMA peak", 0.9,
                             fmt::format("{:.2f} ms by one, {:.2f} ms by two, x {:.2f}; peak x {:.2f}; {} of {} calls shared, {} barriers",
                                         net1 * 1e3, net2 * 1e3, net1 / net2, peak1 / peak2, report.at("workers").at("shared_calls").dump(),
                                         report.at("kernels").size(), report.at("workers").at("barriers").dump())});
}

}  // namespace

void measure_workers(Context& context) {
  if (std::thread::hardware_concurrency() < 2) return context.say("SKIPPED: two workers (this machine has one processor)");
  if (!fs::exists(context.models)) return context.say("SKIPPED: two workers (set ETCH_MODELS to a folder of models)");
  for (const char* name : {"resnet50", "squeezenet"}) {
    const std::string light = std::string("light_") + name;
    measure(context, name, zoo(context, {"densify", (context.models / light / "model.onnx").string()}, light + "_workers.onnx"));
  }
}

}  // namespace etch::bench
