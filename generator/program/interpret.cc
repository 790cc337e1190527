#include "program/interpret.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "program/loops.h"

namespace etch {

Interpreter::Interpreter(const Program& program, ExternalCall external) : program_(&program), external_(std::move(external)) {
  for (const ProgramBuffer& buffer : program.buffers) values_.push_back(buffer.data);
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

Array Interpreter::evaluate(int call, const VarValues& values) {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  std::vector<const Array*> inputs;
  for (int b : c.reads()) inputs.push_back(&get(b));
  if (kernel.external != nullptr) {
    check(static_cast<bool>(external_), "somebody runs the functions in C");
    return external_(c, inputs, values);
  }
  check(kernel.ast != nullptr, "a kernel has an AST");
  return interp_evaluate(kernel.ast, inputs, values);
}

void Interpreter::set_written(int call, const Array& written, const VarValues& values) {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const int number = c.writes().front();
  const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(number)];
  std::vector<std::int64_t> shape;
  for (const Sint& d : buffer.shape) shape.push_back(etch::evaluate(d, values));
  if (!writes_part(*program_, c)) return set(number, written.reshaped(std::move(shape)));
  List& list = lists_[number];
  if (list.shape != shape) {
    std::int64_t size = bytes_of(buffer.dtype);
    for (std::int64_t d : shape) size *= d;
    list = {std::move(shape), std::vector<std::byte>(static_cast<std::size_t>(size))};
  }
  const auto at = static_cast<std::size_t>(first_element(*program_, c, values) * bytes_of(buffer.dtype));
  check(at + written.bytes().size() <= list.bytes.size(), "an element of a list lies inside the list");
  std::ranges::copy(written.bytes(), list.bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace etch
