#include "base/naming.h"

#include <algorithm>
#include <iterator>

namespace etch {
namespace {

// Keywords of C99 to C23 and C++20, and words that <stdint.h>, <stdbool.h> and <stddef.h> define.
constexpr std::string_view kReserved[] = {
    "NULL",          "alignas",     "alignof",  "and",       "and_eq",    "asm",      "auto",         "bitand",     "bitor",
    "bool",          "break",       "case",     "catch",     "char",      "char16_t", "char32_t",     "char8_t",    "class",
    "co_await",      "co_return",   "co_yield", "compl",     "complex",   "concept",  "const",        "const_cast", "consteval",
    "constexpr",     "constinit",   "continue", "decltype",  "default",   "delete",   "do",           "double",     "dynamic_cast",
    "else",          "enum",        "errno",    "explicit",  "export",    "extern",   "false",        "float",      "for",
    "friend",        "goto",        "if",       "imaginary", "inline",    "int",      "int16_t",      "int32_t",    "int64_t",
    "int8_t",        "long",        "main",     "mutable",   "namespace", "new",      "noexcept",     "not",        "not_eq",
    "nullptr",       "offsetof",    "operator", "or",        "or_eq",     "private",  "protected",    "ptrdiff_t",  "public",
    "register",      "requires",    "restrict", "return",    "short",     "signed",   "size_t",       "sizeof",     "static",
    "static_assert", "static_cast", "struct",   "switch",    "template",  "this",     "thread_local", "throw",      "true",
    "try",           "typedef",     "typeid",   "typename",  "typeof",    "uint16_t", "uint32_t",     "uint64_t",   "uint8_t",
    "union",         "unsigned",    "using",    "virtual",   "void",      "volatile", "wchar_t",      "while",      "xor",
    "xor_eq"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string c_identifier(std::string_view name) {
  std::string result;
  for (char c : name) {
    const bool keep = is_letter(c) || is_digit(c);
    if (keep)
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  while (!result.empty() && result.back() == '_') result.pop_back();
  if (result.empty()) return "unnamed";
  if (is_digit(result.front())) result.insert(0, "n");
  if (std::find(std::begin(kReserved), std::end(kReserved), result) != std::end(kReserved)) result += '_';
  return result;
}

bool is_c_identifier(std::string_view text) { return !text.empty() && c_identifier(text) == text; }

std::string CNames::add(std::string_view name) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
  };
  const std::string base = c_identifier(name);
  std::string candidate = base;
  for (int n = 2; !taken_.insert(lower(candidate)).second; ++n) {
    candidate = base + (base.back() == '_' ? "" : "_") + std::to_string(n);
  }
  return candidate;
}

}  // namespace etch
