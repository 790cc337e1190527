// Emitted training steps of whole networks: the same weights as the library's after 100 steps, by compilers of this machine and on an
// emulated board. Instantiated for some networks and optimisers in each test run, for the others among the long tests.
#pragma once

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

struct TrainedName {
  template <class Info>
  std::string operator()(const Info& info) const {
    return std::string(info.param.network) + "_" + info.param.optimizer;
  }
};

}  // namespace
}  // namespace etch
