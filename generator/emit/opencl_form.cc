// The form of projects with kernels in OpenCL C: the kernels are in NAME.cl; NAME.c drives the device, which holds all memory except
// inputs and outputs.
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "emit/device_host.h"
#include "emit/form.h"
#include "emit/opencl.h"

namespace etch {
namespace {

constexpr std::string_view kOpenClReserved[] = {"session", "context", "device", "queue", "error", "closed", "number"};

// Buffers of equal offset and size share one region; regions are sorted by offset. Buffers that replace each other in place have
// equal size, so no kernel gets two regions that overlap.
void find_regions(Project& project) {
  const Program& program = *project.program;
  project.region_of.assign(program.buffers.size(), -1);
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<int>> found;
  for (std::size_t b = 0; b < program.buffers.size(); b++) {
    const std::int64_t offset = project.plan->placements[b].offset;
    if (offset < 0) continue;
    check(offset % project.plan->align == 0, "every buffer of an OpenCL program is aligned");
    found[{offset, program.buffers[b].max_bytes()}].push_back(static_cast<int>(b));
  }
  for (auto& [place, buffers] : found) {
    for (int b : buffers) project.region_of[static_cast<std::size_t>(b)] = static_cast<int>(project.regions.size());
    project.regions.push_back({place.first, place.second, std::move(buffers)});
  }
}

void opencl_prepare(Project& project) {
  find_regions(project);
  std::string text = opencl_text(project), source = opencl_text_source(project, text);
  project.kernel_files = {{project.name + ".cl", std::move(text)}, {project.name + "_kernels.c", std::move(source), false, true}};
}

SelfTestParts opencl_parts(const Project& p, const std::string& run_arguments, int runs) {
  return {.includes = opencl_include(),
          .memory = "",
          .functions = opencl_selftest(p, run_arguments, runs),
          .declarations = "  const cl_device_id device = choose_device();\n",
          .checks = fmt::format("  if (device == NULL) {{\n    printf(\"SKIPPED no OpenCL device\\n\");\n    return {};\n  }}\n",
                                kNoDeviceStatus),
          .call = "run_on(device)",
          .runs_itself = true,
          .reset = ""};
}

}  // namespace

constinit const ProjectForm kOpenClForm{
    .language = &kOpenCl,
    .on_device = true,
    .device_tag = "cl",
    .runtime = "etch_opencl",
    .callback = "etch_cl_after_call",
    .callback_gets = "output",
    .link_flags = "-lOpenCL ",
    .unmeasured = "the device's driver compiles the kernels",
    .cmake_library =
        "find_package(OpenCL REQUIRED)\n"
        "if(NOT TARGET etch_opencl)\n"
        "  add_library(etch_opencl STATIC ${CMAKE_CURRENT_SOURCE_DIR}/etch_opencl.c)\n"
        "  target_include_directories(etch_opencl PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
        "  set_target_properties(etch_opencl PROPERTIES C_STANDARD 99)\n"
        "  target_link_libraries(etch_opencl PUBLIC etch_runtime OpenCL::OpenCL)\n"
        "endif()\n\n",
    .no_device_status = kNoDeviceStatus,
    .no_device = "no OpenCL device is on this machine",
    .device_help = "install a driver (Debian: apt-get install pocl-opencl-icd), or leave --target out",
    .reserved_names = kOpenClReserved,
    .check = [](const Program& program, const EmitOptions& options) { check_device_sizes(program, options, "OpenCL"); },
    .prepare = opencl_prepare,
    .source = opencl_source,
    .kernel_files_note =
        [](const Project& p) {
          return fmt::format("Its kernels are in {0}.cl to read, and in {0}_kernels.c for the program.{1}\n", p.name, host_note(p));
        },
    .arena_place = [](const Project& p, int buffer) { return fmt::format("ARENA({})", p.region_of[static_cast<std::size_t>(buffer)]); },
    .state_place = device_state_place,
    .header = [](const Project& p) { return device_header(p, opencl_session(p)); },
    .selftest_arguments = device_selftest_arguments,
    .selftest = opencl_parts,
};

}  // namespace etch
