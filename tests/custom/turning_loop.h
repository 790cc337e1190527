// A function in C inside of a loop, for tests: what a carried value becomes, and an element of a list.
#pragma once

#include <memory>
#include <vector>

#include "ir/external.h"
#include "lazy/tensor.h"
#include "program/lower.h"
#include "schedule/schedule.h"

namespace etch::test {

struct TurningLoop {
  std::shared_ptr<LazyGraph> graph;
  Tensor x;
  Schedule schedule;       // outputs: "last", what is left, and "all", every turn
  Array input, last, all;  // one input, and by loops what becomes of it

  Program program(const Language* language) const {
    LowerOptions lowering;
    lowering.language = language;
    lowering.inputs = {x.buffer()};
    return lower(graph, schedule, lowering);
  }
};

/// Four times x becomes turn(x + added, first x), which turns it round and adds. If `added` is not 0 each turn has a kernel of its own,
/// too.
inline TurningLoop turning_loop(double added) {
  const std::string declaration = "void turn(float *y, const float *x, const float *z)";
  const auto files = std::make_shared<std::vector<ExternalFile>>(std::vector<ExternalFile>{
      {"turn.c", declaration + ";\n" + declaration + " { int i; for (i = 0; i < 3; i++) y[i] = x[(i + 1) % 3] + z[i]; }\n"}});
  const auto turn =
      std::make_shared<const ExternalKernel>(ExternalKernel{"Turn", "turn", "turn.c", declaration, {{DType::Float32, {3}}}, {}, files});
  TurningLoop made;
  made.graph = LazyGraph::create();
  made.x = Tensor::input(*made.graph, "x", DType::Float32, {3});
  const LoopResults loop = Tensor::loop(*made.graph, 4, {made.x}, [&](Sint, const std::vector<Tensor>& carried) -> LoopTurn {
    const Tensor next = Tensor::external(*made.graph, turn, {added == 0 ? carried[0] : carried[0] + added, made.x}).at(0);
    return {{next}, {next}};
  });
  made.schedule = create_schedule(*made.graph, {{"last", loop.carried[0]}, {"all", loop.listed[0]}});
  std::vector<double> now{1, -2, 4}, all;
  const std::vector<double> first = now;
  for (int t = 0; t < 4; t++) {
    std::vector<double> next(3);
    for (std::size_t i = 0; i < 3; i++) next[i] = now[(i + 1) % 3] + added + first[i];
    now = next;
    all.insert(all.end(), now.begin(), now.end());
  }
  made.input = Array::of_doubles(DType::Float32, {3}, first);
  made.last = Array::of_doubles(DType::Float32, {3}, now);
  made.all = Array::of_doubles(DType::Float32, {4, 3}, all);
  return made;
}

}  // namespace etch::test
