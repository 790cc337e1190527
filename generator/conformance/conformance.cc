// Counting and printing of conformance results.
#include <algorithm>

#include "conformance/shape.h"

namespace etch {

bool ConformanceReport::any_wrong() const {
  return std::any_of(rows.begin(), rows.end(), [](const ConformanceRow& r) { return r.wrong > 0; });
}

void ConformanceReport::add(const std::string& group, const std::string& id, const std::string& wrong, const std::string& missed) {
  auto row = std::find_if(rows.begin(), rows.end(), [&](const ConformanceRow& r) { return r.group == group; });
  if (row == rows.end()) row = rows.insert(rows.end(), ConformanceRow{group});
  if (!wrong.empty()) {
    row->wrong++;
    messages.push_back(id + " wrong: " + wrong);
  } else if (!missed.empty()) {
    row->missed++;
    messages.push_back(id + " missed: " + missed);
  } else {
    row->agree++;
  }
}

std::string to_text(const ConformanceReport& report) {
  std::size_t width = 5;
  for (const ConformanceRow& r : report.rows) width = std::max(width, r.group.size());
  auto line = [&](const std::string& group, const std::string& a, const std::string& w, const std::string& m) {
    auto right = [](const std::string& s) { return std::string(s.size() < 8 ? 8 - s.size() : 1, ' ') + s; };
    return group + std::string(width - group.size(), ' ') + right(a) + right(w) + right(m) + "\n";
  };
  std::string text = line("group", "agree", "wrong", "missed");
  ConformanceRow total{"total"};
  for (const ConformanceRow& r : report.rows) {
    text += line(r.group, std::to_string(r.agree), std::to_string(r.wrong), std::to_string(r.missed));
    total.agree += r.agree;
    total.wrong += r.wrong;
    total.missed += r.missed;
  }
  text += line(total.group, std::to_string(total.agree), std::to_string(total.wrong), std::to_string(total.missed));
  for (const std::string& m : report.messages) text += m + "\n";
  return text;
}

}  // namespace etch
