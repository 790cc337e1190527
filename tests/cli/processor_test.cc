// Targets of this machine's kind whose instructions its processor lacks: XOP stands for them, which processors stopped having in 2017.
#include "emulator/processor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/processor.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

constexpr const char* kFlag = R"(<flag kind="code">-mxop</flag>)";

// targets/NAME.xml with one flag more, as a target "xop" in a folder of its own.
void write_xop_target(const std::filesystem::path& folder) {
  std::string text = test::content(own_targets_dir() / "x86-64-v3.xml");
  const std::string named = R"(name="x86-64-v3")", last = "<library>";
  text.replace(text.find(named), named.size(), R"(name="xop")");
  text.insert(text.find(last), kFlag);
  std::ofstream(folder / "xop.xml") << text;
}

bool lacks_xop() {
#if defined(__x86_64__)
  return !test::has_feature("xop");
#else
  return false;
#endif
}

TEST(Processor, MissingInstructionSetsAreNamed) {
  if (!lacks_xop()) GTEST_SKIP() << "this processor has XOP, or is none of x86-64";
  Target target = test::target_named("x86-64-v3");
  EXPECT_EQ(can_run_here(target, nullptr), test::has_feature("avx2"));
  target.toolchain.flags.emplace_back("-mxop");
  target.toolchain.flag_kinds.push_back(FlagKind::Code);
  const std::vector<std::string> missing = features_missing_here(target);
  EXPECT_TRUE(std::ranges::find(missing, "__XOP__") != missing.end());
  std::string why;
  EXPECT_FALSE(can_run_here(target, &why));
  EXPECT_NE(why.find("this machine's processor lacks"), std::string::npos) << why;
  EXPECT_TRUE(can_run_here(test::target_named("host"), &why)) << why;
  EXPECT_TRUE(can_run_here(test::target_named("c99"), &why)) << why;
}

TEST(Processor, KernelsForAnotherRunAsCodeForThisOne) {
  if (!lacks_xop()) GTEST_SKIP() << "this processor has XOP, or is none of x86-64";
  const TempDir work("etch-test");
  write_xop_target(work.path());
  const std::string model = write_text_model(work.path() / "model.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4, 64] x, float[64, 48] w) => (float[4, 48] y) { y = MatMul (x, w) })");
  const std::string folder = work.path().string();
  const ProcessResult valid = etch_tool({"validate", model, "--target", "xop", "--targets-dir", folder, "--backends", "interp,c,llvm"});
  EXPECT_TRUE(valid.ok()) << valid.out << valid.err;
  EXPECT_NE(valid.err.find("target xop: this processor lacks "), std::string::npos) << valid.err;
  EXPECT_NE(valid.err.find("__XOP__"), std::string::npos) << valid.err;
  EXPECT_NE(valid.err.find("target xop: its program is not run: "), std::string::npos) << valid.err;
  const ProcessResult tuned = etch_tool({"tune", model, "--target", "xop", "--targets-dir", folder, "-o", folder + "/xop.opts"});
  EXPECT_EQ(tuned.exit_code, 1);
  EXPECT_NE(tuned.err.find("this machine's processor lacks"), std::string::npos) << tuned.err;
}

}  // namespace
}  // namespace etch
