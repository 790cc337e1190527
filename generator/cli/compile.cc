// etch compile and etch inspect.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "audit/audit.h"
#include "base/error.h"
#include "cli/debug.h"
#include "cli/model_options.h"
#include "driver/pictures.h"
#include "driver/train.h"
#include "emit/literals.h"
#include "emit/write.h"
#include "picture/picture.h"
#include "validate/measure.h"

namespace etch {
namespace {

using Json = nlohmann::ordered_json;

// Operators of the model and how often each occurs, in the order of their first use.
std::string operators_text(const ImportedModel& model) {
  std::vector<std::pair<std::string, int>> counts;
  for (const std::string& op : model.operators) {
    const auto it = std::ranges::find(counts, op, &std::pair<std::string, int>::first);
    if (it == counts.end())
      counts.emplace_back(op, 1);
    else
      it->second++;
  }
  std::string text;
  for (const auto& [op, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, op);
  return text;
}

std::string tensor_text(const ImportedTensor& tensor) {
  return fmt::format("{} {} [{}]", tensor.name, name_of(tensor.dtype),
                     fmt::join(
                         [&] {
                           std::vector<std::string> dims;
                           for (const Sint& d : tensor.shape) dims.push_back(to_text(d));
                           return dims;
                         }(),
                         ","));
}

// Tells the user that the files are named after the model's folder.
void print_name(const std::string& name, bool named_after_folder) {
  if (!named_after_folder) return;
  fmt::print("named {} after its folder, as the file is only called model.onnx; --name gives another name\n", name);
}

void print_model(const ImportedModel& model) {
  fmt::print("{}: {} nodes, opset {}, {} parameters\n", model.name, model.node_count, model.opset, model.parameter_count);
  for (const ImportedTensor& t : model.inputs) fmt::print("  input   {}\n", tensor_text(t));
  for (const FrozenTensor& t : model.frozen)
    fmt::print("  frozen  {} {} [{}]\n", t.name, name_of(t.value.dtype()), fmt::join(t.value.shape(), ","));
  for (const ImportedTensor& t : model.outputs) fmt::print("  output  {}\n", tensor_text(t));
  for (const ImportedDim& d : model.dims) fmt::print("  dim     {} in {}..{}\n", d.name, d.min, d.max);
  fmt::print("  operators: {}\n", operators_text(model));
  for (const std::string& warning : model.warnings) fmt::print("  note: {}\n", warning);
}

// Names of a model need not be UTF-8.
std::string text_of(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace); }

std::vector<ImportProblem> problems_of(const ImportedModel& model, ImportProblem::Kind kind) {
  std::vector<ImportProblem> result;
  std::ranges::copy_if(model.problems, std::back_inserter(result), [&](const ImportProblem& p) { return p.kind == kind; });
  return result;
}

// Prints the content of a model that compile would refuse, and all its problems.
void print_refused(const ImportedModel& model) {
  fmt::print("{}: {} nodes, opset {}\n", model.name, model.operators.size(), model.opset);
  for (const std::string& line : model.declared) fmt::print("  {}\n", line);
  fmt::print("  operators: {}\n", operators_text(model));
  const auto open = problems_of(model, ImportProblem::Kind::OpenSize);
  std::size_t width = 0;
  for (const ImportProblem& p : open) width = std::max(width, p.option.size());
  if (!open.empty()) fmt::print("\nopen sizes, with examples of what fixes them (--dim NAME=MIN..MAX keeps a size variable):\n");
  for (const ImportProblem& p : open) fmt::print("  {:<{}}  {}: {}\n", p.option, width, p.where, p.problem);
  const std::pair<ImportProblem::Kind, const char*> rest[] = {{ImportProblem::Kind::Unsupported, "not supported"},
                                                              {ImportProblem::Kind::Wrong, "wrong"}};
  for (const auto& [kind, title] : rest) {
    const auto problems = problems_of(model, kind);
    if (!problems.empty()) fmt::print("\n{}:\n", title);
    for (const ImportProblem& p : problems) {
      fmt::print("  {}: {}\n", p.where, p.problem);
      if (!p.help.empty()) fmt::print("    help: {}\n", p.help);
    }
  }
}

Json refused_json(const ImportedModel& model) {
  Json json{{"ok", false}, {"error", summary(model.problems)}, {"name", model.name}, {"opset", model.opset}, {"declared", model.declared}};
  json["operators"] = Json::object();
  for (const std::string& op : model.operators) json["operators"][op] = json["operators"].value(op, 0) + 1;
  const std::pair<ImportProblem::Kind, const char*> lists[] = {{ImportProblem::Kind::OpenSize, "open_sizes"},
                                                               {ImportProblem::Kind::Unsupported, "unsupported"},
                                                               {ImportProblem::Kind::Wrong, "wrong"}};
  for (const auto& [kind, key] : lists) {
    json[key] = Json::array();
    for (const ImportProblem& p : problems_of(model, kind)) {
      Json row{{"where", p.where}, {"problem", p.problem}, {"help", p.help}};
      if (!p.dim.empty()) row.update({{"dim", p.dim}, {"option", p.option}});
      json[key].push_back(std::move(row));
    }
  }
  return json;
}

// With --json the error is printed as JSON too.
void print_failure(const std::exception& error) { fmt::print("{}\n", text_of({{"ok", false}, {"error", error.what()}})); }

// The printed report includes figures measured on this machine; the report in the folder is the same on every machine.
void print_report(Report report, const Fit& fit, bool as_json) {
  if (const auto& measured = fit.measurement.measured) {
    report.code_bytes = measured->code_bytes;
    report.stack_bound_bytes = measured->stack_bytes;
  }
  if (!as_json) {
    fmt::print("{}{}", to_text(report), to_text(fit));
    return;
  }
  Json json = Json::parse(to_json(report));
  json["fit"] = Json::parse(to_json(fit));
  fmt::print("{}\n", text_of(json));
}

// Pictures that lie ready; what goes wrong afterwards leaves none.
class Pictures {
 public:
  Pictures(const CompileArgs& args, const CompiledProject& project, Progress& progress) : args_(args) {
    if (args.picture.empty()) return;
    progress.step("drawing");
    const std::vector<EmittedFile> files = pictures_of(project.program, project.report.name);
    count_ = files.size();
    waiting_.emplace(args.picture, files, kPictureMark);
    progress.clear();
  }
  void commit() {
    if (!waiting_) return;
    waiting_->commit();
    if (!args_.json) fmt::print("{} pictures in {}: schedule.svg, and the UOps of each kernel\n", count_, args_.picture.string());
  }

 private:
  const CompileArgs& args_;
  std::size_t count_ = 0;
  std::optional<WaitingFiles> waiting_;
};

// The output folder holds what its report names, and nothing else.
void require_folder_of_its_own(const CompileArgs& args) {
  if (args.picture.empty()) return;
  std::error_code error;
  const auto real = [&](const std::filesystem::path& p) { return (std::filesystem::weakly_canonical(p, error) / "").lexically_normal(); };
  const std::string picture = real(std::filesystem::absolute(args.picture, error)),
                    output = real(std::filesystem::absolute(args.output, error));
  if (picture.starts_with(output))
    throw UserError(
        "--picture " + args.picture.string(), "lies in the output folder, which holds the project and nothing else",
        "choose a folder beside it, for example --picture " + (args.output / "").lexically_normal().parent_path().string() + "-pictures");
}

CompiledProject compiled(const CompileArgs& args, CompileOptions& options) {
  if (args.train.empty()) return compile_project(read_model(options), options);
  options.options_text += " --train " + args.train;
  if (args.train_last > 0) options.options_text += fmt::format(" --train-last {}", args.train_last);
  return compile_trained(options, train_options(args.train, args.train_last));
}

int compile(const CompileArgs& args, Progress& progress) {
  require_folder_of_its_own(args);
  require_replaceable(args.output);  // before all work
  CompileOptions options = compile_options(args, progress);
  options.seed = static_cast<std::uint32_t>(args.seed);
  if (args.measure) options.measure = measure_with_compiler(options.target);
  const DebugOptions debug = debug_options(args.debug, progress);
  debug_instructions(options, debug);
  options.selftest_result = selftest_result(args.selftest);
  if (args.selftest != "auto") options.options_text += " --selftest " + args.selftest;
  const CompiledProject project = compiled(args, options);
  debug_program(project.program, debug);
  Pictures pictures(args, project, progress);
  const auto [report, fit] = write_audited(args.output, project, options);
  progress.clear();
  pictures.commit();
  if (!args.json) print_name(report.name, project.named_after_folder);
  print_report(report, fit, args.json);
  if (args.json) return 0;
  if (!project.why_checksum.empty())
    fmt::print("\nThe self-test prints a checksum: {}; --selftest interp\ncomputes it nevertheless.\n", project.why_checksum);
  return 0;
}

int inspect(const CompileArgs& args, Progress& progress) {
  CompileOptions options = compile_options(args, progress);
  options.selftest = false;
  const DebugOptions debug = debug_options(args.debug, progress);
  progress.step("reading " + args.model.filename().string());
  ImportedModel model = inspect_onnx(import_options(options));
  if (!model.problems.empty()) {
    progress.clear();
    if (args.json)
      fmt::print("{}\n", text_of(refused_json(model)));
    else
      print_refused(model);
    fmt::print(stderr, "etch: error: {}: compile would refuse it: {}\n", args.model.string(), summary(model.problems));
    return 1;
  }
  if (args.measure) options.measure = measure_with_compiler(options.target);
  debug_instructions(options, debug);
  progress.clear();
  if (!args.json) {
    print_name(model.name, model.named_after_folder);
    print_model(model);
  }
  const Frontend frontend = schedule_model(std::move(model), options);
  const CompiledProject project = compile_project(frontend, options);
  debug_program(project.program, debug);
  Pictures(args, project, progress).commit();
  const Fit fit = fit_of(project, options);
  progress.clear();
  print_report(project.report, fit, args.json);
  try {
    require_fit(fit);
    return 0;
  } catch (const UserError& error) {  // after the report, which shows it too
    fmt::print(stderr, "etch: error: {}\n", error.what());
    return 1;
  }
}

}  // namespace

int compile_command(const CompileArgs& args) {
  Progress progress(args.json);
  try {
    return compile(args, progress);
  } catch (const std::exception& error) {
    progress.clear();
    if (args.json) print_failure(error);
    throw;
  }
}

int inspect_command(const CompileArgs& args) {
  Progress progress(args.json);
  try {
    return inspect(args, progress);
  } catch (const std::exception& error) {
    progress.clear();
    if (args.json) print_failure(error);
    throw;
  }
}

}  // namespace etch
