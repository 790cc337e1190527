#include "emit/literals.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>

namespace etch {
namespace {

TEST(Literals, AreTheShortestThatReadBack) {
  const struct {
    DType dtype;
    double value;
    const char* text;
  } rows[] = {
      {DType::Float32, 0.1, "0.1f"},
      {DType::Float32, 1, "1.0f"},
      {DType::Float32, -0.0, "-0.0f"},
      {DType::Float32, 1e-5, "1e-05f"},
      {DType::Float32, 16777216, "16777216.0f"},
      {DType::Float32, HUGE_VAL, "INFINITY"},
      {DType::Float32, -HUGE_VAL, "-INFINITY"},
      {DType::Float32, NAN, "NAN"},
      {DType::Float32, std::numeric_limits<float>::denorm_min(), "1e-45f"},
      {DType::Float32, std::numeric_limits<float>::max(), "3.4028235e+38f"},
      {DType::Float64, 0.1, "0.1"},
      {DType::Float64, 3, "3.0"},
      {DType::Float16, 1, "0x3c00u"},
      {DType::BFloat16, 1, "0x3f80u"},
      {DType::Bool, 1, "true"},
      {DType::Int8, -128, "-128"},
      {DType::UInt8, 255, "255"},
      {DType::Int32, -2147483648.0, "(-2147483647 - 1)"},
      {DType::UInt32, 4294967295.0, "4294967295u"},
      {DType::Int64, 5, "INT64_C(5)"},
      {DType::Int64, -5, "-INT64_C(5)"},
  };
  for (const auto& row : rows) EXPECT_EQ(c_literal(Scalar::of_double(row.dtype, row.value)), row.text);
  EXPECT_EQ(c_literal(Scalar::of_int(DType::Int64, std::numeric_limits<std::int64_t>::min())), "(-INT64_C(9223372036854775807) - 1)");
  EXPECT_EQ(c_literal(Scalar::of_int(DType::UInt64, -1)), "UINT64_C(18446744073709551615)");
}

TEST(Literals, EveryFloatReadsBackExactly) {
  std::mt19937 random(5);
  for (int i = 0; i < 20000; i++) {
    const auto bits = static_cast<std::uint32_t>(random());
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    const std::string text = c_literal(Scalar::of_double(DType::Float32, value));
    const float back = std::strtof(text.c_str(), nullptr);
    EXPECT_EQ(std::memcmp(&back, &value, sizeof value), 0) << text;
  }
}

TEST(Literals, InitializersWrapAndAreComplete) {
  std::vector<double> values(100, 0.125);
  const Array data = Array::of_doubles(DType::Float32, {100}, values);
  const std::string text = c_initializers(data, 0, 100, "  ");
  std::size_t count = 0, line = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    count += text[i] == ',';
    if (text[i] != '\n') continue;
    EXPECT_LE(i - line, 140u);
    line = i + 1;
  }
  EXPECT_EQ(count, 100u);
  EXPECT_EQ(line, text.size());
  EXPECT_EQ(c_initializers(data, 3, 5, "  "), "  0.125f, 0.125f,\n");
}

TEST(Literals, CommentsHoldAnyText) {
  const struct {
    const char *text, *comment;
  } rows[] = {
      {"a/b:0", "a/b:0"},
      {"a*/b/*c", "a* /b/ *c"},
      {"a?\?/", "a? ?/"},
      {"?\?\?=", "? ? ?="},
      {"\x01\n/", "? ?/"},
      {"tab\there", "tab?here"},
      {"ends with \\", "ends with \\"},
      {"\xC3\xA4rger \xE6\x97\xA5 \xF0\x9F\x98\x80", "\xC3\xA4rger \xE6\x97\xA5 \xF0\x9F\x98\x80"},
      {"\xE4rger", "?rger"},
      {"\xE2\x80\xAEx", "?x"},
      {"\xC0\xAF/", "? ?/"},
      {"\xED\xA0\x80", "? ? ?"},
      {"cut \xE6\x97", "cut ? ?"},
  };
  for (const auto& row : rows) EXPECT_EQ(in_comment(row.text), row.comment);
}

TEST(Literals, GroupsDigits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1 000");
  EXPECT_EQ(grouped(25600000), "25 600 000");
  EXPECT_EQ(grouped(-1234), "-1 234");
}

}  // namespace
}  // namespace etch
