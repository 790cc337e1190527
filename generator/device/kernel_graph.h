// Graphs of kernels: a list of runs that a device prepares once and then starts as a whole (CUDA's graphs; on other devices a list whose
// arguments are set beforehand).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/device_error.h"
#include "device/loaded_kernel.h"

namespace etch {

/// A device makes no graph of these kernels: they are started one by one instead.
class GraphException : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

/// One run of a kernel; buffers and values as for KernelLibrary::launch.
struct GraphNode {
  std::shared_ptr<const KernelLibrary> library;
  int kernel = 0;
  std::vector<void*> buffers;
  std::vector<std::int32_t> values;
  LaunchSize size;
};

class KernelGraph {
 public:
  virtual ~KernelGraph() = default;
  /// From now on run number `node` has these buffers, values and size; its kernel stays.
  virtual void update(std::size_t node, const GraphNode& changed) = 0;
  /// Starts all runs, one after the other. Throws DeviceError.
  virtual void launch() = 0;
  /// Waits for their end. Throws DeviceError.
  virtual void wait() = 0;
};

/// A list for any device: the runs are started one by one, with nothing left to look up.
std::unique_ptr<KernelGraph> make_list_graph(std::vector<GraphNode> nodes);

}  // namespace etch
