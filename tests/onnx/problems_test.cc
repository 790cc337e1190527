// A model that is refused is refused for everything at once: open sizes, operators, attributes, types, damaged weights.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>

#include "base/error.h"
#include "onnx/import.h"

namespace etch::problems_test {
namespace {

onnx::ModelProto parsed(const char* text) {
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser::Parse(model, text);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage();
  return model;
}

ImportOptions options_of(const onnx::ModelProto& model) {
  ImportOptions options;
  options.bytes = model.SerializeAsString();
  return options;
}

std::vector<std::string> nodes_refused(const ImportedModel& model) {
  std::vector<std::string> places;
  for (const ImportProblem& p : model.problems) places.push_back(p.where.substr(p.where.find(": ") + 2));
  return places;
}

struct Row {
  const char* name;
  const char* graph;                 // of opset 17
  std::vector<const char*> refused;  // each problem's place, in order
};

const Row kRows[] = {
    // Behind a refused node its readers are still checked for what needs no values: operator, counts, attributes.
    {"in a chain",
     "g (float[4] x) => (float[4] y) { a = Foo (x) b = Relu (a) c = Bar (b) d = Relu <surprise = 1> (c) y = Foo (d) }",
     {"node 'a' (Foo)", "node 'c' (Bar)", "node 'd' (Relu)", "node 'y' (Foo)"}},
    {"beside each other",
     "g (float[4] x) => (float[4] y, float[4] z) { y = Foo (x) z = Neg (x, x) }",
     {"node 'y' (Foo)", "node 'z' (Neg)"}},
    {"with open sizes",
     "g (float[n,4] x, float[m] w) => (y) { a = Foo (x) y = Add (a, w) }",
     {"graph input 'x'", "graph input 'w'", "node 'a' (Foo)"}},
    // A problem that occurs at any size is found although the size is open; one that depends on the size is not reported.
    {"behind an open size",
     "g (float[n,4] x, int64[2] s) => (y, z) { y = Reshape (x, s) c = Constant <value = int64[2] {1, 12}> () z = Reshape (x, c) }",
     {"graph input 'x'", "node 'y' (Reshape)"}},
    {"types of inputs", "g (string[4] x, complex64[4] w) => (y) { y = Add (x, w) }", {"graph input 'x'", "graph input 'w'"}},
    {"a cycle and an operator", "g (float[4] x) => (y) { a = Add (x, b) b = Foo (a) y = Relu (b) }", {"node 'a' (Add)", "node 'b' (Foo)"}},
    {"a value from nowhere and an operator", "g (float[4] x) => (y) { a = Add (x, b) y = Foo (a) }", {"node 'a' (Add)", "node 'y' (Foo)"}},
    {"outputs", "g (float[4] x) => (y, z) { a = Relu (x) }", {"graph output 'y'", "graph output 'z'"}},
};

TEST(Problems, AllOfThemInOneRun) {
  for (const Row& row : kRows) {
    const onnx::ModelProto model = parsed((std::string("<ir_version: 8, opset_import: [\"\" : 17]>\n") + row.graph).c_str());
    const std::vector<std::string> refused = nodes_refused(inspect_onnx(options_of(model)));
    EXPECT_EQ(refused, std::vector<std::string>(row.refused.begin(), row.refused.end())) << row.name;
    try {
      import_onnx(options_of(model));
      ADD_FAILURE() << row.name;
    } catch (const UserError& error) {
      for (const char* part : row.refused)
        if (std::ranges::count(refused, part) == 1 && std::string(part) != "node 'y' (Foo)") {
          EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << row.name << ": " << part << "\n" << error.what();
        }
    }
  }
}

TEST(Problems, OfOneKindAreCountedInTheError) {
  const auto model = parsed(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { a = Foo (x) b = Foo (a) c = Bar (b) y = Foo (c) })");
  try {
    import_onnx(options_of(model));
    FAIL();
  } catch (const UnsupportedError& error) {
    EXPECT_EQ(error.subject(), "operator Foo") << "of the first, so that a suite groups models by it";
    EXPECT_EQ(error.problem(),
              "4 things are not supported:\n  node 'a' (Foo): operator 'Foo' is not supported at opset 17  (and 2 more of this kind)\n"
              "  node 'c' (Bar): operator 'Bar' is not supported at opset 17");
  }
}

TEST(Problems, DamagedWeightsAndForeignDomainsAreAmongThem) {
  auto model = parsed(R"(<ir_version: 8, opset_import: ["" : 17, "com.example" : 1]>
g (float[4] x) => (float[4] y, float[4] z) { a = Add (x, w) y = Foo (a) b = com.example.Gelu (x) z = Relu (b) })");
  auto* weight = model.mutable_graph()->add_initializer();
  weight->set_name("w");
  weight->set_data_type(onnx::TensorProto::FLOAT);
  weight->add_dims(4);
  weight->set_raw_data("123");
  EXPECT_EQ(nodes_refused(inspect_onnx(options_of(model))),
            (std::vector<std::string>{"initializer 'w'", "node 'y' (Foo)", "node 'b' (Gelu)"}));
}

// In an opset that is not accepted operators are checked by name only.
TEST(Problems, AnotherOpsetAndUnknownOperators) {
  const auto model = parsed(R"(<ir_version: 8, opset_import: ["" : 3]>
g (float[4] x) => (float[4] y) { a = Relu <consumed_inputs = [0]> (x) y = Foo (a) })");
  const ImportedModel seen = inspect_onnx(options_of(model));
  ASSERT_EQ(seen.problems.size(), 2u);
  EXPECT_NE(seen.problems[0].problem.find("opset 3"), std::string::npos);
  EXPECT_NE(seen.problems[1].where.find("(Foo)"), std::string::npos);
  EXPECT_EQ(seen.operators, (std::vector<std::string>{"Relu", "Foo"}));
}

}  // namespace
}  // namespace etch::problems_test
