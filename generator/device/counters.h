// GlobalCounters: what devices have done, in sums. Every device counts in the ones of the process unless its DeviceOptions name others,
// so a test or a tool that wants its own figures passes its own.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace etch {

/// Several threads may count at the same time.
class GlobalCounters {
 public:
  struct Values {
    std::int64_t global_ops = 0;    // operations of all kernels that ran, by their estimates
    std::int64_t global_mem = 0;    // bytes that they read and wrote, each byte of a call counted once
    double time_sum_s = 0;          // seconds of those that were waited for
    std::int64_t kernel_count = 0;  // runs of kernels
    std::int64_t mem_used = 0;      // bytes of device memory that are in use now; not what an LRUAllocator keeps
    bool operator==(const Values&) const = default;
  };

  /// Those of the process.
  static const std::shared_ptr<GlobalCounters>& of_process();

  Values values() const;
  /// Everything is 0 again but mem_used: that memory is still in use.
  void reset();
  /// One run of `count` kernels together; `seconds` is absent where nobody waited for their end. Returns the values after it.
  Values add_kernels(std::int64_t count, std::int64_t ops, std::int64_t mem, std::optional<double> seconds);
  void add_seconds(double seconds);
  /// Negative where memory is given back.
  void add_memory(std::int64_t bytes);

 private:
  mutable std::mutex mutex_;
  Values values_;
};

}  // namespace etch
