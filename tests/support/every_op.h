// For tests: the kernels that show an operation of ops.def right, for every type that it has. Operations with operands have numpy's
// tables; those of the leaves, of the root and of movement are worked out here from where each element comes from.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/native.h"
#include "support/op_table.h"

namespace etch::test {

struct OpKernel {
  OpRow row;
  const LazyOp* store = nullptr;
};

/// Load, Const, Index, Store and Expand of one type.
class LeafKernels {
 public:
  LeafKernels(LazyOps& ops, Op op, DType dtype) : ops_(ops), op_(op), dtype_(dtype), data_(difficult_array(dtype)) {}
  /// None for an operation that is no leaf: a new one is then missed by kernels_of.
  std::vector<OpKernel> make() {
    if (op_ == Op::Load) loads();
    if (op_ == Op::Const) constants();
    if (op_ == Op::Index) indices();
    if (op_ == Op::Store) stores();
    if (op_ == Op::Expand) expansions();
    return std::move(made_);
  }

 private:
  using Sizes = std::vector<std::int64_t>;

  static ShapeTracker of(const Sizes& sizes) { return ShapeTracker::from_shape({sizes.begin(), sizes.end()}); }

  void add(const LazyOp* value, const Sizes& shape, std::vector<Array> args, Array result) {
    made_.push_back({{.op = op_, .args = std::move(args), .result = std::move(result), .shape = shape, .axes = {}, .ulp = 0},
                     ops_.store(0, value, of(shape))});
  }
  /// A Load of the twelve values, of which element k is value from(k), or 0.
  template <class From>
  void add_load(const Sizes& shape, const ShapeTracker& st, From from) {
    add(ops_.load(1, dtype_, st), shape, {data_}, picked(data_, shape, from));
  }

  void loads() {
    add_load({12}, of({12}), [](std::int64_t k) { return k; });
    add_load({4, 3}, of({3, 4}).stride({-1, 1}).permute({1, 0}), [](std::int64_t k) { return (2 - k % 3) * 4 + k / 3; });
    add_load({15}, of({12}).pad({{2, 1}}), [](std::int64_t k) { return k < 2 || k == 14 ? -1 : k - 2; });
    add_load({2, 12}, of({1, 12}).expand({2, 12}), [](std::int64_t k) { return k % 12; });
    // Positions of the kernel's own: from the end where negative, the nearest one inside where outside.
    const Sizes positions{0, -1, 11, 40, -40, 5}, places{0, 11, 11, 11, 0, 5};
    const LazyOp* index = ops_.load(2, DType::Int32, of({6}));
    const auto values = native_array(DType::Int32, {6},
                                     [&](std::int64_t k) { return static_cast<std::int32_t>(positions.at(static_cast<std::size_t>(k))); });
    add(ops_.load_at(1, dtype_, of({1, 12}).expand({6, 12}), index), {6}, {data_, values},
        picked(data_, {6}, [&](std::int64_t k) { return places.at(static_cast<std::size_t>(k)); }));
  }

  void constants() {
    for (std::int64_t k = 0; k < kDifficult; k++) {
      const Scalar value = data_.at(k);
      if (k < 2) add(ops_.constant(value, of({1}).expand({3})), {3}, {}, picked(data_, {3}, [=](std::int64_t) { return k; }));
      add(ops_.constant(value, of({1}).expand({2}).pad({{1, 2}})), {5}, {},
          picked(data_, {5}, [=](std::int64_t at) { return at == 1 || at == 2 ? k : -1; }));
    }
  }

  void indices() {
    const auto numbers = [&](const Sizes& shape, auto number) {
      return with_native(dtype_, [&]<class T>(T) {
        return native_array(dtype_, shape, [&](std::int64_t k) { return T(static_cast<float>(number(k))); });
      });
    };
    add(ops_.index(dtype_, of({20})), {20}, {}, numbers({20}, [](std::int64_t k) { return k; }));
    add(ops_.index(dtype_, of({7, 5}).permute({1, 0}).stride({2, 1})), {3, 7}, {},
        numbers({3, 7}, [](std::int64_t k) { return k % 7 * 5 + k / 7 * 2; }));
    add(ops_.index(dtype_, of({6}).stride({-1}).pad({{3, 2}})), {11}, {},
        numbers({11}, [](std::int64_t k) { return k < 3 || k > 8 ? 0 : 8 - k; }));
  }

  void stores() {
    for (const Sizes& shape : std::vector<Sizes>{{12}, {3, 4}, {2, 3, 2}, {1, 12, 1}})
      add(ops_.load(1, dtype_, of(shape)), shape, {data_}, picked(data_, shape, [](std::int64_t k) { return k; }));
    add(ops_.load(1, dtype_, of({1, 12}).shrink({{0, 1}, {5, 6}})), {1, 1}, {data_}, picked(data_, {1, 1}, [](std::int64_t) { return 5; }));
  }

  /// The largest of each row, in each place of the row; then of each column.
  void expansions() {
    const Array a = with_native(dtype_, [&]<class T>(T) {
      return native_array(dtype_, {3, 4},
                          [&](std::int64_t k) { return std::is_same_v<T, bool> ? T(k == 5) : T(static_cast<float>(k * 7 % 12)); });
    });
    const LazyOp* load = ops_.load(1, dtype_, of({3, 4}));
    for (const int axis : {0, 1}) {
      const auto largest = [&](std::int64_t k) {
        std::int64_t best = axis == 1 ? k / 4 * 4 : k % 4;
        for (std::int64_t i = 0; i < (axis == 1 ? 4 : 3); i++) {
          const std::int64_t at = axis == 1 ? k / 4 * 4 + i : i * 4 + k % 4;
          if (a.double_at(at) > a.double_at(best)) best = at;
        }
        return best;
      };
      add(ops_.expand(ops_.reduce(Op::ReduceMax, load, {axis}), {3, 4}), {3, 4}, {a}, picked(a, {3, 4}, largest));
    }
  }

  LazyOps& ops_;
  Op op_;
  DType dtype_;
  Array data_;
  std::vector<OpKernel> made_;
};

/// The kernel of `op` on operands of `dtype`, for a type that it does not have.
inline void make_illegal(Op op, DType dtype) {
  LazyOps ops;
  const ShapeTracker st = ShapeTracker::from_shape({2});
  if (op == Op::Index)
    ops.index(dtype, st);
  else if (is_reduce(op))
    ops.reduce(op, ops.load(1, dtype, st), {0});
  else
    ops.elementwise(op, std::vector<const LazyOp*>(static_cast<std::size_t>(info(op).arity), ops.load(1, dtype, st)));
}

/// Every row of `op`. A type that it has and that no row is of is a failure, and so is one that it does not have and that is taken.
inline std::vector<OpKernel> kernels_of(LazyOps& ops, Op op) {
  std::vector<OpKernel> kernels;
  if (has_operands(op)) {
    for (OpRow& row : read_op_rows(ETCH_TEST_DATA "/ops", op)) {
      const LazyOp* store = op_store(ops, row);
      kernels.push_back({std::move(row), store});
    }
  }
  for (int d = 0; d < kDTypeCount; d++) {
    const auto dtype = static_cast<DType>(d);
    if (!is_legal(op, dtype)) {
      EXPECT_THROW(make_illegal(op, dtype), InternalError) << name_of(op) << " of " << name_of(dtype) << " is taken";
      continue;
    }
    if (!has_operands(op))
      for (OpKernel& kernel : LeafKernels(ops, op, dtype).make()) kernels.push_back(std::move(kernel));
    const bool is_there = std::ranges::any_of(kernels, [&](const OpKernel& k) { return k.row.op == op && k.row.operand() == dtype; });
    EXPECT_TRUE(is_there) << name_of(op) << " of " << name_of(dtype) << " is not tested";
  }
  return kernels;
}

/// An operation on a backend; as text "Add_c".
struct OpOnBackend {
  Op op{};
  std::string backend;
  friend void PrintTo(const OpOnBackend& row, std::ostream* out) { *out << name_of(row.op) << "_" << row.backend; }
};
inline std::string name_of_row(const testing::TestParamInfo<OpOnBackend>& row) { return testing::PrintToString(row.param); }

/// Every operation of ops.def on each of these backends.
inline std::vector<OpOnBackend> every_op_on(const std::vector<std::string>& backends) {
  std::vector<OpOnBackend> rows;
  for (const std::string& backend : backends) {
#define OP(name, group, arity, types, traits, cost, word, backward, meaning) rows.push_back({Op::name, backend});
#include "ir/ops.def"
  }
  return rows;
}

}  // namespace etch::test
