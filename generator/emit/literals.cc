#include "emit/literals.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.h"

namespace etch {
namespace {

// Appends to `text`: formatting millions of numbers makes no strings of them.
template <class T>
void append_float(std::string& text, T value, std::string_view suffix) {
  if (std::isnan(value)) {
    text += "NAN";
    return;
  }
  if (std::isinf(value)) {
    text += value < 0 ? "-INFINITY" : "INFINITY";
    return;
  }
  char buffer[64];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  const std::string_view digits(buffer, static_cast<std::size_t>(end - buffer));
  text += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) text += ".0";
  text += suffix;
}

void append_int(std::string& text, std::int64_t value) {
  char buffer[32];
  const auto end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  text.append(buffer, static_cast<std::size_t>(end - buffer));
}

void append_literal(std::string& text, DType dtype, Scalar value) {
  switch (dtype) {
    case DType::Bool:
      text += value.as_int() != 0 ? "true" : "false";
      return;
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      append_int(text, value.as_int());
      return;
    case DType::Int32:
      // -2147483648 is not a literal of C but an expression of type long.
      if (value.as_int() == std::numeric_limits<std::int32_t>::min()) {
        text += "(-2147483647 - 1)";
      } else {
        append_int(text, value.as_int());
      }
      return;
    case DType::UInt32:
      append_int(text, value.as_int());
      text += "u";
      return;
    case DType::Int64:
      if (value.as_int() == std::numeric_limits<std::int64_t>::min()) {
        text += "(-INT64_C(9223372036854775807) - 1)";
      } else {
        text += value.as_int() < 0 ? "-INT64_C(" : "INT64_C(";
        append_int(text, std::abs(value.as_int()));
        text += ")";
      }
      return;
    case DType::UInt64:
      text += fmt::format("UINT64_C({})", static_cast<std::uint64_t>(value.as_int()));
      return;
    case DType::Float16:
      text += fmt::format("0x{:04x}u", double_to_half(value.as_double()));
      return;
    case DType::BFloat16:
      text += fmt::format("0x{:04x}u", double_to_bfloat16(value.as_double()));
      return;
    case DType::Float32:
      append_float(text, static_cast<float>(value.as_double()), "f");
      return;
    case DType::Float64:
      append_float(text, value.as_double(), "");
      return;
  }
}

}  // namespace

std::string c_literal(Scalar value) {
  std::string text;
  append_literal(text, value.dtype(), value);
  return text;
}

std::string c_initializers(const Array& data, std::int64_t begin, std::int64_t end, std::string_view indent) {
  constexpr std::size_t kColumns = 120;
  std::string text;
  std::size_t line = 0;
  for (std::int64_t i = begin; i < end; i++) {
    if (text.size() - line >= kColumns) {
      text += '\n';
      line = text.size();
    }
    text += text.size() == line ? indent : std::string_view(" ");
    if (data.dtype() == DType::Float32) {
      append_float(text, data.data<float>()[i], "f");
    } else {
      append_literal(text, data.dtype(), data.at(i));
    }
    text += ',';
  }
  if (text.size() != line) text += '\n';
  return text;
}

std::string in_comment(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); i++) {
    // U+202A to U+202E and U+2066 to U+2069 turn the direction of writing: text that reads otherwise than it compiles.
    const std::string_view two = text.substr(i, 2);
    const int third = i + 2 < text.size() ? static_cast<unsigned char>(text[i + 2]) : 0;
    const bool turns = (two == "\xE2\x80" && third >= 0xAA && third <= 0xAE) || (two == "\xE2\x81" && third >= 0xA6 && third <= 0xA9);
    const char c = turns ? '?' : text[i];
    if (turns) i += 2;
    const bool opens_or_closes = !result.empty() && ((result.back() == '*' && c == '/') || (result.back() == '/' && c == '*'));
    if (opens_or_closes) result += ' ';
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return result;
}

std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if ((c == '?' && result.ends_with('?')) || byte < 0x20 || byte >= 0x7f) {
      result += fmt::format("\\{:03o}", byte);  // a second question mark could begin a trigraph
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number < 0 ? -number : number);
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) digits.insert(static_cast<std::size_t>(i), " ");
  return (number < 0 ? "-" : "") + digits;
}

}  // namespace etch
