#include "codegen/horizontal.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/subscript.h"
#include "codegen/builder.h"
#include "ir/contraction.h"

namespace etch {
namespace {

using Steps = std::span<const UOp* const>;

/// A loop around another one.
struct Nest {
  Steps before, head, body, tail, after;  // around both loops, between their beginnings, in the inner one, behind it
  const UOp *outer = nullptr, *inner = nullptr;
};

bool has_known_turns(const UOp* loop) {
  return std::ranges::all_of(loop->src, [](const UOp* bound) { return bound->uop == UOpKind::Const; });
}
std::int64_t first_turn(const UOp* loop) { return loop->src[0]->value->as_int(); }
std::int64_t end_of_turns(const UOp* loop) { return loop->src[1]->value->as_int(); }

/// nullopt where there are other loops, conditions around steps, or arrays.
std::optional<Nest> nest_of(const UOpList& uops) {
  std::vector<std::size_t> begins, ends;
  for (std::size_t i = 0; i < uops.order.size(); i++) {
    const UOp* u = uops.order[i];
    // The second kernel would use an array while the first one does.
    if (u->uop == UOpKind::If || u->uop == UOpKind::Barrier || u->uop == UOpKind::DefineLocal) return std::nullopt;
    if (u->uop == UOpKind::Loop) begins.push_back(i);
    if (u->uop == UOpKind::End) ends.push_back(i);
  }
  if (begins.size() != 2 || ends[0] < begins[1]) return std::nullopt;
  const Steps all(uops.order);
  const auto between = [&](std::size_t from, std::size_t to) { return all.subspan(from + 1, to - from - 1); };
  Nest nest{all.first(begins[0]), between(begins[0], begins[1]), between(begins[1], ends[0]), between(ends[0], ends[1]),
            all.subspan(ends[1] + 1)};
  nest.outer = uops.order[begins[0]];
  nest.inner = uops.order[begins[1]];
  if (!has_known_turns(nest.outer) || !has_known_turns(nest.inner) || first_turn(nest.inner) != 0) return std::nullopt;
  return nest;
}

/// Makes one list of two.
class Fusion {
 public:
  Fusion(const UOpList& first, const UOpList& second) : builder_(first) {
    for (const UOp* u : first.order)
      if (u->uop == UOpKind::DefineAcc) defined_ = std::max(defined_, u->number + 1);
    of_second_.insert(second.order.begin(), second.order.end());
  }

  UOpList one_after_the_other(Steps first, Steps second) {
    add(first);
    add(second);
    return builder_.finish();
  }

  UOpList together(const Nest& a, const Nest& b) {
    add(a.before);
    add(b.before);
    const UOp* outer = open(a.outer, a.outer->src);
    now_[b.outer] = outer;
    add(a.head);
    add(b.head);
    const Nest& longer = end_of_turns(a.inner) >= end_of_turns(b.inner) ? a : b;
    const Nest& shorter = &longer == &a ? b : a;
    const UOp* both = open(a.inner, shorter.inner->src);
    now_[b.inner] = both;
    add(a.body);
    add(b.body);
    builder_.end(both);
    if (end_of_turns(longer.inner) > end_of_turns(shorter.inner)) {
      const UOp* rest = open(a.inner, {shorter.inner->src[1], longer.inner->src[1]});  // under the same name
      now_[longer.inner] = rest;
      add(longer.body);
      builder_.end(rest);
    }
    add(a.tail);
    add(b.tail);
    builder_.end(outer);
    add(a.after);
    add(b.after);
    return builder_.finish();
  }

 private:
  const UOp* added(UOp u) {
    for (const UOp*& s : u.src) s = now_.at(s);
    return builder_.add(std::move(u));
  }

  const UOp* open(const UOp* loop, const std::vector<const UOp*>& bounds) {
    UOp copy = *loop;
    copy.src = bounds;
    return now_[loop] = added(std::move(copy));
  }

  void add(Steps steps) {
    for (const UOp* u : steps) {
      if (u->uop == UOpKind::End)
        builder_.end(now_.at(u->src[0]));
      else
        now_[u] = of_second_.contains(u) ? add_second(*u) : add_first(*u);
    }
  }

  const UOp* add_first(UOp u) {
    const bool is_named = u.uop == UOpKind::Alu && !u.name.empty();
    const UOp* made = added(std::move(u));
    if (is_named) named_.push_back(made);
    return made;
  }

  // The sums get names and numbers of their own; what the first kernel has under another name is the same.
  const UOp* add_second(UOp u) {
    if (u.uop == UOpKind::DefineAcc) {
      u.name += "2";
      u.number += defined_;
    }
    if (u.uop == UOpKind::Alu && !u.name.empty()) {
      for (const UOp*& s : u.src) s = now_.at(s);
      for (const UOp* known : named_) {
        UOp other = u;
        other.name = known->name;
        if (known->same(other)) return known;
      }
      return builder_.add(std::move(u));
    }
    return added(std::move(u));
  }

  UOpBuilder builder_;
  std::unordered_map<const UOp*, const UOp*> now_;  // look-up only, like the next
  std::unordered_set<const UOp*> of_second_;
  std::vector<const UOp*> named_;  // of the first kernel
  std::int64_t defined_ = 0;
};

/// A sum of products of rows and of weights, which are constant: the axis along which they move, and that of the rows; -1: there is none.
struct Product {
  int outputs = -1, rows = -1;
};

std::optional<Product> product_with_weights(const Kernel& k, const std::vector<KernelArgument>& arguments) {
  const std::optional<Contraction> sum = product_of_loads(k);
  if (!sum || sum->sum->dtype != DType::Float32 || k.count(AxisKind::Reduce) != 1 || !k.applied().empty()) return std::nullopt;
  const auto is_constant = [&](const LazyOp* factor) { return arguments[at(factor->mem().index)].is_constant; };
  if (is_constant(sum->a()) == is_constant(sum->b())) return std::nullopt;
  const KernelBuf& weights = k.buf_of(is_constant(sum->a()) ? sum->a() : sum->b());
  Product product;
  for (int axis = 0; axis < k.first_reduce(); axis++) {
    const auto step = k.stride(weights, axis);
    if (!step || !k.axes()[at(axis)].size.is_int()) return std::nullopt;
    int& found = step->is_int(0) ? product.rows : product.outputs;
    if (std::exchange(found, axis) >= 0) return std::nullopt;
  }
  return product.outputs < 0 || !k.axes()[at(k.first_reduce())].size.is_int() ? std::nullopt : std::optional(product);
}

bool take_tile(Kernel& k, const Product& product, std::int64_t lanes, std::int64_t vectors) {
  const bool has_lanes = k.try_apply({OptOp::Vector, product.outputs, lanes});
  const bool has_rows = has_lanes && (product.rows < 0 || k.try_apply({OptOp::Upcast, product.rows, 0}));
  const int outputs = product.outputs - (product.rows >= 0 && product.rows < product.outputs ? 1 : 0);
  return has_rows && (vectors == 1 || k.try_apply({OptOp::Upcast, outputs, vectors}));
}

std::int64_t turns_of_sum(const Kernel& k) { return k.axes()[at(k.first_reduce())].size.as_int(); }

// Unrolls the longer sum where that makes its loop as long as the other one.
bool have_equal_turns(Kernel& a, Kernel& b) {
  Kernel& longer = turns_of_sum(a) > turns_of_sum(b) ? a : b;
  const std::int64_t more = turns_of_sum(longer), less = turns_of_sum(&longer == &a ? b : a);
  if (!run_together(more, less)) return false;
  return more == less || longer.try_apply({OptOp::Unroll, 0, more / less});
}

}  // namespace

bool run_together(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMostSteps = 4;
  const std::int64_t longer = std::max(a, b), shorter = std::min(a, b);
  return shorter > 0 && longer % shorter == 0 && longer / shorter <= kMostSteps;
}

// Of the sums of one row each step loads a vector, of the others as many as it has along the outputs; the rows' numbers come one by one.
std::optional<TilesTogether> tiles_together(std::int64_t outputs, std::int64_t rows, std::int64_t others, const CodegenOptions& options) {
  constexpr std::int64_t kMostVectors = 8;  // of one row: more hide nothing
  const std::int64_t lanes = options.vector_bits / 32;
  for (std::int64_t vectors = lanes > 1 ? kMostVectors : 0; vectors > 0; vectors--) {
    const std::int64_t tiles = outputs / (lanes * vectors);
    if (tiles < 2 || tiles * lanes * vectors != outputs || others % (tiles * lanes) != 0) continue;
    const std::int64_t beside = others / (tiles * lanes);
    if (beside > 0 && vectors + rows * beside + beside + 1 <= options.float_registers) return TilesTogether{vectors, beside};
  }
  return std::nullopt;
}

bool tile_together(Kernel& one_row, Kernel& rows, const std::vector<KernelArgument>& arguments) {
  const std::optional<Product> one = product_with_weights(one_row, arguments), many = product_with_weights(rows, arguments);
  if (!one || !many || one->rows >= 0 || many->rows < 0) return false;
  const auto size = [](const Kernel& k, int axis) { return k.axes()[at(axis)].size.as_int(); };
  const std::optional<TilesTogether> tiles =
      tiles_together(size(one_row, one->outputs), size(rows, many->rows), size(rows, many->outputs), one_row.options());
  const std::int64_t lanes = one_row.options().vector_bits / 32;
  Kernel first = one_row, second = rows;
  if (!tiles || !take_tile(first, *one, lanes, tiles->of_row) || !take_tile(second, *many, lanes, tiles->of_rows)) return false;
  if (have_equal_turns(first, second)) {
    zigzag_through_weights(first, arguments);
    if (first.zigzags() && !second.try_apply({OptOp::Zigzag})) return false;
  }
  one_row = std::move(first);
  rows = std::move(second);
  return true;
}

UOpList one_after_the_other(const UOpList& first, const UOpList& second) {
  UOpList both = Fusion(first, second).one_after_the_other(first.order, second.order);
  verify(both, "one_after_the_other");
  return both;
}

UOpList fuse_loops(const UOpList& first, const UOpList& second) {
  const std::optional<Nest> a = nest_of(first), b = nest_of(second);
  const bool fit = a && b && first_turn(a->outer) == first_turn(b->outer) && end_of_turns(a->outer) == end_of_turns(b->outer);
  if (!fit) return one_after_the_other(first, second);
  UOpList fused = Fusion(first, second).together(*a, *b);
  verify(fused, "fuse_loops");
  return fused;
}

}  // namespace etch
