// Turns UOps into text, one after the other.
#include "renderer/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>

#include "base/error.h"
#include "base/naming.h"
#include "renderer/index_range.h"

namespace etch {
namespace {

constexpr std::int64_t kPattern = 1 << 22;  // from here on an unsigned number in a function stands for its bits
constexpr int kMaxDepth = 12;               // largest nesting depth of an expression
constexpr std::size_t kMaxLength = 110;     // longest expression that is inlined into another one
constexpr std::size_t kMaxLine = 132;       // longest line with several statements

// The best position to break `text` after at most `width` characters: after a comma or before an operator, inside the fewest
// brackets, in the second half if possible, and as late as possible. 0 if there is none.
std::size_t place_to_break(std::string_view text, std::size_t width) {
  static constexpr std::string_view kBefore[] = {"&& ", "|| ", "? ", ": ", "+ ", "- ", "* "};
  std::size_t best = 0;
  int depth = 0, depth_of_best = 0;
  for (std::size_t i = 1; i <= width && i < text.size(); i++) {
    if (text[i - 1] == '(' || text[i - 1] == '[' || text[i - 1] == '{') depth++;
    if (text[i - 1] == ')' || text[i - 1] == ']' || text[i - 1] == '}') depth--;
    if (text[i - 1] != ' ' || i < 2) continue;
    const bool is_operator = std::ranges::any_of(kBefore, [&](std::string_view o) { return text.substr(i).starts_with(o); });
    if (text[i - 2] != ',' && !is_operator) continue;
    if (best >= width / 2 && depth > depth_of_best) continue;
    best = i;
    depth_of_best = depth;
  }
  return best;
}

// Splits a statement that is too long into several lines.
std::string folded(std::string_view text, std::size_t indent) {
  std::string result(indent, ' ');
  std::size_t width = kMaxLine - indent;
  while (text.size() > width) {
    const std::size_t end = place_to_break(text, width);
    if (end == 0) break;
    result += std::string(text.substr(0, end - 1)) + "\n" + std::string(indent + 4, ' ');
    text.remove_prefix(end);
    width = kMaxLine - indent - 4;
  }
  return result + std::string(text) + "\n";
}

// Whether floats become integers of one or two bytes in a sum of integers: GCC's vectors of their branches and of the sum give wrong
// results.
bool sums_converted(const UOpList& uops) {
  bool has_sum = false, converts = false;
  for (const UOp* u : uops.order) {
    has_sum = has_sum || (u->uop == UOpKind::DefineAcc && u->lanes == 1 && is_int(u->dtype));
    converts =
        converts || (u->uop == UOpKind::Cast && u->lanes == 1 && is_int(u->dtype) && bytes_of(u->dtype) < 4 && is_float(u->src[0]->dtype));
  }
  return has_sum && converts;
}

bool rounds_to_float(const UOp* u) {
  const auto is_cast_to = [](const UOp* c, DType dtype) { return c->uop == UOpKind::Cast && c->dtype == dtype; };
  return is_cast_to(u, DType::Float64) && is_cast_to(u->src[0], DType::Float32) && u->src[0]->src[0]->dtype == DType::Float64;
}

}  // namespace

std::string substitute(std::string_view text, std::span<const std::pair<char, std::string>> values, std::set<std::string>* helpers) {
  std::string result;
  std::size_t helper = std::string::npos;  // where the current helper's name begins in `result`
  const auto end_helper = [&] {
    if (helper == std::string::npos) return;
    check(helpers != nullptr, "a template with helpers is filled where they are collected");
    helpers->insert(result.substr(helper));
    helper = std::string::npos;
  };
  for (std::size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (c == '#') {
      helper = result.size();
      result += "etch_";
    } else if (c == '$') {
      const auto found = std::ranges::find(values, text[++i], &std::pair<char, std::string>::first);
      check(found != values.end(), "every $ of a template has a value");
      result += found->second;
    } else {
      if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') end_helper();
      result += c;
    }
  }
  end_helper();
  return result;
}

Renderer::Renderer(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options)
    : uops_(uops), language_(language), style_(*language.style), signature_(signature), options_(options), local_names_(uops, signature) {
  for (const KernelArgument& a : signature.arguments) names_.add(a.name);
  for (const std::string& v : signature.variables) names_.add(v);
  names_.add(signature.function);
  names_.add("arg");
  if (options.narrow_int && !signature.variables.empty()) index_type_ = "int32_t";
  if (options.narrow_int && !indices_fit(uops, INT16_MIN, INT16_MAX)) index_type_ = "int32_t";
  name_loops();
}

// A value that is used once, in the scope where it is made, is inlined at its use; an index also if the use is inside an If of that
// scope, which then may skip its computation.
void Renderer::count_uses() {
  struct Scope {
    int number, loop;  // number of this scope, and of the innermost Loop around it
  };
  std::unordered_map<const UOp*, Scope> scope;
  std::unordered_map<const UOp*, int> uses;
  std::unordered_map<const UOp*, bool> near;
  std::vector<Scope> open{{0, 0}};
  int scopes = 0;
  for (const UOp* u : uops_.order) {
    if (u->uop == UOpKind::End) open.pop_back();
    const Scope here = scope[u] = open.back();
    for (const UOp* s : u->src) {
      uses[s]++;
      near[s] = s->exact ? scope[s].loop == here.loop : scope[s].number == here.number;
    }
    if (u->uop != UOpKind::Loop && u->uop != UOpKind::If) continue;
    scopes++;
    open.push_back({scopes, u->uop == UOpKind::Loop ? scopes : here.loop});
  }
  for (const UOp* u : uops_.order) may_inline_[u] = uses[u] <= 1 && near[u];
  for (const UOp* u : uops_.order) {
    if (u->uop != UOpKind::Dot || u->lanes > 1) continue;
    if (options_.instructions[static_cast<std::size_t>(u->number)].takes_vectors()) continue;
    for (const UOp* s : {u->src[1], u->src[2]}) {
      pointed_.insert(s);
      if (s->uop == UOpKind::Load && s->src.size() == 4) pointed_.insert(s->src[3]);
    }
  }
  keep_loads_before_stores();  // before all that asks what is inlined
  for (const UOp* u : uops_.order) find_fused(u);
}

// An output may lie over an input that another output is computed from. So the text of a Load stays in front of the stores that follow
// the Load; where it was to be inlined behind one, it, or the value that has it inlined, gets a name. A kernel with one output needs
// nothing unless that may lie over a part of an input: a store there overwrites no element that is read later.
void Renderer::keep_loads_before_stores() {
  const auto is_store = [](const UOp* u) { return u->uop == UOpKind::Store || u->uop == UOpKind::StoreColumns; };
  std::set<const UOp*> outputs;
  for (const UOp* u : uops_.order)
    if (is_store(u) && u->src[0]->uop == UOpKind::DefineGlobal) outputs.insert(u->src[0]);
  if (outputs.size() < 2 && !signature_.overlaps) return;
  const auto may_change = [&](const UOp* buffer) {
    const auto number = static_cast<std::size_t>(buffer->number);
    return buffer->uop == UOpKind::DefineGlobal && !signature_.arguments[number].is_constant;
  };
  int stores = 0;                             // so far
  std::unordered_map<const UOp*, int> reads;  // of a text that holds Loads: the stores in front of the first of them
  for (const UOp* u : uops_.order) {
    const auto read_at = [&](int when) { reads[u] = reads.contains(u) ? std::min(reads[u], when) : when; };
    for (const UOp* s : u->src) {
      const auto found = reads.find(s);
      if (found == reads.end() || !may_inline_.at(s) || s->uop == UOpKind::Phi) continue;
      if (found->second < stores)
        may_inline_[s] = false;
      else
        read_at(found->second);
    }
    if (u->uop == UOpKind::Load && may_change(u->src[0])) read_at(stores);
    stores += is_store(u) && outputs.contains(u->src[0]) ? 1 : 0;
  }
}

void Renderer::line(const std::string& text) {
  last_line_ = text_.size();
  joint_.clear();
  declared_.clear();
  text_ += folded(text, 2 * indent_);
}

// Whether the last line can take another statement; its factors are then those that both have in common. A line that declares one
// value also takes the statements that use that value.
bool Renderer::joins(const std::string& kind, const std::vector<std::string>& factors, std::size_t length) {
  std::vector<std::string> common;
  if (!kind.empty() && std::ranges::find(factors, declared_) != factors.end() && text_.size() - last_line_ + length <= kMaxLine) {
    joint_ = kind;
    joint_factors_ = {declared_};
    declared_.clear();
    text_.pop_back();
    return true;
  }
  std::ranges::copy_if(factors, std::back_inserter(common),
                       [&](const std::string& f) { return std::ranges::find(joint_factors_, f) != joint_factors_.end(); });
  if (kind.empty() || kind != joint_ || common.empty() || text_.size() - last_line_ + length > kMaxLine) return false;
  joint_factors_ = common;
  declared_.clear();
  text_.pop_back();
  return true;
}

void Renderer::statement(const std::string& text, const std::string& kind, const std::vector<std::string>& factors) {
  if (joins(kind, factors, text.size() + 1)) {
    text_ += " " + text + "\n";
    return;
  }
  line(text);
  joint_ = kind;
  joint_factors_ = factors;
}

void Renderer::declare(const std::string& type, const std::string& name, const std::string& value, const std::string& kind) {
  const std::string part = name + " = " + value + ";";
  const std::string whole = kind.empty() ? kind : type + " " + kind;
  if (joins(whole, {type}, part.size() + 2)) {
    text_.back() = ',';  // was ;
    text_ += " " + part + "\n";
    return;
  }
  line(type + " " + part);
  joint_ = whole;
  joint_factors_ = {type};
  declared_ = name;
}

void Renderer::open(const std::string& text) {
  line(text);
  names_before_.push_back(names_);
  indent_++;
}

std::string Renderer::unique(const std::string& wanted) { return names_.add(c_identifier(wanted)); }

// Loops get their names first, as these are the letters of the formula.
void Renderer::name_loops() {
  std::unordered_map<std::string, std::string> names;  // loops that share a name follow each other
  for (const UOp* u : uops_.order) {
    if (u->uop != UOpKind::Loop) continue;
    std::string& name = names[u->name];
    if (name.empty()) name = unique(u->name);
    loop_names_[u] = name;
  }
}

std::string Renderer::helper(const std::string& name) {
  const std::string text = "etch_" + name;
  helpers_.insert(text);
  return text;
}

std::string Renderer::vector_type(const UOp* u) {
  facts_.uses_vectors = true;
  return helper(short_name(u->dtype, u->lanes));
}

std::string Renderer::type_of(const UOp* u) {
  if (u->lanes > 1) return vector_type(u);
  const bool is_index = u->exact || u->uop == UOpKind::Loop || u->uop == UOpKind::Special;
  if (is_index && u->dtype == DType::Int32) return index_type_;
  return std::string(style_.value_type[static_cast<std::size_t>(u->dtype)]);
}

void Renderer::bind(const UOp* u, const std::string& value) {
  const std::string name = unique(local_names_.of(u));
  declare("const " + type_of(u), name, value, u->uop == UOpKind::Load ? "load " + expr(u->src[0]).text : "");
  exprs_[u] = {name};
}

void Renderer::define(const UOp* u, Expr e) {
  const bool fits = e.depth <= kMaxDepth && e.text.size() <= kMaxLength;
  // base + 5 is clearer than a name.
  const bool is_offset = u->exact && (u->op == Op::Add || u->op == Op::Sub) && u->src[1]->uop == UOpKind::Const && e.depth == 1;
  if (u == result_) {
    exprs_[u] = std::move(e);
    return;
  }
  if ((u->exact && !u->hint.empty()) || is_named(u)) return bind(u, e.text);
  if ((e.precedence == kAtom && e.depth == 0) || is_offset)
    exprs_[u] = std::move(e);
  else if (may_inline_.at(u) && fits)
    exprs_[u] = std::move(e);
  else
    bind(u, e.text);
}

void Renderer::force_name(const UOp* u) {
  const Expr e = expr(u);
  if (e.depth > 0) bind(u, e.text);
}

std::string Renderer::operand(const UOp* u, int precedence) {
  const Expr& e = expr(u);
  return e.precedence < precedence ? "(" + e.text + ")" : e.text;
}

void Renderer::head() {
  const std::vector<KernelArgument>& arguments = signature_.arguments;
  std::map<std::size_t, const UOp*> globals;
  for (const UOp* u : uops_.order)
    if (u->uop == UOpKind::DefineGlobal) globals[static_cast<std::size_t>(u->number)] = u;
  const auto pointer = [&](std::size_t i) {
    const std::string_view type = style_.store_type[static_cast<std::size_t>(arguments[i].dtype)];
    const std::string space = is_spaced(arguments[i]) ? "ETCH_CONST_SPACE " : "";
    return (arguments[i].access == Access::Read ? "const " : "") + space + std::string(style_.global_prefix) + std::string(type) + " *";
  };
  const std::pair<char, std::string> items[] = {{'0', std::to_string(signature_.work_items)}};
  const std::string start = std::string(style_.kernel_prefix) + substitute(style_.group_bound, items) + signature_.function + "(";
  for (const auto& [number, u] : globals) {
    check(number < arguments.size() && arguments[number].dtype == u->dtype, "every buffer is an argument, of its type");
    exprs_[u] = {arguments[number].name};
  }
  if (!style_.arguments_in_table) {
    std::string list;
    for (std::size_t i = 0; i < arguments.size(); i++) list += (i == 0 ? "" : ", ") + pointer(i) + arguments[i].name;
    for (const std::string& v : signature_.variables) list += ", const " + index_type_ + " " + v;
    return open(start + list + ") {");
  }
  open(start + (options_.constant_space.empty() ? "void *const *arg) {" : "const etch_address *arg) {"));
  for (const auto& [i, u] : globals)
    line(pointer(i) + "const " + arguments[i].name + " = (" + pointer(i) + ")arg[" + std::to_string(i) + "];");
  for (std::size_t v = 0; v < signature_.variables.size(); v++) {
    const std::string& name = signature_.variables[v];
    const bool is_used = std::ranges::any_of(uops_.order, [&](const UOp* u) { return u->uop == UOpKind::DefineVar && u->name == name; });
    if (is_used) line("const " + index_type_ + " " + name + " = *(const int32_t *)arg[" + std::to_string(arguments.size() + v) + "];");
  }
  if (globals.empty() && signature_.variables.empty()) line("(void)arg;");
}

void Renderer::local_array(const UOp* u) {
  const std::string name = unique(local_names_.of(u));
  const std::string_view type = style_.value_type[static_cast<std::size_t>(u->dtype)];
  line(std::string(style_.local_prefix) + std::string(type) + " " + name + "[" + std::to_string(u->size) + "];");
  exprs_[u] = {name};
}

void Renderer::special(const UOp* u) {
  const std::string name = unique(local_names_.of(u));
  const std::pair<char, std::string> dimension[] = {{'0', std::to_string(u->number)}, {'D', std::string(1, "xyz"[u->number])}};
  const std::string_view text = u->name == "gid" ? style_.group_id : u->name == "lid" ? style_.local_id : style_.item_id;
  line("const " + type_of(u) + " " + name + " = " + substitute(text, dimension) + ";");
  exprs_[u] = {name};
}

void Renderer::loop(const UOp* u) {
  const std::string& name = loop_names_.at(u);
  if (u->size == 1 && !style_.stores_apart.empty()) line(std::string(style_.stores_apart));
  open("for (" + type_of(u) + " " + name + " = " + expr(u->src[0]).text + "; " + name + " < " + operand(u->src[1], kShift) + "; " + name +
       "++) {");
  exprs_[u] = {name};
}

void Renderer::constant(const UOp* u) {
  const bool is_pattern = result_ != nullptr && u->dtype == DType::UInt32 && u->value->as_int() >= kPattern;
  std::string text = is_pattern ? fmt::format("{:#x}u", u->value->as_int()) : literal(style_, *u->value);
  const int precedence = text[0] == '-' || text[0] == '(' ? kUnary : kAtom;
  exprs_[u] = {std::move(text), precedence};
}

void Renderer::prefetch(const UOp* u) {
  helpers_.insert("ETCH_PREFETCH");
  line(fmt::format("ETCH_PREFETCH(&{}[{}], {});", expr(u->src[0]).text, expr(u->src[1]).text, u->number));
}

void Renderer::step(const UOp* u) {
  switch (u->uop) {
    case UOpKind::DefineGlobal:
      return;
    case UOpKind::DefineVar:
      exprs_[u] = {u->name};
      return;
    case UOpKind::DefineLocal:
      return local_array(u);
    case UOpKind::DefineAcc:
      return accumulator(u);
    case UOpKind::Special:
      return special(u);
    case UOpKind::Loop:
      return loop(u);
    case UOpKind::If:
      return open("if (" + expr(u->src[0]).text + ") {");
    case UOpKind::End:
      indent_--;
      names_ = std::move(names_before_.back());  // what the scope has declared is gone
      names_before_.pop_back();
      return line("}");
    case UOpKind::Barrier:
      facts_.has_barrier = true;
      return line(std::string(style_.barrier) + ";");
    case UOpKind::Const:
      return constant(u);
    case UOpKind::Load:
      return load(u);
    case UOpKind::Store:
      return store(u);
    case UOpKind::StoreColumns:
      return store_columns(u);
    case UOpKind::Prefetch:
      return prefetch(u);
    case UOpKind::Phi:
      return phi(u);
    case UOpKind::Alu:
      return parts_.contains(u) ? pass_on(u) : define(u, alu(u));
    case UOpKind::Cast:
      return parts_.contains(u) ? pass_on(u) : define(u, cast(u, kCastTexts));
    case UOpKind::Bitcast:
      return define(u, cast(u, kBitcastTexts));
    case UOpKind::Dot:
      return dot(u);
    case UOpKind::Wmma:
      return wmma(u);
    case UOpKind::Gep:
      force_name(u->src[0]);
      exprs_[u] = {expr(u->src[0]).text + "[" + std::to_string(u->number) + "]"};
      if (u->dtype == DType::Bool) exprs_[u] = {exprs_[u].text + " != 0", kCompare};
      if (u->dtype == DType::Int32 && u->src[0]->uop != UOpKind::Wmma) exprs_[u] = {"(int32_t)" + exprs_[u].text, kUnary};
      return;
    case UOpKind::Vectorize:
      return vectorize(u);
  }
}

Rendered Renderer::run() {
  count_uses();
  head();
  for (const UOp* u : uops_.order) step(u);
  text_ += "}\n";
  facts_.source = std::move(text_);
  facts_.helpers.assign(helpers_.begin(), helpers_.end());
  facts_.definitions.assign(definitions_.begin(), definitions_.end());
  facts_.keeps_branches = facts_.keeps_branches || sums_converted(uops_);
  facts_.rounds_doubles = std::ranges::any_of(uops_.order, rounds_to_float);
  facts_.uses_double = std::ranges::any_of(uops_.order, [](const UOp* u) { return u->dtype == DType::Float64; }) ||
                       std::ranges::any_of(signature_.arguments, [](const KernelArgument& a) { return a.dtype == DType::Float64; });
  return std::move(facts_);
}

Rendered render_c(const UOpList& uops, const Language& language, const KernelSignature& signature, const CodegenOptions& options) {
  return Renderer(uops, language, signature, options).run();
}

}  // namespace etch
