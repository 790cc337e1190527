// Internal to the renderer: turns UOps into the text of one function.
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/naming.h"
#include "codegen/math.h"
#include "renderer/cstyle.h"
#include "renderer/local_names.h"

namespace etch {

class Renderer {
 public:
  Renderer(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options);
  Rendered run();

 private:
  /// The text of a value, with the precedence of its outermost operator and its nesting depth.
  struct Expr {
    std::string text;
    int precedence = kAtom;
    int depth = 0;
  };

  void count_uses();
  void keep_loads_before_stores();
  void head();
  void step(const UOp* u);
  void open(const std::string& text);
  void line(const std::string& text);
  /// A statement that may share its line with others of its kind that have a factor in common with it.
  void statement(const std::string& text, const std::string& kind, const std::vector<std::string>& factors);
  /// "const float w_c0 = w[at], w_c1 = w[at + 1];": declarations of one `kind` share lines; an empty kind gets a line of its own.
  void declare(const std::string& type, const std::string& name, const std::string& value, const std::string& kind);
  bool joins(const std::string& kind, const std::vector<std::string>& factors, std::size_t length);
  void define(const UOp* u, Expr e);
  void bind(const UOp* u, const std::string& value);
  const Expr& expr(const UOp* u) const { return exprs_.at(u); }
  std::string unique(const std::string& wanted);
  void name_loops();
  /// A function of etch_quant.h or etch_math.h that does several steps, the last of which is a conversion.
  struct Fused {
    std::string function;
    std::vector<const UOp*> operands;
    int lanes = 1;
  };
  void find_fused(const UOp* u);
  void find_rounding(const UOp* u);
  Expr fused(const Fused& f);
  std::optional<Expr> zero_point_added(const UOp* u);
  void pass_on(const UOp* u) { exprs_[u] = expr(u->src[0]); }
  /// Whether the argument is in the address space of constants, and larger than its pointers reach.
  bool is_spaced(const KernelArgument& a) const { return a.is_constant && !options_.constant_space.empty(); }
  bool is_far(const KernelArgument& a) const {
    return is_spaced(a) && options_.largest_object > 0 && a.elements.max() * bytes_of(a.dtype) > options_.largest_object;
  }
  std::string place_text(std::string_view form, const UOp* u) const;
  std::string type_of(const UOp* u);
  std::string operand(const UOp* u, int precedence);
  void force_name(const UOp* u);

  void local_array(const UOp* u);
  void special(const UOp* u);
  void loop(const UOp* u);
  void accumulator(const UOp* u);
  void phi(const UOp* u);
  void load(const UOp* u);
  void store(const UOp* u);
  void store_columns(const UOp* u);
  void constant(const UOp* u);
  void prefetch(const UOp* u);
  void vectorize(const UOp* u);
  std::optional<Expr> lanes_of_vectors(const UOp* u);
  void dot(const UOp* u);
  void wmma(const UOp* u);
  void align_branches(const UOp* u);
  Expr alu(const UOp* u);
  Expr cast(const UOp* u, std::span<const CastText> rows);
  Expr vector_cast(const UOp* u);
  Expr vector_bitcast(const UOp* u);
  Expr vector_choice(const UOp* u);
  Expr call_of(const MathFunction& function, const UOp* u);
  std::string math_name(const MathFunction& function, int lanes) const;
  std::string math_definition(const MathFunction& function, int lanes);
  std::string run_function(const std::string& comment);
  std::string in_all_lanes(const UOp* u, int lanes);
  const OpText& row_of(const UOp* u) const;
  Expr fill(std::string_view text, int precedence, std::span<const int> required, const UOp* u, DType type);
  std::string vector_type(const UOp* u);
  /// The name in the text of a function or type of etch_math.h.
  std::string helper(const std::string& name);

  const UOpList& uops_;
  const UOp* result_ = nullptr;  // what a function returns
  const Language& language_;
  const CStyle& style_;
  const KernelSignature& signature_;
  const CodegenOptions& options_;
  LocalNames local_names_;
  std::string text_;
  std::set<std::string> helpers_, definitions_;
  Rendered facts_;                          // its flags, for the text written so far
  std::string joint_;                       // kind of the last line, if another statement may stand there
  std::vector<std::string> joint_factors_;  // factors that all statements of the last line have
  std::string declared_;                    // the one name that the last line declares, if it does nothing else
  std::size_t last_line_ = 0;               // where the last line begins
  std::size_t indent_ = 0;
  std::string index_type_ = "int";  // of loops and indices
  UniqueNames names_;
  std::vector<UniqueNames> names_before_;  // of the open scopes: those that were taken in front of it
  std::unordered_map<const UOp*, std::string> loop_names_;
  std::unordered_map<const UOp*, Expr> exprs_;
  std::unordered_map<const UOp*, bool> may_inline_;
  std::unordered_map<const UOp*, Fused> fused_;
  std::unordered_set<const UOp*> parts_;    // of what such a function does: they have no text of their own
  std::unordered_set<const UOp*> pointed_;  // operands of dot products of one lane, which take addresses
};

unsigned class_of(DType dtype);

}  // namespace etch
