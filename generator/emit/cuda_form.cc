// The form of projects with kernels in CUDA: the kernels are in NAME.cu, which nvcc compiles; NAME.c drives the GPU, which holds all
// memory except inputs and outputs.
#include <fmt/format.h>

#include <limits>

#include "base/error.h"
#include "emit/cuda.h"
#include "emit/device_host.h"
#include "emit/form.h"

namespace etch {
namespace {

constexpr std::string_view kCudaReserved[] = {"session", "stream", "devices", "error", "closed", "number"};

void cuda_prepare(Project& project) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  if (const std::int64_t bytes = staging_bytes(project); bytes > kMost)
    throw UserError(project.name,
                    fmt::format("what a function in C reads and writes has {} bytes, at most {} can be emitted for CUDA", bytes, kMost));
  project.kernel_files = {{project.name + ".cu", cuda_kernels(project), false, true}};
}

std::string selftest_functions(const Project& p, const std::string& run, int runs) {
  std::string text = fmt::format(
      "static {}_session session;\n\n"
      "/* Why there is no GPU to run on; null if there is one. */\n"
      "static const char *no_gpu(void) {{\n"
      "  int devices = 0;\n"
      "  const cudaError_t error = cudaGetDeviceCount(&devices);\n"
      "  if (error != cudaSuccess) return cudaGetErrorString(error);\n"
      "  return devices > 0 ? NULL : \"none is in this machine\";\n"
      "}}\n\n",
      p.name);
  return text + fmt::format(
                    "static etch_status run_on(cudaStream_t stream) {{\n"
                    "  etch_status closed;\n{3}"
                    "  etch_status status = {0}_open(&session, stream{1});\n"
                    "  {2}"
                    "  if (status == ETCH_CUDA_ERROR) {{\n"
                    "    printf(\"%s: CUDA error %d, %s\\n\", session.cuda.function, (int)session.cuda.error,\n"
                    "           cudaGetErrorString((cudaError_t)session.cuda.error));\n"
                    "  }}\n"
                    "  closed = {0}_close(&session);\n"
                    "  return status == ETCH_OK ? closed : status;\n"
                    "}}\n\n"
                    "static etch_status run_on_gpu(void) {{\n"
                    "  cudaStream_t stream = NULL;\n"
                    "  etch_status status = ETCH_CUDA_ERROR;\n"
                    "  if (cudaStreamCreate(&stream) == cudaSuccess) status = run_on(stream);\n"
                    "  if (stream != NULL && cudaStreamDestroy(stream) != cudaSuccess && status == ETCH_OK) status = ETCH_CUDA_ERROR;\n"
                    "  return status;\n"
                    "}}\n\n",
                    p.name, p.is_blob() ? ", " + blob_address(p) : "", device_runs(p, run, runs), runs > 1 ? "  int run;\n" : "");
}

SelfTestParts cuda_parts(const Project& p, const std::string& run_arguments, int runs) {
  return {.includes = "#include <cuda_runtime_api.h>\n",
          .memory = "",
          .functions = selftest_functions(p, run_arguments, runs),
          .declarations = "  const char *const why = no_gpu();\n",
          .checks = fmt::format("  if (why != NULL) {{\n    printf(\"SKIPPED no NVIDIA GPU: %s\\n\", why);\n    return {};\n  }}\n",
                                kNoDeviceStatus),
          .call = "run_on_gpu()",
          .runs_itself = true,
          .reset = ""};
}

}  // namespace

constinit const ProjectForm kCudaForm{
    .language = &kCuda,
    .on_device = true,
    .device_tag = "cuda",
    .runtime = "etch_cuda",
    .callback = "etch_cuda_after_call",
    .callback_gets = "output",
    .compile = "nvcc",
    .sources = "*.c *.cu",
    .unmeasured = "the kernels run on a GPU (nvcc -Xptxas -v tells their registers)",
    .math_file = true,
    .cmake_version = "3.18",
    .cmake_first =
        "if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)\n"
        "  set(CMAKE_CUDA_ARCHITECTURES 75 87 90) # Turing, Orin, Hopper; newer GPUs take what is there for the one before them\n"
        "endif()\n",
    .cmake_languages = " CUDA",
    .cmake_library =
        "find_package(CUDAToolkit REQUIRED)\n"
        "if(NOT TARGET etch_cuda)\n"
        "  add_library(etch_cuda STATIC ${CMAKE_CURRENT_SOURCE_DIR}/etch_cuda.c)\n"
        "  target_include_directories(etch_cuda PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})\n"
        "  target_include_directories(etch_cuda SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})\n"
        "  set_target_properties(etch_cuda PROPERTIES C_STANDARD 99)\n"
        "  target_link_libraries(etch_cuda PUBLIC etch_runtime CUDA::cudart_static)\n"
        "  if(NOT MSVC)\n"
        "    target_link_libraries(etch_cuda PUBLIC stdc++) # of nvcc's files, in programs that are linked as C\n"
        "  endif()\n"
        "endif()\n\n",
    .no_device_status = kNoDeviceStatus,
    .no_device = "no NVIDIA GPU is on this machine, or its driver is older than the CUDA toolkit",
    .device_help = "run etch where there is one (--backends cuda tries the kernels on the processor), or leave --target out",
    .reserved_names = kCudaReserved,
    .check = [](const Program& program, const EmitOptions& options) { check_device_sizes(program, options, "CUDA"); },
    .prepare = cuda_prepare,
    .source = cuda_source,
    .kernel_files_note = [](const Project& p) { return fmt::format("Its kernels are in {}.cu.{}\n", p.name, host_note(p)); },
    .arena_place = [](const Project& p,
                      int buffer) { return fmt::format("ARENA({})", p.plan->placements[static_cast<std::size_t>(buffer)].offset); },
    .state_place = device_state_place,
    .header = [](const Project& p) { return device_header(p, cuda_session(p)); },
    .selftest_arguments = device_selftest_arguments,
    .selftest = cuda_parts,
};

}  // namespace etch
