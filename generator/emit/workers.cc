#include "emit/workers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/subscript.h"
#include "emit/literals.h"
#include "emit/sections.h"
#include "emit/signature.h"
#include "memory/barriers.h"

namespace etch {
namespace {

std::size_t first_variable(const Project& p) { return p.program->variables.size() + p.program->loops.size(); }

std::string work_text(const SharedCall& call) {
  if (call.waits && call.alone) return "ETCH_CALL_WAITS | ETCH_CALL_ALONE";
  return call.waits ? "ETCH_CALL_WAITS" : call.alone ? "ETCH_CALL_ALONE" : "0";
}

}  // namespace

std::string workers_header(const Project& p) {
  return fmt::format(
      "/* The same by up to {1}_WORKERS workers: threads, tasks or cores. Each calls it with its own number, 0 to workers - 1, else\n"
      " * ETCH_RANGE, and with otherwise equal arguments. barrier(user) comes back when all of them have called it; with one worker it is\n"
      " * not called, and may be null. The outputs are whole when all workers have come back, and have the bits of {0}. */\n"
      "#define {1}_WORKERS {2}u\n"
      "etch_status {0}_worker(uint32_t worker, uint32_t workers, etch_barrier barrier, void *user, {3});\n\n",
      p.entry(), p.macro, p.program->workers.most, parameters(p, false));
}

std::string workers_table(const Project& p) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const SharedCall& call : shared_calls(*p.program, *p.plan)) {
    const std::size_t c = rows.size();
    const ProgramKernel& kernel = p.program->kernels[at(p.program->calls[c].kernel)];
    rows.emplace_back(work_text(call) + ",",
                      fmt::format("{}: {}", c, call.alone ? std::string("not shared") : "shared along " + kernel.shared));
  }
  return fmt::format("/* What a worker does at each call. */\nstatic {} uint8_t work[{}] = {{\n{}}};\n\n", p.constant_word(), rows.size(),
                     with_comments(rows));
}

std::string workers_run(const Project& p) {
  return fmt::format(
      "  team.worker = worker;\n  team.workers = workers;\n  team.most = {}_WORKERS;\n  team.barrier = barrier;\n  team.user = user;\n"
      "  return etch_run_worker(&program, work, &frame, &team);\n",
      p.macro);
}

std::string workers_one(const Project& p) {
  return fmt::format("\netch_status {0}({1}) {{\n  return {0}_worker(0, 1, NULL, NULL, {2});\n}}\n", p.entry(), parameters(p, false),
                     list_text(argument_names(p)));
}

std::string workers_alone(const Project& p) {
  return fmt::format("  variables[{}] = 0; /* of one worker */\n  variables[{}] = 1;\n", first_variable(p), first_variable(p) + 1);
}

std::string workers_selftest_first(const Project& p) {
  return fmt::format(
      "#ifdef {0}_THREADS\n"
      "#define _POSIX_C_SOURCE 200112L /* barriers of pthreads */\n"
      "#include <pthread.h>\n"
      "#endif\n",
      p.macro);
}

std::string workers_selftest(const Project& p, const std::string& run_arguments) {
  return fmt::format(
      "#ifdef {1}_THREADS\n"
      "/* Example: the model on {1}_THREADS threads of POSIX, each of them a worker. Build with -D{1}_THREADS=2 -pthread. */\n"
      "static pthread_barrier_t barrier;\n"
      "static etch_status results[{1}_THREADS];\n\n"
      "static void wait_for_all(void *user) {{ (void)pthread_barrier_wait((pthread_barrier_t *)user); }}\n\n"
      "static void *work(void *result) {{\n"
      "  const uint32_t worker = (uint32_t)((etch_status *)result - results);\n"
      "  results[worker] = {0}_worker(worker, {1}_THREADS, wait_for_all, &barrier, {2});\n"
      "  return NULL;\n"
      "}}\n\n"
      "static etch_status run_model(void) {{\n"
      "  pthread_t threads[{1}_THREADS];\n"
      "  etch_status status = ETCH_OK;\n"
      "  int n;\n"
      "  if (pthread_barrier_init(&barrier, NULL, {1}_THREADS) != 0) return ETCH_NO_SPACE;\n"
      "  for (n = 1; n < {1}_THREADS; n++)\n"
      "    if (pthread_create(&threads[n], NULL, work, &results[n]) != 0) exit(1); /* the others would wait for it */\n"
      "  work(&results[0]);\n"
      "  for (n = 1; n < {1}_THREADS; n++) pthread_join(threads[n], NULL);\n"
      "  for (n = 0; n < {1}_THREADS; n++)\n"
      "    if (results[n] != ETCH_OK) status = results[n];\n"
      "  pthread_barrier_destroy(&barrier);\n"
      "  return status;\n"
      "}}\n"
      "#else\n"
      "static etch_status run_model(void) {{ return {0}({2}); }}\n"
      "#endif\n\n",
      p.entry(), p.macro, run_arguments);
}

std::string workers_build(const Project& p) {
  const std::string weights = p.is_blob() ? fmt::format(" ${{CMAKE_CURRENT_SOURCE_DIR}}/{}_weights.bin", p.name) : "";
  return fmt::format(
      "\noption({1}_EXAMPLES \"build {0}_threads, the self-test on two threads\" OFF)\n"
      "if({1}_EXAMPLES)\n"
      "  set(THREADS_PREFER_PTHREAD_FLAG ON)\n"
      "  find_package(Threads REQUIRED)\n"
      "  add_executable({0}_threads selftest.c)\n"
      "  target_compile_definitions({0}_threads PRIVATE {1}_THREADS=2)\n"
      "  target_link_libraries({0}_threads PRIVATE {0} Threads::Threads)\n"
      "  enable_testing()\n"
      "  add_test(NAME {0}_threads COMMAND {0}_threads{2})\n"
      "endif()\n",
      p.name, p.macro, weights);
}

ReportWorkers workers_report(const Project& p) {
  ReportWorkers report{.most = p.program->workers.most};
  if (!has_workers(p)) return report;
  for (const SharedCall& call : shared_calls(*p.program, *p.plan)) {
    report.shared_calls += call.alone ? 0 : 1;
    report.barriers += call.waits ? 1 : 0;
  }
  return report;
}

}  // namespace etch
