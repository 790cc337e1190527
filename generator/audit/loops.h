// Decides whether a loop evidently ends. It does if it counts: an integer variable is compared with a bound, every iteration moves
// it towards the bound by a constant, and nothing else writes it.
//   for (int i = 0; i < n; i++) ...           n is not written in the loop
//   for (; i < 8 && more; i += 2) ...         one such condition among several is enough
//   while (i > 0) { ...; i--; }               the step is a statement of the body itself, and no `continue` skips it
//   do { ... } while (0)
// Not accepted: a counter or bound that the loop or a pointer may write, a type too narrow to reach the bound
// (uint8_t i; i < 300), >= 0 for an unsigned counter, != as the comparison, a bound that is a call of unknown effect.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace clang {
class ASTContext;
class Stmt;
class ValueDecl;
}  // namespace clang

namespace etch {

/// A loop in its function: `parent` is the loop around it, or null.
struct LoopFacts {
  const clang::Stmt* parent = nullptr;
  bool has_continue = false;  // a `continue` of this loop, or a goto, which may also skip the rest of the body
};

/// One place that writes a variable, and the innermost loop around it.
struct Write {
  const clang::Stmt* statement = nullptr;
  const clang::Stmt* loop = nullptr;
};

/// The facts about a function that loops.cc needs; the visitor collects them before any loop is judged.
struct FunctionFacts {
  std::vector<const clang::Stmt*> loops;  // in source order
  std::map<const clang::Stmt*, LoopFacts> facts;
  std::map<const clang::ValueDecl*, std::vector<Write>> writes;
  std::set<const clang::ValueDecl*> address_taken;
};

/// Empty if the loop evidently ends, else the reason why it may not: "the body changes i".
std::string why_unbounded(const clang::Stmt& loop, const FunctionFacts& function, clang::ASTContext& context);

}  // namespace etch
