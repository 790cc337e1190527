#include "picture/layout.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "base/subscript.h"

namespace etch {
namespace {

constexpr std::int64_t kBetween = 24;       // between two boxes of a layer
constexpr std::int64_t kBesideEdge = 10;    // between an edge that passes a layer and its neighbours
constexpr std::int64_t kLayers = 44;        // between two layers
constexpr std::int64_t kFramePad = 14;      // between a frame and what is in it
constexpr std::int64_t kBow = 36;           // how far an edge backwards leaves its boxes
constexpr std::size_t kMostBends = 30'000;  // of all edges together
constexpr int kSweeps = 6;
constexpr std::int64_t kStraight = 8;  // how much more an edge that passes wants to stay upright than a box to stay in its middle

/// A box, or the place where an edge passes a layer.
struct Item {
  int layer = 0;
  std::int64_t width = 0;
  std::int64_t x = 0;  // its middle
  bool passes = false;
  std::vector<int> above{}, below{};  // neighbours: items
};

class Arranging {
 public:
  explicit Arranging(Drawing& drawing) : drawing_(drawing), layer_(layers_of(drawing)) {}

  void run() {
    add_items();
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      for (std::size_t l = 1; l < order_.size(); l++) sort_layer(l, &Item::above);
      for (std::size_t l = order_.size(); l-- > 1;) sort_layer(l - 1, &Item::below);
    }
    for (std::vector<int>& layer : order_) pack(layer);
    for (int sweep = 0; sweep < kSweeps; sweep++) {
      for (std::size_t l = 1; l < order_.size(); l++) place_layer(l, &Item::above);
      for (std::size_t l = order_.size(); l-- > 1;) place_layer(l - 1, &Item::below);
    }
    place_boxes();
    draw_edges();
    place_frames();
    move_to_origin();
  }

 private:
  void add_items() {
    order_.resize(layer_.empty() ? 0 : at(*std::ranges::max_element(layer_)) + 1);
    for (std::size_t b = 0; b < layer_.size(); b++) add_item({.layer = layer_[b], .width = drawing_.boxes[b].width});
    const int longest = longest_with_bends();
    for (std::size_t e = 0; e < drawing_.edges.size(); e++) {
      const DrawingEdge& edge = drawing_.edges[e];
      path_.push_back({edge.from});
      if (edge.from >= edge.to) continue;
      // Edges from one place share their bends.
      for (int l = layer_[at(edge.from)] + 1; span_of(edge) <= longest && l < layer_[at(edge.to)]; l++) {
        const auto [bend, is_new] = bends_.try_emplace({edge.from, edge.port, l}, static_cast<int>(items_.size()));
        if (is_new) add_item({.layer = l, .passes = true});
        path_.back().push_back(bend->second);
      }
      path_.back().push_back(edge.to);
    }
    for (const std::vector<int>& path : path_)
      for (std::size_t k = 0; k + 1 < path.size(); k++) connect(path[k], path[k + 1]);
  }

  void add_item(Item item) {
    order_[at(item.layer)].push_back(static_cast<int>(items_.size()));
    items_.push_back(std::move(item));
  }

  void connect(int above, int below) {
    std::vector<int>& known = items_[at(below)].above;
    if (std::ranges::find(known, above) != known.end()) return;
    known.push_back(above);
    items_[at(above)].below.push_back(below);
  }

  int span_of(const DrawingEdge& edge) const { return layer_[at(edge.to)] - layer_[at(edge.from)]; }

  // The number of layers up to which an edge gets bends: longer ones run behind the boxes, where there would be too many bends.
  int longest_with_bends() const {
    for (int longest = static_cast<int>(order_.size()); longest > 1; longest /= 2) {
      std::size_t bends = 0;
      for (const DrawingEdge& e : drawing_.edges)
        if (e.from < e.to && span_of(e) <= longest) bends += at(span_of(e) - 1);
      if (bends <= kMostBends) return longest;
    }
    return 1;
  }

  // By the mean place of the neighbours; what has none stays where it is.
  void sort_layer(std::size_t layer, std::vector<int> Item::* side) {
    std::vector<int>& order = order_[layer];
    std::vector<std::tuple<std::int64_t, std::size_t, int>> keys;  // wanted place, place now, item
    for (std::size_t k = 0; k < order.size(); k++) {
      const std::vector<int>& neighbours = items_[at(order[k])].*side;
      std::int64_t sum = 0;
      for (int n : neighbours) sum += relative_place(n);
      keys.emplace_back(neighbours.empty() ? relative(k, order.size()) : sum / static_cast<std::int64_t>(neighbours.size()), k, order[k]);
    }
    std::ranges::sort(keys);
    for (std::size_t k = 0; k < order.size(); k++) order[k] = std::get<2>(keys[k]);
    index_layer(layer);
  }

  static std::int64_t relative(std::size_t k, std::size_t size) {
    return (static_cast<std::int64_t>(2 * k + 1) << 20) / static_cast<std::int64_t>(2 * size);
  }
  std::int64_t relative_place(int item) {
    if (places_.empty()) {
      places_.resize(items_.size());
      for (std::size_t l = 0; l < order_.size(); l++) index_layer(l);
    }
    return places_[at(item)];
  }
  void index_layer(std::size_t layer) {
    if (places_.empty()) return;
    for (std::size_t k = 0; k < order_[layer].size(); k++) places_[at(order_[layer][k])] = relative(k, order_[layer].size());
  }

  std::int64_t distance(int left, int right) const {
    const Item &l = items_[at(left)], &r = items_[at(right)];
    return (l.width + r.width) / 2 + (l.passes || r.passes ? kBesideEdge : kBetween);
  }

  void pack(const std::vector<int>& order) {
    for (std::size_t k = 1; k < order.size(); k++) items_[at(order[k])].x = items_[at(order[k - 1])].x + distance(order[k - 1], order[k]);
  }

  // Each item wants to be at the mean of its neighbours. The places that differ least from that, in the sum of squares, among those that
  // keep order and distances: without the distances they must rise, and neighbours that would not are put together at their mean.
  void place_layer(std::size_t layer, std::vector<int> Item::* side) {
    struct Block {
      std::int64_t sum, weight;
      std::size_t count;
      std::int64_t mean() const { return sum >= 0 ? sum / weight : -((-sum + weight - 1) / weight); }
    };
    const std::vector<int>& order = order_[layer];
    std::vector<Block> blocks;
    std::vector<std::int64_t> offset(order.size(), 0);
    for (std::size_t k = 0; k < order.size(); k++) {
      const Item& item = items_[at(order[k])];
      if (k > 0) offset[k] = offset[k - 1] + distance(order[k - 1], order[k]);
      std::int64_t wanted = 0;
      for (int n : item.*side) wanted += items_[at(n)].x;
      const auto neighbours = static_cast<std::int64_t>((item.*side).size());
      wanted = neighbours == 0 ? item.x : wanted / neighbours;
      const std::int64_t weight = item.passes ? kStraight : neighbours == 0 ? 1 : 2;
      blocks.push_back({(wanted - offset[k]) * weight, weight, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back() = {blocks.back().sum + last.sum, blocks.back().weight + last.weight, blocks.back().count + last.count};
      }
    }
    std::size_t k = 0;
    for (const Block& block : blocks)
      for (std::size_t i = 0; i < block.count; i++, k++) items_[at(order[k])].x = block.mean() + offset[k];
  }

  void place_boxes() {
    std::vector<std::int64_t> height(order_.size(), 0), gap(order_.size() + 1, kLayers);
    for (std::size_t b = 0; b < layer_.size(); b++) height[at(layer_[b])] = std::max(height[at(layer_[b])], drawing_.boxes[b].height);
    for (const DrawingFrame& f : drawing_.frames) {
      const auto [first, last] = std::minmax_element(layer_.begin() + f.first, layer_.begin() + f.end);
      gap[at(*first)] += kFrameLabel + kFramePad;
      gap[at(*last) + 1] += kFramePad;
    }
    std::int64_t y = 0;
    for (std::size_t l = 0; l < order_.size(); l++) {
      y += gap[l];
      top_.push_back(y);
      bottom_.push_back(y += height[l]);
    }
    for (std::size_t b = 0; b < layer_.size(); b++) {
      DrawingRect& box = drawing_.boxes[b];
      box.x = items_[b].x - box.width / 2;
      box.y = top_[at(layer_[b])];
    }
  }

  // Edges that lead to a box end side by side, in the order of where they come from.
  std::vector<std::int64_t> ends_of_edges() const {
    std::vector<std::vector<int>> incoming(drawing_.boxes.size());
    for (std::size_t e = 0; e < path_.size(); e++)
      if (path_[e].size() > 1) incoming[at(drawing_.edges[e].to)].push_back(static_cast<int>(e));
    std::vector<std::int64_t> ends(path_.size(), 0);
    for (std::size_t b = 0; b < incoming.size(); b++) {
      std::ranges::sort(incoming[b], {}, [&](int e) { return std::pair(items_[at(path_[at(e)][path_[at(e)].size() - 2])].x, e); });
      const DrawingRect& box = drawing_.boxes[b];
      for (std::size_t k = 0; k < incoming[b].size(); k++)
        ends[at(incoming[b][k])] = box.x + box.width * static_cast<std::int64_t>(k + 1) / static_cast<std::int64_t>(incoming[b].size() + 1);
    }
    return ends;
  }

  void draw_edges() {
    const std::vector<std::int64_t> ends = ends_of_edges();
    std::map<std::int64_t, std::int64_t> bows;  // by box: further edges backwards run further out
    for (std::size_t e = 0; e < drawing_.edges.size(); e++) {
      DrawingEdge& edge = drawing_.edges[e];
      const DrawingRect &from = drawing_.boxes[at(edge.from)], &to = drawing_.boxes[at(edge.to)];
      if (edge.from >= edge.to) {
        const std::int64_t out = std::max(from.right(), to.right()) + kBow + 8 * bows[edge.to]++;
        const DrawingPoint begin{from.right(), from.y + from.height * 2 / 3}, end{to.right(), to.y + to.height / 3};
        edge.curves = {{begin, {out, begin.y}, {out, end.y}, end}};
        continue;
      }
      DrawingPoint now{from.x + from.width * (2 * std::int64_t{edge.port} + 1) / (2 * std::int64_t{edge.ports}), from.bottom()};
      const auto go = [&](DrawingPoint next) {
        const std::int64_t middle = (now.y + next.y) / 2;
        edge.curves.push_back({now, {now.x, middle}, {next.x, middle}, next});
        now = next;
      };
      for (std::size_t k = 1; k + 1 < path_[e].size(); k++) {
        const Item& bend = items_[at(path_[e][k])];
        go({bend.x, top_[at(bend.layer)]});
        go({bend.x, bottom_[at(bend.layer)]});
      }
      go({ends[e], to.y});
    }
  }

  void place_frames() {
    for (std::size_t f = drawing_.frames.size(); f-- > 0;) {  // inner ones first
      DrawingFrame& frame = drawing_.frames[f];
      std::int64_t left = INT64_MAX, right = INT64_MIN, top = INT64_MAX, bottom = INT64_MIN;
      const auto include = [&](const DrawingRect& r) {
        left = std::min(left, r.x), right = std::max(right, r.right());
        top = std::min(top, r.y), bottom = std::max(bottom, r.bottom());
      };
      for (int b = frame.first; b < frame.end; b++) include(drawing_.boxes[at(b)]);
      for (const DrawingEdge& e : drawing_.edges)
        if (e.from >= e.to && frame.first <= e.to && e.from < frame.end) right = std::max(right, e.curves.front().control1.x);
      for (std::size_t inner = f + 1; inner < drawing_.frames.size(); inner++)
        if (drawing_.frames[inner].first >= frame.first && drawing_.frames[inner].end <= frame.end) include(drawing_.frames[inner].rect);
      const std::int64_t width = std::max(right - left, frame.label_width) + 2 * kFramePad;
      frame.rect = {left - kFramePad, top - kFramePad - kFrameLabel, width, bottom - top + 2 * kFramePad + kFrameLabel};
    }
  }

  void move_to_origin() {
    DrawingRect all{INT64_MAX, INT64_MAX, 0, 0};
    std::int64_t right = 0, bottom = 0;
    const auto include = [&](std::int64_t x, std::int64_t y) {
      const bool first = all.x == INT64_MAX;
      all.x = std::min(all.x, x), all.y = std::min(all.y, y);
      right = first ? x : std::max(right, x), bottom = first ? y : std::max(bottom, y);
    };
    const auto include_rect = [&](const DrawingRect& r) {
      include(r.x, r.y);
      include(r.right(), r.bottom());
    };
    for (const DrawingRect& box : drawing_.boxes) include_rect(box);
    for (const DrawingFrame& frame : drawing_.frames) include_rect(frame.rect);
    for (const DrawingEdge& edge : drawing_.edges)
      for (const DrawingCurve& c : edge.curves)
        for (const DrawingPoint& p : {c.begin, c.control1, c.control2, c.end}) include(p.x, p.y);
    if (all.x == INT64_MAX) return;
    const auto move = [&](auto& place) { place.x -= all.x, place.y -= all.y; };
    for (DrawingRect& box : drawing_.boxes) move(box);
    for (DrawingFrame& frame : drawing_.frames) move(frame.rect);
    for (DrawingEdge& edge : drawing_.edges)
      for (DrawingCurve& c : edge.curves)
        for (DrawingPoint* p : {&c.begin, &c.control1, &c.control2, &c.end}) move(*p);
    drawing_.width = right - all.x;
    drawing_.height = bottom - all.y;
  }

  struct Bend {
    int box, port, layer;
    auto operator<=>(const Bend&) const = default;
  };

  Drawing& drawing_;
  std::vector<int> layer_;                  // by box
  std::vector<Item> items_;                 // the boxes first
  std::map<Bend, int> bends_;               // items
  std::vector<std::vector<int>> path_;      // by edge: its items, of an edge backwards only the first
  std::vector<std::vector<int>> order_;     // by layer: its items from left to right
  std::vector<std::int64_t> places_;        // by item: in its layer, from 0 to 2^20
  std::vector<std::int64_t> top_, bottom_;  // by layer
};

}  // namespace

void arrange(Drawing& drawing) {
  if (!drawing.boxes.empty()) Arranging(drawing).run();
}

}  // namespace etch
