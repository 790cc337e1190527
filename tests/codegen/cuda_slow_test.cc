// Kernels in CUDA, run on the processor: functions, on values that are difficult for them (all operations: cuda_full_test.cc); roundings;
// the recorded kernels. And the same texts through the compilers that make code for GPUs, where they are installed: nothing is run there.
#include <gtest/gtest.h>

#include <fstream>

#include "base/process.h"
#include "base/runtime_text.h"
#include "base/tempdir.h"
#include "device/cuda_driver.h"
#include "device/cuda_libraries.h"
#include "support/files.h"
#include "support/needs.h"
#include "support/on_device.h"

namespace etch::cuda_slow_test {
namespace {

// What nvcc warns of and kernels mean: a function that is not used (of etch_math.h), a division by the constant 0.
constexpr const char* kMeant = "-diag-suppress=177,39";

std::unique_ptr<Device> device(bool contract = true) {
  DeviceOptions options;
  options.of<CudaOptions>().device = "cpu";
  options.of<CudaOptions>().contract = contract;
  options.of<CudaOptions>().flags = {"-std=c++17", "-O1"};
  options.timeout_s = 900;
  return make_device("cuda", options);
}

TEST(Cuda, FunctionsOfTheCLibrary) {
  LazyOps ops;
  std::vector<test::OpCase> cases = test::op_cases(ops, false);
  std::erase_if(cases, [](const test::OpCase& c) { return c.tolerance == 0; });
  CodegenOptions native = test::options_for(kCuda);
  native.native_math = true;
  test::expect_operations(*device(), cases, native);
}

TEST(Cuda, RoundsAfterEachOperation) { test::expect_roundings(*device(false)); }

TEST(Cuda, RecordedKernels) {
  CodegenOptions plain = test::options_for(kCuda), loops;
  plain.optimize = false;
  int barriers = 0;
  const auto check = [&](const test::RecordedConfig&, const Program& program) {
    barriers += static_cast<int>(std::ranges::count_if(program.kernels, [](const ProgramKernel& k) { return k.text.has_barrier; }));
  };
  test::expect_recorded(*device(), {{"plain", plain}, {"hand-coded", test::options_for(kCuda)}, {"without local memory", loops}}, check);
  EXPECT_GT(barriers, 5);
}

// A file of all golden kernels, one of every operation on every type, and one of all recorded kernels.
class CudaTexts : public testing::Test {
 protected:
  struct File {
    std::string name, text;
    int kernels = 0;
  };

  CudaTexts() {
    const std::string head = kCuda.prelude({}) + "\n";
    File golden{"golden", head}, operations{"operations", head}, recorded{"recorded", head};
    for (const char* name : {"bytes", "conv", "halves", "sums"}) {
      golden.text += test::content(std::string(ETCH_SOURCE_DIR "/tests/golden/renderer/") + name + ".cu") + "\n";
      golden.kernels++;
    }
    LazyOps ops;
    std::vector<test::BackendKernel> kernels;
    const std::vector<test::OpCase> cases = test::op_cases(ops, true);
    for (const test::OpCase& c : cases) kernels.push_back({c.ast, &c.inputs, test::kOpCaseSize, std::vector<Opt>()});
    add(operations, kernels);
    kernels.clear();
    const std::vector<test::AstCase> asts = test::read_ast_cases(ETCH_TEST_DATA "/conformance/ast_cases.json", ops);
    for (const test::AstCase& c : asts) kernels.push_back({c.store, &c.inputs, c.output_size, std::nullopt});
    add(recorded, kernels);
    files = {golden, operations, recorded};
  }

  static void add(File& file, const std::vector<test::BackendKernel>& kernels) {
    const Program program = test::program_of(kernels, kCuda, test::options_for(kCuda));
    file.text += definitions_of(program);
    for (const ProgramKernel& k : program.kernels) file.text += k.text.source + "\n";
    file.kernels += static_cast<int>(kernels.size());
  }

  // Runs `command` with the path of the text and of the result appended; the result.
  std::string compiled(const File& file, std::vector<std::string> command) {
    const std::string source = (work.path() / (file.name + ".cu")).string(), out = (work.path() / "out").string();
    std::ofstream(source) << file.text;
    command.insert(command.end(), {source, "-o", out});
    ProcessOptions options;
    options.timeout_s = 600;
    const ProcessResult result = run_process(command, options);
    EXPECT_TRUE(result.ok()) << file.name << ": " << describe(result) << "\n" << result.err.substr(0, 3000);
    EXPECT_EQ(result.err.substr(0, 2000), "") << file.name << ": compiles without warnings";
    return result.ok() ? test::content(out) : "";
  }

  static int entries(const std::string& ptx) {
    int n = 0;
    for (std::size_t at = 0; (at = ptx.find(".entry ", at)) != std::string::npos; at++) n++;
    return n;
  }

  TempDir work{"etch-test"};
  std::vector<File> files;
};

TEST_F(CudaTexts, CompileByNvcc) {
  const std::filesystem::path nvcc = find_nvcc();
  if (nvcc.empty()) GTEST_SKIP() << "nvcc is neither on PATH nor where CUDA is usually installed: apt-get install nvidia-cuda-toolkit";
  for (const char* architecture : {"sm_75", "sm_87", "sm_90"})
    EXPECT_EQ(compiled(files[0], {nvcc.string(), "-arch", architecture, "-cubin", kMeant}).substr(1, 3), "ELF");
  for (const File& file : files)
    EXPECT_EQ(entries(compiled(file, {nvcc.string(), "-arch", "sm_75", "-ptx", kMeant})), file.kernels) << file.name;
}

TEST_F(CudaTexts, CompileByNvrtc) {
  try {
    for (const int capability : {75, 90}) EXPECT_EQ(compile_cuda(files[0].text, capability, true).substr(1, 3), "ELF");
    for (const File& file : files) EXPECT_EQ(entries(compile_cuda(file.text, 990, false)), file.kernels) << file.name;
  } catch (const DeviceError& e) {
    if (e.problem().ends_with("is not there")) GTEST_SKIP() << e.what();
    FAIL() << e.what();
  }
}

TEST_F(CudaTexts, CompileByClang) {
  if (const std::string why = test::missing({"clang-19"}); !why.empty()) GTEST_SKIP() << why;
  for (const char* architecture : {"sm_53", "sm_75", "sm_87", "sm_90"})
    for (const File& file : files) {
      if (&file != files.data() && std::string_view(architecture) != "sm_75") continue;
      const std::string ptx =
          compiled(file, {"clang-19", "-x", "cuda", "-nocudainc", "-nocudalib", "-fdeclspec", "--cuda-device-only",
                          std::string("--cuda-gpu-arch=") + architecture, "-O1", "-Wall", "-Wno-unused-function",
                          "-Wno-unknown-cuda-version", "-include", ETCH_SOURCE_DIR "/tests/support/clang_cuda.h", "-S"});
      EXPECT_EQ(entries(ptx), file.kernels) << file.name << " " << architecture;
    }
}

}  // namespace
}  // namespace etch::cuda_slow_test
