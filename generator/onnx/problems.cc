#include "onnx/problems.h"

#include <algorithm>

#include "base/error.h"

namespace etch {
namespace {

using Kind = ImportProblem::Kind;

constexpr std::size_t kShown = 60;  // lines of the error; etch inspect shows all problems

std::size_t count(const std::vector<ImportProblem>& problems, Kind kind) {
  return static_cast<std::size_t>(std::ranges::count(problems, kind, &ImportProblem::kind));
}

std::string counted(std::size_t n, const char* one, const char* many) {
  return n == 0 ? "" : std::to_string(n) + " " + (n == 1 ? one : many);
}

/// "graph input 'x': its size ...", without the file's name, which the error begins with.
std::string line_of(const ImportProblem& problem, const std::string& place) {
  const std::string prefix = place + ": ";
  const std::string where = problem.where.starts_with(prefix) ? problem.where.substr(prefix.size()) : problem.where;
  return (where == place ? "" : where + ": ") + problem.problem;
}

std::vector<std::string> lines_of(const std::vector<ImportProblem>& problems, const std::string& place) {
  std::vector<std::string> lines, subjects;
  for (const ImportProblem& problem : problems) {
    if (problem.kind != Kind::Unsupported) {
      lines.push_back(line_of(problem, place) + (problem.option.empty() ? "" : "  (" + problem.option + ")"));
      continue;
    }
    if (std::ranges::find(subjects, problem.subject) != subjects.end()) continue;
    subjects.push_back(problem.subject);
    const auto more = std::ranges::count(problems, problem.subject, &ImportProblem::subject) - 1;
    lines.push_back(line_of(problem, place) + (more == 0 ? "" : "  (and " + std::to_string(more) + " more of this kind)"));
  }
  if (lines.size() <= kShown) return lines;
  const std::size_t hidden = lines.size() - kShown;
  lines.resize(kShown);
  lines.push_back("and " + std::to_string(hidden) + " more");
  return lines;
}

std::string help_of(const std::vector<ImportProblem>& problems) {
  std::string options;
  for (const ImportProblem& problem : problems)
    if (!problem.option.empty()) options += " " + problem.option;
  std::string help;
  if (!options.empty()) help = "pass" + options + " (examples: your sizes, or ranges MIN..MAX that stay variable)";
  if (count(problems, Kind::Unsupported) + count(problems, Kind::Wrong) > 0)
    help += std::string(help.empty() ? "" : "; ") + "etch inspect says of each node what can be done";
  return help;
}

}  // namespace

bool contains(const std::vector<ImportProblem>& problems, const ImportProblem& problem) {
  return std::ranges::any_of(problems, [&](const ImportProblem& p) { return p.where == problem.where && p.problem == problem.problem; });
}

std::string summary(const std::vector<ImportProblem>& problems) {
  std::string text;
  for (const std::string& part : {counted(count(problems, Kind::OpenSize), "size of an input is open", "sizes of inputs are open"),
                                  counted(count(problems, Kind::Unsupported), "thing is not supported", "things are not supported"),
                                  counted(count(problems, Kind::Wrong), "thing is wrong", "things are wrong")})
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  return text;
}

void throw_problems(const std::vector<ImportProblem>& problems, const std::string& place) {
  const auto unsupported = std::ranges::find(problems, Kind::Unsupported, &ImportProblem::kind);
  if (problems.size() == 1 && unsupported == problems.end()) throw UserError(problems[0].where, problems[0].problem, problems[0].help);
  if (problems.size() == 1) throw UnsupportedError(problems[0].where, problems[0].problem, problems[0].help, problems[0].subject);
  std::string what = summary(problems) + ":";
  for (const std::string& line : lines_of(problems, place)) what += "\n  " + line;
  if (unsupported == problems.end()) throw UserError(place, what, help_of(problems));
  throw UnsupportedError(place, what, help_of(problems), unsupported->subject);
}

}  // namespace etch
