// For tests of the sources themselves: the repository's files, their text without comments and literals, and the functions in it.
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "support/files.h"

namespace etch::test {

struct SourceFile {
  std::string path;  // from the repository's root: "generator/base/error.h"
  std::string text;
};

/// Files of `folders` that end in one of `endings`, sorted, without tests/golden and tests/data, whose files were made by programs.
inline std::vector<SourceFile> source_files(const std::vector<std::string>& folders,
                                            const std::vector<std::string>& endings = {".cc", ".h", ".c"}) {
  namespace fs = std::filesystem;
  const fs::path root = ETCH_SOURCE_DIR;
  std::vector<SourceFile> files;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file() || std::ranges::find(endings, entry.path().extension().string()) == endings.end()) continue;
      const std::string path = fs::relative(entry.path(), root).generic_string();
      if (path.starts_with("tests/golden/") || path.starts_with("tests/data/")) continue;
      files.push_back({path, content(entry.path())});
    }
  std::ranges::sort(files, {}, &SourceFile::path);
  return files;
}

/// The line of `text` that holds its character number `at`, counted from 1.
inline int line_of(std::string_view text, std::size_t at) { return 1 + static_cast<int>(std::ranges::count(text.substr(0, at), '\n')); }

/// Where the comment or literal ends that begins at `text[at]`; `at` if none begins there.
inline std::size_t end_of_comment_or_literal(std::string_view text, std::size_t at) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t found = text.find(end, from);
    return found == std::string_view::npos ? text.size() : found + end.size();
  };
  const std::string_view rest = text.substr(at);
  const bool in_word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_');
  if (rest.starts_with("//")) return std::min(text.find('\n', at), text.size());
  if (rest.starts_with("/*")) return behind("*/", at + 2);
  if (rest.starts_with("R\"") && !in_word) {
    const std::size_t open = text.find('(', at);
    return behind(")" + std::string(text.substr(at + 2, open - at - 2)) + "\"", open);
  }
  const char quote = text[at];
  if (quote != '"' && (quote != '\'' || in_word)) return at;  // 1'000 holds no literal
  std::size_t end = at + 1;
  while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

/// `text` with spaces in place of comments and, unless `keep_literals`, of the text between the quotes of literals. Every other
/// character keeps its position.
inline std::string code_of(std::string_view text, bool keep_literals = false) {
  std::string code(text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_comment_or_literal(text, at);
    if (end == at) {
      at++;
      continue;
    }
    const bool is_comment = text[at] == '/';
    const std::size_t first = is_comment ? at : text.find_first_of("\"'", at) + 1;
    for (std::size_t i = first; i < (is_comment ? end : end - 1); i++)
      if (text[i] != '\n' && (is_comment || !keep_literals)) code[i] = ' ';
    at = end;
  }
  return code;
}

struct FunctionText {
  std::string head;  // what stands before its body, in one line
  int first_line = 0;
  int lines = 0;  // but those that are inside of a literal, as the text of a program is
};

/// Finds functions in code that clang-format has laid out: a body in braces behind a parameter list. Functions inside of functions,
/// lambdas among them, belong to the outer one.
class FunctionFinder {
 public:
  explicit FunctionFinder(std::string_view text) : text_(code_of(text)) {
    count_lines(code_of(text, true));
    blank_preprocessor_lines();
    for (at_ = 0; at_ < text_.size(); at_++) step(text_[at_]);
  }
  const std::vector<FunctionText>& found() const { return found_; }

 private:
  enum class Kind { Scope, Function, Other };  // a namespace or class; a function; an initializer
  struct Level {
    Kind kind = Kind::Scope;
    std::string head;         // what was read on this level since the last statement ended
    std::size_t head_at = 0;  // where it begins
    int parentheses = 0;
  };

  // A line of a literal is blank here and not in `with_literals`.
  void count_lines(const std::string& with_literals) {
    const auto is_blank = [](std::string_view line) { return line.find_first_not_of(' ') == std::string_view::npos; };
    int count = 0;
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = std::min(text_.find('\n', at), text_.size());
      const bool in_literal = is_blank(std::string_view(text_).substr(at, end - at)) && !is_blank(with_literals.substr(at, end - at));
      count += in_literal ? 0 : 1;
      counted_.push_back(count);
      at = end + 1;
    }
  }

  void blank_preprocessor_lines() {
    for (std::size_t at = 0; at < text_.size();) {
      std::size_t end = std::min(text_.find('\n', at), text_.size());
      const std::size_t first = text_.find_first_not_of(' ', at);
      if (first < end && text_[first] == '#') {
        while (end < text_.size() && text_[end - 1] == '\\') end = std::min(text_.find('\n', end + 1), text_.size());
        std::ranges::replace_if(
            text_.begin() + static_cast<std::ptrdiff_t>(at), text_.begin() + static_cast<std::ptrdiff_t>(end),
            [](char c) { return c != '\n'; }, ' ');
      }
      at = end + 1;
    }
  }

  static bool is_scope(const std::string& head) {
    static const std::regex scope(R"(^(template <.*> )?(inline )?(namespace|struct|class|union|enum|extern)\b(alignas\([^()]*\)|[^()])*$)");
    return std::regex_search(head, scope);
  }
  static bool is_function(const std::string& head) {
    static const std::regex plain(R"(\)( (const|noexcept|override|final|mutable|try))*( ?->[^=(){}]*)?$)");
    static const std::regex initialized(R"(\)( noexcept)? : .*\{\}$)");  // Name() : member_{0} {
    return std::regex_search(head, plain) || std::regex_search(head, initialized);
  }

  void step(char c) {
    Level& level = levels_.back();
    const bool in_body = level.kind == Kind::Function;
    if (c == '{') return open(in_body);
    if (c == '}') return close();
    if (in_body) return;
    level.parentheses += c == '(' ? 1 : c == ')' ? -1 : 0;
    const bool is_access = c == ':' && (level.head == "public" || level.head == "private" || level.head == "protected");
    if ((c == ';' && level.parentheses == 0) || is_access) return level.head.clear();
    const bool is_space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (level.head.empty()) level.head_at = at_;
    if (!is_space)
      level.head += c;
    else if (!level.head.empty() && level.head.back() != ' ')
      level.head += ' ';
  }

  void open(bool in_body) {
    if (in_body) return void(depth_++);
    std::string head = levels_.back().head;
    if (!head.empty() && head.back() == ' ') head.pop_back();
    Level inner{is_scope(head) ? Kind::Scope : is_function(head) ? Kind::Function : Kind::Other, "", at_};
    if (inner.kind == Kind::Function) {
      inner.head = head;
      inner.head_at = levels_.back().head_at;
    }
    levels_.push_back(std::move(inner));
  }

  void close() {
    if (depth_ > 0) return void(depth_--);
    if (levels_.size() == 1) return;  // not C++
    const Level closed = std::move(levels_.back());
    levels_.pop_back();
    Level& outer = levels_.back();
    if (closed.kind == Kind::Other) {
      outer.head += "{}";
      return;
    }
    if (closed.kind == Kind::Function) {
      const int first = line_of(text_, closed.head_at), last = line_of(text_, at_);
      const auto counted = [&](int line) { return counted_[static_cast<std::size_t>(line - 1)]; };
      found_.push_back({closed.head, first, counted(last) - counted(first) + 1});
    }
    if (outer.parentheses == 0 && outer.kind == Kind::Scope)
      outer.head.clear();
    else
      outer.head += "{}";
  }

  std::string text_;
  std::vector<int> counted_;  // lines of code up to each line
  std::size_t at_ = 0;
  int depth_ = 0;  // of braces inside of a function's body
  std::vector<Level> levels_{Level{}};
  std::vector<FunctionText> found_;
};

inline std::vector<FunctionText> functions_of(std::string_view text) { return FunctionFinder(text).found(); }

}  // namespace etch::test
