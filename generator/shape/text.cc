// Expressions as text.
#include <algorithm>
#include <string_view>

#include "shape/texts.h"
#include "shape/walk.h"

namespace etch {
namespace {

bool is_sorted_by_text(NodeKind kind) { return kind == NodeKind::Sum || kind == NodeKind::And; }

std::string_view separator_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Variable:
      return "";
    case NodeKind::Lt:
      return "<";
    case NodeKind::Mul:
      return "*";
    case NodeKind::Div:
      return "//";
    case NodeKind::Mod:
      return "%";
    case NodeKind::Sum:
      return "+";
    case NodeKind::And:
      return " and ";
  }
  return "";
}

}  // namespace

// Reads the text of an expression from left to right. The next piece is either text, or a node that can be expanded.
class Texts::Reader {
 public:
  Reader(const Texts& texts, Sint x) : texts_(texts) { put(x); }

  bool at_end() const { return left_.empty(); }
  /// nullptr: text comes next.
  const Node* node() const { return left_.back().node; }
  std::string_view text() const { return std::string_view(left_.back().text).substr(taken_); }

  /// Skips that many characters of text().
  void take(std::size_t characters) {
    taken_ += characters;
    if (taken_ == left_.back().text.size()) skip();
  }
  /// Skips the next piece.
  void skip() {
    left_.pop_back();
    taken_ = 0;
  }
  void open() {
    const Node* n = left_.back().node;
    skip();
    if (n->kind == NodeKind::Variable) return put(n->name);
    const std::vector<Sint>& src = is_sorted_by_text(n->kind) ? texts_.sorted_.at(n) : n->src;
    put(")");
    for (std::size_t k = src.size(); k-- > 0;) {
      put(src[k]);
      if (k > 0) put(separator_of(n->kind));
    }
    put("(");
  }

 private:
  struct Piece {
    const Node* node = nullptr;
    std::string text;
  };
  void put(std::string_view text) { left_.push_back({nullptr, std::string(text)}); }
  void put(Sint x) { x.is_int() ? put(std::string_view(std::to_string(x.as_int()))) : left_.push_back({x.node(), {}}); }

  const Texts& texts_;
  std::vector<Piece> left_;  // remaining pieces, the next one last
  std::size_t taken_ = 0;    // characters of the next piece that have been read
};

void Texts::learn(Sint x) {
  if (x.is_int() || known_.contains(x.node())) return;
  for (const Node* n : toposort<Node>({x.node()}, [&](const Node* o) { return known_.contains(o) ? Operands{} : operands(o); })) {
    if (!known_.insert(n) || !is_sorted_by_text(n->kind)) continue;
    std::vector<Sint> src = n->src;
    std::sort(src.begin(), src.end(), [&](Sint a, Sint b) { return known_less(a, b); });
    sorted_.emplace(n, std::move(src));
  }
}

bool Texts::known_less(Sint a, Sint b) const {
  Reader x(*this, a), y(*this, b);
  while (!x.at_end() && !y.at_end()) {
    if (x.node() != nullptr && x.node() == y.node()) {
      x.skip();
      y.skip();
    } else if (x.node() != nullptr) {
      x.open();
    } else if (y.node() != nullptr) {
      y.open();
    } else {
      const std::size_t n = std::min(x.text().size(), y.text().size());
      const int order = x.text().substr(0, n).compare(y.text().substr(0, n));
      if (order != 0) return order < 0;
      x.take(n);
      y.take(n);
    }
  }
  return x.at_end() && !y.at_end();
}

bool Texts::less(Sint a, Sint b) {
  learn(a);
  learn(b);
  return known_less(a, b);
}

std::string Texts::text(Sint x) {
  learn(x);
  std::string all;
  for (Reader r(*this, x); !r.at_end();) {
    if (r.node() != nullptr) {
      r.open();
    } else {
      all += r.text();
      r.skip();
    }
  }
  return all;
}

std::string to_text(Sint x) { return Texts().text(x); }

std::string to_text(const std::vector<Sint>& xs) {
  Texts texts;
  std::string r = "(";
  for (std::size_t k = 0; k < xs.size(); k++) r += (k > 0 ? ", " : "") + texts.text(xs[k]);
  return r + ")";
}

}  // namespace etch
