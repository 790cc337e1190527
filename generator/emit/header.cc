#include <fmt/format.h>

#include <algorithm>

#include "emit/form.h"
#include "emit/literals.h"
#include "emit/project.h"
#include "emit/signature.h"
#include "emit/workers.h"
#include "program/loops.h"

namespace etch {
namespace {

std::string provenance(const Project& p) {
  const EmitOptions& o = *p.options;
  std::string text = p.first_line() + "\n";
  std::string from = in_comment(o.model_file.empty() ? "a program made by hand" : o.model_file);
  if (!o.model_sha256.empty()) from += ", sha256 " + o.model_sha256;
  if (!o.model_facts.empty()) from += " (" + in_comment(o.model_facts) + ")";
  text += " *   from     " + from + "\n";
  if (!o.options_text.empty()) text += " *   options  " + in_comment(o.options_text) + "\n";
  if (!o.build.code.empty() || !o.build.abi.empty()) text += " *   flags    " + flags_text(o) + "\n";
  std::int64_t macs = 0;
  const std::vector<Sint> turns = turns_of_calls(*p.program);
  for (std::size_t c = 0; c < turns.size(); c++) macs += (p.program->calls[c].macs * turns[c]).max();
  text += fmt::format(" *   work     {} calls of {} kernels, {} multiply-accumulates{}\n", p.program->calls.size(),
                      p.program->kernels.size(), grouped(macs), p.program->variables.empty() ? "" : " at most");
  std::string arenas;
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++) {
    const ArenaPlan& arena = p.plan->arenas[n];
    arenas += fmt::format("{}{} {} bytes (lower bound {})", n == 0 ? "" : ", ", p.has_pools() ? p.program->pools[n].name : "arena",
                          grouped(arena.bytes), grouped(arena.lower_bound_bytes));
  }
  text += fmt::format(" *   memory   {}{}, constants {} bytes */\n", arenas,
                      p.has_state() ? fmt::format(", state {} bytes", grouped(p.state_bytes)) : "", grouped(p.constants_bytes));
  return text;
}

std::string io_macros(const Project& p) {
  std::vector<std::pair<std::string, std::string>> rows;
  auto add = [&](const std::vector<int>& buffers, const char* what) {
    for (int b : buffers) {
      const ProgramBuffer& buffer = p.program->buffers[static_cast<std::size_t>(b)];
      rows.emplace_back(fmt::format("#define {} {}u", count_macro(p, b), std::max<std::int64_t>(buffer.max_elements, 1)),
                        fmt::format("/* {} \"{}\" {} */", what, in_comment(buffer.name), type_text(buffer)));
    }
  };
  add(p.program->inputs, "input ");
  add(p.program->outputs, "output");
  std::size_t width = 0;
  for (const auto& row : rows) width = std::max(width, row.first.size());
  std::string text =
      "/* Elements of each input and output" + std::string(p.program->variables.empty() ? "" : ", at their largest") + ". */\n";
  for (const auto& [define, comment] : rows) text += fmt::format("{:<{}} {}\n", define, width, comment);
  for (std::size_t v = 0; v < p.program->variables.size(); v++) {
    const ProgramVariable& variable = p.program->variables[v];
    const std::string name = p.macro + "_" + p.upper(p.variable_names[v]);
    text += fmt::format("#define {0}_MIN {1}\n#define {0}_MAX {2}\n", name, variable.min, variable.max);
  }
  return text;
}

// The places that the arena has for inputs and outputs, if it was planned with them.
std::string io_places(const Project& p) {
  std::string text;
  for (const auto* group : {&p.program->inputs, &p.program->outputs})
    for (int b : *group)
      if (p.has_place_in_arena(b))
        text += fmt::format(
            "#define {} {}u{}\n", offset_macro(p, b), p.plan->placements[static_cast<std::size_t>(b)].offset,
            p.has_pools()
                ? " /* of " + arena_names(p)[static_cast<std::size_t>(p.plan->placements[static_cast<std::size_t>(b)].pool)] + " */"
                : "");
  if (text.empty()) return "";
  return "/* Bytes from the start of the arena to the room that it has for each input and output: pass these addresses, or others. A run "
         "may\n"
         " * write over what lies there: an input is gone, and an output is there until the next run begins. */\n" +
         text;
}

std::string what_it_computes(const Project& p, const HeaderParts& parts) {
  std::vector<std::string> inputs, outputs;
  for (int b : p.program->inputs) inputs.push_back(p.buffer_names[static_cast<std::size_t>(b)]);
  for (int b : p.program->outputs) outputs.push_back(p.buffer_names[static_cast<std::size_t>(b)]);
  std::string text = "/* Computes " + list_text(outputs) + (inputs.empty() ? "" : " from " + list_text(inputs)) + ".";
  text += parts.promise;
  for (std::size_t v = 0; v < p.program->variables.size(); v++) {
    text += fmt::format(" * {}: {} to {}, else ETCH_RANGE.", p.variable_names[v], p.program->variables[v].min, p.program->variables[v].max);
    text += v + 1 == p.program->variables.size() ? " Inputs and outputs have the elements of the shape with that value.\n" : "\n";
  }
  text += parts.notes;
  text.back() = ' ';
  return text + "*/\n";
}

std::string blob_functions(const Project& p) {
  if (!p.is_blob() || !p.owns_constants()) return "";
  return fmt::format(
      "/* Thorough check of the weights, once at start-up: size, version, and a hash over all bytes. */\n"
      "etch_status {0}_check_weights(const void *weights, size_t weights_bytes);\n\n",
      p.name);
}

std::string sizes(const Project& p, const HeaderParts& parts) {
  std::string text = parts.arena_bytes;
  if (!p.has_pools()) text += fmt::format("#define {}_ARENA_ALIGN {}u\n", p.macro, p.plan->align);
  if (p.owns_constants()) {
    const std::int64_t header = p.weights == WeightsForm::Blob ? 64 : 0;
    text += fmt::format("#define {}_WEIGHTS_BYTES {}u\n", p.macro, p.constants_bytes + header);
    if (p.weights == WeightsForm::Blob) text += fmt::format("#define {}_WEIGHTS_ALIGN {}u\n", p.macro, p.weights_align());
  }
  if (p.owns_state()) {
    text += fmt::format("#define {}_STATE_BYTES {}u{}\n", p.macro, p.state_bytes,
                        p.form->on_device ? fmt::format(" /* on the device; {}_open makes it */", p.name) : "");
    if (!p.form->on_device) text += fmt::format("#define {}_STATE_ALIGN {}u\n", p.macro, p.state_align);
  }
  return text;
}

bool uses_bool(const Project& p) {
  auto is_bool = [&](int b) { return p.program->buffers[static_cast<std::size_t>(b)].dtype == DType::Bool; };
  return std::any_of(p.program->inputs.begin(), p.program->inputs.end(), is_bool) ||
         std::any_of(p.program->outputs.begin(), p.program->outputs.end(), is_bool);
}

// The files whose ABI has to be that of the model.
std::string runtime_files_of(const Project& p) {
  const std::string own = fmt::format("{0}.h and {0}.c", p.form->runtime);
  if (has_workers(p)) return "etch_runtime.h, etch_runtime.c, etch_workers.h and etch_workers.c";
  return p.form->runtime == "etch_runtime" ? own : "etch_runtime.h, etch_runtime.c, " + own;
}

}  // namespace

std::string offset_macro(const Project& p, int buffer) {
  return fmt::format("{}_{}_OFFSET", p.macro, p.upper(p.buffer_names[static_cast<std::size_t>(buffer)]));
}

std::string count_macro(const Project& p, int buffer) {
  return fmt::format("{}_{}_COUNT", p.macro, p.upper(p.buffer_names[static_cast<std::size_t>(buffer)]));
}

bool Project::starts_of_blob() const {
  if (!role().state_of.empty()) return role().starts_of_blob;
  return is_blob() && std::ranges::any_of(states, [](const StateMember& s) { return s.state.first >= 0; });
}

std::string state_init_parameters(const Project& p) { return p.starts_of_blob() ? "void *state, const void *weights" : "void *state"; }

namespace {

std::vector<std::string> parameter_list(const Project& p) {
  std::vector<std::string> result = p.form->header(p).parameters;
  for (const std::string& v : p.variable_names) result.push_back("int32_t " + v);
  for (int b : p.program->inputs) {
    const ProgramBuffer& buffer = p.program->buffers[static_cast<std::size_t>(b)];
    result.push_back(fmt::format("{}{}{}", buffer.by_value ? "" : "const ", c_type(buffer), buffer.by_value ? " " : " *") +
                     p.buffer_names[static_cast<std::size_t>(b)]);
  }
  for (int b : p.program->outputs)
    result.push_back(
        fmt::format("{} *{}", c_type(p.program->buffers[static_cast<std::size_t>(b)]), p.buffer_names[static_cast<std::size_t>(b)]));
  return result;
}

}  // namespace

std::string parameters(const Project& p, bool profile) {
  std::vector<std::string> result = parameter_list(p);
  if (profile) {
    result.push_back(std::string(p.form->callback) + " after");
    result.push_back("void *user");
  }
  return list_text(result);
}

std::vector<std::string> argument_names(const Project& p) {
  std::vector<std::string> names;
  for (const std::string& parameter : parameter_list(p)) names.push_back(parameter.substr(parameter.find_last_of(" *") + 1));
  return names;
}

std::string model_header(const Project& p) {
  std::string text = provenance(p);
  text += fmt::format("#ifndef {0}_H\n#define {0}_H\n\n", p.macro);
  if (uses_bool(p)) text += "#include <stdbool.h>\n\n";
  text += fmt::format(
      "#include \"{1}.h\"\n"
      "#if ETCH_RUNTIME_ABI != {2}\n"
      "#error \"{0}.h was generated for etch runtime ABI {2}: take {3} from the same folder\"\n"
      "#endif\n\n"
      "{4}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      p.name, has_workers(p) ? std::string_view("etch_workers") : p.form->runtime, runtime_abi(), runtime_files_of(p),
      p.has_state() && !p.owns_state() ? fmt::format("#include \"{}.h\" /* the state */\n\n", p.state_name()) : "");
  const HeaderParts parts = p.form->header(p);
  text += sizes(p, parts) + "\n" + io_macros(p) + io_places(p) + "\n" + blob_functions(p);
  text += parts.before_run;
  text += parts.state;
  text += what_it_computes(p, parts) + fmt::format("etch_status {}({});\n\n", p.entry(), parameters(p, false));
  if (has_workers(p)) text += workers_header(p);
  text += parts.after_run;
  text += fmt::format(
      "#if ETCH_PROFILE\n"
      "/* The same, calling after(user, n, {5}) when call n is done; {0}_calls[n] says what it was. */\n"
      "etch_status {0}_profile({1});\n"
      "#define {2}_CALL_COUNT {3}u\n"
      "extern const etch_call_info {0}_calls[{4}];\n"
      "#endif\n\n",
      p.name, parameters(p, true), p.macro, p.program->calls.size(), std::max<std::size_t>(p.program->calls.size(), 1),
      p.form->callback_gets);
  return text + "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

}  // namespace etch
