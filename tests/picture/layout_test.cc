// The layout of random graphs with nested frames: boxes lie apart, edges lead down, frames hold their boxes alone.
#include "picture/layout.h"

#include <gtest/gtest.h>

#include <random>

namespace etch {
namespace {

bool meet(const DrawingRect& a, const DrawingRect& b) { return a.x < b.right() && b.x < a.right() && a.y < b.bottom() && b.y < a.bottom(); }
bool holds(const DrawingRect& a, const DrawingRect& b) {
  return a.x <= b.x && a.y <= b.y && b.right() <= a.right() && b.bottom() <= a.bottom();
}

Drawing random_drawing(std::mt19937& random) {
  Drawing d;
  const int boxes = 1 + static_cast<int>(random() % 40);
  for (int b = 0; b < boxes; b++) {
    d.boxes.push_back({0, 0, 20 + static_cast<std::int64_t>(random() % 200), 10 + static_cast<std::int64_t>(random() % 60)});
    for (std::size_t k = random() % 4; b > 0 && k-- > 0;) {
      const int from = random() % 3 == 0 ? static_cast<int>(random()) % b : std::max(0, b - 1 - static_cast<int>(random() % 3));
      d.edges.push_back({.from = std::abs(from), .to = b, .port = static_cast<int>(random() % 2), .ports = 2});
    }
    if (random() % 10 == 0) d.edges.push_back({.from = b, .to = static_cast<int>(random() % static_cast<unsigned>(b + 1))});
  }
  // Frames: cut a range in two, one half becomes a frame, and so on in it.
  int first = 0, end = boxes;
  while (random() % 3 != 0 && end - first > 1) {
    const int middle = first + 1 + static_cast<int>(random() % static_cast<unsigned>(end - first - 1));
    (random() % 2 == 0 ? first : end) = middle;
    d.frames.push_back({first, end, static_cast<std::int64_t>(random() % 300)});
  }
  return d;
}

TEST(Picture, LayoutOfRandomGraphs) {
  std::mt19937 random(5);
  for (int i = 0; i < 400; i++) {
    Drawing d = random_drawing(random);
    arrange(d);
    const DrawingRect all{0, 0, d.width, d.height};
    const std::vector<int> layers = layers_of(d);
    for (std::size_t b = 0; b < d.boxes.size(); b++) {
      ASSERT_TRUE(holds(all, d.boxes[b])) << i;
      for (std::size_t other = 0; other < b; other++) ASSERT_FALSE(meet(d.boxes[b], d.boxes[other])) << i;
      for (const DrawingFrame& f : d.frames) {
        const bool is_in = f.first <= static_cast<int>(b) && static_cast<int>(b) < f.end;
        ASSERT_TRUE(is_in ? holds(f.rect, d.boxes[b]) : !meet(f.rect, d.boxes[b])) << i;
        ASSERT_TRUE(holds(all, f.rect)) << i;
      }
    }
    for (std::size_t f = 0; f + 1 < d.frames.size(); f++) ASSERT_TRUE(holds(d.frames[f].rect, d.frames[f + 1].rect)) << i;
    for (const DrawingEdge& e : d.edges) {
      ASSERT_FALSE(e.curves.empty());
      for (std::size_t k = 0; k + 1 < e.curves.size(); k++) {
        ASSERT_EQ(e.curves[k].end.x, e.curves[k + 1].begin.x) << i;
        ASSERT_EQ(e.curves[k].end.y, e.curves[k + 1].begin.y) << i;
      }
      if (e.from < e.to) {
        ASSERT_LT(layers[static_cast<std::size_t>(e.from)], layers[static_cast<std::size_t>(e.to)]) << i;
      }
    }
  }
}

// A chain is a straight line, and an edge that skips a layer passes beside the box there.
TEST(Picture, LayoutOfASkip) {
  Drawing d;
  d.boxes = {{0, 0, 100, 20}, {0, 0, 100, 20}, {0, 0, 100, 20}};
  d.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}};
  arrange(d);
  EXPECT_EQ(d.boxes[0].x, d.boxes[1].x);
  EXPECT_EQ(d.boxes[1].x, d.boxes[2].x);
  d.edges = {{.from = 0, .to = 1}, {.from = 1, .to = 2}, {.from = 0, .to = 2}};
  arrange(d);
  const DrawingRect& between = d.boxes[1];
  bool passes = false;
  for (const DrawingCurve& c : d.edges[2].curves)
    if (c.begin.y == between.y && c.begin.x == c.end.x) passes = c.begin.x < between.x || c.begin.x > between.right();
  EXPECT_TRUE(passes);
}

}  // namespace
}  // namespace etch
