// Graph inputs that become constants: if an operator needs a constant, the error says how to make it one and what the file must hold.
#include "onnx/freeze.h"

#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/tempdir.h"
#include "onnx/import.h"
#include "onnx/tensor_file.h"
#include "support/node_model.h"

namespace etch::freeze_test {
namespace {

using test::floats;
using test::ints;
using Ints = std::vector<std::int64_t>;

std::string error_of(const ImportOptions& options) {
  try {
    import_onnx(options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

void write_npy(const std::filesystem::path& file, const Array& array) {
  const auto bytes = npy_bytes(array);
  std::ofstream(file, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

const Array kNone;
const Array kImage = floats({1, 1, 4, 4}, std::vector<double>(16, 1));
const Array kMatrix = floats({2, 3}, {1, 2, 3, 4, 5, 6});

struct Row {
  test::NodeModel node;
  Ints needed;  // the inputs that must be constants
};

const Row kRows[] = {
    {{"Reshape", 21, {kMatrix, ints({1}, {6})}}, {1}},
    {{"Expand", 21, {kMatrix, ints({2}, {2, 3})}}, {1}},
    {{"Tile", 21, {kMatrix, ints({2}, {2, 1})}}, {1}},
    {{"ConstantOfShape", 21, {ints({1}, {2})}}, {0}},
    {{"Squeeze", 21, {kImage, ints({1}, {0})}}, {1}},
    {{"Unsqueeze", 21, {kMatrix, ints({1}, {0})}}, {1}},
    {{"Split", 21, {kMatrix, ints({2}, {1, 2})}, {{"axis", std::int64_t{1}}}, 2}, {1}},
    {{"Slice", 21, {kMatrix, ints({1}, {0}), ints({1}, {1}), ints({1}, {1}), ints({1}, {1})}}, {1, 2, 3, 4}},
    {{"Pad", 21, {kMatrix, ints({4}, {1, 1, 1, 1}), floats({}, {0}), ints({2}, {0, 1})}}, {1, 2, 3}},
    {{"ReduceSum", 21, {kMatrix, ints({1}, {0})}}, {1}},
    {{"ReduceMax", 21, {kMatrix, ints({1}, {0})}}, {1}},
    {{"CumSum", 21, {kMatrix, ints({}, {0})}}, {1}},
    {{"TopK", 21, {kMatrix, ints({1}, {2})}, {}, 2}, {1}},
    {{"OneHot", 21, {ints({2}, {0, 1}), ints({1}, {3}), floats({2}, {0, 1})}}, {1}},
    {{"Range", 21, {ints({}, {0}), ints({}, {5}), ints({}, {1})}}, {0, 1, 2}},
    {{"Compress", 21, {kMatrix, ints({2}, {1, 0}, DType::Bool)}, {{"axis", std::int64_t{0}}}}, {1}},
    {{"NonZero", 21, {kMatrix}}, {0}},
    {{"Resize", 21, {kImage, kNone, floats({4}, {1, 1, 2, 2})}}, {2}},
    {{"Resize", 21, {kImage, kNone, kNone, ints({4}, {1, 1, 8, 8})}}, {3}},
    {{"Upsample", 9, {kImage, floats({4}, {1, 1, 2, 2})}}, {1}},
    {{"AffineGrid", 21, {floats({1, 2, 3}, {1, 0, 0, 0, 1, 0}), ints({4}, {1, 1, 2, 2})}}, {1}},
    {{"CenterCropPad", 21, {kMatrix, ints({2}, {2, 2})}}, {1}},
    {{"Col2Im", 21, {floats({1, 1, 4}, {1, 2, 3, 4}), ints({2}, {2, 2}), ints({2}, {1, 1})}}, {1, 2}},
    {{"MaxUnpool", 21, {floats({1, 1, 1, 1}, {1}), ints({1, 1, 1, 1}, {0}), ints({4}, {1, 1, 2, 2})}, {{"kernel_shape", Ints{2, 2}}}}, {2}},
    {{"Dropout", 21, {kMatrix, floats({}, {0.5}), ints({}, {0}, DType::Bool)}}, {2}},
    {{"HannWindow", 21, {ints({}, {8})}}, {0}},
    {{"MelWeightMatrix", 21, {ints({}, {4}), ints({}, {8}), ints({}, {8000}), floats({}, {0}), floats({}, {4000})}}, {0, 1, 2, 3, 4}},
    {{"DFT", 21, {floats({1, 4, 1}, {1, 2, 3, 4}), ints({}, {4}), ints({}, {1})}}, {1, 2}},
    {{"STFT", 21, {floats({1, 8, 1}, std::vector<double>(8, 1)), ints({}, {4}), kNone, ints({}, {4})}}, {1, 3}},
};

TEST(Freeze, WhereAnOperatorNeedsAConstantTheErrorSaysHow) {
  const TempDir work("etch-freeze");
  for (Row row : kRows) {
    row.node.constants_from = row.node.inputs.size();
    ImportOptions options{.path = {}, .bytes = test::bytes_of(row.node), .dims = {}, .name = "n"};
    for (std::size_t i = 0; i < row.node.inputs.size(); i++) {
      if (!test::is_missing(row.node.inputs[i])) write_npy(work.path() / ("x" + std::to_string(i) + ".npy"), row.node.inputs[i]);
    }
    for (std::size_t left = row.needed.size(); left > 0; left--) {  // each alone must be asked for
      const std::string name = "x" + std::to_string(row.needed[left - 1]);
      const std::vector<std::string> all_but_one = [&] {
        std::vector<std::string> freeze;
        for (std::int64_t i : row.needed) {
          const std::string other = "x" + std::to_string(i);
          if (other != name) freeze.push_back(other + "=" + (work.path() / (other + ".npy")).string());
        }
        return freeze;
      }();
      options.freeze = all_but_one;
      const std::string error = error_of(options);
      EXPECT_NE(error.find("must be known while generating"), std::string::npos) << row.node.op << " " << name << ": " << error;
      EXPECT_NE(error.find(" --freeze " + name + "=" + name + ".npy"), std::string::npos) << row.node.op << ": " << error;
      options.freeze.push_back(name + "=" + (work.path() / (name + ".npy")).string());
    }
    EXPECT_EQ(error_of(options), "") << row.node.op;
    const ImportedModel model = import_onnx(options);
    EXPECT_EQ(model.frozen.size(), row.needed.size());
    for (const ImportedTensor& input : model.inputs)
      for (const FrozenTensor& frozen : model.frozen) EXPECT_NE(input.name, frozen.name) << row.node.op;
  }
}

/// y = Reshape(x, Mul(shape, two)): the value that is missing depends on a graph input, or on the data.
std::string computed_shape(const std::string& from) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(21);
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto input = [&](const std::string& name, int type, const Ints& sizes) {
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    for (std::int64_t d : sizes) info.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(d);
  };
  input("x", onnx::TensorProto::INT64, {6});
  if (from != "x") input(from, onnx::TensorProto::INT64, {6});
  const auto node = [&](const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto& made = *graph.add_node();
    made.set_op_type(op);
    for (const std::string& name : inputs) made.add_input(name);
    made.add_output(output);
  };
  node("Abs", {from}, "shape");
  node("Reshape", {"x", "shape"}, "y");
  graph.add_output()->set_name("y");
  return model.SerializeAsString();
}

TEST(Freeze, IsProposedForWhatAConstantIsComputedFrom) {
  EXPECT_NE(
      error_of({.bytes = computed_shape("sizes")}).find("depends on graph inputs that can be made constants: --freeze sizes=sizes.npy"),
      std::string::npos);
  EXPECT_NE(error_of({.bytes = computed_shape("it's")}).find(" --freeze 'it'\\''s=it_s.npy'"), std::string::npos);
  const std::string error = error_of({.bytes = computed_shape("x")});
  EXPECT_NE(error.find("its shape (input 1) is computed when the model runs"), std::string::npos) << error;
  EXPECT_EQ(error.find("--freeze"), std::string::npos) << "nobody freezes the data: " << error;
}

/// y = Slice(x, starts, ends): x [n, 4], starts and ends of open sizes.
std::string slice_model() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto shape_of_input = [&](const std::string& name, int type) -> onnx::TensorShapeProto& {
    onnx::ValueInfoProto& info = *graph.add_input();
    info.set_name(name);
    info.mutable_type()->mutable_tensor_type()->set_elem_type(type);
    return *info.mutable_type()->mutable_tensor_type()->mutable_shape();
  };
  onnx::TensorShapeProto& x = shape_of_input("x", onnx::TensorProto::FLOAT);
  x.add_dim()->set_dim_param("n");
  x.add_dim()->set_dim_value(4);
  shape_of_input("starts", onnx::TensorProto::INT64).add_dim()->set_dim_param("axes");
  shape_of_input("ends", onnx::TensorProto::INT64).add_dim()->set_dim_param("axes");
  onnx::TensorProto& weight = *graph.add_initializer();
  array_to_proto(floats({}, {2}), "weight", weight);
  onnx::NodeProto& slice = *graph.add_node();
  slice.set_op_type("Slice");
  for (const char* name : {"x", "starts", "ends"}) slice.add_input(name);
  slice.add_output("part");
  onnx::NodeProto& scale = *graph.add_node();
  scale.set_op_type("Mul");
  for (const char* name : {"part", "weight"}) scale.add_input(name);
  scale.add_output("y");
  graph.add_output()->set_name("y");
  return model.SerializeAsString();
}

TEST(Freeze, FilesAreWhatTheInputDeclares) {
  const TempDir work("etch-freeze");
  const auto path = [&](const std::string& name) { return (work.path() / name).string(); };
  write_npy(path("a.npy"), ints({2}, {0, 1}));
  write_npy(path("b=c.npy"), ints({2}, {2, 3}));
  write_npy(path("one.npy"), ints({1}, {2}));
  write_npy(path("narrow.npy"), ints({2}, {0, 1}, DType::Int32));
  write_npy(path("deep.npy"), ints({2, 1}, {0, 1}));
  write_npy(path("wide.npy"), ints({1, 2}, {0, 1}));
  write_tensor_file(path("a.pb"), {"whatever", ints({2}, {0, 1})});
  const std::int64_t raw[] = {0, 1};
  std::ofstream(path("a.raw"), std::ios::binary).write(reinterpret_cast<const char*>(raw), sizeof raw);
  std::ofstream(path("odd.raw"), std::ios::binary).write(reinterpret_cast<const char*>(raw), 9);
  const std::string ends = "ends=" + path("b=c.npy");
  const struct {
    std::vector<std::string> freeze;
    std::vector<DimBinding> dims;
    const char* error;  // "": accepted
  } rows[] = {
      {{"starts=" + path("a.npy"), ends}, {}, ""},
      {{"starts=" + path("a.pb"), ends}, {}, ""},
      {{"starts=" + path("a.raw"), ends}, {}, ""},
      {{ends, "starts=" + path("a.raw")}, {{"axes", 2, 2}}, ""},
      {{"starts=" + path("one.npy"), ends}, {}, "--freeze ends="},
      {{"starts=" + path("a.npy"), ends}, {{"axes", 1, 1}}, "is int64 [2], the model takes int64 [1]"},
      {{"starts=" + path("a.npy"), ends}, {{"axes", 1, 2}}, "its size 'axes' is to stay variable, from 1 to 2"},
      {{"starts=" + path("narrow.npy"), ends}, {}, "is int32 [2], the model takes int64 [2]"},
      {{"starts=" + path("deep.npy"), ends}, {}, "it has 2 axes, the input has 1"},
      {{"starts=" + path("deep.npy"), ends}, {{"axes", 2, 2}}, "it has 2 axes, the input has 1"},
      {{"starts=" + path("wide.npy"), ends}, {{"axes", 2, 2}}, "it has 2 axes, the input has 1"},
      {{"starts=" + path("odd.raw"), ends}, {}, "it has 9 bytes, no multiple of the 8"},
      {{"starts=" + path("absent.raw"), ends}, {}, "can't be read"},
      {{"starts=" + path("absent.npy"), ends}, {}, "can't be read"},
      {{"strats=" + path("a.npy"), ends}, {}, "the model has no input 'strats'\n  help: its inputs: 'starts', "},
      {{"weight=" + path("a.npy")}, {}, "'weight' is an initializer of the model"},
      {{ends, ends}, {}, "input 'ends' is frozen already: "},
      {{"starts"}, {}, "it is not a name and a file"},
      {{"=" + path("a.npy")}, {}, "it is not a name and a file"},
      {{"starts="}, {}, "it is not a name and a file"},
  };
  for (const auto& row : rows) {
    ImportOptions options{.path = {}, .bytes = slice_model(), .dims = row.dims, .freeze = row.freeze, .name = "n"};
    options.dims.push_back({"n", 4, 4});
    const std::string error = error_of(options);
    if (*row.error != 0) {
      EXPECT_NE(error.find(row.error), std::string::npos) << error;
      continue;
    }
    ASSERT_EQ(error, "") << row.freeze[0];
    const ImportedModel model = import_onnx(options);
    ASSERT_EQ(model.inputs.size(), 1u);
    const Array x = floats({4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
    EXPECT_EQ(test::difference(test::evaluate_model(model, {{"x", x}}).at(0), floats({2, 2}, {2, 4, 10, 12}), 0, 0), "");
  }
}

TEST(Freeze, NumbersOfTestData) {
  const struct {
    std::size_t index, files, left;
    std::vector<std::size_t> frozen;
    std::size_t number;
  } rows[] = {{0, 1, 1, {}, 0},  {0, 1, 1, {0}, 0}, {0, 2, 1, {0}, 1},    {1, 2, 2, {1}, 1},
              {1, 3, 2, {1}, 2}, {0, 3, 2, {1}, 0}, {0, 4, 2, {0, 1}, 2}, {1, 4, 2, {0, 2}, 3}};
  for (const auto& row : rows) EXPECT_EQ(data_number(row.index, row.files, row.left, row.frozen), row.number);
}

}  // namespace
}  // namespace etch::freeze_test
