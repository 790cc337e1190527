#include "audit/loops.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace etch {
namespace {

using namespace clang;

const Expr* strip(const Expr* e) { return e->IgnoreParenImpCasts(); }

const VarDecl* variable(const Expr* e) {
  const auto* ref = dyn_cast<DeclRefExpr>(strip(e));
  return ref == nullptr ? nullptr : dyn_cast<VarDecl>(ref->getDecl());
}

std::optional<llvm::APSInt> constant(const Expr* e, ASTContext& context) {
  Expr::EvalResult result;
  if (e->isValueDependent() || !e->EvaluateAsInt(result, context)) return std::nullopt;
  return result.Val.getInt();
}

/// A comparison written with the counter on the left: counter < bound.
struct Comparison {
  const VarDecl* counter = nullptr;
  const Expr* bound = nullptr;
  bool up = true;          // < or <=
  bool inclusive = false;  // <= or >=
};

class Judge {
 public:
  Judge(const Stmt& loop, const FunctionFacts& function, ASTContext& context) : loop_(loop), function_(function), context_(context) {}

  std::string judge() {
    const Expr* condition = nullptr;
    if (const auto* loop = dyn_cast<ForStmt>(&loop_)) condition = loop->getCond();
    if (const auto* loop = dyn_cast<WhileStmt>(&loop_)) condition = loop->getCond();
    if (const auto* loop = dyn_cast<DoStmt>(&loop_)) condition = loop->getCond();
    if (condition == nullptr) return "it has no condition";
    if (const auto value = constant(condition, context_)) return value->getBoolValue() ? "its condition is always true" : "";
    return judge_condition(condition);
  }

 private:
  /// One bounded operand of && bounds the loop; if none is bounded, the reason of the first one is returned.
  std::string judge_condition(const Expr* condition) {
    std::vector<const Expr*> open{condition};
    std::string reason;
    while (!open.empty()) {
      const Expr* e = strip(open.back());
      open.pop_back();
      const auto* both = dyn_cast<BinaryOperator>(e);
      if (both != nullptr && both->getOpcode() == BO_LAnd) {
        open.push_back(both->getRHS());
        open.push_back(both->getLHS());
        continue;
      }
      const std::string why = judge_comparison(e);
      if (why.empty()) return "";
      if (reason.empty()) reason = why;
    }
    return reason;
  }

  std::string judge_comparison(const Expr* e) {
    const auto* op = dyn_cast<BinaryOperator>(e);
    if (op == nullptr || !op->isRelationalOp()) return "its condition is not a comparison (<, <=, >, >=) of a counter with a bound";
    std::string reason;  // of the left side where both could be the counter: that is how most people write it
    for (const bool swapped : {false, true}) {
      Comparison c;
      c.counter = variable(swapped ? op->getRHS() : op->getLHS());
      c.bound = swapped ? op->getLHS() : op->getRHS();
      const BinaryOperatorKind kind = swapped ? BinaryOperator::reverseComparisonOp(op->getOpcode()) : op->getOpcode();
      c.up = kind == BO_LT || kind == BO_LE;
      c.inclusive = kind == BO_LE || kind == BO_GE;
      if (c.counter == nullptr || !c.counter->hasLocalStorage() || !c.counter->getType()->isIntegerType()) continue;
      const std::string why = judge_counter(c);
      if (why.empty()) return "";
      if (reason.empty()) reason = why;
    }
    return reason.empty() ? "its condition compares no integer variable of the function" : reason;
  }

  std::string judge_counter(const Comparison& c) {
    const std::string name = c.counter->getNameAsString();
    if (c.counter->getType().isVolatileQualified()) return name + " is volatile";
    if (function_.address_taken.contains(c.counter)) return "the address of " + name + " is taken";
    const std::vector<Write> writes = writes_in_loop(c.counter);
    if (writes.empty()) return "nothing in it changes " + name;
    if (writes.size() > 1) return name + " is changed in more than one place";
    const auto step = step_of(writes[0].statement, c.counter);
    if (!step) return name + " is not changed by a constant step";
    if (!always_runs(writes[0].statement)) return "the step of " + name + " is not taken in every turn";
    if (*step == 0 || (*step > 0) != c.up) return name + " moves away from its bound";
    if (!invariant(c.bound)) return "the bound of " + name + " is not constant in it";
    return judge_range(c, *step < 0 ? -*step : *step);
  }

  /// Checks that the counter's type can hold the first value at which the comparison fails.
  std::string judge_range(const Comparison& c, std::int64_t step) {
    const std::string name = c.counter->getNameAsString();
    const QualType type = c.counter->getType();
    const unsigned width = static_cast<unsigned>(context_.getIntWidth(type));
    const bool is_signed = type->isSignedIntegerOrEnumerationType();
    if (const auto bound = constant(c.bound, context_)) {
      const unsigned wide = std::max(width, bound->getBitWidth()) + 66;  // room for bound + step
      llvm::APSInt last(bound->extend(wide), false), by(llvm::APInt(wide, static_cast<std::uint64_t>(step)), false),
          one(llvm::APInt(wide, 1), false);
      if (!c.inclusive) last = c.up ? last - one : last + one;
      last = c.up ? last + by : last - by;
      const llvm::APSInt limit = c.up ? llvm::APSInt::getMaxValue(width, !is_signed) : llvm::APSInt::getMinValue(width, !is_signed);
      const llvm::APSInt wide_limit(limit.extend(wide), false);
      return (c.up ? last > wide_limit : last < wide_limit) ? "the type of " + name + " is too narrow for its bound" : "";
    }
    const QualType bound_type = strip(c.bound)->getType();
    if (!bound_type->isIntegerType()) return "the bound of " + name + " is not an integer";
    const bool sign_lost = is_signed && !bound_type->isSignedIntegerOrEnumerationType() && context_.getIntWidth(bound_type) == width;
    if (context_.getIntWidth(bound_type) > width || sign_lost) return "the type of " + name + " is narrower than that of its bound";
    if (!is_signed && (c.inclusive || step > 1)) return name + " is unsigned and may wrap at a large bound";
    return "";
  }

  std::vector<Write> writes_in_loop(const VarDecl* v) const {
    std::vector<Write> result;
    const auto it = function_.writes.find(v);
    if (it == function_.writes.end()) return result;
    for (const Write& write : it->second)
      for (const Stmt* loop = write.loop; loop != nullptr; loop = function_.facts.at(loop).parent)
        if (loop == &loop_) result.push_back(write);
    return result;
  }

  /// The constant that `statement` adds to `v`.
  std::optional<std::int64_t> step_of(const Stmt* statement, const VarDecl* v) const {
    if (const auto* unary = dyn_cast<UnaryOperator>(statement)) return unary->isIncrementOp() ? 1 : -1;
    const auto* op = dyn_cast<BinaryOperator>(statement);
    if (op == nullptr) return std::nullopt;
    const Expr* amount = op->getRHS();
    bool minus = op->getOpcode() == BO_SubAssign;
    if (op->getOpcode() == BO_Assign) {  // i = i + 2
      const auto* sum = dyn_cast<BinaryOperator>(amount->IgnoreParenCasts());
      if (sum == nullptr || !sum->isAdditiveOp()) return std::nullopt;
      minus = sum->getOpcode() == BO_Sub;
      amount = sum->getRHS();
      if (!minus && variable(sum->getRHS()) == v)
        amount = sum->getLHS();
      else if (variable(sum->getLHS()) != v)
        return std::nullopt;
    } else if (op->getOpcode() != BO_AddAssign && op->getOpcode() != BO_SubAssign) {
      return std::nullopt;
    }
    const auto value = constant(amount, context_);
    if (!value || !value->isRepresentableByInt64()) return std::nullopt;
    const std::int64_t by = value->getExtValue();
    if (by > INT32_MAX || by < -INT32_MAX) return std::nullopt;  // 0xffffffffu is a step backwards
    return minus ? -by : by;
  }

  /// The step stands in a for-loop's third place, or is a statement of the body that no `continue` jumps over.
  bool always_runs(const Stmt* step) const {
    const Stmt* body = nullptr;
    if (const auto* loop = dyn_cast<ForStmt>(&loop_)) {
      if (loop->getInc() != nullptr && has_operand(loop->getInc(), step)) return true;
      body = loop->getBody();
    }
    if (const auto* loop = dyn_cast<WhileStmt>(&loop_)) body = loop->getBody();
    if (const auto* loop = dyn_cast<DoStmt>(&loop_)) body = loop->getBody();
    if (function_.facts.at(&loop_).has_continue) return false;
    if (body == step) return true;
    const auto* block = dyn_cast_or_null<CompoundStmt>(body);
    return block != nullptr && std::find(block->body_begin(), block->body_end(), step) != block->body_end();
  }

  /// `step` is `e`, or one part of `e` = (a, b, c).
  static bool has_operand(const Expr* e, const Stmt* step) {
    for (e = e->IgnoreParens(); e != nullptr;) {
      if (e == step) return true;
      const auto* comma = dyn_cast<BinaryOperator>(e);
      if (comma == nullptr || comma->getOpcode() != BO_Comma) return false;
      if (comma->getRHS()->IgnoreParens() == step) return true;
      e = comma->getLHS()->IgnoreParens();
    }
    return false;
  }

  /// Whether `e` has the same value in every iteration. const objects are assumed never to change.
  bool invariant(const Expr* whole) const {
    std::vector<const Expr*> open{whole};
    while (!open.empty()) {
      const Expr* e = open.back()->IgnoreParenCasts();
      open.pop_back();
      if (e->getType().isVolatileQualified()) return false;
      if (constant(e, context_)) continue;
      if (const VarDecl* v = variable(e)) {
        const bool stays = v->hasLocalStorage() && !function_.address_taken.contains(v) && writes_in_loop(v).empty();
        if (!stays && !v->getType().isConstant(context_)) return false;
        continue;
      }
      if (!push_operands(e, open)) return false;
    }
    return true;
  }

  bool push_operands(const Expr* e, std::vector<const Expr*>& open) const {
    if (const auto* op = dyn_cast<BinaryOperator>(e)) {
      open.insert(open.end(), {op->getLHS(), op->getRHS()});
      return !op->isAssignmentOp();
    }
    if (const auto* op = dyn_cast<UnaryOperator>(e)) {
      open.push_back(op->getSubExpr());
      return !op->isIncrementDecrementOp() && (op->getOpcode() != UO_Deref || e->getType().isConstQualified());
    }
    if (const auto* op = dyn_cast<ConditionalOperator>(e)) {
      open.insert(open.end(), {op->getCond(), op->getTrueExpr(), op->getFalseExpr()});
      return true;
    }
    if (const auto* member = dyn_cast<MemberExpr>(e)) {
      open.push_back(member->getBase());
      return e->getType().isConstQualified();
    }
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      open.insert(open.end(), {element->getBase(), element->getIdx()});
      return e->getType().isConstQualified();
    }
    // Without mutable statics (another rule checks that) a function of numbers alone always returns the same value.
    const auto* call = dyn_cast<CallExpr>(e);
    const FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
    if (callee == nullptr || !callee->isDefined()) return false;
    for (const Expr* argument : call->arguments()) {
      if (!argument->getType()->isArithmeticType()) return false;
      open.push_back(argument);
    }
    return true;
  }

  const Stmt& loop_;
  const FunctionFacts& function_;
  ASTContext& context_;
};

}  // namespace

std::string why_unbounded(const clang::Stmt& loop, const FunctionFacts& function, clang::ASTContext& context) {
  return Judge(loop, function, context).judge();
}

}  // namespace etch
