// The whole way through the tool, as a user goes it.
#include "support/tool.h"

#include <gtest/gtest.h>

#include <sstream>

#include "custom_model.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/text_model.h"

namespace etch {
namespace {

constexpr const char* kModel = R"(<ir_version: 8, opset_import: ["" : 17, "com.example" : 1]>
g (float[n,4] x) => (float[n,4] y) <float[n,4] h> {
  h = com.example.Leaky <alpha = 0.25> (x)
  y = Neg (h)
})";
constexpr const char* kLeaky = R"(#include <stdint.h>
void leaky(float *y, const float *x, int32_t x_count, float alpha) {
  int32_t i;
  for (i = 0; i < x_count; i++) y[i] = x[i] < 0.0f ? alpha * x[i] : x[i];
}
)";

struct Files {
  TempDir work;
  std::string model = write_text_model(work.path() / "leaky_net.onnx", kModel), c = (work.path() / "leaky.c").string();
  std::string out = (work.path() / "out").string();
  Files() { write_file(c, kLeaky); }
  std::vector<std::string> with(std::vector<std::string> args) const {
    args.insert(args.end(), {"--custom", "com.example.Leaky=leaky", "--custom-file", c, "--dim", "n=1..3"});
    return args;
  }
};

TEST(CustomOperator, EveryCommandOfTheToolTakesIt) {
  const Files files;
  write_file(files.work.path() / "x.raw", std::string("\0\0\x80\x3f\0\0\x80\xbf\0\0\0\x40\0\0\0\xc0", 16));  // 1 -1 2 -2
  for (const char* backend : {"interp", "c", "llvm", "cuda"}) {
    const ProcessResult ran = etch_tool(
        files.with({"run", files.model, "--backend", backend, "--set", "n=1", "--input", (files.work.path() / "x.raw").string()}));
    EXPECT_EQ(ran.out, "y float32 [1,4]: -1.0 0.25 -2.0 0.5\n") << ran.err;
  }
  const ProcessResult inspected = etch_tool(files.with({"inspect", files.model, "--no-measure"}));
  EXPECT_TRUE(inspected.ok()) << inspected.err;
  EXPECT_NE(inspected.out.find("calls leaky() of leaky.c"), std::string::npos) << inspected.out;
  const ProcessResult validated = etch_tool(files.with({"validate", files.model, "--target", "host", "-o", files.out}));
  EXPECT_TRUE(validated.ok()) << validated.out << validated.err;
}

TEST(CustomOperator, RunsOnAnEmulatedTarget) {
  if (const std::string why = test::missing({"arm-none-eabi-gcc", "qemu-system-arm"}); !why.empty()) GTEST_SKIP() << why;
  const Files files;
  const ProcessResult validated =
      etch_tool(files.with({"validate", files.model, "--backends", "interp", "--target", "cortex-m4f", "-o", files.out}));
  EXPECT_TRUE(validated.ok()) << validated.out << validated.err;
  EXPECT_NE(validated.out.find("cortex-m4f"), std::string::npos) << validated.out;
  EXPECT_NE(test::content(files.out + "/leaky_net.c").find("(int32_t)("), std::string::npos) << "a size is computed from n";
}

TEST(CustomOperator, CompileWritesAProjectThatTheAuditAccepts) {
  const Files files;
  const ProcessResult compiled = etch_tool(files.with({"compile", files.model, "-o", files.out}));
  EXPECT_TRUE(compiled.ok()) << compiled.err;
  EXPECT_EQ(test::content(files.out + "/leaky.c"), kLeaky);
  EXPECT_NE(test::content(files.out + "/leaky_net.h").find("--custom com.example.Leaky=leaky --custom-file leaky.c"), std::string::npos);
  const ProcessResult audited = etch_tool({"audit", files.out});
  EXPECT_TRUE(audited.ok()) << audited.out;
}

TEST(CustomOperator, CompileWritesProjectsForDevices) {
  for (const char* target : {"opencl", "cuda"}) {
    const Files files;
    const ProcessResult compiled = etch_tool(files.with({"compile", files.model, "--target", target, "-o", files.out}));
    EXPECT_TRUE(compiled.ok()) << compiled.err;
    EXPECT_EQ(test::content(files.out + "/leaky.c"), kLeaky);
    const ProcessResult audited = etch_tool({"audit", files.out});
    EXPECT_TRUE(audited.ok()) << audited.out;
  }
}

TEST(CustomOperator, RunsInAnOpenCLProject) {
  const Files files;
  const ProcessResult validated =
      etch_tool(files.with({"validate", files.model, "--backends", "interp", "--target", "opencl", "-o", files.out}));
  if (validated.out.find("no OpenCL") != std::string::npos || validated.err.find("no OpenCL") != std::string::npos)
    GTEST_SKIP() << "there is no OpenCL device: apt-get install pocl-opencl-icd";
  EXPECT_TRUE(validated.ok()) << validated.out << validated.err;
  EXPECT_NE(validated.out.find("opencl"), std::string::npos) << validated.out;
}

// The function that the README shows.
TEST(CustomOperator, TheExampleOfTheReadmeCompiles) {
  std::istringstream lines(test::content(ETCH_SOURCE_DIR "/README.md"));
  std::string line, example;
  while (std::getline(lines, line) && line != "## Operators of your own") {
  }
  while (std::getline(lines, line) && !line.starts_with("    build/etch"))
    if (line.starts_with("    ")) example += line.substr(4) + "\n";
  ASSERT_NE(example.find("leaky("), std::string::npos) << example;
  const Files files;
  write_file(files.c, example);
  const ProcessResult ran = etch_tool(files.with({"run", files.model, "--backend", "interp", "--set", "n=1"}));
  EXPECT_TRUE(ran.ok()) << ran.err;
}

}  // namespace
}  // namespace etch
