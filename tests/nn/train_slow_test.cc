// A small network learns to read digits: some hundred steps, a few seconds.
#include <gtest/gtest.h>

#include <numeric>

#include "device/device.h"
#include "models/drawings.h"
#include "nn/losses.h"
#include "nn/trainer.h"
#include "support/readers.h"
#include "support/usable.h"

namespace etch::nn {
namespace {

constexpr std::int64_t kBatch = 32, kSteps = 300, kFresh = 500;

struct SmallReader {
  Conv2d conv1, conv2;
  Linear out;
  explicit SmallReader(Session& session)
      : conv1(session, 1, 8, {3, 3}, {.padding = {1, 1}}), conv2(session, 8, 12, {3, 3}), out(session, 48, 10) {}
  Tensor operator()(const Tensor& x) const {
    const Window pool{.kernel = {2, 2}, .stride = {2, 2}};
    return out(conv2(conv1(x).relu().max_pool(pool)).relu().max_pool(pool).flatten(1));
  }
  StateDict state() const {
    StateDict state;
    add(state, "conv1.", conv1.members());
    add(state, "conv2.", conv2.members());
    add(state, "out.", out.members());
    return state;
  }
};

std::vector<Array> pictures(std::uint64_t seed, std::int64_t first, std::int64_t count) {
  const DrawingBatch batch = draw_batch(first, count, {.height = 12, .width = 12, .seed = seed});
  return {batch.pictures, batch.labels};
}

TEST(Train, ASmallNetworkReadsDigits) {
  const std::shared_ptr<const Device> device = make_device("llvm");
  if (const std::string why = test::why_not(*device); !why.empty()) GTEST_SKIP() << why;
  Session session(device);
  session.manual_seed(1);
  const SmallReader network(session);
  const StateDict state = network.state();
  Optimizer optimizer(session, parameters(state), adam(), 0.005);
  std::vector<double> losses;
  TrainerOptions options{.labels = Labels{.input = 1, .classes = 10}};
  options.report = [&](const TrainingProgress& p) { losses.push_back(p.loss); };
  Trainer trainer(session, optimizer, state, test::reading(network), options);
  const auto fresh_accuracy = [&] {
    const std::vector<Array> fresh = pictures(2, 0, kFresh);
    return session.values(accuracy(network(session.from(fresh[0])), session.from(fresh[1]))).double_at(0);
  };
  const double before = fresh_accuracy();
  trainer.train([](std::int64_t step) { return pictures(1, kBatch * step, kBatch); }, kSteps);
  const double after = fresh_accuracy();

  ASSERT_EQ(losses.size(), static_cast<std::size_t>(kSteps));
  const double first = std::accumulate(losses.begin(), losses.begin() + 20, 0.0) / 20;
  const double last = std::accumulate(losses.end() - 20, losses.end(), 0.0) / 20;
  std::printf("loss %.3f to %.3f, accuracy on fresh pictures %.3f to %.3f\n", first, last, before, after);
  EXPECT_LT(last, first / 4);
  EXPECT_LT(before, 0.3) << "guessing is 0.1";
  EXPECT_GT(after, 0.9);
}

}  // namespace
}  // namespace etch::nn
