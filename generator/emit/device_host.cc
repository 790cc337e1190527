#include "emit/device_host.h"

#include <fmt/format.h>

#include <algorithm>

#include "emit/device_tables.h"
#include "emit/sections.h"

namespace etch {
namespace {

std::vector<const ProgramKernel*> kernels_that(const Project& p, bool (*are)(const ProgramKernel&)) {
  std::vector<const ProgramKernel*> found;
  for (const ProgramKernel& k : p.program->kernels)
    if (are(k)) found.push_back(&k);
  return found;
}

Sint bytes_of(const KernelArgument& argument) { return argument.elements * bytes_of(argument.dtype); }

}  // namespace

bool on_device(const ProgramKernel& kernel) { return kernel.external == nullptr; }
bool on_host(const ProgramKernel& kernel) { return kernel.external != nullptr; }

std::vector<const ProgramKernel*> device_kernels(const Project& p) { return kernels_that(p, on_device); }

std::vector<const ProgramKernel*> host_kernels(const Project& p) { return kernels_that(p, on_host); }

std::vector<std::size_t> kernel_numbers(const Project& p) {
  std::vector<std::size_t> numbers;
  std::size_t next_of_device = 0, next_of_host = device_kernels(p).size();
  for (const ProgramKernel& k : p.program->kernels) numbers.push_back(on_device(k) ? next_of_device++ : next_of_host++);
  return numbers;
}

std::size_t host_arguments(const Project& p) {
  std::size_t most = 0;
  for (const ProgramKernel* k : host_kernels(p)) most = std::max(most, k->argument_count());
  return most;
}

std::int64_t staging_bytes(const Project& p) {
  std::int64_t most = 0;
  for (const ProgramKernel* k : host_kernels(p)) {
    std::int64_t bytes = 0;
    for (const KernelArgument& argument : k->arguments)
      bytes += align_up(std::max<std::int64_t>(bytes_of(argument).max(), 1), p.plan->align);
    most = std::max(most, bytes);
  }
  return most;
}

std::string host_includes(const Project& p) { return host_kernels(p).empty() ? "" : "\n#include <stdbool.h>\n"; }

std::string host_functions(const Project& p) {
  if (host_kernels(p).empty()) return "";
  return fmt::format("\n{}\n{}{}", banner("kernels on the processor"), external_section(p), kernel_texts(p, on_host));
}

std::string host_tables(const Project& p, SizeTable& sizes, const std::string& more) {
  const std::vector<const ProgramKernel*> kernels = host_kernels(p);
  if (kernels.empty()) return "";
  std::vector<std::pair<std::string, std::string>> byte_rows, rows;
  std::size_t first = 0;
  for (const ProgramKernel* k : kernels) {
    std::vector<std::string> bytes;
    for (const KernelArgument& argument : k->arguments) bytes.push_back(sizes.add(bytes_of(argument)));
    byte_rows.emplace_back(list_text(bytes) + ",", k->name);
    const auto writes = std::ranges::count(k->arguments, Access::Write, &KernelArgument::access);
    rows.emplace_back(fmt::format("{{{}, {}, {}, {}}},", k->name, first, writes, bytes.size()), k->external->place());
    first += bytes.size();
  }
  const std::string type = device_prefix(p) + "_host";
  std::string text =
      fmt::format("/* Bytes of the buffers of kernels on the processor. */\nstatic const uint32_t host_bytes[{}] = {{\n{}}};\n\n", first,
                  with_comments(byte_rows));
  text += fmt::format(
      "/* Kernels on the processor: first of their bytes, buffers that they write, buffers. */\n"
      "static const {}_kernel host_kernels[{}] = {{\n{}}};\n\n",
      type, rows.size(), with_comments(rows));
  return text + fmt::format("static const {} host_program = {{host_kernels, host_bytes{}}};\n\n", type, more);
}

std::string host_pointer(const Project& p) { return host_kernels(p).empty() ? "NULL" : "&host_program"; }

std::string host_names(const Project& p) {
  std::vector<std::string> names;
  for (const ProgramKernel* k : host_kernels(p))
    if (const std::string name = k->external->function + "()"; std::ranges::find(names, name) == names.end()) names.push_back(name);
  return list_text(names);
}

std::string host_note(const Project& p) { return host_kernels(p).empty() ? "" : fmt::format(" The processor runs {}.", host_names(p)); }

}  // namespace etch
