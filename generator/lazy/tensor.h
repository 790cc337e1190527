// Tensor: the interface with which importers and people write networks. A Tensor is a handle to a LazyBuffer of a LazyGraph; every
// method adds to the graph and computes nothing. Shapes may hold Variables (Sint). Operands broadcast as in numpy and
// promote as in tinygrad (least_upper_dtype; C++ numbers are weak: they take the tensor's type).
// A call that can't be right (shapes that do not broadcast, a bad axis) throws ShapeError, which callers turn into a UserError
// that names the node.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ir/array.h"
#include "ir/dtype.h"
#include "ir/op.h"
#include "shape/shapetracker.h"

namespace etch {

class LazyGraph;
struct LazyBuffer;
struct ExternalKernel;

/// A Tensor method was called with shapes, axes or types that do not fit; the text says what was found and what is accepted.
class ShapeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<Sint>;
using Padding = std::vector<std::pair<Sint, Sint>>;  // (before, after) per axis

/// Window parameters of convolution and pooling over the last `kernel.size()` axes.
struct Window {
  std::vector<std::int64_t> kernel = {};
  std::vector<std::int64_t> stride = {};    // empty: 1 each
  std::vector<std::int64_t> dilation = {};  // empty: 1 each
  Padding pads = {};                        // empty: 0 each; may be asymmetric and negative, and depend on open sizes
  bool ceil = false;                        // pooling: round the output size up
};

class Tensor;
class Tape;

/// Whether gradients of a tensor are wanted. Of what is computed: Yes if one of the operands is, No if all of them are.
enum class RequiresGrad : std::uint8_t { Unset, No, Yes };

/// While it lives, what is computed from tensors that require a gradient requires none.
class NoGrad {
 public:
  explicit NoGrad(LazyGraph& graph);
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  LazyGraph& graph_;
  bool before_;
};

/// What one turn of a loop computes: the carried values for the next turn, and the elements that it adds to lists.
struct LoopTurn {
  std::vector<Tensor> carried, listed;
};

/// The results of a loop: the carried values after the last turn, and the lists, each with one axis more in front, the turns.
using LoopResults = LoopTurn;

class Tensor {
 public:
  Tensor() = default;
  Tensor(LazyGraph* graph, const LazyBuffer* buffer) : graph_(graph), buffer_(buffer) {}

  // --- facts
  const Shape& shape() const;
  int rank() const { return static_cast<int>(shape().size()); }
  /// Size of `axis`; negative counts from the end.
  Sint dim(int axis) const;
  DType dtype() const;
  /// Product of the shape.
  Sint size() const;
  LazyGraph& graph() const { return *graph_; }
  const LazyBuffer* buffer() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  /// The values, if they depend on constants alone (computed by interp, cached in the graph); nullopt if an input is involved.
  std::optional<Array> evaluate() const;

  // --- creation
  static Tensor input(LazyGraph& graph, const std::string& name, DType dtype, Shape shape);
  /// Memory that outlives a run (see StateSpec), of sizes that are numbers. The first run finds `first` in it, or 0 where that is empty.
  static Tensor state(LazyGraph& graph, const std::string& name, DType dtype, Shape shape, Array first = {});
  /// A constant with data; `name` is what the emitted weights call it (may be empty).
  static Tensor constant(LazyGraph& graph, Array data, const std::string& name = "");
  /// One value everywhere; takes no memory.
  static Tensor full(LazyGraph& graph, Shape shape, Scalar value);
  Tensor full_like(double value) const;
  /// start, start + step, ... (n values); takes no memory (Op::Index).
  static Tensor arange(LazyGraph& graph, Sint n, DType dtype, Scalar start, Scalar step);
  /// 0, 1, ... n-1
  static Tensor arange(LazyGraph& graph, Sint n, DType dtype = DType::Int64);
  /// What a function in C computes of `inputs`: its outputs, see LazyGraph::external. ShapeError if an input or an output is empty.
  static std::vector<Tensor> external(LazyGraph& graph, const std::shared_ptr<const ExternalKernel>& function,
                                      const std::vector<Tensor>& inputs);
  /// `n` as a tensor of rank 0: a constant, or computed when the program runs if `n` holds a Variable.
  static Tensor size_value(LazyGraph& graph, Sint n, DType dtype = DType::Int64);
  static Tensor eye(LazyGraph& graph, Sint rows, Sint columns, DType dtype, std::int64_t diagonal = 0);
  /// Threefry-2x32, 20 rounds: two random words of each pair of counters, for a key of two words; all uint32.
  static std::pair<Tensor, Tensor> threefry(const Tensor& key0, const Tensor& key1, const Tensor& counter0, const Tensor& counter1);
  /// Random numbers of [0, 1), each value of the type's precision equally likely: those of `counter`, `counter` + 1, ... of the sequence
  /// `key`. Both are uint32 [2], the lower word first.
  static Tensor uniform(LazyGraph& graph, const Shape& shape, DType dtype, const Tensor& key, const Tensor& counter);

  // --- gradients (tinygrad's autodiff). What is computed from memory that requires a gradient is noted on the graph's tape.
  RequiresGrad requires_grad() const;
  /// Says so of memory: an input, a state, a tensor that a session realized. Every Tensor of that memory knows it from then on. Returns
  /// the tensor; ShapeError for others, and for types that are not float.
  const Tensor& requires_grad(bool required) const;
  /// The same values, of which no gradient goes further back.
  Tensor detach() const;
  /// The same values, of which gradients can be wanted whatever they were computed from: also of constants. ShapeError if it is not float.
  Tensor watched() const;
  /// Adds the gradients of this scalar to grad() of all memory that requires one and that it was computed from. ShapeError if there is
  /// none, or if a function on the way has no gradient.
  void backward() const;
  /// The gradient of this memory, a tensor of its shape and type; empty if backward() found none.
  Tensor grad() const;
  void zero_grad() const;
  /// The gradients of `wanted` (memory, or anything on the way), each of its shape and type: the sum over `of` of the derivatives of
  /// of[k], multiplied by seeds[k] (1 for scalars). Empty for one that they were not computed from. They have gradients themselves.
  static std::vector<Tensor> gradients(const std::vector<Tensor>& of, const std::vector<Tensor>& wanted, std::vector<Tensor> seeds = {});

  // --- movement (free: only the ShapeTracker changes)
  Tensor reshape(Shape shape) const;  // at most one -1
  Tensor permute(std::vector<int> axes) const;
  Tensor transpose(int a = -2, int b = -1) const;
  Tensor expand(Shape shape) const;                  // new axes in front allowed
  Tensor pad(Padding pads, double value = 0) const;  // negative amounts shrink
  /// The same with a value of the tensor's type, which an integer of 64 bits needs.
  Tensor pad(Padding pads, Scalar value) const;
  Tensor shrink(Padding ranges) const;  // [begin, end) per axis
  Tensor flip(std::vector<int> axes) const;
  /// Every step-th element per axis, negative steps go backwards from the end.
  Tensor stride(std::vector<std::int64_t> steps) const;
  /// numpy's x[start:end:step] along one axis, with numpy's clamping of out-of-range and negative bounds.
  Tensor slice(int axis, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  /// Element `position` along `axis`, which goes away: 0 <= position < dim(axis), proved for every value of its variables.
  Tensor at(int axis, Sint position) const;
  /// Element (i, j, ...) is number offset + i * strides[0] + j * strides[1] + ... of this tensor's elements in row-major order. ShapeError
  /// unless every one of them is proved to be there.
  Tensor as_strided(Shape shape, const std::vector<std::int64_t>& strides, Sint offset = 0) const;
  Tensor squeeze(std::vector<int> axes) const;
  Tensor unsqueeze(int axis) const;
  Tensor flatten(int start = 0, int end = -1) const;
  Tensor repeat(std::vector<std::int64_t> times) const;
  static Tensor cat(const std::vector<Tensor>& tensors, int axis);
  static Tensor stack(const std::vector<Tensor>& tensors, int axis);
  std::vector<Tensor> split(int axis, const std::vector<std::int64_t>& sizes) const;

  /// `count` turns, one after the other. `body` is called once, with the number of the turn (0 to count - 1, a Variable unless count is 1)
  /// and what is carried into it; shapes and types of carried values stay those of `first`. Nothing fuses across the edges of the loop.
  /// If gradients are noted, `body` is kept and called again for them: it holds what it uses.
  static LoopResults loop(LazyGraph& graph, Sint count, const std::vector<Tensor>& first,
                          const std::function<LoopTurn(Sint turn, const std::vector<Tensor>& carried)>& body);

  // --- types and realisation
  /// The values in another type: floats truncate to integers, integers wrap around, anything but 0 is true.
  Tensor cast(DType dtype) const;
  /// The bits as another type of the same size.
  Tensor bitcast(DType dtype) const;
  /// Asks the scheduler to store this in memory.
  Tensor contiguous() const;
  /// Asks it to store its gradient.
  Tensor contiguous_backward() const;

  // --- elementwise: results have the tensor's shape. Mathematical functions and activations compute in the tensor's float type;
  // integers and bool become float32 first. A number (alpha, slope, bound) is rounded to the type.
  /// Any unary row of ops.def but Cast, Bitcast; a float op on an integer tensor converts it to float32 first.
  Tensor unary(Op op) const;
  Tensor neg() const;  // of bool: not
  /// In bool: true where the value is 0.
  Tensor logical_not() const;
  /// Every bit inverted; ShapeError for floats.
  Tensor bitwise_not() const;
  Tensor exp() const { return unary(Op::Exp); }
  Tensor exp2() const { return unary(Op::Exp2); }
  Tensor log() const { return unary(Op::Log); }
  Tensor log2() const { return unary(Op::Log2); }
  Tensor exp_nonpos() const { return unary(Op::ExpNonPos); }  // of values of at most 0
  Tensor expm1() const { return unary(Op::Expm1); }           // exp(x) - 1
  Tensor log1p() const { return unary(Op::Log1p); }           // log(1 + x)
  Tensor sqrt() const { return unary(Op::Sqrt); }
  Tensor sin() const { return unary(Op::Sin); }
  Tensor cos() const { return unary(Op::Cos); }
  Tensor tanh() const { return unary(Op::Tanh); }
  Tensor erf() const { return unary(Op::Erf); }
  Tensor floor() const { return unary(Op::Floor); }
  Tensor ceil() const { return unary(Op::Ceil); }
  Tensor reciprocal() const;                                                 // 1 / x
  Tensor abs() const;                                                        // in its own type; of the smallest integer, itself
  Tensor sign() const;                                                       // -1, 0 or 1 in its own type; of NaN, NaN
  Tensor square() const;                                                     // x * x in its own type, as the next one
  Tensor relu() const;                                                       // max(x, 0)
  Tensor sigmoid() const;                                                    // 1 / (1 + exp(-x))
  Tensor clip(std::optional<double> low, std::optional<double> high) const;  // in its own type; high wins where they cross
  Tensor leaky_relu(double slope) const;                                     // x below 0 times slope
  Tensor elu(double alpha) const;                                            // alpha * (exp(x) - 1) below 0
  Tensor selu() const;                                                       // elu with the constants of its paper
  Tensor celu(double alpha) const;                                           // alpha * (exp(x / alpha) - 1) below 0
  Tensor gelu(bool tanh_form) const;                                         // x * normal distribution, or its form with tanh
  Tensor silu() const;                                                       // x * sigmoid
  Tensor hardswish() const;                                                  // x * clip(x / 6 + 0.5, 0, 1)
  Tensor hardsigmoid(double alpha, double beta) const;                       // clip(alpha * x + beta, 0, 1)
  Tensor softplus() const;                                                   // log(1 + exp(x)), without overflow
  Tensor softsign() const;                                                   // x / (1 + |x|)
  Tensor mish() const;                                                       // x * tanh(softplus)

  /// Any binary row of ops.def, after broadcasting and promotion to the least type that holds both (int8 and uint8: int16; an
  /// integer and a float: the float). ShapeError if the shapes do not broadcast or the operation does not exist for the type.
  static Tensor binary(Op op, const Tensor& a, const Tensor& b);
  Tensor operator+(const Tensor& b) const { return binary(Op::Add, *this, b); }
  Tensor operator-(const Tensor& b) const { return binary(Op::Sub, *this, b); }
  Tensor operator*(const Tensor& b) const { return binary(Op::Mul, *this, b); }
  Tensor operator/(const Tensor& b) const { return binary(Op::Div, *this, b); }
  Tensor operator<(const Tensor& b) const { return binary(Op::CmpLt, *this, b); }
  Tensor operator+(double b) const { return *this + full_like(b); }
  Tensor operator-(double b) const { return *this - full_like(b); }
  Tensor operator*(double b) const { return *this * full_like(b); }
  Tensor operator/(double b) const { return *this / full_like(b); }
  Tensor operator<(double b) const { return *this < full_like(b); }
  Tensor operator-() const { return neg(); }
  Tensor equal(const Tensor& b) const { return binary(Op::CmpEq, *this, b); }
  Tensor maximum(const Tensor& b) const { return binary(Op::Max, *this, b); }
  Tensor minimum(const Tensor& b) const { return binary(Op::Min, *this, b); }
  Tensor pow(const Tensor& b) const { return binary(Op::Pow, *this, b); }
  /// this (bool) ? a : b
  Tensor where(const Tensor& a, const Tensor& b) const;

  // --- reductions: `axes` empty means all; negative ones count from the end, none may stand twice (ShapeError). Without keepdim the
  // reduced axes vanish, with it they stay with size 1.
  Tensor reduce(Op op, std::vector<int> axes, bool keepdim) const;     // in the tensor's own type
  Tensor sum(std::vector<int> axes = {}, bool keepdim = false) const;  // accumulates in sum_dtype; float16/bfloat16 cast back
  Tensor max(std::vector<int> axes = {}, bool keepdim = false) const { return reduce(Op::ReduceMax, std::move(axes), keepdim); }
  Tensor min(std::vector<int> axes = {}, bool keepdim = false) const { return reduce(Op::ReduceMin, std::move(axes), keepdim); }
  Tensor prod(std::vector<int> axes = {}, bool keepdim = false) const { return reduce(Op::ReduceProd, std::move(axes), keepdim); }
  /// Summed in float32 (float64 for float64) and cast back; integers and bool give float32.
  Tensor mean(std::vector<int> axes = {}, bool keepdim = false) const;
  /// Mean square distance from the mean, in the types of mean; the divisor is the count minus `correction`.
  Tensor variance(std::vector<int> axes = {}, bool keepdim = false, int correction = 0) const;
  /// int64 position of the largest (first of equals, or last if asked); a NaN counts as largest. ShapeError for an empty axis.
  Tensor argmax(int axis, bool keepdim, bool last = false) const;
  /// The same of the smallest; a NaN counts as smallest.
  Tensor argmin(int axis, bool keepdim, bool last = false) const;
  /// exp(x) divided by its sum over the axis or axes, computed from x - max in float32 (float64 for float64) and cast back.
  Tensor softmax(int axis) const;
  Tensor softmax(std::vector<int> axes) const;
  /// The logarithm of softmax, without taking the logarithm of a small number.
  Tensor log_softmax(int axis) const;
  Tensor log_softmax(std::vector<int> axes) const;
  /// Sums up to each element (exclusive: before it; reverse: from it on), in the tensor's type. ShapeError for a variable axis.
  Tensor cumsum(int axis, bool exclusive = false, bool reverse = false) const;

  // --- products, windows
  /// numpy.matmul: batched, broadcasting, 1-d operands too.
  Tensor matmul(const Tensor& b) const;
  static Tensor einsum(const std::string& equation, const std::vector<Tensor>& operands);
  /// this [N,C,d...], weight [M,C/groups,k...], bias [M] or empty.
  Tensor conv(const Tensor& weight, const Tensor& bias, const Window& window, std::int64_t groups = 1) const;
  /// weight [C,M/groups,k...]; output_pads add to the far end.
  Tensor conv_transpose(const Tensor& weight, const Tensor& bias, const Window& window, const std::vector<std::int64_t>& output_pads,
                        std::int64_t groups = 1) const;
  /// stride - 1 zeros between the elements of an axis that is not empty: d -> (d - 1) * stride + 1.
  Tensor spread(int axis, std::int64_t stride) const;
  /// [N,C,d...] -> [N,C,o...,k...]: all windows; padded with `pad_value`.
  Tensor windows(const Window& window, double pad_value) const;
  /// The same over the last kernel.size() axes, without padding: [.., d...] -> [.., o..., k...]. A view, so free.
  Tensor last_windows(const std::vector<std::int64_t>& kernel, const std::vector<std::int64_t>& stride,
                      const std::vector<std::int64_t>& dilation) const;
  /// Pooling of [N,C,d...]. Padding is never the maximum, counts in the average only with count_include_pad, and is 0 for lp_pool (the
  /// p-th root of the sum of |x|^p).
  Tensor max_pool(const Window& window) const;
  Tensor average_pool(const Window& window, bool count_include_pad) const;
  Tensor lp_pool(const Window& window, std::int64_t p) const;
  Tensor linear(const Tensor& weight, const Tensor& bias) const;  // this [.., K] x weight [K, M] + bias
  /// Per channel (axis 1) scale, bias, mean, variance.
  Tensor batchnorm(const Tensor& scale, const Tensor& bias, const Tensor& mean, const Tensor& variance, double epsilon) const;
  /// Over the axes from `axis` on, no scale.
  Tensor layernorm(int axis, double epsilon) const;

  // --- indexing
  /// The elements whose positions along axes `a` and `b` (of one size) are equal, as a new last axis.
  Tensor diagonal(int a, int b) const;
  /// ONNX Gather: the slices along `axis` at `index` (any integer type and shape; negative counts from the end).
  Tensor gather(int axis, const Tensor& index) const;
  /// ONNX GatherElements.
  Tensor gather_elements(int axis, const Tensor& index) const;
  /// 1 where arange(depth) == this along a new last axis, else 0, in bool.
  Tensor one_hot(Sint depth) const;
  /// The last two axes with 0 below (triu) or above (tril) the diagonal; a positive `diagonal` is one further up, any number is
  /// accepted. ShapeError below rank 2.
  Tensor triu(std::int64_t diagonal = 0) const;
  Tensor tril(std::int64_t diagonal = 0) const;

 private:
  friend class Tape;
  LazyGraph* graph_ = nullptr;
  const LazyBuffer* buffer_ = nullptr;
  int place_ = -1;  // on the graph's tape, see Tape; -1: nowhere
};

}  // namespace etch
