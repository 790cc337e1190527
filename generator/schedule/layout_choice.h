// What passes over a schedule may do in several ways that compute the same: the order in which values lie in memory, and what is copied.
// Heuristics choose, unless a search has found better.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "shape/symbolic.h"

namespace etch {

/// A choice that came up. Equal ones, in one network or in several, have equal keys and are taken in the same way.
struct LayoutChoice {
  std::string key;          // 16 hexadecimal digits, the same on every machine
  std::string subject;      // for people: "order_8_48_48", "padding_16_24_24"
  std::vector<int> ways{};  // that can be taken, ascending; see the pass that asks. Of a copy 0 or 1
  int usual = 0;            // of the heuristics
  int taken = 0;
};

/// What is known of choices before they come up.
struct LayoutChoices {
  std::function<std::optional<int>(const std::string& key)> found{};  // by a search; may be empty
  std::string context{};                                              // of two contexts no key is the same
  bool lists = false;                                                 // Schedule::choices is wanted

  bool matter() const { return lists || found; }
};

/// What a choice is about, in words that no name of a model is part of.
struct LayoutQuestion {
  const char* kind = "";  // "order"
  std::vector<Sint> shape{};
  std::string text{};  // of the kernels that it changes
  int count = 2;       // ways are numbers below this
  int usual = 0;
};

struct Schedule;

/// The way that is taken: what was found, if it `can` be taken, else the usual one. Adds to the choices of `schedule` where they are
/// listed, and to those that were refused if it can't.
int take_way(const LayoutChoices& choices, const LayoutQuestion& question, const std::function<bool(int way)>& can, Schedule& schedule);

}  // namespace etch
