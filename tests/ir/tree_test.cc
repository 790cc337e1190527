// The tree of an AST shows each node once, below what uses it.
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/lazyop.h"

namespace etch {
namespace {

TEST(Debug, TreeOfAnAst) {
  LazyOps ops;
  const auto flat = ShapeTracker::from_shape({2});
  const LazyOp* x = ops.load(1, DType::Float32, flat);
  const LazyOp* square = ops.elementwise(Op::Mul, {x, x});
  const LazyOp* sum = ops.elementwise(Op::Add, {ops.elementwise(Op::Neg, {square}), square});
  const std::string view = "ShapeTracker(" + flat.to_text().substr(std::string("ShapeTracker(").size());
  EXPECT_EQ(to_tree(ops.store(0, sum, flat)), "  0 ━┳ Store float32 [2] buffer 0 " + view +
                                                  "\n"
                                                  "  1  ┗━┳ Add float32 [2]\n"
                                                  "  2    ┣━┳ Neg float32 [2]\n"
                                                  "  3    ┃ ┗━┳ Mul float32 [2]\n"
                                                  "  4    ┃   ┣━━ Load float32 [2] buffer 1 " +
                                                  view +
                                                  "\n"
                                                  "  5    ┃   ┗━━ Load of line 4\n"
                                                  "  6    ┗━━ Mul of line 3\n");
}

// 2^200 paths, 201 nodes.
TEST(Debug, TreeOfALargeAst) {
  LazyOps ops;
  const auto flat = ShapeTracker::from_shape({2});
  const LazyOp* x = ops.load(1, DType::Float32, flat);
  for (int i = 0; i < 200; i++) x = ops.elementwise(Op::Add, {x, x});
  const std::string text = to_tree(ops.store(0, x, flat));
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 201 + 200);
}

}  // namespace
}  // namespace etch
