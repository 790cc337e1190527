#include "driver/confirm.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/tune_layouts.h"

namespace etch {
namespace {

// The rows of one task that are in the table.
struct Rows {
  std::string name;
  std::vector<std::string> keys;
};

class Confirming {
 public:
  Confirming(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table)
      : programs_(options, measure), table_(table), worth_(flash_worth(options)) {}

  OptTable run(const std::vector<Task>& tasks, std::vector<RowsLeftOut>& left_out) {
    base_table_ = table_;
    for (const Task& task : tasks) add(task);
    if (rows_.empty()) return table_;
    const std::optional<Cost> base = programs_.measured({base_table_}).at(0).cost;
    if (!base) return table_;
    base_ = *base;
    std::vector<OptTable> tables;
    for (const Rows& rows : rows_) tables.push_back(with(base_table_, rows));
    const std::vector<MeasuredProgram> alone = programs_.measured(tables);
    OptTable result = base_table_;
    std::vector<Rows> good;
    for (std::size_t i = 0; i < rows_.size(); i++) {
      const std::string why = why_not(alone[i], base_);
      if (why.empty())
        result = with(std::move(result), rows_[i]), good.push_back(rows_[i]);
      else
        left_out.push_back({rows_[i].name, why});
    }
    if (good.size() < 2 || why_not(programs_.measured({result}).at(0), base_).empty()) return result;
    return one_by_one(good, left_out);
  }

 private:
  void add(const Task& task) {
    Rows rows{task.name, {}};
    for (const Subject& s : task.subjects) {
      const std::string key = tuning_key(s.ast, s.arguments, s.options);
      if (table_.find(key) != nullptr) rows.keys.push_back(key);
      base_table_.remove(key);
    }
    if (!rows.keys.empty()) rows_.push_back(std::move(rows));
  }

  OptTable with(OptTable table, const Rows& rows) const {
    for (const std::string& key : rows.keys) table.set(key, *table_.find(key));
    return table;
  }

  // Together they do not: each stays that does beside those before it.
  OptTable one_by_one(const std::vector<Rows>& good, std::vector<RowsLeftOut>& left_out) {
    OptTable result = base_table_;
    Cost before = base_;
    for (const Rows& rows : good) {
      OptTable more = with(result, rows);
      const MeasuredProgram program = programs_.measured({more}).at(0);
      if (const std::string why = why_not(program, before); !why.empty()) {
        left_out.push_back({rows.name, why});
        continue;
      }
      result = std::move(more);
      const std::int64_t least = std::min(before.cycles, program.cost->cycles);  // what counts as unchanged does not add up
      before = *program.cost;
      before.cycles = least;
    }
    return result;
  }

  // Empty if the program may be taken instead of one of that cost.
  std::string why_not(const MeasuredProgram& program, const Cost& before) const {
    if (!program.cost) return program.problem;
    const Cost& cost = *program.cost;
    if (cost.stack_bytes > std::max(kProgramStack, base_.stack_bytes))
      return fmt::format("the program's stack would be {} bytes", cost.stack_bytes);
    const double spread = spread_of(before), most_cycles = static_cast<double>(before.cycles) * spread;
    if (cost.instructions > before.instructions || static_cast<double>(cost.cycles) > most_cycles || score(cost) >= score(before) * spread)
      return "nothing is saved in the whole program";
    return "";
  }

  double score(const Cost& cost) const { return score_of(cost, time_of(base_) / worth_); }

  MeasuredPrograms programs_;
  const OptTable& table_;
  double worth_;
  OptTable base_table_;
  std::vector<Rows> rows_;
  Cost base_;
};

}  // namespace

OptTable confirmed(const CompileOptions& options, const MeasureProjects& measure, const std::vector<Task>& tasks, const OptTable& table,
                   std::vector<RowsLeftOut>& left_out) {
  return Confirming(options, measure, table).run(tasks, left_out);
}

}  // namespace etch
