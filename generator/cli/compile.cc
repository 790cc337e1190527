// etch compile and etch inspect.
#include <fmt/format.h>

#include <algorithm>

#include "audit/audit.h"
#include "cli/model_options.h"
#include "emit/literals.h"
#include "emit/write.h"

namespace etch {
namespace {

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

// Why the files are not called as the model's.
void print_name(const ImportedModel& model) {
  if (!model.named_after_folder) return;
  fmt::print("named {} after its folder, as the file is only called model.onnx; --name gives another name\n", model.name);
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

}  // namespace

int compile_command(const CompileArgs& args) {
  Progress progress;
  CompileOptions options = compile_options(args, progress);
  options.seed = static_cast<std::uint32_t>(args.seed);
  options.selftest_result = selftest_result(args.selftest);
  if (args.selftest != "auto") options.options_text += " --selftest " + args.selftest;
  const Frontend frontend = read_model(options);
  const CompiledProject project = compile_project(frontend, options);
  const Report report = write_audited(args.output, project, options);
  progress.clear();
  print_name(frontend.model);
  fmt::print("{}", to_text(report));
  if (!project.selftest_compares && options.selftest_result == SelfTestResult::Auto)
    fmt::print(
        "\nThe self-test prints a checksum: its result would take the reference {} multiply-accumulates, more than {}; --selftest interp\n"
        "computes it nevertheless.\n",
        grouped(report.macs), grouped(kMostInterpreted));
  return 0;
}

int inspect_command(const CompileArgs& args) {
  Progress progress;
  CompileOptions options = compile_options(args, progress);
  options.selftest = false;
  const Frontend frontend = read_model(options);
  const CompiledProject project = compile_project(frontend, options);
  progress.clear();
  if (args.json) {
    fmt::print("{}", to_json(project.report));
    return 0;
  }
  print_name(frontend.model);
  print_model(frontend.model);
  fmt::print("{}", to_text(project.report));
  return 0;
}

}  // namespace etch
