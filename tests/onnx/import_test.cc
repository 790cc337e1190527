// What the importer accepts: every storage form of a tensor, names, order of nodes, open dimensions, shape arithmetic.
#include "onnx/import.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "base/tempdir.h"
#include "onnx/builder.h"
#include "onnx/protobuf_file.h"
#include "support/evaluate.h"

namespace etch::import_test {
namespace {

using Ints = GraphBuilder::Ints;

Array floats(std::vector<std::int64_t> shape, std::vector<double> values) {
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

std::string error_of(const ImportOptions& options) {
  try {
    import_onnx(options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Storage, EveryTypeInRawAndTypedFields) {
  // 1 and 200 (or -56, as int8 wraps it) tell signed from unsigned; 2.5 tells floats from their bits.
  for (int number = 0; number < kDTypeCount; number++) {
    const DType dtype = static_cast<DType>(number);
    const Array values = is_float(dtype)        ? Array::of_doubles(dtype, {3}, std::vector<double>{1, -2.5, 200})
                         : dtype == DType::Bool ? Array::of_ints(dtype, {3}, Ints{1, 0, 1})
                         : is_unsigned(dtype)   ? Array::of_ints(dtype, {3}, Ints{1, int_max(dtype), 0})
                                                : Array::of_ints(dtype, {3}, Ints{1, int_min(dtype), int_max(dtype)});
    for (Storage storage : {Storage::Raw, Storage::Typed}) {
      GraphBuilder g("storage");
      g.node_with_outputs("Identity", {g.initializer("w", values, storage)}, {"y"});
      g.output("y", dtype, {3});
      const ImportedModel model = import_onnx({.bytes = g.bytes()});
      EXPECT_EQ(*model.outputs[0].tensor.evaluate(), values) << name_of(dtype) << (storage == Storage::Raw ? " raw" : " typed");
    }
  }
}

TEST(Storage, ExternalDataBesideTheModel) {
  const TempDir folder;
  GraphBuilder g("external");
  g.input("x", DType::Float32, {1, 20});
  g.output(g.dense(g.dense("x", "fc1", 20, 40), "fc2", 40, 30), DType::Float32, {1, 30});
  g.write(folder.path() / "inside.onnx");
  g.write(folder.path() / "outside.onnx", "weights.bin");
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "weights.bin"), 20u * 40 * 4 + 40u * 30 * 4);
  const ImportedModel inside = import_onnx({.path = folder.path() / "inside.onnx"}),
                      outside = import_onnx({.path = folder.path() / "outside.onnx"});
  const Array x = Array::filled(DType::Float32, {1, 20}, Scalar::of_double(DType::Float32, 0.5));
  EXPECT_EQ(test::evaluate_model(inside, {{"x", x}})[0], test::evaluate_model(outside, {{"x", x}})[0]);
  EXPECT_EQ(inside.parameter_count, 20 * 40 + 40 + 40 * 30 + 30);
}

TEST(Storage, ExternalDataThatCanNotBeReadIsRefused) {
  struct Row {
    const char *key, *value, *word;
  };
  const Row rows[] = {{"location", "../weights.bin", "outside the model's folder"},
                      {"location", "/etc/passwd", "outside the model's folder"},
                      {"location", "sub/../../weights.bin", "outside the model's folder"},
                      {"location", "other.bin", "no such file"},
                      {"location", "", "names no file"},
                      {"offset", "4", "which has 3200"},
                      {"offset", "99999999999999999999", "a number >= 0"},
                      {"offset", "18446744073709551615", "which has 3200"},
                      {"offset", "-4", "a number >= 0"},
                      {"length", "16", "need 3200"},
                      {"length", "x", "a number >= 0"}};
  for (const Row& row : rows) {
    const TempDir parent;
    const std::filesystem::path folder = parent.path() / "model";
    std::filesystem::create_directories(folder);
    GraphBuilder g("external");
    g.input("x", DType::Float32, {1, 20});
    g.output(g.node("MatMul", {"x", g.seeded("w", {20, 40}, 20)}), DType::Float32, {1, 40});
    g.write(folder / "m.onnx", "weights.bin");
    std::filesystem::copy(folder / "weights.bin", parent.path() / "weights.bin");
    onnx::ModelProto proto;
    read_message(folder / "m.onnx", "a model", proto);
    for (auto& entry : *proto.mutable_graph()->mutable_initializer(0)->mutable_external_data()) {
      if (entry.key() == row.key) entry.set_value(row.value);
    }
    write_file(folder / "m.onnx", serialize_message(proto));
    const std::string text = error_of({.path = folder / "m.onnx"});
    EXPECT_NE(text.find(row.word), std::string::npos) << row.key << "=" << row.value << ": " << text;
    EXPECT_NE(text.find("initializer 'w'"), std::string::npos) << text;
  }
}

TEST(Storage, ConstantNodesInAllForms) {
  struct Row {
    OnnxAttributes attributes;
    DType dtype;
    Array wanted;
  };
  const Row rows[] = {
      {{{"value", floats({2}, {1, 2})}}, DType::Float32, floats({2}, {1, 2})},
      {{{"value_float", 1.5}}, DType::Float32, floats({}, {1.5})},
      {{{"value_int", -7}}, DType::Int64, Array::of_ints(DType::Int64, {}, Ints{-7})},
      {{{"value_floats", std::vector<double>{1, 2, 3}}}, DType::Float32, floats({3}, {1, 2, 3})},
      {{{"value_ints", Ints{4, 5}}}, DType::Int64, Array::of_ints(DType::Int64, {2}, Ints{4, 5})},
  };
  for (const Row& row : rows) {
    GraphBuilder g("constant", 13);
    g.node_with_outputs("Constant", {}, {"y"}, row.attributes);
    g.output("y", row.dtype, std::vector<OnnxDim>(row.wanted.shape().begin(), row.wanted.shape().end()));
    EXPECT_EQ(*import_onnx({.bytes = g.bytes()}).outputs[0].tensor.evaluate(), row.wanted) << row.attributes[0].first;
  }
}

TEST(Import, InitializersAmongTheInputsAreNotInputs) {
  GraphBuilder g("ir3", 9, 3);
  g.input("x", DType::Float32, {2, 3});
  g.input("w", DType::Float32, {3});
  g.initializer("w", floats({3}, {1, 2, 3}));
  g.node_with_outputs("Add", {"x", "w"}, {"y"});
  g.output("y", DType::Float32, {2, 3});
  const ImportedModel model = import_onnx({.bytes = g.bytes()});
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_EQ(test::evaluate_model(model, {{"x", floats({2, 3}, {0, 0, 0, 1, 1, 1})}})[0], floats({2, 3}, {1, 2, 3, 2, 3, 4}));
}

TEST(Import, NodesInAnyOrder) {
  GraphBuilder g("unsorted");
  g.input("x", DType::Float32, {2});
  g.node_with_outputs("Neg", {"b"}, {"y"}, {}, "third");
  g.node_with_outputs("Exp", {"a"}, {"b"}, {}, "second");
  g.node_with_outputs("Relu", {"x"}, {"a"}, {}, "first");
  g.output("y", DType::Float32, {2});
  const ImportedModel model = import_onnx({.bytes = g.bytes()});
  EXPECT_EQ(model.node_names, (std::vector<std::string>{"first", "second", "third"}));
  EXPECT_EQ(model.operators, (std::vector<std::string>{"Relu", "Exp", "Neg"}));
  EXPECT_EQ(test::evaluate_model(model, {{"x", floats({2}, {0, -4})}})[0], floats({2}, {-1, -1}));
}

TEST(Import, NamesBecomeIdentifiersWithoutCollisions) {
  GraphBuilder g("gpu_0/net");
  for (const char* name : {"gpu_0/data_0", "gpu_0:data_0", "int", "1", "class"}) g.input(name, DType::Float32, {1});
  g.node_with_outputs("Sum", {"gpu_0/data_0", "gpu_0:data_0", "int", "1", "class"}, {"GPU_0.DATA_0"}, {});
  g.output("GPU_0.DATA_0", DType::Float32, {1});
  const ImportedModel model = import_onnx({.path = "models/my-net.v2.onnx", .bytes = g.bytes()});
  std::vector<std::string> names = {model.name};
  for (const ImportedTensor& t : model.inputs) names.push_back(t.c_name);
  names.push_back(model.outputs[0].c_name);
  names.push_back(model.node_names[0]);
  EXPECT_EQ(names, (std::vector<std::string>{"my_net_v2", "gpu_0_data_0", "gpu_0_data_0_2", "int_", "n1", "class_", "GPU_0_DATA_0_3",
                                             "GPU_0.DATA_0"}));
}

TEST(Import, BuffersKnowTheirNode) {
  GraphBuilder g("origins");
  g.input("x", DType::Float32, {4});
  g.output(g.node("Neg", {g.node("Exp", {"x"}, {}, "a")}, {}, "b"), DType::Float32, {4});
  const ImportedModel model = import_onnx({.bytes = g.bytes()});
  EXPECT_EQ(model.outputs[0].tensor.buffer()->base->origins, std::vector<std::string>{"b"});
}

// --- open dimensions

/// x [batch,3,8] -> y by `build`; the output's shape as text.
std::string shape_with_batch(void (*build)(GraphBuilder&), std::int64_t min = 1, std::int64_t max = 16) {
  GraphBuilder g("symbolic", 13);
  g.input("x", DType::Float32, {"batch", 3, 8});
  build(g);
  g.output("y", DType::Float32, {"a"});
  return shape_text(import_onnx({.bytes = g.bytes(), .dims = {{"batch", min, max}}}).outputs[0].shape);
}

/// Element `i` of the shape of x, as an int64 scalar.
std::string dim_of(GraphBuilder& g, const std::string& x, std::int64_t i) {
  const std::string index = g.initializer(x + ".index" + std::to_string(i), Array::scalar(Scalar::of_int(DType::Int64, i)));
  return g.node("Gather", {g.node("Shape", {x}), index});
}

std::string row_of(GraphBuilder& g, const std::string& scalar) { return g.node("Unsqueeze", {scalar, g.ints(scalar + ".axes", {0})}); }

struct SymbolicCase {
  const char* name;
  void (*build)(GraphBuilder&);
  const char* shape;
};

const SymbolicCase kSymbolic[] = {
    {"ReshapeMinusOne", [](GraphBuilder& g) { g.node_with_outputs("Reshape", {"x", g.ints("s", {0, -1})}, {"y"}); }, "[batch,24]"},
    {"ReshapeMinusOneInFront", [](GraphBuilder& g) { g.node_with_outputs("Reshape", {"x", g.ints("s", {-1, 24})}, {"y"}); }, "[batch,24]"},
    {"Flatten", [](GraphBuilder& g) { g.node_with_outputs("Flatten", {"x"}, {"y"}); }, "[batch,24]"},
    {"ViewOfExporters",
     [](GraphBuilder& g) {
       const auto shape = g.node("Concat", {row_of(g, dim_of(g, "x", 0)), g.ints("rest", {-1})}, {{"axis", 0}});
       g.node_with_outputs("Reshape", {"x", shape}, {"y"});
     },
     "[batch,24]"},
    {"ProductOfDims",
     [](GraphBuilder& g) {
       const auto shape =
           g.node("Concat", {row_of(g, g.node("Mul", {dim_of(g, "x", 0), dim_of(g, "x", 1)})), g.ints("rest", {8})}, {{"axis", 0}});
       g.node_with_outputs("Reshape", {"x", shape}, {"y"});
     },
     "[(batch*3),8]"},
    {"SliceOfShape",
     [](GraphBuilder& g) {
       const auto shape = g.node("Shape", {"x"});
       const auto head = g.node("Slice", {shape, g.ints("s0", {0}), g.ints("e0", {2})});
       g.node_with_outputs("Reshape", {"x", g.node("Concat", {head, g.ints("rest", {2, 4})}, {{"axis", 0}})}, {"y"});
     },
     "[batch,3,2,4]"},
    {"CastAndDivide",
     [](GraphBuilder& g) {
       const auto narrow = g.node("Cast", {g.node("Shape", {"x"})}, {{"to", 6}});
       const auto doubled = g.node("Mul", {narrow, g.initializer("two", Array::of_ints(DType::Int32, {1}, Ints{2}))});
       const auto halved = g.node("Div", {doubled, "two"});
       g.node_with_outputs("Expand", {"x", g.node("Cast", {halved}, {{"to", 7}})}, {"y"});
     },
     "[batch,3,8]"},
    {"ConstantOfShape", [](GraphBuilder& g) { g.node_with_outputs("ConstantOfShape", {g.node("Shape", {"x"})}, {"y"}); }, "[batch,3,8]"},
    {"ExpandToTheShape",
     [](GraphBuilder& g) {
       // torch.expand: -1 in the wanted shape stands for 1, chosen by Where(Equal(shape, -1), ones, shape)
       const auto shape = g.node("Concat", {row_of(g, dim_of(g, "x", 0)), g.ints("rest", {-1, 8})}, {{"axis", 0}});
       const auto fixed = g.node("Where", {g.node("Equal", {shape, g.ints("minus", {-1})}), g.ints("ones", {1, 1, 1}), shape});
       g.node_with_outputs("Expand", {g.seeded("w", {1, 3, 8}, 1), fixed}, {"y"});
     },
     "[batch,3,8]"},
    {"ReduceProdOfShape",
     [](GraphBuilder& g) {
       g.node_with_outputs("Reshape", {"x", g.node("ReduceProd", {g.node("Shape", {"x"})}, {{"keepdims", 1}})}, {"y"});
     },
     "[(batch*24)]"},
    {"SliceOfTheOpenAxis",
     [](GraphBuilder& g) { g.node_with_outputs("Slice", {"x", g.ints("s0", {1}), g.ints("e0", {1LL << 62}), g.ints("a", {0})}, {"y"}); },
     "[(-1+batch),3,8]"},
    {"SliceOffTheEnd",
     [](GraphBuilder& g) { g.node_with_outputs("Slice", {"x", g.ints("s0", {0}), g.ints("e0", {-1}), g.ints("a", {0})}, {"y"}); },
     "[(-1+batch),3,8]"},
    {"PadTheOpenAxis", [](GraphBuilder& g) { g.node_with_outputs("Pad", {"x", g.ints("p", {1, 0, 0, 2, 0, 0})}, {"y"}); },
     "[(3+batch),3,8]"},
    {"ConcatOnTheOpenAxis", [](GraphBuilder& g) { g.node_with_outputs("Concat", {"x", "x"}, {"y"}, {{"axis", 0}}); }, "[(batch*2),3,8]"},
    {"Transposed", [](GraphBuilder& g) { g.node_with_outputs("Transpose", {"x"}, {"y"}); }, "[8,3,batch]"},
};

TEST(OpenDims, ShapeArithmeticIsDoneWhileGenerating) {
  for (const SymbolicCase& c : kSymbolic) {
    try {
      EXPECT_EQ(shape_with_batch(c.build), c.shape) << c.name;
    } catch (const std::exception& error) {
      ADD_FAILURE() << c.name << ": " << error.what();
    }
  }
}

TEST(OpenDims, AShapeThatIsAnOutputIsComputedWhenRunning) {
  GraphBuilder g("shape", 13);
  g.input("x", DType::Float32, {"batch", 3});
  g.node_with_outputs("Shape", {"x"}, {"y"});
  g.output("y", DType::Int64, {2});
  const ImportedModel model = import_onnx({.bytes = g.bytes(), .dims = {{"batch", 1, 16}}});
  ASSERT_EQ(model.dims.size(), 1u);
  for (std::int64_t batch : {1, 7, 16}) {
    const Array x = Array::filled(DType::Float32, {batch, 3}, Scalar::of_double(DType::Float32, 0));
    EXPECT_EQ(test::evaluate_model(model, {{"x", x}}, {{"batch", batch}})[0], Array::of_ints(DType::Int64, {2}, Ints{batch, 3}));
  }
}

TEST(OpenDims, ABoundNameIsASize) {
  GraphBuilder g("bound", 13);
  g.input("x", DType::Float32, {"batch", "batch"});
  g.node_with_outputs("Relu", {"x"}, {"y"});
  g.output("y", DType::Float32, {"batch", "batch"});
  const ImportedModel model = import_onnx({.bytes = g.bytes(), .dims = {{"batch", 5, 5}}});
  EXPECT_EQ(shape_text(model.outputs[0].shape), "[5,5]");
  EXPECT_TRUE(model.dims.empty());
}

}  // namespace
}  // namespace etch::import_test
