#include "emit/device_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/subscript.h"
#include "emit/device_host.h"
#include "emit/literals.h"
#include "emit/signature.h"

namespace etch {
namespace {

std::string state_table(const Project& p) {
  if (!p.has_state()) return "";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const StateMember& s : p.states)
    rows.emplace_back(s.state.first < 0 ? fmt::format("{{{}, {}_ZERO}},", s.bytes, device_macro(p))
                                        : fmt::format("{{{}, at_{}}},", s.bytes, p.constants[at(p.constant_of[at(s.state.first)])].member),
                      in_comment(p.program->buffers[at(s.state.buffer)].name));
  return fmt::format("/* States: bytes, and the constant that each starts with. */\nstatic const {}_state states[{}] = {{\n{}}};\n\n",
                     device_prefix(p), rows.size(), with_comments(rows));
}

std::string call_table(const Project& p, const ArgTable& args) {
  std::vector<std::pair<std::string, std::string>> rows;
  const std::vector<std::size_t> numbers = kernel_numbers(p);
  for (std::size_t c = 0; c < p.program->calls.size(); c++) {
    const ProgramCall& call = p.program->calls[c];
    const ProgramKernel& kernel = p.program->kernels[at(call.kernel)];
    rows.emplace_back(fmt::format("{{{}, {}, {}}},", numbers[at(call.kernel)], args.first[c], kernel.argument_count()), kernel.name);
  }
  return fmt::format("/* Kernel, first argument, arguments. */\nstatic const {}_call calls[{}] = {{\n{}}};\n\n", device_prefix(p),
                     rows.size(), with_comments(rows));
}

std::string io_table(const Project& p, SizeTable& sizes) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto* group : {&p.program->inputs, &p.program->outputs})
    for (int b : *group) {
      const ProgramBuffer& buffer = p.program->buffers[at(b)];
      rows.emplace_back(fmt::format("{{{}, {}}},", buffer.max_bytes(), sizes.add(product(buffer.shape) * bytes_of(buffer.dtype))),
                        p.buffer_names[at(b)]);
    }
  if (rows.empty()) return "";
  return fmt::format("/* Inputs and outputs: bytes at most, bytes. */\nstatic const {}_io in_out[{}] = {{\n{}}};\n\n", device_prefix(p),
                     rows.size(), with_comments(rows));
}

std::string program_value(const Project& p, const SizeTable& sizes, const DeviceProgram& own) {
  const Program& program = *p.program;
  std::vector<std::pair<std::int64_t, std::string>> numbers = own.first;
  const auto add = [&](std::size_t count, const char* what) { numbers.emplace_back(static_cast<std::int64_t>(count), what); };
  const std::size_t kernels = device_kernels(p).size();
  add(kernels, "kernels");
  add(program.calls.size(), "calls");
  add(program.loops.size(), "loops");
  add(program.variables.size(), "variables");
  add(program.inputs.size(), "inputs");
  add(program.outputs.size(), "outputs");
  add(p.constants.size(), "constants");
  numbers.insert(numbers.end(), own.last.begin(), own.last.end());
  std::string text = fmt::format(
      "static const {}_program program = {{\n"
      "  {}_kernels, {}, calls, args,\n"
      "  {}, {}, {}, {},\n"
      "  {}, {},\n",
      device_prefix(p), p.name, kernels == 0 ? "NULL" : "kernels", program.loops.empty() ? "NULL" : "loops",
      program.variables.empty() ? "NULL" : "ranges", sizes.empty() ? "NULL" : "size_of",
      program.inputs.empty() && program.outputs.empty() ? "NULL" : "in_out", own.pointers, host_pointer(p));
  for (const auto& [number, comment] : numbers) text += fmt::format("  {}, /* {} */\n", number, comment);
  return text + "};\n";
}

std::string run_function(const Project& p, bool profile) {
  const Program& program = *p.program;
  std::string text = fmt::format("etch_status {}_{}({}) {{\n", p.name, profile ? "profile" : "run", parameters(p, profile));
  text += fmt::format("  void *io[{}];\n", std::max<std::size_t>(program.inputs.size() + program.outputs.size(), 1));
  if (variable_room(p) > 0) text += fmt::format("  int32_t variables[{}];\n", variable_room(p));
  text += fmt::format("  {}_run_frame frame;\n  if (session == NULL) return ETCH_NULL;\n", device_prefix(p));
  text += fill_io(p);
  text += "  frame.io = io;\n";
  text += std::string("  frame.variables = ") + (variable_room(p) == 0 ? "NULL" : "variables") + ";\n";
  text += profile ? "  frame.after = after;\n  frame.user = user;\n" : "  frame.after = NULL;\n  frame.user = NULL;\n";
  return text + fmt::format("  return {}_run(&program, &session->{}, &frame);\n}}\n", device_prefix(p), p.form->device_tag);
}

// NAME_close, NAME_state_init: what takes nothing but the session.
std::string session_function(const Project& p, const std::string& what) {
  return fmt::format(
      "\netch_status {0}_{1}({0}_session *session) {{\n"
      "  if (session == NULL) return ETCH_NULL;\n"
      "  return {2}_{1}(&program, &session->{3});\n"
      "}}\n",
      p.name, what, device_prefix(p), p.form->device_tag);
}

std::string session_type(const Project& p, const DeviceSession& own) {
  return fmt::format(
      "/* What is kept between the calls below; no content is needed before. Not to be moved while it is open. */\n"
      "typedef struct {{\n"
      "  {1}_session {2}; /* {2}.error: {3}'s code behind an {4}_ERROR, {2}.function: whose it is */\n"
      "{5}"
      "}} {0}_session;\n\n",
      p.name, device_prefix(p), p.form->device_tag, own.api, device_macro(p), own.members);
}

std::string open_parameters(const Project& p, const DeviceSession& own) {
  return fmt::format("{}_session *session, {}{}", p.name, own.open_parameters, p.is_blob() ? ", const void *weights" : "");
}

std::string open_declaration(const Project& p, const DeviceSession& own) {
  std::string text = "/* " + own.open_note;
  if (p.is_blob())
    text += fmt::format(
        "\n * weights: the bytes of {0}_weights.bin, at a multiple of {1}_WEIGHTS_ALIGN. Only its header is looked at; they are copied\n"
        " * to {2} and not needed afterwards.",
        p.name, p.macro, own.place);
  return text + fmt::format(" */\netch_status {}_open({});\n\n", p.name, open_parameters(p, own));
}

std::string open_function(const Project& p, const DeviceSession& own, const std::string& setup) {
  std::string text = fmt::format("etch_status {}_open({}) {{\n", p.name, open_parameters(p, own));
  text += fmt::format("  {}_setup setup;\n  if (session == NULL) return ETCH_NULL;\n{}", device_prefix(p), setup);
  if (p.is_blob()) {
    text += "  setup.constants = weights;\n  setup.blob = &blob;\n";
  } else {
    text += p.has_constants() ? fmt::format("  setup.constants = &{}_constants;\n", p.name) : "  setup.constants = NULL;\n";
    text += "  setup.blob = NULL;\n";
  }
  return text + fmt::format("  return {}_open(&program, &session->{}, &setup);\n}}\n\n", device_prefix(p), p.form->device_tag);
}

std::string state_declaration(const Project& p) {
  if (!p.has_state()) return "";
  return fmt::format(
      "/* Gives the state on the device its first values, to start again; {0}_open has done it for the first run. What a run leaves in\n"
      " * it, the next one reads. */\n"
      "etch_status {0}_state_init({0}_session *session);\n\n",
      p.name);
}

}  // namespace

std::string device_prefix(const Project& p) { return fmt::format("etch_{}", p.form->device_tag); }

std::string device_macro(const Project& p) { return p.upper(device_prefix(p)); }

void check_device_sizes(const Program& program, const EmitOptions& options, const std::string& api) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  for (const ProgramBuffer& b : program.buffers)
    if (b.max_bytes() > kMost)
      throw UserError(options.name, fmt::format("'{}' has {} bytes, at most {} can be emitted for {}", b.name, b.max_bytes(), kMost, api));
  for (const ProgramKernel& k : program.kernels)
    for (std::size_t d = 0; d < k.global_size.size(); d++) {
      const std::int64_t most = std::min(kMost, program.language->limits.groups.at(d));
      if (k.global_size[d].max() > most)
        throw UserError(options.name, fmt::format("kernel '{}' has up to {} work-groups, at most {} can be emitted", k.name,
                                                  k.global_size[d].max(), most));
    }
}

std::string device_constants(const Project& p) {
  if (!p.has_constants()) return "";
  std::string names, rows;
  for (const ConstantMember& member : p.constants) {
    names += fmt::format("  at_{},\n", member.member);
    rows += fmt::format("  {{(uint32_t)offsetof(struct {}_constants, {}), {}}},\n", p.name, member.member,
                        p.program->buffers[at(member.buffer)].max_bytes());
  }
  return fmt::format("enum {{\n{}}};\n\nstatic const {}_span constants[{}] = {{\n{}}};\n\n", names, device_prefix(p), p.constants.size(),
                     rows);
}

std::string device_dimensions(const std::vector<Sint>& sizes, SizeTable& table) {
  check(sizes.size() <= 3, "a kernel has at most three dimensions");
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < 3; d++) parts.push_back(d < sizes.size() ? table.add(sizes[d]) : "1");
  return "{" + list_text(parts) + "}";
}

std::string device_program(const Project& p, const ArgTable& args, const std::string& macros, const std::string& regions,
                           const std::string& kernels, SizeTable& sizes, const DeviceProgram& own) {
  const std::string in_out = io_table(p, sizes), host = host_tables(p, sizes, own.host);
  std::string text = "\n" + banner("program") + "\n#define IO(n) {ETCH_IO, n}\n";
  if (args.arena) text += macros;
  if (args.constant) text += "#define CONSTANT(member) {ETCH_CONST, at_##member}\n";
  if (args.state) text += "#define STATE(n) {ETCH_STATE, n}\n";
  text += variable_macros(p, args);
  text += sizes.empty() ? "\n" : sizes.text(p);
  return text + device_constants(p) + state_table(p) + regions + kernels + host + args.text + "\n" + call_table(p, args) + loop_table(p) +
         range_table(p) + in_out + program_value(p, sizes, own);
}

HeaderParts device_header(const Project& p, const DeviceSession& own) {
  HeaderParts parts;
  parts.arena_bytes =
      fmt::format("#define {}_ARENA_BYTES {}u /* on {}; {}_open makes it */\n", p.macro, p.plan->arena_bytes, own.place, p.name);
  parts.parameters = {p.name + "_session *session"};
  parts.promise = " Returns when they are there.\n";
  if (const std::string names = host_names(p); !names.empty())
    parts.notes = fmt::format(" * The processor runs {}, in the thread that calls this.\n", names);
  parts.before_run = own.kernels + "\n" + session_type(p, own) + open_declaration(p, own);
  parts.after_run = fmt::format(
      "/* Gives back all that open made, whatever came of it; once more does nothing. */\n"
      "etch_status {0}_close({0}_session *session);\n\n",
      p.name);
  parts.state = state_declaration(p);
  return parts;
}

std::size_t device_buffer_count(const Project& p) {
  return p.program->inputs.size() + p.program->outputs.size() + p.constants.size() + p.states.size() + p.regions.size() + 1;
}

std::string device_source(const Project& p, const std::string& kernels, const std::string& program, const DeviceSession& own,
                          const std::string& setup) {
  std::string text =
      fmt::format("{} The program{} are in {}. */\n#include \"{}.h\"\n", p.first_line(),
                  host_kernels(p).empty() ? "; its kernels" : ", and kernels that the processor runs; the others", kernels, p.name);
  if (p.has_constants()) text += fmt::format("#include \"{}_weights.h\"\n", p.name);
  text += host_includes(p) + "\n" + arena_table(p) + host_functions(p) + program + "\n" + blob_check(p) + open_function(p, own, setup) +
          run_function(p, false);
  if (p.has_state()) text += session_function(p, "state_init");
  return text + session_function(p, "close") + call_infos(p) + "\n" + run_function(p, true) + "#endif\n";
}

std::string device_state_place(const Project&, std::size_t number) { return fmt::format("STATE({})", number); }

std::vector<std::string> device_selftest_arguments(const Project&) { return {"&session"}; }

std::string device_runs(const Project& p, const std::string& run_arguments, int runs) {
  if (runs <= 1) return fmt::format("if (status == ETCH_OK) status = {}_run({});\n", p.name, run_arguments);
  return fmt::format("for (run = 0; run < {} && status == ETCH_OK; run++) status = {}_run({});\n", runs, p.name, run_arguments);
}

}  // namespace etch
