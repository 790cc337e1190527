#include "schedule/fold.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <optional>
#include <unordered_set>

#include "interp/interp.h"
#include "ir/contraction.h"
#include "lazy/rewrite.h"
#include "schedule/widening.h"

namespace etch {
namespace {

/// Whether its values are known while generating, even if it is expanded over an axis of variable size.
bool is_known(const LazyBuffer* b) { return b->base->constant; }

double smallest_normal(DType dtype) { return dtype == DType::Float64 ? DBL_MIN : dtype == DType::Float16 ? 0x1p-14 : 0x1p-126; }

class ScaleFolder {
 public:
  ScaleFolder(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) : graph_(graph), old_uses_(count_uses(outputs)) {}

  const LazyBuffer* visit(const LazyBuffer* old, const LazyBuffer* rebuilt) {
    const LazyBuffer* result = rebuilt;
    const bool has_scales = is_float(rebuilt->dtype) || is_op(rebuilt, Op::Add) || is_op(rebuilt, Op::Sub);
    if (old->kind == LazyKind::Compute && !is_known(rebuilt) && has_scales && rebuilt->kind == LazyKind::Compute) {
      OriginScope scope(graph_, rebuilt->origins);
      if (const LazyBuffer* folded = fold(rebuilt)) result = folded;
    }
    // The replacement of a base is used as often as the base was.
    if (old->is_base()) uses_[result->base] += old_uses_.at(old);
    return result;
  }

 private:
  bool used_once(const LazyBuffer* b) const {
    const auto it = uses_.find(b->base);
    return it == uses_.end() || it->second == 1;
  }

  const LazyBuffer* fold(const LazyBuffer* b) {
    if (b->src.size() != 2) return nullptr;
    const bool commutes = b->op == Op::Mul || b->op == Op::Add;
    const LazyBuffer *x = b->src[0], *c = b->src[1];
    if (commutes && is_known(x)) std::swap(x, c);
    if (!is_known(c) || is_known(x)) return nullptr;
    if (b->op == Op::Mul) return scale(x, c);
    if (b->op == Op::Div) {
      const LazyBuffer* inverse = small(Op::Div, {graph_.constant(Scalar::of_int(c->dtype, 1), c->shape()), c});
      return inverse == nullptr ? nullptr : scale(x, inverse);
    }
    if (b->op == Op::Add) return offset(x, c);
    if (b->op == Op::Sub) return offset(x, small(Op::Neg, {c}));
    return nullptr;
  }

  /// `constant` reshaped to the shape of x's base.
  const LazyBuffer* below(const LazyBuffer* constant, const LazyBuffer* x) {
    return graph_.view(constant, constant->st.reshape(x->base->shape()));
  }
  /// `y`, which has the shape of x's base, reshaped to the shape of `x`.
  const LazyBuffer* above(const LazyBuffer* y, const LazyBuffer* x) { return graph_.view(y, y->st.reshape(x->shape())); }

  /// x + c rewritten, if x is (y + d) and y a sum; else nullptr. Other chains of additions keep their order, as networks may round
  /// by adding and subtracting a large number.
  const LazyBuffer* offset(const LazyBuffer* x, const LazyBuffer* c) {
    if (!shows_base(x) || !used_once(x) || x->base->kind != LazyKind::Compute) return nullptr;
    const auto inner = constant_offset(x->base);
    if (!inner) return nullptr;
    const auto [y, d] = *inner;
    if (!is_op(y->base, Op::ReduceSum)) return nullptr;
    const LazyBuffer* total = small(Op::Add, {d, below(c, x)});
    if (total == nullptr) return nullptr;
    return above(graph_.elementwise(Op::Add, {y, total}), x);
  }

  /// x * s with s moved into constants before it, through any number of constants that are added; nullptr if that is not possible.
  const LazyBuffer* scale(const LazyBuffer* x, const LazyBuffer* s) {
    struct Addition {
      const LazyBuffer *sum, *constant, *factor;
    };
    std::vector<Addition> additions;  // from the last one to the first
    const LazyBuffer* scaled = nullptr;
    while (scaled == nullptr) {
      if (!shows_base(x) || !used_once(x) || x->base->kind != LazyKind::Compute) return nullptr;
      s = below(s, x);
      if (is_op(x->base, Op::ReduceSum)) {
        const LazyBuffer* sum = scale_sum(x->base, s);
        if (sum == nullptr) return nullptr;
        scaled = above(sum, x);
      } else {
        const auto sum = constant_offset(x->base);
        if (!sum) return nullptr;
        additions.push_back({x, sum->second, s});
        x = sum->first;
      }
    }
    for (auto it = additions.rbegin(); it != additions.rend(); it++) {
      const LazyBuffer* moved = small(Op::Mul, {it->constant, it->factor});
      if (moved == nullptr) return nullptr;
      scaled = above(graph_.elementwise(Op::Add, {scaled, moved}), it->sum);
    }
    return scaled;
  }

  /// sum(a * w) * s with s of the sum's shape.
  const LazyBuffer* scale_sum(const LazyBuffer* sum, const LazyBuffer* s) {
    const auto c = contraction_of(sum);
    if (!c || !c->casts.empty() || !used_once(c->product)) return nullptr;
    const LazyBuffer *a = c->a(), *w = c->b();
    if (is_known(a)) std::swap(a, w);
    if (!is_known(w) || is_known(a)) return nullptr;
    const LazyBuffer* wide = graph_.view(s, s->st.expand(c->product->shape()));
    const LazyBuffer* scaled = small(Op::Mul, {w, wide});
    // Not if each output has its own scale, as the weights would grow.
    if (scaled == nullptr || scaled->base->st.size().max() > std::max<std::int64_t>(w->base->st.size().max(), 1)) return nullptr;
    std::vector<std::string> origins = sum->origins;
    for (const std::string& o : graph_.origins())
      if (std::ranges::find(origins, o) == origins.end()) origins.push_back(o);
    OriginScope scope(graph_, origins);
    return graph_.reduce(Op::ReduceSum, graph_.elementwise(Op::Mul, {a, scaled}), sum->axes);
  }

  std::optional<std::pair<const LazyBuffer*, const LazyBuffer*>> constant_offset(const LazyBuffer* b) {
    if (!is_op(b, Op::Add) && !is_op(b, Op::Sub)) return std::nullopt;
    const LazyBuffer *x = b->src[0], *c = b->src[1];
    if (b->op == Op::Add && is_known(x)) std::swap(x, c);
    if (!is_known(c) || is_known(x)) return std::nullopt;
    if (b->op == Op::Sub) c = small(Op::Neg, {c});
    if (c == nullptr) return std::nullopt;
    return std::pair{x, c};
  }

  /// op(src...), computed only along the axes on which a source varies, then expanded; nullptr if it is not known or not in range.
  const LazyBuffer* small(Op op, const std::vector<const LazyBuffer*>& src) {
    const std::vector<Sint>& shape = src[0]->shape();
    std::vector<Range> ranges;
    ranges.assign(shape.size(), {0, 1});
    for (const LazyBuffer* s : src) {
      const auto strides = s->st.real_strides();
      for (std::size_t i = 0; i < shape.size(); i++)
        if (!strides[i] || !strides[i]->is_int(0)) ranges[i].second = shape[i];
    }
    std::vector<const LazyBuffer*> parts;
    for (const LazyBuffer* s : src) parts.push_back(graph_.view(s, s->st.shrink(ranges)));
    const LazyBuffer* value = graph_.elementwise(op, parts);
    if (!is_known(value) || !is_in_range(op, parts, value)) return nullptr;
    return graph_.view(value, value->st.expand(shape));
  }

  Array values_of(const LazyBuffer* known) {
    const Array& base = graph_.evaluate(known->base);
    return known->is_base() ? base : relayout(base, known->st);
  }

  /// Whether `value`, which is op(src...), may replace its sources: all elements are finite, and no product or inverse of normal numbers
  /// has become 0 or subnormal. (The run-time factor may be as large as the constant is small.)
  bool is_in_range(Op op, const std::vector<const LazyBuffer*>& src, const LazyBuffer* value) {
    if (op == Op::Neg || is_int(value->dtype)) return true;
    const double normal = smallest_normal(value->dtype);
    const Array result = values_of(value), first = values_of(src[0]), second = values_of(src[1]);
    for (std::int64_t i = 0; i < result.size(); i++) {
      const double r = std::fabs(result.double_at(i)), a = std::fabs(first.double_at(i)), b = std::fabs(second.double_at(i));
      if (!std::isfinite(r)) return false;
      if (op == Op::Mul && r < normal && a >= normal && b != 0) return false;
      if (op == Op::Div && r < normal) return false;
    }
    return true;
  }

  LazyGraph& graph_;
  std::unordered_map<const LazyBuffer*, int> old_uses_, uses_;  // before and after the rewrite
};

/// The data that a constant is computed from.
struct Made {
  std::int64_t data = 0;             // elements of the Data below, each once a use
  const LazyBuffer* main = nullptr;  // the largest of them that has a name
  bool reduces = false, expensive = false;
};

/// Whether a constant operation is worth storing: not if it is larger than its sources and cheap to compute where it is used.
bool is_worthwhile(const LazyBuffer* b, const Made& made) {
  if (b->kind == LazyKind::Contiguous || b->is_reduction()) return true;
  if (is_widening(b)) return false;  // keep weights in their smaller type
  const std::int64_t size = b->st.size().as_int();
  if (made.data > 0 || made.reduces) return size <= 4 * made.data + 1024;
  return made.expensive && size <= 65536;
}

}  // namespace

std::vector<const LazyBuffer*> fold_scales(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  ScaleFolder folder(graph, outputs);
  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) { return folder.visit(old, rebuilt); });
}

std::vector<const LazyBuffer*> fold_constants(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs) {
  const std::vector<const LazyBuffer*> order = toposort_bases(outputs);
  std::unordered_map<const LazyBuffer*, Made> made;
  for (const LazyBuffer* b : order) {
    if (!b->constant) continue;
    Made m;
    if (b->kind == LazyKind::Data) m = {b->st.size().as_int(), b, false, false};
    for (const LazyBuffer* s : b->src) {
      const Made& below = made.at(s->base);
      m.data += below.data;
      m.reduces = m.reduces || below.reduces;
      m.expensive = m.expensive || below.expensive;
      if (below.main != nullptr && (m.main == nullptr || below.main->st.size().max() > m.main->st.size().max())) m.main = below.main;
    }
    if (b->kind == LazyKind::Compute) {
      m.reduces = m.reduces || b->is_reduction();
      m.expensive = m.expensive || is_library_call(b->op);
    }
    made.emplace(b, m);
  }

  // From the outputs down: a constant that is needed is either folded, or its sources are needed.
  std::unordered_set<const LazyBuffer*> needed, folded;
  const auto need = [&](const LazyBuffer* b) {
    if (b->constant && is_computed(b) && is_worthwhile(b, made.at(b)))
      folded.insert(b);
    else
      needed.insert(b);
  };
  for (const LazyBuffer* o : outputs) need(o->base);
  for (auto it = order.rbegin(); it != order.rend(); it++)
    if (needed.contains(*it))
      for (const LazyBuffer* s : (*it)->src) need(s->base);

  return rewrite(graph, outputs, [&](const LazyBuffer* old, const LazyBuffer* rebuilt) {
    if (!folded.contains(old)) return rebuilt;
    const LazyBuffer* main = made.at(old).main;
    return graph.data(graph.evaluate(old), main == nullptr ? "" : main->name);
  });
}

}  // namespace etch
