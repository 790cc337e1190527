#include "memory/traffic.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/subscript.h"
#include "codegen/passes.h"
#include "program/loops.h"

namespace etch {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// Sums and products that end at the largest number.
std::int64_t plus(std::int64_t a, std::int64_t b) { return a > kMost - b ? kMost : a + b; }
std::int64_t times(std::int64_t a, std::int64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; }

// The steps of one call, walked once.
class CallTraffic {
 public:
  CallTraffic(const Program& program, const ProgramCall& call)
      : program_(program), call_(call), moved_(call.arguments.size()), known_(false) {
    const ProgramKernel& kernel = program.kernels[at(call.kernel)];
    known_ = !kernel.code.order.empty();
    for (const UOp* u : kernel.code.order) step(u);
  }

  /// Bytes moved to or from argument `a`.
  std::int64_t of(std::size_t a) const { return known_ ? moved_[a] : program_.buffers[at(call_.arguments[a].buffer)].max_bytes(); }

 private:
  void step(const UOp* u) {
    if (const std::optional<Scalar> value = value_of(u)) values_.emplace(u, *value);
    if (u->uop == UOpKind::Loop) turns_.push_back(times(turns(), length(u)));
    if (u->uop == UOpKind::If) turns_.push_back(turns());
    if (u->uop == UOpKind::End && !turns_.empty()) turns_.pop_back();
    const bool has_columns = u->uop == UOpKind::StoreColumns, is_store = u->uop == UOpKind::Store || has_columns;
    if ((u->uop != UOpKind::Load && !is_store) || u->src[0]->uop != UOpKind::DefineGlobal) return;
    const std::size_t argument = at(u->src[0]->number);
    const std::int64_t elements = has_columns ? (std::ssize(u->src) - kBeforeColumns) * u->lanes : is_store ? u->src[2]->lanes : u->lanes;
    if (argument < moved_.size()) moved_[argument] = plus(moved_[argument], times(turns(), elements * bytes_of(u->src[0]->dtype)));
  }

  std::int64_t turns() const { return turns_.empty() ? 1 : turns_.back(); }

  // A size that no number is known for counts as one turn.
  std::int64_t length(const UOp* loop) const {
    const auto first = values_.find(loop->src[0]), end = values_.find(loop->src[1]);
    if (first == values_.end() || end == values_.end()) return 1;
    return std::max<std::int64_t>(end->second.as_int() - first->second.as_int(), 0);
  }

  // The value at the first turn of all loops: what the length of a loop depends on is mostly the same in each turn of those around it.
  std::optional<Scalar> value_of(const UOp* u) const {
    if (u->uop == UOpKind::Const) return u->value;
    if (is_float(u->dtype) || u->lanes != 1) return std::nullopt;
    std::vector<Scalar> sources;
    for (const UOp* s : u->src) {
      if (s->uop == UOpKind::DefineGlobal) continue;
      const auto found = values_.find(s);
      if (found == values_.end()) return std::nullopt;
      sources.push_back(found->second);
    }
    if (u->uop == UOpKind::Alu) return evaluate(u->op, u->dtype, sources);
    if (u->uop == UOpKind::Cast && !sources.empty()) return Scalar::of_int(u->dtype, sources[0].as_int());
    if (u->uop == UOpKind::Loop && !sources.empty()) return sources[0];
    if (u->uop == UOpKind::Load && u->src.size() == 2 && sources.size() == 1) return element(u->src[0], sources[0].as_int());
    if (u->uop == UOpKind::DefineVar)
      for (const ProgramVariable& v : program_.variables)
        if (v.name == u->name) return Scalar::of_int(u->dtype, v.max);
    return std::nullopt;
  }

  // An element of a constant of integers, such as the sizes that a shared kernel takes.
  std::optional<Scalar> element(const UOp* global, std::int64_t index) const {
    if (global->uop != UOpKind::DefineGlobal || at(global->number) >= call_.arguments.size()) return std::nullopt;
    const ProgramBuffer& buffer = program_.buffers[at(call_.arguments[at(global->number)].buffer)];
    if (buffer.kind != BufferKind::Constant || is_float(buffer.dtype) || index < 0 || index >= buffer.data.size()) return std::nullopt;
    return load_scalar(buffer.dtype, buffer.data.bytes().data(), index);
  }

  const Program& program_;
  const ProgramCall& call_;
  std::vector<std::int64_t> moved_;  // by argument
  bool known_;
  std::vector<std::int64_t> turns_;  // of each open loop, with those around it
  std::unordered_map<const UOp*, Scalar> values_;
};

}  // namespace

std::vector<std::int64_t> traffic_bytes(const Program& program) {
  std::vector<std::int64_t> result(program.buffers.size());
  const std::vector<Sint> turns = turns_of_calls(program);
  for (std::size_t c = 0; c < program.calls.size(); c++) {
    const ProgramCall& call = program.calls[c];
    if (program.kernels.empty()) {
      for (int b : call.buffers()) result[at(b)] = plus(result[at(b)], program.buffers[at(b)].max_bytes());
      continue;
    }
    const CallTraffic traffic(program, call);
    for (std::size_t a = 0; a < call.arguments.size(); a++) {
      std::int64_t& bytes = result[at(call.arguments[a].buffer)];
      bytes = plus(bytes, times(traffic.of(a), std::max<std::int64_t>(turns[c].max(), 0)));
    }
  }
  return result;
}

}  // namespace etch
