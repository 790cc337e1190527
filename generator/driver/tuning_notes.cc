#include "driver/tuning_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace etch {
namespace {

// By file: its rows that are for kernels and choices of the model.
std::map<std::string, int> rows_by_file(const OptTable& table, const std::vector<std::string>& found, std::set<TableRow> rows) {
  for (const std::string& key : found)
    if (const TunedLayout* row = table.layout(key)) rows.insert({row->file, row->line});
  std::map<std::string, int> counts;
  for (const TableRow& row : rows) counts[row.file]++;
  return counts;
}

std::string text_of(const std::set<FoundFor>& found_for) {
  std::vector<std::string> texts;
  for (const FoundFor& what : found_for) texts.push_back(what.target + " with " + what.compiler);
  return fmt::format("{}", fmt::join(texts, " and "));
}

bool is_of(const Target& target, const std::string& compiler) {
  return std::ranges::any_of(target.toolchain.compilers,
                             [&](const std::string& own) { return std::filesystem::path(own).filename() == compiler; });
}

}  // namespace

std::vector<std::string> notes_on_refused(const std::vector<LayoutChoice>& refused, const OptTable& table) {
  std::vector<std::string> notes;
  for (const LayoutChoice& choice : refused) {
    const TunedLayout& row = *table.layout(choice.key);
    const std::string note =
        fmt::format("{}: {}:{}: WAY {} can't be taken (its ways are {}), the heuristics chose instead; etch tune finds a new one",
                    choice.subject, row.file, row.line, row.way, fmt::join(choice.ways, ", "));
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
  }
  return notes;
}

std::vector<std::string> notes_on_files(const OptTable& table, const std::vector<std::string>& found, const std::set<TableRow>& rows,
                                        const Target& target) {
  std::vector<std::string> notes;
  const std::map<std::string, int> uses = rows_by_file(table, found, rows);
  for (const TableFile& file : table.files()) {
    const auto used = uses.find(file.name);
    const int rows_used = used == uses.end() ? 0 : used->second;
    const bool is_for_it = std::ranges::any_of(file.found_for, [&](const FoundFor& f) { return f.target == target.name; });
    const bool is_by_it =
        std::ranges::any_of(file.found_for, [&](const FoundFor& f) { return f.target == target.name && is_of(target, f.compiler); });
    std::string note = fmt::format("{}: rows for this model's kernels and choices on {} with these options: {} of {}", file.name,
                                   target.name, rows_used, file.rows);
    if (!file.found_for.empty()) note += ", found for " + text_of(file.found_for);
    if (rows_used == 0 && file.rows > 0)
      notes.push_back(note + ": the heuristics chose; etch tune makes such rows");
    else if (rows_used > 0 && !file.found_for.empty() && !is_by_it)
      notes.push_back(note + (is_for_it ? fmt::format(", not with {}", fmt::join(target.toolchain.compilers, " or ")) : "") +
                      ": they may not be the best here; etch tune measures them");
  }
  return notes;
}

}  // namespace etch
