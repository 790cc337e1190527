// Functions in C in emitted OpenCL projects, run on this machine's OpenCL device.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_networks.h"
#include "emit/opencl_build.h"
#include "renderer/language.h"
#include "support/files.h"

namespace etch::opencl_project_test {
namespace {

using namespace test;

constexpr const char* kSanitize = "-Wno-unused-function -g -fsanitize=address,undefined -fno-sanitize-recover=all";

// What PoCL's compiler keeps until the end are no leaks of the project's.
ProcessResult run_test(const fs::path& dir, const std::vector<std::string>& arguments = {}) {
  return run_opencl(dir, "env ASAN_OPTIONS=detect_leaks=0 ./test", arguments);
}

void expect_selftest_passes(const std::vector<EmittedFile>& files) {
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), kSanitize);
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_test(temp.path());
  EXPECT_EQ(ran.out, "PASS\n") << describe(ran) << ran.err;
}

TEST(CustomInOpenCL, TheProjectHasTheFunctionsAndTheAuditAcceptsThem) {
  const CompileOptions options = stages_for("opencl");
  const TempDir temp;
  const WrittenProject written = write_audited(temp.path() / "out", compile_project(read_model(options), options), options);
  EXPECT_EQ(written.report.audit.value().findings, std::vector<std::string>{});
  EXPECT_EQ(written.report.custom_functions, (std::vector<std::string>{"blend", "largest", "pair"}));
  const std::string source = content(temp.path() / "out" / "net.c");
  for (const char* part :
       {"void blend(float *y, const float *r, const float *x, const float *w, float alpha, int32_t shift, int32_t y_count); /* of blend.c "
        "*/\n",
        "static const etch_cl_host_kernel host_kernels[3] = {\n", "host_program = {host_kernels, host_bytes};\n", "&host_program,\n"})
    EXPECT_NE(source.find(part), std::string::npos) << part << "\n" << source;
  EXPECT_EQ(content(temp.path() / "out" / "net.cl").find("blend("), std::string::npos);
  EXPECT_NE(content(temp.path() / "out" / "net.h").find("The processor runs blend(), "), std::string::npos);
  EXPECT_NE(content(temp.path() / "out" / "CMakeLists.txt").find("net.c net_kernels.c blend.c others.c"), std::string::npos);
  EXPECT_NE(content(temp.path() / "out" / "report.txt").find("The processor runs blend(), "), std::string::npos);
}

TEST(CustomInOpenCL, NamesOfTheProjectAreRefused) {
  expect_refused_names("opencl", {"session", "queue", "host_kernels", "kernels", "net_open"});
}

TEST_F(OpenCL, FunctionsBetweenKernelsCompileWithoutWarnings) {
  const TempDir temp;
  put(temp.path(), project_of(stages_for("opencl")));
  const std::string strict = " -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fsyntax-only";
  for (const std::string compiler : {"gcc -std=c99 -DETCH_PROFILE=1", "gcc -std=c99 -DETCH_CHECK_ARGUMENTS=0", "clang-19 -std=c99",
                                     "g++ -x c++ -std=c++11 -DETCH_PROFILE=1"}) {
    if (!find_program(split(compiler)[0])) continue;
    const ProcessResult r = run_opencl(temp.path(), compiler + strict, c_files(temp.path()));
    EXPECT_TRUE(r.ok()) << compiler << "\n" << r.err;
  }
}

TEST_F(OpenCL, FunctionsPassTheSelfTest) {
  for (const std::vector<EmittedFile>& files : projects_with_selftest(kOpenCl, 512)) expect_selftest_passes(files);
}

TEST_F(OpenCL, FunctionsBuildByCMake) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  put(temp.path(), project_of(stages_for("opencl")));
  expect_cmake_passes([&](const std::string& command) { return run_opencl(temp.path(), command); });
}

// On a queue that keeps the order of commands, on one that may change it, and where every region is a buffer of its own.
TEST_F(OpenCL, FunctionsComputeForEverySize) {
  for (const bool own_buffers : {false, true}) {
    std::vector<EmittedFile> files = project_of(stages_for("opencl"));
    if (own_buffers) replace(files, "net.c", "512, /* its alignment */", "1, /* its alignment */");
    set_selftest(files, std::string(kMain) + kRunStages + R"c(
int main(void) {
  static net_session sessions[2];
  const int sizes[5] = {6, 1, 4, 7, 6};
  int s, i;
  if (!make() || net_open(&sessions[0], context, device, queue) != ETCH_OK) return 2;
  if (net_open(&sessions[1], context, device, wild != NULL ? wild : queue) != ETCH_OK) return 3;
  for (i = 0; i < 5; i++) {
    for (s = 0; s < 2; s++) {
      if (sizes[i] <= 6) run_stages(&sessions[s], sizes[i]);
      else printf("%d\n", (int)net_run(&sessions[s], sizes[i], x, value, place, pair_of));
    }
  }
  return net_close(&sessions[0]) == ETCH_OK && net_close(&sessions[1]) == ETCH_OK ? 0 : 4;
}
)c");
    const TempDir temp;
    put(temp.path(), files);
    const ProcessResult built = build(temp.path(), kSanitize);
    ASSERT_TRUE(built.ok()) << built.err;
    const ProcessResult ran = run_test(temp.path());
    std::string want;
    for (int n : {6, 1, 4, 7, 6})
      for (int s = 0; s < 2; s++) want += n == 7 ? "4\n" : stages_printed(n);
    EXPECT_EQ(ran.out, want) << describe(ran) << ran.err;
  }
}

TEST_F(OpenCL, AFunctionReadsAndWritesTheState) {
  std::vector<EmittedFile> files = project_of(mean_for("opencl"));
  set_selftest(files, std::string(kMain) + kRunWithState + kMainWithState);
  EXPECT_NE(text_in(files, "mean.c").find("STATE(0)"), std::string::npos);
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), kSanitize);
  ASSERT_TRUE(built.ok()) << built.err;
  const ProcessResult ran = run_test(temp.path());
  EXPECT_EQ(ran.out, kRunsPrinted + std::string("14 1\n"));
  EXPECT_TRUE(ran.ok()) << describe(ran) << ran.err;
}

// The linker puts counters between the runtime and OpenCL, which also fail where they are told to.
TEST_F(OpenCL, WhatFailsAtAFunctionLeavesNothingMapped) {
  std::vector<EmittedFile> files = project_of(stages_for("opencl"));
  set_selftest(files, std::string(kMain) + kRunStages + R"c(
static int made, maps, unmaps, mapped, fail_map, fail_unmap;
cl_mem __real_clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
cl_mem __wrap_clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
void *__real_clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,
                                cl_int *);
void *__wrap_clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint, const cl_event *, cl_event *,
                                cl_int *);
cl_int __real_clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);
cl_int __wrap_clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);
cl_mem __wrap_clCreateBuffer(cl_context c, cl_mem_flags f, size_t bytes, void *host, cl_int *error) {
  made++;
  return __real_clCreateBuffer(c, f, bytes, host, error);
}
void *__wrap_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool waits, cl_map_flags flags, size_t at, size_t bytes, cl_uint n,
                                const cl_event *events, cl_event *event, cl_int *error) {
  maps++;
  if (maps == fail_map) {
    *error = CL_MAP_FAILURE;
    return NULL;
  }
  mapped++;
  return __real_clEnqueueMapBuffer(q, m, waits, flags, at, bytes, n, events, event, error);
}
cl_int __wrap_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *at, cl_uint n, const cl_event *events, cl_event *event) {
  const cl_int error = __real_clEnqueueUnmapMemObject(q, m, at, n, events, event);
  unmaps++;
  mapped--;
  return unmaps == fail_unmap ? CL_OUT_OF_RESOURCES : error;
}
int main(int argc, char **argv) {
  static net_session session;
  const int on_wild = argc > 1 && argv[1][0] == 'w';
  int i, status, before;
  if (!make() || net_open(&session, context, device, on_wild && wild != NULL ? wild : queue) != ETCH_OK) return 2;
  before = made;
  prepare();
  for (i = 1; i <= 20; i++) {
    maps = 0, unmaps = 0, fail_map = i <= 10 ? i : 0, fail_unmap = i > 10 ? i - 10 : 0;
    status = (int)net_run(&session, 2, x, value, place, pair_of);
    printf("%d %s %d, %d mapped;", status, session.cl.function, (int)session.cl.error, mapped);
    fail_map = 0, fail_unmap = 0;
    prepare();
    run_stages(&session, 2);
  }
  printf("%d maps, %d unmaps, %d made\n", maps, unmaps, made - before);
  return (int)net_close(&session);
}
)c");
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), std::string(kSanitize) +
                                                     " -Wl,--wrap=clEnqueueMapBuffer -Wl,--wrap=clEnqueueUnmapMemObject "
                                                     "-Wl,--wrap=clCreateBuffer");
  ASSERT_TRUE(built.ok()) << built.err;
  std::string want;
  for (int i = 0; i < 20; i++)
    want += (i < 10 ? "11 clEnqueueMapBuffer -12, 0 mapped;" : "11 clEnqueueUnmapMemObject -5, 0 mapped;") + stages_printed(2);
  want += "20 maps, 20 unmaps, 0 made\n";  // of the last two runs; 4, 3 and 3 buffers
  for (const char* queue : {"in order", "wild"}) {
    const ProcessResult ran = run_test(temp.path(), {queue});
    EXPECT_EQ(ran.out, want) << queue << " " << describe(ran) << ran.err;
  }
}

TEST_F(OpenCL, ProfileSeesWhatFunctionsWrote) {
  std::vector<EmittedFile> files = project_of(stages_for("opencl"));
  set_selftest(files, std::string(kMain) + kRunStages + R"c(
static void after(void *user, uint32_t call, etch_cl_mem output) {
  float values[2] = {0, 0};
  if (strcmp(net_calls[call].type, "float32") != 0) return;
  clEnqueueReadBuffer(queue, output, CL_TRUE, 0, sizeof values, values, 0, NULL, NULL);
  printf("%s %s %s %.9g %.9g\n", (const char *)user, net_calls[call].nodes, net_calls[call].output, (double)values[0], (double)values[1]);
}
int main(void) {
  static net_session session;
  int status;
  if (!make() || net_open(&session, context, device, queue) != ETCH_OK) return 2;
  prepare();
  status = (int)net_profile(&session, 2, x, value, place, pair_of, after, (void *)"after");
  print_stages(status, 2);
  return (int)net_close(&session);
}
)c");
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), std::string("-DETCH_PROFILE=1 ") + kSanitize);
  ASSERT_TRUE(built.ok()) << built.err;
  expect_profiled(run_test(temp.path()));
}

}  // namespace
}  // namespace etch::opencl_project_test
