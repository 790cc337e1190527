// Internal to the conformance checkers: ShapeTrackers from case files, and a reference evaluation of them by plain arithmetic.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "shape/shapetracker.h"

namespace etch {

/// What was found about one case; both empty if it agrees.
struct CaseVerdict {
  std::string wrong, missed;
  void found_wrong(const std::string& what) { wrong += (wrong.empty() ? "" : "; ") + what; }
  void found_missed(const std::string& what) { missed += (missed.empty() ? "" : "; ") + what; }
};

/// Buffer position of a flat index through the views (all sizes are ints), -1 where it is masked, computed by the definition of a view.
std::int64_t position_of(const std::vector<View>& views, std::int64_t flat);

/// Reads an int, an expression as text, or {"expr": text, "vars": {name: [min, max(, value)]}}.
Sint size_of(Symbols& syms, const nlohmann::json& size);
std::vector<Sint> sizes_of(Symbols& syms, const nlohmann::json& sizes);
View view_of(Symbols& syms, const nlohmann::json& view);
ShapeTracker apply_ops(Symbols& syms, ShapeTracker st, const nlohmann::json& ops);

/// One case of the section "symbolic".
void check_symbolic_tracker(const nlohmann::json& c, CaseVerdict* v);

}  // namespace etch
