#include "quant/float_parts.h"

#include <algorithm>
#include <unordered_set>

#include "base/toposort.h"

namespace etch {
namespace {

using Buffers = std::unordered_set<const LazyBuffer*>;

bool is_float_value(const LazyBuffer* b) { return is_float(b->dtype) && !b->base->constant; }
bool is_integer_value(const LazyBuffer* b) { return !is_float(b->dtype) && b->dtype != DType::Bool && !b->base->constant; }

/// The operand of `b`, one of `ops` of it and a constant; nullptr if it is not that.
const LazyBuffer* operand_of(const LazyBuffer* b, std::initializer_list<Op> ops) {
  const LazyBuffer* base = b->base;
  if (std::ranges::none_of(ops, [&](Op op) { return is_op(base, op); })) return nullptr;
  const LazyBuffer* only = nullptr;
  for (const LazyBuffer* s : base->src) {
    if (s->base->constant) continue;
    if (only != nullptr) return nullptr;
    only = s;
  }
  return only;
}

class Parts {
 public:
  explicit Parts(const std::vector<const LazyBuffer*>& outputs) : order_(toposort<LazyBuffer>(outputs, sources)) {}

  std::vector<std::string> names() {
    for (const LazyBuffer* b : order_) find_origin(b);
    for (const LazyBuffer* b : order_)
      if (const LazyBuffer* x = quantised_by(b)) collect(x, b->origins);
    std::vector<std::string> names;
    for (const LazyBuffer* b : order_)
      for (const std::string& name : b->origins)
        if (parts_.contains(b) && std::ranges::find(names, name) == names.end()) names.push_back(name);
    return names;
  }

 private:
  /// Whether `b` is computed from integers, and whether it is no more than they are times constants.
  void find_origin(const LazyBuffer* b) {
    if (!is_float_value(b)) return;
    const auto below = sources(b);
    if (std::ranges::any_of(below, [&](const LazyBuffer* s) { return is_integer_value(s) || computed_.contains(s); })) computed_.insert(b);
    const LazyBuffer* moved = b->is_base() ? operand_of(b, {Op::Mul, Op::Div, Op::Sub}) : b->base;
    if (is_op(b, Op::Cast) ? is_integer_value(b->src[0]) : moved != nullptr && converted_.contains(moved)) converted_.insert(b);
  }

  /// What is rounded and divided by a scale before, if `b` is an integer that it becomes; nullptr if it is none.
  static const LazyBuffer* quantised_by(const LazyBuffer* b) {
    if (!b->is_base() || !is_op(b, Op::Cast) || !is_integer_value(b) || !is_float_value(b->src[0])) return nullptr;
    const LazyBuffer* x = b->src[0];
    while (const LazyBuffer* inner = operand_of(x, {Op::Min, Op::Max, Op::Add})) x = inner;
    if (!is_op(x->base, Op::Rint) && !is_op(x->base, Op::RintSmall)) return nullptr;
    x = x->base->src[0];
    const LazyBuffer* divided = operand_of(x, {Op::Div});
    return divided != nullptr ? divided : x;
  }

  /// Remembers what `x` is computed by, from integers on, but for steps that only the quantising node asked for.
  void collect(const LazyBuffer* x, const std::vector<std::string>& quantising) {
    std::vector<const LazyBuffer*> next{x};
    while (!next.empty()) {
      const LazyBuffer* b = next.back();
      next.pop_back();
      if (!computed_.contains(b) || converted_.contains(b) || !seen_.insert(b).second) continue;
      const bool is_own =
          std::ranges::all_of(b->origins, [&](const std::string& name) { return std::ranges::find(quantising, name) != quantising.end(); });
      if (b->is_base() && !is_own) parts_.insert(b);
      for (const LazyBuffer* s : sources(b)) next.push_back(s);
    }
  }

  std::vector<const LazyBuffer*> order_;
  Buffers computed_, converted_, seen_, parts_;
};

}  // namespace

std::vector<std::string> float_parts(const std::vector<const LazyBuffer*>& outputs) { return Parts(outputs).names(); }

}  // namespace etch
