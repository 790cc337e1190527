#include "program/external.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "base/error.h"
#include "shape/c_expression.h"

namespace etch {
namespace {

/// The place of each variable among the arguments, as an expression.
std::map<std::string, std::string> variable_texts(const ProgramKernel& kernel) {
  std::map<std::string, std::string> texts;
  for (std::size_t v = 0; v < kernel.variables.size(); v++)
    texts[kernel.variables[v]] = fmt::format("(int64_t)*(const int32_t *)arg[{}]", kernel.arguments.size() + v);
  return texts;
}

std::string scalar_text(const ExternalScalar& scalar, const std::map<std::string, std::string>& variables) {
  if (!scalar.literal.empty()) return scalar.literal;
  if (!scalar.size.is_int()) return fmt::format("({}){}", scalar.type, c_expression(scalar.size, variables));
  const std::int64_t size = scalar.size.as_int();
  return size > std::numeric_limits<std::int32_t>::max() ? fmt::format("({})INT64_C({})", scalar.type, size) : std::to_string(size);
}

}  // namespace

std::string external_text(const ProgramKernel& kernel, std::string_view table) {
  std::vector<std::string> passed;
  for (std::size_t i = 0; i < kernel.arguments.size(); i++) {
    const KernelArgument& a = kernel.arguments[i];
    passed.push_back(fmt::format("({}{} *)arg[{}]", a.access == Access::Read ? "const " : "", info(a.dtype).c_type, i));
  }
  const auto variables = variable_texts(kernel);
  for (const ExternalScalar& scalar : kernel.external->scalars) passed.push_back(scalar_text(scalar, variables));
  return fmt::format("static void {}({}arg) {{\n  {}({});\n}}\n", kernel.name, table, kernel.external->function, fmt::join(passed, ", "));
}

ProgramKernel external_kernel(std::shared_ptr<const ExternalKernel> external, KernelSignature signature) {
  ProgramKernel kernel;
  kernel.name = std::move(signature.function);
  kernel.arguments = std::move(signature.arguments);
  std::vector<Sint> sizes = sizes_of(*external);
  for (const KernelArgument& argument : kernel.arguments) sizes.push_back(argument.elements);  // who calls it guards its buffers
  for (const Node* v : variables(sizes)) kernel.variables.push_back(v->name);
  kernel.shape_name = "calls " + external->place();
  kernel.external = std::move(external);
  return kernel;
}

std::vector<Sint> sizes_of(const ExternalKernel& external) {
  std::vector<Sint> sizes;
  for (const ExternalOutput& output : external.outputs) sizes.insert(sizes.end(), output.shape.begin(), output.shape.end());
  for (const ExternalScalar& scalar : external.scalars) sizes.push_back(scalar.size);
  return sizes;
}

std::string key_of(const ExternalKernel& external) {
  std::string key = external.op + "\n" + external.declaration + "\n";
  for (const ExternalScalar& scalar : external.scalars) key += scalar.literal + "," + to_text(scalar.size) + ",";
  for (const ExternalFile& file : *external.files) key += "\n" + file.name + " " + std::to_string(file.text.size()) + "\n" + file.text;
  return key;
}

std::string external_declarations(std::span<const ProgramKernel> kernels) {
  std::vector<std::string> lines;
  for (const ProgramKernel& kernel : kernels) {
    if (kernel.external == nullptr) continue;
    const std::string line = kernel.external->declaration + "; /* of " + kernel.external->file + " */\n";
    if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

std::vector<ExternalFile> external_files(std::span<const ProgramKernel> kernels) {
  std::vector<ExternalFile> files;
  for (const ProgramKernel& kernel : kernels) {
    if (kernel.external == nullptr) continue;
    for (const ExternalFile& file : *kernel.external->files) {
      const auto found = std::ranges::find(files, file.name, &ExternalFile::name);
      if (found == files.end()) {
        files.push_back(file);
      } else if (found->text != file.text) {
        throw UserError(file.name, "two different files of custom functions have this name", "rename one of them");
      }
    }
  }
  return files;
}

}  // namespace etch
