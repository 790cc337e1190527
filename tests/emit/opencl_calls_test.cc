// Calls of an emitted OpenCL project: wrong arguments, devices and weights, and the hook for profiles.
#include <gtest/gtest.h>

#include "opencl_build.h"

namespace etch::opencl_calls_test {
namespace {

using namespace test;

// Wrong arguments and devices: each gives a status, and everything that was made is released.
constexpr const char* kHostile = R"c(
#include "model.h"
static model_session session;
static float x[MODEL_X_COUNT], y[MODEL_Y_COUNT];
static void row(const char *what, int got) { printf("%s %d\n", what, got); }
int main(void) {
  char small[1], log[20000];
  unsigned before;
  etch_status opened;
  if (!make()) return 2;
  before = held();
  row("no session", (int)model_open(NULL, context, device, queue));
  row("no context", (int)model_open(&session, NULL, device, queue));
  row("run after it", (int)model_run(&session, 1, x, y));
  row("close after it", (int)model_close(&session));
  row("no device", (int)model_open(&session, context, NULL, queue));
  row("no queue", (int)model_open(&session, context, device, NULL));
  opened = model_open(&session, context, device, queue);
  row("open", (int)opened);
  if (opened != ETCH_OK) printf("%s %d\n", session.cl.function == NULL ? "-" : session.cl.function, (int)session.cl.error);
  row("log", (int)etch_cl_build_log(&session.cl, log, sizeof log));
  if (opened == ETCH_CL_BUILD) row("has the word", strstr(log, "undeclared") != NULL);
  if (opened == ETCH_CL_BUILD) row("small log", (int)etch_cl_build_log(&session.cl, small, sizeof small));
  row("no log", (int)etch_cl_build_log(&session.cl, NULL, 10));
  row("run without session", (int)model_run(NULL, 1, x, y));
  row("run without input", (int)model_run(&session, 1, NULL, y));
  row("run without output", (int)model_run(&session, 1, x, NULL));
  row("batch 9", (int)model_run(&session, 9, x, y));
  x[0] = 3;
  row("run", (int)model_run(&session, 1, x, y));
  row("result", (int)y[0]);
  row("close", (int)model_close(&session));
  row("close again", (int)model_close(&session));
  row("close nothing", (int)model_close(NULL));
  row("run when closed", (int)model_run(&session, 1, x, y));
  row("log when closed", (int)etch_cl_build_log(&session.cl, log, sizeof log));
  row("open again", (int)model_open(&session, context, device, queue) == (int)opened);
  row("close", (int)model_close(&session));
  row("still held", (int)(held() - before));
  return 0;
}
)c";

TEST_F(OpenCL, StateStartsAgainByStateInit) {
  std::vector<EmittedFile> files = project_with_state("opencl", true).files;
  set_selftest(files, std::string(kMain) + kRunWithState + kMainWithState);
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), "-Wno-unused-function");
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(run_opencl(temp.path(), "./test").out, kRunsPrinted + std::string("14 1\n")) << "ETCH_CL_CLOSED, ETCH_NULL";
}

TEST_F(OpenCL, AModelOfStateAloneBuilds) {
  const TempDir temp;
  put(temp.path(), project_with_state("opencl", false).files);
  const ProcessResult built = build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(run_opencl(temp.path(), "./test").out, "RAN, no result to compare with\n");
}

TEST_F(OpenCL, HostileCallsGiveStatuses) {
  // Statuses by number: 0 ok, 1 null, 4 range, 10 no space, 11 OpenCL error, 12 build, 13 device, 14 closed.
  const std::string first = "no session 1\nno context 1\nrun after it 14\nclose after it 0\nno device 1\nno queue 1\n";
  const std::string good =
      first +
      "open 0\nlog 0\nno log 1\nrun without session 1\nrun without input 1\nrun without output 1\nbatch 9 4\nrun 0\nresult 7\n"
      "close 0\nclose again 0\nclose nothing 1\nrun when closed 14\nlog when closed 14\nopen again 1\nclose 0\nstill held 0\n";
  const std::string refused =
      "no log 1\nrun without session 1\nrun without input 14\nrun without output 14\nbatch 9 14\nrun 14\nresult 0\n"
      "close 0\nclose again 0\nclose nothing 1\nrun when closed 14\nlog when closed 14\nopen again 1\nclose 0\nstill held 0\n";
  const struct {
    const char *what, *file, *from, *to;
    std::string says;
  } rows[] = {
      {"as emitted", "", "", "", good},
      {"a device that wants regions further apart", "model.c", "512, /* its alignment */", "1, /* its alignment */", good},
      {"a kernel that does not compile", "model_kernels.c", "2.0f * in[i]", "2.0f * undeclared",
       first + "open 12\nclBuildProgram -11\nlog 0\nhas the word 1\nsmall log 10\n" + refused},
      {"a kernel that is not there", "model.c", "{\"k1_increment\"", "{\"k1_decrement\"",
       first + "open 11\nclCreateKernel -46\nlog 0\n" + refused},
      {"work-groups that are too large", "model.c", "{32, 1, 1}", "{1048576, 1048576, 1}", first + "open 13\n- 0\nlog 0\n" + refused},
      {"an arena with a part outside", "model.c", "{0, 1024}", "{512, 1024}", first + "open 11\nclCreateSubBuffer -30\nlog 0\n" + refused},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    std::vector<EmittedFile> files = scaler(batch_program_opencl(), "model");
    if (*row.file != '\0') replace(files, row.file, row.from, row.to);
    set_selftest(files, std::string(kMain) + kHostile);
    const TempDir temp;
    put(temp.path(), files);
    const ProcessResult built = build(temp.path(), "-Wno-unused-function -fsanitize=undefined");
    ASSERT_TRUE(built.ok()) << built.err;
    const ProcessResult ran = run_opencl(temp.path(), "./test");
    EXPECT_EQ(ran.out, row.says) << describe(ran) << ran.err;
  }
}

TEST_F(OpenCL, ABlobOfAnotherModelIsRefused) {
  CompileOptions options = options_for("opencl", "lenet", WeightsForm::Blob);
  options.import.name = "model";
  std::vector<EmittedFile> files = compile_project(read_model(options), options).files;
  set_selftest(files, kMain + std::string(R"c(
#include "model.h"
int main(void) {
  ETCH_ALIGNED(MODEL_WEIGHTS_ALIGN) static unsigned char weights[MODEL_WEIGHTS_BYTES + 8u];
  static model_session session;
  FILE *const file = fopen("model_weights.bin", "rb");
  unsigned before;
  if (!make() || file == NULL || fread(weights, 1, MODEL_WEIGHTS_BYTES, file) != MODEL_WEIGHTS_BYTES) return 2;
  before = held();
  printf("%d", (int)model_check_weights(weights, MODEL_WEIGHTS_BYTES));
  printf(" %d", (int)model_open(&session, context, device, queue, weights));
  printf(" %d", (int)model_close(&session));
  weights[MODEL_WEIGHTS_BYTES - 1u] ^= 1u;
  printf(" %d", (int)model_check_weights(weights, MODEL_WEIGHTS_BYTES));
  weights[16] ^= 1u;
  printf(" %d", (int)model_open(&session, context, device, queue, weights));
  printf(" %d", (int)model_close(&session));
  weights[0] ^= 1u;
  printf(" %d", (int)model_open(&session, context, device, queue, weights));
  printf(" %d", (int)model_open(&session, context, device, queue, NULL));
  printf(" %d", (int)model_open(&session, context, device, queue, weights + 4));
  printf(" %d, %u still held\n", (int)model_close(&session), held() - before);
  return 0;
}
)c"));
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path());
  ASSERT_TRUE(built.ok()) << built.err;
  // ok, ok, ok, damaged; another model's (by its hash), closed; no blob, null, not aligned, closed
  EXPECT_EQ(run_opencl(temp.path(), "./test").out, "0 0 0 8 7 0 6 1 9 0, 0 still held\n");
}

TEST_F(OpenCL, ProfileNamesEveryCall) {
  std::vector<EmittedFile> files = scaler();
  set_selftest(files, kMain + std::string(R"c(
#include "scaler.h"
static void after(void *user, uint32_t call, etch_cl_mem output) {
  float value = 0;
  clEnqueueReadBuffer(queue, output, CL_TRUE, 0, sizeof value, &value, 0, NULL, NULL);
  printf("%s %u %s %s %g\n", (const char *)user, (unsigned)call, scaler_calls[call].nodes, scaler_calls[call].output, (double)value);
}
int main(void) {
  static scaler_session session;
  static float x[SCALER_X_COUNT] = {3}, y[SCALER_Y_COUNT];
  if (!make() || scaler_open(&session, context, device, queue) != ETCH_OK) return 2;
  return (int)scaler_profile(&session, 2, x, y, after, (void *)"after") + (int)scaler_close(&session);
}
)c"));
  const TempDir temp;
  put(temp.path(), files);
  const ProcessResult built = build(temp.path(), "-DETCH_PROFILE=1 -Wno-unused-function");
  ASSERT_TRUE(built.ok()) << built.err;
  EXPECT_EQ(run_opencl(temp.path(), "./test").out, "after 0 double twice 6\nafter 1 increment y 7\n");
}

}  // namespace
}  // namespace etch::opencl_calls_test
