#include "emit/formula.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "ir/axis_names.h"

namespace etch {
namespace {

// Precedence of the operators in a formula: a text that binds more loosely than its context gets parentheses.
enum Strength { kLoose, kCompare, kSum, kProduct, kTight };

struct Text {
  std::string text;
  Strength strength = kTight;
};

// Operators between two operands.
struct Infix {
  Op op;
  const char* symbol;
  Strength strength;
  bool associative;
};

constexpr Infix kInfix[] = {
    {Op::Add, " + ", kSum, true},         {Op::Sub, " - ", kSum, false},        {Op::Mul, " * ", kProduct, true},
    {Op::Div, " / ", kProduct, false},    {Op::Mod, " % ", kProduct, false},    {Op::CmpLt, " < ", kCompare, false},
    {Op::CmpEq, " == ", kCompare, false}, {Op::CmpNe, " != ", kCompare, false}, {Op::And, " & ", kLoose, true},
    {Op::Or, " | ", kLoose, false},       {Op::Xor, " ^ ", kLoose, false},      {Op::Shl, " << ", kLoose, false},
    {Op::Shr, " >> ", kLoose, false},
};

const Infix& infix_of(Op op) { return *std::ranges::find(kInfix, op, &Infix::op); }

std::string wrapped(const Text& t, Strength at_least) { return t.strength >= at_least ? t.text : "(" + t.text + ")"; }

bool is_part(const Node& node) {
  return (node.kind == NodeKind::Mod || node.kind == NodeKind::Div) && node.src[1].is_int() && !node.src[0].is_int();
}

// Coefficient of each variable, and of parts of what is linear: "(y/4)", "((step+1)%4)"; constant.
using Linear = std::pair<std::map<std::string, std::int64_t>, std::int64_t>;

std::string text_of(const std::vector<std::pair<std::string, std::int64_t>>& terms, std::int64_t constant) {
  std::string text;
  for (const auto& [name, factor] : terms) {
    if (factor == 0) continue;
    if (factor < 0) text += "-";
    if (factor > 0 && !text.empty()) text += "+";
    text += std::abs(factor) == 1 ? name : fmt::format("{}*{}", std::abs(factor), name);
  }
  if (constant != 0 || text.empty()) text += fmt::format("{}{}", constant > 0 && !text.empty() ? "+" : "", constant);
  return text;
}

enum class Parts { None, Shown };  // parts of parts are not shown
std::optional<Linear> linear(Sint x, Parts parts = Parts::Shown);

std::optional<std::string> part_text(const Node& node) {
  const std::optional<Linear> whole = linear(node.src[0], Parts::None);
  if (!whole) return std::nullopt;
  std::string text = text_of({whole->first.begin(), whole->first.end()}, whole->second);
  if (node.src[0].node()->kind != NodeKind::Variable) text = "(" + text + ")";
  return fmt::format("({}{}{})", text, node.kind == NodeKind::Mod ? "%" : "/", node.src[1].as_int());
}

// The expression as a linear one; nullopt if it is not linear.
std::optional<Linear> linear(Sint x, Parts parts) {
  Linear result;
  std::vector<std::pair<Sint, std::int64_t>> stack{{x, 1}};
  while (!stack.empty()) {
    const auto [e, factor] = stack.back();
    stack.pop_back();
    if (e.is_int()) {
      result.second += e.as_int() * factor;
      continue;
    }
    const Node& node = *e.node();
    if (node.kind == NodeKind::Variable) {
      result.first[node.name] += factor;
    } else if (node.kind == NodeKind::Sum) {
      for (Sint s : node.src) stack.emplace_back(s, factor);
    } else if (node.kind == NodeKind::Mul && node.src[1].is_int()) {
      stack.emplace_back(node.src[0], factor * node.src[1].as_int());
    } else if (const std::optional<std::string> part = parts == Parts::Shown && is_part(node) ? part_text(node) : std::nullopt) {
      result.first[*part] += factor;
    } else {
      return std::nullopt;
    }
  }
  return result;
}

std::int64_t rounded_quotient(std::int64_t a, std::int64_t b) {
  const std::int64_t q = a / b, r = a % b;
  if (2 * std::abs(r) < b) return q;
  return a < 0 ? q - 1 : q + 1;
}

class Writer {
 public:
  /// `named`: how many values before these have a name.
  Writer(const LazyOp* store, const std::vector<FormulaBuffer>& buffers, std::size_t named)
      : store_(store), buffers_(buffers), named_(named), order_(toposort(store)) {
    name_axes();
    // What a later stage reads of an earlier one always gets a name.
    for (const LazyOp* op : order_)
      for (const LazyOp* s : op->src) uses_[s] += op->op == Op::Expand ? 2 : 1;
  }

  Formula formula() {
    for (const LazyOp* op : order_) {
      if (op->op == Op::Store) continue;
      Text t = text_of_op(op);
      if (uses_[op] > 1 && !op->src.empty() && op->op != Op::Expand) {
        const std::string name = fmt::format("t{}", named_ + formula_.lines.size());
        formula_.lines.push_back(name + " = " + t.text);
        t = {name, kTight};
      }
      texts_[op] = std::move(t);
    }
    for (const LazyOp* store : stores_of(store_)) {
      const FormulaBuffer& out = buffers_.at(static_cast<std::size_t>(store->mem().index));
      formula_.lines.push_back(out.name + position(out, index_in(store).idx) + " = " + texts_[store->src[0]].text);
    }
    return std::move(formula_);
  }

 private:
  // Axes of size 1 have index 0.
  void name_axes() {
    const std::vector<Sint> full = full_shape(store_);
    const std::vector<std::string> letters = axis_letters(store_);
    for (std::size_t a = 0; a < full.size(); a++) {
      axes_.push_back(letters[a].empty() ? Sint(0) : symbols(full).variable(letters[a], 0, full[a] - 1));
      if (!letters[a].empty()) names_.push_back(letters[a]);
    }
    // Outer ones first.
    const auto is_reduced = [&](const std::string& name) {
      const auto axis = std::ranges::find(letters, name) - letters.begin();
      return std::ranges::any_of(order_, [&](const LazyOp* op) {
        return is_reduce(op->op) && std::ranges::find(op->axes(), static_cast<int>(axis)) != op->axes().end();
      });
    };
    std::ranges::stable_partition(names_, [&](const std::string& name) { return !is_reduced(name); });
  }

  // Sizes that are Variables belong to the program's Symbols, and so must the indices then.
  Symbols& symbols(const std::vector<Sint>& full) {
    for (Sint s : full)
      if (!s.is_int()) return *s.node()->owner;
    const std::vector<const Node*> used = variables(store_);
    if (!used.empty()) return *used.front()->owner;
    if (!own_) own_ = std::make_unique<Symbols>();
    return *own_;
  }

  ShapeTracker::Index index_in(const LazyOp* leaf) {
    const ShapeTracker& st = leaf->st();
    std::vector<Sint> index;
    for (std::size_t a = 0; a < leaf->shape.size(); a++) index.push_back(leaf->shape[a].is_int(1) ? Sint(0) : axes_[a]);
    // The position that the kernel computes is a variable whose name is its formula.
    if (is_indexed(leaf)) {
      const Sint n = st.shape().back();
      index.push_back(n.is_int(1) ? Sint(0) : symbols({n}).variable(wrapped(texts_.at(leaf->src[0]), kTight), 0, n - 1));
    }
    return st.expr_idxs(index);
  }

  std::vector<std::pair<std::string, std::int64_t>> in_order(const std::map<std::string, std::int64_t>& terms) const {
    std::vector<std::pair<std::string, std::int64_t>> result;
    for (const std::string& name : names_)
      if (const auto it = terms.find(name); it != terms.end()) result.push_back(*it);
    for (const auto& term : terms)
      if (std::find(names_.begin(), names_.end(), term.first) == names_.end()) result.push_back(term);
    return result;
  }

  std::string flat_text(Sint idx) const {
    const std::optional<Linear> parts = linear(idx);
    return parts ? text_of(in_order(parts->first), parts->second) : to_text(idx);
  }

  // A position as a value.
  Text index_text(Sint idx) const {
    const std::optional<Linear> parts = linear(idx);
    const bool is_sum = parts && parts->first.size() + (parts->second != 0 ? 1 : 0) > 1;
    return {flat_text(idx), is_sum ? kSum : kTight};
  }

  // "[c][y+i-1][x+j-1]": each term goes to the outermost dimension whose stride divides it.
  std::string position(const FormulaBuffer& buffer, Sint idx) const {
    std::optional<Linear> parts = linear(idx);
    const bool fixed =
        std::all_of(buffer.shape.begin() + (buffer.shape.empty() ? 0 : 1), buffer.shape.end(), [](Sint s) { return s.is_int(); });
    if (!parts || !fixed || buffer.shape.empty()) return idx.is_int(0) && buffer.shape.empty() ? "[0]" : "[" + flat_text(idx) + "]";
    std::string text;
    std::vector<Sint> strides = strides_for_shape(buffer.shape);
    for (std::size_t d = 0; d < buffer.shape.size(); d++) {
      if (buffer.shape[d].is_int(1)) continue;
      const std::int64_t stride = strides[d].as_int();
      std::map<std::string, std::int64_t> here;
      for (auto& [name, factor] : parts->first) {
        if (stride == 0 || factor % stride != 0) continue;
        here[name] = factor / stride;
        factor = 0;
      }
      const std::int64_t constant = stride == 0 ? 0 : rounded_quotient(parts->second, stride);
      parts->second -= constant * stride;
      text += "[" + text_of(in_order(here), constant) + "]";
    }
    const bool all_placed =
        parts->second == 0 && std::all_of(parts->first.begin(), parts->first.end(), [](const auto& t) { return t.second == 0; });
    if (!all_placed) return "[" + flat_text(idx) + "]";
    return text.empty() ? "[0]" : text;
  }

  std::string reduce_text(const LazyOp* op) const {
    std::string axes;
    for (int a : op->axes()) {
      if (axes_[static_cast<std::size_t>(a)].is_int()) continue;
      axes += (axes.empty() ? "" : ",") + axes_[static_cast<std::size_t>(a)].node()->name;
    }
    return fmt::format("{}{}[{}]({})", is_scan(op) ? "running_" : "", reduce_info(op->op).stem, axes, texts_.at(op->src[0]).text);
  }

  Text text_of_leaf(const LazyOp* op) {
    const ShapeTracker::Index index = index_in(op);
    const bool masked = !index.valid.is_int(1);
    if (op->op == Op::Load) {
      formula_.is_masked = formula_.is_masked || masked;
      const FormulaBuffer& buffer = buffers_.at(static_cast<std::size_t>(op->mem().index));
      return {buffer.name + position(buffer, index.idx) + (masked ? "?" : ""), kTight};
    }
    const Text value = op->op == Op::Const ? Text{op->constant().value.to_text()} : index_text(index.idx);
    if (masked && op->op == Op::Const && op->dtype == DType::Bool && op->constant().value.as_int() == 1) return {to_text(index.valid)};
    return masked ? Text{fmt::format("({} if {} else 0)", value.text, to_text(index.valid))} : value;
  }

  static bool is_zero(const LazyOp* op) { return op->op == Op::Const && op->constant().value.as_double() == 0; }

  // Operators of one strength are left-associative, so the right operand may need parentheses: a * (b / c) is not a * b / c. Bit
  // operators always get parentheses when they are mixed.
  Text infix(const LazyOp* op, const Infix& row) const {
    const Strength strength = row.strength;
    const LazyOp *left = op->src[0], *right = op->src[1];
    const auto needed = [&](bool chains) { return chains ? strength : static_cast<Strength>(strength + 1); };
    const bool is_quotient = right->op == Op::Div || right->op == Op::Mod;
    const bool chains_left = strength != kLoose || left->op == op->op;
    const bool chains_right = row.associative && !is_quotient && (strength != kLoose || right->op == op->op);
    return {wrapped(texts_.at(left), needed(chains_left)) + row.symbol + wrapped(texts_.at(right), needed(chains_right)), strength};
  }

  Text call(const std::string& name, const LazyOp* op) const {
    std::string arguments;
    for (const LazyOp* s : op->src) arguments += (arguments.empty() ? "" : ", ") + texts_.at(s).text;
    return {name + "(" + arguments + ")", kTight};
  }

  Text named_call(const LazyOp* op) const {
    if (op->op == Op::RintSmall) return call("rint", op);
    std::string name(name_of(op->op));
    for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return call(name, op);
  }

  Text text_of_op(const LazyOp* op) {
    switch (op->op) {
      case Op::Load:
      case Op::Const:
      case Op::Index:
        return text_of_leaf(op);
      case Op::Neg:
        return {"-" + wrapped(texts_.at(op->src[0]), kTight), kProduct};
      case Op::Add:
      case Op::Sub:
      case Op::Mul:
      case Op::Div:
      case Op::Mod:
      case Op::CmpLt:
      case Op::CmpEq:
      case Op::CmpNe:
      case Op::And:
      case Op::Or:
      case Op::Xor:
      case Op::Shl:
      case Op::Shr:
        return infix(op, infix_of(op->op));
      case Op::Where:
        return {fmt::format("{} ? {} : {}", wrapped(texts_.at(op->src[0]), kCompare), wrapped(texts_.at(op->src[1]), kSum),
                            wrapped(texts_.at(op->src[2]), kSum)),
                kLoose};
      case Op::Max:
        if (is_zero(op->src[1])) return {"relu(" + texts_.at(op->src[0]).text + ")", kTight};
        return named_call(op);
      case Op::Cast:
      case Op::Bitcast:
        return call(std::string(op->op == Op::Bitcast ? "bits_as_" : "") + std::string(name_of(op->dtype)), op);
      case Op::ReduceSum:
      case Op::ReduceMax:
      case Op::ReduceMin:
      case Op::ReduceProd:
        return {reduce_text(op), kTight};
        // clang-format off
      case Op::Exp: case Op::ExpNonPos: case Op::Exp2: case Op::Log: case Op::Log2: case Op::Expm1: case Op::Log1p: case Op::Sin:
      case Op::Cos: case Op::Tan: case Op::Asin: case Op::Acos: case Op::Atan: case Op::Sinh: case Op::Cosh:
      case Op::Tanh: case Op::Asinh: case Op::Acosh: case Op::Atanh: case Op::Erf: case Op::Sigmoid: case Op::Gelu: case Op::Sqrt: case Op::Floor:
      case Op::Ceil: case Op::Trunc: case Op::Rint: case Op::RintSmall: case Op::Min: case Op::Pow: case Op::MulAcc:
        // clang-format on
        return named_call(op);
      case Op::Expand:
        return texts_.at(op->src[0]);
      case Op::Store:
        break;
    }
    fail_check("a store is the root of an AST", std::source_location::current());
  }

  const LazyOp* store_;
  const std::vector<FormulaBuffer>& buffers_;
  std::size_t named_;
  std::vector<const LazyOp*> order_;
  std::unique_ptr<Symbols> own_;
  std::vector<Sint> axes_;          // index along each axis
  std::vector<std::string> names_;  // of the indices, outermost first
  std::unordered_map<const LazyOp*, int> uses_;
  std::unordered_map<const LazyOp*, Text> texts_;
  Formula formula_;
};

// The last `outputs` lines stay.
void shorten(std::vector<std::string>& lines, std::size_t outputs, std::size_t max_lines) {
  const std::size_t kept = std::max(max_lines, outputs + 1);
  if (lines.size() <= kept) return;
  const std::size_t left_out = lines.size() - kept + 1;
  const auto end = lines.end() - static_cast<std::ptrdiff_t>(outputs);
  lines.insert(lines.erase(end - static_cast<std::ptrdiff_t>(left_out), end), fmt::format("... {} more", left_out));
}

}  // namespace

Formula formula(const LazyOp* root, const std::vector<FormulaBuffer>& buffers, std::size_t max_lines) {
  LazyOps ops;
  Formula result;
  for (const LazyOp* tree : {first_tree(ops, root), second_tree(root)}) {
    if (tree == nullptr) continue;
    Formula made = Writer(tree, buffers, result.lines.size()).formula();
    shorten(made.lines, tree->src.size(), max_lines);
    std::ranges::move(made.lines, std::back_inserter(result.lines));
    result.is_masked = result.is_masked || made.is_masked;
  }
  return result;
}

}  // namespace etch
