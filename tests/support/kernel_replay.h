// For tests: what a kernel loads and stores, in order, found by running the loops and the index arithmetic of its UOps. It knows nothing of
// bounds or of expressions: it is the oracle of those who reason about them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
    steps_.reserve(order_.size());
    for (std::size_t i = 0; i < order_.size(); i++) {
      number_[order_[i]] = i;
      Step& step = steps_.emplace_back(order_[i]);
      for (const UOp* operand : order_[i]->src) step.operands.push_back(number_.at(operand));
      if (order_[i]->uop == UOpKind::End) steps_[step.operands[0]].end = i;
    }
    run(0, steps_.size());
  }

  const std::vector<MemoryEvent>& events() const { return events_; }

  /// A byte of an argument that is asked for ahead, and how many events came before.
  struct Asked {
    int argument = 0;
    std::int64_t at = 0;
    std::size_t before = 0;
  };
  const std::vector<Asked>& asked() const { return asked_; }

  /// UOps that are not constants, in all turns; and conditions that did not hold.
  std::int64_t executed() const { return executed_; }
  std::int64_t passed() const { return passed_; }

  /// Whether a byte of argument `read` is loaded after it was overwritten, if argument `write` begins `up` bytes above it (below:
  /// negative).
  bool loses(int write, int read, std::int64_t up) const {
    const KernelArgument& a = arguments_[static_cast<std::size_t>(read)];
    const std::int64_t size = a.elements.as_int() * bytes_of(a.dtype);
    std::string lost(static_cast<std::size_t>(size), '.');
    for (const MemoryEvent& e : events_) {
      if (e.is_store && e.argument == write) {
        const std::int64_t begin = std::max<std::int64_t>(e.begin + up, 0), end = std::min(e.end + up, size);
        if (begin < end) std::fill(lost.begin() + begin, lost.begin() + end, 'x');
      }
      if (!e.is_store && e.argument == read)
        if (std::string_view(lost).substr(static_cast<std::size_t>(e.begin), static_cast<std::size_t>(e.end - e.begin)).find('x') !=
            std::string_view::npos)
          return true;
    }
    return false;
  }

 private:
  using Value = std::optional<std::int64_t>;  // nullopt: it depends on what the buffers hold

  /// A UOp, with the numbers of what it depends on: looking these up in each turn of a loop would take most of the time.
  struct Step {
    const UOp* u;
    std::vector<std::size_t> operands;
    std::size_t end = 0;  // of a loop or a condition
    Value value;
  };

  Value of(const Step& step, std::size_t operand) const { return steps_[step.operands[operand]].value; }

  void run(std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; i++) {
      Step& step = steps_[i];
      executed_ += step.u->uop == UOpKind::Const ? 0 : 1;
      if (step.u->uop == UOpKind::Loop) {
        const std::int64_t first = of(step, 0).value(), last = of(step, 1).value();
        for (std::int64_t k = first; k < last; k++) {
          step.value = k;
          run(i + 1, step.end);
          executed_++;  // its End
        }
        i = step.end;
      } else if (step.u->uop == UOpKind::If) {
        const bool holds = of(step, 0).value() != 0;
        if (holds) run(i + 1, step.end);
        (holds ? executed_ : passed_)++;
        i = step.end;
      } else {
        take(step);
      }
    }
  }

  void take(Step& step) {
    const UOp* u = step.u;
    const auto is_whole = [](DType dtype) { return is_int(dtype) || dtype == DType::Bool; };
    step.value = std::nullopt;
    if (u->uop == UOpKind::DefineVar) step.value = variables_.at(u->name);
    if (u->uop == UOpKind::Const && is_int(u->dtype)) step.value = u->value->as_int();
    if (u->uop == UOpKind::Const && u->dtype == DType::Bool) step.value = u->value->as_double() != 0 ? 1 : 0;
    if (u->uop == UOpKind::Cast && is_whole(u->src[0]->dtype) && u->lanes == 1) step.value = of(step, 0);
    if (u->uop == UOpKind::Alu && u->lanes == 1) step.value = alu(step);
    if (u->uop == UOpKind::Load) note(step, 2);
    if (u->uop == UOpKind::Store) note(step, 3);
    if (u->uop == UOpKind::Prefetch)
      asked_.push_back({static_cast<int>(u->src[0]->number), of(step, 1).value() * bytes_of(u->dtype), events_.size()});
    if (u->uop == UOpKind::StoreColumns) note_columns(step);
    // The text of a dot product of one lane reads its operands where it stands.
    if (u->uop == UOpKind::Dot)
      for (const std::size_t operand : step.operands)
        if (steps_[operand].u->uop == UOpKind::Load) note(steps_[operand], 2);
  }

  void note(const Step& step, std::size_t condition) {
    const UOp* u = step.u;
    if (u->src[0]->uop != UOpKind::DefineGlobal) return;
    if (u->src.size() > condition && of(step, condition) == 0) return;
    const auto argument = static_cast<int>(u->src[0]->number);
    const std::int64_t width = bytes_of(arguments_[static_cast<std::size_t>(argument)].dtype), at = of(step, 1).value() * width;
    events_.push_back({u->uop == UOpKind::Store, argument, at, at + width * u->lanes});
  }

  void note_columns(const Step& step) {
    const UOp* u = step.u;
    const auto argument = static_cast<int>(u->src[0]->number);
    const std::int64_t width = bytes_of(arguments_[static_cast<std::size_t>(argument)].dtype);
    for (std::int64_t l = 0; l < u->lanes; l++) {
      const std::int64_t at = (of(step, 1).value() + l * of(step, 2).value()) * width;
      events_.push_back({true, argument, at, at + width * (std::ssize(u->src) - kBeforeColumns)});
    }
  }

  Value alu(const Step& step) const {
    std::int64_t s[3] = {};
    for (std::size_t k = 0; k < step.operands.size(); k++) {
      const Value v = of(step, k);
      if (!v) return std::nullopt;
      s[k] = *v;
    }
    switch (step.u->op) {
      case Op::Add:
        return s[0] + s[1];
      case Op::Sub:
        return s[0] - s[1];
      case Op::Mul:
        return s[0] * s[1];
      case Op::MulAcc:
        return s[0] * s[1] + s[2];
      case Op::Div:
        return s[1] == 0 ? Value() : s[0] / s[1];
      case Op::Mod:
        return s[1] == 0 ? Value() : s[0] % s[1];
      case Op::Max:
        return std::max(s[0], s[1]);
      case Op::Min:
        return std::min(s[0], s[1]);
      case Op::CmpLt:
        return s[0] < s[1] ? 1 : 0;
      case Op::CmpEq:
        return s[0] == s[1] ? 1 : 0;
      case Op::CmpNe:
        return s[0] != s[1] ? 1 : 0;
      case Op::And:
        return s[0] & s[1];
      case Op::Or:
        return s[0] | s[1];
      case Op::Where:
        return s[0] != 0 ? s[1] : s[2];
      default:
        return std::nullopt;
    }
  }

  const std::vector<const UOp*>& order_;
  const std::vector<KernelArgument>& arguments_;
  std::map<std::string, std::int64_t> variables_;
  std::unordered_map<const UOp*, std::size_t> number_;
  std::vector<Step> steps_;
  std::vector<MemoryEvent> events_;
  std::int64_t executed_ = 0, passed_ = 0;
  std::vector<Asked> asked_;
};

}  // namespace etch::test
