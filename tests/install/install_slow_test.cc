// An installation, as a user has it: the tool works from a folder of its own, and a program that finds the library by find_package(etch)
// does what the examples in etch.h show.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "base/files.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "support/files.h"
#include "support/needs.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

ProcessResult run_in(const fs::path& folder, const std::vector<std::string>& argv) {
  ProcessOptions options;
  options.cwd = folder;
  options.timeout_s = 600;
  return run_process(argv, options);
}

// The examples in the comment on top of etch.h, in order: its lines that are indented by five.
std::string examples_of(const fs::path& header) {
  std::istringstream in(test::content(header));
  std::string text;
  for (std::string line; std::getline(in, line) && line.starts_with("//");)
    if (line.starts_with("//     ")) text += line.substr(2) + "\n";
  return text;
}

// The expected numbers are worked out by hand.
constexpr const char* kMain = R"(#include <etch.h>

#include <cmath>
#include <cstdio>

using namespace etch;

static void is(bool holds, const char* what) {
  if (holds) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

static void examples() {
@EXAMPLES@
  is(std::filesystem::exists("out/tiny.c") && written.report.arena_bytes >= 0, "the emitted folder");
  is(audited.ok() && audited.files.size() > 2, "the audit");
  is(tested.ok, "the self-test of what was emitted");
  is(answer.shape() == std::vector<std::int64_t>{1, 3}, "the answer's shape");
  is(compared.ok && compared.comparison.max_abs < 1e-5, "c against the reference");
  is(sums.doubles() == std::vector<double>{1 + 4 + 9 + 16 + 4}, "the sum of squares");
  is(doubled.doubles() == std::vector<double>{68}, "an open size");
  is(stepped.doubles() == std::vector<double>{10, 0, 30, 0}, "what is replayed");
  is(step.jit_cache().items.size() == 1, "one kernel is recorded");
  is(trainer.step() == 20 && nn::read_safetensors("checkpoint.safetensors").size() == 5, "a checkpoint");
  is(std::filesystem::exists("training/tiny_train.c") && training.report.step_arena_bytes > 0, "a training step in C");
  is(std::filesystem::exists("line/line.c"), "a traced function in C");
  is(session.values(nn::mean_square(layer(inputs), wanted)).double_at(0) < 0.5, "what was learned");
  is(squares.doubles() == std::vector<double>{1, 4, 9, 16}, "squares");
  is(made.text.source.find("__global__") != std::string::npos, "a kernel in CUDA");
  is(with_half.import.customs.at(0).name() == "com.example.Half", "an operator of one's own");
  is(log.find("GFLOP/s") != std::string::npos, "the table of kernels");
  is(std::filesystem::exists("pictures/schedule.svg"), "the picture of the schedule");
}

int main() {
  try {
    examples();
    // OPENCL needs a program of the installation, wherever this one is.
    std::string why;
    const auto opencl = make_device("opencl");
    if (opencl->available(&why)) {
      Session session(std::shared_ptr<const Device>(make_device("opencl")));
      is(session.values(session.from(Array::scalar(Scalar::of_int(DType::Int32, 2))) + 3.0).ints() == std::vector<std::int64_t>{5}, "2 + 3");
    }
    std::printf("targets: %s\nopencl: %s\nright\n", own_targets_dir().c_str(), why.c_str());
  } catch (const std::exception& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
}
)";

TEST(Install, TheToolAndTheLibraryWorkFromAFolderOfTheirOwn) {
  if (const std::string why = test::missing({"cmake"}); !why.empty()) GTEST_SKIP() << why;
  const TempDir temp("etch-install");
  const fs::path first = temp.path() / "first", prefix = temp.path() / "moved here";
  const ProcessResult installed = run_in(temp.path(), {"cmake", "--install", ETCH_BUILD_DIR, "--prefix", first.string()});
  ASSERT_TRUE(installed.ok()) << installed.out << installed.err;
  fs::rename(first, prefix);

  // The tool: its own target descriptions, and a model of its own zoo from import to a project that runs.
  const std::string etch = (prefix / "bin/etch").string(), zoo = (prefix / "bin/etch-zoo").string();
  const ProcessResult targets = run_in(temp.path(), {etch, "audit", "--target", "nothing", temp.path().string()});
  EXPECT_NE(targets.err.find((prefix / "share/etch/targets/nothing.xml").string()), std::string::npos) << targets.err;
  ASSERT_TRUE(run_in(temp.path(), {zoo, "mlp", "mlp.onnx"}).ok());
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {etch, "compile", "mlp.onnx", "--target", "host", "-o", "mlp"}, {etch, "validate", "mlp.onnx", "--backends", "c,llvm"}}) {
    const ProcessResult result = run_in(temp.path(), command);
    EXPECT_TRUE(result.ok()) << command[1] << ": " << result.out << result.err;
  }

  // The library.
  const std::string examples = examples_of(prefix / "include/etch/etch.h");
  ASSERT_NE(examples.find("GraphBuilder graph"), std::string::npos);
  std::string text = kMain;
  const std::string mark = "@EXAMPLES@";
  text.replace(text.find(mark), mark.size(), examples);
  const fs::path user = temp.path() / "user";
  fs::create_directories(user);
  write_file(user / "main.cc", text);
  write_file(user / "CMakeLists.txt",
             "cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\nfind_package(etch 0.1 REQUIRED)\nadd_executable(user main.cc)\n"
             "target_link_libraries(user PRIVATE etch::etch)\n");
  const ProcessResult configured = run_in(user, {"cmake", "-S", ".", "-B", "build", "-DCMAKE_PREFIX_PATH=" + prefix.string()});
  ASSERT_TRUE(configured.ok()) << configured.out << configured.err;
  const ProcessResult built = run_in(user, {"cmake", "--build", "build"});
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  const ProcessResult ran = run_in(user, {(user / "build/user").string()});
  EXPECT_TRUE(ran.ok()) << describe(ran) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("targets: " + (prefix / "share/etch/targets").string() + "\n"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("right\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("is not there"), std::string::npos) << ran.out;
}

TEST(Install, HeadersNeedNoOtherLibrarysButTheStandards) {
  const TempDir temp("etch-install");
  ASSERT_TRUE(run_in(temp.path(), {"cmake", "--install", ETCH_BUILD_DIR, "--prefix", temp.path().string()}).ok());
  int headers = 0;
  for (const auto& entry : fs::recursive_directory_iterator(temp.path() / "include")) {
    if (!entry.is_regular_file()) continue;
    headers++;
    // Other libraries are linked, but their headers are not needed.
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);)
      for (const char* other : {"<nlohmann/", "<llvm/", "<clang/", "<Eigen/", "<tinyxml2", "<onnx/", "<CL/"})
        EXPECT_EQ(line.find(std::string("#include ") + other), std::string::npos) << entry.path() << ": " << line;
  }
  EXPECT_GT(headers, 50);
  EXPECT_FALSE(fs::exists(temp.path() / "include/etch/cli"));
}

}  // namespace
}  // namespace etch
