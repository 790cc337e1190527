#include "nn/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "lazy/graph.h"
#include "nn/described.h"
#include "nn/losses.h"

namespace etch::nn {
namespace {

using std::chrono::steady_clock;

constexpr int kTracedSteps = 2;  // calls of a TinyJit that build graphs and compile

Tensor zero(Session& session, DType dtype) { return session.from(Array::scalar(Scalar::of_int(dtype, 0))); }

/// "[######........]"
std::string bar(std::int64_t done, std::int64_t all) {
  constexpr std::int64_t kWidth = 24;
  const std::int64_t full = all > 0 ? std::min(kWidth, done * kWidth / all) : kWidth;
  return "[" + std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(kWidth - full), '.') + "]";
}

}  // namespace

Trainer::Trainer(Session& session, Optimizer& optimizer, StateDict network, ForwardPass forward, TrainerOptions options)
    : session_(session),
      optimizer_(optimizer),
      network_(std::move(network)),
      forward_(std::move(forward)),
      options_(std::move(options)),
      jit_(session,
           [this](const std::vector<Tensor>& inputs) {
             trace(inputs);
             return std::vector<Tensor>{};
           }),
      loss_(zero(session, DType::Float32)),
      accuracy_(zero(session, DType::Float32)),
      saved_step_(zero(session, DType::Int64)) {
  for (const Tensor& p : optimizer_.parameters()) require_saved(p, "a parameter of the optimiser");
}

void Trainer::require_saved(const Tensor& tensor, const char* what) const {
  const auto base = [](const Tensor& t) { return t.buffer()->base; };
  if (std::ranges::any_of(network_, [&](const NamedTensor& m) { return base(m.tensor) == base(tensor); })) return;
  throw UserError("trainer", fmt::format("{}, {}, is not among the tensors of the network", what, described(tensor)),
                  "add the members() of its layer to the state, so that checkpoints hold it");
}

// One step: what a TinyJit runs twice, and then replays. The figures are assigned together with the parameters, in one schedule; so a
// replay makes no tensor.
void Trainer::trace(const std::vector<Tensor>& inputs) {
  optimizer_.zero_grad();
  Pass pass{session_, true};
  const Forward result = forward_(inputs, pass);
  if (!result.loss) throw UserError("trainer", "the forward pass gave no loss");
  result.loss.backward();
  for (const Session::Assignment& update : pass.updates) require_saved(update.target, "what a layer keeps");
  pass.updates.push_back({loss_, result.loss.detach().cast(DType::Float32).reshape({})});
  has_accuracy_ = result.logits && options_.labels;
  if (has_accuracy_)
    pass.updates.push_back({accuracy_, accuracy(result.logits, inputs.at(options_.labels->input), options_.labels->ignored)});
  optimizer_.step(pass.updates);
}

void Trainer::check_labels(const Array& labels) const {
  const Labels& o = *options_.labels;
  const std::string where = fmt::format("batch {}, input {}", step_, o.input);
  std::string accepted = fmt::format("accepted are integers from 0 to {}", o.classes - 1);
  if (o.ignored) accepted += fmt::format(" and {}, which is ignored", *o.ignored);
  if (!is_int(labels.dtype())) throw UserError(where, "the labels are " + described(labels), accepted);
  for (std::int64_t i = 0; i < labels.size(); i++) {
    const std::int64_t label = labels.int_at(i);
    if ((label < 0 || label >= o.classes) && label != o.ignored)
      throw UserError(where, fmt::format("label {} of {} is {}", i, labels.size(), label), accepted);
  }
}

void Trainer::check_batch(const std::vector<Array>& batch) const {
  const std::size_t needed = options_.labels ? options_.labels->input + 1 : 1;
  if (batch.size() < needed)
    throw UserError(fmt::format("batch {}", step_), fmt::format("has {} arrays", batch.size()),
                    fmt::format("accepted are {} or more", needed));
  if (!inputs_.empty() && batch.size() != inputs_.size())
    throw UserError(fmt::format("batch {}", step_), fmt::format("has {} arrays, the first one had {}", batch.size(), inputs_.size()));
  for (std::size_t i = 0; i < inputs_.size(); i++)
    if (described(batch[i]) != described(inputs_[i]))
      throw UserError(fmt::format("batch {}, input {}", step_, i),
                      fmt::format("is {}, that of the first batch was {}", described(batch[i]), described(inputs_[i])),
                      "leave out a last batch that is shorter, or fill it up");
  if (options_.labels) check_labels(batch[options_.labels->input]);
}

void Trainer::feed(const std::vector<Array>& batch) {
  if (inputs_.empty()) {
    for (const Array& array : batch) inputs_.push_back(session_.from(array));
    return;
  }
  for (std::size_t i = 0; i < batch.size(); i++) session_.set_values(inputs_[i], batch[i]);
}

TrainingProgress Trainer::measure(std::int64_t steps, Clock& clock) const {
  TrainingProgress now{.step = step_, .steps = steps, .loss = session_.values(loss_).double_at(0)};
  if (has_accuracy_) now.accuracy = session_.values(accuracy_).double_at(0);
  if (jit_.count() <= kTracedSteps) {
    clock = {0, steady_clock::now()};
    return now;
  }
  const Shape& shape = inputs_.front().shape();
  clock.samples += shape.empty() ? 1 : shape.front().as_int();
  const double seconds = std::chrono::duration<double>(steady_clock::now() - clock.since).count();
  now.samples_per_second = static_cast<double>(clock.samples) / std::max(seconds, 1e-9);
  return now;
}

void Trainer::show(const TrainingProgress& progress, Progress& line) {
  if (options_.report) return options_.report(progress);
  const auto now = steady_clock::now();
  if (progress.step < progress.steps && now - shown_ < std::chrono::milliseconds(100)) return;
  shown_ = now;
  std::string text = fmt::format("{} loss {:.4f}", bar(progress.step, progress.steps), progress.loss);
  if (progress.accuracy) text += fmt::format(", accuracy {:.1f} %", 100 * *progress.accuracy);
  if (progress.samples_per_second > 0) text += fmt::format(", {:.0f} samples/s", progress.samples_per_second);
  line.step(text + ", step", progress.step, progress.steps);
}

void Trainer::train(const Batches& batches, std::int64_t steps) {
  Progress line(options_.quiet || options_.report);
  Clock clock{0, steady_clock::now()};
  const std::int64_t first = step_;
  while (step_ < steps) {
    const std::vector<Array> batch = batches(step_);
    check_batch(batch);
    if (options_.rate) optimizer_.set_rate(options_.rate(step_));
    feed(batch);
    jit_(inputs_);
    step_++;
    const TrainingProgress now = measure(steps, clock);
    if (!std::isfinite(now.loss))
      throw UserError(fmt::format("training step {}", step_ - 1), fmt::format("the loss is {}, accepted are finite numbers", now.loss),
                      fmt::format("lower the rate, which is {}, or look at what batch {} holds", optimizer_.rate(), step_ - 1));
    show(now, line);
    const bool due = options_.checkpoint_every > 0 && step_ % options_.checkpoint_every == 0 && step_ < steps;
    if (due && !options_.checkpoint.empty()) save(options_.checkpoint);
  }
  if (step_ > first && !options_.checkpoint.empty()) save(options_.checkpoint);
}

StateDict Trainer::everything() const {
  StateDict all = with_prefix(network_, "network.");
  add(all, "optimizer.", optimizer_.state());
  add(all, "", {{"random", session_.random_state()}, {"step", saved_step_}});
  return all;
}

void Trainer::save(const std::filesystem::path& file) {
  session_.set_values(saved_step_, Array::scalar(Scalar::of_int(DType::Int64, step_)));
  nn::save(session_, everything(), file);
}

void Trainer::load(const std::filesystem::path& file) {
  nn::load(session_, everything(), file);
  step_ = session_.values(saved_step_).int_at(0);
}

}  // namespace etch::nn
