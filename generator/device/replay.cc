#include "device/replay.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "device/loaded_kernel.h"
#include "program/loops.h"

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
  if (buffer.kind == BufferKind::Constant) return buffer.data.size();  // a new layout may have another number of elements
  std::int64_t n = 1;
  for (std::int64_t d : shape_of(buffer, vars)) n *= d;
  return n;
}

void check_run(const Program& program, const std::vector<Array>& inputs, const VarValues& vars) {
  check_values("dimension", program.variables, vars);
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

std::vector<std::byte> first_bytes(const Program& program, const ProgramState& state) {
  if (state.first < 0)
    return std::vector<std::byte>(static_cast<std::size_t>(program.buffers[static_cast<std::size_t>(state.buffer)].max_bytes()));
  const std::span<const std::byte> bytes = program.buffers[static_cast<std::size_t>(state.first)].data.bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<int> last_uses(const Program& program) {
  std::vector<int> last(program.buffers.size(), -1);
  for (std::size_t c = 0; c < program.calls.size(); c++)
    for (int b : program.calls[c].buffers()) last[static_cast<std::size_t>(b)] = static_cast<int>(c);
  for (const ProgramLoop& loop : program.loops)
    for (std::size_t b = 0; b < last.size(); b++)
      if (flows_into(program, loop, static_cast<int>(b))) last[b] = static_cast<int>(program.calls.size());
  for (int b : program.outputs) last[static_cast<std::size_t>(b)] = static_cast<int>(program.calls.size());
  return last;
}

Array written_by(const Program& program, const ProgramCall& call, int output, std::span<const std::byte> bytes, const VarValues& values) {
  const ProgramBuffer& buffer = program.buffers[static_cast<std::size_t>(call.arguments[static_cast<std::size_t>(output)].buffer)];
  const auto array = [&](std::vector<std::int64_t> shape, std::span<const std::byte> part) {
    return Array(buffer.dtype, std::move(shape), std::vector<std::byte>(part.begin(), part.end()));
  };
  if (!writes_part(program, call, output)) return array(shape_of(buffer, values), bytes);
  std::vector<std::int64_t> shape;
  std::int64_t size = 1;
  const LazyOp* ast = program.kernels[static_cast<std::size_t>(call.kernel)].ast;
  for (const Sint& d : stores_of(ast)[static_cast<std::size_t>(output)]->shape) size *= shape.emplace_back(evaluate(d, values));
  const std::int64_t width = bytes_of(buffer.dtype), first = first_element(program, call, output, values);
  return array(std::move(shape), bytes.subspan(static_cast<std::size_t>(first * width), static_cast<std::size_t>(size * width)));
}

Replay::Replay(const Program& program, const PlanOptions& plan, bool guards, std::shared_ptr<Allocator> allocator)
    : program_(&program),
      guards_(guards),
      plan_(plan_memory(program, plan)),
      allocator_(std::move(allocator)),
      constants_(program.buffers.size()) {
  const std::vector<int> last_use = last_uses(program);
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    if (program.buffers[b].kind != BufferKind::Constant || last_use[b] < 0) continue;
    const auto bytes = program.buffers[b].data.bytes();
    constants_[b] = make(static_cast<std::int64_t>(bytes.size()));
    std::ranges::copy(bytes, data(constants_[b]));
  }
  for (const ProgramState& state : program.states) {
    const auto b = static_cast<std::size_t>(state.buffer);
    constants_[b] = make(program.buffers[b].max_bytes());
  }
  reset_state();
  for (const ArenaPlan& arena : plan_.arenas) arenas_.push_back(make(arena.bytes));
}

void Replay::reset_state() {
  for (const ProgramState& state : program_->states)
    std::ranges::copy(first_bytes(*program_, state), data(constants_[static_cast<std::size_t>(state.buffer)]));
}

// A piece of at least one byte, also for what has no elements: kernels get an address for each of their arguments.
DeviceMemory Replay::make(std::int64_t bytes) {
  DeviceMemory memory(*allocator_, guards_ ? bytes + 2 * kGuard : std::max(bytes, std::int64_t{1}));
  if (guards_)
    std::memset(allocator_->host_address(memory.opaque()), static_cast<int>(kGuardByte), static_cast<std::size_t>(memory.bytes()));
  return memory;
}

std::byte* Replay::data(const DeviceMemory& memory) const { return allocator_->host_address(memory.opaque()) + (guards_ ? kGuard : 0); }

bool Replay::is_in_arena(int buffer) const { return plan_.placements[static_cast<std::size_t>(buffer)].offset >= 0; }

std::byte* Replay::place(const Run& run, int index) const {
  const auto b = static_cast<std::size_t>(index);
  const Placement& placement = plan_.placements[b];
  if (placement.offset >= 0) return data(arenas_[static_cast<std::size_t>(placement.pool)]) + placement.offset;
  return data(constants_[b].opaque() != nullptr ? constants_[b] : run.io[b]);
}

std::int64_t Replay::bytes_now(const Run& run, int index) const {
  const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(index)];
  return elements_of(buffer, run.vars) * bytes_of(buffer.dtype);
}

// Fills the outputs of the call with NaN, except those that lie over one of its inputs or a part of it.
void Replay::prepare_guards(const Run& run, const ProgramCall& call) {
  int output = -1;
  for (int b : call.writes()) {
    output++;
    const Placement& placement = plan_.placements[static_cast<std::size_t>(b)];
    const auto lies_over = [&](int in) {
      const std::byte *from = place(run, b), *other = place(run, in);
      return std::less()(from, other + bytes_now(run, in)) && std::less()(other, from + bytes_now(run, b));
    };
    const bool is_read = writes_part(*program_, call, output) || std::ranges::any_of(call.reads(), lies_over);
    if (placement.offset >= 0 && !is_read)
      std::memset(place(run, b), static_cast<int>(kGuardByte), static_cast<std::size_t>(bytes_now(run, b)));
  }
  before_.clear();
  for (std::size_t a = 0; a < arenas_.size(); a++) before_.emplace_back(data(arenas_[a]), data(arenas_[a]) + plan_.arenas[a].bytes);
}

std::string Replay::arena_name(std::size_t arena) const {
  return program_->pools.empty() ? "the arena" : "the arena of pool " + program_->pools[arena].name;
}

void Replay::fail(int call, const std::string& what) const {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  throw DeviceError("call " + std::to_string(call) + ", kernel '" + kernel.name + "'", what,
                    "this is a bug of etch: please report it with the model");
}

void Replay::check_zone(const DeviceMemory& memory, const std::string& name, int call) const {
  const std::byte* at = allocator_->host_address(memory.opaque());
  for (std::int64_t k = 0; k < kGuard; k++) {
    if (at[k] != kGuardByte) fail(call, "wrote " + std::to_string(kGuard - k) + " bytes before the start of " + name);
    if (at[memory.bytes() - kGuard + k] != kGuardByte) fail(call, "wrote " + std::to_string(k) + " bytes after the end of " + name);
  }
}

// Checks that the call has not changed any byte of the arena outside of its outputs.
void Replay::check_arena(const Run& run, int call, std::size_t arena) const {
  auto writes = program_->calls[static_cast<std::size_t>(call)].writes();
  std::vector<std::span<const std::byte>> outputs;
  for (const int b : writes) outputs.emplace_back(place(run, b), static_cast<std::size_t>(bytes_now(run, b)));
  const auto is_written = [&](const std::byte* at) {
    return std::ranges::any_of(outputs, [&](const auto& out) { return out.data() <= at && at < out.data() + out.size(); });
  };
  for (std::int64_t k = 0; k < plan_.arenas[arena].bytes; k++) {
    const std::byte* at = data(arenas_[arena]) + k;
    if (*at == before_[arena][static_cast<std::size_t>(k)] || is_written(at)) continue;
    const int out = writes.front();
    const std::string buffer = "buffer '" + program_->buffers[static_cast<std::size_t>(out)].name + "'";
    const Placement& placement = plan_.placements[static_cast<std::size_t>(out)];
    if (placement.offset < 0 || placement.pool != static_cast<int>(arena))
      fail(call, "wrote byte " + std::to_string(k) + " of " + arena_name(arena) + " instead of " + buffer);
    const std::int64_t after = at - (place(run, out) + bytes_now(run, out)), before = place(run, out) - at;
    fail(call,
         "wrote " +
             (after >= 0 ? std::to_string(after) + " bytes after the end of " : std::to_string(before) + " bytes before the start of ") +
             buffer);
  }
}

void Replay::check_guards(const Run& run, int call) const {
  for (std::size_t b = 0; b < program_->buffers.size(); b++)
    for (const DeviceMemory* memory : {&run.io[b], &constants_[b]})
      if (memory->opaque() != nullptr) check_zone(*memory, "buffer '" + program_->buffers[b].name + "'", call);
  for (std::size_t a = 0; a < arenas_.size(); a++) {
    check_zone(arenas_[a], arena_name(a), call);
    check_arena(run, call, a);
  }
}

Array Replay::read(const Run& run, int index) const {
  const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(index)];
  if (b.kind == BufferKind::Constant) return b.data;
  const std::byte* from = place(run, index);
  return {b.dtype, shape_of(b, run.vars), std::vector<std::byte>(from, from + bytes_now(run, index))};
}

Array Replay::written(const Run& run, const ProgramCall& call, int output, const VarValues& values) const {
  const int index = call.arguments[static_cast<std::size_t>(output)].buffer;
  return written_by(*program_, call, output, {place(run, index), static_cast<std::size_t>(bytes_now(run, index))}, values);
}

std::vector<Array> Replay::run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options,
                               const CallFunction& function) {
  check_run(*program_, inputs, vars);
  Run run{vars, std::vector<DeviceMemory>(program_->buffers.size())};
  for (std::size_t k = 0; k < inputs.size(); k++) {
    DeviceMemory& input = run.io[static_cast<std::size_t>(program_->inputs[k])];
    if (!is_in_arena(program_->inputs[k])) input = make(static_cast<std::int64_t>(inputs[k].bytes().size()));
    std::ranges::copy(inputs[k].bytes(), place(run, program_->inputs[k]));
  }
  for (int b : program_->outputs) {
    DeviceMemory& output = run.io[static_cast<std::size_t>(b)];
    if (program_->buffers[static_cast<std::size_t>(b)].kind == BufferKind::Output && !is_in_arena(b)) output = make(bytes_now(run, b));
  }
  if (options.call_seconds != nullptr) options.call_seconds->assign(program_->calls.size(), 0);
  std::vector<std::byte*> memory;
  for_each_call(*program_, vars, [&](int c, const VarValues& values) {
    const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
    memory.clear();
    for (int b : call.buffers()) memory.push_back(place(run, b));
    if (guards_) prepare_guards(run, call);
    const auto begin = std::chrono::steady_clock::now();
    function(call, values, memory);
    if (options.call_seconds != nullptr)
      (*options.call_seconds)[static_cast<std::size_t>(c)] +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (guards_) check_guards(run, c);
    const int outputs = options.tap ? static_cast<int>(std::ranges::distance(call.writes())) : 0;
    for (int output = 0; output < outputs; output++) options.tap(c, output, written(run, call, output, values));
  });
  std::vector<Array> outputs;
  for (int b : program_->outputs) outputs.push_back(read(run, b));
  return outputs;
}

}  // namespace etch
