#include "schedule/layout_choice.h"

#include <fmt/format.h>

#include "base/fnv.h"
#include "schedule/schedule.h"

namespace etch {

int take_way(const LayoutChoices& choices, const LayoutQuestion& question, const std::function<bool(int way)>& can, Schedule& schedule) {
  LayoutChoice choice;
  choice.subject = question.kind;
  for (const Sint& d : question.shape) choice.subject += "_" + to_text(d);
  choice.key = fmt::format("{:016x}", fnv1a_64(choice.subject + "\n" + choices.context + "\n" + question.text));
  choice.usual = choice.taken = question.usual;
  const auto is_way = [&](int way) { return way == question.usual || (way >= 0 && way < question.count && can(way)); };
  const std::optional<int> found = choices.found ? choices.found(choice.key) : std::nullopt;
  const bool is_refused = found && !is_way(*found);
  if (found) schedule.found.push_back(choice.key);
  if (found && !is_refused) choice.taken = *found;
  if (choices.lists || is_refused)
    for (int way = 0; way < question.count; way++)
      if (is_way(way)) choice.ways.push_back(way);
  if (choices.lists) schedule.choices.push_back(choice);
  if (is_refused) schedule.refused.push_back(choice);
  return choice.taken;
}

}  // namespace etch
