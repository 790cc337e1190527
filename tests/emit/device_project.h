// What the tests of emitted projects with kernels on a device share: networks of the zoo as projects for a target, changes of their
// files, and checks that are the same for OpenCL and CUDA.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/tempdir.h"
#include "build.h"
#include "device/device.h"
#include "driver/compile.h"
#include "models/quantise.h"
#include "models/zoo.h"
#include "onnx/builder.h"
#include "support/files.h"
#include "tiny.h"

namespace etch::test {

inline CompileOptions options_for(const std::string& target, const std::string& model, WeightsForm weights,
                                  std::vector<DimBinding> dims = {}, bool in_bytes = false) {
  CompileOptions options;
  options.import.path = model + ".onnx";
  options.import.bytes = zoo_bytes(etch::zoo_model(model));
  if (in_bytes) options.import.bytes = quantised(options.import.bytes);
  options.import.dims = std::move(dims);
  options.target = find_target(target, ETCH_SOURCE_DIR "/targets");
  options.weights = weights;
  options.tool_version = "0.1.0";
  return options;
}

inline std::vector<EmittedFile> project(const std::string& target, const std::string& model, WeightsForm weights, bool in_bytes = false) {
  const CompileOptions options = options_for(target, model, weights, {}, in_bytes);
  return compile_project(read_model(options), options).files;
}

/// A program whose buffers begin at multiples of `align`, with the self-test of batch_options().
inline std::vector<EmittedFile> emit_aligned(const Program& p, std::int64_t align, const std::string& name = "scaler") {
  EmitOptions options = batch_options();
  options.name = name;
  return emit(p, plan_memory(p, {.align = align, .align_all = true}), options);
}

/// NOLOCALS: the grid is counted in work-items, and no size of a group is given.
inline Program without_groups(Program p) {
  for (ProgramKernel& k : p.kernels) {
    k.global_size[0] = k.global_size[0] * 32;
    k.local_size = {1, 1, 1};
    k.driver_groups = true;
  }
  return p;
}

/// Changes the first `from` of a file; a file or text that is not there is a failure.
inline void replace(std::vector<EmittedFile>& files, const std::string& name, const std::string& from, const std::string& to) {
  const auto file = std::ranges::find(files, name, &EmittedFile::name);
  ASSERT_NE(file, files.end()) << "no file " << name;
  const std::size_t at = file->text.find(from);
  ASSERT_NE(at, std::string::npos) << name << " has no " << from;
  file->text.replace(at, from.size(), to);
}

/// The text of a file, "" if it is not there.
inline std::string text_in(const std::vector<EmittedFile>& files, const std::string& name) {
  const auto file = std::ranges::find(files, name, &EmittedFile::name);
  return file == files.end() ? "" : file->text;
}

/// `text` in place of the self-test.
inline void set_selftest(std::vector<EmittedFile>& files, const std::string& text) {
  const auto file = std::ranges::find(files, "selftest.c", &EmittedFile::name);
  ASSERT_NE(file, files.end()) << "no selftest.c";
  file->text = text;
}

/// A network that keeps mean = 0.75 * mean + 0.25 * x from run to run, for a target. With `x`: its input, and the output y = mean;
/// else x is 8, and nothing is left for the caller.
inline CompiledProject project_with_state(const std::string& target, bool with_x) {
  GraphBuilder g("mean", 17, 8);
  const auto number = [&](const char* name, double value) {
    return g.initializer(name, Array::of_doubles(DType::Float32, {1}, std::vector<double>{value}));
  };
  const auto mean = g.input("mean_in", DType::Float32, {1}), x = with_x ? g.input("x", DType::Float32, {1}) : number("x", 8);
  const auto kept = g.node("Mul", {mean, number("keep", 0.75)});
  g.node_with_outputs("Add", {kept, g.node("Mul", {x, number("take", 0.25)})}, {"mean_out"}, {}, "add");
  g.output("mean_out", DType::Float32, {1});
  if (with_x) {
    g.node_with_outputs("Identity", {"mean_out"}, {"y"}, {}, "copy");
    g.output("y", DType::Float32, {1});
  }
  CompileOptions options = options_for(target, "lenet", WeightsForm::C);
  options.import.path = "mean.onnx";
  options.import.bytes = g.bytes();
  options.import.states = {{"mean_in", "mean_out"}};
  return compile_project(read_model(options), options);
}

/// In C: three runs with x = 8, the last one after the state has its first values again.
inline constexpr const char* kRunWithState = R"c(
#include "mean.h"
static mean_session session;
static void runs(void) {
  static const float x[MEAN_X_COUNT] = {8};
  float y[MEAN_Y_COUNT] = {-1};
  int turn, status;
  for (turn = 0; turn < 3; turn++) {
    if (turn == 2) printf("init %d ", (int)mean_state_init(&session));
    status = (int)mean_run(&session, x, y);
    printf("%d %g ", status, (double)y[0]);
  }
}
static void after_close(void) { printf("%d %d\n", (int)mean_state_init(&session), (int)mean_state_init(NULL)); }
)c";
/// What runs() prints: 0.25 * 8, and 0.75 * 2 + 2.
inline constexpr const char* kRunsPrinted = "0 2 0 3.5 init 0 0 2 ";

/// The audit finds nothing in the network's project, which has these `names` among its files and is the same every time.
inline void expect_audited_and_the_same(const std::string& target, const std::string& model, const std::vector<std::string>& names,
                                        bool in_bytes = false) {
  const TempDir temp;
  const CompileOptions options = options_for(target, model, WeightsForm::Auto, {}, in_bytes);
  std::vector<std::string> texts[2];
  for (int turn = 0; turn < 2; turn++) {
    const fs::path dir = temp.path() / std::to_string(turn);
    const Report report = write_audited(dir, compile_project(read_model(options), options), options).report;
    ASSERT_TRUE(report.audit);
    EXPECT_TRUE(report.audit->findings.empty());
    EXPECT_GT(report.audit->functions, 9 + 30) << "the kernels and the runtime are among them";
    EXPECT_EQ(report.language, target);
    for (const std::string& name : names) {
      EXPECT_TRUE(fs::exists(dir / name)) << name;
      texts[turn].push_back(content(dir / name));
    }
  }
  EXPECT_EQ(texts[0], texts[1]);
}

/// CMake configures, builds and tests a folder; `run` runs a command there.
inline void expect_cmake_passes(const std::function<ProcessResult(const std::string& command)>& run) {
  const ProcessResult configured = run("cmake -B build");
  ASSERT_TRUE(configured.ok()) << configured.err;
  const ProcessResult built = run("cmake --build build");
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  const ProcessResult ran = run("ctest --test-dir build");
  EXPECT_TRUE(ran.ok()) << ran.out;
  EXPECT_NE(ran.out.find("100% tests passed"), std::string::npos) << ran.out;
}

// --- one project for every batch

/// The network mlp_batch for 1 to 16 images, with the name "model".
struct BatchModel {
  explicit BatchModel(const std::string& target) : options(options_for(target, "mlp_batch", WeightsForm::C, {{"batch", 1, 16}})) {
    options.import.name = "model";
    frontend = read_model(options);
    files = compile_project(frontend, options).files;
  }
  CompileOptions options;
  Frontend frontend;
  std::vector<EmittedFile> files;
};

/// What the program gets on its command line; it runs each in kBatchSessions sessions.
inline const std::vector<std::string> kBatches{"16", "1", "0", "7", "17", "-1", "16"};
inline constexpr int kBatchSessions = 2;

/// In C, for a program that includes model.h, stdio.h and stdlib.h: prints the status, the rows of the output and one row more, which
/// the model is not to write.
inline constexpr const char* kRunBatch = R"c(
static void run_batch(model_session *session, int batch) {
  static float x[MODEL_INPUT_COUNT];
  const size_t rows = batch < 1 ? 1u : (size_t)batch;
  float *const y = (float *)malloc((rows + 1u) * 10 * sizeof(float));
  size_t i;
  for (i = 0; i < MODEL_INPUT_COUNT; i++) x[i] = (float)(i * 7 % 19) / 8.0f - 1.0f;
  for (i = 0; i < (rows + 1u) * 10; i++) y[i] = -77.0f;
  printf("%d", (int)model_run(session, batch, x, y));
  for (i = 0; i < (rows + 1u) * 10; i++) printf(" %.9g", (double)y[i]);
  printf("\n");
  free(y);
}
)c";

/// `printed`: what run_batch() said for each of kBatches in each session. INTERP gives the same outputs.
inline void expect_batches(const BatchModel& model, const std::string& printed) {
  const Program reference = lower_model(model.frontend, nullptr, model.options);
  const auto interp = make_reference_device()->load(reference);
  std::istringstream lines(printed);
  for (const std::string& text : kBatches)
    for (int session = 0; session < kBatchSessions; session++) {
      SCOPED_TRACE("batch " + text + ", session " + std::to_string(session));
      const int batch = std::stoi(text), rows = std::max(batch, 1);
      const bool valid = batch >= 1 && batch <= 16;
      std::vector<double> expected(static_cast<std::size_t>(rows + 1) * 10, -77);  // what is not written stays
      if (valid) {
        std::vector<double> x(static_cast<std::size_t>(batch) * 784);
        for (std::size_t i = 0; i < x.size(); i++) x[i] = static_cast<double>(i * 7 % 19) / 8 - 1;
        const std::vector<double> y = interp->run({Array::of_doubles(DType::Float32, {batch, 784}, x)}, {{"batch", batch}})[0].doubles();
        std::ranges::copy(y, expected.begin());
      }
      std::string line;
      std::getline(lines, line);
      std::istringstream words(line);
      int status = -1;
      words >> status;
      EXPECT_EQ(status, valid ? 0 : 4);  // ETCH_RANGE
      for (std::size_t i = 0; i < expected.size(); i++) {
        double got = 0;
        words >> got;
        ASSERT_NEAR(got, expected[i], 1e-5) << "element " << i;
      }
    }
}

}  // namespace etch::test
