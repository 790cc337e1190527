#include <fmt/format.h>

#include "emit/opencl.h"

namespace etch {

std::string opencl_include() {
  return "#define CL_TARGET_OPENCL_VERSION 120\n"
         "#if defined(__APPLE__)\n#include <OpenCL/opencl.h>\n#else\n#include <CL/cl.h>\n#endif\n";
}

std::string opencl_selftest(const Project& p, const std::string& run, int runs) {
  std::string text = fmt::format(
      "static {}_session session;\n\n"
      "/* A GPU if there is one, else any device. */\n"
      "static cl_device_id choose_device(void) {{\n"
      "  static const cl_device_type wanted[2] = {{CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ALL}};\n"
      "  cl_platform_id platforms[8];\n"
      "  cl_uint count = 0;\n"
      "  cl_uint p;\n"
      "  int w;\n"
      "  if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS) return NULL;\n"
      "  for (w = 0; w < 2; w++) {{\n"
      "    for (p = 0; p < 8u && p < count; p++) {{\n"
      "      cl_device_id device = NULL;\n"
      "      if (clGetDeviceIDs(platforms[p], wanted[w], 1, &device, NULL) == CL_SUCCESS) return device;\n"
      "    }}\n"
      "  }}\n"
      "  return NULL;\n"
      "}}\n\n"
      "static void print_problem(void) {{\n"
      "  static char words[10000];\n"
      "  if (session.cl.function != NULL) printf(\"%s: OpenCL error %d\\n\", session.cl.function, (int)session.cl.error);\n"
      "  if (etch_cl_build_log(&session.cl, words, sizeof words) == ETCH_OK && words[0] != '\\0') printf(\"%s\\n\", words);\n"
      "}}\n\n",
      p.name);
  text += fmt::format(
      "static etch_status run_on(cl_device_id device) {{\n"
      "  cl_int error = CL_SUCCESS;\n"
      "  cl_command_queue queue = NULL;\n"
      "  const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);\n"
      "  etch_status status = ETCH_CL_ERROR;\n"
      "  if (error != CL_SUCCESS) return status;\n"
      "  queue = clCreateCommandQueue(context, device, 0, &error);\n"
      "  if (error == CL_SUCCESS) {{\n"
      "    etch_status closed;\n{3}"
      "    status = {0}_open(&session, context, device, queue{1});\n"
      "    {2}"
      "    if (status != ETCH_OK) print_problem();\n"
      "    closed = {0}_close(&session);\n"
      "    if (status == ETCH_OK) status = closed;\n"
      "    clReleaseCommandQueue(queue);\n"
      "  }}\n"
      "  clReleaseContext(context);\n"
      "  return status;\n"
      "}}\n\n",
      p.name, p.is_blob() ? ", " + blob_address(p) : "", device_runs(p, run, runs), runs > 1 ? "    int run;\n" : "");
  return text;
}

}  // namespace etch
