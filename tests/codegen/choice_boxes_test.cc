// Masks that choose between inputs, as concatenations do, in random ways: one part beside another, along any axis, parts in parts, some of
// them computed. Each box in which they do not change has its own loops. Against the same choice made element by element.
#include <gtest/gtest.h>

#include <random>

#include "support/backends.h"
#include "support/rounds.h"

namespace etch::choice_boxes_test {
namespace {

using Box = std::vector<Range>;

struct Tree {
  explicit Tree(unsigned seed) : rng(seed) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) { return std::uniform_int_distribution<std::int64_t>(low, high)(rng); }

  bool is_in(const Box& box, std::int64_t at) const {
    for (std::size_t d = box.size(); d-- > 0; at /= shape[d])
      if (at % shape[d] < box[d].first.as_int() || at % shape[d] >= box[d].second.as_int()) return false;
    return true;
  }

  ShapeTracker shown(const ShapeTracker& st, const Box& box) const {
    std::vector<Range> around;
    for (std::size_t d = 0; d < box.size(); d++) around.emplace_back(box[d].first, Sint(shape[d]) - box[d].second);
    return st.pad(around);
  }

  // An input of the box's size, or two of parts of the box.
  const LazyOp* value(const Box& box, int depth, std::vector<double>& wanted) {
    const std::vector<Sint> whole(shape.begin(), shape.end());
    const auto axis = static_cast<std::size_t>(pick(0, std::ssize(shape) - 1));
    const std::int64_t begin = box[axis].first.as_int(), end = box[axis].second.as_int();
    if (depth > 0 && end - begin > step) {
      Box first = box, second = box;
      const std::int64_t at = begin + step * pick(1, (end - begin - 1) / step);
      first[axis].second = second[axis].first = at;
      std::vector<double> a(wanted.size()), b(wanted.size());
      const LazyOp *x = value(first, depth - 1, a), *y = value(second, depth - 1, b);
      for (std::size_t i = 0; i < wanted.size(); i++) wanted[i] = is_in(first, static_cast<std::int64_t>(i)) ? a[i] : b[i];
      std::vector<Sint> sizes;
      for (const auto& [from, to] : first) sizes.push_back(to - from);
      const ShapeTracker everywhere = ShapeTracker::from_shape(std::vector<Sint>(shape.size(), 1)).expand(sizes);
      const LazyOp* is_first = ops.constant(Scalar::of_int(DType::Bool, 1), shown(everywhere, first));
      return ops.elementwise(Op::Where, {is_first, x, y});
    }
    std::vector<Sint> sizes;
    for (const auto& [from, to] : box) sizes.push_back(to - from);
    std::vector<double> data;
    const bool is_negated = pick(0, 2) == 0;
    for (std::int64_t i = 0; i < std::ssize(wanted); i++)
      if (is_in(box, i)) {
        data.push_back(static_cast<double>(pick(-99, 99)));
        wanted[static_cast<std::size_t>(i)] = is_negated ? -data.back() : data.back();
      }
    inputs.push_back(Array::of_doubles(DType::Float32, {std::ssize(data)}, data));
    const LazyOp* load = ops.load(static_cast<int>(inputs.size()), DType::Float32, shown(ShapeTracker::from_shape(sizes), box));
    if (!is_negated) return load;
    const ShapeTracker everywhere = ShapeTracker::from_shape(std::vector<Sint>(shape.size(), 1)).expand(whole);
    return ops.elementwise(Op::Mul, {load, ops.constant(Scalar::of_double(DType::Float32, -1), everywhere)});
  }

  void grow(std::int64_t steps) {
    step = steps;
    for (const std::int64_t size : {pick(1, 4), pick(2, 9), pick(2, 9)}) shape.push_back(size * step);
    Box all;
    for (const std::int64_t size : shape) all.emplace_back(0, size);
    expected.resize(static_cast<std::size_t>(shape[0] * shape[1] * shape[2]));
    const LazyOp* root = value(all, static_cast<int>(pick(1, 3)), expected);
    store = ops.store(0, root, ShapeTracker::from_shape({shape[0], shape[1], shape[2]}));
  }

  std::mt19937 rng;
  LazyOps ops;
  std::vector<std::int64_t> shape;
  std::int64_t step = 1;  // parts begin at multiples
  std::vector<Array> inputs;
  std::vector<double> expected;
  const LazyOp* store = nullptr;
};

void compare(const std::string& name, const Language& language, int vector_bits) {
  const auto device = test::backend(name);
  if (!device) GTEST_SKIP() << device.why;
  std::vector<std::unique_ptr<Tree>> trees;
  std::vector<test::BackendKernel> kernels;
  const int rounds = test::rounds(120);
  CodegenOptions options = test::options_for(language);
  options.vector_bits = vector_bits;
  for (int i = 0; i < rounds; i++) {
    Tree& tree = *trees.emplace_back(std::make_unique<Tree>(static_cast<unsigned>(i)));
    tree.grow(i % 2 == 0 ? 1 : 8);
    std::optional<std::vector<Opt>> opts;
    if (Kernel plain(tree.store, options); vector_bits == 0 && plain.try_apply({OptOp::Interior})) opts = plain.applied();
    kernels.push_back({tree.store, &tree.inputs, std::ssize(tree.expected), opts});
  }
  const Program program = test::program_of(kernels, language, options);
  const std::vector<Array> got = device->load(program)->run({});
  int without_masks = 0;
  for (std::size_t k = 0; k < kernels.size(); k++) {
    for (std::int64_t i = 0; i < kernels[k].output_size; i++)
      ASSERT_EQ(got[k].double_at(i), trees[k]->expected[static_cast<std::size_t>(i)]) << i << "\n" << program.kernels[k].text.source;
    const std::string& text = program.kernels[k].text.source;
    without_masks += text.find(" ? ") == std::string::npos && text.find("if (") == std::string::npos ? 1 : 0;
  }
  if (name == "c") EXPECT_GT(without_masks, rounds / 3);
}

TEST(ChoiceBoxes, C) { compare("c", kC, 0); }
TEST(ChoiceBoxes, VectorsOfC) { compare("c", kC, 256); }
TEST(ChoiceBoxes, VectorsOfLlvm) { compare("llvm", kLlvm, 256); }

}  // namespace
}  // namespace etch::choice_boxes_test
