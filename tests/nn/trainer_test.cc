// Training: stopped and resumed it gives the same bits, what is wrong is an error before or after the step that names it.
#include "nn/trainer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "models/drawings.h"
#include "nn/losses.h"
#include "support/expect_error.h"
#include "support/rounds.h"
#include "support/usable.h"

namespace etch::nn {
namespace {

using test::error_text;
using testing::HasSubstr;

/// With everything that a checkpoint holds: parameters, running statistics, and dropout, which draws random numbers.
struct SmallNetwork {
  Conv2d conv;
  BatchNorm2d norm;
  Linear out;
  explicit SmallNetwork(Session& session) : conv(session, 1, 4, {3, 3}), norm(session, 4), out(session, 36, 10) {}
  Tensor operator()(const Tensor& x, Pass& pass) const {
    const Tensor seen = norm(conv(x), pass).relu().max_pool({.kernel = {2, 2}, .stride = {2, 2}});
    return out(dropout(seen.flatten(1), 0.25, pass));
  }
  StateDict state() const {
    StateDict state;
    add(state, "conv.", conv.members());
    add(state, "norm.", norm.members());
    add(state, "out.", out.members());
    return state;
  }
};

std::vector<Array> digits(std::int64_t step) {
  const DrawingBatch batch = draw_batch(8 * step, 8, {.height = 8, .width = 8});
  return {batch.pictures, batch.labels};
}

/// One process's life: a session, a network, an optimiser, a trainer.
struct Training {
  Session session;
  SmallNetwork network;
  Optimizer optimizer;
  Trainer trainer;
  explicit Training(const std::shared_ptr<const Device>& device, std::uint64_t seed, TrainerOptions options = {})
      : session(device),
        network((session.manual_seed(seed), session)),
        optimizer(session, parameters(network.state()), adam(), 0.01),
        trainer(
            session, optimizer, network.state(),
            [this](const std::vector<Tensor>& in, Pass& pass) -> Forward {
              const Tensor logits = network(in[0], pass);
              return {sparse_categorical_crossentropy(logits, in[1]), logits};
            },
            quiet(std::move(options))) {}
  static TrainerOptions quiet(TrainerOptions options) {
    options.quiet = true;
    return options;
  }
};

class Resumed : public testing::TestWithParam<std::string> {};
/// C, whose compiler takes long, only where all is tried.
std::vector<std::string> resumed_on() {
  std::vector<std::string> devices{"interp", "llvm"};
  if (test::rounds(2) == 2) devices.emplace_back("c");
  return devices;
}
INSTANTIATE_TEST_SUITE_P(Backends, Resumed, testing::ValuesIn(resumed_on()), [](const auto& row) { return row.param; });

TEST_P(Resumed, TrainingGivesTheSameBits) {
  DeviceOptions options;
  options.of<COptions>().flags = {"-std=gnu11", "-O1"};
  const std::shared_ptr<const Device> device = make_device(GetParam(), options);
  if (const std::string why = test::why_not(*device); !why.empty()) GTEST_SKIP() << why;
  const TempDir dir("etch-trainer");
  const auto at = [&](const char* name) { return dir.path() / name; };
  const auto rate = [](std::int64_t step) { return cosine_rate(0.01, step, 7); };

  Training whole(device, 1, {.rate = rate});
  whole.trainer.train(digits, 7);
  whole.trainer.save(at("whole"));
  EXPECT_EQ(whole.trainer.step(), 7);

  Training first(device, 1, {.rate = rate, .checkpoint = at("at_3")});
  first.trainer.train(digits, 3);
  // What the second process begins with does not matter: the checkpoint has it all.
  Training second(device, 2, {.rate = rate, .checkpoint = at("resumed")});
  second.trainer.load(at("at_3"));
  EXPECT_EQ(second.trainer.step(), 3);
  second.trainer.train(digits, 7);
  EXPECT_TRUE(read_file(at("resumed")) == read_file(at("whole")));

  // The same in the process that recorded the steps before: a replay reads all of it anew.
  second.trainer.load(at("at_3"));
  second.trainer.train(digits, 7);
  EXPECT_TRUE(read_file(at("resumed")) == read_file(at("whole")));

  // Random numbers are part of it: with others it is another network.
  second.trainer.load(at("at_3"));
  second.session.manual_seed(5);
  second.trainer.train(digits, 7);
  EXPECT_FALSE(read_file(at("resumed")) == read_file(at("whole")));
}

/// y = w * x, by steps of plain descent: every number can be computed by hand.
class Line : public testing::Test {
 protected:
  Tensor scalar(double value) { return session_.from(Array::of_doubles(DType::Float32, {1}, std::vector<double>{value})); }
  static std::vector<Array> pair(double x, double y) {
    const auto two = [](double v) { return Array::of_doubles(DType::Float32, {2}, std::vector<double>{v, v}); };
    return {two(x), two(y)};
  }
  Forward forward(const std::vector<Tensor>& in) const { return {mean_square(in[0] * w_, in[1])}; }
  Trainer trainer(TrainerOptions options = {}) {
    return {session_,
            optimizer_,
            {{"w", w_}},
            [this](const std::vector<Tensor>& in, Pass&) { return forward(in); },
            Training::quiet(std::move(options))};
  }
  double w() { return session_.values(w_).double_at(0); }

  Session session_{make_device("interp")};
  Tensor w_ = scalar(1);
  Optimizer optimizer_{session_, {w_}, sgd(), 0.25};
};

TEST_F(Line, IsReportedStepByStep) {
  std::vector<TrainingProgress> seen;
  TrainerOptions options;
  options.rate = [](std::int64_t step) { return step == 2 ? 0.5 : 0.25; };
  options.report = [&](const TrainingProgress& p) { seen.push_back(p); };
  Trainer t = trainer(options);
  t.train([](std::int64_t step) { return pair(1, static_cast<double>(3 + step)); }, 4);
  // The loss is (w - y)^2, its gradient 2 (w - y): at rate 0.25 w goes half of the way to y, at 0.5 all of it.
  double w_by_hand = 1;
  ASSERT_EQ(seen.size(), 4u);
  for (std::int64_t step = 0; step < 4; step++) {
    const TrainingProgress& p = seen[static_cast<std::size_t>(step)];
    const double away = static_cast<double>(3 + step) - w_by_hand;
    EXPECT_EQ(p.step, step + 1);
    EXPECT_EQ(p.steps, 4);
    EXPECT_DOUBLE_EQ(p.loss, away * away);
    EXPECT_FALSE(p.accuracy) << "there are no labels";
    EXPECT_EQ(p.samples_per_second > 0, step >= 2) << "the first two steps are traced";
    w_by_hand += step == 2 ? away : away / 2;
  }
  EXPECT_DOUBLE_EQ(w(), w_by_hand);
  t.train([](std::int64_t) { return pair(1, 0); }, 4);
  EXPECT_DOUBLE_EQ(w(), w_by_hand) << "all steps are done already";
}

TEST_F(Line, AnInfiniteOrMissingLossNamesTheStep) {
  for (const double y : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const TempDir dir("etch-trainer");
    session_.set_values(w_, Array::of_doubles(DType::Float32, {1}, std::vector<double>{1}));
    Trainer t = trainer({.checkpoint = dir.path() / "x", .checkpoint_every = 2});
    const std::string text = error_text<UserError>([&] { t.train([&](std::int64_t step) { return pair(1, step == 3 ? y : 2); }, 9); });
    EXPECT_THAT(text, HasSubstr("training step 3: the loss is " + std::string(std::isnan(y) ? "nan" : "inf")));
    EXPECT_THAT(text, HasSubstr("lower the rate, which is 0.25"));
    t.load(dir.path() / "x");
    EXPECT_EQ(t.step(), 2) << "the checkpoint is that before";
    EXPECT_DOUBLE_EQ(w(), 1.75);  // half of the way to 2, twice
  }
}

TEST_F(Line, BatchesAreAllOfOneShape) {
  Trainer t = trainer();
  const std::vector<Array> shorter = {Array::of_doubles(DType::Float32, {1}, std::vector<double>{1}), pair(1, 1)[1]};
  test::expect_error<UserError>([&] { t.train([&](std::int64_t step) { return step == 5 ? shorter : pair(1, 2); }, 9); },
                                "batch 5, input 0: is float32 [1], that of the first batch was float32 [2]");
  EXPECT_EQ(t.step(), 5);
  test::expect_error<UserError>([&] { t.train([&](std::int64_t) { return std::vector<Array>{shorter[1]}; }, 9); },
                                "batch 5: has 1 arrays, the first one had 2");
  test::expect_error<UserError>([&] { trainer().train([](std::int64_t) { return std::vector<Array>{}; }, 1); }, "batch 0: has 0 arrays");
}

TEST_F(Line, WhatCheckpointsWouldLackIsNamed) {
  const Tensor other = scalar(2);
  const auto make = [&](StateDict state) {
    Trainer t(session_, optimizer_, std::move(state), [this](const std::vector<Tensor>& in, Pass&) { return forward(in); });
  };
  test::expect_error<UserError>([&] { make({{"other", other}}); },
                                "a parameter of the optimiser, float32 [1], is not among the tensors of the network");
  Trainer t(session_, optimizer_, {{"w", w_}},
            [&](const std::vector<Tensor>& in, Pass& pass) {
              pass.updates.push_back({other, other + 1.0});
              return forward(in);
            },
            {.quiet = true});
  test::expect_error<UserError>([&] { t.train([](std::int64_t) { return pair(1, 2); }, 1); },
                                "what a layer keeps, float32 [1], is not among");
  EXPECT_DOUBLE_EQ(w(), 1);
}

TEST_F(Line, CheckpointsOfOtherNetworksAreRefused) {
  const TempDir dir("etch-trainer");
  Trainer t = trainer();
  t.save(dir.path() / "plain");
  Optimizer with_moments(session_, {w_}, adam(), 0.25);
  Trainer other(session_, with_moments, {{"w", w_}}, [this](const std::vector<Tensor>& in, Pass&) { return forward(in); }, {.quiet = true});
  test::expect_error<UserError>([&] { other.load(dir.path() / "plain"); }, "has no 'optimizer.0.m', float32 [1]");
  EXPECT_EQ(other.step(), 0);
}

TEST(TrainerLabels, AreCheckedBeforeTheStep) {
  struct Row {
    std::vector<std::int64_t> labels;
    std::optional<std::int64_t> ignored;
    const char* says;  // "": it is accepted
  };
  const Row rows[] = {
      {{0, 9, 3, 3, 1, 2, 4, 5}, std::nullopt, ""},
      {{0, 9, 3, 3, 1, 2, 4, -1}, -1, ""},
      {{0, 9, 3, 3, 1, 2, 4, -1}, std::nullopt, "batch 1, input 1: label 7 of 8 is -1\n  help: accepted are integers from 0 to 9"},
      {{0, 10, 3, 3, 1, 2, 4, -1},
       -1,
       "batch 1, input 1: label 1 of 8 is 10\n  help: accepted are integers from 0 to 9 and -1, which is ignored"},
  };
  for (const Row& row : rows) {
    Training training(make_device("interp"), 1, {.labels = Labels{.input = 1, .classes = 10, .ignored = row.ignored}});
    const auto batches = [&](std::int64_t step) {
      std::vector<Array> batch = digits(step);
      if (step == 1) batch[1] = Array::of_ints(DType::Int32, {8}, row.labels);
      return batch;
    };
    const std::string text = error_text<UserError>([&] { training.trainer.train(batches, 2); });
    EXPECT_THAT(text, HasSubstr(row.says));
    EXPECT_EQ(text.empty(), row.says[0] == '\0') << text;
    EXPECT_EQ(training.trainer.step(), text.empty() ? 2 : 1);
  }
  Training training(make_device("interp"), 1, {.labels = Labels{.input = 0, .classes = 10}});
  test::expect_error<UserError>([&] { training.trainer.train(digits, 1); }, "batch 0, input 0: the labels are float32 [8,1,8,8]");
}

TEST(TrainerLabels, AreWhatTheAccuracyIsOf) {
  std::vector<double> accuracies;
  TrainerOptions options{.labels = Labels{.input = 1, .classes = 10}};
  options.report = [&](const TrainingProgress& p) { accuracies.push_back(p.accuracy.value_or(-1)); };
  Training training(make_device("interp"), 1, options);
  training.trainer.train(digits, 60);
  for (double a : accuracies) EXPECT_TRUE(a >= 0 && a <= 1 && a * 8 == std::round(a * 8)) << a;  // of eight pictures
  Pass pass{training.session};
  const std::vector<Array> batch = digits(0);
  const Array logits = training.session.values(training.network(training.session.from(batch[0]), pass));
  const std::int64_t ignored = batch[1].int_at(0);
  double right = 0, right_of_some = 0, some = 0;
  for (std::int64_t i = 0; i < 8; i++) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < 10; c++) best = logits.double_at(10 * i + c) > logits.double_at(10 * i + best) ? c : best;
    const std::int64_t label = batch[1].int_at(i);
    right += best == label ? 1 : 0;
    right_of_some += best == label && label != ignored ? 1 : 0;
    some += label != ignored ? 1 : 0;
  }
  const Tensor given = training.session.from(logits), labels = training.session.from(batch[1]);
  EXPECT_DOUBLE_EQ(training.session.values(accuracy(given, labels)).double_at(0), right / 8);
  EXPECT_NEAR(training.session.values(accuracy(given, labels, ignored)).double_at(0), right_of_some / some, 1e-6);
}

}  // namespace
}  // namespace etch::nn
