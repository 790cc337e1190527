// Internal to the renderer: UOps to the text of one function.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "renderer/cstyle.h"

namespace etch {

class Renderer {
 public:
  Renderer(const UOpList& uops, const CStyle& style, const KernelNames& names, const std::vector<std::string>& variables,
           const CodegenOptions& options);
  Rendered run();

 private:
  /// The text of a value: how strongly its outermost operator binds, how deep it is nested.
  struct Expr {
    std::string text;
    int precedence = kAtom;
    int depth = 0;
  };

  void count_uses();
  void head();
  void step(const UOp* u);
  void open(const std::string& text);
  void line(const std::string& text);
  void define(const UOp* u, Expr e);
  void bind(const UOp* u, const std::string& value);
  const Expr& expr(const UOp* u) const { return exprs_.at(u); }
  std::string name_for(const UOp* u);
  std::string unique(const std::string& prefix);
  std::string type_of(const UOp* u) const;
  std::string operand(const UOp* u, int precedence);
  void force_name(const UOp* u);

  void accumulator(const UOp* u);
  void phi(const UOp* u);
  void load(const UOp* u);
  void store(const UOp* u);
  void vectorize(const UOp* u);
  Expr alu(const UOp* u);
  Expr cast(const UOp* u, std::span<const CastText> rows);
  const OpText& row_of(const UOp* u) const;
  Expr fill(std::string_view text, int precedence, std::span<const int> required, const UOp* u, DType type);
  std::string vector_type(int lanes) const { return "etch_f32x" + std::to_string(lanes); }

  const UOpList& uops_;
  const CStyle& style_;
  const KernelNames& names_;
  const std::vector<std::string>& variables_;
  const CodegenOptions& options_;
  std::string text_;
  std::size_t indent_ = 0;
  std::set<std::string> taken_;
  std::unordered_map<std::string, int> counters_;
  std::unordered_map<const UOp*, Expr> exprs_;
  std::unordered_map<const UOp*, bool> may_inline_;
};

unsigned class_of(DType dtype);

}  // namespace etch
