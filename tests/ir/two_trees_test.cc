// An AST of two trees, which are one kernel: what it is made of, and what it must not share.
#include <gtest/gtest.h>

#include "base/error.h"
#include "ir/lazyop.h"

namespace etch {
namespace {

class TwoTrees : public testing::Test {
 protected:
  static ShapeTracker st(std::vector<Sint> shape) { return ShapeTracker::from_shape(std::move(shape)); }
  const LazyOp* copy(int output, int input, std::vector<Sint> shape) {
    return ops_.store(output, ops_.load(input, DType::Float32, st(shape)), st(shape));
  }
  LazyOps ops_;
};

TEST_F(TwoTrees, AreTakenApart) {
  const LazyOp *first = copy(0, 3, {8}), *further = copy(1, 4, {8}), *second = copy(2, 5, {2, 3});
  const LazyOp* both = ops_.store(0, first->src[0], first->st(), {further, second});
  EXPECT_EQ(second_tree(both), second);
  EXPECT_EQ(first_tree(ops_, both), ops_.store(0, first->src[0], first->st(), {further}));
  EXPECT_EQ(stores_of(both), (std::vector<const LazyOp*>{both, further, second}));
  EXPECT_EQ(count_work(both).flops, count_work(first).flops + count_work(further).flops + count_work(second).flops);
}

TEST_F(TwoTrees, OutputsOfOneShapeAreOneTree) {
  const LazyOp *first = copy(0, 2, {8}), *further = copy(1, 3, {8});
  const LazyOp* joined = ops_.store(0, first->src[0], first->st(), {further});
  EXPECT_EQ(second_tree(joined), nullptr);
  EXPECT_EQ(first_tree(ops_, joined), joined);
  EXPECT_EQ(second_tree(first), nullptr);
}

TEST_F(TwoTrees, ShareNoLoad) {
  const LazyOp* x = ops_.load(2, DType::Float32, st({8}));
  const LazyOp* sum = ops_.store(1, ops_.reduce(Op::ReduceSum, x, {0}), st({1}));
  EXPECT_THROW(ops_.store(0, x, st({8}), {sum}), InternalError);
}

TEST_F(TwoTrees, OnlyTheLastOutputHasAShapeOfItsOwn) {
  const LazyOp *first = copy(0, 3, {8}), *second = copy(1, 4, {2, 3}), *further = copy(2, 5, {8});
  EXPECT_THROW(ops_.store(0, first->src[0], first->st(), {second, further}), InternalError);
}

}  // namespace
}  // namespace etch
