// Bad input ends with a clear error and exit status 1 (2 only for a command line that can't be parsed), and leaves nothing
// behind. Each row runs the tool as a user would.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/process.h"
#include "base/tempdir.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

// A good model: the rows spoil it.
constexpr const char* kGood = R"(<ir_version: 8, opset_import: ["" : 17]>
good (float[1,4] x) => (float[1,3] y) {
  w = Constant <value = float[4,3] {1,2,3,4,5,6,7,8,9,10,11,12}> ()
  h = MatMul (x, w)
  y = Relu (h)
})";

// A model with a dimension of any size.
constexpr const char* kVariable = R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[n,4] x) => (float[n,4] y) { y = Relu (x) })";

struct ErrorCase {
  const char* name;
  const char* model;                              // ONNX text; "" for kGood
  void (*spoil)(onnx::ModelProto&);               // or nullptr
  std::function<std::string(std::string)> bytes;  // changes the file's bytes, or nullptr
  std::vector<std::string> args;                  // {m} the model, {d} an empty folder
  int status;
  std::vector<const char*> says;  // all of them on standard error
};
void PrintTo(const ErrorCase& row, std::ostream* out) { *out << row.name; }

std::string truncated(std::string s) { return s.substr(0, s.size() / 2); }
std::string empty(std::string) { return ""; }
std::string text(std::string) { return "this is not a protobuf, it is a sentence\n"; }
std::string zeros(std::string s) { return std::string(s.size(), '\0'); }
// What git checks out where the large file itself was not fetched.
constexpr const char* kLfsPointer =
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n";
std::string lfs_pointer(std::string) { return kLfsPointer; }
std::string flipped(std::string s) {
  for (std::size_t i = 0; i < s.size(); i += 3) s[i] = static_cast<char>(s[i] ^ 0x5a);
  return s;
}

onnx::TensorProto* initializer(onnx::ModelProto& m, const char* name, int type, std::vector<std::int64_t> dims) {
  auto* t = m.mutable_graph()->add_initializer();
  t->set_name(name);
  t->set_data_type(type);
  for (std::int64_t d : dims) t->add_dims(d);
  return t;
}
void replace_weight(onnx::ModelProto& m) { m.mutable_graph()->mutable_node()->DeleteSubrange(0, 1); }

const std::vector<std::string> kCompile{"compile", "{m}", "--target", "host", "-o", "{d}/out"};

std::vector<ErrorCase> cases() {
  return {
      // --- the file
      {"no_such_file", "", nullptr, nullptr, {"compile", "{d}/nothing.onnx", "-o", "{d}/out"}, 1, {"nothing.onnx"}},
      {"a_folder", "", nullptr, nullptr, {"compile", "{d}", "-o", "{d}/out"}, 1, {"{d}"}},
      {"truncated", "", nullptr, truncated, kCompile, 1, {"model.onnx"}},
      {"empty_file", "", nullptr, empty, kCompile, 1, {"model.onnx"}},
      {"not_a_protobuf", "", nullptr, text, kCompile, 1, {"model.onnx"}},
      {"zeros", "", nullptr, zeros, kCompile, 1, {"model.onnx"}},
      {"flipped_bytes", "", nullptr, flipped, kCompile, 1, {"model.onnx"}},
      {"lfs_pointer",
       "",
       nullptr,
       lfs_pointer,
       kCompile,
       1,
       {"model.onnx: it is a Git LFS pointer", "of 12345678 bytes", "help: fetch", "git lfs pull"}},
      {"no_graph", "", [](onnx::ModelProto& m) { m.clear_graph(); }, nullptr, kCompile, 1, {"graph"}},
      {"no_opset", "", [](onnx::ModelProto& m) { m.clear_opset_import(); }, nullptr, kCompile, 1, {"opset"}},
      {"opset_too_old",
       "",
       [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(3); },
       nullptr,
       kCompile,
       1,
       {"opset", "3", "7"}},
      {"opset_too_new",
       "",
       [](onnx::ModelProto& m) { m.mutable_opset_import(0)->set_version(99); },
       nullptr,
       kCompile,
       1,
       {"opset", "99", "28"}},
      // --- the graph
      {"cyclic_graph",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { a = Add (x, b) b = Relu (a) y = Relu (b) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"cycl"}},
      {"missing_input_of_a_node",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { y = Add (x, nowhere) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"nowhere"}},
      {"output_nobody_makes",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] z) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"z"}},
      {"value_made_twice",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { y = Relu (x) y = Neg (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"y"}},
      {"unsupported_operator",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { y = NoSuchOperator (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"NoSuchOperator", "help:"}},
      {"unsupported_domain",
       "",
       [](onnx::ModelProto& m) { m.mutable_graph()->mutable_node(2)->set_domain("com.example"); },
       nullptr,
       kCompile,
       1,
       {"com.example"}},
      {"unknown_attribute",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { y = Relu <surprise = 3> (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"surprise"}},
      {"control_flow",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (bool[1] x) => (float[1] y) { y = If (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"If"}},
      {"wrong_rank",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,3,8] x, float[4,3,3,3] w) => (float[1,4,6,6] y) { y = Conv (x, w) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"Conv"}},
      {"shapes_do_not_broadcast",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x, float[3] z) => (float[4] y) { y = Add (x, z) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"Add", "[4]", "[3]"}},
      {"matmul_inner_sizes",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x, float[3,2] z) => (float[2,2] y) { y = MatMul (x, z) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"MatMul", "4", "3"}},
      {"reshape_to_another_size",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[3] y) { s = Constant <value = int64[1] {3}> () y = Reshape (x, s) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"Reshape", "3", "4"}},
      {"string_tensor",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (string[4] x) => (string[4] y) { y = Identity (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"string"}},
      {"complex_tensor",
       "",
       [](onnx::ModelProto& m) { m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(14); },
       nullptr,
       kCompile,
       1,
       {"complex64"}},
      {"type_mismatch",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x, int64[4] z) => (float[4] y) { y = MatMul (x, z) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"MatMul"}},
      {"operator_not_for_that_type",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (bool[4] x) => (bool[4] y) { y = Exp (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"Exp", "bool"}},
      // --- open sizes
      {"a_least_size_below_the_kernel",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2,T] x) => (float[1,2,U] y) { y = MaxPool <kernel_shape = [3]> (x) })",
       nullptr,
       nullptr,
       {"compile", "{m}", "--target", "host", "--dim", "T=1..8", "-o", "{d}/out"},
       1,
       {"(MaxPool)", "a kernel of 3", "axis 2 where T < 3", "--dim T"}},
      {"an_index_beyond_the_least_size",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[N,3] x) => (float[1,3] y) { i = Constant <value = int64[1] {3}> () y = Gather <axis = 0> (x, i) })",
       nullptr,
       nullptr,
       {"compile", "{m}", "--target", "host", "--dim", "N=2..4", "-o", "{d}/out"},
       1,
       {"(Gather)", "index 3", "axis 0", "below 4", "--dim N"}},
      // --- sizes
      {"huge_input",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1048576,1048576] x) => (float[1048576,1048576] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"1048576"}},
      {"size_beyond_int64",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4294967296,4294967296] x) => (float[4294967296,4294967296] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"4294967296"}},
      {"huge_constant",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1] x) => (float[1] y) { s = Constant <value = int64[2] {1048576, 1048576}> () c = ConstantOfShape (s) r = ReduceSum <keepdims = 0> (c) y = Add (x, r) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"ConstantOfShape", "1048576"}},
      {"negative_dimension",
       "",
       [](onnx::ModelProto& m) {
         m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_value(-3);
       },
       nullptr,
       kCompile,
       1,
       {"-3"}},
      {"unknown_dimension",
       "",
       [](onnx::ModelProto& m) {
         m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param(
             "batch");
       },
       nullptr,
       kCompile,
       1,
       {"batch", "--dim"}},
      {"no_shape",
       "",
       [](onnx::ModelProto& m) { m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape(); },
       nullptr,
       kCompile,
       1,
       {"x"}},
      // --- weights
      {"initializer_too_short",
       "",
       [](onnx::ModelProto& m) {
         replace_weight(m);
         initializer(m, "w", 1, {4, 3})->set_raw_data("1234");
       },
       nullptr,
       kCompile,
       1,
       {"w", "48"}},
      {"initializer_negative_dim",
       "",
       [](onnx::ModelProto& m) {
         replace_weight(m);
         initializer(m, "w", 1, {-4, 3})->set_raw_data("1234");
       },
       nullptr,
       kCompile,
       1,
       {"w"}},
      {"initializer_huge_dim",
       "",
       [](onnx::ModelProto& m) {
         replace_weight(m);
         initializer(m, "w", 1, {1LL << 40, 1LL << 40})->set_raw_data("1234");
       },
       nullptr,
       kCompile,
       1,
       {"w"}},
      {"external_file_absent",
       "",
       [](onnx::ModelProto& m) {
         replace_weight(m);
         auto* t = initializer(m, "w", 1, {4, 3});
         t->set_data_location(onnx::TensorProto::EXTERNAL);
         auto* e = t->add_external_data();
         e->set_key("location");
         e->set_value("weights.bin");
       },
       nullptr,
       kCompile,
       1,
       {"weights.bin"}},
      {"external_file_outside",
       "",
       [](onnx::ModelProto& m) {
         replace_weight(m);
         auto* t = initializer(m, "w", 1, {4, 3});
         t->set_data_location(onnx::TensorProto::EXTERNAL);
         auto* e = t->add_external_data();
         e->set_key("location");
         e->set_value("../../../../etc/passwd");
       },
       nullptr,
       kCompile,
       1,
       {"../../../../etc/passwd"}},
      {"float64_on_a_single_precision_core",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (double[4] x, double[3] v) => (double[4] y, double[3] z) { y = Relu (x) z = Neg (v) })",
       nullptr,
       nullptr,
       {"compile", "{m}", "--target", "cortex-m4f", "-o", "{d}/out"},
       1,
       {"y, z: ", "float64", "cortex-m4f", "single"}},
      {"nothing_to_compute",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[0,4] x) => (float[0,4] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"nothing to compute"}},
      // --- options
      {"unknown_target",
       "",
       nullptr,
       nullptr,
       {"compile", "{m}", "--target", "cortex-m99", "-o", "{d}/out"},
       1,
       {"cortex-m99", "cortex-m4f"}},
      {"unknown_backend", "", nullptr, nullptr, {"run", "{m}", "--backend", "fortran"}, 1, {"fortran", "interp"}},
      {"unknown_dim_name", "", nullptr, nullptr, {"compile", "{m}", "--dim", "batch=3", "-o", "{d}/out"}, 1, {"batch"}},
      {"bad_dim", "", nullptr, nullptr, {"compile", "{m}", "--dim", "batch=three", "-o", "{d}/out"}, 2, {"three"}},
      {"empty_dim_range", "", nullptr, nullptr, {"compile", "{m}", "--dim", "batch=5..2", "-o", "{d}/out"}, 2, {"5..2"}},
      {"unwritable_folder", "", nullptr, nullptr, {"compile", "{m}", "-o", "/proc/etch/out"}, 1, {"/proc/etch"}},
      {"output_is_a_file", "", nullptr, nullptr, {"compile", "{m}", "-o", "{m}"}, 1, {"model.onnx"}},
      {"bad_name", "", nullptr, nullptr, {"compile", "{m}", "--name", "2 many", "-o", "{d}/out"}, 1, {"2 many"}},
      {"unknown_dump", "", nullptr, nullptr, {"compile", "{m}", "--dump=everything", "-o", "{d}/out"}, 2, {"everything", "schedule"}},
      {"unknown_weights_form", "", nullptr, nullptr, {"compile", "{m}", "--weights", "paper", "-o", "{d}/out"}, 1, {"paper", "incbin"}},
      {"absent_input_file", "", nullptr, nullptr, {"run", "{m}", "--backend", "interp", "--input", "{d}/x.npy"}, 1, {"x.npy"}},
      {"input_of_another_name", "", nullptr, nullptr, {"run", "{m}", "--backend", "interp", "--input", "q={m}"}, 1, {"q", "x"}},
      {"raw_input_of_wrong_size", "", nullptr, nullptr, {"run", "{m}", "--backend", "interp", "--input", "x=/etc/hostname"}, 1, {"16"}},
      {"input_without_a_file", "", nullptr, nullptr, {"run", "{m}", "--input", "x="}, 1, {"--input x=", "no file"}},
      {"input_without_text", "", nullptr, nullptr, {"run", "{m}", "--input", ""}, 1, {"--input", "no file"}},
      {"input_twice", "", nullptr, nullptr, {"run", "{m}", "--input", "x=a.npy", "--input", "x=b.npy"}, 1, {"x=b.npy", "'x'", "a.npy"}},
      {"input_by_place_and_by_name",
       "",
       nullptr,
       nullptr,
       {"run", "{m}", "--input", "a.npy", "--input", "x=b.npy"},
       1,
       {"x=b.npy", "a.npy"}},
      {"input_too_many",
       "",
       nullptr,
       nullptr,
       {"run", "{m}", "--input", "a.npy", "--input", "b.npy"},
       1,
       {"b.npy", "more inputs than the 1"}},
      {"input_with_equals_in_its_path", "", nullptr, nullptr, {"run", "{m}", "--input", "{d}/a=b.npy"}, 1, {"{d}/a"}},
      {"declared_size_of_output",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,5] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"output 'y'", "[2,5]", "[2,4]"}},
      {"declared_rank_of_output",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[8] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"output 'y'", "[8]", "[2,4]"}},
      {"declared_size_beside_an_open_one",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[n,5] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       1,
       {"output 'y'", "[n,5]", "[2,4]"}},
      {"declared_names_of_output_are_free",
       R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[a,4] y) { y = Relu (x) })",
       nullptr,
       nullptr,
       kCompile,
       0,
       {}},
      {"no_test_data", "", nullptr, nullptr, {"validate", "{m}", "--backends", "interp", "--data", "{d}"}, 1, {"test_data_set"}},
      {"empty_suite", "", nullptr, nullptr, {"validate", "--suite", "{d}", "--backends", "interp"}, 1, {"{d}"}},
      {"absent_compiler",
       "",
       nullptr,
       nullptr,
       {"validate", "{m}", "--backends", "interp", "--target", "cortex-m4f", "--cc", "no-such-gcc"},
       1,
       {"no-such-gcc"}},
      {"audit_of_nothing", "", nullptr, nullptr, {"audit", "{d}"}, 1, {"{d}"}},
      {"conformance_file_absent", "", nullptr, nullptr, {"conformance", "{d}/cases.json"}, 1, {"cases.json"}},
      {"conformance_not_json", "", nullptr, nullptr, {"conformance", "{m}"}, 1, {"model.onnx"}},
      // --- the command line itself
      {"no_command", "", nullptr, nullptr, {}, 2, {}},
      {"unknown_command", "", nullptr, nullptr, {"burn", "{m}"}, 2, {"burn", "'compile'"}},
      {"unknown_option", "", nullptr, nullptr, {"compile", "{m}", "--fast"}, 2, {}},
      {"option_without_value", "", nullptr, nullptr, {"compile", "{m}", "-o"}, 2, {}},
      {"negative_seed", "", nullptr, nullptr, {"run", "{m}", "--seed", "-1"}, 2, {"-1"}},
      {"large_seed", "", nullptr, nullptr, {"compile", "{m}", "--seed", "4294967296", "-o", "{d}/out"}, 2, {"4294967296"}},
      {"negative_tolerance", "", nullptr, nullptr, {"validate", "{m}", "--rtol", "-1"}, 2, {"-1"}},
      {"tolerance_is_no_number", "", nullptr, nullptr, {"validate", "{m}", "--rtol", "nan"}, 2, {"nan"}},
      {"tolerance_is_a_word", "", nullptr, nullptr, {"validate", "{m}", "--atol", "1e-3x"}, 2, {"1e-3x"}},
      {"dim_twice",
       kVariable,
       nullptr,
       nullptr,
       {"compile", "{m}", "--dim", "n=2", "--dim", "n=1..3", "-o", "{d}/out"},
       2,
       {"n=1..3", "second"}},
      {"dim_without_value", kVariable, nullptr, nullptr, {"compile", "{m}", "--dim", "n", "-o", "{d}/out"}, 2, {"--dim n"}},
      {"set_without_value", kVariable, nullptr, nullptr, {"run", "{m}", "--dim", "n=1..3", "--set", "n"}, 2, {"--set n", "has no value"}},
      {"set_to_a_word", kVariable, nullptr, nullptr, {"run", "{m}", "--dim", "n=1..3", "--set", "n=two"}, 2, {"'two' is no number"}},
      {"set_twice", kVariable, nullptr, nullptr, {"run", "{m}", "--dim", "n=1..3", "--set", "n=1", "--set", "n=2"}, 2, {"n=2", "second"}},
      {"set_outside_the_range", kVariable, nullptr, nullptr, {"run", "{m}", "--dim", "n=1..3", "--set", "n=4"}, 1, {"--set n=4", "1..3"}},
      {"data_and_input", "", nullptr, nullptr, {"validate", "{m}", "--data", "{d}", "--input", "x.npy"}, 2, {"--data", "--input"}},
      {"model_and_suite", "", nullptr, nullptr, {"validate", "{m}", "--suite", "{d}"}, 2, {"--suite"}},
      {"suite_with_target", "", nullptr, nullptr, {"validate", "--suite", "{d}", "--target", "host"}, 2, {"--target"}},
      {"suite_with_data", "", nullptr, nullptr, {"validate", "--suite", "{d}", "--data", "{d}"}, 2, {"--data"}},
      {"suite_with_input", "", nullptr, nullptr, {"validate", "--suite", "{d}", "--input", "x.npy"}, 2, {"--input"}},
      {"suite_with_output", "", nullptr, nullptr, {"validate", "--suite", "{d}", "-o", "{d}/out"}, 2, {"--output"}},
      {"suite_with_dump", "", nullptr, nullptr, {"validate", "--suite", "{d}", "--dump", "plan"}, 2, {"--dump"}},
  };
}

std::string filled(std::string s, const fs::path& model, const fs::path& dir) {
  for (const auto& [from, to] : {std::pair<std::string, std::string>{"{m}", model.string()}, {"{d}", dir.string()}})
    for (auto at = s.find(from); at != std::string::npos; at = s.find(from, at + to.size())) s.replace(at, from.size(), to);
  return s;
}

class Errors : public testing::TestWithParam<ErrorCase> {};

TEST_P(Errors, is_clear_and_leaves_nothing) {
  const ErrorCase& row = GetParam();
  const TempDir work("etch-errors");
  const fs::path dir = work.path() / "dir", model = work.path() / "model.onnx";
  fs::create_directory(dir);
  onnx::ModelProto proto;
  const auto status = onnx::OnnxParser::Parse(proto, *row.model != 0 ? row.model : kGood);
  ASSERT_TRUE(status.IsOK()) << status.ErrorMessage();
  if (row.spoil != nullptr) row.spoil(proto);
  std::string bytes = proto.SerializeAsString();
  if (row.bytes) bytes = row.bytes(bytes);
  std::ofstream(model, std::ios::binary) << bytes;

  std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
  for (const std::string& arg : row.args) argv.push_back(filled(arg, model, dir));
  ProcessOptions options;
  options.timeout_s = 60;
  const ProcessResult result = run_process(argv, options);
  EXPECT_EQ(describe(result), row.status == 0 ? "exit status 0" : "exit status " + std::to_string(row.status)) << result.err;
  for (const char* part : row.says)
    EXPECT_NE(result.err.find(filled(part, model, dir)), std::string::npos) << "not said: " << part << "\n" << result.err;
  if (row.status == 0) return;
  EXPECT_EQ(result.err.find("internal error"), std::string::npos) << result.err;
  if (row.status == 1) {
    EXPECT_EQ(result.err.rfind("etch: error: ", 0), 0u) << result.err;
  }
  EXPECT_TRUE(fs::is_empty(dir)) << "left behind: " << fs::directory_iterator(dir)->path();
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(work.path())) files++;
  EXPECT_EQ(files, 2u) << "something was left beside the model";
}

INSTANTIATE_TEST_SUITE_P(Table, Errors, testing::ValuesIn(cases()), [](const auto& row) { return std::string(row.param.name); });

TEST(ErrorTable, has_forty_rows) { EXPECT_GE(cases().size(), 40u); }

// A pointer in place of any file that a model or its data consist of.
TEST(GitLfs, PointerIsNamedAsSuch) {
  const TempDir work("etch-lfs");
  const auto path = [&](const char* name) { return (work.path() / name).string(); };
  for (const char* name : {"weights.bin", "x.npy", "x.pb", "x.raw"}) std::ofstream(path(name)) << kLfsPointer;
  onnx::ModelProto proto;
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, kGood).IsOK());
  std::ofstream(path("good.onnx"), std::ios::binary) << proto.SerializeAsString();
  replace_weight(proto);
  auto* weight = initializer(proto, "w", 1, {4, 3});
  weight->set_data_location(onnx::TensorProto::EXTERNAL);
  auto* entry = weight->add_external_data();
  entry->set_key("location");
  entry->set_value("weights.bin");
  std::ofstream(path("external.onnx"), std::ios::binary) << proto.SerializeAsString();
  const struct {
    std::vector<std::string> args;
    const char* says;
  } rows[] = {
      {{"compile", path("external.onnx"), "-o", path("out")}, "weights.bin: it is a Git LFS pointer"},
      {{"inspect", path("external.onnx")}, "weights.bin: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.npy")}, "x.npy: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.pb")}, "x.pb: it is a Git LFS pointer"},
      {{"run", path("good.onnx"), "--input", path("x.raw")}, "x.raw: it is a Git LFS pointer"},
  };
  for (const auto& row : rows) {
    std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
    argv.insert(argv.end(), row.args.begin(), row.args.end());
    const ProcessResult result = run_process(argv);
    EXPECT_EQ(describe(result), "exit status 1") << row.says;
    for (const char* part : {row.says, "of 12345678 bytes", "git lfs pull"})
      EXPECT_NE((result.out + result.err).find(part), std::string::npos) << part << "\n" << result.out << result.err;
    EXPECT_FALSE(fs::exists(path("out")));
  }
}

TEST(TemporaryFolder, IsNamedWhereItIsNone) {
  const TempDir work("etch-errors");
  const std::string model = (work.path() / "model.onnx").string();
  onnx::ModelProto proto;
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, kGood).IsOK());
  std::ofstream(model, std::ios::binary) << proto.SerializeAsString();
  ProcessOptions options;
  options.env = {{"TMPDIR", "/nope"}};
  const ProcessResult result = run_process({ETCH_BUILD_DIR "/etch", "run", model, "--backend", "c"}, options);
  EXPECT_EQ(describe(result), "exit status 1");
  EXPECT_TRUE(result.err.starts_with("etch: error: TMPDIR=/nope: ")) << result.err;
}

// A full disk: /dev/full can't stand for a folder, so it is a file system of 64 KiB where one can be mounted, and what is
// written is larger.
TEST(FullDisk, LeavesNothing) {
  const TempDir work("etch-full");
  const fs::path disk = work.path() / "disk";
  const std::string model = (work.path() / "model.onnx").string();
  onnx::ModelProto proto;
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[100,200] x) => (float[100,200] y) { y = MatMul (x, w) })")
                  .IsOK());
  std::string weights(200 * 200 * 4, '\0');
  for (std::size_t i = 0; i < weights.size(); i++) weights[i] = static_cast<char>(i * 7919 % 60);
  initializer(proto, "w", 1, {200, 200})->set_raw_data(weights);
  std::ofstream(model, std::ios::binary) << proto.SerializeAsString();
  fs::create_directory(disk);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"compile", model, "-o", (disk / "out").string()},
                                               {"compile", model, "-o", disk.string()},
                                               {"run", model, "--output", (disk / "a" / "out").string()},
                                               {"run", model, "--output", disk.string()}}) {
    if (!run_process({"mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk.string()}).ok())
      GTEST_SKIP() << "a small file system can't be mounted here (needs root)";
    std::vector<std::string> argv{ETCH_BUILD_DIR "/etch"};
    argv.insert(argv.end(), args.begin(), args.end());
    const ProcessResult result = run_process(argv);
    const bool left = !fs::is_empty(disk);
    run_process({"umount", disk.string()});
    EXPECT_EQ(describe(result), "exit status 1") << result.err;
    EXPECT_NE(result.err.find(disk.string()), std::string::npos) << result.err;
    EXPECT_FALSE(left) << args[0] << " " << args[3];
  }
}

// Each signal ends the tool as a signal does, and its temporary folders are gone.
TEST(Interrupt, LeavesNothing) {
  const TempDir work("etch-interrupt");
  const fs::path temp = work.path() / "tmp";
  const std::string model = (work.path() / "model.onnx").string();
  fs::create_directory(temp);
  onnx::ModelProto proto;  // compiling and running it takes longer than the signal needs
  ASSERT_TRUE(onnx::OnnxParser::Parse(proto, R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1000,1000] x) => (float[1000,1000] y) { h = MatMul (x, x) i = MatMul (h, h) y = MatMul (i, i) })")
                  .IsOK());
  std::ofstream(model, std::ios::binary) << proto.SerializeAsString();
  for (const char* command : {"run --backend opencl", "run --backend c", "validate --backends opencl"}) {
    for (const char* signal : {"INT", "TERM", "HUP"}) {
      ProcessOptions options;
      options.env = {{"TMPDIR", temp.string()}};
      // As soon as there is a temporary folder. An ignored INT, as background jobs of sh have it, is none; env gives it back.
      const std::string script = std::string("env --default-signal " ETCH_BUILD_DIR "/etch ") + command + " '" + model + "' & " +
                                 "while [ -z \"$(ls -A '" + temp.string() + "')\" ] && kill -0 $! 2>&-; do sleep 0.01; done; " +
                                 "sleep 0.1; kill -" + signal + " $!; wait $! 2>&-";
      const ProcessResult result = run_process({"sh", "-c", script}, options);
      if (result.err.find("is not available here") != std::string::npos) continue;  // no OpenCL on this machine
      EXPECT_GT(result.exit_code, 128) << command << " " << signal << ": " << describe(result) << result.err;
      EXPECT_EQ(result.err, "") << command << " " << signal;
      EXPECT_TRUE(fs::is_empty(temp)) << command << " " << signal << " left " << fs::directory_iterator(temp)->path();
    }
  }
}

}  // namespace
}  // namespace etch
