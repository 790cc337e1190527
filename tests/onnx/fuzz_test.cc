// Damaged models: bytes changed, removed, doubled. Each must be imported or give a UserError; anything else is a bug.
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "base/error.h"
#include "onnx/builder.h"
#include "onnx/import.h"
#include "onnx/protobuf_file.h"
#include "support/needs.h"
#include "support/rounds.h"

namespace etch {
namespace {

using Ints = GraphBuilder::Ints;

/// A model with all kinds of content that a reader has to check.
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

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

std::string damaged(std::string bytes, Random& random) {
  for (std::uint64_t change = 0, count = 1 + random.below(3); change < count && !bytes.empty(); change++) {
    const std::size_t at = random.below(bytes.size()), length = 1 + random.below(6);
    switch (random.below(4)) {
      case 0:
        bytes[at] = static_cast<char>(random.below(256));
        break;
      case 1:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.below(8)));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      default:
        bytes.insert(at, bytes.substr(at, length));
        break;
    }
  }
  return bytes;
}

enum class Outcome { Accepted, Refused, Bug };

Outcome import_bytes(const std::string& bytes, const std::string& what, const std::vector<DimBinding>& dims) {
  try {
    import_onnx({.bytes = bytes, .dims = dims});
    return Outcome::Accepted;
  } catch (const UserError&) {
    return Outcome::Refused;
  } catch (const std::exception& error) {
    ADD_FAILURE() << what << ": " << error.what();
    return Outcome::Bug;
  }
}

TEST(Fuzz, DamagedModelsAreRefusedInWords) {
  const std::string model = model_bytes();
  const std::vector<DimBinding> dims = {{"batch", 1, 4}};
  ASSERT_EQ(import_bytes(model, "undamaged", dims), Outcome::Accepted);
  Random random(1);
  int accepted = 0, refused = 0;
  for (int round = 0; round < 4000; round++) {
    const Outcome outcome = import_bytes(damaged(model, random), "round " + std::to_string(round), dims);
    accepted += outcome == Outcome::Accepted;
    refused += outcome == Outcome::Refused;
  }
  EXPECT_GT(accepted, 100);  // changes of weights and names do no harm
  EXPECT_GT(refused, 1000);
}

/// A number that operators do not expect.
std::int64_t odd_number(Random& random) {
  constexpr std::int64_t kOdd[] = {-1, 0, 1, 2, 3, 5, -2, -3, 64, 1000, std::int64_t{1} << 31, std::int64_t{1} << 40, INT64_MAX, INT64_MIN};
  return kOdd[random.below(std::size(kOdd))];
}

/// Changes an attribute, size or input; the file stays well formed, so the operators have to find the fault.
void distort(onnx::GraphProto& graph, Random& random) {
  if (graph.node_size() == 0) return;
  auto& node = *graph.mutable_node(static_cast<int>(random.below(static_cast<std::uint64_t>(graph.node_size()))));
  const std::uint64_t what = random.below(5);
  if (what == 0 && node.input_size() > 0) node.mutable_input()->RemoveLast();
  if (what == 1 && node.input_size() > 1) node.mutable_input()->SwapElements(0, node.input_size() - 1);
  if (what == 2 && graph.input_size() > 0) {
    auto& shape = *graph.mutable_input(static_cast<int>(random.below(static_cast<std::uint64_t>(graph.input_size()))))
                       ->mutable_type()
                       ->mutable_tensor_type()
                       ->mutable_shape();
    if (shape.dim_size() > 0 && random.below(3) > 0)
      shape.mutable_dim(static_cast<int>(random.below(static_cast<std::uint64_t>(shape.dim_size()))))->set_dim_value(odd_number(random));
    else if (shape.dim_size() > 0 && random.below(2) == 0)
      shape.mutable_dim()->RemoveLast();
    else
      shape.add_dim()->set_dim_value(2);
  }
  if (what >= 3 && node.attribute_size() > 0) {
    auto& attribute = *node.mutable_attribute(static_cast<int>(random.below(static_cast<std::uint64_t>(node.attribute_size()))));
    if (attribute.has_i()) attribute.set_i(odd_number(random));
    if (attribute.has_f()) attribute.set_f(static_cast<float>(odd_number(random)));
    if (attribute.ints_size() > 0 && random.below(4) == 0)
      attribute.mutable_ints()->RemoveLast();
    else if (attribute.ints_size() > 0)
      attribute.set_ints(static_cast<int>(random.below(static_cast<std::uint64_t>(attribute.ints_size()))), odd_number(random));
  }
}

TEST(Fuzz, DistortedNodeTestsOfEveryOperator) {
  namespace fs = std::filesystem;
  const fs::path root = "/usr/share/libonnx-testdata/data/node";
  if (const std::string why = test::missing_package("libonnx-testdata", root); !why.empty()) GTEST_SKIP() << why;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(root)) folders.insert(entry.path());
  Random random(2);
  int accepted = 0, refused = 0;
  for (const fs::path& folder : folders) {
    onnx::ModelProto model;
    read_message(folder / "model.onnx", "an ONNX model", model);
    for (int round = 0; round < test::rounds(20); round++) {
      onnx::ModelProto distorted = model;
      distort(*distorted.mutable_graph(), random);
      const std::string what = folder.filename().string() + ", round " + std::to_string(round);
      const Outcome outcome = import_bytes(serialize_message(distorted), what, {});
      accepted += outcome == Outcome::Accepted;
      refused += outcome == Outcome::Refused;
    }
  }
  EXPECT_GT(accepted, test::rounds(3000));
  EXPECT_GT(refused, test::rounds(3000));
}

}  // namespace
}  // namespace etch
