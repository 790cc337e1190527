// The text of single values: literals, operations, conversions, loads, stores, accumulators.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "renderer/render.h"

namespace etch {
namespace {

bool is_constant(const UOp* u) { return u->uop == UOpKind::Const; }

DType unsigned_of(DType dtype) {
  switch (dtype) {
    case DType::Int8:
      return DType::UInt8;
    case DType::Int16:
      return DType::UInt16;
    case DType::Int32:
      return DType::UInt32;
    case DType::Int64:
      return DType::UInt64;
    case DType::Bool:
    case DType::UInt8:
    case DType::UInt16:
    case DType::UInt32:
    case DType::UInt64:
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      return dtype;
  }
  return dtype;
}

// Whether `u` is a constant that needs no special case as an operand of `op`: a divisor that is neither 0 nor -1, a shift amount in
// range, not NaN.
bool is_harmless(Op op, const UOp* u) {
  if (!is_constant(u)) return false;
  const DType type = u->dtype;
  if (is_float(type)) return !u->value->is_nan();
  if (type == DType::Bool) return true;
  const std::int64_t v = u->value->as_int();
  if (op == Op::Div || op == Op::Mod) return v != 0 && (v != -1 || is_unsigned(type));
  if (op == Op::Shl || op == Op::Shr) return v >= 0 && v < 8 * bytes_of(type);
  return true;
}

// A vector of one constant has no name, which another body of the kernel would not know: it stands where it is used.
bool is_one_constant(const UOp* u) {
  const auto is_first = [&](const UOp* s) { return s == u->src[0] && is_constant(s); };
  return u->uop == UOpKind::Vectorize && (is_int(u->dtype) || u->dtype == DType::Float32) && std::ranges::all_of(u->src, is_first);
}

int appearances(std::string_view text, char operand) {
  int n = 0;
  for (std::size_t i = 0; i + 1 < text.size(); i++) n += text[i] == '$' && text[i + 1] == operand ? 1 : 0;
  return n;
}

}  // namespace

std::string_view short_name(DType dtype) {
  static constexpr std::string_view kNames[] = {"bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64"};
  return kNames[static_cast<std::size_t>(dtype)];
}

namespace {

std::string lane_name(DType dtype) {
  return std::string(short_name(dtype == DType::Int32 ? DType::UInt32 : dtype == DType::Bool ? DType::Int32 : dtype));
}

}  // namespace

std::string short_name(DType dtype, std::int64_t lanes) { return lane_name(dtype) + "x" + std::to_string(lanes); }

unsigned class_of(DType dtype) { return 1u << static_cast<unsigned>(dtype); }

std::string literal(const CStyle& style, Scalar value) {
  const DType type = value.dtype();
  std::string text = value.to_text();
  const std::pair<char, std::string> digits[] = {{'0', text}};
  switch (type) {
    case DType::Bool:
    case DType::Int8:
    case DType::UInt8:
    case DType::Int16:
    case DType::UInt16:
      return text;
    case DType::Int32:
      return value.as_int() == int_min(DType::Int32) ? std::string(style.i32_min) : text;
    case DType::UInt32:
      return text + "u";
    case DType::Int64:
      return value.as_int() == int_min(DType::Int64) ? std::string(style.i64_min) : substitute(style.i64_literal, digits);
    case DType::UInt64:
      return substitute(style.u64_literal, digits);
    case DType::Float16:
    case DType::BFloat16:
    case DType::Float32:
    case DType::Float64:
      break;
  }
  const bool wide = type == DType::Float64;
  if (value.is_nan()) return std::string(wide ? style.nan64 : style.nan);
  if (std::isinf(value.as_double())) return (value.as_double() < 0 ? "-" : "") + std::string(wide ? style.infinity64 : style.infinity);
  return wide ? text : text + "f";
}

const OpText& Renderer::row_of(const UOp* u) const {
  const UOp* typed = u->src[u->op == Op::Where ? 1 : 0];
  const unsigned vector = is_float(typed->dtype) ? kVec : typed->dtype == DType::UInt32 ? kVecU32 : kVecInt;
  const unsigned type = u->lanes > 1 ? vector : u->exact ? unsigned{kExact} : class_of(typed->dtype);
  const UOp* right = u->src.size() > 1 ? u->src[1] : nullptr;
  for (const OpText& row : kOpTexts) {
    if (row.op != u->op || (row.classes & type) == 0) continue;
    bool fits = true;
    switch (row.when) {
      case When::Any:
        break;
      case When::ConstRight:
        fits = is_harmless(u->op, right);
        break;
      case When::ConstLeft:
        fits = is_harmless(u->op, u->src[0]);
        break;
      case When::ZeroRight:
      case When::HidesZero:
        fits = is_constant(right) && right->value->as_double() == 0.0 && options_.hides_equal == (row.when == When::HidesZero);
        break;
      case When::NativeMath:
        fits = options_.native_math;
        break;
      case When::WideInt:
        fits = !options_.narrow_int;
        break;
      case When::NoRint:
        fits = options_.no_rint;
        break;
      case When::HidesEqual:
        fits = options_.hides_equal;
        break;
    }
    if (fits) return row;
  }
  check(false, "every operation has a text for its type: " + std::string(name_of(u->op)) + " " + std::string(name_of(typed->dtype)));
  return kOpTexts[0];
}

Renderer::Expr Renderer::fill(std::string_view text, int precedence, std::span<const int> required, const UOp* u, DType type) {
  std::vector<std::pair<char, std::string>> values;
  for (std::size_t i = 0; i < u->src.size(); i++) {
    const char key = static_cast<char>('0' + i);
    if (is_one_constant(u->src[i])) continue;
    if (appearances(text, key) > 1 || (u->lanes > 1 && precedence == kUnary && u->src.size() > 1)) force_name(u->src[i]);
  }
  int depth = 0;
  for (std::size_t i = 0; i < u->src.size(); i++) {
    values.emplace_back(static_cast<char>('0' + i), operand(u->src[i], i < required.size() ? required[i] : 0));
    depth = std::max(depth, expr(u->src[i]).depth);
  }
  const auto name = [&](DType d) { return std::string(style_.value_type[static_cast<std::size_t>(d)]); };
  values.emplace_back('T', name(type));
  values.emplace_back('U', name(unsigned_of(type)));
  values.emplace_back('V', name(unsigned_of(u->src[0]->dtype)));
  values.emplace_back('W', name(DType::UInt32));
  values.emplace_back('F', type == DType::Float64 ? "" : std::string(style_.math_suffix));
  values.emplace_back('S', std::string(short_name(type)));
  values.emplace_back('L', std::to_string(u->lanes));
  return {substitute(text, values, &helpers_), precedence, depth + 1};
}

// x < 53 && 3 < x
bool is_range_test(const UOp* u) {
  const UOp *below = u->src[0], *above = u->src.size() == 2 ? u->src[1] : nullptr;
  const auto compares = [](const UOp* c) { return c->uop == UOpKind::Alu && c->op == Op::CmpLt; };
  return u->op == Op::And && u->dtype == DType::Bool && compares(below) && compares(above) && below->src[0] == above->src[1];
}

// To GCC a vector as it is loaded, from wherever it lies, is of another type than one that was computed; both branches have one type.
void Renderer::align_branches(const UOp* u) {
  for (const UOp* branch : {u->src[1], u->src[2]}) {
    const Expr e = expr(branch);
    const bool is_as_loaded = branch->uop == UOpKind::Load && branch->src.size() == 2 && e.depth > 0;  // else it has a name, with a type
    if (is_as_loaded) exprs_[branch] = {"(" + vector_type(branch) + ")" + e.text, kUnary, e.depth};
  }
}

Renderer::Expr Renderer::alu(const UOp* u) {
  UOp in_order = *u;  // 3 < x && x < 53
  if (is_range_test(u)) std::swap(in_order.src[0], in_order.src[1]);
  if (std::optional<Expr> sum = zero_point_added(u)) return *sum;
  if (u->op == Op::Where && u->src[0]->lanes > 1 && u->dtype == DType::Float32) return vector_choice(u);
  u = &in_order;
  if (const MathFunction* function = expansion_of(u->op, u->dtype, options_)) return call_of(*function, u);
  if (u->op == Op::Where && u->lanes > 1) align_branches(u);
  const OpText& row = row_of(u);
  const DType type = u->src[u->op == Op::Where ? 1 : 0]->dtype;
  Expr e = fill(row.text, row.precedence, row.operands, u, type);
  if (u->dtype == DType::Float16 && !is_exact(u->op)) e = {helper("round_half") + "(" + e.text + ")", kAtom, e.depth + 1};
  if (u->dtype == DType::BFloat16 && !is_exact(u->op)) e = {helper("round_bfloat16") + "(" + e.text + ")", kAtom, e.depth + 1};
  return e;
}

// a < b ? b : a, and a < b ? a : b, have a name, where nothing else needs the comparison. In the conditional text of Where a number stands
// for all lanes.
Renderer::Expr Renderer::vector_choice(const UOp* u) {
  const UOp *is = u->src[0], *yes = u->src[1], *no = u->src[2];
  const bool compares = is->uop == UOpKind::Alu && is->op == Op::CmpLt && expr(is).precedence == kCompare;  // else it is a variable
  const bool raises = compares && is->src[1] == yes && is->src[0] == no, lowers = compares && is->src[0] == yes && is->src[1] == no;
  std::vector<const UOp*> operands = u->src;
  if (raises || lowers) operands = {no, yes};
  std::string text;
  int depth = 0;
  for (const UOp* s : operands) {
    text += (text.empty() ? "" : ", ") + in_all_lanes(s, u->lanes);
    depth = std::max(depth, expr(s).depth);
  }
  const char* name = raises ? "at_least" : lowers ? "at_most" : "choose";
  return {helper(fmt::format("{}_f32x{}", name, u->lanes)) + "(" + text + ")", kAtom, depth + 1};
}

// What has half the digits is computed in float32, and rounded.
Renderer::Expr Renderer::call_of(const MathFunction& function, const UOp* u) {
  std::string operands;
  int depth = 0;
  for (const UOp* s : u->src) {
    operands += (operands.empty() ? "" : ", ") + expr(s).text;
    depth = std::max(depth, expr(s).depth);
  }
  definitions_.insert(math_definition(function, u->lanes));
  Expr e{math_name(function, u->lanes) + "(" + operands + ")", kAtom, depth + 1};
  if (u->dtype == DType::Float32) return e;
  const char* rounds = u->dtype == DType::Float16 ? "round_half" : "round_bfloat16";
  return {helper(rounds) + "(" + e.text + ")", kAtom, e.depth + 1};
}

Renderer::Expr Renderer::cast(const UOp* u, std::span<const CastText> rows) {
  const DType from = u->src[0]->dtype;
  if (const auto found = fused_.find(u); found != fused_.end()) return fused(found->second);
  if (u->lanes > 1) return u->uop == UOpKind::Bitcast ? vector_bitcast(u) : vector_cast(u);
  for (const CastText& row : rows) {
    if ((row.from & class_of(from)) == 0 || (row.to & class_of(u->dtype)) == 0) continue;
    if (row.text == "$0") return {expr(u->src[0]).text, expr(u->src[0]).precedence, expr(u->src[0]).depth};
    const int required[] = {row.operand};
    return fill(row.text, row.precedence, required, u, u->dtype);
  }
  check(false, "every conversion has a text: " + std::string(name_of(from)) + " to " + std::string(name_of(u->dtype)));
  return {};
}

// Of numbers that are narrower than the vectors they were or become, each is converted by itself.
Renderer::Expr Renderer::vector_cast(const UOp* u) {
  const UOp* from = u->src[0];
  const Expr& e = expr(from);
  const std::string type = vector_type(u);
  const bool has_function =
      from->dtype == DType::Float32 || (is_int(from->dtype) && is_int(u->dtype) && bytes_of(from->dtype) != bytes_of(u->dtype));
  if (has_function)
    return {helper(lane_name(from->dtype) + "_to_" + short_name(u->dtype, u->lanes)) + "(" + e.text + ")", kAtom, e.depth + 1};
  std::string text = e.text;
  if (u->dtype == DType::Float32) text = "(" + helper("i32x" + std::to_string(u->lanes)) + ")" + operand(from, kUnary);
  return {"__builtin_convertvector(" + text + ", " + type + ")", kAtom, e.depth + 1};
}

// Integers of both signs have one text.
Renderer::Expr Renderer::vector_bitcast(const UOp* u) {
  const UOp* from = u->src[0];
  if (is_int(u->dtype) && is_int(from->dtype)) return expr(from);
  return {"(" + vector_type(u) + ")" + operand(from, kUnary), kUnary, expr(from).depth + 1};
}

std::string Renderer::in_all_lanes(const UOp* u, int lanes) {
  return u->lanes > 1 ? expr(u).text : helper("all_" + short_name(u->dtype, lanes)) + "(" + expr(u).text + ")";
}

// A pointer into the address space of constants takes only indices up to the largest object: beyond, the address is computed as a number.
std::string Renderer::place_text(std::string_view form, const UOp* u) const {
  std::string text(form);
  if (u->src[0]->uop != UOpKind::DefineGlobal || !is_far(signature_.arguments[static_cast<std::size_t>(u->src[0]->number)])) return text;
  constexpr std::string_view kPlace = "$b[$i]";
  const std::size_t at = text.find(kPlace);
  check(at != std::string::npos, "a load names its place");
  const std::string_view type = style_.store_type[static_cast<std::size_t>(u->src[0]->dtype)];
  return text.replace(at, kPlace.size(), "ETCH_CONST_AT(" + std::string(type) + ", $b, $i)");
}

void Renderer::load(const UOp* u) {
  const std::string buffer = expr(u->src[0]).text;
  const bool is_local = u->src[0]->uop == UOpKind::DefineLocal;
  const int depth = std::max(expr(u->src[1]).depth, u->src.size() == 4 ? expr(u->src[2]).depth : 0) + 1;
  if (pointed_.contains(u)) {
    exprs_[u] = {"&" + buffer + "[" + expr(u->src[1]).text + "]", kUnary, depth};
    if (u->src.size() == 4)
      exprs_[u] = {operand(u->src[2], kOr) + " ? " + exprs_[u].text + " : " + expr(u->src[3]).text, kConditional, depth};
    return;
  }
  if (u->lanes > 1) {
    const std::string place = "*(const " + vector_type(u) + "_u *)&" + buffer + "[" + expr(u->src[1]).text + "]";
    if (u->src.size() == 2) return define(u, {place, kUnary, depth});
    if (is_int(u->dtype)) {
      const std::string load = helper("load_if_" + short_name(u->dtype, u->lanes)) + "(";
      return define(
          u, {load + expr(u->src[2]).text + ", &" + buffer + "[" + expr(u->src[1]).text + "], " + in_all_lanes(u->src[3], u->lanes) + ")",
              kAtom, depth});
    }
    const std::string name = unique(local_names_.of(u));
    const UOp* other = is_one_constant(u->src[3]) ? u->src[3]->src[0] : u->src[3];
    const bool is_zero = is_constant(other) && other->value->bits() == 0;
    line(vector_type(u) + " " + name + " = " + (is_zero ? "{" + expr(other).text + "}" : in_all_lanes(other, u->lanes)) + ";");
    line("if (" + expr(u->src[2]).text + ") " + name + " = " + place + ";");
    exprs_[u] = {name};
    return;
  }
  const std::string_view form = is_local ? "" : style_.load[static_cast<std::size_t>(u->dtype)];
  const std::string place = place_text(form.empty() ? "$b[$i]" : form, u);
  const std::pair<char, std::string> values[] = {{'b', buffer}, {'i', expr(u->src[1]).text}};
  const bool compares = !form.empty() && u->dtype == DType::Bool;  // the stored number with 0
  Expr e{substitute(place, values, &helpers_), compares ? kCompare : kAtom, depth};
  if (u->src.size() == 4 && form.empty()) facts_.keeps_branches = true;
  if (u->src.size() == 4) e = {operand(u->src[2], kOr) + " ? " + e.text + " : " + expr(u->src[3]).text, kConditional, depth};
  if (is_local && language_.grid) return bind(u, e.text);  // other work-items write there too
  define(u, e);
}

void Renderer::store(const UOp* u) {
  const UOp* value = u->src[2];
  const std::string buffer = expr(u->src[0]).text, index = expr(u->src[1]).text;
  std::string text;
  if (u->lanes > 1) {
    text = "*(" + vector_type(value) + "_u *)&" + buffer + "[" + index + "] = " + expr(value).text;
  } else {
    const bool is_local = u->src[0]->uop == UOpKind::DefineLocal;
    const std::string_view form = is_local ? "" : style_.store[static_cast<std::size_t>(u->dtype)];
    const std::pair<char, std::string> values[] = {{'b', buffer}, {'i', index}, {'v', expr(value).text}};
    text = substitute(form.empty() ? "$b[$i] = $v" : form, values, &helpers_);
  }
  if (u->src.size() == 4) return line("if (" + expr(u->src[3]).text + ") " + text + ";");
  std::vector<std::string> reads{expr(value).text};
  for (const UOp* s : value->src) reads.push_back(expr(s).text);
  const bool is_array = u->src[0]->uop == UOpKind::DefineLocal;
  if (is_array) reads.push_back(buffer);
  statement(text + ";", is_array ? "store" : "write", reads);
}

void Renderer::vectorize(const UOp* u) {
  const bool is_one = std::ranges::all_of(u->src, [&](const UOp* s) { return s == u->src[0]; });
  if (is_one && (is_int(u->dtype) || is_one_constant(u)) && !pointed_.contains(u)) {
    vector_type(u);
    Expr all{in_all_lanes(u->src[0], u->lanes), kAtom, expr(u->src[0]).depth + 1};
    if (!is_one_constant(u)) return define(u, std::move(all));
    exprs_[u] = std::move(all);  // clearer than a name
    return;
  }
  if (std::optional<Expr> lanes = lanes_of_vectors(u)) return define(u, std::move(*lanes));
  std::string lanes;
  const bool is_unsigned_text = u->dtype == DType::Int32 && !pointed_.contains(u);
  const auto text_of = [&](const UOp* s) {
    if (u->dtype == DType::Bool && s->uop == UOpKind::Const) return std::string(s->value->as_int() != 0 ? "-1" : "0");
    if (u->dtype == DType::Bool) return operand(s, kOr) + " ? -1 : 0";
    return is_unsigned_text ? "(uint32_t)" + operand(s, kUnary) : expr(s).text;
  };
  for (const UOp* s : u->src) lanes += (lanes.empty() ? "" : ", ") + text_of(s);
  if (!pointed_.contains(u)) return bind(u, "{" + lanes + "}");
  const std::string name = unique(local_names_.of(u));
  line("const " + std::string(style_.value_type[static_cast<std::size_t>(u->dtype)]) + " " + name + "[" + std::to_string(u->lanes) +
       "] = {" + lanes + "};");
  exprs_[u] = {name};
}

// The sum is an accumulator, to which the function adds.
void Renderer::dot(const UOp* u) {
  const TargetInstruction& row = options_.instructions[static_cast<std::size_t>(u->number)];
  const std::string sum = expr(u->src[0]).text;
  if (u->lanes == 1) {
    for (const UOp* s : {u->src[1], u->src[2]})
      if (s->lanes > 1 && !pointed_.contains(s)) vector_type(s);
    const DotFunction function = scalar_dot_function(style_, row, u->value ? std::optional(u->value->as_int()) : std::nullopt);
    definitions_.insert(function.definition);
    for (const InstructionText& text : row.texts)
      for (std::size_t at = text.text.find("etch_"); at != std::string::npos; at = text.text.find("etch_", at + 1))
        helpers_.insert(text.text.substr(at, text.text.find('(', at) - at));
    line(sum + " = " + function.name + "(" + sum + ", " + expr(u->src[1]).text + ", " + expr(u->src[2]).text + ");");
    exprs_[u] = {sum};
    return;
  }
  const DotFunction function = dot_function(style_, row, u->src[1]->lanes == u->size, u->src[2]->lanes == u->size);
  definitions_.insert(function.definition);
  vector_type(u);
  const auto place = [&](const UOp* s) {
    const std::string type = vector_type(s);
    if (is_one_constant(s)) {
      const std::string name = unique(local_names_.of(s));
      line("const " + type + " " + name + " = " + expr(s).text + ";");
      return name;
    }
    force_name(s);
    return expr(s).text;
  };
  const std::string a = place(u->src[1]), b = place(u->src[2]);
  line(function.name + "(&" + sum + ", &" + a + ", &" + b + ");");
  exprs_[u] = {sum};
}

void Renderer::wmma(const UOp* u) {
  const TargetInstruction& row = options_.instructions[static_cast<std::size_t>(u->number)];
  definitions_.insert(matrix_function(style_, row));
  facts_.has_barrier = true;
  const auto is_sum = [&](std::size_t i) { return static_cast<int>(i) < u->lanes; };
  std::string sums, operands;
  for (std::size_t i = 0; i < u->src.size(); i++) (is_sum(i) ? sums : operands) += (i == 0 ? "" : ", ") + expr(u->src[i]).text;
  const std::string name = unique("tile");
  line(std::string(style_.value_type[static_cast<std::size_t>(u->dtype)]) + " " + name + "[" + std::to_string(u->lanes) + "] = {" + sums +
       "};");
  line("etch_" + row.name + "(" + name + operands + ");");
  exprs_[u] = {name};
}

void Renderer::accumulator(const UOp* u) {
  const std::string name = unique(local_names_.of(u)), start = u->src.empty() ? literal(style_, *u->value) : expr(u->src[0]).text;
  if (u->lanes == 1) {
    facts_.has_integer_tiles = facts_.has_integer_tiles || (!is_float(u->dtype) && u->number > 0);
    declare(type_of(u), name, start, "start " + std::to_string(u->size));
  } else {
    facts_.has_vector_tiles = facts_.has_vector_tiles || u->number > 0;
    const bool is_zero = u->value->bits() == 0;
    const std::string lanes = is_zero ? "{" + start + "}" : helper("all_" + short_name(u->dtype, u->lanes)) + "(" + start + ")";
    declare(type_of(u), name, lanes, "start " + std::to_string(u->size));
  }
  exprs_[u] = {name};
}

// acc += x where C's operator is the operation, else acc = ...; several that take another's value share a line.
void Renderer::phi(const UOp* u) {
  const std::string acc = expr(u->src[0]).text;
  const UOp* v = u->src[1];
  const unsigned type = v->lanes > 1 ? unsigned{kVec} : class_of(v->dtype);  // of integers too
  const bool is_plain = (type & (kF32 | kF64 | kU32 | kU64 | kVec)) != 0 && v->uop == UOpKind::Alu && expr(v).depth > 0;
  exprs_[u] = {acc};
  // A Phi's value is in its accumulator too.
  const auto is_accumulator = [&](const UOp* s) { return s == u->src[0] || (s->uop == UOpKind::Phi && s->src[0] == u->src[0]); };
  if (is_plain && v->op == Op::Add && is_accumulator(v->src[0]))
    return statement(acc + " += " + expr(v->src[1]).text + ";", "add", {"+=", expr(v->src[1]).text});
  if (is_plain && v->op == Op::MulAcc && is_accumulator(v->src[2]))
    return statement(acc + " += " + operand(v->src[0], kProduct) + " * " + operand(v->src[1], kProduct + 1) + ";", "multiply",
                     {expr(v->src[0]).text, expr(v->src[1]).text});
  if (v->uop == UOpKind::Dot) return;  // it is there
  if (v->uop == UOpKind::Phi || v->uop == UOpKind::DefineAcc) return statement(acc + " = " + expr(v).text + ";", "carry", {"="});
  line(acc + " = " + expr(v).text + ";");
}

}  // namespace etch
