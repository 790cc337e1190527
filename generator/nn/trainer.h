// Training: steps of an optimiser on batches, traced once and then replayed (jit/tinyjit.h), on any device. What a step computes is the
// user's forward pass, the gradients of its loss, and the optimiser's rule.
//
//   nn::Optimizer optimizer(session, nn::parameters(state), nn::adam(), 0.001);
//   nn::TrainerOptions options;
//   options.labels = {.input = 1, .classes = 10};
//   options.checkpoint = "digits.safetensors";
//   nn::Trainer trainer(session, optimizer, state, [&](const std::vector<Tensor>& in, nn::Pass& pass) -> nn::Forward {
//     const Tensor logits = network(in[0], pass);
//     return {nn::sparse_categorical_crossentropy(logits, in[1]), logits};
//   }, options);
//   if (std::filesystem::exists(options.checkpoint)) trainer.load(options.checkpoint);
//   trainer.train([&](std::int64_t step) { return std::vector<Array>{pictures_of(step), labels_of(step)}; }, 1000);
//
// Training that was stopped and goes on from its checkpoint gives the same bits as training without the stop, as long as each batch
// depends on its number alone, and the device is the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "base/progress.h"
#include "ir/array.h"
#include "jit/session.h"
#include "jit/tinyjit.h"
#include "lazy/tensor.h"
#include "nn/layers.h"
#include "nn/optim.h"
#include "nn/state.h"

namespace etch::nn {

/// What a pass over a batch gives. Without logits [N, C, d..] no accuracy is shown.
struct Forward {
  Tensor loss;  // a scalar
  Tensor logits = {};
};

/// Which of a batch's arrays holds labels: integers of [0, classes), or `ignored`.
struct Labels {
  std::size_t input = 1;
  std::int64_t classes = 0;
  std::optional<std::int64_t> ignored = std::nullopt;
};

struct TrainingProgress {
  std::int64_t step = 0, steps = 0;               // done so far, and when training ends
  double loss = 0;                                // of the last batch, before its step
  std::optional<double> accuracy = std::nullopt;  // likewise, of [0, 1]; none without logits and labels
  double samples_per_second = 0;                  // along the first axis of a batch; 0 while the step is traced
};

struct TrainerOptions {
  /// Which labels are checked before each step, and compared with the logits.
  std::optional<Labels> labels = std::nullopt;
  /// The optimiser's rate in step number `step` (from 0); none: it stays what it is.
  std::function<double(std::int64_t step)> rate = {};
  /// Written after each `checkpoint_every` steps (0: never) and at the end of train(). Empty: none is written.
  std::filesystem::path checkpoint = {};
  std::int64_t checkpoint_every = 0;
  /// Called after each step. None: a line on standard error, if that is a terminal and `quiet` is false.
  std::function<void(const TrainingProgress&)> report = {};
  bool quiet = false;
};

class Trainer {
 public:
  /// The loss, and if there are any the logits, of a batch on the device. It is called twice: it must not depend on the step.
  using ForwardPass = std::function<Forward(const std::vector<Tensor>& inputs, Pass& pass)>;
  /// The arrays of batch number `step` (from 0): all batches have the same shapes and types.
  using Batches = std::function<std::vector<Array>(std::int64_t step)>;

  /// `network` names all that training changes: the optimiser's parameters, and what layers keep (running means). UserError if one of the
  /// parameters is not there. The session and the optimiser must outlive the trainer.
  Trainer(Session& session, Optimizer& optimizer, StateDict network, ForwardPass forward, TrainerOptions options = {});
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Goes on until `steps` steps are done in all, those before a checkpoint included. UserError, before the step, if a label is out of
  /// range or a batch has other shapes than the first; after it, if the loss is infinite or NaN: the parameters are then of no use, the
  /// last checkpoint is what they were.
  void train(const Batches& batches, std::int64_t steps);
  /// Steps so far: the number of the next one.
  std::int64_t step() const { return step_; }

  /// A safetensors file, whole or not at all: the network's tensors by their names behind "network.", the optimiser's behind "optimizer.",
  /// the session's random numbers, and step().
  void save(const std::filesystem::path& file);
  /// UserError, before anything has changed, if it is not of the same network and optimiser.
  void load(const std::filesystem::path& file);

 private:
  struct Clock {
    std::int64_t samples = 0;
    std::chrono::steady_clock::time_point since = {};
  };

  StateDict everything() const;
  void trace(const std::vector<Tensor>& inputs);
  void require_saved(const Tensor& tensor, const char* what) const;
  void check_batch(const std::vector<Array>& batch) const;
  void check_labels(const Array& labels) const;
  void feed(const std::vector<Array>& batch);
  TrainingProgress measure(std::int64_t steps, Clock& clock) const;
  void show(const TrainingProgress& progress, Progress& line);

  Session& session_;
  Optimizer& optimizer_;
  StateDict network_;
  ForwardPass forward_;
  TrainerOptions options_;
  TinyJit jit_;
  std::vector<Tensor> inputs_;  // memory of the batches
  Tensor loss_, accuracy_;      // realized scalars of float32, which each step writes
  bool has_accuracy_ = false;
  std::int64_t step_ = 0;
  Tensor saved_step_;  // step_ in a realized scalar, for files
  std::chrono::steady_clock::time_point shown_ = {};
};

}  // namespace etch::nn
