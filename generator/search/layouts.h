// Which ways of the schedule's choices are best, by what whole programs cost: a choice changes several kernels, and the chances of others.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schedule/layout_choice.h"
#include "search/cost.h"

namespace etch {

/// By the key of a choice. One that is not there is taken in its usual way.
using Ways = std::map<std::string, int>;

/// A program that was made with some ways: what it costs, or why that is not known.
struct MeasuredProgram {
  std::optional<Cost> cost;  // code_bytes: with constants
  std::int64_t arena_bytes = 0;
  std::string problem;                // also of one that computes something else
  std::vector<LayoutChoice> choices;  // that came up
};

/// The results are those of `ways`, in their order.
using MeasurePrograms = std::function<std::vector<MeasuredProgram>(const std::vector<Ways>& ways)>;

struct LayoutSearch {
  double bytes_worth = kFlashWorth;
  std::int64_t stack_bytes = kProgramStack;
  int most_rounds = 3;  // of changes
};

struct LayoutResult {
  Ways best;                          // of keys that came up those alone that change something; empty: the heuristics' stay
  std::vector<LayoutChoice> choices;  // of the best program
  Cost cost_before, cost;             // of the heuristics' program and of the best
  int measured = 0;
  std::vector<std::string> problems;  // of programs that could not be made or run, or that computed something else
};

/// Begins with the heuristics' ways and with those that are `known`, and changes one choice after the other: first each alone, then those
/// that save something together, most first. Choices of one key take one way, or each its usual one, which may differ. What is found takes
/// no more instructions, cycles and arena than the heuristics' program, and the flash that it adds pays. The same costs give the same
/// result. Nothing is found if the heuristics' program can't be measured.
LayoutResult search_layouts(const Ways& known, const MeasurePrograms& measure, const LayoutSearch& options);

}  // namespace etch
