// Custom operators with several outputs: the function gets one pointer for each, also for those that nobody reads.
#include <gtest/gtest.h>

#include <algorithm>

#include "custom_model.h"
#include "program/lower.h"
#include "support/files.h"

namespace etch::outputs_test {
namespace {

using test::custom_node;
using test::customs;
using test::declare;
using test::error_of;

// The largest value of each row, where it is, and the row's sum.
constexpr const char* kLargest = R"(#include <stdint.h>
void largest(float *value, int64_t *place, float *sum, const float *x, int32_t x_dim0, int32_t x_dim1) {
  int32_t r, c;
  for (r = 0; r < x_dim0; r++) {
    value[r] = x[r * x_dim1];
    place[r] = 0;
    sum[r] = 0.0f;
    for (c = 0; c < x_dim1; c++) {
      sum[r] += x[r * x_dim1 + c];
      if (x[r * x_dim1 + c] > value[r]) {
        value[r] = x[r * x_dim1 + c];
        place[r] = c;
      }
    }
  }
}
)";
const std::vector<CustomBinding> kBinding{{"com.example.Largest", "largest"}};

struct Net {
  std::string bytes;
  std::vector<std::string> outputs;
};

// relu(x) of [n, 5]; of the outputs those in `used` are outputs of the model, behind a Neg if they are floats.
Net net_with(const std::vector<std::string>& used) {
  GraphBuilder g("net", 17);
  const auto x = g.node("Relu", {g.input("x", DType::Float32, {"n", 5})});
  g.node_with_outputs("Largest", {x}, {"value", "place", "sum"}, {}, "largest", "com.example");
  declare(g, "value", {"n"});
  declare(g, "place", {"n"}, DType::Int64);
  declare(g, "sum", {"n"});
  for (const std::string& name : used) {
    if (name == "place")
      g.output(name, DType::Int64, {"n"});
    else
      g.output(g.node("Neg", {name}), DType::Float32, {"n"});
  }
  return {g.bytes(), used};
}

CompileOptions options_of(const Net& net, const std::string& source = kLargest) {
  CompileOptions options = test::options_for(net.bytes, customs({{"largest.c", source}}, kBinding));
  options.import.dims = {{"n", 1, 4}};
  return options;
}

const std::vector<double> kRows{1, -2, 3, 0.5, 3, -1, -1, 7, 2, 7, -5, -4, -3, -2, -1};
// By hand, of the rows after relu.
const std::map<std::string, std::vector<double>> kWant{{"value", {-3, -7, 0}}, {"place", {2, 2, 0}}, {"sum", {-7.5, -16, 0}}};

TEST(CustomOperator, SeveralOutputs) {
  for (const std::vector<std::string>& used :
       {std::vector<std::string>{"value", "place", "sum"}, {"sum", "value"}, {"place"}, {"sum"}, {"place", "sum"}}) {
    const Net net = net_with(used);
    const CompileOptions options = options_of(net);
    const auto all = test::run_everywhere(options, {Array::of_doubles(DType::Float32, {3, 5}, kRows)}, {{"n", 3}});
    EXPECT_GE(all.size(), 3u);
    for (const auto& [device, got] : all)
      for (std::size_t k = 0; k < used.size(); k++) EXPECT_EQ(got.at(k).doubles(), kWant.at(used[k])) << device << " " << used[k];
    const Program program = lower_model(read_model(options), nullptr, options);
    const auto call = std::ranges::find_if(
        program.calls, [&](const ProgramCall& c) { return program.kernels[static_cast<std::size_t>(c.kernel)].external != nullptr; });
    ASSERT_NE(call, program.calls.end());
    EXPECT_EQ(std::ranges::distance(call->writes()), 3);
    EXPECT_EQ(std::ranges::count_if(program.kernels, [](const ProgramKernel& k) { return k.external != nullptr; }), 1) << "called once";
    EXPECT_EQ(call->bytes.max(), 4 * (4 + 8 + 4) + 4 * 5 * 4) << "each buffer once, of the largest n";
  }
}

TEST(CustomOperator, SeveralOutputsInTheEmittedProject) {
  const CompileOptions options = options_of(net_with({"value", "place"}));  // the sum is written for nobody
  const TempDir work;
  const auto dir = work.path() / "out";
  write_audited(dir, compile_project(read_model(options), options), options);
  const std::string source = test::content(dir / "net.c");
  EXPECT_NE(source.find("largest((float *)arg[0], (int64_t *)arg[1], (float *)arg[2], (const float *)arg[3], "), std::string::npos)
      << source;
  test::expect_builds_and_passes(dir, "gcc");
}

TEST(CustomOperator, SeveralOutputsThatDoNotFit) {
  std::string source = kLargest;
  source.replace(source.find("int64_t *place"), 14, "const float *p");
  const std::string error = error_of([&] { read_model(options_of(net_with({"sum"}), "#define place ((int64_t *)p)\n" + source)); });
  EXPECT_NE(
      error.find("parameter 2 'const float *p' is for output 1 ('place', int64), a pointer to int64_t is expected\n"
                 "  expected: void largest(float *value, int64_t *p, float *sum, const float *x, int32_t x_dim0, int32_t x_dim1)\n"
                 "  found:    void largest(float *value, const float *p, float *sum, const float *x, int32_t x_dim0, int32_t x_dim1)"),
      std::string::npos)
      << error;
  const std::string few = error_of([&] { read_model(options_of(net_with({"sum"}), "void largest(float *value, const float *x) { }\n")); });
  EXPECT_NE(few.find("it begins with 2 pointers, the node has 3 outputs and 1 input"), std::string::npos) << few;
}

TEST(CustomOperator, GuardsNameTheOutput) {
  std::string source = kLargest;
  source.replace(source.find("place[r] = 0;"), 13, "place[r + 1] = 0;");
  const CompileOptions options = options_of(net_with({"value"}), source);
  const Frontend frontend = read_model(options);
  for (const auto& device : test::devices()) {
    const Program program = lower_model(frontend, device->language(), options);
    const std::string error = error_of([&] { device->load(program)->run({Array::of_doubles(DType::Float32, {3, 5}, kRows)}, {{"n", 3}}); });
    EXPECT_TRUE(
        error.starts_with("node 'largest' (com.example.Largest): custom function largest() of largest.c: it writes outside of its "
                          "output 1, at index 3, there are 3 elements"))
        << device->name() << ": " << error;
  }
}

TEST(CustomOperator, AnOutputThatIsLeftOutIsRefused) {
  GraphBuilder g("net", 17);
  const auto x = g.input("x", DType::Float32, {"n", 5});
  g.node_with_outputs("Largest", {x}, {"value", "", "sum"}, {}, "largest", "com.example");
  declare(g, "value", {"n"});
  g.output("sum", DType::Float32, {"n"});
  EXPECT_EQ(error_of([&] { read_model(options_of({g.bytes(), {}})); }),
            "net.onnx: node 'largest' (Largest): its output 1 is left out, a custom function writes all\n  help: give it a name");
}

std::shared_ptr<const ExternalKernel> external(const std::string& name, const std::string& parameters, const std::string& body,
                                               std::vector<ExternalOutput> outputs) {
  const std::string declaration = "void " + name + "(" + parameters + ")";
  const auto files = std::make_shared<std::vector<ExternalFile>>(
      std::vector<ExternalFile>{{name + ".c", declaration + " {\n  int i;\n  for (i = 0; i < 3; i++) {\n" + body + "  }\n}\n"}});
  return std::make_shared<const ExternalKernel>(ExternalKernel{name, name, name + ".c", declaration, std::move(outputs), {}, files});
}

struct Ran {
  Program program;
  std::vector<Array> outputs;
};

// On every device; `variables` has none.
void run_all(const std::shared_ptr<LazyGraph>& graph, const Schedule& schedule, const Tensor& x, const std::vector<double>& values,
             const std::function<void(const std::string& device, const Ran& ran)>& check_one) {
  for (const auto& device : test::devices()) {
    SCOPED_TRACE(device->name());
    LowerOptions lowering;
    lowering.language = device->language();
    lowering.inputs = {x.buffer()};
    Ran ran{lower(graph, schedule, lowering), {}};
    ran.outputs = device->load(ran.program)->run({Array::of_doubles(DType::Float32, {3}, values)});
    check_one(device->name(), ran);
  }
}

// One output becomes a carried value, where it was read from may not be written; the other an element of a list.
TEST(CustomOperator, SeveralOutputsInALoop) {
  const auto turn = external("turn", "float *old, float *next, const float *x",
                             "    old[i] = x[i];\n    next[i] = 2 * x[(i + 1) % 3] - 1;\n", {{DType::Float32, {3}}, {DType::Float32, {3}}});
  auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {3});
  const LoopResults loop = Tensor::loop(*graph, 4, {x}, [&](Sint, const std::vector<Tensor>& carried) -> LoopTurn {
    const std::vector<Tensor> both = Tensor::external(*graph, turn, {carried[0]});
    return {{both[1]}, {both[0]}};
  });
  const Schedule schedule = create_schedule(*graph, {{"last", loop.carried[0]}, {"all", loop.listed[0]}});
  std::vector<double> now{1, -2, 4}, all;
  for (int t = 0; t < 4; t++) {
    all.insert(all.end(), now.begin(), now.end());
    now = {2 * now[1] - 1, 2 * now[2] - 1, 2 * now[0] - 1};
  }
  run_all(graph, schedule, x, {1, -2, 4}, [&](const std::string&, const Ran& ran) {
    EXPECT_EQ(ran.outputs.at(0).doubles(), now);
    EXPECT_EQ(ran.outputs.at(1).doubles(), all);
  });
}

// A kernel that reads what a function and another kernel write, and kernels on both sides that could be joined if it were not there.
TEST(CustomOperator, IsNeverFusedAndNeverJoined) {
  const auto twice = external("twice", "float *y, const float *x", "    y[i] = 2 * x[i];\n", {{DType::Float32, {3}}});
  auto graph = LazyGraph::create();
  const Tensor x = Tensor::input(*graph, "x", DType::Float32, {3});
  const Tensor before = x + 1.0;
  const Tensor y = Tensor::external(*graph, twice, {before}).at(0);
  const Tensor after = y * y - before;
  const Schedule schedule = create_schedule(*graph, {{"before", before}, {"y", y}, {"after", after}});
  ASSERT_EQ(schedule.items.size(), 3u);
  EXPECT_EQ(std::ranges::count_if(schedule.items, [](const ScheduleItem& i) { return i.external != nullptr && i.ast == nullptr; }), 1);
  for (const ScheduleItem& item : schedule.items) EXPECT_TRUE(item.more.empty());
  run_all(graph, schedule, x, {1, -2, 4}, [&](const std::string&, const Ran& ran) {
    EXPECT_EQ(ran.outputs.at(0).doubles(), (std::vector<double>{2, -1, 5}));
    EXPECT_EQ(ran.outputs.at(1).doubles(), (std::vector<double>{4, -2, 10}));
    EXPECT_EQ(ran.outputs.at(2).doubles(), (std::vector<double>{14, 5, 95}));
    for (const ProgramCall& call : ran.program.calls)
      if (ran.program.kernels[static_cast<std::size_t>(call.kernel)].external != nullptr) {
        for (const CallArgument& a : call.arguments) EXPECT_EQ(a.may_alias, 0u);
      }
  });
}

}  // namespace
}  // namespace etch::outputs_test
