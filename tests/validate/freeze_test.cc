// --freeze from the user's side: the input is gone from the emitted project, and test data may hold it or not.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "base/tempdir.h"
#include "onnx/tensor_file.h"
#include "onnx/tensor_proto.h"
#include "support/files.h"
#include "support/tool.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

class FreezeOption : public testing::Test {
 protected:
  // y = ReduceSum(x, axes), the axes first among the inputs.
  void SetUp() override {
    onnx::ModelProto model;
    const auto status =
        onnx::OnnxParser::Parse(model,
                                "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                "g (int64[k] axes, float[n,3] x) => (float[] y) { y = ReduceSum <keepdims = 0> (x, axes) }");
    ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
    model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    std::ofstream(model_, std::ios::binary) << model.SerializeAsString();
    write_tensor_file(file("rows.pb"), {"", axis(1)});
    write_tensor_file(file("columns.pb"), {"", axis(0)});
  }

  static Array axis(std::int64_t a) { return Array::of_ints(DType::Int64, {1}, std::vector<std::int64_t>{a}); }
  static Array floats(const std::vector<std::int64_t>& shape, const std::vector<double>& values) {
    return Array::of_doubles(DType::Float32, shape, values);
  }
  std::string file(const std::string& name) const { return (work_.path() / name).string(); }

  // A data set of x [2,3] and its sums of rows, with the inputs numbered as `axes` and `x` say (-1: not there).
  std::string data(const std::string& name, int axes, int x) const {
    const fs::path set = work_.path() / name / "test_data_set_0";
    fs::create_directories(set);
    const auto input = [&](int k) { return set / ("input_" + std::to_string(k) + ".pb"); };
    if (axes >= 0) write_tensor_file(input(axes), {"", axis(1)});
    if (x >= 0) write_tensor_file(input(x), {"", floats({2, 3}, {1, 2, 3, 4, 5, 6})});
    write_tensor_file(set / "output_0.pb", {"", floats({2}, {6, 15})});
    return (work_.path() / name).string();
  }

  const TempDir work_{"etch-freeze"};
  const std::string model_ = (work_.path() / "model.onnx").string();
};

TEST_F(FreezeOption, TakesTheInputOutOfTheSignature) {
  const std::string out = file("out");
  const ProcessResult compiled =
      etch_tool({"compile", model_, "--name", "model", "--dim", "n=2", "--freeze", "axes=" + file("rows.pb"), "-o", out});
  ASSERT_EQ(describe(compiled), "exit status 0") << compiled.err;
  const std::string header = test::content(out + "/model.h");
  EXPECT_NE(header.find("#define MODEL_X_COUNT 6"), std::string::npos) << header;
  EXPECT_EQ(header.find("AXES"), std::string::npos) << header;
  EXPECT_NE(header.find("--freeze axes=rows.pb"), std::string::npos) << "whence it is, without a folder\n" << header;
  EXPECT_EQ(header.find(work_.path().string()), std::string::npos) << header;

  const ProcessResult inspected = etch_tool({"inspect", model_, "--dim", "n=2", "--freeze", "axes=" + file("rows.pb")});
  EXPECT_NE(inspected.out.find("  frozen  axes int64 [1]\n"), std::string::npos) << inspected.out << inspected.err;

  const ProcessResult refused = etch_tool({"compile", model_, "--dim", "n=2", "--dim", "k=1", "-o", file("none")});
  EXPECT_EQ(describe(refused), "exit status 1");
  EXPECT_NE(refused.err.find("--freeze axes=axes.npy"), std::string::npos) << refused.err;
  EXPECT_FALSE(fs::exists(file("none")));
}

TEST_F(FreezeOption, RunTakesTheInputsThatAreLeft) {
  write_tensor_file(file("x.pb"), {"", floats({2, 3}, {1, 2, 3, 4, 5, 6})});
  const std::vector<std::string> run{"run", model_, "--dim", "n=2", "--input", file("x.pb"), "--freeze"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), run.begin(), run.end());
    return etch_tool(more);
  };
  EXPECT_EQ(with({"axes=" + file("rows.pb")}).out, "y float32 [2]: 6.0 15.0\n");
  EXPECT_EQ(with({"axes=" + file("columns.pb")}).out, "y float32 [3]: 5.0 7.0 9.0\n");
  const struct {
    std::vector<std::string> more;
    const char* error;
  } rows[] = {
      {{"axes=" + file("rows.pb"), "--freeze", "axes=" + file("rows.pb")}, "input 'axes' is frozen already"},
      {{"axis=" + file("rows.pb")}, "its inputs: 'axes', 'x'"},
      {{"axes=" + file("rows.pb"), "--input", "axes=" + file("rows.pb")}, "input 'axes' is frozen: it is no input of the model any more"},
      {{"axes=" + file("x.pb")}, "it has 2 axes, the input has 1"},
  };
  for (const auto& row : rows) {
    const ProcessResult result = with(row.more);
    EXPECT_EQ(describe(result), "exit status 1");
    EXPECT_NE(result.err.find(row.error), std::string::npos) << result.err;
  }
}

TEST_F(FreezeOption, TestDataMayHoldTheInputOrNot) {
  const struct {
    const char *name, *frozen;
    int axes, x;
    const char* error;  // "": passes
  } rows[] = {
      {"as_the_file", "rows.pb", 0, 1, ""},
      {"with_a_gap", "rows.pb", -1, 1, ""},
      {"renumbered", "rows.pb", -1, 0, ""},
      {"another_axis", "columns.pb", 0, 1, "input_0.pb: differs from what 'axes' is frozen to"},
      {"too_many", "rows.pb", 2, 1, "input_2.pb: the model has 2 inputs"},
  };
  for (const auto& row : rows) {
    const ProcessResult result = etch_tool(
        {"validate", model_, "--backends", "interp,c", "--data", data(row.name, row.axes, row.x), "--freeze", "axes=" + file(row.frozen)});
    EXPECT_EQ(describe(result), *row.error == 0 ? "exit status 0" : "exit status 1") << row.name << result.err << result.out;
    EXPECT_NE((result.err + result.out).find(row.error), std::string::npos) << row.name << result.err;
  }
  const ProcessResult random =
      etch_tool({"validate", model_, "--backends", "interp,c", "--dim", "n=1..3", "--freeze", "axes=" + file("rows.pb")});
  EXPECT_EQ(describe(random), "exit status 0") << random.err << random.out;
  const ProcessResult suite = etch_tool({"validate", "--suite", work_.path().string(), "--freeze", "axes=" + file("rows.pb")});
  EXPECT_EQ(describe(suite), "exit status 2") << suite.err;
}

}  // namespace
}  // namespace etch
