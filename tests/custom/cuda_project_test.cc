// Functions in C in emitted CUDA projects, with nvcc where it is, and on a stand-in of CUDA's runtime, which keeps the GPU's memory out of
// the functions' reach.
#include <gtest/gtest.h>

#include "device_networks.h"
#include "emit/cuda_build.h"
#include "renderer/language.h"
#include "support/files.h"
#include "support/needs.h"

namespace etch::cuda_project_test {
namespace {

using namespace test;
using cuda::expect_nvcc_builds;
using cuda::expect_pass;
using cuda::OnCpu;

void set_main(std::vector<EmittedFile>& files, const std::string& text) {
  set_selftest(files,
               "#include <cuda_runtime_api.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
               "int fake_made(void);\nint fake_held(void);\nstatic cudaStream_t stream;\n" +
                   text);
}

TEST(CustomInCuda, TheProjectHasTheFunctionsAndTheAuditAcceptsThem) {
  const CompileOptions options = stages_for("cuda");
  const TempDir temp;
  const WrittenProject written = write_audited(temp.path() / "out", compile_project(read_model(options), options), options);
  EXPECT_EQ(written.report.audit.value().findings, std::vector<std::string>{});
  const std::string source = content(temp.path() / "out" / "net.c");
  // Four buffers of at most 96 bytes, each at a multiple of 256.
  for (const char* part : {"/* of blend.c */\n", "host_program = {host_kernels, host_bytes, 1024};\n", "&host_program,\n"})
    EXPECT_NE(source.find(part), std::string::npos) << part << "\n" << source;
  EXPECT_EQ(content(temp.path() / "out" / "net.cu").find("blend"), std::string::npos);
  const std::string header = content(temp.path() / "out" / "net.h");
  EXPECT_NE(header.find("locks 1 024 bytes of the processor's memory: what blend(), largest(), pair() get"), std::string::npos) << header;
  EXPECT_NE(content(temp.path() / "out" / "CMakeLists.txt").find("net.c net.cu blend.c others.c"), std::string::npos);
}

TEST(CustomInCuda, NamesOfTheProjectAreRefused) {
  expect_refused_names("cuda", {"session", "stream", "host_program", "kernels", "net_close"});
}

TEST(CustomInCuda, NvccCompilesAndLinks) {
  if (const std::string why = test::missing({"nvcc"}); !why.empty()) GTEST_SKIP() << why;
  for (const bool alone : {false, true}) {
    const TempDir temp;
    put(temp.path(), project_of(alone ? negated_for("cuda") : stages_for("cuda")));
    expect_nvcc_builds(temp.path(), "net", "-gencode arch=compute_75,code=sm_75");
  }
}

TEST(CustomInCuda, NvccBuildsByCMake) {
  if (const std::string why = test::missing({"nvcc", "cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  put(temp.path(), project_of(stages_for("cuda")));
  expect_cmake_passes([&](const std::string& command) {
    return run_in(temp.path(), command + (command.ends_with("-B build") ? " -DCMAKE_CUDA_ARCHITECTURES=75" : ""));
  });
}

TEST(CustomInCuda, PassesTheSelfTest) {
  for (const std::vector<EmittedFile>& files : projects_with_selftest(kCuda, 256)) expect_pass(files);
}

TEST(CustomInCuda, ComputesForEverySizeAndAllocatesInOpenAlone) {
  std::vector<EmittedFile> files = project_of(stages_for("cuda"));
  set_main(files, std::string(kRunStages) + R"c(
int main(void) {
  static net_session sessions[2];
  const int sizes[5] = {6, 1, 4, 7, 6};
  int s, i;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  if (net_open(&sessions[0], stream) != ETCH_OK || net_open(&sessions[1], stream) != ETCH_OK) return 2;
  if (fake_made() != 4 || fake_held() != 4) return 3; /* for each: of the GPU, and of the processor */
  for (i = 0; i < 5; i++) {
    for (s = 0; s < 2; s++) {
      if (sizes[i] <= 6) run_stages(&sessions[s], sizes[i]);
      else printf("%d\n", (int)net_run(&sessions[s], sizes[i], x, value, place, pair_of));
    }
  }
  if (fake_made() != 4) return 4;
  if (net_close(&sessions[0]) != ETCH_OK || net_close(&sessions[1]) != ETCH_OK || net_close(&sessions[1]) != ETCH_OK) return 5;
  return fake_held();
}
)c");
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult ran = program.run();
  std::string want;
  for (int n : {6, 1, 4, 7, 6})
    for (int s = 0; s < 2; s++) want += n == 7 ? "4\n" : stages_printed(n);
  EXPECT_EQ(ran.out, want) << describe(ran) << ran.err;
  EXPECT_TRUE(ran.ok()) << describe(ran) << ran.err;
}

TEST(CustomInCuda, ReadsAndWritesTheState) {
  std::vector<EmittedFile> files = project_of(mean_for("cuda"));
  set_main(files, std::string(kRunWithState) + R"c(
int main(void) {
  if (cudaStreamCreate(&stream) != cudaSuccess || mean_open(&session, stream) != ETCH_OK) return 2;
  runs();
  if (mean_close(&session) != ETCH_OK) return 3;
  after_close();
  return fake_held();
}
)c");
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult ran = program.run();
  EXPECT_EQ(ran.out, kRunsPrinted + std::string("18 1\n"));
  EXPECT_TRUE(ran.ok()) << describe(ran) << ran.err;
}

// Each call of a function of CUDA's in turn fails once: a status says so, nothing is lost, and the next run is right.
TEST(CustomInCuda, WhatFailsIsAStatusAndNothingIsLost) {
  std::vector<EmittedFile> files = project_of(stages_for("cuda"));
  set_main(files, std::string(kRunStages) + R"c(
int main(void) {
  static net_session session;
  int status;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  status = (int)net_open(&session, stream);
  if (status == 0) {
    prepare();
    status = (int)net_run(&session, 2, x, value, place, pair_of);
    if (status != 0) printf("run %d %s\n", status, session.cuda.function);
    run_stages(&session, 2);
  } else {
    printf("open %d %s\n", status, session.cuda.function);
  }
  status = (int)net_close(&session);
  if (status != 0) printf("close %d %s\n", status, session.cuda.function);
  return fake_held();
}
)c");
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const auto expect = [&](const std::string& function, int number, const std::string& want) {
    const ProcessResult ran = program.run({}, {{"FAKE_FAIL", function}, {"FAKE_FAIL_AT", std::to_string(number)}});
    EXPECT_EQ(ran.out, want) << function << " " << number << " " << ran.err;
    EXPECT_TRUE(ran.ok()) << function << " " << number << " " << describe(ran) << ran.err;
  };
  expect("cudaMallocHost", 1, "open 16 cudaMallocHost\n");
  expect("cudaMalloc", 1, "open 16 cudaMalloc\n");
  expect("cudaFreeHost", 1, stages_printed(2) + "close 16 cudaFreeHost\n");
  expect("cudaFree", 1, stages_printed(2) + "close 16 cudaFree\n");
  // Copies: two of constants; of one run the input, three and one around blend, one and two around largest, two and one around pair, and
  // three outputs.
  for (int n = 1; n <= 2; n++) expect("cudaMemcpyAsync", n, "open 16 cudaMemcpyAsync\n");
  for (int n = 3; n <= 16; n++) expect("cudaMemcpyAsync", n, "run 16 cudaMemcpyAsync\n" + stages_printed(2));
  std::string untouched = "16";
  for (int i = 0; i < 2 + 2 + 8 + 3; i++) untouched += " -77";
  expect("cudaMemcpyAsync", 17, untouched + "\n");  // the second run's input
  // Waits: in open; of one run before each function, and at its end.
  expect("cudaStreamSynchronize", 1, "open 16 cudaStreamSynchronize\n");
  for (int n = 2; n <= 5; n++) expect("cudaStreamSynchronize", n, "run 16 cudaStreamSynchronize\n" + stages_printed(2));
  expect("", 1, stages_printed(2));
}

TEST(CustomInCuda, ProfileSeesWhatItWrote) {
  std::vector<EmittedFile> files = project_of(stages_for("cuda"));
  set_main(files, std::string(kRunStages) + R"c(
static void after(void *user, uint32_t call, const void *output) {
  float values[2] = {0, 0};
  if (strcmp(net_calls[call].type, "float32") != 0) return;
  if (cudaMemcpyAsync(values, output, sizeof values, cudaMemcpyDeviceToHost, stream) != cudaSuccess) return;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return;
  printf("%s %s %s %.9g %.9g\n", (const char *)user, net_calls[call].nodes, net_calls[call].output, (double)values[0], (double)values[1]);
}
int main(void) {
  static net_session session;
  int status;
  if (cudaStreamCreate(&stream) != cudaSuccess || net_open(&session, stream) != ETCH_OK) return 2;
  prepare();
  status = (int)net_profile(&session, 2, x, value, place, pair_of, after, (void *)"after");
  print_stages(status, 2);
  return (int)net_close(&session);
}
)c");
  const OnCpu program(files, "-DETCH_PROFILE=1 -Wno-unused-function");
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  expect_profiled(program.run());
}

}  // namespace
}  // namespace etch::cuda_project_test
