#include "quant/functions.h"

#include <algorithm>
#include <cmath>

#include "lazy/graph.h"
#include "quant/form.h"
#include "quant/products.h"

namespace etch {
namespace {

constexpr int kLeastCost = 10;   // of a function that is worth a table
constexpr int kMostCost = 1000;  // of one that is evaluated for all values

bool is_byte(DType dtype) { return is_int(dtype) && bytes_of(dtype) == 1; }
bool is_narrow(DType dtype) { return is_int(dtype) && bytes_of(dtype) <= 2; }

std::int64_t count_of(DType dtype) { return std::int64_t{1} << (8 * bytes_of(dtype)); }

/// All values of the type, in the order of unsigned ones.
std::vector<std::int64_t> all_values(DType dtype) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < count_of(dtype); i++) values.push_back(i > int_max(dtype) ? i - count_of(dtype) : i);
  return values;
}

ByteValues all_bytes(DType dtype) {
  ByteValues values{};
  std::ranges::copy(all_values(dtype), values.begin());
  return values;
}

/// Whether one node asked for a product and for what is added to it: ONNX does not say whether the product is rounded.
bool adds_own_product(const LazyBuffer* b) {
  const auto is_own = [&](const LazyBuffer* s) { return is_op(s->base, Op::Mul) && s->base->origins == b->origins; };
  return (is_op(b, Op::Add) || is_op(b, Op::Sub)) && std::ranges::any_of(b->src, is_own);
}

/// Whether its result changes by steps: the least rounding of an operand may change it much.
bool jumps(const LazyBuffer* b) {
  const bool is_cut_off = b->op == Op::Cast && is_float(b->src[0]->dtype) && !is_float(b->dtype);
  return is_cut_off || b->dtype == DType::Bool || b->op == Op::Mod || gives_whole_numbers(b->op);
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

/// The `results` of `f` as those of a function of `list`, which has all that `f` is a function of.
Tensor results_for(const NarrowFunction& f, const std::vector<Tensor>& list, const Tensor& results) {
  Shape ones(list.size(), Sint(1)), whole;
  for (const Tensor& t : list) whole.emplace_back(count_of(t.dtype()));
  std::vector<int> axes;  // in `list`
  for (const Tensor& t : f.of)
    axes.push_back(
        static_cast<int>(std::ranges::find(list, t.buffer(), [](const Tensor& other) { return other.buffer(); }) - list.begin()));
  for (const int axis : axes) ones[static_cast<std::size_t>(axis)] = whole[static_cast<std::size_t>(axis)];
  const Tensor in_order = axes.size() == 2 && axes[0] > axes[1] ? results.permute({1, 0}) : results;
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

const NarrowFunction* NarrowFunctions::of(const LazyBuffer* buffer) {
  auto found = known_.find(buffer);
  if (found == known_.end()) found = known_.emplace(buffer, find(buffer)).first;
  return found->second ? &*found->second : nullptr;
}

const NarrowFunction* NarrowFunctions::operand(const LazyBuffer* buffer) {
  const bool is_one = buffer->base->constant && !is_masked(buffer->st) && buffer->base->st.size().is_int(1);
  if (!is_one && !is_narrow(buffer->dtype)) return of(buffer);
  auto found = operands_.find(buffer);
  if (found == operands_.end()) {
    NarrowFunction f;
    if (is_one) {
      f.results = Tensor::full(graph_, {}, graph_.evaluate(buffer->base).at(0));
    } else {
      f.of.emplace_back(&graph_, buffer);
      Tensor& values = values_[buffer->dtype];
      if (!values) values = Tensor::constant(graph_, Array::of_ints(buffer->dtype, {count_of(buffer->dtype)}, all_values(buffer->dtype)));
      f.results = values;
    }
    found = operands_.emplace(buffer, std::move(f)).first;
  }
  return &*found->second;
}

std::optional<NarrowFunction> NarrowFunctions::find(const LazyBuffer* buffer) {
  if (is_empty(buffer->shape())) return std::nullopt;
  if (!buffer->is_base()) {
    const NarrowFunction* below = is_masked(buffer->st) ? nullptr : operand(buffer->base);
    if (below == nullptr) return std::nullopt;
    NarrowFunction f = *below;
    for (Tensor& t : f.of) t = {&graph_, graph_.view(t.buffer(), graph_.stacked(t.buffer()->st, buffer->st))};
    return f;
  }
  if (buffer->kind != LazyKind::Compute || buffer->is_reduction() || buffer->op == Op::Bitcast) return std::nullopt;
  NarrowFunction f;
  f.cost = info(buffer->op).cost;
  f.is_pinned = !is_library_call(buffer->op) && !adds_own_product(buffer);
  for (const LazyBuffer* s : buffer->src) {
    const NarrowFunction* operand_of = operand(s);
    if (operand_of == nullptr) return std::nullopt;
    f.of = joined(std::move(f.of), operand_of->of);
    f.cost += operand_of->cost;
    f.is_pinned = f.is_pinned && operand_of->is_pinned;
  }
  const bool is_large = f.of.size() > 1 && !std::ranges::all_of(f.of, [](const Tensor& t) { return is_byte(t.dtype()); });
  if (f.of.empty() || f.of.size() > 2 || is_large || f.cost > kMostCost) return std::nullopt;
  const auto computed = [&](auto results, DType dtype) {
    std::vector<const LazyBuffer*> src;
    for (const LazyBuffer* s : buffer->src) src.push_back(results(*operand(s)).buffer());
    return Tensor(&graph_, buffer->op == Op::Cast ? graph_.cast(src[0], dtype) : graph_.elementwise(buffer->op, src));
  };
  f.results = computed([&](const NarrowFunction& s) { return results_for(s, f.of, s.results); }, buffer->dtype);
  if (is_byte(f.of[0].dtype())) return f;
  const auto in_double = [](DType dtype) { return dtype == DType::Float32 ? DType::Float64 : dtype; };
  if (jumps(buffer)) {  // where it does so ONNX says in float32
    f.exact = f.results.cast(in_double(buffer->dtype));
    return f;
  }
  const auto exact = [&](const NarrowFunction& s) {
    const Tensor found = s.exact ? s.exact : s.results;
    return results_for(s, f.of, found.cast(in_double(found.dtype())));
  };
  f.exact = computed(exact, in_double(buffer->dtype));
  return f;
}

std::optional<Tensor> NarrowFunctions::simpler(const LazyBuffer* buffer, const LazyBuffer* exact, const Tensor& zero) {
  const NarrowFunction* f = is_narrow(buffer->dtype) && !buffer->base->constant ? of(buffer) : nullptr;
  if (f == nullptr) return std::nullopt;
  if (!is_byte(f->of[0].dtype())) return std::nullopt;
  if (f->of.size() == 1) return f->cost < kLeastCost ? std::nullopt : std::optional(read(*f));
  if (!is_byte(buffer->dtype)) return std::nullopt;
  const NarrowFunction* real = exact != nullptr ? of(exact) : nullptr;
  if (real == nullptr || joined(f->of, real->of).size() != 2) return std::nullopt;
  const std::vector<std::int64_t> wanted = graph_.evaluate(f->results.buffer()).ints();
  const auto [low, high] = std::ranges::minmax(wanted);
  if (low == high) return Tensor::full(graph_, buffer->shape(), Scalar::of_int(buffer->dtype, low));
  const std::vector<double> reals = graph_.evaluate(results_for(*real, f->of, real->results).buffer()).doubles();
  const auto fit = fit_linear(all_bytes(f->of[0].dtype()), all_bytes(f->of[1].dtype()), wanted, reals);
  if (fit) return sum(f->of[0], f->of[1], *fit).cast(buffer->dtype);
  bool reads = false;
  const auto read_product = [&](const LazyBuffer* product, const LazyBuffer* rebuilt) {
    const NarrowFunction* factor = of(product);
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
Tensor NarrowFunctions::read(const NarrowFunction& f) {
  return read_table(Tensor::constant(graph_, graph_.evaluate(f.results.buffer())), f.of[0]);
}

/// In int32.
Tensor NarrowFunctions::sum(const Tensor& a, const Tensor& b, const LinearFit& fit) {
  const auto number = [&](std::int64_t v) { return Tensor::full(graph_, a.shape(), Scalar::of_int(DType::Int32, v)); };
  const auto times = [&](const Tensor& x, std::int64_t factor) { return x.cast(DType::Int32) * number(factor); };
  Tensor v = times(a, fit.times_a) + number(fit.plus) + times(b, fit.times_b);
  if (fit.ties != LinearFit::Ties::None) {
    const std::int64_t half = std::int64_t{1} << (fit.shift - 1);
    const Tensor odd = Tensor::binary(Op::And, shifted(v, fit.shift), number(1));
    v = fit.ties == LinearFit::Ties::Even ? v + number(half - 1) + odd : v + number(half) - odd;
  }
  return shifted(v, fit.shift).clip(static_cast<double>(fit.low), static_cast<double>(fit.high));
}

std::optional<Tensor> NarrowFunctions::polynomials(const LazyBuffer* exact, const Tensor& zero, DType dtype) {
  const NarrowFunction* f = of(exact);
  const Scalar* point = const_value(zero.buffer());
  if (f == nullptr || f->is_pinned || is_byte(f->of[0].dtype()) || point == nullptr) return std::nullopt;
  const Tensor& x = f->of[0];
  const std::vector<double> unsigned_order = graph_.evaluate(f->exact.buffer()).doubles();
  std::vector<double> reals;
  for (std::int64_t v = int_min(x.dtype()); v <= int_max(x.dtype()); v++)
    reals.push_back(unsigned_order[static_cast<std::size_t>(v & (count_of(x.dtype()) - 1))] + static_cast<double>(point->as_int()));
  const std::optional<Pieces> pieces = fit_pieces(reals, int_min(dtype), int_max(dtype));
  return pieces ? std::optional(in_pieces(x, *pieces).cast(dtype)) : std::nullopt;
}

Tensor NarrowFunctions::in_pieces(const Tensor& x, const Pieces& pieces) {
  const std::int64_t first = pieces.first + int_min(x.dtype()), last = pieces.last + int_min(x.dtype());
  const Tensor v = x.cast(DType::Int32), t = v.clip(static_cast<double>(first), static_cast<double>(last)) - number_like(v, first);
  const Tensor u = Tensor::binary(Op::And, t, number_like(t, (std::int64_t{1} << pieces.width) - 1));
  Tensor piece = shifted(t, pieces.width);
  for (const std::int64_t at : pieces.breaks) piece = piece + (number_like(t, at - 1) < t).cast(DType::Int32);
  const auto scaled = [&](const Tensor& y) {
    const DType type = pieces.is_wide ? DType::Int64 : DType::Int32;
    return shifted(y.cast(type) * u.cast(type), pieces.width).cast(DType::Int32);
  };
  Tensor y;
  for (std::size_t k = pieces.coefficients.size(); k-- > 0;) {
    std::vector<std::int64_t> row = pieces.coefficients[k];
    row.resize(kBytes, row.back());
    const auto [least, most] = std::ranges::minmax(row);
    const DType type = least >= int_min(DType::Int16) && most <= int_max(DType::Int16) ? DType::Int16 : DType::Int32;
    const Tensor c = read_table(Tensor::constant(graph_, Array::of_ints(type, {kBytes}, row)), piece).cast(DType::Int32);
    y = y ? c + scaled(y) : c;
  }
  return shifted(y, pieces.places).clip(static_cast<double>(pieces.low), static_cast<double>(pieces.high));
}

}  // namespace etch
