// Random histories of movement operations against arrays of positions that are moved element by element.
#include "shape/shapetracker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/error.h"

namespace etch {
namespace {

// An array of buffer positions, -1 for padding: the operations by their definition.
struct Array {
  std::vector<std::int64_t> shape, data;

  static Array from_shape(std::vector<std::int64_t> shape) {
    Array a{std::move(shape), {}};
    for (std::int64_t k = 0; k < a.count(); k++) a.data.push_back(k);
    return a;
  }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::int64_t s : shape) n *= s;
    return n;
  }
  std::int64_t at(const std::vector<std::int64_t>& idx) const {
    std::int64_t flat = 0;
    for (std::size_t k = 0; k < idx.size(); k++) {
      if (idx[k] < 0 || idx[k] >= shape[k]) return -1;
      flat = flat * shape[k] + idx[k];
    }
    return data[static_cast<std::size_t>(flat)];
  }
  // The array of `new_shape` whose element at idx is this one's at from(idx).
  template <class F>
  Array make(std::vector<std::int64_t> new_shape, F from) const {
    Array r{std::move(new_shape), {}};
    std::vector<std::int64_t> idx(r.shape.size(), 0);
    for (std::int64_t n = r.count(); n > 0; n--) {
      r.data.push_back(at(from(idx)));
      for (std::size_t k = idx.size(); k-- > 0 && ++idx[k] == r.shape[k];) idx[k] = 0;
    }
    return r;
  }
};

std::vector<Sint> sints(const std::vector<std::int64_t>& v) { return {v.begin(), v.end()}; }

class History {
 public:
  explicit History(unsigned seed) : rng(seed) {
    int rank = pick(1, 4);
    std::vector<std::int64_t> shape;
    for (int k = 0; k < rank; k++) shape.push_back(pick(1, 6));
    truth = Array::from_shape(shape);
    st = ShapeTracker::from_shape(sints(shape));
  }
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng); }

  void step() {
    switch (pick(0, 5)) {
      case 0:
        return permute();
      case 1:
        return reshape();
      case 2:
        return expand();
      case 3:
        return pad();
      case 4:
        return shrink();
      default:
        return stride();
    }
  }

  Array truth;
  ShapeTracker st = ShapeTracker::from_shape({});
  std::mt19937 rng;

 private:
  using Indices = std::vector<std::int64_t>;

  void permute() {
    const Indices shape = truth.shape;
    const std::size_t rank = shape.size();
    std::vector<int> axes(rank);
    for (std::size_t k = 0; k < rank; k++) axes[k] = static_cast<int>(k);
    std::shuffle(axes.begin(), axes.end(), rng);
    Indices to;
    for (int a : axes) to.push_back(shape[static_cast<std::size_t>(a)]);
    truth = truth.make(to, [&](const Indices& i) {
      Indices r(rank);
      for (std::size_t k = 0; k < rank; k++) r[static_cast<std::size_t>(axes[k])] = i[k];
      return r;
    });
    st = st.permute(axes);
  }
  void reshape() {
    truth.shape = random_shape(truth.count());
    st = st.reshape(sints(truth.shape));
  }
  void expand() {
    const Indices shape = truth.shape;
    Indices to = shape;
    for (std::int64_t& s : to) s = s == 1 && pick(0, 1) ? pick(1, 3) : s;
    if (product_of(to) > 2000) return;
    truth = truth.make(to, [&](Indices i) {
      for (std::size_t k = 0; k < shape.size(); k++) i[k] = std::min(i[k], shape[k] - 1);
      return i;
    });
    st = st.expand(sints(to));
  }
  void pad() {
    std::vector<Range> amounts;
    Indices to = truth.shape, before;
    for (std::int64_t& size : to) {
      std::int64_t b = pick(0, 4) ? 0 : pick(0, 3), e = pick(0, 4) ? 0 : pick(0, 3);
      amounts.push_back({b, e});
      before.push_back(b);
      size += b + e;
    }
    if (product_of(to) > 2000) return;
    truth = truth.make(to, [&](Indices i) {
      for (std::size_t k = 0; k < i.size(); k++) i[k] -= before[k];
      return i;
    });
    st = st.pad(amounts);
  }
  void shrink() {
    std::vector<Range> ranges;
    Indices to, begin;
    for (std::int64_t size : truth.shape) {
      std::int64_t b = pick(0, static_cast<int>(size) - 1), e = pick(static_cast<int>(b) + 1, static_cast<int>(size));
      if (pick(0, 1)) b = 0, e = size;
      ranges.push_back({b, e});
      begin.push_back(b);
      to.push_back(e - b);
    }
    truth = truth.make(to, [&](Indices i) {
      for (std::size_t k = 0; k < i.size(); k++) i[k] += begin[k];
      return i;
    });
    st = st.shrink(ranges);
  }
  void stride() {
    const Indices shape = truth.shape;
    Indices steps, to;
    for (std::int64_t size : shape) {
      std::int64_t m = pick(0, 2) ? 1 : pick(1, 3);
      steps.push_back(pick(0, 2) ? m : -m);
      to.push_back((size + m - 1) / m);
    }
    truth = truth.make(to, [&](Indices i) {
      for (std::size_t k = 0; k < i.size(); k++) i[k] = steps[k] > 0 ? i[k] * steps[k] : shape[k] - 1 + i[k] * steps[k];
      return i;
    });
    st = st.stride(steps);
  }
  static std::int64_t product_of(const std::vector<std::int64_t>& v) {
    std::int64_t n = 1;
    for (std::int64_t s : v) n *= s;
    return n;
  }
  std::vector<std::int64_t> random_shape(std::int64_t count) {
    std::vector<std::int64_t> r;
    while (count > 1 && r.size() < 3) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t d = 1; d <= count; d++) {
        if (count % d == 0) divisors.push_back(d);
      }
      r.push_back(divisors[static_cast<std::size_t>(pick(0, static_cast<int>(divisors.size()) - 1))]);
      count /= r.back();
    }
    r.push_back(count);
    return r;
  }
};

std::map<std::string, std::int64_t> values_at(std::int64_t flat, const std::vector<std::int64_t>& shape) {
  std::map<std::string, std::int64_t> v{{"flat", flat}};
  for (std::size_t k = shape.size(); k-- > 0; flat /= shape[k]) v["idx" + std::to_string(k)] = flat % shape[k];
  return v;
}

void expect_positions(const ShapeTracker& st, const Array& truth, unsigned seed) {
  Symbols s;
  std::vector<Sint> idxs;
  for (std::size_t k = 0; k < truth.shape.size(); k++) idxs.push_back(s.variable("idx" + std::to_string(k), 0, truth.shape[k] - 1));
  ShapeTracker::Index at = st.expr_idxs(idxs), flat_at = st.expr_node(s.variable("flat", 0, truth.count() - 1));
  std::int64_t largest = -1;
  for (std::int64_t p = 0; p < truth.count(); p++) {
    auto values = values_at(p, truth.shape);
    std::int64_t want = truth.data[static_cast<std::size_t>(p)];
    largest = std::max(largest, want);
    for (const ShapeTracker::Index& x : {at, flat_at}) {
      std::int64_t got = evaluate(x.valid, values) ? evaluate(x.idx, values) : -1;
      ASSERT_EQ(got, want) << "seed " << seed << " element " << p << " " << st.to_text() << " " << to_text(x.idx) << " "
                           << to_text(x.valid);
    }
  }
  EXPECT_EQ(st.real_size(), largest + 1) << "seed " << seed << " " << st.to_text();
  EXPECT_TRUE(proves_nonnegative(at.idx, at.valid)) << "seed " << seed << " " << to_text(at.idx) << " where " << to_text(at.valid);
  if (largest >= 0) {  // both ends of the claim: what is read is not excluded
    EXPECT_FALSE(proves_less(at.idx, largest, at.valid)) << "seed " << seed << " " << st.to_text();
  }
  EXPECT_TRUE(proves_less(at.idx, largest + 1, at.valid)) << "seed " << seed << " " << to_text(at.idx) << " where " << to_text(at.valid);
}

// Whether offset, strides and one range per axis can describe the positions of all elements, found from the elements themselves.
bool one_view_is_enough(const Array& truth) {
  std::size_t rank = truth.shape.size();
  std::vector<std::int64_t> index(rank, 0), first(rank, INT64_MAX), last(rank, -1), strides(rank, 0);
  std::int64_t valid = 0;
  auto for_all = [&](const auto& use) {
    std::fill(index.begin(), index.end(), 0);
    for (std::int64_t p = 0; p < truth.count(); p++) {
      if (std::int64_t at = truth.data[static_cast<std::size_t>(p)]; at >= 0) use(at);
      for (std::size_t k = rank; k-- > 0 && ++index[k] == truth.shape[k];) index[k] = 0;
    }
  };
  for_all([&](std::int64_t) {
    valid++;
    for (std::size_t k = 0; k < rank; k++) first[k] = std::min(first[k], index[k]), last[k] = std::max(last[k], index[k]);
  });
  if (valid == 0) return true;
  std::int64_t box = 1;
  for (std::size_t k = 0; k < rank; k++) box *= last[k] - first[k] + 1;
  if (box != valid) return false;
  std::int64_t start = truth.at(first);
  for (std::size_t k = 0; k < rank; k++) {
    std::vector<std::int64_t> next = first;
    if (++next[k] <= last[k]) strides[k] = truth.at(next) - start;
  }
  bool linear = true;
  for_all([&](std::int64_t at) {
    std::int64_t expect = start;
    for (std::size_t k = 0; k < rank; k++) expect += strides[k] * (index[k] - first[k]);
    linear = linear && at == expect;
  });
  return linear;
}

TEST(ShapeTracker, RandomHistoriesReadTheRightElements) {
  int several = 0;
  for (unsigned seed = 0; seed < 1500; seed++) {
    History h(seed);
    for (int n = h.pick(1, 7); n > 0; n--) h.step();
    expect_positions(h.st, h.truth, seed);
    if (HasFatalFailure()) return;
    EXPECT_EQ(h.st.views().size() == 1, one_view_is_enough(h.truth)) << "seed " << seed << " " << h.st.to_text();
    several += h.st.views().size() > 1;
  }
  EXPECT_GT(several, 100);
}

// In any order of the axes, and from either end; the oracle counts.
TEST(ShapeTracker, EachElementIsShownOnce) {
  int shown = 0, backwards = 0;
  for (unsigned seed = 20000; seed < 21500; seed++) {
    History h(seed);
    const std::int64_t elements = h.truth.count();
    for (int n = h.pick(1, 3); n > 0; n--) h.step();
    std::vector<std::int64_t> times(static_cast<std::size_t>(elements), 0);
    for (const std::int64_t at : h.truth.data)
      if (at >= 0) times[static_cast<std::size_t>(at)]++;
    const bool has_padding = std::ranges::find(h.truth.data, -1) != h.truth.data.end();
    const bool is_even = !has_padding && times[0] > 0 && std::ranges::count(times, times[0]) == elements;
    const bool is_seen = h.st.shows_each_once(elements);
    EXPECT_EQ(is_seen, is_even && h.st.views().size() == 1) << h.st.to_text();
    EXPECT_FALSE(h.st.shows_each_once(elements + 1));
    EXPECT_TRUE(is_seen || !h.st.shows_all_once(elements)) << h.st.to_text();
    shown += is_seen ? 1 : 0;
    backwards += is_seen && !h.st.shows_all_once(elements) ? 1 : 0;
  }
  EXPECT_GT(shown, 300);
  EXPECT_GT(backwards, 50);
}

// One element alone, as a tensor without axes, and as axes again.
TEST(ShapeTracker, EveryElementAsAScalar) {
  int padding = 0;
  for (unsigned seed = 7000; seed < 7300; seed++) {
    History h(seed);
    for (int n = h.pick(1, 5); n > 0; n--) h.step();
    const std::int64_t flat = h.pick(0, static_cast<int>(h.truth.count()) - 1);
    std::vector<Range> alone(h.truth.shape.size());
    std::int64_t rest = flat;
    for (std::size_t k = alone.size(); k-- > 0; rest /= h.truth.shape[k]) {
      const std::int64_t i = rest % h.truth.shape[k];
      alone[k] = {i, i + 1};
    }
    const std::int64_t position = h.truth.data[static_cast<std::size_t>(flat)];
    padding += position < 0;
    const ShapeTracker scalar = h.st.shrink(alone).reshape({});
    expect_positions(scalar, {{}, {position}}, seed);
    expect_positions(scalar.reshape({1, 1}).expand({2, 3}), {{2, 3}, std::vector<std::int64_t>(6, position)}, seed);
    expect_positions(h.st + ShapeTracker::from_shape(sints(h.truth.shape)).shrink(alone).reshape({}), {{}, {position}}, seed);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(padding, 30);
}

TEST(ShapeTracker, RandomSumsReadTheRightElements) {
  for (unsigned seed = 5000; seed < 5400; seed++) {
    History h(seed);
    for (int n = h.pick(1, 4); n > 0; n--) h.step();
    ShapeTracker below = h.st;
    Array before = h.truth;
    h.st = ShapeTracker::from_shape(sints(before.shape));
    for (int n = h.pick(1, 4); n > 0; n--) h.step();
    expect_positions(below + h.st, h.truth, seed);
    if (HasFatalFailure()) return;
  }
}

TEST(ShapeTracker, InvertLeadsBack) {
  int inverted = 0;
  for (unsigned seed = 9000; seed < 9600; seed++) {
    History h(seed);
    std::vector<Sint> shape = h.st.shape();
    for (int n = h.pick(1, 4); n > 0; n--) h.step();
    auto inverse = h.st.invert(shape);
    if (!inverse) continue;
    inverted++;
    ShapeTracker both = h.st + *inverse;
    EXPECT_EQ(both.shape(), shape);
    EXPECT_TRUE(both.contiguous()) << "seed " << seed << " " << both.to_text();
  }
  EXPECT_GT(inverted, 100);
}

// A part of rows behind others, seen as planes, of which the first 1600 elements are shown: what lies behind these does not matter.
TEST(ShapeTracker, ViewsMergeWhereTheOuterOneShowsElements) {
  const ShapeTracker part = ShapeTracker::from_shape({64, 40, 40}).pad({{0, 80}, {0, 0}, {0, 0}});
  const View outer = View::create({144, 2100}, std::vector<Sint>{1600, 1}, 0, std::vector<Range>{{0, 144}, {0, 1600}});
  const ShapeTracker both({part.views()[0], outer});
  const ShapeTracker merged = both.simplify();
  ASSERT_EQ(merged.views().size(), 1U) << merged.to_text();
  EXPECT_EQ(merged, ShapeTracker::from_shape({64, 1600}).pad({{0, 80}, {0, 500}}));
}

// What a mask of open size shows may be nothing: its views stay two.
TEST(ShapeTracker, ViewsUnderMasksOfOpenSizesStay) {
  Symbols symbols;
  const Sint n = symbols.variable("n", 1, 10);
  const View inner = View::create({4, 12}, std::vector<Sint>{3, 1}, 0, std::vector<Range>{{0, 4}, {1, 5}});
  const View outer = View::create({8}, std::vector<Sint>{5}, 0, std::vector<Range>{{0, n - 2}});
  const ShapeTracker both = ShapeTracker({inner, outer}).simplify();
  EXPECT_EQ(both.views().size(), 2U) << both.to_text();
}

}  // namespace
}  // namespace etch
