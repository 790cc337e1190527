#include "device/replay.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>

namespace etch {
namespace {

constexpr std::int64_t kGuard = 256;   // bytes before and after a buffer; keeps the alignment
constexpr std::byte kGuardByte{0xFF};  // a float that is read from it is NaN

std::string ints_text(const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (std::size_t k = 0; k < values.size(); k++) text += (k == 0 ? "" : ",") + std::to_string(values[k]);
  return text + "]";
}

}  // namespace

std::vector<std::int64_t> shape_of(const ProgramBuffer& buffer, const VarValues& vars) {
  std::vector<std::int64_t> shape;
  for (const Sint& d : buffer.shape) shape.push_back(evaluate(d, vars));
  return shape;
}

std::int64_t elements_of(const ProgramBuffer& buffer, const VarValues& vars) {
  if (buffer.kind == BufferKind::Constant) return buffer.data.size();  // may be laid out anew, in another number of elements
  std::int64_t n = 1;
  for (std::int64_t d : shape_of(buffer, vars)) n *= d;
  return n;
}

void check_run(const Program& program, const std::vector<Array>& inputs, const VarValues& vars) {
  for (const ProgramVariable& v : program.variables) {
    const auto found = vars.find(v.name);
    const std::string range = std::to_string(v.min) + " to " + std::to_string(v.max);
    if (found == vars.end()) throw DeviceError("dimension '" + v.name + "'", "has no value", "give it one from " + range);
    if (found->second < v.min || found->second > v.max)
      throw DeviceError("dimension '" + v.name + "'", "is " + std::to_string(found->second) + ", accepted is " + range);
  }
  if (inputs.size() != program.inputs.size())
    throw DeviceError("inputs",
                      "there are " + std::to_string(inputs.size()) + ", the program takes " + std::to_string(program.inputs.size()));
  for (std::size_t k = 0; k < inputs.size(); k++) {
    const ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(program.inputs[k])];
    const std::vector<std::int64_t> shape = shape_of(buffer, vars);
    if (inputs[k].dtype() == buffer.dtype && inputs[k].shape() == shape) continue;
    throw DeviceError("input '" + buffer.name + "'", "is " + std::string(name_of(inputs[k].dtype())) + " " + ints_text(inputs[k].shape()) +
                                                         ", the program takes " + std::string(name_of(buffer.dtype)) + " " +
                                                         ints_text(shape));
  }
}

std::vector<int> last_uses(const Program& program) {
  std::vector<int> last(program.buffers.size(), -1);
  for (std::size_t c = 0; c < program.calls.size(); c++)
    for (int b : program.calls[c].buffers) last[static_cast<std::size_t>(b)] = static_cast<int>(c);
  for (int b : program.outputs) last[static_cast<std::size_t>(b)] = static_cast<int>(program.calls.size());
  return last;
}

Replay::Replay(const Program& program, bool guards)
    : program_(&program), guards_(guards), last_use_(last_uses(program)), constants_(program.buffers.size()) {
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    if (program.buffers[b].kind != BufferKind::Constant || last_use_[b] < 0) continue;
    const auto bytes = program.buffers[b].data.bytes();
    constants_[b] = make(static_cast<std::int64_t>(bytes.size()));
    std::ranges::copy(bytes, data(constants_[b]));
  }
}

Buffer Replay::make(std::int64_t bytes) {
  try {
    Buffer buffer(allocator_, bytes + (guards_ ? 2 * kGuard : 0));
    if (guards_) std::memset(buffer.memory(), static_cast<int>(kGuardByte), static_cast<std::size_t>(buffer.bytes()));
    return buffer;
  } catch (const std::bad_alloc&) {
    throw DeviceError("memory", "there are no " + std::to_string(bytes) + " bytes for a buffer", "run on a machine with more memory");
  }
}

std::byte* Replay::data(const Buffer& buffer) const { return static_cast<std::byte*>(buffer.memory()) + (guards_ ? kGuard : 0); }

void Replay::check_guards(std::span<const Buffer> buffers, int call) const {
  for (std::size_t b = 0; b < buffers.size(); b++) {
    const Buffer& buffer = buffers[b];
    if (buffer.memory() == nullptr) continue;
    const auto* memory = static_cast<const std::byte*>(buffer.memory());
    for (std::int64_t k = 0; k < kGuard; k++) {
      const std::int64_t after = buffer.bytes() - kGuard + k;
      if (memory[k] == kGuardByte && memory[after] == kGuardByte) continue;
      const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
      const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
      const std::string where =
          memory[k] == kGuardByte ? std::to_string(k) + " bytes after the end" : std::to_string(kGuard - k) + " bytes before the start";
      throw DeviceError("call " + std::to_string(call) + ", kernel '" + kernel.name + "'",
                        "wrote " + where + " of buffer '" + program_->buffers[b].name + "'",
                        "this is a bug of etch: please report it with the model");
    }
  }
}

Array Replay::read(const Buffer& buffer, int index, const VarValues& vars) const {
  const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(index)];
  if (b.kind == BufferKind::Constant) return b.data;
  const auto bytes = static_cast<std::size_t>(elements_of(b, vars) * bytes_of(b.dtype));
  const std::byte* from = data(buffer);
  return {b.dtype, shape_of(b, vars), std::vector<std::byte>(from, from + bytes)};
}

std::vector<Array> Replay::run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options,
                               const CallFunction& function) {
  check_run(*program_, inputs, vars);
  std::vector<Buffer> buffers(program_->buffers.size());
  const auto buffer_of = [&](int b) -> Buffer& {
    const auto at = static_cast<std::size_t>(b);
    return constants_[at].memory() != nullptr ? constants_[at] : buffers[at];
  };
  for (std::size_t k = 0; k < inputs.size(); k++) {
    Buffer& buffer = buffers[static_cast<std::size_t>(program_->inputs[k])];
    buffer = make(static_cast<std::int64_t>(inputs[k].bytes().size()));
    std::ranges::copy(inputs[k].bytes(), data(buffer));
  }
  if (options.call_seconds != nullptr) options.call_seconds->clear();
  std::vector<std::byte*> memory;
  std::vector<std::int64_t> elements;
  for (int c = 0; c < static_cast<int>(program_->calls.size()); c++) {
    const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
    memory.clear();
    elements.clear();
    for (int b : call.buffers) {
      const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(b)];
      elements.push_back(elements_of(buffer, vars));
      if (buffer_of(b).memory() == nullptr) buffers[static_cast<std::size_t>(b)] = make(elements.back() * bytes_of(buffer.dtype));
      memory.push_back(data(buffer_of(b)));
    }
    const auto begin = std::chrono::steady_clock::now();
    function(call, memory, elements);
    if (options.call_seconds != nullptr)
      options.call_seconds->push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (guards_) {
      check_guards(buffers, c);
      check_guards(constants_, c);
    }
    if (options.tap) options.tap(c, read(buffer_of(call.buffers[0]), call.buffers[0], vars));
    for (int b : call.buffers)
      if (last_use_[static_cast<std::size_t>(b)] == c) buffers[static_cast<std::size_t>(b)] = Buffer();
  }
  std::vector<Array> outputs;
  for (int b : program_->outputs) {
    const ProgramBuffer& output = program_->buffers[static_cast<std::size_t>(b)];
    if (elements_of(output, vars) == 0) {  // no call writes it
      outputs.emplace_back(output.dtype, shape_of(output, vars), std::vector<std::byte>());
      continue;
    }
    check(buffer_of(b).memory() != nullptr, "every output of a program is written");
    outputs.push_back(read(buffer_of(b), b, vars));
  }
  return outputs;
}

}  // namespace etch
