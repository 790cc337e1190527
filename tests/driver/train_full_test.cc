// Training steps of whole networks: the optimisers that train_slow_test.cc leaves out, and what a board's measurements say.
#include "support/made_once.h"
#include "targets/boards.h"
#include "trained.h"

namespace etch {
namespace {

constexpr TrainedCase kFull[] = {{"mlp", "sgd", 0.01, 1e-5}, {"lenet", "adam", 0.001, 1e-3}};
INSTANTIATE_TEST_SUITE_P(OtherNetworks, EmittedStep, testing::ValuesIn(kFull), TrainedName());

TEST(StepOnABoard, PassesItsSelfTestWithoutHeap) {
  const Target board = test::board_target("cortex-m4f");
  if (const std::string why = test::missing_tools(board); !why.empty()) GTEST_SKIP() << why;
  test::expect_valid_on(board, test::zoo_model("mlp").string(), "", {"--train", "loss=crossentropy,optimizer=adam"});
}

}  // namespace
}  // namespace etch
