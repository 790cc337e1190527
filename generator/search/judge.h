// Whether a variant of a task computes what the reference and the heuristics' kernel compute, by what the program that measures it prints.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "search/beam.h"

namespace etch {

enum class Verdict : std::uint8_t {
  Same,           // integers to the bit, floats but for how they are rounded
  OtherFloats,    // floats alone differ by more
  OtherIntegers,  // or there are not as many outputs
};

class Judge {
 public:
  /// `heuristics`: of their kernels.
  Judge(const Task& task, const std::vector<PrintedOutput>& heuristics);

  Verdict verdict(const std::vector<PrintedOutput>& outputs) const;

 private:
  struct Expected {
    bool is_float = false;
    PrintedOutput exact;              // of integers the reference's, of floats those of the heuristics' kernel
    std::vector<double> sums;         // the reference's
    std::optional<double> tolerance;  // how far a sum may lie from the reference's; nullopt: floats are equal to the bit
  };

  static Expected expected_of(const Array& reference, const PrintedOutput& heuristics);

  std::vector<Expected> expected_;  // as many as the heuristics' outputs
};

}  // namespace etch
