// Each file includes what it needs, so that it compiles alone: unity builds and precompiled headers, which other tests use, would hide what
// is missing. This looks at texts, in a second where the compiler would take minutes; ./dev test --full compiles each file alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/source_text.h"

namespace etch::includes_slow_test {
namespace {

using test::SourceFile;
using Names = std::set<std::string, std::less<>>;

struct Token {
  std::string_view text;
  bool is_word = false, behind_space = false, begins_line = false;
};

bool is_part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::vector<Token> tokens_of(std::string_view code) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < code.size();) {
    if (std::isspace(static_cast<unsigned char>(code[at])) != 0) {
      at++;
      continue;
    }
    const bool is_word = is_part_of_word(code[at]), begins_line = at == 0 || code[at - 1] == '\n';
    std::size_t end = at + 1;
    while (is_word && end < code.size() && is_part_of_word(code[end])) end++;
    if (code.substr(at, 2) == "::" || code.substr(at, 2) == "->") end = at + 2;
    tokens.push_back(
        {code.substr(at, end - at), is_word, at > 0 && std::isspace(static_cast<unsigned char>(code[at - 1])) != 0, begins_line});
    at = end;
  }
  return tokens;
}

constexpr std::string_view kBeforeValues[] = {"return", "else",      "throw",  "case",   "new", "public", "private",
                                              "const",  "constexpr", "inline", "static", "and", "or",     "not",
                                              "sizeof", "co_return", "delete", "do",     "in"};

/// Tokens of one file and what they say.
struct Text {
  std::vector<Token> tokens;
  Names words;                                   // all of them
  Names declared;                                // what it declares itself, in whatever scope
  Names types, functions;                        // what it defines in a namespace: at the beginning of a line
  Names forward;                                 // types that it declares there alone
  std::vector<std::string> includes, libraries;  // "ir/op.h"; <vector> as "vector"

  explicit Text(std::string_view code_with_literals, std::string_view code) : tokens(tokens_of(code)) {
    read_includes(code_with_literals);
    for (std::size_t i = 0; i < tokens.size(); i++) {
      if (!tokens[i].is_word) continue;
      words.emplace(tokens[i].text);
      if (is_declaration(i)) declared.emplace(tokens[i].text);
      read_list(i);
      if (tokens[i].begins_line) read_definition(i);
    }
    std::erase_if(forward, [&](const std::string& name) { return types.contains(name); });
  }

  std::string_view at(std::size_t i) const { return i < tokens.size() ? tokens[i].text : std::string_view(); }

 private:
  void read_includes(std::string_view code) {
    constexpr std::string_view kInclude = "#include ";
    for (std::size_t at = 0; (at = code.find(kInclude, at)) != std::string_view::npos;) {
      at += kInclude.size();
      const std::size_t end = code.find_first_of("\">", at + 1);
      (code[at] == '<' ? libraries : includes).emplace_back(code.substr(at + 1, end - at - 1));
    }
  }

  /// A word behind a type: "int size", "Node* next", "std::vector<int> sizes", "class View".
  bool is_declaration(std::size_t i) const {
    if (i == 0) return false;
    std::size_t before = i - 1;
    while (before > 0 && (at(before) == "*" || at(before) == "&") && !tokens[before].behind_space) before--;
    if (before != i - 1) return tokens[before].is_word || at(before) == ">";
    if (at(before) == ">") return !tokens[before].behind_space;
    return tokens[before].is_word && std::ranges::find(kBeforeValues, at(before)) == std::end(kBeforeValues);
  }

  /// The words of an enumeration, and those of auto [a, b].
  void read_list(std::size_t i) {
    std::size_t begin = i + 1;
    if (at(i) == "enum") {
      while (begin < tokens.size() && at(begin) != "{" && at(begin) != ";") begin++;
    } else if (at(i) == "auto") {
      while (at(begin) == "&") begin++;
      if (at(begin) != "[") return;
    } else {
      return;
    }
    for (; begin < tokens.size() && at(begin) != "}" && at(begin) != "]" && at(begin) != ";"; begin++)
      if (tokens[begin].is_word) declared.emplace(at(begin));
  }

  void read_definition(std::size_t i) {
    while (at(i) == "inline" || at(i) == "constexpr" || at(i) == "extern" || at(i) == "const") i++;
    if (at(i) == "template" || at(i) == "namespace" || at(i) == "return") return;
    if (at(i) == "struct" || at(i) == "class" || at(i) == "enum" || at(i) == "using") {
      if (at(i) == "enum") i++;
      const std::string_view name = at(i + 1), next = at(i + 2);
      if (next == "{" || next == ":" || next == "=" || next == "final") types.emplace(name);
      if (next == ";") forward.emplace(name);
      return;
    }
    for (std::size_t end = i + 1; end < tokens.size() && !tokens[end].begins_line; end++) {
      if (!tokens[end].is_word || !is_declaration(end)) continue;
      if (at(end + 1) == "(") return void(functions.emplace(at(end)));
      if (at(end).size() > 1 && at(end)[0] == 'k' && std::isupper(static_cast<unsigned char>(at(end)[1])) != 0) types.emplace(at(end));
    }
  }
};

/// Names of the standard library and of fmt, and their headers.
const std::map<std::string, std::vector<std::string_view>, std::less<>> kLibrary{
    {"algorithm",
     {"ranges", "sort", "stable_sort", "find", "find_if", "count_if", "any_of", "all_of", "none_of", "min", "max", "clamp", "max_element",
      "min_element", "transform", "reverse", "lower_bound", "upper_bound"}},
    {"charconv", {"from_chars", "to_chars"}},
    {"cmath",
     {"isnan", "isinf", "isfinite", "fabs", "floor", "ceil", "sqrt", "exp", "log", "log2", "pow", "nearbyint", "lround", "ldexp", "frexp",
      "signbit", "fma", "trunc", "copysign"}},
    {"cstdint", {"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t"}},
    {"cstring", {"memcpy", "memcmp", "memset", "strlen"}},
    {"filesystem", {"filesystem"}},
    {"fstream", {"ifstream", "ofstream", "fstream"}},
    {"functional", {"function"}},
    {"limits", {"numeric_limits"}},
    {"map", {"map", "multimap"}},
    {"memory", {"unique_ptr", "shared_ptr", "make_unique", "make_shared"}},
    {"optional", {"optional", "nullopt"}},
    {"set", {"set"}},
    {"span", {"span"}},
    {"string", {"string", "to_string"}},
    {"string_view", {"string_view"}},
    {"unordered_map", {"unordered_map"}},
    {"unordered_set", {"unordered_set"}},
    {"utility", {"move", "pair", "swap", "exchange", "forward"}},
    {"vector", {"vector"}},
};

class Sources {
 public:
  explicit Sources(const std::vector<SourceFile>& files) {
    for (const SourceFile& file : files)
      texts_.emplace(file.path, Text(test::code_of(file.text, true), codes_.emplace_back(test::code_of(file.text))));
    for (const auto& [path, text] : texts_) {
      if (!path.ends_with(".h")) continue;
      for (const auto& name : text.types) types_[name].insert(path);
      for (const auto& name : text.functions) functions_[name].insert(path);
    }
  }

  /// "base/a.cc needs base/b.h for f", of all files.
  std::vector<std::string> missing() const {
    std::vector<std::string> found;
    for (const auto& [path, text] : texts_) {
      if (path.ends_with(".def")) continue;  // is for whoever includes it
      const Names files = closure(path);
      Names known, libraries;
      for (const std::string& file : files) {
        const Text& other = texts_.at(file);
        libraries.insert(other.libraries.begin(), other.libraries.end());
        if (file == path) continue;
        // A source file needs the definition of what a header only declares.
        std::ranges::copy_if(other.words, std::inserter(known, known.end()),
                             [&](const std::string& word) { return path.ends_with(".h") || !other.forward.contains(word); });
      }
      for (const std::string& need : needs_of(text, known, libraries)) found.push_back(path + " needs " + need);
    }
    return found;
  }

 private:
  using Homes = std::map<std::string, Names, std::less<>>;

  Names closure(const std::string& path) const {
    Names seen{path};
    std::vector<std::string> open{path};
    while (!open.empty()) {
      const std::string file = open.back();
      open.pop_back();
      for (const std::string& name : texts_.at(file).includes)
        for (const std::string& candidate : {"generator/" + name, name, file.substr(0, file.rfind('/') + 1) + name})
          if (texts_.contains(candidate) && seen.insert(candidate).second) open.push_back(candidate);
    }
    return seen;
  }

  /// What includes of this file know counts as declared: they include what they need.
  Names needs_of(const Text& text, const Names& known, const Names& libraries) const {
    Names found;
    for (std::size_t i = 0; i < text.tokens.size(); i++) {
      const std::string_view word = text.at(i), before = i > 0 ? text.at(i - 1) : "";
      if (!text.tokens[i].is_word || before == "." || before == "->" || before == "~") continue;
      const bool is_qualified = before == "::";
      const std::string_view scope = is_qualified && i > 1 ? text.at(i - 2) : "";
      if (scope == "std") {
        for (const auto& [header, names] : kLibrary)
          if (std::ranges::find(names, word) != names.end() && !libraries.contains(header)) found.insert("<" + header + ">");
        continue;
      }
      if (word == "fmt" && text.at(i + 1) == "::" && !std::ranges::any_of(libraries, [](const auto& l) { return l.starts_with("fmt/"); }))
        found.insert("<fmt/format.h>");
      if ((is_qualified && scope != "etch") || known.contains(word) || text.declared.contains(word)) continue;
      const Homes& homes = text.at(i + 1) == "(" && !types_.contains(word) ? functions_ : types_;
      if (const auto home = homes.find(word); home != homes.end()) found.insert(*home->second.begin() + " for " + std::string(word));
    }
    return found;
  }

  std::list<std::string> codes_;  // what the tokens point into
  std::map<std::string, Text, std::less<>> texts_;
  Homes types_, functions_;  // the headers that define a name
};

TEST(Includes, AreThoseThatEachFileNeeds) {
  std::vector<SourceFile> files = test::source_files({"generator", "models"}, {".cc", ".h", ".def"});
  EXPECT_GT(files.size(), 400u);
  for (const std::string& missing : Sources(files).missing()) ADD_FAILURE() << missing;
}

struct Case {
  const char* what;
  const char* text;  // of generator/use/a.cc
  std::vector<std::string> missing;
};

TEST(Includes, WhatIsMissingIsSeen) {
  const SourceFile header{"generator/base/b.h",
                          "#include <vector>\nnamespace etch {\nstruct Box {\n  int size = 0;\n};\nstd::vector<int> sizes_of(int n);\n"
                          "inline constexpr int kMost = 3;\nenum class Kind : char { Small };\n}\n"};
  const SourceFile through{"generator/base/c.h", "#include \"base/b.h\"\nBox more_of(const Box& b);\n"};
  const SourceFile declares{"generator/base/d.h", "namespace etch {\nstruct Box;\nint size_of(const Box& b);\n}\n"};
  const std::string box = "generator/base/b.h for Box", sizes = "generator/base/b.h for sizes_of";
  const std::vector<Case> cases{
      {"nothing", "int f() { return 1; }\n", {}},
      {"included", "#include \"base/b.h\"\nBox f() { return Box{kMost}; }\n", {}},
      {"through another", "#include \"base/c.h\"\nauto f() { return sizes_of(more_of(Box{}).size); }\n", {}},
      {"a type", "int f(const etch::Box& b) { return b.size; }\n", {box}},
      {"a function", "int f() { return 2 * sizes_of(3)[0]; }\n", {sizes}},
      {"a constant and an enumeration",
       "int f() { return kMost + int(Kind::Small); }\n",
       {"generator/base/b.h for Kind", "generator/base/b.h for kMost"}},
      {"a function of the same name here", "int sizes_of(int n) { return n; }\nint f() { return sizes_of(3); }\n", {}},
      {"another's", "int f(const Other& o) { return o.sizes_of(3) + o->Box + other::Box; }\n", {}},
      {"in words alone", "// Box sizes_of(kMost)\nconst char* f() { return \"Box kMost\"; }\n", {}},
      {"an enumerator", "enum class Mine { Box, kMost };\nint f(Mine m) { return m == Mine::Box; }\n", {}},
      {"declared through another", "#include \"base/d.h\"\nint f(const Box& b) { return b.size; }\n", {box}},
      {"of the library",
       "#include <string>\nstd::optional<std::string> f() { return fmt::format(\"\"); }\n",
       {"<fmt/format.h>", "<optional>"}},
      {"of the library, through a header", "#include \"base/b.h\"\nstd::vector<int> f();\n", {}},
  };
  for (const Case& c : cases) {
    std::vector<std::string> wanted;
    for (const std::string& missing : c.missing) wanted.push_back("generator/use/a.cc needs " + missing);
    EXPECT_EQ(Sources({header, through, declares, {"generator/use/a.cc", c.text}}).missing(), wanted) << c.what;
  }
}

}  // namespace
}  // namespace etch::includes_slow_test
