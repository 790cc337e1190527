#include "models/drawings.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace etch {
namespace {

/// SplitMix64 (Steele, Lea, Flood 2014): the numbers are a mix of a counter.
class Numbers {
 public:
  explicit Numbers(std::uint64_t start) : counter_(start) {}
  std::uint64_t next() { return mix(counter_ += 0x9E3779B97F4A7C15u); }
  /// Of low to high, both included.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
  }
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t counter_;
};

/// A line from (x, y) to (u, v), or part of an ellipse around (x, y) with radii u and v. A picture is 100 wide and 100 high, y goes down.
/// Angles are sixteenths of a turn from the right, clockwise.
struct Stroke {
  int x, y, u, v;
  int from = 0, to = 0;  // equal: a line
};
struct Glyph {
  const char* name;
  std::vector<Stroke> strokes;
};

const std::vector<Glyph>& glyphs(DrawingSet set) {
  static const std::vector<Glyph> digits{
      {"0", {{50, 50, 24, 38, 0, 16}}},
      {"1", {{34, 28, 52, 12}, {52, 12, 52, 88}}},
      {"2", {{50, 34, 24, 22, 8, 18}, {67, 50, 25, 88}, {25, 88, 77, 88}}},
      {"3", {{47, 31, 23, 19, 9, 20}, {47, 69, 25, 19, 12, 23}}},
      {"4", {{62, 12, 22, 62}, {22, 62, 80, 62}, {62, 12, 62, 88}}},
      {"5", {{74, 12, 32, 12}, {32, 12, 30, 47}, {48, 64, 26, 24, 10, 23}}},
      {"6", {{50, 65, 24, 23, 0, 16}, {26, 65, 31, 44}, {31, 44, 44, 25}, {44, 25, 64, 12}}},
      {"7", {{23, 12, 77, 12}, {77, 12, 42, 88}}},
      {"8", {{50, 31, 20, 19, 0, 16}, {50, 69, 25, 19, 0, 16}}},
      {"9", {{50, 35, 24, 23, 0, 16}, {74, 35, 69, 56}, {69, 56, 56, 75}, {56, 75, 36, 88}}},
  };
  static const std::vector<Glyph> shapes{
      {"circle", {{50, 50, 34, 34, 0, 16}}},
      {"square", {{20, 20, 80, 20}, {80, 20, 80, 80}, {80, 80, 20, 80}, {20, 80, 20, 20}}},
      {"triangle", {{50, 16, 84, 80}, {84, 80, 16, 80}, {16, 80, 50, 16}}},
      {"cross", {{20, 20, 80, 80}, {80, 20, 20, 80}}},
      {"plus", {{50, 14, 50, 86}, {14, 50, 86, 50}}},
      {"diamond", {{50, 12, 82, 50}, {82, 50, 50, 88}, {50, 88, 18, 50}, {18, 50, 50, 12}}},
  };
  switch (set) {
    case DrawingSet::Digits:
      return digits;
    case DrawingSet::Shapes:
      return shapes;
  }
  fail_check("a set of drawings has glyphs", std::source_location::current());
}

struct Point {
  std::int64_t x, y;
};
constexpr std::int64_t kOne = 256;  // of what points are in: parts of a pixel, and of a unit of a glyph

/// The corners of a stroke, in parts of a unit around the middle of the picture.
std::vector<Point> corners(const Stroke& s) {
  const auto point = [](std::int64_t x, std::int64_t y) { return Point{x - 50 * kOne, y - 50 * kOne}; };
  if (s.from == s.to) return {point(s.x * kOne, s.y * kOne), point(s.u * kOne, s.v * kOne)};
  constexpr std::array<std::int64_t, 16> kCosine{256, 237, 181, 98, 0, -98, -181, -237, -256, -237, -181, -98, 0, 98, 181, 237};
  const auto cosine = [&](int angle) { return kCosine[static_cast<std::size_t>(angle) % kCosine.size()]; };
  std::vector<Point> points;
  for (int angle = s.from; angle <= s.to; angle++)
    points.push_back(point(s.x * kOne + s.u * cosine(angle), s.y * kOne + s.v * cosine(angle + 12)));
  return points;
}

/// How a glyph lies in its picture.
struct Pose {
  std::int64_t percent_x = 100, percent_y = 100;  // of its size
  std::int64_t shift_x = 0, shift_y = 0;          // thousandths of the picture
  std::int64_t half_turn = 0;                     // tangent of half the angle of rotation, in 1024ths
  std::int64_t slant = 0;                         // x per y, in percent
  std::int64_t pen = 45;                          // half its width, thousandths of the picture
  std::int64_t ink = 255;                         // the brightest grey
  std::int64_t wobble = 0;                        // parts of a unit by which a corner is elsewhere at most
};

Pose any_pose(Numbers& numbers) {
  Pose pose;
  pose.percent_x = numbers.between(80, 112);
  pose.percent_y = numbers.between(80, 112);
  pose.shift_x = numbers.between(-80, 80);
  pose.shift_y = numbers.between(-60, 60);
  pose.half_turn = numbers.between(-110, 110);  // 12 degrees
  pose.slant = numbers.between(-20, 20);
  pose.pen = numbers.between(28, 60);
  pose.ink = numbers.between(150, 255);
  pose.wobble = 2 * kOne;
  return pose;
}

/// A point of a glyph in parts of a pixel. Cosine and sine follow from the tangent of half the angle, in integers.
Point placed(Point p, const Pose& pose, const DrawingOptions& o) {
  const std::int64_t t = pose.half_turn, one = 1024 * 1024, norm = one + t * t;
  const std::int64_t cosine = (one - t * t) * 65536 / norm, sine = 2048 * t * 65536 / norm;
  const std::int64_t x = (p.x + p.y * pose.slant / 100) * o.width * pose.percent_x / 10000, y = p.y * o.height * pose.percent_y / 10000;
  return {o.width * kOne / 2 + o.width * kOne * pose.shift_x / 1000 + (cosine * x - sine * y) / 65536,
          o.height * kOne / 2 + o.height * kOne * pose.shift_y / 1000 + (sine * x + cosine * y) / 65536};
}

std::int64_t square_root(std::int64_t n) {
  std::int64_t root = 0;
  for (std::int64_t bit = std::int64_t{1} << 31; bit > 0; bit /= 2)
    if ((root + bit) * (root + bit) <= n) root += bit;
  return root;
}

/// The square of the distance of `p` from the line between `a` and `b`.
std::int64_t square_distance(Point p, Point a, Point b) {
  const auto dot = [](Point u, Point v) { return u.x * v.x + u.y * v.y; };
  const auto from = [](Point u, Point v) { return Point{v.x - u.x, v.y - u.y}; };
  const Point line = from(a, b), to = from(a, p);
  const std::int64_t along = dot(line, to), length = dot(line, line);
  if (along <= 0) return dot(to, to);
  if (along >= length) return dot(from(b, p), from(b, p));
  const std::int64_t across = (line.x * to.y - line.y * to.x) / square_root(length);
  return across * across;
}

/// A canvas: for each pixel the distance of its centre from the nearest stroke, in parts of a pixel, as far as the pen reaches.
class Canvas {
 public:
  Canvas(std::int64_t height, std::int64_t width, std::int64_t reach)
      : height_(height), width_(width), reach_(reach), nearest_(static_cast<std::size_t>(height * width), reach * reach) {}

  void stroke(Point a, Point b) {
    const auto first = [&](std::int64_t least) { return std::max<std::int64_t>(0, (least - reach_) / kOne - 1); };
    const auto last = [&](std::int64_t most, std::int64_t size) { return std::min(size - 1, (most + reach_) / kOne + 1); };
    for (std::int64_t y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y), height_); y++)
      for (std::int64_t x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x), width_); x++) {
        std::int64_t& known = nearest_[static_cast<std::size_t>(y * width_ + x)];
        known = std::min(known, square_distance({x * kOne + kOne / 2, y * kOne + kOne / 2}, a, b));
      }
  }
  std::int64_t distance(std::size_t pixel) const { return square_root(nearest_[pixel]); }

 private:
  std::int64_t height_, width_, reach_;
  std::vector<std::int64_t> nearest_;  // squares
};

void require(const DrawingOptions& o, std::int64_t number) {
  const auto is_size = [](std::int64_t size) { return size >= 8 && size <= 96; };
  if (!is_size(o.height) || !is_size(o.width) || o.noise < 0 || o.noise > 255)
    throw UserError("drawing",
                    "the size is " + std::to_string(o.height) + " x " + std::to_string(o.width) + ", the noise " + std::to_string(o.noise),
                    "accepted are sizes of 8 to 96 pixels and noise of 0 to 255 levels");
  if (number < 0) throw UserError("drawing", "its number is " + std::to_string(number), "accepted are numbers from 0");
}

}  // namespace

const std::vector<std::string>& drawing_names(DrawingSet set) {
  const auto names = [](DrawingSet s) {
    std::vector<std::string> result;
    for (const Glyph& glyph : glyphs(s)) result.emplace_back(glyph.name);
    return result;
  };
  static const std::vector<std::string> digits = names(DrawingSet::Digits), shapes = names(DrawingSet::Shapes);
  return set == DrawingSet::Digits ? digits : shapes;
}

Drawing draw(std::int64_t number, const DrawingOptions& o) {
  require(o, number);
  Numbers numbers(Numbers::mix(o.seed + 1) ^ Numbers::mix(~static_cast<std::uint64_t>(number)));
  const std::vector<Glyph>& all = glyphs(o.set);
  const auto classes = static_cast<std::int64_t>(all.size());
  Drawing drawing{.label = static_cast<int>(o.plain ? number % classes : numbers.between(0, classes - 1))};
  const Pose pose = o.plain ? Pose() : any_pose(numbers);
  const std::int64_t half_pen = std::min(o.height, o.width) * kOne * pose.pen / 1000, reach = half_pen + kOne / 2;
  Canvas canvas(o.height, o.width, reach);
  for (const Stroke& stroke : all[static_cast<std::size_t>(drawing.label)].strokes) {
    std::vector<Point> points = corners(stroke);
    for (Point& p : points) {
      const std::int64_t x = p.x + numbers.between(-pose.wobble, pose.wobble), y = p.y + numbers.between(-pose.wobble, pose.wobble);
      p = placed({x, y}, pose, o);
    }
    for (std::size_t i = 1; i < points.size(); i++) canvas.stroke(points[i - 1], points[i]);
  }
  const std::int64_t noise = o.plain ? 0 : o.noise;
  for (std::size_t i = 0; i < static_cast<std::size_t>(o.height * o.width); i++) {
    const std::int64_t covered = std::clamp<std::int64_t>(reach - canvas.distance(i), 0, kOne);
    const std::int64_t grey = covered * pose.ink / kOne + numbers.between(-noise, noise);
    drawing.grey.push_back(static_cast<std::uint8_t>(std::clamp<std::int64_t>(grey, 0, 255)));
  }
  return drawing;
}

DrawingBatch draw_batch(std::int64_t first, std::int64_t count, const DrawingOptions& o) {
  if (count < 0) throw UserError("drawings", std::to_string(count) + " are asked for", "accepted are counts from 0");
  std::vector<float> pixels;
  std::vector<std::int64_t> labels;
  for (std::int64_t number = first; number < first + count; number++) {
    const Drawing drawing = draw(number, o);
    for (std::uint8_t grey : drawing.grey) pixels.push_back(static_cast<float>(grey) / 255.0f);
    labels.push_back(drawing.label);
  }
  std::vector<std::byte> bytes(pixels.size() * sizeof(float));
  if (!bytes.empty()) std::memcpy(bytes.data(), pixels.data(), bytes.size());
  return {Array(DType::Float32, {count, 1, o.height, o.width}, std::move(bytes)), Array::of_ints(DType::Int32, {count}, labels)};
}

}  // namespace etch
