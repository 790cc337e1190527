// The program that calls all variants of a task, one after the other.
#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "interp/interp.h"
#include "program/share.h"
#include "search/measure.h"

namespace etch {
namespace {

class Trial {
 public:
  Trial(const Task& task, const Language& language, BufferKind read) : task_(task), read_(read) {
    program_.language = &language;
    for (std::size_t s = 0; s < task.subjects.size(); s++) add_inputs(s);
  }

  void add(const Variant& variant) {
    Program part;  // alone, so that no kernel is shared with another variant
    part.language = program_.language;
    part.buffers = program_.buffers;
    for (std::size_t s = 0; s < variant.kernels.size(); s++) {
      part.kernels.push_back(variant.kernels[s]);
      part.calls.push_back(call_of(variant.kernels[s], s, part));
      part.calls.back().kernel = static_cast<int>(s);
    }
    if (task_.share) share_kernels(part, task_.subjects[0].options, Sharing::All);
    const int first = static_cast<int>(program_.kernels.size());
    program_.buffers = std::move(part.buffers);
    for (ProgramKernel& kernel : part.kernels) program_.kernels.push_back(std::move(kernel));
    for (ProgramCall& call : part.calls) {
      call.kernel += first;
      for (int b : call.writes()) program_.outputs.push_back(b);
      program_.calls.push_back(std::move(call));
    }
  }

  Program finish() {
    verify(program_);
    return std::move(program_);
  }

 private:
  static int add_buffer(Program& program, std::string name, BufferKind kind, const Array& data) {
    ProgramBuffer buffer;
    buffer.name = std::move(name);
    buffer.kind = kind;
    buffer.dtype = data.dtype();
    buffer.shape = {data.size()};
    buffer.max_elements = data.size();
    if (kind == BufferKind::Constant) buffer.data = data.reshaped({data.size()});
    program.buffers.push_back(std::move(buffer));
    return static_cast<int>(program.buffers.size()) - 1;
  }

  void add_inputs(std::size_t s) {
    const Subject& subject = task_.subjects[s];
    check(subject.data.size() == subject.arguments.size(), "each argument has content");
    for (std::size_t a = 0; a < subject.arguments.size(); a++) {
      if (subject.arguments[a].is_constant || subject.arguments[a].access == Access::Write) continue;
      inputs_[{s, a}] = add_buffer(program_, fmt::format("x{}_{}", s, a), read_, subject.data[a]);
      if (read_ == BufferKind::Input) program_.inputs.push_back(inputs_[{s, a}]);
    }
  }

  ProgramCall call_of(const ProgramKernel& kernel, std::size_t s, Program& part) {
    const Subject& subject = task_.subjects[s];
    ProgramCall call;
    call.nodes = {kernel.name};
    call.short_name = kernel.name;
    for (std::size_t a = 0; a < subject.arguments.size(); a++) {
      const KernelArgument& argument = kernel.arguments[a];
      int buffer = -1;
      if (argument.access == Access::Write)
        buffer = add_buffer(part, fmt::format("y_{}_{}", kernel.name, a), BufferKind::Output, subject.data[a]);
      else if (argument.is_constant)
        buffer = constant(part, fmt::format("w_{}_{}", kernel.name, a),
                          argument.layout ? relayout(subject.data[a], *argument.layout) : subject.data[a]);
      else
        buffer = inputs_.at({s, a});
      call.arguments.push_back({buffer, argument.access, 0});
    }
    return call;
  }

  // Variants that read a constant in one order share it.
  int constant(Program& part, std::string name, const Array& data) {
    const Array flat = data.reshaped({data.size()});
    std::vector<int>& equal = constants_[flat.content_hash()];
    for (int b : equal)
      if (part.buffers[static_cast<std::size_t>(b)].data == flat) return b;
    equal.push_back(add_buffer(part, std::move(name), BufferKind::Constant, flat));
    return equal.back();
  }

  const Task& task_;
  BufferKind read_;
  Program program_;
  std::map<std::pair<std::size_t, std::size_t>, int> inputs_;
  std::map<std::uint64_t, std::vector<int>> constants_;
};

}  // namespace

Program program_of(const Task& task, std::span<const Variant> variants, const Language& language, BufferKind read) {
  Trial trial(task, language, read);
  for (const Variant& v : variants) trial.add(v);
  return trial.finish();
}

}  // namespace etch
