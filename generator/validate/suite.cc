#include "validate/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "validate/data_set.h"
#include "validate/validate.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> model_folders(const fs::path& dir) {
  if (!fs::is_directory(dir))
    throw UserError(dir.string(), "is not a folder", "give a folder of models in the layout of the ONNX backend tests");
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(dir, fs::directory_options::skip_permission_denied))
    if (entry.path().filename() == "model.onnx" && !data_set_folders(entry.path().parent_path()).empty())
      folders.push_back(entry.path().parent_path());
  std::ranges::sort(folders);
  if (folders.empty())
    throw UserError(dir.string(), "holds no folder with model.onnx and test_data_set_N",
                    "give a folder of models in the layout of the ONNX backend tests");
  return folders;
}

// Test data of an unsupported type is a failure, not a reason to skip a model that is supported.
std::vector<DataSet> data_of(const fs::path& folder, const ImportedModel& model) {
  try {
    return read_data_sets(folder, model);
  } catch (const UnsupportedError& error) {
    throw UserError(error.where(), error.problem(), error.help());
  }
}

// Empty if every device gives the expected outputs.
std::string problem_of(const fs::path& folder, const std::vector<std::unique_ptr<Device>>& devices, CompileOptions options,
                       const Tolerance& tolerance) {
  options.import.examples = shapes_in_data_sets(folder);
  const Frontend frontend = read_model(options);
  const Program reference = lower_model(frontend, nullptr, options);
  const std::vector<DataSet> sets = data_of(folder, frontend.model);
  if (std::ranges::any_of(sets, [](const DataSet& s) { return s.expected.empty(); })) return "has no expected outputs";
  for (const auto& device : devices) {
    const Program program = device->language() == nullptr ? reference : lower_model(frontend, device->language(), options);
    const BackendResult result = validate_backend(program, reference, *device, sets, {}, tolerance);
    if (!result.ok)
      return fmt::format("{}: {}{}", result.name, result.problem, result.culprit ? "; first wrong: " + to_text(*result.culprit) : "");
  }
  return "";
}

SuiteCase run_case(const fs::path& folder, const std::vector<std::unique_ptr<Device>>& devices, CompileOptions options,
                   const Tolerance& tolerance) {
  SuiteCase result;
  options.import.path = folder / "model.onnx";
  options.step = {};
  options.dump = {};
  using enum SuiteCase::Verdict;
  try {
    result.text = problem_of(folder, devices, options, tolerance);
    result.verdict = result.text.empty() ? Passed : Failed;
  } catch (const UnsupportedError& error) {
    result.verdict = Skipped;
    result.text = error.subject();
    result.error = error.what();
  } catch (const std::exception& error) {
    result.verdict = Failed;
    result.text = error.what();
  }
  return result;
}

}  // namespace

SuiteResult run_suite(const fs::path& dir, const std::vector<std::unique_ptr<Device>>& devices, const CompileOptions& options,
                      const Tolerance& tolerance) {
  SuiteResult result;
  const std::vector<fs::path> folders = model_folders(dir);
  for (const fs::path& folder : folders) {
    std::string name = fs::relative(folder, dir).string();
    if (name == ".") name = fs::canonical(dir).filename().string();
    if (options.step) options.step(name, static_cast<std::int64_t>(result.cases.size() + 1), static_cast<std::int64_t>(folders.size()));
    result.cases.push_back(run_case(folder, devices, options, tolerance));
    result.cases.back().name = name;
    switch (result.cases.back().verdict) {
      case SuiteCase::Verdict::Passed:
        result.passed++;
        break;
      case SuiteCase::Verdict::Failed:
        result.failed++;
        break;
      case SuiteCase::Verdict::Skipped:
        result.skipped++;
        break;
    }
  }
  return result;
}

std::string to_text(const SuiteResult& result) {
  std::map<std::string, std::vector<std::string>> unsupported;
  std::string text;
  for (const SuiteCase& c : result.cases)
    if (c.verdict == SuiteCase::Verdict::Skipped) unsupported[c.text].push_back(c.name);
  if (!unsupported.empty()) text += "not supported:\n";
  for (const auto& [what, names] : unsupported) text += fmt::format("  {:4}  {}  (for example {})\n", names.size(), what, names.front());
  for (const SuiteCase& c : result.cases)
    if (c.verdict == SuiteCase::Verdict::Failed) text += fmt::format("FAILED {}: {}\n", c.name, c.text);
  return text;
}

}  // namespace etch
