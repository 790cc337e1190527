// The programs of tests/examples, run as a reader would: each prints what lies beside it as NAME.txt, and checks its own numbers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/files.h"
#include "base/process.h"
#include "support/files.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

bool has_c_compiler() {
  for (const char* name : {"gcc", "clang", "clang-19", "cc"})
    if (find_program(name)) return true;
  return false;
}

void expect_output(const std::string& name) {
  if (!has_c_compiler()) GTEST_SKIP() << "no C compiler is on PATH: apt-get install gcc";
  ProcessOptions options;
  options.timeout_s = 300;
  const ProcessResult result = run_process({ETCH_BUILD_DIR "/tests/examples/" + name}, options);
  ASSERT_TRUE(result.ok()) << describe(result) << "\n" << result.out << result.err;
  const fs::path golden = fs::path(ETCH_SOURCE_DIR) / "tests/examples" / (name + ".txt");
  if (std::getenv("UPDATE_GOLDEN") != nullptr) write_file(golden, result.out);
  EXPECT_EQ(result.out, test::content(golden)) << "UPDATE_GOLDEN=1 rewrites it, review the difference";
}

TEST(Examples, Abstractions) { expect_output("abstractions"); }
TEST(Examples, Kernel) { expect_output("kernel"); }
TEST(Examples, Backend) { expect_output("backend"); }
TEST(Examples, Train) { expect_output("train"); }

// A newcomer reads them as they are: nothing but etch.h, and no more than fits a sitting.
TEST(Examples, IncludeOneHeaderAndAreShort) {
  for (const char* name : {"abstractions", "kernel", "backend", "train"}) {
    const std::string text = test::content(fs::path(ETCH_SOURCE_DIR) / "tests/examples" / (std::string(name) + ".cc"));
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 300) << name;
    std::size_t own = 0;
    for (std::size_t at = text.find("#include \""); at != std::string::npos; at = text.find("#include \"", at + 1)) own++;
    EXPECT_EQ(own, 1u) << name;
    EXPECT_NE(text.find("#include \"etch.h\""), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace etch
