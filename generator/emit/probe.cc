// A program that is linked to measure a model and never run: its main() calls the run function, and what else the folder has.
#include <fmt/format.h>

#include <algorithm>

#include "emit/form.h"

namespace etch {

std::string ProbeSources::main() const {
  if (entries.empty()) return "";
  std::vector<std::string> headers, calls;
  for (const Entry& e : entries) {
    const std::string line = fmt::format("#include \"{}\"\n", e.header);
    if (std::ranges::find(headers, line) == headers.end()) headers.push_back(line);
    calls.push_back(fmt::format("(int){}({})", e.function, list_text(e.arguments)));
  }
  return fmt::format("{}\nstatic void *volatile place; /* of everything */\n\nint main(void) {{ return {}; }}\n", fmt::join(headers, ""),
                     fmt::join(calls, " + "));
}

std::vector<ProbeSources::Entry> probe_entries(const Project& p) {
  if (p.form->on_device) return {};
  std::vector<std::string> arguments;
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++) {
    arguments.push_back("place");
    arguments.push_back(pool_macro(p, n) + "_BYTES");
  }
  if (p.has_state()) arguments.push_back("place");
  if (p.is_blob()) arguments.push_back("place");
  for (const ProgramVariable& v : p.program->variables) arguments.push_back(std::to_string(v.max));
  for (int b : p.program->inputs) arguments.push_back(p.program->buffers[static_cast<std::size_t>(b)].by_value ? "0" : "place");
  for (std::size_t i = 0; i < p.program->outputs.size(); i++) arguments.push_back("place");
  std::vector<ProbeSources::Entry> entries{{p.entry(), p.name + ".h", std::move(arguments)}};
  if (!p.owns_state()) return entries;
  std::vector<std::string> places{"place"};
  if (p.starts_of_blob()) places.push_back("place");
  entries.push_back({p.name + "_state_init", p.name + ".h", std::move(places)});
  return entries;
}

std::string weights_stub_source(const Project& p) {
  if (!p.has_constants() || p.is_blob() || p.form->on_device) return "";
  return fmt::format("const unsigned char {0}_constants[{1}] = {{1}};\n", p.state_name(), kWeightsStubBytes);
}

}  // namespace etch
