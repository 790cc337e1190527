// Links between axes of a view and of its buffer, and views of buffers that lost indices: compared element by element with what the view
// reads.
#include "shape/axis_links.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

#include "support/rounds.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;

Ints as_ints(const std::vector<Sint>& shape) {
  Ints r;
  for (const Sint& s : shape) r.push_back(s.as_int());
  return r;
}

template <class Visit>
void for_each(const Ints& shape, Visit visit) {
  Ints at(shape.size(), 0);
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  for (std::int64_t i = 0; i < count; i++) {
    std::int64_t rest = i;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    visit(at);
  }
}

/// The indices of the element that a view reads; nullopt: padding.
std::optional<Ints> read(const ShapeTracker& st, const Ints& base, const Ints& at) {
  const ShapeTracker::Index index = st.expr_idxs({at.begin(), at.end()});
  if (index.valid.as_int() == 0) return std::nullopt;
  Ints r(base.size());
  std::int64_t rest = index.idx.as_int();
  for (std::size_t axis = base.size(); axis-- > 0;) {
    r[axis] = rest % base[axis];
    rest /= base[axis];
  }
  return r;
}

/// Links hold for every element, and where no other padding is announced there is none.
void check_links(const ShapeTracker& st, const Ints& base, const std::vector<AxisLink>& links) {
  for_each(as_ints(st.shape()), [&](const Ints& at) {
    const std::optional<Ints> element = read(st, base, at);
    for (const AxisLink& link : links) {
      const std::int64_t from = link.from.at(static_cast<std::size_t>(at[static_cast<std::size_t>(link.axis)]));
      ASSERT_FALSE(from < 0 && element) << st.to_text();
      if (from >= 0 && !link.has_other_padding) {
        Ints first = at;
        first[static_cast<std::size_t>(link.axis)] =
            std::ranges::find_if(link.from, [](std::int64_t f) { return f >= 0; }) - link.from.begin();
        ASSERT_EQ(element.has_value(), read(st, base, first).has_value()) << "padding that others make: " << st.to_text();
      }
      if (!element || link.base_axis < 0) continue;
      ASSERT_EQ((*element)[static_cast<std::size_t>(link.base_axis)], from) << st.to_text();
    }
  });
}

/// Indices of `axis` that are left, as the position of each index; -1: gone.
Ints positions(const std::vector<bool>& kept) {
  Ints r;
  std::int64_t n = 0;
  for (const bool k : kept) r.push_back(k ? n++ : -1);
  return r;
}

/// A view of a buffer that lost indices along a link reads the same elements.
void check_kept(const ShapeTracker& st, const Ints& base, const AxisLink& link, std::mt19937& random) {
  std::vector<bool> of_base(link.base_axis < 0 ? 0 : static_cast<std::size_t>(base[static_cast<std::size_t>(link.base_axis)]));
  std::vector<bool> of_view(link.from.size());
  for (std::size_t i = 0; i < of_base.size(); i++) of_base[i] = random() % 3 != 0;
  bool shows = false;
  for (std::size_t i = 0; i < of_view.size(); i++) {
    const bool is_linked = link.from[i] >= 0 && link.base_axis >= 0;
    const auto before = static_cast<std::size_t>(std::ranges::find(link.from, link.from[i]) - link.from.begin());
    of_view[i] = is_linked ? of_base[static_cast<std::size_t>(link.from[i])] : before < i ? of_view[before] : random() % 3 != 0;
    shows = shows || (of_view[i] && link.from[i] >= 0);
  }
  if (!shows) return;
  const std::vector<Sint> base_shape(base.begin(), base.end());
  const ShapeTracker kept = keep_indices(st, base_shape, link, of_base, of_view);
  const Ints in_view = positions(of_view), in_base = positions(of_base);
  Ints shape = as_ints(st.shape()), left = base;
  shape[static_cast<std::size_t>(link.axis)] = std::ranges::count(of_view, true);
  if (link.base_axis >= 0) left[static_cast<std::size_t>(link.base_axis)] = std::ranges::count(of_base, true);
  ASSERT_EQ(as_ints(kept.shape()), shape) << st.to_text();
  for_each(as_ints(st.shape()), [&](const Ints& at) {
    Ints there = at;
    std::int64_t& index = there[static_cast<std::size_t>(link.axis)];
    index = in_view[static_cast<std::size_t>(index)];
    if (index < 0) return;
    std::optional<Ints> want = read(st, base, at);
    if (want && link.base_axis >= 0) {
      std::int64_t& moved = (*want)[static_cast<std::size_t>(link.base_axis)];
      moved = in_base[static_cast<std::size_t>(moved)];
    }
    ASSERT_EQ(read(kept, left, there), want) << st.to_text() << " -> " << kept.to_text();
  });
}

std::vector<AxisLink> links_of(const ShapeTracker& st, const Ints& base) { return axis_links(st, {base.begin(), base.end()}); }

Ints counting(std::int64_t n) {
  Ints r;
  for (std::int64_t i = 0; i < n; i++) r.push_back(i);
  return r;
}

TEST(AxisLinks, Windows) {
  const Ints base{1, 4, 6, 6};
  const ShapeTracker padded = ShapeTracker::from_shape({1, 4, 6, 6}).pad({{0, 0}, {0, 0}, {1, 1}, {1, 1}});
  // Windows of 3 x 3 of an image of 8 x 8, and the channels of each repeated for 5 outputs.
  std::vector<View> views = padded.views();
  views.push_back(View::create({1, 5, 6, 6, 4, 3, 3}, std::vector<Sint>{0, 0, 8, 1, 64, 8, 1}));
  const ShapeTracker st(views);
  EXPECT_EQ(links_of(st, base), (std::vector<AxisLink>{{1, 4, counting(4)}, {-1, 1, counting(5)}}));
}

TEST(AxisLinks, Flattened) {
  const ShapeTracker st = ShapeTracker::from_shape({2, 3, 2, 2}).reshape({2, 12});
  EXPECT_EQ(links_of(st, {2, 3, 2, 2}), (std::vector<AxisLink>{{0, 0, {0, 1}}, {1, 1, {0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}}}));
}

TEST(AxisLinks, FlattenedWithPadding) {
  const ShapeTracker st = ShapeTracker::from_shape({2, 2}).pad({{0, 0}, {1, 0}}).reshape({6});
  EXPECT_EQ(links_of(st, {2, 2}), (std::vector<AxisLink>{{0, 0, {0, 0, 0, 1, 1, 1}, true}}));
}

TEST(AxisLinks, PartsAndPadding) {
  const ShapeTracker part = ShapeTracker::from_shape({5, 3}).shrink({{1, 4}, {0, 3}}).pad({{2, 1}, {0, 0}});
  EXPECT_EQ(links_of(part, {5, 3}), (std::vector<AxisLink>{{0, 0, {-1, -2, 1, 2, 3, -3}}, {1, 1, {0, 1, 2}}}));
  const ShapeTracker one = ShapeTracker::from_shape({1, 3}).pad({{1, 1}, {0, 0}});
  EXPECT_EQ(links_of(one, {1, 3}), (std::vector<AxisLink>{{1, 1, {0, 1, 2}}, {-1, 0, {-1, 1, -2}}}));
}

TEST(AxisLinks, WhatMixesIndicesHasNone) {
  const ShapeTracker base = ShapeTracker::from_shape({4, 6});
  EXPECT_EQ(links_of(base.reshape({24}).shrink({{1, 24}}), {4, 6}), std::vector<AxisLink>()) << "begins within an index";
  EXPECT_EQ(links_of(base.stride({-1, 1}), {4, 6}), (std::vector<AxisLink>{{1, 1, counting(6)}})) << "backwards";
  std::vector<View> diagonal{View::create({4}, std::vector<Sint>{7})};
  EXPECT_EQ(links_of(ShapeTracker(diagonal), {4, 6}), std::vector<AxisLink>());
}

ShapeTracker moved(ShapeTracker st, std::mt19937& random) {
  const Ints shape = as_ints(st.shape());
  const std::size_t axis = random() % shape.size();
  std::vector<Range> ranges;
  switch (random() % 7) {
    case 0:
      for (std::size_t i = 0; i < shape.size(); i++) ranges.emplace_back(i == axis ? random() % 3 : 0, i == axis ? random() % 3 : 0);
      return st.pad(ranges);
    case 1:
      for (std::size_t i = 0; i < shape.size(); i++) {
        const auto begin = static_cast<std::int64_t>(i == axis ? random() % static_cast<std::uint64_t>(shape[i]) : 0);
        ranges.emplace_back(
            begin, i == axis ? begin + 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(shape[i] - begin)) : shape[i]);
      }
      return st.shrink(ranges);
    case 2: {
      std::vector<int> order;
      for (std::size_t i = 0; i < shape.size(); i++) order.push_back(static_cast<int>(i));
      std::ranges::shuffle(order, random);
      return st.permute(order);
    }
    case 3: {  // two axes become one
      if (axis + 1 == shape.size()) return st;
      std::vector<Sint> merged(shape.begin(), shape.end());
      merged[axis] = shape[axis] * shape[axis + 1];
      merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(axis) + 1);
      return st.reshape(merged);
    }
    case 4: {  // one becomes two
      if (shape[axis] % 2 != 0) return st;
      std::vector<Sint> split(shape.begin(), shape.end());
      split[axis] = 2;
      split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, shape[axis] / 2);
      return st.reshape(split);
    }
    case 5: {
      std::vector<Sint> larger(shape.begin(), shape.end());
      larger.insert(larger.begin() + static_cast<std::ptrdiff_t>(axis), 1);
      const ShapeTracker reshaped = st.reshape(larger);
      larger[axis] = 3;
      return reshaped.expand(larger);
    }
    default: {
      std::vector<std::int64_t> steps(shape.size(), 1);
      steps[axis] = random() % 2 == 0 ? 2 : -1;
      return st.stride(steps);
    }
  }
}

TEST(AxisLinks, RandomViewsReadWhatTheyRead) {
  std::mt19937 random(11);
  int links = 0, repeated = 0, several = 0, mixed = 0;
  for (int turn = 0; turn < test::rounds(8000); turn++) {
    Ints base;
    for (std::size_t i = 0; i < 2 + random() % 3; i++) base.push_back(static_cast<std::int64_t>(1 + random() % 5));
    ShapeTracker st = ShapeTracker::from_shape({base.begin(), base.end()});
    for (std::size_t i = 0; i < random() % 5; i++) {
      const ShapeTracker next = moved(st, random);
      if (next.size().as_int() <= 600) st = next;
    }
    const std::vector<AxisLink> found = links_of(st, base);
    check_links(st, base, found);
    for (const AxisLink& link : found) {
      check_kept(st, base, link, random);
      links += link.base_axis >= 0 ? 1 : 0;
      repeated += link.base_axis < 0 ? 1 : 0;
      several += st.views().size() > 1 ? 1 : 0;
      mixed += link.has_other_padding ? 1 : 0;
    }
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(links, test::rounds(4000));
  EXPECT_GT(repeated, test::rounds(800));
  EXPECT_GT(several, test::rounds(200));
  EXPECT_GT(mixed, test::rounds(8));
}

}  // namespace
}  // namespace etch
