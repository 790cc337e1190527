#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/naming.h"

namespace etch {
namespace {

constexpr std::size_t kCompared = 128;  // characters of a name: models have names of any length
constexpr std::size_t kShown = 12;

}  // namespace

double name_distance(std::string_view first, std::string_view second) {
  constexpr int kMissing = 2, kWrong = 3, kExchanged = 2;
  if (first == second) return 0;
  const std::string a = in_lower_case(first.substr(0, kCompared)), b = in_lower_case(second.substr(0, kCompared));
  if (a.empty() && b.empty()) return 0;
  // Optimal string alignment: row i holds the cost of the first i letters of a against each beginning of b.
  std::vector<std::vector<int>> cost(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (std::size_t i = 0; i <= a.size(); i++) {
    for (std::size_t j = 0; j <= b.size(); j++) {
      if (i == 0 || j == 0) {
        cost[i][j] = kMissing * static_cast<int>(i + j);
        continue;
      }
      const int best = std::min(cost[i - 1][j], cost[i][j - 1]) + kMissing;
      cost[i][j] = std::min(best, cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : kWrong));
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + kExchanged);
    }
  }
  return static_cast<double>(cost[a.size()][b.size()]) / (kMissing * static_cast<double>(a.size() + b.size()));
}

std::vector<std::string> nearest_first(std::string_view wanted, const std::vector<std::string>& names) {
  std::vector<std::pair<double, std::string>> by_distance;
  for (const std::string& name : names) by_distance.emplace_back(name_distance(wanted, name), name);
  std::ranges::stable_sort(by_distance, {}, &std::pair<double, std::string>::first);
  std::vector<std::string> result;
  for (auto& [distance, name] : by_distance) result.push_back(std::move(name));
  return result;
}

std::string nearest_text(std::string_view wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> sorted = nearest_first(wanted, names);
  std::string text;
  for (std::size_t i = 0; i < std::min(sorted.size(), kShown); i++) text += (i == 0 ? "'" : ", '") + sorted[i] + "'";
  return sorted.size() > kShown ? text + " and " + std::to_string(sorted.size() - kShown) + " more" : text;
}

}  // namespace etch
