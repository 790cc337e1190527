// Models of many small nodes: what a compiler does for each node shows in its time, memory and stack.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "onnx/builder.h"

namespace etch::test {

/// One kind of chain: `next` adds the nodes of one link behind `x`; `skip` is the value two links before.
struct Chain {
  const char* name;
  OnnxDim size;  // the input is [1, 1, size, 8]
  int nodes;     // of one link
  GraphBuilder::Value (*next)(GraphBuilder& g, const GraphBuilder::Value& x, const GraphBuilder::Value& skip);
};

inline void PrintTo(const Chain& chain, std::ostream* out) { *out << chain.name; }

inline const Chain kChains[] = {
    {"elementwise", 4, 1, [](GraphBuilder& g, const auto& x, const auto&) { return g.node("Sigmoid", {x}); }},
    {"biases", 4, 1, [](GraphBuilder& g, const auto& x, const auto&) { return g.node("Add", {x, "bias"}); }},
    {"layers", 4, 2, [](GraphBuilder& g, const auto& x, const auto&) { return g.relu(g.node("MatMul", {x, "w"})); }},
    {"residual", 4, 3,
     [](GraphBuilder& g, const auto& x, const auto& skip) { return g.relu(g.node("Add", {g.node("MatMul", {x, "w"}), skip})); }},
    {"movements", 8, 2,
     [](GraphBuilder& g, const auto& x, const auto& skip) {
       return g.node("Add", {g.node("Transpose", {x}, {{"perm", GraphBuilder::Ints{0, 1, 3, 2}}}), skip});
     }},
    {"convolutions of an open size", "rows", 2,
     [](GraphBuilder& g, const auto& x, const auto&) {
       return g.relu(g.node("Conv", {x, "kernel"}, {{"pads", GraphBuilder::Ints{1, 1, 1, 1}}}));
     }},
    {"strides of an open size", "rows", 2,
     [](GraphBuilder& g, const auto& x, const auto&) {
       const auto half = g.node("AveragePool", {x}, {{"kernel_shape", GraphBuilder::Ints{2, 1}}, {"strides", GraphBuilder::Ints{2, 1}}});
       return g.node("Resize", {half, "", "scales"}, {{"mode", std::string("nearest")}});
     }},
};

/// Options of etch for this kind.
inline std::vector<std::string> options_of(const Chain& chain) {
  return chain.size.name.empty() ? std::vector<std::string>{} : std::vector<std::string>{"--dim", chain.size.name + "=8..64"};
}

/// Writes a model that is at least `nodes` long.
inline void write_chain(const Chain& chain, int nodes, const std::filesystem::path& file) {
  GraphBuilder g("chain", 17, 8);
  GraphBuilder::Value x = g.input("x", DType::Float32, {1, 1, chain.size, 8}), skip = x;
  g.seeded("w", {8, 8}, 8);
  g.seeded("kernel", {1, 1, 3, 3}, 9);
  g.seeded("bias", {8}, 8);
  g.initializer("half", Array::of_doubles(DType::Float32, {}, std::vector<double>{0.5}));
  g.initializer("scales", Array::of_doubles(DType::Float32, {4}, std::vector<double>{1, 1, 2, 1}));
  for (int made = 0; made < nodes; made += chain.nodes) {
    const GraphBuilder::Value next = chain.next(g, x, skip);
    skip = x;
    x = next;
  }
  g.output(g.node("Mul", {x, "half"}, {}, "out"), DType::Float32, {1, 1, chain.size, 8});
  g.write(file);
}

}  // namespace etch::test
