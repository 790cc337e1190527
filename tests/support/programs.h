// Programs written by hand, for tests of devices.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/device.h"
#include "renderer/language.h"

namespace etch::test {

inline Array floats(std::vector<std::int64_t> shape, const std::vector<double>& values) {
  return Array::of_doubles(DType::Float32, std::move(shape), values);
}

class ProgramBuilder {
 public:
  /// `language`: the name of one, "c".
  explicit ProgramBuilder(std::string_view language) { program_.language = find_language(language); }

  int input(std::string name, DType dtype, std::vector<Sint> shape) {
    const int b = buffer(std::move(name), BufferKind::Input, dtype, std::move(shape));
    program_.inputs.push_back(b);
    return b;
  }
  int output(std::string name, DType dtype, std::vector<Sint> shape) {
    const int b = buffer(std::move(name), BufferKind::Output, dtype, std::move(shape));
    program_.outputs.push_back(b);
    return b;
  }
  int intermediate(std::string name, DType dtype, std::vector<Sint> shape) {
    return buffer(std::move(name), BufferKind::Intermediate, dtype, std::move(shape));
  }
  int constant(std::string name, Array data) {
    const int b = buffer(std::move(name), BufferKind::Constant, data.dtype(), std::vector<Sint>(data.shape().begin(), data.shape().end()));
    program_.buffers.back().data = std::move(data);
    return b;
  }
  void variable(std::string name, std::int64_t min, std::int64_t max) { program_.variables.push_back({std::move(name), min, max}); }

  /// A kernel of `buffers` buffers, of which it writes the first; their types are filled in by the first call.
  int kernel(std::string name, std::string source, int buffers, std::vector<std::string> variables = {}, std::vector<Sint> global = {},
             std::vector<Sint> local = {}) {
    ProgramKernel k;
    k.name = std::move(name);
    k.text.source = std::move(source);
    for (int i = 0; i < buffers; i++)
      k.arguments.push_back({.name = "a" + std::to_string(i), .access = i == 0 ? Access::Write : Access::Read});
    k.variables = std::move(variables);
    k.global_size = std::move(global);
    k.local_size = std::move(local);
    program_.kernels.push_back(std::move(k));
    return static_cast<int>(program_.kernels.size()) - 1;
  }
  ProgramKernel& last_kernel() { return program_.kernels.back(); }
  void call(int kernel, std::vector<int> buffers) {
    ProgramKernel& k = program_.kernels[static_cast<std::size_t>(kernel)];
    ProgramCall c;
    c.kernel = kernel;
    for (std::size_t i = 0; i < buffers.size(); i++) {
      k.arguments.at(i).dtype = program_.buffers[static_cast<std::size_t>(buffers[i])].dtype;
      c.arguments.push_back({buffers[i], k.arguments[i].access});
    }
    program_.calls.push_back(std::move(c));
  }
  Program take() { return std::move(program_); }

 private:
  int buffer(std::string name, BufferKind kind, DType dtype, std::vector<Sint> shape) {
    ProgramBuffer b;
    b.name = std::move(name);
    b.kind = kind;
    b.dtype = dtype;
    b.max_elements = 1;
    for (const Sint& d : shape) b.max_elements *= d.max();
    b.shape = std::move(shape);
    program_.buffers.push_back(std::move(b));
    return static_cast<int>(program_.buffers.size()) - 1;
  }
  Program program_;
};

}  // namespace etch::test
