#include "device/counters.h"

namespace etch {

const std::shared_ptr<GlobalCounters>& GlobalCounters::of_process() {
  static const auto counters = std::make_shared<GlobalCounters>();
  return counters;
}

GlobalCounters::Values GlobalCounters::values() const {
  const std::lock_guard lock(mutex_);
  return values_;
}

void GlobalCounters::reset() {
  const std::lock_guard lock(mutex_);
  values_ = {.mem_used = values_.mem_used};
}

GlobalCounters::Values GlobalCounters::add_kernels(std::int64_t count, std::int64_t ops, std::int64_t mem, std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  values_.global_ops += ops;
  values_.global_mem += mem;
  values_.time_sum_s += seconds.value_or(0);
  values_.kernel_count += count;
  return values_;
}

void GlobalCounters::add_seconds(double seconds) {
  const std::lock_guard lock(mutex_);
  values_.time_sum_s += seconds;
}

void GlobalCounters::add_memory(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  values_.mem_used += bytes;
}

}  // namespace etch
