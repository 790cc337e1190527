#include "emit/opencl.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/subscript.h"
#include "emit/device_host.h"
#include "emit/literals.h"

namespace etch {
namespace {

std::string region_table(const Project& p) {
  if (p.regions.empty()) return "";
  std::vector<std::pair<std::string, std::string>> rows;
  for (std::size_t r = 0; r < p.regions.size(); r++) {
    std::vector<std::string> names;
    for (int b : p.regions[r].buffers) names.push_back(p.program->buffers[at(b)].name);
    if (names.size() > 4) names = {names[0], names[1], names[2], "..."};
    rows.emplace_back(fmt::format("{{{}, {}}},", p.regions[r].offset, p.regions[r].bytes),
                      fmt::format("{}: {}", r, in_comment(list_text(names))));
  }
  return fmt::format("/* Parts of the arena: first byte, bytes. */\nstatic const etch_cl_span regions[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string opencl_kernel_table(const Project& p, SizeTable& sizes) {
  const std::vector<const ProgramKernel*> kernels = device_kernels(p);
  if (kernels.empty()) return "";
  std::string text =
      fmt::format("/* Kernels: work-groups, and work-items in each. */\nstatic const etch_cl_entry kernels[{}] = {{\n", kernels.size());
  for (const ProgramKernel* k : kernels) {
    for (Sint d : k->local_size) check(d.is_int(), "the work-items of a work-group are a number");
    const std::string items = k->driver_groups ? "{0, 0, 0}" : device_dimensions(k->local_size, sizes);
    text += fmt::format("  {{\"{}\", {}, {}}},\n", k->name, device_dimensions(k->global_size, sizes), items);
  }
  return text + "};\n\n";
}

std::string opencl_program_table(const Project& p) {
  SizeTable sizes;
  const std::string kernels = opencl_kernel_table(p, sizes);
  DeviceProgram own;
  own.pointers = fmt::format("{}, {}, {}", p.has_constants() ? "constants" : "NULL", p.regions.empty() ? "NULL" : "regions",
                             p.has_state() ? "states" : "NULL");
  own.first = {{static_cast<std::int64_t>(opencl_text_pieces(p.kernel_files.front().text)), "pieces of text"}};
  own.last = {{static_cast<std::int64_t>(p.regions.size()), "regions of the arena"},
              {static_cast<std::int64_t>(p.states.size()), "states"},
              {p.plan->arena_bytes, "bytes of arena"},
              {p.plan->align, "its alignment"}};
  return device_program(p, arg_table(p), "#define ARENA(region) {ETCH_ARENA, region}\n", region_table(p), kernels, sizes, own);
}

}  // namespace

DeviceSession opencl_session(const Project& p) {
  const std::size_t arguments = host_arguments(p);
  return {.api = "OpenCL",
          .place = "the device",
          .kernels = fmt::format(
              "/* The text of {0}.cl in pieces; {0}_open has the driver compile it. */\nextern const char *const {0}_kernels[{1}];\n",
              p.name, opencl_text_pieces(p.kernel_files.front().text)),
          .members = fmt::format("  etch_cl_kernel kernels[{}];\n  etch_cl_mem buffers[{}];\n{}",
                                 std::max<std::size_t>(device_kernels(p).size(), 1), device_buffer_count(p),
                                 arguments == 0 ? "" : fmt::format("  void *arguments[{}];\n", arguments)),
          .open_note =
              "Builds the kernels and makes all buffers on the device. Context, device and queue are cl_context, cl_device_id and\n"
              " * cl_command_queue of the caller, and stay until close. After an error close still gives back what was made; until then\n"
              " * etch_cl_build_log(&session->cl, ...) has what the device's compiler said.",
          .open_parameters = "etch_cl_context context, etch_cl_device device, etch_cl_queue queue"};
}

std::string opencl_source(const Project& p) {
  std::string setup =
      "  setup.context = context;\n"
      "  setup.device = device;\n"
      "  setup.queue = queue;\n"
      "  setup.kernels = session->kernels;\n"
      "  setup.buffers = session->buffers;\n";
  if (host_arguments(p) > 0) setup += "  setup.arguments = session->arguments;\n";
  return device_source(p, fmt::format("{0}.cl, and as strings in {0}_kernels.c", p.name), opencl_program_table(p), opencl_session(p),
                       setup);
}

}  // namespace etch
