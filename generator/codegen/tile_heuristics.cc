// Tiles for sums of products: one axis of the output is upcast, and vectors run along it if the target has them; another one is
// upcast too, so that each loaded value is used several times and all sums stay in registers.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/subscript.h"
#include "codegen/kernel.h"
#include "ir/uop.h"
#include "shape/int_math.h"

namespace etch {
namespace {

// Of these what may be an operand: what pads integers is none.
std::vector<const KernelBuf*> early_bufs(const Kernel& k) {
  std::vector<const KernelBuf*> bufs = reduced_bufs(k);
  std::erase_if(bufs, [](const KernelBuf* b) { return !is_float(b->op->dtype) && b->op->op != Op::Load; });
  return bufs;
}

bool is_zero(const std::optional<Sint>& s) { return s && s->is_int(0); }
bool is_unit(const std::optional<Sint>& s) { return s && s->is_int(1); }

constexpr std::int64_t kSumsOfWindow = 16, kSumsOfVectors = 8, kProductsOfWindow = 12;
constexpr std::int64_t kLeastOverlap = 3;  // rows of a tile
constexpr std::int64_t kUnrollInOrder = 2;
constexpr std::int64_t kUnrolledWindow = 7;      // elements of an axis of a window that is unrolled
constexpr std::int64_t kUnrolledProducts = 256;  // of a tile and such an axis
constexpr std::int64_t kSharedWindow = 3;        // elements of windows that are unrolled beside that
constexpr std::int64_t kUnroll = 4;              // steps of a long sum without vectors: a loop's own instructions are not free
constexpr std::int64_t kUnrollAhead = 8;

struct Tile {
  int axis = -1;  // along the registers
  std::int64_t lanes = 1;
  int other = -1;              // upcast
  int along = -1;              // upcast: `axis`, or one along which the same buffers move (blocks of which `axis` is one)
  std::int64_t registers = 1;  // along `along`
  std::int64_t rows = 1;       // along `other`
  double bytes = 0;            // of the vectors that all rows are multiplied with
};

class Search {
 public:
  Search(const Kernel& k, const std::vector<KernelArgument>& arguments)
      : k_(k),
        bufs_(early_bufs(k)),
        layouts_(can_move(k, arguments)),
        is_integer_(is_int(k.reduces()[0]->dtype)),
        products_(products_of(k)) {}

  // Lanes at whose borders masks differ are taken only where there are no others, or half as many at most and the borders get a body of
  // their own (INTERIOR).
  std::optional<Tile> best() {
    constexpr double kWorth = 2;
    const std::optional<Tile> found = best_of_these();
    if (found && (k_.options().small_code || k_.options().overlap || k_.options().backwards)) return found;
    with_borders_ = true;
    const std::optional<Tile> bordered = best_of_these();
    if (!found || !bordered) return found ? found : bordered;
    return lanes_used(bordered->axis, bordered->lanes) < kWorth * lanes_used(found->axis, found->lanes) ? found : bordered;
  }

 private:
  std::optional<Tile> best_of_these() const {
    std::optional<Tile> best;
    std::tuple<double, bool, double, bool> best_score{};
    for (int axis = 0; axis < k_.first_reduce(); axis++) {
      const std::int64_t lanes = lanes_along(axis);
      if (lanes == 0) continue;
      Tile tile{.axis = axis, .lanes = lanes};
      const double gain = choose_rows(tile);
      const std::tuple score{lanes_used(axis, lanes), lanes > 1 && is_unit(k_.stride(k_.bufs()[0], axis)), gain,
                             is_adjacent(tile.along, tile.registers) && is_adjacent(tile.other, tile.rows)};
      if (best && score <= best_score) continue;
      best = tile;
      best_score = score;
    }
    return best;
  }

  // Number of vector lanes for the axis, 1 on a target without vectors; 0 if the axis does not fit.
  std::int64_t lanes_along(int axis) const {
    if (k_.options().vector_bits == 0) return k_.axes()[at(axis)].size.is_int() ? 1 : 0;
    std::int64_t best = 0;
    for (std::int64_t lanes = k_.options().vector_bits / 32; lanes >= 4; lanes /= 2)
      if (fits(axis, lanes) && (best == 0 || lanes_used(axis, lanes) > lanes_used(axis, best))) best = lanes;
    return best;
  }

  // How many of the lanes compute something new, on average: of the last vector, which begins earlier, it is a part.
  double lanes_used(int axis, std::int64_t lanes) const {
    const std::int64_t size = k_.axes()[at(axis)].size.as_int();
    return static_cast<double>(size) / static_cast<double>((size + lanes - 1) / lanes);
  }

  // Each buffer has one value for all lanes, or has the lanes adjacent in memory, or can be laid out so.
  bool fits(int axis, std::int64_t lanes) const {
    const Sint size = k_.axes()[at(axis)].size;
    if (!size.is_int() || k_.why_illegal({OptOp::Vector, axis, lanes})) return false;
    bool moves = false;
    for (std::size_t i = 0; i < bufs_.size(); i++) {
      const bool is_bordered = with_borders_ && k_.is_masked(*bufs_[i], axis);
      if (is_bordered && !has_inner_vectors(k_, *bufs_[i], axis, lanes)) return false;
      const auto stride = is_bordered ? stride_inside(k_, *bufs_[i], axis) : k_.stride(*bufs_[i], axis);
      if (is_zero(stride)) continue;
      if (!stride || (!is_unit(stride) && (!layouts_[i] || !repeats_few(size.as_int(), lanes)))) return false;
      moves = true;
    }
    return moves;
  }

  // Whether the `n` elements along `axis` that a tile takes of each buffer can lie next to each other, so that no address is far off.
  bool is_adjacent(int axis, std::int64_t n) const {
    for (std::size_t i = 0; n > 1 && i < bufs_.size(); i++) {
      const auto stride = k_.stride(*bufs_[i], axis);
      if (!is_zero(stride) && !is_unit(stride) && !layouts_[i]) return false;
    }
    return true;
  }

  // Chooses the best axes for registers and rows, and amounts, for `tile` and returns the share of arithmetic in its work.
  double choose_rows(Tile& tile) const {
    double best = 0;
    for (int along = 0; along < k_.first_reduce(); along++)
      if (along == tile.axis || move_alike(along, tile.axis))
        for (int other = -1; other < k_.first_reduce(); other++)
          if (other != tile.axis && other != along && (other < 0 || shares(tile.axis, other))) choose_amounts(tile, along, other, best);
    return best;
  }

  // The same along two axes. `best`: what was the best share so far.
  void choose_amounts(Tile& tile, int along, int other, double& best) const {
    const std::int64_t registers = is_integer_ ? k_.options().integer_registers : k_.options().float_registers;
    const std::int64_t size = other < 0 ? 1 : k_.axes()[at(other)].size.as_int();
    const std::int64_t whole = k_.axes()[at(along)].size.as_int();
    const std::int64_t most = along != tile.axis ? whole : ceil_div(whole, tile.lanes);
    const bool overlaps = along == tile.axis && whole % tile.lanes != 0;  // vectors, which several tiles share
    const std::int64_t most_sums = tile.lanes > 1 && all_move(tile.axis) ? kSumsOfVectors : registers;
    for (std::int64_t q = 1; q <= std::min<std::int64_t>(most, 8); q++) {
      for (std::int64_t p = 1; p <= std::min<std::int64_t>(size, 28); p++) {
        const std::int64_t beside = plain_sums(tile.axis, q, other, p);
        if (most % q != 0 || (overlaps && q == most && q > 1) || (size % p != 0 && !may_overlap(other, p)) ||
            p * q + operands(q, p) > registers || p * q > most_sums || reaches_far(tile, q, other))
          continue;
        const auto sums = static_cast<double>(p * q);
        const double share = static_cast<double>(size) / static_cast<double>((size + p - 1) / p * p);  // the rest is computed twice
        const double bytes = static_cast<double>(q * tile.lanes) * products_ * bytes_of(DType::Float32);
        const auto beside_sums = static_cast<double>(loads(tile.axis, q, other, p) + far_loads(tile, q, bytes) + beside);
        const double gain = tile.lanes == 1
                                ? sums * sums / (sums + beside_sums)
                                : share * with_stores(tile, q, other, p, speed(sums, beside_sums, is_square(tile, q, other, p)));
        if (gain < best || (gain == best && along != tile.axis && tile.along == tile.axis)) continue;
        best = gain;
        tile.along = along;
        tile.other = other;
        tile.registers = q;
        tile.rows = p;
        tile.bytes = bytes;
      }
    }
  }

  // No operand has one element for all lanes (depthwise): each product loads a vector, and what windows share stays in registers.
  bool all_move(int axis) const {
    return std::ranges::none_of(bufs_, [&](const KernelBuf* b) { return is_zero(k_.stride(*b, axis)); });
  }

  // Of vectors: the part of the peak that some sums reach which each wait for the one before, with loads that go on beside them. A core
  // that starts instructions in order loads two values by one, and goes through those of the loop as well. Where there are registers for
  // many sums, few of them read what they are multiplied with again too soon, from beyond the first cache.
  // Of one vector and as many rows as lanes, each a number that an instruction reads itself, the loads are a little less in the way. They
  // are as many as the products: cores that start two of each at once have no time left for the vector's own (a 7x7 first layer on a
  // Zen 5: 0.93 of the peak, and 0.99 with two vectors and eight rows; a Zen 4 starts one product and two loads).
  double speed(double sums, double loads, bool is_square) const {
    constexpr double kLatencyInOrder = 4, kLoadInOrder = 0.5, kLoop = 4;
    const double load = is_square ? 0.2 : 0.25;
    const double latency = k_.options().float_registers > 16 ? 14 : 10;
    if (k_.options().in_order) return std::min(1.0, sums / kLatencyInOrder) * sums / (sums + kLoadInOrder * loads + kLoop);
    return std::min(1.0, sums / latency) * sums / (sums + load * loads);
  }

  // The lanes lie far from each other in what is stored, as channels do in planes.
  bool stores_apart(const Tile& tile) const { return tile.lanes > 1 && !is_unit(k_.stride(k_.bufs()[0], tile.axis)); }
  // And the rows lie side by side there: four vectors are stored as columns.
  bool stores_columns(const Tile& tile, int other) const {
    return stores_apart(tile) && other >= 0 && is_unit(k_.stride(k_.bufs()[0], other));
  }

  // And there are as many of them as lanes: lines as wide as vectors are stored.
  bool is_square(const Tile& tile, std::int64_t q, int other, std::int64_t p) const {
    return stores_columns(tile, other) && q == 1 && p == tile.lanes && tile.lanes > kStoredColumns;
  }

  // More planes than a core has addresses of pages at hand for; their lines share few places of the first cache, too, as the distances
  // often are multiples of a large power of two. Planes below a page share pages.
  bool reaches_far(const Tile& tile, std::int64_t q, int other) const {
    constexpr std::int64_t kMostPlanes = 32, kMostSmallPlanes = 48, kPage = 4096;
    if (!stores_columns(tile, other)) return false;
    const auto plane = k_.stride(k_.bufs()[0], tile.axis);
    const bool is_small = plane && plane->max() * bytes_of(k_.bufs()[0].op->dtype) < kPage;
    return q * tile.lanes > (is_small ? kMostSmallPlanes : kMostPlanes);
  }

  // The same part of the peak with the time that stores take which go across the lanes: as columns, or one by one.
  double with_stores(const Tile& tile, std::int64_t q, int other, std::int64_t p, double speed) const {
    // Products of vectors in the same time, for each lane. Tiles of a number of rows that columns do not divide begin anywhere in a line,
    // so that the parts of a column are often on two.
    constexpr double kColumn = 0.375, kColumnAnywhere = 0.75, kSquare = 0.2, kElement = 5;
    if (!stores_apart(tile)) return speed;
    const std::int64_t in_squares = tile.lanes > kStoredColumns ? p / tile.lanes * tile.lanes : 0;
    const std::int64_t columns = ceil_div(p - in_squares, kStoredColumns) * kStoredColumns;
    const bool are_columns = stores_columns(tile, other) && p >= kStoredColumns;
    const auto lanes = static_cast<double>(tile.lanes * q);
    const double column = p % kStoredColumns == 0 ? kColumn : kColumnAnywhere;
    const double as_columns = kSquare * static_cast<double>(in_squares) + column * static_cast<double>(columns);
    const double stores = lanes * (are_columns ? as_columns : kElement * static_cast<double>(p));
    const double products = static_cast<double>(p * q) * products_;
    return products / (products / speed + stores);
  }

  // Registers beside the sums: those along the lanes, and one for the rows, of which each is used up before the next is loaded. In order a
  // compiler loads all of them first, so as to wait for none. None where rows are numbers in registers of their own.
  std::int64_t operands(std::int64_t q, std::int64_t p) const {
    if (k_.options().scalar_factors) return q;
    return q + (k_.options().in_order ? p : 1);
  }

  // With vectors, tiles of many rows may end with one that begins earlier.
  bool may_overlap(int other, std::int64_t rows) const {
    return k_.options().vector_bits > 0 && rows >= kLeastOverlap && !k_.why_illegal({OptOp::Overlap, other, rows});
  }

  // With vectors: the same buffers move along both axes, so that registers may lie along either.
  bool move_alike(int axis, int other) const {
    if (k_.options().vector_bits == 0 || !k_.axes()[at(axis)].size.is_int()) return false;
    return std::ranges::all_of(bufs_, [&](const KernelBuf* b) { return is_zero(k_.stride(*b, axis)) == is_zero(k_.stride(*b, other)); });
  }

  // Number of loads in one step of the sum: a buffer with stride 0 along an axis is read once for all of it.
  std::int64_t loads(int axis, std::int64_t q, int other, std::int64_t p) const {
    std::int64_t n = 0;
    for (const KernelBuf* b : bufs_) n += (is_zero(k_.stride(*b, axis)) ? 1 : q) * (other < 0 || is_zero(k_.stride(*b, other)) ? 1 : p);
    return n;
  }

  // What those of vectors cost beside, where the cache does not hold all that a tile's rows are multiplied with, for the next rows.
  std::int64_t far_loads(const Tile& tile, std::int64_t q, double bytes) const {
    return tile.lanes > 1 && k_.options().cache_bytes > 0 && bytes >= most_of_turn(k_.options()) ? q : 0;
  }

  // Number of sums beside those of products, which tiles share along the axes where they are the same.
  std::int64_t plain_sums(int axis, std::int64_t q, int other, std::int64_t p) const {
    std::int64_t n = 0;
    for (const LazyOp* r : k_.reduces()) {
      if (contraction_of(r)) continue;
      bool moves = false, other_moves = false;
      for (const LazyOp* op : toposort(r->src[0])) {
        if (op->op != Op::Load) continue;
        moves = moves || !is_zero(k_.stride(k_.buf_of(op), axis));
        other_moves = other_moves || (other >= 0 && !is_zero(k_.stride(k_.buf_of(op), other)));
      }
      n += (moves ? q : 1) * (other_moves ? p : 1);
    }
    return n;
  }

  // Some buffer moves along `axis` but not along `other`, so a loaded register serves all rows. Without vectors the opposite must hold
  // for a buffer too.
  bool shares(int axis, int other) const {
    if (!k_.axes()[at(other)].size.is_int()) return false;
    const auto serves = [&](int from, int to) {
      return std::ranges::any_of(bufs_, [&](const KernelBuf* b) { return !is_zero(k_.stride(*b, from)) && is_zero(k_.stride(*b, to)); });
    };
    return serves(axis, other) && (k_.options().vector_bits > 0 || serves(other, axis));
  }

  static double products_of(const Kernel& k) {
    double n = 1;
    for (int axis = k.first_reduce(); axis < k.first_upcast(); axis++) n *= static_cast<double>(k.axes()[at(axis)].size.max());
    return n;
  }

  static std::vector<bool> can_move(const Kernel& k, const std::vector<KernelArgument>& arguments) {
    std::vector<bool> result;
    for (const KernelBuf* b : early_bufs(k)) result.push_back(b->op->op == Op::Load && can_be_laid_out(k, *b, arguments));
    return result;
  }

  const Kernel& k_;
  std::vector<const KernelBuf*> bufs_;
  std::vector<bool> layouts_;  // for each of bufs_: whether it can get a new layout
  bool is_integer_;
  bool with_borders_ = false;
  double products_;  // of one sum
};

// Products of integers, and what is summed beside them.
bool is_sum_of_int32(const Kernel& k) {
  const auto is_int32 = [](const LazyOp* r) { return r->op == Op::ReduceSum && r->dtype == DType::Int32; };
  const auto products = std::ranges::count_if(k.reduces(), [](const LazyOp* r) { return contraction_of(r).has_value(); });
  return products == 1 && k.reduces().size() <= 2 && std::ranges::all_of(k.reduces(), is_int32);
}

// Applies the steps for lanes, rows and registers; false if one is illegal.
bool make_tile(Kernel& k, const Tile& tile) {
  int axis = tile.axis, other = tile.other, along = tile.along;
  const auto step = [&](OptOp op, const int& on, std::int64_t amount) {
    if (amount == 1) return true;
    const int used = on;
    const Sint size = k.axes()[at(used)].size;
    const bool whole = size.is_int(amount);
    if (op == OptOp::Upcast && size.as_int() % amount != 0) op = OptOp::Overlap;
    if (!k.try_apply({op, used, amount})) return false;
    // An axis that is upcast as a whole is removed, and those after it move forward.
    for (int* left : {&axis, &other, &along}) *left -= whole && used < *left ? 1 : 0;
    return true;
  };
  return step(OptOp::Vector, axis, tile.lanes) && step(OptOp::Upcast, other, tile.rows) && step(OptOp::Upcast, along, tile.registers);
}

// How many elements of a window rows of the tile that follow each other are apart along a reduced axis, if they read some in common.
std::optional<std::int64_t> distance_of_rows(const Kernel& plain, const Tile& tile, int reduced) {
  if (tile.other < 0) return std::nullopt;
  for (const KernelBuf* b : early_bufs(plain)) {
    const Sint row = plain.view_stride(*b, tile.other), step = plain.view_stride(*b, reduced);
    if (row.min() > 0 && step.min() > 0 && row.is_int() && step.is_int() && row.as_int() % step.as_int() == 0 &&
        step.as_int() * (plain.axes()[at(reduced)].size.max() - 1) >= row.as_int())
      return row.as_int() / step.as_int();
  }
  return std::nullopt;
}

// Whether vectors of few sums wait for what each step reads from beyond the first cache. Processors foresee what an instruction will load
// in its next turn: if turns are long, that is early enough. Compilers load what several steps read at once, for which there have to be
// registers beside the sums.
bool waits_for_vectors(const Kernel& k, const Tile& tile) {
  constexpr int kBesideSums = 4;
  const std::int64_t sums = tile.rows * tile.registers;
  return tile.lanes > 1 && tile.rows > 1 && sums <= kSumsOfWindow && sums + kBesideSums <= k.options().float_registers &&
         k.count(AxisKind::Reduce) == 1 && tile.bytes > static_cast<double>(k.options().first_cache_bytes);
}

// Another axis of a small window along which rows read elements in common, each of which is then loaded once for all of them, if there are
// registers for them beside the sums and the vectors.
void unroll_shared(Kernel& k, const Kernel& plain, const Tile& tile) {
  const int first = k.first_reduce(), count = k.first_upcast() - first;
  if (plain.first_upcast() - plain.first_reduce() != count) return;  // what was unrolled is no axis any more
  for (int reduced = 0; reduced < count; reduced++) {
    const Sint& size = k.axes()[at(first + reduced)].size;
    const auto distance = distance_of_rows(plain, tile, plain.first_reduce() + reduced);
    if (!distance || !size.is_int() || size.as_int() > kSharedWindow) continue;
    const std::int64_t shared = kUnrollInOrder * ((tile.rows - 1) * *distance + size.as_int());
    if (tile.rows * tile.registers + tile.registers + shared <= k.options().float_registers) k.try_apply({OptOp::Unroll, reduced, 0});
    return;
  }
}

// Without vectors: an axis of a window along which rows, at most `most` elements apart, read some in common, each of which is then loaded
// once for all of them. False: there is none.
bool unroll_window_of_rows(Kernel& k, const Kernel& plain, const Tile& tile, std::int64_t most) {
  for (int axis = k.first_reduce(); axis < k.first_upcast(); axis++) {
    const int reduced = axis - k.first_reduce();
    const Sint& size = k.axes()[at(axis)].size;
    if (!size.is_int() || size.as_int() > kUnrolledWindow || size.as_int() * tile.rows * tile.registers > kUnrolledProducts) continue;
    const auto distance = distance_of_rows(plain, tile, plain.first_reduce() + reduced);
    if (distance && *distance <= most) return k.try_apply({OptOp::Unroll, reduced, 0});
  }
  return false;
}

// A window's innermost axis. Not where vectors fill the registers and rows share elements: compilers would load each once, and spill it.
void unroll_innermost(Kernel& k, const Kernel& plain, const Tile& tile) {
  const std::vector<int> order = reduce_order(k);
  if (order.empty() || !k.axes()[at(order.back())].size.is_int()) return;
  const int last = order.back(), reduced = last - k.first_reduce();
  const std::int64_t size = k.axes()[at(last)].size.as_int(), sums = tile.rows * tile.registers;
  const bool is_short = size <= kUnrolledWindow && size * sums <= kUnrolledProducts;
  // A whole sum over few channels is worth more than what every other column shares.
  if (tile.lanes == 1 && unroll_window_of_rows(k, plain, tile, is_short ? 1 : kUnrolledWindow)) return;
  const bool is_full = tile.lanes > 1 && sums > kSumsOfWindow;
  if (is_full && ((size <= kUnrolledWindow && !k.options().in_order) || distance_of_rows(plain, tile, plain.first_reduce() + reduced)))
    return;
  if (is_short) {
    k.try_apply({OptOp::Unroll, reduced, 0});
    const std::vector<int> rest = reduce_order(k);  // the other axis of a small window of vectors
    const bool is_window = tile.lanes > 1 && sums <= kSumsOfVectors && rest.size() == 1 && k.axes()[at(rest[0])].size.is_int();
    if (is_window && k.axes()[at(rest[0])].size.as_int() * size <= kProductsOfWindow) k.try_apply({OptOp::Unroll, 0, 0});
  } else if (tile.lanes == 1) {
    k.try_apply({OptOp::Unroll, reduced, kUnroll});
  } else if (k.options().in_order) {
    k.try_apply({OptOp::Unroll, reduced, kUnrollInOrder});
    unroll_shared(k, plain, tile);
  } else if (waits_for_vectors(k, tile)) {
    k.try_apply({OptOp::Unroll, reduced, kUnrollAhead});
  }
}

}  // namespace

bool tile_optimizations(Kernel& k, const std::vector<KernelArgument>& arguments) {
  if (k.is_staged()) return false;
  const std::optional<Contraction> product = product_of_loads(k);
  const bool in_floats = product && product->sum->dtype == DType::Float32;
  if (!in_floats && !(k.options().vector_bits == 0 && is_sum_of_int32(k))) return false;
  if (in_floats && roll_windows(k)) return true;
  const std::optional<Tile> tile = Search(k, arguments).best();
  if (!tile) return false;
  // Without vectors, one row of sums over a window (depthwise) is better unrolled over the whole window, as the other heuristics do.
  const bool is_window = k.first_upcast() - k.first_reduce() > 1;
  if (tile->lanes == 1 && tile->rows == 1 && (tile->registers == 1 || is_window)) return false;
  Kernel tiled = k;
  if (!make_tile(tiled, *tile)) return false;
  const Kernel plain = std::exchange(k, std::move(tiled));
  unroll_innermost(k, plain, *tile);
  if (in_floats) {
    block_for_cache(k, arguments);
    fetch_ahead_of_tiles(k, arguments);
    fetch_stores_of_tiles(k, arguments);
  }
  if (tile->lanes > 1 && !k.options().small_code) k.try_apply({OptOp::Interior});
  if (in_floats) zigzag_through_weights(k, arguments);
  return true;
}

}  // namespace etch
