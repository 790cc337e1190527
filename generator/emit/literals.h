// Values as C text: the shortest literal that reads back exactly, and text that is safe inside comments and strings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/array.h"

namespace etch {

/// "0.1f", "-3", "INT64_C(5)", "INFINITY", "0x3c00u" (float16 and bfloat16 by their bits), "true".
std::string c_literal(Scalar value);
/// Elements [begin, end) of `data` as initialisers: lines of at most about 120 columns, each starting with `indent`, all
/// ending in ",\n".
std::string c_initializers(const Array& data, std::int64_t begin, std::int64_t end, std::string_view indent);
/// `text` made safe between /* and */: no comment marks, no trigraphs, no control characters, valid UTF-8.
std::string in_comment(std::string_view text);
/// `text` as a C string literal, with its quotes.
std::string c_string(std::string_view text);
/// Digits in groups of three: "25 600 000".
std::string grouped(std::int64_t number);

}  // namespace etch
