#include "audit/unit.h"

#include <algorithm>
#include <array>

#include "audit/cuda_header.h"
#include "audit/loops.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"

namespace etch {
namespace {

using namespace clang;

// A call through a function pointer is allowed where the pointer's type is one of the runtime's.
constexpr std::string_view kCallbackPrefix = "etch_";

constexpr std::string_view kHeap[] = {
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "free",
    "cfree",
    "aligned_alloc",
    "posix_memalign",
    "memalign",
    "valloc",
    "pvalloc",
    "alloca",
    "strdup",
    "strndup",
    "sbrk",
    "brk",
    "mmap",
    "asprintf",
    "vasprintf",
    "getline",
    "getdelim",
    "__builtin_alloca",
    "__builtin_alloca_with_align",
    "__builtin_malloc",
    "__builtin_calloc",
    "__builtin_realloc",
    "__builtin_free",
};
constexpr std::string_view kJumps[] = {"setjmp",  "_setjmp",    "__sigsetjmp",      "sigsetjmp",
                                       "longjmp", "siglongjmp", "__builtin_setjmp", "__builtin_longjmp"};

template <std::size_t n>
bool contains(const std::string_view (&names)[n], std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::string type_name(QualType type) { return type.getCanonicalType().getUnqualifiedType().getAsString(); }

/// The function type that `type` points to; null if it is no function pointer.
const FunctionType* pointee_function(QualType type) {
  const auto* pointer = type->getAs<PointerType>();
  return pointer == nullptr ? nullptr : pointer->getPointeeType()->getAs<FunctionType>();
}

/// CUDA is given its kernels as addresses of any type.
bool is_gpu_kernel(const Expr* e) {
  const auto* name = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
  if (name == nullptr) return false;
  const auto* words = name->getDecl()->getAttr<AnnotateAttr>();
  return words != nullptr && std::string_view(words->getAnnotation()) == kGpuKernel;
}

bool is_double(QualType type) {
  if (const auto* vector = type->getAs<VectorType>()) type = vector->getElementType();
  const auto* builtin = type->getAs<BuiltinType>();
  if (const auto* complex = type->getAs<ComplexType>()) builtin = complex->getElementType()->getAs<BuiltinType>();
  return builtin != nullptr && (builtin->getKind() == BuiltinType::Double || builtin->getKind() == BuiltinType::LongDouble);
}

/// All declarations of the unit, those of C++'s extern "C" among them.
std::vector<Decl*> all_decls(const ASTContext& context) {
  std::vector<Decl*> result;
  for (Decl* d : context.getTranslationUnitDecl()->decls()) {
    if (const auto* block = dyn_cast<LinkageSpecDecl>(d))
      result.insert(result.end(), block->decls_begin(), block->decls_end());
    else
      result.push_back(d);
  }
  return result;
}

/// The unit as a whole: names, places, and what is collected.
class Unit {
 public:
  Unit(ASTContext& context, const AuditOptions& options) : context_(context), sources_(context.getSourceManager()), options_(options) {
    for (const Decl* d : all_decls(context))
      if (const auto* f = dyn_cast<FunctionDecl>(d)) has_main_ |= f->isMain() && f->isThisDeclarationADefinition();
  }

  UnitFacts examine();

  bool ours(SourceLocation at) const { return at.isValid() && !sources_.isInSystemHeader(at); }
  std::string file_of(SourceLocation at) const { return sources_.getFilename(sources_.getExpansionLoc(at)).str(); }
  int line_of(SourceLocation at) const { return static_cast<int>(sources_.getExpansionLineNumber(at)); }

  FunctionKey key(const FunctionDecl& f) const {
    const FunctionDecl* definition = f.getDefinition();
    const FunctionDecl& d = definition == nullptr ? f : *definition;
    return {d.isExternallyVisible() ? "" : file_of(d.getLocation()), d.getNameAsString()};
  }

  void report(SourceLocation at, std::string function, std::string rule, std::string text) {
    facts_.findings.push_back({file_of(at), line_of(at), std::move(function), std::move(rule), std::move(text)});
  }

  void check_object(const VarDecl& v, const std::string& function);
  void check_name(const NamedDecl& d);

  ASTContext& context_;
  const SourceManager& sources_;
  const AuditOptions& options_;
  UnitFacts facts_;
  bool has_main_ = false;
};

/// Everything inside one function, or inside the initializer of one object.
class Body : public RecursiveASTVisitor<Body> {
 public:
  Body(Unit& unit, const FunctionDecl* function) : unit_(unit), function_(function) {
    if (function != nullptr) {
      key_ = unit.key(*function);
      audited_.name = key_.name;
    }
  }

  void finish();

  // --- loops: which one is around what ---
  bool TraverseForStmt(ForStmt* s) {
    if (!TraverseStmt(s->getInit())) return false;
    return in_loop(s, [&] { return TraverseStmt(s->getCond()) && TraverseStmt(s->getInc()) && TraverseStmt(s->getBody()); });
  }
  bool TraverseWhileStmt(WhileStmt* s) {
    return in_loop(s, [&] { return TraverseStmt(s->getCond()) && TraverseStmt(s->getBody()); });
  }
  bool TraverseDoStmt(DoStmt* s) {
    return in_loop(s, [&] { return TraverseStmt(s->getBody()) && TraverseStmt(s->getCond()); });
  }
  bool VisitContinueStmt(ContinueStmt*) {
    if (loop_ != nullptr) facts_.facts[loop_].has_continue = true;
    return true;
  }
  bool VisitGotoStmt(GotoStmt* s) {
    for (const Stmt* loop = loop_; loop != nullptr; loop = facts_.facts[loop].parent) facts_.facts[loop].has_continue = true;
    const SourceLocation label = s->getLabel()->getStmt() == nullptr ? SourceLocation() : s->getLabel()->getStmt()->getBeginLoc();
    if (label.isValid() && unit_.sources_.isBeforeInTranslationUnit(label, s->getGotoLoc()))
      found(s, "unbounded-loop", "goto jumps backwards");
    return true;
  }
  bool VisitIndirectGotoStmt(IndirectGotoStmt* s) { return found(s, "unbounded-loop", "goto jumps to a computed place"); }
  bool VisitGCCAsmStmt(GCCAsmStmt* s) {
    if (is_of_registers(*s)) return true;
    return found(
        s, "asm",
        "assembler that may do more than compute registers from registers can't be checked: use the compiler's intrinsic functions");
  }
  /// Whether the compiler may take the statement as a function of values in registers: it is not volatile, has no memory and no clobbers.
  static bool is_of_registers(const GCCAsmStmt& s) {
    if (s.isVolatile() || s.isAsmGoto() || s.getNumClobbers() > 0 || s.getNumOutputs() == 0) return false;
    for (unsigned i = 0; i < s.getNumOutputs(); i++)
      if (const llvm::StringRef c = s.getOutputConstraint(i); c != "=r" && c != "=t" && c != "=w") return false;
    for (unsigned i = 0; i < s.getNumInputs(); i++)
      if (const llvm::StringRef c = s.getInputConstraint(i); c != "r" && c != "t" && c != "f" && c != "w" && c != "0") return false;
    return true;
  }

  // --- writes ---
  bool VisitBinaryOperator(BinaryOperator* op) {
    if (op->isAssignmentOp()) wrote(op->getLHS(), op);
    if (is_double(op->getType()) || is_double(op->getLHS()->getType())) {
      const bool computes = op->getOpcode() != BO_Assign && op->getOpcode() != BO_Comma;
      if (computes || op->isCompoundAssignmentOp()) found_double(op, "arithmetic in double");
    }
    const auto* compound = dyn_cast<CompoundAssignOperator>(op);
    if (compound != nullptr && is_double(compound->getComputationResultType())) found_double(op, "arithmetic in double");
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* op) {
    if (op->isIncrementDecrementOp()) wrote(op->getSubExpr(), op);
    if (op->getOpcode() == UO_AddrOf)
      if (const auto* ref = dyn_cast<DeclRefExpr>(op->getSubExpr()->IgnoreParens())) facts_.address_taken.insert(ref->getDecl());
    if (op->isArithmeticOp() && is_double(op->getType())) found_double(op, "arithmetic in double");
    return true;
  }

  // --- calls ---
  bool VisitCallExpr(CallExpr* call) {
    if (const FunctionDecl* callee = call->getDirectCallee()) {
      direct_.insert(call->getCallee()->IgnoreParenImpCasts());
      add_call(*callee);
      if (is_double(callee->getReturnType())) found_double(call, callee->getNameAsString() + " returns double");
    } else {
      check_indirect(*call);
    }
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* ref) {
    const auto* callee = dyn_cast<FunctionDecl>(ref->getDecl());
    if (callee == nullptr) return true;
    const std::string name = callee->getNameAsString();
    if (contains(kHeap, name)) found(ref, "heap", name + " takes memory while the program runs: all of it has to be the caller's");
    if (contains(kJumps, name)) found(ref, "unbounded-loop", name + " jumps out of functions");
    if (direct_.contains(ref)) return true;
    unit_.facts_.address_taken.insert({unit_.key(*callee), type_name(callee->getType())});
    // Code that names a function may cause it to be called, so for reachability this counts as a call.
    if (function_ == nullptr)
      unit_.facts_.roots.insert(unit_.key(*callee));
    else
      unit_.facts_.calls_or_names.insert({key_, unit_.key(*callee)});
    return true;
  }

  // --- declarations and conversions ---
  bool VisitVarDecl(VarDecl* v) {
    if (v->getType()->isVariablyModifiedType() && !isa<ParmVarDecl>(v))
      found_at(v->getLocation(), "vla", "the size of " + v->getNameAsString() + " is not constant");
    if (function_ == nullptr || isa<ParmVarDecl>(v)) return true;
    if (v->hasGlobalStorage()) {
      unit_.check_object(*v, key_.name);
    } else if (v->getType()->isArrayType() || v->getType()->isRecordType()) {
      if (!v->getType()->isVariablyModifiedType() && !v->getType()->isIncompleteType())
        audited_.stack_array_bytes += unit_.context_.getTypeSizeInChars(v->getType()).getQuantity();
    }
    return true;
  }
  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* e) {
    if (e->isFileScope() && !e->getType().isConstant(unit_.context_) && !unit_.has_main_)
      found(e, "mutable-static", "an unnamed variable of static storage: state has to be the caller's");
    return true;
  }
  bool VisitCastExpr(CastExpr* cast) {
    const QualType to = cast->getType(), from = cast->getSubExpr()->getType();
    const bool pointers = pointee_function(to) != nullptr || pointee_function(from) != nullptr;
    const bool converts =
        cast->getCastKind() == CK_BitCast || cast->getCastKind() == CK_PointerToIntegral || cast->getCastKind() == CK_IntegralToPointer;
    const bool null = cast->getSubExpr()->isNullPointerConstant(unit_.context_, Expr::NPC_NeverValueDependent) != Expr::NPCK_NotNull;
    if (pointers && converts && !null && !is_gpu_kernel(cast->getSubExpr()))
      found(cast, "function-pointer-cast", "a function pointer is converted: " + from.getAsString() + " to " + to.getAsString());
    if (is_double(to) != is_double(from)) {
      const CastKind kind = cast->getCastKind();
      if (kind == CK_FloatingCast || kind == CK_IntegralToFloating || kind == CK_FloatingToIntegral || kind == CK_FloatingToBoolean)
        found_double(cast, "conversion " + std::string(is_double(to) ? "to" : "from") + " double");
    }
    return true;
  }

 private:
  template <class Inside>
  bool in_loop(const Stmt* loop, Inside inside) {
    facts_.loops.push_back(loop);
    facts_.facts[loop].parent = loop_;
    loop_ = loop;
    const bool go_on = inside();
    loop_ = facts_.facts[loop].parent;
    return go_on;
  }

  void wrote(const Expr* place, const Stmt* by) {
    const auto* ref = dyn_cast<DeclRefExpr>(place->IgnoreParens());
    if (ref != nullptr) facts_.writes[ref->getDecl()].push_back({by, loop_});
  }

  void add_call(const FunctionDecl& callee) {
    audited_.callees.push_back(callee.getNameAsString());
    unit_.facts_.calls.insert({key_, unit_.key(callee)});
    unit_.facts_.calls_or_names.insert({key_, unit_.key(callee)});
  }

  void check_indirect(const CallExpr& call) {
    const Expr* callee = call.getCallee()->IgnoreParenImpCasts();
    QualType type = callee->getType();
    if (type->isFunctionType()) type = unit_.context_.getPointerType(type);  // (*pointer)(...)
    const auto* star = dyn_cast<UnaryOperator>(callee);
    const QualType named = star != nullptr && star->getOpcode() == UO_Deref ? star->getSubExpr()->getType() : callee->getType();
    const auto* alias = named->getAs<TypedefType>();
    const std::string name = alias == nullptr ? "" : alias->getDecl()->getNameAsString();
    if (!name.starts_with(kCallbackPrefix))
      found(&call, "indirect-call",
            "a call through " + (name.empty() ? "a function pointer" : "a pointer of type " + name) + " that is none of the runtime's");
    const FunctionType* function = pointee_function(type);
    const std::string text = function == nullptr ? type_name(type) : type_name(QualType(function, 0));
    audited_.callees.push_back("*" + text);
    unit_.facts_.indirect_calls.insert({key_, text});
  }

  bool found_at(SourceLocation at, std::string rule, std::string text) {
    unit_.report(at, key_.name, std::move(rule), std::move(text));
    return true;
  }
  bool found(const Stmt* s, std::string rule, std::string text) { return found_at(s->getBeginLoc(), std::move(rule), std::move(text)); }

  /// An expression that the compiler evaluates is not computed on the target.
  void found_double(const Expr* e, std::string text) {
    if (!unit_.options_.single_precision || unit_.has_main_) return;
    const ASTContext& types = unit_.context_;
    if (types.getTypeSize(types.DoubleTy) == types.getTypeSize(types.FloatTy)) return;  // of AVR
    Expr::EvalResult ignored;
    const Expr* whole = isa<CastExpr>(e) && is_double(cast<CastExpr>(e)->getSubExpr()->getType()) ? cast<CastExpr>(e)->getSubExpr() : e;
    if (whole->EvaluateAsRValue(ignored, unit_.context_)) return;
    unit_.facts_.double_findings.emplace_back(key_, Finding{unit_.file_of(e->getBeginLoc()), unit_.line_of(e->getBeginLoc()), key_.name,
                                                            "double", std::move(text) + ", the target computes in float only"});
  }

  Unit& unit_;
  const FunctionDecl* function_;
  FunctionKey key_;
  AuditedFunction audited_;
  FunctionFacts facts_;
  const Stmt* loop_ = nullptr;
  std::set<const Stmt*> direct_;  // references to functions that are called there; a call is visited before its callee
};

void Body::finish() {
  for (const Stmt* loop : facts_.loops) {
    const std::string why = why_unbounded(*loop, facts_, unit_.context_);
    if (!why.empty()) found(loop, "unbounded-loop", "the end of the loop is not evident: " + why);
  }
  if (function_ == nullptr) return;
  audited_.file = unit_.file_of(function_->getLocation());
  audited_.line = unit_.line_of(function_->getLocation());
  audited_.external = function_->isExternallyVisible();
  audited_.loops = static_cast<std::int64_t>(facts_.loops.size());
  std::ranges::sort(audited_.callees);
  audited_.callees.erase(std::unique(audited_.callees.begin(), audited_.callees.end()), audited_.callees.end());
  if (audited_.external) unit_.facts_.roots.insert(key_);
  unit_.facts_.functions.emplace_back(key_, audited_);
}

void Unit::check_object(const VarDecl& v, const std::string& function) {
  if (!ours(v.getLocation()) || v.getType().getAddressSpace() == LangAS::opencl_local) return;
  const bool constant = v.getType().isConstant(context_) && !v.getType().isVolatileQualified();
  if (!constant && !has_main_)
    report(v.getLocation(), function, "mutable-static",
           v.getNameAsString() + " is a variable of static storage: state has to be the caller's");
  if (v.isThisDeclarationADefinition() == VarDecl::DeclarationOnly) return;
  const bool sized = !v.getType()->isIncompleteType() && !v.getType()->isVariablyModifiedType();
  facts_.objects.push_back({v.getNameAsString(), file_of(v.getLocation()), v.isExternallyVisible(), constant,
                            sized ? context_.getTypeSizeInChars(v.getType()).getQuantity() : 0});
}

void Unit::check_name(const NamedDecl& d) {
  const auto* function = dyn_cast<FunctionDecl>(&d);
  const bool exempt = function != nullptr && (function->isMain() || function->hasAttr<OpenCLKernelAttr>());
  if (options_.prefixes.empty() || exempt || !d.isExternallyVisible() || context_.getLangOpts().OpenCL) return;
  const std::string name = d.getNameAsString();
  if (std::ranges::find(options_.symbols, name) != options_.symbols.end()) return;
  if (std::ranges::any_of(options_.prefixes, [&](const std::string& p) { return name.starts_with(p); })) return;
  std::string accepted;
  for (const std::string& p : options_.prefixes) accepted += (accepted.empty() ? "" : ", ") + p;
  report(d.getLocation(), "", "prefix", "the external symbol " + name + " starts with none of " + accepted);
}

/// Whether the type has only numbers: then no function or pointer can occur in the initializer, however long it is.
bool holds_numbers(const ASTContext& context, QualType type) { return context.getBaseElementType(type)->isArithmeticType(); }

UnitFacts Unit::examine() {
  for (Decl* d : all_decls(context_)) {
    if (!ours(d->getLocation())) continue;
    if (auto* f = dyn_cast<FunctionDecl>(d)) {
      if (f->isThisDeclarationADefinition() || !f->isImplicit()) check_name(*f);
      if (!f->isThisDeclarationADefinition()) continue;
      Body body(*this, f);
      body.TraverseStmt(f->getBody());
      body.finish();
    } else if (auto* v = dyn_cast<VarDecl>(d)) {
      check_name(*v);
      check_object(*v, "");
      if (v->getInit() == nullptr || holds_numbers(context_, v->getType())) continue;
      Body body(*this, nullptr);
      body.TraverseStmt(v->getInit());
    }
  }
  return std::move(facts_);
}

}  // namespace

UnitFacts examine(clang::ASTContext& context, const AuditOptions& options) { return Unit(context, options).examine(); }

}  // namespace etch
