#include "emit/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <source_location>

#include "base/error.h"
#include "base/fnv.h"
#include "base/subscript.h"
#include "emit/form.h"
#include "emit/formula.h"
#include "emit/literals.h"
#include "emit/workers.h"
#include "program/external.h"

namespace etch {
namespace {

// The shape of a buffer with its axes in the order in which they lie in memory, blocks of an axis as two.
std::vector<Sint> stored_shape(const ProgramBuffer& buffer) {
  std::vector<Sint> shape = buffer.shape;
  if (buffer.inner_axis < 0) return shape;
  const auto axis = shape.begin() + buffer.inner_axis;
  const Sint inner = buffer.block > 0 ? Sint(buffer.block) : *axis;
  *axis = floordiv(*axis, inner.as_int());
  shape.push_back(inner);
  return shape;
}

// The buffers of a formula, with the names that the kernel's text uses.
std::vector<FormulaBuffer> formula_buffers(const Project& p, const ProgramKernel& kernel, const ProgramCall& call) {
  std::vector<FormulaBuffer> result;
  for (std::size_t i = 0; i < call.arguments.size(); i++)
    result.push_back({kernel.arguments[i].name, stored_shape(p.program->buffers[at(call.arguments[i].buffer)])});
  return result;
}

// Breaks `line` at spaces into lines of at most `width` columns.
std::string folded(const std::string& line, const std::string& indent, std::size_t width) {
  std::string text;
  std::size_t begin = 0;
  while (line.size() - begin > width) {
    std::size_t end = line.rfind(' ', begin + width);
    if (end == std::string::npos || end <= begin) end = begin + width;
    text += (begin == 0 ? "" : "  ") + line.substr(begin, end - begin) + "\n" + indent;
    begin = line[end] == ' ' ? end + 1 : end;
  }
  return text + (begin == 0 ? "" : "  ") + line.substr(begin);
}

// `calls` are the numbers of the calls of kernel k.
std::string kernel_comment(const Project& p, std::size_t k, const std::vector<std::size_t>& calls) {
  const ProgramKernel& kernel = p.program->kernels[k];
  std::string head;
  for (std::size_t c : calls) {
    if (head.size() > 100) {
      head += "; ...";
      break;
    }
    head += fmt::format("{}{}: {}", head.empty() ? "" : "; ", c, nodes_text(p.program->calls[c].nodes));
  }
  std::string text = "/* " + folded(in_comment(head), " *   ", 112) + "\n";
  if (kernel.ast != nullptr && !calls.empty()) {
    const Formula made = formula(kernel.ast, formula_buffers(p, kernel, p.program->calls[calls.front()]));
    for (const std::string& line : made.lines) text += " *   " + folded(in_comment(line), " *   ", 112) + "\n";
    if (kernel.takes_sizes)
      text += fmt::format(" *   in the sizes of call {}; each call passes its own in {}\n", calls.front(), kernel.arguments.back().name);
    if (made.is_masked) text += " *   where ]? stands, what lies outside counts as 0\n";
  }
  text += " *   " + in_comment(kernel.shape_name);
  if (!kernel.opts.empty()) text += "   " + folded(in_comment(kernel.opts), " *     ", 100);
  if (!kernel.shared.empty()) text += fmt::format("\n *   workers share the loop of {}", kernel.shared);
  return text + " */\n";
}

std::string ref(const Project& p, int buffer) {
  const ProgramBuffer& b = p.program->buffers[at(buffer)];
  switch (b.kind) {
    case BufferKind::Intermediate:
      return p.form->arena_place(p, buffer);
    case BufferKind::Constant:
      return fmt::format("CONSTANT({})", p.constants[at(p.constant_of[at(buffer)])].member);
    case BufferKind::Input:
    case BufferKind::Output: {
      const std::vector<int>& group = b.kind == BufferKind::Input ? p.program->inputs : p.program->outputs;
      const std::size_t base = b.kind == BufferKind::Input ? 0 : p.program->inputs.size();
      return fmt::format("IO({})", base + at(static_cast<int>(std::find(group.begin(), group.end(), buffer) - group.begin())));
    }
    case BufferKind::State: {
      const auto found = std::ranges::find(p.states, buffer, [](const StateMember& s) { return s.state.buffer; });
      return p.form->state_place(p, static_cast<std::size_t>(found - p.states.begin()));
    }
  }
  return "";
}

std::string variable_ref(const Project& p, const std::string& name) {
  for (std::size_t v = 0; v < p.program->variables.size(); v++)
    if (p.program->variables[v].name == name) return fmt::format("VARIABLE({})", v);
  for (std::size_t l = 0; l < p.program->loops.size(); l++)
    if (p.program->loops[l].counter == name) return fmt::format("COUNTER({})", l);
  if (name == p.program->workers.index) return "WORKER";
  if (name == p.program->workers.count) return "WORKERS";
  fail_check("a kernel takes variables of its program", std::source_location::current());
}

}  // namespace

std::string with_comments(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, std::min<std::size_t>(row.first.size(), 90));
  std::string text;
  for (const auto& [row, comment] : rows) text += fmt::format("  {:<{}} /* {} */\n", row, width, comment);
  return text;
}

namespace {

std::string state_rows(const Project& p) {
  std::string text;
  for (const StateMember& s : p.states) {
    const ProgramBuffer& buffer = p.program->buffers[at(s.state.buffer)];
    text += fmt::format(" * {:>8} .. {:>8}   {}   {}   of the state, kept from run to run\n", s.offset, s.offset + s.bytes - 1,
                        in_comment(buffer.name), type_text(buffer));
  }
  return text;
}

}  // namespace

std::string arena_table(const Project& p) {
  std::string text = "/* --- arena: bytes, and the calls during which they are live ";
  text.resize(117, '-');
  text += '\n';
  std::vector<int> order;
  for (std::size_t b = 0; b < p.plan->placements.size(); b++)
    if (p.plan->placements[b].offset >= 0) order.push_back(static_cast<int>(b));
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return p.plan->placements[at(a)].first < p.plan->placements[at(b)].first; });
  std::size_t names = 0, types = 0, pools = 0;
  for (const Pool& pool : p.program->pools) pools = std::max(pools, pool.name.size());
  for (int b : order) {
    names = std::max(names, in_comment(p.program->buffers[at(b)].name).size());
    types = std::max(types, type_text(p.program->buffers[at(b)]).size());
  }
  for (int b : order) {
    const Placement& place = p.plan->placements[at(b)];
    const ProgramBuffer& buffer = p.program->buffers[at(b)];
    if (p.has_pools()) text += fmt::format(" * {:<{}}", p.program->pools[at(place.pool)].name, pools);
    text += fmt::format("{} {:>8} .. {:>8}   {:<{}}   {:<{}}   calls {}-{}", p.has_pools() ? "" : " *", place.offset,
                        place.offset + std::max<std::int64_t>(buffer.max_bytes(), 1) - 1, in_comment(buffer.name), names, type_text(buffer),
                        types, place.first, place.last);
    if (place.in_place_of >= 0) text += "   in place of " + in_comment(p.program->buffers[at(place.in_place_of)].name);
    if (place.part_of >= 0) text += "   part of " + in_comment(p.program->buffers[at(place.part_of)].name);
    text += '\n';
  }
  if (order.empty()) text += " * nothing: every kernel writes an output\n";
  text += state_rows(p);
  return text + " */\n";
}

std::string external_section(const Project& p) {
  const std::string declared = external_declarations(p.program->kernels);
  return declared.empty() ? "" : "/* Functions in C. */\n" + declared;
}

std::string kernel_texts(const Project& p) {
  return kernel_texts(p, [](const ProgramKernel&) { return true; });
}

std::string kernel_texts(const Project& p, bool (*are)(const ProgramKernel&)) {
  std::string text;
  std::vector<std::vector<std::size_t>> calls(p.program->kernels.size());
  for (std::size_t c = 0; c < p.program->calls.size(); c++) calls[at(p.program->calls[c].kernel)].push_back(c);
  for (std::size_t k = 0; k < p.program->kernels.size(); k++) {
    const ProgramKernel& kernel = p.program->kernels[k];
    if (!are(kernel)) continue;
    const std::string source = kernel.external == nullptr ? kernel.text.source
                               : p.space()                ? external_text(kernel, "const etch_address *")
                                                          : external_text(kernel);
    text += "\n" + kernel_comment(p, k, calls[k]) + source;
    if (!source.ends_with('\n')) text += '\n';
  }
  return text;
}

ArgTable arg_table(const Project& p) {
  ArgTable t;
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t c = 0; c < p.program->calls.size(); c++) {
    const ProgramCall& call = p.program->calls[c];
    const ProgramKernel& kernel = p.program->kernels[at(call.kernel)];
    std::string row;
    for (int b : call.buffers()) {
      t.arena |= p.program->buffers[at(b)].kind == BufferKind::Intermediate;
      t.state |= p.program->buffers[at(b)].kind == BufferKind::State;
      t.constant |= p.program->buffers[at(b)].kind == BufferKind::Constant;
      row += (row.empty() ? "" : " ") + ref(p, b) + ",";
    }
    for (const std::string& v : kernel.variables) {
      const std::string place = variable_ref(p, v);
      t.variable |= place.starts_with("VARIABLE");
      t.counter |= place.starts_with("COUNTER");
      t.worker |= place.starts_with("WORKER");
      row += " " + place + ",";
    }
    rows.emplace_back(row, fmt::format("{}: {}", c, in_comment(nodes_text(call.nodes))));
    t.first.push_back(t.count);
    t.count += kernel.argument_count();
  }
  t.text = fmt::format("static {} etch_ref args[{}] = {{\n{}}};\n", p.constant_word(), t.count, with_comments(rows));
  return t;
}

std::string variable_macros(const Project& p, const ArgTable& t) {
  std::string text;
  if (t.variable) text += "#define VARIABLE(n) {ETCH_VAR, n}\n";
  if (t.counter) text += fmt::format("#define COUNTER(loop) {{ETCH_VAR, {} + loop}}\n", p.program->variables.size());
  const std::size_t worker = p.program->variables.size() + p.program->loops.size();
  if (t.worker) text += fmt::format("#define WORKER {{ETCH_VAR, {}}}\n#define WORKERS {{ETCH_VAR, {}}}\n", worker, worker + 1);
  return text;
}

std::string loop_table(const Project& p) {
  if (p.program->loops.empty()) return "";
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ProgramLoop& loop : p.program->loops) {
    const bool fixed = loop.count.is_int();
    std::size_t variable = 0;
    for (std::size_t v = 0; v < p.program->variables.size(); v++)
      if (!fixed && p.program->variables[v].name == loop.count.node()->name) variable = v;
    rows.emplace_back(fmt::format("{{{}, {}, {}, {}}},", loop.first, loop.end,
                                  fixed ? loop.count.as_int() : static_cast<std::int64_t>(variable), fixed ? 0 : 1),
                      fmt::format("{} turns", fixed ? std::to_string(loop.count.as_int()) : p.variable_names[variable]));
  }
  return fmt::format("/* First call, end, turns. */\nstatic {} etch_loop loops[{}] = {{\n{}}};\n\n", p.constant_word(), rows.size(),
                     with_comments(rows));
}

std::size_t variable_room(const Project& p) { return p.program->variables.size() + p.program->loops.size() + (has_workers(p) ? 2 : 0); }

std::string range_table(const Project& p) {
  if (p.program->variables.empty()) return "";
  std::string text = fmt::format("static {} etch_range ranges[{}] = {{\n", p.constant_word(), p.program->variables.size());
  for (std::size_t v = 0; v < p.program->variables.size(); v++)
    text += fmt::format("  {{{}, {}}}, /* {} */\n", p.program->variables[v].min, p.program->variables[v].max, p.variable_names[v]);
  return text + "};\n\n";
}

std::string fill_io(const Project& p) {
  std::string text;
  std::size_t n = 0;
  for (int b : p.program->inputs)
    text += p.program->buffers[at(b)].by_value
                ? fmt::format("  io[{}] = &{};\n", n++, p.buffer_names[at(b)])
                : fmt::format("  io[{}] = (void *)(uintptr_t){}; /* only read */\n", n++, p.buffer_names[at(b)]);
  for (int b : p.program->outputs) text += fmt::format("  io[{}] = {};\n", n++, p.buffer_names[at(b)]);
  for (std::size_t v = 0; v < p.variable_names.size(); v++) text += fmt::format("  variables[{}] = {};\n", v, p.variable_names[v]);
  return text;
}

std::string call_infos(const Project& p) {
  std::string text = fmt::format("\n#if ETCH_PROFILE\nconst etch_call_info {}_calls[{}] = {{\n", p.name,
                                 std::max<std::size_t>(p.program->calls.size(), 1));
  for (const ProgramCall& call : p.program->calls) {
    const ProgramBuffer& out = p.program->buffers[at(call.writes().front())];
    text += fmt::format("  {{{}, {}, \"{}\", {}}},\n", c_string(nodes_text(call.nodes)), c_string(out.name), name_of(out.dtype),
                        out.max_bytes());
  }
  return text + "};\n";
}

std::string blob_check(const Project& p) {
  if (p.weights != WeightsForm::Blob || !p.has_constants()) return "";
  const std::string binary = weights_binary(p.owns_constants() ? p : owner_of_constants(p));
  const std::string info = fmt::format("static const etch_blob_info blob = {{UINT64_C({}), UINT64_C(0x{:016x}), {}}};\n\n",
                                       p.constants_bytes, fnv1a_64(std::string_view(binary).substr(64)), p.constants_align);
  if (!p.owns_constants()) return info;
  return info + fmt::format(
                    "etch_status {}_check_weights(const void *weights, size_t weights_bytes) {{ return etch_blob_check(&blob, weights, "
                    "weights_bytes); }}\n\n",
                    p.name);
}

}  // namespace etch
