// The tables of tests/data/ops (made by make.py with numpy): every operation on every type it exists for.
//
//   for (const OpRow& row : read_op_rows(ETCH_TEST_DATA "/ops", Op::Add)) {
//     const LazyOp* store = op_store(ops, row);       // the operands are buffers 1, 2, 3
//     ... run it on row.args ...
//     EXPECT_EQ(op_mismatch(row, got), "");
//   }
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch::test {

/// Whether a table of its own has the rows of `op`: elementwise operations and reductions.
inline bool has_operands(Op op) { return is_elementwise(op) || is_reduce(op); }

struct OpRow {
  Op op{};
  std::vector<Array> args;  // of one size; for a reduction one array of shape `shape`
  Array result;
  std::vector<std::int64_t> shape;  // of the operands
  std::vector<int> axes;            // of a reduction
  double ulp = 0;                   // how far a float result may be off

  /// The type that decides whether the operation exists.
  DType operand() const { return args.empty() || !has_operands(op) ? result.dtype() : args.back().dtype(); }
  /// "Add float32", for messages.
  std::string name() const {
    std::string text = std::string(name_of(op)) + " " + std::string(name_of(operand()));
    if (result.dtype() != operand()) text += " to " + std::string(name_of(result.dtype()));
    for (int axis : axes) text += " axis " + std::to_string(axis);
    return text;
  }
};

inline Array op_array(const nlohmann::json& packed, std::vector<std::int64_t> shape) {
  const DType dtype = dtype_named(packed.at("dtype").get<std::string>()).value();
  const auto& values = packed.at("values");
  const auto width = static_cast<std::size_t>(bytes_of(dtype));
  std::vector<std::byte> bytes(values.size() * width);
  for (std::size_t k = 0; k < values.size(); k++) {
    const std::uint64_t v =
        values[k].is_number_unsigned() ? values[k].get<std::uint64_t>() : static_cast<std::uint64_t>(values[k].get<std::int64_t>());
    for (std::size_t b = 0; b < width; b++) bytes[k * width + b] = static_cast<std::byte>(v >> (8 * b) & 255);  // little-endian hosts
  }
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  return {dtype, std::move(shape), std::move(bytes)};
}

/// The rows of one operation. std::runtime_error if there is no table.
inline std::vector<OpRow> read_op_rows(const std::filesystem::path& folder, Op op) {
  std::vector<OpRow> rows;
  const std::filesystem::path path = folder / (std::string(name_of(op)) + ".json");
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path.string());
  for (const auto& r : nlohmann::json::parse(file)) {
    OpRow row;
    row.op = op_named(r.at("op").get<std::string>()).value();
    if (r.contains("axes")) {
      row.axes = r.at("axes").get<std::vector<int>>();
      row.shape = r.at("shape").get<std::vector<std::int64_t>>();
    }
    for (const auto& a : r.at("args")) row.args.push_back(op_array(a, row.shape));
    row.shape = row.args[0].shape();
    row.result = op_array(r.at("result"), {});
    row.ulp = r.at("ulp");
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Those of all operations that have operands, in the order of ops.def.
inline std::vector<OpRow> read_op_table(const std::filesystem::path& folder) {
  std::vector<OpRow> rows;
  for (std::size_t op = 0; op < std::size(kOps); op++) {
    if (!has_operands(static_cast<Op>(op))) continue;
    for (OpRow& row : read_op_rows(folder, static_cast<Op>(op))) rows.push_back(std::move(row));
  }
  return rows;
}

/// The kernel of a row.
inline const LazyOp* op_store(LazyOps& ops, const OpRow& row) {
  const ShapeTracker st = ShapeTracker::from_shape(std::vector<Sint>(row.shape.begin(), row.shape.end()));
  std::vector<const LazyOp*> src;
  for (const Array& a : row.args) src.push_back(ops.load(static_cast<int>(src.size()) + 1, a.dtype(), st));
  const LazyOp* value = is_reduce(row.op)       ? ops.reduce(row.op, src[0], row.axes)
                        : row.op == Op::Cast    ? ops.cast(src[0], row.result.dtype())
                        : row.op == Op::Bitcast ? ops.bitcast(src[0], row.result.dtype())
                                                : ops.elementwise(row.op, src);
  return ops.store(0, value, ShapeTracker::from_shape(value->shape));
}

/// Distance of two floats of a type, in units of the last place of that type; NaN is 0 from NaN.
inline double ulp_distance(DType dtype, double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (a == b) return std::signbit(a) == std::signbit(b) ? 0 : 0.5;
  if (std::isinf(a) || std::isinf(b)) return INFINITY;
  const int mantissa = dtype == DType::Float64 ? 52 : dtype == DType::Float32 ? 23 : dtype == DType::Float16 ? 10 : 7;
  const int smallest = dtype == DType::Float64 ? -1022 : dtype == DType::Float16 ? -14 : -126;
  const int exponent = std::max({std::ilogb(std::max(std::fabs(a), std::fabs(b))), smallest});
  return std::fabs(a - b) / std::ldexp(1.0, exponent - mantissa);
}

/// Empty if `got` is the row's result, else the first element that is not. `ulp` replaces the row's bound if it is smaller.
inline std::string op_mismatch(const OpRow& row, const Array& got, double ulp = 1e9) {
  ulp = std::min(ulp, row.ulp);
  if (got.dtype() != row.result.dtype() || got.size() != row.result.size()) return row.name() + ": another type or size";
  for (std::int64_t k = 0; k < got.size(); k++) {
    const Scalar g = got.at(k), want = row.result.at(k);
    if (is_float(got.dtype()) ? ulp_distance(got.dtype(), g.as_double(), want.as_double()) <= ulp : g == want) continue;
    std::string text = row.name() + ": element " + std::to_string(k) + " is " + g.to_text() + ", expected " + want.to_text();
    if (!is_elementwise(row.op)) return text;
    for (const Array& a : row.args) text += (&a == &row.args[0] ? " of " : ", ") + a.at(k).to_text();
    return text;
  }
  return "";
}

}  // namespace etch::test
