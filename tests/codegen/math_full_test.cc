// The functions of codegen/math.h on every float32 number, those of two on 2^26 pairs: as numbers whose products and sums the compiler may
// fuse or not, and as vectors.
#include <thread>
#include <tuple>

#include "math_functions.h"

namespace etch {
namespace {

constexpr int kParts = 256;

struct Way {
  const char* name;
  const char* contract;
  int vector_bits;
};
constexpr Way kWays[] = {{"Apart", "-ffp-contract=off", 0}, {"Fused", "-ffp-contract=fast", 512}};

using Row = std::tuple<Way, test::ExactFunction>;
class EveryNumber : public testing::TestWithParam<Row> {};
INSTANTIATE_TEST_SUITE_P(Ways, EveryNumber, testing::Combine(testing::ValuesIn(kWays), testing::ValuesIn(test::exact_functions())),
                         [](const auto& row) {
                           return std::string(std::get<Way>(row.param).name) +
                                  std::string(name_of(std::get<test::ExactFunction>(row.param).op));
                         });

double worst_of(const test::ExactFunction& f, const std::vector<float>& inputs, const std::vector<float>& got, std::size_t from,
                std::size_t to) {
  double worst = 0;
  for (std::size_t i = from; i < to; i++)
    if (const auto x = static_cast<double>(inputs[i]); !(x > f.most)) worst = std::max(worst, test::ulps(got[i], f.value(x)));
  return worst;
}

auto device_of(const Way& way) {
  DeviceOptions options;
  options.of<COptions>().flags = {"-std=gnu99", "-O3", "-march=native", way.contract};
  return test::usable(make_device("c", options));
}

TEST_P(EveryNumber, IsWithinItsLimit) {
  const auto& [way, f] = GetParam();
  const auto device = device_of(way);
  if (!device) GTEST_SKIP() << device.why;
  constexpr std::size_t kSize = (std::size_t{1} << 32) / kParts;
  std::vector<float> inputs(kSize);
  double worst = 0;
  for (std::uint64_t part = 0; part < kParts && worst <= f.limit; part++) {
    for (std::uint64_t k = 0; k < kSize; k++) inputs[k] = test::float_of_bits(part * kSize + k);
    const std::vector<float> got = test::values_of(f.op, {inputs}, *device, way.vector_bits);
    double second = 0;
    std::thread other([&, &exact = f] { second = worst_of(exact, inputs, got, kSize / 2, kSize); });
    worst = std::max(worst, worst_of(f, inputs, got, 0, kSize / 2));
    other.join();
    worst = std::max(worst, second);
  }
  std::printf("  %s: at most %.3f ulp\n", std::string(name_of(f.op)).c_str(), worst);
  EXPECT_LE(worst, f.limit) << name_of(f.op);
}

class ManyPairs : public testing::TestWithParam<Way> {};
INSTANTIATE_TEST_SUITE_P(Ways, ManyPairs, testing::ValuesIn(kWays), [](const auto& row) { return std::string(row.param.name); });

TEST_P(ManyPairs, AreWithinTheirLimits) {
  const auto device = device_of(GetParam());
  if (!device) GTEST_SKIP() << device.why;
  constexpr std::uint64_t kCount = std::uint64_t{1} << 26, kPart = std::uint64_t{1} << 22;
  for (const test::ExactPairFunction& f : test::exact_pair_functions()) {
    double worst = 0;
    for (std::uint64_t from = 0; from < kCount && worst <= f.limit; from += kPart) {
      const test::Pairs pairs = test::random_pairs(from, from + kPart);
      std::string where;
      worst = std::max(worst, test::worst_of(f, pairs, test::values_of(f.op, {pairs.x, pairs.y}, *device, GetParam().vector_bits), &where));
      EXPECT_LE(worst, f.limit) << where;
    }
    std::printf("  %s: at most %.3f ulp\n", std::string(name_of(f.op)).c_str(), worst);
  }
}

}  // namespace
}  // namespace etch
