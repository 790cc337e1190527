// The layer of each box.
#include <algorithm>
#include <utility>

#include "base/subscript.h"
#include "picture/layout.h"

namespace etch {
namespace {

/// The layers that a frame takes.
struct Span {
  int first = 0, last = -1;
};

class Layers {
 public:
  explicit Layers(const Drawing& drawing) : drawing_(drawing), layer_(drawing.boxes.size(), 0), spans_(drawing.frames.size()) {
    for (const DrawingEdge& e : drawing.edges)
      if (e.from < e.to) forward_.push_back(&e);
    std::ranges::sort(forward_, {}, [](const DrawingEdge* e) { return std::pair(e->to, e->from); });
  }

  std::vector<int> run() {
    as_early_as_possible();
    move_to_neighbours();
    close_gaps();
    return std::move(layer_);
  }

 private:
  // The longest path to each box; a frame begins below everything before it, and what follows begins below it.
  void as_early_as_possible() {
    int floor = 0, deepest = -1;
    std::size_t edge = 0;
    for (int b = 0; b < static_cast<int>(layer_.size()); b++) {
      for (std::size_t f = 0; f < spans_.size(); f++)
        if (drawing_.frames[f].first == b || drawing_.frames[f].end == b) floor = deepest + 1;
      int layer = floor;
      for (; edge < forward_.size() && forward_[edge]->to == b; edge++) layer = std::max(layer, layer_[at(forward_[edge]->from)] + 1);
      layer_[at(b)] = layer;
      deepest = std::max(deepest, layer);
      for (std::size_t f = 0; f < spans_.size(); f++) {
        if (!holds(f, b)) continue;
        if (spans_[f].last < 0) spans_[f].first = layer;
        spans_[f].first = std::min(spans_[f].first, layer);
        spans_[f].last = std::max(spans_[f].last, layer);
      }
    }
  }

  bool holds(std::size_t frame, int box) const { return drawing_.frames[frame].first <= box && box < drawing_.frames[frame].end; }

  // A layer near `layer` where the box may be: above (or below) the frames that do not hold it.
  int outside_of_frames(int box, int layer, bool above) const {
    for (std::size_t f = 0; f < spans_.size();) {
      const bool inside = spans_[f].first <= layer && layer <= spans_[f].last;
      if (!holds(f, box) && inside) {
        layer = above ? spans_[f].first - 1 : spans_[f].last + 1;
        f = 0;
      } else {
        f++;
      }
    }
    return layer;
  }

  // Boxes that depend on nothing move down to the first that uses them, those that nothing depends on up to the last that they use.
  void move_to_neighbours() {
    std::vector<int> least(layer_.size(), -1), last_source(layer_.size(), -1);
    for (const DrawingEdge* e : forward_) {
      const int user = layer_[at(e->to)];
      int& first = least[at(e->from)];
      first = first < 0 ? user : std::min(first, user);
      last_source[at(e->to)] = std::max(last_source[at(e->to)], layer_[at(e->from)]);
    }
    for (int b = 0; b < static_cast<int>(layer_.size()); b++) {
      int& layer = layer_[at(b)];
      if (last_source[at(b)] < 0 && least[at(b)] >= 0) {
        int wanted = least[at(b)] - 1;
        for (std::size_t f = 0; f < spans_.size(); f++)
          if (holds(f, b)) wanted = std::min(wanted, spans_[f].last);
        layer = std::max(layer, outside_of_frames(b, wanted, true));
      } else if (least[at(b)] < 0 && last_source[at(b)] >= 0) {
        int wanted = last_source[at(b)] + 1;
        for (std::size_t f = 0; f < spans_.size(); f++)
          if (holds(f, b)) wanted = std::max(wanted, spans_[f].first);
        layer = std::min(layer, outside_of_frames(b, wanted, false));
      }
    }
  }

  void close_gaps() {
    std::vector<int> used = layer_;
    std::ranges::sort(used);
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for (int& layer : layer_) layer = static_cast<int>(std::ranges::lower_bound(used, layer) - used.begin());
  }

  const Drawing& drawing_;
  std::vector<const DrawingEdge*> forward_;  // by the box that they lead to
  std::vector<int> layer_;
  std::vector<Span> spans_;
};

}  // namespace

std::vector<int> layers_of(const Drawing& drawing) { return Layers(drawing).run(); }

}  // namespace etch
