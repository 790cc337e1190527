// The kernels of tests/data/conformance/ast_cases.json as LazyOps, with the inputs and outputs that the file prescribes.
#pragma once

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "ir/array.h"
#include "ir/lazyop.h"

namespace etch::test {

struct AstCase {
  std::string id;
  const LazyOp* store = nullptr;
  std::vector<Array> inputs;  // input b of a Load is inputs[b - 1]
  std::int64_t output_size = 0;
  double output_sum = 0, output_abs_sum = 0;
  std::vector<std::pair<std::int64_t, double>> samples;  // element, value
};

inline ShapeTracker tracker_of(const nlohmann::json& views) {
  std::vector<View> result;
  for (auto it = views.begin(); it != views.end(); ++it) {  // the visible one is the last, as in ShapeTracker
    std::vector<Sint> shape, strides;
    for (std::int64_t d : it->at("shape")) shape.push_back(d);
    for (std::int64_t d : it->at("strides")) strides.push_back(d);
    std::optional<std::vector<Range>> mask;
    if (!it->at("mask").is_null()) {
      mask.emplace();
      for (const auto& m : it->at("mask")) mask->emplace_back(m.at(0).get<std::int64_t>(), m.at(1).get<std::int64_t>());
    }
    result.push_back(View::create(shape, strides, it->at("offset").get<std::int64_t>(), mask));
  }
  return ShapeTracker(result);
}

inline Array ast_input(int buffer, DType dtype, std::int64_t size) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; i++) {
    const std::int64_t v = (i * 7919 + buffer * 104729) % 31 - 13;
    const auto d = static_cast<double>(v);
    values.push_back(is_float(dtype) ? d / 8 : dtype == DType::Bool ? (v > 0 ? 1 : 0) : is_unsigned(dtype) ? std::fabs(d) : d);
  }
  return Array::of_doubles(dtype, {size}, values);
}

/// The nodes of one kernel as a LazyOp.
inline const LazyOp* ast_of(const nlohmann::json& nodes, LazyOps& ops) {
  static const std::map<std::string, Op> kNames = {{"ADD", Op::Add},
                                                   {"SUB", Op::Sub},
                                                   {"MUL", Op::Mul},
                                                   {"DIV", Op::Div},
                                                   {"MAX", Op::Max},
                                                   {"CMPLT", Op::CmpLt},
                                                   {"CMPEQ", Op::CmpEq},
                                                   {"NEG", Op::Neg},
                                                   {"SQRT", Op::Sqrt},
                                                   {"EXP2", Op::Exp2},
                                                   {"LOG2", Op::Log2},
                                                   {"SIN", Op::Sin},
                                                   {"WHERE", Op::Where},
                                                   {"REDUCE_SUM", Op::ReduceSum},
                                                   {"REDUCE_MAX", Op::ReduceMax}};
  std::vector<const LazyOp*> made;
  for (const auto& node : nodes) {
    const std::string op = node.at("op");
    std::vector<const LazyOp*> src;
    if (node.contains("src"))
      for (std::size_t s : node.at("src")) src.push_back(made.at(s));
    const auto dtype = [&] { return dtype_named(node.at("dtype").get<std::string>()).value(); };
    if (op == "LOAD") {
      made.push_back(ops.load(node.at("buf"), dtype(), tracker_of(node.at("views"))));
    } else if (op == "CONST") {
      const Scalar value =
          Scalar::of_double(dtype(), node.at("val").is_boolean() ? (node.at("val").get<bool>() ? 1.0 : 0.0) : node.at("val").get<double>());
      made.push_back(ops.constant(value, tracker_of(node.at("views"))));
    } else if (op == "STORE") {
      made.push_back(ops.store(0, src.at(0), tracker_of(node.at("views"))));
    } else if (op == "CAST") {
      made.push_back(ops.cast(src.at(0), dtype()));
    } else if (op.starts_with("REDUCE")) {
      std::vector<int> axes;
      for (std::size_t a = 0; a < src.at(0)->shape.size(); a++)
        if (!(src[0]->shape[a] == Sint(node.at("new_shape").at(a).get<std::int64_t>()))) axes.push_back(static_cast<int>(a));
      made.push_back(ops.reduce(kNames.at(op), src[0], axes));
    } else {
      Op code = kNames.at(op);
      if (src.at(0)->dtype == DType::Bool && code == Op::Neg) {  // tinygrad's "not"
        code = Op::CmpEq;
        src.push_back(ops.elementwise(Op::CmpNe, {src[0], src[0]}));
      }
      made.push_back(ops.elementwise(code, src));
    }
  }
  return made.back();
}

/// All cases of the file; `ops` owns the nodes.
inline std::vector<AstCase> read_ast_cases(const std::string& path, LazyOps& ops) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no file " + path);
  const nlohmann::json all = nlohmann::json::parse(file);
  std::vector<AstCase> cases;
  for (const auto& c : all.at("cases")) {
    AstCase result{c.at("id"), ast_of(c.at("nodes"), ops), {}, c.at("output_size"), c.at("output_sum"), c.at("output_abs_sum"), {}};
    const auto& buffers = c.at("buffers");
    for (int b = 1; b < static_cast<int>(buffers.size()); b++) {
      const auto& buffer = buffers.at(std::to_string(b));
      result.inputs.push_back(ast_input(b, dtype_named(buffer.at("dtype").get<std::string>()).value(), buffer.at("size")));
    }
    for (const auto& s : c.at("output_samples"))
      result.samples.emplace_back(s.at(0), s.at(1).is_number() ? s.at(1).get<double>() : std::nan(""));
    cases.push_back(std::move(result));
  }
  return cases;
}

}  // namespace etch::test
