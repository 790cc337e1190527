#include "search/cost.h"

#include <array>
#include <nlohmann/json.hpp>

namespace etch {

void to_json(nlohmann::ordered_json& json, const Cost& cost) { json = {cost.instructions, cost.cycles, cost.code_bytes, cost.stack_bytes}; }

void from_json(const nlohmann::ordered_json& json, Cost& cost) {
  const auto figures = json.get<std::array<std::int64_t, 4>>();
  cost = {figures[0], figures[1], figures[2], figures[3]};
}

}  // namespace etch
