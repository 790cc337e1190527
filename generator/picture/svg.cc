#include "picture/svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "picture/picture.h"

namespace etch {
namespace {

constexpr std::int64_t kPad = 8;                              // between a box and its text
constexpr std::int64_t kLine = 16;                            // height of a line
constexpr std::int64_t kMargin = 20;                          // around the picture
constexpr std::int64_t kHead = 62;                            // title and legend
constexpr std::int64_t kSwatch = 12;                          // of the legend
constexpr std::int64_t kText = 12, kSmall = 11, kTitle = 16;  // sizes of the font
constexpr const char* kFaint = "#d5dae0";

// A character of UTF-8 at the start of `text`, and its bytes; of bytes that are none, one and U+FFFD.
std::pair<char32_t, std::size_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t size = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr char32_t kBad = 0xFFFD;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < size) return {kBad, 1};
  char32_t code = lead & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; i++) {
    if ((byte(i) & 0xC0) != 0x80) return {kBad, 1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool too_long = (size == 3 && code < 0x800) || (size == 4 && code < 0x10000);
  if (too_long || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF) return {kBad, 1};
  return {code, size};
}

std::string utf8_of(char32_t code, std::string_view bytes) { return code == 0xFFFD ? "\xEF\xBF\xBD" : std::string(bytes); }

// Columns of a monospaced font: ideographs take two.
std::int64_t columns_of(std::string_view text) {
  std::int64_t columns = 0;
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    columns += code >= 0x1100 && !(code >= 0x2000 && code < 0x2E80) && code != 0xFFFD ? 2 : 1;
    text.remove_prefix(size);
  }
  return columns;
}

// A character of the usual fonts is 0.6 of its size wide; where that is rounded to whole pixels, 7 of 11.
std::int64_t text_width(std::string_view text, std::int64_t size) { return (columns_of(text) * size * 64 + 99) / 100; }

std::int64_t size_of(SvgLine::Style style) { return style == SvgLine::Style::Grey ? kSmall : kText; }
std::string_view class_of(SvgLine::Style style) {
  switch (style) {
    case SvgLine::Style::Title:
      return "t";
    case SvgLine::Style::Plain:
      return "p";
    case SvgLine::Style::Grey:
      return "g";
  }
  return "";
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    switch (code) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        result += code < 0x20 || code == 0x7F ? " " : utf8_of(code, text.substr(0, size));
    }
    text.remove_prefix(size);
  }
  return result;
}

std::int64_t width_of(const std::vector<SvgLine>& lines) {
  std::int64_t width = 0;
  for (const SvgLine& line : lines) width = std::max(width, text_width(line.text, size_of(line.style)));
  return width + 2 * kPad;
}
std::int64_t height_of(const std::vector<SvgLine>& lines) {
  return lines.empty() ? 0 : static_cast<std::int64_t>(lines.size()) * kLine + kPad;
}
std::int64_t height_of(const std::vector<SvgCell>& columns) {
  std::int64_t height = 0;
  for (const SvgCell& cell : columns) height = std::max(height, height_of(cell.lines));
  return height;
}

DrawingRect size_of(const SvgBox& box) {
  DrawingRect rect{0, 0, width_of(box.lines), height_of(box.lines)};
  for (const SvgCell& row : box.rows) {
    rect.width = std::max(rect.width, width_of(row.lines));
    rect.height += height_of(row.lines);
  }
  for (const SvgCell& column : box.columns)
    rect.width = std::max(rect.width, width_of(column.lines) * static_cast<std::int64_t>(box.columns.size()));
  rect.height += height_of(box.columns);
  return rect;
}

/// Puts the file together; coordinates are those of the drawing, below the head.
class Writer {
 public:
  Writer(const SvgPicture& picture, const Drawing& drawing) : picture_(picture), drawing_(drawing) {}

  std::string run() {
    const std::int64_t width = std::max({drawing_.width, head_width(), text_width(picture_.title, kTitle)}) + 2 * kMargin;
    const std::int64_t height = drawing_.height + kHead + 2 * kMargin;
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}">)", width, height);
    add("{}", kPictureMark);
    add("<title>{}</title>", escaped(picture_.title));
    text_ +=
        "<style>\n"
        "text { font-family: 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, monospace; font-size: 12px; fill: #24292f }\n"
        ".h { font-size: 16px; font-weight: bold } .t { font-weight: bold } .g { font-size: 11px; fill: #57606a }\n"
        ".b { stroke: #8c959f } .cell { stroke: #b8c0c8; stroke-width: 0.7 } .f { fill: #f6f3fb; stroke: #9a86c4; stroke-dasharray: 6 3 }\n"
        ".e { fill: none; stroke: #7d8894; marker-end: url(#a) } .back { stroke: #9a5fb5; stroke-dasharray: 5 3 }\n"
        "</style>\n"
        "<defs><marker id=\"a\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
        "markerUnits=\"userSpaceOnUse\" "
        "orient=\"auto\"><path d=\"M0 0.5 L8 4 L0 7.5 z\" fill=\"#7d8894\"/></marker></defs>\n";
    add(R"(<rect width="{}" height="{}" fill="#ffffff"/>)", width, height);
    head();
    for (std::size_t f = 0; f < picture_.frames.size(); f++) frame(picture_.frames[f], drawing_.frames[f]);
    for (const bool faint : {true, false})
      for (std::size_t e = 0; e < picture_.edges.size(); e++)
        if (picture_.edges[e].faint == faint) edge(picture_.edges[e], drawing_.edges[e]);
    for (std::size_t f = 0; f < picture_.frames.size(); f++) frame_label(picture_.frames[f], drawing_.frames[f].rect);
    for (std::size_t b = 0; b < picture_.boxes.size(); b++) box(picture_.boxes[b], drawing_.boxes[b]);
    return text_ + "</svg>\n";
  }

 private:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    text_ += fmt::format(format, std::forward<T>(values)...) + "\n";
  }

  static std::int64_t x_of(std::int64_t x) { return x + kMargin; }
  static std::int64_t y_of(std::int64_t y) { return y + kMargin + kHead; }

  std::int64_t head_width() const {
    std::int64_t width = 0;
    for (const SvgKind& kind : picture_.kinds) width += legend_width(kind);
    return width;
  }
  static std::int64_t legend_width(const SvgKind& kind) { return kSwatch + 6 + text_width(kind.name, kSmall) + 16; }

  void head() {
    add(R"(<text class="h" x="{}" y="{}">{}</text>)", kMargin, kMargin + 14, escaped(picture_.title));
    std::int64_t x = kMargin;
    for (const SvgKind& kind : picture_.kinds) {
      add(R"(<rect class="cell" x="{}" y="{}" width="{}" height="{}" rx="2" fill="{}"/>)", x, kMargin + 28, kSwatch, kSwatch, kind.color);
      add(R"(<text class="g" x="{}" y="{}">{}</text>)", x + kSwatch + 6, kMargin + 38, escaped(kind.name));
      x += legend_width(kind);
    }
  }

  void frame(const SvgFrame& frame, const DrawingFrame& place) {
    const DrawingRect& r = place.rect;
    add(R"(<rect class="f" data-first="{}" data-end="{}" x="{}" y="{}" width="{}" height="{}" rx="8"/>)", frame.first, frame.end, x_of(r.x),
        y_of(r.y), r.width, r.height);
  }

  // Above the edges, which may pass there.
  void frame_label(const SvgFrame& frame, const DrawingRect& r) {
    add(R"(<rect x="{}" y="{}" width="{}" height="{}" rx="4" fill="#e9e2f6"/>)", x_of(r.x + 8), y_of(r.y + 4),
        text_width(frame.label, kSmall) + 8, kFrameLabel - 4);
    add(R"(<text class="g" x="{}" y="{}">{}</text>)", x_of(r.x + 12), y_of(r.y + 16), escaped(frame.label));
  }

  void edge(const SvgEdge& edge, const DrawingEdge& place) {
    const DrawingPoint begin = place.curves.front().begin;
    std::string path = fmt::format("M{} {}", x_of(begin.x), y_of(begin.y));
    for (const DrawingCurve& c : place.curves) {
      if (c.begin.x == c.end.x && c.control1.x == c.begin.x)
        path += fmt::format("V{}", y_of(c.end.y));
      else
        path += fmt::format("C{} {} {} {} {} {}", x_of(c.control1.x), y_of(c.control1.y), x_of(c.control2.x), y_of(c.control2.y),
                            x_of(c.end.x), y_of(c.end.y));
    }
    add(R"(<path class="e{}" data-from="{}" data-to="{}" d="{}"{}{}><title>{}</title></path>)", edge.from >= edge.to ? " back" : "",
        escaped(picture_.boxes[static_cast<std::size_t>(edge.from)].id), escaped(picture_.boxes[static_cast<std::size_t>(edge.to)].id),
        path, edge.width > 1 ? fmt::format(" stroke-width=\"{}\"", edge.width) : "",
        edge.faint ? fmt::format(" style=\"stroke: {}\"", kFaint) : "", escaped(edge.tip));
  }

  void lines(const std::vector<SvgLine>& lines, std::int64_t x, std::int64_t y) {
    for (const SvgLine& line : lines) {
      y += kLine;
      add(R"(<text class="{}" x="{}" y="{}">{}</text>)", class_of(line.style), x_of(x + kPad), y_of(y - 1), escaped(line.text));
    }
  }

  void cell(const SvgCell& cell, const DrawingRect& r) {
    add(R"(<rect class="cell" x="{}" y="{}" width="{}" height="{}" fill="{}"/>)", x_of(r.x), y_of(r.y), r.width, r.height, cell.color);
    lines(cell.lines, r.x, r.y);
  }

  void box(const SvgBox& box, const DrawingRect& r) {
    add("<g><title>{}</title>", escaped(box.tip));
    add(R"(<rect class="b" id="{}" x="{}" y="{}" width="{}" height="{}" rx="{}" fill="{}"/>)", escaped(box.id), x_of(r.x), y_of(r.y),
        r.width, r.height, box.round ? 10 : 3, box.color);
    lines(box.lines, r.x, r.y);
    std::int64_t y = r.y + height_of(box.lines);
    for (const SvgCell& row : box.rows) {
      const std::int64_t height = height_of(row.lines);
      cell(row, {r.x, y, r.width, height});
      y += height;
    }
    const auto count = static_cast<std::int64_t>(box.columns.size());
    for (std::int64_t k = 0; k < count; k++) {
      const std::int64_t left = r.x + r.width * k / count, right = r.x + r.width * (k + 1) / count;
      cell(box.columns[static_cast<std::size_t>(k)], {left, y, right - left, height_of(box.columns)});
    }
    add("</g>");
  }

  const SvgPicture& picture_;
  const Drawing& drawing_;
  std::string text_;
};

bool is_used(const SvgPicture& picture, const SvgKind& kind) {
  return std::ranges::any_of(picture.boxes, [&](const SvgBox& box) {
    return box.color == kind.color || std::ranges::any_of(box.rows, [&](const SvgCell& row) { return row.color == kind.color; });
  });
}

std::string scaled(std::int64_t number, std::string_view plain, const std::vector<std::string_view>& units) {
  if (number < 1000) return fmt::format("{}{}", number, plain);
  double value = static_cast<double>(number);
  std::size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < units.size(); unit++) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

}  // namespace

std::string to_svg(SvgPicture picture) {
  picture.title = shortened(picture.title, 200);
  std::erase_if(picture.kinds, [&](const SvgKind& kind) { return !is_used(picture, kind); });
  Drawing drawing;
  for (const SvgBox& box : picture.boxes) drawing.boxes.push_back(size_of(box));
  for (const SvgEdge& edge : picture.edges) {
    const int columns = static_cast<int>(picture.boxes[static_cast<std::size_t>(edge.from)].columns.size());
    drawing.edges.push_back({.from = edge.from, .to = edge.to, .port = edge.column, .ports = std::max(columns, 1)});
  }
  for (const SvgFrame& frame : picture.frames) drawing.frames.push_back({frame.first, frame.end, text_width(frame.label, kSmall)});
  arrange(drawing);
  return Writer(picture, drawing).run();
}

std::string shortened(std::string_view text, std::size_t most) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    const auto [code, size] = first_character(text);
    characters.push_back(code < 0x20 || code == 0x7F ? " " : utf8_of(code, text.substr(0, size)));
    text.remove_prefix(size);
  }
  std::string result;
  const std::size_t head = most * 2 / 3, tail = most - head - 1;
  for (std::size_t i = 0; i < characters.size(); i++) {
    if (characters.size() > most && i == head) {
      result += "…";
      i = characters.size() - tail;
    }
    result += characters[i];
  }
  return result;
}

std::string bytes_text(std::int64_t bytes) { return scaled(bytes, " B", {"KB", "MB", "GB", "TB"}); }

std::string count_text(std::int64_t count) { return scaled(count, "", {"k", "M", "G", "T"}); }

}  // namespace etch
