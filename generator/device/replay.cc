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
  if (buffer.kind == BufferKind::Constant) return buffer.data.size();  // a new layout may have another number of elements
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
    for (int b : program.calls[c].buffers()) last[static_cast<std::size_t>(b)] = static_cast<int>(c);
  for (int b : program.outputs) last[static_cast<std::size_t>(b)] = static_cast<int>(program.calls.size());
  return last;
}

LaunchSize launch_size(const ProgramKernel& kernel, const VarValues& vars) {
  LaunchSize size;
  check(kernel.global_size.size() <= size.groups.size() && kernel.local_size.size() <= size.local.size(),
        "a grid has at most three dimensions");
  for (std::size_t d = 0; d < kernel.global_size.size(); d++) size.groups[d] = evaluate(kernel.global_size[d], vars);
  for (std::size_t d = 0; d < kernel.local_size.size(); d++) size.local[d] = evaluate(kernel.local_size[d], vars);
  size.driver_groups = kernel.driver_groups;
  return size;
}

LaunchSize in_groups(const LaunchSize& size) {
  LaunchSize result = size;
  result.driver_groups = false;
  std::int64_t most = kDriverItems;
  for (std::size_t d = 0; d < 3 && size.driver_groups; d++) {
    std::int64_t items = std::min(most, std::max<std::int64_t>(size.groups[d], 1));
    while (size.groups[d] % items != 0) items--;
    result.groups[d] = size.groups[d] / items;
    result.local[d] = items;
    most /= items;
  }
  return result;
}

void check_size(const LaunchSize& size, const GridLimits& limits, const std::string& where) {
  for (std::size_t d = 0; d < 3; d++) {
    if (size.groups[d] <= limits.groups[d] && size.local[d] <= limits.items[d]) continue;
    throw DeviceError(where, "dimension " + std::to_string(d) + " has " + std::to_string(size.groups[d]) + " work-groups of " +
                                 std::to_string(size.local[d]) + " items, CUDA takes at most " + std::to_string(limits.groups[d]) + " of " +
                                 std::to_string(limits.items[d]));
  }
}

Replay::Replay(const Program& program, const PlanOptions& plan, bool guards, Allocator* memory)
    : program_(&program),
      guards_(guards),
      plan_(plan_memory(program, plan)),
      allocator_(memory != nullptr ? *memory : host_),
      constants_(program.buffers.size()) {
  const std::vector<int> last_use = last_uses(program);
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    if (program.buffers[b].kind != BufferKind::Constant || last_use[b] < 0) continue;
    const auto bytes = program.buffers[b].data.bytes();
    constants_[b] = make(static_cast<std::int64_t>(bytes.size()));
    std::ranges::copy(bytes, data(constants_[b]));
  }
  arena_ = make(plan_.arena_bytes);
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

std::byte* Replay::place(const Run& run, int index) const {
  const auto b = static_cast<std::size_t>(index);
  const std::int64_t offset = plan_.placements[b].offset;
  if (offset >= 0) return data(arena_) + offset;
  return data(constants_[b].memory() != nullptr ? constants_[b] : run.io[b]);
}

std::int64_t Replay::bytes_now(const Run& run, int index) const {
  const ProgramBuffer& buffer = program_->buffers[static_cast<std::size_t>(index)];
  return elements_of(buffer, run.vars) * bytes_of(buffer.dtype);
}

// Fills the outputs of the call with NaN, except those that lie over one of its inputs.
void Replay::prepare_guards(const Run& run, const ProgramCall& call) {
  for (int b : call.writes()) {
    const Placement& placement = plan_.placements[static_cast<std::size_t>(b)];
    const bool is_read = std::ranges::any_of(call.reads(), [&](int in) { return in == b || in == placement.in_place_of; });
    if (placement.offset >= 0 && !is_read)
      std::memset(place(run, b), static_cast<int>(kGuardByte), static_cast<std::size_t>(bytes_now(run, b)));
  }
  before_.assign(data(arena_), data(arena_) + plan_.arena_bytes);
}

void Replay::fail(int call, const std::string& what) const {
  const ProgramCall& c = program_->calls[static_cast<std::size_t>(call)];
  const ProgramKernel& kernel = program_->kernels[static_cast<std::size_t>(c.kernel)];
  throw DeviceError("call " + std::to_string(call) + ", kernel '" + kernel.name + "'", what,
                    "this is a bug of etch: please report it with the model");
}

void Replay::check_zone(const Buffer& buffer, const std::string& name, int call) const {
  const auto* memory = static_cast<const std::byte*>(buffer.memory());
  for (std::int64_t k = 0; k < kGuard; k++) {
    if (memory[k] != kGuardByte) fail(call, "wrote " + std::to_string(kGuard - k) + " bytes before the start of " + name);
    if (memory[buffer.bytes() - kGuard + k] != kGuardByte) fail(call, "wrote " + std::to_string(k) + " bytes after the end of " + name);
  }
}

// Checks that the call has not changed any byte of the arena outside of its outputs.
void Replay::check_arena(const Run& run, int call) const {
  auto writes = program_->calls[static_cast<std::size_t>(call)].writes();
  const auto is_written = [&](const std::byte* at) {
    return std::ranges::any_of(writes, [&](int b) { return place(run, b) <= at && at < place(run, b) + bytes_now(run, b); });
  };
  for (std::int64_t k = 0; k < plan_.arena_bytes; k++) {
    const std::byte* at = data(arena_) + k;
    if (*at == before_[static_cast<std::size_t>(k)] || is_written(at)) continue;
    const int out = writes.front();
    const std::string buffer = "buffer '" + program_->buffers[static_cast<std::size_t>(out)].name + "'";
    if (plan_.placements[static_cast<std::size_t>(out)].offset < 0)
      fail(call, "wrote byte " + std::to_string(k) + " of the arena instead of " + buffer);
    const std::int64_t after = at - (place(run, out) + bytes_now(run, out)), before = place(run, out) - at;
    fail(call,
         "wrote " +
             (after >= 0 ? std::to_string(after) + " bytes after the end of " : std::to_string(before) + " bytes before the start of ") +
             buffer);
  }
}

void Replay::check_guards(const Run& run, int call) const {
  for (std::size_t b = 0; b < program_->buffers.size(); b++)
    for (const Buffer* buffer : {&run.io[b], &constants_[b]})
      if (buffer->memory() != nullptr) check_zone(*buffer, "buffer '" + program_->buffers[b].name + "'", call);
  check_zone(arena_, "the arena", call);
  check_arena(run, call);
}

Array Replay::read(const Run& run, int index) const {
  const ProgramBuffer& b = program_->buffers[static_cast<std::size_t>(index)];
  if (b.kind == BufferKind::Constant) return b.data;
  const std::byte* from = place(run, index);
  return {b.dtype, shape_of(b, run.vars), std::vector<std::byte>(from, from + bytes_now(run, index))};
}

std::vector<Array> Replay::run(const std::vector<Array>& inputs, const VarValues& vars, const RunOptions& options,
                               const CallFunction& function) {
  check_run(*program_, inputs, vars);
  Run run{vars, std::vector<Buffer>(program_->buffers.size())};
  for (std::size_t k = 0; k < inputs.size(); k++) {
    Buffer& buffer = run.io[static_cast<std::size_t>(program_->inputs[k])];
    buffer = make(static_cast<std::int64_t>(inputs[k].bytes().size()));
    std::ranges::copy(inputs[k].bytes(), data(buffer));
  }
  for (int b : program_->outputs) {
    Buffer& buffer = run.io[static_cast<std::size_t>(b)];
    if (program_->buffers[static_cast<std::size_t>(b)].kind == BufferKind::Output) buffer = make(bytes_now(run, b));
  }
  if (options.call_seconds != nullptr) options.call_seconds->clear();
  std::vector<std::byte*> memory;
  for (int c = 0; c < static_cast<int>(program_->calls.size()); c++) {
    const ProgramCall& call = program_->calls[static_cast<std::size_t>(c)];
    memory.clear();
    for (int b : call.buffers()) memory.push_back(place(run, b));
    if (guards_) prepare_guards(run, call);
    const auto begin = std::chrono::steady_clock::now();
    function(call, memory);
    if (options.call_seconds != nullptr)
      options.call_seconds->push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (guards_) check_guards(run, c);
    if (!options.tap) continue;
    for (int output = 0; int b : call.writes()) options.tap(c, output++, read(run, b));
  }
  std::vector<Array> outputs;
  for (int b : program_->outputs) outputs.push_back(read(run, b));
  return outputs;
}

}  // namespace etch
