#include "search/steps.h"

#include <vector>

namespace etch {

std::optional<double> steps_executed(const UOpList& uops) {
  double steps = 0;
  std::vector<double> turns{1};
  for (const UOp* u : uops.order) {
    if (u->uop == UOpKind::Loop) {
      if (u->src[0]->uop != UOpKind::Const || u->src[1]->uop != UOpKind::Const) return std::nullopt;
      turns.push_back(turns.back() * static_cast<double>(u->src[1]->value->as_int() - u->src[0]->value->as_int()));
    }
    if (u->uop == UOpKind::If) turns.push_back(turns.back());
    if (u->uop != UOpKind::Const) steps += turns.back();
    if (u->uop == UOpKind::End) turns.pop_back();
  }
  return steps;
}

}  // namespace etch
