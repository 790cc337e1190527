#include "lazy/rewrite.h"

#include "base/toposort.h"

namespace etch {

std::unordered_map<const LazyBuffer*, int> count_uses(const std::vector<const LazyBuffer*>& outputs) {
  std::unordered_map<const LazyBuffer*, int> uses;
  for (const LazyBuffer* o : outputs) uses[o->base]++;
  for (const LazyBuffer* b : toposort_bases(outputs))
    for (const LazyBuffer* s : b->src) uses[s->base]++;
  return uses;
}

std::vector<const LazyBuffer*> rewrite(LazyGraph& graph, const std::vector<const LazyBuffer*>& outputs,
                                       const std::function<const LazyBuffer*(const LazyBuffer*, const LazyBuffer*)>& rule) {
  std::unordered_map<const LazyBuffer*, const LazyBuffer*> done;
  for (const LazyBuffer* old : toposort<LazyBuffer>(outputs, sources)) {
    std::vector<const LazyBuffer*> src;
    for (const LazyBuffer* s : sources(old)) src.push_back(done.at(s));
    done.emplace(old, rule(old, graph.rebuild(old, src)));
  }
  std::vector<const LazyBuffer*> result;
  for (const LazyBuffer* o : outputs) result.push_back(done.at(o));
  return result;
}

}  // namespace etch
