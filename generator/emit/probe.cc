// A program that is linked to measure a model and never run: its main() calls the run function.
#include <fmt/format.h>

#include "emit/form.h"

namespace etch {

std::string probe_source(const Project& p) {
  if (p.form->on_device) return "";
  std::vector<std::string> arguments;
  for (std::size_t n = 0; n < p.plan->arenas.size(); n++) {
    arguments.push_back("place");
    arguments.push_back(pool_macro(p, n) + "_BYTES");
  }
  if (p.has_state()) arguments.push_back("place");
  if (p.is_blob()) arguments.push_back("place");
  for (const ProgramVariable& v : p.program->variables) arguments.push_back(std::to_string(v.max));
  for (std::size_t i = 0; i < p.program->inputs.size() + p.program->outputs.size(); i++) arguments.push_back("place");
  return fmt::format(
      "#include \"{0}.h\"\n\n"
      "static void *volatile place; /* of everything */\n\n"
      "int main(void) {{ return (int){2}({1}); }}\n",
      p.name, list_text(arguments), p.entry());
}

std::string weights_stub_source(const Project& p) {
  if (!p.has_constants() || p.is_blob() || p.form->on_device) return "";
  return fmt::format("const unsigned char {0}_constants[{1}] = {{1}};\n", p.name, kWeightsStubBytes);
}

}  // namespace etch
