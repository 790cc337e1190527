#include "audit/prototype.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include "audit/unit.h"
#include "base/error.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"

namespace etch {
namespace {

constexpr const char* kFolder = "/etch/custom";  // in memory only
constexpr std::size_t kShownErrors = 5;

constexpr std::array<std::string_view, 11> kStandardNames = {"int8_t",  "uint8_t",  "int16_t", "uint16_t",  "int32_t", "uint32_t",
                                                             "int64_t", "uint64_t", "size_t",  "ptrdiff_t", "intptr_t"};

/// The words for a number's type: its name where <stdint.h> or <stddef.h> has it, else what the name stands for.
std::string plain_words(clang::QualType type) {
  for (type = type.getUnqualifiedType();;) {
    const auto* alias = type->getAs<clang::TypedefType>();
    if (alias == nullptr) break;
    const std::string name = alias->getDecl()->getNameAsString();
    if (std::ranges::find(kStandardNames, name) != kStandardNames.end()) return name;
    type = alias->desugar().getUnqualifiedType();
  }
  const std::string text = type.getCanonicalType().getUnqualifiedType().getAsString();
  return text == "_Bool" ? "bool" : text;
}

CType read_type(const clang::ASTContext& context, clang::QualType type) {
  CType result;
  result.text = type.getAsString(context.getPrintingPolicy());
  if (const auto* decayed = type->getAs<clang::DecayedType>())
    result.text = decayed->getDecayedType().getAsString(context.getPrintingPolicy());
  clang::QualType number = type;
  if (const auto* pointer = type->getAs<clang::PointerType>()) {
    result.pointer = true;
    number = pointer->getPointeeType();
    result.constant = number.isConstQualified();
    if (number.isVolatileQualified()) return result;
  }
  result.number = plain_words(number);
  using enum CType::Kind;
  if (number->isVoidType()) result.kind = Void;
  const auto* builtin = number->getAs<clang::BuiltinType>();
  if (builtin == nullptr || number->isVoidType()) return result;
  result.bytes = static_cast<int>(context.getTypeSizeInChars(number).getQuantity());
  const auto kind = builtin->getKind();
  if (builtin->isBooleanType())
    result.kind = Bool;
  else if (kind == clang::BuiltinType::Float || kind == clang::BuiltinType::Double)
    result.kind = Float;
  else if (builtin->isSignedInteger())
    result.kind = Signed;
  else if (builtin->isUnsignedInteger())
    result.kind = Unsigned;
  return result;
}

std::string joined(const std::string& type, const std::string& name) {
  return type + (type.ends_with('*') || name.empty() ? "" : " ") + name;
}

/// C99 makes no external definition of a function that is inline everywhere (6.7.4).
bool has_external_definition(const clang::FunctionDecl& f) {
  return f.isExternallyVisible() && (!f.isInlined() || f.isInlineDefinitionExternallyVisible());
}

std::string why_not_callable(const clang::FunctionDecl& f) {
  if (!f.isExternallyVisible()) return "it is static";
  if (!has_external_definition(f)) return "it is inline, of which C makes no function that other files can call: drop inline";
  if (const auto* label = f.getAttr<clang::AsmLabelAttr>()) return "its symbol is another, " + label->getLabel().str() + ": drop __asm__";
  return "";
}

bool is_external_definition(const clang::Decl& d) {
  if (d.hasAttr<clang::WeakAttr>()) return false;
  if (const auto* f = clang::dyn_cast<clang::FunctionDecl>(&d)) return f->isThisDeclarationADefinition() && has_external_definition(*f);
  const auto* v = clang::dyn_cast<clang::VarDecl>(&d);
  return v != nullptr && v->isExternallyVisible() && v->isThisDeclarationADefinition() != clang::VarDecl::DeclarationOnly;
}

CDefinition read_definition(const clang::SourceManager& sources, const clang::NamedDecl& d) {
  const auto* label = d.getAttr<clang::AsmLabelAttr>();
  const clang::SourceLocation at = sources.getExpansionLoc(d.getLocation());
  const std::string path = sources.getFilename(at).str();
  return {label != nullptr ? label->getLabel().str() : d.getNameAsString(), path.substr(path.rfind('/') + 1),
          static_cast<int>(sources.getExpansionLineNumber(at))};
}

Prototype read_function(const clang::ASTContext& context, const clang::FunctionDecl& f, const std::string& file) {
  Prototype p;
  p.function = f.getNameAsString();
  p.file = file;
  p.line = static_cast<int>(context.getSourceManager().getExpansionLineNumber(f.getLocation()));
  p.result = read_type(context, f.getReturnType());
  p.variadic = f.isVariadic();
  p.not_callable = why_not_callable(f);
  std::string parameters;
  for (const clang::ParmVarDecl* v : f.parameters()) {
    p.parameters.push_back({v->getNameAsString(), read_type(context, v->getType())});
    parameters += (parameters.empty() ? "" : ", ") + joined(p.parameters.back().type.text, p.parameters.back().name);
  }
  if (p.variadic) parameters += ", ...";
  const bool says_none = f.getType()->getAs<clang::FunctionProtoType>() != nullptr;
  if (parameters.empty() && says_none) parameters = "void";
  p.text = std::string(!f.isExternallyVisible() ? "static "
                       : f.isInlineSpecified()  ? "inline "
                                                : "") +
           joined(p.result.text, p.function) + "(" + parameters + ")";
  return p;
}

class PrototypeConsumer : public clang::ASTConsumer {
 public:
  PrototypeConsumer(CContents& found, std::string file) : found_(found), file_(std::move(file)) {}
  void HandleTranslationUnit(clang::ASTContext& context) override {
    const clang::SourceManager& sources = context.getSourceManager();
    for (const clang::Decl* d : context.getTranslationUnitDecl()->decls()) {
      if (is_external_definition(*d)) {
        const CDefinition made = read_definition(sources, *clang::cast<clang::NamedDecl>(d));
        if (std::ranges::find(found_.definitions, made) == found_.definitions.end()) found_.definitions.push_back(made);
      }
      const auto* f = clang::dyn_cast<clang::FunctionDecl>(d);
      if (f == nullptr || !f->isThisDeclarationADefinition() || !sources.isInMainFile(sources.getExpansionLoc(f->getLocation()))) continue;
      found_.functions.push_back(read_function(context, *f, file_));
    }
  }

 private:
  CContents& found_;
  std::string file_;
};

class PrototypeAction : public clang::ASTFrontendAction {
 public:
  PrototypeAction(CContents& found, std::string file) : found_(found), file_(std::move(file)) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<PrototypeConsumer>(found_, file_);
  }

 private:
  CContents& found_;
  std::string file_;
};

/// Keeps errors as "FILE:LINE: TEXT".
class Errors : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    std::string place;
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceLocation at = info.getSourceManager().getExpansionLoc(info.getLocation());
      const std::string path = info.getSourceManager().getFilename(at).str();
      place = path.substr(path.rfind('/') + 1) + ":" + std::to_string(info.getSourceManager().getExpansionLineNumber(at)) + ": ";
    }
    texts.push_back(place + std::string(text));
  }
  std::vector<std::string> texts;
};

void require_parsed(const CFile& file, const std::vector<std::string>& errors) {
  if (errors.empty()) return;
  std::string text = "it is not C99 that compiles:";
  for (std::size_t i = 0; i < std::min(errors.size(), kShownErrors); i++) text += "\n  " + errors[i];
  if (errors.size() > kShownErrors) text += "\n  and " + std::to_string(errors.size() - kShownErrors) + " more";
  const bool lacks_file = errors.front().find("file not found") != std::string::npos;
  throw UserError(
      "--custom-file " + file.name, text,
      lacks_file ? "name the header too: --custom-file FILE.h" : "correct it; a compiler shows all errors: cc -std=c99 -c " + file.name);
}

}  // namespace

CContents read_c(const std::vector<CFile>& files) {
  require_clang_headers();
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> given(new llvm::vfs::InMemoryFileSystem);
  for (const CFile& file : files)
    given->addFile(std::string(kFolder) + "/" + file.name, 0, llvm::MemoryBuffer::getMemBufferCopy(file.text));
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem()));
  all->pushOverlay(given);
  CContents found;
  for (const CFile& file : files) {
    if (file.name.ends_with(".h")) continue;
    llvm::IntrusiveRefCntPtr<clang::FileManager> manager(new clang::FileManager(clang::FileSystemOptions(), all));
    const std::vector<std::string> line{"clang",         "-fsyntax-only",      "-w",       "-fno-caret-diagnostics",
                                        "-resource-dir", ETCH_CLANG_RESOURCES, "-std=c99", std::string(kFolder) + "/" + file.name};
    Errors errors;
    clang::tooling::ToolInvocation invocation(line, std::make_unique<PrototypeAction>(found, file.name), manager.get());
    invocation.setDiagnosticConsumer(&errors);
    if (!invocation.run() && errors.texts.empty()) errors.texts.emplace_back("clang gave up without a reason");
    require_parsed(file, errors.texts);
  }
  return found;
}

}  // namespace etch
