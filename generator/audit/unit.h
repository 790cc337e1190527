// The facts about one translation unit; audit.cc joins the units. Internal to audit/.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "audit/audit.h"

namespace clang {
class ASTContext;
}

namespace etch {

/// Identifies a function across translation units: static functions of one name differ in their file.
struct FunctionKey {
  std::string file;  // empty for external functions
  std::string name;
  friend auto operator<=>(const FunctionKey&, const FunctionKey&) = default;
};

struct UnitFacts {
  std::vector<Finding> findings;
  std::vector<std::pair<FunctionKey, Finding>> double_findings;  // these count only in functions that the program can reach
  std::vector<std::pair<FunctionKey, AuditedFunction>> functions;
  std::vector<AuditedObject> objects;
  std::set<std::pair<FunctionKey, FunctionKey>> calls;
  std::set<std::pair<FunctionKey, FunctionKey>> calls_or_names;  // also where only the address is taken
  std::set<std::pair<FunctionKey, std::string>> indirect_calls;  // caller, type of the function called
  std::set<std::pair<FunctionKey, std::string>> address_taken;   // function, its type
  std::set<FunctionKey> roots;                                   // external functions, and functions named in initializers of objects
};

/// UserError unless Clang's own headers are there, without which no file parses.
void require_clang_headers();

/// Collects the facts of a parsed unit.
UnitFacts examine(clang::ASTContext& context, const AuditOptions& options);

}  // namespace etch
