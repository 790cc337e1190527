// The order of the loops around a tile, where an operand is larger than the cache from which the tiles read it again and again: loops over
// a part of it that fits go inside of the others. And what comes from farther away because all of it does not fit is asked for in time.
//
//   for (n_block ...) for (m_tile ...) for (n_tile in the block ...)     of the matrix that moves with n, a block is read for all m
#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/subscript.h"
#include "codegen/kernel.h"
#include "ir/uop.h"

namespace etch {
namespace {

// Bytes a product that are no burden: a core multiplies some tens of numbers while it reads one from farther away.
constexpr double kFewBytes = 1.0 / 16;

// So many may still be in the cache from the last run, or since they were written.
double kept_bytes(const CodegenOptions& options) { return static_cast<double>(options.cache_bytes) / 8; }

class Blocking {
 public:
  Blocking(Kernel& k, const Contraction& product, const std::vector<KernelArgument>& arguments)
      : k_(k), operands_{&k.buf_of(product.a()), &k.buf_of(product.b())}, arguments_(arguments), loops_(k.count(AxisKind::Global)) {}

  void block() {
    for (std::size_t o = 0; o < operands_.size(); o++)
      for (int again = 0; again + 1 < loops_; again++)
        if (!moves(o, again) && size(again) > 1 && reorder(o, again)) return;
  }

  // Of the outermost loop that a constant moves along and whose inside fits, if what is inside reads the same again.
  void fetch_ahead() {
    for (std::size_t o = 0; o < operands_.size(); o++) {
      if (!arguments_[at(operands_[o]->op->mem().index)].is_constant || bytes(o, 0) < kept_bytes(k_.options())) continue;
      for (int axis = 0; axis < loops_; axis++)
        if (moves(o, axis) && bytes(o, axis + 1) <= most_of_turn(k_.options())) {
          if (is_read_again(o, axis) && k_.try_apply({OptOp::Prefetch, axis, 0})) return;
          break;
        }
    }
  }

 private:
  double size(int axis) const { return static_cast<double>(k_.axes()[at(axis)].size.as_int()); }

  bool moves(std::size_t operand, int axis) const {
    const auto stride = k_.stride(*operands_[operand], axis);
    return !stride || !stride->is_int(0);
  }

  // Whether a loop inside of that over `axis` reads the same in each turn.
  bool is_read_again(std::size_t operand, int axis) const {
    for (int inner = axis + 1; inner < loops_; inner++)
      if (!moves(operand, inner) && size(inner) > 1) return true;
    return false;
  }

  // Of what the loops from `first` on read, and all that is inside of them.
  double bytes(std::size_t operand, int first) const {
    const KernelBuf& buf = *operands_[operand];
    double elements = 1;
    for (int axis = first; axis < static_cast<int>(k_.axes().size()); axis++)
      if (moves(operand, axis)) elements *= size(axis);
    return bytes_of(buf.op->dtype) * std::min(elements, static_cast<double>(arguments_[at(buf.op->mem().index)].elements.max()));
  }

  double products() const {
    double n = 1;
    for (int axis = 0; axis < static_cast<int>(k_.axes().size()); axis++) n *= size(axis);
    return n;
  }

  // In each turn of the loop `again` the loops inside of it read all of the operand. False if that is no burden, or nothing helps.
  bool reorder(std::size_t operand, int again) {
    const double room = static_cast<double>(k_.options().cache_bytes) / 2, inside = bytes(operand, again + 1);
    double turns = 1;
    for (int axis = 0; axis <= again; axis++) turns *= size(axis);
    if (inside <= room || inside * turns < kFewBytes * products()) return false;
    int along = -1;
    for (int axis = again + 1; axis < loops_; axis++)
      if (moves(operand, axis) && (along < 0 || size(axis) > size(along))) along = axis;
    if (along < 0) return false;
    const double of_turn = inside / size(along);
    if (of_turn > room) return false;
    const std::int64_t amount = k_.axes()[at(along)].overlap > 0 ? 1 : largest_divisor(along, room / of_turn);
    const std::size_t other = 1 - operand;
    const double blocks = moves(other, along) ? 1 : size(along) / static_cast<double>(amount);
    if (inside * turns / size(again) + bytes(other, 0) * blocks > inside * turns) return false;
    return k_.try_apply(amount == 1 ? Opt{OptOp::Outermost, along, 0} : Opt{OptOp::Block, along, amount});
  }

  std::int64_t largest_divisor(int axis, double most) const {
    const std::int64_t size = k_.axes()[at(axis)].size.as_int();
    std::int64_t best = 1;
    for (std::int64_t d = 2; d < size && static_cast<double>(d) <= most; d++)
      if (size % d == 0) best = d;
    return best;
  }

  Kernel& k_;
  std::array<const KernelBuf*, 2> operands_;
  const std::vector<KernelArgument>& arguments_;
  int loops_;
};

std::optional<Contraction> product_in_loops(const Kernel& k) {
  const CodegenOptions& options = k.options();
  const bool are_sizes_known = std::ranges::all_of(k.axes(), [](const Axis& a) { return a.size.is_int(); });
  if (options.cache_bytes == 0 || options.has_local || !are_sizes_known) return std::nullopt;
  return product_of_loads(k);
}

}  // namespace

double most_of_turn(const CodegenOptions& options) { return static_cast<double>(options.cache_bytes) * 3 / 8; }

void block_for_cache(Kernel& k, const std::vector<KernelArgument>& arguments) {
  const std::optional<Contraction> product = product_in_loops(k);
  if (product && !k.options().overlap) Blocking(k, *product, arguments).block();
}

void fetch_ahead_of_tiles(Kernel& k, const std::vector<KernelArgument>& arguments) {
  if (const std::optional<Contraction> product = product_in_loops(k)) Blocking(k, *product, arguments).fetch_ahead();
}

// Cores keep what they read last: what a turn ends with the next one finds there, if it begins with it. What comes from beyond the second
// cache comes faster forwards, which is what processors foresee.
void zigzag_through_weights(Kernel& k, const std::vector<KernelArgument>& arguments) {
  const std::optional<Contraction> product = product_of_loads(k);
  if (!product || k.options().cache_bytes == 0 || k.options().in_order) return;
  for (const LazyOp* factor : {product->a(), product->b()}) {
    const KernelArgument& a = arguments[at(factor->mem().index)];
    const std::int64_t bytes = a.elements.max() * bytes_of(a.dtype);
    const bool is_read_again = a.is_constant && factor->st().variables().empty();  // no part of it in each turn
    if (is_read_again && bytes > k.options().first_cache_bytes && bytes <= k.options().cache_bytes && k.try_apply({OptOp::Zigzag})) return;
  }
}

// A core holds back some tens of stores. A tile that stores whole vectors has no more; pieces of lines (see linearizer_columns.cc) are
// several times as many. Where the number of instructions counts they stay as they are.
void fetch_stores_of_tiles(Kernel& k, const std::vector<KernelArgument>& arguments) {
  const CodegenOptions& options = k.options();
  const int lanes = static_cast<int>(k.axes().size()) - 1;
  if (k.lanes() == 1 || options.overlap || options.in_order || !product_in_loops(k)) return;
  const auto is_piece = [&](const Axis& a) {
    const int axis = static_cast<int>(&a - k.axes().data());
    return a.kind == AxisKind::Upcast && a.size.as_int() >= kStoredColumns &&
           std::ranges::all_of(k.stores(), [&](const KernelBuf& store) { return is_step(k.stride(store, axis), 1); });
  };
  if (std::ranges::none_of(k.axes(), is_piece)) return;
  const bool are_far = std::ranges::all_of(k.stores(), [&](const KernelBuf& store) {
    const auto step = k.stride(store, lanes);
    const double bytes = static_cast<double>(arguments[at(store.op->mem().index)].elements.max()) * bytes_of(store.op->dtype);
    return step && !step->is_int(1) && bytes > kept_bytes(options);
  });
  if (are_far) k.try_apply({OptOp::PrefetchWrite, 0, 0});
}

double bytes_of_rows(const Kernel& k, int axis) {
  double bytes = 0;
  for (const KernelBuf& b : k.bufs()) {
    const bool is_there = (b.op->op == Op::Load || b.op->op == Op::Store) && !is_indexed(b.op);
    const auto stride = k.stride(b, axis);
    if (is_there && stride && stride->is_int() && k.axes()[at(axis)].size.is_int())
      bytes += static_cast<double>(std::abs(stride->as_int()) * k.axes()[at(axis)].size.as_int()) * bytes_of(b.op->dtype);
  }
  return bytes;
}

void fetch_next_row(Kernel& k) {
  const CodegenOptions& options = k.options();
  const int row = k.count(AxisKind::Global) - 1;
  if (options.cache_bytes == 0 || options.has_local || !k.is_staged() || k.reduce_stages() < 2 || row < 0) return;
  if (bytes_of_rows(k, row) > kept_bytes(options)) k.try_apply({OptOp::Prefetch, row, 0});
}

}  // namespace etch
