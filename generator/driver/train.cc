#include "driver/train.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/naming.h"
#include "base/nearest.h"
#include "lazy/graph.h"
#include "nn/losses.h"

namespace etch {

/// How a loss is computed of the network's output.
struct TrainLoss {
  const char* name;
  bool of_classes;  // the output is [N, classes], and labels are numbers of classes
  Tensor (*compute)(const Tensor& output, const Tensor& targets);
  /// Where the network's output comes from what the loss computes by itself: what that is given.
  Tensor ImportedTensor::* before = nullptr;
};

namespace {

constexpr const char* kPlace = "--train";

Tensor crossentropy(const Tensor& output, const Tensor& labels) { return nn::sparse_categorical_crossentropy(output, labels); }

constexpr TrainLoss kLosses[] = {
    {"crossentropy", true, crossentropy, &ImportedTensor::before_softmax},
    {"binary_crossentropy", false, nn::binary_crossentropy_logits, &ImportedTensor::before_sigmoid},
    {"mean_square", false, nn::mean_square},
    {"mean_absolute", false, nn::mean_absolute},
};

/// What a rule's number may be: from `least` to below `end`.
struct NumberRange {
  const char* name;
  double least, end;
  const char* accepted;
  bool whole = false;
};
constexpr NumberRange kNumbers[] = {
    {"momentum", 0, 1, "0 to below 1"}, {"nesterov", 0, 2, "0 or 1", true}, {"weight_decay", 0, 1e6, "0 and more"},
    {"beta1", 0, 1, "0 to below 1"},    {"beta2", 0, 1, "0 to below 1"},    {"epsilon", 1e-30, 1, "above 0, below 1"},
};

/// Numbers by which a rule is made, and whether they were given.
class Numbers {
 public:
  void set(const NumberRange& range, const std::string& text) {
    double value = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_number = bad == std::errc() && end == text.data() + text.size();
    if (!is_number || !(value >= range.least && value < range.end) || (range.whole && value != std::floor(value)))
      throw UserError(kPlace, fmt::format("{}={} is not accepted", range.name, text), std::string("accepted is ") + range.accepted);
    values_[range.name] = value;
  }
  double take(const std::string& name, double otherwise) {
    const auto found = values_.find(name);
    if (found == values_.end()) return otherwise;
    const double value = found->second;
    values_.erase(found);
    return value;
  }
  /// One that nobody took; empty if there is none.
  std::string left() const { return values_.empty() ? "" : values_.begin()->first; }

 private:
  std::map<std::string, double> values_;
};

nn::Rule make_sgd(Numbers& n) {
  return nn::sgd({.momentum = n.take("momentum", 0), .nesterov = n.take("nesterov", 0) != 0, .weight_decay = n.take("weight_decay", 0)});
}

nn::AdamOptions adam_options(Numbers& n, double epsilon, double decay) {
  return {.beta1 = n.take("beta1", 0.9),
          .beta2 = n.take("beta2", 0.999),
          .epsilon = n.take("epsilon", epsilon),
          .weight_decay = n.take("weight_decay", decay)};
}

struct RuleName {
  const char* name;
  nn::Rule (*make)(Numbers& numbers);
  const char* numbers;
};
constexpr RuleName kRules[] = {
    {"sgd", make_sgd, "momentum, nesterov, weight_decay"},
    {"adam", [](Numbers& n) { return nn::adam(adam_options(n, 1e-8, 0)); }, "beta1, beta2, epsilon, weight_decay"},
    {"adamw", [](Numbers& n) { return nn::adamw(adam_options(n, 1e-8, 0.01)); }, "beta1, beta2, epsilon, weight_decay"},
    {"lamb", [](Numbers& n) { return nn::lamb(adam_options(n, 1e-6, 0)); }, "beta1, beta2, epsilon, weight_decay"},
};

template <class Row, std::size_t kCount>
const Row& row_named(const Row (&rows)[kCount], const std::string& name, const char* what) {
  std::vector<std::string> names;
  for (const Row& row : rows) {
    if (name == row.name) return row;
    names.push_back(row.name);
  }
  throw UserError(kPlace, std::string(what) + "=" + name + " is not known", fmt::format("accepted are {}", fmt::join(names, ", ")));
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Names for what the step adds to a model, none of which the model has.
class StepNames {
 public:
  explicit StepNames(const ImportedModel& model) : c_names_(model.name) {
    for (const auto* list : {&model.inputs, &model.outputs})
      for (const ImportedTensor& t : *list) add(t);
    for (const ImportedState& s : model.parameters) add(s.state);
    for (const ImportedDim& d : model.dims) c_names_.add(d.c_name);
  }
  ImportedTensor tensor(std::string name, const Tensor& t) {
    while (taken_.contains(name)) name += "_";
    taken_.insert(name);
    return {name, c_names_.add(name), t.dtype(), t.shape(), t};
  }
  Tensor input(LazyGraph& graph, const char* name, DType dtype, const Shape& shape, std::vector<ImportedTensor>& inputs) {
    inputs.push_back(tensor(name, Tensor::input(graph, name, dtype, shape)));
    return inputs.back().tensor;
  }
  ImportedState state(LazyGraph& graph, const std::string& name, DType dtype, const Shape& shape) {
    const Tensor t = Tensor::state(graph, name, dtype, shape);
    return {tensor(name, t), t};
  }

 private:
  void add(const ImportedTensor& t) {
    taken_.insert(t.name);
    c_names_.add(t.c_name);
  }
  CNames c_names_;
  std::set<std::string> taken_;
};

/// What the rule keeps of each parameter, then the number of steps; all 0 at first.
std::vector<ImportedState> kept_states(const ImportedModel& model, const nn::Rule& rule, StepNames& names) {
  std::vector<ImportedState> kept;
  for (const ImportedState& parameter : model.parameters)
    for (const std::string& name : rule.kept)
      kept.push_back(
          names.state(*model.graph, parameter.state.name + "." + name, nn::kept_type(parameter.state.dtype), parameter.state.shape));
  if (rule.counts) kept.push_back(names.state(*model.graph, "steps", DType::Float32, {}));
  return kept;
}

const ImportedTensor& output_for_loss(const ImportedModel& model, const TrainOptions& options) {
  std::vector<std::string> names;
  for (const ImportedTensor& t : model.outputs) {
    if (t.name == options.output || (options.output.empty() && model.outputs.size() == 1)) return t;
    names.push_back(t.name);
  }
  if (options.output.empty())
    throw UserError(kPlace, fmt::format("the model has {} outputs: {}", names.size(), fmt::join(names, ", ")),
                    "say which one the loss is of: output=NAME");
  throw UserError(kPlace, "the model has no output '" + options.output + "'", "its outputs: " + nearest_text(options.output, names));
}

Tensor loss_of(const ImportedModel& model, const TrainOptions& options, StepNames& names, std::vector<ImportedTensor>& inputs) {
  const ImportedTensor& output = output_for_loss(model, options);
  const std::string place = std::string(kPlace) + ": output '" + output.name + "'";
  if (!is_float(output.dtype) || !variables(output.shape).empty())
    throw UserError(place, fmt::format("is {} {}", name_of(output.dtype), shape_text(output.shape)),
                    is_float(output.dtype) ? "accepted are fixed sizes; give open dimensions one value, --dim NAME=N"
                                           : "accepted are floats: train the network before it is quantised or decides");
  LazyGraph& graph = *model.graph;
  const OriginScope scope(graph, "loss");
  // Of probabilities the logarithm: the same as of what comes before a softmax or a sigmoid.
  const Tensor before = options.loss->before == nullptr ? Tensor() : output.*options.loss->before,
               predicted = before ? before : output.tensor;
  if (!options.loss->of_classes) {
    const Tensor targets = names.input(graph, kTargets, output.dtype, output.shape, inputs);
    return options.loss->compute(predicted, targets);
  }
  if (output.shape.size() != 2)
    throw UserError(place, "is of shape " + shape_text(output.shape), "accepted for a loss of classes is [N, classes]");
  const Tensor labels = names.input(graph, kLabels, DType::Int32, {output.shape[0]}, inputs);
  inputs.back().below = output.shape[1].as_int();
  return options.loss->compute(predicted, labels);
}

/// The words of "NAME=VALUE,NAME=VALUE", each name once.
std::map<std::string, std::string> words_of(const std::string& text) {
  std::map<std::string, std::string> words;
  for (std::string word : split(text, ',')) {
    word.erase(0, std::min(word.find_first_not_of(' '), word.size()));
    word.erase(word.find_last_not_of(' ') + 1);
    const std::size_t at = word.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == word.size())
      throw UserError(kPlace, "'" + word + "' is not NAME=VALUE", "write for example loss=crossentropy,optimizer=sgd");
    if (!words.emplace(word.substr(0, at), word.substr(at + 1)).second)
      throw UserError(kPlace, "'" + word.substr(0, at) + "' is there twice", "give it once");
  }
  return words;
}

}  // namespace

TrainOptions train_options(const std::string& text, int last_layers) {
  TrainOptions options;
  options.last_layers = last_layers;
  std::map<std::string, std::string> words = words_of(text);
  const auto take = [&](const char* name) {
    const auto word = words.extract(name);
    return word.empty() ? "" : word.mapped();
  };
  const std::string loss = take("loss"), rule = take("optimizer"), parameters = take("parameters");
  options.output = take("output");
  if (!parameters.empty()) options.parameters = split(parameters, '+');
  Numbers numbers;
  std::vector<std::string> known{"loss", "optimizer", "output", "parameters"};
  for (const NumberRange& range : kNumbers) {
    known.emplace_back(range.name);
    if (const std::string value = take(range.name); !value.empty()) numbers.set(range, value);
  }
  if (!words.empty())
    throw UserError(kPlace, "'" + words.begin()->first + "' is not known", "accepted are " + nearest_text(words.begin()->first, known));
  if (loss.empty() || rule.empty())
    throw UserError(kPlace, std::string(loss.empty() ? "loss" : "optimizer") + " is not given",
                    "write for example loss=crossentropy,optimizer=sgd");
  options.loss = &row_named(kLosses, loss, "loss");
  if (last_layers > 0 && !options.parameters.empty())
    throw UserError(kPlace, "parameters are named, and --train-last chooses some", "pass one of both");
  const RuleName& row = row_named(kRules, rule, "optimizer");
  options.rule = row.make(numbers);
  if (const std::string left = numbers.left(); !left.empty())
    throw UserError(kPlace, "optimizer " + rule + " takes no '" + left + "'", std::string("it takes ") + row.numbers);
  return options;
}

std::string train_options_help() {
  std::string losses, rules;
  for (const TrainLoss& l : kLosses) losses += (losses.empty() ? "" : "|") + std::string(l.name);
  for (const RuleName& r : kRules) rules += (rules.empty() ? "" : "|") + std::string(r.name);
  return "a training step beside the network: loss=" + losses + ",optimizer=" + rules +
         ", and if wanted output=NAME, parameters=NAME+NAME, and the optimizer's numbers: momentum=0.9";
}

ImportedModel network_with_state(ImportedModel model, const TrainOptions& options) {
  StepNames names(model);
  for (const ImportedState& s : model.parameters) model.states.push_back(s);
  for (ImportedState& s : kept_states(model, options.rule, names)) model.states.push_back(std::move(s));
  return model;
}

ImportedModel training_step(ImportedModel model, const TrainOptions& options) {
  StepNames names(model);
  if (!model.states.empty())
    throw UserError(kPlace, "the model has a state '" + model.states[0].state.name + "' of its own", "train it without --state");
  std::vector<ImportedTensor> inputs = model.inputs;
  try {
    const Tensor loss = loss_of(model, options, names, inputs);
    const Tensor rate = names.input(*model.graph, kRate, DType::Float32, {}, inputs);
    inputs.back().typical = 0.01;
    inputs.back().by_value = true;
    std::vector<Tensor> parameters;
    for (const ImportedState& p : model.parameters) parameters.push_back(p.state.tensor);
    const std::vector<Tensor> gradients = Tensor::gradients({loss}, parameters);
    const NoGrad scope(*model.graph);
    std::vector<ImportedState> kept = kept_states(model, options.rule, names);
    const std::size_t per_parameter = options.rule.kept.size();
    Tensor count;
    if (options.rule.counts) count = kept.back().next = kept.back().state.tensor + 1.0;
    for (std::size_t i = 0; i < parameters.size(); i++) {
      const Tensor& w = parameters[i];
      if (!gradients[i])
        throw UserError(kPlace, "the loss does not depend on parameter '" + model.parameters[i].state.name + "'",
                        "leave it out: name the others by parameters=NAME+NAME; if it should, integers or comparisons are on the way, "
                        "which have no gradient");
      const OriginScope update(*model.graph, "update of " + model.parameters[i].state.name);
      std::vector<Tensor> before;
      for (std::size_t k = 0; k < per_parameter; k++) before.push_back(kept[i * per_parameter + k].state.tensor);
      const nn::Updated u = nn::apply_rule(options.rule, w, gradients[i], before, rate, count);
      model.states.push_back(model.parameters[i]);
      model.states.back().next = u.parameter;
      for (std::size_t k = 0; k < per_parameter; k++) kept[i * per_parameter + k].next = u.kept[k];
    }
    for (ImportedState& s : kept) model.states.push_back(std::move(s));
    model.inputs = std::move(inputs);
    model.outputs = {names.tensor(kLoss, loss)};
  } catch (const ShapeError& error) {
    throw UserError(kPlace, error.what());
  }
  const std::string network = model.name;
  model.name += model.name.ends_with('_') ? "train" : "_train";
  if (project_identifier(model.name) != model.name)
    throw UserError("name '" + network + "'", "the step would be called " + model.name + ", which is too long or not its alone",
                    "give another with --name, for instance --name " + project_identifier(network.substr(0, 40)));
  return model;
}

namespace {

/// The names that the step's files have beside the network's: there is one self-test, one report and one build file for each.
std::string beside(const std::string& file, const std::string& step) {
  if (file == kSelfTestFile) return step + "_selftest.c";
  return file == "report.txt" || file == "report.json" ? step + "_" + file : file;
}

void require_language(const Target& target) {
  const Language& language = language_of(target);
  if (target.constants)
    throw UserError(kPlace,
                    fmt::format("target {} keeps constants in an address space of their own, from which no state can start", target.name),
                    "choose a target with one address space");
  if (language.grid)
    throw UserError(kPlace, fmt::format("kernels of target {} run on a device, in {}", target.name, language.name),
                    "choose a target whose kernels are C: etch targets lists them");
}

/// Adds the step's files to the network's; files of the runtime are there once.
void add_files(CompiledProject& network, const CompiledProject& step, const std::string& name) {
  for (const EmittedFile& file : step.files) {
    if (file.name == "CMakeLists.txt") continue;
    const std::string own = beside(file.name, name);
    const auto known = std::ranges::find(network.files, own, &EmittedFile::name);
    if (known == network.files.end()) {
      network.files.push_back(file);
      network.files.back().name = own;
    } else {
      check(known->text == file.text, "files that two projects of a folder share are the same");
    }
  }
}

std::vector<std::string> sources_of(const CompiledProject& project, const std::string& name) {
  std::vector<std::string> sources;
  for (const EmittedFile& file : project.files)
    if (file.name.starts_with(name) && (file.name.ends_with(".c") || file.name.ends_with(".S"))) sources.push_back(file.name);
  return sources;
}

/// Both have the same states at the same places.
void check_states(const Program& network, const Program& step) {
  check(network.states.size() == step.states.size(), "a step has the states of its network");
  for (std::size_t k = 0; k < network.states.size(); k++) {
    const ProgramBuffer& a = network.buffers[static_cast<std::size_t>(network.states[k].buffer)];
    const ProgramBuffer& b = step.buffers[static_cast<std::size_t>(step.states[k].buffer)];
    check(a.dtype == b.dtype && a.max_elements == b.max_elements, "a step has the states of its network");
  }
}

}  // namespace

namespace {

ImportedModel model_of(const CompileOptions& options, const TrainOptions& train, const ModelSource& source) {
  const TrainingImport training{train.parameters, train.last_layers, train.output};
  if (source) return source(training);
  ImportOptions import = options.import;
  import.training = training;
  return import_onnx(import);
}

}  // namespace

Frontend read_step(const CompileOptions& options, const TrainOptions& train, const ModelSource& source) {
  require_language(options.target);
  Frontend step = schedule_model(training_step(model_of(options, train, source), train), options);
  step.role.function = "step";
  return step;
}

CompiledProject compile_trained(const CompileOptions& of_project, const TrainOptions& train, const ModelSource& source) {
  CompileOptions options = of_project;
  options.measure = {};  // neither program alone
  Frontend step = read_step(options, train, source);
  const std::string name = step.model.name;
  Frontend network = schedule_model(network_with_state(model_of(options, train, source), train), options);
  Program step_program = lower_model(step, &language_of(options.target), options);
  Program program = lower_model(network, &language_of(options.target), options);
  check_states(program, step_program);
  share_constants(program, step_program);
  step.role.state_of = network.model.name;
  step.role.constants_of = &program;
  step.role.starts_of_blob = options.weights == WeightsForm::Blob;
  const CompiledProject compiled_step = compile_program(step, std::move(step_program), options);
  network.role.saves_state = true;
  std::vector<std::string> trained;
  for (const ImportedState& p : network.model.parameters) trained.push_back(p.state.name);
  network.role.companions = {{.name = name,
                              .sources = sources_of(compiled_step, name),
                              .selftest = options.selftest ? name + "_selftest.c" : "",
                              .arena_bytes = compiled_step.report.arena_bytes,
                              .arena_lower_bound_bytes = compiled_step.report.arena_lower_bound_bytes,
                              .trained = std::move(trained)}};
  CompiledProject project = compile_program(network, std::move(program), options);
  add_files(project, compiled_step, name);
  auto& entries = project.probe.entries;
  entries.insert(entries.end(), compiled_step.probe.entries.begin(), compiled_step.probe.entries.end());
  return project;
}

}  // namespace etch
