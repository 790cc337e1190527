// For tests of the search: a convolution of bytes as a task, with what it computes by plain loops.
#pragma once

#include <random>
#include <vector>

#include "search/beam.h"
#include "support/compiled.h"
#include "support/conv.h"

namespace etch::test {

/// Its sums are what is stored.
inline Task task_of(LazyOps& ops, const Conv& conv, const CodegenOptions& options) {
  const LazyOp* store = conv_store(ops, conv, DType::Int8, DType::Int32);
  std::mt19937 random(3);
  const auto bytes = [&](std::int64_t n) {
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < n; i++) values.push_back(static_cast<std::int64_t>(random() % 256) - 128);
    return values;
  };
  const auto x = bytes(conv.groups * conv.in * conv.height * conv.width);
  const auto w = bytes(conv.groups * conv.out * conv.in * conv.kernel * conv.kernel);
  const auto y = conv_loops(conv, x, w);
  const auto size = [](const auto& v) { return static_cast<std::int64_t>(v.size()); };
  Subject subject{store, signature_of("k", store, {size(y), size(x), size(w)}, {false, false, true}).arguments, {}, options};
  subject.data = {Array::of_ints(DType::Int32, {size(y)}, y), Array::of_ints(DType::Int8, {size(x)}, x),
                  Array::of_ints(DType::Int8, {size(w)}, w)};
  return {"conv", {subject}, false, {}};
}

}  // namespace etch::test
