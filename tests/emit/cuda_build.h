// Building emitted CUDA projects: with nvcc where it is, and with the host's compilers on a stand-in of CUDA's runtime, which runs the
// kernels on this processor. The stand-in queues what a stream is given until the stream is waited for, keeps its memory out of the
// host's reach until then, counts what is made, and fails where it is told to: FAKE_FAIL names a function, FAKE_FAIL_AT the number of
// its only call that fails, if not all do.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "audit/cuda_header.h"
#include "base/fnv.h"
#include "base/tempdir.h"
#include "build.h"
#include "device/cuda_shim.h"
#include "support/made_once.h"

namespace etch::test::cuda {

inline constexpr const char* kStandIn = R"cc(
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <functional>
#include <tuple>
#include <vector>
  namespace {
  int made, held, launches, waits, calls_told;
  size_t asked; /* bytes of all blocks */
  int last_error;
  std::vector<std::function<const char*()>> queue; /* of the one stream */
  struct Block {
    char* pages;
    size_t bytes, guard;
    void* start;
  };
  std::vector<Block> blocks, locked; /* of the GPU, and of the processor */
  cudaStream_t const only = reinterpret_cast<cudaStream_t>(&made);
  void reach(int how) {
    for (const Block& b : blocks) mprotect(b.pages, b.bytes, how);
  }
  cudaError_t told(const char* function, int otherwise = 0) {
    const char *fails = getenv("FAKE_FAIL"), *number = getenv("FAKE_FAIL_AT");
    const bool is_told = fails != nullptr && strcmp(fails, function) == 0 && (number == nullptr || atoi(number) == ++calls_told);
    const int error = is_told ? 30 : otherwise;
    if (error != 0) last_error = error;
    return static_cast<cudaError_t>(error);
  }
  template <class P>
  void* place(P& value) {
    if constexpr (std::is_pointer_v<P>)
      return const_cast<void*>(static_cast<const void*>(value));
    else
      return &value;
  }
  /* A launch copies the arguments: they may change before the kernel runs. */
  template <auto kernel, bool barrier, class... P>
  std::function<const char*()> launch(void (*)(P...), void** args, dim3 g, dim3 b) {
    size_t i = 0;
    std::tuple<P...> values{*static_cast<P*>(args[i++])...};
    return [=]() mutable {
      return std::apply(
          [&](auto&... value) {
            void* arg[] = {place(value)...};
            const long long size[] = {g.x, g.y, g.z, b.x, b.y, b.z};
            return etch_shim::run<kernel, barrier>(arg, size);
          },
          values);
    };
  }
  struct Known {
    const void* function;
    std::function<const char*()> (*launch)(void**, dim3, dim3);
  };
  extern const Known known[];
  struct AtEnd {
    ~AtEnd() {
      if (held != 0) {
        fprintf(stderr, "LEAK: %d blocks of memory\n", held);
        _exit(9);
      }
    }
  } at_end;
  }  // namespace
  extern "C" {
  int fake_made(void) { return made; }
  int fake_held(void) { return held; }
  int fake_launches(void) { return launches; }
  size_t fake_asked(void) { return asked; }
  cudaError_t cudaGetLastError(void) {
    const int e = last_error;
    last_error = 0;
    return static_cast<cudaError_t>(e);
  }
  const char* cudaGetErrorString(cudaError_t e) { return e == 0 ? "no error" : static_cast<int>(e) == 35 ? "old driver" : "some error"; }
  cudaError_t cudaGetDeviceCount(int* n) {
    *n = 1;
    return told("cudaGetDeviceCount", getenv("FAKE_NO_GPU") != nullptr ? 35 : 0);
  }
  cudaError_t cudaGetDevice(int* n) {
    const char* d = getenv("FAKE_DEVICE");
    *n = d == nullptr ? 0 : atoi(d);
    return told("cudaGetDevice");
  }
  cudaError_t cudaStreamCreate(cudaStream_t* s) {
    *s = only;
    return told("cudaStreamCreate");
  }
  cudaError_t cudaStreamDestroy(cudaStream_t s) { return told("cudaStreamDestroy", s != only); }
  cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    const cudaError_t error = told("cudaStreamSynchronize", s != only ? 33 : 0);
    const char* problem = nullptr;
    waits++;
    reach(PROT_READ | PROT_WRITE);
    for (auto& step : queue) {
      problem = step();
      if (problem != nullptr) {
        fprintf(stderr, "a kernel: %s\n", problem);
        abort();
      }
    }
    queue.clear();
    reach(PROT_NONE);
    return error;
  }
  /* The block's end is the end of a page, and the page behind it can't be reached. */
  static Block make_block(void** memory, size_t bytes) {
    const size_t whole = (bytes + 4095) / 4096 * 4096;
    char* pages = static_cast<char*>(mmap(nullptr, whole + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (bytes == 0 || bytes % 256 != 0 || pages == MAP_FAILED) abort();
    memset(pages, 0xff, whole); /* NaN */
    *memory = pages + whole - bytes;
    mprotect(pages + whole, 4096, PROT_NONE);
    made++;
    held++;
    return {pages, whole, 4096, *memory};
  }
  static void free_block(std::vector<Block>& of, void* memory) {
    for (size_t i = 0; i < of.size(); i++) {
      if (of[i].start != memory) continue;
      munmap(of[i].pages, of[i].bytes + of[i].guard);
      of.erase(of.begin() + static_cast<long>(i));
      held--;
      return;
    }
    abort();
  }
  cudaError_t cudaMalloc(void** memory, size_t bytes) {
    if (told("cudaMalloc") != 0) return static_cast<cudaError_t>(2);
    blocks.push_back(make_block(memory, bytes));
    mprotect(blocks.back().pages, blocks.back().bytes, PROT_NONE);
    asked += bytes;
    return static_cast<cudaError_t>(0);
  }
  cudaError_t cudaFree(void* memory) {
    free_block(blocks, memory);
    return told("cudaFree");
  }
  cudaError_t cudaMallocHost(void** memory, size_t bytes) {
    if (told("cudaMallocHost") != 0) return static_cast<cudaError_t>(2);
    locked.push_back(make_block(memory, bytes));
    return static_cast<cudaError_t>(0);
  }
  cudaError_t cudaFreeHost(void* memory) {
    free_block(locked, memory);
    return told("cudaFreeHost");
  }
  /* A copy from locked memory reads it when its turn comes, and not the copy of it that pageable memory gets at once. */
  static bool is_locked(const void* at) {
    for (const Block& b : locked)
      if (at >= b.pages && at < b.pages + b.bytes) return true;
    return false;
  }
  cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t s) {
    if (s != only) return told("cudaMemcpyAsync", 33);
    if (told("cudaMemcpyAsync") != 0) return static_cast<cudaError_t>(30);
    if (kind == cudaMemcpyHostToDevice && !is_locked(from)) {
      const char* const begin = static_cast<const char*>(from);
      queue.push_back([to, now = std::vector<char>(begin, begin + bytes)] {
        memcpy(to, now.data(), now.size());
        return nullptr;
      });
    } else {
      queue.push_back([=] {
        memcpy(to, from, bytes);
        return nullptr;
      });
    }
    return static_cast<cudaError_t>(0);
  }
  cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t s) {
    queue.push_back([=] {
      memset(to, value, bytes);
      return nullptr;
    });
    return told("cudaMemsetAsync", s != only ? 33 : 0);
  }
  cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* a, const void*) {
    const char* threads = getenv("FAKE_THREADS");
    a->maxThreadsPerBlock = threads == nullptr ? 1024 : atoi(threads);
    return told("cudaFuncGetAttributes");
  }
  cudaError_t cudaLaunchKernel(const void* function, dim3 g, dim3 b, void** args, size_t shared, cudaStream_t s) {
    const bool grid = g.x != 0 && g.x <= 2147483647u && g.y != 0 && g.y <= 65535 && g.z != 0 && g.z <= 65535;
    const bool block = b.x * b.y * b.z != 0 && b.x <= 1024 && b.y <= 1024 && b.z <= 64 && 1ull * b.x * b.y * b.z <= 1024;
    if (!grid || !block || shared != 0 || s != only) return told("cudaLaunchKernel", 9);
    if (told("cudaLaunchKernel") != 0) return static_cast<cudaError_t>(30);
    for (const Known* k = known; k->function != nullptr; k++) {
      if (k->function != function) continue;
      launches++;
      queue.push_back(k->launch(args, g, b));
      return static_cast<cudaError_t>(0);
    }
    return told("cudaLaunchKernel", 98);
  }
  }
)cc";

/// The kernels of a .cu file, and whether each has a barrier.
inline std::vector<std::pair<std::string, bool>> kernels_of(const std::string& text) {
  const std::string head = "extern \"C\" __global__ void ";
  std::vector<std::pair<std::string, bool>> result;
  const bool in_functions = text.substr(0, text.find(head)).find("__syncthreads()") != std::string::npos;
  for (std::size_t begin = text.find(head); begin != std::string::npos;) {
    const std::size_t next = text.find(head, begin + 1);
    std::size_t name = begin + head.size();
    if (text.compare(name, 17, "__launch_bounds__") == 0) name = text.find(") ", name) + 2;
    const bool barrier =
        in_functions || text.substr(begin, next == std::string::npos ? next : next - begin).find("__syncthreads()") != std::string::npos;
    result.emplace_back(text.substr(name, text.find('(', name) - name), barrier);
    begin = next;
  }
  return result;
}

/// Writes the project, and beside it stand_in.cc, which holds NAME.cu and runs it.
inline void put_with_stand_in(const fs::path& dir, const std::vector<EmittedFile>& files) {
  put(dir, files);
  write_file(dir / "cuda_runtime_api.h", std::string(cuda_header()));
  write_file(dir / "cuda_shim.h", std::string(cuda_shim()));
  std::string text = "#include \"cuda_shim.h\"\nextern \"C\" {\n#include \"cuda_runtime_api.h\"\n}\n", table;
  for (const EmittedFile& f : files) {
    if (!f.name.ends_with(".cu")) continue;
    text += "#include \"" + f.name + "\"\n";
    for (const auto& [kernel, barrier] : kernels_of(f.text))
      table += "  {(const void *)" + kernel + ", [](void **a, dim3 g, dim3 b) { return launch<" + kernel + ", " +
               (barrier ? "true" : "false") + ">(" + kernel + ", a, g, b); }},\n";
  }
  write_file(dir / "stand_in.cc", text + kStandIn + "namespace {\nconst Known known[] = {\n" + table + "  {nullptr, nullptr}};\n}\n");
}

/// Makes stand_in.o, or takes it from a test that compiled the same kernels: they take most of the time of a build.
inline ProcessResult compile_stand_in(const fs::path& dir, const std::string& flags) {
  const std::string command = "g++ -std=c++20 -Wno-attributes " + flags + " -c stand_in.cc";
  std::string key = command;
  for (const char* kind : {".cc", ".cu", ".h"})
    for (const std::string& name : files_with(dir, kind)) key += "\n" + name + "\n" + read_file(dir / name);
  ProcessResult result;
  result.started = true;
  result.exit_code = 0;
  try {
    const fs::path made = made_once(fmt::format("stand_in_{:016x}.o", fnv1a_64(key)), [&](const fs::path& path) {
      result = run_in(dir, command, {"-o", path.string()});
      return result;
    });
    fs::copy_file(made, dir / "stand_in.o");
  } catch (const std::runtime_error&) {
    if (result.ok()) throw;  // else it says what the compiler does not like
  }
  return result;
}

/// Compiles C as C99 and the kernels as C++, both with sanitizers, and links "test".
inline ProcessResult build_on_cpu(const fs::path& dir, const std::string& flags = "") {
  const std::string sanitize = "-O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I. ";
  const std::string strict = "gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror " + sanitize;
  ProcessResult result = run_in(dir, strict + flags + " -c", c_sources(dir));
  if (!result.ok()) return result;
  result = compile_stand_in(dir, sanitize + flags);
  if (!result.ok()) return result;
  return run_in(dir, "g++ " + sanitize + "-o test", files_with(dir, ".o"));
}

/// A project that was written and built so.
class OnCpu {
 public:
  explicit OnCpu(const std::vector<EmittedFile>& files, const std::string& flags = "") {
    put_with_stand_in(dir_.path(), files);
    built_ = build_on_cpu(dir_.path(), flags);
  }
  const ProcessResult& built() const { return built_; }
  ProcessResult run(const std::vector<std::string>& arguments = {}, std::vector<EnvVar> env = {}) const {
    env.push_back({"ASAN_OPTIONS", "detect_stack_use_after_return=0"});
    return run_in(dir_.path(), "./test", arguments, env);
  }

 private:
  TempDir dir_;
  ProcessResult built_;
};

inline void expect_pass(const std::vector<EmittedFile>& files, const std::vector<std::string>& arguments = {}) {
  const OnCpu program(files);
  ASSERT_TRUE(program.built().ok()) << program.built().err;
  const ProcessResult ran = program.run(arguments);
  EXPECT_EQ(ran.out, "PASS\n") << describe(ran) << ran.err;
  EXPECT_TRUE(ran.ok()) << ran.err;
}

/// nvcc builds the project `name` in `dir` without a word, and its self-test passes, or says that there is no GPU.
inline void expect_nvcc_builds(const fs::path& dir, const std::string& name, const std::string& architectures) {
  std::vector<std::string> sources = c_files(dir);
  sources.push_back(name + ".cu");
  const ProcessResult built =
      run_in(dir, "nvcc -O1 --Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -o test " + architectures, sources);
  ASSERT_TRUE(built.ok()) << built.out << built.err;
  EXPECT_EQ(built.out + built.err, "");
  const ProcessResult ran = run_in(dir, "./test");
  if (ran.exit_code == 77) {
    EXPECT_TRUE(ran.out.starts_with("SKIPPED no NVIDIA GPU: ")) << ran.out;
  } else {
    EXPECT_EQ(ran.out, "PASS\n") << describe(ran) << ran.err;
  }
}

}  // namespace etch::test::cuda
