#include "emit/cuda.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "codegen/argument.h"
#include "emit/device_tables.h"

namespace etch {
namespace {

// Where CUDA divides nothing by itself, the runtime does, into blocks of at most kDriverItems threads: that is what the kernel's
// __launch_bounds__ promises.
std::string kernel_table(const Project& p, SizeTable& sizes) {
  std::vector<std::pair<std::string, std::string>> rows;
  for (const ProgramKernel& k : p.program->kernels) {
    for (Sint d : k.local_size) check(d.is_int(), "the work-items of a work-group are a number");
    const std::string items = k.driver_groups ? fmt::format("{{{}, 0, 0}}", kDriverItems) : device_dimensions(k.local_size, sizes);
    rows.emplace_back(fmt::format("{{{}, {}}},", device_dimensions(k.global_size, sizes), items), k.name);
  }
  return fmt::format("/* Kernels: blocks, and threads in each. */\nstatic const etch_cuda_entry kernels[{}] = {{\n{}}};\n\n", rows.size(),
                     with_comments(rows));
}

std::string program_table(const Project& p) {
  SizeTable sizes;
  const std::string kernels = kernel_table(p, sizes);
  DeviceProgram own;
  own.pointers = fmt::format("{}, {}", p.has_constants() ? "constants" : "NULL", p.has_state() ? "states" : "NULL");
  own.last = {{static_cast<std::int64_t>(p.states.size()), "states"},
              {static_cast<std::int64_t>(p.max_args), "arguments of a call at most"},
              {p.plan->arena_bytes, "bytes of arena"},
              {p.plan->align, "alignment of each buffer"}};
  return device_program(p, arg_table(p), "#define ARENA(offset) {ETCH_ARENA, offset}\n", "", kernels, sizes, own);
}

std::string open_parameters(const Project& p) {
  return fmt::format("{}_session *session, etch_cuda_stream stream{}", p.name, p.is_blob() ? ", const void *weights" : "");
}

}  // namespace

std::string cuda_kernels(const Project& p) {
  std::string text = fmt::format(
      "{0} The kernels, for nvcc, and the table of their addresses. */\n"
      "#include \"{1}.h\"\n"
      "#include \"etch_math.h\"\n\n"
      "/* Names that the kernels of no other model have. */\n",
      p.first_line(), p.name);
  std::string table;
  for (const ProgramKernel& k : p.program->kernels) {
    text += fmt::format("#define {1} {0}_{1}\n", p.name, k.name);
    table += fmt::format("  (const void *){},\n", k.name);
  }
  text += "\n" + banner("kernels");
  if (const std::string definitions = definitions_of(*p.program); !definitions.empty()) text += definitions + "\n";
  text += kernel_texts(p) + "\n" + banner("table");
  return text + fmt::format("\nconst void *const {}_kernels[{}] = {{\n{}}};\n", p.name, p.program->kernels.size(), table);
}

std::string cuda_session(const Project& p) {
  const std::size_t buffers = p.program->inputs.size() + p.program->outputs.size() + p.constants.size() + p.states.size() + 1;
  std::string text = fmt::format(
      "/* The kernels of {0}.cu, as cudaLaunchKernel takes them. */\n"
      "extern const void *const {0}_kernels[{1}];\n\n"
      "/* What is kept between the calls below; no content is needed before. Not to be moved while it is open. */\n"
      "typedef struct {{\n"
      "  etch_cuda_session cuda; /* cuda.error: CUDA's code behind an ETCH_CUDA_ERROR, cuda.function: whose it is */\n"
      "  void *buffers[{2}];\n"
      "  void *arguments[{3}];\n"
      "}} {0}_session;\n\n",
      p.name, p.program->kernels.size(), buffers, 2 * p.max_args);
  text +=
      "/* Makes all memory on the current GPU, in one block. The stream (a cudaStream_t, null for the default stream) is the caller's and\n"
      " * stays until close. After an error close still gives back what was made.";
  if (p.is_blob())
    text += fmt::format(
        "\n * weights: the bytes of {0}_weights.bin, at a multiple of {1}_WEIGHTS_ALIGN. Only its header is looked at; they are copied\n"
        " * to the GPU and not needed afterwards.",
        p.name, p.macro);
  return text + fmt::format(" */\netch_status {}_open({});\n\n", p.name, open_parameters(p));
}

std::string cuda_source(const Project& p) {
  std::string text = fmt::format("{0} The program; its kernels are in {1}.cu. */\n#include \"{1}.h\"\n", p.first_line(), p.name);
  if (p.has_constants()) text += fmt::format("#include \"{}_weights.h\"\n", p.name);
  return text + "\n" + arena_table(p) + program_table(p) + "\n" + blob_check(p) +
         device_open(p, open_parameters(p),
                     "  setup.stream = stream;\n"
                     "  setup.buffers = session->buffers;\n"
                     "  setup.arguments = session->arguments;\n") +
         device_functions(p);
}

}  // namespace etch
