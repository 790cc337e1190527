#include "emit/device_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "emit/device_tables.h"
#include "shape/c_expression.h"

namespace etch {
namespace {

std::string without_parentheses(const std::string& text) { return text.starts_with('(') ? text.substr(1, text.size() - 2) : text; }

}  // namespace

std::string SizeTable::add(Sint size) {
  if (size.is_int()) return fmt::format("{}", size.as_int());
  check(size.min() >= 0, "a size is not negative");
  const auto it = std::ranges::find(sizes_, size);
  const auto number = it - sizes_.begin();
  if (it == sizes_.end()) sizes_.push_back(size);
  return fmt::format("SIZE({})", number);
}

std::string SizeTable::text(const Project& p) const {
  if (empty()) return "";
  std::map<std::string, std::string> names;
  for (std::size_t v = 0; v < p.program->variables.size(); v++) names[p.program->variables[v].name] = p.variable_names[v];
  std::string text = fmt::format(
      "#define SIZE(n) ({}_SIZE + n)\n\n"
      "/* The sizes that depend on variables. */\n"
      "static uint32_t size_of(uint32_t number, const int32_t *variables) {{\n",
      device_macro(p));
  const std::vector<const Node*> used = variables(sizes_);
  for (std::size_t v = 0; v < p.program->variables.size(); v++)
    if (std::ranges::any_of(used, [&](const Node* n) { return n->name == p.program->variables[v].name; }))
      text += fmt::format("  const int64_t {} = variables[{}];\n", p.variable_names[v], v);
  text += "  switch (number) {\n";
  for (std::size_t i = 0; i < sizes_.size(); i++)
    text += fmt::format("    case {}: return (uint32_t)({});\n", i, without_parentheses(c_expression(sizes_[i], names)));
  return text + "    default: return 0;\n  }\n}\n\n";
}

}  // namespace etch
