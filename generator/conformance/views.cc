#include "conformance/views.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "conformance/shape.h"

namespace etch {
namespace {

using json = nlohmann::json;
using Values = std::map<std::string, std::int64_t>;
using Scope = std::map<std::string, Sint>;

// Reads expressions as tinygrad prints them: (a+b), (a*4), (a//4), (a%4), (a<3), (x and y).
class Reader {
 public:
  Reader(const std::string& text, const Scope& scope) : text_(text), scope_(scope) {}
  Sint expression() {
    skip();
    if (text_[at_] != '(') return leaf();
    at_++;
    if (++depth_ > kMostConformanceDepth) throw UserError("conformance file", "an expression nests too deep", "give flatter ones");
    Sint left = expression();
    for (skip(); text_[at_] != ')'; skip()) left = combine(left);
    depth_--;
    at_++;
    return left;
  }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') at_++;
    if (at_ >= text_.size()) throw UserError("conformance file", "the expression '" + text_ + "' ends early");
  }
  bool take(const char* word) {
    std::string w = word;
    if (text_.compare(at_, w.size(), w) != 0) return false;
    at_ += w.size();
    return true;
  }
  Sint combine(Sint left) {
    if (take("+")) return left + expression();
    if (take("*")) return left * expression();
    if (take("//")) return floordiv(left, expression());
    if (take("%")) return floormod(left, expression());
    if (take("<")) return lt(left, expression());
    if (take("and")) return ands({left, expression()});
    throw UserError("conformance file", "the expression '" + text_ + "' has an unknown operator");
  }
  Sint leaf() {
    std::size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_' || (at_ == from && text_[at_] == '-')))
      at_++;
    std::string word = text_.substr(from, at_ - from);
    if (auto it = scope_.find(word); it != scope_.end()) return it->second;
    if (word.empty() || std::isalpha(static_cast<unsigned char>(word[0])))
      throw UserError("conformance file", "unknown variable '" + word + "'");
    return std::stoll(word);
  }

  const std::string& text_;
  const Scope& scope_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

// Variables of a case, and the values they are bound to.
struct Variables {
  Scope scope;
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> ranges;
  Values bound;
};

void collect_variables(Symbols& syms, const json& part, Variables* out) {
  if (!part.is_structured()) return;
  if (part.is_object() && part.contains("expr") && part.contains("vars")) {
    for (const auto& [name, range] : part["vars"].items()) {
      out->scope[name] = syms.variable(name, range[0], range[1].get<std::int64_t>());
      out->ranges[name] = {range[0], range[1]};
      if (range.size() > 2) out->bound[name] = range[2];
    }
  }
  for (const json& p : part) collect_variables(syms, p, out);
}

Sint read_size(const json& size, const Scope& scope) {
  if (size.is_number()) return size.get<std::int64_t>();
  std::string text = size.is_object() ? size["expr"].get<std::string>() : size.get<std::string>();
  return Reader(text, scope).expression();
}

std::vector<Sint> read_sizes(const json& sizes, const Scope& scope) {
  std::vector<Sint> r;
  for (const json& s : sizes) r.push_back(read_size(s, scope));
  return r;
}

std::vector<Range> read_ranges(const json& ranges, const Scope& scope) {
  std::vector<Range> r;
  for (const json& p : ranges) r.push_back({read_size(p[0], scope), read_size(p[1], scope)});
  return r;
}

View read_view(const json& v, const Scope& scope) {
  std::optional<std::vector<Range>> mask;
  if (!v["mask"].is_null()) mask = read_ranges(v["mask"], scope);
  return View::create(read_sizes(v["shape"], scope), read_sizes(v["strides"], scope), read_size(v["offset"], scope), mask);
}

ShapeTracker apply(ShapeTracker st, const json& ops, const Scope& scope, const Values& bound) {
  for (const json& op : ops) {
    std::string name = op[0];
    const json& arg = op[1];
    if (name == "reshape") st = st.reshape(read_sizes(arg, scope), bound);
    if (name == "expand") st = st.expand(read_sizes(arg, scope));
    if (name == "permute") st = st.permute(arg.get<std::vector<int>>());
    if (name == "pad") st = st.pad(read_ranges(arg, scope));
    if (name == "shrink") st = st.shrink(read_ranges(arg, scope));
    if (name == "stride") st = st.stride(arg.get<std::vector<std::int64_t>>());
    if (name == "simplify") st = st.simplify();
  }
  return st;
}

std::int64_t int_value(Sint x, const Values& values) { return evaluate(x, values); }

// The view with every variable replaced by its value.
View at_values(const View& v, const Values& values) {
  View r;
  for (const Sint& s : v.shape) r.shape.push_back(int_value(s, values));
  for (const Sint& s : v.strides) r.strides.push_back(int_value(s, values));
  r.offset = int_value(v.offset, values);
  if (v.mask) {
    r.mask.emplace();
    for (const Range& m : *v.mask) r.mask->push_back({int_value(m.first, values), int_value(m.second, values)});
  }
  return r;
}

std::vector<View> at_values(const std::vector<View>& views, const Values& values) {
  std::vector<View> r;
  for (const View& v : views) r.push_back(at_values(v, values));
  return r;
}

// The bound values, or if a variable has none, every combination of some values of its range.
std::vector<Values> assignments(const Variables& vars) {
  std::vector<Values> all{{}};
  for (const auto& [name, range] : vars.ranges) {
    std::vector<Values> next;
    for (const Values& some : all) {
      std::vector<std::int64_t> tries{range.first, range.first + 1, (range.first + range.second) / 2, range.second};
      if (auto it = vars.bound.find(name); it != vars.bound.end()) tries = {it->second};
      for (std::int64_t value : tries) {
        next.push_back(some);
        next.back()[name] = std::min(value, range.second);
      }
    }
    all = std::move(next);
  }
  return all;
}

std::string at_text(const Values& values) {
  std::string r = " at";
  for (const auto& [name, value] : values) r += " " + name + "=" + std::to_string(value);
  return r;
}

void compare_positions(const std::vector<View>& truth, const std::vector<View>& ours, const Values& values, CaseVerdict* v) {
  std::vector<View> a = at_values(truth, values), b = at_values(ours, values);
  if (a.back().shape != b.back().shape) return v->found_wrong("shape is " + to_text(b.back().shape) + at_text(values));
  for (std::int64_t p = 0; p < std::min<std::int64_t>(b.back().size().as_int(), 20000); p++) {
    if (position_of(a, p) == position_of(b, p)) continue;
    return v->found_wrong("element " + std::to_string(p) + " reads " + std::to_string(position_of(b, p)) + at_text(values));
  }
}

// The index expression over the axes, against the views at those values.
void compare_expression(const ShapeTracker& st, Symbols& syms, const Values& values, CaseVerdict* v) {
  std::vector<Sint> idxs;
  for (std::size_t k = 0; k < st.shape().size(); k++) {
    bool one = st.shape()[k].is_int(1);
    idxs.push_back(one ? Sint(0) : syms.variable("idx" + std::to_string(k), 0, st.shape()[k] - 1));
  }
  ShapeTracker::Index at = st.expr_idxs(idxs);
  std::int64_t real_size = st.real_size();
  std::vector<View> views = at_values(st.views(), values);
  std::int64_t size = views.back().size().as_int();
  for (std::int64_t p = 0; p < size; p += std::max<std::int64_t>(1, size / 300)) {
    Values all = values;
    std::int64_t left = p;
    for (std::size_t k = st.shape().size(); k-- > 0;) {
      all["idx" + std::to_string(k)] = left % views.back().shape[k].as_int();
      left /= views.back().shape[k].as_int();
    }
    std::int64_t got = evaluate(at.valid, all) != 0 ? evaluate(at.idx, all) : -1;
    std::int64_t truth = position_of(views, p);
    if (got != truth)
      return v->found_wrong("expression " + to_text(at.idx) + " is " + std::to_string(got) + ", not " + std::to_string(truth) +
                            at_text(all));
    if (truth >= real_size) v->found_wrong("position " + std::to_string(truth) + " is not below the real size" + at_text(all));
  }
}

void check_recorded(const ShapeTracker& st, const json& c, Symbols& syms, const Variables& vars, CaseVerdict* v) {
  std::vector<View> recorded;
  for (const json& view : c["views"]) recorded.push_back(read_view(view, vars.scope));
  for (const Values& values : assignments(vars)) {
    compare_positions(recorded, st.views(), values, v);
    if (v->wrong.empty()) compare_expression(st, syms, values, v);
    if (!v->wrong.empty()) return;
  }
  if (c.contains("n_views") && static_cast<std::int64_t>(st.views().size()) > c["n_views"].get<std::int64_t>())
    v->found_missed(std::to_string(st.views().size()) + " views");
  if (c.contains("real_size") && c["real_size"].is_number() && st.real_size() > c["real_size"].get<std::int64_t>()) {
    v->found_missed("real size is " + std::to_string(st.real_size()) + ", not " + c["real_size"].dump());
  }
}

}  // namespace

std::int64_t position_of(const std::vector<View>& views, std::int64_t flat) {
  for (std::size_t n = views.size(); n-- > 0;) {
    const View& v = views[n];
    if (v.mask && v.mask->empty()) return -1;
    std::int64_t next = v.offset.as_int(), left = flat;
    for (std::size_t k = v.shape.size(); k-- > 0;) {
      std::int64_t size = v.shape[k].as_int(), index = left % size;
      left /= size;
      if (v.mask && (index < (*v.mask)[k].first.as_int() || index >= (*v.mask)[k].second.as_int())) return -1;
      next += index * v.strides[k].as_int();
    }
    flat = next;
  }
  return flat;
}

Sint size_of(Symbols& syms, const json& size) {
  Variables vars;
  collect_variables(syms, size, &vars);
  return read_size(size, vars.scope);
}

std::vector<Sint> sizes_of(Symbols& syms, const json& sizes) {
  std::vector<Sint> r;
  for (const json& s : sizes) r.push_back(size_of(syms, s));
  return r;
}

View view_of(Symbols& syms, const json& view) {
  Variables vars;
  collect_variables(syms, view, &vars);
  return read_view(view, vars.scope);
}

ShapeTracker apply_ops(Symbols& syms, ShapeTracker st, const json& ops) {
  Variables vars;
  collect_variables(syms, ops, &vars);
  return apply(std::move(st), ops, vars.scope, vars.bound);
}

void check_symbolic_tracker(const json& c, CaseVerdict* v) {
  Symbols syms;
  Variables vars;
  collect_variables(syms, c, &vars);
  if (c.contains("view")) {  // a mask that depends on a variable: the reshape must keep every position
    vars.scope["start_pos"] = syms.variable("start_pos", 1, 20);
    vars.ranges["start_pos"] = {1, 20};
    View view = read_view(c["view"], vars.scope);
    ShapeTracker st = ShapeTracker({view}).reshape(read_sizes(c["reshape_to"], vars.scope));
    for (const Values& values : assignments(vars)) {
      std::vector<View> truth{view, View::create(st.shape())};
      compare_positions(truth, st.views(), values, v);
      if (v->wrong.empty()) compare_expression(st, syms, values, v);
    }
    return;
  }
  if (!c.contains("shape")) {
    vars.scope["i"] = syms.variable("i", 1, 120);
    vars.ranges["i"] = {1, 120};
    std::vector<View> views;
    for (const json& view : c["views"]) views.push_back(read_view(view, vars.scope));
    return check_recorded(ShapeTracker(views), c, syms, vars, v);
  }
  if (c.contains("raises")) {
    try {
      ShapeTracker st = apply(ShapeTracker::from_shape(read_sizes(c["shape"], vars.scope)), c["ops"], vars.scope, vars.bound);
      v->found_wrong("no error, but shape " + to_text(st.shape()));
    } catch (const std::exception&) {
      return;  // as it must be
    }
    return;
  }
  ShapeTracker st = apply(ShapeTracker::from_shape(read_sizes(c["shape"], vars.scope)), c["ops"], vars.scope, vars.bound);
  check_recorded(st, c, syms, vars, v);
}

}  // namespace etch
