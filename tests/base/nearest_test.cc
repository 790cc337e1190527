// The order in which an error lists the names that could have been meant.
#include "base/nearest.h"

#include <gtest/gtest.h>

namespace etch {
namespace {

struct Case {
  const char* wanted;
  std::vector<std::string> names, sorted;
};

const Case kCases[] = {
    {"bacth", {"width", "height", "batch"}, {"batch", "width", "height"}},  // two letters exchanged
    {"batch", {"seq", "batch_size"}, {"batch_size", "seq"}},                // a part of a long name is nearer than a short other one
    {"BATCH", {"match", "batch"}, {"batch", "match"}},                      // the case does not count
    {"leaky_relu", {"Relu", "LeakyRelu", "Selu"}, {"LeakyRelu", "Relu", "Selu"}},
    {"x[1]", {"y[1]", "x[0]", "x[1]"}, {"x[1]", "y[1]", "x[0]"}},
    {"", {"b", "a"}, {"b", "a"}},  // nothing is near: the order stays
    {"x", {}, {}},
};

TEST(Nearest, First) {
  for (const Case& t : kCases) EXPECT_EQ(nearest_first(t.wanted, t.names), t.sorted) << t.wanted;
}

TEST(Nearest, DistanceIsSymmetricAndFromZeroToOne) {
  const std::vector<std::string> names{"", "a", "batch", "Batch", "height", "gpu_0/data_0", std::string(1000, 'x')};
  for (const std::string& a : names)
    for (const std::string& b : names) {
      EXPECT_EQ(name_distance(a, b), name_distance(b, a));
      EXPECT_GE(name_distance(a, b), 0);
      EXPECT_LE(name_distance(a, b), 1);
    }
  EXPECT_EQ(name_distance("batch", "batch"), 0);
  EXPECT_EQ(name_distance("abc", "xyz"), 0.75);
}

TEST(Nearest, TextListsADozen) {
  EXPECT_EQ(nearest_text("bacth", {"width", "batch"}), "'batch', 'width'");
  EXPECT_EQ(nearest_text("bacth", {}), "");
  std::vector<std::string> many(30, "x");
  many.push_back("batch");
  const std::string text = nearest_text("bacth", many);
  EXPECT_TRUE(text.starts_with("'batch', 'x'")) << text;
  EXPECT_TRUE(text.ends_with(" and 19 more")) << text;
}

}  // namespace
}  // namespace etch
