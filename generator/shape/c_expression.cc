#include "shape/c_expression.h"

#include <fmt/format.h>

#include <vector>

#include "shape/walk.h"

namespace etch {
namespace {

const char* operator_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Variable:
      break;
    case NodeKind::Lt:
      return " < ";
    case NodeKind::Mul:
      return " * ";
    case NodeKind::Div:
      return " / ";
    case NodeKind::Mod:
      return " % ";
    case NodeKind::Sum:
      return " + ";
    case NodeKind::And:
      return " && ";
  }
  return "";
}

}  // namespace

std::string c_expression(Sint size, const std::map<std::string, std::string>& names) {
  Found<std::string> texts;
  const auto of = [&](Sint x) {
    return texts.of(x, [](std::int64_t value) { return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value); });
  };
  for (const Node* n : nodes_of({size})) {
    std::vector<std::string> operands;
    for (const Sint& s : n->src) operands.push_back(of(s));
    const bool is_variable = n->kind == NodeKind::Variable;
    texts.set(n, is_variable ? names.at(n->name) : fmt::format("({})", fmt::join(operands, operator_of(n->kind))));
  }
  return of(size);
}

}  // namespace etch
