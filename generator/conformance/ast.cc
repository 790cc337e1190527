#include "conformance/ast.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "ir/near.h"
#include "program/generate.h"

namespace etch {
namespace {

ShapeTracker tracker_of(const nlohmann::json& views) {
  std::vector<View> result;
  for (auto it = views.begin(); it != views.end(); it++) {  // the visible one is the last, as in ShapeTracker
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

Array ast_input(int buffer, DType dtype, std::int64_t size) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; i++) {
    const std::int64_t v = (i * 7919 + buffer * 104729) % 31 - 13;
    const auto d = static_cast<double>(v);
    values.push_back(is_float(dtype) ? d / 8 : dtype == DType::Bool ? (v > 0 ? 1 : 0) : is_unsigned(dtype) ? std::fabs(d) : d);
  }
  return Array::of_doubles(dtype, {size}, values);
}

// The nodes of one kernel as a LazyOp.
const LazyOp* ast_of(const nlohmann::json& nodes, LazyOps& ops) {
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

// All cases as one program in `language`, one kernel and one call each; inputs are constants.
Program program_of(const std::vector<AstCase>& cases, const Language* language) {
  Program program;
  program.language = language;
  for (const AstCase& c : cases) {
    ProgramCall call;
    call.kernel = static_cast<int>(program.kernels.size());
    const auto add = [&](const std::string& name, BufferKind kind, DType dtype, std::int64_t size, const Array& data) {
      call.arguments.push_back({static_cast<int>(program.buffers.size()), kind == BufferKind::Output ? Access::Write : Access::Read});
      program.buffers.push_back({name, kind, dtype, {size}, size, data});
    };
    KernelSignature signature{"k_" + c.id, {{c.store->dtype, c.output_size, "out", Access::Write}}, {}};
    program.outputs.push_back(static_cast<int>(program.buffers.size()));
    add(c.id, BufferKind::Output, c.store->dtype, c.output_size, {});
    for (std::size_t i = 0; i < c.inputs.size(); i++) {
      const Array& input = c.inputs[i];
      signature.arguments.push_back({input.dtype(), input.size(), fmt::format("in{}", i)});
      add(fmt::format("{}_{}", c.id, i), BufferKind::Constant, input.dtype(), input.size(), input);
    }
    CodegenOptions options;
    options.has_local = language != nullptr && language->local_memory;
    ProgramKernel kernel = language == nullptr ? kernel_of_ast(c.store, std::move(signature))
                                               : generate_kernel(c.store, std::move(signature), *language, options);
    program.kernels.push_back(std::move(kernel));
    program.calls.push_back(std::move(call));
  }
  return program;
}

// What is wrong with an output; empty if it is the recorded one.
std::string problem_of(const AstCase& c, const Array& got) {
  const double scale = c.output_abs_sum / static_cast<double>(std::max<std::int64_t>(c.output_size, 1));
  const auto close = [](double value, double want, double absolute) { return is_near(value, want, 2e-3 * std::fabs(want) + absolute); };
  for (const auto& [at, want] : c.samples)
    if (!close(got.double_at(at), want, 2e-4 * scale)) return fmt::format("element {} is {}, expected {}", at, got.double_at(at), want);
  double sum = 0, absolute = 0;
  for (double v : got.doubles()) {
    sum += v;
    absolute += std::fabs(v);
  }
  if (std::isfinite(c.output_abs_sum) && !close(absolute, c.output_abs_sum, 1e-6))
    return fmt::format("the sum of absolute values is {}, expected {}", absolute, c.output_abs_sum);
  if (std::isfinite(c.output_sum) && !close(sum, c.output_sum, 2e-3 * c.output_abs_sum))
    return fmt::format("the sum is {}, expected {}", sum, c.output_sum);
  return "";
}

}  // namespace

std::vector<AstCase> ast_cases(const nlohmann::json& file, LazyOps& ops) {
  std::vector<AstCase> cases;
  for (const auto& c : file.at("cases")) {
    const auto number = [&c](const char* key) { return c.at(key).is_number() ? c.at(key).get<double>() : std::nan(""); };
    AstCase result{c.at("id"), ast_of(c.at("nodes"), ops), {}, c.at("output_size"), number("output_sum"), number("output_abs_sum"), {}};
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

std::vector<AstCase> read_ast_cases(const std::string& path, LazyOps& ops) {
  std::ifstream file(path);
  if (!file) throw UserError(path, "can't be read", "check the path");
  return ast_cases(nlohmann::json::parse(file), ops);
}

ConformanceReport check_ast(const nlohmann::json& file, const std::vector<std::unique_ptr<Device>>& devices) {
  LazyOps ops;
  const std::vector<AstCase> cases = ast_cases(file, ops);
  ConformanceReport report;
  for (const auto& device : devices) {
    const Program program = program_of(cases, device->language());
    const std::vector<Array> outputs = device->load(program)->run({});
    for (std::size_t i = 0; i < cases.size(); i++)
      report.add("cases on " + device->name(), cases[i].id, problem_of(cases[i], outputs[i]), "");
  }
  return report;
}

}  // namespace etch
