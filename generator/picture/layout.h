// Drawing: boxes in layers from top to bottom, each below the boxes that its edges come from (Sugiyama's way). All arithmetic is in whole
// pixels, so the result is the same on every machine.
//
//   Drawing drawing;
//   drawing.boxes = {{.width = 80, .height = 30}, {.width = 60, .height = 30}};
//   drawing.edges = {{.from = 0, .to = 1}};
//   arrange(drawing);      // now the boxes have places, and the edge the points that it runs through
#pragma once

#include <cstdint>
#include <vector>

namespace etch {

struct DrawingPoint {
  std::int64_t x = 0, y = 0;
};

struct DrawingRect {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  std::int64_t right() const { return x + width; }
  std::int64_t bottom() const { return y + height; }
};

/// A part of an edge: a curve whose tangents at both ends are upright, or of an edge backwards a bow around the right sides of two boxes.
struct DrawingCurve {
  DrawingPoint begin, control1, control2, end;
};

struct DrawingEdge {
  int from = 0, to = 0;  // boxes. A later box is below an earlier one; an edge to the same or an earlier box is drawn beside them
  /// Where it leaves the lower side of its box: part `port` of `ports` equal parts.
  int port = 0, ports = 1;
  std::vector<DrawingCurve> curves{};  // set by arrange()
};

/// The boxes [first, end) with a frame around them that holds no other box. Frames lie in each other or apart, outer ones first.
struct DrawingFrame {
  int first = 0, end = 0;
  std::int64_t label_width = 0;
  DrawingRect rect{};  // set by arrange(); the label has kFrameLabel pixels at its top
};
inline constexpr std::int64_t kFrameLabel = 20;

struct Drawing {
  std::vector<DrawingRect> boxes;  // in an order in which each comes after what it depends on; arrange() sets x and y
  std::vector<DrawingEdge> edges;
  std::vector<DrawingFrame> frames;
  std::int64_t width = 0, height = 0;  // of all; set by arrange(). The upper left corner is (0, 0)
};

/// Takes time about proportional to the boxes and edges: some milliseconds for a thousand.
void arrange(Drawing& drawing);

/// Internal: the layer of each box, the first is 0. No layer of a frame holds boxes that are not in it.
std::vector<int> layers_of(const Drawing& drawing);

}  // namespace etch
