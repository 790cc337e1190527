#include "emit/opencl.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "emit/literals.h"
#include "emit/opencl_sizes.h"
#include "emit/sections.h"
#include "emit/signature.h"

namespace etch {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Names for the constants, so that argument rows read like those in C.
std::string constant_table(const Project& p) {
  if (!p.has_constants()) return "";
  std::string names, rows;
  for (const ConstantMember& member : p.constants) {
    names += fmt::format("  at_{},\n", member.member);
    rows += fmt::format("  {{(uint32_t)offsetof(struct {}_constants, {}), {}}},\n", p.name, member.member,
                        p.program->buffers[at(member.buffer)].max_bytes());
  }
  return fmt::format("enum {{\n{}}};\n\nstatic const etch_cl_span constants[{}] = {{\n{}}};\n\n", names, p.constants.size(), rows);
}

std::string region_table(const Project& p) {
  if (p.regions.empty()) return "";
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t r = 0; r < p.regions.size(); r++) {
    std::vector<std::string> names;
    for (int b : p.regions[r].buffers) names.push_back(p.program->buffers[at(b)].name);
    if (names.size() > 4) names = {names[0], names[1], names[2], "..."};
    rows.emplace_back(fmt::format("{{{}, {}}},", p.regions[r].offset, p.regions[r].bytes),
                      fmt::format("{}: {}", r, in_comment(list_text(names))));
  }
  return fmt::format("/* Parts of the arena: first byte, bytes. */\nstatic const etch_cl_span regions[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string state_table(const Project& p) {
  if (!p.has_state()) return "";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const StateMember& s : p.states)
    rows.emplace_back(s.state.first < 0 ? fmt::format("{{{}, ETCH_CL_ZERO}},", s.bytes)
                                        : fmt::format("{{{}, at_{}}},", s.bytes, p.constants[at(p.constant_of[at(s.state.first)])].member),
                      in_comment(p.program->buffers[at(s.state.buffer)].name));
  return fmt::format("/* States: bytes, and the constant that each starts with. */\nstatic const etch_cl_state states[{}] = {{\n{}}};\n\n",
                     rows.size(), with_comments(rows));
}

std::string dimensions(const std::vector<Sint>& sizes, SizeTable& table) {
  check(sizes.size() <= 3, "a kernel has at most three dimensions");
  std::vector<std::string> parts;
  for (std::size_t d = 0; d < 3; d++) parts.push_back(d < sizes.size() ? table.add(sizes[d]) : "1");
  return "{" + list_text(parts) + "}";
}

std::string kernel_table(const Project& p, SizeTable& sizes) {
  std::string text = fmt::format("/* Kernels: work-groups, and work-items in each. */\nstatic const etch_cl_entry kernels[{}] = {{\n",
                                 p.program->kernels.size());
  for (const ProgramKernel& k : p.program->kernels) {
    for (Sint d : k.local_size) check(d.is_int(), "the work-items of a work-group are a number");
    const std::string items = k.driver_groups ? "{0, 0, 0}" : dimensions(k.local_size, sizes);
    text += fmt::format("  {{\"{}\", {}, {}}},\n", k.name, dimensions(k.global_size, sizes), items);
  }
  return text + "};\n\n";
}

std::string call_table(const Project& p, const ArgTable& args) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t c = 0; c < p.program->calls.size(); c++) {
    const ProgramCall& call = p.program->calls[c];
    const ProgramKernel& kernel = p.program->kernels[at(call.kernel)];
    rows.emplace_back(fmt::format("{{{}, {}, {}}},", call.kernel, args.first[c], kernel.argument_count()), kernel.name);
  }
  return fmt::format("/* Kernel, first argument, arguments. */\nstatic const etch_cl_call calls[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string io_table(const Project& p, SizeTable& sizes) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const auto* group : {&p.program->inputs, &p.program->outputs})
    for (int b : *group) {
      const ProgramBuffer& buffer = p.program->buffers[at(b)];
      rows.emplace_back(fmt::format("{{{}, {}}},", buffer.max_bytes(), sizes.add(product(buffer.shape) * bytes_of(buffer.dtype))),
                        p.buffer_names[at(b)]);
    }
  return fmt::format("/* Inputs and outputs: bytes at most, bytes. */\nstatic const etch_cl_io in_out[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string program_value(const Project& p, const SizeTable& sizes) {
  const Program& program = *p.program;
  return fmt::format(
      "static const etch_cl_program program = {{\n"
      "  {}_kernels, kernels, calls, args,\n"
      "  {}, {}, {}, in_out,\n"
      "  {}, {}, {},\n"
      "  {}, /* pieces of text */\n"
      "  {}, /* kernels */\n"
      "  {}, /* calls */\n"
      "  {}, /* loops */\n"
      "  {}, /* variables */\n"
      "  {}, /* inputs */\n"
      "  {}, /* outputs */\n"
      "  {}, /* constants */\n"
      "  {}, /* regions of the arena */\n"
      "  {}, /* states */\n"
      "  {}, /* bytes of arena */\n"
      "  {}, /* its alignment */\n"
      "}};\n",
      p.name, program.loops.empty() ? "NULL" : "loops", program.variables.empty() ? "NULL" : "ranges", sizes.empty() ? "NULL" : "size_of",
      p.has_constants() ? "constants" : "NULL", p.regions.empty() ? "NULL" : "regions", p.has_state() ? "states" : "NULL",
      opencl_text_pieces(p.kernel_files.front().text), program.kernels.size(), program.calls.size(), program.loops.size(),
      program.variables.size(), program.inputs.size(), program.outputs.size(), p.constants.size(), p.regions.size(), p.states.size(),
      p.plan->arena_bytes, p.plan->align);
}

std::string program_table(const Project& p) {
  const ArgTable args = arg_table(p);
  SizeTable sizes;
  const std::string kernels = kernel_table(p, sizes), in_out = io_table(p, sizes);
  std::string text = "\n" + banner("program") + "\n#define IO(n) {ETCH_IO, n}\n";
  if (args.arena) text += "#define ARENA(region) {ETCH_ARENA, region}\n";
  if (args.constant) text += "#define CONSTANT(member) {ETCH_CONST, at_##member}\n";
  if (args.state) text += "#define STATE(n) {ETCH_STATE, n}\n";
  text += variable_macros(p, args);
  text += sizes.empty() ? "\n" : sizes.text(p);
  return text + constant_table(p) + state_table(p) + region_table(p) + kernels + args.text + "\n" + call_table(p, args) + loop_table(p) +
         range_table(p) + in_out + program_value(p, sizes);
}

std::string open_parameters(const Project& p) {
  return fmt::format("{}_session *session, etch_cl_context context, etch_cl_device device, etch_cl_queue queue{}", p.name,
                     p.is_blob() ? ", const void *weights" : "");
}

std::string open_function(const Project& p) {
  std::string text = fmt::format("etch_status {}_open({}) {{\n", p.name, open_parameters(p));
  text +=
      "  etch_cl_setup setup;\n"
      "  if (session == NULL) return ETCH_NULL;\n"
      "  setup.context = context;\n"
      "  setup.device = device;\n"
      "  setup.queue = queue;\n"
      "  setup.kernels = session->kernels;\n"
      "  setup.buffers = session->buffers;\n";
  if (p.is_blob()) {
    text += "  setup.constants = weights;\n  setup.blob = &blob;\n";
  } else {
    text += p.has_constants() ? fmt::format("  setup.constants = &{}_constants;\n", p.name) : "  setup.constants = NULL;\n";
    text += "  setup.blob = NULL;\n";
  }
  return text + "  return etch_cl_open(&program, &session->cl, &setup);\n}\n\n";
}

std::string run_function(const Project& p, bool profile) {
  const Program& program = *p.program;
  std::string text = fmt::format("etch_status {}_{}({}) {{\n", p.name, profile ? "profile" : "run", parameters(p, profile));
  text += fmt::format("  void *io[{}];\n", std::max<std::size_t>(program.inputs.size() + program.outputs.size(), 1));
  if (variable_room(p) > 0) text += fmt::format("  int32_t variables[{}];\n", variable_room(p));
  text += "  etch_cl_run_frame frame;\n  if (session == NULL) return ETCH_NULL;\n";
  text += fill_io(p);
  text += "  frame.io = io;\n";
  text += std::string("  frame.variables = ") + (variable_room(p) == 0 ? "NULL" : "variables") + ";\n";
  text += profile ? "  frame.after = after;\n  frame.user = user;\n" : "  frame.after = NULL;\n  frame.user = NULL;\n";
  return text + "  return etch_cl_run(&program, &session->cl, &frame);\n}\n";
}

std::string state_init_function(const Project& p) {
  if (!p.has_state()) return "";
  return fmt::format(
      "\netch_status {0}_state_init({0}_session *session) {{\n"
      "  if (session == NULL) return ETCH_NULL;\n"
      "  return etch_cl_state_init(&program, &session->cl);\n"
      "}}\n",
      p.name);
}

std::string close_function(const Project& p) {
  return fmt::format(
      "\netch_status {0}_close({0}_session *session) {{\n"
      "  if (session == NULL) return ETCH_NULL;\n"
      "  return etch_cl_close(&program, &session->cl);\n"
      "}}\n",
      p.name);
}

}  // namespace

std::string opencl_session(const Project& p) {
  const std::size_t buffers =
      p.program->inputs.size() + p.program->outputs.size() + p.constants.size() + p.states.size() + p.regions.size() + 1;
  std::string text = fmt::format(
      "/* The text of {0}.cl in pieces; {0}_open has the driver compile it. */\n"
      "extern const char *const {0}_kernels[{1}];\n\n"
      "/* What is kept between the calls below; no content is needed before. Not to be moved while it is open. */\n"
      "typedef struct {{\n"
      "  etch_cl_session cl; /* cl.error: OpenCL's code behind an ETCH_CL_ERROR, cl.function: whose it is */\n"
      "  etch_cl_kernel kernels[{2}];\n"
      "  etch_cl_mem buffers[{3}];\n"
      "}} {0}_session;\n\n",
      p.name, opencl_text_pieces(p.kernel_files.front().text), p.program->kernels.size(), buffers);
  text +=
      "/* Builds the kernels and makes all buffers on the device. Context, device and queue are cl_context, cl_device_id and\n"
      " * cl_command_queue of the caller, and stay until close. After an error close still gives back what was made; until then\n"
      " * etch_cl_build_log(&session->cl, ...) has what the device's compiler said.";
  if (p.is_blob())
    text += fmt::format(
        "\n * weights: the bytes of {0}_weights.bin, at a multiple of {1}_WEIGHTS_ALIGN. Only its header is looked at; they are copied\n"
        " * to the device and not needed afterwards.",
        p.name, p.macro);
  return text + fmt::format(" */\netch_status {}_open({});\n\n", p.name, open_parameters(p));
}

std::string opencl_close(const Project& p) {
  return fmt::format(
      "/* Gives back all that open made, whatever came of it; once more does nothing. */\n"
      "etch_status {0}_close({0}_session *session);\n\n",
      p.name);
}

std::string opencl_source(const Project& p) {
  std::string text = fmt::format("{0} The program; its kernels are in {1}.cl, and as strings in {1}_kernels.c. */\n#include \"{1}.h\"\n",
                                 p.first_line(), p.name);
  if (p.has_constants()) text += fmt::format("#include \"{}_weights.h\"\n", p.name);
  text += "\n" + arena_table(p) + program_table(p) + "\n" + blob_check(p) + open_function(p) + run_function(p, false) +
          state_init_function(p) + close_function(p);
  return text + call_infos(p) + "\n" + run_function(p, true) + "#endif\n";
}

}  // namespace etch
