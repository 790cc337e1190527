// Internal to picture/: texts of known width, boxes and edges as SVG.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "picture/layout.h"

namespace etch {

/// A kind of box in the legend.
struct SvgKind {
  std::string_view name;   // "reduction"
  std::string_view color;  // "#f4b8ac"
};

/// One line of a box: bold on top, then plain, small and grey.
struct SvgLine {
  enum class Style : std::uint8_t { Title, Plain, Grey };
  std::string text;
  Style style = Style::Plain;
};

/// A part of a box with a colour of its own: a weight that it reads, a value that it writes.
struct SvgCell {
  std::vector<SvgLine> lines;
  std::string_view color;
};

struct SvgBox {
  std::string id;          // unique; a box's rectangle has it
  std::string tip;         // shown when the mouse is over it
  std::string_view color;  // SvgKind::color
  std::vector<SvgLine> lines;
  std::vector<SvgCell> rows;     // below the lines, one below the other
  std::vector<SvgCell> columns;  // below these, side by side, of equal width: edges leave it here
  bool round = false;            // what is no kernel
};

struct SvgEdge {
  int from = 0, to = 0;  // boxes
  int column = 0;        // of the box `from`, if that has some
  std::string tip;
  int width = 1;       // 1 to 4
  bool faint = false;  // of constants, which would hide the others
};

struct SvgFrame {
  int first = 0, end = 0;  // boxes, as in DrawingFrame
  std::string label;
};

struct SvgPicture {
  std::string title;
  std::vector<SvgKind> kinds;  // the legend shows those that boxes or rows have
  std::vector<SvgBox> boxes;
  std::vector<SvgEdge> edges;
  std::vector<SvgFrame> frames;
};

/// The whole file. Equal pictures give equal bytes.
std::string to_svg(SvgPicture picture);

/// `text` as valid UTF-8 without control characters, at most `most` characters: a longer one loses its middle.
std::string shortened(std::string_view text, std::size_t most);
/// Bytes for people: "640 B", "18.8 KB", "2.40 MB".
std::string bytes_text(std::int64_t bytes);
/// A count for people: "640", "18.8 k", "2.40 M".
std::string count_text(std::int64_t count);

}  // namespace etch
