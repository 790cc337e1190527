#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "conformance/ast.h"
#include "conformance/conformance.h"

namespace etch {
namespace {

enum class CaseKind { Symbolic, ShapeTracker, Ast };

CaseKind kind_of(const std::string& file, const nlohmann::json& json) {
  if (json.is_object() && json.contains("cases") && json["cases"].is_array() && !json["cases"].empty()) {
    const auto& first = json["cases"].front();
    if (first.contains("nodes")) return CaseKind::Ast;
    if (first.contains("expr")) return CaseKind::Symbolic;
    if (first.contains("shape")) return CaseKind::ShapeTracker;
  }
  throw UserError(file, "holds no symbolic, ShapeTracker or kernel cases",
                  "give a file with \"cases\", each with \"expr\", \"shape\" or \"nodes\"");
}

}  // namespace

ConformanceReport check_conformance(const std::string& file, const nlohmann::json& json,
                                    const std::vector<std::unique_ptr<Device>>& devices) {
  try {
    switch (kind_of(file, json)) {
      case CaseKind::Symbolic:
        return check_symbolic(json);
      case CaseKind::ShapeTracker:
        return check_shapetracker(json);
      case CaseKind::Ast:
        return check_ast(json, devices);
    }
  } catch (const nlohmann::json::exception& error) {
    throw UserError(file, fmt::format("a case lacks what it needs ({})", error.what()), "see the file's meta section for the format");
  }
  return {};
}

}  // namespace etch
