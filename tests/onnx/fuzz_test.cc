// Damaged models: bytes changed, removed, doubled. Each must import or give a UserError; anything else is a bug.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "base/error.h"
#include "onnx/builder.h"
#include "onnx/import.h"

namespace etch {
namespace {

using Ints = GraphBuilder::Ints;

/// A model with some of everything that a reader has to check.
std::string model_bytes() {
  GraphBuilder g("fuzz", 13);
  g.input("x", DType::Float32, {"batch", 2, 6, 6});
  auto x = g.relu(g.conv("x", "conv", 2, 4, {3, 3}, {2, 2}, {1, 1, 0, 0}, 2));
  x = g.node("AveragePool", {x}, {{"kernel_shape", Ints{2, 2}}, {"ceil_mode", 1}});
  const auto shape =
      g.node("Concat", {g.node("Slice", {g.node("Shape", {x}), g.ints("s", {0}), g.ints("e", {1})}), g.ints("rest", {-1})}, {{"axis", 0}});
  x = g.node("Reshape", {x, shape});
  x = g.node("Gather", {x, g.ints("picked", {3, 1, 2})}, {{"axis", 1}});
  x = g.node("Pad", {x, g.ints("pads", {0, 1, 0, 1})}, {{"mode", "edge"}});
  x = g.node("Add", {x, g.initializer("c", Array::filled(DType::Float32, {5}, Scalar::of_double(DType::Float32, 2)), Storage::Typed)});
  g.output(g.dense(x, "fc", 5, 3), DType::Float32, {"batch", 3});
  return g.bytes();
}

TEST(Fuzz, DamagedModelsAreRefusedInWords) {
  const std::string model = model_bytes();
  ASSERT_NO_THROW(import_onnx({.bytes = model, .dims = {{"batch", 1, 4}}}));
  std::uint64_t state = 1;
  const auto random = [&](std::uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = model;
    for (std::uint64_t change = 0, count = 1 + random(3); change < count; ++change) {
      const std::size_t at = random(bytes.size()), length = 1 + random(6);
      switch (random(4)) {
        case 0:
          bytes[at] = static_cast<char>(random(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << random(8)));
          break;
        case 2:
          bytes.erase(at, length);
          break;
        default:
          bytes.insert(at, bytes.substr(at, length));
          break;
      }
    }
    try {
      import_onnx({.bytes = bytes, .dims = {{"batch", 1, 4}}});
      ++accepted;
    } catch (const UserError&) {
      ++refused;
    } catch (const std::exception& error) {
      ADD_FAILURE() << "round " << round << ": " << error.what();
    }
  }
  EXPECT_GT(accepted, 100);  // changes of weights and names do no harm
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace etch
