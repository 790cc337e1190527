// Kernels of small whole numbers: their sums are exact in whatever order, so what a backend computes equals what loops do.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "ir/array.h"
#include "support/backends.h"

namespace etch::test {

inline Array small_numbers(std::mt19937& rng, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; i++) values.push_back(std::uniform_int_distribution<int>(-4, 4)(rng));
  return Array::of_doubles(DType::Float32, {count}, values);
}

class ExactKernels {
 public:
  /// On a backend, or why() not, with vectors of that width.
  ExactKernels(const char* name, const Language& language, int vector_bits)
      : options(options_for(language)), device_(backend(name)), language_(language) {
    options.vector_bits = vector_bits;
  }

  bool is_there() const { return static_cast<bool>(device_); }
  std::string why() const { return device_.why; }

  /// `expected`: what loops make of the inputs. `opts`: instead of the heuristics'.
  void add(const LazyOp* store, std::vector<Array> inputs, std::vector<double> expected, std::optional<std::vector<Opt>> opts = {}) {
    inputs_.push_back(std::move(inputs));
    expected_.push_back(std::move(expected));
    kernels_.push_back({store, &inputs_.back(), static_cast<std::int64_t>(expected_.back().size()), std::move(opts)});
  }

  /// Runs all of them. `may_lay_out`: constants, the inputs 2 and up, may lie in another order.
  void run(bool may_lay_out) {
    program = program_of(kernels_, language_, options, may_lay_out);
    const std::vector<Array> got = device_->load(program)->run({});
    for (std::size_t i = 0; i < got.size(); i++) ASSERT_EQ(got[i].doubles(), expected_[i]) << i << "\n" << program.kernels[i].text.source;
  }

  CodegenOptions options;
  Program program{};  // with a kernel for each that was added

 private:
  UsableDevice device_;
  const Language& language_;
  std::deque<std::vector<Array>> inputs_{};
  std::vector<std::vector<double>> expected_{};
  std::vector<BackendKernel> kernels_{};
};

}  // namespace etch::test
