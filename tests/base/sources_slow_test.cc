// Rules that hold for the sources themselves: no long file, no long function, and the environment is read in cli/ alone.
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

#include "support/source_text.h"

namespace etch {
namespace {

using test::functions_of;
using test::FunctionText;
using test::SourceFile;

constexpr int kMostLinesOfAFile = 500, kMostLinesOfAFunction = 60;
const std::vector<std::string> kFolders{"generator", "models", "runtime_c", "tests"};

std::vector<std::string> long_files(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files)
    if (const auto lines = std::ranges::count(file.text, '\n'); lines > kMostLinesOfAFile)
      found.push_back(file.path + " has " + std::to_string(lines) + " lines");
  return found;
}

std::vector<std::string> long_functions(const std::vector<SourceFile>& files) {
  std::vector<std::string> found;
  for (const SourceFile& file : files)
    for (const FunctionText& f : functions_of(file.text))
      if (f.lines > kMostLinesOfAFunction) found.push_back(file.path + ": " + f.head);
  return found;
}

// Where code, not a comment or literal, holds one of `words`: "generator/device/opencl.cc: getenv".
std::vector<std::string> uses(const std::vector<SourceFile>& files, const std::regex& words) {
  std::vector<std::string> found;
  for (const SourceFile& file : files) {
    const std::string code = test::code_of(file.text);
    for (std::sregex_iterator it(code.begin(), code.end(), words), end; it != end; it++) found.push_back(file.path + ": " + it->str());
  }
  return found;
}

// Passes the environment on to the processes that it starts, and looks them up along its PATH.
const std::vector<std::string> kPassesTheEnvironmentOn{
    "generator/base/process.cc: environ",
};

using Found = std::vector<std::string>;

TEST(Sources, NoFileIsLong) {
  const auto files = test::source_files(kFolders);
  EXPECT_GT(files.size(), 300u);
  EXPECT_EQ(long_files(files), Found());
}

TEST(Sources, NoFunctionIsLong) { EXPECT_EQ(long_functions(test::source_files(kFolders)), Found()); }

TEST(Sources, TheEnvironmentIsReadInTheCommandLineToolAlone) {
  std::vector<SourceFile> files = test::source_files({"generator", "models", "runtime_c"});
  std::erase_if(files, [](const SourceFile& f) { return f.path.starts_with("generator/cli/"); });
  EXPECT_EQ(uses(files, std::regex(R"(\b(secure_getenv|getenv|setenv|putenv|unsetenv)\b)")), Found());
  EXPECT_EQ(uses(files, std::regex(R"(\benviron\b)")), kPassesTheEnvironmentOn);
}

// The other style of integers: int64_t without std::, and ++i.
const std::regex kOtherIntegerStyle(R"((^|[^:\w])u?int(8|16|32|64|ptr)_t\b|[;{)] (\+\+|--)\w+[;,)])");

TEST(Sources, IntegersAreWrittenInOneWay) {
  EXPECT_EQ(uses(test::source_files({"generator", "models", "tests"}), kOtherIntegerStyle), Found());
}

// --- the checks themselves

TEST(SourceText, WithoutCommentsAndLiteralsEveryCharacterKeepsItsPlace) {
  const struct {
    const char *text, *code, *with_literals;
  } rows[] = {
      {"a // b\nc", "a     \nc", "a     \nc"},
      {"a /* b\n} */ c", "a     \n     c", "a     \n     c"},
      {R"(f("//{", '"', 'x');)", R"(f("   ", ' ', ' ');)", R"(f("//{", '"', 'x');)"},
      {R"(f("\"{", '\'');)", R"(f("   ", '  ');)", R"(f("\"{", '\'');)"},
      {"n = 1'000'000; // '", "n = 1'000'000;     ", "n = 1'000'000;     "},
      {"s = R\"x(a)\"\n})x\";", "s = R\"     \n   \";", "s = R\"x(a)\"\n})x\";"},
      {"OR\"a\"", "OR\" \"", "OR\"a\""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(test::code_of(row.text), row.code);
    EXPECT_EQ(test::code_of(row.text, true), row.with_literals);
  }
}

// "name first_line lines;" of each function.
std::string functions_text(const char* text) {
  std::string found;
  for (const FunctionText& f : functions_of(text)) {
    const std::string before = f.head.substr(0, f.head.find('('));
    found += before.substr(before.find_last_of(" *&") + 1) + " " + std::to_string(f.first_line) + " " + std::to_string(f.lines) + ";";
  }
  return found;
}

TEST(SourceText, FunctionsAreFoundWithTheirLines) {
  const struct {
    const char *what, *text, *functions;
  } rows[] = {
      {"one line", "int f() { return 1; }\n", "f 1 1;"},
      {"a body with blocks", "int f(int x) {\n  if (x) {\n    g();\n  }\n  return 1;\n}\n", "f 1 6;"},
      {"its return type and parameters too", "\nstatic int\nf(int a,\n  int b) {\n}\n", "f 2 4;"},
      {"two in a namespace", "namespace a::b {\nint f() {\n}\nint g() {\n}\n}\n", "f 2 2;g 4 2;"},
      {"methods",
       "class A final : public B {\n public:\n  int f() const override { return 1; }\n\n private:\n  void g() noexcept {\n  }\n  int x_ = "
       "0;\n};\nint h() {\n}\n",
       "f 3 1;g 6 2;h 10 2;"},
      {"a struct with aligned and initialized members", "struct alignas(64) A {\n  int x[2] = {1, 2};\n  B b{3};\n  int f() {\n  }\n};\n",
       "f 4 2;"},
      {"a constructor", "A::A(int x)\n    : x_(x), y_{x, {x}} {\n  f();\n}\n", "A::A 1 4;"},
      {"a result behind the parameters", "auto f(int x) -> std::vector<int> {\n}\n", "f 1 2;"},
      {"a template", "template <class T>\nT f(T x) {\n}\n", "f 1 3;"},
      {"tables are none", "const int kRows[] = {\n  {1, 2},\n  {f(3), 4},\n};\nint g() {\n}\n", "g 5 2;"},
      {"functions without a name in a table",
       "const Row kRows[] = {\n    {\"a\", [](int x) {\n       return x;\n     }},\n    {\"b\", 1},\n};\n", "[] 2 3;"},
      {"functions inside of functions are part of it", "int f() {\n  const auto g = [](int x) {\n    return x;\n  };\n}\n", "f 1 5;"},
      {"tests", "TEST(A, B) {\n  f();\n}\n", "TEST 1 3;"},
      {"no braces of literals, comments and macros", "#define F(x) \\\n  g() {\nint f() {\n  // {\n  h(\"{\", '{');\n}\nint g() {\n}\n",
       "f 3 4;g 7 2;"},
      {"not the lines of a literal", "int f() {\n  h(R\"(a\nb {\nc)\");\n\n}\n", "f 1 5;"},
      {"C", "extern \"C\" {\nstatic struct timespec now(void) {\n}\nenum e { A, B };\nunion u {\n  int x;\n};\n}\n", "now 2 2;"},
  };
  for (const auto& row : rows) EXPECT_EQ(functions_text(row.text), row.functions) << row.what;
}

TEST(Sources, TheChecksSeeViolations) {
  const auto lines = [](int n) {
    std::string text;
    for (int i = 0; i < n; i++) text += "  g();\n";
    return text;
  };
  const SourceFile good{"a.cc", "void f() {\n" + lines(58) + "}\n" + std::string(440, '\n')};
  const SourceFile bad{"b.cc", "void f() {\n" + lines(59) + "}\n" + std::string(440, '\n')};
  EXPECT_EQ(long_files({good, bad}), Found{"b.cc has 501 lines"});
  EXPECT_EQ(long_functions({good, bad}), Found{"b.cc: void f()"});
  const SourceFile reads{"c.cc", "// getenv\nconst char* s = \"getenv\";\nauto v = std::getenv(s), w = getenv_of(s);\n"};
  EXPECT_EQ(uses({reads}, std::regex(R"(\bgetenv\b)")), Found{"c.cc: getenv"});
  const SourceFile integers{"d.cc", "std::int64_t n(int64_t m) {\n  for (int i = 0; i < 4; ++i) g(i++);\n}\n"};
  EXPECT_EQ(uses({integers}, kOtherIntegerStyle), (Found{"d.cc: (int64_t", "d.cc: ; ++i)"}));
}

}  // namespace
}  // namespace etch
