#include "renderer/language.h"

#include <gtest/gtest.h>

#include <regex>

#include "base/error.h"
#include "target/target.h"

namespace etch {
namespace {

TEST(Languages, AreFoundByName) {
  EXPECT_EQ(find_language("c"), &kC);
  EXPECT_EQ(find_language("opencl"), &kOpenCl);
  EXPECT_EQ(find_language("cuda"), &kCuda);
  EXPECT_EQ(find_language("llvm"), &kLlvm);
  EXPECT_EQ(find_language("ada"), nullptr);
}

TEST(Languages, AnUnknownOneIsAnErrorWithItsPlaceInTheTargetsFile) {
  Target target;
  EXPECT_EQ(&language_of(target), &kC);
  target.language = "ada";
  target.file = "board.xml";
  target.language_line = 7;
  try {
    language_of(target);
    FAIL() << "ada is no language";
  } catch (const UserError& error) {
    EXPECT_EQ(error.where(), "board.xml:7");
    EXPECT_EQ(error.problem(), "<language>: the text is 'ada', accepted are c, opencl, cuda, llvm");
  }
}

TEST(Languages, ARowThatIsAddedIsThereUntilItIsTakenAway) {
  Language toy = kC;
  toy.name = "toy";
  {
    const auto added = languages().add(toy);
    EXPECT_EQ(find_language("toy"), &toy);
  }
  EXPECT_EQ(find_language("toy"), nullptr);
}

// What a row of a bundled target calls of etch_quant.h is there: NAME.c includes it for that row alone.
TEST(Languages, HaveTheHelpersThatInstructionsCall) {
  const std::regex call(R"((etch_\w+)\()");
  int calls = 0;
  for (const std::string& name : target_names(own_targets_dir()))
    for (const TargetInstruction& row : find_target(name, own_targets_dir()).instructions)
      for (const InstructionText& text : row.texts)
        for (std::sregex_iterator it(text.text.begin(), text.text.end(), call), end; it != end; it++, calls++)
          EXPECT_TRUE(uses_quant({(*it)[1]})) << name << ": " << (*it)[1];
  EXPECT_GT(calls, 10);
}

}  // namespace
}  // namespace etch
