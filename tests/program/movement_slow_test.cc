// Each movement operation of Tensor on every type and every backend: element k of a result is an element of the operand that is named
// here, or padding. The thirteen types are one program.
#include <gtest/gtest.h>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"
#include "support/native.h"

namespace etch {
namespace {

/// What is done to x of shape [3,4], the shape of the result, and which element of x its element k is (-1: 0).
struct Move {
  const char* name;
  Tensor (*of)(const Tensor& x);
  std::vector<std::int64_t> shape;
  std::int64_t (*from)(std::int64_t k);
};

const std::vector<Move>& moves() {
  static const std::vector<Move> kMoves{
      {"Reshape",
       [](const Tensor& x) { return x.permute({1, 0}).reshape({2, 6}); },
       {2, 6},
       [](std::int64_t k) { return k % 3 * 4 + k / 3; }},
      {"Permute", [](const Tensor& x) { return x.permute({1, 0}); }, {4, 3}, [](std::int64_t k) { return k % 3 * 4 + k / 3; }},
      {"Expand",
       [](const Tensor& x) { return x.reshape({3, 1, 4}).expand({3, 2, 4}); },
       {3, 2, 4},
       [](std::int64_t k) { return k / 8 * 4 + k % 4; }},
      {"Pad",
       [](const Tensor& x) { return x.pad({{1, 0}, {0, 2}}); },
       {4, 6},
       [](std::int64_t k) { return k < 6 || k % 6 > 3 ? -1 : (k / 6 - 1) * 4 + k % 6; }},
      {"Shrink",
       [](const Tensor& x) { return x.shrink({{1, 3}, {1, 4}}); },
       {2, 3},
       [](std::int64_t k) { return (k / 3 + 1) * 4 + k % 3 + 1; }},
      {"Stride", [](const Tensor& x) { return x.stride({-1, 2}); }, {3, 2}, [](std::int64_t k) { return (2 - k / 2) * 4 + k % 2 * 2; }},
      {"AsStrided",  // windows of four that overlap, from the last one
       [](const Tensor& x) { return x.as_strided({5, 4}, {-2, 1}, 8); },
       {5, 4},
       [](std::int64_t k) { return 8 - k / 4 * 2 + k % 4; }},
      {"AsStridedOfAView",  // of the transposed and padded x: [5,4], its row k of 12 is the first one
       [](const Tensor& x) { return x.permute({1, 0}).pad({{1, 0}, {0, 1}}).as_strided({2, 3, 2}, {8, 0, 3}, 4); },
       {2, 3, 2},
       [](std::int64_t k) -> std::int64_t {
         const std::int64_t at = 4 + k / 6 * 8 + k % 2 * 3, row = at / 4 - 1, column = at % 4;
         return row < 0 || column == 3 ? -1 : column * 4 + row;
       }},
  };
  return kMoves;
}

struct MoveOnBackend {
  const Move* move;
  std::string backend;
  friend void PrintTo(const MoveOnBackend& row, std::ostream* out) { *out << row.move->name << "_" << row.backend; }
};

std::vector<MoveOnBackend> every_move() {
  std::vector<MoveOnBackend> rows;
  for (const char* backend : {"interp", "c", "llvm", "opencl", "cuda"})
    for (const Move& move : moves()) rows.push_back({&move, backend});
  return rows;
}

class MovementOps : public testing::TestWithParam<MoveOnBackend> {};
INSTANTIATE_TEST_SUITE_P(Ops, MovementOps, testing::ValuesIn(every_move()),
                         [](const auto& row) { return testing::PrintToString(row.param); });

TEST_P(MovementOps, IsRightForEveryType) {
  const Move& move = *GetParam().move;
  const auto device = test::backend(GetParam().backend);
  if (!device) GTEST_SKIP() << device.why;
  const auto graph = LazyGraph::create();
  std::vector<OutputSpec> outputs;
  std::vector<Array> values;
  LowerOptions options;
  for (int d = 0; d < kDTypeCount; d++) {
    const auto dtype = static_cast<DType>(d);
    const std::string name(name_of(dtype));
    const Tensor x = Tensor::input(*graph, "x_" + name, dtype, {3, 4});
    options.inputs.push_back(x.buffer());
    outputs.push_back({name, move.of(x)});
    values.push_back(test::difficult_array(dtype, {3, 4}));
  }
  options.language = device->language();
  options.codegen.has_local = options.language != nullptr && options.language->local_memory;
  const std::vector<Array> got = device->load(lower(graph, create_schedule(*graph, outputs), options))->run(values);
  ASSERT_EQ(got.size(), values.size());
  for (std::size_t d = 0; d < got.size(); d++) EXPECT_EQ(test::first_other(got[d], test::picked(values[d], move.shape, move.from)), "");
}

}  // namespace
}  // namespace etch
