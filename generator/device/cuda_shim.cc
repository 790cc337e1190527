#include "device/cuda_shim.h"

namespace etch {

std::string_view cuda_shim() {
  return R"shim(#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <type_traits>
#include <utility>

#define __global__ __attribute__((visibility("hidden"))) /* can be inlined where it is called */
#define __device__
#define __launch_bounds__(...)
/* Groups run one after the other, so one copy will do. The section can be filled. */
#define __shared__ static __attribute__((section("etch_shared")))
#define __syncthreads() etch_shim::barrier(__LINE__)

/* All of it is a unit's own: several units are linked together. */
namespace etch_shim {
namespace {
struct Place {
  unsigned x, y, z;
};
}  // namespace
}  // namespace etch_shim
static etch_shim::Place blockIdx, threadIdx, blockDim, gridDim;

extern "C" {
extern char __start_etch_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_etch_shared[] __attribute__((weak, visibility("hidden")));
}

namespace etch_shim {
namespace {

constexpr unsigned kMostItems = 1024; /* in a group, as CUDA has it */
constexpr size_t kStack = 64 << 10, kPage = 64 << 10; /* a multiple of any machine's page */

/* A work-item that can stop at a barrier. */
struct Fiber {
  ucontext_t context;
  void *stack;
  int line; /* of the barrier at which it waits */
  bool done;
};
Fiber fibers[kMostItems];
ucontext_t scheduler;
Fiber *running; /* null: work-items run in a loop and can't stop */
void (*body)(void *const *arg);
void *const *argument;
unsigned turn; /* odd: last to first */
char problem[200];

void barrier(int line) {
  if (running == nullptr) {
    snprintf(problem, sizeof problem, "it has a barrier that its description does not mention");
    return;
  }
  running->line = line;
  swapcontext(&running->context, &scheduler);
}

void start() {
  body(argument);
  running->done = true;
}

/* With a page below it that can't be written: a stack that is too small ends the process at that place. */
void *new_stack() {
  void *memory = mmap(nullptr, kStack + kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  mprotect(memory, kPage, PROT_NONE);
  return static_cast<char *>(memory) + kPage;
}

bool prepare(unsigned items) {
  for (unsigned i = 0; i < items; i++) {
    Fiber &f = fibers[i];
    if (f.stack == nullptr) f.stack = new_stack(); /* kept for the next group */
    if (f.stack == nullptr || getcontext(&f.context) != 0) return false;
    f.context.uc_stack.ss_sp = f.stack;
    f.context.uc_stack.ss_size = kStack;
    f.context.uc_link = &scheduler;
    f.done = false;
    makecontext(&f.context, start, 0);
  }
  return true;
}

/* Frees the stacks when the kernels are unloaded. */
struct Stacks {
  ~Stacks() {
    for (Fiber &f : fibers)
      if (f.stack != nullptr) munmap(static_cast<char *>(f.stack) - kPage, kStack + kPage);
  }
} stacks;

/* Runs all items of a group from barrier to barrier. */
bool run_fibers(unsigned items) {
  if (!prepare(items)) return snprintf(problem, sizeof problem, "there is no memory for the stacks of its work-items"), false;
  for (unsigned phase = turn;; phase++) {
    unsigned done = 0, elsewhere = 0;
    for (unsigned k = 0; k < items; k++) {
      const unsigned i = phase % 2 != 0 ? items - 1 - k : k;
      running = &fibers[i];
      threadIdx = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
      swapcontext(&scheduler, &running->context);
      done += running->done ? 1 : 0;
    }
    running = nullptr;
    if (done == items) return true;
    for (unsigned i = 0; i < items; i++) elsewhere += !fibers[i].done && fibers[i].line != fibers[0].line ? 1 : 0;
    if (done != 0 || elsewhere != 0) {
      snprintf(problem, sizeof problem, "%u of the %u work-items of group %u,%u,%u do not reach the barrier at which others wait",
               done != 0 ? done : elsewhere, items, blockIdx.x, blockIdx.y, blockIdx.z);
      return false;
    }
  }
}

void run_loops() {
  const bool back = turn % 2 != 0;
  for (unsigned z = 0; z < blockDim.z; z++)
    for (unsigned y = 0; y < blockDim.y; y++)
      for (unsigned x = 0; x < blockDim.x; x++) {
        threadIdx = back ? Place{blockDim.x - 1 - x, blockDim.y - 1 - y, blockDim.z - 1 - z} : Place{x, y, z};
        body(argument);
      }
}

template <class P>
P value(void *arg) {
  if constexpr (std::is_pointer_v<P>)
    return static_cast<P>(arg);
  else
    return *static_cast<const P *>(arg);
}
template <auto kKernel, class... P, size_t... I>
void call(void (*)(P...), void *const *arg, std::index_sequence<I...>) {
  kKernel(value<P>(arg[I])...);
}
template <class... P>
constexpr auto places_of(void (*)(P...)) {
  return std::index_sequence_for<P...>();
}
template <auto kKernel>
void call(void *const *arg) {
  call<kKernel>(kKernel, arg, places_of(kKernel));
}

template <auto kKernel, bool kHasBarrier>
const char *run(void *const *arg, const long long *size) {
  const auto part = [&](int k) { return static_cast<unsigned>(size[k]); };
  gridDim = {part(0), part(1), part(2)};
  blockDim = {part(3), part(4), part(5)};
  if (size[3] * size[4] * size[5] > kMostItems) {
    snprintf(problem, sizeof problem, "a work-group has %lld items, CUDA takes at most %u", size[3] * size[4] * size[5], kMostItems);
    return problem;
  }
  problem[0] = '\0';
  body = call<kKernel>;
  argument = arg;
  const size_t shared = static_cast<size_t>(__stop_etch_shared - __start_etch_shared);
  if (shared != 0) memset(__start_etch_shared, 0xff, shared);
  for (unsigned z = 0; z < gridDim.z; z++)
    for (unsigned y = 0; y < gridDim.y; y++)
      for (unsigned x = 0; x < gridDim.x; x++, turn++) {
        blockIdx = {x, y, z};
        if constexpr (kHasBarrier) {
          if (!run_fibers(blockDim.x * blockDim.y * blockDim.z)) return problem;
        } else {
          run_loops();
        }
      }
  return problem[0] != '\0' ? problem : nullptr;
}

}  // namespace
}  // namespace etch_shim
)shim";
}

}  // namespace etch
