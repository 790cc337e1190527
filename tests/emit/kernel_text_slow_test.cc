// The emitted kernels are readable, in all networks of the zoo and for all kinds of targets: names use the letters of the formula, no
// name is numbered, and functions are at most a few pages long.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "base/naming.h"
#include "driver/compile.h"
#include "models/zoo.h"
#include "renderer/language.h"

namespace etch {
namespace {

constexpr int kMostLines = 400;
constexpr std::size_t kLongestLine = 140;

class KernelText : public testing::TestWithParam<const char*> {
 protected:
  static Program program_of(const ZooModel& model, const Target& target) {
    CompileOptions options;
    options.import = {.bytes = zoo_bytes(model), .name = model.name};
    if (model.input_shape[0] < 0) options.import.dims = {{"batch", 1, 16}};
    options.target = target;
    return lower_model(read_model(options), &language_of(target), options);
  }
};

TEST_P(KernelText, ReadsWell) {
  const Target target = find_target(GetParam(), std::filesystem::path(ETCH_SOURCE_DIR) / "targets");
  const std::regex declared(R"((?:int|float|bool|etch_f32x\d+|int\d+_t) (?:\w+ = [^;]*?, )*(\w+) = )");
  const std::regex numbered("(x|v|t|m|i|r|acc|lane|gid|lid)[0-9]+");
  int names = 0;
  for (const ZooModel& model : zoo()) {
    std::set<std::string> kernels;
    for (const ProgramKernel& kernel : program_of(model, target).kernels) {
      SCOPED_TRACE(std::string(model.name) + " " + kernel.name);
      EXPECT_TRUE(kernels.insert(kernel.name).second);
      EXPECT_LE(kernel.name.size(), 48u);
      EXPECT_LE(std::count(kernel.text.source.begin(), kernel.text.source.end(), '\n'), kMostLines) << kernel.text.source;
      std::istringstream lines(kernel.text.source);
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), kLongestLine) << line;
        for (std::sregex_iterator it(line.begin(), line.end(), declared), end; it != end; it++) {
          const std::string name = (*it)[1];
          names++;
          EXPECT_FALSE(std::regex_match(name, numbered)) << line;
          EXPECT_EQ(c_identifier(name), name) << line;
        }
      }
    }
  }
  EXPECT_GT(names, 500) << "declarations were seen";
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelText, testing::Values("cortex-m4f", "x86-64-v3", "x86-64-v4", "rv64gcv", "opencl", "cuda"),
                         [](const auto& row) {
                           std::string name = row.param;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace etch
