// Networks with open batch, height, width and time, several at once: one program is right for every size. The expected values come
// from the same network with these sizes fixed, on INTERP.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "device/device.h"
#include "driver/compile.h"
#include "onnx/builder.h"
#include "renderer/language.h"
#include "validate/compare.h"
#include "validate/data_set.h"

namespace etch {
namespace {

using Ints = std::vector<std::int64_t>;
using Value = GraphBuilder::Value;

CompileOptions options_for(const std::string& bytes, const std::vector<DimBinding>& dims) {
  CompileOptions options;
  options.import.path = "open.onnx";
  options.import.bytes = bytes;
  options.import.dims = dims;
  options.target = find_target("host", ETCH_SOURCE_DIR "/targets");
  options.tool_version = "test";
  return options;
}

DeviceOptions device_options() {
  DeviceOptions options;
  options.of<COptions>().flags = {"-std=gnu11", "-O1"};
  options.guards = true;
  return options;
}

// One program of `bytes` for all sizes in `dims`, and what it gives at `sizes` (one row for each run) against fixed sizes.
void expect_right(const std::string& bytes, const std::vector<DimBinding>& dims, const std::vector<Ints>& sizes) {
  const CompileOptions open = options_for(bytes, dims);
  const Frontend frontend = read_model(open);
  const Program program = lower_model(frontend, &kC, open);
  const auto loaded = make_device("c", device_options())->load(program);
  const auto interp = make_reference_device();
  for (const Ints& row : sizes) {
    std::vector<DimBinding> fixed = dims;
    std::string text;
    for (std::size_t i = 0; i < fixed.size(); i++) {
      fixed[i].min = fixed[i].max = row.at(i);
      text += " " + fixed[i].name + "=" + std::to_string(row[i]);
    }
    const CompileOptions closed = options_for(bytes, fixed);
    const Frontend reference = read_model(closed);
    const DataSet set = random_data_sets(reference.model, 5).at(0);
    VarValues vars;
    for (const ImportedDim& dim : frontend.model.dims)
      for (const DimBinding& f : fixed)
        if (f.name == dim.name) vars[dim.c_name] = f.min;
    const Program fixed_program = lower_model(reference, nullptr, closed);
    const std::vector<Array> want = interp->load(fixed_program)->run(set.inputs);
    const std::vector<Array> got = loaded->run(set.inputs, vars);
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); i++) {
      ASSERT_EQ(got[i].shape(), want[i].shape()) << frontend.model.outputs[i].name << text;
      const Comparison c = compare(got[i], want[i]);
      EXPECT_TRUE(c.ok) << frontend.model.outputs[i].name << text << ": " << c.problem;
    }
  }
}

struct Row {
  const char* name;
  Value (*build)(GraphBuilder& g);
};

// Each row is an output of one network, so that there is one program to compile.
void expect_rows_right(const std::vector<Row>& rows, const std::vector<OnnxDim>& shape, const std::vector<DimBinding>& dims,
                       const std::vector<Ints>& sizes, int opset = 17) {
  GraphBuilder g("open", opset);
  g.input("x", DType::Float32, shape);
  for (const Row& row : rows) {
    const Value y = row.build(g);
    const std::string name = std::string("output_") + row.name;
    g.node_with_outputs("Identity", {y}, {name}, {}, name);
    g.output(name, DType::Float32, {});
  }
  expect_right(g.bytes(), dims, sizes);
}

// x: [N, 4, H, W]
const std::vector<Row> kImageRows = {
    {"conv3", [](GraphBuilder& g) { return g.conv("x", "conv3", 4, 3, {3, 3}, {1, 1}, {1, 1, 1, 1}); }},
    {"conv3s2", [](GraphBuilder& g) { return g.conv("x", "conv3s2", 4, 3, {3, 3}, {2, 2}, {1, 1, 1, 1}); }},
    {"conv5s32", [](GraphBuilder& g) { return g.conv("x", "conv5s32", 4, 3, {5, 4}, {3, 2}, {0, 1, 2, 3}); }},
    {"depthwise", [](GraphBuilder& g) { return g.conv("x", "depthwise", 4, 4, {3, 3}, {2, 1}, {1, 1, 1, 1}, 4); }},
    {"groups", [](GraphBuilder& g) { return g.conv("x", "groups", 4, 6, {3, 3}, {2, 2}, {1, 1, 1, 1}, 2); }},
    {"dilated",
     [](GraphBuilder& g) {
       return g.node("Conv", {"x", g.seeded("dilated", {3, 4, 3, 3}, 36)},
                     {{"dilations", Ints{2, 3}}, {"pads", Ints{2, 3, 2, 3}}, {"strides", Ints{1, 2}}});
     }},
    {"two_convs",
     [](GraphBuilder& g) {
       const Value y = g.relu(g.conv("x", "first", 4, 3, {3, 3}, {2, 2}, {1, 1, 1, 1}));
       return g.relu(g.conv(y, "second", 3, 2, {3, 3}, {2, 1}, {1, 1, 1, 1}));
     }},
    {"max_pool", [](GraphBuilder& g) { return g.node("MaxPool", {"x"}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}); }},
    {"max_pool3",
     [](GraphBuilder& g) {
       return g.node("MaxPool", {"x"}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 1}}, {"pads", Ints{1, 1, 1, 1}}});
     }},
    {"average_pool",
     [](GraphBuilder& g) {
       return g.node("AveragePool", {"x"}, {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 1, 1}}});
     }},
    {"global_pool", [](GraphBuilder& g) { return g.node("GlobalAveragePool", {"x"}); }},
    {"transposed",
     [](GraphBuilder& g) {
       return g.node("ConvTranspose", {"x", g.seeded("transposed", {4, 2, 3, 3}, 9)},
                     {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
     }},
    {"transposed_uneven",
     [](GraphBuilder& g) {
       return g.node("ConvTranspose", {"x", g.seeded("uneven", {4, 2, 4, 3}, 9)},
                     {{"strides", Ints{2, 3}}, {"pads", Ints{1, 0, 1, 1}}, {"output_padding", Ints{1, 2}}});
     }},
    {"up_and_down",
     [](GraphBuilder& g) {
       const Value y = g.node("ConvTranspose", {"x", g.seeded("up", {4, 4, 2, 2}, 4)}, {{"strides", Ints{2, 2}}});
       return g.node("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
     }},
    {"lrn", [](GraphBuilder& g) { return g.node("LRN", {"x"}, {{"size", std::int64_t{3}}}); }},
    {"tile", [](GraphBuilder& g) { return g.node("Tile", {"x", g.ints("times", {1, 2, 2, 3})}); }},
    {"pad", [](GraphBuilder& g) { return g.node("Pad", {"x", g.ints("pads", {0, 1, 2, 0, 0, 0, 1, 3})}); }},
    {"slice",
     [](GraphBuilder& g) { return g.node("Slice", {"x", g.ints("s0", {1, 2}), g.ints("e0", {7, 1 << 30}), g.ints("a0", {2, 3})}); }},
    {"slice_of_conv",
     [](GraphBuilder& g) {
       const Value y = g.conv("x", "sliced", 4, 3, {3, 3}, {2, 2}, {1, 1, 1, 1});
       return g.node("Slice", {y, g.ints("s1", {1, 1}), g.ints("e1", {1 << 30, 1 << 30}), g.ints("a1", {2, 3})});
     }},
    {"first_row", [](GraphBuilder& g) { return g.node("Gather", {"x", g.ints("zero", {0})}, {{"axis", std::int64_t{2}}}); }},
    {"depth_to_space", [](GraphBuilder& g) { return g.node("DepthToSpace", {"x"}, {{"blocksize", std::int64_t{2}}}); }},
    {"up_nearest",
     [](GraphBuilder& g) {
       const Value y = g.conv("x", "before_up", 4, 2, {3, 3}, {2, 2}, {1, 1, 1, 1});
       return g.conv(g.node("DepthToSpace", {g.conv(y, "shuffle", 2, 8, {1, 1}, {1, 1}, {0, 0, 0, 0})}, {{"blocksize", std::int64_t{2}}}),
                     "after_up", 2, 2, {3, 3}, {1, 1}, {1, 1, 1, 1});
     }},
    {"sequence",
     [](GraphBuilder& g) {
       const Value y = g.node("Transpose", {g.node("ReduceMean", {"x"}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{0}}})},
                              {{"perm", Ints{0, 2, 1}}});
       return g.node("Softmax", {g.node("MatMul", {y, g.seeded("matmul", {4, 5}, 4)})}, {{"axis", std::int64_t{-1}}});
     }},
    {"tokens",
     [](GraphBuilder& g) {
       const Value y = g.conv("x", "patches", 4, 6, {4, 4}, {4, 4}, {0, 0, 0, 0});
       const Value tokens = g.node("Transpose", {g.node("Reshape", {y, g.ints("flat", {0, 6, -1})})}, {{"perm", Ints{0, 2, 1}}});
       const Value scores = g.node("MatMul", {tokens, g.node("Transpose", {tokens}, {{"perm", Ints{0, 2, 1}}})});
       return g.node("MatMul", {g.node("Softmax", {scores}, {{"axis", std::int64_t{-1}}}), tokens});
     }},
};

TEST(OpenSizes, ImagesOfAnyHeightAndWidth) {
  expect_rows_right(kImageRows, {2, 4, "H", "W"}, {{"H", 8, 33}, {"W", 8, 40}}, {{8, 8}, {33, 40}, {15, 22}, {16, 9}});
}

TEST(OpenSizes, BatchesOfImagesOfAnySize) {
  expect_rows_right(kImageRows, {"N", 4, "H", "W"}, {{"N", 1, 3}, {"H", 8, 20}, {"W", 9, 24}}, {{1, 8, 9}, {3, 20, 24}, {2, 13, 16}});
}

// x: [N, 3, T]
const std::vector<Row> kSignalRows = {
    {"conv", [](GraphBuilder& g) { return g.conv("x", "conv", 3, 4, {3}, {2}, {1, 1}); }},
    {"conv_chain",
     [](GraphBuilder& g) {
       Value y = g.relu(g.conv("x", "one", 3, 4, {5}, {2}, {2, 2}));
       y = g.relu(g.conv(y, "two", 4, 4, {3}, {2}, {1, 1}, 4));
       return g.relu(g.conv(y, "three", 4, 2, {3}, {2}, {1, 1}));
     }},
    {"pool",
     [](GraphBuilder& g) { return g.node("MaxPool", {"x"}, {{"kernel_shape", Ints{3}}, {"strides", Ints{3}}, {"pads", Ints{1, 0}}}); }},
    {"transposed",
     [](GraphBuilder& g) {
       return g.node("ConvTranspose", {"x", g.seeded("up", {3, 2, 5}, 9)}, {{"strides", Ints{3}}, {"pads", Ints{1, 2}}});
     }},
    {"u_net",
     [](GraphBuilder& g) {
       const Value y = g.node("ConvTranspose", {"x", g.seeded("double", {3, 3, 2}, 3)}, {{"strides", Ints{2}}});
       const Value down = g.relu(g.conv(y, "down", 3, 4, {2}, {2}, {0, 0}));
       const Value up = g.node("ConvTranspose", {down, g.seeded("again", {4, 3, 2}, 3)}, {{"strides", Ints{2}}});
       return g.node("Concat", {y, up}, {{"axis", std::int64_t{1}}});
     }},
    {"last_frames", [](GraphBuilder& g) { return g.node("Slice", {"x", g.ints("s", {-3}), g.ints("e", {1 << 30}), g.ints("a", {2})}); }},
    {"first_of_the_batch", [](GraphBuilder& g) { return g.node("Slice", {"x", g.ints("s2", {0}), g.ints("e2", {1}), g.ints("a2", {0})}); }},
    {"mean", [](GraphBuilder& g) { return g.node("ReduceMean", {"x"}, {{"axes", Ints{2}}, {"keepdims", std::int64_t{1}}}); }},
    {"first_of_softmax",
     [](GraphBuilder& g) {
       return g.node("Gather", {g.node("Softmax", {"x"}, {{"axis", std::int64_t{2}}}), g.ints("zero", {0})}, {{"axis", std::int64_t{2}}});
     }},
};

TEST(OpenSizes, SignalsOfAnyLength) {
  expect_rows_right(kSignalRows, {"N", 3, "T"}, {{"N", 1, 3}, {"T", 5, 50}}, {{1, 5}, {3, 50}, {2, 17}, {1, 32}});
}

// The parts of a text recogniser: an image of fixed height becomes a sequence along its open width.
Value recogniser(GraphBuilder& g) {
  int count = 0;
  const auto conv = [&](const Value& x, std::int64_t in, std::int64_t out, std::int64_t k, const Ints& strides, std::int64_t groups = 1) {
    return g.conv(x, "c" + std::to_string(count++), in, out, {k, k}, strides, {k / 2, k / 2, k / 2, k / 2}, groups);
  };
  const auto swish = [&](const Value& x) { return g.node("HardSwish", {x}); };
  const auto block = [&](const Value& x, std::int64_t in, std::int64_t out, const Ints& strides, std::int64_t k, bool squeeze) {
    Value y = swish(conv(x, in, in, k, strides, in));
    if (squeeze) {
      const Value s = g.relu(conv(g.node("GlobalAveragePool", {y}), in, in / 4, 1, {1, 1}));
      y = g.node("Mul", {y, g.node("HardSigmoid", {conv(s, in / 4, in, 1, {1, 1})})});
    }
    return swish(conv(y, in, out, 1, {1, 1}));
  };
  Value y = swish(conv("x", 3, 8, 3, {2, 2}));
  y = block(y, 8, 16, {1, 1}, 3, false);
  y = block(y, 16, 16, {2, 1}, 3, false);
  y = block(y, 16, 16, {1, 1}, 3, false);
  y = block(y, 16, 32, {2, 1}, 3, false);
  y = block(y, 32, 32, {1, 1}, 5, false);
  y = block(y, 32, 64, {2, 1}, 5, true);
  y = block(y, 64, 64, {1, 2}, 5, true);
  y = g.node("MaxPool", {y}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  y = g.node("Transpose", {g.node("Squeeze", {y, g.ints("height", {2})})}, {{"perm", Ints{0, 2, 1}}});
  y = g.node("Add", {g.node("MatMul", {y, g.seeded("letters", {64, 37}, 64)}), g.seeded_around("offsets", {37}, 0, 0.1)});
  return g.node("Softmax", {y}, {{"axis", std::int64_t{2}}});
}

TEST(OpenSizes, ATextRecogniserTakesAnyWidth) {
  GraphBuilder g("recogniser", 17);
  g.input("x", DType::Float32, {"N", 3, 32, "W"});
  g.output(recogniser(g), DType::Float32, {"N", "T", 37});
  expect_right(g.bytes(), {{"N", 1, 4}, {"W", 160, 640}}, {{1, 160}, {2, 203}, {1, 640}});
}

}  // namespace
}  // namespace etch
