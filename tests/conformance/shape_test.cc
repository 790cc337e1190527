// The recorded cases: every one must agree, and none may be missing.
#include "conformance/shape.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "conformance/views.h"
#include "shape/symbolic.h"
#include "support/expect_error.h"

namespace etch {
namespace {

nlohmann::json read_cases(const std::string& name) {
  std::ifstream in(std::string(ETCH_TEST_DATA) + "/conformance/" + name);
  return nlohmann::json::parse(in);
}

void expect_agreement(const ConformanceReport& report, const std::map<std::string, std::int64_t>& expected) {
  std::map<std::string, std::int64_t> agree;
  for (const ConformanceRow& r : report.rows) {
    EXPECT_EQ(r.wrong, 0) << r.group;
    EXPECT_EQ(r.missed, 0) << r.group;
    agree[r.group] = r.agree;
  }
  EXPECT_EQ(agree, expected);
  for (const std::string& m : report.messages) ADD_FAILURE() << m;
}

TEST(Conformance, Symbolic) {
  expect_agreement(check_symbolic(read_cases("symbolic_cases.json")), {{"test_symbolic", 148},
                                                                       {"other_tests", 6},
                                                                       {"numeric", 260},
                                                                       {"st_index", 52},
                                                                       {"st_valid", 41},
                                                                       {"launch_dims", 18},
                                                                       {"loops", 30},
                                                                       {"conditions", 28},
                                                                       {"image_float4", 13},
                                                                       {"fuzz_tape", 32},
                                                                       {"symbolic_bounds", 25},
                                                                       {"v08_wrong", 19},
                                                                       {"v08_missed", 17},
                                                                       {"equality", 25},
                                                                       {"substitute", 13},
                                                                       {"errors", 5}});
}

TEST(Conformance, ShapeTracker) {
  expect_agreement(check_shapetracker(read_cases("shapetracker_cases.json")), {{"unit_tests", 335},
                                                                               {"tensor_programs", 156},
                                                                               {"edge", 4},
                                                                               {"random", 139},
                                                                               {"random_medium", 21},
                                                                               {"random_multiview", 43},
                                                                               {"v08_wrong", 17},
                                                                               {"direct_views", 9},
                                                                               {"view_reshape", 3},
                                                                               {"invert", 40},
                                                                               {"add", 45},
                                                                               {"contraction", 22},
                                                                               {"symbolic", 39}});
}

// The checker itself must see a wrong value, a wrong bound, an extra operation and a superfluous view.
TEST(Conformance, CheckerSeesErrors) {
  using nlohmann::json;
  json symbolic = json::parse(R"({"cases": [
    {"id": "value", "group": "g", "expr": ["mulc", ["var", "a", 0, 3], 2], "evals": [{"vars": {"a": 1}, "value": 3}], "tinygrad": {"min": 0, "max": 6}},
    {"id": "bound", "group": "g", "expr": ["var", "a", 0, 3], "evals": [], "exact_min": 0, "exact_max": 5, "tinygrad": {"min": 0, "max": 6}},
    {"id": "wide", "group": "g", "expr": ["var", "a", 0, 3], "evals": [], "tinygrad": {"min": 0, "max": 2}},
    {"id": "right", "group": "g", "expr": ["var", "a", 0, 3], "evals": [{"vars": {"a": 1}, "value": 1}], "tinygrad": {"min": 0, "max": 3}},
    {"id": "longer", "group": "v08_missed", "expr": ["mulc", ["var", "a", 0, 3], 2], "evals": [], "tinygrad": {"min": 0, "max": 6, "render": "a"}}],
    "equality": [{"lhs": ["var", "a", 0, 3], "rhs": ["var", "a", 0, 3], "equal": false}],
    "errors": [{"expr": ["var", "a", 1, 3]}]})");
  ConformanceReport r = check_symbolic(symbolic);
  ASSERT_EQ(r.rows.size(), 4u);
  EXPECT_EQ(r.rows[0].wrong, 2);
  EXPECT_EQ(r.rows[0].missed, 1);
  EXPECT_EQ(r.rows[0].agree, 1);
  EXPECT_EQ(r.rows[1].missed, 1);
  EXPECT_EQ(r.rows[2].wrong, 1);
  EXPECT_EQ(r.rows[3].wrong, 1);
  EXPECT_TRUE(r.any_wrong());
  json trackers = json::parse(R"({"cases": [
    {"id": "index", "group": "g", "shape": [2], "ops": [["stride", [-1]]], "result_shape": [2], "indices": [0, 1]},
    {"id": "size", "group": "g", "shape": [2], "ops": [], "result_shape": [2], "indices": [0, 1], "exact_real_size": 3},
    {"id": "views", "group": "g", "shape": [2, 3], "ops": [["permute", [1, 0]], ["reshape", [6]]], "result_shape": [6],
     "indices": [0, 3, 1, 4, 2, 5], "simplified": {"n_views": 1}}],
    "contraction": [{"old": [2, 3], "new": [6], "contraction": null}]})");
  r = check_shapetracker(trackers);
  ASSERT_EQ(r.rows.size(), 2u);
  EXPECT_EQ(r.rows[0].wrong, 2);
  EXPECT_EQ(r.rows[0].missed, 1);
  EXPECT_EQ(r.rows[1].wrong, 1);
}

// The recorded text of v0.8 and its number of operations; etch's must take fewer (or as many where noted).
TEST(Conformance, MissedByV08TakesFewerOperations) {
  Symbols s;
  Sint a7 = s.variable("a", 0, 7), a63 = s.variable("a", 0, 63), a31 = s.variable("a", 0, 31), b = s.variable("b", 0, 7);
  struct Row {
    const char* id;
    Sint ours;
    std::int64_t recorded;
  };
  const Row rows[] = {
      {"sym1160", floormod(floordiv(a63, 4), 4) * 4 + floormod(a63, 4), 5},  // ((((a//4)%4)*4)+(a%4))
      {"sym1165", floormod(a7 * 6 + b * 4, 8), 6},                           // ((((a*6)%8)+((b*4)%8))%8)
      {"sym1168", ands({lt(a7, 3), ge(a7, 5)}), 4},                          // (((a*-1)<-4) and (a<3))
      {"sym1169", ands({lt(a7, 3), lt(a7, 3)}), 3},                          // ((a<3) and (a<3))
      {"sym1175", lt(floordiv(a7, 2), 2), 2},                                // ((a//2)<2)
      {"sym1180", floordiv(floordiv(a31 - 5, 3), 2), 4},                     // ((((1+a)//3)//2)+-1)
      {"sym1183", floordiv(a7, 2) + floordiv(a7 + 1, 2), 4},                 // (((1+a)//2)+(a//2))
  };
  for (const Row& r : rows) EXPECT_LT(operation_count(r.ours), r.recorded) << r.id << " " << to_text(r.ours);
  // No expression of one operation has the values 0 6 4 2 0 6 4 2, so (a*6)%8 can't be beaten; its bound is tighter.
  Sint x = floormod(a7 * 6, 8);
  EXPECT_LE(operation_count(x), 2);
  EXPECT_EQ(x.max(), 6);
}

// They are read recursively.
TEST(Conformance, ExpressionsMayNestSoDeepOnly) {
  const auto nested = [](int levels) {
    std::string text = "a";
    for (int i = 0; i < levels; i++) text = "(" + text + "+1)";
    Symbols s;
    return to_text(size_of(s, {{"expr", text}, {"vars", {{"a", {0, 7}}}}}));
  };
  EXPECT_EQ(nested(kMostConformanceDepth), "(" + std::to_string(kMostConformanceDepth) + "+a)");
  test::expect_error<UserError>([&] { nested(kMostConformanceDepth + 1); }, "nests too deep");
}

}  // namespace
}  // namespace etch
