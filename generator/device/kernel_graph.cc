#include "device/kernel_graph.h"

#include <utility>

namespace etch {
namespace {

class ListGraph : public KernelGraph {
 public:
  explicit ListGraph(std::vector<GraphNode> nodes) : nodes_(std::move(nodes)) {}
  void update(std::size_t node, const GraphNode& changed) override { nodes_.at(node) = changed; }
  void launch() override {
    for (const GraphNode& n : nodes_) n.library->launch(n.kernel, n.buffers, n.values, n.size);
  }
  void wait() override {
    for (const GraphNode& n : nodes_) n.library->wait();
  }

 private:
  std::vector<GraphNode> nodes_;
};

}  // namespace

std::unique_ptr<KernelGraph> make_list_graph(std::vector<GraphNode> nodes) { return std::make_unique<ListGraph>(std::move(nodes)); }

}  // namespace etch
