#include "device/opencl_child/runner.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstring>

#include "device/device_error.h"

namespace etch::opencl {
namespace {

constexpr std::int64_t kGuard = 256;  // bytes behind a buffer
constexpr std::byte kGuardByte{0xFF};
constexpr std::size_t kMaxLog = 4000;

void ok(cl_int code, const std::string& what) {
  if (code == CL_SUCCESS) return;
  std::string name;
  if (code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY) name = ", no memory";
  if (code == CL_INVALID_WORK_GROUP_SIZE) name = ", invalid work-group size";
  if (code == CL_INVALID_ARG_SIZE || code == CL_INVALID_KERNEL_ARGS) name = ", wrong arguments";
  throw OpenCLError(what + ": OpenCL error " + std::to_string(code) + name);
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t n = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &n) != CL_SUCCESS || n == 0) return "";
  std::string text(n, '\0');
  clGetDeviceInfo(device, what, n, text.data(), nullptr);
  return text.c_str();
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

struct Candidate {
  cl_device_id device;
  cl_device_type type;
  DeviceInfo info;
};

std::vector<Candidate> all_devices() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) throw OpenCLError("no OpenCL platform is installed");
  std::vector<cl_platform_id> platforms(count);
  ok(clGetPlatformIDs(count, platforms.data(), nullptr), "list of platforms");
  std::vector<Candidate> result;
  for (cl_platform_id platform : platforms) {
    char name[256] = "";
    clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) != CL_SUCCESS) continue;
    std::vector<cl_device_id> devices(n);
    ok(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr), "list of devices");
    for (cl_device_id d : devices) {
      Candidate c{d, 0, {name, text_of(d, CL_DEVICE_NAME), text_of(d, CL_DEVICE_VERSION), text_of(d, CL_DRIVER_VERSION)}};
      clGetDeviceInfo(d, CL_DEVICE_TYPE, sizeof c.type, &c.type, nullptr);
      const std::string extensions = text_of(d, CL_DEVICE_EXTENSIONS);
      c.info.is_cpu = (c.type & CL_DEVICE_TYPE_CPU) != 0;
      c.info.has_half = extensions.find("cl_khr_fp16") != std::string::npos;
      c.info.has_double = extensions.find("cl_khr_fp64") != std::string::npos;
      result.push_back(std::move(c));
    }
  }
  if (result.empty()) throw OpenCLError("the OpenCL platforms have no device");
  return result;
}

Candidate choose(const std::string& wanted) {
  std::vector<Candidate> all = all_devices();
  std::string names;
  for (const Candidate& c : all) names += (names.empty() ? "" : ", ") + c.info.name;
  const std::string want = lower(wanted);
  std::erase_if(all, [&](const Candidate& c) {
    if (want.empty()) return false;
    if (want == "gpu") return (c.type & CL_DEVICE_TYPE_GPU) == 0;
    if (want == "cpu") return (c.type & CL_DEVICE_TYPE_CPU) == 0;
    return lower(c.info.name).find(want) == std::string::npos && lower(c.info.platform).find(want) == std::string::npos;
  });
  if (all.empty()) throw OpenCLError("no OpenCL device is '" + wanted + "'; there is " + names);
  const auto gpu = std::ranges::find_if(all, [](const Candidate& c) { return (c.type & CL_DEVICE_TYPE_GPU) != 0; });
  return gpu != all.end() ? *gpu : all.front();
}

std::string log_of(cl_program program, cl_device_id device) {
  std::size_t n = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &n);
  std::string log(n, '\0');
  if (n > 0) clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, n, log.data(), nullptr);
  return std::string(log.c_str()).substr(0, kMaxLog);
}

std::int64_t bytes_in_use(const std::vector<DeviceMemory>& buffers) {
  std::int64_t bytes = 0;
  for (const DeviceMemory& b : buffers) bytes += b.bytes();
  return bytes;
}

cl_mem mem_of(const DeviceMemory& buffer) { return static_cast<cl_mem>(buffer.opaque()); }

}  // namespace

void* BufferAllocator::alloc_own(std::int64_t bytes) {
  cl_int code = CL_SUCCESS;
  cl_mem memory = clCreateBuffer(context_, CL_MEM_READ_WRITE, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 64)), nullptr, &code);
  return code == CL_SUCCESS ? memory : nullptr;
}

void BufferAllocator::free_own(void* memory, std::int64_t) {
  clFinish(queue_);  // nothing that was started may still use it
  clReleaseMemObject(static_cast<cl_mem>(memory));
}

Runner::Runner(const std::string& wanted) {
  const Candidate chosen = choose(wanted);
  info_ = chosen.info;
  device_ = chosen.device;
  cl_int code = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &code);
  ok(code, "context on " + info_.name);
  queue_ = clCreateCommandQueue(context_, device_, 0, &code);
  ok(code, "command queue on " + info_.name);
  kept_ = std::make_unique<LRUAllocator>(std::make_shared<BufferAllocator>(context_, queue_));
}

Runner::~Runner() {
  while (!lists_.empty()) forget(lists_.begin()->first);
  for (auto& [number, loaded] : programs_) release(loaded);
  programs_.clear();
  memory_.clear();
  kept_.reset();
  if (queue_ != nullptr) clReleaseCommandQueue(queue_);
  if (context_ != nullptr) clReleaseContext(context_);
}

void Runner::release(Loaded& loaded) {
  for (cl_kernel k : loaded.kernels) clReleaseKernel(k);
  if (loaded.program != nullptr) clReleaseProgram(loaded.program);
  loaded = Loaded();
}

std::vector<unsigned char> Runner::compile(const std::string& source) {
  Loaded loaded;
  build_source(source, loaded);
  if (info_.is_cpu) {
    release(loaded);
    return {};
  }
  std::size_t bytes = 0;
  cl_int code = clGetProgramInfo(loaded.program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr);
  std::vector<unsigned char> binary(bytes);
  unsigned char* to = binary.data();
  if (code == CL_SUCCESS) code = clGetProgramInfo(loaded.program, CL_PROGRAM_BINARIES, sizeof to, static_cast<void*>(&to), nullptr);
  release(loaded);
  ok(code, "the program's binary");
  return binary;
}

bool Runner::build_binary(std::span<const std::byte> binary, Loaded& loaded) {
  const std::size_t bytes = binary.size();
  const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int code = CL_SUCCESS;
  loaded.program = clCreateProgramWithBinary(context_, 1, &device_, &bytes, &data, nullptr, &code);
  if (code == CL_SUCCESS) code = clBuildProgram(loaded.program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
  if (code != CL_SUCCESS) release(loaded);
  return code == CL_SUCCESS;
}

void Runner::build_source(const std::string& source, Loaded& loaded) {
  const char* text = source.c_str();
  const std::size_t length = source.size();
  cl_int code = CL_SUCCESS;
  loaded.program = clCreateProgramWithSource(context_, 1, &text, &length, &code);
  ok(code, "program");
  code = clBuildProgram(loaded.program, 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
  if (code == CL_SUCCESS) return;
  const std::string log = log_of(loaded.program, device_);
  release(loaded);
  throw OpenCLError("the kernels do not compile (OpenCL error " + std::to_string(code) + ")\n" + log);
}

int Runner::load(const ProgramSpec& spec) {
  Loaded loaded;
  cl_int code = CL_SUCCESS;
  if (spec.binary.empty() || !build_binary(spec.binary, loaded)) build_source(spec.source, loaded);
  for (const KernelSpec& k : spec.kernels) {
    loaded.kernels.push_back(clCreateKernel(loaded.program, k.name.c_str(), &code));
    if (code != CL_SUCCESS) loaded.kernels.pop_back();
    ok(code, "kernel '" + k.name + "'");
  }
  for (const auto& [index, bytes] : spec.constants) {
    DeviceMemory buffer = make(static_cast<std::int64_t>(bytes.size()), true);
    if (!bytes.empty())
      ok(clEnqueueWriteBuffer(queue_, mem_of(buffer), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr), "constant");
    loaded.constants.emplace(index, std::move(buffer));
  }
  programs_.emplace(next_, std::move(loaded));
  return next_++;
}

void Runner::unload(int program) {
  const auto found = programs_.find(program);
  if (found == programs_.end()) return;
  release(found->second);
  programs_.erase(found);
}

void Runner::restore(int program, const std::map<int, std::span<const std::byte>>& constants) {
  for (const auto& [index, bytes] : constants)
    ok(clEnqueueWriteBuffer(queue_, mem_of(loaded(program).constants.at(index)), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr,
                            nullptr),
       "state");
}

const Runner::Loaded& Runner::loaded(int program) const {
  const auto found = programs_.find(program);
  if (found == programs_.end()) throw OpenCLError("no such program");
  return found->second;
}

int Runner::alloc(std::int64_t bytes) {
  try {
    memory_.emplace(next_memory_, DeviceMemory(*kept_, bytes));
  } catch (const DeviceError&) {
    return 0;
  }
  return next_memory_++;
}

void Runner::free(int memory) { memory_.erase(memory); }

void Runner::write(int memory, std::span<const std::byte> bytes) {
  ok(clEnqueueWriteBuffer(queue_, mem_of(memory_.at(memory)), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr), "copy");
}

std::vector<std::byte> Runner::read(int memory, std::int64_t bytes) {
  std::vector<std::byte> content(static_cast<std::size_t>(bytes));
  read(memory_.at(memory), content);
  return content;
}

void Runner::launch(int program, const CallSpec& call) {
  launch(loaded(program), call, [this](int memory) -> const DeviceMemory& { return memory_.at(memory); });
  if (info_.is_cpu) wait();  // a driver runs kernels in this process: waiting tells which one crashed
}

void Runner::wait() { ok(clFinish(queue_), "run"); }

DeviceMemory Runner::make(std::int64_t bytes, bool guards) {
  const std::int64_t all = std::max(bytes + (guards ? kGuard : 0), std::int64_t{1});
  try {
    DeviceMemory buffer(*kept_, all);
    if (guards) {
      const auto size = static_cast<std::size_t>(buffer.bytes());
      ok(clEnqueueFillBuffer(queue_, mem_of(buffer), &kGuardByte, 1, 0, size, 0, nullptr, nullptr), "fill");
    }
    return buffer;
  } catch (const DeviceError&) {
    throw OpenCLError("no memory for a buffer of " + std::to_string(all) + " bytes");
  }
}

void Runner::set_arguments(cl_kernel kernel, const CallSpec& call, const std::function<const DeviceMemory&(int)>& buffer_of) {
  cl_uint arg = 0;
  for (int b : call.buffers) {
    cl_mem memory = mem_of(buffer_of(b));
    ok(clSetKernelArg(kernel, arg, sizeof memory, &memory), "buffer argument " + std::to_string(arg));
    arg++;
  }
  for (std::int32_t value : call.values) {
    ok(clSetKernelArg(kernel, arg, sizeof value, &value), "variable argument " + std::to_string(arg));
    arg++;
  }
}

void Runner::start(cl_kernel kernel, const CallSpec& call) {
  std::vector<std::size_t> global = call.groups;
  for (std::size_t k = 0; k < call.local.size(); k++) global[k] *= call.local[k];
  if (std::ranges::find(global, std::size_t{0}) != global.end()) return;  // an empty grid
  ok(clEnqueueNDRangeKernel(queue_, kernel, static_cast<cl_uint>(global.size()), nullptr, global.data(),
                            call.local.empty() ? nullptr : call.local.data(), 0, nullptr, nullptr),
     "start");
}

void Runner::launch(const Loaded& loaded, const CallSpec& call, const std::function<const DeviceMemory&(int)>& buffer_of) {
  cl_kernel kernel = loaded.kernels.at(static_cast<std::size_t>(call.kernel));
  set_arguments(kernel, call, buffer_of);
  start(kernel, call);
}

int Runner::prepare(const std::vector<std::pair<int, CallSpec>>& calls) {
  const int list = next_list_++;
  lists_[list].resize(calls.size());
  try {
    for (std::size_t k = 0; k < calls.size(); k++) {
      // A kernel of its own for each call: an OpenCL kernel holds its arguments.
      cl_kernel shared = loaded(calls[k].first).kernels.at(static_cast<std::size_t>(calls[k].second.kernel));
      cl_program program = nullptr;
      ok(clGetKernelInfo(shared, CL_KERNEL_PROGRAM, sizeof program, static_cast<void*>(&program), nullptr), "program of a kernel");
      char name[256] = "";
      ok(clGetKernelInfo(shared, CL_KERNEL_FUNCTION_NAME, sizeof name, name, nullptr), "name of a kernel");
      cl_int code = CL_SUCCESS;
      cl_kernel kernel = clCreateKernel(program, name, &code);
      ok(code, "kernel '" + std::string(name) + "'");
      lists_[list][k].kernel = kernel;
      update(list, static_cast<int>(k), calls[k].second);
    }
  } catch (...) {
    forget(list);
    throw;
  }
  return list;
}

void Runner::update(int list, int index, const CallSpec& call) {
  Prepared& prepared = lists_.at(list).at(static_cast<std::size_t>(index));
  set_arguments(prepared.kernel, call, [this](int memory) -> const DeviceMemory& { return memory_.at(memory); });
  prepared.call = call;
}

void Runner::replay(int list) {
  for (const Prepared& p : lists_.at(list)) start(p.kernel, p.call);
}

void Runner::forget(int list) {
  for (const Prepared& p : lists_[list])
    if (p.kernel != nullptr) clReleaseKernel(p.kernel);
  lists_.erase(list);
}

void Runner::check_guard(const DeviceMemory& buffer, std::int64_t bytes, int index) {
  std::vector<std::byte> guard(static_cast<std::size_t>(kGuard));
  ok(clEnqueueReadBuffer(queue_, mem_of(buffer), CL_TRUE, static_cast<std::size_t>(bytes), guard.size(), guard.data(), 0, nullptr, nullptr),
     "guard");
  const auto wrong = std::ranges::find_if(guard, [](std::byte b) { return b != kGuardByte; });
  if (wrong == guard.end()) return;
  throw GuardError(std::to_string(wrong - guard.begin()), index);
}

void Runner::read(const DeviceMemory& buffer, std::span<std::byte> to) {
  if (to.empty()) return;
  ok(clEnqueueReadBuffer(queue_, mem_of(buffer), CL_TRUE, 0, to.size(), to.data(), 0, nullptr, nullptr), "result");
}

void Runner::call_function(int number, const RunSpec& spec, const RunEvents& events,
                           const std::function<const DeviceMemory&(int)>& buffer_of) {
  const CallSpec& call = spec.calls[static_cast<std::size_t>(number)];
  std::vector<std::byte> content;
  for (std::size_t i = call.writes.size(); i < call.buffers.size(); i++) {  // what is written comes first
    const std::size_t begin = content.size();
    content.resize(begin + static_cast<std::size_t>(spec.bytes.at(static_cast<std::size_t>(call.buffers[i]))));
    read(buffer_of(call.buffers[i]), std::span(content).subspan(begin));
  }
  const std::vector<std::byte> written = events.function(number, content);
  std::size_t at = 0;
  for (int b : call.writes) {
    const auto part = std::span(written).subspan(at, static_cast<std::size_t>(spec.bytes.at(static_cast<std::size_t>(b))));
    ok(clEnqueueWriteBuffer(queue_, mem_of(buffer_of(b)), CL_TRUE, 0, part.size(), part.data(), 0, nullptr, nullptr), "function's result");
    at += part.size();
  }
}

RunResult Runner::run(int program, const RunSpec& spec, const RunEvents& events) {
  const Loaded& loaded = this->loaded(program);
  std::vector<DeviceMemory> buffers(spec.bytes.size());
  const auto is_constant = [&](int b) { return loaded.constants.contains(b); };
  const auto buffer_of = [&](int b) -> const DeviceMemory& {
    return is_constant(b) ? loaded.constants.at(b) : buffers.at(static_cast<std::size_t>(b));
  };
  const auto bytes_of = [&](int b) { return spec.bytes.at(static_cast<std::size_t>(b)); };
  for (const auto& [b, bytes] : spec.inputs) {
    DeviceMemory& buffer = buffers.at(static_cast<std::size_t>(b));
    buffer = make(bytes_of(b), spec.guards);
    if (!bytes.empty())
      ok(clEnqueueWriteBuffer(queue_, mem_of(buffer), CL_TRUE, 0, bytes.size(), bytes.data(), 0, nullptr, nullptr), "input");
  }
  RunResult result;
  for (int c = 0; c < static_cast<int>(spec.calls.size()); c++) {
    const CallSpec& call = spec.calls[static_cast<std::size_t>(c)];
    for (int b : call.buffers)
      if (!is_constant(b) && buffers.at(static_cast<std::size_t>(b)).opaque() == nullptr)
        buffers[static_cast<std::size_t>(b)] = make(bytes_of(b), spec.guards);
    if (events.before) events.before(c);
    const auto begin = std::chrono::steady_clock::now();
    if (call.kernel < 0)
      call_function(c, spec, events, buffer_of);
    else
      launch(loaded, call, buffer_of);
    // A processor's driver runs kernels in this process: waiting tells which one crashed.
    if (info_.is_cpu || spec.tap || spec.guards || spec.seconds) ok(clFinish(queue_), "run");
    if (spec.seconds) result.seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    if (spec.seconds) result.memory.push_back(bytes_in_use(buffers));
    for (int b : call.buffers)
      if (spec.guards) check_guard(buffer_of(b), bytes_of(b), b);
    for (std::size_t w = 0; spec.tap && w < call.writes.size(); w++) {
      std::vector<std::byte> written(static_cast<std::size_t>(bytes_of(call.writes[w])));
      read(buffer_of(call.writes[w]), written);
      events.tap(c, static_cast<int>(w), written);
    }
    for (int b : call.buffers)
      if (spec.last_use.at(static_cast<std::size_t>(b)) == c) buffers.at(static_cast<std::size_t>(b)) = DeviceMemory();
  }
  for (int b : spec.outputs) {
    result.outputs.emplace_back(static_cast<std::size_t>(bytes_of(b)));
    read(buffer_of(b), result.outputs.back());
  }
  ok(clFinish(queue_), "run");
  return result;
}

}  // namespace etch::opencl
