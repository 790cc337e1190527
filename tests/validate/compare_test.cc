// When a value counts as the expected one: the comparison of backends, and of recorded kernels.
#include "validate/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "conformance/ast.h"
#include "device/device.h"

namespace etch {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity(), kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Compare, FloatsAreNearOrBothTheSameInfinityOrBothNaN) {
  const struct {
    DType dtype;
    std::vector<double> got, want;
    std::int64_t wrong;
  } rows[] = {
      {DType::Float32, {1, 2, 3}, {1.0005, 2, 3}, 0},
      {DType::Float32, {1, 2, 3}, {1.002, 2, 3}, 1},
      {DType::Float32, {-1, -2, -3}, {kInf, kInf, -kInf}, 3},
      {DType::Float64, {-1, -2, -3}, {kInf, kInf, -kInf}, 3},
      {DType::Float16, {65504, -65504, 1}, {kInf, -kInf, kInf}, 3},
      {DType::BFloat16, {3e38, 0, 1}, {kInf, -kInf, kNan}, 3},
      {DType::Float32, {kInf, -kInf, kNan}, {kInf, -kInf, kNan}, 0},
      {DType::Float32, {kInf, -kInf, kInf}, {-kInf, kInf, 3e38}, 3},
      {DType::Float32, {kNan, kNan, 1}, {1, kInf, kNan}, 3},
      {DType::Float32, {0.0, 5e-6, 1}, {-0.0, 0, 1}, 0},
  };
  for (const auto& row : rows) {
    const Array got = Array::of_doubles(row.dtype, {3}, row.got), want = Array::of_doubles(row.dtype, {3}, row.want);
    const Comparison c = compare(got, want);
    EXPECT_EQ(c.wrong, row.wrong) << c.problem;
    EXPECT_EQ(c.ok, row.wrong == 0) << want.at(0).to_text();
  }
}

TEST(Compare, TellsRoundingFromWhatIsNone) {
  const struct {
    DType dtype;
    std::vector<double> got, want;
    bool beyond;
  } rows[] = {
      {DType::Float32, {1.01, 2, 3}, {1, 2, 3}, false},  {DType::Float32, {1.1, 2, 3}, {1, 2, 3}, true},
      {DType::Float32, {-0.047, 2, 3}, {0, 2, 3}, true}, {DType::Float32, {1e-6, 2, 3}, {0, 2, 3}, false},
      {DType::Float32, {kNan, 2, 3}, {1, 2, 3}, true},   {DType::Int64, {1000001, 2, 3}, {1000000, 2, 3}, true},
      {DType::Bool, {1, 0, 1}, {1, 1, 1}, true},
  };
  for (const auto& row : rows) {
    const Array got = Array::of_doubles(row.dtype, {3}, row.got), want = Array::of_doubles(row.dtype, {3}, row.want);
    const Comparison c = compare(got, want);
    EXPECT_EQ(c.beyond_rounding, row.beyond) << c.problem;
    EXPECT_EQ(worse(c, {}).beyond_rounding, row.beyond);
    EXPECT_EQ(worse({}, c).beyond_rounding, row.beyond);
  }
}

// One kernel that divides by zero, in the form of the recorded ones: 1/0, -1/0 and 0/0, the last of which is NaN.
TEST(Compare, RecordedKernelsMayExpectNaN) {
  const auto case_with = [](const std::string& constant) {
    const std::string views = R"([{"shape": [2], "strides": [0], "offset": 0, "mask": null}])";
    const std::string store = R"([{"shape": [2], "strides": [1], "offset": 0, "mask": null}])";
    return nlohmann::json::parse(R"({"cases": [{"id": "c0", "nodes": [
      {"op": "CONST", "dtype": "float32", "val": )" +
                                 constant + R"(, "views": )" + views + R"(},
      {"op": "CONST", "dtype": "float32", "val": 0.0, "views": )" +
                                 views + R"(},
      {"op": "DIV", "src": [0, 1]},
      {"op": "STORE", "dtype": "float32", "src": [2], "views": )" +
                                 store + R"(}],
      "buffers": {"0": {"dtype": "float32", "size": 2}}, "output_size": 2, "output_sum": null, "output_abs_sum": null,
      "output_samples": [[0, null], [1, null]]}]})");
  };
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(make_device("interp", {}));
  EXPECT_FALSE(check_ast(case_with("0.0"), devices).any_wrong()) << "0 / 0 is NaN";
  EXPECT_TRUE(check_ast(case_with("1.0"), devices).any_wrong()) << "1 / 0 is not NaN";
}

}  // namespace
}  // namespace etch
