// LeNet learns to read digits, from nothing to a model file: trained here, written as ONNX, and the same numbers from etch's import of that
// file and from ONNX Runtime.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "base/files.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "driver/compile.h"
#include "models/drawings.h"
#include "nn/losses.h"
#include "nn/trainer.h"
#include "onnx/builder.h"
#include "onnx/tensor_file.h"
#include "support/readers.h"
#include "support/usable.h"

namespace etch::nn {
namespace {

constexpr std::int64_t kBatch = 64, kSteps = 1000, kFresh = 2000;

/// LeNet as an ONNX file, with the weights that the network has now.
void write_onnx(Session& session, const StateDict& state, const std::filesystem::path& file) {
  GraphBuilder g("digits", 17);
  for (const NamedTensor& m : state) g.initializer(m.name, session.values(m.tensor));
  using Sizes = GraphBuilder::Ints;
  const auto conv = [&](const std::string& x, const std::string& name, const Sizes& pads) {
    const std::string y = g.relu(g.node("Conv", {x, name + ".weight", name + ".bias"}, {{"pads", pads}}, name));
    return g.node("MaxPool", {y}, {{"kernel_shape", Sizes{2, 2}}, {"strides", Sizes{2, 2}}});
  };
  const auto dense = [&](const std::string& x, const std::string& name) {
    return g.node("Gemm", {x, name + ".weight", name + ".bias"}, {{"transB", 1}}, name);
  };
  const std::string x = conv(conv(g.input("pictures", DType::Float32, {"batch", 1, 28, 28}), "conv1", {2, 2, 2, 2}), "conv2", {0, 0, 0, 0});
  const std::string rows = g.node("Flatten", {x}, {{"axis", 1}});
  g.output(dense(g.relu(dense(g.relu(dense(rows, "fc1")), "fc2")), "fc3"), DType::Float32, {"batch", 10});
  g.write(file);
}

Array imported_outputs(const std::filesystem::path& file, const Device& device, const Array& pictures) {
  CompileOptions options;
  options.import.path = file;
  options.import.dims = {{"batch", 1, kFresh}};
  options.target = find_target("host", target_dirs());
  const Frontend frontend = read_model(options);
  const Program program = lower_model(frontend, device.language(), options);
  return device.load(program)->run({pictures}, {{"batch", pictures.shape()[0]}})[0];
}

/// Alike to 1e-5 of the largest number in their row: of such size are the terms whose sums are rounded.
void expect_same(const Array& got, const Array& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const std::int64_t columns = expected.shape().back();
  double furthest = 0;
  for (std::int64_t row = 0; row < expected.size(); row += columns) {
    double largest = 0;
    for (std::int64_t i = row; i < row + columns; i++) largest = std::max(largest, std::fabs(expected.double_at(i)));
    for (std::int64_t i = row; i < row + columns; i++) {
      const double away = std::fabs(got.double_at(i) - expected.double_at(i)) / largest;
      ASSERT_LE(away, 1e-5) << "number " << i << " is " << got.double_at(i) << ", expected is " << expected.double_at(i);
      furthest = std::max(furthest, away);
    }
  }
  std::printf("  largest difference %.1e of the largest in its row\n", furthest);
}

TEST(TrainFull, LeNetReadsDigitsAndIsTheSameAsOnnx) {
  using Clock = std::chrono::steady_clock;
  const std::shared_ptr<const Device> device = make_device("c");
  if (const std::string why = test::why_not(*device); !why.empty()) GTEST_SKIP() << why;
  Session session(device);
  session.manual_seed(1);
  const test::LeNet network(session);
  const StateDict state = network.state();
  Optimizer optimizer(session, parameters(state), adam(), 0.002);
  TrainerOptions options{.labels = Labels{.input = 1, .classes = 10}, .quiet = true};
  options.rate = [](std::int64_t step) { return cosine_rate(0.002, step, kSteps, 1e-5); };
  options.report = [](const TrainingProgress& p) {
    if (p.step % 100 == 0)
      std::printf("  step %lld: loss %.4f, accuracy %.3f, %.0f pictures a second\n", static_cast<long long>(p.step), p.loss,
                  p.accuracy.value_or(0), p.samples_per_second);
  };
  Trainer trainer(session, optimizer, state, test::reading(network), options);
  const Clock::time_point start = Clock::now();
  const auto batches = [](std::int64_t step) {
    const DrawingBatch batch = draw_batch(kBatch * step, kBatch, {.seed = 1});
    return std::vector<Array>{batch.pictures, batch.labels};
  };
  trainer.train(batches, kSteps);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();

  const DrawingBatch fresh = draw_batch(0, kFresh, {.seed = 2});
  const Array logits = session.values(network(session.from(fresh.pictures)));
  const double right = session.values(accuracy(session.from(logits), session.from(fresh.labels))).double_at(0);
  std::printf("  %lld steps of %lld pictures in %.1f s: %.2f %% of %lld fresh pictures\n", static_cast<long long>(kSteps),
              static_cast<long long>(kBatch), seconds, 100 * right, static_cast<long long>(kFresh));
  EXPECT_GE(right, 0.97);
  EXPECT_LT(seconds, 300);

  const TempDir dir("etch-train");
  const std::filesystem::path file = dir.path() / "digits.onnx", in = dir.path() / "in.npy", out = dir.path() / "out.npy";
  write_onnx(session, state, file);
  expect_same(imported_outputs(file, *device, fresh.pictures), logits);

  const std::vector<std::byte> bytes = npy_bytes(fresh.pictures);
  write_file(in, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  const ProcessResult ran =
      run_process({ETCH_SOURCE_DIR "/tests/fuzz/in_venv", "../nn/onnx_runtime.py", file.string(), in.string(), out.string()}, {});
  if (ran.exit_code == 77) GTEST_SKIP() << ran.out;
  ASSERT_TRUE(ran.ok()) << describe(ran) << ran.err;
  expect_same(read_npy(out), logits);
}

}  // namespace
}  // namespace etch::nn
