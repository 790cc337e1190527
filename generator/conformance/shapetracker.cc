// The checker of ShapeTracker cases. The expected positions are in the file (computed by brute force when it was made); the
// positions of etch's trackers are computed from their views here, and if there are few also from their symbolic expressions.
#include "shape/shapetracker.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "conformance/shape.h"
#include "conformance/views.h"

namespace etch {
namespace {

using json = nlohmann::json;

constexpr std::int64_t kMaxExpressions = 256;  // positions that are also evaluated through the symbolic index

void check_position(const ShapeTracker& st, std::int64_t flat, std::int64_t truth, CaseVerdict* v) {
  std::int64_t got = position_of(st.views(), flat);
  if (got != truth) v->found_wrong("element " + std::to_string(flat) + " reads " + std::to_string(got) + ", not " + std::to_string(truth));
}

// The symbolic index and its validity at every position, against the views themselves.
void check_expressions(const ShapeTracker& st, const std::vector<std::int64_t>& flats, CaseVerdict* v) {
  Symbols syms;
  std::vector<Sint> idxs;
  for (std::size_t k = 0; k < st.shape().size(); k++) {
    idxs.push_back(syms.variable("idx" + std::to_string(k), 0, std::max<std::int64_t>(0, st.shape()[k].as_int() - 1)));
  }
  ShapeTracker::Index by_axis = st.expr_idxs(idxs);
  ShapeTracker::Index by_flat = st.expr_node(syms.variable("idx", 0, std::max<std::int64_t>(0, st.size().as_int() - 1)));
  std::pair<std::int64_t, std::int64_t> range = bounds_under(by_axis.idx, by_axis.valid);
  for (std::int64_t flat : flats) {
    std::map<std::string, std::int64_t> values{{"idx", flat}};
    std::int64_t left = flat;
    for (std::size_t k = st.shape().size(); k-- > 0;) {
      std::int64_t size = st.shape()[k].as_int();
      values["idx" + std::to_string(k)] = left % size;
      left /= size;
    }
    std::int64_t truth = position_of(st.views(), flat);
    for (const ShapeTracker::Index& at : {by_axis, by_flat}) {
      bool valid = evaluate(at.valid, values) != 0;
      std::int64_t got = valid ? evaluate(at.idx, values) : -1;
      if (got == truth) continue;
      v->found_wrong("expression " + to_text(at.idx) + " valid " + to_text(at.valid) + " gives " + std::to_string(got) + ", not " +
                     std::to_string(truth));
      return;
    }
    if (truth >= 0 && (truth < range.first || truth > range.second)) v->found_wrong("index bounds exclude " + std::to_string(truth));
  }
}

std::vector<std::int64_t> first_positions(std::int64_t size) {
  std::vector<std::int64_t> flats;
  for (std::int64_t p = 0; p < std::min(size, kMaxExpressions); p++) flats.push_back(p);
  return flats;
}

void check_indices(const ShapeTracker& st, const json& c, CaseVerdict* v) {
  std::int64_t size = st.size().as_int();
  std::vector<std::int64_t> flats = first_positions(size);
  if (c.contains("indices") && !c["indices"].is_null()) {
    auto truth = c["indices"].get<std::vector<std::int64_t>>();
    if (static_cast<std::int64_t>(truth.size()) != size) return v->found_wrong("size is " + std::to_string(size));
    for (std::int64_t p = 0; p < size; p++) check_position(st, p, truth[static_cast<std::size_t>(p)], v);
  }
  if (c.contains("index_samples")) {
    for (const json& s : c["index_samples"]) {
      check_position(st, s[0], s[1], v);
      flats.push_back(s[0]);
    }
  }
  if (c.contains("index_checksum")) {
    constexpr std::int64_t kModulus = 2147483647;
    std::int64_t total = 0;
    for (std::int64_t p = 0; p < size; p++) {
      total = (total + (p + 1) % kModulus * ((position_of(st.views(), p) + 2) % kModulus)) % kModulus;
    }
    if (total != c["index_checksum"].get<std::int64_t>()) v->found_wrong("index checksum is " + std::to_string(total));
  }
  if (v->wrong.empty()) check_expressions(st, flats, v);
}

// Strides and validity per axis, against every position.
void check_axes(const ShapeTracker& st, const json& c, CaseVerdict* v) {
  std::int64_t size = st.size().as_int();
  auto strides = st.real_strides();
  const std::vector<bool> masked_axes = st.masked_axes();
  for (std::size_t k = 0; k < st.shape().size(); k++) {
    std::int64_t inner = 1;
    for (std::size_t j = k + 1; j < st.shape().size(); j++) inner *= st.shape()[j].as_int();
    bool masked = masked_axes[k];
    for (std::int64_t p = 0; p + inner < size && size <= 65536; p++) {
      if (p / inner % st.shape()[k].as_int() + 1 == st.shape()[k].as_int()) continue;
      std::int64_t a = position_of(st.views(), p), b = position_of(st.views(), p + inner);
      if ((a < 0) != (b < 0) && !masked) v->found_wrong("axis " + std::to_string(k) + " is masked");
      if (strides[k] && a >= 0 && b >= 0 && b - a != strides[k]->as_int())
        v->found_wrong("axis " + std::to_string(k) + " has no stride " + to_text(*strides[k]));
      if (!v->wrong.empty()) return;
    }
    if (!c.contains("v08_issue") && c.contains("real_strides") && !c["real_strides"].is_null() && !c["real_strides"][k].is_null() &&
        !strides[k]) {
      v->found_missed("stride of axis " + std::to_string(k));
    }
    if (!c.contains("v08_issue") && c.contains("axis_is_masked") && masked && !c["axis_is_masked"][k].get<bool>()) {
      v->found_missed("axis " + std::to_string(k) + " is not masked");
    }
  }
}

void check_number_of_views(const ShapeTracker& st, const json& c, CaseVerdict* v) {
  auto n = static_cast<std::int64_t>(st.simplify().views().size());
  std::int64_t most = n;
  // Where v0.8 is wrong, its views are not the true map, and their number may be too small.
  if (c.contains("simplified") && !c.contains("v08_issue")) most = c["simplified"]["n_views"];
  if (c.contains("sum_n_views")) most = c["sum_n_views"];
  if (c.contains("single_view_possible") && c["single_view_possible"].get<bool>()) most = 1;
  if (n > most) v->found_missed(std::to_string(n) + " views, " + std::to_string(most) + " possible: " + st.to_text());
}

void check_real_size(const ShapeTracker& st, const json& c, CaseVerdict* v) {
  if (!c.contains("exact_real_size")) return;
  std::int64_t exact = c["exact_real_size"], ours = st.real_size();
  std::string what = "real size is " + std::to_string(ours) + ", not " + std::to_string(exact);
  if (ours < exact) v->found_wrong(what);
  if (ours > exact) v->found_missed(what);
}

void check_tracker(const ShapeTracker& st, const json& c, CaseVerdict* v) {
  check_indices(st, c, v);
  if (!v->wrong.empty()) return;
  check_indices(st.simplify(), c, v);
  if (c.contains("contiguous") && c["contiguous"].get<bool>() && !st.contiguous()) v->found_missed("it is contiguous");
  if (st.contiguous()) {
    for (std::int64_t p = 0; p < std::min<std::int64_t>(st.size().as_int(), 65536); p++) {
      if (position_of(st.views(), p) != p) return v->found_wrong("it is not contiguous");
    }
  }
  check_number_of_views(st, c, v);
  check_real_size(st, c, v);
  check_axes(st, c, v);
}

void check_case(const json& c, CaseVerdict* v) {
  Symbols syms;
  ShapeTracker st = apply_ops(syms, ShapeTracker::from_shape(sizes_of(syms, c["shape"])), c["ops"]);
  if (st.shape() != sizes_of(syms, c["result_shape"])) return v->found_wrong("shape is " + to_text(st.shape()));
  check_tracker(st, c, v);
}

void check_direct_views(const json& c, CaseVerdict* v) {
  Symbols syms;
  std::vector<View> views;
  for (const json& view : c["views"]) views.push_back(view_of(syms, view));
  ShapeTracker st(views);
  check_tracker(st, c, v);
  std::int64_t size = st.size().as_int();
  ShapeTracker simple = st.simplify();
  for (std::int64_t p = 0; p < size; p += std::max<std::int64_t>(1, size / 4096)) check_position(simple, p, position_of(views, p), v);
}

// Positions of a view before and after a reshape; all of them, or some of many.
void check_same_positions(const std::vector<View>& a, const std::vector<View>& b, CaseVerdict* v) {
  std::int64_t size = a.back().size().as_int();
  std::int64_t step = std::max<std::int64_t>(1, size / 4096 - size / 4096 % 2 + 1);
  for (std::int64_t p = 0; p < size; p += step) {
    if (position_of(a, p) != position_of(b, p))
      return v->found_wrong("element " + std::to_string(p) + " reads " + std::to_string(position_of(b, p)));
  }
}

void check_view_reshape(const json& c, CaseVerdict* v) {
  Symbols syms;
  View view = view_of(syms, c["view"]);
  auto reshaped = view.reshape(sizes_of(syms, c["new_shape"]));
  if (c["merged"].get<bool>() && !reshaped) v->found_missed("it is one view");
  if (reshaped) check_same_positions({view}, {*reshaped}, v);
  ShapeTracker st = ShapeTracker({view}).reshape(sizes_of(syms, c["new_shape"]));
  check_same_positions({view}, st.views(), v);
}

void check_invert(const json& c, CaseVerdict* v) {
  Symbols syms;
  std::vector<Sint> shape = sizes_of(syms, c["shape"]);
  ShapeTracker st = apply_ops(syms, ShapeTracker::from_shape(shape), c["ops"]);
  auto inverse = st.invert(shape);
  if (!c["invertible"].get<bool>()) {
    if (inverse) v->found_wrong("elements are lost, but it has an inverse");
    return;
  }
  if (!inverse) return v->found_missed("it has an inverse");
  ShapeTracker both = st + *inverse;
  if (both.shape() != shape) return v->found_wrong("shape is " + to_text(both.shape()));
  for (std::int64_t p = 0; p < both.size().as_int(); p++) check_position(both, p, p, v);
  if (c["sum_contiguous"].get<bool>() && !both.contiguous()) v->found_missed("the sum is contiguous");
  check_number_of_views(both, c, v);
}

void check_add(const json& c, CaseVerdict* v) {
  Symbols syms;
  ShapeTracker a = apply_ops(syms, ShapeTracker::from_shape(sizes_of(syms, c["shape"])), c["ops_a"]);
  ShapeTracker b = apply_ops(syms, ShapeTracker::from_shape(a.shape()), c["ops_b"]);
  ShapeTracker both = a + b;
  check_indices(both, c, v);
  std::vector<View> stacked = a.views();
  stacked.insert(stacked.end(), b.views().begin(), b.views().end());
  check_same_positions(stacked, both.views(), v);
  check_number_of_views(both, c, v);
}

void check_contraction(const json& c, CaseVerdict* v) {
  Symbols syms;
  auto got = get_contraction(sizes_of(syms, c["old"]), sizes_of(syms, c["new"]));
  json ours = got ? json(*got) : json(nullptr);
  if (ours != c["contraction"]) v->found_wrong("contraction is " + ours.dump() + ", not " + c["contraction"].dump());
}

}  // namespace

ConformanceReport check_shapetracker(const nlohmann::json& file) {
  ConformanceReport report;
  auto section = [&](const char* name, const auto& check_one) {
    if (!file.contains(name)) return;
    std::int64_t n = 0;
    for (const json& c : file[name]) {
      CaseVerdict v;
      try {
        check_one(c, &v);
      } catch (const std::exception& e) {
        v.found_wrong(e.what());
      }
      std::string id = c.contains("id") ? c["id"].get<std::string>() : name + ("#" + std::to_string(n));
      report.add(c.contains("group") ? c["group"].get<std::string>() : name, id, v.wrong, v.missed);
      n++;
    }
  };
  section("cases", check_case);
  section("direct_views", check_direct_views);
  section("view_reshape", check_view_reshape);
  section("invert", check_invert);
  section("add", check_add);
  section("contraction", check_contraction);
  section("symbolic", check_symbolic_tracker);
  return report;
}

}  // namespace etch
