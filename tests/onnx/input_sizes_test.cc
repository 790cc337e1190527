// Sizes of inputs: those in the file, those that --dim and --shape bind, and contradictions between them.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <optional>

#include "base/error.h"
#include "onnx/import.h"
#include "support/expect_error.h"

namespace etch::input_sizes_test {
namespace {

// Sizes as the file has them: a number is a dim_value, "" a dimension without anything, other text a dim_param.
using Sizes = std::vector<const char*>;

// Inputs x, z, ... each through a Relu.
std::string model_with(const std::vector<Sizes>& inputs) {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  auto& graph = *model.mutable_graph();
  graph.set_name("g");
  const char* names[] = {"x", "z", "a:b"};
  for (std::size_t i = 0; i < inputs.size(); i++) {
    auto& input = *graph.add_input();
    input.set_name(names[i]);
    auto& type = *input.mutable_type()->mutable_tensor_type();
    type.set_elem_type(onnx::TensorProto::FLOAT);
    for (const std::string text : inputs[i]) {
      auto& dim = *type.mutable_shape()->add_dim();
      if (!text.empty() && text.find_first_not_of("-0123456789") == std::string::npos)
        dim.set_dim_value(std::stoll(text));
      else if (!text.empty())
        dim.set_dim_param(text);
    }
    auto& node = *graph.add_node();
    node.set_op_type("Relu");
    node.add_input(names[i]);
    node.add_output("y" + std::to_string(i));
    graph.add_output()->set_name("y" + std::to_string(i));
  }
  return model.SerializeAsString();
}

std::string shapes_of(const ImportedModel& model) {
  std::string text;
  for (const ImportedTensor& input : model.inputs) {
    text += "[";
    for (std::size_t i = 0; i < input.shape.size(); i++) {
      const Sint& d = input.shape[i];
      text += (i == 0 ? "" : ",") +
              (d.is_int() ? std::to_string(d.as_int()) : to_text(d) + ":" + std::to_string(d.min()) + ".." + std::to_string(d.max()));
    }
    text += "]";
  }
  return text;
}

struct Row {
  std::vector<Sizes> inputs;
  std::vector<DimBinding> dims;
  std::vector<ShapeBinding> shapes;
  const char* shape;                // what comes out; nullptr: an error
  std::vector<const char*> says{};  // the error
};

const Row kRows[] = {
    // any axis, however the file leaves it open
    {{{"batch", "3"}}, {{"batch", 2, 2}}, {}, "[2,3]"},
    {{{"batch", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"-1", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"-7", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"0", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"0", "3"}}, {}, {}, "[0,3]"},
    {{{"", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"?", "3", "?", "?"}}, {{"x[0]", 1, 1}, {"x[2]", 48, 48}, {"x[3]", 192, 192}}, {}, "[1,3,48,192]"},
    {{{"None", "None"}}, {{"x[0]", 1, 1}, {"x[1]", 7, 7}}, {}, "[1,7]"},
    {{{"?", "?"}}, {{"?", 4, 4}}, {}, "[4,4]"},
    {{{"x[0]", "3"}}, {{"x[0]", 2, 2}}, {}, "[2,3]"},
    {{{"1"}, {"1"}, {"", "4"}}, {{"a:b[0]", 2, 2}}, {}, "[1][1][2,4]"},
    // a name is one size, wherever it stands
    {{{"batch", "3"}, {"batch", "4"}}, {{"z[0]", 2, 2}}, {}, "[2,3][2,4]"},
    {{{"?", "3"}, {"?", "4"}}, {{"x[0]", 2, 2}, {"z[0]", 5, 5}}, {}, "[2,3][5,4]"},
    // ranges
    {{{"1", "3", "-1", "-1"}}, {{"x[2]", 8, 64}, {"x[3]", 9, 9}}, {}, "[1,3,x_2:8..64,9]"},
    {{{"?", "?"}}, {{"?", 1, 4}}, {}, "[x_0:1..4,x_1:1..4]"},
    // whole shapes
    {{{"?", "3", "?", "?"}}, {}, {{"x", {{1, 1}, {3, 3}, {48, 48}, {192, 192}}}}, "[1,3,48,192]"},
    {{{"n", "3", "?", ""}}, {}, {{"x", {{1, 4}, {3, 3}, {48, 48}, {160, 640}}}}, "[n:1..4,3,48,x_3:160..640]"},
    {{{"n", "3"}, {"n", "2"}}, {{"n", 1, 4}}, {{"x", {{1, 4}, {3, 3}}}, {"z", {{1, 4}, {2, 2}}}}, "[n:1..4,3][n:1..4,2]"},
    {{{"2", "3"}}, {{"x[1]", 3, 3}}, {{"x", {{2, 2}, {3, 3}}}}, "[2,3]"},
    // contradictions
    {{{"2", "3"}}, {{"x[1]", 4, 4}}, {}, nullptr, {"--dim x[1]=4", "fixes the size of 'x' at axis 1 at 3"}},
    {{{"n", "3"}}, {}, {{"x", {{2, 2}, {4, 4}}}}, nullptr, {"--shape x=2,4", "axis 1 at 3"}},
    {{{"n", "3"}}, {{"n", 1, 1}}, {{"x", {{2, 2}, {3, 3}}}}, nullptr, {"--shape x=2,3", "'n'", "--dim n=1 gives it 1"}},
    {{{"n", "3"}}, {{"n", 1, 4}, {"x[0]", 2, 2}}, {}, nullptr, {"--dim x[0]=2", "--dim n=1..4"}},
    {{{"n", "3"}, {"n", "4"}}, {{"x[0]", 1, 1}, {"z[0]", 2, 2}}, {}, nullptr, {"--dim z[0]=2", "'n'", "--dim x[0]=1"}},
    {{{"n", "3"}}, {}, {{"x", {{2, 2}}}}, nullptr, {"--shape x=2", "1 sizes", "2 axes: [n,3]"}},
    {{{"n", "3"}}, {{"x[2]", 1, 1}}, {}, nullptr, {"--dim x[2]=1", "2 axes", "[n,3]"}},
    // names of nothing: what there is, the nearest first
    {{{"batch", "width"}}, {{"bacth", 1, 1}}, {}, nullptr, {"no dimension is called 'bacth'", "'batch', 'width'"}},
    {{{"batch", "width"}}, {{"wdith", 1, 1}, {"batch", 1, 1}}, {}, nullptr, {"'wdith'", "'width', 'batch'"}},
    {{{"-1", "?"}}, {{"z[1]", 1, 1}}, {}, nullptr, {"'z[1]'", "'x[1]', 'x[0]'"}},
    {{{"2", "3"}}, {{"batch", 1, 1}}, {}, nullptr, {"'batch'", "leave --dim out"}},
    {{{"n"}, {"n"}}, {}, {{"zz", {{2, 2}}}}, nullptr, {"no input 'zz'", "'z', 'x'"}},
};

TEST(InputSizes, AreBoundOrRefused) {
  for (const Row& row : kRows) {
    ImportOptions options;
    options.bytes = model_with(row.inputs);
    options.dims = row.dims;
    options.shapes = row.shapes;
    const std::string title = std::string(row.shape == nullptr ? row.says[0] : row.shape);
    try {
      const ImportedModel model = import_onnx(options);
      EXPECT_EQ(shapes_of(model), row.shape == nullptr ? "an error" : row.shape);
    } catch (const UserError& error) {
      EXPECT_EQ(row.shape, nullptr) << title << ": " << error.what();
      for (const char* part : row.says) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << "\n" << error.what();
    }
  }
}

TEST(InputSizes, AnInputWithoutAShapeGetsOne) {
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(model_with({{"1", "2"}})));
  model.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  ImportOptions options;
  options.bytes = model.SerializeAsString();
  test::expect_error<UserError>([&] { import_onnx(options); }, "graph input 'x': it has no shape");
  options.shapes = {{"x", {{1, 4}, {3, 3}}}};
  EXPECT_EQ(shapes_of(import_onnx(options)), "[x_0:1..4,3]");
}

TEST(InputSizes, EveryOpenOneIsListedWithAnOption) {
  ImportOptions options;
  options.bytes = model_with({{"batch", "3", "?", "-1"}, {"batch", ""}, {"1", "2"}});
  std::vector<std::string> listed;
  for (const ImportProblem& problem : inspect_onnx(options).problems) {
    EXPECT_EQ(problem.kind, ImportProblem::Kind::OpenSize) << problem.problem;
    listed.push_back(problem.option);
  }
  EXPECT_EQ(listed, (std::vector<std::string>{"--dim batch=1", "--dim 'x[2]=224'", "--dim 'x[3]=224'", "--dim 'z[1]=16'"}));
  try {
    import_onnx(options);
    FAIL();
  } catch (const UserError& error) {
    for (const std::string& option : listed) EXPECT_NE(error.help().find(option), std::string::npos) << error.what();
    EXPECT_NE(error.problem().find("4 sizes of inputs are open"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace etch::input_sizes_test
