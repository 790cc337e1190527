#include "memory/pool_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/subscript.h"

namespace etch {
namespace {

bool is_io(const ProgramBuffer& buffer) { return buffer.kind == BufferKind::Input || buffer.kind == BufferKind::Output; }

// "dtcm 16384, sram 65536"
std::string pools_text(const Program& program) {
  std::string text;
  for (const Pool& pool : program.pools) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", pool.name, pool.size);
  return text;
}

// The buffers that need a place: constants and states are elsewhere.
std::vector<const ProgramBuffer*> buffers_to_place(const Program& program, bool with_io) {
  std::vector<char> used(program.buffers.size());
  for (const ProgramCall& call : program.calls)
    for (int b : call.buffers()) used[at(b)] = 1;
  std::vector<const ProgramBuffer*> result;
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    const ProgramBuffer& buffer = program.buffers[b];
    if (used[b] != 0 && (buffer.kind == BufferKind::Intermediate || (with_io && is_io(buffer)))) result.push_back(&buffer);
  }
  return result;
}

constexpr const char* kHelp = "make a <pool> of the target's XML larger, or add one; --optimize ram and smaller inputs need less";

}  // namespace

bool may_hold(const Pool& pool, const ProgramBuffer& buffer) {
  switch (pool.holds) {
    case PoolContent::All:
      return true;
    case PoolContent::Intermediates:
      return !is_io(buffer);
    case PoolContent::Io:
      return is_io(buffer);
  }
  return false;
}

UserError no_room(const Program& program, bool with_io, const NoRoom& needed, bool proved) {
  std::int64_t total = 0;
  for (const Pool& pool : program.pools) total += pool.size;
  for (const ProgramBuffer* buffer : buffers_to_place(program, with_io)) {
    const Pool* largest = nullptr;
    for (const Pool& pool : program.pools)
      if (may_hold(pool, *buffer) && (largest == nullptr || pool.size > largest->size)) largest = &pool;
    const std::string where = fmt::format("tensor '{}'", buffer->name);
    if (largest == nullptr)
      return {where,
              fmt::format("no pool of the target may hold {} ({})",
                          is_io(*buffer) ? "inputs and outputs, for which --io-in-arena asks" : "intermediates", pools_text(program)),
              "give a <pool> of the target's XML holds=\"all\", or add one"};
    if (buffer->max_bytes() > largest->size)
      return {
          where,
          fmt::format("takes {} bytes, the largest pool that may hold it, {}, has {}", buffer->max_bytes(), largest->name, largest->size),
          kHelp};
  }
  const std::string where = fmt::format("the target's pools ({})", pools_text(program));
  if (needed.bytes > total) {
    const std::string call =
        needed.call < 0 ? "" : fmt::format(" at call {} ({})", needed.call, fmt::join(program.calls[at(needed.call)].nodes, ", "));
    return {where, fmt::format("the tensors need at least {} bytes together{}, the pools have {}", needed.bytes, call, total), kHelp};
  }
  return {where,
          fmt::format("{} to place the tensors in them: in one arena they would need at least {} bytes of the {} that all have together",
                      proved ? "there is no way" : "no way was found", needed.bytes, total),
          kHelp};
}

std::string why_there(const MemoryPlan& plan, const Program& program, int buffer) {
  const Placement& place = plan.placements[at(buffer)];
  const ProgramBuffer& b = program.buffers[at(buffer)];
  std::string text;
  for (int p = 0; p < place.pool; p++) {
    const Pool& pool = program.pools[at(p)];
    text += text.empty() ? "" : "; ";
    if (!may_hold(pool, b)) {
      text += fmt::format("{} holds {}", pool.name, pool.holds == PoolContent::Io ? "inputs and outputs alone" : "no inputs and outputs");
      continue;
    }
    if (b.max_bytes() > pool.size) {
      text += fmt::format("larger than {}", pool.name);
      continue;
    }
    std::string beside;
    int more = 0;
    for (std::size_t o = 0; o < plan.placements.size(); o++) {
      const Placement& other = plan.placements[o];
      if (other.offset < 0 || other.pool != p || other.first > place.last || other.last < place.first) continue;
      if (more++ < 3) beside += (beside.empty() ? "" : ", ") + program.buffers[o].name;
    }
    text += fmt::format("no room in {}{}{}", pool.name, beside.empty() ? "" : " beside " + beside,
                        more > 3 ? fmt::format(" and {} more", more - 3) : "");
  }
  if (!text.empty()) return text;
  return place.pool == 0 ? "the fastest pool" : "";
}

std::string why_unused(const MemoryPlan& plan, const Program& program, int pool) {
  const Pool& p = program.pools[at(pool)];
  std::int64_t smallest = -1;
  bool may = false;
  for (std::size_t b = 0; b < plan.placements.size(); b++) {
    if (plan.placements[b].offset < 0) continue;
    if (plan.placements[b].pool == pool) return "";
    if (!may_hold(p, program.buffers[b])) continue;
    may = true;
    const std::int64_t bytes = program.buffers[b].max_bytes();
    if (smallest < 0 || bytes < smallest) smallest = bytes;
  }
  if (!may && p.holds == PoolContent::Io)
    return "no tensor may use it: it holds inputs and outputs alone, which are the caller's without --io-in-arena";
  if (!may) return "no tensor may use it: the model has none that kernels write and read";
  if (smallest > p.size) return fmt::format("no tensor may use it: the smallest that it may hold has {} bytes", smallest);
  return "nothing is left for it: all lies in faster pools";
}

}  // namespace etch
