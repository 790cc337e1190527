#include "device/device.h"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "base/nearest.h"
#include "device/external.h"
#include "device/kernel_graph.h"
#include "device/runner.h"
#include "program/external.h"

namespace etch {
namespace {

// Null: the reference.
std::atomic<const DeviceRow*>& chosen_default() {
  static std::atomic<const DeviceRow*> row{nullptr};
  return row;
}

std::string ranges_of(const std::vector<const Node*>& variables) {
  std::string text;
  for (const Node* v : variables) text += v->name + " " + std::to_string(v->min) + " " + std::to_string(v->max) + " ";
  return text;
}

// Equal for equal ASTs alone: bits of constants and ranges of variables do not show in the text.
std::string key_of(const LazyOp* ast) {
  std::string key = to_text(ast);
  for (const LazyOp* op : toposort(ast))
    if (op->op == Op::Const) key += std::to_string(op->constant().value.bits()) + " ";
  return key + ranges_of(variables(ast));
}

// Equal for equal functions with equal arguments alone.
std::string key_of(const ProgramKernel& function) {
  std::string key = key_of(*function.external) + "\n" + external_text(function);
  std::vector<Sint> sizes = sizes_of(*function.external);
  for (const KernelArgument& a : function.arguments) {
    key += to_text(a.elements) + " ";
    sizes.push_back(a.elements);
  }
  return key + ranges_of(variables(sizes));
}

}  // namespace

Device::Device(const DeviceRow& row, const DeviceOptions& options)
    : row_(&row),
      options_(options),
      stats_(options.counters ? options.counters : GlobalCounters::of_process(),
             options.debug.level > 0 ? std::make_shared<DebugLog>(options.debug) : nullptr, std::string(row.name)) {}

std::shared_ptr<Allocator> Device::make_allocator() const { return std::make_shared<HostAllocator>(); }

std::shared_ptr<Allocator> Device::allocator() const {
  const std::lock_guard lock(mutex_);
  if (allocator_) return allocator_;
  auto allocator = make_allocator();
  if (options_.lru) allocator = std::make_shared<LRUAllocator>(std::move(allocator));
  allocator->count_in(counters());
  return allocator_ = std::move(allocator);
}

std::shared_ptr<JITRunner> Device::get_runner(const LazyOp* ast, std::shared_ptr<const void> owner) const {
  return runner_of(key_of(ast), [&] { return make_runner(ast, std::move(owner)); });
}

std::shared_ptr<JITRunner> Device::get_runner(const std::shared_ptr<const ExternalKernel>& function,
                                              const std::vector<KernelArgument>& arguments, std::shared_ptr<const void> owner) const {
  ProgramKernel kernel = external_kernel(function, {.function = "call_" + function->function, .arguments = arguments, .variables = {}});
  return runner_of(key_of(kernel), [&] { return make_external_runner(*this, std::move(kernel), options_, std::move(owner)); });
}

std::shared_ptr<JITRunner> Device::runner_of(const std::string& key, const std::function<std::shared_ptr<JITRunner>()>& make) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = runners_.find(key); found != runners_.end()) return found->second;
  }
  auto runner = make();  // others may go on meanwhile; the first result is kept
  const std::lock_guard lock(mutex_);
  return runners_.emplace(key, std::move(runner)).first->second;
}

std::unique_ptr<KernelGraph> Device::make_graph(std::vector<GraphNode>) const {
  throw GraphException("device " + name(), "runs kernels one by one");
}

void Device::set_default(std::string_view name) {
  const DeviceRow* row = devices().find(&DeviceRow::name, name);
  if (row == nullptr)
    throw DeviceError("device " + std::string(name), "is unknown; the devices are " + nearest_text(std::string(name), device_names()),
                      "choose one of them");
  chosen_default() = row;
}

const DeviceRow& Device::default_device() {
  const std::vector<const DeviceRow*>& rows = devices().rows();
  const auto found = std::ranges::find(rows, chosen_default().load());  // a row that was added may be gone
  return found == rows.end() ? *rows.front() : **found;
}

std::unique_ptr<LoadedProgram> Device::load(const Program& program) const {
  check(program.language == row_->language, "a device runs programs in its own language");
  if (!stats_.tells(kDebugLoads)) return load_own(program);
  tell_device();
  for (const ProgramKernel& kernel : program.kernels) tell(kernel);
  std::int64_t text = 0, constants = 0;
  for (const ProgramKernel& kernel : program.kernels) text += static_cast<std::int64_t>(kernel.text.source.size());
  for (const ProgramBuffer& buffer : program.buffers) constants += static_cast<std::int64_t>(buffer.data.bytes().size());
  const auto begin = std::chrono::steady_clock::now();
  auto loaded = load_own(program);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  stats_.debug->print(fmt::format("{}: loaded {} kernels for {} calls in {:.3f} s: {} bytes of text, {} bytes of constants\n", name(),
                                  program.kernels.size(), program.calls.size(), seconds, text, constants));
  return loaded;
}

void Device::tell_device() const {
  std::call_once(told_, [this] {
    std::string why;
    stats_.debug->print(name() + ": " + (available(&why) ? description() : why) + "\n");
    if (language() == nullptr && stats_.tells(kDebugSource))
      stats_.debug->print(name() + ": evaluates ASTs, so its kernels have no source, no UOps and no instructions\n");
  });
}

void Device::tell(const ProgramKernel& kernel) const {
  if (!stats_.tells(kDebugLoads)) return;
  tell_device();
  stats_.debug->print_kernel(kernel);
}

Table<DeviceRow>& devices() {
  static Table<DeviceRow> table{&kInterpDevice, &kCDevice, &kLlvmDevice, &kOpenClDevice, &kCudaDevice};
  return table;
}

std::unique_ptr<Device> make_device(std::string_view name, const DeviceOptions& options) {
  const DeviceRow* row = name.empty() ? &Device::default_device() : devices().find(&DeviceRow::name, name);
  if (row == nullptr)
    throw DeviceError("device '" + std::string(name) + "'",
                      "is unknown; the devices are " + nearest_text(std::string(name), device_names()));
  return row->make(*row, options);
}

std::unique_ptr<Device> make_reference_device(const DeviceOptions& options) {
  const DeviceRow& row = *devices().rows().front();
  return row.make(row, options);
}

std::vector<std::string> device_names() {
  std::vector<std::string> names;
  for (const DeviceRow* row : devices().rows()) names.emplace_back(row->name);
  return names;
}

std::vector<EnvVar> environment_for(const Language& language, const std::filesystem::path& work) {
  const DeviceRow* row = devices().find(&DeviceRow::language, &language);
  if (row == nullptr || row->environment == nullptr) return {};
  return row->environment(work);
}

}  // namespace etch
