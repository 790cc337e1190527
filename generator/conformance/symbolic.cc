// The checker of symbolic cases. The expected values are computed here from the case's own expression with plain integers.
#include "shape/symbolic.h"

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "conformance/shape.h"

namespace etch {
namespace {

using json = nlohmann::json;
using Values = std::map<std::string, std::int64_t>;

std::int64_t plain_floor_div(std::int64_t a, std::int64_t b) {
  check(b != 0, "nothing is divided by 0");
  std::int64_t q = a / b;
  return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

// The value by definition, without any simplification.
std::int64_t plain_value(const json& e, const Values& values) {
  if (e.is_number()) return e.get<std::int64_t>();
  std::string op = e[0];
  auto at = [&](std::size_t k) { return plain_value(e[k], values); };
  if (op == "var") return values.at(e[1].get<std::string>());
  if (op == "const") return e[1];
  if (op == "neg") return -at(1);
  if (op == "mulc" || op == "mulv") return at(1) * at(2);
  if (op == "div" || op == "divv") return plain_floor_div(at(1), at(2));
  if (op == "mod" || op == "modv") return at(1) - at(2) * plain_floor_div(at(1), at(2));
  if (op == "lt") return at(1) < at(2);
  if (op == "ge") return at(1) >= at(2);
  bool all = true;
  std::int64_t total = 0;
  for (std::size_t k = 1; k < e.size(); k++) {
    std::int64_t v = at(k);
    total += v;
    all = all && v != 0;
  }
  if (op == "and") return all;
  if (op == "add" || op == "sum") return total;
  throw UserError("conformance file", "unknown operation '" + op + "'");
}

Sint build(Symbols& syms, const json& e) {
  if (e.is_number()) return e.get<std::int64_t>();
  std::string op = e[0];
  auto at = [&](std::size_t k) { return build(syms, e[k]); };
  if (op == "var") return syms.variable(e[1], e[2], at(3));
  if (op == "const") return e[1].get<std::int64_t>();
  if (op == "neg") return -at(1);
  if (op == "mulc" || op == "mulv") return at(1) * at(2);
  if (op == "div" || op == "divv") return floordiv(at(1), at(2));
  if (op == "mod" || op == "modv") return floormod(at(1), at(2));
  if (op == "lt") return lt(at(1), at(2));
  if (op == "ge") return ge(at(1), at(2));
  if (op == "add") return at(1) + at(2);
  std::vector<Sint> parts;
  for (std::size_t k = 1; k < e.size(); k++) parts.push_back(at(k));
  if (op == "and") return ands(parts);
  if (op == "sum") return sum(parts);
  throw UserError("conformance file", "unknown operation '" + op + "'");
}

// Name -> range of every variable of the expression; the largest value of a symbolic range at its largest.
void ranges_of(const json& e, std::map<std::string, std::pair<std::int64_t, json>>* out) {
  if (!e.is_array()) return;
  if (e[0] == "var") (*out)[e[1]] = {e[2], e[3]};
  for (const json& part : e) ranges_of(part, out);
}

// Operators of a rendered expression; a minus sign belongs to its number.
std::int64_t count_operations(const std::string& text) {
  std::int64_t n = 0;
  for (std::size_t k = 0; k < text.size(); k++) {
    if (text[k] == '+' || text[k] == '*' || text[k] == '%' || text[k] == '<') n++;
    if (text[k] == '/') n++, k++;
    if (text.compare(k, 5, " and ") == 0) n++;
  }
  return n;
}

struct Verdict {
  std::string wrong, missed;
  void found_wrong(const std::string& what) { wrong += (wrong.empty() ? "" : "; ") + what; }
  void found_missed(const std::string& what) { missed += (missed.empty() ? "" : "; ") + what; }
};

std::string values_text(const Values& values) {
  std::string r;
  for (const auto& [name, value] : values) r += " " + name + "=" + std::to_string(value);
  return r;
}

void check_value(Sint x, const Values& values, std::int64_t truth, Verdict* v) {
  std::int64_t got = evaluate(x, values);
  if (got != truth)
    v->found_wrong(to_text(x) + " is " + std::to_string(got) + ", not " + std::to_string(truth) + ", at" + values_text(values));
  if (truth < x.min() || truth > x.max()) {
    v->found_wrong("bounds [" + std::to_string(x.min()) + ", " + std::to_string(x.max()) + "] exclude " + std::to_string(truth));
  }
}

std::optional<std::int64_t> recorded_bound(const json& t, const char* which) {
  if (!t.contains(which)) return std::nullopt;
  const json& b = t[which];
  if (b.is_object()) return b[std::string("int_") + which].get<std::int64_t>();
  return b.get<std::int64_t>();
}

// Whether the recorded bounds contain all true values that are known.
bool record_is_right(const json& c) {
  const json& t = c["tinygrad"];
  if (c.contains("v08_issue") || t.contains("raises")) return false;
  auto lo = recorded_bound(t, "min"), hi = recorded_bound(t, "max");
  if (!lo || !hi) return false;
  if (c.contains("exact_min") && (*lo > c["exact_min"].get<std::int64_t>() || *hi < c["exact_max"].get<std::int64_t>())) return false;
  for (const json& e : c["evals"]) {
    if (!e["value"].is_null() && (e["value"].get<std::int64_t>() < *lo || e["value"].get<std::int64_t>() > *hi)) return false;
  }
  return true;
}

void check_bounds(Sint x, const json& c, Verdict* v) {
  std::string ours = "bounds [" + std::to_string(x.min()) + ", " + std::to_string(x.max()) + "]";
  if (c.contains("exact_min") && (x.min() > c["exact_min"].get<std::int64_t>() || x.max() < c["exact_max"].get<std::int64_t>())) {
    v->found_wrong(ours + " exclude [" + c["exact_min"].dump() + ", " + c["exact_max"].dump() + "]");
  }
  if (!record_is_right(c)) return;
  std::int64_t lo = *recorded_bound(c["tinygrad"], "min"), hi = *recorded_bound(c["tinygrad"], "max");
  if (x.min() < lo || x.max() > hi) v->found_missed(ours + " are wider than [" + std::to_string(lo) + ", " + std::to_string(hi) + "]");
}

// Whether no result of the group may take more operations than recorded.
bool counts_operations(const json& c) { return c["group"] == "v08_missed"; }

Verdict check_symbolic_case(const json& c) {
  Verdict v;
  Symbols syms;
  try {
    Sint x = build(syms, c["expr"]);
    for (const json& e : c["evals"]) {
      if (!e["value"].is_null()) check_value(x, e["vars"].get<Values>(), e["value"], &v);
    }
    check_bounds(x, c, &v);
    std::string text = to_text(x);
    if (counts_operations(c) && c["tinygrad"].contains("render")) {
      std::string theirs = c["tinygrad"]["render"];
      if (count_operations(text) > count_operations(theirs)) v.found_missed(text + " takes more operations than " + theirs);
    }
    if (c.contains("missed") && !x.is_int()) v.found_missed(text + " " + c["missed"].get<std::string>());
  } catch (const std::exception& e) {
    v.found_wrong(e.what());
  }
  return v;
}

Verdict check_equality(const json& c) {
  Verdict v;
  Symbols syms;
  try {
    Sint a = build(syms, c["lhs"]), b = build(syms, c["rhs"]);
    if ((a == b) != c["equal"].get<bool>()) {
      std::string what = to_text(a) + (a == b ? " equals " : " differs from ") + to_text(b);
      if (a == b) {
        v.found_wrong(what);
      } else {
        v.found_missed(what);
      }
    }
  } catch (const std::exception& e) {
    v.found_wrong(e.what());
  }
  return v;
}

// Every assignment of a few values to each variable; a symbolic range ends where its expression does.
void for_some_values(const json& expr, const Values& fixed, const std::function<void(const Values&)>& use) {
  std::map<std::string, std::pair<std::int64_t, json>> ranges;
  ranges_of(expr, &ranges);
  std::vector<std::string> names;
  for (const auto& [name, range] : ranges) names.push_back(name);
  // Variables with ranges of numbers first: other ranges may depend on them.
  std::stable_sort(names.begin(), names.end(),
                   [&](auto& a, auto& b) { return ranges[a].second.is_number() > ranges[b].second.is_number(); });
  Values values;
  std::function<void(std::size_t)> go = [&](std::size_t k) {
    if (k == names.size()) return use(values);
    const auto& [lo, top] = ranges[names[k]];
    if (fixed.contains(names[k])) {
      values[names[k]] = fixed.at(names[k]);
      return go(k + 1);
    }
    std::int64_t hi = plain_value(top, values);
    for (std::int64_t x : {lo, lo + 1, lo + (hi - lo) / 2, hi}) {
      if (x > hi) continue;
      values[names[k]] = x;
      go(k + 1);
    }
  };
  go(0);
}

Verdict check_substitute(const json& c) {
  Verdict v;
  Symbols syms;
  try {
    std::map<std::string, Sint> with;
    auto fixed = c["with"].get<Values>();
    for (const auto& [name, value] : fixed) with[name] = value;
    Sint x = substitute(build(syms, c["expr"]), with);
    for_some_values(c["expr"], fixed, [&](const Values& values) { check_value(x, values, plain_value(c["expr"], values), &v); });
    for (const Node* n : variables(x)) {
      if (fixed.contains(name(*n))) v.found_wrong(name(*n) + " is still there");
    }
    if (x.min() < c["min"].get<std::int64_t>() || x.max() > c["max"].get<std::int64_t>()) {
      v.found_missed("bounds [" + std::to_string(x.min()) + ", " + std::to_string(x.max()) + "] are wider than recorded");
    }
    if (count_operations(to_text(x)) > count_operations(c["render"])) {
      v.found_missed(to_text(x) + " takes more operations than " + c["render"].get<std::string>());
    }
  } catch (const std::exception& e) {
    v.found_wrong(e.what());
  }
  return v;
}

Verdict check_error(const json& c) {
  Verdict v;
  Symbols syms;
  try {
    Sint x = build(syms, c["expr"]);
    bool negative_modulus = c["expr"][0] == "mod" && c["expr"][2].is_number() && c["expr"][2].get<std::int64_t>() < 0;
    if (!negative_modulus) {
      v.found_wrong("no error, but " + to_text(x));
    } else {
      for_some_values(c["expr"], {}, [&](const Values& values) { check_value(x, values, plain_value(c["expr"], values), &v); });
    }
  } catch (const std::exception&) {
    return v;  // as it must be
  }
  return v;
}

}  // namespace

ConformanceReport check_symbolic(const json& file) {
  ConformanceReport report;
  auto section = [&](const char* name, const auto& check_one) {
    if (!file.contains(name)) return;
    std::int64_t n = 0;
    for (const json& c : file[name]) {
      Verdict v = check_one(c);
      std::string id = c.contains("id") ? c["id"].get<std::string>() : name + ("#" + std::to_string(n));
      report.add(c.contains("group") ? c["group"].get<std::string>() : name, id, v.wrong, v.missed);
      n++;
    }
  };
  section("cases", check_symbolic_case);
  section("equality", check_equality);
  section("substitute", check_substitute);
  section("errors", check_error);
  return report;
}

}  // namespace etch
