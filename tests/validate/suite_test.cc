// etch validate on folders of models with test data: what is counted, what is named, and sizes that only the data know.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <functional>
#include <numeric>

#include "base/tempdir.h"
#include "support/tool.h"
#include "validate/tensor_file.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

void write_bytes(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

void write_model(const fs::path& folder, const std::string& text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, ("<ir_version: 8, opset_import: [\"\" : 17]>\n" + text).c_str());
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  fs::create_directories(folder);
  write_bytes(folder / "model.onnx", model.SerializeAsString());
}

void write_tensor(const fs::path& file, const std::vector<std::int64_t>& shape, const std::vector<float>& values) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx::TensorProto::FLOAT);
  for (std::int64_t d : shape) tensor.add_dims(d);
  for (float v : values) tensor.add_float_data(v);
  fs::create_directories(file.parent_path());
  write_bytes(file, tensor.SerializeAsString());
}

// One data set of `count` rows of two: x counts up, y is what `f` makes of it.
void write_set(const fs::path& folder, int number, std::int64_t count, float (*f)(float)) {
  const fs::path set = folder / ("test_data_set_" + std::to_string(number));
  std::vector<float> x, y;
  for (std::int64_t i = 0; i < 2 * count; i++) {
    x.push_back(static_cast<float>(i - 3));
    y.push_back(f(x.back()));
  }
  write_tensor(set / "input_0.pb", {count, 2}, x);
  write_tensor(set / "output_0.pb", {count, 2}, y);
}

float relu(float x) { return x < 0 ? 0 : x; }
float twice(float x) { return 2 * x; }

TEST(Suite, CountsAndNamesWhatFailedAndWhatIsNotSupported) {
  const TempDir work("etch-suite");
  const fs::path dir = work.path();
  write_model(dir / "good", "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
  write_set(dir / "good", 0, 3, relu);
  write_model(dir / "deep" / "wrong", "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
  write_set(dir / "deep" / "wrong", 0, 3, twice);
  write_model(dir / "strange", "g (float[3,2] x) => (float[3,2] y) { y = Frobnicate (x) }");
  write_set(dir / "strange", 0, 3, relu);
  write_model(dir / "any_size", "g (float[n,2] x) => (float[n,2] y) { y = Add (x, x) }");
  for (int n : {0, 1, 2}) write_set(dir / "any_size", n, n + 1, twice);
  const ProcessResult result = etch_tool({"validate", "--suite", dir.string(), "--backends", "interp,c"});
  EXPECT_EQ(describe(result), "exit status 1") << result.err;
  EXPECT_TRUE(result.out.ends_with("\n2 passed, 1 failed, 1 skipped\n")) << result.out;
  EXPECT_NE(result.out.find("operator Frobnicate  (for example strange)"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("FAILED deep/wrong: interp"), std::string::npos) << result.out;
}

TEST(Suite, SizesThatTheModelLeavesOpenAreThoseOfTheData) {
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[n,2] x) => (float[n,2] y) { y = Relu (x) }");
  for (int n : {0, 1}) write_set(work.path(), n, 2 + 3 * n, relu);
  const std::string model = (work.path() / "model.onnx").string(), out = (work.path() / "out").string();
  const ProcessResult result = etch_tool({"validate", model, "--backends", "interp,c", "--data", work.path().string(), "-o", out});
  EXPECT_EQ(describe(result), "exit status 0") << result.err << result.out;
  std::ifstream header(work.path() / "out" / "model.h");
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  EXPECT_NE(text.find("[n,2]"), std::string::npos) << "one function for both sizes\n" << text;
  const ProcessResult narrow = etch_tool({"validate", model, "--dim", "n=1..4", "--data", work.path().string()});
  EXPECT_EQ(describe(narrow), "exit status 1");
  EXPECT_NE(narrow.err.find("has size 5 for dimension 'n', the model was given 1..4"), std::string::npos) << narrow.err;
}

TEST(Suite, OneElementStandsForAllOfAnInputButNotOfAnOutput) {
  const struct {
    std::vector<std::int64_t> input, output;
    int status;
  } rows[] = {{{2}, {2}, 0}, {{1, 1, 1}, {2}, 0}, {{}, {2}, 0}, {{2}, {1, 1, 1}, 1}, {{2}, {}, 1}, {{2}, {1, 2}, 1}};
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[2] x) => (float[2] y) { y = Neg (x) }");
  const fs::path set = work.path() / "test_data_set_0";
  for (const auto& row : rows) {
    const auto elements = [](const std::vector<std::int64_t>& shape) {
      return static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>()));
    };
    write_tensor(set / "input_0.pb", row.input, std::vector<float>(elements(row.input), 3));
    write_tensor(set / "output_0.pb", row.output, std::vector<float>(elements(row.output), -3));
    const ProcessResult result =
        etch_tool({"validate", (work.path() / "model.onnx").string(), "--backends", "interp", "--data", work.path().string()});
    EXPECT_EQ(describe(result), "exit status " + std::to_string(row.status)) << row.input.size() << " " << row.output.size() << result.out;
    if (row.status != 0) {
      EXPECT_NE(result.err.find("output_0.pb: is float32 ["), std::string::npos) << result.err;
    }
  }
}

TEST(Suite, TheFolderOfOutputHoldsTheFirstSet) {
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
  write_set(work.path(), 0, 3, relu);
  write_tensor(work.path() / "test_data_set_1" / "input_0.pb", {3, 2}, {77, 77, 77, 77, 77, 77});
  write_tensor(work.path() / "test_data_set_1" / "output_0.pb", {3, 2}, {77, 77, 77, 77, 77, 77});
  const std::string model = (work.path() / "model.onnx").string();
  for (const std::string target : {"", "host"}) {
    const fs::path out = work.path() / ("out" + target);
    std::vector<std::string> args{"validate", model, "--backends", "interp", "--data", work.path().string(), "-o", out.string()};
    if (!target.empty()) args.insert(args.end(), {"--target", target});
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(describe(result), "exit status 0") << result.err << result.out;
    std::ifstream selftest(out / "selftest.c");
    const std::string text{std::istreambuf_iterator<char>(selftest), {}};
    EXPECT_NE(text.find("-3"), std::string::npos) << target << text;
    EXPECT_EQ(text.find("77"), std::string::npos) << target << text;
  }
}

TEST(Suite, AFileOfInputGivesTheSizeOfItsVariable) {
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[n,2] x) => (float[n,2] y) { y = Relu (x) }");
  const std::string model = (work.path() / "model.onnx").string();
  const fs::path file = work.path() / "x.npy";
  const auto bytes = npy_bytes(Array::of_doubles(DType::Float32, {3, 2}, std::vector<double>{-1, 2, -3, 4, -5, 6}));
  write_bytes(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const ProcessResult run = etch_tool({"run", model, "--dim", "n=1..4", "--input", file.string()});
  EXPECT_EQ(run.out, "y float32 [3,2]: 0.0 2.0 0.0 4.0 0.0 6.0\n") << run.err;
  const ProcessResult other = etch_tool({"run", model, "--dim", "n=1..4", "--set", "n=2", "--input", file.string()});
  EXPECT_EQ(describe(other), "exit status 1") << "the size that was asked for and the file differ";
  const ProcessResult wide = etch_tool({"run", model, "--dim", "n=1..2", "--input", file.string()});
  EXPECT_NE(wide.err.find("has size 3 for dimension 'n', the model was given 1..2"), std::string::npos) << wide.err;
}

}  // namespace
}  // namespace etch
