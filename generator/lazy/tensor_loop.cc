// Loops and their gradients: the turns once more, from the last to the first, each from what was carried into it.
#include <algorithm>

#include "base/error.h"
#include "lazy/graph.h"
#include "lazy/tape.h"
#include "lazy/tensor.h"
#include "lazy/tensor_util.h"

namespace etch {
namespace {

using Tensors = std::vector<Tensor>;
using LoopBody = std::function<LoopTurn(Sint turn, const Tensors& carried)>;

/// A loop while it is traced.
struct TracedLoop {
  const LazyLoop* loop = nullptr;
  int first_note = 0;  // of its body
  Tensors carried;     // into a turn
  LoopTurn turn;
};

/// `values` as operands of their own, where the gradients of a turn end.
Tensors with_notes(LazyGraph& graph, const Tensors& values) {
  return graph.tape().add({.function = "Carried", .operands = {}, .results = values, .backward = {}});
}

TracedLoop trace(LazyGraph& graph, const Sint& count, const Tensors& first, const LoopBody& body) {
  TracedLoop t;
  t.loop = graph.loop(count, static_cast<int>(first.size()));
  t.first_note = graph.tape().size();
  for (std::size_t k = 0; k < first.size(); k++)
    t.carried.emplace_back(&graph, graph.carried(t.loop, static_cast<int>(k), first[k].dtype(), first[k].shape()));
  if (graph.tape().is_training()) t.carried = with_notes(graph, t.carried);
  t.turn = body(t.loop->counter, t.carried);
  if (t.turn.carried.size() != first.size())
    throw ShapeError("loop: " + std::to_string(t.turn.carried.size()) + " values are carried on, " + std::to_string(first.size()) +
                     " came in");
  for (std::size_t k = 0; k < first.size(); k++) {
    const Tensor& next = t.turn.carried[k];
    if (next.shape() != first[k].shape() || next.dtype() != first[k].dtype())
      throw ShapeError("loop: carried value " + std::to_string(k) + " becomes " + std::string(name_of(next.dtype())) + " " +
                       shape_text(next.shape()) + ", it was " + std::string(name_of(first[k].dtype())) + " " +
                       shape_text(first[k].shape()));
  }
  return t;
}

/// Its carried values after the last turn, then its lists.
Tensors results_of(LazyGraph& graph, const TracedLoop& t, const Tensors& first) {
  std::vector<const LazyBuffer*> src;
  for (const Tensors* part : {&first, &t.turn.carried, &t.turn.listed})
    for (const Tensor& value : *part) src.push_back(value.buffer());
  Tensors results;
  for (std::size_t k = 0; k < first.size() + t.turn.listed.size(); k++)
    results.emplace_back(&graph, graph.loop_result(t.loop, static_cast<int>(k), src));
  return results;
}

/// What a turn reads from outside of the loop and what requires a gradient.
Tensors captured_by(Tape& tape, const TracedLoop& t) {
  Tensors left = t.turn.carried, captured;
  left.insert(left.end(), t.turn.listed.begin(), t.turn.listed.end());
  std::vector<bool> seen(static_cast<std::size_t>(tape.size() - t.first_note));
  while (!left.empty()) {
    const Tensor value = left.back();
    left.pop_back();
    if (tape.requires_grad(value) != RequiresGrad::Yes) continue;
    const int number = tape.place_of(value).first;
    if (number < t.first_note) {
      const auto same = [&](const Tensor& c) { return c.buffer() == value.buffer() && tape.place_of(c) == tape.place_of(value); };
      if (std::ranges::none_of(captured, same)) captured.push_back(value);
      continue;
    }
    if (seen[static_cast<std::size_t>(number - t.first_note)]) continue;
    seen[static_cast<std::size_t>(number - t.first_note)] = true;
    const Tensors& operands = tape.at(number).operands;
    left.insert(left.end(), operands.begin(), operands.end());
  }
  return captured;
}

/// The gradients of a loop's operands: the first values of what it carries, then what its turns read.
class LoopGradient {
 public:
  LoopGradient(Sint count, LoopBody body, Tensors starts) : count_(std::move(count)), body_(std::move(body)), starts_(std::move(starts)) {}

  Tensors operator()(const TapeNote& note, const Tensors& gradients, const std::vector<bool>& wanted) const {
    LazyGraph& graph = starts_.empty() ? note.operands[0].graph() : starts_[0].graph();
    // Carried backwards: the gradients of the carried floats, then the sums for what the turns read.
    Tensors first;
    std::vector<std::size_t> operand;
    for (std::size_t k = 0; k < note.operands.size(); k++) {
      if (!is_float(note.operands[k].dtype())) continue;
      const bool given = k < starts_.size() && gradients[k];
      first.push_back(given ? gradients[k] : note.operands[k].full_like(0));
      operand.push_back(k);
    }
    const Tensors read(note.operands.begin() + static_cast<std::ptrdiff_t>(starts_.size()), note.operands.end());
    const LoopBody back = [&](Sint turn, const Tensors& now) { return turn_back(graph, count_ - 1 - turn, now, read, gradients); };
    const TracedLoop traced = trace(graph, count_, first, back);
    Tensors operands = note.operands;
    for (const Tensor& g : gradients)
      if (g) operands.push_back(g);
    Tensors found = results_of(graph, traced, first);
    found.resize(first.size());
    found = graph.tape().add_without_gradient("the gradient of a Loop", operands, found);
    Tensors result(wanted.size());
    for (std::size_t k = 0; k < operand.size(); k++)
      if (wanted[operand[k]]) result[operand[k]] = found[k];
    return result;
  }

 private:
  /// One turn: the gradients of what it was given from those of what it gave.
  LoopTurn turn_back(LazyGraph& graph, const Sint& turn, const Tensors& now, const Tensors& read, const Tensors& gradients) const {
    Tensors values;
    for (const Tensor& s : starts_) values.push_back(s.detach().at(0, turn));
    values = with_notes(graph, values);
    const LoopTurn forward = body_(turn, values);
    Tensors of, seeds, wanted;
    std::size_t next = 0;
    for (std::size_t k = 0; k < values.size(); k++) {
      if (!is_float(values[k].dtype())) continue;
      of.push_back(forward.carried[k]);
      seeds.push_back(now[next++]);
      wanted.push_back(values[k]);
    }
    for (std::size_t k = 0; k < forward.listed.size(); k++)
      if (const Tensor& g = gradients[starts_.size() + k]) {
        of.push_back(forward.listed[k]);
        seeds.push_back(g.at(0, turn));
      }
    wanted.insert(wanted.end(), read.begin(), read.end());
    const Tensors found = of.empty() ? Tensors(wanted.size()) : Tensor::gradients(of, wanted, seeds);
    LoopTurn result;
    for (std::size_t k = 0; k < wanted.size(); k++) {
      const bool sums = k >= next;  // over all turns
      if (sums)
        result.carried.push_back(found[k] ? now[k] + found[k] : now[k]);
      else
        result.carried.push_back(found[k] ? found[k] : now[k].full_like(0));
    }
    return result;
  }

  Sint count_;
  LoopBody body_;
  Tensors starts_;  // lists of what was carried into each turn
};

}  // namespace

LoopResults Tensor::loop(LazyGraph& graph, Sint count, const Tensors& first, const LoopBody& body) {
  if (count.is_int(1)) {
    LoopTurn turn = body(0, first);
    for (Tensor& t : turn.listed) t = t.unsqueeze(0);
    return turn;
  }
  TracedLoop traced = trace(graph, count, first, body);
  Tape& tape = graph.tape();
  Tensors operands = first;
  if (tape.is_training()) {
    const Tensors captured = captured_by(tape, traced);
    operands.insert(operands.end(), captured.begin(), captured.end());
  }
  const bool noted = tape.of_result(operands) == RequiresGrad::Yes;
  const std::size_t shown = first.size() + traced.turn.listed.size();
  if (noted) traced.turn.listed.insert(traced.turn.listed.end(), traced.carried.begin(), traced.carried.end());
  Tensors all = results_of(graph, traced, first);
  if (noted) {
    const Tensors starts(all.begin() + static_cast<std::ptrdiff_t>(shown), all.end());
    all.resize(shown);
    all = tape.add({.function = "Loop", .operands = operands, .results = all, .backward = LoopGradient(count, body, starts)});
  }
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(first.size());
  return {Tensors(all.begin(), middle), Tensors(middle, all.end())};
}

}  // namespace etch
