// What a graph keeps besides operations: memory that outlives a run or a computation, and names.
#include "base/error.h"
#include "lazy/graph.h"

namespace etch {

void LazyGraph::make_state(const LazyBuffer* input, Array first) {
  check(input->kind == LazyKind::Input && input->realized == nullptr && input->st.variables().empty(),
        "a state was an input of fixed sizes");
  check(first.size() == 0 || (first.dtype() == input->dtype && Sint(first.size()) == input->st.size()),
        "a state starts with values of its own");
  LazyBuffer& changed = *const_cast<LazyBuffer*>(input);  // safe: an input is never looked up
  changed.kind = LazyKind::State;
  changed.data = std::move(first);
}

void LazyGraph::forget_memory() {
  for (LazyBuffer& buffer : buffers_) buffer.realized.reset();
}

bool LazyGraph::take_name(const std::string& name) {
  for (const LazyLoop& l : loops_)
    for (const Node* v : variables(l.counter))
      if (v->name == name) return false;
  taken_names_.insert(name);
  return true;
}

}  // namespace etch
