// Conversions of vectors of integers in etch_quant.h, by GCC and by clang, which have a text each: as C converts each number.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/runtime_text.h"
#include "base/tempdir.h"
#include "build.h"
#include "support/needs.h"
#include "support/processor.h"

namespace etch::conversions_test {
namespace {

struct Lane {
  const char *name, *type;
  int bytes;
};
constexpr Lane kLanes[] = {
    {"i8", "int8_t", 1}, {"u8", "uint8_t", 1}, {"i16", "int16_t", 2}, {"u16", "uint16_t", 2}, {"u32", "uint32_t", 4},
};

std::string check_of(const Lane& from, const Lane& to, int lanes) {
  return fmt::format(
      "static int wrong_{0}_{1}x{2}(void) {{\n"
      "  int wrong = 0;\n"
      "  for (uint32_t x = 0; x < 70000u; x++) {{\n"
      "    etch_{0}x{2} v;\n"
      "    for (uint32_t l = 0; l < {2}u; l++) v[l] = ({3})(x * 65537u + l * 2654435761u);\n"
      "    const etch_{1}x{2} converted = etch_{0}_to_{1}x{2}(v);\n"
      "    for (uint32_t l = 0; l < {2}u; l++) wrong += converted[l] != ({4})v[l];\n"
      "  }}\n"
      "  return wrong;\n"
      "}}\n",
      from.name, to.name, lanes, from.type, to.type);
}

// A program that ends with 1 if a number is converted otherwise.
std::string program() {
  std::string functions, calls;
  for (const Lane& from : kLanes)
    for (const Lane& to : kLanes)
      for (const int lanes : {4, 8, 16}) {
        if (from.bytes == to.bytes) continue;
        functions += check_of(from, to, lanes);
        calls += fmt::format("{}wrong_{}_{}x{}()", calls.empty() ? "" : " + ", from.name, to.name, lanes);
      }
  return "#include \"etch_quant.h\"\n\n" + functions + "int main(void) { return " + calls + " != 0; }\n";
}

void expect_right_by(const std::string& compiler, const std::string& flags) {
  SCOPED_TRACE(compiler + " " + flags);
  const TempDir work("etch-conversions");
  for (const char* file : {"etch_math.h", "etch_quant.h"}) write_file(work.path() / file, std::string(runtime_text(file)));
  write_file(work.path() / "p.c", program());
  const ProcessResult built =
      test::run_in(work.path(), compiler + " -std=gnu99 -Wall -Wextra -Wconversion -Wshadow -Werror " + flags + " p.c -lm -o p");
  ASSERT_TRUE(built.ok()) << built.err.substr(0, 2000);
  EXPECT_TRUE(test::run_in(work.path(), "./p").ok());
}

TEST(Conversions, of_vectors_are_those_of_numbers_by_both_compilers) {
  if (const std::string why = test::missing({"gcc", "clang-19"}); !why.empty()) GTEST_SKIP() << why;
  for (const char* compiler : {"gcc", "clang-19"})
    for (const char* flags : {"-O1 -Wno-psabi", "-O3 -Wno-psabi"}) expect_right_by(compiler, flags);  // no registers are so wide
}

TEST(Conversions, of_vectors_are_those_of_numbers_in_registers_of_512_bits) {
  if (!test::has_feature("avx512f")) GTEST_SKIP() << "this processor has no AVX-512";
  if (const std::string why = test::missing({"gcc", "clang-19"}); !why.empty()) GTEST_SKIP() << why;
  for (const char* compiler : {"gcc", "clang-19"}) expect_right_by(compiler, "-O3 -march=x86-64-v4 -mprefer-vector-width=512");
}

}  // namespace
}  // namespace etch::conversions_test
