// For tests: a CUDA driver with one GPU whose memory is this process's, and which runs one kernel of its own. It has the functions of
// cuda.h that etch calls, and checks how it is called; fake_log() says what was done, a word each.
#pragma once

#include <dlfcn.h>

#include <fstream>
#include <string>

#include "base/process.h"
#include "base/tempdir.h"

namespace etch::test {

inline constexpr const char* kFakeCuda = R"c(#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char said[8000];
static int context, stream, wrong;
static void say(const char *word) { strncat(strncat(said, word, 100), " ", 100); }
const char *fake_log(void) { return said; }
int cuGetExportTable(const void **table, const void *id) { *table = 0; return 500; } /* NVRTC asks too */
int cuInit(unsigned flags) { return flags == 0 ? 0 : 1; }
int cuDriverGetVersion(int *v) { *v = 13000; return 0; }
int cuGetErrorString(int e, const char **text) { *text = e == 700 ? "an illegal memory access" : "another error"; return 0; }
int cuDeviceGetCount(int *n) { *n = 1; return 0; }
int cuDeviceGet(int *device, int n) { *device = 7; return n; }
int cuDeviceGetName(char *name, int length, int device) { snprintf(name, (size_t)length, "Fake"); return device != 7; }
int cuDeviceGetAttribute(int *value, int which, int device) {
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 83 ? 1 : -1;
  return device != 7;
}
int cuDevicePrimaryCtxRetain(void **c, int device) { *c = &context; return device != 7; }
int cuDevicePrimaryCtxRelease_v2(int device) { say("release"); return device != 7; }
int cuCtxSetCurrent(void *c) { return c != &context; }
int cuModuleLoadData(void **module, const void *image) {
  say(memcmp(image, "\177ELF", 4) == 0 ? "load" : "no-code");
  *module = &said;
  return 0;
}
int cuModuleUnload(void *module) { say("unload"); return module != &said; }
int cuModuleGetFunction(void **f, void *module, const char *name) {
  *f = strcmp(name, "fill") == 0 ? (void *)"fill" : strcmp(name, "crash") == 0 ? (void *)"crash" : 0;
  return *f == 0 || module != &said ? 500 : 0;
}
int cuMemAllocManaged(unsigned long long *p, size_t n, unsigned flags) {
  *p = (unsigned long long)(size_t)malloc(n);
  return flags != 1;
}
int cuMemFree_v2(unsigned long long p) { free((void *)(size_t)p); return 0; }
int cuStreamCreate(void **s, unsigned flags) { *s = &stream; return flags != 1; }
int cuStreamDestroy_v2(void *s) { say("end"); return s != &stream; }
int cuStreamSynchronize(void *s) { say("wait"); return s != &stream ? 1 : wrong; }
/* fill(out, in, n): out[i] = in[i] + n for each item of the grid, with the dimensions checked by the test through the log */
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y, unsigned z, unsigned shared, void *s,
                   void **arg, void **extra) {
  char text[100];
  snprintf(text, sizeof text, "%s<%u,%u,%u;%u,%u,%u>", (const char *)f, gx, gy, gz, x, y, z);
  say(text);
  if (strcmp((const char *)f, "crash") == 0) wrong = 700;
  else
    for (unsigned i = 0; i < gx * x; i++) (*(float **)arg[0])[i] = (*(const float **)arg[1])[i] + (float)*(const int *)arg[2];
  return s != &stream || shared != 0 || extra != 0;
}
/* Graphs: kernels of fill's arguments, which a driver copies when it gets them. */
typedef struct { void *function; unsigned gx, gy, gz, x, y, z, shared; void **arg; void **extra; } kernel_node;
typedef struct { kernel_node kernel; void *out, *in; int n; void *arg[3]; } node;
static node nodes[16];
static int node_count, executable;
static void set(node *to, const kernel_node *from) {
  to->kernel = *from;
  to->out = *(void **)from->arg[0];
  to->in = *(void **)from->arg[1];
  to->n = *(const int *)from->arg[2];
}
int cuGraphCreate(void **graph, unsigned flags) { *graph = nodes; node_count = 0; return flags != 0; }
int cuGraphDestroy(void *graph) { say("graph-end"); return graph != nodes; }
int cuGraphAddKernelNode(void **made, void *graph, void *const *after, size_t count, const kernel_node *kernel) {
  if (node_count > 0 ? count != 1 || after[0] != &nodes[node_count - 1] : count != 0) return 1; /* one after the other */
  set(&nodes[node_count], kernel);
  *made = &nodes[node_count++];
  return graph != nodes;
}
int cuGraphInstantiateWithFlags(void **made, void *graph, unsigned long long flags) {
  say("graph");
  *made = &executable;
  return graph != nodes || flags != 0;
}
int cuGraphExecDestroy(void *e) { return e != &executable; }
int cuGraphExecKernelNodeSetParams(void *e, void *n, const kernel_node *kernel) {
  say("set");
  set((node *)n, kernel);
  return e != &executable;
}
int cuGraphLaunch(void *e, void *s) {
  say("replay");
  for (int k = 0; k < node_count; k++) {
    node *n = &nodes[k];
    void *arg[3] = {&n->out, &n->in, &n->n};
    const kernel_node *i = &n->kernel;
    if (cuLaunchKernel(i->function, i->gx, i->gy, i->gz, i->x, i->y, i->z, i->shared, s, arg, i->extra) != 0) return 1;
  }
  return e != &executable;
}
)c";

/// Compiles and loads it; etch then finds it as the machine's driver, until the end of the process.
class FakeCuda {
 public:
  static const FakeCuda& instance() {
    static const FakeCuda fake;
    return fake;
  }
  /// Why it is not loaded; empty if it is.
  const std::string& missing() const { return missing_; }
  std::string log() const { return log_(); }

 private:
  FakeCuda() {
    if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) {
      missing_ = "this machine has a CUDA driver, which etch takes instead of the one that pretends";
      return;
    }
    const TempDir dir("etch-test");
    const std::string source = (dir.path() / "fake.c").string(), library = (dir.path() / "libcuda.so.1").string();
    std::ofstream(source) << kFakeCuda;
    const ProcessResult built = run_process({"cc", "-shared", "-fPIC", "-o", library, source, "-Wl,-soname,libcuda.so.1"});
    void* handle = built.ok() ? dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (handle != nullptr) log_ = reinterpret_cast<const char* (*)()>(dlsym(handle, "fake_log"));
    if (log_ == nullptr) missing_ = "no CUDA driver that pretends could be compiled by cc: " + describe(built) + " " + built.err;
  }

  const char* (*log_)() = nullptr;
  std::string missing_;
};

}  // namespace etch::test
