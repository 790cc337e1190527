// Emitted training steps of whole networks: the same weights as the library's after 100 steps, by compilers of this machine and on an
// emulated board; and what they take.
#include <gtest/gtest.h>

#include <regex>

#include "base/tempdir.h"
#include "emulator/cross_build.h"
#include "emulator/emulator.h"
#include "support/boards.h"
#include "support/files.h"
#include "support/readers.h"
#include "support/tool.h"
#include "support/trained.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr int kSteps = 100;

struct TrainedCase {
  const char *network, *optimizer;
  double rate, within;  // of each parameter, in L2 relative to it
};
void PrintTo(const TrainedCase& c, std::ostream* out) { *out << c.network << " " << c.optimizer; }

/// Adam turns the rounding of small gradients into steps.
constexpr TrainedCase kTrained[] = {
    {"mlp", "sgd", 0.01, 1e-5}, {"mlp", "adam", 0.001, 1e-3}, {"lenet", "sgd", 0.01, 1e-5}, {"lenet", "adam", 0.001, 1e-3}};

ProcessResult in_shell(const fs::path& folder, const std::string& command) {
  ProcessOptions options;
  options.cwd = folder;
  return run_process({"sh", "-c", command}, options);
}

double norm(const std::vector<double>& values) {
  double sum = 0;
  for (double v : values) sum += v * v;
  return std::sqrt(sum);
}

/// The parameters in a file of the state, whose header says where each is.
void expect_state(const fs::path& folder, const TrainedCase& c, const std::vector<Array>& expected) {
  const std::string header = test::content(folder / (std::string(c.network) + ".h")), state = test::content(folder / "state.bin");
  const std::regex place("#define [A-Z]+_STATE_AT_(\\w+) (\\d+)u");
  std::sregex_iterator at(header.begin(), header.end(), place);
  double furthest = 0;
  for (const Array& want : expected) {
    ASSERT_NE(at, std::sregex_iterator());
    const std::size_t offset = std::stoul((*at)[2]);
    ASSERT_LE(offset + want.bytes().size(), state.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(state.data()) + offset;
    const std::vector<double> got = Array(want.dtype(), want.shape(), {bytes, bytes + want.bytes().size()}).doubles(),
                              wanted = want.doubles();
    std::vector<double> apart;
    for (std::size_t i = 0; i < got.size(); i++) apart.push_back(got[i] - wanted[i]);
    const double relative = norm(apart) / norm(wanted);
    EXPECT_LE(relative, c.within) << (*at)[1];
    furthest = std::max(furthest, relative);
    at++;
  }
  std::printf("  %s %s in %s: %.1e\n", c.network, c.optimizer, folder.filename().c_str(), furthest);
}

class EmittedStep : public testing::TestWithParam<TrainedCase> {
 protected:
  /// The project for a target, with the main() that trains; the audit has passed.
  CompiledProject emit(const std::string& target) {
    const CompileOptions options = test::trained_options(work.path(), GetParam().network, target);
    CompiledProject project = compile_trained(options, train_options(std::string("loss=crossentropy,optimizer=") + GetParam().optimizer));
    write_audited(work.path() / target, project, options);
    write_file(work.path() / target / "main.c", test::training_main(GetParam().network, kSteps, GetParam().rate));
    return project;
  }
  std::vector<Array> expected(const CompiledProject& project) const {
    const nn::Rule rule = std::string(GetParam().optimizer) == "sgd" ? nn::sgd() : nn::adam();
    return std::string(GetParam().network) == "mlp" ? test::trained_by_library<test::Mlp>(project, rule, kSteps, GetParam().rate)
                                                    : test::trained_by_library<test::LeNet>(project, rule, kSteps, GetParam().rate);
  }
  const TempDir work{"etch-trained"};
};

TEST_P(EmittedStep, GivesTheWeightsOfTheLibrary) {
  const std::vector<Array> wanted = expected(emit("host"));
  for (const char* compiler : {"gcc", "clang-19"}) {
    const fs::path dir = work.path() / "host";
    const ProcessResult built =
        in_shell(dir, std::string(compiler) + " -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Werror -O2 -o run *.c -lm");
    ASSERT_TRUE(built.ok()) << built.err;
    const ProcessResult ran = in_shell(dir, "./run");
    ASSERT_TRUE(ran.ok()) << describe(ran);
    expect_state(dir, GetParam(), wanted);
  }
  const Target board = test::board_target("cortex-m4f");
  if (const std::string why = test::missing_tools(board); !why.empty()) GTEST_SKIP() << why;
  emit("cortex-m4f");
  const fs::path dir = work.path() / "cortex-m4f";
  const CrossBuild built = build_project(dir, board, work.path() / "build");
  const EmulatorResult ran = run_emulated(board, built.elf, {.functions = {}, .cwd = dir, .timeout_s = 300});
  ASSERT_TRUE(ran.ok()) << ran.console << ran.exit_code;
  expect_state(dir, GetParam(), wanted);
}

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

TEST(StepMemory, OfTheLastLayerIsThatOfARun) {
  const TempDir work("etch-trained");
  const CompiledProject whole = compiled(work.path(), "mlp", 0), last = compiled(work.path(), "mlp", 1);
  EXPECT_LE(static_cast<double>(last.report.step_arena_bytes), 1.1 * static_cast<double>(last.report.arena_bytes));
  EXPECT_LT(last.report.step_arena_bytes, whole.report.step_arena_bytes);
  // The other layers' weights are there once, for the run and for the step.
  EXPECT_EQ(last.report.weights_bytes, whole.report.weights_bytes);
  EXPECT_EQ(last.report.state_bytes, (64 * 10 + 10) * 4);
}

INSTANTIATE_TEST_SUITE_P(Networks, EmittedStep, testing::ValuesIn(kTrained),
                         [](const auto& info) { return std::string(info.param.network) + "_" + info.param.optimizer; });

}  // namespace
}  // namespace etch
