// Emitted C means the same on machines whose numbers begin with their highest byte: built by a cross compiler, run by QEMU. Wanted outputs
// are those of the model's data; the self-test compares every bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "base/tempdir.h"
#include "emulator/cross_build.h"
#include "support/boards.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/quantised_mlp.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

struct Machine {
  const char *name, *compiler, *emulator;
};

/// Of 32 and of 64 bits.
constexpr Machine kMachines[] = {
    {"powerpc", "powerpc-linux-gnu-gcc", "qemu-ppc"},
    {"s390x", "s390x-linux-gnu-gcc", "qemu-s390x"},
};

class BigEndian : public testing::TestWithParam<Machine> {
 protected:
  void SetUp() override {
    if (const std::string why = test::missing({GetParam().compiler, GetParam().emulator}); !why.empty()) GTEST_SKIP() << why;
  }

  /// The project of a model, with its first data as the self-test.
  void emit(const fs::path& model, const fs::path& data, const std::string& target, const std::string& weights) {
    const ProcessResult emitted = etch_tool({"validate", model.string(), "--backends", "interp", "--target", target, "--data",
                                             data.string(), "--rtol", "0", "--atol", "0", "--weights", weights, "--output", out.string()});
    ASSERT_TRUE(emitted.ok()) << emitted.err << emitted.out;
  }

  ProcessResult build() {
    std::ofstream(temp.path() / "order.c") << "typedef char order[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : -1];\norder begins;\n";
    std::vector<std::string> command{GetParam().compiler,
                                     "-std=gnu99",
                                     "-O2",
                                     "-Wall",
                                     "-Wextra",
                                     "-Werror",
                                     "-DETCH_ANY_CPU=1",
                                     "-static",
                                     "-o",
                                     program(),
                                     (temp.path() / "order.c").string()};
    for (const auto& file : fs::directory_iterator(out))
      if (file.path().extension() == ".c") command.push_back(file.path().string());
    command.emplace_back("-lm");
    return run_process(command);
  }

  void expect_passes(const fs::path& model, const fs::path& data, const std::string& target) {
    SCOPED_TRACE(model.string() + " for " + target);
    emit(model, data, target, "c");
    if (HasFatalFailure()) return;
    const ProcessResult built = build();
    ASSERT_TRUE(built.ok()) << built.err;
    EXPECT_EQ(run_process({GetParam().emulator, program()}).out, "PASS\n");
  }

  std::string program() const { return (temp.path() / "program").string(); }
  const TempDir temp;
  const fs::path out = temp.path() / "out";
};

// c99: loops over the definition. cortex-m4f: constants in the order of its instructions, and of 16 bits where it likes them so.
TEST_P(BigEndian, NetworksOfBytesGiveTheirOutputs) {
  std::vector<std::string> targets{"c99"};
  const std::string without = test::missing_tools(test::board_target("cortex-m4f"));
  if (without.empty()) targets.emplace_back("cortex-m4f");
  const auto downloaded = downloaded_model("kws_int8");
  for (const std::string& target : targets) {
    expect_passes(test::quantised_mlp(temp.path()), temp.path() / "test_data_set_0", target);
    if (downloaded) expect_passes(*downloaded / "model.onnx", *downloaded / "test_data_set_0", target);
  }
  if (!without.empty()) GTEST_SKIP() << without;
}

// A file of constants has the bytes of the other order: the compiler says so.
TEST_P(BigEndian, AFileOfConstantsIsRefused) {
  for (const char* weights : {"incbin", "blob"}) {
    emit(test::quantised_mlp(temp.path()), temp.path() / "test_data_set_0", "c99", weights);
    if (HasFatalFailure()) return;
    const ProcessResult built = build();
    EXPECT_FALSE(built.ok()) << weights;
    EXPECT_NE(built.err.find("the numbers in the .bin file are little-endian: generate with --weights c"), std::string::npos) << built.err;
  }
}

// Instructions that take several numbers as one word: a compiler for the other order does not see them.
TEST(BigEndianArm, HasNoPackedProducts) {
  const Target target = test::board_target("cortex-m4f");
  if (const std::string why = test::missing_tools(target); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp;
  const fs::path out = temp.path() / "out", assembler = temp.path() / "net.s";
  const ProcessResult emitted = etch_tool(
      {"compile", test::quantised_mlp(temp.path()), "--target", "cortex-m4f", "--name", "net", "--no-measure", "-o", out.string()});
  ASSERT_TRUE(emitted.ok()) << emitted.err;
  for (const bool is_big : {false, true}) {
    std::vector<std::string> command{*target_compiler(target)};
    std::ranges::copy(target.toolchain.flags, std::back_inserter(command));
    command.insert(command.end(), {is_big ? "-mbig-endian" : "-mlittle-endian", "-S", (out / "net.c").string(), "-o", assembler.string()});
    const ProcessResult compiled = run_process(command);
    ASSERT_TRUE(compiled.ok()) << compiled.err;
    EXPECT_EQ(test::content(assembler).find("smlad") != std::string::npos, !is_big);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryMachine, BigEndian, testing::ValuesIn(kMachines),
                         [](const testing::TestParamInfo<Machine>& machine) { return std::string(machine.param.name); });

}  // namespace
}  // namespace etch
