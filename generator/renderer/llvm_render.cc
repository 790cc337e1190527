// Turns UOps into one function of LLVM IR, one after the other. Values have the names that they have in C where they have one.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "codegen/math.h"
#include "codegen/passes.h"
#include "renderer/llvm.h"
#include "renderer/llvm_values.h"
#include "renderer/local_names.h"

namespace etch {
namespace {

using llvm::BasicBlock;
using llvm::Value;

bool is_where(const UOp* u) { return u->uop == UOpKind::Alu && u->op == Op::Where && u->src[0]->lanes == 1; }

bool is_masked_load(const UOp* u) { return u->uop == UOpKind::Load && u->src.size() == 4; }

// Whether `user` wants `u` only where its condition has one of its two values.
bool is_branch_of(const UOp* u, const UOp* user) { return is_where(user) ? u != user->src[0] : is_masked_load(user) && u == user->src[3]; }

bool is_computed(const UOp* u) {
  return u->uop == UOpKind::Load || u->uop == UOpKind::Alu || u->uop == UOpKind::Cast || u->uop == UOpKind::Bitcast;
}

class LlvmRenderer {
 public:
  LlvmRenderer(const UOpList& uops, const KernelSignature& signature, const CodegenOptions& options)
      : uops_(uops),
        signature_(signature),
        names_(uops, signature),
        module_("", context_),
        builder_(context_),
        values_(module_, builder_, options) {}

  Rendered run() {
    find_deferred();
    head();
    for (const UOp* u : uops_.order) step(u);
    builder_.CreateRetVoid();
    llvm::DominatorTree dominators(*function_);
    llvm::PromoteMemToReg(accumulators_, dominators);
    return rendered();
  }

 private:
  /// What an open Loop or If needs at its End.
  struct Scope {
    BasicBlock* test;  // of a Loop; null for an If
    BasicBlock* after;
    llvm::PHINode* index;
  };

  void find_deferred();
  void head();
  void arguments();
  void step(const UOp* u);
  void name(Value* value, const UOp* u);
  void define(const UOp* u, Value* value);
  Value* value(const UOp* u);
  Value* compute(const UOp* u);
  BasicBlock* block(const std::string& name) { return BasicBlock::Create(context_, name, function_); }
  llvm::AllocaInst* on_stack(llvm::Type* type, const std::string& name);

  Value* array(const UOp* u);
  void accumulator(const UOp* u);
  void phi(const UOp* u);
  void loop(const UOp* u);
  void condition(const UOp* u);
  void end(const UOp* u);
  llvm::MDNode* without_vectors();
  Value* alu(const UOp* u);
  Value* choose(const UOp* u, const UOp* condition, const std::function<Value*()>& yes, const UOp* otherwise);
  Value* load(const UOp* u);
  void store(const UOp* u);
  std::array<Value*, kStoredColumns> rows_of_four(const std::array<Value*, kStoredColumns>& columns, int lanes);
  void store_columns(const UOp* u);
  void prefetch(const UOp* u);
  Value* vectorize(const UOp* u);
  llvm::Type* element_type(const UOp* buffer);
  Value* address(const UOp* u);
  llvm::Align align_of(const UOp* buffer);
  Rendered rendered();

  const UOpList& uops_;
  const KernelSignature& signature_;
  LocalNames names_;
  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> builder_;
  LlvmValues values_;
  llvm::Function* function_ = nullptr;
  std::unordered_set<const UOp*> deferred_;                 // computed where their only use is
  std::unordered_map<const UOp*, Value*> defined_;          // for accumulators and buffers the address
  std::unordered_map<const UOp*, llvm::AllocaInst*> sums_;  // accumulators
  std::vector<llvm::AllocaInst*> accumulators_;
  std::vector<Scope> scopes_;
};

// In C the branches of a ?: are computed only if they are chosen. So here too: a value that only one branch of one Where or masked
// Load uses, directly or in other such values, is computed there, if nothing is written in between.
void LlvmRenderer::find_deferred() {
  struct Facts {
    int uses = 0, writes = 0;  // how often it is used; stores, accumulators and scopes before it
    const UOp* user = nullptr;
    int depth = 0;  // of the deferred values that it is part of
  };
  constexpr int kMaxDepth = 12;  // computing them recurses
  std::unordered_map<const UOp*, Facts> facts;
  int writes = 0;
  for (const UOp* u : uops_.order) {
    writes += has_effect(u->uop) ? 1 : 0;
    facts[u].writes = writes;
    for (const UOp* s : u->src) {
      facts[s].uses++;
      facts[s].user = u;
    }
  }
  for (auto it = uops_.order.rbegin(); it != uops_.order.rend(); it++) {
    const UOp* u = *it;
    Facts& mine = facts[u];
    if (!is_computed(u) || mine.uses != 1 || facts[mine.user].writes != mine.writes) continue;
    const int depth = facts[mine.user].depth + 1;
    if ((!is_branch_of(u, mine.user) && !deferred_.contains(mine.user)) || depth > kMaxDepth) continue;
    mine.depth = depth;
    deferred_.insert(u);
  }
}

void LlvmRenderer::head() {
  auto* type = llvm::FunctionType::get(builder_.getVoidTy(), {builder_.getPtrTy()}, false);
  function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, signature_.function, module_);
  function_->setDoesNotThrow();
  function_->setMustProgress();
  llvm::Argument* arg = function_->getArg(0);
  arg->setName("arg");
  arg->addAttr(llvm::Attribute::NoAlias);  // the table; what it points to may overlap: an input may be the output itself
  arg->addAttr(llvm::Attribute::ReadOnly);
  builder_.SetInsertPoint(block("entry"));
  arguments();
}

void LlvmRenderer::arguments() {
  const auto pointer = [&](std::size_t i, const std::string& name) {
    Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getPtrTy(), function_->getArg(0), i);
    return builder_.CreateLoad(builder_.getPtrTy(), place, name);
  };
  std::vector<const UOp*> globals(signature_.arguments.size());
  for (const UOp* u : uops_.order) {
    if (u->uop != UOpKind::DefineGlobal) continue;
    const auto number = static_cast<std::size_t>(u->number);
    check(number < globals.size() && signature_.arguments[number].dtype == u->dtype, "every buffer is an argument, of its type");
    globals[number] = u;
  }
  for (std::size_t i = 0; i < globals.size(); i++)
    if (globals[i] != nullptr) defined_[globals[i]] = pointer(i, signature_.arguments[i].name);
  for (const UOp* u : uops_.order) {
    if (u->uop != UOpKind::DefineVar) continue;
    const auto variable = std::ranges::find(signature_.variables, u->name);
    check(variable != signature_.variables.end(), "every variable is an argument");
    Value* place = pointer(globals.size() + static_cast<std::size_t>(variable - signature_.variables.begin()), "");
    defined_[u] = builder_.CreateLoad(builder_.getInt32Ty(), place, u->name);
  }
}

llvm::AllocaInst* LlvmRenderer::on_stack(llvm::Type* type, const std::string& name) {
  BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> start(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
  return start.CreateAlloca(type, nullptr, name);
}

void LlvmRenderer::name(Value* value, const UOp* u) {
  if (llvm::isa<llvm::Instruction>(value) && !value->hasName()) value->setName(names_.of(u));
}

void LlvmRenderer::define(const UOp* u, Value* value) {
  name(value, u);
  defined_[u] = value;
}

// The value of a Phi and of a DefineAcc is what the accumulator holds now.
Value* LlvmRenderer::value(const UOp* u) {
  if (u->uop == UOpKind::Const) return values_.constant(*u->value);
  const UOp* acc = u->uop == UOpKind::Phi ? u->src[0] : u;
  if (acc->uop == UOpKind::DefineAcc) return builder_.CreateLoad(sums_.at(acc)->getAllocatedType(), sums_.at(acc));
  if (!deferred_.contains(u)) return defined_.at(u);
  Value* computed = compute(u);
  name(computed, u);
  return computed;
}

Value* LlvmRenderer::compute(const UOp* u) {
  // Where the condition does not hold, nothing is read: there may be no such element.
  if (is_masked_load(u)) return choose(u, u->src[2], [&] { return load(u); }, u->src[3]);
  if (u->uop == UOpKind::Load) return load(u);
  if (u->uop == UOpKind::Cast) return values_.cast(u->src[0]->dtype, u->dtype, value(u->src[0]));
  if (u->uop == UOpKind::Bitcast) return values_.bitcast(u->src[0]->dtype, u->dtype, value(u->src[0]));
  if (is_where(u) && (deferred_.contains(u->src[1]) || deferred_.contains(u->src[2])))
    return choose(u, u->src[0], [&] { return value(u->src[1]); }, u->src[2]);
  return alu(u);
}

Value* LlvmRenderer::alu(const UOp* u) {
  std::vector<Value*> operands;
  for (const UOp* s : u->src) operands.push_back(value(s));
  return values_.alu(*u, operands);
}

// condition ? yes : otherwise, of which each is computed only where it is wanted.
Value* LlvmRenderer::choose(const UOp* u, const UOp* condition, const std::function<Value*()>& yes, const UOp* otherwise) {
  Value* holds = value(condition);
  Value* other = deferred_.contains(otherwise) ? nullptr : values_.widen(value(otherwise), u->lanes);
  BasicBlock *before = builder_.GetInsertBlock(), *inside = block("inside"), *after = block("inside.end");
  BasicBlock* outside = other == nullptr ? block("outside") : nullptr;
  builder_.CreateCondBr(holds, inside, other == nullptr ? outside : after);
  builder_.SetInsertPoint(inside);
  Value* chosen = values_.widen(yes(), u->lanes);
  inside = builder_.GetInsertBlock();
  builder_.CreateBr(after);
  if (other == nullptr) {
    outside->moveAfter(builder_.GetInsertBlock());
    builder_.SetInsertPoint(outside);
    other = values_.widen(value(otherwise), u->lanes);
    before = builder_.GetInsertBlock();
    builder_.CreateBr(after);
  }
  after->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(after);
  llvm::PHINode* result = builder_.CreatePHI(chosen->getType(), 2);
  result->addIncoming(chosen, inside);
  result->addIncoming(other, before);
  return result;
}

Value* LlvmRenderer::array(const UOp* u) {
  llvm::AllocaInst* place = on_stack(llvm::ArrayType::get(element_type(u), static_cast<std::uint64_t>(u->size)), names_.of(u));
  place->setAlignment(llvm::Align(64));  // no vector that is stored there lies across two lines of the cache
  return place;
}

void LlvmRenderer::accumulator(const UOp* u) {
  llvm::AllocaInst* place = on_stack(values_.value_type(u->dtype, u->lanes), names_.of(u));
  builder_.CreateStore(u->src.empty() ? values_.constant(*u->value, u->lanes) : value(u->src[0]), place);
  sums_[u] = place;
  accumulators_.push_back(place);
}

void LlvmRenderer::phi(const UOp* u) { builder_.CreateStore(values_.widen(value(u->src[1]), u->src[0]->lanes), sums_.at(u->src[0])); }

void LlvmRenderer::loop(const UOp* u) {
  BasicBlock* before = builder_.GetInsertBlock();
  Value *first = value(u->src[0]), *last = value(u->src[1]);
  BasicBlock *test = block(u->name + ".test"), *body = block(u->name + ".body"), *after = block(u->name + ".end");
  builder_.CreateBr(test);
  builder_.SetInsertPoint(test);
  llvm::PHINode* index = builder_.CreatePHI(values_.value_type(u->dtype), 2, u->name);
  index->addIncoming(first, before);
  Value* is_inside = is_unsigned(u->dtype) ? builder_.CreateICmpULT(index, last) : builder_.CreateICmpSLT(index, last);
  builder_.CreateCondBr(is_inside, body, after);
  builder_.SetInsertPoint(body);
  defined_[u] = index;
  scopes_.push_back({test, after, index});
}

void LlvmRenderer::condition(const UOp* u) {
  BasicBlock *then = block("then"), *after = block("then.end");
  builder_.CreateCondBr(value(u->src[0]), then, after);
  builder_.SetInsertPoint(then);
  scopes_.push_back({nullptr, after, nullptr});
}

// Of a loop whose stores are far from each other; vectors of them would be slow.
llvm::MDNode* LlvmRenderer::without_vectors() {
  auto* property = llvm::MDNode::get(
      context_, {llvm::MDString::get(context_, "llvm.loop.vectorize.enable"), llvm::ConstantAsMetadata::get(builder_.getFalse())});
  llvm::MDNode* loop = llvm::MDNode::getDistinct(context_, {nullptr, property});
  loop->replaceOperandWith(0, loop);  // names itself, so that no other loop has it
  return loop;
}

void LlvmRenderer::end(const UOp* u) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  if (scope.test == nullptr) {
    builder_.CreateBr(scope.after);
  } else {
    const bool wraps = is_unsigned(u->src[0]->dtype);
    Value* next =
        builder_.CreateAdd(scope.index, llvm::ConstantInt::get(scope.index->getType(), 1), u->src[0]->name + ".next", wraps, !wraps);
    scope.index->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* again = builder_.CreateBr(scope.test);
    if (u->src[0]->size == 1) again->setMetadata(llvm::LLVMContext::MD_loop, without_vectors());
  }
  scope.after->moveAfter(builder_.GetInsertBlock());
  builder_.SetInsertPoint(scope.after);
}

// Arrays on the stack hold values as they are, but for bool.
llvm::Type* LlvmRenderer::element_type(const UOp* buffer) {
  const bool as_stored = buffer->uop == UOpKind::DefineGlobal || buffer->dtype == DType::Bool;
  return as_stored ? values_.memory_type(buffer->dtype) : values_.value_type(buffer->dtype);
}

llvm::Align LlvmRenderer::align_of(const UOp* buffer) { return llvm::Align(element_type(buffer)->getPrimitiveSizeInBits() / 8); }

Value* LlvmRenderer::address(const UOp* u) {
  return builder_.CreateInBoundsGEP(element_type(u->src[0]), value(u->src[0]), value(u->src[1]));
}

Value* LlvmRenderer::load(const UOp* u) {
  const UOp* buffer = u->src[0];
  llvm::Type* type = element_type(buffer);
  if (u->lanes > 1) {
    check(type == values_.value_type(u->dtype), "vectors lie in memory as they are");
    type = values_.value_type(u->dtype, u->lanes);
  }
  Value* stored = builder_.CreateAlignedLoad(type, address(u), align_of(buffer));
  return type == values_.value_type(u->dtype, u->lanes) ? stored : values_.from_memory(u->dtype, stored);
}

void LlvmRenderer::store(const UOp* u) {
  const UOp* buffer = u->src[0];
  BasicBlock* after = nullptr;
  if (u->src.size() == 4) {
    BasicBlock* inside = block("inside");
    after = block("inside.end");
    builder_.CreateCondBr(value(u->src[3]), inside, after);
    builder_.SetInsertPoint(inside);
  }
  Value* stored = values_.widen(value(u->src[2]), u->lanes);
  if (stored->getType()->getScalarType() != element_type(buffer)) stored = values_.to_memory(buffer->dtype, stored);
  builder_.CreateAlignedStore(stored, address(u), align_of(buffer));
  if (after == nullptr) return;
  builder_.CreateBr(after);
  builder_.SetInsertPoint(after);
}

// Of four columns: pairs of the first two and of the last two, then pairs of these, which in each four lanes are rows of four.
std::array<Value*, kStoredColumns> LlvmRenderer::rows_of_four(const std::array<Value*, kStoredColumns>& columns, int lanes) {
  const auto mixed = [&](Value* a, Value* b, const std::array<int, kStoredColumns>& from) {  // from 4 on: of b
    std::vector<int> mask;
    for (int four = 0; four < lanes; four += kStoredColumns)
      for (const int l : from) mask.push_back(l < kStoredColumns ? four + l : lanes + four + l - kStoredColumns);
    return builder_.CreateShuffleVector(a, b, mask);
  };
  Value* low[] = {mixed(columns[0], columns[1], {0, 4, 1, 5}), mixed(columns[2], columns[3], {0, 4, 1, 5})};
  Value* high[] = {mixed(columns[0], columns[1], {2, 6, 3, 7}), mixed(columns[2], columns[3], {2, 6, 3, 7})};
  return {mixed(low[0], low[1], {0, 1, 4, 5}), mixed(low[0], low[1], {2, 3, 6, 7}), mixed(high[0], high[1], {0, 1, 4, 5}),
          mixed(high[0], high[1], {2, 3, 6, 7})};
}

// Row l is the same four lanes of all rows of four, side by side.
void LlvmRenderer::store_columns(const UOp* u) {
  const int lanes = u->lanes;
  std::vector<std::array<Value*, kStoredColumns>> rows;
  for (std::size_t first = kBeforeColumns; first < u->src.size(); first += kStoredColumns) {
    std::array<Value*, kStoredColumns> columns{};
    for (std::size_t c = 0; c < columns.size(); c++) columns[c] = values_.widen(value(u->src[first + c]), lanes);
    rows.push_back(rows_of_four(columns, lanes));
  }
  Value* at = value(u->src[1]);
  Value* distance = value(u->src[2]);
  for (int l = 0; l < lanes; l++) {
    const int four = l / kStoredColumns * kStoredColumns;
    std::vector<Value*> parts;
    for (const auto& of_group : rows)
      parts.push_back(builder_.CreateShuffleVector(of_group[static_cast<std::size_t>(l - four)], {four, four + 1, four + 2, four + 3}));
    Value* row = llvm::concatenateVectors(builder_, parts);
    Value* index =
        builder_.CreateAdd(at, builder_.CreateMul(distance, llvm::ConstantInt::get(distance->getType(), static_cast<std::uint64_t>(l))));
    builder_.CreateAlignedStore(row, builder_.CreateInBoundsGEP(element_type(u->src[0]), value(u->src[0]), index), align_of(u->src[0]));
  }
}

// To be read, into a cache, as data.
void LlvmRenderer::prefetch(const UOp* u) {
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address(u)->getType()},
      {address(u), builder_.getInt32(0), builder_.getInt32(static_cast<std::uint32_t>(4 - u->number)), builder_.getInt32(1)});
}

Value* LlvmRenderer::vectorize(const UOp* u) {
  if (std::ranges::all_of(u->src, [&](const UOp* s) { return s == u->src[0]; })) return values_.widen(value(u->src[0]), u->lanes);
  Value* vector = llvm::PoisonValue::get(values_.value_type(u->dtype, u->lanes));
  for (std::size_t lane = 0; lane < u->src.size(); lane++) vector = builder_.CreateInsertElement(vector, value(u->src[lane]), lane);
  return vector;
}

void LlvmRenderer::step(const UOp* u) {
  switch (u->uop) {
    case UOpKind::DefineGlobal:
    case UOpKind::DefineVar:
    case UOpKind::Const:
      return;
    case UOpKind::DefineLocal:
      defined_[u] = array(u);
      return;
    case UOpKind::DefineAcc:
      return accumulator(u);
    case UOpKind::Special:
    case UOpKind::Barrier:
      return check(false, "a language of loops has no work-groups");
    case UOpKind::Loop:
      return loop(u);
    case UOpKind::If:
      return condition(u);
    case UOpKind::End:
      return end(u);
    case UOpKind::Load:
    case UOpKind::Alu:
    case UOpKind::Cast:
    case UOpKind::Bitcast:
      if (!deferred_.contains(u)) define(u, compute(u));
      return;
    case UOpKind::Store:
      return store(u);
    case UOpKind::StoreColumns:
      return store_columns(u);
    case UOpKind::Prefetch:
      return prefetch(u);
    case UOpKind::Phi:
      return phi(u);
    case UOpKind::Dot:
      return define(u, values_.dot(*u, value(u->src[0]), value(u->src[1]), value(u->src[2])));
    case UOpKind::Wmma:
      return check(false, "a language of loops has no work-items that share a tile");
    case UOpKind::Gep:
      return define(u, builder_.CreateExtractElement(value(u->src[0]), static_cast<std::uint64_t>(u->number)));
    case UOpKind::Vectorize:
      return define(u, vectorize(u));
  }
}

Rendered LlvmRenderer::rendered() {
  std::string text;
  llvm::raw_string_ostream out(text);
  const bool is_broken = llvm::verifyModule(module_, &out);
  check(!is_broken, "the IR of kernel " + signature_.function + " is valid: " + text);
  module_.print(out, nullptr);
  Rendered result;
  result.source = text.substr(text.find_first_not_of('\n'));
  result.helpers.assign(values_.helpers().begin(), values_.helpers().end());
  for (const UOp* u : uops_.order) {
    result.uses_vectors = result.uses_vectors || u->lanes > 1;
    result.uses_double = result.uses_double || u->dtype == DType::Float64;
  }
  return result;
}

}  // namespace

Rendered render_llvm(const UOpList& uops, const Language&, const KernelSignature& signature, const CodegenOptions& options) {
  return LlvmRenderer(remove_dead(expand_math(uops, options)), signature, options).run();
}

}  // namespace etch
