// The residual network and the autoencoder of the zoo in int8: the memory that they take, and the same bits from INTERP and C.
#include <gtest/gtest.h>

#include <random>

#include "models/quantise.h"
#include "models/zoo.h"
#include "quant/networks.h"

namespace etch::test {
namespace {

struct Row {
  const char* name;
  std::int64_t arena, little_ram;  // bytes at most
  double error;                    // largest of its output beside the float network's, of 256 steps
};
void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

class QuantisedZoo : public testing::TestWithParam<Row> {
 protected:
  Compiled read(const std::string& bytes, bool little_ram = false, const char* target = "cortex-m4f") const {
    Compiled c;
    c.options.import.bytes = bytes;
    c.options.import.path = std::string(GetParam().name) + ".onnx";
    c.options.target = find_target(target, std::filesystem::path(ETCH_SOURCE_DIR "/targets"));
    c.options.overlap = little_ram;
    c.options.selftest = false;
    c.frontend = read_model(c.options);
    return c;
  }
  const ZooModel& model() const { return zoo_model(GetParam().name); }
};

TEST_P(QuantisedZoo, ArenasAreSmall) {
  const std::string bytes = quantised(zoo_bytes(model()));
  for (const auto& [little_ram, most] : {std::pair(false, GetParam().arena), std::pair(true, GetParam().little_ram)}) {
    const Compiled c = read(bytes, little_ram);
    const MemoryPlan plan = compile_project(c.frontend, c.options).plan;
    EXPECT_LE(plan.arena_bytes, most) << (little_ram ? "ram" : "speed");
    EXPECT_LE(plan.arena_bytes, plan.lower_bound_bytes + 16);
  }
}

TEST_P(QuantisedZoo, BitsAreTheSameAndNearTheFloatNetwork) {
  const Compiled c = read(quantised(zoo_bytes(model()))), in_float = read(zoo_bytes(model()));
  std::mt19937 random(3);
  const std::vector<std::int64_t> shape = model().input_shape;
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  Ints x;
  std::vector<double> real;  // the input's range is -1 to 1
  for (std::int64_t i = 0; i < size; i++) {
    x.push_back(static_cast<std::int64_t>(random() % 255) - 127);
    real.push_back(static_cast<double>(x.back()) * 2 / 255);
  }
  const Ints y = run(c, {int8s(shape, x)});
  const std::vector<double> want = make_reference_device()
                                       ->load(lower_model(in_float.frontend, nullptr, in_float.options))
                                       ->run({Array::of_doubles(DType::Float32, shape, real)})
                                       .at(0)
                                       .doubles();
  // The best line from one to the other: the output's scale and zero point are those of the quantised model.
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(y.size());
  for (std::size_t i = 0; i < y.size(); i++) {
    const auto q = static_cast<double>(y[i]);
    sx += q;
    sy += want[i];
    sxx += q * q;
    sxy += q * want[i];
  }
  const double step = (n * sxy - sx * sy) / (n * sxx - sx * sx), offset = (sy - step * sx) / n;
  EXPECT_GT(step, 0);
  double most = 0;
  for (std::size_t i = 0; i < y.size(); i++) most = std::max(most, std::abs(static_cast<double>(y[i]) - (want[i] - offset) / step));
  EXPECT_LE(most, GetParam().error) << "steps of the output";
}

// Their kernels have several bodies, with vectors and dot products in each.
TEST_P(QuantisedZoo, BitsAreTheSameWithVectors) {
  const std::string bytes = quantised(zoo_bytes(model()));
  std::mt19937 random(4);
  std::int64_t size = 1;
  for (std::int64_t d : model().input_shape) size *= d;
  Ints x;
  for (std::int64_t i = 0; i < size; i++) x.push_back(static_cast<std::int64_t>(random() % 256) - 128);
  run(read(bytes, false, "x86-64-vnni"), {int8s(model().input_shape, x)});
}

INSTANTIATE_TEST_SUITE_P(Models, QuantisedZoo, testing::Values(Row{"resnet8", 49'152, 32'768, 16}, Row{"autoencoder", 768, 640, 16}),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace etch::test
