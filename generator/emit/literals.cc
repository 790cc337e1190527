#include "emit/literals.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "base/error.h"

namespace etch {
namespace {

// Appends to `text`, so that formatting millions of numbers needs no temporary strings.
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

namespace {

/// Number of bytes of the UTF-8 character that `text` begins with, 1 to 4; 0 if it is invalid (a lone byte, an overlong form, a surrogate).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF5 ? 0 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  for (std::size_t i = 1; i < length; i++)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool outside = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return overlong || outside ? 0 : length;
}

// U+202A to U+202E and U+2066 to U+2069 change the writing direction, so that text looks different from what is compiled.
bool turns_direction(std::string_view character) {
  if (character.size() != 3) return false;
  const auto third = static_cast<unsigned char>(character[2]);
  return (character.starts_with("\xE2\x80") && third >= 0xAA && third <= 0xAE) ||
         (character.starts_with("\xE2\x81") && third >= 0xA6 && third <= 0xA9);
}

}  // namespace

std::string in_comment(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text.substr(i));
    const std::string_view character = text.substr(i, std::max<std::size_t>(length, 1));
    i += character.size();
    const auto first = static_cast<unsigned char>(character[0]);
    const bool shown = length > 0 && first >= 0x20 && first != 0x7f && !turns_direction(character);
    const std::string_view next = shown ? character : "?";
    // No "*/" and "/*", and no two question marks: they could begin a trigraph.
    const char last = result.empty() ? ' ' : result.back();
    if ((last == '*' && next == "/") || (last == '/' && next == "*") || (last == '?' && next == "?")) result += ' ';
    result += next;
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
