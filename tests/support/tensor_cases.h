// Tensor methods as a table: each row builds a Tensor from inputs, and tests/data/lazy/tensor_cases.json (made by numpy)
// holds inputs and the expected result of the row of that name.
#pragma once

#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "lazy/tensor.h"

namespace etch::test {

struct TensorCase {
  std::string name;
  std::function<Tensor(const std::vector<Tensor>&)> build;
  std::vector<Array> inputs;
  Array expected;
};

using In = std::vector<Tensor>;

inline Array read_array(const nlohmann::json& j) {
  const DType dtype = *dtype_named(j.at("dtype").get<std::string>());
  const auto shape = j.at("shape").get<std::vector<std::int64_t>>();
  const auto& data = j.at("data");
  std::vector<std::byte> bytes(data.size() * static_cast<std::size_t>(bytes_of(dtype)));
  for (std::size_t i = 0; i < data.size(); i++) {
    const auto& v = data[i];
    Scalar s;
    if (v.is_string())
      s = Scalar::of_double(dtype, std::stod(v.get<std::string>()));
    else if (v.is_number_unsigned())
      s = is_float(dtype) ? Scalar::of_double(dtype, v.get<double>())
                          : Scalar::of_int(dtype, static_cast<std::int64_t>(v.get<std::uint64_t>()));
    else
      s = v.is_number_integer() && !is_float(dtype) ? Scalar::of_int(dtype, v.get<std::int64_t>())
                                                    : Scalar::of_double(dtype, v.get<double>());
    store_scalar(dtype, bytes.data(), static_cast<std::int64_t>(i), s);
  }
  return Array(dtype, shape, std::move(bytes));
}

struct Row {
  const char* name;
  Tensor (*build)(const In&);
};

inline Window window_2x3() { return {.kernel = {3, 2}, .stride = {2, 3}, .dilation = {}, .pads = {{1, 1}, {0, 1}}, .ceil = false}; }

inline Tensor conv(const In& x, std::vector<std::int64_t> stride, std::vector<std::int64_t> dilation, Padding pads, int groups) {
  Window w{.kernel = {}, .stride = std::move(stride), .dilation = std::move(dilation), .pads = std::move(pads), .ceil = false};
  for (int i = 2; i < x[1].rank(); i++) w.kernel.push_back(x[1].dim(i).as_int());
  return x[0].conv(x[1], x[2], w, groups);
}

inline Tensor conv_transpose(const In& x, std::vector<std::int64_t> stride, std::vector<std::int64_t> dilation, Padding pads,
                             const std::vector<std::int64_t>& output_pads, int groups) {
  Window w{.kernel = {}, .stride = std::move(stride), .dilation = std::move(dilation), .pads = std::move(pads), .ceil = false};
  for (int i = 2; i < x[1].rank(); i++) w.kernel.push_back(x[1].dim(i).as_int());
  return x[0].conv_transpose(x[1], x[2], w, output_pads, groups);
}

inline Tensor scalar(const Tensor& like, double v) { return Tensor::full(like.graph(), {}, Scalar::of_double(like.dtype(), v)); }

inline constexpr Row kRows[] = {
    {"permute", [](const In& x) { return x[0].permute({2, 0, 1}); }},
    {"reshape_after_permute", [](const In& x) { return x[0].permute({1, 0, 2}).reshape({-1, 4}); }},
    {"expand_front", [](const In& x) { return x[0].expand({2, 3, 4}); }},
    {"pad_value", [](const In& x) { return x[0].pad({{0, 0}, {1, 2}, {2, 0}}, 7); }},
    {"pad_negative", [](const In& x) { return x[0].pad({{0, 0}, {-1, 1}, {-1, -1}}); }},
    {"flip", [](const In& x) { return x[0].flip({0, -1}); }},
    {"slice_step", [](const In& x) { return x[0].slice(-1, 3, 0, -2); }},
    {"slice_far", [](const In& x) { return x[0].slice(1, -100, 100); }},
    {"slice_empty", [](const In& x) { return x[0].slice(1, 2, 1); }},
    {"stride", [](const In& x) { return x[0].stride({2, -3}); }},
    {"repeat", [](const In& x) { return x[0].repeat({2, 1, 2, 3}); }},
    {"cat", [](const In& x) { return Tensor::cat(x, 1); }},
    {"cat_20", [](const In& x) { return Tensor::cat(x, 0); }},
    {"cat_types", [](const In& x) { return Tensor::cat(x, 0); }},
    {"cat_zeros", [](const In& x) { return Tensor::cat(x, -1); }},
    {"stack", [](const In& x) { return Tensor::stack(x, -1); }},
    {"diagonal", [](const In& x) { return x[0].diagonal(0, 1); }},
    {"relu", [](const In& x) { return x[0].relu(); }},
    {"abs", [](const In& x) { return x[0].abs(); }},
    {"sign", [](const In& x) { return x[0].sign(); }},
    {"sigmoid", [](const In& x) { return x[0].sigmoid(); }},
    {"leaky_relu", [](const In& x) { return x[0].leaky_relu(0.125); }},
    {"elu", [](const In& x) { return x[0].elu(0.5); }},
    {"selu", [](const In& x) { return x[0].selu(); }},
    {"celu", [](const In& x) { return x[0].celu(2); }},
    {"gelu", [](const In& x) { return x[0].gelu(false); }},
    {"gelu_tanh", [](const In& x) { return x[0].gelu(true); }},
    {"silu", [](const In& x) { return x[0].silu(); }},
    {"hardswish", [](const In& x) { return x[0].hardswish(); }},
    {"softplus", [](const In& x) { return x[0].softplus(); }},
    {"softsign", [](const In& x) { return x[0].softsign(); }},
    {"mish", [](const In& x) { return x[0].mish(); }},
    {"clip", [](const In& x) { return x[0].clip(-1, 2); }},
    {"mul_zero", [](const In& x) { return x[0] * 0.0; }},
    {"add_zero", [](const In& x) { return x[0] + 0.0; }},
    {"pow_half", [](const In& x) { return x[0].pow(scalar(x[0], 0.5)); }},
    {"pow_2", [](const In& x) { return x[0].pow(scalar(x[0], 2)); }},
    {"pow_3", [](const In& x) { return x[0].pow(scalar(x[0], 3)); }},
    {"pow_minus_1", [](const In& x) { return x[0].pow(scalar(x[0], -1)); }},
    {"pow_0", [](const In& x) { return x[0].pow(scalar(x[0], 0)); }},
    {"div_3", [](const In& x) { return x[0] / 3.0; }},
    {"div_8", [](const In& x) { return x[0] / 8.0; }},
    {"int_div", [](const In& x) { return x[0] / x[1]; }},
    {"int_mod", [](const In& x) { return Tensor::binary(Op::Mod, x[0], x[1]); }},
    {"int_mul_zero", [](const In& x) { return x[0] * 0.0; }},
    {"int_pow_3", [](const In& x) { return x[0].pow(scalar(x[0], 3)); }},
    {"promote_add", [](const In& x) { return x[0] + x[1]; }},
    {"int8_wraps", [](const In& x) { return x[0] + x[0]; }},
    {"not_pad", [](const In& x) { return x[0].logical_not().pad({{1, 1}, {1, 1}}); }},
    {"bool_add", [](const In& x) { return x[0] + x[1]; }},
    {"exp_pad", [](const In& x) { return x[0].exp().pad({{2, 2}}); }},
    {"where_broadcast", [](const In& x) { return x[0].where(x[1], x[2]); }},
    {"sum_all", [](const In& x) { return x[0].sum(); }},
    {"sum_axes", [](const In& x) { return x[0].sum({-1, 0}, true); }},
    {"sum_int8", [](const In& x) { return x[0].sum({1}); }},
    {"sum_half", [](const In& x) { return x[0].sum({1}); }},
    {"mean", [](const In& x) { return x[0].mean({1, 2}); }},
    {"variance", [](const In& x) { return x[0].variance({1}); }},
    {"variance_1", [](const In& x) { return x[0].variance({1}, true, 1); }},
    {"min_uint64", [](const In& x) { return x[0].min({1}); }},
    {"max_uint64", [](const In& x) { return x[0].max({1}); }},
    {"min_int64", [](const In& x) { return x[0].min({1}); }},
    {"max_int64", [](const In& x) { return x[0].max({0}); }},
    {"max_nan", [](const In& x) { return x[0].max({1}); }},
    {"min_nan", [](const In& x) { return x[0].min({1}); }},
    {"argmax", [](const In& x) { return x[0].argmax(1, false); }},
    {"argmin", [](const In& x) { return x[0].argmin(1, false); }},
    {"argmax_ties", [](const In& x) { return x[0].argmax(-1, false); }},
    {"argmax_last", [](const In& x) { return x[0].argmax(1, false, true); }},
    {"argmin_uint", [](const In& x) { return x[0].argmin(1, false); }},
    {"prod", [](const In& x) { return x[0].prod({1}); }},
    {"all_bool", [](const In& x) { return x[0].min({1}); }},
    {"any_bool", [](const In& x) { return x[0].max({1}); }},
    {"softmax", [](const In& x) { return x[0].softmax(1); }},
    {"log_softmax", [](const In& x) { return x[0].log_softmax(-2); }},
    {"cumsum", [](const In& x) { return x[0].cumsum(1); }},
    {"cumsum_exclusive", [](const In& x) { return x[0].cumsum(1, true); }},
    {"cumsum_reverse", [](const In& x) { return x[0].cumsum(1, false, true); }},
    {"layernorm", [](const In& x) { return x[0].layernorm(1, 1e-5); }},
    {"sum_empty", [](const In& x) { return x[0].sum({1}); }},
    {"prod_empty", [](const In& x) { return x[0].prod({1}); }},
    {"max_empty", [](const In& x) { return x[0].max({1}); }},
    {"matmul", [](const In& x) { return x[0].matmul(x[1]); }},
    {"matmul_batch", [](const In& x) { return x[0].matmul(x[1]); }},
    {"matmul_vector", [](const In& x) { return x[0].matmul(x[1]); }},
    {"matmul_by_vector", [](const In& x) { return x[0].matmul(x[1]); }},
    {"dot", [](const In& x) { return x[0].matmul(x[1]); }},
    {"matmul_int8", [](const In& x) { return x[0].matmul(x[1]); }},
    {"einsum_trace", [](const In& x) { return Tensor::einsum("ii->", x); }},
    {"einsum_bij", [](const In& x) { return Tensor::einsum("bij, bjk -> bik", x); }},
    {"einsum_dots", [](const In& x) { return Tensor::einsum("...ij,...jk->...ik", x); }},
    {"einsum_implicit", [](const In& x) { return Tensor::einsum("ba,cb", x); }},
    {"einsum_three", [](const In& x) { return Tensor::einsum("i,ij,j->", x); }},
    {"einsum_diag", [](const In& x) { return Tensor::einsum("bii->bi", x); }},
    {"conv_1d", [](const In& x) { return conv(x, {2}, {1}, {{1, 1}}, 1); }},
    {"conv_2d", [](const In& x) { return conv(x, {}, {}, {{1, 1}, {1, 1}}, 1); }},
    {"conv_2d_stride", [](const In& x) { return conv(x, {2, 3}, {}, {{0, 1}, {2, 0}}, 1); }},
    {"conv_2d_dilated", [](const In& x) { return conv(x, {1, 2}, {2, 3}, {{1, 1}, {0, 2}}, 1); }},
    {"conv_2d_negative_pads", [](const In& x) { return conv(x, {}, {}, {{-1, 1}, {0, -2}}, 1); }},
    {"conv_depthwise", [](const In& x) { return conv(x, {}, {}, {{1, 1}, {1, 1}}, 4); }},
    {"conv_groups", [](const In& x) { return conv(x, {}, {}, {}, 2); }},
    {"conv_1x1", [](const In& x) { return conv(x, {}, {}, {}, 1); }},
    {"conv_3d", [](const In& x) { return conv(x, {1, 2, 1}, {}, {{0, 1}, {1, 1}, {0, 0}}, 1); }},
    {"conv_transpose", [](const In& x) { return conv_transpose(x, {2, 2}, {}, {{1, 1}, {0, 1}}, {1, 0}, 1); }},
    {"conv_transpose_groups", [](const In& x) { return conv_transpose(x, {3}, {}, {}, {}, 2); }},
    {"conv_transpose_dilated", [](const In& x) { return conv_transpose(x, {}, {2, 2}, {}, {}, 1); }},
    {"max_pool", [](const In& x) { return x[0].max_pool(window_2x3()); }},
    {"average_pool", [](const In& x) { return x[0].average_pool(window_2x3(), false); }},
    {"average_pool_with_pads", [](const In& x) { return x[0].average_pool(window_2x3(), true); }},
    {"max_pool_int8",
     [](const In& x) { return x[0].max_pool({.kernel = {3, 3}, .stride = {}, .dilation = {}, .pads = {{1, 1}, {1, 1}}}); }},
    {"max_pool_ceil", [](const In& x) { return x[0].max_pool({.kernel = {3}, .stride = {2}, .dilation = {}, .pads = {}, .ceil = true}); }},
    {"average_pool_ceil",
     [](const In& x) { return x[0].average_pool({.kernel = {3}, .stride = {2}, .dilation = {}, .pads = {}, .ceil = true}, true); }},
    {"max_pool_ceil_dropped",
     [](const In& x) { return x[0].max_pool({.kernel = {2}, .stride = {3}, .dilation = {}, .pads = {{1, 0}}, .ceil = true}); }},
    {"lp_pool", [](const In& x) { return x[0].lp_pool(window_2x3(), 2); }},
    {"batchnorm", [](const In& x) { return x[0].batchnorm(x[1], x[2], x[3], x[4], 1e-3); }},
    {"gather", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_scalar", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_run", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_long", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_repeat", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_tile", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"gather_tile_repeat", [](const In& x) { return x[0].gather(1, x[1]); }},
    {"conv_int8", [](const In& x) { return conv({x[0], x[1], Tensor()}, {}, {}, {{1, 1}, {1, 1}}, 1); }},
    {"matmul_half", [](const In& x) { return x[0].matmul(x[1]); }},
    {"gather_bool", [](const In& x) { return x[0].gather(-1, x[1]); }},
    {"gather_elements", [](const In& x) { return x[0].gather_elements(1, x[1]); }},
    {"one_hot", [](const In& x) { return x[0].one_hot(6); }},
    {"triu", [](const In& x) { return x[0].triu(1); }},
    {"tril", [](const In& x) { return x[0].tril(-1); }},
};

/// All rows with their data; throws if a row has no data or data no row.
inline std::vector<TensorCase> tensor_cases() {
  std::ifstream file(ETCH_TEST_DATA "/lazy/tensor_cases.json");
  std::map<std::string, nlohmann::json> data;
  for (auto& j : nlohmann::json::parse(file)) data.emplace(j.at("name").get<std::string>(), j);
  std::vector<TensorCase> cases;
  for (const Row& row : kRows) {
    const nlohmann::json& j = data.at(row.name);
    TensorCase c{row.name, row.build, {}, read_array(j.at("expected"))};
    for (const auto& input : j.at("inputs")) c.inputs.push_back(read_array(input));
    cases.push_back(std::move(c));
  }
  if (cases.size() != data.size()) throw std::runtime_error("tensor_cases.json and the table of rows differ in length");
  return cases;
}

/// Empty if `got` has the type, the shape and the values of `expected`, else the first difference. Values may differ by `tolerance`
/// relative to the larger of 1 and the value; infinities, NaN and the sign of zeros must be the same.
inline std::string difference(const Array& got, const Array& expected, double tolerance = 2e-6) {
  if (got.dtype() != expected.dtype())
    return "dtype " + std::string(name_of(got.dtype())) + ", expected " + std::string(name_of(expected.dtype()));
  if (got.shape() != expected.shape()) {
    std::string text = "shape";
    for (std::int64_t d : got.shape()) text += " " + std::to_string(d);
    text += ", expected";
    for (std::int64_t d : expected.shape()) text += " " + std::to_string(d);
    return text;
  }
  for (std::int64_t i = 0; i < got.size(); i++) {
    const Scalar g = got.at(i), e = expected.at(i);
    const double a = g.as_double(), b = e.as_double();
    const bool same = !is_float(got.dtype())                 ? g == e
                      : std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) <= tolerance * std::max(1.0, std::fabs(b)) &&
                                                                   (a != 0 || b != 0 || std::signbit(a) == std::signbit(b))
                                                             : (std::isnan(a) && std::isnan(b)) || a == b;
    if (!same) return "element " + std::to_string(i) + " is " + g.to_text() + ", expected " + e.to_text();
  }
  return "";
}

}  // namespace etch::test
