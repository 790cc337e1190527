#include "driver/measured_programs.h"

#include "base/error.h"
#include "base/fnv.h"
#include "driver/selftest.h"
#include "driver/tune.h"

namespace etch {
namespace {

std::string text_of(const CompiledProject& project) {
  std::string text;
  for (const EmittedFile& file : project.files) text += file.text;
  return text;
}

}  // namespace

MeasuredPrograms::MeasuredPrograms(const CompileOptions& options, const MeasureProjects& measure, std::int64_t most_bytes)
    : options_(options), measure_(measure), most_bytes_(most_bytes) {
  options_.tuning.clear();
  options_.target.tuning.clear();
  options_.lists_choices = true;
  options_.selftest = false;
  options_.dump = {};
  options_.measure = {};
  step_ = std::move(options_.step);
  options_.step = {};
}

std::vector<MeasuredProgram> MeasuredPrograms::measured(const std::vector<OptTable>& tables) {
  std::vector<MeasuredProgram> result;
  std::vector<std::uint64_t> texts;
  std::vector<MeasuredProject> projects;
  std::map<std::uint64_t, std::size_t> number_of;  // of projects, by their text
  std::int64_t bytes = 0;
  const auto measure = [&] {
    if (step_) step_("measuring programs", 0, static_cast<std::int64_t>(projects.size()));
    const std::vector<Measured> measured = measure_(projects);
    check(measured.size() == projects.size(), "each project is measured");
    for (const auto& [text, number] : number_of) costs_[text] = measured[number];
    projects.clear();
    number_of.clear();
    bytes = 0;
  };
  for (const OptTable& table : tables) {
    if (step_) step_("making programs", static_cast<std::int64_t>(result.size()), static_cast<std::int64_t>(tables.size()));
    CompiledProject project = compiled(table, result);
    const std::string text = text_of(project);
    texts.push_back(fnv1a_64(text));
    if (costs_.contains(texts.back()) || !number_of.emplace(texts.back(), projects.size()).second) continue;
    projects.push_back({std::move(project.files), project.report.name + "_run"});
    if (bytes += std::ssize(text); bytes > most_bytes_) measure();
  }
  measure();
  for (std::size_t i = 0; i < tables.size(); i++) {
    result[i].cost = costs_.at(texts[i]).cost;
    result[i].problem = costs_.at(texts[i]).problem;
  }
  return result;
}

CompiledProject MeasuredPrograms::compiled(const OptTable& table, std::vector<MeasuredProgram>& result) {
  CompileOptions options = options_;
  options.rows = std::make_shared<const OptTable>(table);
  const Frontend frontend = read_model(options);
  require_tunable(frontend, options);
  if (!selftest_) selftest_ = generated_selftest(frontend, options);
  CompiledProject project = compile_project(frontend, options, selftest_);
  result.push_back({std::nullopt, project.plan.arena_bytes, "", frontend.schedule.choices});
  return project;
}

}  // namespace etch
