// The order in which floats lie in memory for targets with vectors: channels in blocks of a vector, or innermost as a whole, and padding
// written once where the peak of memory has room for it.
#include <gtest/gtest.h>

#include <algorithm>

#include "device/device.h"
#include "driver/compile.h"
#include "emit/emit.h"
#include "memory/parts.h"
#include "memory/plan.h"
#include "onnx/builder.h"

namespace etch::float_orders_test {
namespace {

using Ints = GraphBuilder::Ints;
using Value = GraphBuilder::Value;

class FloatOrders : public testing::Test {
 protected:
  void compile(const GraphBuilder& g, const char* target) {
    options_.import = {.bytes = g.bytes(), .name = "net"};
    options_.target = find_target(target, ETCH_SOURCE_DIR "/targets");
    frontend_ = read_model(options_);
    program_ = lower_model(frontend_, &language_of(options_.target), options_);
  }
  Report report() const { return make_report(program_, plan_memory(program_), EmitOptions()); }
  std::string order_of(const std::string& name) const {
    for (const ProgramBuffer& b : program_.buffers)
      if (b.name == name) return std::to_string(b.inner_axis) + "/" + std::to_string(b.block);
    std::string names = "none of";
    for (const ProgramBuffer& b : program_.buffers) names += " " + b.name;
    return names;
  }

  CompileOptions options_;
  Frontend frontend_;
  Program program_;
};

/// Convolutions with `channels` channels between planes, and pooling.
Value chain(GraphBuilder& g, std::int64_t channels, std::int64_t size) {
  const Value x = g.input("x", DType::Float32, {1, 3, size, size});
  Value y = g.relu(g.conv(x, "first", 3, channels, {3, 3}, {1, 1}, {1, 1, 1, 1}));
  y = g.node("MaxPool", {y}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{1, 1}}}, "pool");
  return g.conv(y, "second", channels, channels, {1, 1}, {1, 1}, {0, 0, 0, 0});
}

TEST_F(FloatOrders, BlocksOfAVector) {
  GraphBuilder g("net", 13);
  g.output(chain(g, 32, 10), DType::Float32, {1, 32, 8, 8});
  compile(g, "x86-64-v4");
  EXPECT_EQ(order_of("maxpool_pool"), "1/16");
  EXPECT_EQ(order_of("second.out"), "-1/0") << "the graph's output keeps its order";
  std::vector<std::string> called;
  for (const ProgramCall& call : program_.calls) called.push_back(program_.kernels[static_cast<std::size_t>(call.kernel)].name);
  EXPECT_EQ(called, (std::vector<std::string>{"k0_conv_first", "k1_conv_first_sum", "k2_maxpool_pool", "k3_conv_second"}))
      << "the first one lays windows of the input side by side; around pooling nothing is laid out anew";
  const Report of_vectors = report();
  EXPECT_NE(to_text(of_vectors).find("\nTensors that do not lie in the order of their axes\n  "), std::string::npos) << to_text(of_vectors);
  EXPECT_NE(to_text(of_vectors).find("  axis 1 innermost in blocks of 16: "), std::string::npos) << to_text(of_vectors);
  EXPECT_NE(to_json(of_vectors).find("\"block\": 16"), std::string::npos) << to_json(of_vectors);
  const std::vector<EmittedFile> files = compile_project(frontend_, options_).files;
  const auto source = std::ranges::find(files, "net.c", &EmittedFile::name);
  ASSERT_NE(source, files.end());
  EXPECT_NE(source->text.find("out[n][y][x][c] = max[i,j](in[n][y+i][x+j][c])"), std::string::npos) << source->text;
  compile(g, "x86-64-v3");
  EXPECT_EQ(order_of("maxpool_pool"), "1/8");
  compile(g, "c99");
  EXPECT_EQ(order_of("maxpool_pool"), "-1/0") << "no vectors, no reason";
  EXPECT_EQ(to_text(report()).find("Tensors that do not lie"), std::string::npos);
}

TEST_F(FloatOrders, OneVectorOfChannelsIsTheInnermostAxis) {
  GraphBuilder g("net", 13);
  g.output(chain(g, 16, 10), DType::Float32, {1, 16, 8, 8});
  compile(g, "x86-64-v4");
  EXPECT_EQ(order_of("maxpool_pool"), "1/0");
  EXPECT_NE(to_text(report()).find("  axis 1 innermost: "), std::string::npos) << to_text(report());
  EXPECT_NE(to_json(report()).find("\"innermost_axis\": 1"), std::string::npos) << to_json(report());
}

Value pointwise(GraphBuilder& g, const Value& in, const std::string& name, std::int64_t from, std::int64_t to) {
  return g.relu(g.conv(in, name, from, to, {1, 1}, {1, 1}, {0, 0, 0, 0}));
}

// Branches of 32 and 48 channels, which blocks of 16 divide: each writes its blocks into those of the concatenation, which its readers
// find there, and a sum with it is part of the convolution before.
TEST_F(FloatOrders, BranchesLieInTheirConcatenation) {
  GraphBuilder g("net", 13);
  const Value stem = pointwise(g, g.input("x", DType::Float32, {1, 3, 12, 12}), "stem", 3, 32);
  const Value both = g.node("Concat", {pointwise(g, stem, "a", 32, 32), pointwise(g, stem, "b", 32, 48)}, {{"axis", 1}}, "cat");
  const Value sum = g.node("Add", {g.conv(both, "c", 80, 80, {1, 1}, {1, 1}, {0, 0, 0, 0}), both}, {}, "sum");
  g.output(pointwise(g, sum, "last", 80, 32), DType::Float32, {1, 32, 12, 12});
  compile(g, "x86-64-v4");
  MemoryPlan plan = plan_memory(program_);
  const auto parts = std::ranges::count_if(plan.placements, [](const Placement& place) { return place.part_of >= 0; });
  EXPECT_EQ(parts, 2) << to_text(plan, program_);
  leave_out_copies(program_, plan);
  EXPECT_EQ(program_.calls.size(), 5u) << "one a convolution";
  EXPECT_EQ(order_of("concat_cat"), "1/16");
}

// Parts of a value are read where they lie, also where they begin within the channels.
TEST_F(FloatOrders, PartsOfASplitAreReadWhereTheyLie) {
  GraphBuilder g("net", 13);
  const Value stem = pointwise(g, g.input("x", DType::Float32, {1, 3, 12, 12}), "stem", 3, 80);
  g.node_with_outputs("Split", {stem, g.ints("sizes", {32, 48})}, {"front", "back"}, {{"axis", 1}});
  const Value sum = g.node("Add", {pointwise(g, "front", "a", 32, 32), pointwise(g, "back", "b", 48, 32)}, {}, "sum");
  g.output(pointwise(g, sum, "last", 32, 32), DType::Float32, {1, 32, 12, 12});
  compile(g, "x86-64-v4");
  EXPECT_EQ(program_.calls.size(), 4u) << "one a convolution";
  EXPECT_EQ(order_of("Relu_1"), "1/16");
}

// Both factors are computed. Lanes run along what a product writes side by side: of the scores these are the keys, which lie in blocks; of
// their products with the values the channels, which lie side by side as they are, although the sum runs along the other axis.
TEST_F(FloatOrders, OfTwoFactorsThatAreComputedTheOneWithTheLanesDecides) {
  GraphBuilder g("net", 13);
  const Value x = g.input("x", DType::Float32, {64, 48});
  const auto projected = [&](const char* name) { return g.node("MatMul", {x, g.seeded(std::string(name) + "_w", {48, 32}, 1)}, {}, name); };
  const Value q = projected("q"), k = projected("k"), v = projected("v");
  const Value scores = g.node("MatMul", {q, g.node("Transpose", {k}, {{"perm", Ints{1, 0}}})}, {}, "scores");
  g.output(g.node("MatMul", {g.node("Softmax", {scores}, {{"axis", 1}}), v}, {}, "mixed"), DType::Float32, {64, 32});
  compile(g, "x86-64-v4");
  EXPECT_EQ(order_of("matmul_v"), "-1/0");
  EXPECT_EQ(order_of("matmul_k"), "0/16");
}

// Weights that a kernel reads in part could not be laid out: lanes would have run along the sum, with a sum of lanes for each element.
TEST_F(FloatOrders, LanesRunAlongWhatRecurrentLayersWrite) {
  for (const auto& [is_gru, directions] : {std::pair<bool, std::int64_t>{true, 1}, {true, 2}, {false, 2}}) {
    GraphBuilder g("net", 13);
    const std::int64_t gates = is_gru ? 3 : 4, hidden = 32;
    const Value x = g.input("x", DType::Float32, {5, 1, 16});
    const OnnxAttributes attributes{{"hidden_size", hidden}, {"direction", std::string(directions == 1 ? "forward" : "bidirectional")}};
    const Value w = g.seeded("w", {directions, gates * hidden, 16}, 16), r = g.seeded("r", {directions, gates * hidden, hidden}, 32);
    g.output(g.node(is_gru ? "GRU" : "LSTM", {x, w, r}, attributes), DType::Float32, {5, directions, 1, hidden});
    compile(g, "x86-64-v4");
    int sums = 0;
    for (const ProgramKernel& kernel : program_.kernels) {
      EXPECT_EQ(kernel.text.source.find("[0] + "), std::string::npos) << kernel.text.source;
      if (std::ranges::count(kernel.code.order, UOpKind::Phi, &UOp::uop) == 0) continue;
      sums++;
      EXPECT_NE(kernel.opts.find("VECTOR"), std::string::npos) << kernel.opts << "\n" << kernel.text.source;
    }
    EXPECT_GE(sums, 2) << "of inputs and of states";
  }
}

// Bias, residual sum and activation are computed from the sums where these are: no element goes through memory on its way, neither the
// result's nor an array's, and what is stored are whole vectors.
TEST_F(FloatOrders, WhatFollowsASumStaysInRegisters) {
  GraphBuilder g("net", 13);
  const Value stem = pointwise(g, g.input("x", DType::Float32, {1, 3, 12, 12}), "stem", 3, 32);
  const Value sum = g.node("Add", {g.conv(stem, "conv", 32, 32, {3, 3}, {1, 1}, {1, 1, 1, 1}), stem}, {}, "sum");
  g.output(pointwise(g, g.relu(sum), "last", 32, 32), DType::Float32, {1, 32, 12, 12});
  options_.winograd = Winograd::Off;
  for (const auto& [target, lanes] : {std::pair{"x86-64-v4", 16}, {"x86-64-v3", 8}, {"cortex-a53", 4}}) {
    compile(g, target);
    const auto residual =
        std::ranges::find_if(program_.kernels, [](const ProgramKernel& k) { return k.name.find("conv") != std::string::npos; });
    ASSERT_NE(residual, program_.kernels.end());
    const std::vector<const UOp*>& order = residual->code.order;
    EXPECT_EQ(std::ranges::count(order, UOpKind::DefineLocal, &UOp::uop), 0) << residual->text.source;
    EXPECT_GT(std::ranges::count(order, UOpKind::Store, &UOp::uop), 0);
    for (const UOp* u : order) {
      if (u->uop == UOpKind::Store) EXPECT_EQ(u->src[2]->lanes, lanes) << residual->text.source;
      if (u->uop == UOpKind::Load) EXPECT_NE(u->src[0]->number, 0) << residual->text.source;
    }
  }
}

// Channels that fill vectors badly, as images have that leave a network: lanes run along rows of the image, which lies in planes. Not where
// rows are short or read in steps.
TEST_F(FloatOrders, ImagesOfFewChannelsAreMadeOfPlanes) {
  struct Last {
    std::int64_t outputs, block, size, stride;
    const char *in, *out;  // orders of what the last convolution reads and writes
  };
  for (const Last& last : {Last{9, 3, 24, 1, "-1/0", "-1/0"},
                           {4, 2, 24, 1, "-1/0", "-1/0"},
                           {20, 2, 24, 1, "-1/0", "-1/0"},
                           {24, 2, 24, 1, "1/16", "-1/0"},
                           {16, 4, 24, 1, "1/16", "2/0"},
                           {9, 3, 12, 1, "1/16", "2/0"},
                           {9, 3, 24, 2, "1/16", "2/0"}}) {
    GraphBuilder g("net", 13);
    const Value x = g.input("x", DType::Float32, {1, 16, last.size, last.size});
    const Value wide = g.conv(x, "wide", 16, 32, {1, 1}, {1, 1}, {0, 0, 0, 0});
    const Value image =
        g.node("Conv", {wide, g.seeded("w", {last.outputs, 32, 1, 1}, 32)}, {{"strides", Ints{last.stride, last.stride}}}, "last");
    const std::int64_t size = last.size / last.stride;
    const Value large = g.node("DepthToSpace", {image}, {{"blocksize", last.block}});
    g.output(large, DType::Float32, {1, last.outputs / (last.block * last.block), size * last.block, size * last.block});
    compile(g, "x86-64-v4");
    EXPECT_EQ(order_of("conv_wide"), last.in) << last.outputs << " " << last.size << " " << last.stride;
    EXPECT_EQ(order_of("conv_last"), last.out) << last.outputs << " " << last.size << " " << last.stride;
  }
}

// A lookup is computed beside the product that reads it: it is no image.
TEST_F(FloatOrders, LookupsAreNoImages) {
  GraphBuilder g("net", 13);
  const Value ids = g.input("ids", DType::Int64, {40});
  const Value rows = g.node("Gather", {g.seeded("table", {100, 32}, 1), ids});
  g.output(g.node("MatMul", {rows, g.seeded("w", {32, 9}, 32)}), DType::Float32, {40, 9});
  compile(g, "x86-64-v4");
  EXPECT_FALSE(program_.kernels.empty());
}

// Where vectors have four lanes at most, two channels fill none.
TEST_F(FloatOrders, TwoChannelsFillNoVector) {
  for (const auto& [outputs, order] : {std::pair<std::int64_t, const char*>{2, "-1/0"}, {6, "-1/0"}, {8, "1/4"}}) {
    GraphBuilder g("net", 13);
    const Value x = g.input("x", DType::Float32, {1, 16, 24, 24});
    const Value wide = g.conv(x, "wide", 16, 32, {1, 1}, {1, 1}, {0, 0, 0, 0});
    g.output(g.conv(wide, "last", 32, outputs, {1, 1}, {1, 1}, {0, 0, 0, 0}), DType::Float32, {1, outputs, 24, 24});
    compile(g, "cortex-a72");
    EXPECT_EQ(order_of("conv_wide"), order) << outputs;
  }
}

// Their kernels are read from the last element to the first, in steps: laid out anew they have lanes along what is written.
TEST_F(FloatOrders, KernelsOfTransposedConvolutionsAreLaidOut) {
  for (const std::int64_t size : {2, 3, 4, 5, 6}) {
    GraphBuilder g("net", 13);
    const Value x = g.relu(g.conv(g.input("x", DType::Float32, {1, 16, 12, 12}), "before", 16, 32, {1, 1}, {1, 1}, {0, 0, 0, 0}));
    const std::int64_t pad = (size - 1) / 2, out = 22 + size - 2 * pad;
    const OnnxAttributes attributes{{"strides", Ints{2, 2}}, {"pads", Ints{pad, pad, pad, pad}}};
    g.output(g.node("ConvTranspose", {x, g.seeded("w", {32, 32, size, size}, 1)}, attributes), DType::Float32, {1, 32, out, out});
    compile(g, "x86-64-v4");
    const ProgramKernel& last = program_.kernels[static_cast<std::size_t>(program_.calls.back().kernel)];
    EXPECT_NE(last.opts.find("VECTOR"), std::string::npos) << size << "\n" << last.text.source;
  }
}

// So do those of transposed convolutions, whose phases are written in turns, and products that are filtered one by one (Winograd's).
TEST_F(FloatOrders, RowsOfFewChannelsAreVectors) {
  for (const auto& [is_transposed, winograd] : {std::pair{true, Winograd::Off}, {false, Winograd::Off}, {false, Winograd::OneAxis}}) {
    GraphBuilder g("net", 13);
    const Value x = g.input("x", DType::Float32, {1, 16, 24, 24});
    const Value wide =
        g.relu(g.conv(g.relu(g.conv(x, "wide", 16, 128, {1, 1}, {1, 1}, {0, 0, 0, 0})), "narrow", 128, 32, {1, 1}, {1, 1}, {0, 0, 0, 0}));
    const Value y = is_transposed ? g.node("ConvTranspose", {wide, g.seeded("w", {32, 3, 4, 4}, 32)},
                                           {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}})
                                  : g.conv(wide, "last", 32, 9, {3, 3}, {1, 1}, {1, 1, 1, 1});
    g.output(y, DType::Float32, is_transposed ? std::vector<OnnxDim>{1, 3, 48, 48} : std::vector<OnnxDim>{1, 9, 24, 24});
    options_.winograd = winograd;
    compile(g, "x86-64-v4");
    EXPECT_EQ(frontend_.schedule.widened_bytes > 0, winograd == Winograd::OneAxis);
    for (const ProgramKernel& kernel : program_.kernels)
      EXPECT_NE(kernel.opts.find("VECTOR"), std::string::npos) << kernel.opts << "\n" << kernel.text.source;
  }
}

// A residual sum is written over one of its operands, so a copy with padding beside both would raise the peak.
TEST_F(FloatOrders, PaddingIsCopiedWhereThereIsRoom) {
  for (const bool has_room : {true, false}) {
    GraphBuilder g("net", 13);
    const Value x = g.input("x", DType::Float32, {1, 16, 16, 16});
    const Value a = g.relu(g.conv(x, "a", 16, has_room ? 64 : 16, {1, 1}, {1, 1}, {0, 0, 0, 0}));
    const Value narrow = has_room ? g.relu(g.conv(a, "narrow", 64, 16, {1, 1}, {1, 1}, {0, 0, 0, 0})) : a;
    Value y = g.conv(narrow, "b", 16, 16, {3, 3}, {1, 1}, {1, 1, 1, 1});
    y = has_room ? g.relu(y) : g.node("Add", {y, a});
    g.output(g.conv(y, "c", 16, 4, {1, 1}, {1, 1}, {0, 0, 0, 0}), DType::Float32, {1, 4, 16, 16});
    options_.winograd = Winograd::Off;  // which reads rows without their padding
    compile(g, "x86-64-v4");
    const bool copies = std::ranges::any_of(program_.calls, [&](const ProgramCall& call) {
      const ProgramBuffer& out = program_.buffers[static_cast<std::size_t>(call.arguments[0].buffer)];
      return out.max_elements == 16 * 18 * 18;
    });
    EXPECT_EQ(copies, has_room);
    const std::int64_t image = 16 * 16 * 16 * 4;
    EXPECT_LE(plan_memory(program_).arena_bytes, has_room ? 5 * image : 2 * image);
  }
}

}  // namespace
}  // namespace etch::float_orders_test
