// Which ASTs are sums of products, and which only look like one.
#include "ir/contraction.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

/// Values of shape [2, 3] to build from: two floats, two int8.
struct Maker {
  LazyOps ops;
  ShapeTracker st = ShapeTracker::from_shape({2, 3});
  const LazyOp *x = ops.load(1, DType::Float32, st), *y = ops.load(2, DType::Float32, st);
  const LazyOp *i = ops.load(3, DType::Int8, st), *j = ops.load(4, DType::Int8, st);

  const LazyOp* op(Op op, const LazyOp* a, const LazyOp* b) { return ops.elementwise(op, {a, b}); }
  const LazyOp* sum(const LazyOp* a) { return ops.reduce(Op::ReduceSum, a, {1}); }
};

struct Row {
  const char* name;
  const LazyOp* (*make)(Maker&);
  bool found;
  int casts;               // between product and sum
  const char *a, *b;       // names of the factors' operations
  std::int64_t macs = 0;   // of count_work: every contraction has 2 * 3
  std::int64_t flops = 0;  // of count_work: elements of each operation that is no cast
};

constexpr Row kRows[] = {
    {"plain", [](Maker& m) { return m.sum(m.op(Op::Mul, m.x, m.y)); }, true, 0, "Load", "Load", 6, 12},
    {"of a square", [](Maker& m) { return m.sum(m.op(Op::Mul, m.x, m.x)); }, true, 0, "Load", "Load", 6, 12},
    {"factors that are computed", [](Maker& m) { return m.sum(m.op(Op::Mul, m.op(Op::Add, m.x, m.y), m.op(Op::Sub, m.x, m.y))); }, true, 0,
     "Add", "Sub", 6, 24},
    {"factors that are cast", [](Maker& m) { return m.sum(m.op(Op::Mul, m.ops.cast(m.i, DType::Int32), m.ops.cast(m.j, DType::Int32))); },
     true, 0, "Cast", "Cast", 6, 12},
    {"a product of three", [](Maker& m) { return m.sum(m.op(Op::Mul, m.op(Op::Mul, m.x, m.y), m.y)); }, true, 0, "Mul", "Load", 6, 18},
    {"a product that is cast", [](Maker& m) { return m.sum(m.ops.cast(m.op(Op::Mul, m.i, m.j), DType::Int32)); }, true, 1, "Load", "Load",
     6, 12},
    {"a product that is cast twice",
     [](Maker& m) { return m.sum(m.ops.cast(m.ops.cast(m.op(Op::Mul, m.i, m.j), DType::Int16), DType::Float32)); }, true, 2, "Load", "Load",
     6, 12},
    {"the bits of a product", [](Maker& m) { return m.sum(m.ops.bitcast(m.op(Op::Mul, m.x, m.y), DType::Int32)); }, false, 0, "", "", 0,
     12},
    {"a plain sum", [](Maker& m) { return m.sum(m.x); }, false, 0, "", "", 0, 6},
    {"a sum of quotients", [](Maker& m) { return m.sum(m.op(Op::Div, m.x, m.y)); }, false, 0, "", "", 0, 12},
    {"a sum of a product and more", [](Maker& m) { return m.sum(m.op(Op::Add, m.op(Op::Mul, m.x, m.y), m.x)); }, false, 0, "", "", 0, 18},
    {"the largest product", [](Maker& m) { return m.ops.reduce(Op::ReduceMax, m.op(Op::Mul, m.x, m.y), {1}); }, false, 0, "", "", 0, 12},
    {"a product", [](Maker& m) { return m.op(Op::Mul, m.x, m.y); }, false, 0, "", "", 0, 6},
};

TEST(Contraction, IsASumOfProducts) {
  for (const Row& row : kRows) {
    Maker m;
    const LazyOp* root = row.make(m);
    const std::optional<Contraction> c = contraction_of(root);
    ASSERT_EQ(c.has_value(), row.found) << row.name;
    const Work work = count_work(root);
    EXPECT_TRUE(work.macs.is_int(row.macs)) << row.name;
    EXPECT_TRUE(work.flops.is_int(row.flops)) << row.name;
    if (!c) continue;
    EXPECT_EQ(c->sum, root) << row.name;
    EXPECT_EQ(c->product->op, Op::Mul) << row.name;
    EXPECT_EQ(static_cast<int>(c->casts.size()), row.casts) << row.name;
    EXPECT_EQ(name_of(c->a()->op), row.a) << row.name;
    EXPECT_EQ(name_of(c->b()->op), row.b) << row.name;
    // From the sum down to the product, one cast after the other.
    const LazyOp* below = root->src[0];
    for (const LazyOp* cast : c->casts) {
      EXPECT_EQ(cast, below) << row.name;
      below = cast->src[0];
    }
    EXPECT_EQ(below, c->product) << row.name;
  }
}

}  // namespace
}  // namespace etch
