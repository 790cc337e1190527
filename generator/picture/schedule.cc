#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/subscript.h"
#include "picture/picture.h"
#include "picture/svg.h"
#include "program/loops.h"

namespace etch {
namespace {

constexpr SvgKind kInput{"input", "#fdf1a9"}, kOutput{"output", "#bcd9f5"}, kWeights{"weights", "#fbe3c0"},
    kReduction{"reduction", "#f6bfb4"}, kElementwise{"elementwise", "#e3e6ea"}, kCopy{"copy", "#c5e7c3"},
    kOther{"without an AST", "#e6cdea"};
constexpr std::string_view kValue = "#fafbfc";  // what a kernel writes
constexpr std::size_t kMostText = 44;

const SvgKind& kind_of(const ProgramKernel& kernel) {
  if (kernel.ast == nullptr) return kOther;
  const std::vector<const LazyOp*> ops = toposort(kernel.ast);
  if (std::ranges::any_of(ops, [](const LazyOp* op) { return is_reduce(op->op); })) return kReduction;
  return std::ranges::any_of(ops, [](const LazyOp* op) { return is_elementwise(op->op); }) ? kElementwise : kCopy;
}

std::string count_of(const Sint& count, std::string (*text)(std::int64_t)) {
  return (count.is_int() ? "" : "at most ") + text(count.max());
}

std::string type_text(const ProgramBuffer& b) { return fmt::format("{} {}", name_of(b.dtype), shape_text(b.shape)); }
std::string size_text(const ProgramBuffer& b) { return count_of(product(b.shape) * bytes_of(b.dtype), bytes_text); }

int width_of(std::int64_t bytes) { return bytes < 4096 ? 1 : bytes < 262'144 ? 2 : bytes < 4'194'304 ? 3 : 4; }

class SchedulePicture {
 public:
  explicit SchedulePicture(const Program& program) : program_(program) {}

  SvgPicture run(std::string_view title) {
    picture_.kinds = {kInput, kOutput, kWeights, kReduction, kElementwise, kCopy, kOther};
    add_inputs();
    for (std::size_t c = 0; c < program_.calls.size(); c++) add_call(static_cast<int>(c));
    add_outputs();
    add_loops();
    picture_.title = fmt::format("{}: {} calls of {} kernels", title, program_.calls.size(), program_.kernels.size());
    return std::move(picture_);
  }

 private:
  /// Where a value is written: a box, and which of its columns.
  struct Writer {
    int box = -1, column = 0;
  };

  const ProgramBuffer& buffer(int b) const { return program_.buffers[at(b)]; }
  int box_of_call(int call) const { return call + static_cast<int>(program_.inputs.size()); }

  void add_value(const std::string& id, int b, const SvgKind& kind) {
    picture_.boxes.push_back({.id = id,
                              .tip = fmt::format("{} {}\n{}", kind.name, buffer(b).name, type_text(buffer(b))),
                              .color = kind.color,
                              .lines = {{shortened(buffer(b).name, kMostText), SvgLine::Style::Title},
                                        {shortened(type_text(buffer(b)), kMostText), SvgLine::Style::Plain},
                                        {size_text(buffer(b)), SvgLine::Style::Grey}},
                              .rows = {},
                              .columns = {},
                              .round = true});
  }

  void add_inputs() {
    for (std::size_t i = 0; i < program_.inputs.size(); i++) {
      writers_[program_.inputs[i]] = {static_cast<int>(i), 0};
      add_value(fmt::format("input{}", i), program_.inputs[i], kInput);
    }
  }

  void add_outputs() {
    for (std::size_t i = 0; i < program_.outputs.size(); i++) {
      const int box = static_cast<int>(picture_.boxes.size());
      add_value(fmt::format("output{}", i), program_.outputs[i], kOutput);
      if (const auto writer = writers_.find(program_.outputs[i]); writer != writers_.end())
        add_edge(writer->second, box, program_.outputs[i]);
    }
  }

  void add_call(int c) {
    const ProgramCall& call = program_.calls[at(c)];
    const ProgramKernel& kernel = program_.kernels[at(call.kernel)];
    const SvgKind& kind = kind_of(kernel);
    SvgBox box{.id = fmt::format("call{}", c),
               .tip = fmt::format("call {}: {}\nnodes: {}\n{}", c, kernel.name, fmt::join(call.nodes, ", "), kernel.opts),
               .color = kind.color,
               .lines = {{shortened(kernel.name, kMostText), SvgLine::Style::Title}},
               .rows = {},
               .columns = {}};
    if (!kernel.shape_name.empty()) box.lines.push_back({shortened(kernel.shape_name, kMostText), SvgLine::Style::Plain});
    box.lines.push_back(
        {fmt::format("{} ops, {}", count_of(call.flops, count_text), count_of(call.bytes, bytes_text)), SvgLine::Style::Grey});
    for (int b : call.reads()) {
      if (buffer(b).kind == BufferKind::Constant)
        box.rows.push_back({{{fmt::format("{} {} {}", shortened(buffer(b).name, kMostText / 2),
                                          shortened(shape_text(buffer(b).shape), kMostText / 2), bytes_text(buffer(b).max_bytes())),
                              SvgLine::Style::Grey}},
                            kWeights.color});
      else
        add_reads(c, b);
    }
    int column = 0;
    for (int b : call.writes()) {
      writers_[b] = {box_of_call(c), column++};
      box.columns.push_back(
          {{{shortened(type_text(buffer(b)), kMostText), SvgLine::Style::Plain}, {size_text(buffer(b)), SvgLine::Style::Grey}}, kValue});
    }
    picture_.boxes.push_back(std::move(box));
  }

  // What wrote the value before, and what writes it for the next turn of a loop.
  void add_reads(int c, int b) {
    if (const auto writer = writers_.find(b); writer != writers_.end()) add_edge(writer->second, box_of_call(c), b);
    for (const ProgramLoop& loop : program_.loops) {
      if (c < loop.first || c >= loop.end || !flows_into(program_, loop, b)) continue;
      for (int later = loop.end; later-- > c;) {
        auto writes = program_.calls[at(later)].writes();
        const auto found = std::ranges::find(writes, b);
        if (found == writes.end()) continue;
        add_edge({box_of_call(later), static_cast<int>(std::ranges::distance(writes.begin(), found))}, box_of_call(c), b);
        break;
      }
    }
  }

  void add_edge(const Writer& from, int to, int b) {
    if (!edges_.emplace(from.box, from.column, to).second) return;
    picture_.edges.push_back({.from = from.box,
                              .to = to,
                              .column = from.column,
                              .tip = fmt::format("{}: {}, {}", buffer(b).name, type_text(buffer(b)), size_text(buffer(b))),
                              .width = width_of(buffer(b).max_bytes())});
  }

  void add_loops() {
    for (const ProgramLoop& loop : program_.loops)
      picture_.frames.push_back(
          {box_of_call(loop.first), box_of_call(loop.end),
           shortened(fmt::format("loop {}{}: {} turns", loop.counter, loop.counter.empty() ? "" : " from 0", to_text(loop.count)),
                     kMostText)});
  }

  const Program& program_;
  SvgPicture picture_;
  std::map<int, Writer> writers_;  // by buffer: what wrote it last
  std::set<std::tuple<int, int, int>> edges_;
};

}  // namespace

std::string schedule_picture(const Program& program, std::string_view title) { return to_svg(SchedulePicture(program).run(title)); }

}  // namespace etch
