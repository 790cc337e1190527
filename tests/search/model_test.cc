// The model of cost: that it counts what kernels do, finds weights that are known, says how wrong it is, and leads a search to what
// measuring everything finds.
#include "search/model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "base/fnv.h"
#include "program/generate.h"
#include "search/beam.h"
#include "search/candidates.h"
#include "search/steps.h"
#include "support/instructions.h"
#include "support/kernel_replay.h"
#include "support/random_windows.h"

namespace etch {
namespace {

constexpr std::size_t kKinds = static_cast<std::size_t>(WorkKind::kCount);

double of(const KernelWork& work, WorkKind kind) { return work[static_cast<std::size_t>(kind)]; }

CodegenOptions vectors() {
  CodegenOptions options;
  options.vector_bits = 128;
  options.float_registers = 16;
  return options;
}

ProgramKernel kernel_of(LazyOps& ops, const test::windows::LaidWindow& w, CodegenOptions options, const char* steps) {
  options.opts = opts_of(steps);
  return generate_kernel(test::windows::store_of(ops, w, DType::Float32), {"k", test::windows::arguments_of(w, DType::Float32), {}}, kC,
                         options);
}

KernelWork work_in(const ProgramKernel& kernel) { return work_of(kernel.code, turns_of(kernel.code).value(), vectors()); }

// Bytes that a kernel reads and writes, by running its loops.
TEST(CostModel, loads_and_stores_are_those_that_run) {
  LazyOps ops;
  const test::windows::LaidWindow w{.channels = 4, .outputs = 8, .height = 6, .width = 8, .kernel = 3, .in_last = true, .out_last = true};
  for (const char* steps : {"", "UPCAST 1 2", "UNROLL 0 0", "VECTOR 0 4", "VECTOR 0 4, UPCAST 1 2, UPCAST 0 2", "UPCAST 2 3, UPCAST 0 4"}) {
    const ProgramKernel kernel = kernel_of(ops, w, vectors(), steps);
    const test::KernelReplay replay(kernel.code, kernel.arguments);
    double loaded = 0, stored = 0;
    for (const test::MemoryEvent& e : replay.events()) (e.is_store ? stored : loaded) += static_cast<double>(e.end - e.begin);
    const KernelWork work = work_in(kernel);
    EXPECT_EQ(4 * of(work, WorkKind::ScalarLoads) + 16 * of(work, WorkKind::VectorLoads), loaded) << steps;
    EXPECT_EQ(4 * of(work, WorkKind::ScalarStores) + 16 * of(work, WorkKind::VectorStores), stored) << steps;
    const double sums = of(work, WorkKind::ScalarArithmetic) + 4 * of(work, WorkKind::VectorArithmetic);
    EXPECT_GE(sums, 8 * 4 * 6 * 4 * 9) << steps;
    EXPECT_EQ(of(work, WorkKind::VectorLoads) > 0, std::string_view(steps).starts_with("VECTOR")) << steps;
  }
}

TEST(CostModel, sums_that_registers_do_not_hold_are_spilled) {
  LazyOps ops;
  const test::windows::LaidWindow w{.channels = 4, .outputs = 32, .height = 1, .width = 8, .in_last = true, .out_last = true};
  const auto spills = [&](const char* steps) { return of(work_in(kernel_of(ops, w, vectors(), steps)), WorkKind::Spills); };
  EXPECT_EQ(spills("VECTOR 0 4, UPCAST 1 4, UPCAST 0 2"), 0) << "8 sums, 16 registers";
  EXPECT_GE(spills("VECTOR 0 4, UPCAST 1 8, UPCAST 0 4"), 2 * 4 * 16) << "16 of 32 sums in each turn of a tile's loop of 4, 2 tiles";
}

// What a processor might do: so much for each kind, and some noise.
class Known {
 public:
  double cost(const KernelWork& work) {
    double sum = 0;
    for (std::size_t k = 0; k < kKinds; k++) sum += weights_[k] * work[k];
    return sum * std::uniform_real_distribution<>(1 - noise, 1 + noise)(random_);
  }

  KernelWork any() {
    KernelWork work{};
    for (double& x : work) x = std::floor(std::exp(std::uniform_real_distribution<>(0, 10)(random_)));
    return work;
  }

  double noise = 0.02;

 private:
  std::mt19937 random_{7};
  const KernelWork weights_{1, 2, 0, 4, 1, 0.5, 1, 3, 2, 1, 0, 1, 0.25, 4};
};

TEST(CostModel, weights_of_what_it_has_seen_tell_what_it_has_not) {
  Known known;
  CostModel model;
  EXPECT_EQ(model.cost({1, 1, 1}), 3) << "each step 1 before anything is known";
  for (int i = 0; i < 9; i++) {
    const KernelWork work = known.any();
    model.add(work, known.cost(work));
  }
  EXPECT_FALSE(model.fit()) << "too few";
  for (int i = 0; i < 71; i++) {
    const KernelWork work = known.any();
    model.add(work, known.cost(work));
  }
  const std::optional<ModelFit> fit = model.fit();
  ASSERT_TRUE(fit);
  EXPECT_EQ(fit->measured, 80u);
  EXPECT_LT(fit->median_error, 0.04);
  EXPECT_LT(fit->large_error, 0.1);
  EXPECT_GT(fit->in_order, 0.99);
  known.noise = 0;
  for (int i = 0; i < 100; i++) {
    const KernelWork work = known.any();
    EXPECT_NEAR(model.cost(work) / known.cost(work), 1, 0.1);
  }
}

// Costs that have nothing to do with the work: it says so.
TEST(CostModel, a_bad_fit_is_told) {
  Known known;
  CostModel model;
  std::mt19937 random(3);
  for (int i = 0; i < 80; i++) model.add(known.any(), std::exp(std::uniform_real_distribution<>(0, 6)(random)));
  const std::optional<ModelFit> fit = model.fit();
  ASSERT_TRUE(fit);
  EXPECT_GT(fit->median_error, 0.3);
  EXPECT_LT(fit->in_order, 0.7);
}

Task conv_task(LazyOps& ops) {
  const test::windows::LaidWindow w{.channels = 8, .outputs = 32, .height = 6, .width = 12, .kernel = 3, .in_last = true, .out_last = true};
  Subject subject{test::windows::store_of(ops, w, DType::Float32), test::windows::arguments_of(w, DType::Float32), {}, vectors()};
  for (const KernelArgument& a : subject.arguments)
    subject.data.push_back(
        Array::of_doubles(DType::Float32, {a.elements.as_int()}, std::vector<double>(static_cast<std::size_t>(a.elements.as_int()))));
  return {"conv", {subject}, false, {}};
}

// Costs by weights that are known, and up to a part more that no model can tell.
MeasureVariants by_known_weights(double unknown) {
  return [unknown](const Task&, const std::vector<Variant>& variants) {
    std::vector<Measured> result;
    for (const Variant& v : variants) {
      Known known;
      known.noise = 0;
      std::mt19937 random(static_cast<unsigned>(fnv1a_64(to_text(v.opts))));
      const double more = std::uniform_real_distribution<>(1, 1 + unknown)(random);
      const auto cost = static_cast<std::int64_t>(more * known.cost(work_in(v.kernels[0])));
      result.push_back({Cost{cost, cost, 20 * std::ssize(v.kernels[0].code.order), 0}, "", {}});
    }
    return result;
  };
}

// Rows of tables, which may be worth more than a model says.
TEST(CostModel, lists_that_are_known_are_measured_whatever_it_says) {
  LazyOps ops;
  Task task = conv_task(ops);
  const Subject& subject = task.subjects[0];
  task.known = neighbours(subject.ast, vectors(), choose_opts(subject.ast, subject.arguments, vectors()).applied());
  SearchOptions options{.language = &kC, .most_rounds = 0};
  const SearchResult all = search_opts(task, by_known_weights(0), options);
  options.by_model = true;
  const SearchResult some = search_opts(task, by_known_weights(0), options);
  EXPECT_GT(some.measured, 24);
  EXPECT_EQ(some.measured, all.measured);
  EXPECT_EQ(some.best, all.best);
}

// The search measures fewer lists and finds one that costs as little, also where the model knows a part of the cost alone.
TEST(CostModel, a_search_by_it_finds_what_measuring_all_finds) {
  LazyOps ops;
  const Task task = conv_task(ops);
  for (const auto& [unknown, byte_price] : {std::pair(0.0, 0.0), std::pair(0.2, 0.0), std::pair(0.0, 60.0)}) {
    int asked = 0;
    const MeasureVariants measure = [&](const Task& of, const std::vector<Variant>& variants) {
      asked += static_cast<int>(variants.size());
      return by_known_weights(unknown)(of, variants);
    };
    SearchOptions options{.language = &kC, .most_rounds = 2, .byte_price = byte_price};
    const SearchResult all = search_opts(task, measure, options);
    const int of_all = std::exchange(asked, 0);
    options.by_model = true;
    const SearchResult some = search_opts(task, measure, options);
    EXPECT_LT(asked, of_all / 2);
    EXPECT_EQ(asked, some.measured);
    EXPECT_GT(some.left_to_model, 0);
    EXPECT_LE(score_of(some.cost, byte_price), score_of(all.cost, byte_price) * (unknown == 0 ? 1.01 : 1.06));
    EXPECT_LT(score_of(some.cost, byte_price), score_of(some.cost_before, byte_price));
    ASSERT_TRUE(some.fit);
    EXPECT_EQ(some.fit->measured, static_cast<std::size_t>(some.measured));
    EXPECT_FALSE(all.fit);
    EXPECT_EQ(all.left_to_model, 0);
    EXPECT_EQ(search_opts(task, measure, options).best, some.best) << "the same each time";
  }
}

}  // namespace
}  // namespace etch
