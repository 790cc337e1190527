// Operators that may take more memory for speed do so where the target has it, and RAM is not the goal.
#include <gtest/gtest.h>

#include "driver/compile.h"
#include "support/instructions.h"
#include "support/node_model.h"

namespace etch {
namespace {

using test::floats;

// An LSTM of 64 units on 64 inputs, 100 steps.
std::string bytes_of_lstm() {
  constexpr std::int64_t kSteps = 100, kUnits = 64;
  const auto values = [](std::int64_t n) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < n; i++) result.push_back(static_cast<double>(i % 13 - 6) / 64);
    return result;
  };
  return test::bytes_of(
      {"LSTM",
       14,
       {floats({kSteps, 1, kUnits}, values(kSteps * kUnits)), floats({1, 4 * kUnits, kUnits}, values(4 * kUnits * kUnits)),
        floats({1, 4 * kUnits, kUnits}, values(4 * kUnits * kUnits))},
       {}});
}

std::int64_t arena_of(const char* target, bool overlap) {
  CompileOptions options;
  options.import.bytes = bytes_of_lstm();
  options.import.name = "net";
  options.target = test::target_named(target);
  options.overlap = overlap;
  return compile_project(read_model(options), options).plan.arena_bytes;
}

TEST(MemoryToSpare, IsTakenWhereTheTargetHasIt) {
  for (const char* target : {"host", "x86-64-v4", "cortex-a53", "rv64gcv"}) EXPECT_EQ(arena_of(target, true), 1536) << target;
  for (const char* target : {"cortex-a53", "rv64gcv"}) EXPECT_EQ(arena_of(target, false), 5632) << target;
  // There the products of the next inputs are made beside the sums that wait for weights.
  for (const char* target : {"host", "x86-64-v4"}) EXPECT_EQ(arena_of(target, false), 9728) << target;
  for (const char* target : {"cortex-m4f", "cortex-m0plus", "rv32imc", "avr", "c99"}) EXPECT_EQ(arena_of(target, false), 1536) << target;
}

}  // namespace
}  // namespace etch
