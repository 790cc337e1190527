// Models that the importer refuses. Errors must name the file, the node or tensor, what was found, and what is accepted.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "base/error.h"
#include "base/tempdir.h"
#include "onnx/builder.h"
#include "onnx/import.h"
#include "onnx/operators.h"
#include "onnx/protobuf_file.h"

namespace etch::import_errors_test {
namespace {

using Ints = GraphBuilder::Ints;

/// The text of the UserError that importing gives; "" if it is accepted.
std::string error_of(const ImportOptions& options) {
  try {
    import_onnx(options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

onnx::TensorProto& initializer(GraphBuilder& g, int i = 0) { return *g.proto().mutable_graph()->mutable_initializer(i); }
onnx::TensorShapeProto& input_shape(GraphBuilder& g) {
  return *g.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
}

struct ErrorCase {
  const char* name;
  int opset;
  void (*build)(GraphBuilder& g);  // input "x" float32 [2,3] is there; "y" is the output
  std::vector<const char*> words;  // all in the error
};

const ErrorCase kCases[] = {
    {"UnknownOperator",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Frobnicate", {"x"}, {"y"}, {}, "n1"); },
     {"model: node 'n1' (Frobnicate)", "operator 'Frobnicate' is not supported at opset 13", "etch ops"}},
    {"MisspeltOperator", 13, [](GraphBuilder& g) { g.node_with_outputs("relu", {"x"}, {"y"}, {}, "n1"); }, {"'Relu'"}},
    {"OperatorNewerThanTheModel",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("GroupNormalization", {"x"}, {"y"}); },
     {"node 'y' (GroupNormalization)", "from opset 18 on", "opset 13"}},
    {"ForeignDomain",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("FusedConv", {"x"}, {"y"}, {}, "f", "com.microsoft"); },
     {"node 'f' (FusedConv)", "domain 'com.microsoft'"}},
    {"UnreadAttribute",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Relu", {"x"}, {"y"}, {{"alpha", 0.5}}, "r"); },
     {"node 'r' (Relu)", "attribute alpha is not supported at opset 13"}},
    {"AttributeOfALaterOpset",
     12,
     [](GraphBuilder& g) { g.node_with_outputs("Shape", {"x"}, {"y"}, {{"start", 1}}, "s"); },
     {"node 's' (Shape)", "attribute start is not supported at opset 12"}},
    {"AttributeOfWrongType",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Softmax", {"x"}, {"y"}, {{"axis", 1.0}}, "s"); },
     {"attribute axis is of type float, int is expected"}},
    {"MissingAttribute", 13, [](GraphBuilder& g) { g.node_with_outputs("Concat", {"x", "x"}, {"y"}); }, {"attribute axis is missing"}},
    {"AxisOutOfRange",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Softmax", {"x"}, {"y"}, {{"axis", 2}}); },
     {"axis is 2", "from -2 to 1"}},
    {"ShapesDoNotBroadcast",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Add", {"x", g.seeded("w", {4}, 4)}, {"y"}, {}, "a"); },
     {"node 'a' (Add)", "shapes [2,3] and [4] do not broadcast"}},
    {"MatricesDoNotFit",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("MatMul", {"x", g.seeded("w", {4, 5}, 4)}, {"y"}, {}, "m"); },
     {"node 'm' (MatMul)", "[2,3] by [4,5]: 3 columns against 4 rows"}},
    {"MixedTypes",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Add", {"x", g.ints("w", {1, 2, 3})}, {"y"}); },
     {"float32", "int64", "Cast"}},
    {"TypeThatTheOperatorHasNot",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Sqrt", {g.ints("w", {1})}, {"y"}, {}, "q"); },
     {"node 'q' (Sqrt)", "input 0 is int64", "float"}},
    {"MissingInputOfNode", 13, [](GraphBuilder& g) { g.node_with_outputs("Add", {"x"}, {"y"}); }, {"node 'y' (Add)", "1 inputs"}},
    {"ShapeThatIsNotConstant",
     13,
     [](GraphBuilder& g) {
       g.input("s", DType::Int64, {2});
       g.node_with_outputs("Reshape", {"x", "s"}, {"y"});
     },
     {"its shape (input 1) is computed when the model runs"}},
    {"ReshapeToOtherSize",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Reshape", {"x", g.ints("s", {4, -1})}, {"y"}); },
     {"[2,3]", "[4,-1]"}},
    {"ConvGroups",
     13,
     [](GraphBuilder& g) {
       g.input("im", DType::Float32, {1, 3, 8, 8});
       g.node_with_outputs("Conv", {"im", g.seeded("w", {4, 3, 3, 3}, 27)}, {"y"}, {{"group", 3}}, "c");
     },
     {"node 'c' (Conv)", "[1,3,8,8]", "[4,3,3,3]", "group 3"}},
    {"ConvPads",
     13,
     [](GraphBuilder& g) {
       g.input("im", DType::Float32, {1, 3, 8, 8});
       g.node_with_outputs("Conv", {"im", g.seeded("w", {4, 3, 3, 3}, 27)}, {"y"}, {{"pads", Ints{1, 1}}}, "c");
     },
     {"attribute pads is [1, 1]", "4 numbers from 0"}},
    {"WindowLargerThanInput",
     13,
     [](GraphBuilder& g) {
       g.input("im", DType::Float32, {1, 3, 2, 2});
       g.node_with_outputs("MaxPool", {"im"}, {"y"}, {{"kernel_shape", Ints{3, 3}}}, "p");
     },
     {"node 'p' (MaxPool)", "a kernel of 3", "does not fit into 2 elements"}},
    {"TrainingMode",
     14,
     [](GraphBuilder& g) {
       const auto v = g.seeded("v", {3}, 1);
       g.node_with_outputs("BatchNormalization", {"x", v, v, v, v}, {"y"}, {{"training_mode", 1}});
     },
     {"training_mode is 1"}},
    {"HugeConstantOfShape",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("ConstantOfShape", {g.ints("s", {1 << 20, 1 << 20})}, {"y"}); },
     {"[1048576,1048576]", "2^31"}},
    {"HugeExpand",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Expand", {"x", g.ints("s", {1 << 20, 1 << 20, 2, 3})}, {"y"}); },
     {"node 'y' (Expand)", "[1048576,1048576,2,3]", "2^31"}},
    {"HugeInput",
     13,
     [](GraphBuilder& g) {
       g.input("h", DType::Float32, {1 << 20, 1 << 20});
       g.node_with_outputs("Relu", {"h"}, {"y"});
     },
     {"graph input 'h'", "2^31"}},
    {"OverflowingInput",
     13,
     [](GraphBuilder& g) {
       const std::int64_t large = std::int64_t{1} << 40;
       g.input("h", DType::Float32, {large, large, large});
       g.node_with_outputs("Relu", {"h"}, {"y"});
     },
     {"graph input 'h'", "2^31"}},
    {"NegativeSize",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       input_shape(g).mutable_dim(1)->set_dim_value(-3);
     },
     {"graph input 'x'", "size at axis 1 is not fixed: it is given as -3"}},
    {"OpenDimension",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       input_shape(g).mutable_dim(0)->set_dim_param("batch");
     },
     {"graph input 'x'", "axis 0 is not fixed", "'batch'", "--dim batch=VALUE"}},
    {"NamelessDimension",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       input_shape(g).mutable_dim(1)->Clear();
     },
     {"--dim x[1]=VALUE"}},
    {"InputWithoutShape",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
     },
     {"graph input 'x'", "no shape"}},
    {"StringInput",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
     },
     {"element type is string", "float32"}},
    {"Int4Initializer",
     21,
     [](GraphBuilder& g) {
       g.node_with_outputs("Add", {"x", g.seeded("w", {3}, 3)}, {"y"});
       initializer(g).set_data_type(22);
     },
     {"initializer 'w'", "int4"}},
    {"SequenceInput",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().mutable_graph()->mutable_input(0)->mutable_type()->mutable_sequence_type();
     },
     {"graph input 'x'", "sequence"}},
    {"SparseInitializer",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().mutable_graph()->add_sparse_initializer()->mutable_values()->set_name("sp");
     },
     {"initializer 'sp'", "sparse"}},
    {"LocalFunction",
     16,
     [](GraphBuilder& g) {
       g.node_with_outputs("Twice", {"x"}, {"y"}, {}, "t", "mine");
       auto& function = *g.proto().add_functions();
       function.set_name("Twice");
       function.set_domain("mine");
     },
     {"node 't' (Twice)", "'mine.Twice'", "inline"}},
    {"InitializerTooShort",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Add", {"x", g.seeded("w", {3}, 3)}, {"y"});
       initializer(g).mutable_raw_data()->resize(8);
     },
     {"initializer 'w'", "8 bytes", "[3]", "needs 12"}},
    {"TypedInitializerTooLong",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs(
           "Add", {"x", g.initializer("w", Array::filled(DType::Float32, {3}, Scalar::of_double(DType::Float32, 1)), Storage::Typed)},
           {"y"});
       initializer(g).add_float_data(1);
     },
     {"initializer 'w'", "4 values", "needs 3"}},
    {"NegativeInitializerSize",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Add", {"x", g.seeded("w", {3}, 3)}, {"y"});
       initializer(g).set_dims(0, -3);
     },
     {"initializer 'w'", "its shape [-3] has the size -3 at axis 0"}},
    {"InitializerUnlikeItsInput",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Add", {"x", g.seeded("w", {3}, 3)}, {"y"});
       g.input("w", DType::Float32, {4});
     },
     {"initializer 'w'", "float32 [3]", "graph input of the same name"}},
    {"Cycle",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Add", {"x", "b"}, {"a"}, {}, "n1");
       g.node_with_outputs("Relu", {"a"}, {"b"}, {}, "n2");
       g.node_with_outputs("Relu", {"b"}, {"y"}, {}, "n3");
     },
     {"has a cycle", "n1", "n2"}},
    {"ValueFromNowhere",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Add", {"x", "lost"}, {"y"}, {}, "a"); },
     {"node 'a' (Add)", "'lost'", "no node"}},
    {"ValueMadeTwice",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"}, {}, "r1");
       g.node_with_outputs("Neg", {"x"}, {"y"}, {}, "r2");
     },
     {"node 'r2' (Neg)", "'y'", "'r1'"}},
    {"ValueOverAnInput",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"}, {}, "r1");
       g.node_with_outputs("Neg", {"y"}, {"x"}, {}, "r2");
     },
     {"node 'r2' (Neg)", "'x'", "graph input or initializer"}},
    {"TwoInputsOfOneName",
     13,
     [](GraphBuilder& g) {
       g.input("x", DType::Float32, {2});
       g.node_with_outputs("Relu", {"x"}, {"y"});
     },
     {"two graph inputs", "'x'"}},
    {"OutputFromNowhere", 13, [](GraphBuilder& g) { g.node_with_outputs("Relu", {"x"}, {"z"}); }, {"graph output 'y'", "no node"}},
    {"OutputOfOtherType",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Cast", {"x"}, {"y"}, {{"to", 7}}); },
     {"graph output 'y'", "declared as float32", "int64"}},
    {"UnsupportedOutput",
     13,
     [](GraphBuilder& g) {
       const auto v = g.seeded("v", {3}, 1);
       g.node_with_outputs("BatchNormalization", {"x", v, v, v, v}, {"y", "second"});
     },
     {"output 1 ('second') is not supported"}},
    {"SurplusOutput",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Relu", {"x"}, {"y", "second"}); },
     {"it has 2 outputs, Relu has at most 1 at opset 13"}},
    {"StringConstant",
     13,
     [](GraphBuilder& g) { g.node_with_outputs("Constant", {}, {"y"}, {{"value_string", "text"}}); },
     {"node 'y' (Constant)", "its value is given by value_string, accepted are value,"}},
    {"OldOpset", 6, [](GraphBuilder& g) { g.node_with_outputs("Relu", {"x"}, {"y"}); }, {"opset 6", "7 to 28"}},
    {"NewOpset", 29, [](GraphBuilder& g) { g.node_with_outputs("Relu", {"x"}, {"y"}); }, {"opset 29", "7 to 28"}},
    {"NoOpset",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().clear_opset_import();
     },
     {"no opset"}},
    {"NoOutputs",
     13,
     [](GraphBuilder& g) {
       g.node_with_outputs("Relu", {"x"}, {"y"});
       g.proto().mutable_graph()->clear_output();
     },
     {"no outputs"}},
    {"NoGraph", 13, [](GraphBuilder& g) { g.proto().clear_graph(); }, {"no graph"}},
};

TEST(ImportErrors, NameThePlaceAndTheProblem) {
  for (const ErrorCase& c : kCases) {
    GraphBuilder g("test", c.opset);
    g.input("x", DType::Float32, {2, 3});
    g.output("y", DType::Float32, {2, 3});
    c.build(g);
    const std::string text = error_of({.bytes = g.bytes()});
    EXPECT_NE(text, "") << c.name << ": was accepted";
    for (const char* word : c.words) EXPECT_NE(text.find(word), std::string::npos) << c.name << ": no '" << word << "' in:\n" << text;
  }
}

std::string small_model(int batch_dims = 0) {
  GraphBuilder g("small");
  g.input("x", DType::Float32, {batch_dims > 0 ? OnnxDim("batch") : OnnxDim(2), batch_dims > 1 ? OnnxDim("width") : OnnxDim(3)});
  g.node_with_outputs("Relu", {"x"}, {"y"});
  g.output("y", DType::Float32, {2, 3});
  return g.bytes();
}

TEST(ImportErrors, OfFiles) {
  const TempDir folder;
  const auto file = [&](const std::string& name, const std::string& bytes) {
    write_file(folder.path() / name, bytes);
    return folder.path() / name;
  };
  const std::string model = small_model();
  struct Row {
    std::filesystem::path path;
    const char* word;
  };
  const Row rows[] = {
      {folder.path() / "absent.onnx", "no such file"},
      {folder.path(), "this is a folder"},
      {file("empty.onnx", ""), "the file is empty"},
      {file("text.onnx", "this is no model at all, but a text"), "not an ONNX model"},
      {file("half.onnx", model.substr(0, model.size() / 2)), "not an ONNX model"},
      {file("most.onnx", model.substr(0, model.size() - 1)), "not an ONNX model"},
      {file("zeros.onnx", std::string(100, '\0')), "not an ONNX model"},
  };
  for (const Row& row : rows) {
    const std::string text = error_of({.path = row.path});
    EXPECT_NE(text.find(row.word), std::string::npos) << row.path << ": " << text;
    EXPECT_NE(text.find(row.path.string()), std::string::npos) << text;
  }
}

TEST(ImportErrors, EveryTruncationIsAnErrorAndNoCrash) {
  GraphBuilder g("cut");
  g.input("x", DType::Float32, {1, 2, 5, 5});
  g.node_with_outputs("Relu", {g.conv("x", "c", 2, 3, {3, 3}, {1, 1}, {1, 1, 1, 1})}, {"y"});
  g.output("y", DType::Float32, {1, 3, 5, 5});
  const std::string bytes = g.bytes();
  ASSERT_EQ(error_of({.bytes = bytes}), "");
  int accepted = 0;
  for (std::size_t size = 1; size < bytes.size(); size++) {
    accepted += error_of({.bytes = bytes.substr(0, size)}).empty();
  }
  EXPECT_EQ(accepted, 0);  // the opset is the file's last field, so every part of it is incomplete
}

TEST(ImportErrors, OfDimBindings) {
  struct Row {
    int open;
    std::vector<DimBinding> dims;
    const char* word;
  };
  const Row rows[] = {
      {1, {{"batch", 1, 16}}, ""},
      {1, {{"batch", 4, 4}}, ""},
      {2, {{"batch", 1, 16}, {"width", 8, 8}}, ""},
      {2, {{"batch", 1, 16}}, "--dim width=VALUE"},
      {1, {{"batch", 0, 16}}, "--dim batch=0..16"},
      {1, {{"batch", 5, 4}}, "--dim batch=5..4"},
      {1, {{"batch", 1, 1}, {"length", 1, 1}}, "no dimension is called 'length'"},
      {0, {{"batch", 1, 1}}, "all sizes of the model are fixed"},
  };
  for (const Row& row : rows) {
    const std::string text = error_of({.bytes = small_model(row.open), .dims = row.dims});
    if (*row.word == '\0')
      EXPECT_EQ(text, "");
    else
      EXPECT_NE(text.find(row.word), std::string::npos) << text;
  }
}

TEST(OperatorTable, LooksUpTheNewestRowThatIsNotTooNew) {
  EXPECT_EQ(find_operator("Nothing", 13), nullptr);
  EXPECT_EQ(find_operator("Adam", 13), nullptr);
  EXPECT_EQ(find_operator("Relu", 13, kTrainingDomain), nullptr);
  EXPECT_EQ(find_operator("GroupNormalization", 17), nullptr);
  ASSERT_NE(find_operator("GroupNormalization", 21), nullptr);
  for (const OperatorRow& row : operator_rows()) {
    const OperatorRow* found = find_operator(row.name, row.since, row.domain);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->since, row.since) << row.name;  // no two rows of one name and opset
    EXPECT_EQ(found->function, row.function) << row.name;
  }
}

}  // namespace
}  // namespace etch::import_errors_test
