// Which Loads read an element only where it is then written.
#include <gtest/gtest.h>

#include "ir/lazyop.h"

namespace etch::in_place_test {
namespace {

ShapeTracker strided(const std::vector<Sint>& strides, Sint offset = 0) {
  return ShapeTracker({View::create({2, 3, 4}, strides, std::move(offset))});
}

const struct {
  const char* name;
  ShapeTracker load, store;
  bool is_in_place;
} kRows[] = {
    {"in order", strided({12, 4, 1}), strided({12, 4, 1}), true},
    {"channels last in both", strided({12, 1, 3}), strided({12, 1, 3}), true},
    {"channels last in one", strided({12, 1, 3}), strided({12, 4, 1}), false},
    {"with gaps", strided({24, 4, 1}), strided({24, 4, 1}), false},
    {"elements repeat", strided({4, 0, 1}), strided({4, 0, 1}), false},
    {"from the second element on", strided({12, 4, 1}, 1), strided({12, 4, 1}, 1), false},
    {"backwards", strided({12, 4, -1}, 3), strided({12, 4, -1}, 3), false},
};

TEST(InPlace, TheSameElementsInAnyOrderOfTheAxes) {
  for (const auto& row : kRows) {
    LazyOps ops;
    const LazyOp* load = ops.load(1, DType::Int8, row.load);
    EXPECT_EQ(reads_in_place(load, ops.store(0, load, row.store)), row.is_in_place) << row.name;
    EXPECT_FALSE(reads_in_place(load, ops.store(0, ops.cast(load, DType::Int16), row.store))) << row.name << ", of another size";
  }
}

}  // namespace
}  // namespace etch::in_place_test
