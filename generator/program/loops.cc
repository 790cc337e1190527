#include "program/loops.h"

#include <algorithm>

#include "base/error.h"

namespace etch {
namespace {

const LazyOp& store_of(const Program& program, const ProgramCall& call, int output) {
  const ProgramKernel& kernel = program.kernels[static_cast<std::size_t>(call.kernel)];
  check(kernel.ast != nullptr, "a kernel has an AST");
  return *stores_of(kernel.ast).at(static_cast<std::size_t>(output));
}

class Runner {
 public:
  Runner(std::span<const ProgramLoop> loops, const VarValues& variables, const std::function<void(int, const VarValues&)>& run)
      : loops_(loops), values_(variables), run_(run) {}

  /// Runs the calls [first, end); `loop` is the number of the first loop that begins there.
  void run(int first, int end, std::size_t loop) {
    for (int c = first; c < end;) {
      if (loop == loops_.size() || loops_[loop].first != c) {
        run_(c++, values_);
        continue;
      }
      const ProgramLoop& l = loops_[loop];
      const std::int64_t count = evaluate(l.count, values_);
      for (std::int64_t turn = 0; turn < count; turn++) {
        values_[l.counter] = turn;
        run(l.first, l.end, loop + 1);
      }
      values_.erase(l.counter);
      c = l.end;
      while (loop < loops_.size() && loops_[loop].first < c) loop++;
    }
  }

 private:
  std::span<const ProgramLoop> loops_;
  VarValues values_;
  const std::function<void(int, const VarValues&)>& run_;
};

}  // namespace

void for_each_call(const Program& program, const VarValues& variables, const std::function<void(int call, const VarValues& values)>& run) {
  for_each_step(program.loops, static_cast<int>(program.calls.size()), variables, run);
}

void for_each_step(std::span<const ProgramLoop> loops, int count, const VarValues& variables,
                   const std::function<void(int step, const VarValues& values)>& run) {
  Runner(loops, variables, run).run(0, count, 0);
}

std::vector<Sint> turns_of_calls(const Program& program) {
  std::vector<Sint> turns(program.calls.size(), 1);
  for (const ProgramLoop& loop : program.loops)
    for (int c = loop.first; c < loop.end; c++) turns[static_cast<std::size_t>(c)] *= loop.count;
  return turns;
}

bool writes_part(const Program& program, const ProgramCall& call, int output) {
  if (program.loops.empty()) return false;
  if (program.kernels[static_cast<std::size_t>(call.kernel)].external != nullptr) return false;
  const LazyOp& store = store_of(program, call, output);
  const int buffer = call.arguments[static_cast<std::size_t>(output)].buffer;
  return product(store.shape) != product(program.buffers[static_cast<std::size_t>(buffer)].shape);
}

std::int64_t first_element(const Program& program, const ProgramCall& call, int output, const VarValues& values) {
  if (program.loops.empty()) return 0;
  const std::vector<View>& views = store_of(program, call, output).st().views();
  check(views.size() == 1, "a call writes adjacent elements");
  return evaluate(views.front().offset, values);
}

bool flows_into(const Program& program, const ProgramLoop& loop, int buffer) {
  bool is_used = false;
  for (int c = loop.first; c < loop.end; c++) {
    const ProgramCall& call = program.calls[static_cast<std::size_t>(c)];
    for (std::size_t i = 0; i < call.arguments.size(); i++) {
      const CallArgument& a = call.arguments[i];
      if (a.buffer != buffer) continue;
      is_used = true;
      if (a.access == Access::Read || writes_part(program, call, static_cast<int>(i))) return true;
    }
    if (is_used) return false;  // written as a whole, and not read by this call
  }
  return false;
}

}  // namespace etch
