// A training step as a model of its own: the network with its weights in memory of the caller, a loss, its gradients, and what an optimiser
// makes of the weights. It is scheduled, lowered, planned and emitted like any other model.
//
//   CompileOptions options;
//   options.import.training = TrainingImport{};
//   const TrainOptions train = train_options("loss=crossentropy,optimizer=adam");
//   const ImportedModel step = training_step(import_onnx(options.import), train);
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "nn/optim.h"
#include "onnx/import.h"

namespace etch {

struct TrainLoss;

struct TrainOptions {
  const TrainLoss* loss = nullptr;
  nn::Rule rule;
  int last_layers = 0;                       // that are trained, if no parameters are named; 0: all
  std::vector<std::string> parameters = {};  // initializers that are trained; empty: those of layers
  std::string output = {};                   // of the network, that the loss is of; empty: the only one
};

/// From "loss=crossentropy,optimizer=adam,beta1=0.9,parameters=fc1.weight+fc1.bias". UserError for a word or a number that is not accepted.
TrainOptions train_options(const std::string& text, int last_layers = 0);
/// What `train_options` accepts, for --help.
std::string train_options_help();

/// The step: it takes the network's inputs, the labels or targets and the learning rate, and gives the loss; states are the parameters and
/// what the rule keeps of them, in the order of network_with_state(). UserError where a parameter has no gradient, naming it, and the node
/// on the way that has none.
ImportedModel training_step(ImportedModel model, const TrainOptions& options);
/// The network itself, with the same states, none of which it changes.
ImportedModel network_with_state(ImportedModel model, const TrainOptions& options);

/// The names that the step's own inputs and output have, unless the network has them already.
inline constexpr const char *kLabels = "labels", *kTargets = "targets", *kRate = "learning_rate", *kLoss = "loss";

/// The model that is trained, made anew by each call: with the parameters that it is asked for.
using ModelSource = std::function<ImportedModel(const TrainingImport& training)>;

/// The step of a model, scheduled: a project of its own, with a state of its own. An empty `source`: the model of the options' file; one of
/// a traced function is driver/traced.h.
Frontend read_step(const CompileOptions& options, const TrainOptions& train, const ModelSource& source = {});

/// Projects of the network and of the step in one folder: NAME.c as ever, NAME_train.c with NAME_train_step, on one state.
CompiledProject compile_trained(const CompileOptions& options, const TrainOptions& train, const ModelSource& source = {});

}  // namespace etch
