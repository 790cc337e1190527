#include "search/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace etch {
namespace {

std::vector<double> values_of(const std::vector<std::uint64_t>& bits) {
  std::vector<double> values;
  for (const std::uint64_t b : bits) values.push_back(std::bit_cast<double>(b));
  return values;
}

// The largest difference of two sums that belong together; infinite where the last ones differ, which tell what is not finite.
double distance(const std::vector<double>& sums, const std::vector<double>& reference) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (sums.size() != reference.size() || sums.empty() || sums.back() != reference.back()) return kFar;
  double largest = 0;
  for (std::size_t j = 0; j + 1 < sums.size(); j++) {
    const double apart = std::abs(sums[j] - reference[j]);
    if (std::isnan(apart)) return kFar;  // a sum of doubles that is too large
    largest = std::max(largest, apart);
  }
  return largest;
}

// Magnitudes of elements that are finite and not 0.
struct Magnitudes {
  double ordinary = 0, largest = 0;  // a quarter of them are smaller than the ordinary one; 0: there are none
};

Magnitudes magnitudes_of(const Array& data) {
  std::vector<double> all;
  for (std::int64_t i = 0; i < data.size(); i++)
    if (const double m = std::abs(data.double_at(i)); std::isfinite(m) && m > 0) all.push_back(m);
  if (all.empty()) return {};
  const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  std::ranges::nth_element(all, quarter);
  return {*quarter, *std::ranges::max_element(all)};
}

// How far sums may lie from the reference's, `heuristics` being how far those of the heuristics' kernel do. Each element may be wrong by
// kRoundings times half a unit in the last place of the largest one: a kernel's own sums round some tens of times as much as one operation.
// Such errors have any sign, so those of n elements add up as sqrt(n). Where functions are approximated, or terms cancel, more is lost, in
// the heuristics' kernel too. But one ordinary element that is wrong must never pass, whatever the others are: nullopt where it might, as
// in an output with -1e9 in it for what is masked, or where the heuristics' kernel itself is far from the reference.
std::optional<double> tolerance_of(const Array& reference, double heuristics) {
  constexpr double kRoundings = 64, kOfHeuristics = 4, kOfOrdinary = 1.0 / 16;
  const double half_unit = reference.dtype() == DType::Float64 ? 0x1p-53 : 0x1p-24;
  const double terms = std::ceil(static_cast<double>(reference.size()) / static_cast<double>(sum_count(reference.size())));
  const Magnitudes magnitudes = magnitudes_of(reference);
  const double rounding = kRoundings * half_unit * std::sqrt(terms) * magnitudes.largest;
  const double tolerance = std::max(rounding, kOfHeuristics * heuristics);
  return tolerance <= kOfOrdinary * magnitudes.ordinary ? std::optional(tolerance) : std::nullopt;
}

}  // namespace

Judge::Judge(const Task& task, const std::vector<PrintedOutput>& heuristics) {
  for (const Subject& subject : task.subjects)
    for (std::size_t a = 0; a < subject.arguments.size(); a++)
      if (subject.arguments[a].access == Access::Write && expected_.size() < heuristics.size())
        expected_.push_back(expected_of(subject.data[a], heuristics[expected_.size()]));
}

Judge::Expected Judge::expected_of(const Array& reference, const PrintedOutput& heuristics) {
  Expected expected{is_float(reference.dtype()), heuristics, {}, {}};
  if (is_int(reference.dtype())) expected.exact = printed_of(reference);
  if (heuristics.sums.empty()) return expected;
  expected.sums = values_of(printed_of(reference).sums);
  expected.tolerance = tolerance_of(reference, distance(values_of(heuristics.sums), expected.sums));
  return expected;
}

Verdict Judge::verdict(const std::vector<PrintedOutput>& outputs) const {
  if (outputs.size() != expected_.size()) return Verdict::OtherIntegers;
  Verdict verdict = Verdict::Same;
  for (std::size_t i = 0; i < outputs.size(); i++) {
    const Expected& e = expected_[i];
    if (outputs[i].checksum == e.exact.checksum) continue;
    if (!e.is_float) return Verdict::OtherIntegers;
    if (!e.tolerance || distance(values_of(outputs[i].sums), e.sums) > *e.tolerance) verdict = Verdict::OtherFloats;
  }
  return verdict;
}

}  // namespace etch
