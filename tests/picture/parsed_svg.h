// For tests: an SVG file as an XML parser sees it, and what holds for every picture.
#pragma once

#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace etch::test {

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;
  bool holds(double px, double py) const { return x <= px && px <= x + width && y <= py && py <= y + height; }
  bool holds(const Rect& r) const { return holds(r.x, r.y) && holds(r.x + r.width, r.y + r.height); }
  bool meets(const Rect& r) const { return x < r.x + r.width && r.x < x + width && y < r.y + r.height && r.y < y + height; }
};

struct ParsedText {
  std::string text;
  Rect rect;  // as wide as the usual fonts where a character takes whole pixels
};

struct ParsedBox {
  std::string id;
  Rect rect;
  std::vector<Rect> parts;
  std::vector<ParsedText> texts;
};

struct ParsedEdge {
  std::string from, to;
  std::vector<std::pair<double, double>> points;  // ends and control points
  bool back = false;
};

struct ParsedFrame {
  int first = 0, end = 0;
  Rect rect;
};

struct ParsedSvg {
  Rect view;
  std::vector<ParsedBox> boxes;
  std::vector<ParsedEdge> edges;
  std::vector<ParsedFrame> frames;
  std::vector<ParsedText> texts;  // outside of boxes

  const ParsedBox* box(const std::string& id) const {
    const auto found = std::ranges::find(boxes, id, &ParsedBox::id);
    return found == boxes.end() ? nullptr : &*found;
  }
};

inline Rect rect_of(const tinyxml2::XMLElement& e) {
  return {e.DoubleAttribute("x"), e.DoubleAttribute("y"), e.DoubleAttribute("width"), e.DoubleAttribute("height")};
}

inline ParsedText text_of(const tinyxml2::XMLElement& e) {
  ParsedText text{e.GetText() == nullptr ? "" : e.GetText(), {}};
  const std::string kind = e.Attribute("class");
  const double size = kind == "h" ? 16 : kind == "g" ? 11 : 12;
  const auto characters = std::ranges::count_if(text.text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  text.rect = {e.DoubleAttribute("x"), e.DoubleAttribute("y") - size, 0.637 * size * static_cast<double>(characters), size};
  return text;
}

// Numbers behind the letters M, V and C.
inline std::vector<std::pair<double, double>> points_of(std::string path) {
  std::vector<std::pair<double, double>> points;
  for (std::size_t at = 0; at < path.size();) {
    const char letter = path[at++];
    const std::size_t end = std::min(path.find_first_of("MVC", at), path.size());
    std::istringstream numbers(path.substr(at, end - at));
    std::vector<double> values;
    for (double v = 0; numbers >> v;) values.push_back(v);
    if (letter == 'V') values.insert(values.begin(), points.back().first);
    EXPECT_EQ(values.size(), letter == 'C' ? 6u : 2u) << path;
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) points.emplace_back(values[i], values[i + 1]);
    at = end;
  }
  return points;
}

inline ParsedBox box_of(const tinyxml2::XMLElement& group) {
  ParsedBox box;
  for (const auto* e = group.FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    if (std::string(e->Name()) == "text") box.texts.push_back(text_of(*e));
    if (std::string(e->Name()) != "rect") continue;
    if (e->Attribute("id") != nullptr) {
      box.id = e->Attribute("id");
      box.rect = rect_of(*e);
    } else {
      box.parts.push_back(rect_of(*e));
    }
  }
  return box;
}

inline ParsedSvg parse_svg(const std::string& text) {
  ParsedSvg svg;
  tinyxml2::XMLDocument document;
  EXPECT_EQ(document.Parse(text.c_str(), text.size()), tinyxml2::XML_SUCCESS) << document.ErrorStr();
  const tinyxml2::XMLElement* root = document.RootElement();
  if (root == nullptr) return svg;
  std::istringstream view(root->Attribute("viewBox"));
  view >> svg.view.x >> svg.view.y >> svg.view.width >> svg.view.height;
  EXPECT_STREQ(root->Attribute("xmlns"), "http://www.w3.org/2000/svg");
  for (const auto* e = root->FirstChildElement(); e != nullptr; e = e->NextSiblingElement()) {
    const std::string name = e->Name();
    if (name == "g") svg.boxes.push_back(box_of(*e));
    if (name == "text") svg.texts.push_back(text_of(*e));
    if (name == "path")
      svg.edges.push_back({e->Attribute("data-from"), e->Attribute("data-to"), points_of(e->Attribute("d")),
                           std::string(e->Attribute("class")).ends_with("back")});
    if (name == "rect") {
      EXPECT_TRUE(svg.view.holds(rect_of(*e)));
    }
    if (name == "rect" && e->Attribute("data-first") != nullptr)
      svg.frames.push_back({e->IntAttribute("data-first"), e->IntAttribute("data-end"), rect_of(*e)});
  }
  return svg;
}

/// Everything lies in the view, texts in their boxes, boxes apart; edges begin and end at the sides of their boxes; a frame holds its
/// boxes and no others.
inline void expect_sound(const ParsedSvg& svg) {
  for (const ParsedText& t : svg.texts) EXPECT_TRUE(svg.view.holds(t.rect)) << t.text;
  for (std::size_t b = 0; b < svg.boxes.size(); b++) {
    const ParsedBox& box = svg.boxes[b];
    EXPECT_TRUE(svg.view.holds(box.rect)) << box.id;
    for (const ParsedText& t : box.texts) EXPECT_TRUE(box.rect.holds(t.rect)) << box.id << ": " << t.text;
    for (const Rect& part : box.parts) EXPECT_TRUE(box.rect.holds(part)) << box.id;
    for (std::size_t i = 0; i < box.parts.size(); i++)
      for (std::size_t j = 0; j < i; j++) EXPECT_FALSE(box.parts[i].meets(box.parts[j])) << box.id;
    for (std::size_t other = 0; other < b; other++)
      EXPECT_FALSE(box.rect.meets(svg.boxes[other].rect)) << box.id << " lies over " << svg.boxes[other].id;
    for (const ParsedFrame& frame : svg.frames) {
      const bool is_in = frame.first <= static_cast<int>(b) && static_cast<int>(b) < frame.end;
      EXPECT_TRUE(is_in ? frame.rect.holds(box.rect) : !frame.rect.meets(box.rect)) << box.id;
    }
  }
  std::map<std::string, const Rect*> rects;
  for (const ParsedBox& box : svg.boxes) EXPECT_TRUE(rects.emplace(box.id, &box.rect).second) << "two boxes are " << box.id;
  for (const ParsedEdge& edge : svg.edges) {
    const std::string name = edge.from + " -> " + edge.to;
    for (const auto& [x, y] : edge.points) EXPECT_TRUE(svg.view.holds(x, y)) << name;
    ASSERT_TRUE(rects.contains(edge.from) && rects.contains(edge.to)) << name;
    const Rect &from = *rects[edge.from], &to = *rects[edge.to];
    const auto [x0, y0] = edge.points.front();
    const auto [x1, y1] = edge.points.back();
    EXPECT_TRUE(from.holds(x0, y0) && to.holds(x1, y1)) << name;
    if (edge.back) {
      EXPECT_TRUE(x0 == from.x + from.width && x1 == to.x + to.width && from.y >= to.y) << name;
    } else {
      EXPECT_TRUE(y0 == from.y + from.height && y1 == to.y && y0 < y1) << name << " goes down";
    }
  }
}

}  // namespace etch::test
