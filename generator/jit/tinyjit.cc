#include "jit/tinyjit.h"

#include <algorithm>

#include "program/loops.h"

namespace etch {
namespace {

const char* const kShapesHelp = "call reset() first, or record a function of its own for each";

std::shared_ptr<Buffer> memory_of(const Tensor& tensor) {
  const RealizedBuffer* memory = Session::realized(tensor);
  return memory == nullptr ? nullptr : memory->buffer;
}

/// While it lives, the session's runs are recorded.
class Recording {
 public:
  Recording(Session& session, CacheCollector& collector) : session_(session) { session_.collect(&collector); }
  ~Recording() { session_.collect(nullptr); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

 private:
  Session& session_;
};

/// While it lives, the memory that the session makes or assigns is listed, also for what goes on around it.
class LoggedMemory {
 public:
  explicit LoggedMemory(Session& session) : session_(session), before_(session.log_memory(&log_)) {}
  ~LoggedMemory() {
    session_.log_memory(before_);
    if (before_ == nullptr) return;
    before_->made.insert(log_.made.begin(), log_.made.end());
    before_->assigned.insert(log_.assigned.begin(), log_.assigned.end());
  }
  LoggedMemory(const LoggedMemory&) = delete;
  LoggedMemory& operator=(const LoggedMemory&) = delete;
  const Session::MemoryLog& log() const { return log_; }

 private:
  Session& session_;
  Session::MemoryLog log_;
  Session::MemoryLog* before_;
};

std::string list_text(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "none" : text;
}

}  // namespace

TinyJit::TinyJit(Session& session, Function function, Options options)
    : session_(session), function_(std::move(function)), options_(options) {}

void TinyJit::reset() {
  count_ = 0;
  cache_ = {};
  replace_.clear();
  results_.clear();
  captured_.clear();
  own_.clear();
  written_inputs_.clear();
}

void TinyJit::note_memory(const JitCache& cache, const InputReplace& replace) {
  own_.clear();
  written_inputs_.clear();
  for (std::size_t j = 0; j < cache.items.size(); j++) {
    const auto* runner = dynamic_cast<const ASTRunner*>(cache.items[j].prg.get());
    for (std::size_t i = 0; i < cache.items[j].rawbufs.size(); i++) {
      const Access access = runner == nullptr ? Access::Write : runner->signature().arguments[i].access;
      const auto replaced = replace.find({static_cast<int>(j), static_cast<int>(i)});
      if (replaced == replace.end()) {
        Access& known = own_.try_emplace(cache.items[j].rawbufs[i].get(), access).first->second;
        if (access == Access::Write) known = access;
      } else if (access == Access::Write) {
        written_inputs_.insert(replaced->second);
      }
    }
  }
}

VarValues TinyJit::values_of(const std::vector<Tensor>& inputs, const VarValues& captured) const {
  VarValues vars = session_.bound();
  const auto add = [&](const VarValues& more) {
    for (const auto& [name, value] : more) {
      const auto [known, added] = vars.try_emplace(name, value);
      if (!added && known->second != value)
        throw JitError("variable '" + name + "'", "is " + std::to_string(known->second) + " and " + std::to_string(value) + " at once");
    }
  };
  for (const Tensor& input : inputs)
    if (const RealizedBuffer* memory = Session::realized(input)) add(memory->vars);
  add(captured);
  return vars;
}

TinyJit::Expected TinyJit::expected_of(const std::vector<Tensor>& inputs, const VarValues& vars) const {
  Expected expected;
  for (const Tensor& input : inputs) expected.inputs.push_back(std::string(name_of(input.dtype())) + " " + shape_text(input.shape()));
  for (const auto& [name, value] : vars) expected.variables.push_back(name);
  return expected;
}

std::vector<Tensor> TinyJit::operator()(const std::vector<Tensor>& given) {
  const std::vector<Tensor> inputs = session_.realize(given);
  if (session_.is_recorded()) return call(inputs);  // it becomes part of the recording around it
  std::vector<std::shared_ptr<const Buffer>> buffers;
  for (const Tensor& input : inputs) {
    const auto memory = memory_of(input);
    if (memory == nullptr)
      throw JitError("argument " + std::to_string(buffers.size()), "has no elements, so no memory can be given for it");
    buffers.push_back(memory);
  }
  get_input_replace({}, buffers);  // refuses arguments that share memory
  const VarValues vars = values_of(inputs, captured_);
  if (count_ >= 2) {
    const Expected got = expected_of(inputs, vars);
    if (got.inputs != expected_.inputs)
      throw JitError("recorded function",
                     "is called with " + list_text(got.inputs) + "; it was recorded for " + list_text(expected_.inputs), kShapesHelp);
    if (!std::ranges::includes(got.variables, expected_.variables))
      throw JitError("recorded function",
                     "is called with the variables " + list_text(got.variables) + "; it was recorded for " + list_text(expected_.variables),
                     kShapesHelp);
    for (std::size_t k = 0; k < buffers.size(); k++) {
      const auto known = own_.find(buffers[k].get());
      if (known == own_.end()) continue;
      const bool is_written = known->second == Access::Write;
      if (is_written || written_inputs_.contains(static_cast<int>(k)))
        throw JitError("argument " + std::to_string(k),
                       is_written ? "is memory that the recorded function writes by itself"
                                  : "is written by the recorded function, which also reads that memory by itself",
                       "pass a copy");
    }
    count_++;
    return replay(inputs, vars);
  }
  std::vector<Tensor> outputs = count_ == 0 ? call(inputs) : record(inputs);
  count_++;
  return outputs;
}

// Runs the function. A result that was there before, or that was assigned, is copied: later calls may write it.
std::vector<Tensor> TinyJit::call(const std::vector<Tensor>& inputs) {
  const LoggedMemory memory(session_);
  std::vector<Tensor> outputs = function_(inputs);
  for (Tensor& output : outputs) {
    const auto own = output ? memory_of(output) : nullptr;
    if (own == nullptr) continue;
    const bool is_input = std::ranges::any_of(inputs, [&](const Tensor& input) { return memory_of(input) == own; });
    const bool stays = !memory.log().assigned.contains(own) && (is_input || memory.log().made.contains(own));
    if (!stays) output = {&session_.graph(), session_.graph().copy(output.buffer())};
  }
  return session_.realize(outputs);
}

std::vector<Tensor> TinyJit::record(const std::vector<Tensor>& inputs) {
  CacheCollector collector;
  std::vector<Tensor> outputs;
  {
    const Recording recording(session_, collector);
    outputs = call(inputs);
  }
  std::vector<std::shared_ptr<const Buffer>> buffers;
  for (const Tensor& input : inputs) buffers.push_back(memory_of(input));
  VarValues captured = collector.captured_values(buffers);
  const VarValues vars = values_of(inputs, captured);
  JitCache cache = collector.finish(session_.device());
  if (cache.items.empty()) throw JitError("recorded function", "ran no kernel, so there is nothing to replay");
  std::vector<Result> results;
  for (const Tensor& output : outputs) {
    Result result{.tensor = output, .shape = output.shape(), .dtype = output.dtype()};
    const auto memory = memory_of(output);
    const auto known = std::ranges::find(buffers, std::shared_ptr<const Buffer>(memory));
    const int position = static_cast<int>(known - buffers.begin()), count = static_cast<int>(inputs.size());
    if (memory != nullptr && (known != buffers.end() || collector.is_output(memory))) {
      result.elements = memory->size();
      if (position < count)
        result.input = position;
      else
        result.fresh = position - count;
      if (known == buffers.end()) buffers.push_back(memory);
    }
    results.push_back(std::move(result));
  }
  InputReplace replace = get_input_replace(cache.items, buffers);
  note_memory(cache, replace);
  if (options_.graphs) std::tie(cache, replace) = apply_graph_to_jit(session_.device(), cache, replace, vars, options_.batch_size);
  for (const auto& [place, position] : replace)  // the recording keeps no call's memory
    cache.items[static_cast<std::size_t>(place.first)].rawbufs[static_cast<std::size_t>(place.second)].reset();
  expected_ = expected_of(inputs, vars);
  std::erase_if(expected_.variables, [&](const std::string& name) { return !collector.variables().contains(name); });
  captured_ = std::move(captured);
  cache_ = std::move(cache);
  replace_ = std::move(replace);
  results_ = std::move(results);
  return outputs;
}

std::vector<Tensor> TinyJit::replay(const std::vector<Tensor>& inputs, const VarValues& vars) {
  std::vector<std::shared_ptr<Buffer>> buffers;
  for (const Tensor& input : inputs) buffers.push_back(memory_of(input));
  for (const Result& result : results_)
    if (result.fresh >= 0 && static_cast<std::size_t>(result.fresh) + inputs.size() == buffers.size())
      buffers.push_back(std::make_shared<Buffer>(session_.device(), result.elements, result.dtype));
  std::vector<std::vector<const Buffer*>> arguments;
  for (const JitItem& item : cache_.items) {
    arguments.emplace_back();
    for (const auto& buffer : item.rawbufs) arguments.back().push_back(buffer.get());
  }
  for (const auto& [place, position] : replace_)
    arguments[static_cast<std::size_t>(place.first)][static_cast<std::size_t>(place.second)] =
        buffers[static_cast<std::size_t>(position)].get();
  for_each_step(cache_.loops, static_cast<int>(cache_.items.size()), vars, [&](int j, const VarValues& values) {
    cache_.items[static_cast<std::size_t>(j)].prg->exec(arguments[static_cast<std::size_t>(j)], values);
  });
  std::vector<Tensor> outputs;
  for (const Result& result : results_) {
    if (result.fresh >= 0) {
      VarValues own;
      for (const Node* v : variables(result.shape)) own[v->name] = vars.at(v->name);
      outputs.push_back(session_.over(buffers[inputs.size() + static_cast<std::size_t>(result.fresh)], result.shape, std::move(own)));
    } else {
      outputs.push_back(result.input >= 0 ? inputs[static_cast<std::size_t>(result.input)].reshape(result.shape) : result.tensor);
    }
  }
  return outputs;
}

}  // namespace etch
