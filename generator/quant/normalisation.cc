#include "quant/normalisation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "lazy/graph.h"
#include "quant/collapse.h"
#include "quant/variance.h"

namespace etch {
namespace {

constexpr double kLargestWhole = 2147483647;
constexpr int kWidePlaces = 62;                    // W < 2^62, so that twice as much is no overflow
constexpr int kRootPlaces = 30;                    // binary places of a reciprocal root of numbers from 1 to 4
constexpr int kLeastPlaces = 10;                   // of a result before it is rounded
constexpr std::size_t kMostSteps = 16;             // from z to the quantisation
constexpr std::int64_t kMostParameters = 1 << 16;  // elements of the scale, and of the bias
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor wide(const Tensor& v) { return v.cast(DType::Int64); }
Tensor narrow(const Tensor& v) { return v.cast(DType::Int32); }
/// The product of two int32, without its last `places`.
Tensor product(const Tensor& a, const Tensor& b, int places) { return narrow(shifted(wide(a) * wide(b), places)); }
Tensor product(const Tensor& a, double b, int places) { return product(a, number_like(a, std::llrint(b)), places); }

/// op(x, number), with a positive number.
struct BesideNumber {
  const LazyBuffer* x = nullptr;
  double number = 0;
};
std::optional<BesideNumber> beside_number(LazyGraph& graph, const LazyBuffer* b, Op op) {
  if (!b->is_base() || !is_op(b, op)) return std::nullopt;
  for (const std::size_t k : {0, 1}) {
    const std::optional<double> number = k == 0 || op != Op::Div ? number_of(graph, b->src[1 - k]) : std::nullopt;
    if (number && *number > 0 && std::isfinite(*number)) return BesideNumber{b->src[k], *number};
  }
  return std::nullopt;
}

/// z of normalisation.h.
struct Normalisation {
  const LazyBuffer* whole = nullptr;
  Tensor v = {};  // int32, of the shape of z
  std::vector<int> axes;
  bool is_centred = false;  // else the mean counts as 0
  IntegerBounds bounds;     // of v
  std::int64_t count = 0;   // n
  double epsilon = 0;       // E
  double factor = 1;        // z is d / sqrt(V + E) times this, which is nearly 1
};

/// sqrt(variance + epsilon) in `deviation`, of which `x` is the distance from the mean.
std::optional<Normalisation> normalisation_by(LazyGraph& graph, FormFinder& forms, const LazyBuffer* x, const LazyBuffer* deviation) {
  if (!deviation->is_base() || !is_op(deviation, Op::Sqrt)) return std::nullopt;
  const auto with_epsilon = beside_number(graph, deviation->src[0], Op::Add);
  if (!with_epsilon) return std::nullopt;
  const auto quotient = beside_number(graph, with_epsilon->x, Op::Div), times = beside_number(graph, with_epsilon->x, Op::Mul);
  if (!quotient && !times) return std::nullopt;
  const LazyBuffer* sum = quotient ? quotient->x : times->x;
  const double part = quotient ? 1 / quotient->number : times->number;
  if (!is_op(sum, Op::ReduceSum) || !sum->is_base() || sum->scan) return std::nullopt;
  const LazyBuffer* square = sum->src[0];
  if (!square->is_base() || !is_op(square, Op::Mul) || square->src[0] != x || square->src[1] != x) return std::nullopt;
  const std::optional<Distances> distances = distances_of(graph, forms, x, sum->axes);
  if (!distances) return std::nullopt;
  const IntegerForm& form = *distances->form;
  Normalisation n{.axes = sum->axes, .is_centred = static_cast<bool>(distances->sums), .bounds = form.bounds, .count = distances->count};
  // What all elements are moved by does not matter where their mean is taken off.
  const bool is_stored = n.is_centred && form.stored;
  n.v = is_stored ? narrow(form.stored) : form.value;
  if (is_stored) n.bounds = {form.bounds.low + form.zero, form.bounds.high + form.zero};
  const auto count = static_cast<double>(n.count);
  n.epsilon = with_epsilon->number * count / (distances->scale * distances->scale * part);
  n.factor = 1 / std::sqrt(part * count);
  return n;
}

std::optional<Normalisation> normalisation_of(LazyGraph& graph, FormFinder& forms, const LazyBuffer* z) {
  if (!z->is_base() || z->dtype != DType::Float32) return std::nullopt;
  const auto repeated = [&](const LazyBuffer* b, const Normalisation& n) { return repeats_along(graph, b, n.axes); };
  std::optional<Normalisation> found;
  if (is_op(z, Op::Div)) {
    found = normalisation_by(graph, forms, z->src[0], z->src[1]->base);
    if (!found || !repeated(z->src[1], *found)) return std::nullopt;
  } else if (is_op(z, Op::Mul)) {
    for (const std::size_t k : {0, 1}) {
      const LazyBuffer* inverse = z->src[1 - k]->base;
      const std::optional<double> one = is_op(inverse, Op::Div) ? number_of(graph, inverse->src[0]) : std::nullopt;
      if (found || !one || *one != 1) continue;
      found = normalisation_by(graph, forms, z->src[k], inverse->src[1]);
      if (found && !repeated(z->src[1 - k], *found)) found.reset();
    }
  }
  if (found) found->whole = z;
  return found;
}

/// A result z * scale + bias between two bounds. Of the constants an axis along which one is the same has size 1.
struct Affine {
  Normalisation z;
  ShapeTracker seen;    // z in the shape of the result
  Tensor scale, bias;   // in float64
  Tensor at_zero = {};  // of z; in float32, each step rounded, of the bias's shape
  double low = -kInfinity, high = kInfinity;
};

/// Finds what is computed from z to a result, from the result down.
class AffineFinder {
 public:
  AffineFinder(LazyGraph& graph, FormFinder& forms, const LazyBuffer* result)
      : graph_(graph), forms_(forms), at_(result), seen_(ShapeTracker::from_shape(result->shape())), rank_(result->shape().size()) {}

  std::optional<Affine> find() {
    while (take_bound()) continue;
    while (steps_.size() <= kMostSteps) {
      while (!at_->is_base()) {
        if (is_masked(at_->st)) return std::nullopt;
        seen_ = graph_.stacked(at_->st, seen_);
        at_ = at_->base;
      }
      if (std::optional<Normalisation> z = normalisation_of(graph_, forms_, at_)) return affine(std::move(*z));
      if (!take_step()) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  struct Step {
    Op op{};
    Tensor constant = {};  // as the result sees it; empty for Neg
    bool is_first = false;
  };

  /// max(x, low) or min(x, high), the outermost.
  bool take_bound() {
    if (!at_->is_base() || !(is_op(at_, Op::Max) || is_op(at_, Op::Min))) return false;
    for (const std::size_t k : {0, 1}) {
      const std::optional<double> c = number_of(graph_, at_->src[k]);
      if (!c || std::isnan(*c)) continue;
      const auto apply = [&](double v) { return at_->op == Op::Max ? std::max(v, *c) : std::min(v, *c); };
      low_ = std::clamp(apply(-kInfinity), low_, high_);
      high_ = std::clamp(apply(kInfinity), low_, high_);
      at_ = at_->src[1 - k];
      return true;
    }
    return false;
  }

  bool take_step() {
    if (is_op(at_, Op::Neg)) {
      steps_.push_back({Op::Neg});
      at_ = at_->src[0];
      return true;
    }
    if (!is_op(at_, Op::Add) && !is_op(at_, Op::Sub) && !is_op(at_, Op::Mul) && !is_op(at_, Op::Div)) return false;
    const std::size_t k = at_->src[1]->base->constant ? 1 : 0;
    const LazyBuffer* c = at_->src[k];
    if (!c->base->constant || is_masked(c->st) || (k == 0 && at_->op == Op::Div)) return false;
    steps_.push_back({at_->op, collapsed({&graph_, graph_.view(c, graph_.stacked(c->st, seen_))}), k == 0});
    at_ = at_->src[1 - k];
    return true;
  }

  std::optional<Affine> affine(Normalisation z) const {
    std::int64_t most = 1;
    for (const Step& step : steps_) {
      const Sint size = step.constant ? step.constant.size() : Sint(1);
      if (!size.is_int() || size.as_int() > kMostParameters) return std::nullopt;
      most = std::max(most, size.as_int());
    }
    const Tensor none = Tensor::full(graph_, Shape(rank_, Sint(1)), Scalar::of_double(DType::Float64, 0));
    Tensor scale = none + 1, bias = none, at_zero = none.cast(DType::Float32);
    for (auto step = steps_.rbegin(); step != steps_.rend(); step++) {
      at_zero = with(*step, at_zero, step->constant);
      const Tensor c = step->constant ? step->constant.cast(DType::Float64) : Tensor();
      bias = with(*step, bias, c);
      if (step->op == Op::Mul || step->op == Op::Div) scale = with(*step, scale, c);
      if (step->op == Op::Neg || (step->op == Op::Sub && step->is_first)) scale = -scale;
    }
    bias = bias + scale * 0;  // of the same shape
    const std::int64_t size = bias.size().as_int();
    // Constants of several axes would take more memory together.
    if (size > most) return std::nullopt;
    return Affine{std::move(z), seen_, scale, bias, at_zero.expand(bias.shape()), low_, high_};
  }

  static Tensor with(const Step& step, const Tensor& v, const Tensor& c) {
    if (step.op == Op::Neg) return -v;
    return step.is_first ? Tensor::binary(step.op, c, v) : Tensor::binary(step.op, v, c);
  }

  LazyGraph& graph_;
  FormFinder& forms_;
  const LazyBuffer* at_;
  ShapeTracker seen_;
  std::size_t rank_;
  std::vector<Step> steps_;
  double low_ = -kInfinity, high_ = kInfinity;
};

/// 2^30 / sqrt(w / 2^60) of w = v * 2^(2 * places) in [2^60, 2^62), v positive.
struct ReciprocalRoot {
  Tensor value, places;  // int32
};

ReciprocalRoot reciprocal_root(const Tensor& v, double least) {
  ReciprocalRoot root;
  Tensor w = v;
  for (const int by : {32, 16, 8, 4, 2}) {
    if (least >= std::ldexp(1, kWidePlaces - by)) continue;
    const Tensor is_less = w < number_like(w, std::int64_t{1} << (kWidePlaces - by));
    const Tensor places = is_less.where(number_like(narrow(v), by / 2), number_like(narrow(v), 0));
    w = is_less.where(Tensor::binary(Op::Shl, w, number_like(w, by)), w);
    root.places = root.places ? root.places + places : places;
  }
  if (!root.places) root.places = number_like(narrow(v), 0);
  const Tensor m = narrow(shifted(w, 31));  // from 1 to 4, with 29 places
  // The polynomial of degree 2 that is nearest to 1 / sqrt(m) there, relatively: off by 0.024. Each step of Newton's method squares that,
  // times 1.5: 8.7e-4, 1.1e-6, 1.9e-12.
  constexpr double kPolynomial[] = {1.3354208, 0.41067138, 0.05120546};
  const auto in_places = [](double c) { return std::llrint(std::ldexp(c, kRootPlaces)); };
  const Tensor slope = product(m, std::ldexp(kPolynomial[2], kRootPlaces), 29) - number_like(m, in_places(kPolynomial[1]));
  Tensor r = product(m, slope, 29) + number_like(m, in_places(kPolynomial[0]));
  for (int step = 0; step < 3; step++)
    r = product(r, number_like(m, in_places(1.5)) - product(m, product(r, r, kRootPlaces), kRootPlaces), kRootPlaces);
  root.value = r;
  return root;
}

/// z of int32, and the binary places that it has.
struct Normal {
  Tensor z;
  int places = 0;
  double most = 0;  // of |z|
};

std::optional<Normal> normal_of(LazyGraph& graph, const Normalisation& n) {
  const auto count = static_cast<double>(n.count);
  const double low = static_cast<double>(n.bounds.low), high = static_cast<double>(n.bounds.high);
  const double most = std::max(std::abs(low), std::abs(high));
  if (count * most > kLargestWhole / 2) return std::nullopt;  // n * v - sum(v)
  int c = 0;                                                  // |z| is less than 2^c
  while (std::ldexp(1, 2 * c) <= count) c++;
  const double largest = count * count * (n.is_centred ? (high - low) * (high - low) / 4 : most * most) + n.epsilon;
  // Binary places of V + E: many, so that E is not rounded much.
  const int places = (kWidePlaces - 1 - std::ilogb(largest)) / 2 * 2;
  const double epsilon = std::nearbyint(std::ldexp(n.epsilon, places));
  if (places < 2 * c || places >= kWidePlaces || epsilon < 1) return std::nullopt;

  const auto sum = [&](const Tensor& t) { return Tensor(&graph, graph.reduce(Op::ReduceSum, t.buffer(), n.axes)); };
  const Tensor v = most * most * count < kLargestWhole ? n.v : wide(n.v);
  const Tensor squares = wide(sum(v * v));
  Tensor spread = squares * number_like(squares, n.count), d = n.v * number_like(n.v, n.count);
  if (n.is_centred) {
    const Tensor total = sum(n.v);
    spread = spread - wide(total) * wide(total);
    d = d - total.expand(d.shape());
  }
  const Tensor scaled = Tensor::binary(Op::Shl, spread, number_like(spread, places)) + number_like(spread, std::llrint(epsilon));
  const ReciprocalRoot root = reciprocal_root(scaled, epsilon);
  const Tensor shift = root.places + number_like(root.places, places / 2 - c);
  const Tensor z = product(Tensor::binary(Op::Shl, d, shift.expand(d.shape())), root.value.expand(d.shape()), kRootPlaces);
  return Normal{z, kRootPlaces - c, std::ldexp(1, c)};
}

/// The largest magnitude; infinity if one is not finite.
double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::isfinite(v) ? std::max(most, std::abs(v)) : kInfinity;
  return most;
}

Tensor of_ints(LazyGraph& graph, const Shape& shape, const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sizes;
  for (const Sint& d : shape) sizes.push_back(d.as_int());
  if (values.size() == 1) return Tensor::full(graph, shape, Scalar::of_int(DType::Int32, values[0]));
  return Tensor::constant(graph, Array::of_ints(DType::Int32, sizes, values));
}

std::int64_t quantised(double real, double scale, std::int64_t zero, DType dtype) {
  const IntegerBounds type = bounds_of_type(dtype);
  const double rounded = std::nearbyint(static_cast<double>(static_cast<float>(real) / static_cast<float>(scale)));
  return std::llrint(std::clamp(rounded + static_cast<double>(zero), static_cast<double>(type.low), static_cast<double>(type.high)));
}

/// The parameters of a result (z * scale + bias) / divisor + zero point, rounded: (((z * scale) >> shift) + bias) >> places.
struct Parameters {
  Tensor scale, bias;
  int shift = 0, places = 0;
};

std::optional<Parameters> parameters_of(LazyGraph& graph, const Affine& a, const Normal& normal, double divisor, std::int64_t zero) {
  const auto values = [](const Tensor& t) { return t.evaluate()->doubles(); };
  const Tensor scale = a.scale * (a.z.factor / divisor), bias = a.bias / divisor + static_cast<double>(zero);
  const std::vector<double> scales = values(scale), biases = values(bias), slopes = values(scale.expand(bias.shape()));
  const std::vector<double> at_zero =
      values(a.at_zero / Tensor::full(graph, a.at_zero.shape(), Scalar::of_double(DType::Float32, divisor)));
  const double most_scale = largest_of(scales), most_bias = largest_of(biases);
  if (!(most_scale > 0 && most_scale < kInfinity && most_bias < kInfinity && largest_of(at_zero) < kInfinity)) return std::nullopt;
  Parameters p;
  const int scale_places = 30 - std::ilogb(most_scale);
  p.places = 29 - std::max(std::ilogb(normal.most * most_scale + most_bias + 1), 0);
  p.shift = normal.places + scale_places - p.places;
  if (p.places < kLeastPlaces || p.shift < 0 || p.shift >= kWidePlaces) return std::nullopt;
  std::vector<std::int64_t> of_scale, of_bias;
  for (const double s : scales) of_scale.push_back(std::llrint(std::clamp(std::ldexp(s, scale_places), -kLargestWhole, kLargestWhole)));
  for (std::size_t i = 0; i < biases.size(); i++) {
    // A half, to round; half a place of z and of the product, which are rounded down.
    const double halves = 0.5 + std::ldexp(slopes[i], -normal.places - 1) + std::ldexp(0.5, -p.places);
    const std::int64_t rounded = std::llrint(std::ldexp(biases[i] + halves, p.places));
    // Where all elements of a sum are the same z is 0 and the result known, ties included.
    const std::int64_t known = std::llrint(std::nearbyint(at_zero[i]) + static_cast<double>(zero)), one = std::int64_t{1} << p.places;
    if (std::abs(biases[i] - static_cast<double>(known)) > 1) return std::nullopt;  // float32 tells no more
    of_bias.push_back(std::clamp(rounded, known * one, known * one + one - 1));
  }
  p.scale = of_ints(graph, scale.shape(), of_scale);
  p.bias = of_ints(graph, bias.shape(), of_bias);
  return p;
}

}  // namespace

std::optional<Tensor> quantised_normalisation(LazyGraph& graph, FormFinder& forms, const Quantisation& q, const Tensor& zero) {
  if (!q.x->is_base() || !is_op(q.x, Op::Div) || is_masked(q.x->src[0]->st)) return std::nullopt;
  const std::optional<Tensor> divisor = forms.scale_of(q.x->src[1]);
  const Scalar* point = const_value(zero.buffer());
  if (!divisor || !divisor->size().is_int(1) || point == nullptr) return std::nullopt;
  const std::optional<Affine> affine = AffineFinder(graph, forms, q.x->src[0]).find();
  if (!affine) return std::nullopt;
  const OriginScope scope(graph, affine->z.whole->origins);
  const double scale = divisor->evaluate()->double_at(0);
  const std::int64_t zero_point = point->as_int();
  const std::optional<Normal> normal = normal_of(graph, affine->z);
  if (!normal) return std::nullopt;
  const std::optional<Parameters> p = parameters_of(graph, *affine, *normal, scale, zero_point);
  if (!p) return std::nullopt;
  const Tensor z(&graph, graph.view(normal->z.buffer(), graph.stacked(normal->z.buffer()->st, affine->seen)));
  const Tensor y = product(z, p->scale.expand(z.shape()), p->shift) + p->bias.expand(z.shape());
  const auto bound = [&](double real) { return static_cast<double>(quantised(real, scale, zero_point, q.dtype)); };
  return shifted(y, p->places).clip(bound(affine->low), bound(affine->high)).cast(q.dtype);
}

}  // namespace etch
