// What tinygrad 0.8 gets wrong from Tensor to the emitted project, in the ONNX front end and in the JIT, each with the example that shows
// it there: etch does not. The other half is in bugs_of_08_compiler_test.cc.
#include <cmath>

#include "base/tempdir.h"
#include "bugs_of_08.h"
#include "emit/build.h"
#include "jit/tinyjit.h"
#include "memory/plan.h"
#include "support/node_model.h"

namespace etch {
namespace {

using test::Net;
using test::NodeModel;

// There: arange and cumsum are sums of n * n elements, gather is a product with n * vocabulary, and arange is computed at run time.
TEST(BugsOf08, AlgorithmsAreLinearAndConstantsAreFolded) {
  Net net;
  LazyGraph& graph = *net.graph;
  const auto operations = [&](const Tensor& y) {
    std::int64_t count = 0;
    for (const ScheduleItem& item : net.schedule({y}).items) count += count_work(item.ast).flops.as_int();
    return count;
  };
  const Tensor x = net.input(DType::Float32, {1000}, std::vector<double>(1000, 1));
  const Tensor range = Tensor::arange(graph, 1000, DType::Float32);
  ASSERT_TRUE(range.evaluate().has_value());
  EXPECT_EQ(range.evaluate()->double_at(999), 999) << "known when the model is compiled";
  EXPECT_LE(operations(x + range), 2000);
  EXPECT_EQ(test::count_ops(net.schedule({x + range}), Op::ReduceSum), 0);
  EXPECT_LE(operations(x.cumsum(0)), 1000);
  EXPECT_TRUE(Tensor::eye(graph, 8, 8, DType::Float32).evaluate().has_value());
  const Tensor ids = net.input(DType::Int32, {5}, {0, 999, 7, 500, 3});
  const Tensor table = net.input(DType::Float32, {1000, 4}, std::vector<double>(4000, 1));
  const Tensor weight = Tensor::constant(graph, Array::of_doubles(DType::Float32, {1000, 4}, std::vector<double>(4000, 1)), "weight");
  // A one-hot product with numbers that may be infinite is not a lookup (0 times infinity), with known weights it is.
  for (const Tensor& y : {table.gather(0, ids), ids.one_hot(1000).cast(DType::Float32).matmul(weight)}) {
    EXPECT_EQ(net.kernels(y), 1u);
    EXPECT_LE(operations(y), 100) << "nothing grows with the table";
  }
}

/// A project of one network, emitted for C.
std::vector<EmittedFile> project_of(const Program& program, MemoryPlan* plan = nullptr) {
  const MemoryPlan made = plan_memory(program);
  if (plan != nullptr) *plan = made;
  EmitOptions options;
  options.name = "net";
  return emit(program, made, options);
}

std::string text_of(const std::vector<EmittedFile>& files, const std::string& name) {
  const auto file = std::ranges::find(files, name, &EmittedFile::name);
  return file == files.end() ? "" : file->text;
}

TEST(BugsOf08, ExportPlansMemoryAndKeepsTypes) {
  const auto program_of = [](Net& net) {
    const Tensor a = net.input(DType::Int8, {1000}, std::vector<double>(1000, 3));
    const Tensor weight = Tensor::constant(*net.graph, Array::of_doubles(DType::Float32, {1000}, std::vector<double>(1000, 0.5)), "weight");
    Tensor x = a.cast(DType::Float32) * weight;
    for (int k = 0; k < 6; k++) x = (x.flip({0}).contiguous() + 1.0).contiguous();
    return net.program({x.cast(DType::Int16)});
  };
  Net net, again;
  MemoryPlan plan;
  const std::vector<EmittedFile> files = project_of(program_of(net), &plan);
  const std::string code = text_of(files, "net.c"), header = text_of(files, "net.h"), weights = text_of(files, "net_weights.c");
  // Bytes are bytes: at most two floats of 1000 live at once (there: the sum of all, four times).
  EXPECT_LE(plan.arena_bytes, 2 * 4000 + 64);
  EXPECT_NE(header.find("const int8_t *"), std::string::npos) << header;
  EXPECT_NE(header.find("int16_t *"), std::string::npos) << header;
  EXPECT_NE(weights.find("const"), std::string::npos);
  EXPECT_NE((code + weights + header).find("ETCH_ALIGNED("), std::string::npos);
  // A kernel is no symbol of the program's, and its name is the model's, not that of what was compiled before.
  EXPECT_EQ(test::count_of(code, "\nvoid k"), 0) << code;
  EXPECT_GE(test::count_of(code, "static void k0_"), 1) << code;
  const std::vector<EmittedFile> same = project_of(program_of(again));
  ASSERT_EQ(same.size(), files.size());
  for (std::size_t k = 0; k < files.size(); k++) EXPECT_EQ(same[k].text, files[k].text) << files[k].name;
}

TEST(BugsOf08, ExportTakesOpenSizes) {
  Net net;
  const Sint n = net.graph->symbols().variable("n", 1, 8);
  const Tensor x = Tensor::input(*net.graph, "x", DType::Int32, {n, 4});
  net.inputs.push_back(x.buffer());
  const std::vector<EmittedFile> files = project_of(net.program({x.sum({1})}));
  EXPECT_NE(text_of(files, "net.h").find("int32_t n"), std::string::npos) << text_of(files, "net.h");
}

TEST(BugsOf08, TensorAssignmentsHaveAnEffect) {
  Session session(make_device("c", {}));
  const Tensor x = session.from(Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 2, 3, 4}));
  // x[1:3] = 9
  const Tensor nine = Tensor::full(session.graph(), {2}, Scalar::of_double(DType::Float32, 9));
  session.assign(x, Tensor::cat({x.slice(0, 0, 1), nine, x.slice(0, 3, 4)}, 0));
  EXPECT_EQ(session.values(x).doubles(), (std::vector<double>{1, 9, 9, 4}));
}

TEST(BugsOf08, TensorSplitsAsAsked) {
  Net net;
  std::vector<double> values;
  for (int k = 0; k < 18; k++) values.push_back(k);
  const Tensor x = net.input(DType::Float32, {2, 9}, values);
  const std::vector<Tensor> parts = x.split(1, {4, 4, 1});
  ASSERT_EQ(parts.size(), 3u);
  net.expect(parts[0], {0, 1, 2, 3, 9, 10, 11, 12});
  net.expect(parts[2], {8, 17});
  EXPECT_THROW(x.split(1, {3, 3, 4}), ShapeError);
}

TEST(BugsOf08, TensorMathIsExact) {
  Net net;
  const Tensor big = net.input(DType::Float32, {4}, {3e9, -3e9, 2.5, -2.5});
  net.expect(big.floor(), {3e9, -3e9, 2, -3});
  net.expect(big.ceil(), {3e9, -3e9, 3, -2});
  net.expect(big.unary(Op::Trunc), {3e9, -3e9, 2, -2});
  net.expect(net.input(DType::Float32, {3}, {1e-13, -1e-13, 0}).sign(), {1, -1, 0});
  net.expect(net.input(DType::Float32, {3}, {NAN, INFINITY, 2}) * 0.0, {NAN, NAN, 0});
  // Integers divide as integers, which is what ONNX and C say; who wants the ratio divides floats.
  const Tensor seven = net.input(DType::Int32, {2}, {7, -7}), two = net.input(DType::Int32, {2}, {2, 2});
  net.expect(seven / two, {3, -3});
  net.expect(seven.cast(DType::Float32) / two.cast(DType::Float32), {3.5, -3.5});
  net.expect(Tensor::binary(Op::Mod, seven, two), {1, -1});
}

TEST(BugsOf08, TensorReductionsAreRight) {
  Net net;
  for (const DType dtype : {DType::UInt32, DType::UInt64, DType::UInt8}) {
    const Tensor x = net.input(dtype, {3}, {3, 0, 250});
    net.expect(x.min(), {0});
    net.expect(x.max(), {250});
  }
  net.expect(net.input(DType::Int32, {4}, {2, -3, 4, 5}).prod(), {-120});
  const Tensor image = net.input(DType::Float32, {1, 1, 2, 2}, {1, 2, 3, 4});
  const Window window{.kernel = {2, 2}, .stride = {2, 2}, .dilation = {}, .pads = {{1, 1}, {1, 1}}};
  net.expect(image.average_pool(window, true), {0.25, 0.5, 0.75, 1});
  net.expect(image.average_pool(window, false), {1, 2, 3, 4});
}

// Indices: never outside of the memory, and never a silent 0.
TEST(BugsOf08, TensorIndicesAreChecked) {
  Net net;
  const Tensor x = net.input(DType::Float32, {3}, {10, 20, 30});
  const auto at = [&](std::int64_t k) { return Tensor::full(*net.graph, {1}, Scalar::of_int(DType::Int64, k)); };
  EXPECT_THROW(x.gather(0, at(3)), ShapeError) << "an index that is known";
  net.expect(x.gather(0, at(-1)), {30});
  net.expect(x.gather(0, net.input(DType::Int32, {4}, {1, -1, 3, 100})), {20, 30, 30, 30});
  // What 0.8 lacks.
  const Array data = test::floats({5}, {3, 1, 4, 1, 5});
  test::expect_node({"TopK", 11, {data, test::ints({1}, {2})}, {{"axis", std::int64_t{0}}}},
                    {test::floats({2}, {5, 4}), test::ints({2}, {4, 2})});
  test::expect_node({"ScatterElements", 16, {data, test::ints({2}, {4, 0}), test::floats({2}, {7, 8})}, {{"axis", std::int64_t{0}}}},
                    {test::floats({5}, {8, 1, 4, 1, 7})});
  // Of a mask that is known when the model is compiled; one that the model computes gives a size that no program is made for.
  const Array mask = Array::of_ints(DType::Bool, {5}, std::vector<std::int64_t>{1, 0, 1, 0, 1});
  EXPECT_EQ(test::run_node({"Compress", 11, {data, mask}, {{"axis", std::int64_t{0}}}}).at(0), test::floats({3}, {3, 4, 5}));
}

// There: every raw initializer becomes float32, half is float, OneHot works on one axis, Resize on one channel, on the host.
TEST(BugsOf08, OnnxTypesAreKept) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  test::expect_node({"Add", 14, {test::ints({1}, {1}), test::ints({1}, {kOdd})}}, {test::ints({1}, {kOdd + 1})});
  const Array half = test::floats({2}, {1.5, 2.25}, DType::Float16);
  const std::vector<Array> got = test::run_node({"Add", 14, {half, half}});
  EXPECT_EQ(got.at(0), test::floats({2}, {3, 4.5}, DType::Float16));
}

TEST(BugsOf08, OnnxOneHotAndResizeOnEveryAxis) {
  const Array on_off = test::floats({2}, {0, 1});
  test::expect_node({"OneHot", 11, {test::ints({1, 2}, {2, 0}), test::ints({}, {3}), on_off}, {{"axis", std::int64_t{0}}}},
                    {test::floats({3, 1, 2}, {0, 1, 0, 0, 1, 0})});
  // Two images of two channels, each one row: halfway between neighbours, by hand.
  const Array image = test::floats({2, 2, 1, 2}, {0, 4, 10, 14, 20, 24, 30, 34});
  test::expect_node({"Resize",
                     13,
                     {image, Array(), test::floats({4}, {1, 1, 1, 2})},
                     {{"mode", std::string("linear")}, {"coordinate_transformation_mode", std::string("half_pixel")}}},
                    {test::floats({2, 2, 1, 4}, {0, 1, 3, 4, 10, 11, 13, 14, 20, 21, 23, 24, 30, 31, 33, 34})});
  // Training operators (nesterov's formula) and control flow are not imported: a node of one is refused by its name.
  for (const char* op : {"Momentum", "Loop", "If"}) test::expect_refused({op, 15, {image}}, op);
}

// There: inputs are computed in each call, tensors of the surroundings are frozen, a result is overwritten by the next call, and every
// buffer between kernels has memory of its own.
TEST(BugsOf08, JitResultsStayAndMemoryIsShared) {
  const auto counters = std::make_shared<GlobalCounters>();
  DeviceOptions options;
  options.counters = counters;
  Session session(make_device("c", options));
  const auto floats = [&](std::vector<double> values) {
    return session.from(Array::of_doubles(DType::Float32, {static_cast<std::int64_t>(values.size())}, values));
  };
  const Tensor weight = floats(std::vector<double>(64, 2));
  TinyJit chain(session,
                [&](const std::vector<Tensor>& in) {
                  Tensor x = in[0] * weight;
                  for (int k = 0; k < 6; k++) x = (x.flip({0}) + 1.0).contiguous();
                  return std::vector<Tensor>{x};
                },
                {.graphs = false});
  std::vector<Tensor> results;
  for (int call = 0; call < 5; call++) {
    const Tensor in = floats(std::vector<double>(64, call));
    const std::int64_t before = counters->values().kernel_count;
    results.push_back(chain({in}).at(0));
    EXPECT_EQ(counters->values().kernel_count - before, 6) << "the kernels of the function, none for its inputs";
    if (call == 3) session.assign(weight, weight + 1.0);
  }
  for (int call = 0; call < 5; call++)
    EXPECT_EQ(session.values(results[static_cast<std::size_t>(call)]).double_at(0), call * (call == 4 ? 3 : 2) + 6) << call;
  std::set<const void*> between;
  for (const JitItem& item : chain.jit_cache().items)
    for (const auto& buffer : item.rawbufs)
      if (buffer != nullptr && buffer != Session::realized(weight)->buffer) between.insert(buffer->opaque());
  EXPECT_GE(between.size(), 1u);
  EXPECT_LE(between.size(), 2u) << "five values between six kernels take turns in two pieces of memory";
}

}  // namespace
}  // namespace etch
