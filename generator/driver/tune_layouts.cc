#include "driver/tune_layouts.h"

#include <map>
#include <set>
#include <string>

namespace etch {

double flash_worth(const CompileOptions& options) { return options.sharing == Sharing::All ? kScarceFlashWorth : kFlashWorth; }

LayoutResult tune_layouts(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table, int most_rounds) {
  MeasuredPrograms programs(options, measure);
  const auto with = [&](const Ways& ways) {
    OptTable rows = table.without_layouts();
    for (const auto& [key, way] : ways) rows.set_layout(key, {"", way});
    return rows;
  };
  const LayoutSearch search{.bytes_worth = flash_worth(options), .most_rounds = most_rounds};
  return search_layouts(
      table.ways(),
      [&](const std::vector<Ways>& all) {
        std::vector<OptTable> tables;
        for (const Ways& ways : all) tables.push_back(with(ways));
        return programs.measured(tables);
      },
      search);
}

OptTable with_layouts(OptTable table, const LayoutResult& result) {
  for (const LayoutChoice& choice : result.choices) {
    if (const auto way = result.best.find(choice.key); way != result.best.end())
      table.set_layout(choice.key, {choice.subject, way->second});
    else
      table.remove_layout(choice.key);
  }
  return table;
}

OptTable usual_ways(const LayoutResult& result) {
  std::map<std::string, std::set<int>> usual;
  for (const LayoutChoice& choice : result.choices) usual[choice.key].insert(choice.usual);
  OptTable table;
  for (const LayoutChoice& choice : result.choices)
    if (usual[choice.key].size() == 1) table.set_layout(choice.key, {choice.subject, choice.usual});
  return table;
}

}  // namespace etch
