// Layers, losses and steps of optimisers: their gradients against finite differences in double, their values against loops by hand.
#include "nn/layers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "device/device.h"
#include "jit/tinyjit.h"
#include "nn/losses.h"
#include "nn/optim.h"
#include "nn/random.h"
#include "support/differences.h"
#include "support/expect_error.h"
#include "support/rounds.h"
#include "support/usable.h"

namespace etch::nn {
namespace {

using test::weighted;
using Tensors = std::vector<Tensor>;
using Ints = std::vector<std::int64_t>;

Array numbers(const Ints& shape, int salt) { return test::spread_values(shape, -1, 1, salt); }

/// A layer in a session: its tensors in double, and a number that is computed from them.
struct Built {
  Tensors leaves;
  std::function<Tensor()> value;
};
struct LayerCase {
  const char* name;
  std::function<Built(Session&)> build;
};

/// Gives every tensor of a layer values in double, which require a gradient.
template <class Layer>
Tensors in_double(Session& session, Layer& layer, std::initializer_list<Tensor Layer::*> members) {
  Tensors leaves;
  int salt = 1;
  for (Tensor Layer::* member : members) {
    Ints shape;
    for (const Sint& d : (layer.*member).shape()) shape.push_back(d.as_int());
    layer.*member = session.from(numbers(shape, salt++)).requires_grad(true);
    leaves.push_back(layer.*member);
  }
  return leaves;
}

template <class Layer>
Built layer_of(Session& session, Layer layer, std::initializer_list<Tensor Layer::*> members, const Ints& input) {
  Built built{in_double(session, layer, members), {}};
  const Tensor x = session.from(numbers(input, 9)).requires_grad(true);
  built.leaves.push_back(x);
  built.value = [layer, x] { return weighted(layer(x).tanh()); };
  return built;
}

Built loss_of(Session& session, const Ints& shape, const std::function<Tensor(const Tensor&)>& loss) {
  const Tensor x = session.from(numbers(shape, 3)).requires_grad(true);
  return {{x}, [=] { return loss(x); }};
}

Tensor labels_of(const Tensor& like, const Ints& values) {
  return Tensor::constant(like.graph(), Array::of_ints(DType::Int64, {static_cast<std::int64_t>(values.size())}, values));
}

std::vector<LayerCase> products() {
  return {
      {"Linear", [](Session& s) { return layer_of(s, Linear(s, 3, 4), {&Linear::weight, &Linear::bias}, {2, 3}); }},
      {"Conv1d",
       [](Session& s) {
         return layer_of<Conv>(s, Conv1d(s, 2, 4, 3, {.stride = {2}, .padding = {1}, .groups = 2}), {&Conv::weight, &Conv::bias},
                               {2, 2, 6});
       }},
      {"Conv2d",
       [](Session& s) {
         return layer_of<Conv>(s, Conv2d(s, 2, 3, {3, 2}, {.padding = {1, 0}, .dilation = {1, 2}}), {&Conv::weight, &Conv::bias},
                               {1, 2, 4, 5});
       }},
      {"ConvTranspose1d",
       [](Session& s) {
         return layer_of<ConvTranspose>(s, ConvTranspose1d(s, 2, 3, 3, {.stride = {2}, .padding = {1}, .output_padding = {1}}),
                                        {&ConvTranspose::weight, &ConvTranspose::bias}, {1, 2, 4});
       }},
      {"ConvTranspose2d",
       [](Session& s) {
         return layer_of<ConvTranspose>(s, ConvTranspose2d(s, 2, 2, {2, 3}, {.stride = {1, 2}}),
                                        {&ConvTranspose::weight, &ConvTranspose::bias}, {1, 2, 3, 2});
       }},
  };
}

std::vector<LayerCase> other_layers() {
  return {
      {"LayerNorm", [](Session& s) { return layer_of(s, LayerNorm(s, {2, 3}), {&LayerNorm::weight, &LayerNorm::bias}, {2, 2, 3}); }},
      {"GroupNorm", [](Session& s) { return layer_of(s, GroupNorm(s, 2, 4), {&GroupNorm::weight, &GroupNorm::bias}, {2, 4, 3}); }},
      {"InstanceNorm",
       [](Session& s) { return layer_of<GroupNorm>(s, InstanceNorm(s, 3), {&GroupNorm::weight, &GroupNorm::bias}, {2, 3, 4}); }},
      {"BatchNorm2d",
       [](Session& s) {
         BatchNorm2d norm(s, 3);
         Built built{in_double(s, norm, {&BatchNorm2d::weight, &BatchNorm2d::bias}), {}};
         in_double(s, norm, {&BatchNorm2d::running_mean, &BatchNorm2d::running_var});
         const Tensor x = s.from(numbers({2, 3, 2, 2}, 9)).requires_grad(true);
         built.leaves.push_back(x);
         built.value = [norm, x, &s] {
           Pass pass{s, true};
           return weighted(norm(x, pass).tanh());
         };
         return built;
       }},
      {"Embedding",
       [](Session& s) {
         Embedding embedding(s, 5, 3);
         Built built{in_double(s, embedding, {&Embedding::weight}), {}};
         const Tensor index = s.from(Array::of_ints(DType::Int32, {2, 2}, Ints{4, 0, 4, 2}));
         built.value = [=] { return weighted(embedding(index).tanh()); };
         return built;
       }},
      {"LSTM",
       [](Session& s) {
         LSTM lstm(s, 2, 3);
         Built built{in_double(s, lstm, {&LSTM::weight_ih, &LSTM::weight_hh, &LSTM::bias_ih, &LSTM::bias_hh}), {}};
         const Tensor x = s.from(numbers({4, 2, 2}, 9)).requires_grad(true);
         built.leaves.push_back(x);
         built.value = [=] {
           const LSTM::Result r = lstm(x);
           return weighted(r.outputs) + weighted(r.last.c * r.last.h);
         };
         return built;
       }},
  };
}

std::vector<LayerCase> losses() {
  return {
      {"sparse_categorical_crossentropy",
       [](Session& s) {
         return loss_of(s, {4, 3}, [](const Tensor& x) { return sparse_categorical_crossentropy(x, labels_of(x, {2, 0, 1, 1})); });
       }},
      {"with_an_ignored_label",
       [](Session& s) {
         return loss_of(s, {4, 3}, [](const Tensor& x) { return sparse_categorical_crossentropy(x, labels_of(x, {2, -1, 1, -1}), -1); });
       }},
      {"categorical_crossentropy",
       [](Session& s) {
         return loss_of(s, {4, 3}, [](const Tensor& x) {
           return categorical_crossentropy(x, Tensor::constant(x.graph(), numbers({4, 3}, 5)).softmax(1));
         });
       }},
      {"binary_crossentropy",
       [](Session& s) {
         return loss_of(s, {5}, [](const Tensor& x) {
           return binary_crossentropy(x * 0.4 + 0.5, labels_of(x, {1, 0, 1, 1, 0}).cast(DType::Float64));
         });
       }},
      {"binary_crossentropy_logits",
       [](Session& s) {
         return loss_of(s, {5}, [](const Tensor& x) {
           return binary_crossentropy_logits(x * 3.0, labels_of(x, {1, 0, 1, 1, 0}).cast(DType::Float64));
         });
       }},
      {"mean_square",
       [](Session& s) {
         return loss_of(s, {5}, [](const Tensor& x) { return mean_square(x, Tensor::constant(x.graph(), numbers({5}, 5))); });
       }},
      {"mean_absolute",
       [](Session& s) {
         return loss_of(s, {5}, [](const Tensor& x) { return mean_absolute(x, Tensor::constant(x.graph(), numbers({5}, 5))); });
       }},
  };
}

std::vector<LayerCase> cases() {
  std::vector<LayerCase> all;
  for (const auto& part : {products(), other_layers(), losses()}) all.insert(all.end(), part.begin(), part.end());
#ifdef ETCH_LAYERS_ALONE
  return all;
#else  // under sanitizers every second one: layers_slow_test.cc has all of them
  std::vector<LayerCase> some;
  for (std::size_t i = 0; i < all.size(); i += test::rounds(2) == 2 ? 1 : 2) some.push_back(all[i]);
  return some;
#endif
}

#ifndef ETCH_LAYER_BACKENDS
#define ETCH_LAYER_BACKENDS "interp"
#endif
struct Near {
  static void expect_near(const std::vector<double>& got, const std::vector<double>& expected, double tolerance = 1e-12) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], expected[i], tolerance * std::max(1.0, std::fabs(expected[i]))) << i;
  }
};

class Layers : public testing::TestWithParam<std::string>, protected Near {
 protected:
  void SetUp() override {
    DeviceOptions options;
    options.of<OpenClOptions>().program = ETCH_BUILD_DIR "/etch-opencl";
    options.of<COptions>().flags = {"-std=gnu11", "-O1"};
    device_ = make_device(GetParam(), options);
    if (const std::string why = test::why_not(*device_); !why.empty()) GTEST_SKIP() << why;
  }
  std::shared_ptr<const Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Backends, Layers, testing::Values(ETCH_LAYER_BACKENDS), [](const auto& row) { return row.param; });

TEST_P(Layers, GradientsAreThoseOfDifferences) {
  for (const LayerCase& row : cases()) {
    SCOPED_TRACE(row.name);
    Session session(device_), reference(make_device("interp"));
    const Built built = row.build(session), exact = row.build(reference);
    built.value().backward();
    for (std::size_t k = 0; k < built.leaves.size(); k++) {
      ASSERT_TRUE(built.leaves[k].grad()) << k;
      const std::vector<double> got = session.values(built.leaves[k].grad()).doubles();
      const Array before = reference.values(exact.leaves[k]);
      const std::vector<double> expected = test::derivatives(before, [&](const Array& moved) {
        reference.set_values(exact.leaves[k], moved);
        return reference.values(exact.value()).doubles()[0];
      });
      for (std::size_t i = 0; i < expected.size(); i++)
        EXPECT_NEAR(got[i], expected[i], 1e-6 * std::max(1.0, std::fabs(expected[i]))) << "leaf " << k << ", element " << i;
      reference.set_values(exact.leaves[k], before);
    }
  }
}

// Rows by hand: f(w) = sum of w^2 / 2, so the gradient is w.
TEST_P(Layers, StepsOfOptimisersAreTheFormulas) {
  struct Row {
    Rule rule;
    std::function<void(double& w, double& m, double& v, double t)> by_hand;
  };
  const double rate = 0.1;
  const auto adam_part = [](double g, double& m, double& v, double t) {
    m = 0.8 * m + 0.2 * g;
    v = 0.9 * v + 0.1 * g * g;
    return m / (1 - std::pow(0.8, t)) / (std::sqrt(v / (1 - std::pow(0.9, t))) + 1e-3);
  };
  const AdamOptions options{.beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3, .weight_decay = 0.05};
  const Row rows[] = {
      {sgd(), [&](double& w, double&, double&, double) { w -= rate * w; }},
      {sgd({.momentum = 0.9, .weight_decay = 0.01}),
       [&](double& w, double& m, double&, double) { w -= rate * (m = 0.9 * m + w + 0.01 * w); }},
      {sgd({.momentum = 0.9, .nesterov = true}),
       [&](double& w, double& m, double&, double) {
         m = 0.9 * m + w;
         w -= rate * (w + 0.9 * m);
       }},
      {adam(options), [&](double& w, double& m, double& v, double t) { w -= rate * adam_part(w + 0.05 * w, m, v, t); }},
      {adamw(options), [&](double& w, double& m, double& v, double t) { w -= rate * (adam_part(w, m, v, t) + 0.05 * w); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.rule.name);
    std::vector<double> w{0.5, -2, 3}, m(3), v(3);
    Session session(device_);
    const Tensor x = session.from(Array::of_doubles(DType::Float64, {3}, w));
    Optimizer optimizer(session, {x}, row.rule, rate);
    for (int t = 1; t <= 4; t++) {
      optimizer.zero_grad();
      (x.square().sum() * 0.5).backward();
      optimizer.step();
      for (std::size_t i = 0; i < w.size(); i++) row.by_hand(w[i], m[i], v[i], t);
    }
    expect_near(session.values(x).doubles(), w, 1e-6);  // the rate is a float32
  }
}

TEST_P(Layers, LambsTrustIsTheRatioOfNorms) {
  std::vector<double> w{3, 4}, m(2), v(2);
  Session session(device_);
  const Tensor x = session.from(Array::of_doubles(DType::Float64, {2}, w));
  Optimizer optimizer(session, {x}, lamb({.weight_decay = 0.1}), 0.5);
  for (int t = 1; t <= 3; t++) {
    optimizer.zero_grad();
    (x.square().sum() * 0.5).backward();
    optimizer.step();
    double change[2], own = 0, changes = 0;
    for (int i = 0; i < 2; i++) {
      m[i] = 0.9 * m[i] + 0.1 * w[i];
      v[i] = 0.999 * v[i] + 0.001 * w[i] * w[i];
      change[i] = m[i] / (1 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-6) + 0.1 * w[i];
      own += w[i] * w[i];
      changes += change[i] * change[i];
    }
    for (int i = 0; i < 2; i++) w[i] -= 0.5 * std::sqrt(own / changes) * change[i];
  }
  expect_near(session.values(x).doubles(), w, 1e-5);
}

#ifndef ETCH_LAYERS_ALONE
class OnInterp : public testing::Test, protected Near {
 protected:
  std::vector<double> doubles(const Tensor& t) { return session_.values(t).doubles(); }
  Tensor from(const Ints& shape, const std::vector<double>& values) {
    return session_.from(Array::of_doubles(DType::Float64, shape, values));
  }
  Session session_{make_device("interp")};
};
using LayerValues = OnInterp;
using Optimisers = OnInterp;
using Initialisers = OnInterp;

TEST_F(LayerValues, OfBatchNormInTrainingAndAfter) {
  BatchNorm2d norm(session_, 1, 0, 0.25);
  const Tensor x = session_.from(Array::of_doubles(DType::Float32, {2, 1, 1, 2}, std::vector<double>{1, 3, 5, 7}));
  Pass pass{session_, true};
  const Tensor y = norm(x, pass);
  const double deviation = std::sqrt(5.0);  // of 1, 3, 5, 7 with mean 4
  expect_near(doubles(y), {-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation}, 1e-6);
  session_.assign(pass.updates);
  expect_near(doubles(norm.running_mean), {1}, 1e-6);                      // a quarter of 4
  expect_near(doubles(norm.running_var), {0.75 + 0.25 * 20 / 3.0}, 1e-6);  // with n - 1
  Pass after{session_};
  expect_near(doubles(norm(x, after)), {0, 2 / std::sqrt(0.75 + 5 / 3.0), 4 / std::sqrt(0.75 + 5 / 3.0), 6 / std::sqrt(0.75 + 5 / 3.0)},
              1e-6);
  EXPECT_TRUE(after.updates.empty());
  const Tensor one = session_.from(Array::filled(DType::Float32, {1, 1, 1, 1}, Scalar::of_double(DType::Float32, 3)));
  test::expect_error<UserError>([&] { (void)norm(one, pass); }, "one element a channel has no variance to train with");
  EXPECT_EQ(parameters(norm.members()).size(), 2u) << "the running ones are no parameters";
}

// Two steps of one cell with weights that are all w.
TEST_F(LayerValues, OfLstm) {
  LSTM lstm(session_, 1, 1);
  for (Tensor LSTM::* member : {&LSTM::weight_ih, &LSTM::weight_hh}) lstm.*member = from({4, 1}, {0.1, 0.2, 0.3, 0.4});
  for (Tensor LSTM::* member : {&LSTM::bias_ih, &LSTM::bias_hh}) lstm.*member = from({4}, {0.05, -0.05, 0.02, 0.01});
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  double h = 0, c = 0;
  std::vector<double> expected;
  for (double x : {0.5, -1.0}) {
    const auto gate = [&](double w, double b) { return w * x + w * h + 2 * b; };
    const double i = sigmoid(gate(0.1, 0.05)), f = sigmoid(gate(0.2, -0.05)), g = std::tanh(gate(0.3, 0.02)), o = sigmoid(gate(0.4, 0.01));
    c = f * c + i * g;
    h = o * std::tanh(c);
    expected.push_back(h);
  }
  expect_near(doubles(lstm(from({2, 1, 1}, {0.5, -1})).outputs), expected);
}

TEST_F(LayerValues, OfDropout) {
  const Tensor x = session_.from(Array::filled(DType::Float32, {10000}, Scalar::of_double(DType::Float32, 3)));
  Pass train{session_, true}, after{session_};
  EXPECT_EQ(dropout(x, 0.25, after).buffer(), x.buffer());
  std::int64_t zeros = 0;
  for (double v : doubles(dropout(x, 0.25, train))) {
    EXPECT_TRUE(v == 0 || v == 4) << v;
    zeros += v == 0 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(zeros), 2500, 200);  // five standard deviations
  EXPECT_THROW((void)dropout(x, 1, train), UserError);
}

TEST_F(LayerValues, OfLosses) {
  const Tensor logits = from({2, 3}, {1, 2, 3, 0, 0, 0});
  const auto log_softmax = [](double v) { return v - std::log(std::exp(1) + std::exp(2) + std::exp(3)); };
  expect_near(doubles(sparse_categorical_crossentropy(logits, labels_of(logits, {2, 1}))), {(-log_softmax(3) + std::log(3)) / 2});
  expect_near(doubles(sparse_categorical_crossentropy(logits, labels_of(logits, {2, 7}), 7)), {-log_softmax(3)});
  expect_near(doubles(binary_crossentropy_logits(from({2}, {800, -1}), from({2}, {0, 1}))), {(800 + std::log(1 + std::exp(1))) / 2});
  expect_near(doubles(mean_square(from({2}, {1, 4}), from({2}, {3, 1}))), {6.5});
  expect_near(doubles(mean_absolute(from({2}, {1, 4}), from({2}, {3, 1}))), {2.5});
  EXPECT_THROW((void)mean_square(logits, from({2}, {1, 2})), ShapeError);
  EXPECT_THROW((void)sparse_categorical_crossentropy(logits, from({2}, {1, 2})), ShapeError);
}

// What adam keeps of halves, and its epsilon, would be 0 in their type; without a gradient it would divide by that.
TEST_F(Optimisers, OfHalvesKeepFloats) {
  for (const DType type : {DType::Float16, DType::BFloat16}) {
    const Tensor x = session_.from(Array::of_doubles(type, {2}, std::vector<double>{1, 0}));
    Optimizer optimizer(session_, {x}, adam(), 0.125);
    for (int t = 0; t < 2; t++) {
      optimizer.zero_grad();
      x.square().sum().backward();
      optimizer.step();
    }
    EXPECT_EQ(x.dtype(), type);
    expect_near(doubles(x), {0.75, 0}, 1e-2);
  }
}

TEST_F(Optimisers, RecordedStepsReadTheRateAnew) {
  const Tensor x = from({1}, {1});
  Optimizer optimizer(session_, {x}, sgd(), 0.5);
  TinyJit step(session_, [&](const Tensors& in) {
    optimizer.zero_grad();
    const Tensor loss = (x * in[0]).sum();
    loss.backward();
    optimizer.step();
    return Tensors{loss};
  });
  double expected = 1;
  for (int i = 0; i < 6; i++) {
    optimizer.set_rate(0.5 * i);
    (void)step({from({1}, {2})});
    expected -= 0.5 * i * 2;
    expect_near(doubles(x), {expected});
  }
  EXPECT_EQ(optimizer.rate(), 2.5);
}

TEST_F(Optimisers, MistakesAreNamed) {
  const Tensor x = from({2}, {1, 2}), other = from({3}, {1, 2, 3});
  const auto refused = [](const std::function<void()>& f, std::string_view says) { test::expect_error<UserError>(f, says); };
  refused([&] { Optimizer(session_, {x * 2.0}, sgd(), 1); }, "is not realized");
  refused([&] { Optimizer(session_, {x, x}, sgd(), 1); }, "is there twice");
  refused([&] { Optimizer(session_, {}, sgd(), 1); }, "has no parameters");
  refused([&] { (void)sgd({.nesterov = true}); }, "with nesterov a momentum above 0");
  refused([&] { (void)adam({.beta1 = 1}); }, "beta1 is 1");
  const Tensor open = session_.from(Array::of_doubles(DType::Float64, {2}, std::vector<double>{1, 2}), {session_.variable("n", 1, 4)});
  refused([&] { Optimizer(session_, {open}, sgd(), 1); }, "a parameter has the open shape [n]");
  Optimizer optimizer(session_, {x, other}, sgd(), 1);
  x.sum().backward();
  refused([&] { optimizer.step(); }, "parameter 1 of shape [3] has no gradient: the loss does not depend on it");
  expect_near(doubles(x), {1, 2});
}

TEST(Rates, AreTheFormulas) {
  EXPECT_DOUBLE_EQ(multi_step_rate(1, 4, {5, 8}), 1);
  EXPECT_DOUBLE_EQ(multi_step_rate(1, 5, {5, 8}), 0.1);
  EXPECT_DOUBLE_EQ(multi_step_rate(1, 9, {5, 8}, 0.5), 0.25);
  EXPECT_DOUBLE_EQ(cosine_rate(2, 0, 10), 2);
  EXPECT_DOUBLE_EQ(cosine_rate(2, 5, 10, 1), 1.5);
  EXPECT_NEAR(cosine_rate(2, 99, 10), 0, 1e-12);
  EXPECT_DOUBLE_EQ(one_cycle_rate(1, 0, 100), 1.0 / 25);
  EXPECT_DOUBLE_EQ(one_cycle_rate(1, 30, 100), 1);
  EXPECT_NEAR(one_cycle_rate(1, 100, 100), 1e-4, 1e-15);
  ReduceOnPlateau plateau(1, 0.5, 1);
  EXPECT_EQ(plateau.after(3), 1);
  EXPECT_EQ(plateau.after(3), 1);
  EXPECT_EQ(plateau.after(3), 0.5);
  EXPECT_EQ(plateau.after(1), 0.5);
}

TEST_F(Initialisers, HaveTheirWidthAndComeFromTheSeed) {
  struct Row {
    const char* name;
    std::function<Tensor()> draw;
    double mean, deviation, bound;  // 0: none
  };
  const Row rows[] = {
      {"uniform", [&] { return uniform(session_, {200, 50}, -1, 3); }, 1, 4 / std::sqrt(12), 3},
      {"normal", [&] { return normal(session_, {200, 50}, 2, 0.5); }, 2, 0.5, 0},
      {"scaled_uniform", [&] { return scaled_uniform(session_, {200, 50}); }, 0, 0.01 / std::sqrt(3), 0.01},
      {"glorot_uniform", [&] { return glorot_uniform(session_, {200, 50}); }, 0, std::sqrt(2.0 / 250), std::sqrt(6.0 / 250)},
      {"kaiming_uniform", [&] { return kaiming_uniform(session_, {200, 50}, 0); }, 0, std::sqrt(2.0 / 50), std::sqrt(6.0 / 50)},
      {"kaiming_normal", [&] { return kaiming_normal(session_, {200, 50}, 0); }, 0, std::sqrt(2.0 / 50), 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    session_.manual_seed(3);
    const std::vector<double> values = doubles(row.draw());
    double mean = 0, square = 0;
    for (double v : values) mean += v / 10000;
    for (double v : values) square += (v - mean) * (v - mean) / 10000;
    EXPECT_NEAR(mean, row.mean, 0.05 * row.deviation);
    EXPECT_NEAR(std::sqrt(square), row.deviation, 0.03 * row.deviation);
    for (double v : values) ASSERT_LE(std::fabs(v), row.bound == 0 ? HUGE_VAL : row.bound);
    session_.manual_seed(3);
    EXPECT_EQ(doubles(row.draw()), values);
    EXPECT_NE(doubles(row.draw()), values);
  }
}
#endif  // ETCH_LAYERS_ALONE

}  // namespace
}  // namespace etch::nn
