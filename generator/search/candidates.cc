#include "search/candidates.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "base/subscript.h"

namespace etch {
namespace {

using Opts = std::vector<Opt>;

constexpr std::int64_t kMostCopies = 320;  // of the arithmetic: more of them fill no registers, only memory
constexpr std::int64_t kMostAmount = 32;   // of one step
constexpr double kMostSums = 1.5;          // vectors of them for each register: more take most of their time to memory and back
constexpr std::int64_t kMostOverlap = 8;

// These end a list: they are about the loops that the others leave.
bool is_last(OptOp op) {
  return op == OptOp::Interior || op == OptOp::Outermost || op == OptOp::Block || op == OptOp::Prefetch || op == OptOp::Pipeline ||
         op == OptOp::PrefetchWrite || op == OptOp::Roll || op == OptOp::Zigzag || op == OptOp::Backwards;
}

std::optional<Kernel> applied(const Kernel& plain, const Opts& opts) {
  Kernel kernel = plain;
  for (const Opt& opt : opts)
    if (!kernel.try_apply(opt)) return std::nullopt;
  return kernel;
}

std::int64_t copies_of(const Kernel& k) {
  std::int64_t copies = 1;
  for (const Axis& a : k.axes())
    if (a.kind == AxisKind::Unroll || a.kind == AxisKind::Upcast) copies *= a.size.as_int();
  return copies;
}

// Vectors of sums at once; 0 if there are none.
std::int64_t vectors_of_sums(const Kernel& k) {
  if (k.tensor() || std::ranges::none_of(k.axes(), [](const Axis& a) { return a.kind == AxisKind::Vector; })) return 0;
  std::int64_t vectors = static_cast<std::int64_t>(k.reduces().size());
  for (const Axis& a : k.axes())
    if (a.kind == AxisKind::Upcast) vectors *= a.size.as_int();
  return vectors;
}

// All steps that kernel `k` may take and that are worth a try.
Opts steps_of(const Kernel& k) {
  Opts steps;
  const int outer = k.first_reduce(), end = k.first_upcast();
  for (int axis = 0; axis < end; axis++) {
    const Sint& size = k.axes()[at(axis)].size;
    if (!size.is_int()) continue;
    for (std::int64_t amount = 2; amount <= std::min(size.as_int(), kMostAmount); amount++) {
      const bool divides = size.as_int() % amount == 0;
      if (divides && k.axes()[at(axis)].kind == AxisKind::Reduce) steps.push_back({OptOp::Unroll, axis - outer, amount});
      if (divides && k.axes()[at(axis)].kind != AxisKind::Reduce) steps.push_back({OptOp::Upcast, axis, amount});
      if (divides && axis < outer) steps.push_back({OptOp::Vector, axis, amount});
      if (divides && axis < outer && k.options().cache_bytes > 0) steps.push_back({OptOp::Block, axis, amount});
      if (!divides && axis < outer && amount <= kMostOverlap) steps.push_back({OptOp::Overlap, axis, amount});
    }
    steps.push_back({OptOp::Outermost, axis, 0});
    if (axis < outer && k.options().cache_bytes > 0) steps.push_back({OptOp::Prefetch, axis, 0});
  }
  for (std::size_t row = 0; row < k.options().instructions.size(); row++)
    for (std::size_t c = 0; !k.tensor() && c < k.tensor_choices(k.options().instructions[row]).size(); c++)
      steps.push_back({OptOp::Tensor, static_cast<int>(c), static_cast<std::int64_t>(row)});
  steps.push_back({OptOp::Interior, 0, 0});
  steps.push_back({OptOp::Pipeline, 0, 0});
  steps.push_back({OptOp::Roll, 0, 0});
  if (k.options().cache_bytes > 0) steps.push_back({OptOp::PrefetchWrite, 0, 0});
  std::erase_if(steps, [&](const Opt& opt) { return k.why_illegal(opt).has_value(); });
  return steps;
}

class Neighbours {
 public:
  Neighbours(const LazyOp* ast, const CodegenOptions& options, const Opts& opts) : plain_(ast, options), opts_(opts) {
    seen_.insert(to_text(opts));
    const auto kernel = applied(plain_, opts);
    const double usual = kMostSums * options.float_registers;
    most_sums_ = std::max(static_cast<std::int64_t>(usual), kernel ? vectors_of_sums(*kernel) : 0);
  }

  std::vector<Opts> all() {
    leave_out();
    change();
    reshape();
    move();
    put_in();
    return std::move(found_);
  }

 private:
  void add(const Opts& opts) {
    if (!seen_.insert(to_text(opts)).second) return;
    const auto kernel = applied(plain_, opts);
    if (kernel && copies_of(*kernel) <= kMostCopies && vectors_of_sums(*kernel) <= most_sums_) found_.push_back(opts);
  }

  Opts first(std::size_t count) const { return {opts_.begin(), opts_.begin() + static_cast<std::ptrdiff_t>(count)}; }

  void leave_out() {
    for (std::size_t i = 0; i < opts_.size(); i++) {
      Opts fewer = opts_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      add(fewer);
      if (opts_[i].op == OptOp::Tensor) add(first(i));  // axes are counted otherwise behind it
    }
  }

  void change() {
    for (std::size_t i = 0; i < opts_.size(); i++) {
      const auto before = applied(plain_, first(i));
      if (!before) continue;
      for (const Opt& step : steps_of(*before)) {
        Opts other = opts_;
        other[i] = step;
        if (is_last(step.op) == is_last(opts_[i].op)) add(other);
      }
    }
  }

  // Both sides of a tile of vectors at once, about as many elements: each change alone would spill registers, or leave half of them.
  void reshape() {
    if (std::ranges::none_of(opts_, [](const Opt& opt) { return opt.op == OptOp::Vector; })) return;
    const auto is_side = [](const Opt& opt) { return opt.op == OptOp::Upcast || opt.op == OptOp::Overlap; };
    for (std::size_t i = 0; i < opts_.size(); i++)
      for (std::size_t j = i + 1; j < opts_.size(); j++) {
        if (!is_side(opts_[i]) || !is_side(opts_[j]) || opts_[i].amount == 0 || opts_[j].amount == 0) continue;
        const std::int64_t elements = opts_[i].amount * opts_[j].amount;
        for (std::int64_t rows = 2; rows <= std::min(elements, kMostAmount); rows++)
          for (std::int64_t columns = 2; columns <= kMostAmount; columns++)
            if (rows != opts_[i].amount && columns != opts_[j].amount && 4 * rows * columns >= 3 * elements &&
                rows * columns <= 2 * elements)
              add(with_sides(i, rows, j, columns));
      }
  }

  // Sides that don't divide their axes are of tiles that overlap.
  Opts with_sides(std::size_t i, std::int64_t rows, std::size_t j, std::int64_t columns) const {
    Opts other = opts_;
    for (const auto& [place, amount] : {std::pair(i, rows), std::pair(j, columns)}) {
      other[place].op = OptOp::Upcast;
      other[place].amount = amount;
      const auto before = applied(plain_, {other.begin(), other.begin() + static_cast<std::ptrdiff_t>(place)});
      if (before && before->why_illegal(other[place])) other[place].op = OptOp::Overlap;
    }
    return other;
  }

  void move() {
    for (std::size_t i = 0; i + 1 < opts_.size(); i++) {
      Opts other = opts_;
      std::swap(other[i], other[i + 1]);
      add(other);
    }
  }

  void put_in() {
    std::size_t end = opts_.size();
    while (end > 0 && is_last(opts_[end - 1].op)) end--;
    for (std::size_t place : std::set<std::size_t>{0, end, opts_.size()}) {
      const auto before = applied(plain_, first(place));
      if (!before) continue;
      for (const Opt& step : steps_of(*before)) {
        if (is_last(step.op) && place != opts_.size()) continue;
        Opts more = opts_;
        more.insert(more.begin() + static_cast<std::ptrdiff_t>(place), step);
        add(more);
      }
    }
  }

  Kernel plain_;
  const Opts& opts_;
  std::int64_t most_sums_ = 0;
  std::set<std::string> seen_;
  std::vector<Opts> found_;
};

}  // namespace

// Few other steps fit windows that roll: what is one change away from the list without ROLL is near, too.
std::vector<std::vector<Opt>> neighbours(const LazyOp* ast, const CodegenOptions& options, const std::vector<Opt>& opts) {
  std::vector<Opts> found = Neighbours(ast, options, opts).all();
  Opts without = opts;
  if (std::erase(without, Opt{OptOp::Roll}) > 0)
    for (Opts& other : Neighbours(ast, options, without).all())
      if (other != opts && std::ranges::find(found, other) == found.end()) found.push_back(std::move(other));
  return found;
}

}  // namespace etch
