#include "emit/printed.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/fnv.h"

namespace etch {
namespace {

constexpr std::int64_t kMostSums = 64;

std::string checksum_function() {
  return "/* FNV-1a of an output's bytes. Compilers round floats differently: the same build gives the same checksum. */\n"
         "static unsigned long checksum(const void *data, size_t bytes) {\n"
         "  const unsigned char *const p = (const unsigned char *)data;\n"
         "  uint32_t hash = 2166136261u;\n"
         "  size_t i;\n"
         "  for (i = 0; i < bytes; i++) hash = (hash ^ p[i]) * 16777619u;\n"
         "  return (unsigned long)hash;\n"
         "}\n\n";
}

std::string sums_function(DType dtype) {
  return fmt::format(
      "/* Sums of an output's elements, as bits: nearly the same in builds that round differently. Each element counts times a number\n"
      " * from 1 to 2 that tells places apart; the last sum tells which elements are not finite. */\n"
      "static void print_sums_{0}(const char *name, const {0} *values, size_t count) {{\n"
      "  static double sums[{1} + 1];\n"
      "  const size_t used = count < {1}u ? count : {1}u;\n"
      "  uint32_t state = 1u;\n"
      "  size_t i;\n"
      "  if (sizeof sums[0] != sizeof(uint64_t)) return; /* where double is float, the sums would round as coarsely as the values */\n"
      "  for (i = 0; i <= used; i++) sums[i] = 0.0;\n"
      "  for (i = 0; i < count; i++) {{\n"
      "    const double value = {2}values[i];\n"
      "    double weight;\n"
      "    state = state * 1664525u + 1013904223u;\n"
      "    weight = 1.0 + (double)(state >> 8) / 16777216.0;\n"
      "    if (isfinite(value)) {{\n"
      "      sums[i % used] += weight * value;\n"
      "    }} else {{\n"
      "      sums[used] += weight * (value > 0.0 ? 1.0 : value < 0.0 ? 2.0 : 3.0);\n"
      "    }}\n"
      "  }}\n"
      "  printf(\"SUMS %s\", name);\n"
      "  for (i = 0; i <= used; i++) {{\n"
      "    uint64_t bits = 0;\n"
      "    memcpy(&bits, &sums[i], sizeof sums[i]);\n"
      "    printf(\" %08lx%08lx\", (unsigned long)(bits >> 32), (unsigned long)(bits & 0xffffffffu));\n"
      "  }}\n"
      "  printf(\"\\n\");\n"
      "}}\n\n",
      info(dtype).c_type, kMostSums, dtype == DType::Float64 ? "" : "(double)");
}

}  // namespace

void to_json(nlohmann::ordered_json& json, const PrintedOutput& output) { json = {output.checksum, output.sums}; }

void from_json(const nlohmann::ordered_json& json, PrintedOutput& output) {
  json.at(0).get_to(output.checksum);
  json.at(1).get_to(output.sums);
}

bool has_sums(DType dtype) { return dtype == DType::Float32 || dtype == DType::Float64; }

std::int64_t sum_count(std::int64_t elements) { return std::min(elements, kMostSums); }

// As sums_function has it in C.
PrintedOutput printed_of(const Array& data) {
  PrintedOutput result{fnv1a_32(data.bytes()), {}};
  if (!has_sums(data.dtype()) || data.size() == 0) return result;
  const std::int64_t count = sum_count(data.size());
  std::vector<double> sums(static_cast<std::size_t>(count + 1));
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < data.size(); i++) {
    const double value = data.double_at(i);
    state = state * 1664525u + 1013904223u;
    const double weight = 1.0 + static_cast<double>(state >> 8) / 16777216.0;
    if (std::isfinite(value))
      sums[static_cast<std::size_t>(i % count)] += weight * value;
    else
      sums.back() += weight * (value > 0 ? 1.0 : value < 0 ? 2.0 : 3.0);
  }
  for (const double sum : sums) result.sums.push_back(std::bit_cast<std::uint64_t>(sum));
  return result;
}

std::map<std::string, PrintedOutput> printed_in(const std::string& console) {
  std::map<std::string, PrintedOutput> outputs;
  std::istringstream lines(console);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string title, name;
    if (!(words >> title >> name >> std::hex)) continue;
    if (std::uint32_t checksum = 0; title == "CHECKSUM" && words >> checksum) outputs[name].checksum = checksum;
    const auto known = outputs.find(name);
    if (title != "SUMS" || known == outputs.end()) continue;
    for (std::uint64_t sum = 0; words >> sum;) known->second.sums.push_back(sum);
  }
  return outputs;
}

Printing printing_of(const std::vector<PrintedArray>& arrays, bool with_sums) {
  Printing result;
  if (!arrays.empty()) result.functions += checksum_function();
  std::set<DType> summed;
  for (const PrintedArray& a : arrays) {
    result.calls += fmt::format("  printf(\"CHECKSUM {0} %08lx\\n\", checksum({1}, sizeof {1}[0] * {2}u));\n", a.name, a.array, a.elements);
    if (!with_sums || !has_sums(a.dtype)) continue;
    if (summed.insert(a.dtype).second) result.functions += sums_function(a.dtype);
    result.calls += fmt::format("  print_sums_{}(\"{}\", {}, {}u);\n", info(a.dtype).c_type, a.name, a.array, a.elements);
  }
  return result;
}

}  // namespace etch
