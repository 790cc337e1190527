#include "shape/open_sizes.h"

namespace etch {
namespace {

std::vector<const Node*> open_sizes(const std::vector<Sint>& xs) {
  std::vector<const Node*> sizes;
  for (const Node* v : variables(xs))
    if (v->max_expr.is_int()) sizes.push_back(v);
  return sizes;
}

const std::string& users_name(const Node* v, const SizeNames& names) {
  const auto found = names.find(v->name);
  return found == names.end() ? v->name : found->second;
}

}  // namespace

std::optional<std::int64_t> least_value(Sint expr) {
  constexpr std::int64_t kMostValues = 1 << 20;
  const std::vector<const Node*> unknown = variables(expr);
  if (unknown.size() != 1 || !unknown[0]->max_expr.is_int() || unknown[0]->max - unknown[0]->min > kMostValues) return std::nullopt;
  std::int64_t value = unknown[0]->max + 1;
  while (value > unknown[0]->min && evaluate(expr, {{unknown[0]->name, value - 1}}) >= 0) value--;
  if (value > unknown[0]->max) return std::nullopt;
  return value;
}

std::string ranges_text(const std::vector<Sint>& xs, const SizeNames& names) {
  std::string text;
  for (const Node* v : open_sizes(xs))
    text += (text.empty() ? "" : ", ") + users_name(v, names) + " is " + std::to_string(v->min) + ".." + std::to_string(v->max);
  return text;
}

std::string size_help(const std::vector<Sint>& xs, const SizeNames& names) {
  std::string bindings;
  for (const Node* v : open_sizes(xs)) bindings += (bindings.empty() ? "--dim " : " or --dim ") + users_name(v, names) + "=VALUE";
  return bindings.empty() ? "" : "fix the size by " + bindings + ", or narrow its range (" + ranges_text(xs, names) + ")";
}

void check_for_sizes(bool holds, std::string_view rule, const std::vector<Sint>& of, const std::source_location& at) {
  if (holds) return;
  if (open_sizes(of).empty()) fail_check(rule, at);
  throw NotProved(rule, of, at);
}

}  // namespace etch
