// The form of projects with kernels in C: the kernels are in NAME.c, and all memory is the caller's.
#include <fmt/format.h>

#include <algorithm>

#include "base/naming.h"
#include "emit/form.h"
#include "emit/literals.h"
#include "emit/signature.h"
#include "emit/workers.h"

namespace etch {
namespace {

// Sizes of the arenas of a program with pools.
std::string pool_bytes(const Project& p) {
  std::string text;
  for (std::size_t n = 0; n < p.program->pools.size(); n++) {
    const Pool& pool = p.program->pools[n];
    const std::int64_t bytes = p.plan->arenas[n].bytes;
    const std::string macro = pool_macro(p, n);
    text += fmt::format("/* Pool {} of the target: up to {} bytes of its memory {}. */\n", pool.name, grouped(pool.size), pool.memory);
    text += fmt::format("#define {}_BYTES {}u{}\n#define {}_ALIGN {}u\n", macro, std::max<std::int64_t>(bytes, 1),
                        bytes == 0 ? " /* none is needed; C has no arrays of 0 bytes */" : "", macro, p.plan->align);
  }
  return text;
}

std::string arena_bytes(const Project& p) {
  if (p.has_pools()) return pool_bytes(p);
  if (p.plan->arena_bytes == 0) return fmt::format("#define {}_ARENA_BYTES 1u /* none is needed; C has no arrays of 0 bytes */\n", p.macro);
  return fmt::format("#define {}_ARENA_BYTES {}u\n", p.macro, p.plan->arena_bytes);
}

// Where in the state each weight lies.
std::string state_places(const Project& p) {
  CNames names(p.name);  // names of weights that differ in case alone stay apart
  std::string text = "/* Bytes from the start of the state to each weight, and to what the optimizer keeps of it. */\n";
  for (const StateMember& s : p.states) {
    const ProgramBuffer& buffer = p.program->buffers[static_cast<std::size_t>(s.state.buffer)];
    text += fmt::format("#define {}_STATE_AT_{} {}u /* {} */\n", p.macro, names.add(p.upper(c_identifier(buffer.name))), s.offset,
                        type_text(buffer));
  }
  return text + "\n";
}

HeaderParts header(const Project& p) {
  HeaderParts parts;
  parts.arena_bytes = arena_bytes(p);
  for (const std::string& arena : arena_names(p)) {
    parts.parameters.push_back("void *" + arena);
    parts.parameters.push_back("size_t " + arena + "_bytes");
  }
  if (p.has_state()) parts.parameters.push_back("void *state");
  if (p.is_blob()) parts.parameters.push_back("const void *weights");
  parts.promise = p.has_pools() ? " The arenas need no initial content and keep none that the next run needs.\n"
                                : " The arena needs no initial content and keeps none that the next run needs.\n";
  if (p.owns_state()) {
    parts.state = fmt::format(
        "/* Gives the state its first values: before the first run, and to start again. state: {1}_STATE_BYTES bytes at a multiple\n"
        " * of {1}_STATE_ALIGN, the caller's. */\n"
        "etch_status {0}_state_init({2});\n\n",
        p.name, p.macro, state_init_parameters(p));
    if (p.role().saves_state) {
      parts.state = state_places(p) + parts.state;
      parts.state += fmt::format(
          "/* The state as bytes, to be kept over a restart: a header with version and hash, then the state. saved: at least\n"
          " * {1}_SAVED_BYTES bytes. Bytes that were cut off, damaged or saved by another model are refused, and the state stays. */\n"
          "#define {1}_SAVED_BYTES ({1}_STATE_BYTES + 32u)\n"
          "etch_status {0}_state_save(const void *state, void *saved, size_t saved_bytes);\n"
          "etch_status {0}_state_load(void *state, const void *saved, size_t saved_bytes);\n\n",
          p.name, p.macro);
      parts.notes += " * state: the weights, which a run only reads.\n";
    } else {
      parts.notes += " * state: what a run leaves in it, the next one reads. Each stream of data has a block of its own.\n";
    }
  } else if (p.has_state()) {
    parts.notes += fmt::format(" * state: that of {0}_run, to which {0}_state_init gave its first values; the weights in it are changed.\n",
                               p.state_name());
  }
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++)
    if (p.plan->arenas[n].bytes == 0)
      parts.notes += p.has_pools()
                         ? fmt::format(" * No tensor lies in pool {0}: {1} may be null.\n", p.program->pools[n].name, arena_names(p)[n])
                         : " * No arena is needed: arena may be null.\n";
  if (p.is_blob())
    parts.notes +=
        fmt::format(" * weights: the bytes of {0}_weights.bin, at a multiple of {1}_WEIGHTS_ALIGN. Only its header is looked at.\n",
                    p.state_name(), p.state_macro());
  return parts;
}

std::vector<std::string> selftest_arguments(const Project& p) {
  std::vector<std::string> result;
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++) {
    result.push_back(arena_address(p, n));
    result.push_back(pool_macro(p, n) + "_BYTES");
  }
  if (p.has_state()) result.push_back(static_memory_address("state", p.state_macro() + "_STATE_ALIGN", p.state_align));
  if (p.is_blob()) result.push_back(blob_address(p));
  return result;
}

SelfTestParts c_parts(const Project& p, const std::string& run_arguments, int) {
  SelfTestParts parts;
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++) {
    const std::string macro = pool_macro(p, n);
    if (p.has_pools() && p.program->pools[n].address >= 0) {
      parts.memory += fmt::format("#ifndef {0}_ADDRESS\n#define {0}_ADDRESS 0x{1:08x}u\n#endif\n", macro, p.program->pools[n].address);
      continue;
    }
    parts.memory += static_memory(arena_names(p)[n], macro + "_BYTES", macro + "_ALIGN", p.plan->align);
  }
  if (p.has_state()) {
    parts.memory += static_memory("state", p.state_macro() + "_STATE_BYTES", p.state_macro() + "_STATE_ALIGN", p.state_align);
    const std::string state = static_memory_address("state", p.state_macro() + "_STATE_ALIGN", p.state_align);
    parts.reset = fmt::format(
        "  status = {}_state_init({}{});\n  if (status != ETCH_OK) {{\n    printf(\"FAIL state %d\\n\", (int)status);\n    return 1;\n  "
        "}}\n",
        p.state_name(), state, p.starts_of_blob() ? ", " + blob_address(p) : "");
  }
  parts.call = has_workers(p) ? "run_model()" : fmt::format("{}({})", p.entry(), run_arguments);
  if (has_workers(p)) parts.functions = workers_selftest(p, run_arguments);
  return parts;
}

}  // namespace

constinit const ProjectForm kCForm{
    .language = &kC,
    .reserved_names = {},
    .source = model_source,
    .arena_place =
        [](const Project& p, int buffer) {
          const Placement& place = p.plan->placements[static_cast<std::size_t>(buffer)];
          return fmt::format("{}({})", p.upper(arena_names(p)[static_cast<std::size_t>(place.pool)]), place.offset);
        },
    .state_place = [](const Project& p,
                      std::size_t number) { return fmt::format("IO({})", p.program->inputs.size() + p.program->outputs.size() + number); },
    .header = header,
    .selftest_arguments = selftest_arguments,
    .selftest = c_parts,
};

}  // namespace etch
