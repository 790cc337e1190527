// How quantised sums run: along their axes as images lie in memory, borders apart from what is inside, one function for several sizes.
// Wanted numbers are the loops of quant/convs.h.
#include <set>

#include "program/generate.h"
#include "program/lower.h"
#include "quant/convs.h"
#include "renderer/language.h"
#include "support/rounds.h"

namespace etch::sums_test {
namespace {

using namespace test::convs;

Program in_c(const Net& net) { return lower_model(net.frontend, &kC, net.options); }

std::vector<std::string> opts_of(const Program& program) {
  std::vector<std::string> opts;
  for (const ProgramCall& call : program.calls) opts.push_back(program.kernels[static_cast<std::size_t>(call.kernel)].opts);
  return opts;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) n++;
  return n;
}

// With three channels side by side, a row of the window is 9 bytes in memory: two words and a byte.
TEST(SumOrder, MakesOneAxisOfColumnsAndChannels) {
  std::mt19937 rng(1);
  for (const std::int64_t stride : {1, 2}) {
    std::vector<Conv> convs = chain({random_conv(rng, 3, 32, 12, 3), random_conv(rng, 32, 32, 12 / stride, 1)});
    convs[0].stride = stride;
    const Net net = net_of(convs, "cortex-m4f");
    const Program program = in_c(net);
    ASSERT_EQ(program.calls.size(), 3u) << to_text(net.frontend.schedule);
    const ProgramKernel& sum = program.kernels[static_cast<std::size_t>(program.calls[1].kernel)];
    EXPECT_NE(sum.opts.find("TC"), std::string::npos) << sum.opts;
    EXPECT_EQ(count_of(sum.uops, "= Dot int32"), 2u * 8u) << sum.uops;
    EXPECT_EQ(count_of(sum.uops, "= Alu MulAcc int32 %"), 1u * 8u) << sum.uops;
    expect_right(net, convs, rng);
  }
}

// A weight that a second sum reads keeps its order, and one channel has nothing to merge.
TEST(SumOrder, LeavesOtherSumsAsTheyAre) {
  std::mt19937 rng(2);
  const Net one = net_of({random_conv(rng, 1, 16, 12, 3)}, "cortex-m4f");
  for (const ScheduleItem& item : one.frontend.schedule.items)
    for (const LazyBuffer* input : item.inputs)
      if (input->kind == LazyKind::Data && input->data.size() == 144) {
        EXPECT_EQ(input->data.shape().size(), 4u) << "written anew";
      }
  std::vector<Conv> twice = chain({random_conv(rng, 3, 3, 12, 3), random_conv(rng, 3, 3, 12, 3)});
  twice[1].weights = twice[0].weights;
  expect_right(net_of(twice, "cortex-m4f"), twice, rng);
}

// Windows with borders: two bodies, the one for the inside without a test.
TEST(Interior, HasABodyWithoutTests) {
  std::mt19937 rng(3);
  const std::vector<Conv> convs = chain({random_conv(rng, 6, 6, 12, 3, 6), random_conv(rng, 6, 6, 12, 1)});
  const Net net = net_of(convs, "cortex-m4f");
  const Program program = in_c(net);
  const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(program.calls[0].kernel)];
  EXPECT_NE(kernel.opts.find("INTERIOR"), std::string::npos) << kernel.opts;
  const std::string& text = kernel.text.source;
  const std::size_t borders = text.find("for (int border");
  ASSERT_NE(borders, std::string::npos) << text;
  EXPECT_EQ(text.substr(0, borders).find('?'), std::string::npos) << text;
  EXPECT_NE(text.find("? in[", borders), std::string::npos) << text;
  expect_right(net, convs, rng);
}

// Where masks hide most of the image, or none of it, one body is enough.
TEST(Interior, IsOnlyForImagesThatAreMostlyInside) {
  std::mt19937 rng(4);
  struct Row {
    std::int64_t size, kernel;
    bool two_bodies;
  };
  for (const Row& row : {Row{3, 3, false}, Row{12, 1, false}, Row{12, 3, true}, Row{12, 7, false}, Row{15, 3, true}, Row{8, 7, false}}) {
    const std::vector<Conv> convs{random_conv(rng, 4, 4, row.size, row.kernel, 4)};
    const Net net = net_of(convs, "cortex-m4f");
    const Program program = in_c(net);
    const std::string& text = program.kernels[static_cast<std::size_t>(program.calls[0].kernel)].text.source;
    EXPECT_EQ(text.find("for (int border") != std::string::npos, row.two_bodies) << row.size << ' ' << row.kernel << '\n' << text;
    expect_right(net, convs, rng);
  }
}

// Layers of one kind and several sizes: as many functions as there are kinds, with the sizes as arguments.
TEST(SharedKernels, ServeSeveralSizes) {
  std::mt19937 rng(5);
  std::vector<Conv> convs;
  for (const std::int64_t size : {24, 12, 6}) {
    convs.push_back(random_conv(rng, 8, 8, size, 3, 8));
    convs.push_back(random_conv(rng, 8, 8, size, 1));
    convs.back().stride = 2;
  }
  convs = chain(convs);
  Net net = net_of(convs, "cortex-m4f", false);
  const std::size_t alone = in_c(net).kernels.size();
  net.options.sharing = Sharing::All;
  const Program shared = in_c(net);
  EXPECT_EQ(alone, convs.size());
  EXPECT_LE(shared.kernels.size(), 3u) << ::testing::PrintToString(opts_of(shared));
  EXPECT_EQ(shared.calls.size(), convs.size());
  expect_right(net, convs, rng);
}

// Where speed counts, only those that do little of the work, and they are called with their own sizes.
TEST(SharedKernels, AreSmallOnesWhereThatCostsLittle) {
  std::mt19937 rng(7);
  std::vector<Conv> convs;
  for (const auto& [size, stride] : {std::pair{80, 1}, {80, 2}, {40, 5}, {8, 2}, {4, 4}}) {
    convs.push_back(random_conv(rng, 16, 16, size, 1));
    convs.back().stride = stride;
  }
  convs = chain(convs);
  Net net = net_of(convs, "cortex-m4f");
  net.options.target.tuning.clear();
  std::vector<std::size_t> kernels;
  for (const Sharing sharing : {Sharing::None, Sharing::Small, Sharing::All}) {
    net.options.sharing = sharing;
    const Program program = in_c(net);
    kernels.push_back(program.kernels.size());
    if (sharing != Sharing::Small) continue;
    for (std::size_t c = 0; c < program.calls.size(); c++)
      EXPECT_EQ(program.kernels[static_cast<std::size_t>(program.calls[c].kernel)].takes_sizes, c == 2 || c == 3)
          << ::testing::PrintToString(opts_of(program));
    expect_right(net, convs, rng);
  }
  EXPECT_GT(kernels[0], kernels[1]);
  EXPECT_GT(kernels[1], kernels[2]);  // the one before them is like them
}

TEST(SharedKernels, AreRightInRandomNetworks) {
  std::mt19937 rng(6);
  const auto pick = [&](int low, int high) { return static_cast<std::int64_t>(std::uniform_int_distribution(low, high)(rng)); };
  std::size_t calls = 0, kernels = 0;
  for (int i = 0; i < test::rounds(24); i++) {
    std::vector<Conv> convs;
    std::int64_t size = pick(5, 20), channels = pick(1, 9);
    for (int layer = 0; layer < 6; layer++) {
      const bool is_depthwise = pick(0, 1) == 1;
      const std::int64_t outputs = is_depthwise ? channels : pick(1, 9);
      convs.push_back(random_conv(rng, channels, outputs, size, 2 * pick(0, 1) + 1, is_depthwise ? channels : 1));
      convs.back().stride = pick(1, 4) == 1 ? 2 : 1;
      size = convs.back().size_out();
      channels = outputs;
    }
    convs = chain(convs);
    Net net = net_of(convs, i % 2 == 0 ? "cortex-m4f" : "cortex-m3", i % 3 == 0);
    net.options.sharing = Sharing::All;
    SCOPED_TRACE(to_text(net.frontend.schedule));
    const Program program = in_c(net);
    calls += program.calls.size();
    kernels += program.kernels.size();
    expect_right(net, convs, rng);
  }
  EXPECT_LT(kernels, calls);
}

// Floats that become bytes inside of a sum: GCC 12's vectors of their branches give another sum where there is AVX.
TEST(IntegerSums, OfNumbersThatAreQuantisedInside) {
  GraphBuilder g("sums", 13);
  const auto number = [&](const char* name, DType dtype, double v) {
    return g.initializer(name, Array::of_doubles(dtype, {}, std::vector<double>{v}));
  };
  const Value x = g.input("x", DType::Float32, {2, 2, 8, 2}), sx = number("sx", DType::Float32, 0.0625),
              zx = number("zx", DType::UInt8, 148);
  const Value q = g.node("QuantizeLinear", {x, sx, zx});
  const Value a = g.initializer("a", Array::of_ints(DType::UInt8, {2, 2, 1, 8}, Ints(32, 0)));
  g.output(g.node("QLinearMatMul", {a, number("sa", DType::Float32, 0.0009765625), number("za", DType::UInt8, 255), q, sx, zx,
                                    number("sy", DType::Float32, 0.00390625), number("zy", DType::UInt8, 255)}),
           DType::UInt8, {2, 2, 1, 2});
  const Net net = net_of(g, "cortex-m4f", false);
  std::mt19937 rng(3);
  std::vector<double> values;
  for (int i = 0; i < 64; i++) values.push_back(static_cast<double>(static_cast<int>(rng() % 4096) - 2048) / 128);
  Ints wanted;
  for (std::size_t row = 0; row < 4; row++)
    for (std::size_t column = 0; column < 2; column++) {
      double sum = 0;
      for (std::size_t k = 0; k < 8; k++)
        sum += std::clamp(std::nearbyint(values[row * 16 + k * 2 + column] / 0.0625) + 148, 0.0, 255.0) - 148;
      wanted.push_back(static_cast<std::int64_t>(std::clamp(std::nearbyint(-255 * sum / 64) + 255, 0.0, 255.0)));
    }
  EXPECT_LT(std::ranges::min(wanted), 255);
  DeviceOptions options;
  for (const char* name : {"c", "llvm"}) {
    const auto device = make_device(name, options);
    const Array input = Array::of_doubles(DType::Float32, {2, 2, 8, 2}, values);
    EXPECT_EQ(device->load(lower_model(net.frontend, device->language(), net.options))->run({input}).at(0).ints(), wanted) << name;
  }
  const CompiledProject project = compile_project(net.frontend, net.options);
  const auto source = std::ranges::find(project.files, "net.c", &EmittedFile::name);
  ASSERT_NE(source, project.files.end());
  EXPECT_NE(source->text.find("no-tree-loop-if-convert"), std::string::npos) << source->text;
}

}  // namespace
}  // namespace etch::sums_test
