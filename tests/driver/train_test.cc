// Training steps of models: what is accepted, what a step computes, and what its functions in C refuse.
#include "driver/train.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "base/tempdir.h"
#include "device/device.h"
#include "jit/tinyjit.h"
#include "nn/losses.h"
#include "support/expect_error.h"
#include "support/files.h"
#include "support/instructions.h"
#include "support/text_model.h"
#include "validate/data_set.h"

namespace etch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTiny = R"(<ir_version: 8, opset_import: ["" : 17]>
tiny (float[2,4] x) => (float[2,3] y)
<float[4,5] w1 = {0.5,-0.25,0.125,1,-1, 0.75,0.5,-0.5,0.25,0.1, -0.3,0.2,0.9,-0.8,0.4, 0.6,-0.7,0.3,0.2,-0.1},
 float[5] b1 = {0.1,0.2,-0.1,0,0.05}, float[3,5] w2 = {0.3,-0.2,0.4,0.1,-0.6, 0.25,0.5,-0.75,0.2,0.3, -0.1,0.4,0.2,-0.3,0.5},
 float[3] b2 = {0,0.1,-0.1}> {
  h = Gemm (x, w1, b1)
  r = Tanh (h)
  z = Gemm <transB = 1> (r, w2, b2)
  y = Softmax (z)
})";

class TrainStep : public testing::Test {
 protected:
  TrainStep() {
    options.import.path = write_text_model(work.path() / "tiny.onnx", kTiny);
    options.target = test::target_named("c99");
  }
  std::string refused(const std::string& text, int last = 0) const {
    try {
      const TrainOptions train = train_options(text, last);
      read_step(options, train);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  }
  const TempDir work{"etch-train"};
  CompileOptions options;
};

Array numbers(DType dtype, std::vector<std::int64_t> shape, int seed) {
  std::int64_t size = 1;
  for (std::int64_t d : shape) size *= d;
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; i++) values.push_back(is_int(dtype) ? (i * 7 + seed) % 3 : 0.25 * ((i * 5 + seed * 3) % 9) - 1);
  return Array::of_doubles(dtype, shape, values);
}

/// The losses of some steps by the library, on the weights of `step`, whose layers are written out here once more.
std::vector<double> losses_by_library(const ImportedModel& step, const nn::Rule& rule, const std::function<Tensor(Tensor, Tensor)>& loss_of,
                                      const std::vector<Array>& inputs, double rate, int steps) {
  Session session(make_device("interp"));
  std::vector<Tensor> p;
  for (const ImportedState& s : step.parameters)
    p.push_back(session.from(s.state.tensor.buffer()->data.reshaped(concrete_shape(s.state.shape, {}))));
  nn::Optimizer optimizer(session, p, rule, rate);
  std::vector<double> losses;
  for (int i = 0; i < steps; i++) {
    optimizer.zero_grad();
    const Tensor logits = (session.from(inputs[0]).matmul(p[0]) + p[1]).tanh().matmul(p[2].transpose()) + p[3];
    const Tensor loss = loss_of(logits, session.from(inputs[1]));
    loss.backward();
    losses.push_back(session.values(loss).double_at(0));
    optimizer.step();
  }
  return losses;
}

TEST_F(TrainStep, IsThatOfTheLibrary) {
  const auto classes = [](const Tensor& z, const Tensor& t) { return nn::sparse_categorical_crossentropy(z, t); };
  const auto squares = [](const Tensor& z, const Tensor& t) { return nn::mean_square(z.softmax(1), t); };
  const auto absolute = [](const Tensor& z, const Tensor& t) { return nn::mean_absolute(z.softmax(1), t); };
  const auto binary = [](const Tensor& z, const Tensor& t) { return nn::binary_crossentropy_logits(z.softmax(1), t); };
  const struct {
    const char* text;
    nn::Rule rule;
    std::function<Tensor(Tensor, Tensor)> loss;
    bool of_classes;
  } rows[] = {
      {"loss=crossentropy,optimizer=sgd", nn::sgd(), classes, true},
      {"optimizer=sgd,momentum=0.9,nesterov=1,weight_decay=0.01,loss=mean_square",
       nn::sgd({.momentum = 0.9, .nesterov = true, .weight_decay = 0.01}), squares, false},
      {"loss=crossentropy,optimizer=adam,beta1=0.8", nn::adam({.beta1 = 0.8}), classes, true},
      {"loss=mean_absolute,optimizer=adamw", nn::adamw(), absolute, false},
      {"loss=binary_crossentropy,optimizer=lamb", nn::lamb(), binary, false},
  };
  const auto device = make_device("interp");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.text);
    const Frontend step = read_step(options, train_options(row.text));
    const Program program = lower_model(step, nullptr, options);
    const auto loaded = device->load(program);
    const Array x = numbers(DType::Float32, {2, 4}, 1);
    const Array t = row.of_classes ? numbers(DType::Int32, {2}, 2) : numbers(DType::Float32, {2, 3}, 2);
    const std::vector<double> expected = losses_by_library(step.model, row.rule, row.loss, {x, t}, 0.05, 4);
    for (std::size_t i = 0; i < expected.size(); i++) {
      const double got = loaded->run({x, t, Array::scalar(Scalar::of_double(DType::Float32, 0.05))}).at(0).double_at(0);
      EXPECT_NEAR(got, expected[i], 1e-5 * std::abs(expected[i])) << "step " << i;
    }
    EXPECT_GT(std::abs(expected.back() - expected.front()), 1e-4) << "the weights change";
  }
}

// A sigmoid at the end becomes part of the loss, which is then finite where the sigmoid is 1.
TEST_F(TrainStep, ASigmoidBelongsToTheBinaryLoss) {
  options.import.path = write_text_model(work.path() / "sigmoid.onnx", R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1,0,0,1}> { z = MatMul (x, w)
 p = Sigmoid (z)
 y = Identity (p) })");
  const Frontend step = read_step(options, train_options("loss=binary_crossentropy,optimizer=sgd"));
  const Program program = lower_model(step, nullptr, options);
  const auto two = [](double a, double b) { return Array::of_doubles(DType::Float32, {1, 2}, std::vector<double>{a, b}); };
  const Array rate = Array::scalar(Scalar::of_double(DType::Float32, 0.1));
  const double loss = make_device("interp")->load(program)->run({two(200, 0), two(0, 1), rate}).at(0).double_at(0);
  EXPECT_NEAR(loss, (200 + std::log(2.0)) / 2, 1e-4);
}

TEST_F(TrainStep, WhatIsNotAcceptedIsSaid) {
  const struct {
    const char* text;
    int last;
    const char* says;
  } rows[] = {
      {"loss=crossentropy", 0, "optimizer is not given"},
      {"optimizer=sgd", 0, "loss is not given"},
      {"loss", 0, "'loss' is not NAME=VALUE"},
      {"loss=hinge,optimizer=sgd", 0,
       "loss=hinge is not known\n  help: accepted are crossentropy, binary_crossentropy, mean_square, mean_absolute"},
      {"loss=crossentropy,optimizer=rmsprop", 0, "optimizer=rmsprop is not known\n  help: accepted are sgd, adam, adamw, lamb"},
      {"loss=crossentropy,optimizer=sgd,beta1=0.5", 0, "optimizer sgd takes no 'beta1'"},
      {"loss=crossentropy,optimizer=sgd,momentum=much", 0, "momentum=much is not accepted\n  help: accepted is 0 to below 1"},
      {"loss=crossentropy,optimizer=sgd,momentum=1", 0, "momentum=1 is not accepted"},
      {"loss=crossentropy,optimizer=adam,beta1=nan", 0, "beta1=nan is not accepted"},
      {"loss=crossentropy,optimizer=adam,epsilon=0", 0, "epsilon=0 is not accepted"},
      {"loss=crossentropy,optimiser=sgd", 0, "'optimiser' is not known\n  help: accepted are"},
      {"loss=crossentropy, optimizer=sgd, loss=mean_square", 0, "'loss' is there twice"},
      {"loss=crossentropy,optimizer=sgd,output=q", 0, "the model has no output 'q'\n  help: its outputs: 'y'"},
      {"loss=crossentropy,optimizer=sgd,parameters=w9", 0, "parameter 'w9' is no initializer of the graph"},
      {"loss=crossentropy,optimizer=sgd,parameters=w2", 1, "parameters are named, and --train-last chooses some"},
      {"loss=crossentropy,optimizer=sgd", 3, "--train-last 3: only 2 layers have something to train"},
  };
  for (const auto& row : rows) {
    const std::string error = refused(row.text, row.last);
    EXPECT_NE(error.find(row.says), std::string::npos) << row.text << "\n" << error;
  }
}

TEST_F(TrainStep, ModelsWithoutAGradientAreNamedWithTheirNode) {
  const auto of_model = [&](const char* text) {
    options.import.path = write_text_model(work.path() / "other.onnx", text);
    return refused("loss=mean_square,optimizer=sgd");
  };
  const std::string no_gradient = of_model(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,5}> { a = MatMul (x, w)
 y = Det2 (a) })");
  EXPECT_NE(no_gradient.find("Det2"), std::string::npos) << no_gradient;
  const std::string unused = of_model(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] y, float[2,2] z) <float[2,2] w = {1,2,3,5}, float[2,2] v = {1,2,3,4}> { y = MatMul (x, w)
 z = MatMul (x, v) })");
  EXPECT_NE(unused.find("the model has 2 outputs: y, z"), std::string::npos) << unused;
  const std::string nothing = of_model(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] y) { y = Relu (x) })");
  EXPECT_NE(nothing.find("there is nothing to train"), std::string::npos) << nothing;
  const std::string integers = of_model(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (int64[2] y) <float[2,2] w = {1,2,3,5}> { a = MatMul (x, w)
 y = ArgMax <axis = 1, keepdims = 0> (a) })");
  EXPECT_NE(integers.find("output 'y': is int64 [2]"), std::string::npos) << integers;
}

class TrainedWeights : public TrainStep {
 protected:
  /// The names of what is trained: "w b".
  std::string trained(const char* body, const std::string& more = "", int last = 0) {
    const std::string text = std::string(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[1,2] x) => (float[1,2] y) <float[2,2] w = {1,2,3,5}, float[2] b = {1,2}, float[2,2] v = {1,2,3,4}, float[2] c = {1,2}, float[1] half = {0.5}> {
)") + body + "}";
    options.import.path = write_text_model(work.path() / "chosen.onnx", text.c_str());
    const Frontend step = read_step(options, train_options("loss=mean_square,optimizer=sgd" + more, last));
    std::string names;
    for (const ImportedState& p : step.model.parameters) names += (names.empty() ? "" : " ") + p.state.name;
    return names;
  }
};

TEST_F(TrainedWeights, AreThoseOfLayers) {
  const char* two = "h = MatMul (x, w) i = Add (h, b) r = Relu (i) k = MatMul (r, v) y = Add (k, c)";
  EXPECT_EQ(trained(two), "w b v c");
  EXPECT_EQ(trained(two, "", 1), "v c") << "a bias belongs to its layer";
  EXPECT_EQ(trained(two, ",parameters=b+v"), "b v");
  EXPECT_EQ(trained("h = MatMul (x, w) i = Mul (h, half) j = Add (x, c) y = Mul (i, j)"), "w") << "constants are no weights";
  EXPECT_EQ(trained("i = Transpose (w) j = Identity (i) y = MatMul (x, j)"), "w") << "what gives a weight on";
  EXPECT_EQ(trained("y = MatMul (x, w) z = MatMul (x, v)"), "w") << "what the loss is not computed from";
  EXPECT_EQ(trained("m = ReduceMean <axes = [1]> (x) d = Sub (x, m) n = Abs (d) q = Div (d, n) s = Mul (q, b) y = Add (s, c)"), "b c")
      << "a normalisation that is written out";
}

TEST_F(TrainedWeights, MayHaveAnyName) {
  const auto compiled = [&](const char* text, const char* name, const char* train) {
    options.import.path = write_text_model(work.path() / (std::string(name) + ".onnx"), text);
    options.selftest = true;
    return compile_trained(options, train_options(train)).report.trained;
  };
  const std::vector<std::string> named{"learning_rate"};
  EXPECT_EQ(compiled(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] steps) <float[2,2] learning_rate = {1,2,3,5}> { steps = MatMul (x, learning_rate) })",
                     "round", "loss=mean_square,optimizer=adam"),
            named);
  EXPECT_EQ(compiled(R"(<ir_version: 8, opset_import: ["" : 17]>
g (float[2,2] x) => (float[2,2] y, float[2,2] w) <float[2,2] w = {1,2,3,5}> { y = MatMul (x, w) })",
                     "shown", "loss=mean_square,optimizer=sgd,output=y"),
            std::vector<std::string>{"w"});
  options.import.name = std::string(58, 'n');
  EXPECT_NE(refused("loss=mean_square,optimizer=sgd,output=y").find("which is too long"), std::string::npos);
}

double first_loss(const CompileOptions& options, const std::string& train, const std::vector<Array>& inputs, int runs = 1) {
  const Frontend step = read_step(options, train_options(train));
  const Program program = lower_model(step, nullptr, options);
  const auto loaded = make_device("interp")->load(program);
  double loss = 0;
  for (int i = 0; i < runs; i++) loss = loaded->run(inputs).at(0).double_at(0);
  return loss;
}

TEST_F(TrainStep, ASoftmaxInAnotherShapeBelongsToTheLoss) {
  const Array x = numbers(DType::Float32, {2, 4}, 1), labels = numbers(DType::Int32, {2}, 2),
              rate = Array::scalar(Scalar::of_double(DType::Float32, 0));
  const double expected = first_loss(options, "loss=crossentropy,optimizer=sgd", {x, labels, rate});
  for (const char* end : {"q = Softmax (z) y = Flatten (q)", "q = Softmax (z) y = Cast <to = 1> (q)", "y = LogSoftmax <axis = 1> (z)"}) {
    std::string model = kTiny;
    model.replace(model.find("y = Softmax (z)"), 15, end);
    options.import.path = write_text_model(work.path() / "other.onnx", model.c_str());
    EXPECT_EQ(first_loss(options, "loss=crossentropy,optimizer=sgd", {x, labels, rate}), expected) << end;
  }
}

constexpr const char* kStrict =
    "gcc -std=c99 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all";

/// A user's program: each line that does not hold is printed.
constexpr const char* kUser = R"(#include <stdio.h>
#include <string.h>
#include "tiny_train.h"
static union { etch_widest widest; unsigned char bytes[TINY_TRAIN_ARENA_BYTES]; } arena;
static union { etch_widest widest; unsigned char bytes[TINY_STATE_BYTES]; } state, before;
static unsigned char saved[TINY_SAVED_BYTES];
static const float x[TINY_TRAIN_X_COUNT] = {1, -0.5f, 0.25f, 2, 0, 1, -1, 0.5f};
static float y[TINY_Y_COUNT];
static int failed;
static void expect(int holds, const char *what) {
  if (!holds) printf("%s\n", what);
  failed |= !holds;
}
static etch_status step(int32_t first, int32_t second, float *loss) {
  int32_t labels[2];
  labels[0] = first; labels[1] = second;
  return tiny_train_step(arena.bytes, TINY_TRAIN_ARENA_BYTES, state.bytes, x, labels, 0.1f, loss);
}
int main(void) {
  float first = 0, second = 0, third = 0, again = 0;
  expect(tiny_state_init(state.bytes) == ETCH_OK && step(1, 2, &first) == ETCH_OK && step(1, 2, &second) == ETCH_OK, "a step runs");
  expect(second < first, "a step makes the loss smaller");
  memcpy(before.bytes, state.bytes, TINY_STATE_BYTES);
  expect(step(-1, 0, &third) == ETCH_RANGE && step(0, 3, &third) == ETCH_RANGE, "labels out of range are a status");
  expect(memcmp(before.bytes, state.bytes, TINY_STATE_BYTES) == 0, "and the weights stay");
  expect(tiny_train_step(arena.bytes, TINY_TRAIN_ARENA_BYTES, state.bytes, x, NULL, 0.1f, &third) == ETCH_NULL, "no labels");
  expect(tiny_train_step(arena.bytes, TINY_TRAIN_ARENA_BYTES - 1, state.bytes, x, (const int32_t *)saved, 0.1f, &third) == ETCH_ARENA_SMALL, "arena");
  expect(tiny_run(arena.bytes, TINY_TRAIN_ARENA_BYTES, state.bytes, x, y) == ETCH_OK, "the network runs on the same state");
  expect(memcmp(before.bytes, state.bytes, TINY_STATE_BYTES) == 0, "and only reads it");
  expect(tiny_state_save(state.bytes, saved, TINY_SAVED_BYTES - 1) == ETCH_BLOB_SIZE, "no room");
  expect(tiny_state_save(state.bytes, saved, TINY_SAVED_BYTES) == ETCH_OK && step(0, 0, &third) == ETCH_OK, "saved");
  expect(tiny_state_load(state.bytes, saved, TINY_SAVED_BYTES - 1) == ETCH_BLOB_SIZE, "cut off");
  expect(tiny_state_load(state.bytes, saved, 8) == ETCH_BLOB_SIZE, "without its header");
  saved[TINY_SAVED_BYTES - 5] ^= 1;
  expect(tiny_state_load(state.bytes, saved, TINY_SAVED_BYTES) == ETCH_BLOB_DAMAGED, "damaged");
  saved[TINY_SAVED_BYTES - 5] ^= 1;
  saved[8] ^= 1;
  expect(tiny_state_load(state.bytes, saved, TINY_SAVED_BYTES) == ETCH_BLOB_OTHER, "of another model");
  saved[8] ^= 1;
  saved[4] ^= 1;
  expect(tiny_state_load(state.bytes, saved, TINY_SAVED_BYTES) == ETCH_BLOB_FORMAT, "of another version");
  saved[4] ^= 1;
  expect(memcmp(before.bytes, state.bytes, TINY_STATE_BYTES) != 0, "what is refused changes nothing");
  expect(tiny_state_load(state.bytes, saved, TINY_SAVED_BYTES) == ETCH_OK && memcmp(before.bytes, state.bytes, TINY_STATE_BYTES) == 0, "loaded");
  expect(step(0, 0, &again) == ETCH_OK && memcmp(&again, &third, sizeof third) == 0, "and trained on to the same bits");
  return failed;
}
)";

TEST_F(TrainStep, ItsFunctionsInCRefuseWhatIsWrong) {
  const struct {
    const char *optimizer, *weights;
    int last;  // 1: the step reads the other layer's weights where the run has them
    WeightsForm form;
  } rows[] = {{"adam", "tiny_weights.c", 0, WeightsForm::C}, {"sgd", "", 1, WeightsForm::Blob}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.optimizer);
    ProcessOptions in_folder;
    in_folder.cwd = work.path() / row.optimizer;
    options.weights = row.form;
    const TrainOptions train = train_options(std::string("loss=crossentropy,optimizer=") + row.optimizer, row.last);
    write_audited(in_folder.cwd, compile_trained(options, train), options);
    write_file(in_folder.cwd / "user.c", kUser);
    for (const char* main : {"selftest.c", "tiny_train_selftest.c", "user.c"}) {
      if (row.form == WeightsForm::Blob && main == std::string("user.c")) continue;  // it has no place for the weights
      const ProcessResult built = run_process(
          {"sh", "-c", fmt::format("{} -o run {} tiny.c tiny_train.c {} etch_runtime.c -lm", kStrict, main, row.weights)}, in_folder);
      ASSERT_TRUE(built.ok()) << built.err;
      const ProcessResult ran = run_process({"sh", "-c", "./run"}, in_folder);
      EXPECT_EQ(ran.out + ran.err, main == std::string("user.c") ? "" : "PASS\n") << main;
      EXPECT_TRUE(ran.ok()) << main;
      if (main == std::string("user.c")) continue;
      // On the union GCC would make the alignment less than the union's own.
      EXPECT_NE(test::content(in_folder.cwd / main).find("  ETCH_ALIGNED(TINY_STATE_ALIGN) unsigned char bytes"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace etch
