#include "driver/tune_layouts.h"

namespace etch {

double flash_worth(const CompileOptions& options) { return options.sharing == Sharing::All ? 0x1p15 : 0x1p18; }

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
    table.remove_layout(choice.key);
    if (choice.taken != choice.usual) table.set_layout(choice.key, {choice.subject, choice.taken});
  }
  return table;
}

}  // namespace etch
