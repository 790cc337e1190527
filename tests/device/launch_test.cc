// Where the driver may choose the work-groups (NOLOCALS) and can't, as in CUDA, the host chooses them.
#include <gtest/gtest.h>

#include "device/device_error.h"
#include "device/loaded_kernel.h"
#include "support/expect_error.h"

namespace etch::launch_test {
namespace {

using Sizes = std::array<std::int64_t, 3>;

struct Row {
  Sizes items, groups, local;
};

// 256 work-items at most, by numbers that divide the sizes, 64 in the third dimension; 257 is a prime number.
constexpr Row kRows[] = {
    {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}},
    {{256, 1, 1}, {1, 1, 1}, {256, 1, 1}},
    {{1000, 1, 1}, {4, 1, 1}, {250, 1, 1}},
    {{257, 1, 1}, {257, 1, 1}, {1, 1, 1}},
    {{257, 8, 3}, {257, 1, 1}, {1, 8, 3}},
    {{16, 16, 16}, {1, 1, 16}, {16, 16, 1}},
    {{100, 7, 2}, {1, 7, 1}, {100, 1, 2}},
    {{0, 5, 1}, {0, 1, 1}, {1, 5, 1}},
    {{3, 1000, 1000}, {1, 20, 1000}, {3, 50, 1}},
    {{257, 257, 128}, {257, 257, 2}, {1, 1, 64}},
};

TEST(Launch, WorkItemsAreDividedIntoGroups) {
  for (const Row& row : kRows) {
    LaunchSize size{.groups = row.items, .driver_groups = true};
    const LaunchSize made = in_groups(size);
    EXPECT_FALSE(made.driver_groups);
    EXPECT_EQ(made.groups, row.groups) << row.items[0] << " " << row.items[1] << " " << row.items[2];
    EXPECT_EQ(made.local, row.local) << row.items[0] << " " << row.items[1] << " " << row.items[2];
    size.driver_groups = false;
    EXPECT_EQ(in_groups(size).groups, row.items) << "a kernel's own groups stay";
  }
}

TEST(Launch, SizesAboveTheLimitsAreNamed) {
  const GridLimits limits{.groups = {100, 10, 10}};
  EXPECT_NO_THROW(check_size({.groups = {100, 10, 10}, .local = {1024, 1, 64}}, limits, "k"));
  test::expect_error<DeviceError>([&] { check_size({.groups = {1, 11, 1}}, limits, "kernel 'k'"); },
                                  "kernel 'k': dimension 1 has 11 work-groups of 1 items, CUDA takes at most 10 of 1024");
  EXPECT_THROW(check_size({.local = {1, 1, 65}}, limits, "k"), DeviceError);
}

}  // namespace
}  // namespace etch::launch_test
