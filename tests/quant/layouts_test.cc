// How quantised sums read their operands: padding that is written once, weights of 16 bits; and results that lie over parts of what they
// are computed from. Wanted numbers are the loops of quant/convs.h.
#include "quant/convs.h"
#include "support/rounds.h"

namespace etch::layouts_test {
namespace {

using namespace test::convs;

MemoryPlan plan_of(const Net& net) { return compile_project(net.frontend, net.options).plan; }

bool reads_through_a_mask(const Schedule& schedule, std::size_t item) {
  for (const LazyOp* op : toposort(schedule.items[item].ast))
    if (op->op == Op::Load && op->st().views()[0].mask) return true;
  return false;
}

// To many channels, what is padded is read often, and the peak is elsewhere: one kernel more, and none of the sums tests anything.
TEST(Padding, IsWrittenOnceForManySums) {
  std::mt19937 rng(1);
  for (const std::int64_t zero : {std::int64_t{-128}, std::int64_t{0}, std::int64_t{83}}) {
    std::vector<Conv> convs = chain({random_conv(rng, 2, 16, 8, 3), random_conv(rng, 16, 16, 8, 1)});
    convs[0].x_zero = zero;
    const Net net = net_of(convs, "c99");
    ASSERT_EQ(net.frontend.schedule.items.size(), 3u) << to_text(net.frontend.schedule);
    EXPECT_EQ(net.frontend.schedule.items[0].out->shape(), (std::vector<Sint>{1, 2, 10, 10}));
    EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 0));
    EXPECT_FALSE(reads_through_a_mask(net.frontend.schedule, 1));
    expect_right(net, convs, rng);
  }
}

TEST(Padding, IsTheSameForTwoSums) {
  std::mt19937 rng(4);
  const std::vector<Conv> first = chain({random_conv(rng, 2, 64, 8, 1), random_conv(rng, 64, 8, 8, 1)});
  std::vector<Conv> readers{random_conv(rng, 8, 16, 8, 3), random_conv(rng, 8, 16, 8, 3)};
  GraphBuilder g("net", 13);
  Value x = g.input("x", DType::Int8, {1, 2, 8, 8});
  for (const Conv& c : first) x = c.add(g, "first" + std::to_string(c.outputs), x);
  for (Conv& c : readers) {
    c.x_zero = first.back().y_zero;
    g.output(c.add(g, "reader" + std::to_string(&c - readers.data()), x), DType::Int8, {1, 16, 8, 8});
  }
  const Net net = net_of(g, "c99", true);
  ASSERT_EQ(net.frontend.schedule.items.size(), 5u);
  EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 2)) << "writes the padding";
  EXPECT_FALSE(reads_through_a_mask(net.frontend.schedule, 3));
  EXPECT_FALSE(reads_through_a_mask(net.frontend.schedule, 4));
  const Ints input = bytes(2 * 64, rng);
  Ints between = input;
  for (const Conv& c : first) between = c.of(between);
  for (const auto& device : {make_reference_device(), make_device("c", {})}) {
    const auto got =
        device->load(lower_model(net.frontend, device->language(), net.options))->run({Array::of_ints(DType::Int8, {1, 2, 8, 8}, input)});
    for (std::size_t i = 0; i < 2; i++) EXPECT_EQ(got.at(i).ints(), readers[i].of(between)) << device->name();
  }
}

TEST(Padding, StaysInTheSumWhereItIsReadSeldomOrMemoryWouldGrow) {
  std::mt19937 rng(2);
  const std::vector<std::vector<Conv>> nets{
      chain({random_conv(rng, 16, 16, 8, 3, 16), random_conv(rng, 16, 16, 8, 1)}),  // nine products an element
      {random_conv(rng, 16, 4, 8, 3)},                                              // the output is smaller than its padded input
  };
  for (const std::vector<Conv>& convs : nets) {
    const Net net = net_of(convs, "c99");
    EXPECT_EQ(net.frontend.schedule.items.size(), convs.size()) << to_text(net.frontend.schedule);
    EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 0));
    expect_right(net, convs, rng);
  }
}

// Twice the memory for what a dot product of bytes and words multiplies, on targets that have one, unless flash counts more. The channels
// of the graph's own input do not lie side by side.
TEST(WideWeights, AreForDotProductsOfBytesAndWords) {
  std::mt19937 rng(3);
  const std::vector<Conv> convs =
      chain({random_conv(rng, 16, 12, 5, 1), random_conv(rng, 12, 12, 5, 3, 12), random_conv(rng, 12, 6, 5, 1)});
  struct Row {
    const char* target;
    bool wide;
    std::int64_t bytes;
  };
  const Row rows[] = {{"cortex-m4f", true, 12 * 6}, {"cortex-m4f", false, 0}, {"cortex-m3", true, 0}, {"c99", true, 0}};
  for (const Row& row : rows) {
    const Net net = net_of(convs, row.target, row.wide);
    EXPECT_EQ(net.frontend.widened_bytes, row.bytes) << row.target;
    expect_right(net, convs, rng);
  }
}

// Also where a mask hides what lies outside of an image whose padding is not written.
TEST(WideWeights, AreForWindowsOfPaddedImages) {
  std::mt19937 rng(5);
  const std::vector<Conv> convs = chain({random_conv(rng, 16, 16, 8, 1), random_conv(rng, 16, 4, 8, 3)});
  const Net net = net_of(convs, "cortex-m4f", true);
  ASSERT_EQ(net.frontend.schedule.items.size(), 2u) << to_text(net.frontend.schedule);
  EXPECT_TRUE(reads_through_a_mask(net.frontend.schedule, 1));
  EXPECT_EQ(net.frontend.widened_bytes, 4 * 16 * 9);
  expect_right(net, convs, rng);
}

// Bytes that one instruction loads in pairs of words: where a caller places them, the runtime asks for the alignment of a word.
TEST(NarrowWeights, ThatAreLoadedInWordsAreAligned) {
  std::mt19937 rng(9);
  Conv conv = random_conv(rng, 16, 16, 1, 1);
  conv.x_zero = 0;  // no other constants
  const Net net = net_of({conv}, "cortex-m4f", false);
  const CompiledProject project = compile_project(net.frontend, net.options);
  const auto source = std::ranges::find(project.files, "net.c", &EmittedFile::name);
  ASSERT_NE(source, project.files.end());
  EXPECT_NE(source->text.find("_words("), std::string::npos) << source->text;
  EXPECT_NE(source->text.find("ETCH_ALIGN_OF(int32_t), /* alignment of the constants */"), std::string::npos) << source->text;
}

// The same where the words lie in the model in the instruction's order already, and where a kernel before reads the same bytes one by one.
TEST(NarrowWeights, ThatLieInOrderAlreadyAreLoadedInWords) {
  std::mt19937 rng(10);
  for (const bool is_shared : {false, true}) {
    Conv conv = random_conv(rng, 8, 8, 1, 1);
    conv.x_zero = conv.y_zero = 0;
    Conv before = random_conv(rng, 64, 64, 1, 1, 64);  // one weight for each channel: the same 64 bytes
    if (is_shared) before.weights = conv.weights;
    GraphBuilder g("net", 13);
    if (is_shared) g.output(before.add(g, "before", g.input("x2", DType::Int8, {1, 64, 1, 1})), DType::Int8, {1, 64, 1, 1});
    g.output(conv.add(g, "conv", g.input("x", DType::Int8, {1, 8, 1, 1})), DType::Int8, {1, 8, 1, 1});
    const Net net = net_of(g, "cortex-m4f", false);
    const CompiledProject project = compile_project(net.frontend, net.options);
    const auto source = std::ranges::find(project.files, "net.c", &EmittedFile::name);
    EXPECT_NE(source->text.find("etch_smlad_s8_words("), std::string::npos) << source->text;
    EXPECT_NE(source->text.find("ETCH_ALIGN_OF(int32_t), /* alignment of the constants */"), std::string::npos) << source->text;
    if (!is_shared) expect_right(net, {conv}, rng);
  }
}

// Whatever the sizes: tiles that overlap, sums of a length that no instruction divides, one channel.
TEST(WideWeights, AreRightInRandomNetworks) {
  std::mt19937 rng(4);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  for (int i = 0; i < test::rounds(12); i++) {
    const std::int64_t size = pick(1, 9), middle = pick(1, 20);
    const std::vector<Conv> convs =
        chain({random_conv(rng, pick(1, 3), middle, size, 2 * pick(0, 1) + 1), random_conv(rng, middle, middle, size, 3, middle),
               random_conv(rng, middle, pick(1, 9), size, 1)});
    const Net net = net_of(convs, "cortex-m4f");
    SCOPED_TRACE(to_text(net.frontend.schedule));
    expect_right(net, convs, rng);
  }
}

void expect_bytes_in_memory(const Net& net) {
  for (const ScheduleItem& item : net.frontend.schedule.items)
    for (const LazyBuffer* out : item.outs()) EXPECT_EQ(bytes_of(out->dtype), 1) << to_text(net.frontend.schedule);
}

void expect_outputs(const Net& net, const Array& input, const Ints& wanted) {
  EXPECT_EQ(make_reference_device()->load(lower_model(net.frontend, nullptr, net.options))->run({input}).at(0).ints(), wanted);
  const auto device = make_device("c", {});
  EXPECT_EQ(device->load(lower_model(net.frontend, device->language(), net.options))->run({input}).at(0).ints(), wanted);
}

// An image whose channels lie last, as cameras give it, in front of a convolution: what is read is its bytes.
TEST(NarrowValues, OfAnImageInAnotherOrderAreReadAsTheyAre) {
  std::mt19937 rng(7);
  const Conv conv = random_conv(rng, 3, 4, 8, 3);
  GraphBuilder g("net", 13);
  const Value x = g.input("x", DType::Int8, {1, 8, 8, 3});
  g.output(conv.add(g, "conv", g.node("Transpose", {x}, {{"perm", Ints{0, 3, 1, 2}}})), DType::Int8, {1, 4, 8, 8});
  const Net net = net_of(g, "cortex-m4f", true);
  expect_bytes_in_memory(net);
  const Ints image = bytes(8 * 8 * 3, rng);
  Ints planes;
  for (std::size_t c = 0; c < 3; c++)
    for (std::size_t pixel = 0; pixel < 64; pixel++) planes.push_back(image[pixel * 3 + c]);
  expect_outputs(net, Array::of_ints(DType::Int8, {1, 8, 8, 3}, image), conv.of(planes));
}

// A value that a convolution and a sum read: its bytes are stored, not what they are widened to. A factor and a term for each channel
// behind the convolution, as of a normalisation that was quantised by itself, make it dear to compute twice.
TEST(NarrowValues, OfResidualNetworksAreStored) {
  std::mt19937 rng(8);
  const std::vector<Conv> convs{random_conv(rng, 4, 4, 6, 3), random_conv(rng, 4, 4, 6, 3), random_conv(rng, 4, 4, 6, 1)};
  const std::vector<double> factors{0.5, 0.75, 1, 1.25}, terms{1, -2, 3.25, 0.5};
  GraphBuilder g("net", 13);
  int constants = 0;
  const auto name = [&] { return "constant" + std::to_string(constants++); };
  const auto point = [&](std::int64_t v) { return g.initializer(name(), Array::of_ints(DType::Int8, {}, Ints{v})); };
  const auto floats = [&](const std::vector<double>& v) { return g.initializer(name(), Array::of_doubles(DType::Float32, {4, 1, 1}, v)); };
  const Value one = g.initializer("one", Array::of_doubles(DType::Float32, {}, std::vector<double>{1}));
  const auto wide = [&](const Value& x, std::int64_t zero) { return g.node("DequantizeLinear", {x, one, point(zero)}); };
  const auto narrow = [&](const Value& x, std::int64_t zero) { return g.node("QuantizeLinear", {x, one, point(zero)}); };
  const Value a = convs[0].add(g, "a", g.input("x", DType::Int8, {1, 4, 6, 6}));
  const Value normal = narrow(g.node("Add", {g.node("Mul", {wide(a, convs[0].y_zero), floats(factors)}), floats(terms)}), convs[1].x_zero);
  const Value b = convs[1].add(g, "b", normal);
  const Value sum = narrow(g.node("Add", {wide(normal, convs[1].x_zero), wide(b, convs[1].y_zero)}), convs[2].x_zero);
  g.output(convs[2].add(g, "c", sum), DType::Int8, {1, 4, 6, 6});
  const Net net = net_of(g, "cortex-m4f", true);
  expect_bytes_in_memory(net);
  const auto saturated = [](std::int64_t v) { return std::clamp<std::int64_t>(v, -128, 127); };
  const Ints x = bytes(4 * 36, rng), of_a = convs[0].of(x);
  Ints normals, sums;
  for (std::size_t i = 0; i < of_a.size(); i++)
    normals.push_back(
        saturated(std::lrint(static_cast<double>(of_a[i] - convs[0].y_zero) * factors[i / 36] + terms[i / 36]) + convs[1].x_zero));
  const Ints of_b = convs[1].of(normals);
  for (std::size_t i = 0; i < of_b.size(); i++)
    sums.push_back(saturated(normals[i] - convs[1].x_zero + of_b[i] - convs[1].y_zero + convs[2].x_zero));
  expect_outputs(net, Array::of_ints(DType::Int8, {1, 4, 6, 6}, x), convs[2].of(sums));
}

// A layer of each kind as networks for images have them: 12 channels of 10 x 10. A depthwise layer needs the row above and the pixel beside
// it once more, the others a tile of two pixels; every second layer runs backwards, so that all of them share one place.
TEST(LittleRam, LayersOfImagesShareOnePlace) {
  std::mt19937 rng(5);
  const std::vector<Conv> convs =
      chain({random_conv(rng, 12, 12, 10, 3, 12), random_conv(rng, 12, 12, 10, 1), random_conv(rng, 12, 12, 10, 3, 12),
             random_conv(rng, 12, 12, 10, 1), random_conv(rng, 12, 12, 10, 3, 12), random_conv(rng, 12, 12, 10, 1)});
  for (const char* target : {"cortex-m4f", "c99"}) {
    const Net net = net_of(convs, target, true, true);
    const MemoryPlan plan = plan_of(net);
    EXPECT_GE(plan.arena_bytes, 1200);
    EXPECT_LE(plan.arena_bytes, 1200 + 2 * 120 + 32) << target;
    EXPECT_TRUE(plan.is_smallest);
    expect_right(net, convs, rng);
    EXPECT_EQ(plan_of(net_of(convs, target)).arena_bytes, 2400);
  }
}

// Whatever the sizes, with inputs and outputs in the arena as well: layers that widen and narrow, windows, groups, dense sums.
TEST(LittleRam, RandomNetworksAreRight) {
  std::mt19937 rng(6);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  int smaller = 0;
  for (int i = 0; i < test::rounds(12); i++) {
    const std::int64_t size = pick(1, 9);
    std::vector<Conv> convs;
    std::int64_t channels = pick(1, 12);
    for (int layer = 0; layer < 4; layer++) {
      const bool depthwise = pick(0, 2) == 0;
      const std::int64_t outputs = depthwise ? channels : pick(1, 16);
      convs.push_back(random_conv(rng, channels, outputs, size, 2 * pick(0, 1) + 1, depthwise ? channels : 1));
      channels = outputs;
    }
    convs = chain(convs);
    const char* target = i % 3 == 0 ? "c99" : i % 3 == 1 ? "cortex-m4f" : "x86-64-v4";
    const Net net = net_of(convs, target, true, true, true);
    SCOPED_TRACE(to_text(net.frontend.schedule));
    expect_right(net, convs, rng);
    smaller += plan_of(net).arena_bytes < plan_of(net_of(convs, target, true, false, true)).arena_bytes ? 1 : 0;
  }
  EXPECT_GE(smaller, test::rounds(6));
}

}  // namespace
}  // namespace etch::layouts_test
