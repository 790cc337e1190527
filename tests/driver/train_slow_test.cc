// What training steps of whole networks compute, and the memory that they take.
#include "onnx/builder.h"
#include "trained.h"

namespace etch {
namespace {

/// Adam turns the rounding of small gradients into steps.
constexpr TrainedCase kSlow[] = {{"mlp", "adam", 0.001, 1e-3}, {"lenet", "sgd", 0.01, 1e-5}};
INSTANTIATE_TEST_SUITE_P(Networks, EmittedStep, testing::ValuesIn(kSlow), TrainedName());

CompiledProject compiled(const fs::path& folder, const char* model, int last_layers) {
  const CompileOptions options = test::trained_options(folder, model, "c99");
  return compile_trained(options, train_options("loss=crossentropy,optimizer=sgd", last_layers));
}

/// Bytes of what the forward pass leaves for the gradients: buffers that are written before the loss and read after it.
std::int64_t kept_for_gradients(const CompileOptions& options) {
  const Frontend step = read_step(options, train_options("loss=crossentropy,optimizer=sgd"));
  const Program program = lower_model(step, &language_of(options.target), options);
  std::vector<int> written(program.buffers.size(), -1), read(program.buffers.size(), -1);
  int loss = -1;
  for (std::size_t c = 0; c < program.calls.size(); c++)
    for (const CallArgument& a : program.calls[c].arguments) {
      const auto b = static_cast<std::size_t>(a.buffer);
      if (a.access == Access::Read)
        read[b] = static_cast<int>(c);
      else if (written[b] < 0)
        written[b] = static_cast<int>(c);
      if (a.buffer == program.outputs.at(0)) loss = static_cast<int>(c);
    }
  std::int64_t bytes = 0;
  for (std::size_t b = 0; b < program.buffers.size(); b++)
    if (program.buffers[b].kind == BufferKind::Intermediate && written[b] < loss && read[b] > loss) bytes += program.buffers[b].max_bytes();
  return bytes;
}

TEST(StepMemory, OfResNet8IsItsLowerBoundAndLittleMoreThanWhatGradientsRead) {
  const TempDir work("etch-trained");
  const Report report = compiled(work.path(), "resnet8", 0).report;
  const std::int64_t kept = kept_for_gradients(test::trained_options(work.path(), "resnet8", "c99"));
  std::printf("  arena %lld, lower bound %lld, kept for gradients %lld\n", static_cast<long long>(report.step_arena_bytes),
              static_cast<long long>(report.step_arena_lower_bound_bytes), static_cast<long long>(kept));
  EXPECT_LE(static_cast<double>(report.step_arena_bytes), 1.05 * static_cast<double>(report.step_arena_lower_bound_bytes));
  EXPECT_LE(static_cast<double>(report.step_arena_bytes), 1.3 * static_cast<double>(kept));
}

// An update is part of the kernel that sums its gradient: that one waits for whoever still reads the weight, and nothing is copied.
TEST(StepMemory, EachUpdateIsPartOfItsGradient) {
  const TempDir work("etch-trained");
  const CompileOptions options = test::trained_options(work.path(), "resnet8", "c99");
  const Frontend step = read_step(options, train_options("loss=crossentropy,optimizer=sgd"));
  const Program program = lower_model(step, &language_of(options.target), options);
  int convolutions = 0;
  for (const ProgramCall& call : program.calls)
    for (const LazyOp* store : stores_of(program.kernels[static_cast<std::size_t>(call.kernel)].ast)) {
      EXPECT_NE(store->src[0]->op, Op::Load) << "a copy, of " << nodes_text(call.nodes);
      const ProgramBuffer& out =
          program.buffers[static_cast<std::size_t>(call.arguments.at(static_cast<std::size_t>(store->mem().index)).buffer)];
      if (out.kind != BufferKind::State || out.shape.size() != 4) continue;
      EXPECT_GT(call.macs.max(), 0) << out.name;
      convolutions++;
    }
  EXPECT_EQ(convolutions, 9);
}

// A weight that is used three times has three gradients of 16 KB: each is added to what there is, in its place.
TEST(StepMemory, GradientsAreAddedUpInPlace) {
  const TempDir work("etch-trained");
  GraphBuilder g("thrice", 17);
  std::string x = g.input("x", DType::Float32, {8, 64});
  const std::string w = g.seeded("w", {64, 64}, 64);
  for (int k = 0; k < 3; k++) x = g.node("Tanh", {g.node("MatMul", {x, w})});
  g.output(x, DType::Float32, {8, 64});
  g.write(work.path() / "thrice.onnx");
  CompileOptions options = test::trained_options(work.path(), "mlp", "c99");
  options.import.path = work.path() / "thrice.onnx";
  const Report report = compile_trained(options, train_options("loss=mean_square,optimizer=sgd")).report;
  EXPECT_LT(report.step_arena_bytes, 2 * 64 * 64 * 4);
}

TEST(StepMemory, OfTheLastLayerIsThatOfARun) {
  const TempDir work("etch-trained");
  const CompiledProject whole = compiled(work.path(), "mlp", 0), last = compiled(work.path(), "mlp", 1);
  EXPECT_LE(static_cast<double>(last.report.step_arena_bytes), 1.1 * static_cast<double>(last.report.arena_bytes));
  EXPECT_LT(last.report.step_arena_bytes, whole.report.step_arena_bytes);
  // The other layers' weights are there once, for the run and for the step.
  EXPECT_EQ(last.report.weights_bytes, whole.report.weights_bytes);
  EXPECT_EQ(last.report.state_bytes, (64 * 10 + 10) * 4);
}

}  // namespace
}  // namespace etch
