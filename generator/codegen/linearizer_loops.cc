// Linearizer: loops and the dimensions of a grid.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "codegen/linearizer_state.h"

namespace etch {

std::vector<int> Linearizer::axes_of(AxisKind kind) const {
  std::vector<int> found;
  for (std::size_t i = 0; i < k_.axes().size(); i++)
    if (k_.axes()[i].kind == kind) found.push_back(static_cast<int>(i));
  return found;
}

const UOp* Linearizer::open_loop(const std::string& name, Sint size) {
  const UOp* end = index_.integer(size);
  const UOp* start = b_.constant(Scalar::of_int(end->dtype, 0));
  const UOp* loop = b_.add(UOp{.uop = UOpKind::Loop, .dtype = end->dtype, .src = {start, end}, .name = name});
  index_.declare(name, loop);
  open_.push_back(loop);
  return loop;
}

namespace {

std::string name_of_axis(const Kernel& k, int axis) {
  static constexpr const char* kPrefix[] = {"i", "l", "g", "r", "", "", "lane"};
  const AxisKind kind = k.axes()[static_cast<std::size_t>(axis)].kind;
  const auto before = std::count_if(k.axes().begin(), k.axes().begin() + axis, [&](const Axis& a) { return a.kind == kind; });
  return kPrefix[static_cast<int>(kind)] + std::to_string(before);
}

}  // namespace

void Linearizer::name_axes(AxisKind kind) {
  for (int axis : axes_of(kind)) {
    const Sint size = k_.axes()[static_cast<std::size_t>(axis)].size;
    axis_index_[static_cast<std::size_t>(axis)] = size.is_int(1) ? Sint(0) : symbols_->variable(name_of_axis(k_, axis), 0, size - 1);
  }
}

void Linearizer::open_axis(int axis) { open_loop(name_of_axis(k_, axis), k_.axes()[static_cast<std::size_t>(axis)].size); }

void Linearizer::close(const UOp* start) {
  check(!open_.empty() && open_.back() == start, "scopes nest");
  b_.end(start);
  open_.pop_back();
}

// The axes of a kind on at most three dimensions of the grid, innermost first; what is more goes together into the last.
void Linearizer::bind_grid(AxisKind kind, const std::vector<int>& axes, std::vector<Sint>& sizes) {
  const std::string prefix = kind == AxisKind::Global ? "gid" : "lid";
  const auto size_of = [&](int axis) { return k_.axes()[static_cast<std::size_t>(axis)].size; };
  const int n = static_cast<int>(axes.size());
  for (int d = 0; d < std::min(n, 3); d++) {
    std::vector<int> together{axes[static_cast<std::size_t>(n - 1 - d)]};
    if (d == 2) together.assign(axes.begin(), axes.begin() + (n - 2));
    Sint size = 1;
    for (int axis : together) size = size * size_of(axis);
    sizes.push_back(size);
    const std::string name = prefix + std::to_string(d);
    const UOp* count = index_.integer(size);
    index_.declare(name, b_.add(UOp{.uop = UOpKind::Special, .dtype = count->dtype, .src = {count}, .number = d, .name = prefix}));
    Sint rest = size.is_int(1) ? Sint(0) : symbols_->variable(name, 0, size - 1);
    for (auto it = together.rbegin(); it != together.rend(); ++it) {
      const bool outermost = it + 1 == together.rend();
      axis_index_[static_cast<std::size_t>(*it)] = outermost ? rest : floormod(rest, size_of(*it));
      if (!outermost) rest = floordiv(rest, size_of(*it));
    }
  }
  while (sizes.size() < 3) sizes.push_back(1);
}

void Linearizer::open_grid() {
  bind_grid(AxisKind::Global, axes_of(AxisKind::Global), result_.global_size);
  std::vector<int> local = axes_of(AxisKind::Local);
  const std::vector<int> group = axes_of(AxisKind::Group);
  local.insert(local.end(), group.begin(), group.end());
  bind_grid(AxisKind::Local, local, result_.local_size);
}

}  // namespace etch
