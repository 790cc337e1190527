#include "jit/run.h"

#include <algorithm>
#include <set>

#include "base/subscript.h"
#include "device/loaded_kernel.h"
#include "device/replay.h"
#include "jit/jit_error.h"
#include "program/loops.h"
#include "program/lower.h"

namespace etch {
namespace {

// Whether kernels give a base its values as a whole, so that these may be kept in its place.
bool may_keep(const LazyBuffer* base) { return !base->constant && (is_computed(base) || base->kind == LazyKind::LoopResult); }

}  // namespace

std::vector<Tensor> SessionRun::run() {
  check_carried();
  schedule_ = create_schedule(*session_.graph_, wanted_);
  program_ = lower(session_.graph_, schedule_, {});
  find_values();
  find_memory();
  run_calls();
  std::vector<Tensor> results = keep_results();
  copy_late(results);
  return results;
}

void SessionRun::check_carried() const {
  std::vector<const LazyBuffer*> roots;
  for (const OutputSpec& spec : wanted_) roots.push_back(spec.value.buffer()->base);
  std::set<const LazyLoop*> run;
  const std::vector<const LazyBuffer*> order = toposort_bases(roots);
  for (const LazyBuffer* b : order)
    if (b->kind == LazyKind::LoopResult) run.insert(b->loop);
  for (const LazyBuffer* b : order)
    if (b->kind == LazyKind::Carried && !run.contains(b->loop))
      throw DeviceError("a carried value of a loop", "has no value outside of the loop's turns", "use what Tensor::loop returns");
}

// The values of variables are those that are bound, and those that realized inputs were made with.
void SessionRun::find_values() {
  for (const auto& [name, value] : session_.bound_) add_value(name, value);
  for (const LazyBuffer* input : schedule_.inputs) {
    const auto* memory = dynamic_cast<const RealizedBuffer*>(input->realized.get());
    const std::string where = "tensor " + std::string(name_of(input->dtype)) + " " + shape_text(input->shape());
    if (memory == nullptr) throw DeviceError(where + (input->name.empty() ? "" : " '" + input->name + "'"), "is an input without values");
    if (!memory->buffer) throw DeviceError(where, "was released");
    for (const auto& [name, value] : memory->vars) add_value(name, value);
    if (session_.collector_ != nullptr) session_.collector_->add_use(memory->buffer, memory->vars);
  }
  for (const VarValues& vars : vars_)
    for (const auto& [name, value] : vars) add_value(name, value);
  check_values("variable", program_.variables, values_);
  if (session_.collector_ != nullptr) session_.collector_->add_variables(program_.variables);
}

void SessionRun::add_value(const std::string& name, std::int64_t value) {
  const auto [known, added] = values_.try_emplace(name, value);
  if (!added && known->second != value)
    throw DeviceError("variable '" + name + "'", "is " + std::to_string(known->second) + " and " + std::to_string(value) + " at once",
                      "tensors that are used together have the same sizes");
}

// Whether what target `output` held is not read any more when its new values are written.
bool SessionRun::may_write_at_once(std::size_t output) const {
  if (!program_.loops.empty()) return false;
  const int written = program_.outputs[output];
  for (std::size_t k = 0; k < program_.inputs.size(); k++) {
    const auto& memory = dynamic_cast<const RealizedBuffer&>(*schedule_.inputs[k]->realized);
    if (memory.buffer != into_[output]) continue;
    bool is_written = false;
    for (const ProgramCall& call : program_.calls) {
      std::uint32_t bit = 0;  // of the output among those of the call; 0: it writes others
      std::uint32_t next = 1;
      for (const int b : call.writes()) {
        if (b == written) bit = next;
        next <<= 1;
      }
      for (const CallArgument& a : call.arguments) {
        if (a.access != Access::Read || a.buffer != program_.inputs[k]) continue;
        if (is_written || (bit != 0 && (a.may_alias & bit) == 0)) return false;
      }
      is_written = is_written || bit != 0;
    }
  }
  return true;
}

void SessionRun::find_memory() {
  memory_.resize(program_.buffers.size());
  for (std::size_t k = 0; k < program_.inputs.size(); k++)
    memory_[at(program_.inputs[k])] = dynamic_cast<const RealizedBuffer&>(*schedule_.inputs[k]->realized).buffer;
  for (std::size_t k = 0; k < wanted_.size(); k++) {
    if (into_[k] == nullptr) continue;
    if (may_write_at_once(k))
      memory_[at(program_.outputs[k])] = into_[k];
    else
      late_.push_back({k, into_[k]});
  }
}

SessionRun::Memory SessionRun::memory_of(int buffer) {
  Memory& memory = memory_[at(buffer)];
  if (memory) return memory;
  const ProgramBuffer& wanted = program_.buffers[at(buffer)];
  if (wanted.kind == BufferKind::Constant) return memory = session_.constant(wanted.data);
  memory = std::make_shared<Buffer>(session_.device(), wanted.max_elements, wanted.dtype);
  if (session_.log_ != nullptr && wanted.kind == BufferKind::Output) session_.log_->made.insert(memory);
  if (CacheCollector* collector = session_.collector_) {
    if (wanted.kind == BufferKind::Intermediate)
      collector->add_temporary(memory);
    else
      collector->add_output(memory);
  }
  return memory;
}

void SessionRun::run_calls() {
  const std::vector<int> last_use = last_uses(program_);
  std::vector<JitItem> items(program_.calls.size());
  for_each_call(program_, values_, [&](int c, const VarValues& values) {
    const ProgramCall& call = program_.calls[at(c)];
    std::vector<const Buffer*> buffers;
    JitItem& item = items[at(c)];
    const bool is_first = item.prg == nullptr;
    if (is_first) item.prg = session_.runner(program_.kernels[at(call.kernel)]);
    for (const int b : call.buffers()) {
      const Memory memory = memory_of(b);
      buffers.push_back(memory.get());
      if (is_first) item.rawbufs.push_back(memory);
    }
    item.prg->exec(buffers, values);
    for (const int b : call.buffers())
      if (session_.collector_ == nullptr && last_use[at(b)] == c && program_.buffers[at(b)].kind == BufferKind::Intermediate)
        memory_[at(b)].reset();
    if (session_.collector_ == nullptr) item.rawbufs.clear();
  });
  if (session_.collector_ == nullptr) return;
  for (std::size_t c = 0; c < items.size(); c++) {  // of loops without turns: a replay may have some
    if (items[c].prg) continue;
    const ProgramCall& call = program_.calls[c];
    items[c].prg = session_.runner(program_.kernels[at(call.kernel)]);
    for (const int b : call.buffers()) items[c].rawbufs.push_back(memory_of(b));
  }
  session_.collector_->add(std::move(items), program_.loops);
}

std::vector<Tensor> SessionRun::keep_results() {
  std::vector<Tensor> results;
  for (std::size_t k = 0; k < wanted_.size(); k++) {
    const Tensor& tensor = wanted_[k].value;
    const LazyBuffer* base = tensor.buffer()->base;
    const Memory memory = memory_of(program_.outputs[k]);
    VarValues own;
    for (const Node* v : variables(tensor.shape())) own[v->name] = values_.at(v->name);
    if (may_keep(base) && shows_base(tensor.buffer())) {
      session_.graph_->realize(base, std::make_shared<RealizedBuffer>(memory, std::move(own)));
      results.push_back(tensor);
    } else {
      results.push_back(session_.over(memory, tensor.shape(), std::move(own)));
    }
  }
  return results;
}

// Here every value has memory of its own.
void SessionRun::copy_late(std::vector<Tensor>& results) {
  if (late_.empty()) return;
  std::vector<OutputSpec> copies;
  std::vector<Memory> targets;
  for (const LateCopy& late : late_) {
    copies.push_back({"", {session_.graph_.get(), session_.graph_->copy(results[late.output].buffer())}});
    targets.push_back(late.target);
  }
  const std::vector<Tensor> copied = SessionRun(session_, copies, targets).run();
  for (std::size_t k = 0; k < late_.size(); k++) {
    Tensor& result = results[late_[k].output];
    auto* first = dynamic_cast<RealizedBuffer*>(result.buffer()->base->realized.get());
    if (first != nullptr) first->buffer = late_[k].target;  // the memory in between is given back
    result = copied[k];
  }
}

}  // namespace etch
