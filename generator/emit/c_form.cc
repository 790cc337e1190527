// The form of projects with kernels in C: the kernels are in NAME.c, and all memory is the caller's.
#include <fmt/format.h>

#include "emit/form.h"
#include "emit/signature.h"

namespace etch {
namespace {

std::string arena_bytes(const Project& p) {
  if (p.plan->arena_bytes == 0) return fmt::format("#define {}_ARENA_BYTES 1u /* none is needed; C has no arrays of 0 bytes */\n", p.macro);
  return fmt::format("#define {}_ARENA_BYTES {}u\n", p.macro, p.plan->arena_bytes);
}

HeaderParts header(const Project& p) {
  HeaderParts parts;
  parts.arena_bytes = arena_bytes(p);
  parts.parameters = {"void *arena", "size_t arena_bytes"};
  if (p.has_state()) parts.parameters.push_back("void *state");
  if (p.is_blob()) parts.parameters.push_back("const void *weights");
  parts.promise = " The arena needs no initial content and keeps none that the next run needs.\n";
  if (p.has_state()) {
    parts.state = fmt::format(
        "/* Gives the state its first values: before the first run, and to start again. state: {1}_STATE_BYTES bytes at a multiple\n"
        " * of {1}_STATE_ALIGN, the caller's. */\n"
        "etch_status {0}_state_init({2});\n\n",
        p.name, p.macro, state_init_parameters(p));
    parts.notes += " * state: what a run leaves in it, the next one reads. Each stream of data has a block of its own.\n";
  }
  if (p.plan->arena_bytes == 0) parts.notes += " * No arena is needed: arena may be null.\n";
  if (p.is_blob())
    parts.notes += fmt::format(
        " * weights: the bytes of {0}_weights.bin, at a multiple of {1}_WEIGHTS_ALIGN. Only its header is looked at.\n", p.name, p.macro);
  return parts;
}

std::vector<std::string> selftest_arguments(const Project& p) {
  std::vector<std::string> result{static_memory_address("arena", p.macro + "_ARENA_ALIGN", p.plan->align), p.macro + "_ARENA_BYTES"};
  if (p.has_state()) result.push_back(static_memory_address("state", p.macro + "_STATE_ALIGN", p.state_align));
  if (p.is_blob()) result.push_back(blob_address(p));
  return result;
}

SelfTestParts selftest(const Project& p, const std::string& run_arguments, int) {
  SelfTestParts parts;
  parts.memory = static_memory("arena", p.macro + "_ARENA_BYTES", p.macro + "_ARENA_ALIGN", p.plan->align);
  if (p.has_state()) {
    parts.memory += static_memory("state", p.macro + "_STATE_BYTES", p.macro + "_STATE_ALIGN", p.state_align);
    const std::string state = static_memory_address("state", p.macro + "_STATE_ALIGN", p.state_align);
    parts.reset = fmt::format(
        "  status = {}_state_init({}{});\n  if (status != ETCH_OK) {{\n    printf(\"FAIL state %d\\n\", (int)status);\n    return 1;\n  "
        "}}\n",
        p.name, state, starts_of_blob(p) ? ", " + blob_address(p) : "");
  }
  parts.call = fmt::format("{}_run({})", p.name, run_arguments);
  return parts;
}

}  // namespace

constinit const ProjectForm kCForm{
    .language = &kC,
    .reserved_names = {},
    .source = model_source,
    .arena_place = [](const Project& p,
                      int buffer) { return fmt::format("ARENA({})", p.plan->placements[static_cast<std::size_t>(buffer)].offset); },
    .state_place = [](const Project& p,
                      std::size_t number) { return fmt::format("IO({})", p.program->inputs.size() + p.program->outputs.size() + number); },
    .header = header,
    .selftest_arguments = selftest_arguments,
    .selftest = selftest,
};

}  // namespace etch
