#include "program/interpret.h"

#include <algorithm>

#include "base/error.h"
#include "program/loops.h"

namespace etch {

Interpreter::Interpreter(const Program& program) : program_(&program) {
  for (const ProgramBuffer& buffer : program.buffers) values_.push_back(buffer.data);
  for (const ProgramState& state : program.states) {
    const ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(state.buffer)];
    std::vector<std::int64_t> shape;
    for (const Sint& d : buffer.shape) shape.push_back(d.as_int());
    set(state.buffer, state.first < 0 ? Array::filled(buffer.dtype, shape, Scalar::of_int(buffer.dtype, 0))
                                      : values_[static_cast<std::size_t>(state.first)].reshaped(shape));
  }
}

void Interpreter::set(int buffer, Array value) {
  lists_.erase(buffer);
  values_[static_cast<std::size_t>(buffer)] = std::move(value);
}

const Array& Interpreter::get(int buffer) {
  Array& value = values_[static_cast<std::size_t>(buffer)];
  if (const auto list = lists_.find(buffer); list != lists_.end()) {
    value = Array(program_->buffers[static_cast<std::size_t>(buffer)].dtype, list->second.shape, std::move(list->second.bytes));
    lists_.erase(list);
  }
  return value;
}

bool Interpreter::can_evaluate(int call) const {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  return kernel.external == nullptr || kernel.external->reference;
}

std::vector<Array> Interpreter::evaluate(int call, const VarValues& values) {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  if (kernel.external != nullptr) return by_reference(c, *kernel.external, values);
  check(kernel.ast != nullptr, "a kernel has an AST");
  static const Array none;
  std::vector<const Array*> inputs(kernel.ast->src.size() - 1, &none);  // in the places of further outputs
  for (int b : c.reads()) inputs.push_back(&get(b));
  std::vector<Array> results;
  for (const LazyOp* store : stores_of(kernel.ast)) results.push_back(interp_evaluate(store, inputs, values));
  return results;
}

std::vector<Array> Interpreter::by_reference(const ProgramCall& call, const ExternalKernel& external, const VarValues& values) {
  check(static_cast<bool>(external.reference), "a function in C is evaluated by its reference");
  std::vector<const Array*> inputs;
  for (int b : call.reads()) inputs.push_back(&get(b));
  std::vector<std::vector<std::int64_t>> shapes;
  for (const ExternalOutput& output : external.outputs) {
    shapes.emplace_back();
    for (const Sint& d : output.shape) shapes.back().push_back(etch::evaluate(d, values));
  }
  return external.reference(inputs, shapes);
}

void Interpreter::set_written(int call, int output, const Array& written, const VarValues& values) {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const int number = c.arguments[static_cast<std::size_t>(output)].buffer;
  const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(number)];
  std::vector<std::int64_t> shape;
  for (const Sint& d : buffer.shape) shape.push_back(etch::evaluate(d, values));
  if (!writes_part(*program_, c, output)) return set(number, written.reshaped(std::move(shape)));
  List& list = lists_[number];
  if (list.shape != shape) {
    std::int64_t size = bytes_of(buffer.dtype);
    for (std::int64_t d : shape) size *= d;
    list = {std::move(shape), std::vector<std::byte>(static_cast<std::size_t>(size))};
  }
  const auto at = static_cast<std::size_t>(first_element(*program_, c, output, values) * bytes_of(buffer.dtype));
  check(at + written.bytes().size() <= list.bytes.size(), "an element of a list lies inside the list");
  std::ranges::copy(written.bytes(), list.bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace etch
