#include "ir/axis_names.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace etch {
namespace {

// Letters by the number of axes. b, w and t are not used as they name buffers and values; l looks like 1.
constexpr std::string_view kOuter[] = {"", "n", "mn", "cyx", "ncyx", "nczyx", "ngczyx"};
constexpr std::string_view kInner[] = {"", "k", "ij", "kij", "khij"};

template <std::size_t N>
std::string letter(const std::string_view (&letters)[N], std::size_t count, std::size_t axis, char otherwise) {
  if (count < N) return std::string(1, letters[count][axis]);
  return otherwise + std::to_string(axis);
}

}  // namespace

std::vector<Sint> full_shape(const LazyOp* store) {
  std::vector<Sint> full;
  for (const LazyOp* op : toposort(store)) {
    const std::vector<Sint>& shape = op->op == Op::Store ? op->st().shape() : op->shape;
    if (full.size() < shape.size()) full.resize(shape.size(), Sint(1));
    for (std::size_t a = 0; a < shape.size(); a++)
      if (!shape[a].is_int(1)) full[a] = shape[a];
  }
  return full;
}

std::vector<std::string> axis_letters(const LazyOp* store) {
  const std::vector<Sint> full = full_shape(store);
  std::set<int> reduced;
  for (const LazyOp* op : toposort(store))
    if (is_reduce(op->op)) reduced.insert(op->axes().begin(), op->axes().end());
  std::vector<std::size_t> outer, inner;
  for (std::size_t a = 0; a < full.size(); a++)
    if (!full[a].is_int(1)) (reduced.contains(static_cast<int>(a)) ? inner : outer).push_back(a);
  std::vector<std::string> names(full.size());
  for (std::size_t i = 0; i < outer.size(); i++) names[outer[i]] = letter(kOuter, outer.size(), i, 'a');
  for (std::size_t i = 0; i < inner.size(); i++) names[inner[i]] = letter(kInner, inner.size(), i, 'r');
  const std::vector<const Node*> sizes = variables(store);
  for (std::string& name : names)
    while (std::ranges::any_of(sizes, [&](const Node* v) { return v->name == name; })) name += name;
  return names;
}

}  // namespace etch
