// Languages and devices are told apart by their rows, and the facts about a kernel are in fields: no code compares names, and no
// code searches the text of a kernel.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "support/source_text.h"

namespace etch {
namespace {

using test::SourceFile;
using Found = std::vector<std::string>;

// Every place, as "generator/device/c.cc: "c"", sorted.
Found places(const std::vector<SourceFile>& files, const std::regex& pattern) {
  Found found;
  for (const SourceFile& file : files) {
    const std::string code = test::code_of(file.text, true);
    for (std::sregex_iterator it(code.begin(), code.end(), pattern), end; it != end; it++) {
      found.push_back(file.path + ": " + it->str());
    }
  }
  std::ranges::sort(found);
  return found;
}

const std::regex kNames(R"re("(c|opencl|interp|llvm|cuda)"|\bis_(c|opencl|interp|llvm|cuda)\b)re"
                        R"re(|language\.name *[!=]=|[!=]= *language\.name|[!=]= *&k(C|OpenCl|Llvm|Cuda)\b)re");
// Rows, the default language of a target, and the same words with another meaning: an option of clang, a form of weights, a form of
// self-test, the letter of constants in a printed schedule.
const Found kAllowed{
    R"(generator/audit/audit.cc: "c")",
    R"(generator/device/c.cc: "c")",
    R"(generator/device/cuda.cc: "cuda")",
    R"(generator/device/interp.cc: "interp")",
    R"(generator/device/llvm.cc: "llvm")",
    R"(generator/device/opencl.cc: "opencl")",
    R"(generator/driver/compile.cc: "interp")",
    R"(generator/emit/cuda_form.cc: "cuda")",
    R"(generator/emit/emit.cc: "c")",
    R"(generator/emit/emit.cc: "c")",
    R"(generator/renderer/languages.cc: "c")",
    R"(generator/renderer/languages.cc: "cuda")",
    R"(generator/renderer/languages.cc: "llvm")",
    R"(generator/renderer/languages.cc: "opencl")",
    "generator/renderer/languages.cc: == language.name",
    R"(generator/schedule/schedule.cc: "c")",
    R"(generator/target/target.h: "c")",
};

// find, regex and the like on the names that a kernel's text has in the code.
const std::regex kSearches(R"((\bsource|kernel_text)(\(\))?\.(find|rfind|contains|starts_with|ends_with|substr)\w*)"
                           R"(|regex_(search|match|replace)\(|text\.source *[!=]=)");

TEST(Names, OfLanguagesAndDevicesStandInTheirRowsAlone) { EXPECT_EQ(places(test::source_files({"generator"}), kNames), kAllowed); }

TEST(Names, NobodySearchesTheTextOfAKernel) {
  Found found = places(test::source_files({"generator"}), kSearches);
  std::erase(found, "generator/emit/sections.cc: source.ends_with");  // a text gets its last line break
  EXPECT_EQ(found, Found());
}

TEST(Names, TheChecksSeeAViolation) {
  const std::vector<SourceFile> bad{{"a.cc",
                                     "if (device.name() == \"opencl\") return;  // \"c\"\nif (p.is_cuda()) return;\n"
                                     "if (target.language == language.name || &row == &kC) return;\n"
                                     "if (kernel.text.source.find(\"etch_\") != npos) return;\nstd::regex_search(text, words);\n"}};
  EXPECT_EQ(places(bad, kNames), (Found{"a.cc: \"opencl\"", "a.cc: == &kC", "a.cc: == language.name", "a.cc: is_cuda"}));
  EXPECT_EQ(places(bad, kSearches), (Found{"a.cc: regex_search(", "a.cc: source.find"}));
}

}  // namespace
}  // namespace etch
