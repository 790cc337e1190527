// For tests: random ASTs together with what they give, computed by loops of the test's own, and the comparison of a backend with that.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "support/backends.h"
#include "support/opt_chain.h"
#include "support/rounds.h"

namespace etch::test {

using Index = std::vector<std::int64_t>;

inline std::vector<Sint> sints(const Index& sizes) { return {sizes.begin(), sizes.end()}; }

/// Calls visit(index, number) for each element of `shape`, in row-major order.
template <class Visit>
void for_each_index(const Index& shape, Visit visit) {
  Index at(shape.size(), 0);
  for (std::size_t number = 0;; number++) {
    visit(at, number);
    std::size_t k = shape.size();
    while (k > 0 && ++at[k - 1] == shape[k - 1]) at[--k] = 0;
    if (k == 0) return;
  }
}

/// An AST, the buffers that it reads, and the elements that it stores.
struct KnownAst {
  LazyOps ops;
  std::vector<Array> inputs;
  const LazyOp* store = nullptr;
  std::vector<double> expected;
};

/// A view of a buffer, and by hand the element that it shows at an index.
struct KnownView {
  int buffer = 0;
  ShapeTracker st;
  std::function<double(const Index&)> value;
};

/// How odd views are: one in so many axes repeats or runs backwards, one in so many views has a mask; 0 means never.
struct ViewOdds {
  bool in_order = false;  // as the buffer is, but for the mask
  int repeats = 4, backwards = 5, masked = 5;
  bool last_repeats = true;  // the last axis may repeat
};

class RandomAsts {
 public:
  explicit RandomAsts(unsigned seed) : rng_(seed) {}
  virtual ~RandomAsts() = default;
  virtual std::unique_ptr<KnownAst> next() = 0;
  std::mt19937& rng() { return rng_; }

 protected:
  std::int64_t draw(std::int64_t from, std::int64_t to) { return std::uniform_int_distribution<std::int64_t>(from, to)(rng_); }
  bool one_in(int n) { return n > 0 && draw(1, n) == 1; }
  template <class T = std::int64_t>
  T pick(std::initializer_list<T> from) {
    return *(from.begin() + draw(0, static_cast<std::int64_t>(from.size()) - 1));
  }

  /// A view of a new buffer, whose elements `element` draws.
  KnownView view(KnownAst& ast, DType dtype, const Index& shape, const ViewOdds& odds, const std::function<double()>& element) {
    std::vector<std::size_t> order(shape.size());
    for (std::size_t k = 0; k < order.size(); k++) order[k] = shape.size() - 1 - k;
    if (!odds.in_order) std::shuffle(order.begin(), order.end(), rng_);
    Index strides(shape.size(), 0);
    std::int64_t size = 1, offset = 0;
    for (const std::size_t k : order) {
      const bool may_repeat = !odds.in_order && (odds.last_repeats || k + 1 < shape.size());
      if (may_repeat && one_in(odds.repeats)) continue;
      const bool backwards = !odds.in_order && one_in(odds.backwards);
      strides[k] = backwards ? -size : size;
      if (backwards) offset += size * (shape[k] - 1);
      size *= shape[k];
    }
    Index begin(shape.size(), 0), end = shape;
    std::optional<std::vector<Range>> mask;
    if (one_in(odds.masked)) {
      const auto k = static_cast<std::size_t>(draw(0, static_cast<std::int64_t>(shape.size()) - 1));
      begin[k] = draw(0, shape[k] - 1);
      end[k] = draw(begin[k] + 1, shape[k]);
      mask.emplace();
      for (std::size_t a = 0; a < shape.size(); a++) mask->emplace_back(begin[a], end[a]);
    }
    std::vector<double> values;
    for (std::int64_t i = 0; i < size; i++) values.push_back(element());
    const Array data = Array::of_doubles(dtype, {size}, values);
    ast.inputs.push_back(data);
    const auto value = [=](const Index& at) {
      std::int64_t p = offset;
      for (std::size_t k = 0; k < at.size(); k++) {
        if (at[k] < begin[k] || at[k] >= end[k]) return 0.0;
        p += at[k] * strides[k];
      }
      return data.double_at(p);
    };
    return {static_cast<int>(ast.inputs.size()), ShapeTracker({View::create(sints(shape), sints(strides), offset, mask)}), value};
  }

 private:
  std::mt19937 rng_;
};

/// What is wrong with `got`; empty if nothing is.
using DifferenceFrom = std::string (*)(const Array& got, const std::vector<double>& wanted);

inline void expect_reference_agrees(RandomAsts& asts, int count, DifferenceFrom difference) {
  for (int i = 0; i < rounds(count); i++) {
    const auto c = asts.next();
    std::vector<const Array*> inputs;
    for (const Array& a : c->inputs) inputs.push_back(&a);
    ASSERT_EQ(difference(interp_evaluate(c->store, inputs), c->expected), "") << i << "\n" << to_text(c->store);
  }
}

/// rounds(count) of them as one program: every third kernel with the heuristics, the others with random OptOps. All kinds of OptOps have to
/// come up, and GROUP or GROUPTOP in at least rounds(grouped) kernels; if that is not 0, half of the chains start with one.
inline void expect_backend_agrees(const std::string& name, const Language& language, RandomAsts& asts, int count, int vector_bits,
                                  DifferenceFrom difference, int grouped = 0) {
  const auto device = backend(name, grouped > 0);
  if (!device) GTEST_SKIP() << device.why;
  CodegenOptions options = options_for(language);
  options.vector_bits = vector_bits;
  options.register_tiles = vector_bits > 0;
  std::vector<std::unique_ptr<KnownAst>> cases;
  std::vector<BackendKernel> kernels;
  for (int i = 0; i < rounds(count); i++) {
    cases.push_back(asts.next());
    const KnownAst& c = *cases.back();
    BackendKernel kernel{c.store, &c.inputs, static_cast<std::int64_t>(c.expected.size()), {}};
    if (i % 3 > 0) kernel.opts = random_opt_chain(c.store, asts.rng(), options, 16, grouped > 0 && i % 3 == 1);
    kernels.push_back(kernel);
  }
  const Program program = program_of(kernels, language, options, true);
  for (const char* step : {"UPCAST", "UNROLL", "PADTO", vector_bits > 0 ? "VECTOR" : "UPCAST", language.grid ? "LOCAL" : "UPCAST"})
    EXPECT_TRUE(std::ranges::any_of(program.kernels, [&](const ProgramKernel& k) { return k.opts.find(step) != std::string::npos; }))
        << step << " never came up";
  const auto is_grouped = [](const ProgramKernel& k) { return k.opts.find("GROUP") != std::string::npos; };
  EXPECT_GE(std::ranges::count_if(program.kernels, is_grouped), rounds(grouped));
  const std::vector<Array> got = device->load(program)->run({});
  for (std::size_t k = 0; k < cases.size(); k++)
    ASSERT_EQ(difference(got[k], cases[k]->expected), "") << k << ", " << program.kernels[k].opts << "\n"
                                                          << to_text(cases[k]->store) << program.kernels[k].text.source;
}

}  // namespace etch::test
