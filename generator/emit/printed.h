// What a self-test prints of an output whose values it does not know: a checksum of its bytes and, where SelfTest asks for them, sums of
// its floats, by which two builds can be compared that round differently. The C that prints it, the same in C++, and what reads it.
//
//   CHECKSUM y 811c9dc5
//   SUMS y 3ff0000000000000 4000000000000000 ...
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ir/array.h"

namespace etch {

struct PrintedOutput {
  std::uint32_t checksum = 0;  // FNV-1a of its bytes
  /// Bits of doubles. Element i, times a number from 1 to 2 that tells places apart, counts in sum i % sum_count. The last one is beside
  /// those: it tells which elements are not finite, which count in no other. Empty: not printed.
  std::vector<std::uint64_t> sums{};

  bool operator==(const PrintedOutput&) const = default;
};

/// For nlohmann::json: the checksum and the sums as an array.
void to_json(nlohmann::ordered_json& json, const PrintedOutput& output);
void from_json(const nlohmann::ordered_json& json, PrintedOutput& output);

/// float and double. 16-bit floats round so coarsely that sums of them would hide errors.
bool has_sums(DType dtype);
/// How many sums an output has beside the last one.
std::int64_t sum_count(std::int64_t elements);

/// What is printed of an output with this content; without sums where the type has none.
PrintedOutput printed_of(const Array& data);

/// By name, what the lines of `console` say. Sums of an output without a checksum are left out.
std::map<std::string, PrintedOutput> printed_in(const std::string& console);

/// An output in the C of the self-test.
struct PrintedArray {
  std::string name, array;  // of the output and of the C array
  DType dtype{};
  std::int64_t elements = 0;
};

/// C that prints outputs.
struct Printing {
  std::string functions, calls;  // what the file needs, and statements
};
Printing printing_of(const std::vector<PrintedArray>& arrays, bool with_sums);

}  // namespace etch
