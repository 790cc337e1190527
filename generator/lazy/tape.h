// The tape: which function was applied to which tensors, for all tensors whose gradients are wanted, in the order in which they were
// traced. Tensor::gradients() walks it backwards. A graph has one tape, which keeps its notes as long as the graph keeps its buffers.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lazy/tensor.h"

namespace etch {

/// One application of a function.
struct TapeNote {
  std::string_view function;  // "Mul", "Conv"
  std::vector<Tensor> operands, results;
  /// Empty: it has no gradient. Else, from the gradients of the results (empty: nothing depends on that one) those of the operands that are
  /// wanted. An empty one is 0 everywhere.
  std::function<std::vector<Tensor>(const TapeNote& note, const std::vector<Tensor>& gradients, const std::vector<bool>& wanted)> backward;
  std::vector<std::string> origins = {};  // the ONNX nodes that were being traced
};

/// Throws a ShapeError: its gradient is wanted, and is not defined.
[[noreturn]] void refuse_gradient(const TapeNote& note);

class Tape {
 public:
  RequiresGrad requires_grad(const Tensor& t) const;
  /// What a result of these operands is: Yes if one of them is and notes are taken, No if all of them are No.
  RequiresGrad of_result(const std::vector<Tensor>& operands) const;
  void set_requires_grad(const Tensor& memory, bool required);
  Tensor grad(const Tensor& memory) const;
  void set_grad(const Tensor& memory, const Tensor& grad);
  /// Memory that requires a gradient, in the order in which that was said.
  std::vector<Tensor> leaves() const;

  /// False: no tensor of the graph requires a gradient.
  bool has_leaves() const { return !leaves_.empty() || !notes_.empty(); }
  /// Whether what is computed now may be asked for gradients.
  bool is_training() const { return is_recording() && has_leaves(); }

  /// The results of the note that is added.
  std::vector<Tensor> add(TapeNote note);
  /// The same of a function that has no gradient: wanting it is an error. Nothing is added where no operand requires one.
  std::vector<Tensor> add_without_gradient(std::string_view function, std::vector<Tensor> operands, std::vector<Tensor> results);
  /// Position of the note that `t` is a result of, and which result it is; {-1, 0} for memory and for what has no note.
  std::pair<int, int> place_of(const Tensor& t) const;
  const TapeNote& at(int number) const { return notes_[static_cast<std::size_t>(number)]; }
  int size() const { return static_cast<int>(notes_.size()); }
  /// `value`, which holds what `like` is: its gradient goes where that of `like` goes.
  static Tensor as_noted(Tensor value, const Tensor& like);
  /// `t` without its note: its gradient goes nowhere.
  static Tensor detached(const Tensor& t);

  /// Whether notes are taken; set_recording returns what it was before.
  bool is_recording() const { return recording_; }
  bool set_recording(bool on) { return std::exchange(recording_, on); }

 private:
  struct Leaf {
    Tensor memory;
    RequiresGrad required = RequiresGrad::Unset;
    Tensor grad = {};
  };
  const Leaf* leaf(const Tensor& t) const;

  bool recording_ = true;
  std::deque<TapeNote> notes_;
  std::vector<std::pair<int, int>> places_;  // of results, by Tensor::place_
  std::deque<Leaf> leaves_;
  std::map<const LazyBuffer*, std::size_t> leaf_numbers_;  // look-up only
};

}  // namespace etch
