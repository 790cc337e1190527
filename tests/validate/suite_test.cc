// etch validate on folders of models with test data: the counts, the printed names, and sizes that only the data give.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/tempdir.h"
#include "onnx/tensor_file.h"
#include "support/files.h"
#include "support/tool.h"

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
  const ProcessResult result =
      etch_tool({"validate", model, "--name", "model", "--backends", "interp,c", "--data", work.path().string(), "-o", out});
  EXPECT_EQ(describe(result), "exit status 0") << result.err << result.out;
  const std::string text = test::content(work.path() / "out" / "model.h");
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
    const std::string text = test::content(out / "selftest.c");
    EXPECT_NE(text.find("-3.0f,"), std::string::npos) << target << text;
    EXPECT_EQ(text.find("77.0f"), std::string::npos) << target << text;
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

void write_npy(const fs::path& file, const Array& array) {
  const auto bytes = npy_bytes(array);
  fs::create_directories(file.parent_path());
  write_bytes(file, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

TEST(Suite, AnyNumberOfASetIsFoundAndAModelsOwnFolderHasAName) {
  const TempDir work("etch-suite");
  const fs::path dir = work.path() / "relu";
  write_model(dir, "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
  write_set(dir, 7, 3, twice);
  for (const std::string& path : {dir.string(), (dir / "").string()}) {
    const ProcessResult result = etch_tool({"validate", "--suite", path, "--backends", "interp"});
    EXPECT_NE(result.out.find("FAILED relu: interp: test_data_set_7"), std::string::npos) << result.out << result.err;
    EXPECT_TRUE(result.out.ends_with("\n0 passed, 1 failed, 0 skipped\n")) << result.out;
  }
  const auto json = nlohmann::json::parse(etch_tool({"validate", "--suite", dir.string(), "--backends", "interp", "--json"}).out);
  EXPECT_EQ(json.at("ok"), false);
  EXPECT_EQ(json.at("failed"), 1);
  EXPECT_EQ(json.at("cases").at(0).at("name"), "relu");
  EXPECT_EQ(json.at("cases").at(0).at("verdict"), "failed");
}

TEST(Suite, DataThatDoNotFitAreFailures) {
  const struct {
    const char* file;  // added to a good set
    int type;          // of its elements
    const char* says;
  } rows[] = {
      {"input_1.pb", onnx::TensorProto::FLOAT, "input_1.pb: the model has 1 input"},
      {"output_1.pb", onnx::TensorProto::FLOAT, "output_1.pb: the model has 1 output"},
      {"output_12.pb", onnx::TensorProto::FLOAT, "output_12.pb: the model has 1 output"},
      {"output_0.pb", onnx::TensorProto::COMPLEX64, "output_0.pb: its element type is complex64"},
  };
  for (const auto& row : rows) {
    const TempDir work("etch-suite");
    const fs::path dir = work.path() / "relu";
    write_model(dir, "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
    write_set(dir, 0, 3, relu);
    onnx::TensorProto tensor;
    tensor.set_data_type(row.type);
    for (int d : {3, 2}) tensor.add_dims(d);
    for (int i = 0; i < 6 * (row.type == onnx::TensorProto::COMPLEX64 ? 2 : 1); i++) tensor.add_float_data(0);
    write_bytes(dir / "test_data_set_0" / row.file, tensor.SerializeAsString());
    const ProcessResult suite = etch_tool({"validate", "--suite", work.path().string(), "--backends", "interp"});
    EXPECT_TRUE(suite.out.ends_with("\n0 passed, 1 failed, 0 skipped\n")) << row.says << suite.out;
    EXPECT_NE(suite.out.find(row.says), std::string::npos) << suite.out;
    const ProcessResult data = etch_tool({"validate", (dir / "model.onnx").string(), "--backends", "interp", "--data", dir.string()});
    EXPECT_EQ(describe(data), "exit status 1") << row.says;
    EXPECT_NE(data.err.find(row.says), std::string::npos) << data.err;
  }
}

TEST(Inputs, AreTakenAsTheyAreGiven) {
  const TempDir work("etch-inputs");
  write_model(work.path(), "g (float[n,2] x, float[n,2] y) => (float[n,2] z) { z = Identity (x) w = Identity (y) }");
  const fs::path a = work.path() / "a.npy", odd = work.path() / "d" / "a=b.npy", large = work.path() / "n40.npy";
  write_npy(a, Array::of_doubles(DType::Float32, {1, 2}, std::vector<double>{1, 2}));
  write_npy(odd, Array::of_doubles(DType::Float32, {1, 2}, std::vector<double>{3, 4}));
  write_npy(large, Array::of_doubles(DType::Float32, {40, 2}, std::vector<double>(80, 1)));
  const struct {
    std::vector<std::string> inputs;
    const char* out;
    std::string err;  // all of it, or a part where there is no output
  } rows[] = {
      {{a.string()}, "z float32 [1,2]: 1.0 2.0\n", "input 'y': random, seed 5\n"},
      {{"y=" + a.string(), "x=" + odd.string()}, "z float32 [1,2]: 3.0 4.0\n", ""},
      {{odd.string(), a.string()}, "z float32 [1,2]: 3.0 4.0\n", ""},
      {{"x=" + a.string(), odd.string()}, "z float32 [1,2]: 1.0 2.0\n", ""},
      {{a.string(), a.string(), a.string()}, "", "more inputs than the 2"},
      {{large.string()}, "", "n40.npy: has size 40 for dimension 'n', the model was given 1..4"},
      {{a.string(), large.string()}, "", "n40.npy: is float32 [40,2], the model takes float32 [1,2]"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> args{"run", (work.path() / "model.onnx").string(), "--dim", "n=1..4", "--seed", "5"};
    for (const std::string& input : row.inputs) args.insert(args.end(), {"--input", input});
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(result.out, row.out) << result.err;
    if (*row.out != 0)
      EXPECT_EQ(result.err, row.err);
    else
      EXPECT_NE(result.err.find(row.err), std::string::npos) << result.err;
  }
}

TEST(Inputs, FloatsAreRoundedToHalves) {
  const TempDir work("etch-inputs");
  // 1 + 2^-9 is halfway between neighbours of bfloat16, and exact in float16.
  write_npy(work.path() / "x.npy", Array::of_doubles(DType::Float32, {3}, std::vector<double>{1.001953125, 3.0, 1e30}));
  for (const auto& [type, out] : {std::pair{"bfloat16", "y bfloat16 [3]: 1.0 3.0 "}, {"float16", "y float16 [3]: 1.00195"}}) {
    write_model(work.path(), std::string("g (") + type + "[3] x) => (" + type + "[3] y) { y = Identity (x) }");
    const std::string model = (work.path() / "model.onnx").string();
    const ProcessResult result = etch_tool({"run", model, "--input", (work.path() / "x.npy").string()});
    EXPECT_TRUE(result.out.starts_with(out)) << result.out << result.err;
    const std::string saved = (work.path() / "saved").string();
    EXPECT_TRUE(etch_tool({"run", model, "--output", saved}).ok());
    const ProcessResult again = etch_tool({"run", model, "--input", saved + "/y.npy"});
    EXPECT_TRUE(again.ok()) << "what was saved is accepted: " << again.err;
  }
}

TEST(Validate, SaysWhatAWrongOutputMeans) {
  const struct {
    float (*f)(float);
    const char* says;
  } rows[] = {
      {[](float x) { return 25 * relu(x); }, "the expected output is of another model or version, or an operator's import is wrong"},
      {[](float x) { return 1.005F * relu(x); }, "the difference is accumulated rounding"},
  };
  for (const auto& row : rows) {
    const TempDir work("etch-suite");
    write_model(work.path(), "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
    write_set(work.path(), 0, 3, row.f);
    const ProcessResult result =
        etch_tool({"validate", (work.path() / "model.onnx").string(), "--backends", "interp,c", "--data", work.path().string()});
    EXPECT_EQ(describe(result), "exit status 1");
    EXPECT_NE(result.out.find(row.says), std::string::npos) << result.out;
  }
}

TEST(Validate, PrintsTheStagesOfTheProjectOnce) {
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[3,2] x) => (float[3,2] y) { y = Relu (x) }");
  const std::string model = (work.path() / "model.onnx").string(), out = (work.path() / "out").string();
  const std::string stages = "graph,schedule,ast,uops,source,plan";
  const auto dumps = [](const std::string& text) { return text.substr(0, text.rfind("==== plan")); };
  const ProcessResult compiled = etch_tool({"compile", model, "--dump", stages, "-o", out});
  const ProcessResult validated = etch_tool({"validate", model, "--backends", "interp,c", "--dump", stages, "-o", out});
  ASSERT_TRUE(compiled.ok() && validated.ok()) << compiled.err << validated.err;
  EXPECT_EQ(dumps(compiled.out), dumps(validated.out));
  EXPECT_NE(validated.out.find("==== plan"), std::string::npos);
  EXPECT_NE(etch_tool({"validate", model, "--backends", "interp", "--dump", "plan"}).out.find("==== plan"), std::string::npos);
}

TEST(Validate, JsonNamesTheErrorAndTheDataOfTheFigures) {
  const TempDir work("etch-suite");
  write_model(work.path(), "g (float[n,2] x) => (float[n,2] y) { y = Frobnicate (x) }");
  const std::string model = (work.path() / "model.onnx").string();
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"validate", model, "--json"}, {"validate", model, "--target", "cortex-m99", "--json"}}) {
    const ProcessResult result = etch_tool(args);
    EXPECT_EQ(describe(result), "exit status 1");
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json.at("ok"), false);
    EXPECT_EQ("etch: error: " + json.at("error").get<std::string>() + "\n", result.err);
  }
  write_model(work.path(), "g (float[n,2] x) => (float[n,2] y) { y = Relu (x) }");
  const ProcessResult good = etch_tool({"validate", model, "--backends", "interp", "--dim", "n=2..3", "--target", "host", "--json"});
  EXPECT_EQ(nlohmann::json::parse(good.out).at("target").at("data"), "random, n 2") << good.out << good.err;
}

}  // namespace
}  // namespace etch
