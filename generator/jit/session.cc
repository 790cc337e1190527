#include "jit/session.h"

#include <algorithm>
#include <set>

#include "base/naming.h"
#include "jit/capture.h"
#include "jit/jit_error.h"
#include "jit/run.h"
#include "lazy/tape.h"
#include "schedule/schedule.h"

namespace etch {
namespace {

const char* const kHostHelp = "do it before the function is called, or pass the tensor as an argument";

std::string describe(const Tensor& tensor) { return std::string(name_of(tensor.dtype())) + " " + shape_text(tensor.shape()); }

const LazyBuffer* base_of(const Tensor& tensor) { return tensor.buffer()->base; }

}  // namespace

Session::Session(std::shared_ptr<const Device> device) : device_(std::move(device)), graph_(LazyGraph::create()) {
  if (!device_) device_ = make_device("");
  std::string why;
  if (!device_->available(&why)) throw DeviceError("device " + device_->name(), "is not available: " + why);
}

Session::~Session() { graph_->forget_memory(); }  // devices keep the graph, whose kernels others may use

Sint Session::variable(const std::string& name, std::int64_t min, std::int64_t max) {
  const auto range_text = [](std::int64_t least, std::int64_t largest) {
    return "goes from " + std::to_string(least) + " to " + std::to_string(largest);
  };
  if (min < 0 || min > max) throw DeviceError("variable '" + name + "'", range_text(min, max), "accepted is 0 <= least <= largest");
  const auto is_number = [](char c) { return c >= '0' && c <= '9'; };
  const std::string stem(name.begin(), std::find_if(name.begin(), name.end(), is_number));
  const bool is_arguments = (stem == "in" || stem == "out") && std::ranges::all_of(name.substr(stem.size()), is_number);
  if (const auto known = ranges_.find(name); known != ranges_.end() && known->second != std::pair(min, max))
    throw DeviceError("variable '" + name + "'",
                      range_text(min, max) + "; where it was made first it " + range_text(known->second.first, known->second.second),
                      "a variable has one range in a session");
  if (c_identifier(name) != name || is_arguments || !graph_->take_name(name))
    throw DeviceError("variable '" + name + "'", "can't have that name", "accepted are identifiers of C that kernels and loops do not use");
  ranges_.emplace(name, std::pair(min, max));
  return graph_->symbols().variable(name, min, max);
}

void Session::bind(Sint variable, std::int64_t value) {
  forbid_host("binds a variable");
  if (variable.is_int()) return;  // it has one value
  check(variable.node()->kind == NodeKind::Variable, "a variable is bound");
  const Node& v = *variable.node();
  if (value < variable.min() || value > variable.max())
    throw DeviceError("variable '" + v.name + "'", "is " + std::to_string(value) + ", accepted is " + std::to_string(variable.min()) +
                                                       " to " + std::to_string(variable.max()));
  bound_[v.name] = value;
}

void Session::unbind(Sint variable) {
  forbid_host("unbinds a variable");
  if (!variable.is_int()) bound_.erase(variable.node()->name);
}

void Session::check_own(const Tensor& tensor) const {
  if (!tensor) throw DeviceError("tensor", "is empty: it was never given a value");
  if (&tensor.graph() != graph_.get()) throw DeviceError("tensor " + describe(tensor), "belongs to another session");
}

void Session::forbid_host(const std::string& what) const {
  if (collector_ != nullptr) throw JitError("recorded function", what + ", which no replay would repeat", kHostHelp);
}

const RealizedBuffer* Session::realized(const Tensor& tensor) {
  const LazyBuffer* base = base_of(tensor);
  const auto* memory = dynamic_cast<const RealizedBuffer*>(base->realized.get());
  if (memory == nullptr || !shows_base(tensor.buffer())) return nullptr;
  if (!memory->buffer) throw DeviceError("tensor " + describe(tensor), "was released");
  return memory;
}

Tensor Session::over(std::shared_ptr<Buffer> buffer, const Shape& shape, VarValues vars) {
  const LazyBuffer* made = graph_->input("", buffer->dtype(), shape);
  graph_->realize(made, std::make_shared<RealizedBuffer>(std::move(buffer), std::move(vars)));
  return {graph_.get(), made};
}

Tensor Session::from(const Array& values) { return from(values, Shape(values.shape().begin(), values.shape().end())); }

Tensor Session::from(const Array& values, const Shape& shape) {
  forbid_host("makes a tensor of values of the host");
  const auto refuse = [&](const std::string& what) -> DeviceError {
    return {"tensor of shape " + shape_text(shape),
            what + ": the array has " + shape_text(Shape(values.shape().begin(), values.shape().end()))};
  };
  if (shape.size() != values.shape().size()) throw refuse("has another rank than its values");
  VarValues vars;
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    const Sint size = shape[axis];
    const std::int64_t got = values.shape()[axis];
    if (size.is_int(got)) continue;
    const bool is_variable = !size.is_int() && size.node()->kind == NodeKind::Variable;
    if (!is_variable || got < size.min() || got > size.max() || !vars.try_emplace(size.node()->name, got).second)
      throw refuse("can't hold its values: axis " + std::to_string(axis) + " is " + to_text(size));
  }
  if (is_empty(shape)) return Tensor::constant(*graph_, values);
  auto buffer = std::make_shared<Buffer>(*device_, product(shape).max(), values.dtype());
  buffer->copyin(values.bytes());
  return over(std::move(buffer), shape, std::move(vars));
}

Tensor Session::empty(DType dtype, const Shape& shape) {
  if (is_empty(shape)) return Tensor::full(*graph_, shape, Scalar::of_int(dtype, 0));
  return over(std::make_shared<Buffer>(*device_, product(shape).max(), dtype), shape, {});
}

std::vector<Tensor> Session::realize(const std::vector<Tensor>& tensors) {
  return realize(tensors, std::vector<Memory>(tensors.size()), {});
}

std::vector<Tensor> Session::realize(const std::vector<Tensor>& tensors, const std::vector<Memory>& memory,
                                     const std::vector<VarValues>& vars) {
  for (const Tensor& tensor : tensors) check_own(tensor);
  std::vector<Tensor> results = tensors;
  std::vector<OutputSpec> wanted;
  std::vector<Memory> into;
  std::map<const LazyBuffer*, std::size_t> number;  // of each among the wanted ones; look-up only
  for (std::size_t k = 0; k < tensors.size(); k++) {
    if (is_empty(tensors[k].shape()) || (memory[k] == nullptr && realized(tensors[k]) != nullptr)) continue;
    if (memory[k] == nullptr && !number.try_emplace(tensors[k].buffer(), wanted.size()).second) continue;
    wanted.push_back({"", tensors[k]});
    into.push_back(memory[k]);
  }
  if (wanted.empty()) return results;
  const std::vector<Tensor> made = SessionRun(*this, wanted, into, vars).run();
  std::size_t next = 0;
  for (std::size_t k = 0; k < tensors.size(); k++) {
    if (next < wanted.size() && wanted[next].value.buffer() == tensors[k].buffer() && into[next] == memory[k])
      results[k] = Tape::as_noted(made[next++], tensors[k]);
    else if (const auto found = number.find(tensors[k].buffer()); found != number.end())
      results[k] = Tape::as_noted(made[found->second], tensors[k]);
  }
  return results;
}

Array Session::values(const Tensor& tensor) {
  forbid_host("reads values on the host");
  check_own(tensor);
  if (is_empty(tensor.shape()) || base_of(tensor)->constant) {
    if (const std::optional<Array> known = tensor.evaluate()) return *known;
  }
  const Tensor ready = realize(tensor);
  const RealizedBuffer& memory = *realized(ready);
  VarValues vars = bound_;
  for (const auto& [name, value] : memory.vars) vars[name] = value;
  std::vector<std::int64_t> shape;
  for (const Node* v : variables(ready.shape()))
    if (!vars.contains(v->name)) throw DeviceError("variable '" + v->name + "'", "has no value", "bind it");
  for (const Sint& size : ready.shape()) shape.push_back(evaluate(size, vars));
  return memory.buffer->toCPU(std::move(shape));
}

void Session::assign(const std::vector<Assignment>& assignments) {
  std::vector<Tensor> values;
  std::vector<Memory> memory;
  std::vector<VarValues> vars;
  std::vector<RealizedBuffer*> targets;
  std::set<const Buffer*> seen;
  for (const auto& [target, value] : assignments) {
    check_own(target);
    check_own(value);
    const std::string where = "assignment to " + describe(target);
    const RealizedBuffer* into = realized(target);
    targets.push_back(dynamic_cast<RealizedBuffer*>(base_of(target)->realized.get()));
    if (into == nullptr) throw DeviceError(where, "its target is not realized", "call realize first, and assign to its result");
    if (value.shape() != target.shape() || value.dtype() != target.dtype())
      throw DeviceError(where, "the value is " + describe(value), "shape and type have to be the target's");
    if (!seen.insert(into->buffer.get()).second) throw DeviceError(where, "is there twice in one call");
    values.push_back(value);
    vars.push_back(into->vars);
    if (collector_ != nullptr) collector_->add_use(into->buffer, into->vars);
    if (log_ != nullptr) log_->assigned.insert(into->buffer);
    memory.push_back(realized(value) == into ? nullptr : into->buffer);  // to itself: nothing to do
  }
  const std::vector<Tensor> made = realize(values, memory, vars);
  for (std::size_t k = 0; k < made.size(); k++)  // a target without values had none for its sizes either
    if (memory[k] != nullptr) targets[k]->vars = realized(made[k])->vars;
}

void Session::set_values(const Tensor& target, const Array& values) {
  forbid_host("sets values from the host");
  check_own(target);
  const RealizedBuffer* memory = realized(target);
  const std::string where = "values of " + describe(target);
  if (memory == nullptr) throw DeviceError(where, "the tensor is not realized", "call realize first, and set its result");
  if (Shape(values.shape().begin(), values.shape().end()) != target.shape() || values.dtype() != target.dtype())
    throw DeviceError(
        where,
        "the array is " + std::string(name_of(values.dtype())) + " " + shape_text(Shape(values.shape().begin(), values.shape().end())),
        "shape and type have to be the tensor's");
  memory->buffer->copyin(values.bytes());
}

void Session::release(const Tensor& tensor) {
  check_own(tensor);
  if (auto* memory = dynamic_cast<RealizedBuffer*>(base_of(tensor)->realized.get())) memory->buffer.reset();
}

Session::Memory Session::constant(const Array& data) {
  std::vector<std::pair<Array, Memory>>& alike = constants_[data.content_hash()];
  for (const auto& [array, memory] : alike)
    if (array == data) return memory;
  return alike.emplace_back(data, std::make_shared<Buffer>(Buffer::fromCPU(*device_, data))).second;
}

std::shared_ptr<JITRunner> Session::runner(const ProgramKernel& kernel) {
  if (kernel.external != nullptr) return device_->get_runner(kernel.external, kernel.arguments, graph_);
  std::shared_ptr<JITRunner>& known = runners_[kernel.ast];
  if (!known) known = device_->get_runner(kernel.ast, graph_);
  return known;
}

void Session::manual_seed(std::uint64_t seed) {
  forbid_host("sets the seed of random numbers");
  seed_ = seed;
  if (random_state_) realized(random_state_)->buffer->copyin(first_random_state().bytes());  // recordings draw from it, too
}

Array Session::first_random_state() const {
  const std::vector<std::int64_t> words{static_cast<std::int64_t>(seed_ & 0xFFFFFFFF), static_cast<std::int64_t>(seed_ >> 32), 0, 0};
  return Array::of_ints(DType::UInt32, {4}, words);
}

const Tensor& Session::random_state() {
  if (!random_state_) random_state_ = from(first_random_state());
  return random_state_;
}

Tensor Session::rand(const Shape& shape, DType dtype) {
  const Tensor& state = random_state();
  if (is_empty(shape)) return Tensor::full(*graph_, shape, Scalar::of_int(dtype, 0));
  const Tensor key = state.slice(0, 0, 2), counter = state.slice(0, 2, 4);
  const Tensor numbers = realize(Tensor::uniform(*graph_, shape, dtype, key, counter));
  // A draw takes as many numbers of the sequence as it has elements.
  const Tensor low = counter.slice(0, 0, 1), high = counter.slice(0, 1, 2);
  const Tensor next = low + Tensor::size_value(*graph_, product(shape), DType::UInt32).reshape({1});
  const Tensor carry = (next < low).cast(DType::UInt32);
  assign(state, Tensor::cat({key, next, high + carry}, 0));
  return numbers;
}

}  // namespace etch
