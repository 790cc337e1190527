// Models whose products a target has an instruction for, from the file to emitted C: MatMulInteger on x86-64 with VNNI, and a product of
// halves on CUDA.
#include <fmt/format.h>

#include <random>

#include "base/files.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/processor.h"
#include "support/text_model.h"
#include "support/tool.h"

namespace etch {
namespace {

std::string numbers(int n, int low, int high, unsigned seed) {
  std::mt19937 rng(seed);
  std::string text;
  for (int i = 0; i < n; i++) text += (i == 0 ? "" : ", ") + std::to_string(std::uniform_int_distribution(low, high)(rng));
  return text;
}

// y = x * w, as integers and then as float.
std::string integer_model() {
  return fmt::format(R"(<ir_version: 8, opset_import: ["" : 17]> g (uint8[6, 32] x) => (float[6, 48] y) {{
  w = Constant <value = int8[32, 48] {{{}}}> ()
  sums = MatMulInteger (x, w)
  y = Cast <to = 1> (sums)
}})",
                     numbers(32 * 48, -128, 127, 1));
}

constexpr const char* kHalves = R"(<ir_version: 8, opset_import: ["" : 17]> g (float16[32, 64] a, float16[64, 48] b) => (float[32, 48] y) {
  af = Cast <to = 1> (a)
  bf = Cast <to = 1> (b)
  product = MatMul (af, bf)
  y = Relu (product)
})";

TEST(Instructions, MatMulIntegerByVnni) {
  const TempDir work("etch-test");
  const std::string model = write_text_model(work.path() / "model.onnx", integer_model().c_str());
  const bool has_avx512 = test::has_feature("avx512vl"), has_vnni = test::has_feature("avx512_vnni");
  const ProcessResult valid = etch_tool({"validate", model, "--backends", "interp,c,llvm", "--target", "x86-64-vnni"});
  EXPECT_TRUE(valid.ok()) << valid.out << valid.err;
  const std::filesystem::path out = work.path() / "project";
  const ProcessResult made = etch_tool({"compile", model, "--target", "x86-64-vnni", "--no-measure", "--name", "net", "-o", out.string()});
  ASSERT_TRUE(made.ok()) << made.err;
  const std::string source = test::content(out / "net.c");
  EXPECT_NE(source.find("etch_vpdpbusd_a(&acc"), std::string::npos) << source;
  EXPECT_NE(source.find("TC 0 0"), std::string::npos);
  // The fourth level does not have the instruction: plain C stands in for it, and gives the same numbers.
  for (const char* flags : {"-march=x86-64-v4", "-march=x86-64-v4 -mavx512vnni"})
    for (const char* compiler : {"gcc", "clang-19"}) {
      if (!find_program(compiler)) continue;
      ProcessOptions options;
      options.cwd = out;
      const std::string command =
          fmt::format("{} -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror {} *.c -lm -o t", compiler, flags);
      const ProcessResult built = run_process({"sh", "-c", command}, options);
      EXPECT_TRUE(built.ok()) << command << "\n" << built.err.substr(0, 2000);
      if (!has_avx512 || (!has_vnni && std::string_view(flags) != "-march=x86-64-v4")) continue;
      const ProcessResult run = run_process({(out / "t").string()}, options);
      EXPECT_TRUE(run.ok()) << command << "\n" << run.out << run.err;
    }
}

// Code for another processor than this machine's stops at its first unknown instruction; here one that no processor has.
TEST(Instructions, ThatThisProcessorLacksAreNamed) {
  const TempDir work("etch-test");
  std::string target = test::content(ETCH_SOURCE_DIR "/targets/host.xml");
  const auto replace = [&](const std::string& old, const std::string& with) { target.replace(target.find(old), old.size(), with); };
  replace("<target name=\"host\"", "<target name=\"newer\"");
  replace("<flag>-O3</flag>", "<flag>-O3</flag><flag>-include</flag><flag>" + (work.path() / "newer.h").string() + "</flag>");
  write_file(work.path() / "newer.xml", target);
  write_file(work.path() / "newer.h", "#include <signal.h>\n__attribute__((constructor)) static void newer(void) { raise(SIGILL); }\n");
  const std::string model = write_text_model(work.path() / "model.onnx", integer_model().c_str());
  const ProcessResult result =
      etch_tool({"validate", model, "--targets-dir", work.path().string(), "--target", "newer", "--backends", "interp"});
  EXPECT_EQ(result.exit_code, 1) << result.out;
  EXPECT_NE(result.err.find("target newer: the self-test came to an instruction that this machine's processor does not have"),
            std::string::npos)
      << result.err;
}

// Small integers, whose products and sums are exact in halves and floats: both backends give the same bits.
TEST(Instructions, HalvesByTensorCores) {
  const TempDir work("etch-test");
  const std::string model = write_text_model(work.path() / "model.onnx", kHalves);
  std::mt19937 rng(3);
  for (const auto& [name, n] : {std::pair("a", 32 * 64), std::pair("b", 64 * 48)}) {
    std::string bytes;
    for (int i = 0; i < n; i++) {
      static constexpr std::uint16_t kBits[] = {0xc000, 0xbc00, 0x0000, 0x3c00, 0x4000};  // -2, -1, 0, 1, 2
      const std::uint16_t half = kBits[std::uniform_int_distribution(0, 4)(rng)];
      bytes += {static_cast<char>(half & 0xff), static_cast<char>(half >> 8)};
    }
    write_file(work.path() / (std::string(name) + ".raw"), bytes);
  }
  const auto result_of = [&](const char* backend) {
    const std::filesystem::path out = work.path() / backend;
    const ProcessResult run =
        etch_tool({"run", model, "--target", "cuda", "--backend", backend, "--input", "a=" + (work.path() / "a.raw").string(), "--input",
                   "b=" + (work.path() / "b.raw").string(), "--output", out.string()});
    EXPECT_TRUE(run.ok()) << run.err;
    return test::folder_content(out);
  };
  const auto wanted = result_of("interp");
  ASSERT_EQ(wanted.size(), 1u);
  EXPECT_GT(wanted.begin()->second.size(), 32u * 48u * 4u);
  EXPECT_EQ(result_of("cuda"), wanted);
}

}  // namespace
}  // namespace etch
