// What self-tests print of outputs: the C that does, on processors of either order of bytes, and what reads it again.
#include "emit/printed.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <random>

#include "base/files.h"
#include "base/process.h"
#include "base/tempdir.h"
#include "build.h"
#include "emit/literals.h"

namespace etch::printed_test {
namespace {

struct Output {
  std::string name;
  Array data;
};

Array random_array(DType dtype, std::int64_t size) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::uniform_real_distribution<double> any(-4, 4);
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; i++) values.push_back(any(random));
  return Array::of_doubles(dtype, {size}, values);
}

std::vector<Output> outputs() {
  std::vector<Output> result;
  for (const DType dtype : {DType::Float32, DType::Float64})
    for (const std::int64_t size : {1, 63, 64, 65, 1000})
      result.push_back({fmt::format("{}{}", info(dtype).c_type, size), random_array(dtype, size)});
  std::vector<double> values(100, 0.1);
  values[3] = values[70] = INFINITY, values[20] = -INFINITY, values[31] = NAN, values[2] = -0.0, values[4] = 1e-45, values[5] = -3.4e38;
  result.push_back({"special", Array::of_doubles(DType::Float32, {100}, values)});
  result.push_back({"half", random_array(DType::Float16, 70)});
  result.push_back({"integers", Array::of_ints(DType::Int16, {3}, std::vector<std::int64_t>{1, -2, 3})});
  return result;
}

std::string program(const std::vector<Output>& all, bool with_sums) {
  std::vector<PrintedArray> arrays;
  std::string data;
  for (const Output& o : all) {
    data += "static const " + std::string(info(o.data.dtype()).c_type) + " out_" + o.name + "[] = {\n" +
            c_initializers(o.data, 0, o.data.size(), "  ") + "};\n";
    arrays.push_back({o.name, "out_" + o.name, o.data.dtype(), o.data.size()});
  }
  const Printing printing = printing_of(arrays, with_sums);
  return "#include <math.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n" + data + printing.functions +
         "int main(void) {\n" + printing.calls + "  return 0;\n}\n";
}

// By a compiler and what runs its programs.
std::map<std::string, PrintedOutput> printed_by(const std::string& compiler, const std::string& runner, const std::string& text) {
  const TempDir work("etch-printed");
  write_file(work.path() / "p.c", text);
  const ProcessResult built = test::run_in(
      work.path(),
      compiler +
          " -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Wfloat-equal -Werror p.c -static -lm -o p");
  EXPECT_TRUE(built.ok()) << compiler << "\n" << built.err.substr(0, 2000);
  const ProcessResult run = test::run_in(work.path(), runner.empty() ? "./p" : runner + " p");
  EXPECT_TRUE(run.ok()) << run.err;
  return printed_in(run.out);
}

TEST(Printed, programs_print_what_is_computed_here) {
  const std::vector<Output> all = outputs();
  const std::pair<const char*, const char*> machines[] = {
      {"gcc", ""}, {"clang-19", ""}, {"s390x-linux-gnu-gcc", "qemu-s390x"}, {"powerpc-linux-gnu-gcc", "qemu-ppc"}};
  for (const auto& [compiler, runner] : machines) {
    if (!find_program(compiler) || (*runner != 0 && !find_program(runner))) continue;
    SCOPED_TRACE(compiler);
    const auto with = printed_by(compiler, runner, program(all, true)), without = printed_by(compiler, runner, program(all, false));
    EXPECT_EQ(with.size(), all.size());
    for (const Output& o : all) {
      const PrintedOutput wanted = printed_of(o.data);
      EXPECT_TRUE(*runner != 0 || with.at(o.name).checksum == wanted.checksum) << o.name;
      EXPECT_EQ(with.at(o.name).sums, wanted.sums) << o.name;
      EXPECT_EQ(without.at(o.name), (PrintedOutput{with.at(o.name).checksum, {}})) << o.name;
    }
  }
}

TEST(Printed, sums_are_one_more_than_elements_and_at_most_65) {
  for (const auto& [size, sums] : {std::pair{0, 0}, {1, 2}, {63, 64}, {64, 65}, {1000, 65}})
    EXPECT_EQ(printed_of(random_array(DType::Float32, size)).sums.size(), static_cast<std::size_t>(sums));
  EXPECT_TRUE(printed_of(random_array(DType::Float16, 9)).sums.empty());
  EXPECT_TRUE(printed_of(Array::of_ints(DType::Int8, {1}, std::vector<std::int64_t>{1})).sums.empty());
}

TEST(Printed, other_lines_are_none) {
  const auto read = printed_in("PASS\nCHECKSUM a 0000002a\nSUMS b 1\nCHECKSUM\nSUMS a 1 ffffffffffffffff\nCHECKSUM c\n\nSUMS\n");
  EXPECT_EQ(read, (std::map<std::string, PrintedOutput>{{"a", {42, {1, ~std::uint64_t{0}}}}}));
}

TEST(Printed, json_keeps_all_bits) {
  for (const PrintedOutput& output : {PrintedOutput{}, {4294967295u, {0, 0x7ff8000000000001u, ~std::uint64_t{0}}}}) {
    const nlohmann::ordered_json json = output;
    EXPECT_EQ(nlohmann::ordered_json::parse(json.dump()).get<PrintedOutput>(), output) << json.dump();
  }
}

}  // namespace
}  // namespace etch::printed_test
