// For tests: what a kernel loads and stores, in order, found by running the loops and the index arithmetic of its UOps. It knows nothing of
// bounds or of expressions: it is the oracle of those who reason about them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "codegen/argument.h"
#include "ir/uop.h"

namespace etch::test {

struct MemoryEvent {
  bool is_store = false;
  int argument = 0;
  std::int64_t begin = 0, end = 0;  // bytes of the argument
};

class KernelReplay {
 public:
  KernelReplay(const UOpList& uops, const std::vector<KernelArgument>& arguments, std::map<std::string, std::int64_t> variables = {})
      : order_(uops.order), arguments_(arguments), variables_(std::move(variables)) {
    std::unordered_map<const UOp*, std::size_t> start;
    for (std::size_t i = 0; i < order_.size(); i++) {
      if (order_[i]->uop == UOpKind::Loop || order_[i]->uop == UOpKind::If) start[order_[i]] = i;
      if (order_[i]->uop == UOpKind::End) end_[order_[i]->src[0]] = i;
    }
    run(0, order_.size());
  }

  const std::vector<MemoryEvent>& events() const { return events_; }

  /// Whether a byte of argument `read` is loaded after it was overwritten, if argument `write` begins `up` bytes above it (below:
  /// negative).
  bool loses(int write, int read, std::int64_t up) const {
    const KernelArgument& a = arguments_[static_cast<std::size_t>(read)];
    const std::int64_t size = a.elements.as_int() * bytes_of(a.dtype);
    std::vector<bool> lost(static_cast<std::size_t>(size), false);
    for (const MemoryEvent& e : events_) {
      if (e.is_store && e.argument == write)
        for (std::int64_t at = std::max<std::int64_t>(e.begin + up, 0); at < std::min(e.end + up, size); at++)
          lost[static_cast<std::size_t>(at)] = true;
      if (!e.is_store && e.argument == read)
        for (std::int64_t at = e.begin; at < e.end; at++)
          if (lost[static_cast<std::size_t>(at)]) return true;
    }
    return false;
  }

 private:
  using Value = std::optional<std::int64_t>;  // nullopt: it depends on what the buffers hold

  Value of(const UOp* u) const {
    const auto found = values_.find(u);
    return found == values_.end() ? std::nullopt : found->second;
  }

  void run(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; i++) {
      const UOp* u = order_[i];
      if (u->uop == UOpKind::Loop) {
        const std::int64_t first = of(u->src[0]).value(), last = of(u->src[1]).value();
        for (std::int64_t k = first; k < last; k++) {
          values_[u] = k;
          run(i + 1, end_.at(u));
        }
        i = end_.at(u);
      } else if (u->uop == UOpKind::If) {
        if (of(u->src[0]).value() != 0) run(i + 1, end_.at(u));
        i = end_.at(u);
      } else {
        step(u);
      }
    }
  }

  void step(const UOp* u) {
    values_[u] = std::nullopt;
    if (u->uop == UOpKind::DefineVar) values_[u] = variables_.at(u->name);
    if (u->uop == UOpKind::Const && is_int(u->dtype)) values_[u] = u->value->as_int();
    if (u->uop == UOpKind::Const && u->dtype == DType::Bool) values_[u] = u->value->as_double() != 0 ? 1 : 0;
    if (u->uop == UOpKind::Cast && (is_int(u->src[0]->dtype) || u->src[0]->dtype == DType::Bool) && u->lanes == 1)
      values_[u] = of(u->src[0]);
    if (u->uop == UOpKind::Alu && u->lanes == 1) values_[u] = alu(*u);
    if (u->uop == UOpKind::Load) note(u, 2);
    if (u->uop == UOpKind::Store) note(u, 3);
    // The text of a dot product of one lane reads its operands where it stands.
    if (u->uop == UOpKind::Dot)
      for (const UOp* operand : u->src)
        if (operand->uop == UOpKind::Load) note(operand, 2);
  }

  void note(const UOp* u, std::size_t condition) {
    if (u->src[0]->uop != UOpKind::DefineGlobal) return;
    if (u->src.size() > condition && of(u->src[condition]) == 0) return;
    const auto argument = static_cast<int>(u->src[0]->number);
    const std::int64_t width = bytes_of(arguments_[static_cast<std::size_t>(argument)].dtype), at = of(u->src[1]).value() * width;
    events_.push_back({u->uop == UOpKind::Store, argument, at, at + width * u->lanes});
  }

  Value alu(const UOp& u) const {
    std::vector<std::int64_t> s;
    for (const UOp* operand : u.src) {
      const Value v = of(operand);
      if (!v) return std::nullopt;
      s.push_back(*v);
    }
    if (u.op == Op::Add) return s[0] + s[1];
    if (u.op == Op::Sub) return s[0] - s[1];
    if (u.op == Op::Mul) return s[0] * s[1];
    if (u.op == Op::MulAcc) return s[0] * s[1] + s[2];
    if (u.op == Op::Div) return s[1] == 0 ? Value() : s[0] / s[1];
    if (u.op == Op::Mod) return s[1] == 0 ? Value() : s[0] % s[1];
    if (u.op == Op::Max) return std::max(s[0], s[1]);
    if (u.op == Op::Min) return std::min(s[0], s[1]);
    if (u.op == Op::CmpLt) return s[0] < s[1] ? 1 : 0;
    if (u.op == Op::CmpEq) return s[0] == s[1] ? 1 : 0;
    if (u.op == Op::CmpNe) return s[0] != s[1] ? 1 : 0;
    if (u.op == Op::And) return s[0] & s[1];
    if (u.op == Op::Or) return s[0] | s[1];
    if (u.op == Op::Where) return s[0] != 0 ? s[1] : s[2];
    return std::nullopt;
  }

  const std::vector<const UOp*>& order_;
  const std::vector<KernelArgument>& arguments_;
  std::map<std::string, std::int64_t> variables_;
  std::unordered_map<const UOp*, std::size_t> end_;
  std::unordered_map<const UOp*, Value> values_;
  std::vector<MemoryEvent> events_;
};

}  // namespace etch::test
