// For the tests of tinygrad 0.8's bugs: networks of a few lines, compiled and run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "lazy/graph.h"
#include "lazy/tensor.h"
#include "program/lower.h"
#include "schedule/schedule.h"
#include "support/backends.h"

namespace etch::test {

/// No OptOps: the text has each operation once.
inline CodegenOptions plain() {
  CodegenOptions options;
  options.optimize = false;
  return options;
}

/// A network under construction, with the values of its inputs.
struct Net {
  std::shared_ptr<LazyGraph> graph = LazyGraph::create();
  std::vector<const LazyBuffer*> inputs;
  std::vector<Array> values;

  Tensor input(DType dtype, const std::vector<std::int64_t>& shape, const std::vector<double>& numbers) {
    return input(Array::of_doubles(dtype, shape, numbers));
  }
  Tensor input(const Array& array) {
    const Tensor made =
        Tensor::input(*graph, "x" + std::to_string(inputs.size()), array.dtype(), {array.shape().begin(), array.shape().end()});
    inputs.push_back(made.buffer());
    values.push_back(array);
    return made;
  }
  Schedule schedule(const std::vector<Tensor>& outputs) const {
    std::vector<OutputSpec> specs;
    for (std::size_t k = 0; k < outputs.size(); k++) specs.push_back({"y" + std::to_string(k), outputs[k]});
    return create_schedule(*graph, specs);
  }
  Program program(const std::vector<Tensor>& outputs, const Language* language = &kC, CodegenOptions codegen = {}) const {
    LowerOptions options;
    options.inputs = inputs;
    options.language = language;
    options.codegen = std::move(codegen);
    return lower(graph, schedule(outputs), options);
  }
  std::size_t kernels(const Tensor& output) const { return schedule({output}).items.size(); }
  /// The text of all kernels in C.
  std::string source(const std::vector<Tensor>& outputs, CodegenOptions codegen = {}) const {
    std::string text;
    for (const ProgramKernel& kernel : program(outputs, &kC, std::move(codegen)).kernels) text += kernel.text.source;
    return text;
  }
  /// All outputs on a device; throws if it can't be used.
  std::vector<Array> run(const std::string& backend, const std::vector<Tensor>& outputs) const {
    const auto device = test::backend(backend);
    if (!device) throw std::runtime_error(device.why);
    CodegenOptions codegen;
    codegen.has_local = device->language() != nullptr && device->language()->local_memory;
    return device->load(program(outputs, device->language(), codegen))->run(values);
  }
  /// The values of one output on INTERP and in C; another one is a failure. NaN equals NaN.
  void expect(const Tensor& output, const std::vector<double>& wanted) const {
    for (const char* backend : {"interp", "c"}) {
      const std::vector<double> got = run(backend, {output}).at(0).doubles();
      ASSERT_EQ(got.size(), wanted.size()) << backend;
      for (std::size_t k = 0; k < got.size(); k++)
        EXPECT_TRUE(got[k] == wanted[k] || (std::isnan(got[k]) && std::isnan(wanted[k])))
            << backend << " element " << k << " is " << got[k] << ", not " << wanted[k];
    }
  }
};

/// How often `part` stands in `text`.
inline int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) count++;
  return count;
}

/// Operations of that kind in all kernels.
inline std::int64_t count_ops(const Schedule& schedule, Op op) {
  std::int64_t count = 0;
  for (const ScheduleItem& item : schedule.items) count += std::ranges::count(toposort(item.ast), op, &LazyOp::op);
  return count;
}

}  // namespace etch::test
