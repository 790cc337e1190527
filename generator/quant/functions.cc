#include "quant/functions.h"

#include <algorithm>
#include <cmath>

#include "lazy/graph.h"
#include "quant/products.h"

namespace etch {
namespace {

constexpr int kLeastCost = 10;   // of a function that is worth a table
constexpr int kMostCost = 1000;  // of one that is evaluated for all bytes

bool is_byte(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

ByteValues all_bytes(DType dtype) {
  ByteValues values{};
  for (std::int64_t i = 0; i < kBytes; i++) values[static_cast<std::size_t>(i)] = dtype == DType::Int8 && i >= 128 ? i - kBytes : i;
  return values;
}

/// `list` and those of `more` that are not in it.
std::vector<Tensor> joined(std::vector<Tensor> list, const std::vector<Tensor>& more) {
  const auto is_there = [&](const Tensor& t) {
    return std::ranges::any_of(list, [&](const Tensor& other) { return other.buffer() == t.buffer(); });
  };
  for (const Tensor& t : more)
    if (!is_there(t)) list.push_back(t);
  return list;
}

/// The results of `f` as those of a function of `list`, which has all that `f` is a function of.
Tensor results_for(const ByteFunction& f, const std::vector<Tensor>& list) {
  Shape ones(list.size(), Sint(1)), whole(list.size(), Sint(kBytes));
  std::vector<int> axes;  // in `list`
  for (const Tensor& t : f.of)
    axes.push_back(
        static_cast<int>(std::ranges::find(list, t.buffer(), [](const Tensor& other) { return other.buffer(); }) - list.begin()));
  for (const int axis : axes) ones[static_cast<std::size_t>(axis)] = kBytes;
  const Tensor in_order = axes.size() == 2 && axes[0] > axes[1] ? f.results.permute({1, 0}) : f.results;
  return in_order.reshape(ones).expand(whole);
}

}  // namespace

Tensor read_table(const Tensor& table, const Tensor& index) {
  Shape row(index.shape().size(), Sint(1)), rows = index.shape();
  row.emplace_back(kBytes);
  rows.emplace_back(kBytes);
  LazyGraph& graph = index.graph();
  return {&graph, graph.gather(table.reshape(row).expand(rows).buffer(), index.cast(DType::UInt8).buffer())};
}

const ByteFunction* ByteFunctions::of(const LazyBuffer* buffer) {
  auto found = known_.find(buffer);
  if (found == known_.end()) found = known_.emplace(buffer, find(buffer)).first;
  return found->second ? &*found->second : nullptr;
}

const ByteFunction* ByteFunctions::operand(const LazyBuffer* buffer) {
  const bool is_one = buffer->base->constant && !is_masked(buffer->st) && buffer->base->st.size().is_int(1);
  if (!is_one && !is_byte(buffer->dtype)) return of(buffer);
  auto found = operands_.find(buffer);
  if (found == operands_.end()) {
    ByteFunction f;
    if (is_one) {
      f.results = Tensor::full(graph_, {}, graph_.evaluate(buffer->base).at(0));
    } else {
      f.of.emplace_back(&graph_, buffer);
      const ByteValues values = all_bytes(buffer->dtype);
      f.results = Tensor::constant(graph_, Array::of_ints(buffer->dtype, {kBytes}, {values.begin(), values.end()}));
    }
    found = operands_.emplace(buffer, std::move(f)).first;
  }
  return &*found->second;
}

std::optional<ByteFunction> ByteFunctions::find(const LazyBuffer* buffer) {
  if (is_empty(buffer->shape())) return std::nullopt;
  if (!buffer->is_base()) {
    const ByteFunction* below = is_masked(buffer->st) ? nullptr : operand(buffer->base);
    if (below == nullptr) return std::nullopt;
    ByteFunction f = *below;
    for (Tensor& t : f.of) t = {&graph_, graph_.view(t.buffer(), graph_.stacked(t.buffer()->st, buffer->st))};
    return f;
  }
  if (buffer->kind != LazyKind::Compute || buffer->is_reduction() || buffer->op == Op::Bitcast) return std::nullopt;
  ByteFunction f;
  f.cost = info(buffer->op).cost;
  for (const LazyBuffer* s : buffer->src) {
    const ByteFunction* operand_of = operand(s);
    if (operand_of == nullptr) return std::nullopt;
    f.of = joined(std::move(f.of), operand_of->of);
    f.cost += operand_of->cost;
  }
  if (f.of.empty() || f.of.size() > 2 || f.cost > kMostCost) return std::nullopt;
  std::vector<const LazyBuffer*> src;
  for (const LazyBuffer* s : buffer->src) src.push_back(results_for(*operand(s), f.of).buffer());
  f.results = {&graph_, buffer->op == Op::Cast ? graph_.cast(src[0], buffer->dtype) : graph_.elementwise(buffer->op, src)};
  return f;
}

std::optional<Tensor> ByteFunctions::simpler(const LazyBuffer* buffer, const LazyBuffer* exact, const Tensor& zero) {
  const ByteFunction* f = is_byte(buffer->dtype) && !buffer->base->constant ? of(buffer) : nullptr;
  if (f == nullptr) return std::nullopt;
  if (f->of.size() == 1) return f->cost < kLeastCost ? std::nullopt : std::optional(read(*f));
  const ByteFunction* real = exact != nullptr ? of(exact) : nullptr;
  if (real == nullptr || joined(f->of, real->of).size() != 2) return std::nullopt;
  const std::vector<std::int64_t> wanted = graph_.evaluate(f->results.buffer()).ints();
  const auto [low, high] = std::ranges::minmax(wanted);
  if (low == high) return Tensor::full(graph_, buffer->shape(), Scalar::of_int(buffer->dtype, low));
  const std::vector<double> reals = graph_.evaluate(results_for(*real, f->of).buffer()).doubles();
  const auto fit = fit_linear(all_bytes(f->of[0].dtype()), all_bytes(f->of[1].dtype()), wanted, reals);
  if (fit) return sum(f->of[0], f->of[1], *fit).cast(buffer->dtype);
  bool reads = false;
  const auto read_product = [&](const LazyBuffer* product, const LazyBuffer* rebuilt) {
    const ByteFunction* factor = of(product);
    if (factor == nullptr || factor->of.size() != 1) return rounded_product(graph_, bounds_, rebuilt);
    reads = true;
    return read(*factor);
  };
  const LazyBuffer* summed = with_products(graph_, exact, read_product);
  const auto is_safe = [](double v) { return std::abs(v) < kSafeFloat; };
  if (!reads || !std::ranges::all_of(reals, is_safe)) return std::nullopt;
  const Tensor whole = Tensor(&graph_, summed).unary(Op::Rint).cast(DType::Int32) + zero.expand(buffer->shape());
  return whole.clip(static_cast<double>(low), static_cast<double>(high)).cast(buffer->dtype);
}

/// From a table of its results.
Tensor ByteFunctions::read(const ByteFunction& f) {
  return read_table(Tensor::constant(graph_, graph_.evaluate(f.results.buffer())), f.of[0]);
}

/// In int32.
Tensor ByteFunctions::sum(const Tensor& a, const Tensor& b, const LinearFit& fit) {
  const auto number = [&](std::int64_t v) { return Tensor::full(graph_, a.shape(), Scalar::of_int(DType::Int32, v)); };
  const auto times = [&](const Tensor& x, std::int64_t factor) { return x.cast(DType::Int32) * number(factor); };
  const auto shifted = [&](const Tensor& v) { return fit.shift == 0 ? v : Tensor::binary(Op::Shr, v, number(fit.shift)); };
  Tensor v = times(a, fit.times_a) + number(fit.plus) + times(b, fit.times_b);
  if (fit.ties != LinearFit::Ties::None) {
    const std::int64_t half = std::int64_t{1} << (fit.shift - 1);
    const Tensor odd = Tensor::binary(Op::And, shifted(v), number(1));
    v = fit.ties == LinearFit::Ties::Even ? v + number(half - 1) + odd : v + number(half) - odd;
  }
  return shifted(v).clip(static_cast<double>(fit.low), static_cast<double>(fit.high));
}

}  // namespace etch
