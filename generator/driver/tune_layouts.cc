#include "driver/tune_layouts.h"

#include "base/error.h"
#include "base/fnv.h"

namespace etch {
namespace {

class Programs {
 public:
  Programs(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table)
      : options_(options), measure_(measure), table_(table) {
    options_.tuning.clear();
    options_.target.tuning.clear();
    options_.lists_choices = true;
    options_.selftest = false;
    options_.dump = {};
    step_ = std::move(options_.step);
    options_.step = {};
  }

  std::vector<MeasuredProgram> measured(const std::vector<Ways>& all) {
    std::vector<MeasuredProgram> result;
    std::vector<std::uint64_t> texts;
    std::vector<MeasuredProject> projects;
    std::map<std::uint64_t, std::size_t> number_of;  // of projects, by their text
    for (const Ways& ways : all) {
      if (step_) step_("laying out", static_cast<std::int64_t>(result.size()), static_cast<std::int64_t>(all.size()));
      CompiledProject project = compiled(ways, result);
      texts.push_back(text_of(project));
      if (costs_.contains(texts.back()) || !number_of.emplace(texts.back(), projects.size()).second) continue;
      projects.push_back({std::move(project.files), project.report.name + "_run"});
    }
    if (step_) step_("measuring programs", 0, static_cast<std::int64_t>(projects.size()));
    const std::vector<Measured> measured = measure_(projects);
    check(measured.size() == projects.size(), "each project is measured");
    for (const auto& [text, number] : number_of) costs_[text] = measured[number];
    for (std::size_t i = 0; i < all.size(); i++) {
      result[i].cost = costs_.at(texts[i]).cost;
      result[i].problem = costs_.at(texts[i]).problem;
    }
    return result;
  }

 private:
  CompiledProject compiled(const Ways& ways, std::vector<MeasuredProgram>& result) {
    OptTable rows = table_.without_layouts();
    for (const auto& [key, way] : ways) rows.set_layout(key, TunedLayout{"", way});
    CompileOptions options = options_;
    options.rows = std::make_shared<const OptTable>(std::move(rows));
    const Frontend frontend = read_model(options);
    if (!frontend.model.dims.empty())
      throw UserError(frontend.file, "sizes are open, and what a program costs depends on them", "bind them, for example --dim batch=1");
    if (!selftest_) selftest_ = generated_selftest(frontend, options, true);
    CompiledProject project = compile_project(frontend, options, selftest_);
    result.push_back({std::nullopt, project.plan.arena_bytes, "", frontend.schedule.choices});
    return project;
  }

  static std::uint64_t text_of(const CompiledProject& project) {
    std::string text;
    for (const EmittedFile& file : project.files) text += file.text;
    return fnv1a_64(text);
  }

  CompileOptions options_;
  const MeasureProjects& measure_;
  const OptTable& table_;
  Step step_;
  std::optional<SelfTest> selftest_;  // the same for all: the reference takes its time
  std::map<std::uint64_t, Measured> costs_;
};

}  // namespace

LayoutResult tune_layouts(const CompileOptions& options, const MeasureProjects& measure, const OptTable& table) {
  Programs programs(options, measure, table);
  const LayoutSearch search{.bytes_worth = options.share_kernels ? 0x1p15 : 0x1p18};
  return search_layouts(table.ways(), [&](const std::vector<Ways>& ways) { return programs.measured(ways); }, search);
}

OptTable with_layouts(OptTable table, const LayoutResult& result) {
  for (const LayoutChoice& choice : result.choices) {
    table.remove_layout(choice.key);
    if (choice.taken != choice.usual) table.set_layout(choice.key, TunedLayout{choice.subject, choice.taken});
  }
  return table;
}

}  // namespace etch
