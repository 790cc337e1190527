#include "program/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/runtime_text.h"
#include "base/subscript.h"
#include "renderer/language.h"

namespace etch {
namespace {

bool in_range(int i, std::size_t size) { return i >= 0 && static_cast<std::size_t>(i) < size; }

void verify_names(const Program& program) {
  std::set<std::string> names;
  for (const ProgramBuffer& b : program.buffers) check(names.insert(b.name).second, "buffer names are unique");
  names.clear();
  for (const ProgramKernel& k : program.kernels) {
    check(!k.name.empty() && names.insert(k.name).second, "kernel names are unique");
    check(k.external == nullptr || k.ast == nullptr, "a kernel has an AST or is a function in C");
  }
  names.clear();
  for (const ProgramVariable& v : program.variables) {
    check(!v.name.empty() && names.insert(v.name).second, "variable names are unique");
    check(0 <= v.min && v.min <= v.max, "a variable has a range");
  }
}

void verify_buffers(const Program& program) {
  for (const ProgramBuffer& b : program.buffers) {
    check(b.max_elements >= 0, "a buffer has a size");
    if (b.kind != BufferKind::Constant) continue;
    check(b.data.dtype() == b.dtype && b.data.size() == b.max_elements, "a constant has data of its type and size");
  }
  for (int i : program.inputs) {
    check(in_range(i, program.buffers.size()), "an input is a buffer");
    check(program.buffers[static_cast<std::size_t>(i)].kind == BufferKind::Input, "an input is marked as one");
  }
  for (int i : program.outputs) {
    check(in_range(i, program.buffers.size()), "an output is a buffer");
    check(program.buffers[static_cast<std::size_t>(i)].kind == BufferKind::Output, "an output is marked as one");
  }
  for (const ProgramState& state : program.states) {
    check(in_range(state.buffer, program.buffers.size()), "a state is a buffer");
    const ProgramBuffer& b = program.buffers[static_cast<std::size_t>(state.buffer)];
    check(b.kind == BufferKind::State && variables(b.shape).empty(), "a state is marked as one and has a size");
    if (state.first < 0) continue;
    check(in_range(state.first, program.buffers.size()), "a state starts with a constant");
    const ProgramBuffer& first = program.buffers[static_cast<std::size_t>(state.first)];
    check(first.kind == BufferKind::Constant && first.max_bytes() == b.max_bytes(), "a state starts with a constant of its size");
  }
}

void verify_calls(const Program& program) {
  const auto buffer_of = [&](int b) -> const ProgramBuffer& { return program.buffers[static_cast<std::size_t>(b)]; };
  std::vector<bool> written;
  for (const ProgramBuffer& b : program.buffers)
    written.push_back(b.kind == BufferKind::Input || b.kind == BufferKind::Constant || b.kind == BufferKind::State);
  for (const ProgramCall& call : program.calls) {
    check(in_range(call.kernel, program.kernels.size()), "a call names a kernel");
    const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(call.kernel)];
    check(call.arguments.size() == kernel.arguments.size(), "a call has a buffer for each argument");
    for (std::size_t i = 0; i < call.arguments.size(); i++) {
      const CallArgument& argument = call.arguments[i];
      check(in_range(argument.buffer, program.buffers.size()), "an argument is a buffer");
      check(buffer_of(argument.buffer).dtype == kernel.arguments[i].dtype, "an argument has the type of its buffer");
      check(argument.access == kernel.arguments[i].access, "a call writes what its kernel writes");
      check(argument.access == Access::Read || argument.may_alias == 0, "only what is read may be written over");
      check(kernel.external == nullptr || argument.may_alias == 0, "a function in C gets buffers that lie apart");
    }
    for (int b : call.reads()) check(written[static_cast<std::size_t>(b)], "a buffer is written before it is read");
    check(!call.writes().empty(), "a call writes something");
    for (int b : call.writes()) {
      const BufferKind kind = buffer_of(b).kind;
      check(kind != BufferKind::Input && kind != BufferKind::Constant, "inputs and constants are not written");
      written[static_cast<std::size_t>(b)] = true;
    }
  }
  for (int i : program.outputs) {
    const std::size_t b = static_cast<std::size_t>(i);
    check(written[b] || program.buffers[b].max_elements == 0, "every output is written");
  }
}

void verify_loops(const Program& program) {
  std::vector<ProgramLoop> open;
  int last = 0;
  for (const ProgramLoop& loop : program.loops) {
    check(last <= loop.first && loop.first < loop.end && loop.end <= static_cast<int>(program.calls.size()), "a loop has calls");
    while (!open.empty() && open.back().end <= loop.first) open.pop_back();
    check(open.empty() || loop.end <= open.back().end, "loops lie in each other or apart");
    check(loop.count.is_int() || loop.count.node()->kind == NodeKind::Variable, "a loop counts to a number or a variable");
    for (const ProgramVariable& v : program.variables) check(v.name != loop.counter, "a counter has a name of its own");
    open.push_back(loop);
    last = loop.first;
  }
}

std::string_view kind_text(BufferKind kind) {
  switch (kind) {
    case BufferKind::Input:
      return "input";
    case BufferKind::Output:
      return "output";
    case BufferKind::Intermediate:
      return "intermediate";
    case BufferKind::Constant:
      return "constant";
    case BufferKind::State:
      return "state";
  }
  return "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

// "etch_exp_f32(" of its definition; empty if it defines no function.
std::string defined_by(const std::string& definition) {
  for (std::size_t end = definition.find('('); end != std::string::npos; end = definition.find('(', end + 1)) {
    const std::size_t begin = definition.find_last_of(" *#\n(", end == 0 ? 0 : end - 1) + 1;
    if (definition.compare(begin, 5, "etch_") == 0) return definition.substr(begin, end + 1 - begin);
  }
  return "";
}

bool calls(const std::string& definition, const std::string& other) {
  const std::string name = defined_by(other);
  return !name.empty() && definition.find(name) != std::string::npos;
}

}  // namespace

void drop_unused_kernels(Program& program) {
  std::vector<int> moved(program.kernels.size(), -1);
  for (const ProgramCall& call : program.calls) moved[at(call.kernel)] = 0;
  std::vector<ProgramKernel> kept;
  for (std::size_t k = 0; k < moved.size(); k++) {
    if (moved[k] < 0) continue;
    moved[k] = static_cast<int>(kept.size());
    kept.push_back(std::move(program.kernels[k]));
  }
  program.kernels = std::move(kept);
  for (ProgramCall& call : program.calls) call.kernel = moved[at(call.kernel)];
}

bool has_external(const Program& program) {
  return std::ranges::any_of(program.kernels, [](const ProgramKernel& k) { return k.external != nullptr; });
}

std::vector<std::string> helpers_of(std::span<const ProgramKernel> kernels) {
  std::set<std::string> helpers;
  for (const ProgramKernel& k : kernels) helpers.insert(k.text.helpers.begin(), k.text.helpers.end());
  return {helpers.begin(), helpers.end()};
}

// What a function calls stands in front of it.
std::string definitions_of(std::span<const ProgramKernel> kernels) {
  std::set<std::string> definitions;
  for (const ProgramKernel& k : kernels) definitions.insert(k.text.definitions.begin(), k.text.definitions.end());
  std::string text;
  while (!definitions.empty()) {
    const auto is_next = [&](const std::string& d) {
      return std::ranges::none_of(definitions, [&](const std::string& o) { return &o != &d && calls(d, o); });
    };
    const auto next = std::ranges::find_if(definitions, is_next);
    check(next != definitions.end(), "functions do not call each other in a circle");
    text += *next;
    definitions.erase(next);
  }
  return text;
}

std::string pragmas_for(std::span<const ProgramKernel> kernels) {
  const std::pair<bool Rendered::*, std::string_view> parts[] = {
      {&Rendered::keeps_branches, kBranchesPragma},
      {&Rendered::rounds_doubles, kRoundingsPragma},
      {&Rendered::has_integer_tiles, kTilesPragma},
      {&Rendered::has_vector_tiles, kVectorTilesPragma},
  };
  std::string text;
  for (const auto& [fact, pragma] : parts)
    if (std::ranges::any_of(kernels, [&](const ProgramKernel& k) { return k.text.*fact; })) text += std::string(pragma) + "\n";
  return text;
}

void verify(const Program& program) {
  verify_names(program);
  verify_buffers(program);
  verify_calls(program);
  verify_loops(program);
}

std::string to_text(const Program& program) {
  std::string text = fmt::format("program in {}\n", program.language != nullptr ? program.language->name : "ASTs");
  for (const ProgramVariable& v : program.variables) text += fmt::format("variable {} {}..{}\n", v.name, v.min, v.max);
  for (std::size_t i = 0; i < program.buffers.size(); i++) {
    const ProgramBuffer& b = program.buffers[i];
    text += fmt::format("b{:<4} {:<12} {:<8} {} {}\n", i, kind_text(b.kind), name_of(b.dtype), b.name, shape_text(b.shape));
  }
  for (std::size_t i = 0; i < program.kernels.size(); i++) {
    const ProgramKernel& k = program.kernels[i];
    text += fmt::format("k{:<4} {} {} [{}]\n", i, k.name, k.shape_name, k.opts);
  }
  for (std::size_t i = 0; i < program.calls.size(); i++) {
    const ProgramCall& c = program.calls[i];
    std::vector<std::string> args;
    for (const CallArgument& a : c.arguments) args.push_back(fmt::format("b{}{}", a.buffer, a.may_alias != 0 ? "*" : ""));
    for (const ProgramLoop& loop : program.loops)
      if (loop.first == static_cast<int>(i))
        text += fmt::format("loop      calls {}-{}, {} from 0, {} turns\n", loop.first, loop.end - 1, loop.counter, to_text(loop.count));
    text += fmt::format("call {:<4} k{} ({})  {}\n", i, c.kernel, joined(args), joined(c.nodes));
  }
  return text;
}

bool is_same_constant(const ProgramBuffer& a, const ProgramBuffer& b) {
  return a.kind == BufferKind::Constant && b.kind == BufferKind::Constant && a.dtype == b.dtype && a.in_words == b.in_words &&
         a.data.size() == b.data.size() && std::ranges::equal(a.data.bytes(), b.data.bytes());
}

void share_constants(Program& owner, const Program& other) {
  std::vector<bool> has(owner.buffers.size(), false);  // those that are emitted
  for (const ProgramCall& call : owner.calls)
    for (const CallArgument& a : call.arguments) has[static_cast<std::size_t>(a.buffer)] = true;
  for (const ProgramState& state : owner.states)
    if (state.first >= 0) has[static_cast<std::size_t>(state.first)] = true;
  for (const ProgramCall& call : other.calls)
    for (const CallArgument& argument : call.arguments) {
      const ProgramBuffer& wanted = other.buffers[static_cast<std::size_t>(argument.buffer)];
      if (wanted.kind != BufferKind::Constant) continue;
      bool known = false;
      for (std::size_t b = 0; b < owner.buffers.size() && !known; b++) known = has[b] && is_same_constant(owner.buffers[b], wanted);
      if (known) continue;
      owner.buffers.push_back(wanted);
      owner.buffers.back().of_companion = true;
      has.push_back(true);
    }
}

}  // namespace etch
