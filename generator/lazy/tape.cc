#include "lazy/tape.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "lazy/graph.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

constexpr int kDetached = -2;

std::string described(const Tensor& t) { return std::string(name_of(t.dtype())) + " " + shape_text(t.shape()); }

/// The notes behind some tensors, and which of them lead to what the gradients are wanted of.
class BackwardPass {
 public:
  BackwardPass(Tape& tape, const std::vector<Tensor>& wanted) : tape_(tape), wanted_(wanted) {
    for (std::size_t k = 0; k < wanted.size(); k++) slots_.emplace(key_of(wanted[k]), k);
  }

  std::vector<Tensor> run(const std::vector<Tensor>& of, const std::vector<Tensor>& seeds) {
    collect(of);
    sums_.resize(wanted_.size());
    for (std::size_t k = 0; k < of.size(); k++) add(of[k], seeds[k]);
    for (auto it = gradients_.rbegin(); it != gradients_.rend(); it++) {
      // The map is walked from its end: a note adds only to notes before it, which are there already.
      const TapeNote& note = tape_.at(it->first);
      if (std::ranges::none_of(it->second, [](const Tensor& g) { return static_cast<bool>(g); })) continue;
      back(note, it->second);
    }
    // What was reached, but only where small changes change nothing, has the gradient 0.
    for (std::size_t k = 0; k < wanted_.size(); k++)
      if (!sums_[k] && reached_.contains(key_of(wanted_[k]))) sums_[k] = wanted_[k].full_like(0);
    return sums_;
  }

 private:
  using Key = std::pair<const LazyBuffer*, std::pair<int, int>>;  // of a result only the place: realized, it may be another buffer

  Key key_of(const Tensor& t) const {
    const auto place = tape_.place_of(t);
    return {place.first < 0 ? t.buffer() : nullptr, place};
  }

  void collect(const std::vector<Tensor>& of) {
    std::vector<Tensor> left = of;
    while (!left.empty()) {
      const Tensor t = left.back();
      left.pop_back();
      reached_.insert(key_of(t));
      const int number = tape_.place_of(t).first;
      if (number < 0 || !gradients_.try_emplace(number, tape_.at(number).results.size()).second) continue;
      for (const Tensor& operand : tape_.at(number).operands)
        if (tape_.requires_grad(operand) == RequiresGrad::Yes) left.push_back(operand);
    }
    for (const auto& [number, unused] : gradients_) {
      const auto& operands = tape_.at(number).operands;
      leads_[number] = std::ranges::any_of(operands, [&](const Tensor& t) { return leads(t); });
    }
  }

  /// Whether some wanted gradient goes through `t`.
  bool leads(const Tensor& t) const {
    if (slots_.contains(key_of(t))) return true;
    const auto found = leads_.find(tape_.place_of(t).first);
    return found != leads_.end() && found->second;
  }

  void back(const TapeNote& note, const std::vector<Tensor>& gradients) {
    std::vector<bool> wanted;
    for (const Tensor& t : note.operands) wanted.push_back(leads(t));
    if (std::ranges::find(wanted, true) == wanted.end()) return;
    if (!note.backward) refuse_gradient(note);
    // Kernels are named after what they compute: "fc1 backward".
    std::vector<std::string> origins;
    for (const std::string& origin : note.origins) origins.push_back(origin + " backward");
    const OriginScope scope(note.operands[0].graph(), std::move(origins));
    const std::vector<Tensor> back = note.backward(note, gradients, wanted);
    for (std::size_t k = 0; k < wanted.size(); k++)
      if (wanted[k] && back[k]) add(note.operands[k], back[k]);
  }

  void add(const Tensor& t, const Tensor& gradient) {
    check(gradient.shape() == t.shape() && gradient.dtype() == t.dtype(), "a gradient has the shape and type of its tensor");
    const auto into = [&](Tensor& sum) { sum = sum ? sum + gradient : gradient; };
    if (const auto slot = slots_.find(key_of(t)); slot != slots_.end()) into(sums_[slot->second]);
    const auto [number, result] = tape_.place_of(t);
    if (number >= 0) into(gradients_.at(number)[static_cast<std::size_t>(result)]);
  }

  Tape& tape_;
  const std::vector<Tensor>& wanted_;
  std::map<Key, std::size_t> slots_;  // look-up only
  std::set<Key> reached_;             // look-up only
  std::map<int, std::vector<Tensor>> gradients_;
  std::map<int, bool> leads_;
  std::vector<Tensor> sums_;
};

}  // namespace

void refuse_gradient(const TapeNote& note) {
  const std::string node = note.origins.empty() ? "" : " (node '" + note.origins[0] + "')";
  throw ShapeError("the gradient of " + std::string(note.function) + node + " is not defined");
}

const Tape::Leaf* Tape::leaf(const Tensor& t) const {
  const auto found = leaf_numbers_.find(t.buffer());
  return found == leaf_numbers_.end() ? nullptr : &leaves_[found->second];
}

RequiresGrad Tape::requires_grad(const Tensor& t) const {
  if (t.place_ == kDetached) return RequiresGrad::No;
  if (t.place_ >= 0) return RequiresGrad::Yes;
  const Leaf* known = leaf(t);
  return known == nullptr ? RequiresGrad::Unset : known->required;
}

RequiresGrad Tape::of_result(const std::vector<Tensor>& operands) const {
  bool unset = operands.empty();
  for (const Tensor& t : operands) {
    const RequiresGrad one = requires_grad(t);
    if (one == RequiresGrad::Yes && recording_) return one;
    unset = unset || one != RequiresGrad::No;
  }
  return unset ? RequiresGrad::Unset : RequiresGrad::No;
}

void Tape::set_requires_grad(const Tensor& memory, bool required) {
  const LazyBuffer* b = memory.buffer();
  if (memory.place_ != -1 || !b->is_base() || (b->kind != LazyKind::Input && b->kind != LazyKind::State && b->kind != LazyKind::Carried))
    throw ShapeError("requires_grad: of " + described(memory) +
                     ", which is computed or a constant; accepted is memory: an input, a state, what a session realized");
  if (!is_float(memory.dtype())) throw ShapeError("requires_grad: of " + described(memory) + "; accepted are floats");
  const auto [known, added] = leaf_numbers_.try_emplace(b, leaves_.size());
  if (added) leaves_.push_back({.memory = memory});
  leaves_[known->second].required = required ? RequiresGrad::Yes : RequiresGrad::No;
}

Tensor Tape::grad(const Tensor& memory) const {
  const Leaf* known = leaf(memory);
  return known == nullptr ? Tensor() : known->grad;
}

void Tape::set_grad(const Tensor& memory, const Tensor& grad) {
  const auto known = leaf_numbers_.find(memory.buffer());
  if (known != leaf_numbers_.end()) leaves_[known->second].grad = grad;
}

std::vector<Tensor> Tape::leaves() const {
  std::vector<Tensor> result;
  for (const Leaf& l : leaves_)
    if (l.required == RequiresGrad::Yes) result.push_back(l.memory);
  return result;
}

std::vector<Tensor> Tape::add(TapeNote note) {
  const int number = size();
  if (!note.results.empty()) note.origins = note.results[0].graph().origins();
  for (std::size_t slot = 0; slot < note.results.size(); slot++) {
    if (!is_float(note.results[slot].dtype())) continue;
    note.results[slot].place_ = static_cast<int>(places_.size());
    places_.emplace_back(number, static_cast<int>(slot));
  }
  notes_.push_back(std::move(note));
  return notes_.back().results;
}

Tensor Tape::as_noted(Tensor value, const Tensor& like) {
  value.place_ = like.place_;
  return value;
}

std::vector<Tensor> Tape::add_without_gradient(std::string_view function, std::vector<Tensor> operands, std::vector<Tensor> results) {
  if (of_result(operands) != RequiresGrad::Yes) return results;
  return add({.function = function, .operands = std::move(operands), .results = std::move(results), .backward = {}});
}

std::pair<int, int> Tape::place_of(const Tensor& t) const {
  return t.place_ < 0 ? std::pair(t.place_, 0) : places_[static_cast<std::size_t>(t.place_)];
}

Tensor Tape::detached(const Tensor& t) {
  Tensor result = t;
  result.place_ = kDetached;
  return result;
}

// --- Tensor

RequiresGrad Tensor::requires_grad() const { return graph_->tape().requires_grad(*this); }

const Tensor& Tensor::requires_grad(bool required) const {
  graph_->tape().set_requires_grad(*this, required);
  return *this;
}

Tensor Tensor::detach() const { return Tape::detached(*this); }

Tensor Tensor::watched() const {
  if (!is_float(dtype())) throw ShapeError("watched: " + described(*this) + "; accepted are floats");
  const auto backward = [](const TapeNote&, const std::vector<Tensor>& gradients, const std::vector<bool>&) { return gradients; };
  return graph_->tape().add({.function = "Watched", .operands = {*this}, .results = {*this}, .backward = backward})[0];
}

Tensor Tensor::grad() const { return graph_->tape().grad(*this); }
void Tensor::zero_grad() const { graph_->tape().set_grad(*this, {}); }

std::vector<Tensor> Tensor::gradients(const std::vector<Tensor>& of, const std::vector<Tensor>& wanted, std::vector<Tensor> seeds) {
  if (of.empty()) throw ShapeError("gradients: of nothing");
  for (const Tensor& t : of)
    if (!is_float(t.dtype())) throw ShapeError("gradients: of " + described(t) + "; accepted are floats");
  if (seeds.empty())
    for (const Tensor& t : of) {
      if (!t.size().is_int(1))
        throw ShapeError("gradients: of " + described(t) + "; accepted is a scalar, or a gradient of its own for it");
      seeds.push_back(t.full_like(1));
    }
  if (seeds.size() != of.size())
    throw ShapeError("gradients: of " + std::to_string(of.size()) + " tensors, " + std::to_string(seeds.size()) + " are given");
  for (std::size_t k = 0; k < of.size(); k++)
    if (of[k].shape() != seeds[k].shape() || of[k].dtype() != seeds[k].dtype())
      throw ShapeError("gradients: of " + described(of[k]) + ", the given one is " + described(seeds[k]));
  return BackwardPass(of[0].graph().tape(), wanted).run(of, seeds);
}

void Tensor::backward() const {
  if (!size().is_int(1) || !is_float(dtype()))
    throw ShapeError("backward: of " + described(*this) + "; accepted is a scalar of a float type");
  if (requires_grad() != RequiresGrad::Yes)
    throw ShapeError("backward: nothing that requires a gradient was used to compute this " + described(*this));
  Tape& tape = graph_->tape();
  const std::vector<Tensor> leaves = tape.leaves(), found = gradients({*this}, leaves);
  for (std::size_t k = 0; k < leaves.size(); k++) {
    if (!found[k]) continue;
    const Tensor before = tape.grad(leaves[k]);
    tape.set_grad(leaves[k], before ? before + found[k] : found[k]);
  }
}

NoGrad::NoGrad(LazyGraph& graph) : graph_(graph), before_(graph.tape().set_recording(false)) {}
NoGrad::~NoGrad() { graph_.tape().set_recording(before_); }

}  // namespace etch
