// Networks that read digits, as layers: models/lenet.cc and models/mlp.cc up to their logits, with the same names of weights.
#pragma once

#include "nn/layers.h"
#include "nn/losses.h"
#include "nn/state.h"
#include "nn/trainer.h"

namespace etch::test {

struct LeNet {
  nn::Conv2d conv1, conv2;
  nn::Linear fc1, fc2, fc3;
  explicit LeNet(Session& session)
      : conv1(session, 1, 6, {5, 5}, {.padding = {2, 2}}),
        conv2(session, 6, 16, {5, 5}),
        fc1(session, 400, 120),
        fc2(session, 120, 84),
        fc3(session, 84, 10) {}
  Tensor operator()(const Tensor& input) const {
    const Window pool{.kernel = {2, 2}, .stride = {2, 2}};
    const Tensor x = conv2(conv1(input).relu().max_pool(pool)).relu().max_pool(pool).flatten(1);
    return fc3(fc2(fc1(x).relu()).relu());
  }
  nn::StateDict state() const {
    nn::StateDict state;
    nn::add(state, "conv1.", conv1.members());
    nn::add(state, "conv2.", conv2.members());
    nn::add(state, "fc1.", fc1.members());
    nn::add(state, "fc2.", fc2.members());
    nn::add(state, "fc3.", fc3.members());
    return state;
  }
};

struct Mlp {
  nn::Linear fc1, fc2, fc3;
  explicit Mlp(Session& session) : fc1(session, 784, 128), fc2(session, 128, 64), fc3(session, 64, 10) {}
  Tensor operator()(const Tensor& input) const { return fc3(fc2(fc1(input.flatten(1)).relu()).relu()); }
  nn::StateDict state() const {
    nn::StateDict state;
    nn::add(state, "fc1.", fc1.members());
    nn::add(state, "fc2.", fc2.members());
    nn::add(state, "fc3.", fc3.members());
    return state;
  }
};

/// What a Trainer does with batches of pictures and labels.
template <class Network>
nn::Trainer::ForwardPass reading(const Network& network) {
  return [&network](const std::vector<Tensor>& in, nn::Pass&) -> nn::Forward {
    const Tensor logits = network(in[0]);
    return {nn::sparse_categorical_crossentropy(logits, in[1]), logits};
  };
}

}  // namespace etch::test
