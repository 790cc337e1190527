// What counts as the same result: rounding is told from errors, in outputs of any size and with values of any kind.
#include "search/judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace etch {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();
constexpr int kTerms = 300;  // of each dot product

// Dot products of random numbers: as the reference has them, and summed in float from the first on, from the last on, and in four lanes.
struct DotProducts {
  explicit DotProducts(int count) {
    std::mt19937 random(7);
    std::uniform_real_distribution<float> any(-1, 1);
    std::vector<float> a(kTerms), b(kTerms);
    for (int i = 0; i < count; i++) {
      double sum = 0;
      float up = 0, down = 0, lanes[4] = {};
      for (std::size_t k = 0; k < kTerms; k++) {
        a[k] = any(random), b[k] = any(random);
        sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
        up += a[k] * b[k];
        lanes[k % 4] += a[k] * b[k];
      }
      for (std::size_t k = kTerms; k-- > 0;) down += a[k] * b[k];
      reference.push_back(static_cast<double>(static_cast<float>(sum)));
      first.push_back(static_cast<double>(up));
      last.push_back(static_cast<double>(down));
      by_lanes.push_back(static_cast<double>((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])));
    }
  }

  std::vector<double> reference, first, last, by_lanes;
};

Array array_of(const std::vector<double>& values, DType dtype = DType::Float32) {
  return Array::of_doubles(dtype, {static_cast<std::int64_t>(values.size())}, values);
}

// What is said of `variant` where the heuristics' kernel computes `heuristics`.
Verdict verdict(const Array& reference, const PrintedOutput& heuristics, const PrintedOutput& variant) {
  KernelArgument output;
  output.dtype = reference.dtype();
  output.access = Access::Write;
  const Task task{"k", {{nullptr, {output}, {reference}, {}}}, false, {}};
  return Judge(task, {heuristics}).verdict({variant});
}

Verdict verdict(const std::vector<double>& reference, const std::vector<double>& heuristics, const std::vector<double>& variant,
                DType dtype = DType::Float32) {
  return verdict(array_of(reference, dtype), printed_of(array_of(heuristics, dtype)), printed_of(array_of(variant, dtype)));
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) largest = std::max(largest, std::abs(v));
  return largest;
}

TEST(Judge, sums_in_another_order_are_the_same_and_one_wrong_element_is_not) {
  for (const int count : {1, 10, 64, 65, 1000, 40000}) {
    const DotProducts dots(count);
    ASSERT_TRUE(count == 1 || (dots.first != dots.last && dots.first != dots.by_lanes));
    EXPECT_EQ(verdict(dots.reference, dots.first, dots.last), Verdict::Same) << count;
    EXPECT_EQ(verdict(dots.reference, dots.first, dots.by_lanes), Verdict::Same) << count;
    EXPECT_EQ(verdict(dots.reference, dots.by_lanes, dots.first), Verdict::Same) << count;
    const double little = 0.01 * largest_of(dots.reference);
    for (const std::size_t at : {0, count / 2, count - 1})
      for (const double change : {little, -little}) {
        std::vector<double> wrong = dots.last;
        wrong[at] += change;
        EXPECT_EQ(verdict(dots.reference, dots.first, wrong), Verdict::OtherFloats) << count << " " << at;
      }
  }
}

TEST(Judge, values_in_each_others_place_are_not_the_same) {
  const DotProducts dots(4096);
  const std::pair<std::size_t, std::size_t> ranges[] = {{64, 1}, {64, 64}, {1024, 512}, {2048, 1024}};
  for (const auto& [distance, length] : ranges) {
    std::vector<double> wrong = dots.first;
    std::swap_ranges(wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(length),
                     wrong.begin() + static_cast<std::ptrdiff_t>(distance));
    EXPECT_EQ(verdict(dots.reference, dots.first, wrong), Verdict::OtherFloats) << distance << " " << length;
  }
}

TEST(Judge, what_is_not_finite_has_to_be_as_it_was) {
  const DotProducts dots(1000);
  struct Case {
    double reference, heuristics, variant;
    Verdict verdict;
  };
  const Case cases[] = {
      {kNan, kNan, kNan, Verdict::Same},        {kInf, kInf, kInf, Verdict::Same},
      {-kInf, -kInf, -kInf, Verdict::Same},     {kInf, kInf, -kInf, Verdict::OtherFloats},
      {kInf, kInf, kNan, Verdict::OtherFloats}, {kNan, kNan, 1, Verdict::OtherFloats},
      {1, 1, kNan, Verdict::OtherFloats},       {1, 1, kInf, Verdict::OtherFloats},
      {1, kInf, kInf, Verdict::OtherFloats},  // the heuristics' kernel is not as the reference: only its bits are the same
  };
  for (const Case& c : cases) {
    std::vector<double> reference = dots.reference, heuristics = dots.first, variant = dots.last;
    reference[70] = c.reference, heuristics[70] = c.heuristics, variant[70] = c.variant;
    EXPECT_EQ(verdict(reference, heuristics, variant), c.verdict) << c.reference << " " << c.heuristics << " " << c.variant;
    EXPECT_EQ(verdict(reference, heuristics, heuristics), Verdict::Same);
    std::swap(variant[70], variant[134]);
    EXPECT_EQ(verdict(reference, heuristics, variant), Verdict::OtherFloats) << "in another place";
  }
}

// The values that are masked would hide any error in the others: there all bits have to be the same.
TEST(Judge, large_values_hide_no_errors) {
  for (const double mask : {-1e9, -3.4e38, -kInf}) {
    DotProducts dots(2000);
    for (std::size_t i = 0; i < 2000; i += 3) dots.reference[i] = dots.first[i] = dots.last[i] = mask;
    EXPECT_EQ(verdict(dots.reference, dots.first, dots.first), Verdict::Same);
    EXPECT_EQ(verdict(dots.reference, dots.first, dots.last), std::isfinite(mask) ? Verdict::OtherFloats : Verdict::Same) << mask;
    std::vector<double> wrong = dots.last;
    wrong[100] += 0.01 * largest_of(DotProducts(100).reference);
    EXPECT_EQ(verdict(dots.reference, dots.first, wrong), Verdict::OtherFloats) << mask;
  }
}

// Functions are approximated with errors that do not cancel: a variant may be as wrong as the heuristics' kernel, unless that is wrong.
TEST(Judge, a_variant_may_be_some_times_as_far_off_as_the_heuristics) {
  const DotProducts dots(1000);
  const auto off = [&](double relative) {
    std::vector<double> values = dots.reference;
    for (double& v : values) v += relative * std::abs(v);
    return values;
  };
  EXPECT_EQ(verdict(dots.reference, off(1e-4), off(3e-4)), Verdict::Same);
  EXPECT_EQ(verdict(dots.reference, off(1e-4), off(8e-4)), Verdict::OtherFloats);
  EXPECT_EQ(verdict(dots.reference, dots.first, off(3e-4)), Verdict::OtherFloats);
  EXPECT_EQ(verdict(dots.reference, off(0.5), dots.first), Verdict::OtherFloats) << "the heuristics' kernel may be wrong";
}

TEST(Judge, zeros_are_exact) {
  const std::vector<double> zeros(200), minus(200, -0.0);
  std::vector<double> wrong = zeros;
  wrong[199] = 1e-30;
  EXPECT_EQ(verdict(zeros, zeros, zeros), Verdict::Same);
  EXPECT_EQ(verdict(zeros, zeros, minus), Verdict::Same);
  EXPECT_EQ(verdict(zeros, zeros, wrong), Verdict::OtherFloats);
}

TEST(Judge, double_is_held_to_its_own_rounding) {
  const DotProducts dots(1000);
  std::vector<double> rounded = dots.reference, wrong = dots.reference;
  rounded[5] *= 1 + 1e-15;
  EXPECT_EQ(verdict(dots.reference, dots.reference, rounded, DType::Float64), Verdict::Same);
  EXPECT_EQ(verdict(dots.reference, dots.reference, dots.first, DType::Float64), Verdict::OtherFloats);
}

TEST(Judge, what_has_no_sums_is_compared_to_the_bit) {
  const DotProducts dots(1000);
  std::vector<double> otherwise = dots.reference;
  otherwise[7] *= 1.0 + 0x1p-7;
  EXPECT_EQ(verdict(dots.reference, dots.reference, otherwise, DType::BFloat16), Verdict::OtherFloats);
  EXPECT_EQ(verdict(dots.reference, dots.reference, dots.reference, DType::BFloat16), Verdict::Same);
  // As on AVR, whose programs print no sums.
  const Array reference = array_of(dots.reference);
  const PrintedOutput first{printed_of(array_of(dots.first)).checksum, {}}, last{printed_of(array_of(dots.last)).checksum, {}};
  EXPECT_EQ(verdict(reference, first, first), Verdict::Same);
  EXPECT_EQ(verdict(reference, first, last), Verdict::OtherFloats);
  EXPECT_EQ(verdict(reference, printed_of(array_of(dots.first)), last), Verdict::OtherFloats);
  EXPECT_EQ(verdict(reference, first, printed_of(array_of(dots.last))), Verdict::OtherFloats);
}

TEST(Judge, integers_are_the_references) {
  const Array right = Array::of_ints(DType::Int32, {3}, std::vector<std::int64_t>{1, 2, 3});
  const Array wrong = Array::of_ints(DType::Int32, {3}, std::vector<std::int64_t>{1, 2, 4});
  EXPECT_EQ(verdict(right, printed_of(right), printed_of(right)), Verdict::Same);
  EXPECT_EQ(verdict(right, printed_of(right), printed_of(wrong)), Verdict::OtherIntegers);
  EXPECT_EQ(verdict(right, printed_of(wrong), printed_of(right)), Verdict::Same);
  EXPECT_EQ(verdict(right, printed_of(wrong), printed_of(wrong)), Verdict::OtherIntegers);
}

TEST(Judge, each_output_counts) {
  const DotProducts dots(100);
  KernelArgument numbers, bytes;
  numbers.dtype = DType::Float32, bytes.dtype = DType::Int8;
  numbers.access = bytes.access = Access::Write;
  const Array integers = Array::of_ints(DType::Int8, {2}, std::vector<std::int64_t>{5, 6});
  const Task task{"k", {{nullptr, {numbers, bytes}, {array_of(dots.reference), integers}, {}}}, false, {}};
  const PrintedOutput first = printed_of(array_of(dots.first)), last = printed_of(array_of(dots.last)), right = printed_of(integers);
  const PrintedOutput far = printed_of(array_of(std::vector<double>(100, 1.0))), wrong{1, {}};
  const Judge judge(task, {first, right});
  EXPECT_EQ(judge.verdict({last, right}), Verdict::Same);
  EXPECT_EQ(judge.verdict({far, right}), Verdict::OtherFloats);
  EXPECT_EQ(judge.verdict({far, wrong}), Verdict::OtherIntegers);
  EXPECT_EQ(judge.verdict({last}), Verdict::OtherIntegers);
  EXPECT_EQ(judge.verdict({}), Verdict::OtherIntegers);
  EXPECT_EQ(Judge(task, {}).verdict({}), Verdict::Same) << "nothing is compared";
}

}  // namespace
}  // namespace etch
