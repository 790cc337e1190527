#include "emit/cuda.h"

#include <fmt/format.h>

#include "base/error.h"
#include "codegen/argument.h"
#include "emit/device_host.h"
#include "emit/literals.h"

namespace etch {
namespace {

// Elements of NAME_kernels: C has no arrays of none.
std::size_t room_for_kernels(const Project& p) { return std::max<std::size_t>(device_kernels(p).size(), 1); }

// Where CUDA divides nothing by itself, the runtime does, into blocks of at most kDriverItems threads: that is what the kernel's
// __launch_bounds__ promises.
std::string cuda_kernel_table(const Project& p, SizeTable& sizes) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ProgramKernel* k : device_kernels(p)) {
    for (Sint d : k->local_size) check(d.is_int(), "the work-items of a work-group are a number");
    const std::string items = k->driver_groups ? fmt::format("{{{}, 0, 0}}", kDriverItems) : device_dimensions(k->local_size, sizes);
    rows.emplace_back(fmt::format("{{{}, {}}},", device_dimensions(k->global_size, sizes), items), k->name);
  }
  if (rows.empty()) return "";
  return fmt::format("/* Kernels: blocks, and threads in each. */\nstatic const etch_cuda_entry kernels[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string cuda_program_table(const Project& p) {
  SizeTable sizes;
  const std::string kernels = cuda_kernel_table(p, sizes);
  DeviceProgram own;
  own.pointers = fmt::format("{}, {}", p.has_constants() ? "constants" : "NULL", p.has_state() ? "states" : "NULL");
  own.host = fmt::format(", {}", staging_bytes(p));
  own.last = {{static_cast<std::int64_t>(p.states.size()), "states"},
              {static_cast<std::int64_t>(p.max_args), "arguments of a call at most"},
              {p.plan->arena_bytes, "bytes of arena"},
              {p.plan->align, "alignment of each buffer"}};
  return device_program(p, arg_table(p), "#define ARENA(offset) {ETCH_ARENA, offset}\n", "", kernels, sizes, own);
}

}  // namespace

std::string cuda_kernels(const Project& p) {
  std::string text = fmt::format(
      "{0} The kernels, for nvcc, and the table of their addresses. */\n"
      "#include \"{1}.h\"\n"
      "#include \"etch_math.h\"\n"
      "{2}",
      p.first_line(), p.name, uses_quant(p) ? "#include \"etch_quant.h\"\n" : "");
  std::string table;
  const std::vector<const ProgramKernel*> kernels = device_kernels(p);
  if (kernels.empty()) table = "  NULL, /* there are none */\n";
  if (!kernels.empty()) text += "\n/* Names that the kernels of no other model have. */\n";
  for (const ProgramKernel* k : kernels) {
    text += fmt::format("#define {1} {0}_{1}\n", p.name, k->name);
    table += fmt::format("  (const void *){},\n", k->name);
  }
  text += "\n" + banner("kernels");
  if (const std::string definitions = definitions_of(*p.program); !definitions.empty()) text += definitions + "\n";
  text += kernel_texts(p, on_device) + "\n" + banner("table");
  return text + fmt::format("\nconst void *const {}_kernels[{}] = {{\n{}}};\n", p.name, room_for_kernels(p), table);
}

DeviceSession cuda_session(const Project& p) {
  const std::int64_t bytes = staging_bytes(p);
  const std::string staging =
      bytes == 0 ? ""
                 : fmt::format("\n * It also locks {} bytes of the processor's memory: what {} get and give passes through them.",
                               grouped(bytes), host_names(p));
  return {
      .api = "CUDA",
      .place = "the GPU",
      .kernels = fmt::format("/* The kernels of {0}.cu, as cudaLaunchKernel takes them. */\nextern const void *const {0}_kernels[{1}];\n",
                             p.name, room_for_kernels(p)),
      .members = fmt::format("  void *buffers[{}];\n  void *arguments[{}];\n", device_buffer_count(p), 2 * p.max_args),
      .open_note =
          "Makes all memory on the current GPU, in one block. The stream (a cudaStream_t, null for the default stream) is the caller's "
          "and\n"
          " * stays until close. After an error close still gives back what was made." +
          staging,
      .open_parameters = "etch_cuda_stream stream"};
}

std::string cuda_source(const Project& p) {
  return device_source(p, p.name + ".cu", cuda_program_table(p), cuda_session(p),
                       "  setup.stream = stream;\n"
                       "  setup.buffers = session->buffers;\n"
                       "  setup.arguments = session->arguments;\n");
}

}  // namespace etch
