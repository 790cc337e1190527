// Functions in C in the device layer: runners on Buffers, counters, the cache of compiled kernels, errors in the middle of a run, and
// kernels that bring a reference.
#include <gtest/gtest.h>

#include <fstream>

#include "custom_model.h"
#include "device/buffer.h"
#include "device/runner.h"
#include "jit/session.h"
#include "program/lower.h"
#include "support/files.h"
#include "support/needs.h"
#include "validate/validate.h"

namespace etch {
namespace {

using test::error_of;
namespace fs = std::filesystem;

// y[i] = by * x[n-1-i], how[0] = n, for x of `size` elements.
std::shared_ptr<const ExternalKernel> reversed(Sint size, const std::string& by = "2.0f", const std::string& loop_end = "n",
                                               ExternalReference reference = {}) {
  const std::string declaration = "void reversed(float *y, int32_t *how, const float *x, int32_t n)";
  const std::string text = "#include <stdint.h>\n#include \"by.h\"\n" + declaration + " {\n  int32_t i;\n  for (i = 0; i < " + loop_end +
                           "; i++) y[i] = BY * x[n - 1 - i];\n  how[0] = n;\n}\n";
  const auto files =
      std::make_shared<std::vector<ExternalFile>>(std::vector<ExternalFile>{{"r.c", text}, {"by.h", "#define BY " + by + "\n"}});
  return std::make_shared<const ExternalKernel>(ExternalKernel{"Reversed",
                                                               "reversed",
                                                               "r.c",
                                                               declaration,
                                                               {{DType::Float32, {size}}, {DType::Int32, {1}}},
                                                               {{"n", "int32_t", size, ""}},
                                                               files,
                                                               std::move(reference)});
}

std::vector<KernelArgument> arguments_of(const Sint& size) {
  return {{DType::Float32, size, "y", Access::Write}, {DType::Int32, 1, "how", Access::Write}, {DType::Float32, size, "x", Access::Read}};
}

TEST(CustomOperator, RunsOnBuffersOfEveryDevice) {
  auto graph = LazyGraph::create();
  const Sint n = graph->symbols().variable("n", 1, 6);
  for (const auto& device : test::devices()) {
    SCOPED_TRACE(device->name());
    const auto runner = device->get_runner(reversed(n), arguments_of(n), graph);
    EXPECT_EQ(device->get_runner(reversed(n), arguments_of(n), graph), runner) << "the same call";
    EXPECT_NE(device->get_runner(reversed(n, "3.0f"), arguments_of(n), graph), runner) << "another header";
    auto other = LazyGraph::create();
    const Sint more = other->symbols().variable("n", 1, 9);
    EXPECT_NE(device->get_runner(reversed(more), arguments_of(more), other), runner) << "another range";
    const Buffer x = Buffer::fromCPU(*device, Array::of_doubles(DType::Float32, {6}, std::vector<double>{1, 2, 3, 4, 5, 6}));
    const Buffer y = Buffer::fromCPU(*device, Array::of_doubles(DType::Float32, {6}, std::vector<double>(6, -1)));
    const Buffer how(*device, 1, DType::Int32);
    const GlobalCounters::Values before = device->counters()->values();
    EXPECT_TRUE(runner->exec({&y, &how, &x}, {{"n", 4}}, true).has_value());
    EXPECT_EQ(y.toCPU().doubles(), (std::vector<double>{8, 6, 4, 2, -1, -1}));
    EXPECT_EQ(how.toCPU().doubles(), std::vector<double>{4});
    const GlobalCounters::Values after = device->counters()->values();
    EXPECT_EQ(after.kernel_count - before.kernel_count, 1);
    EXPECT_EQ(after.global_mem - before.global_mem, 4 * 4 + 4 + 4 * 4) << "what the values of this run make of the buffers";
    EXPECT_EQ(after.global_ops, before.global_ops) << "what a function computes is not known";
    EXPECT_NE(error_of([&] { runner->exec({&y, &how, &x}, {{"n", 7}}); }).find("is 7, accepted is 1 to 6"), std::string::npos);
    EXPECT_NE(error_of([&] { runner->exec({&y, &x, &how}, {{"n", 4}}); }).find("buffer 1"), std::string::npos);
    const auto wrong = device->get_runner(reversed(n, "2.0f", "n + 1"), arguments_of(n), graph);
    EXPECT_TRUE(error_of([&] {
                  wrong->exec({&y, &how, &x}, {{"n", 4}});
                }).starts_with("custom function reversed() of r.c: it writes outside of its output 0, at index 4, there are 4 elements"));
  }
}

// y = reversed(x + 1) - x, of 5 elements.
struct Net {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  Tensor x = Tensor::input(*graph, "x", DType::Float32, {5});
  Schedule schedule;
  explicit Net(const std::shared_ptr<const ExternalKernel>& function) {
    OriginScope scope(*graph, "rev", "Reversed");
    const Tensor y = Tensor::external(*graph, function, {x + 1.0}).at(0) - x;
    schedule = create_schedule(*graph, {{"y", y}});
  }
  Program program(const Language* language) const {
    LowerOptions lowering;
    lowering.language = language;
    lowering.inputs = {x.buffer()};
    return lower(graph, schedule, lowering);
  }
};

const Array kX = Array::of_doubles(DType::Float32, {5}, std::vector<double>{1, 2, 3, 4, 5});
const std::vector<double> kY{11, 8, 5, 2, -1};  // 2 * (x[4-i] + 1) - x[i]

// In one schedule, where both are declared alike.
TEST(CustomOperator, OtherTextIsAnotherFunction) {
  for (auto& device : test::devices()) {
    SCOPED_TRACE(device->name());
    Session session(std::shared_ptr<const Device>(std::move(device)));
    const Tensor x = session.from(Array::of_doubles(DType::Float32, {3}, std::vector<double>{1, 2, 3}));
    const Tensor twice = Tensor::external(session.graph(), reversed(3), {x})[0];
    const Tensor thrice = Tensor::external(session.graph(), reversed(3, "3.0f"), {x})[0];
    const std::vector<Tensor> results = session.realize({twice, thrice});
    EXPECT_EQ(session.values(results[0]).doubles(), (std::vector<double>{6, 4, 2}));
    EXPECT_EQ(session.values(results[1]).doubles(), (std::vector<double>{9, 6, 3}));
  }
}

TEST(CustomOperator, EachCallIsCounted) {
  const Net net(reversed(5));
  for (const auto& device : test::devices({})) {
    SCOPED_TRACE(device->name());
    const Program program = net.program(device->language());
    const auto loaded = device->load(program);
    const GlobalCounters::Values before = device->counters()->values();
    std::vector<double> seconds;
    EXPECT_EQ(loaded->run({kX}, {}, {.tap = {}, .call_seconds = &seconds}).at(0).doubles(), kY);
    const GlobalCounters::Values after = device->counters()->values();
    EXPECT_EQ(after.kernel_count - before.kernel_count, 3);
    EXPECT_EQ(after.global_mem - before.global_mem, (20 + 20) + (20 + 20 + 4) + (20 + 20 + 20)) << "x + 1, the function, the difference";
    EXPECT_EQ(seconds.size(), 3u);
  }
}

// A function that fails leaves the device as it was: its process goes on, and other programs run there.
TEST(CustomOperator, ADeviceGoesOnAfterAFunctionFailed) {
  const Net right(reversed(5)), wrong(reversed(5, "2.0f", "n + 3"));
  for (const bool guards : {false, true}) {
    DeviceOptions options;
    options.guards = guards;
    for (const auto& device : test::devices(options)) {
      SCOPED_TRACE(device->name());
      const Program good = right.program(device->language()), bad = wrong.program(device->language());
      const auto loaded = device->load(good), failing = device->load(bad);
      for (int again = 0; again < 2; again++) {
        EXPECT_TRUE(
            error_of([&] {
              failing->run({kX});
            }).starts_with("node 'rev' (Reversed): custom function reversed() of r.c: it writes outside of its output 0, at index 5"));
        std::vector<double> tapped;
        const auto tap = [&](int call, int output, const Array& written) {
          if (good.kernels[static_cast<std::size_t>(good.calls[static_cast<std::size_t>(call)].kernel)].external != nullptr && output == 0)
            tapped = written.doubles();
        };
        EXPECT_EQ(loaded->run({kX}, {}, {.tap = tap, .call_seconds = nullptr}).at(0).doubles(), kY);
        EXPECT_EQ(tapped, (std::vector<double>{12, 10, 8, 6, 4}));
      }
    }
  }
}

// A compiler that writes a line to a file each time it is called.
TEST(CustomOperator, IsCompiledOnceForItsText) {
  if (const std::string why = test::missing({"gcc"}); !why.empty()) GTEST_SKIP() << why;
  const auto gcc = find_program("gcc");
  const TempDir work("etch-custom");
  const fs::path calls = work.path() / "calls", cc = work.path() / "cc";
  std::ofstream(cc) << "#!/bin/sh\necho call >> " << calls.string() << "\nexec " << gcc->string() << " \"$@\"\n";
  fs::permissions(cc, fs::perms::owner_all);
  DeviceOptions options;
  options.of<COptions>().cc = cc.string();
  options.cache.dir = work.path() / "cache";
  const auto compiled = [&] {
    const std::string text = test::content(calls);
    return std::ranges::count(text, '\n');
  };
  const auto load = [&](const std::shared_ptr<const ExternalKernel>& function) {
    const Net net(function);
    const Program program = net.program(nullptr);
    return make_reference_device(options)->load(program)->run({kX}).at(0).doubles();
  };
  EXPECT_EQ(load(reversed(5)), kY);
  EXPECT_EQ(compiled(), 1);
  EXPECT_EQ(load(reversed(5)), kY);
  EXPECT_EQ(compiled(), 1) << "it is in the cache";
  EXPECT_EQ(load(reversed(5, "3.0f")).at(0), 17.0) << "another header";
  EXPECT_EQ(compiled(), 2);
  EXPECT_EQ(load(reversed(5, "2.0f", "n + 0")), kY) << "another text";
  EXPECT_EQ(compiled(), 3);
}

// What a kernel with a reference has to compute; counts how often it is asked.
ExternalReference reference_of(int& asked, double by) {
  return [&asked, by](const std::vector<const Array*>& inputs, const std::vector<std::vector<std::int64_t>>& shapes) {
    asked++;
    std::vector<double> y = inputs.at(0)->doubles();
    std::ranges::reverse(y);
    for (double& v : y) v *= by;
    const std::vector<double> n{static_cast<double>(y.size())};
    return std::vector<Array>{Array::of_doubles(DType::Float32, shapes.at(0), y), Array::of_doubles(DType::Int32, shapes.at(1), n)};
  };
}

TEST(CustomOperator, AReferenceChecksTheFunction) {
  for (const bool is_right : {true, false}) {
    int asked = 0;
    const Net net(reversed(5, "2.0f", "n", reference_of(asked, is_right ? 2 : 2.5)));
    const Program reference = net.program(nullptr);
    const auto interp = make_reference_device();
    const DataSet set{"one", {}, {kX}, {}};
    const std::vector<Array> expected = interp->load(reference)->run({kX});
    EXPECT_EQ(asked, 1) << "the reference device asks it, and calls no function";
    EXPECT_EQ(expected.at(0).double_at(0), is_right ? 11 : 14);
    for (const auto& device : test::devices()) {
      if (device->language() == nullptr) continue;
      SCOPED_TRACE(device->name());
      const Program program = net.program(device->language());
      const auto loaded = device->load(program);
      EXPECT_EQ(loaded->run({kX}).at(0).doubles(), kY) << "its own function";
      const auto culprit = find_culprit(program, reference, *loaded, set, {});
      EXPECT_EQ(culprit.has_value(), !is_right);
      if (culprit) {
        EXPECT_EQ(culprit->call, 1);
        EXPECT_EQ(culprit->nodes, std::vector<std::string>{"rev"});
      }
    }
  }
}

}  // namespace
}  // namespace etch
