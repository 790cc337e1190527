// Pictures for training: what they look like (tests/golden/drawings), that they are the same on every machine, and how they differ.
#include "models/drawings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "support/golden.h"

namespace etch {
namespace {

std::string as_text(const Drawing& drawing, const DrawingOptions& o) {
  std::string text;
  for (std::int64_t y = 0; y < o.height; y++) {
    for (std::int64_t x = 0; x < o.width; x++) {
      const int grey = drawing.grey[static_cast<std::size_t>(y * o.width + x)];
      text += grey < 32 ? '.' : grey < 96 ? '-' : grey < 176 ? 'o' : '#';
    }
    text += '\n';
  }
  return text;
}

TEST(Drawings, LookLikeWhatTheyAre) {
  std::map<std::string, std::string> files;
  for (const auto& [set, name] : {std::pair(DrawingSet::Digits, "digits.txt"), {DrawingSet::Shapes, "shapes.txt"}}) {
    const DrawingOptions plain{.set = set, .height = 20, .width = 20, .plain = true}, varied{.set = set, .height = 20, .width = 20};
    const std::vector<std::string>& names = drawing_names(set);
    for (std::size_t i = 0; i < names.size(); i++) {
      const Drawing drawing = draw(static_cast<std::int64_t>(i), plain), other = draw(static_cast<std::int64_t>(i), varied);
      EXPECT_EQ(drawing.label, static_cast<int>(i));
      files[name] += names[i] + "\n" + as_text(drawing, plain);
      files[name] += "a " + names.at(static_cast<std::size_t>(other.label)) + "\n" + as_text(other, varied);
    }
  }
  test::expect_golden("drawings", files);
}

// The hashes are those of an x86-64: integers alone decide about a pixel, so all machines have them.
TEST(Drawings, AreTheSameBytesEverywhere) {
  struct Row {
    DrawingOptions options;
    std::uint64_t pictures, labels;
  };
  const Row rows[] = {
      {{.seed = 1}, 10192744569331602107u, 13816841187918976046u},
      {{.set = DrawingSet::Shapes, .height = 12, .width = 17, .seed = 7, .noise = 0}, 16207366483458210985u, 14154310573905675911u},
  };
  for (const Row& row : rows) {
    const DrawingBatch batch = draw_batch(5, 40, row.options);
    EXPECT_EQ(batch.pictures.content_hash(), row.pictures);
    EXPECT_EQ(batch.labels.content_hash(), row.labels);
  }
}

TEST(Drawings, DependOnSeedAndNumberAlone) {
  const DrawingOptions options{.height = 14, .width = 10, .seed = 3};
  const DrawingBatch all = draw_batch(0, 30, options), one = draw_batch(17, 1, options);
  EXPECT_EQ(all.pictures.shape(), (std::vector<std::int64_t>{30, 1, 14, 10}));
  EXPECT_EQ(all.labels.dtype(), DType::Int32);
  EXPECT_EQ(one.labels.int_at(0), all.labels.int_at(17));
  for (std::int64_t i = 0; i < 140; i++) {
    ASSERT_EQ(one.pictures.double_at(i), all.pictures.double_at(17 * 140 + i));
    ASSERT_EQ(one.pictures.double_at(i),
              static_cast<double>(static_cast<float>(draw(17, options).grey[static_cast<std::size_t>(i)]) / 255));
  }
  std::set<std::vector<std::uint8_t>> seen;
  for (std::uint64_t seed : {3, 4})
    for (std::int64_t number = 0; number < 30; number++) seen.insert(draw(number, {.height = 14, .width = 10, .seed = seed}).grey);
  EXPECT_EQ(seen.size(), 60u) << "no two are the same";
}

TEST(Drawings, AreOfAllClassesAndInTheirFrame) {
  for (DrawingSet set : {DrawingSet::Digits, DrawingSet::Shapes}) {
    std::vector<int> count(drawing_names(set).size());
    std::int64_t ink = 0, ink_at_edge = 0;
    for (std::int64_t number = 0; number < 1000; number++) {
      const Drawing d = draw(number, {.set = set, .noise = 0});
      count.at(static_cast<std::size_t>(d.label))++;
      for (std::size_t i = 0; i < d.grey.size(); i++) {
        const std::size_t x = i % 28, y = i / 28;
        ink += d.grey[i];
        if (x == 0 || y == 0 || x == 27 || y == 27) ink_at_edge += d.grey[i];
      }
    }
    const auto expected = 1000.0 / static_cast<double>(count.size());
    for (int n : count) EXPECT_NEAR(n, expected, 5 * std::sqrt(expected));  // five standard deviations
    EXPECT_LT(static_cast<double>(ink_at_edge), 0.01 * static_cast<double>(ink));
    EXPECT_GT(ink, 0);
  }
}

TEST(Drawings, WhatIsNotAcceptedIsNamed) {
  const std::pair<DrawingOptions, std::int64_t> rows[] = {
      {{.height = 7}, 0}, {{.width = 97}, 0}, {{.noise = -1}, 0}, {{.noise = 256}, 0}, {{}, -1}};
  for (const auto& [options, number] : rows) EXPECT_THROW((void)draw(number, options), UserError);
  EXPECT_THROW((void)draw_batch(0, -1), UserError);
  EXPECT_EQ(draw_batch(3, 0).pictures.shape(), (std::vector<std::int64_t>{0, 1, 28, 28}));
}

}  // namespace
}  // namespace etch
