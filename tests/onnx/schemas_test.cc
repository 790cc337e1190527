// schemas.def against the definitions of the ONNX library, as far as its opsets go; and that nodes beyond them are refused.
#include <gtest/gtest.h>
#include <onnx/defs/schema.h>

#include <limits>
#include <optional>
#include <set>
#include <sstream>

#include "base/process.h"
#include "onnx/operators.h"
#include "onnx/schema.h"
#include "support/files.h"
#include "support/node_model.h"

namespace etch {
namespace {

using test::expect_node;
using test::expect_refused;
using test::floats;
using test::ints;
using Ints = std::vector<std::int64_t>;

int most(int count) { return count == std::numeric_limits<int>::max() ? Schema::kAny : count; }

/// Of "tensor(float)", if etch has that type.
std::optional<DType> dtype_of_text(const std::string& text) {
  for (int number = 1; number <= 16; number++) {
    const std::string name = number == 1 ? "float" : number == 11 ? "double" : onnx_type_name(number);
    if (text == "tensor(" + name + ")") return dtype_of_onnx(number);
  }
  return std::nullopt;
}

TEST(OnnxSchemas, AreThoseOfTheLibrary) {
  const int newest = std::min(kNewestOpset, onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second);
  int compared = 0;
  for (const OperatorRow& row : operator_rows()) {
    for (int opset = kOldestOpset; opset <= newest; opset++) {
      SCOPED_TRACE(std::string(row.name) + " opset " + std::to_string(opset));
      const bool trains = row.domain == kTrainingDomain;  // of one version
      if (trains && opset > kOldestOpset) break;
      const onnx::OpSchema* theirs = onnx::OpSchemaRegistry::Schema(row.name, trains ? kTrainingVersion : opset, row.domain);
      const Schema* ours = find_schema(row.name, opset);
      ASSERT_EQ(ours != nullptr, theirs != nullptr);
      if (ours == nullptr) continue;
      compared++;
      ASSERT_EQ(ours->removed(), theirs->Deprecated());
      if (ours->removed()) continue;
      EXPECT_EQ(ours->inputs, most(theirs->max_input()));
      EXPECT_EQ(ours->outputs, most(theirs->max_output()));
      std::string attributes;
      for (const auto& [name, attribute] : theirs->attributes()) attributes += (attributes.empty() ? "" : " ") + name;
      EXPECT_EQ(ours->attributes, attributes);
      // Their types were corrected since, without a new version.
      if (std::set<std::string>{"Erf", "GridSample"}.contains(row.name)) continue;
      for (std::size_t i = 0; i < theirs->inputs().size(); i++) {
        std::set<DType> types;
        for (const std::string* type : theirs->inputs()[i].GetTypes()) {
          if (const auto dtype = dtype_of_text(*type)) types.insert(*dtype);
        }
        const std::vector<DType> found = ours->types_of(static_cast<int>(i));
        EXPECT_EQ(std::set<DType>(found.begin(), found.end()), types) << "input " << i;
        const bool same = theirs->inputs()[i].GetTypeStr() == theirs->inputs()[0].GetTypeStr();
        EXPECT_EQ(ours->type_of(static_cast<int>(i)) == ours->type_of(0), same) << "input " << i;
      }
    }
  }
  EXPECT_GT(compared, 1000);
}

/// The rows of schemas.def without comments and line breaks.
std::string rows_of(const std::string& text) {
  std::string rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("//")) continue;
    rows += line.starts_with("ONNX_SCHEMA") ? "\n" + line : " " + line.substr(line.find_first_not_of(' '));
  }
  return rows;
}

TEST(OnnxSchemas, AreThoseOfThePythonPackage) {
  std::vector<std::string> argv{ETCH_SOURCE_DIR "/tests/fuzz/in_venv", "../onnx/schemas.py"};
  std::set<std::string> names;
  for (const OperatorRow& row : operator_rows()) names.insert(row.name);
  argv.insert(argv.end(), names.begin(), names.end());
  const ProcessResult printed = run_process(argv);
  if (printed.exit_code == 77) GTEST_SKIP() << printed.out;
  ASSERT_TRUE(printed.ok()) << printed.err;
  const std::string ours = test::content(ETCH_SOURCE_DIR "/generator/onnx/schemas.def");
  EXPECT_EQ(rows_of(ours), rows_of(printed.out)) << "build/venv/bin/python tests/onnx/schemas.py NAME... prints what is wanted";
}

TEST(OnnxSchemas, EveryOperatorHasOne) {
  for (const OperatorRow& row : operator_rows())
    EXPECT_NE(find_schema(row.name, std::max(row.since, kOldestOpset)), nullptr) << row.name << " opset " << row.since;
}

TEST(OnnxSchemas, NodesBeyondThemAreRefused) {
  const Array x = floats({1, 1, 4, 4}, std::vector<double>(16, 1)), w = floats({1, 1, 2, 2}, {1, 1, 1, 1}), b = floats({1}, {1});
  const std::int64_t one = 1;
  const struct {
    test::NodeModel node;
    const char* text;
  } kRows[] = {
      {{"Relu", 13, {x, x}}, "it has 2 inputs, Relu has at most 1 at opset 13"},
      {{"Softmax", 13, {x, x}}, "it has 2 inputs, Softmax has at most 1"},
      {{"Conv", 13, {x, w, b, w}}, "it has 4 inputs, Conv has at most 3"},
      {{"Clip", 7, {x, b, b}}, "it has 3 inputs, Clip has at most 1 at opset 7"},
      {{"Relu", 13, {x}, {}, 2}, "it has 2 outputs, Relu has at most 1"},
      {{"MaxPool", 7, {x}, {{"kernel_shape", Ints{2, 2}}, {"storage_order", one}}}, "attribute storage_order is not supported at opset 7"},
      {{"MaxPool", 8, {x}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{1, 1}}}}, "attribute dilations is not supported at opset 8"},
      {{"Cast", 13, {x}, {{"to", one}, {"saturate", one}}}, "attribute saturate is not supported at opset 13"},
      {{"Dropout", 13, {x}, {{"ratio", 0.5}}}, "attribute ratio is not supported at opset 13"},
      {{"Dropout", 7, {x}, {{"seed", one}}}, "attribute seed is not supported at opset 7"},
      {{"Softmax", 13, {x}, {{"axis", one}, {"axis", one}}}, "attribute axis is given twice"},
      {{"Upsample", 13, {x, floats({4}, {1, 1, 2, 2})}}, "removed from ONNX at opset 10"},
      {{"Scatter", 13, {b, ints({1}, {0}), b}}, "removed from ONNX at opset 11"},
  };
  for (const auto& row : kRows) expect_refused(row.node, row.text);
  expect_node({"Cast", 19, {b}, {{"to", one}, {"saturate", one}}}, {b});
  expect_node({"Dropout", 10, {b}, {{"ratio", 0.5}}}, {b});
  expect_node({"Scatter", 10, {b, ints({1}, {0}), floats({1}, {5})}}, {floats({1}, {5})});
  expect_node(
      {"GroupNormalization", 18, {floats({1, 2, 1}, {3, 4}), floats({2}, {1, 1}), floats({2}, {5, 6})}, {{"num_groups", std::int64_t{2}}}},
      {floats({1, 2, 1}, {5, 6})});
}

}  // namespace
}  // namespace etch
