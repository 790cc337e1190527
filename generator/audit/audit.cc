#include "audit/audit.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>

#include "audit/cuda_header.h"
#include "audit/opencl_header.h"
#include "audit/unit.h"
#include "base/error.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/VirtualFileSystem.h"
#include "target/target.h"

namespace etch {
namespace {

/// Turns errors into findings and ignores warnings.
class Diagnostics : public clang::DiagnosticConsumer {
 public:
  Diagnostics(std::vector<Finding>& findings, std::string file) : findings_(findings), file_(std::move(file)) {}
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    clang::DiagnosticConsumer::HandleDiagnostic(level, info);
    if (level < clang::DiagnosticsEngine::Error) return;
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    Finding finding{file_, 0, "", "parse", std::string(text)};
    if (info.hasSourceManager() && info.getLocation().isValid()) {
      const clang::SourceLocation at = info.getSourceManager().getExpansionLoc(info.getLocation());
      finding.file = info.getSourceManager().getFilename(at).str();
      finding.line = static_cast<int>(info.getSourceManager().getExpansionLineNumber(at));
    }
    findings_.push_back(std::move(finding));
  }

 private:
  std::vector<Finding>& findings_;
  std::string file_;
};

class Consumer : public clang::ASTConsumer {
 public:
  Consumer(const AuditOptions& options, UnitFacts& facts) : options_(options), facts_(facts) {}
  void HandleTranslationUnit(clang::ASTContext& context) override { facts_ = examine(context, options_); }

 private:
  const AuditOptions& options_;
  UnitFacts& facts_;
};

class Action : public clang::ASTFrontendAction {
 public:
  Action(const AuditOptions& options, UnitFacts& facts) : options_(options), facts_(facts) {}
  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance&, llvm::StringRef) override {
    return std::make_unique<Consumer>(options_, facts_);
  }

 private:
  const AuditOptions& options_;
  UnitFacts& facts_;
};

constexpr const char* kDeviceHeaders = "/etch/device-headers";  // a folder in memory only
constexpr const char* kCudaWords = "/etch/device-headers/etch_cuda_words.h";

// The machine's files, and the declarations of OpenCL and CUDA if it has no headers of theirs.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> file_system() {
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> headers(new llvm::vfs::InMemoryFileSystem);
  const auto add = [&](const std::string& file, std::string_view text) {
    headers->addFile(file, 0, llvm::MemoryBuffer::getMemBuffer(text));
  };
  add(std::string(kDeviceHeaders) + "/CL/cl.h", opencl_header());
  add(std::string(kDeviceHeaders) + "/cuda_runtime_api.h", cuda_header());
  add(kCudaWords, cuda_words());
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all(new llvm::vfs::OverlayFileSystem(llvm::vfs::getRealFileSystem()));
  all->pushOverlay(headers);
  return all;
}

std::vector<std::string> command_line(const std::filesystem::path& file, const AuditOptions& options) {
  std::vector<std::string> args = {"clang", "-fsyntax-only", "-w", "-fno-caret-diagnostics", "-resource-dir", ETCH_CLANG_RESOURCES};
  const bool opencl = file.extension() == ".cl";
  if (opencl) {
    args.insert(args.end(), {"-x", "cl", "-cl-std=CL1.2", "-D__OPENCL_VERSION__=120"});  // which drivers define, not clang
  } else if (file.extension() == ".cu") {
    // As C++ that needs no C++ library: what the kernels are made of is also that.
    args.insert(args.end(), {"-x", "c++", "-std=c++17", "-nostdinc++", "-include", kCudaWords});
  } else {
    args.insert(args.end(), {"-x", "c", "-std=c99", "-idirafter", kDeviceHeaders});
  }
  std::error_code bad;
  if (!opencl && !options.triple.empty() && std::filesystem::is_directory(options.system_includes, bad)) {
    args.insert(args.end(), {"--target=" + options.triple, "-nostdlibinc", "-isystem", options.system_includes.string()});
    const auto is = [&](std::string_view architecture) { return options.triple.starts_with(architecture); };
    if (!options.core.empty()) args.push_back((is("x86") ? "-march=" : is("avr") ? "-mmcu=" : "-mcpu=") + options.core);
  }
  for (const auto& dir : options.include_dirs) args.push_back("-I" + dir.string());
  for (const std::string& define : options.defines) args.push_back("-D" + define);
  args.push_back(file.string());
  return args;
}

UnitFacts parse(const std::filesystem::path& file, const AuditOptions& options) {
  if (!std::ifstream(file)) throw UserError(file.string(), "the file cannot be read", "check the name and the file's permissions");
  UnitFacts facts;
  std::vector<Finding> errors;
  Diagnostics diagnostics(errors, file.string());
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions(), file_system()));
  clang::tooling::ToolInvocation invocation(command_line(file, options), std::make_unique<Action>(options, facts), files.get());
  invocation.setDiagnosticConsumer(&diagnostics);
  const bool ran = invocation.run();
  if (!ran && errors.empty()) errors.push_back({file.string(), 0, "", "parse", "clang gave up without a reason"});
  facts.findings.insert(facts.findings.end(), errors.begin(), errors.end());
  return facts;
}

/// Calls of the whole program, with calls through pointers going to every function of that type whose address is taken.
class Calls {
 public:
  explicit Calls(const std::vector<UnitFacts>& units) {
    std::map<std::string, std::vector<FunctionKey>> by_type;
    for (const UnitFacts& unit : units)
      for (const auto& [function, type] : unit.address_taken) by_type[type].push_back(function);
    for (const UnitFacts& unit : units) {
      for (const auto& [from, to] : unit.calls) edges_[from].insert(to);
      for (const auto& [from, type] : unit.indirect_calls)
        for (const FunctionKey& to : by_type[type]) edges_[from].insert(to);
    }
  }

  /// A cycle of calls through `start`, as names in calling order; empty if there is none.
  std::vector<std::string> cycle_through(const FunctionKey& start) const {
    std::map<FunctionKey, FunctionKey> reached_from;
    std::vector<FunctionKey> open{start};
    while (!open.empty()) {
      const FunctionKey at = open.back();
      open.pop_back();
      const auto it = edges_.find(at);
      if (it == edges_.end()) continue;
      for (const FunctionKey& next : it->second) {
        if (next == start) return path(start, at, reached_from);
        if (reached_from.emplace(next, at).second) open.push_back(next);
      }
    }
    return {};
  }

 private:
  static std::vector<std::string> path(const FunctionKey& start, FunctionKey at, const std::map<FunctionKey, FunctionKey>& reached_from) {
    std::vector<std::string> names{start.name};
    for (; at != start; at = reached_from.at(at)) names.insert(names.begin(), at.name);
    names.insert(names.begin(), start.name);
    return names;
  }

  std::map<FunctionKey, std::set<FunctionKey>> edges_;
};

void find_recursion(const std::vector<UnitFacts>& units, AuditReport& report) {
  const Calls calls(units);
  std::set<FunctionKey> seen;
  for (const UnitFacts& unit : units)
    for (const auto& [key, function] : unit.functions) {
      if (!seen.insert(key).second) continue;
      const std::vector<std::string> cycle = calls.cycle_through(key);
      if (cycle.empty()) continue;
      std::string text;
      for (const std::string& name : cycle) text += (text.empty() ? "" : " -> ") + name;
      report.findings.push_back({function.file, function.line, function.name, "recursion", "calls itself: " + text});
    }
}

/// A static function of a header that nobody uses is not in the program.
std::set<FunctionKey> reachable(const std::vector<UnitFacts>& units) {
  std::map<FunctionKey, std::set<FunctionKey>> edges;
  std::vector<FunctionKey> open;
  for (const UnitFacts& unit : units) {
    for (const auto& [from, to] : unit.calls_or_names) edges[from].insert(to);
    open.insert(open.end(), unit.roots.begin(), unit.roots.end());
  }
  std::set<FunctionKey> seen(open.begin(), open.end());
  while (!open.empty()) {
    const FunctionKey at = open.back();
    open.pop_back();
    for (const FunctionKey& next : edges[at])
      if (seen.insert(next).second) open.push_back(next);
  }
  return seen;
}

void find_double(const std::vector<UnitFacts>& units, AuditReport& report) {
  const std::set<FunctionKey> used = reachable(units);
  for (const UnitFacts& unit : units)
    for (const auto& [function, finding] : unit.double_findings)
      if (function.name.empty() || used.contains(function)) report.findings.push_back(finding);
}

template <class T>
void sort_unique(std::vector<T>& all, auto key) {
  std::ranges::sort(all, [&](const T& a, const T& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(), [&](const T& a, const T& b) { return key(a) == key(b); }), all.end());
}

AuditReport join(const std::vector<UnitFacts>& units) {
  AuditReport report;
  for (const UnitFacts& unit : units) {
    report.findings.insert(report.findings.end(), unit.findings.begin(), unit.findings.end());
    for (const auto& [key, function] : unit.functions) report.functions.push_back(function);
    report.objects.insert(report.objects.end(), unit.objects.begin(), unit.objects.end());
    for (const auto& [key, type] : unit.address_taken) report.table_functions.push_back(key.name);
  }
  find_recursion(units, report);
  find_double(units, report);
  // Findings in a header that two files include occur twice: keep one.
  sort_unique(report.findings, [](const Finding& f) { return std::tie(f.file, f.line, f.rule, f.function, f.text); });
  report.findings.erase(std::unique(report.findings.begin(), report.findings.end(),
                                    [](const Finding& a, const Finding& b) {
                                      return a.rule == "double" && std::tie(a.file, a.line, a.rule) == std::tie(b.file, b.line, b.rule);
                                    }),
                        report.findings.end());
  sort_unique(report.functions, [](const AuditedFunction& f) { return std::tie(f.file, f.line, f.name); });
  sort_unique(report.objects, [](const AuditedObject& o) { return std::tie(o.file, o.name, o.bytes); });
  sort_unique(report.table_functions, [](const std::string& name) { return name; });
  for (const AuditedFunction& f : report.functions) report.bounded_loops += f.loops;
  for (const Finding& f : report.findings) report.bounded_loops -= f.text.starts_with("the end of the loop") ? 1 : 0;
  return report;
}

bool is_build_folder(const std::filesystem::path& dir) { return std::filesystem::exists(dir / "CMakeCache.txt"); }

std::vector<std::filesystem::path> sources_below(const std::filesystem::path& dir) {
  std::vector<std::filesystem::path> files;
  std::error_code bad;
  std::filesystem::recursive_directory_iterator it(dir, std::filesystem::directory_options::skip_permission_denied, bad), end;
  if (bad) throw UserError(dir.string(), "the folder cannot be read (" + bad.message() + ")", "name a folder with C files");
  for (; it != end; it.increment(bad)) {
    if (bad) break;
    if (it->is_directory() && (is_build_folder(it->path()) || it->path().filename() == "CMakeFiles")) it.disable_recursion_pending();
    const auto extension = it->path().extension();
    if (it->is_regular_file() && (extension == ".c" || extension == ".cl" || extension == ".cu")) files.push_back(it->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::string> prefixes_of(const std::filesystem::path& dir) {
  std::vector<std::string> prefixes;
  if (!std::filesystem::exists(dir / "etch_runtime.h")) return prefixes;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    if (entry.path().extension() == ".h")
      prefixes.push_back(entry.path().filename() == "etch_runtime.h" ? "etch_" : entry.path().stem().string() + "_");
  std::ranges::sort(prefixes);
  return prefixes;
}

}  // namespace

AuditOptions audit_options(const Target& target) {
  AuditOptions options;
  options.triple = target.toolchain.triple;
  options.system_includes = target.toolchain.include;
  if (target.core != "native") options.core = target.core;
  if (target.constants) options.defines = {target.constants.name + "=", target.constants.integer + "=unsigned long"};  // Clang has none
  options.single_precision = target.fpu != Fpu::Double;
  return options;
}

void require_clang_headers() {
  std::error_code bad;
  if (!std::filesystem::is_directory(ETCH_CLANG_RESOURCES "/include", bad))
    throw UserError(ETCH_CLANG_RESOURCES, "Clang's own headers (stddef.h ...) are not here", "install Debian's libclang-common-19-dev");
}

AuditReport audit_c(const std::vector<std::filesystem::path>& files, const AuditOptions& options) {
  require_clang_headers();
  std::vector<UnitFacts> units;
  for (const auto& file : files) units.push_back(parse(file, options));
  AuditReport report = join(units);
  for (const auto& file : files) report.files.push_back(file.string());
  return report;
}

AuditReport audit_directory(const std::filesystem::path& dir, AuditOptions options) {
  const auto files = sources_below(dir);
  // The audited code does not depend on the instruction set, so Clang need not know the target's.
  options.defines.push_back("ETCH_ANY_CPU=1");
  if (files.empty()) throw UserError(dir.string(), "there is no .c file in this folder", "name the folder that etch compile wrote");
  options.include_dirs.push_back(dir);
  if (options.prefixes.empty()) options.prefixes = prefixes_of(dir);
  AuditReport report = audit_c(files, options);
  const std::string root = dir.string().ends_with('/') ? dir.string() : dir.string() + "/";
  const auto relative = [&](std::string& name) {
    if (name.starts_with(root)) name.erase(0, root.size());
  };
  for (std::string& file : report.files) relative(file);
  for (Finding& f : report.findings) relative(f.file);
  for (AuditedFunction& f : report.functions) relative(f.file);
  for (AuditedObject& o : report.objects) relative(o.file);
  return report;
}

std::string describe(const Finding& f) {
  const std::string place = f.line == 0 ? f.file : f.file + ":" + std::to_string(f.line);
  return place + ": " + (f.function.empty() ? "" : "in " + f.function + ": ") + f.text + " [" + f.rule + "]";
}

}  // namespace etch
