#include "shape/open_sizes.h"

namespace etch {

std::optional<int64_t> least_value(Sint expr) {
  constexpr int64_t kMostValues = 1 << 20;
  const std::vector<const Node*> unknown = variables(expr);
  if (unknown.size() != 1 || !unknown[0]->max_expr.is_int() || unknown[0]->max - unknown[0]->min > kMostValues) return std::nullopt;
  int64_t value = unknown[0]->max + 1;
  while (value > unknown[0]->min && evaluate(expr, {{unknown[0]->name, value - 1}}) >= 0) --value;
  if (value > unknown[0]->max) return std::nullopt;
  return value;
}

std::string ranges_text(const std::vector<Sint>& xs) {
  std::string text;
  for (const Node* v : variables(xs)) {
    if (!v->max_expr.is_int()) continue;
    text += (text.empty() ? "" : ", ") + v->name + " is " + std::to_string(v->min) + ".." + std::to_string(v->max);
  }
  return text;
}

void check_for_sizes(bool holds, std::string_view rule, const std::vector<Sint>& of, const std::source_location& at) {
  if (holds) return;
  const std::string sizes = ranges_text(of);
  if (sizes.empty()) fail_check(rule, at);
  throw NotProved(rule, sizes, at);
}

}  // namespace etch
