// Linearizer: the proof that a kernel reads and writes inside its buffers.
#include <map>
#include <string>

#include "codegen/linearizer.h"
#include "shape/open_sizes.h"

namespace etch {

// If there is no direct proof, each value of a variable is tried, of the variable with the fewest values first.
bool is_inside_buffer(Sint idx, Sint valid, int lanes, Sint elements) {
  constexpr int kMaxCases = 4096;
  struct Case {
    Sint idx, valid;
  };
  std::vector<Case> open{{idx, valid}};
  for (int cases = 0; !open.empty(); cases++) {
    const Case c = open.back();
    open.pop_back();
    if (c.valid.is_int(0)) continue;
    if (proves_nonnegative(c.idx, c.valid) && proves_less(c.idx + (lanes - 1), elements, c.valid)) continue;
    const Node* best = nullptr;
    for (const Node* v : variables(std::vector<Sint>{c.idx, c.valid}))
      if (v->max_expr.is_int() && (best == nullptr || v->max - v->min < best->max - best->min)) best = v;
    if (best == nullptr || cases + best->max - best->min > kMaxCases) return false;
    for (std::int64_t value = best->min; value <= best->max; value++) {
      const std::map<std::string, Sint> values{{best->name, value}};
      open.push_back({substitute(c.idx, values), substitute(c.valid, values)});
    }
  }
  return true;
}

std::int64_t prove_indices(const Linearized& linear, const std::vector<KernelArgument>& arguments) {
  for (const MemoryAccess& access : linear.accesses) {
    const int index = access.buf->op->mem().index;
    const Sint elements = arguments[static_cast<std::size_t>(index)].elements;
    if (is_inside_buffer(access.idx, access.valid, access.lanes, elements)) continue;
    std::vector<Sint> sizes = access.buf->st.shape();
    sizes.insert(sizes.end(), {access.idx, access.valid, elements});
    check_for_sizes(false,
                    "index " + to_text(access.idx) + " of buffer " + std::to_string(index) + " is proved inside its " + to_text(elements) +
                        " elements where " + to_text(access.valid) + " holds; " + access.buf->st.to_text(),
                    sizes);
  }
  return static_cast<std::int64_t>(linear.accesses.size());
}

}  // namespace etch
