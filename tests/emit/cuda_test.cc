// Projects with kernels in CUDA: the emitted files, what nvcc says to them, and their results on a stand-in of CUDA's runtime.
#include <gtest/gtest.h>

#include <sstream>

#include "audit/audit.h"
#include "base/error.h"
#include "cuda_build.h"
#include "device_project.h"
#include "onnx/builder.h"
#include "support/expect_error.h"
#include "support/needs.h"

namespace etch::cuda_test {
namespace {

using namespace test;
using cuda::expect_nvcc_builds;
using cuda::expect_pass;
using cuda::OnCpu;

std::vector<EmittedFile> scaler(const Program& p = batch_program_cuda(), const std::string& name = "scaler") {
  return emit_aligned(p, 256, name);
}

void set_main(std::vector<EmittedFile>& files, const std::string& text) {
  set_selftest(
      files,
      "#include <cuda_runtime_api.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
      "int fake_made(void);\nint fake_held(void);\nint fake_launches(void);\nsize_t fake_asked(void);\nstatic cudaStream_t stream;\n" +
          text);
}

// --- what is emitted

TEST(CudaFiles, OfBytesPassTheAudit) { expect_audited_and_the_same("cuda", "lenet", {"lenet.cu", "report.json"}, true); }

TEST(CudaFiles, PassTheAuditAndAreTheSameEveryTime) {
  expect_audited_and_the_same("cuda", "ds_cnn",
                              {"ds_cnn.h", "ds_cnn.c", "ds_cnn.cu", "ds_cnn_weights.c", "etch_cuda.c", "etch_math.h", "selftest.c",
                               "CMakeLists.txt", "report.txt", "report.json"});
}

TEST(CudaFiles, TheAuditFindsMistakesInKernelsAndRuntime) {
  const struct {
    const char *file, *from, *to, *rule;
  } rows[] = {
      {"scaler.cu", "2.0f * in[i]", "2.0f * undeclared", "parse"},
      {"scaler.cu", "  if (i < batch * 32)", "  static int n; n++;\n  if (i < batch * 32)", "mutable-static"},
      {"scaler.cu", "  if (i < batch * 32)", "  while (in[i] != 0.0f) ;\n  if (i < batch * 32)", "unbounded-loop"},
      {"scaler.cu", "#define k0_double scaler_k0_double\n", "", "prefix"},
      {"etch_cuda.c", "cudaFree(session->memory)", "cudaFreeAll(session->memory)", "parse"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.to);
    std::vector<EmittedFile> files = scaler();
    const TempDir good, bad;
    put(good.path(), files);
    EXPECT_TRUE(audit_directory(good.path()).ok());
    replace(files, row.file, row.from, row.to);
    put(bad.path(), files);
    const AuditReport report = audit_directory(bad.path());
    EXPECT_TRUE(std::ranges::any_of(report.findings, [&](const Finding& f) { return f.rule == row.rule; }));
  }
}

TEST(CudaFiles, ModelNeedsNoCudaHeaders) {
  for (const EmittedFile& f : project("cuda", "lenet", WeightsForm::C))
    EXPECT_EQ(f.text.find("cuda_runtime_api.h>") != std::string::npos, f.name == "etch_cuda.c" || f.name == "selftest.c") << f.name;
}

TEST(CudaFiles, AGridThatCudaDoesNotTakeIsRefused) {
  Program p = batch_program_cuda();
  p.kernels[0].global_size[1] = 65536;
  expect_error<UserError>([&] { scaler(p); }, "kernel 'k0_double' has up to 65536 work-groups, at most 65535 can be emitted");
}

// --- what nvcc says

class Nvcc : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({"nvcc"}); !why.empty()) GTEST_SKIP() << why;
  }
};

constexpr const char* kArchitectures =
    "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_87,code=sm_87 -gencode arch=compute_90,code=sm_90";

// A product of halves big enough for the tensor cores.
std::vector<EmittedFile> product_of_halves() {
  GraphBuilder g("product", 17, 8);
  g.input("a", DType::Float16, {64, 64});
  g.input("b", DType::Float16, {64, 64});
  g.output(g.node("MatMul", {"a", "b"}, {}, "product"), DType::Float16, {64, 64});
  CompileOptions options = options_for("cuda", "lenet", WeightsForm::C);
  const TempDir temp;
  g.write(temp.path() / "product.onnx");
  options.import.path = temp.path() / "product.onnx";
  options.import.bytes.clear();
  return compile_project(read_model(options), options).files;
}

TEST_F(Nvcc, CompilesAndLinksForEveryArchitecture) {
  const struct {
    const char* name;
    std::vector<EmittedFile> files;
  } rows[] = {{"ds_cnn", project("cuda", "ds_cnn", WeightsForm::C)}, {"product", product_of_halves()}, {"scaler", scaler()}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const TempDir temp;
    put(temp.path(), row.files);
    if (std::string(row.name) == "product") {
      EXPECT_NE(content(temp.path() / "product.cu").find("mma.sync"), std::string::npos) << "it uses the tensor cores";
    }
    expect_nvcc_builds(temp.path(), row.name, kArchitectures);
  }
}

TEST_F(Nvcc, BuildsByCMake) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  for (const std::string languages : {"C CUDA ASM", "C"}) {
    SCOPED_TRACE(languages);
    const TempDir temp;
    put(temp.path() / "lenet", project("cuda", "lenet", WeightsForm::Incbin));
    put(temp.path() / "scaler", scaler());
    // Both in one program of C, whose kernels have names of their own.
    write_file(temp.path() / "CMakeLists.txt",
               "cmake_minimum_required(VERSION 3.18)\nset(CMAKE_CUDA_ARCHITECTURES 75)\nproject(two " + languages +
                   ")\nenable_testing()\nadd_subdirectory(lenet)\nset(SCALER_SELFTEST ON)\nadd_subdirectory(scaler)\n"
                   "add_executable(user user.c)\ntarget_link_libraries(user etch::lenet etch::scaler)\n");
    write_file(temp.path() / "user.c",
               "#include \"lenet.h\"\n#include \"scaler.h\"\nstatic lenet_session a;\nstatic scaler_session b;\n"
               "int main(void) { return lenet_open(&a, NULL) + scaler_open(&b, NULL) == 2 * ETCH_CUDA_ERROR; }\n");
    expect_cmake_passes([&](const std::string& command) { return run_in(temp.path(), command); });
  }
}

// --- what it computes

TEST(CudaOnCpu, NetworksPassTheirSelfTest) {
  expect_pass(project("cuda", "ds_cnn", WeightsForm::C));
  expect_pass(project("cuda", "lenet", WeightsForm::Incbin));
  expect_pass(project("cuda", "lenet", WeightsForm::Blob), {"lenet_weights.bin"});
  expect_pass(product_of_halves());
  expect_pass(scaler());
}

// The runtime divides the grid into blocks that CUDA takes.
TEST(CudaOnCpu, TheRuntimeChoosesTheBlocks) {
  std::vector<EmittedFile> files = scaler(without_groups(batch_program_cuda()));
  EXPECT_NE(text_in(files, "scaler.c").find("{256, 0, 0}}"), std::string::npos);
  expect_pass(files);
  // 128 items in the third dimension, where a block may have 64. All that has to be right of this grid is that CUDA takes it.
  replace(files, "scaler.c", "{SIZE(0), 1, 1}, {256", "{1, 1, 128}, {256");
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok());
  EXPECT_TRUE(program.run().out.starts_with("FAIL y["));
}

// Rows and columns both open: no kernel is left with one thread a block.
TEST(CudaOnCpu, KernelsOverOpenSizesHaveBlocks) {
  GraphBuilder g("open", 17, 8);
  const auto x = g.input("x", DType::Float32, {"n", "m"});
  const auto turned = g.node("Transpose", {g.node("Softmax", {x}, {{"axis", std::int64_t{1}}})});
  g.output(g.node("MatMul", {x, turned}), DType::Float32, {"n", "n"});
  CompileOptions options = options_for("cuda", "lenet", WeightsForm::C, {{"n", 1, 7}, {"m", 1, 300}});
  options.import.path = "open.onnx";
  options.import.bytes = g.bytes();
  const std::vector<EmittedFile> files = compile_project(read_model(options), options).files;
  EXPECT_EQ(text_in(files, "open.cu").find("__launch_bounds__(1)"), std::string::npos) << text_in(files, "open.cu");
  expect_pass(files);
}

TEST(CudaOnCpu, StateStartsAgainByStateInit) {
  CompiledProject made = project_with_state("cuda", true);
  set_main(made.files, std::string(kRunWithState) + R"c(
int main(void) {
  if (cudaStreamCreate(&stream) != cudaSuccess || mean_open(&session, stream) != ETCH_OK) return 2;
  printf("%u bytes ", (unsigned)fake_asked());
  runs();
  if (mean_close(&session) != ETCH_OK) return 3;
  after_close();
  return fake_held();
}
)c");
  const OnCpu program(made.files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const Fit fit = make_fit(made.report, find_target("cuda", ETCH_SOURCE_DIR "/targets"), {});
  const std::string bytes = std::to_string(fit.ram_bytes()) + " bytes ";
  EXPECT_EQ(program.run().out, bytes + kRunsPrinted + "18 1\n") << "the report's bytes; ETCH_CUDA_CLOSED, ETCH_NULL";
  EXPECT_EQ(to_text(fit).find("and the stack"), std::string::npos) << to_text(fit);
}

TEST(CudaOnCpu, AModelOfStateAloneBuilds) {
  const OnCpu program(project_with_state("cuda", false).files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  EXPECT_EQ(program.run().out, "RAN, no result to compare with\n");
}

TEST(CudaOnCpu, SelfTestFailsWhereSomethingIsWrong) {
  const struct {
    const char *file, *from, *to, *says;
  } rows[] = {
      {"scaler.cu", "in[i] + 1.0f", "in[i] + 1.5f", "FAIL y["},
      {"selftest.c", "expected_y[160] = {\n  ", "expected_y[160] = {\n  1", "FAIL y["},
      {"scaler.c", "{32, 1, 1}}, /* k0", "{2048, 1, 1}}, /* k0", "FAIL status 17"},
      {"scaler.c", "{SIZE(0), 1, 1}, {32, 1, 1}}, /* k0", "{SIZE(0), 65536, 1}, {32, 1, 1}}, /* k0",
       "cudaLaunchKernel: CUDA error 9, some error\nFAIL status 16"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.to);
    std::vector<EmittedFile> files = scaler();
    replace(files, row.file, row.from, row.to);
    const OnCpu program(files);
    ASSERT_TRUE(program.built().ok()) << program.built().err;
    const ProcessResult ran = program.run();
    EXPECT_EQ(ran.exit_code, 1) << ran.err;
    EXPECT_TRUE(ran.out.starts_with(row.says)) << ran.out;
  }
}

TEST(CudaOnCpu, NoGpuIsSaidAndEveryFailureIsAStatus) {
  const OnCpu program(scaler());
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult none = program.run({}, {{"FAKE_NO_GPU", "1"}});
  EXPECT_EQ(none.out, "SKIPPED no NVIDIA GPU: old driver\n");
  EXPECT_EQ(none.exit_code, 77);
  for (const std::string function :
       {"cudaGetDevice", "cudaFuncGetAttributes", "cudaMalloc", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize"}) {
    const ProcessResult ran = program.run({}, {{"FAKE_FAIL", function}});
    const std::string code = function == "cudaMalloc" ? "2" : "30";
    EXPECT_EQ(ran.out, function + ": CUDA error " + code + ", some error\nFAIL status 16\n") << ran.err;
    EXPECT_EQ(ran.exit_code, 1) << "and all memory was given back\n" << ran.err;
  }
  for (const char* function : {"cudaStreamCreate", "cudaFree", "cudaStreamDestroy"})
    EXPECT_EQ(program.run({}, {{"FAKE_FAIL", function}}).out, "FAIL status 16\n") << function;
}

// Several sessions; all memory is made by open, and none after it.
TEST(CudaOnCpu, OneProjectForEveryBatchAllocatesInOpenAlone) {
  BatchModel model("cuda");
  set_main(model.files, std::string("#include \"model.h\"\n") + kRunBatch + R"c(
int main(int argc, char **argv) {
  static model_session sessions[2];
  int s, a, made, launches;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  if (model_open(&sessions[0], stream) != ETCH_OK || model_open(&sessions[1], stream) != ETCH_OK) return 2;
  made = fake_made();
  if (made != 2 || fake_held() != 2) return 3;
  for (a = 1; a < argc; a++) {
    const int batch = atoi(argv[a]);
    for (s = 0; s < 2; s++) {
      launches = fake_launches();
      run_batch(&sessions[s], batch);
      if ((fake_launches() != launches) != (batch >= 1 && batch <= 16)) return 5;
    }
  }
  if (fake_made() != made) return 6; /* an allocation after open */
  if (model_close(&sessions[0]) != ETCH_OK || model_close(&sessions[1]) != ETCH_OK) return 4;
  return fake_held();
}
)c");
  const OnCpu program(model.files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult ran = program.run(kBatches);
  ASSERT_TRUE(ran.ok()) << describe(ran) << ran.err;
  expect_batches(model, ran.out);
}

TEST(CudaOnCpu, HostileCallsGiveStatuses) {
  std::vector<EmittedFile> files = scaler(batch_program_cuda(), "model");
  set_main(files, R"c(
#include "model.h"
static void row(const char *what, int value) { printf("%s %d\n", what, value); }
int main(void) {
  static model_session session, other;
  static float x[MODEL_X_COUNT] = {3}, y[MODEL_Y_COUNT];
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  row("no session", (int)model_open(NULL, stream));
  row("another stream", (int)model_open(&other, NULL));
  row("close after it", (int)model_close(&other));
  row("open", (int)model_open(&session, stream));
  row("run without session", (int)model_run(NULL, 1, x, y));
  row("run without input", (int)model_run(&session, 1, NULL, y));
  row("run without output", (int)model_run(&session, 1, x, NULL));
  row("batch 9", (int)model_run(&session, 9, x, y));
  row("run", (int)model_run(&session, 1, x, y));
  row("result", (int)y[0]);
  setenv("FAKE_DEVICE", "1", 1);
  row("run on another GPU", (int)model_run(&session, 1, x, y));
  unsetenv("FAKE_DEVICE");
  row("close", (int)model_close(&session));
  row("close again", (int)model_close(&session));
  row("close nothing", (int)model_close(NULL));
  row("run when closed", (int)model_run(&session, 1, x, y));
  row("open again", (int)model_open(&session, stream));
  row("close", (int)model_close(&session));
  row("held", fake_held());
  return (int)cudaGetLastError(); /* statuses have told of all */
}
)c");
  set_selftest(files, "#define _POSIX_C_SOURCE 200112L\n" + text_in(files, "selftest.c"));
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult ran = program.run();
  EXPECT_TRUE(ran.ok()) << ran.err;
  // Statuses by number: 0 ok, 1 null, 4 range, 16 CUDA error (of a stream that is not there), 17 device, 18 closed.
  EXPECT_EQ(ran.out,
            "no session 1\nanother stream 16\nclose after it 0\nopen 0\nrun without session 1\nrun without input 1\nrun without output 1\n"
            "batch 9 4\nrun 0\nresult 7\nrun on another GPU 17\nclose 0\nclose again 0\nclose nothing 1\nrun when closed 18\nopen again 0\n"
            "close 0\nheld 0\n");
}

TEST(CudaOnCpu, ABlobOfAnotherModelIsRefused) {
  std::vector<EmittedFile> files = project("cuda", "lenet", WeightsForm::Blob);
  set_main(files, R"c(
#include "lenet.h"
int main(void) {
  ETCH_ALIGNED(LENET_WEIGHTS_ALIGN) static unsigned char weights[LENET_WEIGHTS_BYTES + 8u];
  static lenet_session session;
  FILE *const file = fopen("lenet_weights.bin", "rb");
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  if (file == NULL || fread(weights, 1, LENET_WEIGHTS_BYTES, file) != LENET_WEIGHTS_BYTES) return 2;
  fclose(file);
  printf("%d", (int)lenet_check_weights(weights, LENET_WEIGHTS_BYTES));
  printf(" %d", (int)lenet_open(&session, stream, weights));
  printf(" %d", (int)lenet_close(&session));
  weights[16] ^= 1u;
  printf(" %d", (int)lenet_open(&session, stream, weights));
  weights[0] ^= 1u;
  printf(" %d", (int)lenet_open(&session, stream, weights));
  printf(" %d", (int)lenet_open(&session, stream, NULL));
  printf(" %d", (int)lenet_open(&session, stream, weights + 4));
  printf(" %d, %d made, %d held\n", (int)lenet_close(&session), fake_made(), fake_held());
  return 0;
}
)c");
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  // ok, ok, ok; another model's (by its hash), no blob, null, not aligned, closed
  EXPECT_EQ(program.run().out, "0 0 0 7 6 1 9 0, 1 made, 0 held\n");
}

TEST(CudaOnCpu, ProfileNamesEveryCall) {
  std::vector<EmittedFile> files = scaler();
  set_main(files, R"c(
#include "scaler.h"
static void after(void *user, uint32_t call, const void *output) {
  float value = 0;
  if (cudaMemcpyAsync(&value, output, sizeof value, cudaMemcpyDeviceToHost, stream) != cudaSuccess) return;
  if (cudaStreamSynchronize(stream) != cudaSuccess) return;
  printf("%s %u %s %s %g\n", (const char *)user, (unsigned)call, scaler_calls[call].nodes, scaler_calls[call].output, (double)value);
}
int main(void) {
  static scaler_session session;
  static float x[SCALER_X_COUNT] = {3}, y[SCALER_Y_COUNT];
  if (cudaStreamCreate(&stream) != cudaSuccess || scaler_open(&session, stream) != ETCH_OK) return 2;
  return (int)scaler_profile(&session, 2, x, y, after, (void *)"after") + (int)scaler_close(&session);
}
)c");
  const OnCpu program(files, "-DETCH_PROFILE=1");
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  EXPECT_EQ(program.run().out, "after 0 double twice 6\nafter 1 increment y 7\n");
}

}  // namespace
}  // namespace etch::cuda_test
