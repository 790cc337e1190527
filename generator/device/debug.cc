#include "device/debug.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace etch {
namespace {

// Per nanosecond; a clock may be too coarse for a small kernel.
double rate(std::int64_t amount, double seconds) { return static_cast<double>(amount) / (std::max(seconds, 1e-20) * 1e9); }

std::string grid_text(const std::optional<LaunchSize>& grid) {
  if (!grid) return "-";
  const auto sizes = [](const std::array<std::int64_t, 3>& s) {
    return s[2] != 1 ? fmt::format("{}x{}x{}", s[0], s[1], s[2]) : s[1] != 1 ? fmt::format("{}x{}", s[0], s[1]) : std::to_string(s[0]);
  };
  return sizes(grid->groups) + " of " + (grid->driver_groups ? "any" : sizes(grid->local));
}

const std::string& table_head() {
  static const std::string text = fmt::format("{:>6}  {:<7} {:<38} {:<20} {:>7} {:>13} {:>13} {:>12} {:>10} {:>10}\n", "#", "device",
                                              "kernel", "grid", "buffers", "memory, B", "time, us", "total, ms", "GFLOP/s", "GB/s");
  return text;
}

}  // namespace

std::string debug_text(const ProgramKernel& kernel, int level) {
  if (level < kDebugAst) return "";
  std::string text = fmt::format("== {}{}{}\n", kernel.name, kernel.shape_name.empty() ? "" : " = " + kernel.shape_name,
                                 kernel.opts.empty() ? "" : ": " + kernel.opts);
  const auto part = [&](int from, std::string_view title, const std::string& content) {
    if (level >= from && !content.empty()) text += fmt::format("-- {}\n{}{}", title, content, content.ends_with('\n') ? "" : "\n");
  };
  if (kernel.ast != nullptr) part(kDebugAst, "AST", to_tree(kernel.ast));
  part(kDebugUOps, "UOps", kernel.uops);
  part(kDebugSource, "source", kernel.text.source);
  return text;
}

void DebugLog::put(std::string_view text) const {
  if (text.empty()) return;
  if (options_.sink) return options_.sink(text);
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void DebugLog::print(std::string_view text) {
  const std::lock_guard lock(mutex_);
  put(text);
}

void DebugLog::print_run(const std::string& device, const KernelRun& run, std::int64_t ops, std::int64_t mem, std::optional<double> seconds,
                         const GlobalCounters::Values& after) {
  const std::int64_t memory = after.mem_used + run.further_memory;
  std::string line = fmt::format("{:>6}  {:<7} {:<38} {:<20} {:>7} {:>13}", after.kernel_count - 1, device, run.name, grid_text(run.grid),
                                 run.buffers, memory);
  if (seconds)
    line += fmt::format(" {:>13.2f} {:>12.3f} {:>10.3f} {:>10.3f}", *seconds * 1e6, after.time_sum_s * 1e3, rate(ops, *seconds),
                        rate(mem, *seconds));
  const std::lock_guard lock(mutex_);
  if (sums_.kernels == 0) put(table_head());
  put(line + "\n");
  sums_.kernels++;
  sums_.ops += ops;
  sums_.mem += mem;
  sums_.seconds += seconds.value_or(0);
  sums_.most_memory = std::max(sums_.most_memory, memory);
}

void DebugLog::print_sums() {
  const std::lock_guard lock(mutex_);
  if (sums_.kernels == 0) return;
  put(fmt::format("   sum  {} kernel{}, {:.3f} ms, {:.3f} GFLOP/s, {:.3f} GB/s, at most {} bytes of memory\n", sums_.kernels,
                  sums_.kernels == 1 ? "" : "s", sums_.seconds * 1e3, rate(sums_.ops, sums_.seconds), rate(sums_.mem, sums_.seconds),
                  sums_.most_memory));
  sums_ = {};
}

}  // namespace etch
